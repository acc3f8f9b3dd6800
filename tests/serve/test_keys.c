/* Tests key files, the lookup of keys, and scopes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "serve/access.h"

#define HASH_OF_A "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" /* SHA-256 of "a" */
#define HASH_OF_B "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" /* SHA-256 of "b" */

static char path[64];

static int make_key_folder(void **state)
{
    (void)state;
    strcpy(path, "/tmp/whichtool-keys-XXXXXX");
    if (!mkdtemp(path))
        return -1;
    strcat(path, "/keys");
    return 0;
}

static int remove_key_folder(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

static const struct {
    const char *text;
    size_t keys;
    size_t line; /* number of the invalid line, or 0 if the file is valid */
} files[] = {
    {"", 0, 0},
    {"# nothing\n\n  \n", 0, 0},
    {"laptop find " HASH_OF_A "\n", 1, 0},
    {"  laptop\tfind,usage   " HASH_OF_A "  \r\n#x\nb@c admin " HASH_OF_B, 2, 0},
    {"laptop find\n", 0, 1},
    {"laptop find " HASH_OF_A " more\n", 0, 1},
    {"\nlaptop fnd " HASH_OF_A "\n", 0, 2},
    {"laptop find, " HASH_OF_A "\n", 0, 1},
    {"lap/top find " HASH_OF_A "\n", 0, 1},
    {"laptop find CA978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\n", 0, 1},
    {"laptop find ca97\n", 0, 1},
    {"laptop find " HASH_OF_A "\nlaptop usage " HASH_OF_B "\n", 0, 2},
};

static void key_files_are_parsed_or_refused_with_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct keys *keys;
        wt_error err = {0};
        assert_int_equal(wt__file_replace(path, files[i].text, strlen(files[i].text), &err), 0);
        int rc = wt__keys_open(&keys, path, &err);
        if (files[i].line > 0) {
            assert_int_equal(rc, WT_EFORMAT);
            assert_int_equal(err.line, files[i].line);
            assert_null(keys);
            /* A hash reveals no key, but does not belong in a message. */
            assert_null(strstr(err.message, "ca9781"));
        } else {
            assert_int_equal(rc, 0);
            assert_int_equal(wt__keys_count(keys), files[i].keys);
        }
        wt__keys_close(keys);
    }
}

static void lookup_needs_the_whole_key_and_returns_its_scopes(void **state)
{
    (void)state;
    static const char text[] = "laptop find,usage " HASH_OF_A "\nroot admin " HASH_OF_B "\n";
    struct keys *keys;
    wt_error err;
    assert_int_equal(wt__file_replace(path, text, strlen(text), &err), 0);
    assert_int_equal(wt__keys_open(&keys, path, &err), 0);
    struct key_found laptop = wt__keys_find(keys, STR("a")), root = wt__keys_find(keys, STR("b"));
    assert_string_equal(laptop.name, "laptop");
    assert_int_equal(laptop.scopes, SCOPE_FIND | SCOPE_USAGE);
    assert_string_equal(root.name, "root");
    assert_null(wt__keys_find(keys, STR("")).name);
    assert_null(wt__keys_find(keys, STR("ab")).name);
    assert_null(wt__keys_find(keys, STR("A")).name);
    assert_null(wt__keys_find(keys, STR(HASH_OF_A)).name); /* a hash from the file is not a key */
    assert_true(wt__scope_allows(laptop.scopes, SCOPE_FIND));
    assert_false(wt__scope_allows(laptop.scopes, SCOPE_WRITE));
    assert_false(wt__scope_allows(laptop.scopes, SCOPE_ADMIN));
    assert_true(wt__scope_allows(root.scopes, SCOPE_WRITE));
    assert_true(wt__scope_allows(0, SCOPE_OPEN));
    assert_false(wt__scope_allows(0, SCOPE_FIND));
    wt__keys_close(keys);
}

/* Keys written before the scope `call` existed may find but not call. */
static void keys_with_find_but_not_call_are_counted(void **state)
{
    static const struct {
        const char *scopes;
        size_t finding_only;
        bool may_call;
    } rows[] = {{"find", 1, false},
                {"find,usage", 1, false},
                {"find,call", 0, true},
                {"admin", 0, true},
                {"find,write,admin", 0, true},
                {"usage", 0, false},
                {"call", 0, true},
                {"find,write,usage,metrics", 1, false}};
    wt_error err;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct keys *keys;
        snprintf(text, sizeof text, "k %s " HASH_OF_A "\n", rows[i].scopes);
        assert_int_equal(wt__file_replace(path, text, strlen(text), &err), 0);
        assert_int_equal(wt__keys_open(&keys, path, &err), 0);
        if (wt__keys_count_find_only(keys) != rows[i].finding_only ||
            wt__scope_allows(wt__keys_find(keys, STR("a")).scopes, SCOPE_CALL) != rows[i].may_call)
            fail_msg("%s", rows[i].scopes);
        wt__keys_close(keys);
    }
}

static void key_of_a_tenant_names_its_tenant(void **state)
{
    static const struct {
        const char *line;
        const char *tenant; /* NULL if the line is refused; "" without a tenant */
    } rows[] = {{"k find " HASH_OF_A " tenant=acme", "acme"},
                {"k find,call " HASH_OF_A " tenant=a.b-c_d@e", "a.b-c_d@e"},
                {"k admin " HASH_OF_A, ""},
                {"k admin " HASH_OF_A " tenant=acme", NULL},
                {"k find,metrics " HASH_OF_A " tenant=acme", NULL},
                {"k find,metrics " HASH_OF_A " tenant=acme", NULL},
                {"k find " HASH_OF_A " tenant=", NULL},
                {"k find " HASH_OF_A " tenant=a/b", NULL},
                {"k find " HASH_OF_A " acme", NULL},
                {"k find " HASH_OF_A " tenant=acme x", NULL}};
    char key[64];
    wt_error err;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct keys *keys;
        assert_int_equal(wt__file_replace(path, rows[i].line, strlen(rows[i].line), &err), 0);
        int rc = wt__keys_open(&keys, path, &err);
        if (rc != (rows[i].tenant ? 0 : WT_EFORMAT))
            fail_msg("%s: %s", rows[i].line, wt_code_name(rc));
        if (rc < 0)
            continue;
        const char *tenant = wt__keys_find(keys, STR("a")).tenant;
        assert_string_equal(tenant ? tenant : "", rows[i].tenant);
        assert_int_equal(wt__keys_count_of_tenants(keys), *rows[i].tenant ? 1 : 0);
        wt__keys_close(keys);
    }
    unlink(path);
    assert_int_equal(wt__keys_add(path, "x", SCOPE_FIND | SCOPE_ADMIN, "acme", key, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "a key of a tenant can only have the scopes find, call, write and usage"));
    assert_int_equal(wt__keys_add(path, "x", SCOPE_FIND, "a b", key, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "the name of the tenant is invalid"));
    assert_int_equal(wt__keys_add(path, "x", SCOPE_FIND, "acme", key, &err), 0);
    struct keys *keys;
    assert_int_equal(wt__keys_open(&keys, path, &err), 0);
    assert_string_equal(wt__keys_find(keys, wt__str(key)).tenant, "acme");
    wt__keys_close(keys);
}

static void a_new_key_works_and_only_its_hash_is_stored(void **state)
{
    (void)state;
    char first[64], second[64], *text;
    size_t len;
    struct keys *keys;
    struct stat file;
    wt_error err;
    unlink(path);
    assert_int_equal(wt__keys_add(path, "one", SCOPE_FIND | SCOPE_METRICS, NULL, first, &err), 0);
    assert_int_equal(wt__keys_add(path, "two", SCOPE_ADMIN, NULL, second, &err), 0);
    assert_int_equal(wt__keys_add(path, "two", SCOPE_ADMIN, NULL, second, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "already has a key named two"));
    assert_int_equal(wt__keys_add(path, "t wo", SCOPE_ADMIN, NULL, second, &err), WT_EINVAL);
    assert_int_equal(strlen(first), 46);
    assert_string_not_equal(first, second);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, &err), 0);
    assert_null(strstr(text, first));
    free(text);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(wt__keys_open(&keys, path, &err), 0);
    assert_string_equal(wt__keys_find(keys, wt__str(first)).name, "one");
    assert_int_equal(wt__keys_find(keys, wt__str(first)).scopes, SCOPE_FIND | SCOPE_METRICS);
    wt__keys_close(keys);
}

static void bearer_keys_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *field, *key;
    } rows[] = {{"Bearer abc", "abc"},
                {"bearer abc", "abc"},
                {"BEARER  abc ", "abc"},
                {"Bearer", ""},
                {"Bearer ", ""},
                {"Basic abc", ""},
                {"abc", ""},
                {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!wt__str_equal(wt__bearer_key(wt__str(rows[i].field)), wt__str(rows[i].key)))
            fail_msg("\"%s\"", rows[i].field);
}

static void scope_lists_are_parsed(void **state)
{
    (void)state;
    wt_error err;
    assert_int_equal(wt__scopes_parse(STR("find,write,usage,metrics"), &err),
                     SCOPE_FIND | SCOPE_WRITE | SCOPE_USAGE | SCOPE_METRICS);
    static const char *const wrong[] = {"", "find,", ",find", "Find", "find usage", "all"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(wt__scopes_parse(wt__str(wrong[i]), &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(key_files_are_parsed_or_refused_with_the_line),
                                       cmocka_unit_test(lookup_needs_the_whole_key_and_returns_its_scopes),
                                       cmocka_unit_test(keys_with_find_but_not_call_are_counted),
                                       cmocka_unit_test(key_of_a_tenant_names_its_tenant),
                                       cmocka_unit_test(a_new_key_works_and_only_its_hash_is_stored),
                                       cmocka_unit_test(bearer_keys_are_parsed),
                                       cmocka_unit_test(scope_lists_are_parsed)};
    return cmocka_run_group_tests(tests, make_key_folder, remove_key_folder);
}
