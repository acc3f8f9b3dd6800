/* Tests of edits of a JSON object. Members are added and removed. All other bytes stay the same: comments, blanks, line
 * ends and the spelling of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json.h"
#include "base/json_edit.h"

/* Edits of the object with the key "s". drop: names separated by blanks. added: "name=value" separated by blanks. */
static const struct {
    const char *what, *text, *drop, *added, *result;
} rows[] = {
    {"first of two members on lines removed", "{\"s\": {\n  \"a\": 1,\n  \"b\": 2\n}}", "a", "",
     "{\"s\": {\n  \"b\": 2\n}}"},
    {"last of two members on lines removed", "{\"s\": {\n  \"a\": 1,\n  \"b\": 2\n}}", "b", "",
     "{\"s\": {\n  \"a\": 1\n}}"},
    {"all members on lines removed", "{\"s\": {\n  \"a\": 1,\n  \"b\": 2\n}}", "a b", "", "{\"s\": {\n}}"},
    {"last two members on lines replaced by one", "{\"s\": {\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}}", "b c", "w=9",
     "{\"s\": {\n  \"a\": 1,\n  \"w\": 9\n}}"},
    {"first member on lines replaced by two", "{\"s\": {\n\t\"a\": 1,\n\t\"b\": 2\n}}", "a", "x=1 y=2",
     "{\"s\": {\n\t\"x\": 1,\n\t\"y\": 2,\n\t\"b\": 2\n}}"},
    {"middle member on one line removed", "{\"s\": {\"a\": 1, \"b\": 2, \"c\": 3}}", "b", "",
     "{\"s\": {\"a\": 1, \"c\": 3}}"},
    {"last member on one line removed", "{\"s\": {\"a\": 1, \"b\": 2}}", "b", "", "{\"s\": {\"a\": 1}}"},
    {"last two members on one line removed", "{\"s\": {\"a\": 1, \"b\": 2, \"c\": 3}}", "b c", "",
     "{\"s\": {\"a\": 1}}"},
    {"all members on one line removed", "{\"s\": {\"a\": 1, \"b\": 2}}", "a b", "", "{\"s\": {}}"},
    {"first member on one line replaced", "{\"s\":{\"a\":1,\"b\":2}}", "a", "w=9", "{\"s\":{\"w\": 9,\"b\":2}}"},
    {"member added on one line", "{\"s\": {\"a\": 1}}", "", "w=9", "{\"s\": {\"a\": 1, \"w\": 9}}"},
    {"two members added on lines", "{\n  \"s\": {\n    \"a\": 1\n  }\n}", "", "w=9 x=8",
     "{\n  \"s\": {\n    \"a\": 1,\n    \"w\": 9,\n    \"x\": 8\n  }\n}"},
    {"member added to an empty object", "{\"s\": {}}", "", "w=9", "{\"s\": {\"w\": 9}}"},
    {"member added to an empty object on lines", "{\n  \"s\": {\n  }\n}\n", "", "w=9",
     "{\n  \"s\": {\n    \"w\": 9\n  }\n}\n"},
    {"member added to an object with only a comment", "{\n\t\"s\": { // none\n\t}\n}\n", "", "w=9",
     "{\n\t\"s\": {\n\t\t\"w\": 9 // none\n\t}\n}\n"},
    {"Windows line ends are kept", "{\"s\": {\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}}", "a", "x=1 y=2",
     "{\"s\": {\r\n  \"x\": 1,\r\n  \"y\": 2,\r\n  \"b\": 2\r\n}}"},
    {"trailing comma is kept", "{\"s\": {\n  \"a\": 1,\n  \"b\": 2,\n}}", "b", "", "{\"s\": {\n  \"a\": 1,\n}}"},
    {"member added after a trailing comma", "{\"s\": {\n  \"a\": 1,\n}}", "", "w=9",
     "{\"s\": {\n  \"a\": 1,\n  \"w\": 9,\n}}"},
    {"comments are kept",
     "// top\n{\"s\": { // open\n  /* of a */\n  \"a\": 1, // behind a\n  \"b\": 2 /* x */, // y\n}}", "a b", "",
     "// top\n{\"s\": { // open\n  /* of a */\n  // behind a\n   /* x */ // y\n}}"},
    {"comment between value and comma is kept", "{\"s\": {\"a\": 1 /* , */ , \"b\": 2}}", "a", "",
     "{\"s\": { /* , */  \"b\": 2}}"},
    {"brackets and commas in strings and comments are ignored",
     "{\"x\": \"}{,//\", \"s\": {\n  \"a\": {\"k\": \"}\\\",\"}, // },\n  \"b\": [1.50, 1e3]\n}, \"y\": 1e300}", "a",
     "", "{\"x\": \"}{,//\", \"s\": {\n  // },\n  \"b\": [1.50, 1e3]\n}, \"y\": 1e300}"},
    {"spelling of numbers is kept", "{\"x\": 1.50, \"s\": {\"a\": 1, \"b\": 2E+2}, \"y\": 0.10}", "a", "w=3.0",
     "{\"x\": 1.50, \"s\": {\"w\": 3.0, \"b\": 2E+2}, \"y\": 0.10}"},
    {"member whose key has an escape removed", "{\"s\": {\"\\u0061\": 1, \"b\": 2}}", "a", "", "{\"s\": {\"b\": 2}}"},
    {"byte order mark is kept", "\xef\xbb\xbf{\"s\": {\"a\": 1}}", "a", "w=9", "\xef\xbb\xbf{\"s\": {\"w\": 9}}"},
};

static bool has_whole_word(const char *words, const char *word)
{
    const char *at = strstr(words, word);
    size_t len = strlen(word);
    return at && (at == words || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' ');
}

static void apply_edit(struct buffer *out, struct arena *arena, const char *text, const char *drop_names,
                       const char *adding)
{
    static const char *const path[] = {"s", NULL};
    struct json_members members;
    struct json_new_member added[4];
    bool drop[8] = {false};
    size_t count = 0;
    wt_error err;
    assert_int_equal(wt__json_members(&members, arena, wt__str(text), path, &err), 1);
    for (size_t i = 0; i < members.count; i++)
        drop[i] = has_whole_word(drop_names, members.members[i].name);
    for (const char *at = adding; *at; at += strspn(at, " ")) {
        size_t name = strcspn(at, "="), value = strcspn(at + name + 1, " ");
        added[count++] =
            (struct json_new_member){wt__arena_copy(arena, (struct str){at, name}), {at + name + 1, value}};
        at += name + 1 + value;
    }
    wt__json_edit(out, &members, drop, added, count);
    assert_false(out->failed);
}

static void adds_and_removes_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct buffer out = {0};
        json_t *parsed = NULL;
        apply_edit(&out, &arena, rows[i].text, rows[i].drop, rows[i].added);
        if (strcmp(out.ptr, rows[i].result) != 0)
            fail_msg("%s: \"%s\"", rows[i].what, out.ptr);
        if (wt__json_parse_relaxed(&parsed, wt__buffer_view(&out), NULL) < 0)
            fail_msg("%s: the result is not valid JSON: %s", rows[i].what, out.ptr);
        json_decref(parsed);
        wt__buffer_dispose(&out);
        wt__arena_dispose(&arena);
    }
}

/* Every combination of dropped and added members leaves the expected JSON. */
static void every_edit_leaves_valid_json(void **state)
{
    static const char *const layouts[] = {
        "{\"s\":{\"a\":1,\"b\":{\"x\":[]},\"c\":\"}\"}}",
        "{\n  \"s\": {\n    \"a\": 1,\n    \"b\": {\n      \"x\": []\n    },\n    \"c\": \"}\"\n  }\n}\n",
        "{\"s\":{\"a\":1, // a,\n\"b\":{\"x\":[],}, /* b */\n\"c\":\"}\", /* c */\n}, // end\n}",
        "{\"s\":{\r\n\t\"a\":1 /**/ , \"b\" : {\"x\":[]} /*,*/,\r\n\t/* \"q\":1, */ \"c\":\"}\"\r\n}}",
        "{\"s\": { \"a\": 1\n , \"b\": {\"x\": []}\n , \"c\": \"}\"\n } }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts * 16; i++) {
        unsigned choice = (unsigned)i % 16;
        const char *text = layouts[i / 16];
        struct arena arena = {0};
        struct buffer out = {0}, names = {0};
        json_t *want = NULL, *have = NULL;
        assert_int_equal(wt__json_parse_relaxed(&want, wt__str(text), NULL), 0);
        for (unsigned k = 0; k < 3; k++) {
            char name[] = {(char)('a' + k), '\0'};
            if (choice & 1U << k) {
                json_object_del(json_object_get(want, "s"), name);
                wt__buffer_printf(&names, "%s ", name);
            }
        }
        if (choice & 8)
            json_object_set_new(json_object_get(want, "s"), "w", json_integer(9));
        apply_edit(&out, &arena, text, names.ptr ? names.ptr : "", choice & 8 ? "w=9" : "");
        if (wt__json_parse_relaxed(&have, wt__buffer_view(&out), NULL) < 0 || !json_equal(have, want))
            fail_msg("choice %u: %s became %s", choice, text, out.ptr);
        if (choice == 0 && strcmp(out.ptr, text) != 0)
            fail_msg("no edit was requested: %s became %s", text, out.ptr);
        json_decref(want);
        json_decref(have);
        wt__buffer_dispose(&out);
        wt__buffer_dispose(&names);
        wt__arena_dispose(&arena);
    }
}

static void rejects_missing_paths_and_invalid_json(void **state)
{
    static const char *const path[] = {"m", "s", NULL};
    static const struct {
        const char *text;
        int code;
        const char *says;
    } bad[] = {
        {"", WT_EFORMAT, "not valid JSON"},
        {"{\"m\": {\"s\": {\"a\": 1}}", WT_EFORMAT, "not valid JSON"},
        {"{\"m\": {\"s\": {\"a\": 1, \"a\": 2}}}", WT_EFORMAT, "duplicate"},
        {"{\"m\": {\"s\": {'a': 1}}}", WT_EFORMAT, "not valid JSON"},
        {"[]", 0, ""},
        {"{\"m\": 1}", 0, ""},
        {"{\"m\": {\"s\": [1]}}", 0, ""},
        {"{\"s\": {}}", 0, ""},
        {"{\"m\": {\"s\": {}}}", 1, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena = {0};
        struct json_members members;
        wt_error err = {.message = ""};
        int rc = wt__json_members(&members, &arena, wt__str(bad[i].text), path, &err);
        if (rc != bad[i].code || (rc < 0 && !strstr(err.message, bad[i].says)))
            fail_msg("%s: %d %s", bad[i].text, rc, err.message);
        wt__arena_dispose(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_removes_members),
        cmocka_unit_test(every_edit_leaves_valid_json),
        cmocka_unit_test(rejects_missing_paths_and_invalid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
