/* Imports every file of tests/import/formats/FORMAT and compares the result with FILE.expected. The first line is a
 * summary or the error. Each other line is a tool or an issue. If a file name begins with "forced-", the import names
 * the format. If a file name begins with "strict-", the import is strict. If WT_TEST_UPDATE is set, the expected files
 * are written instead: review their difference before you keep it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "import/formats.h"
#include "import/import.h"

#define FORMAT(name) #name,
static const char *const formats[] = {IMPORT_FORMATS(FORMAT, )};

static void put_string(struct buffer *out, const char *key, struct str value)
{
    if (value.len == 0)
        return;
    wt__buffer_printf(out, ",\"%s\":", key);
    wt__buffer_json(out, value);
}

static bool lies_within(struct str part, struct str whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

/* Writes a tool as one line. Adds the definition only if it is not a part of the source. This is the case for an
 * OpenAPI operation that has inherited members or comes from YAML. */
static void put_expected_tool(struct buffer *out, const struct tool *tool, const struct import_place *place,
                              struct str bytes)
{
    wt__buffer_text(out, "{\"tool\":");
    wt__buffer_json(out, tool->name);
    put_string(out, "provider", tool->provider);
    put_string(out, "title", tool->title);
    put_string(out, "description", tool->description);
    put_string(out, "category", tool->category);
    put_string(out, "source_id", tool->source_id);
    wt__buffer_text(out, ",\"schema\":");
    wt__buffer_str(out, tool->schema);
    if (!lies_within(tool->definition, bytes))
        put_string(out, "definition", tool->definition);
    wt__buffer_printf(out, ",\"line\":%zu,\"byte\":%zu,\"bytes\":%zu}\n", place->line, place->byte,
                      tool->definition.len);
}

/* Writes the import, or the error, as text. */
static void write_import(struct buffer *out, const struct import *import, struct str bytes, int rc, const wt_error *err)
{
    if (rc < 0) {
        wt__buffer_printf(out, "{\"error\":\"%s\",\"line\":%zu,\"byte\":%zu", wt_code_name(rc), err->line, err->byte);
        put_string(out, "pointer", wt__str(err->pointer));
        put_string(out, "message", wt__str(err->message));
        wt__buffer_text(out, "}\n");
        return;
    }
    wt__buffer_printf(out, "{\"format\":\"%s\",\"tools\":%zu,\"skipped\":%zu,\"whole\":%s}\n", import->format,
                      import->tool_count, import->skipped, import->whole ? "true" : "false");
    for (size_t i = 0; i < import->tool_count; i++)
        put_expected_tool(out, &import->tools[i], &import->places[i], bytes);
    for (size_t i = 0; i < import->issue_count; i++) {
        const wt_add_issue *issue = &import->issues[i];
        wt__buffer_text(out, "{\"issue\":");
        wt__buffer_json(out, wt__str(issue->reason));
        put_string(out, "pointer", wt__str(issue->pointer));
        wt__buffer_printf(out, ",\"line\":%zu,\"byte\":%zu}\n", issue->line, issue->byte);
    }
}

/* Checks invariants of the tools of any source. */
static void check_invariants(const struct import *import, struct str bytes)
{
    for (size_t i = 0; i < import->tool_count; i++) {
        const struct tool *tool = &import->tools[i];
        unsigned char digest[32];
        json_t *schema;
        if (lies_within(tool->definition, bytes))
            assert_ptr_equal(bytes.ptr + import->places[i].byte, tool->definition.ptr);
        else { /* an OpenAPI operation that has inherited members or comes from YAML */
            json_t *definition;
            assert_true(wt__str_equal(tool->format, STR("openapi")));
            assert_int_equal(wt__json_parse(&definition, tool->definition.ptr, tool->definition.len, NULL), 0);
            assert_true(json_is_object(definition));
            json_decref(definition);
        }
        wt__sha256(tool->definition.ptr, tool->definition.len, digest);
        assert_memory_equal(digest, tool->sha256, 32);
        assert_int_equal(wt__json_parse(&schema, tool->schema.ptr, tool->schema.len, NULL), 0);
        assert_string_equal(wt__json_str(schema, "type").ptr, "object");
        assert_true(json_is_object(json_object_get(schema, "properties")));
        json_decref(schema);
    }
}

static void check_case(const char *format, const char *folder, const char *name)
{
    char path[1200], expected_path[1300];
    char *bytes = NULL, *expected = NULL;
    size_t len = 0, expected_len = 0;
    wt_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(expected_path, sizeof expected_path, "%s.expected", path);
    assert_int_equal(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, &err), 0);
    char *exact = malloc(len ? len : 1); /* lets a sanitizer detect a read past the end */
    assert_non_null(exact);
    memcpy(exact, bytes, len);
    free(bytes);

    struct import import;
    struct import_options options = {.source_name = wt__str(name), .strict = strncmp(name, "strict-", 7) == 0};
    if (strncmp(name, "forced-", 7) == 0)
        options.format = wt__str(format);
    int rc = wt__import_bytes(&import, (struct str){exact, len}, &options, &err);
    struct buffer got = {0};
    write_import(&got, &import, (struct str){exact, len}, rc, &err);
    assert_false(got.failed);
    check_invariants(&import, (struct str){exact, len});
    if (getenv("WT_TEST_UPDATE"))
        assert_int_equal(wt__file_replace(expected_path, got.ptr, got.len, &err), 0);
    if (wt__file_read(&expected, &expected_len, expected_path, WT_MAX_FILE_BYTES, &err) < 0)
        fail_msg("%s", err.message);
    if (strcmp(expected, got.ptr) != 0)
        fail_msg("%s/%s\n--- expected\n%s--- read\n%s", format, name, expected, got.ptr);
    free(expected);
    free(exact);
    wt__buffer_dispose(&got);
    wt__import_dispose(&import);
}

static void every_case_is_read_as_expected(void **state)
{
    (void)state;
    const char *source = getenv("WT_TEST_SOURCE");
    size_t cases = 0;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        char folder[900];
        snprintf(folder, sizeof folder, "%s/tests/import/formats/%s", source ? source : ".", formats[f]);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] == '.' || strstr(entry->d_name, ".expected"))
                continue;
            check_case(formats[f], folder, entry->d_name);
            cases++;
        }
        closedir(dir);
    }
    assert_true(cases >= 45);
}

/* docs/formats.md quotes cases: a line `tests/import/formats/...` and the file between two fences. */
static void documentation_quotes_cases_exactly(void **state)
{
    (void)state;
    const char *source = getenv("WT_TEST_SOURCE");
    char path[1200];
    char *page;
    size_t len, shown = 0;
    snprintf(path, sizeof path, "%s/docs/formats.md", source ? source : ".");
    assert_int_equal(wt__file_read(&page, &len, path, WT_MAX_FILE_BYTES, NULL), 0);
    for (char *at = page; (at = strstr(at, "\n`tests/import/formats/")); shown++) {
        char *name = at + 2, *bytes;
        char *end = strchr(name, '`');
        char *text = strchr(strstr(end, "```"), '\n') + 1;
        char *close = strstr(text, "```\n");
        snprintf(path, sizeof path, "%s/%.*s", source ? source : ".", (int)(end - name), name);
        assert_int_equal(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, NULL), 0);
        if (len != (size_t)(close - text) || memcmp(bytes, text, len) != 0)
            fail_msg("docs/formats.md quotes different text for %s", path);
        free(bytes);
        at = close;
    }
    assert_int_equal(shown, sizeof formats / sizeof formats[0]);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_is_read_as_expected),
                                       cmocka_unit_test(documentation_quotes_cases_exactly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
