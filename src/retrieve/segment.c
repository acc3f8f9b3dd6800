/* segment.c: cuts at the ends of sentences, and inside them at commas, colons, semicolons, "and" and "then", but only
 * so that every sub-query keeps at least CONTENT_MIN content words: "Paris, London and Rome" stays one sub-query,
 * because a list of names calls for one tool. Content words are those that are not stop words. What is left over at the
 * end of a sentence joins the sub-query before it. More than SUBQUERIES_MAX sub-queries: neighbours are joined, the
 * shortest pair first.
 *
 * One pass over the bytes, whatever they are: a request of 64 KiB may hold ten thousand parts, so only the last
 * SUBQUERIES_SEEN are kept apart while it is read. */
#include "retrieve/segment.h"

#include <stdbool.h>

#include "text/analyser.h"

enum { CONTENT_MIN = 3, SUBQUERIES_SEEN = 64, WORD_MAX = 32 }; /* a longer word is no stop word */

struct span {
    size_t start, end;
};

struct cutter {
    struct str text;
    struct span subqueries[SUBQUERIES_SEEN];
    size_t count;
};

/* Bytes beyond ASCII count as letters: a word of another script is a content word. */
static bool is_word_byte(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool is_stopword(struct str word)
{
    char lower[WORD_MAX];
    if (word.len > sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)(word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? word.ptr[i] | 0x20 : word.ptr[i]);
    return wt__is_stopword((struct str){lower, word.len});
}

static size_t content_words(struct str text, struct span span)
{
    size_t count = 0;
    for (size_t i = span.start; i < span.end;) {
        size_t start = i;
        while (i < span.end && is_word_byte(text.ptr[i]))
            i++;
        if (i > start)
            count += !is_stopword((struct str){text.ptr + start, i - start});
        else
            i++;
    }
    return count;
}

static size_t skip_blanks(struct str text, size_t at, size_t end)
{
    while (at < end && wt__is_blank(text.ptr[at]))
        at++;
    return at;
}

/* Whether `word`, in any case, stands at `at` with a blank behind it; if so, *next is behind those blanks. */
static bool conjunction(struct str text, size_t at, size_t end, struct str word, size_t *next)
{
    if (end - at <= word.len)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if ((text.ptr[at + i] | 0x20) != word.ptr[i])
            return false;
    size_t behind = skip_blanks(text, at + word.len, end);
    if (behind == at + word.len)
        return false;
    *next = behind;
    return true;
}

/* Whether a delimiter begins at `at`: [,;:] and blanks, or blanks, "and" or "then", blanks. *next is behind it, or
 * where to look next when there is none. */
static bool delimiter(struct str text, size_t at, size_t end, size_t *next)
{
    char c = text.ptr[at];
    if (c == ',' || c == ';' || c == ':') {
        *next = skip_blanks(text, at + 1, end);
        return *next > at + 1;
    }
    if (!wt__is_blank(c)) {
        *next = at + 1;
        return false;
    }
    size_t word = *next = skip_blanks(text, at, end);
    return conjunction(text, word, end, STR("and"), next) || conjunction(text, word, end, STR("then"), next);
}

static void join_shortest(struct cutter *cutter)
{
    size_t best = 0, shortest = SIZE_MAX;
    for (size_t i = 0; i + 1 < cutter->count; i++) {
        struct span a = cutter->subqueries[i], b = cutter->subqueries[i + 1];
        size_t len = a.end - a.start + b.end - b.start;
        if (len < shortest) {
            shortest = len;
            best = i;
        }
    }
    cutter->subqueries[best].end = cutter->subqueries[best + 1].end;
    cutter->count--;
    memmove(cutter->subqueries + best + 1, cutter->subqueries + best + 2,
            (cutter->count - best - 1) * sizeof *cutter->subqueries);
}

static void add_subquery(struct cutter *cutter, struct span subquery)
{
    if (cutter->count == SUBQUERIES_SEEN)
        join_shortest(cutter);
    cutter->subqueries[cutter->count++] = subquery;
}

/* Cuts one sentence. What is left over joins the sub-query before it, if that is of the same sentence. */
static void cut_sentence(struct cutter *cutter, struct span sentence)
{
    struct span piece = {sentence.start, sentence.start}; /* between two delimiters */
    size_t start = sentence.start, words = 0, next;       /* of the sub-query in the making */
    bool cut = false;
    if (content_words(cutter->text, sentence) == 0)
        return;
    for (size_t at = sentence.start; at <= sentence.end; at = next) {
        if (at == sentence.end)
            next = at + 1;
        else if (!delimiter(cutter->text, at, sentence.end, &next))
            continue;
        piece.end = at;
        words += content_words(cutter->text, piece);
        piece.start = next;
        if (words >= CONTENT_MIN) {
            add_subquery(cutter, (struct span){start, at});
            start = next;
            words = 0;
            cut = true;
        }
    }
    if (start >= sentence.end)
        return;
    if (cut)
        cutter->subqueries[cutter->count - 1].end = sentence.end;
    else
        add_subquery(cutter, (struct span){start, sentence.end});
}

static void cut_sentences(struct cutter *cutter)
{
    struct str text = cutter->text;
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool stop = (text.ptr[i] == '.' || text.ptr[i] == '?' || text.ptr[i] == '!') && i + 1 < text.len &&
                    wt__is_blank(text.ptr[i + 1]);
        if (!stop && text.ptr[i] != '\n')
            continue;
        cut_sentence(cutter, (struct span){start, i + stop});
        start = skip_blanks(text, i + 1, text.len);
        i = start - 1;
    }
    if (start < text.len)
        cut_sentence(cutter, (struct span){start, text.len});
}

static void trim(struct str text, struct span *span)
{
    static const char signs[] = " ,;:.";
    while (span->start < span->end && strchr(signs, text.ptr[span->start]))
        span->start++;
    while (span->start < span->end && strchr(signs, text.ptr[span->end - 1]))
        span->end--;
}

size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX])
{
    struct cutter cutter = {.text = request};
    cut_sentences(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        trim(request, &cutter.subqueries[i]);
    while (cutter.count > SUBQUERIES_MAX)
        join_shortest(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        subqueries[i] = (struct str){request.ptr + cutter.subqueries[i].start,
                                     cutter.subqueries[i].end - cutter.subqueries[i].start};
    return cutter.count;
}

struct str wt__skip_stopwords(struct str subquery)
{
    for (size_t i = 0; i < subquery.len;) {
        size_t start = i;
        while (i < subquery.len && is_word_byte(subquery.ptr[i]))
            i++;
        if (i == start)
            i++;
        else if (!is_stopword((struct str){subquery.ptr + start, i - start}))
            return (struct str){subquery.ptr + start, subquery.len - start};
    }
    return subquery;
}
