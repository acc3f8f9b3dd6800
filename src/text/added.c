/* added.c: finds added tokens in a text. See added.h. */
#include "text/added.h"

#include "text/unicode.h"

bool wt__added_open(struct added *out, const void *section, size_t len, uint32_t id_end)
{
    size_t count = 0;
    *out = (struct added){.only = -1, .id_end = id_end};
    if (!wt__trie_open(&out->trie, section, len))
        return false;
    for (unsigned c = 0; c < 256; c++) {
        out->begins[c] = wt__trie_child(&out->trie, 0, (unsigned char)c) != 0;
        if (out->begins[c])
            out->only = count++ == 0 ? (int)c : -2;
    }
    return true;
}

/* Returns the first position from `at` on where a token may start, or NULL if no position remains. */
static const char *find_next_begin(const struct added *added, const char *at, const char *end)
{
    if (added->only != -2)
        return added->only < 0 || at == end ? NULL : memchr(at, added->only, (size_t)(end - at));
    while (at < end && !added->begins[(unsigned char)*at])
        at++;
    return at < end ? at : NULL;
}

static bool is_word_character(uint32_t c)
{
    return c == '_' || wt__unicode_kind(c) != UNICODE_OTHER;
}

static bool is_separate_word(struct str text, const char *start, const char *stop)
{
    const char *before = start, *end = text.ptr + text.len;
    if (stop < end && is_word_character(wt__utf8_next(&stop, end)))
        return false;
    if (start == text.ptr)
        return true;
    do
        before--;
    while (before > text.ptr && start - before < 4 && ((unsigned char)*before & 0xC0) == 0x80);
    return !is_word_character(wt__utf8_next(&before, start));
}

static const char *skip_unicode_blanks(const char *at, const char *end)
{
    for (const char *behind = at; behind < end && wt__unicode_blank(wt__utf8_next(&behind, end));)
        at = behind;
    return at;
}

bool wt__added_next(const struct added *added, struct str text, const char *from, struct added_match *out)
{
    const char *end = text.len > 0 ? text.ptr + text.len : text.ptr, *at = from;
    while ((at = find_next_begin(added, at, end)) != NULL) {
        int32_t value = 0;
        size_t len = wt__trie_longest(&added->trie, 0, (struct str){at, (size_t)(end - at)}, &value);
        unsigned flags = (unsigned)value & ((1U << ADDED_FLAG_BITS) - 1);
        if (len == 0 || (uint32_t)(value >> ADDED_FLAG_BITS) >= added->id_end) {
            at++;
        } else if (flags & ADDED_SINGLE_WORD && !is_separate_word(text, at, at + len)) {
            at += len;
        } else {
            const char *start = flags & ADDED_LSTRIP ? wt__unicode_trim_end(from, at) : at;
            const char *stop = flags & ADDED_RSTRIP ? skip_unicode_blanks(at + len, end) : at + len;
            *out = (struct added_match){{start, (size_t)(stop - start)}, value >> ADDED_FLAG_BITS};
            return true;
        }
    }
    return false;
}
