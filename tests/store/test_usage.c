/* Tests recorded use: storage, links to tools, usage sums, and stores of older versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/older.h"
#include "store/usages.h"

enum { DIM = 4, MANY_IN_FILE = 100000, MANY_ON_SERVER = 4000 };

static const struct vector_set set = {"usage_1", "abc", "small", DIM, NULL},
                               other_set = {"usage_1", "def", "other", DIM, NULL};

/* Returns usages as "request(label label!)", where ! marks a label without a tool. */
static const char *usages_text(struct store *store, const struct usage_query *query)
{
    static char text[2000];
    struct arena arena = {0};
    struct usage *usages;
    size_t count, len = 0;
    assert_int_equal(wt__store_usages(store, query, &arena, &usages, &count, &err), 0);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        len += (size_t)sprintf(text + len, "%s%s(", i ? " " : "", usages[i].request.ptr);
        for (size_t t = 0; t < usages[i].tool_count; t++)
            len += (size_t)sprintf(text + len, "%s%s%s", t ? " " : "", usages[i].tools[t].label.ptr,
                                   usages[i].tools[t].tool ? "" : "!");
        len += (size_t)sprintf(text + len, ")");
    }
    uint64_t counted;
    assert_int_equal(wt__store_count_usages(store, query, &counted, &err), 0);
    if (!query->limit)
        assert_int_equal(counted, count);
    wt__arena_dispose(&arena);
    return text;
}

static const struct usage_query everything;

/* ---------------------------------------------------------------- storage */

static void test_usages_are_read_as_they_were_recorded(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    uint64_t catalogue, after;
    assert_int_equal(wt__store_generation(store, &catalogue, &err), 0);
    record_usage_of(store, "one", "a b", USAGE_OK, 10);
    record_usage_of(store, "two", "c", USAGE_FAILED, 20);
    int64_t third = record_usage_of(store, "three", "gone a", USAGE_UNKNOWN, 30);
    record_usage_of(store, "four", "gone", USAGE_UNKNOWN, 40);
    assert_string_equal(usages_text(store, &everything), "one(p/a p/b) two(p/c) three(p/gone! p/a) four(p/gone!)");
    const struct {
        struct usage_query query;
        const char *told;
    } rows[] = {
        {{.limit = 2}, "one(p/a p/b) two(p/c)"},
        {{.after = third - 1, .limit = 1}, "three(p/gone! p/a)"},
        {{.upto = third - 1}, "one(p/a p/b) two(p/c)"},
        {{.before = 20}, "one(p/a p/b)"},
        {{.teaching = true}, "one(p/a p/b) three(p/gone! p/a)"},
        {{.tool = find_test_id(store, "p", "a")}, "one(p/a p/b) three(p/gone! p/a)"},
        {{.label = STR("p/gone")}, "three(p/gone! p/a) four(p/gone!)"},
        {{.label = STR("p/a")}, ""}, /* a tool has this label */
        {{.tool = find_test_id(store, "p", "c"), .teaching = true}, ""},
        {{.tool = 12345}, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(usages_text(store, &rows[i].query), rows[i].told);

    struct arena arena = {0};
    struct usage *usages;
    size_t count;
    assert_int_equal(wt__store_usages(store, &everything, &arena, &usages, &count, &err), 0);
    assert_int_equal(usages[1].outcome, USAGE_FAILED);
    assert_int_equal(usages[1].time, 20);
    wt__arena_dispose(&arena);

    assert_int_equal(wt__store_generation(store, &after, &err), 0);
    assert_int_equal(after, catalogue);
    wt__store_close(store);
}

static void test_equal_requests_are_stored_once(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t requests, labels;
    for (int i = 0; i < 3; i++)
        record_usage_of(store, "the same words", "a gone", USAGE_OK, i);
    record_usage_of(store, "other words", "a", USAGE_OK, 3);
    assert_int_equal(read_usage_info(store).usages, 4);
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM request", &requests, &err), 0);
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM label", &labels, &err), 0);
    assert_int_equal(requests, 2);
    assert_int_equal(labels, 2);
    wt__store_close(store);
}

static void test_every_change_of_usages_increments_the_generation(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    uint64_t g0 = read_usage_info(store).generation;
    record_usage_of(store, "one", "a gone", USAGE_OK, 1);
    uint64_t g1 = read_usage_info(store).generation;
    assert_true(g1 > g0);
    add_test_tool(store, "p", "new");
    assert_int_equal(read_usage_info(store).generation, g1);
    add_test_tool(store, "p", "gone");
    uint64_t g2 = read_usage_info(store).generation;
    assert_true(g2 > g1);
    int64_t unused = find_test_id(store, "p", "new"), used = find_test_id(store, "p", "a");
    assert_int_equal(wt__store_remove(store, &unused, 1, &err), 1);
    assert_int_equal(read_usage_info(store).generation, g2);
    assert_int_equal(wt__store_remove(store, &used, 1, &err), 1);
    uint64_t g3 = read_usage_info(store).generation;
    assert_true(g3 > g2);
    assert_int_equal(wt__store_forget_usages(store, &everything, &err), 1);
    assert_true(read_usage_info(store).generation > g3);
    uint64_t g4 = read_usage_info(store).generation;
    assert_int_equal(wt__store_forget_usages(store, &everything, &err), 0);
    assert_int_equal(read_usage_info(store).generation, g4);
    wt__store_close(store);
}

static void test_a_label_is_linked_to_a_tool_of_its_name(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    record_usage_of(store, "one", "a later", USAGE_OK, 1);
    assert_string_equal(usages_text(store, &everything), "one(p/a p/later!)");
    add_test_tool(store, "q", "later");
    assert_string_equal(usages_text(store, &everything), "one(p/a p/later!)");
    add_test_tool(store, "p", "later");
    assert_string_equal(usages_text(store, &everything), "one(p/a p/later)");
    assert_int_equal(wt__store_remove_provider(store, STR("p"), &err), 4);
    assert_string_equal(usages_text(store, &everything), "one(p/a! p/later!)");
    add_test_tool(store, "p", "a");
    assert_string_equal(usages_text(store, &everything), "one(p/a p/later!)");

    /* A sync that removes a tool keeps the label and removes its link. */
    struct tool tool = make_test_tool("p", "other");
    struct store_import_options options = {.source = STR("test"), .sync = true};
    struct store_changes changes;
    uint64_t before = read_usage_info(store).generation;
    assert_int_equal(wt__store_import(store, &tool, 1, &options, &changes, &err), 0);
    assert_string_equal(usages_text(store, &everything), "one(p/a! p/later!)");
    assert_true(read_usage_info(store).generation > before);

    /* A tool that was removed after its lookup is recorded as a label without a tool. */
    struct usage_tool gone = {.tool = 4242, .label = STR("p/vanished")};
    struct usage usage = {.request = STR("two"), .tools = &gone, .tool_count = 1};
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err), 0);
    assert_string_equal(usages_text(store, &everything), "one(p/a! p/later!) two(p/vanished!)");
    wt__store_close(store);
}

static void test_selected_usages_are_forgotten(void **state)
{
    (void)state;
    static const struct {
        const char *name, *tool;
        int64_t before;
        int64_t forgotten;
        const char *left;
    } rows[] = {
        {"all usages", NULL, 0, 4, ""},
        {"usages before a time", NULL, 3, 2, "three(p/b) four(p/gone!)"},
        {"usages of a tool", "a", 0, 2, "three(p/b) four(p/gone!)"},
        {"usages of a tool before a time", "b", 3, 1, "one(p/a) three(p/b) four(p/gone!)"},
        {"usages of a label without a tool", "gone", 0, 1, "one(p/a) two(p/a p/b) three(p/b)"},
        {"usages of an unknown label", "nothing", 0, 0, "one(p/a) two(p/a p/b) three(p/b) four(p/gone!)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store *store = open_test_tools();
        char label[40];
        int64_t left;
        record_usage_of(store, "one", "a", USAGE_OK, 1);
        record_usage_of(store, "two", "a b", USAGE_OK, 2);
        record_usage_of(store, "three", "b", USAGE_OK, 3);
        int64_t last = record_usage_of(store, "four", "gone", USAGE_OK, 4);
        snprintf(label, sizeof label, "p/%s", rows[i].tool ? rows[i].tool : "");
        struct usage_query query = {.before = rows[i].before};
        if (rows[i].tool) {
            query.tool = find_test_id(store, "p", rows[i].tool);
            query.label = wt__str(label);
        }
        if (wt__store_forget_usages(store, &query, &err) != rows[i].forgotten ||
            strcmp(usages_text(store, &everything), rows[i].left) != 0)
            fail_msg("%s: left is %s", rows[i].name, usages_text(store, &everything));
        assert_int_equal(read_usage_info(store).usages, 4 - rows[i].forgotten);
        assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM request", &left, &err), 0);
        assert_int_equal(left, 4 - rows[i].forgotten);
        assert_true(record_usage_of(store, "five", "a", USAGE_OK, 5) > last);
        wt__store_close(store);
    }
}

static int stop_after_one(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)total;
    return done > 0;
}

static void test_a_cancelled_call_adds_no_usage(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    struct progress progress;
    struct usage_tool a = {.tool = find_test_id(store, "p", "a"), .label = STR("p/a")};
    struct usage usages[] = {{.request = STR("x"), .tools = &a, .tool_count = 1},
                             {.request = STR("y"), .tools = &a, .tool_count = 1}};
    wt__progress_init(&progress, stop_after_one, NULL);
    assert_int_equal(wt__store_add_usages(store, usages, 2, &progress, NULL, NULL, &err), WT_ECANCELLED);
    wt__progress_dispose(&progress);
    assert_int_equal(read_usage_info(store).usages, 0);
    assert_string_equal(usages_text(store, &everything), "");
    wt__store_close(store);
}

static void test_usages_over_the_limit_are_refused(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    assert_int_equal(wt__sql_exec(store, "UPDATE meta SET value = 9999999 WHERE key = 'usages'", &err), 0);
    record_usage_of(store, "the last", "a", USAGE_OK, 1);
    struct usage_tool a = {.tool = find_test_id(store, "p", "a"), .label = STR("p/a")};
    struct usage usage = {.request = STR("x"), .tools = &a, .tool_count = 1};
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "would hold 10000001 usages; at most 10000000 fit"));
    wt__store_close(store);
}

/* ---------------------------------------------------------------- sums */

/* Adds all pending usages to the sums, `batch` usages at a time. The vector of a usage is its id times (.1, .2, .3,
 * .4). */
static void add_pending_sums(struct store *store, const struct vector_set *of, size_t batch)
{
    struct usage_mark mark;
    for (;;) {
        struct arena arena = {0};
        struct usage *usages;
        size_t count;
        assert_int_equal(wt__store_usage_mark(store, of, &mark, &err), 0);
        struct usage_query query = {.after = mark.last, .teaching = true, .limit = batch};
        assert_int_equal(wt__store_usages(store, &query, &arena, &usages, &count, &err), 0);
        if (count == 0) {
            wt__arena_dispose(&arena);
            return;
        }
        int64_t ids[16];
        uint32_t rows[16];
        float vectors[16 * DIM];
        for (size_t i = 0; i < count; i++) {
            ids[i] = usages[i].id;
            rows[i] = (uint32_t)i;
            for (int d = 0; d < DIM; d++)
                vectors[i * DIM + (size_t)d] = (float)usages[i].id * (float)(d + 1) * .1f;
        }
        assert_int_equal(
            wt__store_add_usage_vectors(store, of, mark.last, ids[count - 1], ids, rows, count, vectors, &err), 1);
        wt__arena_dispose(&arena);
    }
}

/* Appends " tool:uses" of one sum. */
static int append_sum(void *context, const struct usage_sum_key *key)
{
    sprintf((char *)context + strlen(context), " %lld:%lld", (long long)key->tool, (long long)key->uses);
    return 0;
}

/* Returns the sums that are not stale, as " tool:uses tool:uses". */
static const char *sums_text(struct store *store, const struct vector_set *of)
{
    static char text[200];
    text[0] = '\0';
    assert_int_equal(wt__store_each_usage_sum(store, of, append_sum, text, &err), 0);
    return text;
}

/* Returns the first component of a tool's sum, or -1 if the tool has no sum. */
static float first_of_sum(struct store *store, const struct vector_set *of, int64_t tool)
{
    float sum[DIM];
    uint32_t uses;
    assert_true(wt__store_get_usage_sums(store, of, &tool, 1, sum, &uses, &err) >= 0);
    return uses ? sum[0] : -1;
}

static void test_sums_do_not_depend_on_batches(void **state)
{
    (void)state;
    float want[3][DIM];
    for (size_t batch = 1; batch <= 16; batch = batch * 2 + 1) {
        struct store *store = open_test_tools();
        for (int i = 0; i < 15; i++)
            record_usage_of(store, i % 2 ? "odd" : "even", i % 3 ? "a" : "a b", i == 7 ? USAGE_FAILED : USAGE_OK, i);
        add_pending_sums(store, &set, batch);
        assert_string_equal(sums_text(store, &set), " 1:14 2:5");
        int64_t ids[] = {1, 2, 3};
        float have[3][DIM];
        uint32_t uses[3];
        assert_int_equal(wt__store_get_usage_sums(store, &set, ids, 3, *have, uses, &err), 2);
        assert_int_equal(uses[0], 14);
        assert_int_equal(uses[2], 0);
        if (batch == 1)
            memcpy(want, have, sizeof want);
        assert_memory_equal(want, have, sizeof want);
        struct usage_mark mark;
        assert_int_equal(wt__store_usage_mark(store, &set, &mark, &err), 0);
        assert_int_equal(mark.pending + mark.stale, 0);
        wt__store_close(store);
    }
}

static void test_sums_of_different_models_do_not_mix(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t a = find_test_id(store, "p", "a");
    record_usage_of(store, "one", "a", USAGE_OK, 1);
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &other_set), "");
    record_usage_of(store, "two", "a", USAGE_OK, 2);
    add_pending_sums(store, &other_set, 4);
    assert_string_equal(sums_text(store, &set), " 1:1");
    assert_string_equal(sums_text(store, &other_set), " 1:2");
    assert_true(first_of_sum(store, &set, a) < first_of_sum(store, &other_set, a));
    struct vector_set wrong = set;
    struct usage_mark mark;
    wrong.dim = 5;
    assert_int_equal(wt__store_usage_mark(store, &wrong, &mark, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "with dimension 4, not 5"));
    wt__store_close(store);
}

static void test_two_learners_add_a_usage_once(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t id = record_usage_of(store, "one", "a", USAGE_OK, 1);
    const float vector[DIM] = {1, 2, 3, 4};
    uint32_t row = 0;
    assert_int_equal(wt__store_add_usage_vectors(store, &set, 0, id, &id, &row, 1, vector, &err), 1);
    uint64_t before = read_usage_info(store).sums_generation;
    assert_int_equal(wt__store_add_usage_vectors(store, &set, 0, id, &id, &row, 1, vector, &err), 0);
    assert_int_equal(read_usage_info(store).sums_generation, before);
    assert_string_equal(sums_text(store, &set), " 1:1");
    wt__store_close(store);
}

struct sum_state {
    int64_t tool;
    uint64_t generation;
};

static int read_sum_generation(void *context, const struct usage_sum_key *key)
{
    struct sum_state *wanted = context;
    if (key->tool == wanted->tool)
        wanted->generation = key->generation;
    return 0;
}

static uint64_t sum_generation(struct store *store, int64_t tool)
{
    struct sum_state state = {tool, 0};
    assert_int_equal(wt__store_each_usage_sum(store, &set, read_sum_generation, &state, &err), 0);
    return state.generation;
}

static void test_a_forgotten_usage_makes_its_sums_stale(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    struct usage_sum_key keys[4];
    struct usage_mark mark;
    int64_t a = find_test_id(store, "p", "a"), b = find_test_id(store, "p", "b");
    record_usage_of(store, "one", "a", USAGE_OK, 1);
    record_usage_of(store, "two", "a b", USAGE_OK, 2);
    record_usage_of(store, "three", "b", USAGE_OK, 3);
    add_pending_sums(store, &set, 4);
    uint64_t a_before = sum_generation(store, a), b_before = sum_generation(store, b),
             all_before = read_usage_info(store).sums_generation;
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.before = 2}, &err), 1);
    assert_true(read_usage_info(store).sums_generation > all_before);
    assert_string_equal(sums_text(store, &set), " 2:2"); /* the sum of a is stale */
    assert_true(first_of_sum(store, &set, a) < 0);
    assert_int_equal(sum_generation(store, b), b_before);

    /* Later usages do not rebuild the stale sum. */
    record_usage_of(store, "four", "a", USAGE_OK, 4);
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &set), " 2:2");
    assert_int_equal(wt__store_usage_mark(store, &set, &mark, &err), 0);
    assert_int_equal(mark.stale, 1);
    assert_int_equal(wt__store_stale_usage_sums(store, &set, 0, keys, 4, &err), 1);
    assert_int_equal(keys[0].tool, a);

    /* A stale sum is replaced, unless the sum or the mark has changed meanwhile. */
    const float sum[DIM] = {6, 12, 18, 24};
    keys[0].uses = 2;
    assert_int_equal(wt__store_put_usage_sum(store, &set, &keys[0], mark.last - 1, sum, &err), 0);
    struct usage_sum_key older = keys[0];
    older.generation--;
    assert_int_equal(wt__store_put_usage_sum(store, &set, &older, mark.last, sum, &err), 0);
    assert_int_equal(wt__store_put_usage_sum(store, &set, &keys[0], mark.last, sum, &err), 1);
    assert_int_equal(wt__store_put_usage_sum(store, &set, &keys[0], mark.last, sum, &err), 0);
    assert_string_equal(sums_text(store, &set), " 1:2 2:2");
    assert_true(sum_generation(store, a) > a_before);
    assert_true(first_of_sum(store, &set, a) == 6);
    wt__store_close(store);
}

static void test_a_tool_added_again_gets_a_new_sum(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    struct usage_sum_key keys[4];
    int64_t b = find_test_id(store, "p", "b");
    record_usage_of(store, "one", "a b later", USAGE_OK, 1);
    add_pending_sums(store, &set, 4);
    assert_int_equal(wt__store_remove(store, &b, 1, &err), 1);
    assert_string_equal(sums_text(store, &set), " 1:1");
    add_test_tool(store, "p", "b");
    add_test_tool(store, "p", "later");
    add_test_tool(store, "p", "unused");
    assert_int_equal(wt__store_stale_usage_sums(store, &set, 0, keys, 4, &err), 2);
    assert_int_equal(keys[0].tool, find_test_id(store, "p", "b"));
    assert_int_equal(keys[1].tool, find_test_id(store, "p", "later"));
    wt__store_close(store);
}

static void test_an_empty_sum_is_absent(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    struct usage_sum_key keys[4];
    struct usage_mark mark;
    record_usage_of(store, "one", "a", USAGE_OK, 1);
    add_pending_sums(store, &set, 4);
    assert_int_equal(wt__store_forget_usages(store, &everything, &err), 1);
    assert_int_equal(wt__store_stale_usage_sums(store, &set, 0, keys, 4, &err), 1);
    assert_int_equal(wt__store_usage_mark(store, &set, &mark, &err), 0);
    const float zero[DIM] = {0};
    assert_int_equal(wt__store_put_usage_sum(store, &set, &keys[0], mark.last, zero, &err), 1);
    assert_string_equal(sums_text(store, &set), "");
    assert_int_equal(wt__store_stale_usage_sums(store, &set, 0, keys, 4, &err), 0);
    record_usage_of(store, "two", "a", USAGE_OK, 2);
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &set), " 1:1");
    wt__store_close(store);
}

static void test_a_damaged_sum_is_reported(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t a = find_test_id(store, "p", "a");
    float sum[DIM];
    uint32_t uses;
    record_usage_of(store, "one", "a", USAGE_OK, 1);
    add_pending_sums(store, &set, 4);
    assert_int_equal(wt__sql_exec(store, "UPDATE usage_sum SET data = x'00'", &err), 0);
    assert_int_equal(wt__store_get_usage_sums(store, &set, &a, 1, sum, &uses, &err), WT_ESTORE);
    assert_non_null(strstr(err.message, "the usage sum of tool 1 has 1 bytes, not 16"));
    wt__store_close(store);
}

/* ---------------------------------------------------------------- clients */

static void test_a_tool_counts_once_per_client_and_request(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct {
            const char *client, *request, *tools;
            enum usage_outcome outcome;
        } usages[4];
        const char *teaching, *sums;
    } rows[] = {
        {"without a client all count", {{"", "x", "a", 0}, {"", "x", "a", 0}}, "x(p/a) x(p/a)", " 1:2"},
        {"a client's repetition does not count", {{"c", "x", "a", 0}, {"c", "x", "a", 0}}, "x(p/a)", " 1:1"},
        {"two clients both count", {{"c", "x", "a", 0}, {"d", "x", "a", 0}}, "x(p/a) x(p/a)", " 1:2"},
        {"with and without a client both count", {{"c", "x", "a", 0}, {"", "x", "a", 0}}, "x(p/a) x(p/a)", " 1:2"},
        {"two requests both count", {{"c", "x", "a", 0}, {"c", "y", "a", 0}}, "x(p/a) y(p/a)", " 1:2"},
        {"an additional tool counts", {{"c", "x", "a", 0}, {"c", "x", "a b", 0}}, "x(p/a) x(p/b)", " 1:1 2:1"},
        {"a subset of the tools does not count", {{"c", "x", "a b", 0}, {"c", "x", "b", 0}}, "x(p/a p/b)", " 1:1 2:1"},
        {"a usage after a failed usage counts", {{"c", "x", "a", USAGE_FAILED}, {"c", "x", "a", 0}}, "x(p/a)", " 1:1"},
        {"a tool after a label without a tool counts",
         {{"c", "x", "gone", 0}, {"c", "x", "gone a", 0}},
         "x(p/a)",
         " 1:1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t batch = 1; batch < 4; batch++) {
            struct store *store = open_test_tools();
            for (size_t u = 0; u < 4 && rows[i].usages[u].client; u++)
                record_client_usage(store, rows[i].usages[u].client, rows[i].usages[u].request, rows[i].usages[u].tools,
                                    rows[i].usages[u].outcome, 1);
            add_pending_sums(store, &set, batch);
            const struct usage_query teaching = {.teaching = true};
            if (strcmp(usages_text(store, &teaching), rows[i].teaching) != 0 ||
                strcmp(sums_text(store, &set), rows[i].sums) != 0)
                fail_msg("%s: %s;%s", rows[i].name, usages_text(store, &teaching), sums_text(store, &set));
            wt__store_close(store);
        }
}

static void test_a_repetition_counts_when_the_first_is_forgotten(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t clients;
    record_client_usage(store, "c", "x", "a", USAGE_OK, 1);
    record_client_usage(store, "c", "x", "a", USAGE_OK, 2);
    record_client_usage(store, "d", "y", "a b", USAGE_OK, 3);
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &set), " 1:2 2:1");
    assert_string_equal(usages_text(store, &(struct usage_query){.client = STR("c")}), "x(p/a) x(p/a)");
    assert_string_equal(usages_text(store, &(struct usage_query){.client = STR("unknown")}), "");
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.before = 2}, &err), 1);
    assert_string_equal(sums_text(store, &set), " 2:1"); /* the sum of a is stale */
    assert_string_equal(usages_text(store, &(struct usage_query){.tool = 1, .teaching = true}), "x(p/a) y(p/a p/b)");
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.client = STR("d")}, &err), 1);
    assert_string_equal(usages_text(store, &everything), "x(p/a)");
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM client", &clients, &err), 0);
    assert_int_equal(clients, 1);
    wt__store_close(store);
}

/* Returns the number of trusted usages in the sum of tool a. */
static uint32_t trusted_uses(struct store *store)
{
    int64_t a = find_test_id(store, "p", "a");
    float sum[DIM];
    uint32_t uses;
    assert_int_equal(wt__store_get_usage_sums(store, &set, &a, 1, sum, &uses, &err), 1);
    return uses;
}

static void test_usages_of_one_client_are_limited_in_a_mean(void **state)
{
    char client[20], request[40];
    struct store *store = open_test_tools();
    (void)state;
    for (int i = 0; i < 30; i++) {
        snprintf(request, sizeof request, "wish number %d", i);
        record_client_usage(store, "c", request, "a", USAGE_OK, i);
    }
    add_pending_sums(store, &set, 16);
    assert_int_equal(trusted_uses(store), 30); /* the store has no other clients */
    for (int i = 0; i < 19; i++) {
        snprintf(client, sizeof client, "client %d", i);
        record_client_usage(store, client, "another", "b", USAGE_OK, 100 + i);
    }
    assert_int_equal(trusted_uses(store), 10); /* 200 / 20 clients */
    for (int i = 19; i < 70; i++) {
        snprintf(client, sizeof client, "client %d", i);
        record_client_usage(store, client, "another", "b", USAGE_OK, 100 + i);
    }
    assert_int_equal(trusted_uses(store), 3);
    for (int i = 0; i < 2; i++)
        record_usage_of(store, "wish number 1", "a", USAGE_OK, 200 + i);
    for (int i = 0; i < 4; i++)
        record_client_usage(store, "client 5", i % 2 ? "odd" : "even", "a", USAGE_OK, 300 + i);
    add_pending_sums(store, &set, 16);
    assert_string_equal(sums_text(store, &set), " 1:34 2:70");
    assert_int_equal(trusted_uses(store), 8);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- many usages */

static void test_many_usages_are_added_and_forgotten(void **state)
{
    const int many = backend == backends ? MANY_IN_FILE : MANY_ON_SERVER;
    (void)state;
    struct store *store;
    assert_int_equal(wt__store_open(&store, backend->store("many.wt"), NULL, &err), 0);
    for (const char *name = "a\0b\0c\0"; *name; name += 2)
        add_test_tool(store, "p", name);
    struct usage *usages = calloc((size_t)many, sizeof *usages);
    char(*requests)[64] = calloc((size_t)many, sizeof *requests);
    struct usage_tool tools[] = {{1, STR("p/a"), STR("")}, {2, STR("p/b"), STR("")}, {3, STR("p/c"), STR("")}};
    assert_true(usages && requests);
    for (int i = 0; i < many; i++) {
        snprintf(requests[i], sizeof *requests, "please do thing number %d for me", i % (many / 2));
        usages[i] = (struct usage){.request = wt__str(requests[i]), .time = i, .tools = tools, .tool_count = 3};
    }
    assert_int_equal(wt__store_add_usages(store, usages, (size_t)many, NULL, NULL, NULL, &err), 0);
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.before = many / 2}, &err), many / 2);
    assert_int_equal(read_usage_info(store).usages, many / 2);
    wt__store_close(store);
    free(usages);
    free(requests);
}

/* ---------------------------------------------------------------- stores of older versions */

static const char version_1[] =
    "PRAGMA application_id=1465152372; PRAGMA user_version=1;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('generation', 7);"
    "CREATE TABLE provider (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE tool (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " provider INTEGER NOT NULL REFERENCES provider (id),"
    " state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)),"
    " source INTEGER NOT NULL REFERENCES source (id), generation INTEGER NOT NULL, id_hash INTEGER NOT NULL,"
    " sha256 BLOB NOT NULL CHECK (length(sha256) = 32), name TEXT NOT NULL, source_id TEXT NOT NULL,"
    " format TEXT NOT NULL, category TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,"
    " schema TEXT NOT NULL, definition BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX tool_name ON tool (name, provider);"
    "CREATE INDEX tool_provider ON tool (provider, state);"
    "CREATE INDEX tool_source ON tool (source);"
    "CREATE INDEX tool_source_id ON tool (source_id) WHERE source_id <> '';"
    "CREATE INDEX tool_id_hash ON tool (id_hash);"
    "CREATE INDEX tool_key ON tool (state, id, generation, provider);"
    "CREATE TABLE model (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " dim INTEGER NOT NULL CHECK (dim > 0)) STRICT;"
    "CREATE TABLE vector (tool INTEGER NOT NULL REFERENCES tool (id) ON DELETE CASCADE, kind TEXT NOT NULL,"
    " model INTEGER NOT NULL REFERENCES model (id), data BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX vector_tool ON vector (tool, kind, model);"
    "CREATE TABLE usage (id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, outcome TEXT NOT NULL,"
    " created INTEGER NOT NULL) STRICT;"
    "CREATE TABLE usage_tool (usage INTEGER NOT NULL REFERENCES usage (id) ON DELETE CASCADE,"
    " position INTEGER NOT NULL, provider TEXT NOT NULL, name TEXT NOT NULL,"
    " tool INTEGER REFERENCES tool (id) ON DELETE SET NULL, PRIMARY KEY (usage, position)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX usage_tool_tool ON usage_tool (tool) WHERE tool IS NOT NULL;"

    "INSERT INTO provider VALUES (1, 'p'), (2, '');"
    "INSERT INTO source VALUES (1, 'old');"
    "INSERT INTO tool (id, provider, source, generation, id_hash, sha256, name, source_id, format, category, title,"
    " description, schema, definition) VALUES"
    " (3, 1, 1, 2, 5, zeroblob(32), 'a', '', 'mcp', '', '', '', '{}', x'7b7d'),"
    " (4, 2, 1, 2, 6, zeroblob(32), 'plain', '', 'mcp', '', '', '', '{}', x'7b7d');"
    "INSERT INTO model VALUES (1, 'abc', 'small', 4);"
    "INSERT INTO vector VALUES (3, 'document_2', 1, zeroblob(16));"
    "INSERT INTO usage VALUES (1, 'one', 'ok', 11), (2, 'two', 'failed', 22), (5, 'one', 'odd', 33);"
    "INSERT INTO usage_tool VALUES (1, 0, 'p', 'a', 3), (1, 1, 'p', 'gone', NULL), (2, 0, '', 'plain', 4),"
    " (5, 0, 'p', 'gone', NULL);";

static void make_version_1(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, version_1, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void test_a_store_of_version_1_is_updated(void **state)
{
    (void)state;
    need_files();
    const char *path = backend->store("version-1.wt");
    struct store *store;
    struct arena arena = {0};
    struct usage *usages;
    size_t count;
    uint64_t generation;
    int64_t left;
    struct tool tool;
    make_version_1(path);
    struct store_options read = {.read_only = true};
    assert_int_equal(wt__store_open(&store, path, &read, &err), WT_EREADONLY);
    assert_non_null(strstr(err.message, "was written by an older whichtool (store version 1)"));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
        assert_string_equal(usages_text(store, &everything), "one(p/a p/gone!) two(plain) one(p/gone!)");
        assert_int_equal(wt__store_usages(store, &everything, &arena, &usages, &count, &err), 0);
        assert_int_equal(usages[0].outcome, USAGE_OK);
        assert_int_equal(usages[1].outcome, USAGE_FAILED);
        assert_int_equal(usages[2].outcome, USAGE_UNKNOWN);
        assert_int_equal(usages[2].time, 33);
        assert_int_equal(read_usage_info(store).usages, 3);
        assert_int_equal(wt__store_generation(store, &generation, &err), 0);
        assert_int_equal(generation, 7);
        assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM vector", &left, &err), 0);
        assert_int_equal(left, 1);
        assert_int_equal(
            wt__sql_number(store, "SELECT count(*) FROM sqlite_schema WHERE tbl_name IN ('usage_1', 'usage_tool_1')",
                           &left, &err),
            0);
        assert_int_equal(left, 0);
        assert_int_equal(
            wt__sql_number(store, "SELECT count(*) FROM pragma_table_info('tool') WHERE name = 'state'", &left, &err),
            0);
        assert_int_equal(left, 0); /* The migration drops the column, which was always 0. */
        assert_int_equal(wt__store_get(store, (int64_t[]){3}, 1, &arena, &tool, &err), 1);
        assert_true(wt__str_equal(tool.name, STR("a")) && wt__str_equal(tool.definition, STR("{}")));
        wt__store_close(store);
    }
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    add_test_tool(store, "p", "gone");
    assert_true(record_usage_of(store, "three", "a", USAGE_OK, 44) > 5);
    add_pending_sums(store, &set, 2);
    assert_string_equal(usages_text(store, &everything), "one(p/a p/gone) two(plain) one(p/gone) three(p/a)");
    assert_string_equal(sums_text(store, &set), " 3:2 5:2");
    wt__store_close(store);
    wt__arena_dispose(&arena);
}

/* Version 2 had no clients, so every usage from before the migration counts. */
static void test_a_store_of_version_2_gets_clients(void **state)
{
    (void)state;
    need_files();
    const char *path = backend->store("version-2.wt");
    struct store *store;
    make_version_1(path);
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    assert_int_equal(
        wt__sql_exec(store,
                     "PRAGMA foreign_keys=off;" BACK_TO_VERSION_8 "DROP TABLE review; DROP TABLE review_server;"
                     "DROP INDEX usage_key; ALTER TABLE usage DROP COLUMN key;"
                     "DROP INDEX usage_client; ALTER TABLE usage DROP COLUMN client;"
                     "DROP TABLE contrast; ALTER TABLE usage_tool DROP COLUMN arguments; DROP TABLE client; ALTER "
                     "TABLE tool ADD COLUMN "
                     "state INTEGER NOT NULL DEFAULT 0;"
                     "DROP TABLE provider_alias; DROP INDEX tool_export_name; ALTER TABLE tool DROP COLUMN export_name;"
                     "ALTER TABLE tool ADD COLUMN id_hash INTEGER NOT NULL DEFAULT 0;"
                     "CREATE INDEX tool_id_hash ON tool (id_hash);"
                     "PRAGMA user_version=2",
                     &err),
        0);
    wt__store_close(store);
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    for (int64_t time = 1; time < 4; time++)
        record_client_usage(store, "c", "one", "a", USAGE_OK, time);
    assert_string_equal(usages_text(store, &(struct usage_query){.teaching = true}), "one(p/a p/gone!) one(p/a)");
    wt__store_close(store);
}

/* ---------------------------------------------------------------- times and requests */

static void test_times_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1 if invalid */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-22T08:30:15Z", 1795336215},
        {"2026-11-22 08:30:15z", 1795336215},
        {"2026-11-22T08:30:15.123456Z", 1795336215},
        {"2026-11-22T10:00:15+01:30", 1795336215},
        {"2026-11-22T00:30:15-08:00", 1795336215},
        {"2026-11-22", 1795305600},
        {"2024-02-29", 1709164800},
        {"9999-12-31T23:59:59Z", 253402300799},
        {"2023-02-29", -1},
        {"2026-04-31", -1},
        {"2026-13-01", -1},
        {"2026-00-01", -1},
        {"1969-12-31", -1},
        {"1970-01-01T00:00:00+01:00", -1},
        {"2026-11-22T24:00:00Z", -1},
        {"2026-11-22T08:30Z", -1},
        {"2026-11-22T08:30:15", -1},
        {"2026-11-22T08:30:15.Z", -1},
        {"2026-11-22T08:30:15Zx", -1},
        {"2026-11-22T08:30:15+0100", -1},
        {"26-11-22", -1},
        {"yesterday", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t seconds = -1;
        bool read = wt__usage_time_read(wt__str(rows[i].text), &seconds);
        if (read != (rows[i].seconds >= 0) || (read && seconds != rows[i].seconds))
            fail_msg("\"%s\" reads as %lld", rows[i].text, (long long)seconds);
        char written[CLOCK_TEXT_BYTES];
        int64_t again;
        if (read) {
            wt__clock_text(seconds, written);
            assert_true(wt__usage_time_read(wt__str(written), &again));
            assert_int_equal(again, seconds);
        }
    }
}

static void test_invalid_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct str request;
        int code;
        const char *sentence;
    } rows[] = {
        {"words are accepted", STR("book a table"), 0, ""},
        {"another alphabet is accepted", STR("\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"), 0, ""},
        {"one character is accepted", STR("\xe9\xa3\x9f"), 0, ""},
        {"no bytes are refused", STR(""), WT_EFORMAT, "the request is empty"},
        {"blanks are refused", STR(" \t\n"), WT_EFORMAT, "the request is empty"},
        {"Unicode blanks are refused", STR("\xe3\x80\x80\xc2\xa0\xe2\x80\x83"), WT_EFORMAT, "the request is empty"},
        {"a NUL is refused", STR("ab\0c"), WT_EFORMAT, "the request has a NUL at byte 2"},
        {"invalid UTF-8 is refused", STR("caf\xe9"), WT_EFORMAT, "the request is not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err = (wt_error){0};
        if (wt__usage_check_request(rows[i].request, &err) != rows[i].code || !strstr(err.message, rows[i].sentence))
            fail_msg("%s: %s", rows[i].name, err.message);
    }
    char *longest = malloc(WT_MAX_REQUEST_BYTES + 1);
    assert_non_null(longest);
    memset(longest, 'x', WT_MAX_REQUEST_BYTES + 1);
    assert_int_equal(wt__usage_check_request((struct str){longest, WT_MAX_REQUEST_BYTES}, &err), 0);
    assert_int_equal(wt__usage_check_request((struct str){longest, WT_MAX_REQUEST_BYTES + 1}, &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "the request has 65537 bytes; at most 65536 are allowed"));
    free(longest);
}

/* ---------------------------------------------------------------- keys and outcomes */

/* Reports a usage of tool a. If `ended`, reports only the outcome of the earlier usage with the key. */
static enum usage_fate report_usage(struct store *store, const char *client, const char *key, bool ended,
                                    enum usage_outcome outcome)
{
    struct usage_tool tool = {.tool = find_test_id(store, "p", "a"), .label = STR("p/a")};
    struct usage usage = {.request = STR("one"),
                          .outcome = outcome,
                          .tools = &tool,
                          .tool_count = !ended,
                          .client = wt__str(client),
                          .key = wt__str(key)};
    enum usage_fate fate;
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, &fate, NULL, &err), 0);
    return fate;
}

static void test_a_repeated_key_of_a_client_adds_no_usage(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    static const struct {
        const char *client, *key;
        enum usage_fate fate;
    } rows[] = {
        {"", "k", USAGE_ADDED},     {"", "k", USAGE_REPEATED},  {"", "K", USAGE_ADDED}, {"c", "k", USAGE_ADDED},
        {"c", "k", USAGE_REPEATED}, {"d", "k", USAGE_ADDED},    {"c", "", USAGE_ADDED}, {"c", "", USAGE_ADDED},
        {"", "", USAGE_ADDED},      {"d", "k", USAGE_REPEATED},
    };
    uint64_t added = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(report_usage(store, rows[i].client, rows[i].key, false, USAGE_UNKNOWN), rows[i].fate);
        added += rows[i].fate == USAGE_ADDED;
        assert_int_equal(read_usage_info(store).usages, added);
    }
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.client = STR("c")}, &err), 3);
    assert_int_equal(report_usage(store, "c", "k", false, USAGE_UNKNOWN),
                     USAGE_ADDED); /* the key was removed with the usage */
    wt__store_close(store);
}

static void test_an_outcome_can_be_reported_later(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    int64_t a = find_test_id(store, "p", "a");
    report_usage(store, "c", "k", false, USAGE_UNKNOWN);
    record_client_usage(store, "c", "one", "a", USAGE_OK, 2); /* counts only if the first usage failed */
    record_usage_of(store, "two", "a", USAGE_OK, 3);
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &set), " 1:2");
    static const struct {
        const char *client, *key;
        enum usage_outcome outcome;
        enum usage_fate fate;
        const char *sums; /* sums that are not stale */
    } rows[] = {
        {"c", "other", USAGE_FAILED, USAGE_MISSING, " 1:2"}, {"d", "k", USAGE_FAILED, USAGE_MISSING, " 1:2"},
        {"c", "k", USAGE_UNKNOWN, USAGE_REPEATED, " 1:2"},   {"c", "k", USAGE_OK, USAGE_CHANGED, " 1:2"},
        {"c", "k", USAGE_FAILED, USAGE_CHANGED, ""},         {"c", "k", USAGE_FAILED, USAGE_REPEATED, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(report_usage(store, rows[i].client, rows[i].key, true, rows[i].outcome), rows[i].fate);
        assert_string_equal(sums_text(store, &set), rows[i].sums);
    }
    assert_string_equal(usages_text(store, &(struct usage_query){.teaching = true}), "one(p/a) two(p/a)");
    struct usage_sum_key key;
    const float vector[DIM] = {1, 2, 3, 4};
    assert_int_equal(wt__store_stale_usage_sums(store, &set, 0, &key, 1, &err), 1);
    assert_int_equal(key.tool, a);
    key.uses = 2;
    assert_int_equal(wt__store_put_usage_sum(store, &set, &key, 3, vector, &err), 1);
    assert_int_equal(report_usage(store, "c", "k", true, USAGE_OK), USAGE_CHANGED); /* the outcome can change back */
    assert_string_equal(sums_text(store, &set), "");
    wt__store_close(store);
}

/* A failed usage that was not yet added to a sum does not change the sum. */
static void test_a_failure_before_learning_does_not_change_sums(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    record_usage_of(store, "two", "a", USAGE_OK, 1);
    add_pending_sums(store, &set, 4);
    report_usage(store, "c", "k", false, USAGE_OK);
    assert_int_equal(report_usage(store, "c", "k", true, USAGE_FAILED), USAGE_CHANGED);
    assert_string_equal(sums_text(store, &set), " 1:1");
    add_pending_sums(store, &set, 4);
    assert_string_equal(sums_text(store, &set), " 1:1");
    wt__store_close(store);
}

static void test_ids_of_segments_are_kept_for_a_limited_time(void **state)
{
    (void)state;
    struct store *store = open_test_tools();
    struct usage_tool tools[] = {{.label = STR("p/a")}};
    const struct usage usage = {.request = STR("one"), .outcome = USAGE_OK, .time = 1, .tools = tools, .tool_count = 1};
    enum usage_fate fate;
    const int64_t day = 24 * 60 * 60, now = (int64_t)time(NULL);
    for (int added = 1; added >= 0; added--)
        assert_int_equal(wt__store_add_segment(store, STR("0123456789abcdef"), &usage, 1, &fate, &err), added);
    assert_int_equal(wt__store_add_segment(store, STR("0123456789abcdee"), &usage, 1, &fate, &err), 1);
    assert_int_equal(wt__sql_run(store, "UPDATE usage_segment SET applied = ?1 WHERE id = '0123456789abcdef'",
                                 SQL_VALUES(sql_integer(now - (SEGMENT_ID_DAYS + 1) * day)), &err),
                     0);
    assert_int_equal(wt__sql_run(store, "UPDATE usage_segment SET applied = ?1 WHERE id = '0123456789abcdee'",
                                 SQL_VALUES(sql_integer(now - (SEGMENT_ID_DAYS - 1) * day)), &err),
                     0);
    store->segments_pruned_s -= day; /* the ids are looked at once a day */
    assert_int_equal(wt__store_add_segment(store, STR("0123456789abcdee"), &usage, 1, &fate, &err), 0);
    assert_int_equal(wt__store_add_segment(store, STR("0123456789abcdef"), &usage, 1, &fate, &err), 1);
    wt__store_close(store);
}

static void test_counters_show_the_last_commit(void **state)
{
    (void)state;
    struct store *writer, *reader;
    assert_int_equal(wt__store_open(&writer, backend->store("counters.wt"), NULL, &err), 0);
    assert_int_equal(wt__store_open_reader(&reader, writer, &err), 0);
    for (uint64_t round = 0; round < 3; round++) {
        char name[2] = {(char)('a' + round)};
        add_test_tool(writer, "p", name);
        uint64_t now = read_usage_info(writer).catalogue;
        assert_int_equal(read_usage_info(writer).catalogue, now);
        assert_int_equal(read_usage_info(reader).catalogue, now);
        assert_int_equal(wt__sql_begin(writer, &err), 0);
        assert_int_equal(wt__sql_set_generation(writer, now + 100, &err), 0);
        assert_int_equal(read_usage_info(writer).catalogue, now + 100); /* visible only within its own transaction */
        assert_int_equal(read_usage_info(reader).catalogue, now);
        assert_int_equal(wt__sql_end(writer, WT_ECANCELLED, &err), WT_ECANCELLED);
        assert_int_equal(read_usage_info(writer).catalogue, now);
        assert_int_equal(read_usage_info(reader).catalogue, now);
        record_usage_of(writer, "a request", "a", USAGE_OK, 1);
        assert_int_equal(read_usage_info(reader).usages, round + 1);
        if (round == 1 && backend == backends)
            assert_int_equal(wt__sql_exec(writer, "PRAGMA journal_mode=WAL", &err), 0);
    }
    wt__store_close(reader);
    wt__store_close(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_show_the_last_commit),
        cmocka_unit_test(test_ids_of_segments_are_kept_for_a_limited_time),
        cmocka_unit_test(test_usages_are_read_as_they_were_recorded),
        cmocka_unit_test(test_equal_requests_are_stored_once),
        cmocka_unit_test(test_every_change_of_usages_increments_the_generation),
        cmocka_unit_test(test_a_label_is_linked_to_a_tool_of_its_name),
        cmocka_unit_test(test_selected_usages_are_forgotten),
        cmocka_unit_test(test_a_repeated_key_of_a_client_adds_no_usage),
        cmocka_unit_test(test_an_outcome_can_be_reported_later),
        cmocka_unit_test(test_a_failure_before_learning_does_not_change_sums),
        cmocka_unit_test(test_a_cancelled_call_adds_no_usage),
        cmocka_unit_test(test_usages_over_the_limit_are_refused),
        cmocka_unit_test(test_sums_do_not_depend_on_batches),
        cmocka_unit_test(test_sums_of_different_models_do_not_mix),
        cmocka_unit_test(test_two_learners_add_a_usage_once),
        cmocka_unit_test(test_a_forgotten_usage_makes_its_sums_stale),
        cmocka_unit_test(test_a_tool_added_again_gets_a_new_sum),
        cmocka_unit_test(test_an_empty_sum_is_absent),
        cmocka_unit_test(test_a_damaged_sum_is_reported),
        cmocka_unit_test(test_a_tool_counts_once_per_client_and_request),
        cmocka_unit_test(test_a_repetition_counts_when_the_first_is_forgotten),
        cmocka_unit_test(test_usages_of_one_client_are_limited_in_a_mean),
        cmocka_unit_test(test_a_store_of_version_2_gets_clients),
        cmocka_unit_test(test_many_usages_are_added_and_forgotten),
        cmocka_unit_test(test_a_store_of_version_1_is_updated),
        cmocka_unit_test(test_times_are_parsed),
        cmocka_unit_test(test_invalid_requests_are_refused),
    };
    return RUN_ON_BACKEND(tests);
}
