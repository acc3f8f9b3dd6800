/* Tests stores in PostgreSQL: URLs, texts that PostgreSQL cannot store, lost connections, and news of changes. */
#include "store/usages.h"

#include <signal.h>

#include "store/dialect.h"
#include "store/location.h"
#include "store/postgres.h"

/* ---------------------------------------------------------------- without a server */

static void test_messages_show_no_password(void **state)
{
    static const struct {
        const char *url, *shown; /* shown is NULL if the URL is refused */
    } rows[] = {
        {"postgres://me:secret@db.example:5433/tools?sslmode=require", "postgres://me@db.example:5433/tools"},
        {"postgresql://me:secret@db/tools?password=secret&schema=a", "postgres://me@db/tools?schema=a"},
        {"postgres://me:se:cr%40et@db/tools", "postgres://me@db/tools"},
        {"postgres://me:secret@a@db/tools", "postgres://me@db/tools"},
        {"postgres://:secret@db", "postgres://db/"},
        {"postgres:///tools?password=secret", "postgres:///tools"},
        {"postgres://h1:1,h2:2/tools", "postgres://h1:1,h2:2/tools"},
        {"tools.wt", "tools.wt"},
        {"postgres://me:sec/ret@db/tools", NULL},
        {"postgres://me:sec?ret@db/tools", NULL},
        {"postgres://me:sec ret@db/tools", NULL},
        {"postgres://me:sec\nret@db/tools", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *shown;
        int rc = wt__store_shown(&shown, rows[i].url, &err);
        bool right = rows[i].shown ? rc == 0 && strcmp(shown, rows[i].shown) == 0 : rc == WT_EINVAL;
        if (!right || (rc < 0 && (strstr(err.message, "sec") || !strstr(err.message, "%40"))))
            fail_msg("%s: %d %s", rows[i].url, rc, rc < 0 ? err.message : shown);
        free(shown);
    }
}

static void test_the_schema_is_taken_from_the_url(void **state)
{
    static const struct {
        const char *url, *rest, *schema; /* rest is NULL if the URL is refused */
    } rows[] = {
        {"postgres://db/tools", "postgres://db/tools", "whichtool"},
        {"postgres://db/tools?schema=a_1", "postgres://db/tools", "a_1"},
        {"postgres://db?a=1&schema=B&c=2", "postgres://db?a=1&c=2", "B"},
        {"postgres://db?schema=a&sslmode=require", "postgres://db?sslmode=require", "a"},
        {"postgres://db?schema=a%22b", NULL, ""},
        {"postgres://db?schema=a;b", NULL, ""},
        {"postgres://db?schema=a234567890123456789012345678901234567890123456789012345678901234", NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *rest, schema[STORE_SCHEMA_MAX + 1];
        int rc = wt__store_split_url(&rest, schema, rows[i].url, &err);
        if (rows[i].rest ? rc < 0 || strcmp(rest, rows[i].rest) != 0 || strcmp(schema, rows[i].schema) != 0
                         : rc != WT_EINVAL)
            fail_msg("%s: %d %s", rows[i].url, rc, rc < 0 ? err.message : rest);
        free(rest);
    }
}

static void test_derived_files_have_a_name_per_store(void **state)
{
    static const char *const urls[] = {"postgres://db/a", "postgres://db/b", "postgres://other/a",
                                       "postgres://db:5433/a", "postgres://db/a?schema=x"};
    struct arena arena = {0};
    char *bases[5], *again;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(wt__store_base(&bases[i], &arena, urls[i], true, &err), 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(bases[i], bases[k]);
    }
    assert_int_equal(wt__store_base(&again, &arena, "postgresql://me:secret@db:5432/a?sslmode=require", true, &err), 0);
    assert_string_equal(again, bases[0]);
    assert_int_equal(wt__store_base(&again, &arena, "dir/tools.wt", true, &err), 0);
    assert_string_equal(again, "dir/tools.wt");
    wt__arena_dispose(&arena);
}

static void test_statements_are_translated(void **state)
{
    static const struct {
        const char *sql, *want;
    } rows[] = {
        {"SELECT a FROM tool t CROSS JOIN provider p ON p.id = ?1",
         "SELECT a FROM \"s\".tool t JOIN \"s\".provider p ON p.id = $1"},
        {"SELECT a FROM tool INDEXED BY tool_name WHERE b = '?1 FROM tool'",
         "SELECT a FROM \"s\".tool  WHERE b = '?1 FROM tool'"},
        {"SELECT a FROM tool NOT INDEXED", "SELECT a FROM \"s\".tool "},
        {"INSERT INTO tool VALUES (x'00ff', x'')", "INSERT INTO \"s\".tool VALUES ('\\x00ff'::bytea, '\\x'::bytea)"},
        {"ON CONFLICT DO UPDATE SET a = ?12", "ON CONFLICT DO UPDATE SET a = $12"},
        {"UPDATE tool SET a = (SELECT b FROM (SELECT 1) o)", "UPDATE \"s\".tool SET a = (SELECT b FROM (SELECT 1) o)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer out = {0};
        wt__dialect_translate(&out, rows[i].sql, "s");
        assert_string_equal(out.ptr, rows[i].want);
        wt__buffer_dispose(&out);
    }
}

static const struct str odd_texts[] = {STR("a\0b"),
                                       STR("\xff\xfe"),
                                       STR("caf\xc3\xa9 \xe2\x82"),
                                       STR("\xf4\x8f\xbf\xbf"),
                                       STR("\xf4\x8f\xbc\x80x"),
                                       STR("\xed\xa0\x80"),
                                       STR("plain \xf0\x9f\x90\xb6")};
enum { ODD_TEXTS = sizeof odd_texts / sizeof *odd_texts };

static void test_every_text_is_encoded_as_utf8(void **state)
{
    (void)state;
    for (size_t i = 0; i < ODD_TEXTS; i++) {
        struct buffer stored = {0}, read = {0};
        wt__dialect_encode(&stored, odd_texts[i]);
        for (size_t at = 0; at < stored.len;) {
            size_t len = wt__utf8_length(stored.ptr + at, stored.len - at);
            assert_true(len > 0 && stored.ptr[at] != '\0');
            at += len;
        }
        wt__dialect_decode(&read, wt__buffer_view(&stored));
        assert_true(wt__str_equal(wt__buffer_view(&read), odd_texts[i]));
        assert_int_equal(wt__dialect_is_plain(odd_texts[i]), i + 1 == ODD_TEXTS);
        assert_int_equal(wt__dialect_is_encoded(wt__buffer_view(&stored)), i + 1 < ODD_TEXTS);
        wt__buffer_dispose(&stored);
        wt__buffer_dispose(&read);
    }
}

static void test_an_unreachable_server_is_reported(void **state)
{
    struct store *store;
    (void)state;
    int rc = wt__store_open(&store, "postgres://me:secret@127.0.0.1:1/tools", NULL, &err);
    if (rc == WT_ENETWORK && strstr(err.message, "cannot load libpq")) {
        print_message("skipped: libpq is not installed\n");
        skip();
    }
    assert_int_equal(rc, WT_ENETWORK);
    assert_non_null(strstr(err.message, "cannot connect to postgres://me@127.0.0.1:1/tools: "));
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(wt__store_open(&store, "postgres://me:se%zzcret@127.0.0.1:1/tools", NULL, &err), WT_EINVAL);
    assert_null(strstr(err.message, "cret"));
    assert_int_equal(wt__store_open(&store, "postgres://h/d?unknown_secret=1", NULL, &err), WT_EINVAL);
    assert_null(strstr(err.message, "secret"));
}

/* ---------------------------------------------------------------- with a server */

static void need_server(void)
{
    if (backend == backends) {
        print_message("skipped: needs PostgreSQL; runs as store/postgres_postgres\n");
        skip();
    }
}

static struct store *open_server_store(const char *name)
{
    struct store *store;
    if (wt__store_open(&store, backend->store(name), NULL, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return store;
}

/* Ends the connection of a store on the server. */
static void end_connection(struct store *victim, struct store *by)
{
    int64_t pid = 0;
    assert_int_equal(wt__sql_find(victim, "SELECT pg_backend_pid()", NULL, &pid, &err), 1);
    assert_int_equal(
        wt__sql_run(by, "SELECT pg_terminate_backend(CAST(?1 AS int), 5000)", SQL_VALUES(sql_integer(pid)), &err), 1);
}

static void test_odd_texts_are_stored_exactly(void **state)
{
    (void)state;
    need_server();
    struct store *store = open_server_store("odd");
    struct arena arena = {0};
    for (size_t i = 0; i < ODD_TEXTS; i++) {
        struct tool tool = make_test_tool("p", "x"), read;
        struct store_import_options options = {.source = STR("s")};
        struct store_changes changes;
        int64_t id = 0;
        tool.name = tool.description = tool.title = odd_texts[i];
        tool.definition = odd_texts[i];
        assert_int_equal(wt__store_import(store, &tool, 1, &options, &changes, &err), 0);
        assert_int_equal(wt__store_find_name(store, &STR("p"), odd_texts[i], &id, 1, &err), 1);
        assert_int_equal(wt__store_get(store, &id, 1, &arena, &read, &err), 1);
        assert_true(wt__str_equal(read.name, odd_texts[i]) && wt__str_equal(read.description, odd_texts[i]) &&
                    wt__str_equal(read.definition, odd_texts[i]));
        assert_int_equal(wt__store_import(store, &tool, 1, &options, &changes, &err), 0);
        assert_int_equal(changes.unchanged, 1);
    }
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

static void test_a_lost_connection_is_opened_again(void **state)
{
    (void)state;
    need_server();
    struct store *store = open_server_store("lost"), *other = open_server_store("lost");
    uint64_t generation;
    add_test_tool(store, "p", "a");
    end_connection(store, other);
    assert_int_equal(wt__store_generation(store, &generation, &err), 0);
    end_connection(store, other);
    add_test_tool(store, "p", "b");
    end_connection(store, other);
    assert_int_equal(wt__store_read_begin(store, &err), 0);
    wt__store_read_end(store);
    assert_true(find_test_id(store, "p", "a") > 0 && find_test_id(store, "p", "b") > 0);
    wt__store_close(other);
    wt__store_close(store);
}

static void test_a_change_fails_whole_if_the_connection_is_lost(void **state)
{
    (void)state;
    need_server();
    struct store *store = open_server_store("half"), *other = open_server_store("half");
    add_test_tool(store, "p", "a");
    uint64_t before = read_usage_info(store).catalogue;
    assert_int_equal(wt__sql_begin(store, &err), 0);
    assert_int_equal(wt__sql_increment_generation(store, &err), 0);
    end_connection(store, other);
    int rc = wt__sql_increment_generation(store, &err);
    assert_int_equal(rc, WT_EIO);
    assert_non_null(strstr(err.message, "the connection to the database was lost; nothing was changed: try again"));
    assert_int_equal(wt__sql_increment_generation(store, &err), WT_EIO); /* still the lost transaction */
    assert_int_equal(wt__sql_end(store, rc, &err), WT_EIO);
    assert_int_equal(read_usage_info(store).catalogue, before);
    assert_int_equal(wt__sql_begin(store, &err), 0);
    end_connection(store, other);
    assert_int_equal(wt__sql_end(store, 0, &err), WT_EIO); /* lost before the commit */
    add_test_tool(store, "p", "b");
    wt__store_close(other);
    wt__store_close(store);
}

static void test_a_store_survives_a_restart_of_the_server(void **state)
{
    (void)state;
    need_server();
    if (getenv("WT_TEST_POSTGRES")) {
        print_message("skipped: restart of a server that the test did not start\n");
        skip();
    }
    struct store *store = open_server_store("restart"), *reader;
    assert_int_equal(wt__store_open_reader(&reader, store, &err), 0);
    add_test_tool(store, "p", "a");
    for (int round = 0; round < 2; round++) {
        control_server("restart");
        assert_int_equal(read_usage_info(reader).usages, 0);
        add_test_tool(store, "p", round ? "c" : "b");
        assert_true(find_test_id(reader, "p", "a") > 0);
    }
    wt__store_close(reader);
    wt__store_close(store);
}

/* A usage with a key is stored once, also if its reporter repeats it after an unknown result. */
static void test_usages_are_applied_once_through_killed_connections(void **state)
{
    enum { USAGES = 30 };
    (void)state;
    need_server();
    struct store *store = open_server_store("once"), *other = open_server_store("once");
    add_test_tool(store, "p", "a");
    int64_t tool = find_test_id(store, "p", "a");
    pid_t killer = fork();
    if (killer == 0) { /* ends connections at random moments */
        struct store *own = open_server_store("once");
        for (;;) {
            wt__sql_run(own,
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        " AND query LIKE '%usage%'",
                        NULL, NULL);
            usleep(3000);
        }
    }
    for (int i = 0; i < USAGES; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        const struct usage_tool used = {.tool = tool, .label = STR("p/a")};
        const struct usage usage = {
            .request = STR("go"), .time = 1, .tools = &used, .tool_count = 1, .client = STR("c"), .key = wt__str(key)};
        int tries = 0;
        while (wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err) < 0 && ++tries < 1000)
            assert_true(err.code == WT_EIO || err.code == WT_ENETWORK);
        assert_true(tries < 1000);
    }
    kill(killer, SIGKILL);
    waitpid(killer, NULL, 0);
    int64_t stored = 0;
    assert_int_equal(wt__sql_number(other, "SELECT count(*) FROM usage", &stored, &err), 0);
    assert_int_equal(stored, USAGES);
    uint64_t counted = 0;
    assert_int_equal(wt__store_count_usages(other, &(struct usage_query){0}, &counted, &err), 0);
    assert_int_equal(counted, USAGES);
    wt__store_close(other);
    wt__store_close(store);
}

/* Counters are read from memory until a notification arrives or STORE_POLL_MS have passed. */
static void test_another_process_announces_its_changes(void **state)
{
    (void)state;
    need_server();
    struct store *store = open_server_store("news"), *other = open_server_store("news");
    bool pooled = postgres_of(store)->pooled;
    for (int round = 0; round < 3; round++) {
        char name[2] = {(char)('a' + round)};
        uint64_t before = read_usage_info(store).catalogue;
        add_test_tool(other, "p", name);
        assert_int_equal(read_usage_info(other).catalogue, before + 1); /* its own change is seen at once */
        for (int wait_ms = 0; read_usage_info(store).catalogue == before && wait_ms < 60000; wait_ms++)
            usleep(1000);
        assert_int_equal(read_usage_info(store).catalogue, before + 1);
    }
    if (!pooled)
        assert_true(postgres_of(store)->session == 1);
    wt__store_close(other);
    wt__store_close(store);
}

static void test_other_schemas_and_roles_are_refused(void **state)
{
    (void)state;
    need_server();
    struct store *store = open_server_store("plain"), *refused;
    char url[BACKEND_PATH_BYTES + 64], sql[200];
    snprintf(sql, sizeof sql, "CREATE SCHEMA other%d; CREATE TABLE \"other%d\".t (x int)", (int)getpid(),
             (int)getpid());
    assert_int_equal(wt__sql_exec(store, sql, &err), 0);
    snprintf(url, sizeof url, "%s%cschema=other%d", backend_url, strchr(backend_url, '?') ? '&' : '?', (int)getpid());
    assert_int_equal(wt__store_open(&refused, url, NULL, &err), WT_ESTORE);
    assert_non_null(strstr(err.message, "has other tables, and is not a whichtool store"));
    assert_int_equal(
        wt__store_open(&refused, backend->store("absent"), &(struct store_options){.read_only = true}, &err),
        WT_ENOTFOUND);
    assert_non_null(strstr(err.message, "holds no whichtool store"));
    assert_int_equal(wt__sql_exec(store, "UPDATE meta SET value = 99 WHERE key = 'version'", &err), 0);
    assert_int_equal(wt__store_open(&refused, backend->store("plain"), NULL, &err), WT_ENEWER);
    assert_int_equal(wt__store_read_begin(store, &err), WT_ENEWER);
    assert_non_null(strstr(err.message, "was updated by a newer whichtool while this one ran"));
    assert_int_equal(wt__sql_begin(store, &err), WT_ENEWER);
    wt__store_close(store);
}

static const struct vector_set test_set = {.kind = "k", .model_hash = "m", .model_name = "m", .dim = 2};

/* Opens an empty store in a database with pgvector, or skips the test. */
static struct store *open_pgvector_store(const char *name)
{
    need_server();
    struct store *store = open_server_store(name);
    if (wt__postgres_run(store, "CREATE EXTENSION IF NOT EXISTS vector", NULL, NULL) < 0) {
        wt__store_close(store);
        print_message("skipped: the server has no extension pgvector\n");
        skip();
    }
    return store;
}

static int64_t count_copies(struct store *store)
{
    int64_t count = 0;
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM embedding", &count, &err), 0);
    return count;
}

/* With pgvector, vectors are also stored in a column for the owner's own SQL. */
static void test_vectors_are_copied_for_pgvector(void **state)
{
    (void)state;
    struct store *store = open_pgvector_store("copies");
    struct store_key keys[3] = {{0}};
    int64_t nearest = 0;
    add_test_tool(store, "p", "a");
    add_test_tool(store, "p", "b");
    assert_int_equal(wt__store_keys(store, 0, keys, 2, &err), 2);
    for (int again = 0; again < 2; again++)
        assert_int_equal(wt__store_put_vectors(store, &test_set, keys, (float[]){1, 0, .6f, .8f}, 2, &err), 2);
    assert_int_equal(wt__sql_find(store, "SELECT tool FROM embedding ORDER BY embedding <=> '[0.5,0.9]' LIMIT 1", NULL,
                                  &nearest, &err),
                     1);
    assert_int_equal(nearest, keys[1].id);
    assert_int_equal(wt__store_remove(store, &keys[1].id, 1, &err), 1);
    assert_int_equal(count_copies(store), 1);
    wt__store_close(store);
}

/* The owner of the database may install pgvector later, and drop it again. */
static void test_pgvector_may_come_and_go(void **state)
{
    (void)state;
    struct store *store = open_pgvector_store("later");
    struct store_key keys[3] = {{0}};
    assert_int_equal(wt__postgres_run(store, "DROP EXTENSION vector CASCADE", NULL, &err), 0);
    add_test_tool(store, "p", "a");
    add_test_tool(store, "p", "b");
    assert_int_equal(wt__store_keys(store, 0, keys, 2, &err), 2);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(wt__store_put_vectors(store, &test_set, keys, (float[]){1, 0}, 1, &err), 1);
        assert_int_equal(wt__store_complete_copies(store, &err), 0); /* nothing to do */
        assert_int_equal(wt__postgres_run(store, "CREATE EXTENSION vector", NULL, &err), 0);
        if (round == 0)
            assert_int_equal(wt__store_complete_copies(store, &err), 0);
        else /* the next vectors bring the earlier ones with them */
            assert_int_equal(wt__store_put_vectors(store, &test_set, keys + 1, (float[]){0, 1}, 1, &err), 1);
        assert_int_equal(count_copies(store), 1 + round);
        assert_int_equal(wt__store_complete_copies(store, &err), 0);
        assert_int_equal(wt__postgres_run(store, "DROP EXTENSION vector CASCADE", NULL, &err), 0);
    }
    assert_int_equal(wt__postgres_run(store, "CREATE EXTENSION vector", NULL, &err), 0); /* for other tests */
    wt__store_close(store);
}

/* Many rows go in batches. The result is that of single rows. */
static void test_a_large_import_keeps_names_and_order(void **state)
{
    enum { TOOLS = 1300 };
    (void)state;
    need_server();
    struct tool *tools = calloc(TOOLS, sizeof *tools);
    char(*names)[24] = calloc(TOOLS, sizeof *names), (*definitions)[24] = calloc(TOOLS, sizeof *definitions);
    int64_t *ids = calloc(TOOLS, sizeof *ids);
    struct store *stores[2] = {open_server_store("large"), NULL};
    assert_int_equal(wt__store_open(&stores[1], ":memory:", NULL, &err), 0);
    for (int i = 0; i < TOOLS; i++) { /* some names differ only in characters that exported names lack */
        snprintf(names[i], sizeof names[i], i % 7 == 0 ? "t %d" : "t_%d", i / 2);
        tools[i] = make_test_tool(i % 3 ? "p" : "q", names[i]);
        snprintf(definitions[i], sizeof definitions[i], "{\"i\":%d}", i);
        tools[i].definition = wt__str(definitions[i]);
        wt__sha256(definitions[i], strlen(definitions[i]), tools[i].sha256);
        tools[i].title = odd_texts[i % ODD_TEXTS];
    }
    for (int round = 0; round < 2; round++)
        for (int s = 0; s < 2; s++) {
            struct store_import_options options = {.source = STR("s"), .ids = ids};
            struct store_changes changes;
            struct arena arena = {0};
            assert_int_equal(wt__store_import(stores[s], tools, TOOLS, &options, &changes, &err), 0);
            assert_int_equal(changes.added + changes.unchanged, TOOLS);
            for (int i = 0; i < TOOLS; i++) {
                struct tool read;
                assert_int_equal(wt__store_get(stores[s], &ids[i], 1, &arena, &read, &err), 1);
                assert_true(wt__str_equal(read.title, tools[i].title));
            }
            wt__arena_dispose(&arena);
        }
    int64_t *lists[2];
    struct arena arena = {0};
    struct tool read[2];
    size_t counts[2];
    for (int s = 0; s < 2; s++)
        assert_int_equal(wt__store_list(stores[s], NULL, 0, 0, &arena, &lists[s], &counts[s], &err), 0);
    assert_int_equal(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++) {
        for (int s = 0; s < 2; s++)
            assert_int_equal(wt__store_get(stores[s], &lists[s][i], 1, &arena, &read[s], &err), 1);
        assert_true(wt__str_equal(read[0].name, read[1].name) && wt__str_equal(read[0].provider, read[1].provider) &&
                    wt__str_equal(read[0].export_name, read[1].export_name));
    }
    wt__arena_dispose(&arena);
    for (int s = 0; s < 2; s++)
        wt__store_close(stores[s]);
    free(tools);
    free(names);
    free(definitions);
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_show_no_password),
        cmocka_unit_test(test_the_schema_is_taken_from_the_url),
        cmocka_unit_test(test_derived_files_have_a_name_per_store),
        cmocka_unit_test(test_statements_are_translated),
        cmocka_unit_test(test_every_text_is_encoded_as_utf8),
        cmocka_unit_test(test_an_unreachable_server_is_reported),
        cmocka_unit_test(test_odd_texts_are_stored_exactly),
        cmocka_unit_test(test_a_lost_connection_is_opened_again),
        cmocka_unit_test(test_a_change_fails_whole_if_the_connection_is_lost),
        cmocka_unit_test(test_a_store_survives_a_restart_of_the_server),
        cmocka_unit_test(test_usages_are_applied_once_through_killed_connections),
        cmocka_unit_test(test_another_process_announces_its_changes),
        cmocka_unit_test(test_other_schemas_and_roles_are_refused),
        cmocka_unit_test(test_vectors_are_copied_for_pgvector),
        cmocka_unit_test(test_pgvector_may_come_and_go),
        cmocka_unit_test(test_a_large_import_keeps_names_and_order),
    };
    return RUN_ON_BACKEND(tests);
}
