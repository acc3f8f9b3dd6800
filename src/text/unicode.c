/* unicode.c: an own decoder, because it handles hostile bytes and runs on every request; properties come from utf8proc.
 *
 * Token ids must not change when a system updates its Unicode library. So two mappings are pinned to the reference
 * tokenizer's tables. Lower case follows Unicode 17: rows missing in utf8proc 2.8 (Unicode 15) are added. Decomposition
 * follows Unicode 12: later rows are masked. tests/text/test_unicode.c compares every code point. */
#include "text/unicode.h"

#include <utf8proc.h>

struct code_range {
    uint32_t first, last;
};

/* Lower case by a fixed offset. */
static const struct lower_rule {
    struct code_range range;
    int32_t distance;
} later_lower[] = {
    {{0x1C89, 0x1C89}, 1},    {{0xA7CB, 0xA7CB}, -42343}, {{0xA7CC, 0xA7CC}, 1}, {{0xA7CE, 0xA7CE}, 1},
    {{0xA7D2, 0xA7D2}, 1},    {{0xA7D4, 0xA7D4}, 1},      {{0xA7DA, 0xA7DA}, 1}, {{0xA7DC, 0xA7DC}, -42561},
    {{0x10D50, 0x10D65}, 32}, {{0x16EA0, 0x16EB8}, 27},
};

static const struct code_range later_decompositions[] = {
    {0x105C9, 0x105C9}, {0x105E4, 0x105E4}, {0x11383, 0x11385}, {0x1138E, 0x1138E}, {0x11391, 0x11391},
    {0x113C5, 0x113C8}, {0x11938, 0x11938}, {0x16121, 0x16128}, {0x16D68, 0x16D6A},
};

uint32_t wt__utf8_next(const char **at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    size_t left = (size_t)(end - *at);
    unsigned lead = bytes[0];

    if (lead < 0x80) {
        *at += 1;
        return lead;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        *at += 1;
        return UNICODE_REPLACEMENT;
    }
    unsigned more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    /* The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF. */
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    uint32_t c = lead & (0x3FU >> more);
    for (unsigned i = 1; i <= more; i++) {
        if (i >= left || bytes[i] < low || bytes[i] > high) {
            *at += i;
            return UNICODE_REPLACEMENT;
        }
        c = c << 6 | (bytes[i] & 0x3FU);
        low = 0x80;
        high = 0xBF;
    }
    *at += more + 1;
    return c;
}

size_t wt__utf8_put(uint32_t c, char out[4])
{
    unsigned char *bytes = (unsigned char *)out;

    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        c = UNICODE_REPLACEMENT;
    if (c < 0x80) {
        bytes[0] = (unsigned char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        bytes[i] = (unsigned char)(0x80 | (c & 0x3F));
    bytes[0] = (unsigned char)((0xF00 >> len & 0xFF) | c);
    return len;
}

/* Returns the number of ASCII bytes from `at`, eight at a time. May stop up to seven bytes early. */
static size_t ascii_run(const char *at, const char *end)
{
    const char *start = at;

    for (; end - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, sizeof eight);
        if (eight & 0x8080808080808080U)
            break;
    }
    return (size_t)(at - start);
}

/* Returns the end of the valid text at `at`: end, or the first invalid sequence. */
static const char *valid_until(const char *at, const char *end)
{
    while (at < end) {
        at += ascii_run(at, end);
        if (at == end)
            break;
        const char *before = at;
        if (wt__utf8_next(&at, end) == UNICODE_REPLACEMENT &&
            !(at - before == 3 && memcmp(before, "\xEF\xBF\xBD", 3) == 0))
            return before;
    }
    return end;
}

bool wt__utf8_valid(struct str s)
{
    return s.len == 0 || valid_until(s.ptr, s.ptr + s.len) == s.ptr + s.len;
}

void wt__utf8_append(struct buffer *out, struct str s)
{
    if (s.len == 0)
        return;
    const char *at = s.ptr, *end = s.ptr + s.len;
    for (;;) {
        const char *broken = valid_until(at, end);
        wt__buffer_append(out, at, (size_t)(broken - at));
        if (broken == end)
            return;
        at = broken;
        wt__utf8_next(&at, end);
        wt__buffer_append(out, "\xEF\xBF\xBD", 3);
    }
}

enum unicode_kind wt__unicode_kind(uint32_t c)
{
    if (c < 0x80) /* most of a request is ASCII */
        return c - 'a' < 26   ? UNICODE_LETTER
               : c - 'A' < 26 ? UNICODE_UPPER
               : c - '0' < 10 ? UNICODE_DIGIT
                              : UNICODE_OTHER;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return UNICODE_UPPER;
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return UNICODE_LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return UNICODE_DIGIT;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return UNICODE_MARK;
    default:
        return UNICODE_OTHER;
    }
}

bool wt__has_word(struct str s)
{
    for (const char *at = s.ptr, *end = s.ptr + s.len; at < end;) {
        enum unicode_kind kind = wt__unicode_kind(wt__utf8_next(&at, end));
        if (kind == UNICODE_LETTER || kind == UNICODE_UPPER || kind == UNICODE_DIGIT)
            return true;
    }
    return false;
}

unsigned wt__unicode_lower(uint32_t c, uint32_t out[UNICODE_MAX_LOWER])
{
    if (c == 0x130) { /* the only letter with a lower case of two code points: i and a dot above */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    if (out[0] == c && c >= later_lower[0].range.first)
        for (size_t i = 0; i < sizeof later_lower / sizeof *later_lower; i++)
            if (c >= later_lower[i].range.first && c <= later_lower[i].range.last)
                out[0] = (uint32_t)((int32_t)c + later_lower[i].distance);
    return 1;
}

static bool decomposed_later(uint32_t c)
{
    if (c < later_decompositions[0].first)
        return false;
    for (size_t i = 0; i < sizeof later_decompositions / sizeof *later_decompositions; i++)
        if (c >= later_decompositions[i].first && c <= later_decompositions[i].last)
            return true;
    return false;
}

unsigned wt__unicode_decompose(uint32_t c, uint32_t out[UNICODE_MAX_DECOMPOSED])
{
    utf8proc_int32_t parts[UNICODE_MAX_DECOMPOSED];
    int boundary_class = 0;
    utf8proc_ssize_t count = 0;

    if (!decomposed_later(c))
        count = utf8proc_decompose_char((utf8proc_int32_t)c, parts, UNICODE_MAX_DECOMPOSED, UTF8PROC_DECOMPOSE,
                                        &boundary_class);
    if (count < 1 || count > UNICODE_MAX_DECOMPOSED) {
        out[0] = c;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++)
        out[i] = (uint32_t)parts[i];
    return (unsigned)count;
}

unsigned wt__unicode_combining_class(uint32_t c)
{
    return (unsigned)utf8proc_get_property((utf8proc_int32_t)c)->combining_class;
}

bool wt__unicode_blank(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool wt__unicode_unseen(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return utf8proc_get_property((utf8proc_int32_t)c)->ignorable;
    }
}

const char *wt__unicode_trim_end(const char *start, const char *end)
{
    while (end > start) {
        const char *last = end - 1;
        while (last > start && end - last < 4 && ((unsigned char)*last & 0xC0) == 0x80)
            last--;
        const char *at = last;
        if (!wt__unicode_blank(wt__utf8_next(&at, end)) || at != end)
            break;
        end = last;
    }
    return end;
}

bool wt__unicode_joins(uint32_t before, uint32_t c, int32_t *state)
{
    return !utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, state);
}

size_t wt__unicode_compose(uint32_t *characters, size_t count)
{
    utf8proc_ssize_t left = utf8proc_normalize_utf32((utf8proc_int32_t *)characters, (utf8proc_ssize_t)count,
                                                     UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    return left < 0 ? count : (size_t)left;
}
