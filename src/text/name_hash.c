#include "text/name_hash.h"

#include <stdbool.h>

#include "text/analyser.h"
#include "text/unicode.h"

static uint64_t hash_name_bytes(uint64_t state, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        state = wt__name_hash_byte(state, (unsigned char)bytes[i]);
    return state;
}

uint64_t wt__name_hash_text(uint64_t state, struct str text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (text.len > 0 && at < end) {
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x80) { /* fast path for ASCII, same result as below */
            unsigned char lower = byte | 0x20;
            bool letter = lower >= 'a' && lower <= 'z';
            if (letter || (byte >= '0' && byte <= '9'))
                state = wt__name_hash_byte(state, letter ? lower : byte);
            at++;
            continue;
        }
        uint32_t c = wt__utf8_next(&at, end);
        enum unicode_kind kind = wt__unicode_kind(c);
        char bytes[4];
        if (kind == UNICODE_LETTER || kind == UNICODE_UPPER || kind == UNICODE_DIGIT)
            state = hash_name_bytes(state, bytes, wt__analyser_fold(c, bytes));
    }
    return state;
}

uint64_t wt__name_hash_written(struct str text)
{
    return wt__name_hash_end(hash_name_bytes(wt__name_hash_byte(NAME_HASH_EMPTY, '\0'), text.ptr, text.len));
}

/* Final mixing: every bit of the state affects every bit of the hash. In FNV the high bits depend mostly on the first
 * bytes. */
uint64_t wt__name_hash_end(uint64_t state)
{
    state ^= state >> 33;
    state *= UINT64_C(0xff51afd7ed558ccd);
    state ^= state >> 33;
    state *= UINT64_C(0xc4ceb9fe1a85ec53);
    state ^= state >> 33;
    return state >> (64 - NAME_HASH_BITS);
}
