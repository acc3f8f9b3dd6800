#include "store/request_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "text/analyser.h"
#include "text/unicode.h"

/* Chosen on dev (docs/learning.md): of metatool's requests with such a past request, 9 of 10 need its tools. */
static const float NEARLY = 0.8f;
enum { WORD_BYTES = 64 }; /* maximum bytes of a word; longer ones are split */

static const char turning[][8] = {"no",    "not",  "never", "without", "except", "on",   "off",    "up",
                                  "down",  "in",   "out",   "from",    "to",     "into", "before", "after",
                                  "under", "over", "more",  "less",    "don",    "t"};

static bool is_request_character(uint32_t c)
{
    enum unicode_kind kind = c < 0x80 ? UNICODE_OTHER : wt__unicode_kind(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || kind != UNICODE_OTHER;
}

/* Writes the next word in lower case and returns its length; 0 at the end. */
static size_t next_request_word(const char **at, const char *end, char out[WORD_BYTES])
{
    size_t len = 0;
    while (*at < end && len + 4 * UNICODE_MAX_LOWER <= WORD_BYTES) {
        uint32_t c = wt__utf8_next(at, end), lower[UNICODE_MAX_LOWER];
        if (is_request_character(c))
            for (unsigned i = 0, n = wt__unicode_lower(c, lower); i < n; i++)
                len += wt__utf8_put(lower[i], out + len);
        else if (len > 0)
            break;
    }
    return len;
}

static unsigned turning_bit(struct str word)
{
    for (size_t i = 0; word.len < sizeof turning[0] && i < sizeof turning / sizeof *turning; i++)
        if (memcmp(word.ptr, turning[i], word.len) == 0 && turning[i][word.len] == '\0')
            return 1u << i;
    return 0;
}

static int compare_word_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and removes duplicates. Returns the number left. */
static size_t sort_unique(uint64_t *words, size_t count)
{
    size_t kept = 0;
    qsort(words, count, sizeof *words, compare_word_hashes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || words[i] != words[kept - 1])
            words[kept++] = words[i];
    return kept;
}

static void add_request_word(struct request_words *out, struct str word)
{
    unsigned bit = turning_bit(word);
    out->turning |= bit;
    if (bit || wt__is_stopword(word) || out->count > REQUEST_WORDS_MAX)
        return;
    out->words[out->count++] = wt__checksum(word.ptr, word.len, 0);
    if (out->count > REQUEST_WORDS_MAX)
        out->count = sort_unique(out->words, out->count);
}

void wt__request_words(struct str request, struct request_words *out)
{
    const char *at = request.ptr, *end = request.ptr + request.len;
    char word[WORD_BYTES];
    bool any = false;
    out->hash = 0;
    out->turning = 0;
    out->count = 0;
    for (size_t len; (len = next_request_word(&at, end, word)) > 0; any = true) {
        out->hash = wt__checksum(word, len, out->hash);
        add_request_word(out, (struct str){word, len});
    }
    if (!any)
        out->hash = wt__checksum(request.ptr, request.len, 0);
    out->count = sort_unique(out->words, out->count);
}

float wt__request_likeness(const struct request_words *a, const struct request_words *b)
{
    size_t common = 0;
    if (a->hash == b->hash)
        return 1;
    if (a->turning != b->turning || a->count > REQUEST_WORDS_MAX || b->count > REQUEST_WORDS_MAX)
        return 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        common += a->words[i] == b->words[j];
        if (a->words[i] == b->words[j])
            i++, j++;
        else if (a->words[i] < b->words[j])
            i++;
        else
            j++;
    }
    size_t least = a->count < b->count ? a->count : b->count, all = a->count + b->count - common;
    bool near = common == least && least > 1 && (float)common >= NEARLY * (float)all;
    return near ? (float)common / (float)all : 0;
}
