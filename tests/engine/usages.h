/* usages.h: records usages of the handmade tools. */
#ifndef WT_TESTS_ENGINE_USAGES_H
#define WT_TESTS_ENGINE_USAGES_H

#include "engine/set_up.h"
#include "engine/tools.h"

/* Opens a new store with the handmade tools. */
static inline wt_engine *open_handmade(const char *model)
{
    unlink(place.store);
    wt_engine *engine = open_test_engine(&place, model);
    add(&place, engine, handmade);
    return engine;
}

static inline int record_tool_usage(wt_engine *engine, const char *request, const char *const *tools, size_t count)
{
    place.err = (wt_error){0};
    return wt_record_usage(engine, request, strlen(request), tools, count, NULL, &place.err);
}
#define RECORD(engine, request, ...)                                                                                   \
    record_tool_usage(engine, request, (const char *[]){__VA_ARGS__},                                                  \
                      sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))

#endif
