/* Tests the tools recorded for the same or a nearly equal request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/older.h"
#include "store/usages.h"

/* Checks the shares of tools a and b, in percent, among the recorded tools of a request. A tool that is not recorded
 * has the share 0. */
static void check_shares(struct store *store, const char *request, int a, int b)
{
    struct arena arena = {0};
    struct recorded_tool *tools;
    size_t count;
    int got[2] = {0};
    assert_int_equal(wt__store_recorded(store, wt__str(request), &arena, &tools, &count, &err), 0);
    for (size_t i = 0; i < count; i++)
        got[tools[i].tool == find_test_id(store, "p", "b")] = (int)(100 * tools[i].share + .5);
    if (got[0] != a || got[1] != b)
        fail_msg("%s: %d and %d %%, not %d and %d", request, got[0], got[1], a, b);
    wt__arena_dispose(&arena);
}

static void test_tools_of_the_same_request_are_found(void **state)
{
    struct store *store = open_test_tools();
    (void)state;
    check_shares(store, "walk the grey dog slowly", 0, 0);
    record_usage_of(store, "walk the grey dog slowly", "a", USAGE_UNKNOWN, 1);
    check_shares(store, "Walk the grey dog, slowly!", 50, 0);
    check_shares(store, "please walk a grey dog slowly", 50, 0); /* nearly equal: only "please" and "a" differ */
    check_shares(store, "walk the grey cat slowly", 0, 0);
    record_usage_of(store, "walk the grey dog slowly", "a b", USAGE_OK, 2);
    record_usage_of(store, "walk the grey dog slowly", "b", USAGE_FAILED, 3);
    check_shares(store, "walk the grey dog slowly", 67, 33);
    for (int i = 0; i < 500; i++) /* only the newest usages count, in any spelling */
        record_usage_of(store, "Walk the grey dog slowly", "b", USAGE_OK, 4 + i);
    check_shares(store, "walk the grey dog slowly", 0, 100);
    wt__store_close(store);
}

/* Works like check_shares for tool a alone. Other tools may be recorded as well. */
static void check_share(struct store *store, const char *request, int percent)
{
    struct arena arena = {0};
    struct recorded_tool *tools;
    size_t count;
    double share = 0;
    assert_int_equal(wt__store_recorded(store, wt__str(request), &arena, &tools, &count, &err), 0);
    for (size_t i = 0; i < count; i++)
        if (tools[i].tool == find_test_id(store, "p", "a"))
            share = tools[i].share;
    wt__arena_dispose(&arena);
    if ((int)(100 * share + .5) != percent)
        fail_msg("%s: %.1f %%, not %d", request, 100 * share, percent);
}

/* A client that repeats a request, in any spelling, does not hide its other usages or the usages of other clients. */
static void test_repetitions_of_a_client_count_once(void **state)
{
    char request[60] = "walk the grey dog slowly";
    struct store *store = open_test_tools();
    (void)state;
    for (int i = 0; i < 300; i++)
        record_client_usage(store, "c", request, "a", USAGE_OK, 1 + i);
    check_shares(store, "walk the grey dog slowly", 50, 0);
    record_client_usage(store, "d", request, "a", USAGE_OK, 301);
    for (int i = 0; i < 300; i++)
        record_client_usage(store, "e", request, "b", USAGE_OK, 302 + i);
    check_shares(store, "walk the grey dog slowly", 50, 25);
    for (int i = 0; i < 12; i++) {
        strcat(request, "!");
        record_client_usage(store, "e", request, "b", USAGE_OK, 700 + i);
    }
    check_shares(store, "walk the grey dog slowly", 50, 25);
    wt__store_close(store);
}

/* In a store of sixty clients, five clients must report a tool for full trust. Fewer clients have partial trust. A
 * client with few usages counts as a fraction of a client. */
static void test_few_clients_are_trusted_in_part(void **state)
{
    static const struct {
        int clients, usages; /* clients that report the tool, and the usages of each so far */
        int share;
    } rows[] = {{1, 20, 10}, {1, 50, 10}, {2, 20, 27}, {3, 20, 45}, {5, 20, 83},
                {6, 20, 86}, {1, 10, 5},  {10, 2, 18}, {20, 2, 38}};
    char client[20], request[40];
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct store *store = open_test_tools();
        for (int i = 0; i < 60; i++) {
            snprintf(client, sizeof client, "client %d", i);
            snprintf(request, sizeof request, "request number %d", i);
            record_client_usage(store, client, request, "b", USAGE_OK, i);
        }
        for (int i = 0; i < rows[row].clients; i++)
            for (int times = 0; times < rows[row].usages; times++) {
                snprintf(client, sizeof client, "few %d", i);
                record_client_usage(store, client, "wish", "a", USAGE_OK, 100 + i);
            }
        check_shares(store, "wish", rows[row].share, 0);
        record_usage_of(store, "any wish", "a", USAGE_OK, 201); /* usages without a client have full trust */
        check_shares(store, "wish", (int)(100. * rows[row].clients / (rows[row].clients + 1) + .5), 0);
        wt__store_close(store);
    }
}

/* The search for nearly equal requests reads at most 256 KB of requests without a client, so that long requests do not
 * raise the cost of a search. */
static void test_reading_of_near_requests_is_bounded(void **state)
{
    enum { BYTES = 60000, FIT = 4 /* requests of BYTES that fit in 256 KB together with the nearly equal request */ };
    struct store *store = open_test_tools();
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    (void)state;
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    record_usage_of(store, "walk the grey dog slowly", "a", USAGE_OK, 1);
    for (int i = 0; i <= FIT; i++) {
        check_shares(store, "please walk a grey dog slowly", 50, 0);
        text[i] = 'y';
        record_usage_of(store, text, "b", USAGE_OK, 2 + i);
    }
    check_shares(store, "please walk a grey dog slowly", 0, 0);
    check_shares(store, "walk the grey dog slowly", 50, 0); /* found by its hash */
    free(text);
    wt__store_close(store);
}

/* Versions up to 8 hashed the bytes of a request or had no hash, and stored no client with the tools of a usage. */
static void test_a_store_of_version_8_finds_recorded_tools(void **state)
{
    char sql[200];
    unsigned char digest[32];
    int64_t hash, one = 0, two = 0;
    struct store *store;
    (void)state;
    need_files();
    const char *path = backend->store("version-8.wt");
    wt__sha256("sit", 3, digest);
    memcpy(&hash, digest, sizeof hash);
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    add_test_tool(store, "p", "a");
    add_test_tool(store, "p", "b");
    record_usage_of(store, "walk the grey dog slowly", "a", USAGE_OK, 1);
    record_client_usage(store, "c", "sit", "b", USAGE_OK, 2);
    assert_int_equal(wt__store_request_row(store, STR("sit"), &one, &err), 1);
    snprintf(sql, sizeof sql, "UPDATE request SET hash = iif(text = 'sit', %lld, 0)", (long long)hash);
    assert_int_equal(wt__sql_exec(store, sql, &err), 0);
    assert_int_equal(wt__sql_exec(store, BACK_TO_VERSION_8, &err), 0);
    wt__store_close(store);
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    check_shares(store, "Walk the grey dog, slowly!", 50, 0);
    check_shares(store, "Sit!", 0, 50);
    assert_int_equal(wt__store_request_row(store, STR("sit"), &two, &err), 1);
    assert_int_equal(one, two);
    record_client_usage(store, "c", "sit", "b", USAGE_OK, 3);
    check_shares(store, "sit", 0, 50);
    assert_int_equal(wt__store_check(store, &err), 0);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- one client against many */

enum { HONEST = 25, KNOWN = 20 };

static const char wish[] = "walk the grey dog slowly", near_wish[] = "please walk a grey dog slowly";

/* Opens a store in which 25 clients, each with 20 usages, used tool a for the same request. */
static struct store *open_honest(void)
{
    char client[20], request[40];
    struct store *store = open_test_tools();
    for (int i = 0; i < HONEST; i++) {
        snprintf(client, sizeof client, "honest %d", i);
        for (int n = 1; n < KNOWN; n++) {
            snprintf(request, sizeof request, "chore %d of %d", n, i);
            record_client_usage(store, client, request, "c", USAGE_OK, 1);
        }
        record_client_usage(store, client, wish, "a", USAGE_OK, 2);
    }
    check_shares(store, wish, 96, 0);
    check_shares(store, near_wish, 96, 0);
    return store;
}

/* Reports of one client, repeated `times` times. A %d in `request` and `tools` is replaced by the number of the
 * repetition, from 0. A %.*s in `request` is replaced by that number of exclamation marks. */
struct attack {
    const char *says, *request, *tools;
    enum usage_outcome outcome;
    int times;
    int wish, near; /* share of tool a after the attack, in percent: for `wish`, and for `near_wish` */
};

static void test_one_client_cannot_override_others(void **state)
{
    static const struct attack attacks[] = {
        {"the same usage", "walk the grey dog slowly", "b", USAGE_OK, 1000, 93, 93},
        {"one usage, in many spellings", "walk the grey dog slowly%.*s", "b", USAGE_OK, 60, 93, 93},
        {"another tool each time", "walk the grey dog slowly", "gone%d b", USAGE_OK, 300, 93, 93},
        {"usages of the right tool", "any other chore %d", "a", USAGE_OK, 260, 96, 96},
        {"new requests", "any other chore %d", "b", USAGE_OK, 260, 96, 96},
        {"requests that are nearly the same", "walk grey dog slowly %d", "b", USAGE_OK, 260, 96, 93},
        {"failed usages", "walk the grey dog slowly", "a", USAGE_FAILED, 1000, 96, 96},
        {"a failed usage of the near request", "please walk a grey dog slowly", "a", USAGE_FAILED, 1, 96, 96},
        {"a usage of the near request", "please walk a grey dog slowly", "b", USAGE_OK, 1, 96, 93},
    };
    (void)state;
    for (size_t a = 0; a < sizeof attacks / sizeof *attacks; a++) {
        struct store *store = open_honest();
        for (int i = 0; i < attacks[a].times; i++) {
            char request[160], tools[40], marks[80];
            memset(marks, '!', sizeof marks);
            if (strstr(attacks[a].request, "%.*s"))
                snprintf(request, sizeof request, "%s%.*s", wish, i, marks);
            else
                snprintf(request, sizeof request, attacks[a].request, i);
            snprintf(tools, sizeof tools, attacks[a].tools, i);
            record_client_usage(store, "mallory", request, tools, attacks[a].outcome, 3);
        }
        print_message("%s\n", attacks[a].says);
        check_share(store, wish, attacks[a].wish);
        check_share(store, near_wish, attacks[a].near);
        wt__store_close(store);
    }
}

/* The bytes of requests that a search reads are limited per client. */
static void test_long_requests_of_one_client_do_not_hide_near_ones(void **state)
{
    enum { BYTES = 60000 };
    struct store *store = open_honest();
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    (void)state;
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    for (int i = 0; i < 10; i++) {
        text[i] = 'y';
        record_client_usage(store, "mallory", text, "b", USAGE_OK, 3);
    }
    check_shares(store, near_wish, 96, 0);
    free(text);
    wt__store_close(store);
}

/* The usages of one client have more tools together than a lookup returns. */
static void test_usages_of_many_tools_do_not_hide_other_usages(void **state)
{
    enum { USAGES = 6 };
    static char names[WT_MAX_USAGE_TOOLS][16];
    struct usage_tool tools[WT_MAX_USAGE_TOOLS];
    struct store *store = open_test_tools();
    (void)state;
    record_client_usage(store, "honest", wish, "a", USAGE_OK, 1);
    for (int u = 0; u < USAGES; u++) {
        struct usage usage = {.request = STR("walk the grey dog slowly"), .client = STR("mallory"), .tools = tools};
        for (int i = 0; i < WT_MAX_USAGE_TOOLS; i++) {
            snprintf(names[i], sizeof names[i], "t%d", u * WT_MAX_USAGE_TOOLS + i);
            add_test_tool(store, "q", names[i]);
            tools[usage.tool_count++] =
                (struct usage_tool){.tool = find_test_id(store, "q", names[i]), .label = wt__str(names[i])};
        }
        assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err), 0);
    }
    check_share(store, wish, 17); /* 1 / (5 usages + 1): 4 usages of one client count */
    wt__store_close(store);
}

/* A client has two limits: the number of its usages that teach, and the number of these that count in a tool's mean. */
static void test_one_client_moves_a_tools_mean_by_its_share(void **state)
{
    enum { REPORTS = 1500, TEACHES = 100 /* CLIENT_TEACHES */ };
    struct store *store = open_honest();
    char request[40];
    uint64_t teaching = 0;
    uint32_t uses = HONEST + TEACHES;
    (void)state;
    for (int i = 0; i < REPORTS; i++) {
        snprintf(request, sizeof request, "chore %d of mallory", i);
        record_client_usage(store, "mallory", request, "a", USAGE_OK, 3);
    }
    const struct usage_query query = {.tool = find_test_id(store, "p", "a"), .teaching = true};
    assert_int_equal(wt__store_count_usages(store, &query, &teaching, &err), 0);
    assert_int_equal(teaching, HONEST + TEACHES);
    assert_int_equal(wt__store_believed(store, query.tool, &uses, &err), 0);
    assert_int_equal(uses, HONEST + 200 / (HONEST + 1));
    wt__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tools_of_the_same_request_are_found),
        cmocka_unit_test(test_repetitions_of_a_client_count_once),
        cmocka_unit_test(test_few_clients_are_trusted_in_part),
        cmocka_unit_test(test_reading_of_near_requests_is_bounded),
        cmocka_unit_test(test_a_store_of_version_8_finds_recorded_tools),
        cmocka_unit_test(test_one_client_cannot_override_others),
        cmocka_unit_test(test_long_requests_of_one_client_do_not_hide_near_ones),
        cmocka_unit_test(test_usages_of_many_tools_do_not_hide_other_usages),
        cmocka_unit_test(test_one_client_moves_a_tools_mean_by_its_share),
    };
    return RUN_ON_BACKEND(tests);
}
