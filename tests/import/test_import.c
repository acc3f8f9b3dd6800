/* Tests of whole imports: files and folders, limits, strictness, cancellation, scale, and real sources if available. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/internal.h"

static char folder[] = "/tmp/wt-import-XXXXXX";

static int make_import_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_import_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Writes a file below the test's folder. Returns its path, valid until the next call. */
static const char *write_source(const char *name, const char *text)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *strrchr(path, '/') = '\0';
    assert_int_equal(wt__make_folders(path, NULL), 0);
    path[strlen(path)] = '/';
    assert_int_equal(wt__file_replace(path, text, strlen(text), NULL), 0);
    return path;
}

static void expect_error(int rc, int code, const wt_error *err, const char *ending)
{
    assert_int_equal(rc, code);
    size_t len = strlen(err->message), tail = strlen(ending);
    if (len < tail || strcmp(err->message + len - tail, ending) != 0)
        fail_msg("\"%s\" should end in \"%s\"", err->message, ending);
}

/* ---------------------------------------------------------------- files and folders */

static void definitions_are_the_original_bytes(void **state)
{
    (void)state;
    struct import import;
    const char *path = write_source("one.json", "[{\"name\": \"a\", \"inputSchema\": {}}]");
    assert_int_equal(wt__import_path(&import, path, NULL, NULL), 0);
    assert_int_equal(import.tool_count, 1);
    assert_string_equal(import.format, "mcp");
    assert_string_equal(import.files[0], path);
    assert_true(wt__str_equal(import.tools[0].definition, STR("{\"name\": \"a\", \"inputSchema\": {}}")));
    assert_true(wt__str_equal(import.tools[0].provider, STR("one")));
    wt__import_dispose(&import);
    wt__import_dispose(&import);
    struct import_options options = {.source_name = STR("one.json")};
    struct str bytes = STR("[{\"name\": \"a\", \"inputSchema\": {}}]");
    assert_int_equal(wt__import_bytes(&import, bytes, &options, NULL), 0);
    assert_true(wt__str_equal(import.tools[0].provider, STR("")));
    wt__import_dispose(&import);
}

static void a_folder_is_one_import_of_its_files(void **state)
{
    (void)state;
    char path[300];
    struct import import;
    write_source("many/github.json", "{\"tools\": [{\"name\": \"search\", \"inputSchema\": {}}]}");
    write_source("many/mail/slack.json", "{\"tools\": [{\"name\": \"search\", \"inputSchema\": {}}]}");
    write_source("many/more.jsonl", "{\"name\": \"line\", \"provider\": \"named\"}\n");
    write_source("many/old.yaml", "swagger: '1.2'\n");
    write_source("many/empty.json", "");
    write_source("many/README.txt", "no source");
    snprintf(path, sizeof path, "%s/many", folder);
    assert_int_equal(wt__import_path(&import, path, NULL, NULL), 0);
    assert_string_equal(import.format, "mixed");
    assert_int_equal(import.tool_count, 3);
    assert_true(wt__str_equal(import.tools[0].provider, STR("github")));
    assert_true(wt__str_equal(import.tools[1].provider, STR("slack")));
    assert_true(wt__str_equal(import.tools[2].provider, STR("named")));
    assert_int_equal(import.skipped, 2);
    assert_false(import.whole);
    assert_non_null(strstr(import.issues[0].reason, "is empty"));
    assert_non_null(strstr(import.issues[1].reason, "Swagger 1.2"));
    wt__import_dispose(&import);

    wt_error err;
    struct import_options strict = {.strict = true};
    int rc = wt__import_path(&import, path, &strict, &err);
    expect_error(rc, WT_EFORMAT, &err, "empty.json is empty: it should contain tool definitions");
    struct import_options provider = {.provider = STR("mine")};
    assert_int_equal(wt__import_path(&import, path, &provider, NULL), 0);
    assert_true(wt__str_equal(import.tools[1].provider, STR("mine")));
    assert_int_equal(import.skipped, 3); /* the second "search" has the same bytes */
    assert_non_null(strstr(import.issues[1].reason,
                           "remove one of them. Both files have the same provider; set another one with "
                           "`whichtool add -p NAME FILE`"));
    wt__import_dispose(&import);
}

static void a_folder_with_a_corpus_is_read_as_beir(void **state)
{
    (void)state;
    char path[300];
    struct import import;
    write_source("set/corpus.jsonl", "{\"_id\": \"1\", \"title\": \"a\", \"text\": \"b\"}\n");
    write_source("set/queries.jsonl", "{\"_id\": \"q\", \"text\": \"find\"}\n");
    snprintf(path, sizeof path, "%s/set", folder);
    assert_int_equal(wt__import_path(&import, path, NULL, NULL), 0);
    assert_string_equal(import.format, "beir");
    assert_int_equal(import.tool_count, 1);
    assert_int_equal(import.skipped, 0);
    wt__import_dispose(&import);
}

static void unreadable_sources_are_reported(void **state)
{
    (void)state;
    char path[300];
    struct import import;
    wt_error err;
    snprintf(path, sizeof path, "%s/absent.json", folder);
    assert_int_equal(wt__import_path(&import, path, NULL, &err), WT_ENOTFOUND);
    assert_int_equal(import.tool_count, 0);
    snprintf(path, sizeof path, "%s/nothing", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_error(wt__import_path(&import, path, NULL, &err), WT_EFORMAT, &err,
                 "nothing contains no file with one of the extensions " IMPORT_ENDINGS);
    struct import_options options = {.format = STR("soap")};
    expect_error(wt__import_bytes(&import, STR("[]"), &options, &err), WT_EINVAL, &err,
                 "choose one of " IMPORT_FORMATS(IMPORT_FORMAT_NAME, ", "));
    options = (struct import_options){.provider = STR("\xff")};
    expect_error(wt__import_bytes(&import, STR("[]"), &options, &err), WT_EINVAL, &err,
                 "the provider's name is not valid UTF-8 or has more than 256 bytes");
    expect_error(wt__import_bytes(&import, STR("\xff\xfe{"), NULL, &err), WT_EFORMAT, &err,
                 "input is UTF-16: save it as UTF-8");
    expect_error(wt__import_bytes(&import, (struct str){NULL, 0}, NULL, &err), WT_EFORMAT, &err,
                 "input is empty: it should contain tool definitions");
}

static void forced_format_finds_no_tools_in_other_text(void **state)
{
    (void)state;
#define FORMAT(name) #name,
    static const char *const formats[] = {IMPORT_FORMATS(FORMAT, )};
    static const char *const texts[] = {
        "7", "[[[[[[[[[[[[1]]]]]]]]]]]]", "{}", "- a\n- b\n", "{\"tools\": 5}", "]", "\"", "&a *a"};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
            struct import import;
            struct import_options options = {.format = wt__str(formats[f])};
            int rc = wt__import_bytes(&import, wt__str(texts[t]), &options, NULL);
            assert_true(rc == 0 || rc == WT_EFORMAT);
            assert_int_equal(import.tool_count, 0);
            wt__import_dispose(&import);
        }
}

/* ---------------------------------------------------------------- limits */

static void sources_over_the_limits_are_refused(void **state)
{
    (void)state;
    struct import import;
    wt_error err;
    struct str text =
        STR("[{\"name\": \"a\"}, {\"name\": \"b\", \"description\": \"long, long, long\"}, {\"name\": \"c\"}]");
    struct import_options options = {.limits = {.file_bytes = 20}};
    expect_error(wt__import_bytes(&import, text, &options, &err), WT_ETOOLONG, &err,
                 "input is larger than 20 bytes, the maximum for one source: split it");
    expect_error(wt__import_path(&import, write_source("large.json", text.ptr), &options, &err), WT_ETOOLONG, &err,
                 "large.json is larger than 20 bytes, the maximum for one source: split it");
    options = (struct import_options){.limits = {.tools = 2}};
    expect_error(wt__import_bytes(&import, text, &options, &err), WT_ETOOLONG, &err,
                 "input:1: more than 2 tools: split the source over several stores");
    options = (struct import_options){.limits = {.definition_bytes = 20}};
    assert_int_equal(wt__import_bytes(&import, text, &options, &err), 0);
    assert_int_equal(import.tool_count, 2);
    assert_int_equal(import.skipped, 1);
    assert_string_equal(import.issues[0].reason, "the definition has 48 bytes; at most 20 are allowed: shorten it");
    assert_string_equal(import.issues[0].pointer, "/1");
    wt__import_dispose(&import);
}

static void a_definition_of_maximum_size_is_imported(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct buffer text = {0};
        struct import import;
        wt__buffer_text(&text, "[{\"name\": \"big\", \"description\": \"");
        while (text.len < WT_MAX_DEFINITION_BYTES + over - 1)
            wt__buffer_char(&text, 'x');
        wt__buffer_text(&text, "\"}]");
        assert_int_equal(wt__import_bytes(&import, wt__buffer_view(&text), NULL, NULL), 0);
        assert_int_equal(import.tool_count, 1 - over);
        assert_int_equal(import.skipped, over);
        wt__import_dispose(&import);
        wt__buffer_dispose(&text);
    }
}

/* The aliases of a document expand to its limit. If the source has one byte less, they exceed the limit. */
static void aliases_expand_up_to_the_limit(void **state)
{
    (void)state;
    enum { TEXT = 100000, ALIASES = 60 };
    const size_t written = ALIASES * (size_t)(TEXT + 2), least = (written - YAML_ALIAS_FREE) / YAML_ALIAS_TIMES + 1;
    for (size_t under = 0; under < 2; under++) {
        struct buffer text = {0};
        struct import import;
        wt__buffer_text(&text, "openapi: 3.1.0\npaths: {/a: {get: {}}}\nx-a: &a \"");
        for (size_t i = 0; i < TEXT; i++)
            wt__buffer_char(&text, 'x');
        wt__buffer_text(&text, "\"\nx-b: [");
        for (size_t i = 0; i < ALIASES; i++)
            wt__buffer_text(&text, "*a, ");
        wt__buffer_text(&text, "]\n#");
        while (text.len < least - under)
            wt__buffer_char(&text, '-');
        assert_int_equal(text.len, least - under);
        assert_int_equal(wt__import_bytes(&import, wt__buffer_view(&text), NULL, NULL), 0);
        assert_int_equal(import.tool_count, 1);
        assert_int_equal(import.whole, under == 0);
        assert_int_equal(import.issue_count, under);
        if (under) {
            assert_int_equal(import.issues[0].line, 4);
            assert_non_null(strstr(import.issues[0].reason, "expand to more than 1 MiB plus 16 times the document's"));
        }
        wt__import_dispose(&import);
        wt__buffer_dispose(&text);
    }
}

static void issues_over_the_limit_are_counted_but_not_kept(void **state)
{
    (void)state;
    struct buffer text = {0};
    struct import import;
    wt__buffer_text(&text, "[{\"name\": \"a\", \"inputSchema\": {}}");
    for (int i = 0; i < WT_MAX_ISSUES + 500; i++)
        wt__buffer_text(&text, ",1");
    wt__buffer_text(&text, "]");
    assert_int_equal(wt__import_bytes(&import, wt__buffer_view(&text), NULL, NULL), 0);
    assert_int_equal(import.skipped, WT_MAX_ISSUES + 500);
    assert_int_equal(import.issue_count, WT_MAX_ISSUES);
    wt__import_dispose(&import);
    wt__buffer_dispose(&text);
}

/* ---------------------------------------------------------------- progress */

static int cancel_import(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)total;
    return done > 0;
}

static int remember_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    uint64_t *last = context;
    assert_string_equal(phase, "reading");
    last[0] = done;
    last[1] = total;
    return 0;
}

static void progress_reaches_the_end_and_callback_can_cancel(void **state)
{
    (void)state;
    struct str text = STR("[{\"name\": \"a\"}]");
    struct import import;
    struct progress progress;
    uint64_t last[2] = {0};
    wt_error err;
    wt__progress_init(&progress, remember_progress, last);
    struct import_options options = {.progress = &progress};
    assert_int_equal(wt__import_bytes(&import, text, &options, NULL), 0);
    assert_int_equal(last[0], text.len);
    assert_int_equal(last[1], text.len);
    wt__import_dispose(&import);
    wt__progress_dispose(&progress);
    wt__progress_init(&progress, cancel_import, NULL);
    assert_int_equal(wt__import_bytes(&import, text, &options, &err), WT_ECANCELLED);
    wt__progress_dispose(&progress);
}

/* ---------------------------------------------------------------- scale */

/* Imports `count` tools: enough that quadratic time would exceed the time limit of a test. form: printf format of the
 * names of the tools. */
static void import_many(size_t count, const char *form)
{
    struct buffer text = {0};
    struct import import;
    wt__buffer_text(&text, "{\"tools\": [{\"name\": \"first\", \"inputSchema\": {}}");
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(&text, ",{\"name\": \"");
        wt__buffer_printf(&text, form, i);
        wt__buffer_printf(&text, "\", \"description\": \"number %zu\"}", i);
    }
    wt__buffer_text(&text, "]}");
    assert_int_equal(wt__import_bytes(&import, wt__buffer_view(&text), NULL, NULL), 0);
    assert_int_equal(import.tool_count, count + 1);
    assert_int_equal(import.skipped, 0);
    wt__import_dispose(&import);
    wt__buffer_dispose(&text);
}

static void import_time_is_linear_in_the_number_of_tools(void **state)
{
    (void)state;
    static const char *const forms[] = {"tool %zu", "the same", "same~%zu"};
    for (size_t f = 0; f < 3; f++)
        import_many(100000, forms[f]);
}

/* ---------------------------------------------------------------- real sources */

static const char *find_shared(const char *below)
{
    static char path[700];
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");
    snprintf(path, sizeof path, "%s%s/%s", shared ? shared : source ? source : ".", shared ? "" : "/../shared", below);
    return path;
}

static void real_data_sets_are_read_whole(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        size_t tools;
    } sets[] = {
        {"apibank", 101},
        {"apigen", 3605},
        {"awsbank-catalogue", 1002},
        {"bfcl-multiple", 1870},
        {"callnavi", 587},
        {"gorilla-hf", 907},
        {"mcp-docker", 755},
        {"mcp-github", 117},
        {"mcp-smithery", 9970},
        {"metatool", 199},
        {"metatool-multi", 47},
        {"numpybank", 513},
        {"pandasbank-catalogue", 1655},
        {"rectools", 47},
        {"restgpt", 94},
        {"toolbench-i3", 1419},
        {"toolbench-open", 13242},
        {"toolink", 1804},
        {"toollens", 464},
        {"toollens-tools", 314},
        {"toolverifier", 17},
    };
    size_t here = 0;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char below[100];
        struct import import;
        wt_error err;
        snprintf(below, sizeof below, "data/%s", sets[i].set);
        const char *path = find_shared(below);
        if (!wt__is_folder(path)) {
            print_message("skipped: data set %s (not here)\n", sets[i].set);
            continue;
        }
        here++;
        if (wt__import_path(&import, path, NULL, &err) < 0)
            fail_msg("%s: %s", sets[i].set, err.message);
        if (import.skipped > 0)
            fail_msg("%s:%zu: %s", sets[i].set, import.issues[0].line, import.issues[0].reason);
        assert_int_equal(import.tool_count, sets[i].tools);
        wt__import_dispose(&import);
    }
    if (here == 0)
        skip();
}

static void real_openapi_documents_are_read_whole(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t tools;
    } documents[] = {{"data/restgpt/openapi/spotify.json", 40}, {"data/restgpt/openapi/tmdb.json", 54}};
    size_t here = 0;
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        const char *path = find_shared(documents[i].file);
        struct import import;
        wt_error err;
        if (!wt__is_file(path)) {
            print_message("skipped: %s (not here)\n", documents[i].file);
            continue;
        }
        here++;
        if (wt__import_path(&import, path, NULL, &err) < 0)
            fail_msg("%s", err.message);
        if (import.skipped > 0)
            fail_msg("%s: %s: %s", documents[i].file, import.issues[0].pointer, import.issues[0].reason);
        assert_int_equal(import.tool_count, documents[i].tools);
        wt__import_dispose(&import);
    }
    if (here == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_the_original_bytes),
        cmocka_unit_test(a_folder_is_one_import_of_its_files),
        cmocka_unit_test(a_folder_with_a_corpus_is_read_as_beir),
        cmocka_unit_test(unreadable_sources_are_reported),
        cmocka_unit_test(forced_format_finds_no_tools_in_other_text),
        cmocka_unit_test(sources_over_the_limits_are_refused),
        cmocka_unit_test(a_definition_of_maximum_size_is_imported),
        cmocka_unit_test(aliases_expand_up_to_the_limit),
        cmocka_unit_test(issues_over_the_limit_are_counted_but_not_kept),
        cmocka_unit_test(progress_reaches_the_end_and_callback_can_cancel),
        cmocka_unit_test(import_time_is_linear_in_the_number_of_tools),
        cmocka_unit_test(real_data_sets_are_read_whole),
        cmocka_unit_test(real_openapi_documents_are_read_whole),
    };
    return cmocka_run_group_tests(tests, make_import_folder, remove_import_folder);
}
