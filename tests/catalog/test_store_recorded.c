/* What was recorded of the very same request, or of one near it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "catalog/usages.h"

/* Shares of tools a and b among what was recorded of a request, in percent. */
static void shares_are(struct store *store, const char *request, int a, int b)
{
    struct arena arena = {0};
    struct recorded_tool *tools;
    size_t count;
    int got[2] = {0};
    assert_int_equal(wt__store_recorded(store, wt__str(request), &arena, &tools, &count, &err), 0);
    for (size_t i = 0; i < count; i++)
        got[tools[i].tool == id_of(store, "p", "b")] = (int)(100 * tools[i].share + .5);
    if (got[0] != a || got[1] != b)
        fail_msg("%s: %d and %d %%, not %d and %d", request, got[0], got[1], a, b);
    wt__arena_dispose(&arena);
}

static void test_what_the_same_request_used(void **state)
{
    static const char old[] = "UPDATE request SET hash = -1 WHERE text LIKE 'walk%'";
    struct store *store = open_memory();
    (void)state;
    shares_are(store, "walk the grey dog slowly", 0, 0);
    record(store, "walk the grey dog slowly", "a", USAGE_UNTOLD, 1);
    shares_are(store, "Walk the grey dog, slowly!", 50, 0);
    shares_are(store, "please walk a grey dog slowly", 50, 0); /* nearly: politeness and grammar */
    shares_are(store, "walk the grey cat slowly", 0, 0);
    record(store, "walk the grey dog slowly", "a b", USAGE_OK, 2);
    record(store, "walk the grey dog slowly", "b", USAGE_FAILED, 3);
    shares_are(store, "walk the grey dog slowly", 67, 33);
    for (int i = 0; i < 500; i++) /* the newest count, as many of each request */
        record(store, "Walk the grey dog slowly", "b", USAGE_OK, 4 + i);
    shares_are(store, "walk the grey dog slowly", 2, 98);
    assert_int_equal(wt__sql_exec(store, old, &err), 0); /* as an earlier version left them: found among the newest */
    shares_are(store, "walk the grey dog slowly", 2, 98);
    int64_t one, two;
    assert_int_equal(wt__store_request_row(store, STR("sit"), &one, &err), 0);
    record(store, "sit", "a", USAGE_OK, 999);
    assert_int_equal(wt__store_request_row(store, STR("sit"), &one, &err), 1);
    unsigned char digest[32];
    char sql[100];
    int64_t hash;
    wt__sha256("sit", 3, digest);
    memcpy(&hash, digest, sizeof hash);
    snprintf(sql, sizeof sql, "UPDATE request SET hash = %lld WHERE text = 'sit'", (long long)hash);
    assert_int_equal(wt__sql_exec(store, sql, &err), 0); /* by its bytes */
    assert_int_equal(wt__store_request_row(store, STR("sit"), &two, &err), 1);
    assert_int_equal(one, two);
    shares_are(store, "sit", 50, 0);
    wt__store_close(store);
}

/* However often, and in whatever writing, a client says it: neither its own usages nor others' go under. */
static void test_what_a_client_repeats_counts_once(void **state)
{
    char request[60] = "walk the grey dog slowly";
    struct store *store = open_memory();
    (void)state;
    for (int i = 0; i < 300; i++)
        record_of(store, "c", request, "a", USAGE_OK, 1 + i);
    shares_are(store, "walk the grey dog slowly", 50, 0);
    record_of(store, "d", request, "a", USAGE_OK, 301);
    for (int i = 0; i < 300; i++)
        record_of(store, "e", request, "b", USAGE_OK, 302 + i);
    shares_are(store, "walk the grey dog slowly", 50, 25);
    for (int i = 0; i < 12; i++) {
        strcat(request, "!");
        record_of(store, "e", request, "b", USAGE_OK, 700 + i);
    }
    shares_are(store, "walk the grey dog slowly", 50, 25);
    wt__store_close(store);
}

/* Of a store of sixty clients: what five of them tell of a tool is believed, what fewer tell in part, and who told of
 * few usages so far is part of a client. */
static void test_a_tool_that_few_clients_tell_of_is_believed_in_part(void **state)
{
    static const struct {
        int clients, usages; /* that tell of the tool, and of which each told so far */
        int share;
    } rows[] = {{1, 20, 10}, {1, 50, 10}, {2, 20, 27}, {3, 20, 45}, {5, 20, 83},
                {6, 20, 86}, {1, 10, 5},  {10, 2, 18}, {20, 2, 38}};
    char client[20], request[40];
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct store *store = open_memory();
        for (int i = 0; i < 60; i++) {
            snprintf(client, sizeof client, "client %d", i);
            snprintf(request, sizeof request, "request number %d", i);
            record_of(store, client, request, "b", USAGE_OK, i);
        }
        for (int i = 0; i < rows[row].clients; i++)
            for (int times = 0; times < rows[row].usages; times++) {
                snprintf(client, sizeof client, "few %d", i);
                record_of(store, client, "wish", "a", USAGE_OK, 100 + i);
            }
        shares_are(store, "wish", rows[row].share, 0);
        record(store, "any wish", "a", USAGE_OK, 201); /* whoever names no client is believed, and so is the tool */
        shares_are(store, "wish", (int)(100. * rows[row].clients / (rows[row].clients + 1) + .5), 0);
        wt__store_close(store);
    }
}

/* Long requests of others cost the look for one that is nearly the same no more than short ones. */
static void test_what_is_read_for_a_near_request_is_bounded(void **state)
{
    enum { BYTES = 60000, FIT = 4 /* within 256 KB, with the one that is near */ };
    struct store *store = open_memory();
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    (void)state;
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    record(store, "walk the grey dog slowly", "a", USAGE_OK, 1);
    for (int i = 0; i <= FIT; i++) {
        shares_are(store, "please walk a grey dog slowly", 50, 0);
        text[i] = 'y';
        record(store, text, "b", USAGE_OK, 2 + i);
    }
    shares_are(store, "please walk a grey dog slowly", 0, 0);
    shares_are(store, "walk the grey dog slowly", 50, 0); /* found by its hash */
    free(text);
    wt__store_close(store);
}

/* The counters are remembered as long as nobody commits: through this connection, another one, or another program that
 * gives the file a write-ahead log. */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_same_request_used),
        cmocka_unit_test(test_what_a_client_repeats_counts_once),
        cmocka_unit_test(test_a_tool_that_few_clients_tell_of_is_believed_in_part),
        cmocka_unit_test(test_what_is_read_for_a_near_request_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
