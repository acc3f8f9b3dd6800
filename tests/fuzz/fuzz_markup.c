/* Fuzzes the removal of markup: the result is not longer, has one line, and is UTF-8 if the input is. */
#include <stdlib.h>

#include "text/markup.h"
#include "text/unicode.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str before = {"a name: ", 8};
    struct str text = {(const char *)data, size};
    struct buffer out = {0};

    wt__buffer_str(&out, before);
    wt__markup_clean(text, &out);
    if (!out.failed) {
        require(out.len <= before.len + size && wt__str_starts(wt__buffer_view(&out), before));
        require(!wt__utf8_valid(text) || wt__utf8_valid(wt__buffer_view(&out)));
        for (size_t i = before.len; i < out.len; i++)
            require(out.ptr[i] != '\0' && (!wt__is_blank(out.ptr[i]) || (out.ptr[i] == ' ' && out.ptr[i - 1] != ' ')));
    }
    wt__buffer_clear(&out);
    wt__buffer_str(&out, before);
    bool changed = wt__markup_strip_html(text, &out);
    if (!out.failed) {
        require(out.len <= before.len + size && wt__str_starts(wt__buffer_view(&out), before));
        require(changed || out.len == before.len);
        require(!wt__utf8_valid(text) || wt__utf8_valid(wt__buffer_view(&out)));
    }
    wt__buffer_dispose(&out);
    return 0;
}
