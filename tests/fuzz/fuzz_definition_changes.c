/* Fuzzes the description of changes between two definitions. The input has the old definition, a NUL, and the new
 * definition. Without a NUL there is no old definition. The description has a limited length, is UTF-8, and makes
 * hidden characters visible. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/definition_changes.h"
#include "text/unicode.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_changes(const struct definition_changes *changes)
{
    require(changes->count > 0 && changes->count <= WT_MAX_CHANGES);
    for (size_t i = 0; i < changes->count; i++) {
        struct str line = wt__str(changes->items[i]);
        require(line.len <= WT_MAX_CHANGE_BYTES && wt__utf8_valid(line));
        for (const char *at = line.ptr, *end = at + line.len; at < end;)
            require(!wt__unicode_unseen(wt__utf8_next(&at, end)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct definition_changes changes;
    const char *text = (const char *)data;
    const char *border = size > 0 ? memchr(text, 0, size) : NULL;
    struct str before = {text, border ? (size_t)(border - text) : 0};
    struct str after = {border ? border + 1 : text, border ? size - before.len - 1 : size};
    require(wt__definition_changes(&changes, border ? &before : NULL, after, &arena, NULL) == 0);
    if (changes.count > 0) /* {} has no members to describe */
        check_changes(&changes);
    require(wt__plain_text_changes(&changes, "text", border ? &before : NULL, after, &arena, NULL) == 0);
    check_changes(&changes);
    wt__arena_dispose(&arena);
    return 0;
}
