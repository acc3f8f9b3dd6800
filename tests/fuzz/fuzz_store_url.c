/* Fuzzes URLs of stores, and texts in PostgreSQL. The shown name of a store never contains the password, and every text
 * is read as it was stored. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/dialect.h"
#include "store/location.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if the name for messages of a URL changes with its password. */
static void check_shown_url(const char *rest)
{
    struct buffer url = {0};
    struct arena arena = {0};
    char *shown[2] = {NULL, NULL}, *split = NULL, *base, schema[STORE_SCHEMA_MAX + 1];
    static const char *const passwords[] = {"postgres://u:one@", "postgres://u:two@"};
    for (int i = 0; i < 2; i++) {
        wt__buffer_clear(&url);
        wt__buffer_text(&url, passwords[i]);
        wt__buffer_text(&url, rest);
        wt__store_shown(&shown[i], url.ptr, NULL);
        if (wt__store_split_url(&split, schema, url.ptr, NULL) == 0 && !strstr(split, passwords[i]))
            abort();
        free(split);
        wt__store_base(&base, &arena, url.ptr, true, NULL);
        wt__has_store_password(url.ptr);
    }
    if (!shown[0] != !shown[1] || (shown[0] && strcmp(shown[0], shown[1]) != 0))
        abort();
    free(shown[0]);
    free(shown[1]);
    wt__arena_dispose(&arena);
    wt__buffer_dispose(&url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct buffer stored = {0}, read = {0}, rest = {0};
    wt__dialect_encode(&stored, text);
    wt__dialect_decode(&read, wt__buffer_view(&stored));
    if (!wt__str_equal(wt__buffer_view(&read), text) ||
        !wt__dialect_is_plain(text) != wt__dialect_is_encoded(wt__buffer_view(&stored)))
        abort();
    wt__buffer_str(&rest, text);
    if (size > 0 && size < 1024 && !memchr(data, '@', size))
        check_shown_url(rest.ptr);
    wt__buffer_dispose(&stored);
    wt__buffer_dispose(&read);
    wt__buffer_dispose(&rest);
    return 0;
}
