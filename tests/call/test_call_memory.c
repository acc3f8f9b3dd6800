/* Fails each allocation of a selection and of a generation in turn. The failure must be reported as WT_ENOMEM or be
 * harmless. It must not cause a crash or a leak.
 *
 * The allocator of failing_allocator.h counts the allocations of all threads, because questions are asked in several
 * threads. The test is skipped under sanitizers, which have their own allocator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_ALL_THREADS
#include "base/failing_allocator.h"
#include "call/call_oracle.h"
#include "call/call_world.h"
#include "call/language_model.h"

static json_t *schema, *right, *wrong;
static struct call_oracle oracle;

static int set_up_call_memory(void **state)
{
    (void)state;
    struct call_oracle_options options = set_oracle_rates(0, 1);
    options.prediction = .5;
    schema =
        json_pack("{s:{s:{s:s, s:s, s:[s, s]}, s:{s:s}}, s:[s]}", "properties", "place", "type", "string",
                  "description", "where to", "enum", "Rome", "Room", "price", "type", "integer", "required", "place");
    right = json_pack("{s:s, s:i}", "place", "Rome", "price", 500);
    wrong = json_pack("{s:s, s:i}", "place", "Room", "price", 5);
    return init_call_oracle(&oracle, &options, NULL);
}

static int tear_down_call_memory(void **state)
{
    (void)state;
    json_decref(schema);
    json_decref(right);
    json_decref(wrong);
    return 0;
}

static int find_missing_fault(void *self, const json_t *arguments, struct arena *arena, struct str *fault,
                              wt_error *err)
{
    (void)self;
    (void)arena;
    (void)err;
    if (!wt__str_equal(wt__json_str(arguments, "place"), STR("Rome")))
        *fault = STR("it is no place");
    return 0;
}

static int get_no_contrast(void *self, const struct contrast_key *key, struct arena *arena, struct str *question,
                           wt_error *err)
{
    (void)self;
    (void)key;
    (void)arena;
    (void)question;
    (void)err;
    return 0;
}

static int drop_contrast(void *self, const struct contrast_key *key, struct str question, wt_error *err)
{
    (void)self;
    (void)key;
    (void)question;
    (void)err;
    return 0;
}

/* Runs a selection or a generation from end to end. kind: a selection method, or SELECTION_METHODS plus the source of
 * the second prediction. */
static int run_kind(int kind, wt_error *err)
{
    static const struct selection_candidate candidates[] = {{STR("a"), STR("does a"), STR("do a"), STR("")},
                                                            {STR("b"), STR("does b"), STR(""), STR("")},
                                                            {STR("c"), STR("does c"), STR(""), STR("")}};
    static const struct contrast_store store = {NULL, get_no_contrast, drop_contrast};
    static const struct call_validation validation = {NULL, find_missing_fault};
    const struct call_labels labels = {.tool = 1, .nearest = 0, .arguments = right, .wrong = wrong};
    const struct call_request request = {.text = STR("a request"), .labels = &labels};
    struct arena arena = {0};
    int rc;
    if (kind < SELECTION_METHODS) {
        const struct selection_options options = {.method = (enum selection_method)kind, .store = &store};
        struct selection_trace trace;
        rc = wt__select_tool(&options, candidates, 3, &oracle.model, &request, &arena, &trace, err);
    } else {
        const struct demonstration demonstration = {STR("a past request"), right};
        const struct generation_tool tool = {STR("book"), STR("books a room"), schema, &demonstration, 1};
        const struct generation_options options = {.second = (enum generation_source)(kind - SELECTION_METHODS),
                                                   .other = &oracle.model,
                                                   .build = GENERATION_WRITTEN,
                                                   .validation = &validation};
        struct generation_trace trace;
        rc = wt__generate_arguments(&options, &tool, &oracle.model, &request, &arena, &trace, err);
        wt__generation_dispose(&trace);
    }
    wt__arena_dispose(&arena);
    return rc;
}

/* Fails all allocations from the nth on if `stuck` is set, else only the nth. Fewer runs fail if only one allocation
 * fails, because wt__json_parse tries again after such a failure. */
static void fail_each_allocation(int kind)
{
    wt_error err = {0};
    size_t refused = 0;
    assert_int_equal(run_kind(kind, &err), 0); /* allocates the objects that are created only once */
    for (long n = 1;; n++) {
        countdown = n;
        live = 0;
        counting = 1;
        int rc = run_kind(kind, &err);
        counting = 0;
        if (rc != 0 && rc != WT_ENOMEM)
            fail_msg("allocation %ld of kind %d: error %d, %s", n, kind, rc, err.message);
        if (live > 4) /* stacks and tables of threads are cached */
            fail_msg("allocation %ld of kind %d: %ld blocks were not freed", n, kind, (long)live);
        refused += rc != 0;
        if (countdown > 0)
            break;
    }
    assert_true(refused > (stuck ? 20 : 4));
    assert_int_equal(run_kind(kind, &err), 0);
}

static void every_call_allocation_fails_in_turn(void **state)
{
    (void)state;
    if (!INTERPOSED) {
        print_message("skipped: failing allocations (a sanitizer has its own allocator)\n");
        skip();
    }
    for (stuck = 0; stuck < 2; stuck++)
        for (int kind = 0; kind < SELECTION_METHODS + GENERATION_SOURCES; kind++)
            fail_each_allocation(kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_allocation_fails_in_turn)};
    return cmocka_run_group_tests(tests, set_up_call_memory, tear_down_call_memory);
}
