/* unicode.c: decodes UTF-8, and looks up properties of code points. The decoder is our own, because it reads untrusted
 * bytes and runs on every request. Properties come from utf8proc.
 *
 * Token ids must not change when a system updates its Unicode library. So two mappings have the Unicode version of the
 * reference tokenizer. Lower case follows Unicode 17: mappings missing in utf8proc 2.8 (Unicode 15) are added.
 * Decomposition follows Unicode 12: later decompositions are ignored. tests/text/test_unicode.c compares every code
 * point. */
#include "text/unicode.h"

#include <stddef.h>
#include <utf8proc.h>

struct code_range {
    uint32_t first, last;
};

/* Lower-case mappings that utf8proc 2.8 lacks. distance: lower-case code point minus code point. */
static const struct lower_rule {
    struct code_range range;
    int32_t distance;
} later_lower[] = {
    {{0x1C89, 0x1C89}, 1},    {{0xA7CB, 0xA7CB}, -42343}, {{0xA7CC, 0xA7CC}, 1}, {{0xA7CE, 0xA7CE}, 1},
    {{0xA7D2, 0xA7D2}, 1},    {{0xA7D4, 0xA7D4}, 1},      {{0xA7DA, 0xA7DA}, 1}, {{0xA7DC, 0xA7DC}, -42561},
    {{0x10D50, 0x10D65}, 32}, {{0x16EA0, 0x16EB8}, 27},
};

/* Code points with a decomposition that was added after Unicode 12. */
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

/* Returns the length in bytes of the ASCII text at `at`, rounded down to a multiple of eight. */
static size_t measure_ascii_run(const char *at, const char *end)
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

/* Returns the position of the first invalid sequence from `at` on; `end` if the text is valid. */
static const char *find_invalid_utf8(const char *at, const char *end)
{
    while (at < end) {
        at += measure_ascii_run(at, end);
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
    return s.len == 0 || find_invalid_utf8(s.ptr, s.ptr + s.len) == s.ptr + s.len;
}

size_t wt__utf8_count(struct str s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return count;
}

void wt__utf8_append(struct buffer *out, struct str s)
{
    if (s.len == 0)
        return;
    const char *at = s.ptr, *end = s.ptr + s.len;
    for (;;) {
        const char *broken = find_invalid_utf8(at, end);
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
    if (c < 0x80) /* Fast path: most of a request is ASCII. */
        return c - 'a' < 26   ? UNICODE_LETTER
               : c - 'A' < 26 ? UNICODE_UPPER
               : c - '0' < 10 ? UNICODE_DIGIT
                              : UNICODE_OTHER;
    /* All categories that are left out are UNICODE_OTHER, which is 0. */
    static const unsigned char kinds[UTF8PROC_CATEGORY_CO + 1] = {
        [UTF8PROC_CATEGORY_LU] = UNICODE_UPPER,  [UTF8PROC_CATEGORY_LT] = UNICODE_UPPER,
        [UTF8PROC_CATEGORY_LL] = UNICODE_LETTER, [UTF8PROC_CATEGORY_LM] = UNICODE_LETTER,
        [UTF8PROC_CATEGORY_LO] = UNICODE_LETTER, [UTF8PROC_CATEGORY_ND] = UNICODE_DIGIT,
        [UTF8PROC_CATEGORY_NL] = UNICODE_DIGIT,  [UTF8PROC_CATEGORY_NO] = UNICODE_DIGIT,
        [UTF8PROC_CATEGORY_MN] = UNICODE_MARK,   [UTF8PROC_CATEGORY_MC] = UNICODE_MARK,
        [UTF8PROC_CATEGORY_ME] = UNICODE_MARK};
    return (enum unicode_kind)kinds[utf8proc_category((utf8proc_int32_t)c)];
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
    if (c == 0x130) { /* Only this letter has a lower case of two code points: i and a dot above. */
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

static bool is_decomposed_later(uint32_t c)
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
    if (!is_decomposed_later(c))
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

/* ---------------------------------------------------------------- BERT's classes
 *
 * The classes follow the general categories of Unicode 8.0, with two changes of BERT: ASCII symbols are punctuation,
 * and U+FFFD and private use are removed. Models were trained with exactly these classes, so utf8proc is not used. If a
 * later version of Unicode makes a code point a mark or punctuation, the code point stays a letter here.
 * tests/text/test_unicode.c compares every code point with the reference tokenizer.
 *
 * Invariants: rows are in ascending order, do not overlap, and start at or above U+0080. */

enum { L = BERT_LETTER, R = BERT_REMOVED, S = BERT_SPACE, P = BERT_PUNCTUATION, C = BERT_CJK, M = BERT_MARK };

const unsigned char wt__bert_ascii[128] = {
    R, R, R, R, R, R, R, R, R, S, S, R, R, S, R, R, /* controls; S: tab, line feed and carriage return */
    R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, /* other controls */
    S, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, /* blank to / */
    L, L, L, L, L, L, L, L, L, L, P, P, P, P, P, P, /* 0 to ? */
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* @ to O */
    L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, P, /* P to _ */
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* ` to o */
    L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, R, /* p to delete */
};

static const struct bert_row {
    uint32_t first, last;
    unsigned char class;
} bert_rows[] = {
    {0x0080, 0x009F, R},   {0x00A0, 0x00A0, S},   {0x00A1, 0x00A1, P},   {0x00A7, 0x00A7, P},     {0x00AB, 0x00AB, P},
    {0x00AD, 0x00AD, R},   {0x00B6, 0x00B7, P},   {0x00BB, 0x00BB, P},   {0x00BF, 0x00BF, P},     {0x0300, 0x036F, M},
    {0x037E, 0x037E, P},   {0x0387, 0x0387, P},   {0x0483, 0x0487, M},   {0x055A, 0x055F, P},     {0x0589, 0x058A, P},
    {0x0591, 0x05BD, M},   {0x05BE, 0x05BE, P},   {0x05BF, 0x05BF, M},   {0x05C0, 0x05C0, P},     {0x05C1, 0x05C2, M},
    {0x05C3, 0x05C3, P},   {0x05C4, 0x05C5, M},   {0x05C6, 0x05C6, P},   {0x05C7, 0x05C7, M},     {0x05F3, 0x05F4, P},
    {0x0600, 0x0605, R},   {0x0609, 0x060A, P},   {0x060C, 0x060D, P},   {0x0610, 0x061A, M},     {0x061B, 0x061B, P},
    {0x061C, 0x061C, R},   {0x061E, 0x061F, P},   {0x064B, 0x065F, M},   {0x066A, 0x066D, P},     {0x0670, 0x0670, M},
    {0x06D4, 0x06D4, P},   {0x06D6, 0x06DC, M},   {0x06DD, 0x06DD, R},   {0x06DF, 0x06E4, M},     {0x06E7, 0x06E8, M},
    {0x06EA, 0x06ED, M},   {0x0700, 0x070D, P},   {0x070F, 0x070F, R},   {0x0711, 0x0711, M},     {0x0730, 0x074A, M},
    {0x07A6, 0x07B0, M},   {0x07EB, 0x07F3, M},   {0x07F7, 0x07F9, P},   {0x0816, 0x0819, M},     {0x081B, 0x0823, M},
    {0x0825, 0x0827, M},   {0x0829, 0x082D, M},   {0x0830, 0x083E, P},   {0x0859, 0x085B, M},     {0x085E, 0x085E, P},
    {0x08E3, 0x0902, M},   {0x093A, 0x093A, M},   {0x093C, 0x093C, M},   {0x0941, 0x0948, M},     {0x094D, 0x094D, M},
    {0x0951, 0x0957, M},   {0x0962, 0x0963, M},   {0x0964, 0x0965, P},   {0x0970, 0x0970, P},     {0x0981, 0x0981, M},
    {0x09BC, 0x09BC, M},   {0x09C1, 0x09C4, M},   {0x09CD, 0x09CD, M},   {0x09E2, 0x09E3, M},     {0x0A01, 0x0A02, M},
    {0x0A3C, 0x0A3C, M},   {0x0A41, 0x0A42, M},   {0x0A47, 0x0A48, M},   {0x0A4B, 0x0A4D, M},     {0x0A51, 0x0A51, M},
    {0x0A70, 0x0A71, M},   {0x0A75, 0x0A75, M},   {0x0A81, 0x0A82, M},   {0x0ABC, 0x0ABC, M},     {0x0AC1, 0x0AC5, M},
    {0x0AC7, 0x0AC8, M},   {0x0ACD, 0x0ACD, M},   {0x0AE2, 0x0AE3, M},   {0x0AF0, 0x0AF0, P},     {0x0B01, 0x0B01, M},
    {0x0B3C, 0x0B3C, M},   {0x0B3F, 0x0B3F, M},   {0x0B41, 0x0B44, M},   {0x0B4D, 0x0B4D, M},     {0x0B56, 0x0B56, M},
    {0x0B62, 0x0B63, M},   {0x0B82, 0x0B82, M},   {0x0BC0, 0x0BC0, M},   {0x0BCD, 0x0BCD, M},     {0x0C00, 0x0C00, M},
    {0x0C3E, 0x0C40, M},   {0x0C46, 0x0C48, M},   {0x0C4A, 0x0C4D, M},   {0x0C55, 0x0C56, M},     {0x0C62, 0x0C63, M},
    {0x0C81, 0x0C81, M},   {0x0CBC, 0x0CBC, M},   {0x0CBF, 0x0CBF, M},   {0x0CC6, 0x0CC6, M},     {0x0CCC, 0x0CCD, M},
    {0x0CE2, 0x0CE3, M},   {0x0D01, 0x0D01, M},   {0x0D41, 0x0D44, M},   {0x0D4D, 0x0D4D, M},     {0x0D62, 0x0D63, M},
    {0x0DCA, 0x0DCA, M},   {0x0DD2, 0x0DD4, M},   {0x0DD6, 0x0DD6, M},   {0x0DF4, 0x0DF4, P},     {0x0E31, 0x0E31, M},
    {0x0E34, 0x0E3A, M},   {0x0E47, 0x0E4E, M},   {0x0E4F, 0x0E4F, P},   {0x0E5A, 0x0E5B, P},     {0x0EB1, 0x0EB1, M},
    {0x0EB4, 0x0EB9, M},   {0x0EBB, 0x0EBC, M},   {0x0EC8, 0x0ECD, M},   {0x0F04, 0x0F12, P},     {0x0F14, 0x0F14, P},
    {0x0F18, 0x0F19, M},   {0x0F35, 0x0F35, M},   {0x0F37, 0x0F37, M},   {0x0F39, 0x0F39, M},     {0x0F3A, 0x0F3D, P},
    {0x0F71, 0x0F7E, M},   {0x0F80, 0x0F84, M},   {0x0F85, 0x0F85, P},   {0x0F86, 0x0F87, M},     {0x0F8D, 0x0F97, M},
    {0x0F99, 0x0FBC, M},   {0x0FC6, 0x0FC6, M},   {0x0FD0, 0x0FD4, P},   {0x0FD9, 0x0FDA, P},     {0x102D, 0x1030, M},
    {0x1032, 0x1037, M},   {0x1039, 0x103A, M},   {0x103D, 0x103E, M},   {0x104A, 0x104F, P},     {0x1058, 0x1059, M},
    {0x105E, 0x1060, M},   {0x1071, 0x1074, M},   {0x1082, 0x1082, M},   {0x1085, 0x1086, M},     {0x108D, 0x108D, M},
    {0x109D, 0x109D, M},   {0x10FB, 0x10FB, P},   {0x135D, 0x135F, M},   {0x1360, 0x1368, P},     {0x1400, 0x1400, P},
    {0x166D, 0x166E, P},   {0x1680, 0x1680, S},   {0x169B, 0x169C, P},   {0x16EB, 0x16ED, P},     {0x1712, 0x1714, M},
    {0x1732, 0x1734, M},   {0x1735, 0x1736, P},   {0x1752, 0x1753, M},   {0x1772, 0x1773, M},     {0x17B4, 0x17B5, M},
    {0x17B7, 0x17BD, M},   {0x17C6, 0x17C6, M},   {0x17C9, 0x17D3, M},   {0x17D4, 0x17D6, P},     {0x17D8, 0x17DA, P},
    {0x17DD, 0x17DD, M},   {0x1800, 0x180A, P},   {0x180B, 0x180D, M},   {0x180E, 0x180E, R},     {0x18A9, 0x18A9, M},
    {0x1920, 0x1922, M},   {0x1927, 0x1928, M},   {0x1932, 0x1932, M},   {0x1939, 0x193B, M},     {0x1944, 0x1945, P},
    {0x1A17, 0x1A18, M},   {0x1A1B, 0x1A1B, M},   {0x1A1E, 0x1A1F, P},   {0x1A56, 0x1A56, M},     {0x1A58, 0x1A5E, M},
    {0x1A60, 0x1A60, M},   {0x1A62, 0x1A62, M},   {0x1A65, 0x1A6C, M},   {0x1A73, 0x1A7C, M},     {0x1A7F, 0x1A7F, M},
    {0x1AA0, 0x1AA6, P},   {0x1AA8, 0x1AAD, P},   {0x1AB0, 0x1ABD, M},   {0x1B00, 0x1B03, M},     {0x1B34, 0x1B34, M},
    {0x1B36, 0x1B3A, M},   {0x1B3C, 0x1B3C, M},   {0x1B42, 0x1B42, M},   {0x1B5A, 0x1B60, P},     {0x1B6B, 0x1B73, M},
    {0x1B80, 0x1B81, M},   {0x1BA2, 0x1BA5, M},   {0x1BA8, 0x1BA9, M},   {0x1BAB, 0x1BAD, M},     {0x1BE6, 0x1BE6, M},
    {0x1BE8, 0x1BE9, M},   {0x1BED, 0x1BED, M},   {0x1BEF, 0x1BF1, M},   {0x1BFC, 0x1BFF, P},     {0x1C2C, 0x1C33, M},
    {0x1C36, 0x1C37, M},   {0x1C3B, 0x1C3F, P},   {0x1C7E, 0x1C7F, P},   {0x1CC0, 0x1CC7, P},     {0x1CD0, 0x1CD2, M},
    {0x1CD3, 0x1CD3, P},   {0x1CD4, 0x1CE0, M},   {0x1CE2, 0x1CE8, M},   {0x1CED, 0x1CED, M},     {0x1CF4, 0x1CF4, M},
    {0x1CF8, 0x1CF9, M},   {0x1DC0, 0x1DF5, M},   {0x1DFC, 0x1DFF, M},   {0x2000, 0x200A, S},     {0x200B, 0x200F, R},
    {0x2010, 0x2027, P},   {0x2028, 0x2029, S},   {0x202A, 0x202E, R},   {0x202F, 0x202F, S},     {0x2030, 0x2043, P},
    {0x2045, 0x2051, P},   {0x2053, 0x205E, P},   {0x205F, 0x205F, S},   {0x2060, 0x2064, R},     {0x2066, 0x206F, R},
    {0x207D, 0x207E, P},   {0x208D, 0x208E, P},   {0x20D0, 0x20DC, M},   {0x20E1, 0x20E1, M},     {0x20E5, 0x20F0, M},
    {0x2308, 0x230B, P},   {0x2329, 0x232A, P},   {0x2768, 0x2775, P},   {0x27C5, 0x27C6, P},     {0x27E6, 0x27EF, P},
    {0x2983, 0x2998, P},   {0x29D8, 0x29DB, P},   {0x29FC, 0x29FD, P},   {0x2CEF, 0x2CF1, M},     {0x2CF9, 0x2CFC, P},
    {0x2CFE, 0x2CFF, P},   {0x2D70, 0x2D70, P},   {0x2D7F, 0x2D7F, M},   {0x2DE0, 0x2DFF, M},     {0x2E00, 0x2E2E, P},
    {0x2E30, 0x2E42, P},   {0x3000, 0x3000, S},   {0x3001, 0x3003, P},   {0x3008, 0x3011, P},     {0x3014, 0x301F, P},
    {0x302A, 0x302D, M},   {0x3030, 0x3030, P},   {0x303D, 0x303D, P},   {0x3099, 0x309A, M},     {0x30A0, 0x30A0, P},
    {0x30FB, 0x30FB, P},   {0x3400, 0x4DBF, C},   {0x4E00, 0x9FFF, C},   {0xA4FE, 0xA4FF, P},     {0xA60D, 0xA60F, P},
    {0xA66F, 0xA66F, M},   {0xA673, 0xA673, P},   {0xA674, 0xA67D, M},   {0xA67E, 0xA67E, P},     {0xA69E, 0xA69F, M},
    {0xA6F0, 0xA6F1, M},   {0xA6F2, 0xA6F7, P},   {0xA802, 0xA802, M},   {0xA806, 0xA806, M},     {0xA80B, 0xA80B, M},
    {0xA825, 0xA826, M},   {0xA874, 0xA877, P},   {0xA8C4, 0xA8C4, M},   {0xA8CE, 0xA8CF, P},     {0xA8E0, 0xA8F1, M},
    {0xA8F8, 0xA8FA, P},   {0xA8FC, 0xA8FC, P},   {0xA926, 0xA92D, M},   {0xA92E, 0xA92F, P},     {0xA947, 0xA951, M},
    {0xA95F, 0xA95F, P},   {0xA980, 0xA982, M},   {0xA9B3, 0xA9B3, M},   {0xA9B6, 0xA9B9, M},     {0xA9BC, 0xA9BC, M},
    {0xA9C1, 0xA9CD, P},   {0xA9DE, 0xA9DF, P},   {0xA9E5, 0xA9E5, M},   {0xAA29, 0xAA2E, M},     {0xAA31, 0xAA32, M},
    {0xAA35, 0xAA36, M},   {0xAA43, 0xAA43, M},   {0xAA4C, 0xAA4C, M},   {0xAA5C, 0xAA5F, P},     {0xAA7C, 0xAA7C, M},
    {0xAAB0, 0xAAB0, M},   {0xAAB2, 0xAAB4, M},   {0xAAB7, 0xAAB8, M},   {0xAABE, 0xAABF, M},     {0xAAC1, 0xAAC1, M},
    {0xAADE, 0xAADF, P},   {0xAAEC, 0xAAED, M},   {0xAAF0, 0xAAF1, P},   {0xAAF6, 0xAAF6, M},     {0xABE5, 0xABE5, M},
    {0xABE8, 0xABE8, M},   {0xABEB, 0xABEB, P},   {0xABED, 0xABED, M},   {0xE000, 0xF8FF, R},     {0xF900, 0xFAFF, C},
    {0xFB1E, 0xFB1E, M},   {0xFD3E, 0xFD3F, P},   {0xFE00, 0xFE0F, M},   {0xFE10, 0xFE19, P},     {0xFE20, 0xFE2F, M},
    {0xFE30, 0xFE52, P},   {0xFE54, 0xFE61, P},   {0xFE63, 0xFE63, P},   {0xFE68, 0xFE68, P},     {0xFE6A, 0xFE6B, P},
    {0xFEFF, 0xFEFF, R},   {0xFF01, 0xFF03, P},   {0xFF05, 0xFF0A, P},   {0xFF0C, 0xFF0F, P},     {0xFF1A, 0xFF1B, P},
    {0xFF1F, 0xFF20, P},   {0xFF3B, 0xFF3D, P},   {0xFF3F, 0xFF3F, P},   {0xFF5B, 0xFF5B, P},     {0xFF5D, 0xFF5D, P},
    {0xFF5F, 0xFF65, P},   {0xFFF9, 0xFFFB, R},   {0xFFFD, 0xFFFD, R},   {0x10100, 0x10102, P},   {0x101FD, 0x101FD, M},
    {0x102E0, 0x102E0, M}, {0x10376, 0x1037A, M}, {0x1039F, 0x1039F, P}, {0x103D0, 0x103D0, P},   {0x1056F, 0x1056F, P},
    {0x10857, 0x10857, P}, {0x1091F, 0x1091F, P}, {0x1093F, 0x1093F, P}, {0x10A01, 0x10A03, M},   {0x10A05, 0x10A06, M},
    {0x10A0C, 0x10A0F, M}, {0x10A38, 0x10A3A, M}, {0x10A3F, 0x10A3F, M}, {0x10A50, 0x10A58, P},   {0x10A7F, 0x10A7F, P},
    {0x10AE5, 0x10AE6, M}, {0x10AF0, 0x10AF6, P}, {0x10B39, 0x10B3F, P}, {0x10B99, 0x10B9C, P},   {0x11001, 0x11001, M},
    {0x11038, 0x11046, M}, {0x11047, 0x1104D, P}, {0x1107F, 0x11081, M}, {0x110B3, 0x110B6, M},   {0x110B9, 0x110BA, M},
    {0x110BB, 0x110BC, P}, {0x110BD, 0x110BD, R}, {0x110BE, 0x110C1, P}, {0x11100, 0x11102, M},   {0x11127, 0x1112B, M},
    {0x1112D, 0x11134, M}, {0x11140, 0x11143, P}, {0x11173, 0x11173, M}, {0x11174, 0x11175, P},   {0x11180, 0x11181, M},
    {0x111B6, 0x111BE, M}, {0x111C5, 0x111C9, P}, {0x111CA, 0x111CC, M}, {0x111CD, 0x111CD, P},   {0x111DB, 0x111DB, P},
    {0x111DD, 0x111DF, P}, {0x1122F, 0x11231, M}, {0x11234, 0x11234, M}, {0x11236, 0x11237, M},   {0x11238, 0x1123D, P},
    {0x112A9, 0x112A9, P}, {0x112DF, 0x112DF, M}, {0x112E3, 0x112EA, M}, {0x11300, 0x11301, M},   {0x1133C, 0x1133C, M},
    {0x11340, 0x11340, M}, {0x11366, 0x1136C, M}, {0x11370, 0x11374, M}, {0x114B3, 0x114B8, M},   {0x114BA, 0x114BA, M},
    {0x114BF, 0x114C0, M}, {0x114C2, 0x114C3, M}, {0x114C6, 0x114C6, P}, {0x115B2, 0x115B5, M},   {0x115BC, 0x115BD, M},
    {0x115BF, 0x115C0, M}, {0x115C1, 0x115D7, P}, {0x115DC, 0x115DD, M}, {0x11633, 0x1163A, M},   {0x1163D, 0x1163D, M},
    {0x1163F, 0x11640, M}, {0x11641, 0x11643, P}, {0x116AB, 0x116AB, M}, {0x116AD, 0x116AD, M},   {0x116B0, 0x116B5, M},
    {0x116B7, 0x116B7, M}, {0x1171D, 0x1171F, M}, {0x11722, 0x11725, M}, {0x11727, 0x1172B, M},   {0x1173C, 0x1173E, P},
    {0x12470, 0x12474, P}, {0x16A6E, 0x16A6F, P}, {0x16AF0, 0x16AF4, M}, {0x16AF5, 0x16AF5, P},   {0x16B30, 0x16B36, M},
    {0x16B37, 0x16B3B, P}, {0x16B44, 0x16B44, P}, {0x16F8F, 0x16F92, M}, {0x1BC9D, 0x1BC9E, M},   {0x1BC9F, 0x1BC9F, P},
    {0x1BCA0, 0x1BCA3, R}, {0x1D167, 0x1D169, M}, {0x1D173, 0x1D17A, R}, {0x1D17B, 0x1D182, M},   {0x1D185, 0x1D18B, M},
    {0x1D1AA, 0x1D1AD, M}, {0x1D242, 0x1D244, M}, {0x1DA00, 0x1DA36, M}, {0x1DA3B, 0x1DA6C, M},   {0x1DA75, 0x1DA75, M},
    {0x1DA84, 0x1DA84, M}, {0x1DA87, 0x1DA8B, P}, {0x1DA9B, 0x1DA9F, M}, {0x1DAA1, 0x1DAAF, M},   {0x1E8D0, 0x1E8D6, M},
    {0x20000, 0x2A6DF, C}, {0x2A700, 0x2B81F, C}, {0x2B920, 0x2CEAF, C}, {0x2F800, 0x2FA1F, C},   {0xE0001, 0xE0001, R},
    {0xE0020, 0xE007F, R}, {0xE0100, 0xE01EF, M}, {0xF0000, 0xFFFFD, R}, {0x100000, 0x10FFFD, R},
};

enum bert_class wt__bert_class(uint32_t c)
{
    if (c < 128)
        return wt__bert_ascii[c];
    size_t low = 0, high = sizeof bert_rows / sizeof *bert_rows; /* rows low .. high - 1 may have c */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > bert_rows[middle].last)
            low = middle + 1;
        else if (c < bert_rows[middle].first)
            high = middle;
        else
            return bert_rows[middle].class;
    }
    return BERT_LETTER;
}
