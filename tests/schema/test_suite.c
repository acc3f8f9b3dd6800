/* Runs the official test suite of JSON Schema if it is installed in ../shared/json-schema-suite. Runs all required
 * tests of 2020-12 and draft-07. Runs the optional tests except those listed in `unsupported`. Our own tests in
 * test_keywords.c and test_formats.c cover the same features. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "schema/support.h"

enum { PATH_BYTES = 4096 };

/* Skipped optional tests. file: path below "optional"; text: part of the description of the group or the test. */
static const struct {
    const char *file, *text, *why;
} unsupported[] = {
    {"format/idn-hostname.json", "", "the format is not checked: IDNA 2008 needs its own tables"},
    {"format/hostname.json", "A-label", "labels of internationalised names are not decoded"},
    {"format/ecmascript-regex.json", "variable-width lookbehind", "PCRE2 before 10.43 supports only fixed widths"},
    {"content.json", "", "contentMediaType and contentEncoding are annotations"},
    {"cross-draft.json", "historic drafts", "2019-09 is not supported"},
    {"cross-draft.json", "future drafts", "2019-09 is not supported"},
};

struct counts {
    size_t passed, failed, left_out;
};

static char suite[PATH_BYTES];
static json_t *remotes;

static json_t *read_suite_json(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    wt_error err = {0};
    if (wt__file_read(&text, &len, path, (size_t)16 << 20, &err) != 0)
        fail_msg("%s", err.message);
    size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY;
    json_t *value = json_loadb(text, len, flags, NULL);
    if (!value) /* integers of more than 64 bits are parsed as in base/json.c */
        value = json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, NULL);
    free(text);
    if (!value)
        fail_msg("%s is not valid JSON", path);
    return value;
}

/* Sets out to "a/b". */
static void join_path(char out[PATH_BYTES], const char *a, const char *b)
{
    int len = snprintf(out, PATH_BYTES, "%s%s%s", a, a[0] && b[0] ? "/" : "", b);
    if (len < 0 || len >= PATH_BYTES)
        fail_msg("%s: path too long", a);
}

static void visit_files(const char *folder, const char *below, void (*visit)(const char *, const char *, void *),
                        void *context)
{
    char path[PATH_BYTES], name[PATH_BYTES];
    struct dirent **entries;
    join_path(path, folder, below);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct stat status;
        join_path(name, below, entries[i]->d_name);
        join_path(path, folder, name);
        if (entries[i]->d_name[0] != '.' && stat(path, &status) == 0) {
            if (S_ISDIR(status.st_mode))
                visit_files(folder, name, visit, context);
            else
                visit(path, name, context);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void add_remote(const char *path, const char *name, void *context)
{
    char uri[PATH_BYTES];
    (void)context;
    join_path(uri, "http://localhost:1234", name);
    json_object_set_new(remotes, uri, read_suite_json(path));
}

static bool is_skipped(const char *file, const char *description)
{
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        if (strcmp(unsupported[i].file, file) == 0 && strstr(description, unsupported[i].text))
            return true;
    return false;
}

struct suite_run {
    const char *dialect;
    bool optional;
    struct counts counts;
};

/* Checks that an invalid instance has messages, unless repairs make it fit. */
static void check_messages(const struct compiled *compiled, const json_t *instance)
{
    struct validation validation;
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, NULL), 0);
    assert_true(validation.fits == (validation.violations.len == 0));
    for (size_t i = 0; i < validation.violations.len; i++) {
        struct buffer message = {0};
        wt__violation_message(&message, &validation.violations.items[i]);
        assert_true(!message.failed && message.len > 0);
        wt__buffer_dispose(&message);
    }
    wt__validation_dispose(&validation);
}

static void run_group(const char *name, const json_t *group, struct suite_run *run)
{
    struct compiled *compiled;
    wt_error err = {0};
    bool formats = strncmp(name, "optional/format/", 16) == 0;
    int rc =
        wt__compile_schema(&compiled, json_object_get(group, "schema"), run->dialect, remotes, formats, NULL, &err);
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(group, "tests"), i, test)
    {
        char what[1024];
        snprintf(what, sizeof what, "%s: %s", json_string_value(json_object_get(group, "description")),
                 json_string_value(json_object_get(test, "description")));
        if (run->optional && is_skipped(name + strlen("optional/"), what)) {
            run->counts.left_out++;
            continue;
        }
        enum verdict wanted = json_is_true(json_object_get(test, "valid")) ? FITS : FITS_NOT;
        enum verdict got = rc < 0 ? UNDECIDED : check_instance(compiled, json_object_get(test, "data"));
        if (got == FITS_NOT)
            check_messages(compiled, json_object_get(test, "data"));
        if (got != wanted)
            printf("%s %s: %s%s%s\n", run->dialect, name, what, rc < 0 ? ": " : "", rc < 0 ? err.message : "");
        run->counts.passed += got == wanted;
        run->counts.failed += got != wanted;
    }
    wt__compiled_free(compiled);
}

static void run_file(const char *path, const char *name, void *context)
{
    struct suite_run *run = context;
    size_t i;
    json_t *groups, *group;
    if (run->optional != (strncmp(name, "optional/", 9) == 0))
        return;
    groups = read_suite_json(path);
    json_array_foreach(groups, i, group) run_group(name, group, run);
    json_decref(groups);
}

static void run_dialect(const char *folder, const char *dialect, bool optional, size_t wanted)
{
    char path[PATH_BYTES], tests[PATH_BYTES];
    struct suite_run run = {dialect, optional, {0}};
    if (!remotes)
        skip();
    join_path(tests, suite, "tests");
    join_path(path, tests, folder);
    visit_files(path, "", run_file, &run);
    printf("%s, %s: %zu passed, %zu failed, %zu left out\n", folder, optional ? "optional" : "required",
           run.counts.passed, run.counts.failed, run.counts.left_out);
    assert_int_equal(run.counts.failed, 0);
    assert_int_equal(run.counts.passed, wanted);
}

static void passes_required_tests_of_2020_12(void **state)
{
    (void)state;
    run_dialect("draft2020-12", SCHEMA_2020_12, false, 1299);
}

static void passes_required_tests_of_draft_07(void **state)
{
    (void)state;
    run_dialect("draft7", SCHEMA_DRAFT_07, false, 927);
}

static void passes_optional_tests_of_2020_12(void **state)
{
    (void)state;
    run_dialect("draft2020-12", SCHEMA_2020_12, true, 796);
}

static void passes_optional_tests_of_draft_07(void **state)
{
    (void)state;
    run_dialect("draft7", SCHEMA_DRAFT_07, true, 654);
}

static int open_suite(void **state)
{
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");
    char path[PATH_BYTES], beside[PATH_BYTES];
    (void)state;
    join_path(beside, source ? source : ".", "../shared");
    join_path(suite, shared ? shared : beside, "json-schema-suite");
    join_path(path, suite, "tests/draft7/ref.json");
    if (!wt__is_file(path)) {
        printf("skipped: no json-schema-suite\n");
        return 0;
    }
    remotes = json_object();
    join_path(path, suite, "remotes");
    visit_files(path, "", add_remote, NULL);
    return 0;
}

static int close_suite(void **state)
{
    (void)state;
    json_decref(remotes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_required_tests_of_2020_12),
        cmocka_unit_test(passes_required_tests_of_draft_07),
        cmocka_unit_test(passes_optional_tests_of_2020_12),
        cmocka_unit_test(passes_optional_tests_of_draft_07),
    };
    return cmocka_run_group_tests(tests, open_suite, close_suite);
}
