/* Tests that error messages for clients contain no paths of the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "wire/failure.h"

static const struct {
    const char *name;
    int code;
    const char *message, *pointer, *told;
    bool changed;
} rows[] = {
    {"damaged store", WT_ESTORE, "/srv/data/tools.wt is damaged: tool 3 is not whole", "",
     "the server's store is damaged", true},
    {"full disk", WT_EFULL, "cannot write tools.wt: the disk is full", "", "the server's disk is full", true},
    {"store updated by a newer version", WT_ENEWER, "/srv/tools.wt was updated by a newer whichtool", "",
     "a newer whichtool has updated the server's store; restart the server with that version", true},
    {"store without tools", WT_EEMPTY, "the store tools.wt holds no tools; add some with `whichtool add FILE`", "",
     "the catalogue holds no tools", true},
    {"value sent by the client", WT_EINVAL, "\"k\" is no number from 1 to 1000", "/k",
     "\"k\" is no number from 1 to 1000", false},
    {"JSON pointer to the value", WT_EINVAL, "/filter/only: takes a list", "/filter/only", "/filter/only: takes a list",
     false},
    {"path of an API route", WT_ENOTFOUND, "ask /v1/recipes", "", "ask /v1/recipes", false},
    {"tool id with a slash", WT_ENOTFOUND, "there is no tool town/book", "", "there is no tool town/book", false},
    {"URL", WT_ENETWORK, "http://127.0.0.1:9/mcp/x did not answer", "", "http://127.0.0.1:9/mcp/x did not answer",
     false},
    {"path of the store", WT_ETOOLONG, "tools.wt would hold 9 usages; at most 8 fit", "",
     "the store would hold 9 usages; at most 8 fit", true},
    {"paths of files", WT_EMODEL, "cannot open /home/ada/models/x: no; see '/tmp/a b', (/etc/x/y), \"/opt/z/w\".", "",
     "cannot open a file: no; see 'a file b', (a file), \"a file\".", true},
    {"path of a program", WT_ENETWORK,
     "the server bad does not run: cannot start /usr/local/bin/bad: Permission denied", "",
     "the server bad does not run: cannot start a file: Permission denied", true},
    {"file next to the store", WT_EMODEL, "tools.wt-index/snapshot: cut short; tools.wt: no. Of tools.wt.", "",
     "the store: cut short; the store: no. Of the store.", true},
    {"word that contains the store's name", WT_EINVAL, "no tool is named mytools.wt or tools.wtx", "",
     "no tool is named mytools.wt or tools.wtx", false},
    {"slashes that are not paths", WT_EINVAL, "/ and a/b/c and //", "", "/ and a/b/c and //", false},
};

static void paths_are_hidden_from_clients(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_error err = {.code = rows[i].code}, told;
        strcpy(err.message, rows[i].message);
        strcpy(err.pointer, rows[i].pointer);
        bool changed = wt__client_error(&told, &err, "tools.wt");
        if (changed != rows[i].changed || strcmp(told.message, rows[i].told) != 0 || told.code != rows[i].code)
            fail_msg("%s: %s", rows[i].name, told.message);
        assert_string_equal(err.message, rows[i].message);
        assert_string_equal(told.pointer, rows[i].pointer);
        wt__client_error(&err, &err, "tools.wt");
        assert_string_equal(err.message, rows[i].told);
    }
}

/* Replacing a short path with a longer word truncates a full message. */
static void full_message_is_truncated(void **state)
{
    wt_error err = {.code = WT_EINVAL};
    (void)state;
    for (size_t i = 0; i + 5 < sizeof err.message; i += 5)
        memcpy(err.message + i, " /a/b", 5);
    wt__client_error(&err, &err, "/a");
    assert_true(strlen(err.message) < sizeof err.message);
    assert_null(strstr(err.message, "/a/b"));
}

/* A replacement is not searched for paths again. */
static void store_named_store_is_replaced_once(void **state)
{
    wt_error err = {.code = WT_EINVAL, .message = "store is private; the store store-index"};
    (void)state;
    assert_true(wt__client_error(&err, &err, "store"));
    assert_string_equal(err.message, "the store is private; the the store the store");
    strcpy(err.message, "/srv/my data/tools.wt would hold more; /srv/my data");
    assert_true(wt__client_error(&err, &err, "/srv/my data/tools.wt"));
    assert_string_equal(err.message, "the store would hold more; a file data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_hidden_from_clients),
        cmocka_unit_test(store_named_store_is_replaced_once),
        cmocka_unit_test(full_message_is_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
