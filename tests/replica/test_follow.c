/* Tests a publisher and a replica on one folder: what is read, that broken publications are refused, and that segments
 * of usage are applied once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "replica/follow.h"
#include "replica/manifest.h"
#include "replica/publish.h"
#include "replica/row_file.h"
#include "replica/usage_spool.h"

static char folder[64], store_path[96], published[96], cache[96];
static wt_engine *writer;
static struct publisher *publisher;
static wt_error err;

static void assert_ok(int rc)
{
    if (rc < 0)
        fail_msg("%s", err.message);
}

static wt_engine *open_engine(const char *path)
{
    wt_engine *engine;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = WT_BUILT_IN_MODEL;
    assert_ok(wt_open(&engine, path, &options, &err));
    return engine;
}

static int set_up_writer(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/whichtool-replica-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(store_path, sizeof store_path, "%s/tools.wt", folder);
    snprintf(published, sizeof published, "%s/published", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    writer = open_engine(store_path);
    assert_ok(wt__publisher_open(
        &publisher, writer, &(struct publish_options){.folder = published, .writer = "https://writer.example"}, &err));
    return 0;
}

static int remove_writer(void **state)
{
    (void)state;
    char command[128];
    wt__publisher_close(publisher);
    wt_close(writer);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Imports one tool, whose text contains the number. */
static void add_numbered_tool(const char *name, int number)
{
    char tools[512];
    wt_add_options options;
    wt_add_report *report;
    wt_add_options_init(&options);
    options.source_name = name;
    snprintf(tools, sizeof tools,
             "[{\"name\":\"%s\",\"description\":\"Counts the sheep of meadow %d before they sleep.\","
             "\"inputSchema\":{\"type\":\"object\"}}]",
             name, number);
    assert_ok(wt_add(writer, tools, strlen(tools), &options, &report, &err));
    wt_add_report_free(report);
}

/* Imports or changes 200 tools at once, whose texts contain the number. */
static void add_many_tools(int number)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer tools = {0};
    wt_add_options options;
    wt_add_report *report;
    wt_add_options_init(&options);
    options.source_name = "many";
    for (int i = 0; i < 200; i++)
        wt__buffer_printf(&tools, "%s{\"name\":\"m%d\",\"description\":\"Shears %d sheep.\",\"inputSchema\":{}}",
                          i ? "," : "[", i, number);
    wt__buffer_char(&tools, ']');
    assert_ok(wt_add(writer, tools.ptr, tools.len, &options, &report, &err));
    wt_add_report_free(report);
}

static struct publish_report publish(void)
{
    struct publish_report report;
    assert_ok(wt__publisher_publish(publisher, &report, &err));
    return report;
}

static int open_follower(struct follower **out)
{
    return wt__follower_open(out, &(struct follow_options){.location = published, .cache = cache, .poll_ms = 20}, &err);
}

/* Follows once. Returns the generation and the bytes read. */
static struct follower_info follow_once(void)
{
    struct follower *follower;
    struct follower_info info;
    assert_ok(open_follower(&follower));
    wt__follower_info(follower, &info);
    wt__follower_close(follower);
    return info;
}

/* Returns the answer of a search, without times, to be freed by the caller. */
static char *describe_answer(wt_engine *engine)
{
    struct buffer text = {0};
    wt_hits *hits;
    assert_ok(wt_find(engine, "count the sheep", 15, NULL, &hits, &err));
    for (size_t i = 0; i < hits->len; i++)
        wt__buffer_printf(&text, "%s %a %a %s\n", hits->items[i]->tool->id, hits->items[i]->score,
                          hits->items[i]->probability, hits->items[i]->tool->description);
    wt_hits_free(hits);
    return wt__buffer_take(&text);
}

static void assert_equal_answers(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/store.wt", cache);
    wt_engine *replica = open_engine(path);
    WT_AUTO_FREE char *mine = describe_answer(replica), *theirs = describe_answer(writer);
    assert_string_equal(mine, theirs);
    assert_true(strlen(mine) > 0);
    wt_close(replica);
}

/* Finds the published file whose name begins with the prefix. */
static const char *find_published(const char *prefix)
{
    static char path[512];
    DIR *all = opendir(published);
    assert_non_null(all);
    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(all));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            snprintf(path, sizeof path, "%s/%s", published, entry->d_name);
    closedir(all);
    assert_true(path[0]);
    return path;
}

static void test_following(void **state)
{
    (void)state;
    add_numbered_tool("a", 1);
    assert_true(publish().whole);
    assert_false(publish().changed);
    struct follower_info first = follow_once();
    assert_string_equal(first.writer, "https://writer.example");
    assert_equal_answers();
    for (int i = 2; i < 5; i++) {
        add_numbered_tool("b", i);
        add_numbered_tool("a", i);
        struct publish_report report = publish();
        assert_true(report.changed && !report.whole);
        struct follower_info next = follow_once();
        assert_true(next.generation > first.generation);
        assert_int_equal(next.generation, report.generation);
        assert_int_equal(next.bytes, report.bytes); /* the tail of the changes, and the manifest */
        assert_equal_answers();
        first = next;
    }
    assert_ok(wt_remove(writer, "b", &err));
    publish();
    follow_once();
    assert_equal_answers();
}

static void test_new_base(void **state)
{
    (void)state;
    add_numbered_tool("a", 1);
    publish();
    follow_once();
    bool whole = false;
    for (int i = 0; !whole && i < 20; i++) { /* until the changes have more bytes than PUBLISH_COMPACT_LEAST */
        add_many_tools(i);
        whole = publish().whole;
        follow_once();
    }
    assert_true(whole);
    uint64_t base = wt__file_size(find_published("base-"));
    assert_true(follow_once().bytes < base);
    uint64_t generation = follow_once().generation;
    add_numbered_tool("a", 3000);
    struct publish_report report = publish();
    struct follower_info info = follow_once();
    assert_true(info.generation > generation);
    assert_int_equal(info.bytes, report.bytes); /* the base was not read */
    assert_equal_answers();
    wt__publisher_close(publisher); /* another publisher continues, and keeps the id */
    publisher = NULL;
    assert_ok(wt__publisher_open(&publisher, writer, &(struct publish_options){.folder = published}, &err));
    report = publish();
    assert_true(report.changed && !report.whole && report.put == 0);
    assert_int_equal(follow_once().bytes, report.bytes);
}

static void damage_file(const char *path, off_t at)
{
    unsigned char byte = 0;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Follows, expects a failure with the message, and that the replica stays at its generation. */
static void assert_refused(const char *message, uint64_t generation)
{
    struct follower *follower;
    struct follower_info info;
    assert_ok(open_follower(&follower));
    wt__follower_info(follower, &info);
    wt__follower_close(follower);
    if (!strstr(info.error, message))
        fail_msg("\"%s\" is not in \"%s\"", message, info.error);
    assert_int_equal(info.generation, generation);
}

static void test_broken_publications(void **state)
{
    (void)state;
    char manifest[128], kept[128];
    add_numbered_tool("a", 1);
    publish();
    uint64_t generation = follow_once().generation;
    snprintf(manifest, sizeof manifest, "%s/" PUBLICATION_MANIFEST, published);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    assert_int_equal(link(manifest, kept), 0);
    add_numbered_tool("b", 2);
    publish();
    const char *changes = find_published("changes-");
    damage_file(changes, 40);
    assert_refused("is not that of the manifest", generation);
    damage_file(changes, 40);
    assert_int_equal(truncate(changes, 100), 0);
    assert_refused("ends at byte 100", generation);
    assert_ok(wt__file_replace(manifest, "{\"format\":1}", 12, &err));
    assert_refused("the manifest is malformed", generation);
    assert_int_equal(unlink(manifest), 0);
    assert_refused("cannot read", generation);
    wt__publisher_close(publisher);
    assert_ok(wt__publisher_open(&publisher, writer, &(struct publish_options){.folder = published}, &err));
    publish(); /* the folder had no manifest: a new publication */
    assert_true(follow_once().generation > generation);
    assert_equal_answers();
    assert_int_equal(rename(kept, manifest),
                     0); /* the manifest of the earlier publication, whose base is gone or not */
    struct follower *follower;
    assert_ok(open_follower(&follower));
    wt__follower_close(follower);
}

static void test_older_manifest(void **state)
{
    (void)state;
    char manifest[128];
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    snprintf(manifest, sizeof manifest, "%s/" PUBLICATION_MANIFEST, published);
    add_numbered_tool("a", 1);
    publish();
    add_numbered_tool("a", 2);
    publish();
    assert_ok(wt__file_read(&text, &len, manifest, 10000, &err));
    add_numbered_tool("a", 3);
    publish();
    uint64_t generation = follow_once().generation;
    assert_ok(wt__file_replace(manifest, text, len, &err));
    assert_refused("older than the replica", generation);
}

/* Publishes rows that refer to missing rows, with correct digests, as a hostile publisher could. */
static void test_hostile_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned char record[24];
        size_t len;
        const char *message;
    } rows[] = {
        {"an unknown table", {0, 0, 0, 0, 'P', 99}, 6, "unknown table 99"},
        {"a row without values", {0, 0, 0, 0, 'P', 4}, 6, "is malformed"},
        {"an unknown change", {0, 0, 0, 0, 'X', 1}, 6, "is malformed"},
        {"a record longer than the file", {255, 0, 0, 0, 'P', 1}, 6, "within a record"},
        {"a huge record", {255, 255, 255, 255, 'P', 1}, 6, "is malformed"},
        {"an id that is a text",
         {13, 0, 0, 0, 'P', 1, 2, 1, 0, 0, 0, 'x', 2, 2, 0, 0, 0, 'a', 'b'},
         19,
         "is malformed"},
        {"a name that is NULL", {10, 0, 0, 0, 'P', 1, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0}, 16, "is malformed"},
    };
    static const char *const names[] = {"changes-2-a", "changes-2-b", "changes-2-c", "changes-2-d",
                                        "changes-2-e", "changes-2-f", "changes-2-g", "changes-2-h"};
    char manifest[128], changes[200];
    snprintf(manifest, sizeof manifest, "%s/" PUBLICATION_MANIFEST, published);
    add_numbered_tool("a", 1);
    publish();
    uint64_t generation = follow_once().generation;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        WT_AUTO_FREE char *text = NULL;
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
        struct publication publication;
        struct published_file file = {.name = names[i % 8], .bytes = rows[i].len, .segment = 2};
        unsigned char digest[32];
        size_t len;
        assert_ok(wt__file_read(&text, &len, manifest, 100000, &err));
        assert_ok(wt__publication_read(&publication, &arena, (struct str){text, len}, &err));
        wt__sha256(rows[i].record, rows[i].len, digest);
        wt__sha256_hex(digest, file.sha256);
        publication.changes = &file;
        publication.change_count = 1;
        publication.generation++;
        wt__publication_write(&out, &publication);
        snprintf(changes, sizeof changes, "%s/%s", published, file.name);
        assert_ok(wt__file_replace(changes, rows[i].record, rows[i].len, &err));
        assert_ok(wt__file_replace(manifest, out.ptr, out.len, &err));
        assert_refused(rows[i].message, generation);
        assert_ok(wt__file_replace(manifest, text, len, &err));
    }
    assert_equal_answers();
}

static void test_refused_changes(void **state)
{
    (void)state;
    char path[128];
    wt_add_report *report;
    struct publisher *second;
    add_numbered_tool("a", 1);
    publish();
    follow_once();
    snprintf(path, sizeof path, "%s/store.wt", cache);
    wt_engine *replica = open_engine(path);
    static const char tools[] = "[{\"name\":\"x\",\"description\":\"y\",\"inputSchema\":{\"type\":\"object\"}}]";
    assert_int_equal(wt_add(replica, tools, strlen(tools), NULL, &report, &err), WT_EREADONLY);
    assert_non_null(strstr(err.message, "make the change at the writer, https://writer.example"));
    assert_int_equal(wt_remove(replica, "a", &err), WT_EREADONLY);
    assert_int_equal(wt_record_usage(replica, "r", 1, (const char *const[]){"a"}, 1, NULL, &err), WT_EREADONLY);
    assert_int_equal(wt__publisher_open(&second, replica, &(struct publish_options){.folder = published}, &err),
                     WT_EINVAL);
    assert_non_null(strstr(err.message, "is a replica"));
    wt_close(replica);
}

static uint64_t count_usages(void)
{
    struct usage_info info;
    assert_ok(wt__store_usage_info(writer->store, &info, &err));
    return info.usages;
}

static void test_segments(void **state)
{
    (void)state;
    static const struct {
        const char *name, *id, *lines;
        int code;
        const char *message;
        size_t usages; /* usages in the store afterwards */
        bool applied;
    } rows[] = {
        {"a segment is applied", "0123456789abcdef",
         "{\"client\":\"c\",\"key\":\"\",\"time\":5,\"usage\":{\"request\":\"count\",\"tools\":[\"a\"]}}\n"
         "{\"client\":\"d\",\"key\":\"k\",\"time\":5,\"usage\":{\"request\":\"count\",\"tools\":[\"a\"]}}\n",
         0, NULL, 2, true},
        {"a second time it is not", "0123456789abcdef",
         "{\"client\":\"c\",\"key\":\"\",\"time\":5,\"usage\":{\"request\":\"count\",\"tools\":[\"a\"]}}\n", 0, NULL, 2,
         false},
        {"a malformed line", "0123456789abcdea", "{\"client\":\"c\"}\n", WT_EFORMAT, "line 1 of the segment", 2, false},
        {"not JSON", "0123456789abcdea", "{\n", WT_EFORMAT, "line 1 of the segment", 2, false},
        {"an id that is a path", "../../../../etc/passwd", "", WT_EFORMAT, "hexadecimal digits", 2, false},
        {"an invalid usage is left out", "0123456789abcdeb",
         "{\"client\":\"c\",\"key\":\"\",\"time\":5,\"usage\":{\"request\":\"count\",\"tools\":[\"unknown\"]}}\n"
         "{\"client\":\"c\",\"key\":\"\",\"time\":5,\"usage\":{\"request\":\"count it\",\"tools\":[\"a\"]}}\n",
         0, NULL, 3, true},
    };
    add_numbered_tool("a", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct usage_segment result;
        int rc = wt__apply_usage_segment(writer, wt__str(rows[i].id), wt__str(rows[i].lines), &result, &err);
        if (rc != rows[i].code || (rc < 0 && !strstr(err.message, rows[i].message)))
            fail_msg("%s: %d %s", rows[i].name, rc, err.message);
        assert_int_equal(count_usages(), rows[i].usages);
        assert_int_equal(result.applied, rows[i].applied);
    }
}

/* A segment that another process has removed leaves its place to new ones. */
static void test_full_spool(void **state)
{
    (void)state;
    char path[128], large[160];
    struct usage_spool *spool;
    struct usage_spool_counts counts;
    struct reported_usage usage = {.line = STR("{\"request\":\"count\",\"tools\":[\"a\"]}"), .client = STR("c")};
    struct reported_usage *const usages[] = {&usage};
    const struct usage_spool_options options = {.cache = cache, .writer = ""};
    add_numbered_tool("a", 1);
    publish();
    follow_once();
    snprintf(path, sizeof path, "%s/store.wt", cache);
    snprintf(large, sizeof large, "%s/usage/000000000001-large.jsonl", cache);
    wt_engine *replica = open_engine(path);
    assert_ok(wt__usage_spool_open(&spool, replica, &options, &err));
    wt__usage_spool_close(spool);
    assert_ok(wt__file_replace(large, "", 0, &err));
    assert_int_equal(truncate(large, SPOOL_BYTES_MAX + 1), 0);
    assert_ok(wt__usage_spool_open(&spool, replica, &options, &err));
    assert_int_equal(wt__record_reported_usages(replica, usages, 1, &err), WT_EFULL);
    assert_non_null(strstr(err.message, "is full, because the writer did not take the usage in it"));
    assert_int_equal(unlink(large), 0);
    assert_ok(wt__record_reported_usages(replica, usages, 1, &err));
    wt__usage_spool_count(spool, &counts);
    assert_int_equal(counts.waiting, 1);
    wt__usage_spool_close(spool);
    wt_close(replica);
}

static void test_spool(void **state)
{
    (void)state;
    char path[128];
    struct usage_spool *spool;
    struct usage_spool_counts counts;
    struct reported_usage usage = {.line = STR("{\"request\":\"count\",\"tools\":[\"a\"]}"), .client = STR("c")};
    struct reported_usage unknown = {.line = STR("{\"request\":\"count\",\"tools\":[\"z\"]}"), .client = STR("c")};
    struct reported_usage *const usages[] = {&usage, &unknown};
    add_numbered_tool("a", 1);
    publish();
    follow_once();
    snprintf(path, sizeof path, "%s/store.wt", cache);
    wt_engine *replica = open_engine(path);
    assert_ok(wt__usage_spool_open(&spool, replica, &(struct usage_spool_options){.cache = cache, .writer = ""}, &err));
    assert_ok(wt__record_reported_usages(replica, usages, 2, &err));
    assert_int_equal(usage.code, 0);
    assert_int_equal(unknown.code, WT_EFORMAT);
    wt__usage_spool_count(spool, &counts);
    assert_int_equal(counts.waiting, 1);
    wt__usage_spool_close(spool);
    assert_ok(wt__usage_spool_open(&spool, replica, &(struct usage_spool_options){.cache = cache, .writer = ""}, &err));
    wt__usage_spool_count(spool, &counts);
    assert_int_equal(counts.waiting, 1); /* it survives a restart */
    wt__usage_spool_close(spool);
    wt_close(replica);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up_writer, remove_writer)
    const struct CMUnitTest tests[] = {
        TEST(test_following),      TEST(test_new_base),     TEST(test_broken_publications),
        TEST(test_older_manifest), TEST(test_hostile_rows), TEST(test_refused_changes),
        TEST(test_segments),       TEST(test_spool),        TEST(test_full_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
