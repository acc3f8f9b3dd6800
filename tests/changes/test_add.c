/* Tests importing and indexing: reports, stops, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sqlite3.h>

#include "base/file.h"
#include "engine/set_up.h"
#include "retrieve/document.h"

static const char one[] = "{\"provider\": \"p\", \"name\": \"one\", \"description\": \"book a table\"}\n",
                  one_changed[] = "{\"provider\": \"p\", \"name\": \"one\", \"description\": \"book two tables\"}\n",
                  two[] = "{\"provider\": \"p\", \"name\": \"two\", \"description\": \"find a song\"}\n";

static wt_catalog_info get_catalog_info(wt_engine *engine)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_call_ok(&place, wt_info(engine, &info, &place.err));
    return info;
}

static void import_counts_changes(void **state)
{
    (void)state;
    static const struct {
        const char *tools, *source;
        int sync;
        size_t added, updated, unchanged, removed, embedded;
    } steps[] = {
        {one, "a", 0, 1, 0, 0, 0, 1}, {one, "a", 0, 0, 0, 1, 0, 0}, {one_changed, "a", 0, 0, 1, 0, 0, 1},
        {two, "b", 0, 1, 0, 0, 0, 1}, {two, "a", 1, 0, 0, 1, 1, 0}, /* "two" belongs to source a now */
        {one, "b", 1, 1, 0, 0, 0, 1},
    };
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "jsonl";
    uint64_t generation = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        options.source_name = steps[i].source;
        options.sync = steps[i].sync;
        wt_add_report *report = add_with(&place, engine, steps[i].tools, &options);
        assert_int_equal(report->added, steps[i].added);
        assert_int_equal(report->updated, steps[i].updated);
        assert_int_equal(report->unchanged, steps[i].unchanged);
        assert_int_equal(report->removed, steps[i].removed);
        assert_int_equal(report->embedded, steps[i].embedded);
        assert_int_equal(report->skipped + report->issue_count, 0);
        assert_string_equal(report->format, "jsonl");
        assert_null(report->notice);
        wt_catalog_info info = get_catalog_info(engine);
        assert_int_equal(info.embedded, info.tools);
        bool changed = steps[i].added + steps[i].updated + steps[i].removed > 0;
        assert_true(changed ? info.generation > generation : info.generation == generation);
        generation = info.generation;
        wt_add_report_free(report);
    }
    wt_close(engine);
}

static const char spotty[] = "{\"name\": \"good\", \"description\": \"book a table\"}\n"
                             "{\"name\": 3}\n"
                             "{\"name\": \"cut\n"
                             "{\"name\": \"better\"}\n";

static void bad_tool_is_reported_and_skipped(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_options options;
    wt_add_options_init(&options);
    options.source_name = "spotty.jsonl";
    options.provider = "mine";
    wt_add_report *report = add_with(&place, engine, spotty, &options);
    assert_int_equal(report->added, 2);
    assert_int_equal(report->skipped, 2);
    assert_int_equal(report->issue_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(report->issues[i]->file, "spotty.jsonl");
        assert_int_equal(report->issues[i]->line, 2 + i);
        assert_true(report->issues[i]->reason[0] != '\0');
        assert_non_null(report->issues[i]->pointer);
    }
    assert_string_equal(report->notice, "no vectors were made: this store was opened without a model");
    assert_int_equal(report->notice_codes, WT_NOTICE_NO_ENCODER);
    wt_add_report_free(report);
    wt_tools *tools;
    assert_call_ok(&place, wt_get(engine, "mine/better", &tools, &place.err));
    wt_tools_free(tools);

    options.strict = 1;
    options.provider = "other";
    assert_call_refused(&place, wt_add(engine, spotty, strlen(spotty), &options, &report, &place.err), WT_EFORMAT,
                        "spotty.jsonl");
    assert_null(report);
    assert_int_equal(get_catalog_info(engine).tools, 2);
    wt_close(engine);
}

static void wrong_sources_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *format;
        int code;
        const char *text;
    } cases[] = {
        {"{\"name\": \"x\"}", "word", WT_EINVAL, "word"},
        {"<html>", NULL, WT_EFORMAT, "input"},
        {"", NULL, WT_EFORMAT, "input"},
    };
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_report *report;
    wt_add_options options;
    wt_add_options_init(&options);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.format = cases[i].format;
        assert_call_refused(&place,
                            wt_add(engine, cases[i].bytes, strlen(cases[i].bytes), &options, &report, &place.err),
                            cases[i].code, cases[i].text);
        assert_null(report);
    }
    assert_call_refused(&place, wt_add_path(engine, "/nowhere/tools.json", NULL, &report, &place.err), WT_ENOTFOUND,
                        "/nowhere/tools.json");
    wt_close(engine);
}

static void source_without_tools_is_reported(void **state)
{
    (void)state;
    static const char source[] = "{\"tools\": []}";
    wt_error untouched;
    wt_add_report *report;
    wt_engine *engine = open_test_engine(&place, NULL);
    memset(&place.err, 0x5A, sizeof place.err);
    untouched = place.err;
    assert_call_ok(&place, wt_add(engine, source, sizeof source - 1, NULL, &report, &place.err));
    assert_memory_equal(&place.err, &untouched, sizeof untouched);
    assert_non_null(strstr(report->notice, "the source has no tools"));
    assert_int_equal(report->notice_codes, WT_NOTICE_EMPTY_SOURCE);
    wt_add_report_free(report);
    wt_close(engine);
}

static void file_is_one_source_under_any_path(void **state)
{
    (void)state;
    char path[128], detour[160];
    wt_add_report *report;
    wt_add_options options;
    wt_add_options_init(&options);
    options.sync = 1;
    put_text(place.folder, "tools.jsonl", one);
    snprintf(path, sizeof path, "%s/tools.jsonl", place.folder);
    snprintf(detour, sizeof detour, "%s/small/../tools.jsonl", place.folder);
    wt_engine *engine = open_test_engine(&place, "");
    assert_call_ok(&place, wt_add_path(engine, path, &options, &report, &place.err));
    wt_add_report_free(report);
    put_text(place.folder, "tools.jsonl", two);
    assert_call_ok(&place, wt_add_path(engine, detour, &options, &report, &place.err));
    assert_int_equal(report->added, 1);
    assert_int_equal(report->removed, 1);
    wt_add_report_free(report);
    wt_close(engine);
}

#define API(operation)                                                                                                 \
    "{\"openapi\": \"3.0.0\", \"info\": {\"title\": \"Bikes\"}, \"paths\": {"                                          \
    "\"/a\": {\"get\": {\"operationId\": \"a\"}}" operation "},"                                                       \
    " \"components\": {\"parameters\": {\"P\": {\"name\": \"p\", \"in\": \"query\"}}}}"
#define OPERATION(reference)                                                                                           \
    ", \"/b\": {\"get\": {\"operationId\": \"b\", \"parameters\": [{\"$ref\": \"#/components/parameters/" reference    \
    "\"}]}}"

static void sync_keeps_broken_tools(void **state)
{
    (void)state;
    static const struct {
        const char *document;
        size_t skipped, removed;
        const char *notice; /* beginning of the notice */
    } steps[] = {
        {API(OPERATION("P")), 0, 0, "no vectors"},
        {API(OPERATION("Q")), 1, 0, "1 tool was skipped and keeps the stored definition"},
        {API(OPERATION("P")), 0, 0, "no vectors"}, /* unchanged: the definition is the same */
        {API(""), 0, 1, "no vectors"},
    };
    char path[128];
    wt_add_options options;
    wt_add_options_init(&options);
    options.sync = 1;
    snprintf(path, sizeof path, "%s/bikes.json", place.folder);
    wt_engine *engine = open_test_engine(&place, "");
    for (size_t i = 0; i < 2 * (sizeof steps / sizeof *steps); i++) {
        size_t step = i / 2;
        wt_add_report *report;
        if (i % 2 == 0) {
            report = add_with(&place, engine, steps[step].document, &options);
        } else { /* import the same document from a file, which takes over the tools */
            put_text(place.folder, "bikes.json", steps[step].document);
            assert_call_ok(&place, wt_add_path(engine, path, &options, &report, &place.err));
        }
        assert_int_equal(report->skipped, steps[step].skipped);
        assert_int_equal(report->updated, 0);
        assert_true(report->whole);
        if (i % 2 == 1) {
            assert_int_equal(report->removed, steps[step].removed);
            assert_memory_equal(report->notice, steps[step].notice, strlen(steps[step].notice));
        }
        wt_add_report_free(report);
    }
    wt_close(engine);
}

static void duplicate_names_in_a_source_are_reported(void **state)
{
    (void)state;
    static const char twins[] =
        "{\"name\": \"x\", \"description\": \"a\"}\n{\"name\": \"y\"}\n"
        "{\"name\": \"x\", \"description\": \"b\"}\n{\"name\": \"x\", \"description\": \"c\"}\n";
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_options options;
    wt_add_options_init(&options);
    options.source_name = "twins.jsonl";
    wt_add_report *report = add_with(&place, engine, twins, &options);
    assert_int_equal(report->added, 4);
    assert_non_null(strstr(report->notice,
                           "2 tools have the name of an earlier one but a different definition: \"x\" of "
                           "twins.jsonl:1 is also at line 3, and is \"x~2\" here"));
    wt_add_report_free(report);

    char path[128];
    snprintf(path, sizeof path, "%s/two", place.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put_text(path, "one.jsonl", "{\"name\": \"z\", \"provider\": \"p\", \"description\": \"a\"}\n");
    put_text(path, "other.jsonl", "{\"name\": \"z\", \"provider\": \"p\", \"description\": \"b\"}\n");
    assert_call_ok(&place, wt_add_path(engine, path, NULL, &report, &place.err));
    assert_non_null(strstr(report->notice,
                           "and is \"z~2\" here. Both files have the same provider; set another one with "
                           "`whichtool add -p NAME FILE`"));
    wt_add_report_free(report);
    wt_close(engine);
}

static void vectors_can_be_made_later(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_add_options options;
    wt_add_options_init(&options);
    options.no_vectors = 1;
    add(&place, engine, one);
    wt_add_report_free(add_with(&place, engine, handmade, &options));
    wt_catalog_info info = get_catalog_info(engine);
    assert_int_equal(info.embedded, 1);
    assert_int_equal(info.tools, 1 + HANDMADE);
    assert_int_equal(info.providers, 1 + HANDMADE_PROVIDERS);
    wt_hits *hits = find_with(&place, engine, "find a song", NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_string_equal(hits->items[0]->tool->id, "music/search"); /* found by its words */
    assert_non_null(strstr(hits->notice, "7 of 8 tools have no vector yet"));
    wt_hits_free(hits);
    wt_find_options abstaining, dense;
    wt_find_options_init(&abstaining);
    abstaining.abstain = 0.05;
    hits = find_with(&place, engine, "find a song", &abstaining); /* reports both notices */
    assert_non_null(strstr(hits->notice, "7 of 8 tools have no vector yet; "));
    assert_non_null(strstr(hits->notice, "not calibrated on this catalogue"));
    assert_int_equal(hits->notice_codes, WT_NOTICE_NO_VECTORS | WT_NOTICE_UNCALIBRATED);
    wt_hits_free(hits);
    wt_find_options_init(&dense);
    dense.recipe = "dense";
    hits = find_with(&place, engine, "find a song", &dense);
    assert_int_equal(hits->len, 1);
    wt_hits_free(hits);
    assert_int_equal(wt_embed_missing(engine, NULL, NULL, &place.err), HANDMADE);
    assert_int_equal(wt_embed_missing(engine, NULL, NULL, &place.err), 0);
    hits = find_with(&place, engine, "find a song", &dense);
    assert_int_equal(hits->len, 5);
    assert_null(hits->notice);
    wt_hits_free(hits);
    wt_close(engine);
}

static void run_on_store(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(place.store, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A new kind of vectors encodes only the tools whose texts differ: here, those whose description has an opening. */
static void vectors_of_equal_texts_are_kept(void **state)
{
    static const char opened[] =
        "{\"provider\": \"p\", \"name\": \"three\", \"description\": \"Requires a key. Opens a gate.\"}\n";
    char former[128];
    (void)state;
    wt_engine *engine = open_test_engine(&place, NULL);
    add(&place, engine, one);
    add(&place, engine, two);
    add(&place, engine, opened);
    wt_close(engine);
    snprintf(former, sizeof former, "UPDATE vector SET kind = '%s'", wt__document_former_kind);
    run_on_store(former);
    engine = open_test_engine(&place, NULL);
    assert_int_equal(wt_embed_missing(engine, NULL, NULL, &place.err), 1);
    assert_int_equal(get_catalog_info(engine).embedded, 3);
    assert_int_equal(wt_embed_missing(engine, NULL, NULL, &place.err), 0);
    wt_close(engine);
}

/* ---------------------------------------------------------------- stops */

enum { MANY = 2200 }; /* more than one batch of vectors */

struct import_stop {
    size_t at, calls; /* at: number of the report at which to stop; calls: reports so far */
    char phases[256]; /* names of the phases so far, each with a blank */
    const char *last; /* last phase; NULL before the first report */
};

static int stop_import_at(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct import_stop *stop = context;
    (void)done;
    (void)total;
    if (!stop->last || strcmp(stop->last, phase) != 0)
        snprintf(stop->phases + strlen(stop->phases), sizeof stop->phases - strlen(stop->phases), "%s ", phase);
    stop->last = phase;
    return ++stop->calls == stop->at;
}

/* An import in another thread, which runs when the first import starts to encode. Each import encodes its own tools,
 * and no tool is encoded twice. */
struct meanwhile {
    wt_engine *engine;
    size_t embedded;
    bool ran;
};

static void *add_in_other_thread(void *context)
{
    struct meanwhile *other = context;
    wt_add_report *report = add_with(&place, other->engine, handmade, NULL);
    other->embedded = report->embedded;
    wt_add_report_free(report);
    return NULL;
}

static int add_during_encoding(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct meanwhile *other = context;
    pthread_t thread;
    (void)done, (void)total;
    if (other->ran || strcmp(phase, "encoding") != 0)
        return 0;
    other->ran = true;
    return pthread_create(&thread, NULL, add_in_other_thread, other) != 0 || pthread_join(thread, NULL) != 0;
}

static void parallel_imports_encode_their_own_tools(void **state)
{
    (void)state;
    struct buffer tools = {0};
    wt_add_report *report;
    wt_add_options options;
    wt_catalog_info info;
    struct meanwhile other = {.engine = open_test_engine(&place, NULL)};
    synthetic_tools(&tools, 5, MANY, 20);
    wt_add_options_init(&options);
    options.no_vectors = 1;
    static const char left[] = "{\"provider\":\"left\",\"name\":\"l\",\"description\":\"left without a vector\"}";
    wt_add_report_free(add_with(&place, other.engine, left, &options));
    wt_add_options_init(&options);
    options.progress = add_during_encoding;
    options.progress_context = &other;
    assert_call_ok(&place, wt_add(other.engine, tools.ptr, tools.len, &options, &report, &place.err));
    assert_true(other.ran);
    assert_int_equal(other.embedded, HANDMADE);
    assert_int_equal(report->embedded, MANY + 1); /* including the tool that an earlier import left without a vector */
    wt_catalog_info_init(&info);
    assert_call_ok(&place, wt_info(other.engine, &info, &place.err));
    assert_int_equal(info.embedded, info.tools);
    wt_add_report_free(report);
    wt_close(other.engine);
    wt__buffer_dispose(&tools);
}

/* Stops an import at each of the first 13 progress reports, and then at every 11th report. Stored data is not lost, and
 * another import of the same tools completes the catalogue. */
static void stop_at_any_moment_keeps_data(void **state)
{
    (void)state;
    struct buffer tools = {0};
    size_t before = 0, after = 0;
    synthetic_tools(&tools, 5, MANY, 20);
    for (size_t at = 1;; at++) {
        struct test_place own;
        struct import_stop stop = {.at = at};
        wt_add_report *report;
        wt_add_options options;
        wt_add_options_init(&options);
        options.progress = stop_import_at;
        options.progress_context = &stop;
        make_test_place(&own);
        wt_engine *engine = open_test_engine(&own, NULL);
        add(&own, engine, handmade);
        int rc = wt_add(engine, tools.ptr, tools.len, &options, &report, &own.err);
        wt_catalog_info info;
        wt_catalog_info_init(&info);
        assert_call_ok(&own, wt_info(engine, &info, &own.err));
        if (rc == 0) {
            assert_string_equal(stop.phases, "reading storing encoding indexing ");
            assert_int_equal(report->embedded, MANY);
        } else {
            assert_call_refused(&own, rc, WT_ECANCELLED, "stop");
            assert_true(info.tools == HANDMADE ? !report : info.tools == HANDMADE + MANY && report);
            before += !report;
            after += report != NULL;
            if (report) {
                assert_int_equal(report->added, MANY);
                assert_int_equal(HANDMADE + report->embedded, info.embedded);
            }
        }
        wt_hits_free(find_with(&own, engine, "find a song", NULL));
        wt_add_report_free(report);
        if (rc < 0) {
            wt_add_report *rest = add_with(&own, engine, tools.ptr, NULL);
            assert_int_equal(rest->added + rest->unchanged, MANY);
            assert_int_equal(info.embedded + rest->embedded, HANDMADE + MANY);
            wt_add_report_free(rest);
        }
        wt_close(engine);
        remove_test_place(&own);
        if (rc == 0)
            break;
        if (at > 12) /* the number of reports depends on the clock; a slow machine has many */
            at += 10;
    }
    assert_true(before >= 2 && after >= 2);
    wt__buffer_dispose(&tools);
}

/* ---------------------------------------------------------------- several engines, and damaged indexes */

static void engines_share_imports(void **state)
{
    (void)state;
    wt_engine *writer = open_test_engine(&place, NULL), *reader = open_test_engine(&place, NULL);
    add(&place, writer, one);
    wt_hits *hits = find_with(&place, reader, "table", NULL);
    assert_int_equal(hits->len, 1);
    wt_hits_free(hits);
    add(&place, writer, handmade);
    hits = find_with(&place, reader, "weather forecast", NULL);
    assert_string_equal(hits->items[0]->tool->id, "weather/getForecast");
    wt_hits_free(hits);
    assert_int_equal(wt_remove(reader, "weather/getForecast", &place.err), 1);
    hits = find_with(&place, writer, "weather forecast", NULL);
    for (size_t i = 0; i < hits->len; i++)
        assert_string_not_equal(hits->items[i]->tool->id, "weather/getForecast");
    wt_hits_free(hits);
    wt_close(writer);
    wt_close(reader);
}

/* Returns the ids and scores of the hits as one text. */
static char *list_hits(wt_engine *engine)
{
    static const char *const requests[] = {"find a table for two", "a b c d",
                                           "book hotel city, then find the storm song"};
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    struct buffer text = {0};
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = 20;
    for (size_t r = 0; r < 3; r++)
        for (size_t s = 0; s < 3; s++) {
            options.recipe = recipes[s];
            wt_hits *hits = find_with(&place, engine, requests[r], &options);
            assert_null(hits->notice);
            for (size_t i = 0; i < hits->len; i++)
                wt__buffer_printf(&text, "%s %.9g\n", hits->items[i]->tool->id, hits->items[i]->score);
            wt_hits_free(hits);
        }
    return wt__buffer_take(&text);
}

static void check_same_hits(wt_engine *engine, const char *wanted, const char *what)
{
    char *got = list_hits(engine);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: other hits or scores", what);
    free(got);
}

/* Opens a store with synthetic tools. *wanted: hits of the store as text, freed by the caller. */
static wt_engine *open_filled_store(char **wanted)
{
    struct buffer tools = {0};
    wt_engine *engine = open_test_engine(&place, NULL);
    synthetic_tools(&tools, 9, 300, 7);
    add(&place, engine, tools.ptr);
    wt__buffer_dispose(&tools);
    *wanted = list_hits(engine);
    assert_true(strlen(*wanted) > 1000);
    return engine;
}

static void damage_file(const char *path, const char *how)
{
    size_t len;
    char *bytes;
    assert_call_ok(&place, wt__file_read(&bytes, &len, path, SIZE_MAX / 2, &place.err));
    if (strcmp(how, "emptied") == 0)
        len = 0;
    else if (strcmp(how, "cut") == 0)
        len /= 2;
    else if (strcmp(how, "first byte") == 0)
        bytes[0] ^= 1;
    else if (strcmp(how, "last byte") == 0)
        bytes[len - 1] ^= 0x40;
    else if (strcmp(how, "after a third") == 0) /* for a file of vectors: the fp32 part, verified on reading */
        for (size_t i = len / 3; i < len * 2 / 5; i += 61)
            bytes[i] ^= 0x10;
    else
        for (size_t i = 64; i < len; i += 61) /* spread over the whole file */
            bytes[i] ^= 0x10;
    assert_call_ok(&place, wt__file_replace(path, bytes, len, &place.err));
    free(bytes);
}

static wt_engine *open_read_only(void)
{
    wt_engine *engine;
    wt_open_options options;
    wt_open_options_init(&options);
    options.read_only = 1;
    options.model = place.model;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    return engine;
}

/* Damages every file of the index in every way, and opens the index with a new engine. */
static void damaged_index_is_rebuilt(void **state)
{
    (void)state;
    static const char *const ways[] = {"emptied", "cut", "first byte", "last byte", "throughout", "after a third"};
    char *wanted;
    size_t count = 1;
    wt_close(open_filled_store(&wanted));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t f = 0; f < count; f++) {
            struct arena arena = {0};
            char what[256], **paths; /* file names change when the index is rebuilt */
            assert_call_ok(&place, wt__list_files(&arena, place.index, 10, &paths, &count, &place.err));
            assert_true(count >= 2);
            snprintf(what, sizeof what, "%s %s", paths[f], ways[w]);
            if (wt__file_size(paths[f]) > 0) { /* skip the lock */
                damage_file(paths[f], ways[w]);
                wt_engine *engine = open_read_only(); /* cannot remove the damaged files, and works without them */
                check_same_hits(engine, wanted, what);
                check_same_hits(engine, wanted, what);
                wt_close(engine);
                engine = open_test_engine(&place, NULL);
                check_same_hits(engine, wanted, what);
                check_same_hits(engine, wanted, what);
                wt_close(engine);
            }
            wt__arena_dispose(&arena);
        }
    free(wanted);
}

static void deleted_index_is_rebuilt(void **state)
{
    (void)state;
    char *wanted;
    wt_engine *engine = open_filled_store(&wanted);
    remove_model_folder(place.index);
    check_same_hits(engine, wanted, "an engine with the index open"); /* mapped files stay readable */
    wt_engine *other = open_test_engine(&place, NULL);
    check_same_hits(other, wanted, "a new engine");
    assert_true(wt__is_folder(place.index));
    wt_close(other);

    remove_model_folder(place.index);
    put_text(place.folder, "tools.wt-index", "a file in its place");
    other = open_test_engine(&place, NULL);
    check_same_hits(other, wanted, "a file in its place");
    wt_close(other);
    wt_close(engine);
    free(wanted);
}

static void read_only_engine_writes_nothing(void **state)
{
    (void)state;
    char *wanted;
    wt_close(open_filled_store(&wanted));
    remove_model_folder(place.index);
    wt_engine *engine;
    wt_add_report *report;
    wt_open_options options;
    wt_open_options_init(&options);
    options.read_only = 1;
    options.model = place.model;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    check_same_hits(engine, wanted, "in memory");
    assert_false(wt__is_folder(place.index));
    assert_call_refused(&place, wt_add(engine, one, strlen(one), NULL, &report, &place.err), WT_EREADONLY, place.store);
    assert_null(report);
    assert_call_refused(&place, wt_remove(engine, "tool_aab", &place.err), WT_EREADONLY, place.store);
    assert_call_refused(&place, wt_remove_provider(engine, "p1", &place.err), WT_EREADONLY, place.store);
    wt_close(engine);
    free(wanted);
}

static void memory_store_ends_with_its_engine(void **state)
{
    (void)state;
    wt_engine *engine;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = place.model;
    assert_call_ok(&place, wt_open(&engine, ":memory:", &options, &place.err));
    add(&place, engine, handmade);
    add(&place, engine, one);
    wt_hits *hits = find_with(&place, engine, "weather forecast", NULL);
    assert_string_equal(hits->items[0]->tool->id, "weather/getForecast");
    wt_hits_free(hits);
    wt_close(engine);
    assert_call_ok(&place, wt_open(&engine, ":memory:", &options, &place.err));
    assert_int_equal(get_catalog_info(engine).tools, 0);
    wt_close(engine);
}

/* ---------------------------------------------------------------- opening */

static void invalid_store_is_rejected(void **state)
{
    (void)state;
    wt_engine *engine = (wt_engine *)&place;
    wt_open_options options;
    wt_open_options_init(&options);
    assert_call_refused(&place, wt_open(&engine, NULL, NULL, &place.err), WT_EINVAL, "no store given");
    assert_call_refused(&place, wt_open(&engine, "", NULL, &place.err), WT_EINVAL, "no store given");
    assert_null(engine);
    put_text(place.folder, "text.wt", "this is no database, and it is long enough to have had a header of one, too.\n");
    char path[128];
    snprintf(path, sizeof path, "%s/text.wt", place.folder);
    assert_call_refused(&place, wt_open(&engine, path, NULL, &place.err), WT_ESTORE, path);
    assert_null(engine);
    snprintf(path, sizeof path, "%s/text.wt/below/tools.wt", place.folder);
    assert_call_refused(&place, wt_open(&engine, path, NULL, &place.err), WT_ENOTFOUND, path);
    options.read_only = 1;
    assert_call_refused(&place, wt_open(&engine, place.store, &options, &place.err), WT_ENOTFOUND, place.store);
    assert_call_refused(&place, wt_open(&engine, place.folder, NULL, &place.err), WT_ESTORE, place.folder);
}

static void older_caller_of_wt_add_gets_defaults(void **state)
{
    (void)state;
    wt_engine *engine;
    wt_open_options opening;
    wt_add_options adding;
    wt_list_options listing;
    wt_add_report *report;
    wt_tools *tools;
    memset(&opening, 0xA5, sizeof opening);
    opening.size = offsetof(wt_open_options, model);
    opening.read_only = 0;
    setenv("WHICHTOOL_MODELS", place.folder, 1); /* a folder without a default model */
    assert_call_ok(&place, wt_open(&engine, place.store, &opening, &place.err));
    memset(&adding, 0xA5, sizeof adding);
    adding.size = offsetof(wt_add_options, provider);
    adding.format = "jsonl";
    assert_call_ok(&place, wt_add(engine, handmade, strlen(handmade), &adding, &report, &place.err));
    assert_int_equal(report->added, HANDMADE);
    assert_null(report->notice);
    assert_int_equal(report->embedded, HANDMADE); /* with the built-in encoder */
    wt_add_report_free(report);
    memset(&listing, 0xA5, sizeof listing);
    listing.size = offsetof(wt_list_options, limit);
    listing.provider = "travel";
    assert_call_ok(&place, wt_list(engine, &listing, &tools, &place.err));
    assert_int_equal(tools->len, 2);
    wt_tools_free(tools);
    wt_close(engine);
    unsetenv("WHICHTOOL_MODELS");
}

#define test(name) cmocka_unit_test_setup_teardown(name, set_up_place, tear_down_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(import_counts_changes),
        test(bad_tool_is_reported_and_skipped),
        test(wrong_sources_are_rejected),
        test(source_without_tools_is_reported),
        test(file_is_one_source_under_any_path),
        test(sync_keeps_broken_tools),
        test(duplicate_names_in_a_source_are_reported),
        test(vectors_can_be_made_later),
        test(vectors_of_equal_texts_are_kept),
        test(parallel_imports_encode_their_own_tools),
        test(stop_at_any_moment_keeps_data),
        test(engines_share_imports),
        test(damaged_index_is_rebuilt),
        test(deleted_index_is_rebuilt),
        test(read_only_engine_writes_nothing),
        test(memory_store_ends_with_its_engine),
        test(invalid_store_is_rejected),
        test(older_caller_of_wt_add_gets_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
