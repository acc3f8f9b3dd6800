/* Tests a store that several processes use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/usages.h"

static int add_shared_tool(struct store *store, const char *name)
{
    struct tool tool = make_test_tool("p", name);
    struct store_import_options options = {.source = STR("a")};
    struct store_changes changes;
    return wt__store_import(store, &tool, 1, &options, &changes, &err);
}

static uint64_t count_shared_tools(struct store *store)
{
    uint64_t tools, providers;
    assert_int_equal(wt__store_count(store, &tools, &providers, &err), 0);
    return tools;
}

static struct store *open_shared_store(const char *name, bool read_only)
{
    struct store *store;
    if (wt__store_open(&store, backend->store(name), &(struct store_options){.read_only = read_only}, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return store;
}

static int await_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Runs in a child process: adds `count` tools, one per import. Returns 0 on success. */
static int add_many_tools(const char *prefix, int count)
{
    struct store *store;
    if (wt__store_open(&store, backend->store("shared.wt"), NULL, &err) < 0)
        return 1;
    int rc = 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        rc = add_shared_tool(store, name);
    }
    wt__store_close(store);
    return rc < 0 ? 2 : 0;
}

static void test_two_processes_create_and_fill_a_store(void **state)
{
    (void)state;
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(add_many_tools(i ? "one" : "two", 25));
    }
    assert_int_equal(await_child(children[0]), 0);
    assert_int_equal(await_child(children[1]), 0);
    struct store *store = open_shared_store("shared.wt", true);
    assert_int_equal(count_shared_tools(store), 50);
    wt__store_close(store);
}

struct wait_notice {
    bool heard;  /* true once the wait was reported */
    bool stop;   /* true to cancel the import when the wait is reported */
    int release; /* pipe to write to when the wait is reported, so that the other writer releases the lock; -1 to let
                  * the writer keep the lock */
};

static int note_waiting(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct wait_notice *hearing = context;
    (void)done;
    (void)total;
    if (strcmp(phase, STORE_WAITING) == 0 && !hearing->heard) {
        hearing->heard = true;
        if (hearing->release >= 0 && write(hearing->release, "x", 1) != 1)
            hearing->stop = true;
    }
    return hearing->stop && hearing->heard;
}

/* Imports while another process holds the lock for writers. The other process keeps the lock until the import reports
 * the wait, or forever if for_ever is true. Returns the result of the import. */
static int add_against_a_writer(bool for_ever, unsigned busy_ms, struct wait_notice *hearing)
{
    struct store *store;
    struct progress progress;
    int ready[2], release[2];
    char byte;
    wt__store_close(open_shared_store("busy.wt", false));
    assert_true(pipe(ready) == 0 && pipe(release) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        struct store *other;
        if (wt__store_open(&other, backend->store("busy.wt"), NULL, &err) < 0 || wt__sql_begin(other, &err) < 0 ||
            write(ready[1], "x", 1) != 1 || read(release[0], &byte, 1) != 1)
            _exit(1);
        _exit(wt__sql_end(other, 0, &err) < 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    hearing->release = for_ever ? -1 : release[1];
    struct store_options open_options = {.busy_ms = busy_ms};
    assert_int_equal(wt__store_open(&store, backend->store("busy.wt"), &open_options, &err), 0);
    wt__progress_init(&progress, note_waiting, hearing);
    struct tool tool = make_test_tool("p", "x");
    struct store_import_options options = {.source = STR("a"), .progress = &progress};
    struct store_changes changes;
    int rc = wt__store_import(store, &tool, 1, &options, &changes, &err);
    wt__progress_dispose(&progress);
    wt__store_close(store);
    kill(holder, SIGKILL);
    await_child(holder);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(release[i]);
    }
    return rc;
}

static void test_a_writer_waits_for_another(void **state)
{
    (void)state;
    enum { LONGER_THAN_A_TEST_MS = 900000 };
    struct wait_notice waits = {0}, gives_up = {0}, stops = {.stop = true};
    assert_int_equal(add_against_a_writer(false, LONGER_THAN_A_TEST_MS, &waits), 0);
    assert_true(waits.heard);
    assert_int_equal(add_against_a_writer(true, 200, &gives_up), WT_EBUSY);
    assert_non_null(strstr(err.message, "another process kept the store locked for more than 0.2 seconds"));
    assert_int_equal(add_against_a_writer(true, LONGER_THAN_A_TEST_MS, &stops), WT_ECANCELLED);
}

static void test_a_killed_writer_keeps_reported_changes(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        int told[2];
        char byte, store_name[32];
        snprintf(store_name, sizeof store_name, "killed%d.wt", round);
        assert_int_equal(pipe(told), 0);
        pid_t writer = fork();
        if (writer == 0) {
            struct store *store;
            char name[16];
            if (wt__store_open(&store, backend->store(store_name), NULL, &err) < 0)
                _exit(1);
            for (int i = 0;; i++) {
                snprintf(name, sizeof name, "t%d", i);
                if (add_shared_tool(store, name) < 0 || write(told[1], "x", 1) != 1)
                    _exit(2);
            }
        }
        close(told[1]);
        uint64_t reported = 0;
        while (reported < (uint64_t)round * 2 && read(told[0], &byte, 1) == 1)
            reported++;
        kill(writer, SIGKILL);
        assert_int_equal(await_child(writer), 1000 + SIGKILL);
        while (read(told[0], &byte, 1) == 1)
            reported++;
        close(told[0]);
        struct store *store = open_shared_store(store_name, false);
        uint64_t there = count_shared_tools(store);
        assert_true(there == reported || there == reported + 1);
        assert_int_equal(wt__store_check(store, &err), 0);
        wt__store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_processes_create_and_fill_a_store),
        cmocka_unit_test(test_a_writer_waits_for_another),
        cmocka_unit_test(test_a_killed_writer_keeps_reported_changes),
    };
    return RUN_ON_BACKEND(tests);
}
