/* usages.h: opens a store with three tools, and records usages of tools given by name. */
#ifndef WT_TESTS_STORE_USAGES_H
#define WT_TESTS_STORE_USAGES_H

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "store/backend.h"
#include "store/internal.h"

static wt_error err;

static inline struct tool make_test_tool(const char *provider, const char *name)
{
    struct tool tool = {.provider = wt__str(provider),
                        .name = wt__str(name),
                        .definition = STR("{}"),
                        .schema = STR("{}"),
                        .format = STR("mcp")};
    wt__sha256("{}", 2, tool.sha256);
    return tool;
}

static inline void add_test_tool(struct store *store, const char *provider, const char *name)
{
    struct tool tool = make_test_tool(provider, name);
    struct store_import_options options = {.source = STR("test")};
    struct store_changes changes;
    if (wt__store_import(store, &tool, 1, &options, &changes, &err) < 0)
        fail_msg("%s/%s: %s", provider, name, err.message);
}

static inline int64_t find_test_id(struct store *store, const char *provider, const char *name)
{
    struct str of = wt__str(provider);
    int64_t id = 0;
    return wt__store_find_name(store, &of, wt__str(name), &id, 1, &err) == 1 ? id : 0;
}

/* Opens a store with the tools a, b, c of provider p. */
static inline struct store *open_test_tools(void)
{
    struct store *store;
    assert_int_equal(wt__store_open(&store, backend->new_store(), NULL, &err), 0);
    for (const char *name = "a\0b\0c\0"; *name; name += 2)
        add_test_tool(store, "p", name);
    return store;
}

/* Records one usage of tools of provider p. names: names of the tools, separated by spaces. An unknown name becomes a
 * label without a tool. Returns the id of the usage. */
static inline int64_t record_client_usage(struct store *store, const char *client, const char *request,
                                          const char *names, enum usage_outcome outcome, int64_t time)
{
    struct usage_tool tools[8];
    static char labels[8][40];
    struct usage usage = {
        .request = wt__str(request), .outcome = outcome, .time = time, .tools = tools, .client = wt__str(client)};
    int64_t last = 0;
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ') {
        char name[32] = "";
        memcpy(name, at, strcspn(at, " "));
        snprintf(labels[usage.tool_count], sizeof *labels, "p/%s", name);
        tools[usage.tool_count] =
            (struct usage_tool){.tool = find_test_id(store, "p", name), .label = wt__str(labels[usage.tool_count])};
        usage.tool_count++;
    }
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, &last, &err), 0);
    return last;
}

static inline int64_t record_usage_of(struct store *store, const char *request, const char *names,
                                      enum usage_outcome outcome, int64_t time)
{
    return record_client_usage(store, "", request, names, outcome, time);
}

static inline struct usage_info read_usage_info(struct store *store)
{
    struct usage_info info;
    assert_int_equal(wt__store_usage_info(store, &info, &err), 0);
    return info;
}

#endif
