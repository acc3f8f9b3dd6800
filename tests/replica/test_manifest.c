/* Tests that a manifest is written and read, and that malformed and hostile ones are rejected with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/memory.h"
#include "replica/manifest.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A valid manifest. The rows below replace parts of it. */
static const char valid[] =
    "{\"format\":1,\"publication\":\"0123456789abcdef0123456789abcdef\",\"whichtool\":\"0.1.0\",\"writer\":\"https://"
    "w\","
    "\"generation\":7,\"tables\":10,\"published\":1796040452,\"encoder\":{\"hash\":\"" HASH "\",\"name\":\"m\"},"
    "\"trained\":[\"encoder\"],\"base\":{\"name\":\"base-1-ab.rows\",\"bytes\":10,\"sha256\":\"" HASH
    "\",\"segment\":1,\"end_bytes\":5,\"end_sha256\":\"" HASH "\"},"
    "\"changes\":[{\"name\":\"changes-1-a.rows\",\"bytes\":5,\"sha256\":\"" HASH "\",\"segment\":1},"
    "{\"name\":\"changes-2-b.rows\",\"bytes\":6,\"sha256\":\"" HASH "\",\"segment\":2}],"
    "\"models\":[{\"name\":\"file-a\",\"path\":\"encoder/model.safetensors\",\"bytes\":3,\"sha256\":\"" HASH "\"}],"
    "\"policy\":{\"name\":\"file-b\",\"bytes\":2,\"sha256\":\"" HASH "\"}}";

static const struct {
    const char *name, *from, *to;
    int code;
    const char *message;
} cases[] = {
    {"not JSON", "{\"format\":1", "\"format\":1", WT_EFORMAT, "not JSON"},
    {"a later format", "\"format\":1", "\"format\":2", WT_ENEWER, "format 2"},
    {"no format", "\"format\":1", "\"formats\":1", WT_EFORMAT, "\"format\""},
    {"a short id", "\"publication\":\"0", "\"publication\":\"", WT_EFORMAT, "\"publication\""},
    {"an id of other letters", "\"publication\":\"0", "\"publication\":\"G", WT_EFORMAT, "\"publication\""},
    {"a writer with a line end", "https://w", "https://w\\n", WT_EFORMAT, "\"writer\""},
    {"a negative generation", "\"generation\":7", "\"generation\":-7", WT_EFORMAT, "\"generation\""},
    {"a generation that is a text", "\"generation\":7", "\"generation\":\"7\"", WT_EFORMAT, "\"generation\""},
    {"a file in another folder", "base-1-ab.rows", "../base-1.rows", WT_EFORMAT, "\"base\""},
    {"an absolute file", "base-1-ab.rows", "/etc/passwd", WT_EFORMAT, "\"base\""},
    {"a hidden file", "changes-1-a.rows", ".bashrc", WT_EFORMAT, "\"changes\""},
    {"a name with an escape", "changes-1-a.rows", "a\\u0000b", WT_EFORMAT, "not JSON"},
    {"a name with a query", "changes-1-a.rows", "a?b", WT_EFORMAT, "\"changes\""},
    {"a base that is too large", "\"bytes\":10", "\"bytes\":68719476737", WT_EFORMAT, "\"bytes\""},
    {"a model that does not fit memory", "\"bytes\":3", "\"bytes\":1073741825", WT_EFORMAT, "\"bytes\""},
    {"a policy that is too large", "\"bytes\":2,", "\"bytes\":1048577,", WT_EFORMAT, "\"bytes\""},
    {"a size with a fraction", "\"bytes\":10", "\"bytes\":1.5", WT_EFORMAT, "\"bytes\""},
    {"a digest of capitals", "\"end_sha256\":\"0123456789a", "\"end_sha256\":\"0123456789A", WT_EFORMAT,
     "\"end_sha256\""},
    {"a digest that is too short", "\"end_sha256\":\"0", "\"end_sha256\":\"", WT_EFORMAT, "\"end_sha256\""},
    {"a missing file of changes", "\"segment\":2", "\"segment\":3", WT_EFORMAT, "\"changes\""},
    {"a file of changes twice", "\"segment\":2", "\"segment\":1", WT_EFORMAT, "\"changes\""},
    {"changes that begin after the base", "\"segment\":1,\"end_bytes\"", "\"segment\":0,\"end_bytes\"", 0, NULL},
    {"changes that end before the base", "\"segment\":1,\"end_bytes\"", "\"segment\":9,\"end_bytes\"", WT_EFORMAT,
     "\"changes\""},
    {"a model in another folder", "encoder/model.safetensors", "../../model.safetensors", WT_EFORMAT, "\"models\""},
    {"an absolute model", "encoder/model.safetensors", "/model.safetensors", WT_EFORMAT, "\"models\""},
    {"a model in a hidden folder", "encoder/model.safetensors", "encoder/.git/config", WT_EFORMAT, "\"models\""},
    {"a model that is a folder", "encoder/model.safetensors", "encoder/", WT_EFORMAT, "\"models\""},
    {"a model that is deep", "encoder/model.safetensors", "a/b/c/d/e", WT_EFORMAT, "\"models\""},
    {"a policy in another folder", "file-b", "a/b", WT_EFORMAT, "\"policy\""},
    {"no changes", "\"changes\"", "\"changed\"", WT_EFORMAT, "\"changes\""},
    {"an encoder without a hash", "\"encoder\":{\"hash\":\"" HASH "\"", "\"encoder\":{\"hash\":\"\"", 0, NULL},
    {"an encoder with another hash", "\"encoder\":{\"hash\":\"0", "\"encoder\":{\"hash\":\"", WT_EFORMAT,
     "\"encoder\""},
};

/* Reads `valid` with `from` replaced by `to`. */
static int read_changed(const char *from, const char *to, struct publication *out, struct arena *arena, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const char *at = strstr(valid, from);
    assert_non_null(at);
    wt__buffer_append(&text, valid, (size_t)(at - valid));
    wt__buffer_text(&text, to);
    wt__buffer_text(&text, at + strlen(from));
    return wt__publication_read(out, arena, wt__buffer_view(&text), err);
}

static void test_malformed_manifests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        struct publication publication;
        wt_error err = {0};
        int rc = read_changed(cases[i].from, cases[i].to, &publication, &arena, &err);
        if (rc != cases[i].code || (rc < 0 && !strstr(err.message, cases[i].message)))
            fail_msg("%s: %d %s", cases[i].name, rc, err.message);
    }
}

static void test_written_manifest(void **state)
{
    (void)state;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0}, second = {0};
    struct publication publication;
    char hash[65];
    wt_error err;
    assert_int_equal(wt__publication_read(&publication, &arena, STR(valid), &err), 0);
    wt__publication_write(&first, &publication);
    assert_int_equal(wt__publication_read(&publication, &arena, wt__buffer_view(&first), &err), 0);
    wt__publication_write(&second, &publication);
    assert_string_equal(first.ptr, second.ptr);
    assert_int_equal(publication.change_count, 2);
    assert_int_equal(publication.base.segment, 1);
    assert_int_equal(publication.base_end, 5);
    assert_string_equal(publication.models[0].path, "encoder/model.safetensors");
    assert_string_equal(publication.policy.name, "file-b");
    assert_string_equal(publication.recipes[0], "encoder");
    wt__publication_models_hash(&publication, hash);
    assert_int_equal(strlen(hash), 64);
}

static void test_manifest_limits(void **state)
{
    (void)state;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer many = {0};
    struct publication publication;
    wt_error err;
    for (int i = 0; i <= PUBLICATION_MODELS_MAX; i++)
        wt__buffer_printf(&many, "%s{\"name\":\"a\",\"path\":\"p%d\",\"bytes\":1,\"sha256\":\"" HASH "\"}",
                          i ? "," : "", i);
    wt__buffer_text(&many, ",");
    WT_CLEANUP(wt__buffer_dispose) struct buffer to = {0};
    wt__buffer_printf(&to, "\"models\":[%s", many.ptr);
    assert_int_equal(read_changed("\"models\":[", to.ptr, &publication, &arena, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "\"models\""));
    wt__buffer_clear(&to);
    wt__buffer_text(&to, "\"writer\":\"");
    for (int i = 0; i < PUBLICATION_MANIFEST_BYTES_MAX; i++)
        wt__buffer_char(&to, 'a');
    assert_int_equal(read_changed("\"writer\":\"", to.ptr, &publication, &arena, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "at most"));
}

static void test_file_names(void **state)
{
    (void)state;
    assert_true(wt__published_name_fits(STR("base-1-0a.rows")));
    assert_true(wt__published_name_fits(STR("file-" HASH)));
    assert_false(wt__published_name_fits(STR("")));
    assert_false(wt__published_name_fits(STR("-rf")));
    assert_false(wt__published_name_fits(STR("a/b")));
    assert_false(wt__published_name_fits(STR("A")));
    assert_false(wt__published_name_fits(STR("a b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_manifests),
        cmocka_unit_test(test_written_manifest),
        cmocka_unit_test(test_manifest_limits),
        cmocka_unit_test(test_file_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
