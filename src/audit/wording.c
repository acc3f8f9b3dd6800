#include "audit/wording.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- reading */

static bool is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019 || c == 0x2BC;
}

static bool ends_sentence(uint32_t c)
{
    return c < 0x80 && c > 0 && strchr(".!?;:()[]{}<>\n", (int)c) != NULL;
}

static int append_word(struct wording *wording, const char *bytes, size_t len, size_t start, size_t end)
{
    if (wt__grow((void **)&wording->words, &wording->capacity, wording->count + 1, sizeof *wording->words) < 0)
        return -1;
    char *copy = wt__arena_copy(&wording->arena, (struct str){bytes, len});
    wording->words[wording->count++] = (struct text_word){{copy, len}, start, end};
    return copy ? 0 : -1;
}

/* True for a full stop inside a word, as in "file.txt", which does not end a sentence. */
static bool is_inside_word(uint32_t c, const char *at, const char *end)
{
    return c == '.' && at < end && !wt__is_blank(*at);
}

int wt__wording_read(struct wording *wording, struct str text, wt_error *err)
{
    char word[WORDING_WORD_MAX];
    size_t len = 0, start = 0;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : at;
    int rc = 0;
    wording->count = wording->marks = 0;
    wt__arena_reset(&wording->arena);
    while (rc == 0 && at < end && wording->count < WORDING_MAX) {
        size_t from = (size_t)(at - text.ptr);
        uint32_t lower[UNICODE_MAX_LOWER], c = wt__utf8_next(&at, end);
        enum unicode_kind kind = wt__unicode_kind(c);
        bool inside = kind != UNICODE_OTHER || (is_apostrophe(c) && len > 0);
        if (!inside && len > 0) {
            rc = append_word(wording, word, len, start, from);
            len = 0;
        }
        if (!inside && ends_sentence(c) && !is_inside_word(c, at, end) && rc == 0)
            rc = append_word(wording, ".", 1, from, from + 1);
        wording->marks += !inside && c > ' ' && c != '_';
        if (inside && len == 0)
            start = from;
        for (unsigned i = 0, count = inside ? wt__unicode_lower(is_apostrophe(c) ? '\'' : c, lower) : 0; i < count; i++)
            if (len + 4 <= sizeof word)
                len += wt__utf8_put(lower[i], word + len);
    }
    if (rc == 0 && len > 0)
        rc = append_word(wording, word, len, start, (size_t)(at - text.ptr));
    return rc < 0 ? wt__fail_nomem(err) : 0;
}

void wt__wording_dispose(struct wording *wording)
{
    free(wording->words);
    wt__arena_dispose(&wording->arena);
    *wording = (struct wording){0};
}

/* ---------------------------------------------------------------- patterns */

static bool is_stop(const struct text_word *word)
{
    return wt__str_equal(word->text, STR("."));
}

/* True if the word is one of "a|b|c" [len]. */
static bool is_alternative(struct str word, const char *alternatives, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *bar = memchr(alternatives + at, '|', len - at);
        size_t end = bar ? (size_t)(bar - alternatives) : len;
        if (wt__str_equal(word, (struct str){alternatives + at, end - at}))
            return true;
        at = end + 1;
    }
    return false;
}

static bool matches_at(const struct wording *wording, const char *pattern, size_t at, size_t *end)
{
    size_t len = strcspn(pattern, " ");
    const char *rest = pattern + len + strspn(pattern + len, " ");
    if (len == 0) {
        *end = at;
        return true;
    }
    bool gap = len == 1 && *pattern == '*';
    for (size_t passed = 0; gap && passed <= PATTERN_GAP; passed++) {
        if (matches_at(wording, rest, at + passed, end))
            return true;
        if (at + passed >= wording->count || is_stop(&wording->words[at + passed]))
            return false;
    }
    if (pattern[len - 1] == '?') {
        if (matches_at(wording, rest, at, end))
            return true;
        len--;
    }
    return !gap && at < wording->count && is_alternative(wording->words[at].text, pattern, len) &&
           matches_at(wording, rest, at + 1, end);
}

size_t wt__wording_find(const struct wording *wording, const char *pattern, size_t at, size_t *end)
{
    while (at < wording->count && !matches_at(wording, pattern, at, end))
        at++;
    return at;
}

struct str wt__wording_sentence(struct str text, size_t start, size_t end)
{
    while (start > 0 && !(ends_sentence((unsigned char)text.ptr[start - 1]) &&
                          !is_inside_word((unsigned char)text.ptr[start - 1], text.ptr + start, text.ptr + text.len)))
        start--;
    while (end < text.len && !(ends_sentence((unsigned char)text.ptr[end]) &&
                               !is_inside_word((unsigned char)text.ptr[end], text.ptr + end + 1, text.ptr + text.len)))
        end++;
    return wt__str_trim((struct str){text.ptr + start, end - start});
}
