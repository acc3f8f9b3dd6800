/* Tests the store as a file: opening, rejection of other files, migrations, and access by several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/driver_sqlite.h"
#include "store/older.h"
#include "store/review.h"
#include "store/internal.h"
#include "store/usages.h"

enum { PATH_BYTES = 256, NOBODY = 65534 };

static char folder[64];

static int make_store_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/whichtool-store-XXXXXX");
    return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

static int remove_store_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *store_path(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int add_one_tool(struct store *store, const char *name)
{
    struct tool tool = make_test_tool("p", name);
    struct store_import_options options = {.source = STR("a")};
    struct store_changes changes;
    return wt__store_import(store, &tool, 1, &options, &changes, &err);
}

static uint64_t count_stored_tools(struct store *store)
{
    uint64_t tools, providers;
    assert_int_equal(wt__store_count(store, &tools, &providers, &err), 0);
    return tools;
}

static struct store *open_test_store(const char *name, bool read_only)
{
    struct store *store;
    if (wt__store_open(&store, store_path(name), &(struct store_options){.read_only = read_only}, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return store;
}

/* ---------------------------------------------------------------- opening */

static void test_a_new_store_creates_its_folders(void **state)
{
    (void)state;
    struct store *store = open_test_store("deep/er/tools.wt", false);
    assert_int_equal(add_one_tool(store, "x"), 0);
    wt__store_close(store);
    store = open_test_store("deep/er/tools.wt", true);
    assert_int_equal(count_stored_tools(store), 1);
    assert_true(wt__store_read_only(store));
    assert_int_equal(add_one_tool(store, "y"), WT_EREADONLY);
    assert_non_null(strstr(err.message, "deep/er/tools.wt is open for reading only"));
    wt__store_close(store);
    assert_false(wt__is_file(store_path("deep/er/tools.wt-journal")));
}

static void test_an_empty_file_becomes_a_store(void **state)
{
    (void)state;
    assert_int_equal(wt__file_replace(store_path("empty.wt"), "", 0, &err), 0);
    struct store *store = open_test_store("empty.wt", false);
    assert_int_equal(count_stored_tools(store), 0);
    wt__store_close(store);
}

static void write_database(const char *name, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(store_path(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* `content` is the bytes of the file, unless it has a prefix. "SQL:" is followed by statements to run in a new
 * database. "STORE:" is followed by statements to run in a new store. */
static const struct {
    const char *name, *content;
    bool read_only;
    int code;
    const char *says;
} refused[] = {
    {"text.wt", "name,description\n", false, WT_ESTORE, "text.wt is not a whichtool store"},
    {"long.wt",
     "a text that is longer than the header of a database, which has a hundred bytes, so that all of it is read and "
     "compared with what a store begins with",
     false, WT_ESTORE, "long.wt is not a whichtool store"},
    {"other.db", "SQL:CREATE TABLE t (x); INSERT INTO t VALUES (1)", false, WT_ESTORE, "is not a whichtool store"},
    {"wal.db", "SQL:PRAGMA journal_mode=WAL; CREATE TABLE t (x)", false, WT_ESTORE, "is not a whichtool store"},
    {"marked.db", "SQL:PRAGMA application_id=7", false, WT_ESTORE, "is not a whichtool store"},
    {"empty-read.wt", "", true, WT_ESTORE, "empty-read.wt is empty, not a whichtool store"},
    {"newer.wt", "STORE:PRAGMA user_version=99", false, WT_ENEWER,
     "newer.wt was written by a newer whichtool (store version 99; this one knows up to 10)"},
    {"negative.wt", "STORE:PRAGMA user_version=-1", true, WT_ENEWER, "(store version -1;"},
};

static void test_other_files_are_refused_and_untouched(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *name = refused[i].name, *content = refused[i].content;
        struct store *store;
        char *before, *after;
        size_t before_len, after_len;
        if (strncmp(content, "STORE:", 6) == 0) {
            wt__store_close(open_test_store(name, false));
            write_database(name, content + 6);
        } else if (strncmp(content, "SQL:", 4) == 0) {
            write_database(name, content + 4);
        } else {
            assert_int_equal(wt__file_replace(store_path(name), content, strlen(content), &err), 0);
        }
        assert_int_equal(wt__file_read(&before, &before_len, store_path(name), 1 << 20, &err), 0);
        struct store_options options = {.read_only = refused[i].read_only};
        int code = wt__store_open(&store, store_path(name), &options, &err);
        if (code != refused[i].code || !strstr(err.message, refused[i].says) || store)
            fail_msg("%s: %d %s", name, code, err.message);
        assert_int_equal(wt__file_read(&after, &after_len, store_path(name), 1 << 20, &err), 0);
        assert_int_equal(after_len, before_len);
        assert_memory_equal(after, before, before_len);
        free(before);
        free(after);
    }
}

static void test_invalid_paths_are_refused(void **state)
{
    (void)state;
    struct store *store;
    struct store_options read_only = {.read_only = true};
    assert_int_equal(mkfifo(store_path("pipe"), 0600), 0);
    assert_int_equal(wt__file_replace(store_path("file"), "x", 1, &err), 0);
    const struct {
        const char *path;
        const struct store_options *options;
        int code;
        const char *says;
    } rows[] = {
        {"absent.wt", &read_only, WT_ENOTFOUND, "No such file"},
        {".", NULL, WT_ESTORE, "is a folder, not a whichtool store"},
        {"pipe", NULL, WT_ESTORE, "is a special file, not a whichtool store"},
        {"file/below.wt", NULL, WT_ENOTFOUND, "Not a directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = wt__store_open(&store, store_path(rows[i].path), rows[i].options, &err);
        if (code != rows[i].code || !strstr(err.message, rows[i].says))
            fail_msg("%s: %d %s", rows[i].path, code, err.message);
    }
    assert_int_equal(wt__store_open(&store, "", NULL, &err), WT_EINVAL);
}

/* If a page of the store is zeroed, operations work or fail with WT_ESTORE and the name of the file. */
static void test_a_damaged_store_is_reported(void **state)
{
    (void)state;
    struct store *store = open_test_store("damaged.wt", false);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        assert_int_equal(add_one_tool(store, name), 0);
    }
    wt__store_close(store);
    uint64_t size = wt__file_size(store_path("damaged.wt"));
    int damaged = 0;
    for (uint64_t at = 4096; at < size; at += 4096) {
        char *bytes;
        size_t len;
        assert_int_equal(wt__file_read(&bytes, &len, store_path("damaged.wt"), 1 << 20, &err), 0);
        memset(bytes + at, 0, 4096);
        assert_int_equal(wt__file_replace(store_path("zeroed.wt"), bytes, len, &err), 0);
        free(bytes);
        struct arena arena = {0};
        struct tool tool;
        int rc = wt__store_open(&store, store_path("zeroed.wt"), NULL, &err);
        if (rc == 0)
            rc = add_one_tool(store, "another");
        if (rc == 0)
            rc = wt__store_get(store, &(int64_t){3}, 1, &arena, &tool, &err);
        if (rc < 0)
            assert_true(rc == WT_ESTORE && strstr(err.message, "zeroed.wt"));
        damaged += rc < 0;
        wt__store_close(store);
        wt__arena_dispose(&arena);
    }
    assert_true(damaged > 0);
}

/* ---------------------------------------------------------------- migrations */

static int add_two(struct store *store, wt_error *error)
{
    return wt__sql_exec(store, "UPDATE one SET x = x + 2", error);
}

static void test_migrations_run_in_order_in_one_transaction(void **state)
{
    (void)state;
    static const struct migration steps[] = {{"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"SELECT 'already applied'", NULL},
                                             {"CREATE TABLE one (x); INSERT INTO one VALUES (1)", add_two},
                                             {"INSERT INTO one SELECT x + 1 FROM one", NULL}};
    static const struct migration broken[] = {{"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"", NULL},
                                              {"CREATE TABLE half (x)", NULL},
                                              {"CREATE TABLE half (x)", NULL}};
    int64_t sum;
    struct store *store = open_test_store("old.wt", false);
    assert_int_equal(add_one_tool(store, "kept"), 0);
    assert_int_equal(wt__store_migrate(store, broken, 12, &err), WT_ESTORE);
    assert_non_null(strstr(err.message, "table half already exists"));
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'", &sum, &err), 0);
    assert_int_equal(sum, 0);
    assert_int_equal(wt__store_migrate(store, steps, 12, &err), 0);
    assert_int_equal(wt__store_migrate(store, steps, 12, &err), 0);
    assert_int_equal(wt__sql_number(store, "SELECT sum(x) FROM one", &sum, &err), 0);
    assert_int_equal(sum, 7);
    assert_int_equal(count_stored_tools(store), 1);
    assert_int_equal(wt__store_migrate(store, steps, 11, &err), WT_ENEWER);
    wt__store_close(store);

    wt__store_close(open_test_store("old-read.wt", false));
    store = open_test_store("old-read.wt", true);
    assert_int_equal(wt__store_migrate(store, steps, 12, &err), WT_EREADONLY);
    assert_non_null(strstr(err.message, "was written by an older whichtool (store version 10)"));
    wt__store_close(store);
}

/* Version 4 had no exported names. The migration assigns them in the order of ids, as if the tools were added now. */
static void test_a_store_of_version_4_gets_exported_names(void **state)
{
    (void)state;
    static const char back[] =
        BACK_TO_VERSION_8 "DROP TABLE review; DROP TABLE review_server;"
                          "DROP TABLE provider_alias; DROP INDEX tool_export_name;"
                          "ALTER TABLE tool DROP COLUMN export_name;"
                          "ALTER TABLE tool ADD COLUMN id_hash INTEGER NOT NULL DEFAULT 0;"
                          "CREATE INDEX tool_id_hash ON tool (id_hash);"
                          "DROP INDEX usage_key; ALTER TABLE usage DROP COLUMN key;"
                          "DROP TABLE contrast; ALTER TABLE usage_tool DROP COLUMN arguments; PRAGMA user_version=4";
    static const char *const added[] = {"plain", "get it", "get/it", "get_it", "\xe6\x90\x9c\xe7\xb4\xa2"};
    enum { ADDED = sizeof added / sizeof *added };
    char names[2][300] = {"", ""};
    struct store *store = open_test_store("v4.wt", false);
    for (size_t i = 0; i < ADDED; i++)
        assert_int_equal(add_one_tool(store, added[i]), 0);
    for (int again = 0; again < 2; again++) {
        struct arena arena = {0};
        int64_t *ids;
        size_t count;
        assert_int_equal(wt__store_list(store, NULL, 0, 0, &arena, &ids, &count, &err), 0);
        assert_int_equal(count, ADDED);
        for (size_t i = 0; i < count; i++) {
            struct tool tool;
            int64_t found = 0;
            assert_int_equal(wt__store_get(store, &ids[i], 1, &arena, &tool, &err), 1);
            assert_int_equal(wt__store_find_export_name(store, tool.export_name, &found, &err), 1);
            assert_int_equal(found, ids[i]);
            strncat(names[again], tool.export_name.ptr, 64);
            strcat(names[again], " ");
        }
        wt__arena_dispose(&arena);
        if (!again)
            assert_int_equal(wt__sql_exec(store, back, &err), 0);
        wt__store_close(store);
        store = open_test_store("v4.wt", false);
    }
    assert_string_equal(names[0], names[1]);
    assert_non_null(strstr(names[0], "p__get_it p__get_it_"));
    assert_int_equal(add_one_tool(store, "get-it"), 0);
    assert_int_equal(wt__store_check(store, &err), 0);
    wt__store_close(store);
}

/* Version 7 had no reviews. The migration keeps the tools, and no tool counts as approved. */
static void test_a_store_of_version_7_gets_reviews(void **state)
{
    (void)state;
    struct store *store = open_test_store("v7.wt", false);
    struct arena arena = {0};
    struct review_row *rows;
    size_t count = 1;
    int64_t version = 0;
    assert_int_equal(add_one_tool(store, "kept"), 0);
    assert_int_equal(
        wt__sql_exec(store, BACK_TO_VERSION_8 "DROP TABLE review; DROP TABLE review_server; PRAGMA user_version=7",
                     &err),
        0);
    wt__store_close(store);
    store = open_test_store("v7.wt", false);
    assert_int_equal(wt__sql_number(store, "PRAGMA user_version", &version, &err), 0);
    assert_int_equal(version, 10);
    assert_int_equal(count_stored_tools(store), 1);
    assert_int_equal(wt__store_reviews(store, REVIEWS_APPROVED, NULL, &arena, &rows, &count, &err), 1);
    assert_int_equal(count, 0);
    assert_int_equal(wt__store_check(store, &err), 0);
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

/* Version 8 stored servers without a baseline, and did not reserve their providers. */
static void test_a_store_of_version_8_reserves_the_names_of_servers(void **state)
{
    (void)state;
    static const char back[] = "INSERT INTO review_server (name, source) VALUES ('p', 'mcp:p');"
                               "INSERT INTO review (server, name, listed, offered_sha256, offered) VALUES (1, 'x', 1, "
                               "printf('%064d', 7), x'7b7d');" BACK_TO_VERSION_8;
    struct store *store = open_test_store("v8.wt", false);
    struct arena arena = {0};
    struct review_row *rows;
    size_t count = 0;
    int64_t baseline = 0;
    assert_int_equal(add_one_tool(store, "kept"), 0);
    assert_int_equal(wt__sql_exec(store, back, &err), 0);
    wt__store_close(store);
    store = open_test_store("v8.wt", false);
    assert_int_equal(wt__sql_number(store, "SELECT baseline FROM review_server", &baseline, &err), 0);
    assert_int_equal(baseline, 1);
    assert_int_equal(wt__store_reviews(store, REVIEWS_WAITING, NULL, &arena, &rows, &count, &err), 1);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].kind, REVIEW_TOOL);
    assert_int_equal(add_one_tool(store, "another"), WT_EINVAL);
    assert_int_equal(count_stored_tools(store), 1);
    assert_int_equal(wt__store_check(store, &err), 0);
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

static void set_version(const char *name, int version)
{
    sqlite3 *db;
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", version);
    assert_int_equal(sqlite3_open(store_path(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* After another connection changes the version of the open file, reads and writes fail. */
static void test_an_update_while_a_store_is_open_is_noticed(void **state)
{
    (void)state;
    static const struct {
        int version, code;
        const char *says;
    } others[] = {
        {99, WT_ENEWER,
         "was updated by a newer whichtool while this one ran (store version 99; this one uses 10): end this process "
         "and "
         "start it again with the newer whichtool"},
        {7, WT_ESTORE, "was replaced by an older store while this process ran (store version 7; it was 10)"},
    };
    struct store *store = open_test_store("updated.wt", false), *reader = open_test_store("updated.wt", true), *second;
    assert_int_equal(add_one_tool(store, "before"), 0);
    assert_int_equal(wt__store_open_reader(&second, store, &err), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        set_version("updated.wt", others[i].version);
        assert_int_equal(add_one_tool(store, "meanwhile"), others[i].code);
        assert_non_null(strstr(err.message, others[i].says));
        assert_int_equal(wt__store_read_begin(reader, &err), others[i].code);
        assert_non_null(strstr(err.message, others[i].says));
        assert_int_equal(wt__store_read_begin(second, &err), others[i].code);
        assert_non_null(strstr(err.message, others[i].says));
        set_version("updated.wt", 10);
    }
    assert_int_equal(wt__store_read_begin(reader, &err), 0);
    assert_int_equal(count_stored_tools(reader), 1);
    wt__store_read_end(reader);
    assert_int_equal(add_one_tool(store, "after"), 0);
    wt__store_close(second);
    wt__store_close(reader);
    wt__store_close(store);
}

/* Creates the store through another connection while the first connection is reading the version. */
static int make_meanwhile(unsigned event, void *made, void *statement, void *unused)
{
    const struct store_options at_once = {.busy_ms = 1};
    struct store *other;
    (void)event, (void)unused;
    if (*(int *)made || strcmp(sqlite3_sql(statement), "PRAGMA user_version") != 0)
        return 0;
    *(int *)made = 1;
    if (wt__store_open(&other, store_path("meanwhile.wt"), &at_once, NULL) == 0)
        wt__store_close(other);
    return 0;
}

static void test_a_store_is_inspected_in_one_transaction(void **state)
{
    (void)state;
    int made = 0;
    struct store *store = calloc(1, sizeof *store);
    struct sqlite_database *database = calloc(1, sizeof *database);
    assert_true(store && database);
    store->driver = &wt__sqlite_driver;
    store->database = database;
    store->path = strdup(store_path("meanwhile.wt"));
    assert_int_equal(sqlite3_open(store->path, &database->db), SQLITE_OK);
    assert_int_equal(sqlite3_trace_v2(database->db, SQLITE_TRACE_STMT, make_meanwhile, &made), SQLITE_OK);
    if (wt__store_migrate(store, store->driver->migrations, store->driver->migration_count, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(made);
    wt__store_close(store);
    store = open_test_store("meanwhile.wt", false);
    assert_int_equal(add_one_tool(store, "kept"), 0);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- other processes */

static int wait_for_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_a_reader_sees_commits(void **state)
{
    (void)state;
    struct store *store = open_test_store("read.wt", false), *reader, *private;
    assert_int_equal(add_one_tool(store, "x"), 0);
    assert_int_equal(wt__store_open_reader(&reader, store, &err), 0);
    assert_int_equal(count_stored_tools(reader), 1);
    assert_int_equal(wt__sql_begin(store, &err), 0); /* A writer does not block readers before its commit. */
    wt__store_set_wait(reader, 0);
    assert_int_equal(count_stored_tools(reader), 1);
    assert_int_equal(wt__sql_end(store, 0, &err), 0);
    assert_int_equal(wt__sql_exec(store, "BEGIN EXCLUSIVE", &err), 0); /* Take the lock of a writer in its commit. */
    uint64_t generation;
    assert_int_equal(wt__store_generation(reader, &generation, &err), WT_EBUSY);
    assert_int_equal(wt__sql_end(store, 0, &err), 0);
    assert_int_equal(add_one_tool(store, "y"), 0);
    assert_int_equal(count_stored_tools(reader), 2);
    assert_true(wt__store_idle(reader));
    assert_int_equal(wt__store_read_begin(reader, &err), 0);
    assert_int_equal(count_stored_tools(reader), 2);
    assert_false(wt__store_idle(reader));
    wt__store_read_end(reader);
    assert_true(wt__store_idle(reader));
    wt__store_close(reader);
    wt__store_close(store);
    assert_int_equal(wt__store_open(&private, ":memory:", NULL, &err), 0);
    assert_int_equal(wt__store_open_reader(&reader, private, &err), WT_EINVAL);
    assert_null(reader);
    wt__store_close(private);
}

/* True if another process may write. The check runs in a child process, because a process does not see its own
 * locks. */
static bool is_free_to_others(const char *path)
{
    enum { RESERVED_BYTE = 0x40000001 }; /* offset of SQLite's lock for writers */
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RESERVED_BYTE, .l_len = 1};
        int fd = open(path, O_RDWR);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ? 9 : lock.l_type == F_UNLCK);
    }
    int status = wait_for_child(child);
    assert_in_range(status, 0, 1);
    return status == 1;
}

/* If a process closes any descriptor of a file, the kernel releases all its locks on the file. */
static void test_opening_a_store_twice_keeps_its_locks(void **state)
{
    (void)state;
    struct store *writer = open_test_store("twice.wt", false);
    assert_true(is_free_to_others(store_path("twice.wt")));
    assert_int_equal(wt__sql_begin(writer, &err), 0);
    assert_false(is_free_to_others(store_path("twice.wt")));
    wt__store_close(open_test_store("twice.wt", true));
    assert_false(is_free_to_others(store_path("twice.wt")));
    assert_int_equal(wt__sql_end(writer, 0, &err), 0);
    assert_true(is_free_to_others(store_path("twice.wt")));
    wt__store_close(writer);
}

/* A change beyond the limit of a store fails as a whole, and the store stays usable. */
static void test_a_store_has_a_limit(void **state)
{
    (void)state;
    enum { LEAST = 1 << 20, BIG = 100000, MOST = 100 };
    char *text = calloc(BIG + 1, 1);
    memset(text, 'x', BIG);
    struct store *store = open_test_store("limited.wt", false);
    assert_int_equal(add_one_tool(store, "first"), 0);
    assert_int_equal(wt__store_limit(store, LEAST, &err), 0);
    int rc = 0, added = 1;
    while (rc == 0 && added < MOST) {
        char name[16];
        snprintf(name, sizeof name, "t%d", added);
        struct tool tool = {.provider = STR("p"), .name = wt__str(name), .description = {text, BIG}};
        const struct store_import_options options = {.source = wt__str(name)};
        struct store_changes changes;
        rc = wt__store_import(store, &tool, 1, &options, &changes, &err);
        added += rc == 0;
    }
    assert_int_equal(rc, WT_ETOOLONG);
    assert_non_null(strstr(err.message, "limited.wt may have at most 1 MiB"));
    assert_in_range(added, 5, 10);
    assert_int_equal(count_stored_tools(store), added);
    assert_int_equal(wt__store_limit(store, 2 * LEAST, &err), 0);
    assert_int_equal(add_one_tool(store, "last"), 0);
    assert_int_equal(count_stored_tools(store), added + 1);
    wt__store_close(store);
    free(text);
}

/* Runs in a child process as an unprivileged user, because root may write every file. Returns 0 on success. */
static int use_read_only_store(void)
{
    struct store *store;
    if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        return 10;
    if (wt__store_open(&store, store_path("locked/tools.wt"), NULL, &err) < 0)
        return 11;
    if (count_stored_tools(store) != 1)
        return 12;
    if (add_one_tool(store, "y") != WT_EREADONLY || !strstr(err.message, "locked/tools.wt"))
        return 13;
    wt__store_close(store);
    return 0;
}

static void test_a_store_without_write_permission_is_read(void **state)
{
    (void)state;
    struct store *store = open_test_store("locked/tools.wt", false);
    assert_int_equal(add_one_tool(store, "x"), 0);
    wt__store_close(store);
    if (geteuid() != 0) {
        print_message("skipped: a store of another user (needs root)\n");
        skip();
    }
    static const struct {
        mode_t file, folder;
    } modes[] = {{0444, 0777}, {0666, 0555}, {0444, 0555}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(store_path("locked/tools.wt"), modes[i].file), 0);
        assert_int_equal(chmod(store_path("locked"), modes[i].folder), 0);
        pid_t child = fork();
        if (child == 0)
            _exit(use_read_only_store());
        int status = wait_for_child(child);
        if (status != 0)
            fail_msg("file %o in a folder %o: %d", modes[i].file, modes[i].folder, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_store_creates_its_folders),
        cmocka_unit_test(test_an_empty_file_becomes_a_store),
        cmocka_unit_test(test_other_files_are_refused_and_untouched),
        cmocka_unit_test(test_invalid_paths_are_refused),
        cmocka_unit_test(test_a_damaged_store_is_reported),
        cmocka_unit_test(test_migrations_run_in_order_in_one_transaction),
        cmocka_unit_test(test_a_store_of_version_4_gets_exported_names),
        cmocka_unit_test(test_a_store_of_version_7_gets_reviews),
        cmocka_unit_test(test_a_store_of_version_8_reserves_the_names_of_servers),
        cmocka_unit_test(test_an_update_while_a_store_is_open_is_noticed),
        cmocka_unit_test(test_a_store_is_inspected_in_one_transaction),
        cmocka_unit_test(test_a_reader_sees_commits),
        cmocka_unit_test(test_opening_a_store_twice_keeps_its_locks),
        cmocka_unit_test(test_a_store_has_a_limit),
        cmocka_unit_test(test_a_store_without_write_permission_is_read),
    };
    return cmocka_run_group_tests(tests, make_store_folder, remove_store_folder);
}
