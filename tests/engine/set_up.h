/* set_up.h: setup functions of cmocka that create the folder and the engines of a test. */
#ifndef WT_TESTS_ENGINE_SET_UP_H
#define WT_TESTS_ENGINE_SET_UP_H

#include "engine/support.h"

static struct test_place place;

static inline int set_up_place(void **state)
{
    (void)state;
    make_test_place(&place);
    return 0;
}

/* Creates the place and adds the handmade tools with their vectors to its store. */
static inline int set_up_handmade(void **state)
{
    set_up_place(state);
    wt_engine *engine = open_test_engine(&place, NULL);
    add(&place, engine, handmade);
    wt_close(engine);
    return 0;
}

/* Two engines on the same store of handmade tools: `lexical` has no model, `semantic` has the small model. */
static wt_engine *lexical, *semantic;

static inline int open_both(void **state)
{
    set_up_place(state);
    semantic = open_test_engine(&place, NULL);
    add(&place, semantic, handmade);
    lexical = open_test_engine(&place, "");
    return 0;
}

static inline int close_both(void **state)
{
    (void)state;
    wt_close(lexical);
    wt_close(semantic);
    remove_test_place(&place);
    return 0;
}

static inline int tear_down_place(void **state)
{
    (void)state;
    remove_test_place(&place);
    return 0;
}

#endif
