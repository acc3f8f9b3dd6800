/* Tests files of pins, including files edited by hand. tests/fuzz/fuzz_pins.c tests the reader with arbitrary
 * bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "catalog/pins.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FIRST "{\"whichtool_pins\": 1}\n"
#define TOOL "{\"id\": \"p/a\", \"provider\": \"p\", \"sha256\": \"" HASH "\", \"members\": {}}\n"
#define SERVER "{\"instructions\": \"p\", \"sha256\": \"" HASH "\"}\n"
#define NO_FILE_OF_PINS "this is not a file of pins; create one with `whichtool check --pin FILE`"

static const struct {
    const char *name, *text;
    size_t count;     /* number of pins in a valid file */
    const char *says; /* part of the message for an invalid file */
} rows[] = {
    {"a tool and a server", FIRST TOOL SERVER, 2, NULL},
    {"no pins", FIRST, 0, NULL},
    {"blank lines between pins", FIRST "\n  \n" TOOL "\n", 1, NULL},
    {"a last line without a newline", FIRST "{\"instructions\": \"p\", \"sha256\": \"" HASH "\"}", 1, NULL},
    {"an empty file", "", 0, "line 1 of the pins is not valid JSON: "},
    {"only blank lines", "\n\n", 0, "line 1 of the pins is not valid JSON: "},
    {"a first line of another format", "{}\n" TOOL, 0, NO_FILE_OF_PINS},
    {"a pin in the first line", TOOL, 0, NO_FILE_OF_PINS},
    {"a newer version", "{\"whichtool_pins\": 2}\n", 0, "the pins were written by a newer version of whichtool"},
    {"a truncated last line", FIRST TOOL "{\"id\": \"p/", 0, "line 3 of the pins is not valid JSON: "},
    {"an unfinished merge", FIRST "<<<<<<< HEAD\n" TOOL, 0, "line 2 of the pins is a conflict marker"},
    {"the same tool again", FIRST TOOL "\n" TOOL, 0, "line 4 of the pins repeats the id of an earlier one"},
    {"the same server again", FIRST SERVER SERVER, 0, "line 3 of the pins repeats the id of an earlier one"},
    {"no hash", FIRST "{\"id\": \"p/a\", \"members\": {}}", 0,
     "line 2 of the pins is invalid: it has no id, sha256 or members"},
    {"no members", FIRST "{\"id\": \"p/a\", \"sha256\": \"" HASH "\"}", 0,
     "line 2 of the pins is invalid: it has no id, sha256 or members"},
    {"neither a tool nor a server", FIRST "{\"sha256\": \"" HASH "\", \"members\": {}}", 0,
     "line 2 of the pins is invalid: it has no id, sha256 or members"},
};

static void a_file_is_read_or_its_line_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pins pins = {0};
        wt_error err = {0};
        size_t len = strlen(rows[i].text);
        char *exact = malloc(len ? len : 1); /* lets a sanitizer detect a read past the end */
        assert_non_null(exact);
        memcpy(exact, rows[i].text, len);
        int rc = wt__pins_read(&pins, exact, len, &err);
        if (rc != (rows[i].says ? WT_EFORMAT : 0) || (rc == 0 && pins.count != rows[i].count))
            fail_msg("%s: %d, %zu pins, %s", rows[i].name, rc, pins.count, err.message);
        if (rows[i].says && strncmp(err.message, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%s: %s", rows[i].name, err.message);
        free(exact);
        wt__pins_dispose(&pins);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_read_or_its_line_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
