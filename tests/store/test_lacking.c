/* Tests a store without one of its tables, as after damage or an incomplete copy. Every operation either succeeds or
 * fails with a message about the file and the damage. No statement stays open, because an open statement would block
 * writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "store/review.h"
#include "store/usages.h"

/* ---------------------------------------------------------------- operations */

static const struct vector_set set = {.kind = "description/1", .model_hash = "m", .model_name = "m", .dim = 2};
static const struct stored_contrast_key key = {STR("d"), STR("m"), STR("t")};
static struct arena arena; /* holds the results from one store */

static int64_t run_import(struct store *store)
{
    struct tool tool = make_test_tool("p", "another");
    struct store_import_options options = {.source = STR("other")};
    struct store_changes changes;
    return wt__store_import(store, &tool, 1, &options, &changes, &err);
}

static int64_t run_review(struct store *store)
{
    struct review_item item = {.tool = make_test_tool("q", "listed"), .offered = STR("{}")};
    struct review_listing listing = {.provider = STR("q"), .source = STR("q"), .items = &item, .count = 1};
    struct review_changes changes;
    memset(item.sha256, '0', DEFINITION_DIGITS);
    listing.told[REVIEW_TOOL] = true;
    int rc = wt__store_review(store, &listing, &changes, &err);
    free(changes.ids);
    return rc;
}

static int64_t run_reviews(struct store *store)
{
    struct review_row *rows;
    size_t count;
    return wt__store_reviews(store, REVIEWS_WAITING, NULL, &arena, &rows, &count, &err);
}

static int64_t run_new_tools(struct store *store)
{
    struct stored_new_tool *tools;
    size_t count;
    return wt__store_new_tools(store, &arena, &tools, &count, &err);
}

static int64_t run_add_usage(struct store *store)
{
    static const struct usage_tool tool = {.tool = 1, .label = STR("p/a")};
    const struct usage usage = {
        .request = STR("go"), .time = 2, .tools = &tool, .tool_count = 1, .client = STR("c"), .key = STR("k")};
    return wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err);
}

static int64_t run_usages(struct store *store)
{
    struct usage *read;
    size_t count;
    const struct usage_query query = {.teaching = true, .arguments = true};
    return wt__store_usages(store, &query, &arena, &read, &count, &err);
}

static int64_t run_count_usages(struct store *store)
{
    uint64_t count;
    return wt__store_count_usages(store, &(struct usage_query){.client = STR("c")}, &count, &err);
}

static int64_t run_count_teaching(struct store *store)
{
    uint64_t count, requests;
    return wt__store_count_teaching(store, &count, &requests, &err);
}

static int64_t run_recorded(struct store *store)
{
    struct recorded_tool *tools;
    size_t count;
    return wt__store_recorded(store, STR("do it"), &arena, &tools, &count, &err);
}

static int64_t run_recorded_calls(struct store *store)
{
    struct recorded_call *calls;
    size_t count;
    return wt__store_recorded_calls(store, 1, 5, &arena, &calls, &count, &err);
}

static int64_t run_recorded_request(struct store *store)
{
    struct str request;
    return wt__store_recorded_request(store, 1, &arena, &request, &err);
}

static int64_t run_get_contrast(struct store *store)
{
    struct str question;
    return wt__store_get_contrast(store, &key, &arena, &question, &err);
}

static int64_t run_put_contrast(struct store *store)
{
    return wt__store_put_contrast(store, &key, STR("which?"), &err);
}

static int64_t run_get(struct store *store)
{
    struct tool tools[2];
    return wt__store_get(store, (int64_t[]){1, 2}, 2, &arena, tools, &err);
}

static int64_t run_list(struct store *store)
{
    int64_t *ids;
    size_t count;
    return wt__store_list_matching(store, NULL, STR("a"), 0, 0, &arena, &ids, &count, &err);
}

static int64_t run_find_name(struct store *store)
{
    int64_t id;
    return wt__store_find_name(store, &STR("p"), STR("a"), &id, 1, &err);
}

static int64_t run_count(struct store *store)
{
    uint64_t tools, providers;
    return wt__store_count(store, &tools, &providers, &err);
}

static int64_t run_sources(struct store *store)
{
    struct str *names;
    size_t found;
    return wt__store_sources(store, STR(""), &arena, &names, &found, &err);
}

static int64_t run_get_vectors(struct store *store)
{
    float vector[2];
    bool there;
    return wt__store_get_vectors(store, &set, (int64_t[]){1}, 1, vector, &there, &err);
}

static int64_t run_put_vectors(struct store *store)
{
    const struct store_key of = {.id = 1, .generation = 1, .provider = 1};
    return wt__store_put_vectors(store, &set, &of, (float[]){1, 0}, 1, &err);
}

static int64_t run_count_vectors(struct store *store)
{
    uint64_t vectors;
    return wt__store_count_vectors(store, &set, &vectors, &err);
}

static int64_t run_mark(struct store *store)
{
    struct usage_mark read;
    return wt__store_usage_mark(store, &set, &read, &err);
}

static int64_t run_add_sums(struct store *store)
{
    return wt__store_add_usage_vectors(store, &set, 0, 1, (int64_t[]){1}, (uint32_t[]){0}, 1, (float[]){1, 0}, &err);
}

static int64_t run_sums(struct store *store)
{
    float sum[2];
    uint32_t uses;
    return wt__store_get_usage_sums(store, &set, (int64_t[]){1}, 1, sum, &uses, &err);
}

static int64_t run_rename_provider(struct store *store)
{
    return wt__store_rename_provider(store, STR("p"), STR("r"), &err);
}

static int64_t run_forget(struct store *store)
{
    return wt__store_forget_usages(store, &(struct usage_query){0}, &err);
}

static int64_t run_remove(struct store *store)
{
    return wt__store_remove(store, (int64_t[]){2}, 1, &err);
}

static int64_t run_check(struct store *store)
{
    return wt__store_check(store, &err);
}

/* The order matters, because later operations read the results of earlier operations. */
static const struct {
    const char *name;
    int64_t (*ask)(struct store *store);
} operations[] = {
    {"import a tool", run_import},
    {"add a usage", run_add_usage},
    {"store a contrastive question", run_put_contrast},
    {"store vectors", run_put_vectors},
    {"add to usage sums", run_add_sums},
    {"review a listing", run_review},
    {"list reviews", run_reviews},
    {"list new tools", run_new_tools},
    {"read usages", run_usages},
    {"count usages", run_count_usages},
    {"count teaching usages", run_count_teaching},
    {"find recorded tools", run_recorded},
    {"find recorded calls", run_recorded_calls},
    {"find the recorded request", run_recorded_request},
    {"read a contrastive question", run_get_contrast},
    {"read tools", run_get},
    {"list tools", run_list},
    {"find a tool by name", run_find_name},
    {"count tools", run_count},
    {"list sources", run_sources},
    {"read vectors", run_get_vectors},
    {"count vectors", run_count_vectors},
    {"read the usage mark", run_mark},
    {"read usage sums", run_sums},
    {"rename a provider", run_rename_provider},
    {"forget usages", run_forget},
    {"remove a tool", run_remove},
    {"check the store", run_check},
};

/* ---------------------------------------------------------------- the tests */

static struct store *open_new_store(const char *place)
{
    struct store *store;
    if (wt__store_open(&store, backend->store(place), NULL, &err) < 0)
        fail_msg("%s", err.message);
    for (const char *name = "a\0b\0"; *name; name += 2)
        add_test_tool(store, "p", name);
    record_client_usage(store, "c", "do it", "a b", USAGE_OK, 1);
    return store;
}

static void test_operations_succeed_on_a_complete_store(void **state)
{
    (void)state;
    struct store *store = open_new_store("complete");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].ask(store) < 0)
            fail_msg("%s: %s", operations[i].name, err.message);
    wt__store_close(store);
    wt__arena_dispose(&arena);
}

/* Runs all operations on a store without `table`, and returns the number of failures. */
static size_t run_operations(const char *table)
{
    struct store *store;
    size_t refused = 0;
    int opened = wt__store_open(&store, backend->store(table), NULL, &err);
    if (opened == WT_ESTORE && strcmp(table, "meta") == 0 && strstr(err.message, "is damaged"))
        return 1; /* the table holds the version of a store that is not a file */
    if (opened < 0)
        fail_msg("without %s: %s", table, err.message);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        int64_t rc = operations[i].ask(store);
        bool told = strstr(err.message, "no such table") || strstr(err.message, "is damaged");
        if (rc < 0 && (rc != WT_ESTORE || !strstr(err.message, store->path) || !told))
            fail_msg("%s without %s: %lld, %s", operations[i].name, table, (long long)rc, err.message);
        refused += rc < 0;
    }
    wt__store_close(store); /* wt__store_close asserts that no statement is open. */
    wt__arena_dispose(&arena);
    return refused;
}

static void test_a_missing_table_is_reported(void **state)
{
    static const char *const tables[] = {"meta",   "provider",     "source",         "tool",     "model",
                                         "vector", "request",      "label",          "usage",    "usage_tool",
                                         "client", "usage_sum",    "usage_encoding", "contrast", "provider_alias",
                                         "review", "review_server"};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[96];
        struct store *store = open_new_store(tables[i]);
        snprintf(sql, sizeof sql, "%s %s %s", backend->drop_table, tables[i], backend->after_table);
        assert_int_equal(wt__sql_exec(store, sql, &err), 0);
        wt__store_close(store);
        if (run_operations(tables[i]) == 0)
            fail_msg("no operation failed without %s", tables[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_succeed_on_a_complete_store),
        cmocka_unit_test(test_a_missing_table_is_reported),
    };
    return RUN_ON_BACKEND(tests);
}
