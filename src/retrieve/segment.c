/* segment.c: cuts a request at the ends of sentences, and within sentences at commas, colons, semicolons, "and" and
 * "then".
 *
 * A cut needs CONTENT_MIN content words before it, which are words other than stop words. Fewer are enough between two
 * wishes (segment.h): "fork the repository and star it". "Paris, London and Rome" stays whole, because a list of names
 * needs one tool. Words left at the end of a sentence join the sub-query before them. If there are more than
 * SUBQUERIES_MAX sub-queries, neighbours are joined, the shortest pair first.
 *
 * The scan is one pass over arbitrary bytes. A request of 64 KiB may have ten thousand parts, so only
 * SUBQUERIES_SEEN are kept separate during the scan. */
#include "retrieve/segment.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "retrieve/mood.h"
#include "retrieve/words.h"

enum { CONTENT_MIN = 3, WISH_AMONG = 6 /* maximum words from the start of a wish to its verb */, SUBQUERIES_SEEN = 64 };

struct text_span {
    size_t start, end;
};

struct cutter {
    struct str text;
    struct text_span subqueries[SUBQUERIES_SEEN];
    size_t count;
};

static size_t count_content_words(struct str text, struct text_span span)
{
    size_t count = 0, at = span.start;
    for (struct str word; (word = wt__next_word((struct str){text.ptr, span.end}, &at)).len > 0;)
        count += !wt__is_stopword_any_case(word);
    return count;
}

static bool next_sentence(struct str text, size_t *at, struct text_span *out)
{
    struct str sentence;
    if (!wt__next_sentence(text, at, &sentence))
        return false;
    out->start = (size_t)(sentence.ptr - text.ptr);
    out->end = out->start + sentence.len;
    return true;
}

static size_t skip_segment_blanks(struct str text, size_t at, size_t end)
{
    while (at < end && wt__is_blank(text.ptr[at]))
        at++;
    return at;
}

/* True if `word` (any case) and a blank are at `at`. If so, *next is after the blanks. */
static bool is_conjunction(struct str text, size_t at, size_t end, struct str word, size_t *next)
{
    if (end - at <= word.len)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if ((text.ptr[at + i] | 0x20) != word.ptr[i])
            return false;
    size_t behind = skip_segment_blanks(text, at + word.len, end);
    if (behind == at + word.len)
        return false;
    *next = behind;
    return true;
}

/* True if a delimiter begins at `at`: [,;:] and blanks, or "and" or "then" between blanks. *next is after the
 * delimiter, or else the next position to check. */
static bool is_delimiter(struct str text, size_t at, size_t end, size_t *next)
{
    char c = text.ptr[at];
    if (c == ',' || c == ';' || c == ':') {
        *next = skip_segment_blanks(text, at + 1, end);
        return *next > at + 1;
    }
    if (!wt__is_blank(c)) {
        *next = at + 1;
        return false;
    }
    size_t word = *next = skip_segment_blanks(text, at, end);
    return is_conjunction(text, word, end, STR("and"), next) || is_conjunction(text, word, end, STR("then"), next);
}

/* Joins the two neighbouring sub-queries that are shortest together. */
static void join_shortest(struct cutter *cutter)
{
    size_t best = 0, shortest = SIZE_MAX;
    for (size_t i = 0; i + 1 < cutter->count; i++) {
        struct text_span a = cutter->subqueries[i], b = cutter->subqueries[i + 1];
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

static void add_subquery(struct cutter *cutter, struct text_span subquery)
{
    if (cutter->count == SUBQUERIES_SEEN)
        join_shortest(cutter);
    cutter->subqueries[cutter->count++] = subquery;
}

static size_t scan_word_end(struct str text, size_t at, size_t end)
{
    while (at < end && wt__is_word_byte(text.ptr[at]))
        at++;
    return at;
}

/* True if a wish (segment.h) begins at `at`: a question word, or a verb in its base form after stop words, with more
 * text behind the verb. A verb that may be a noun ("comment and label") counts only before a stop word, a number or
 * a sign: "comment on it", "tell #ci". */
static bool wish_begins(struct str text, size_t at, size_t end)
{
    for (size_t words = 0; words < WISH_AMONG && at < end; words++) {
        size_t stop = scan_word_end(text, at, end);
        struct str word = {text.ptr + at, stop - at};
        struct verb verb = wt__verb(word);
        if (words == 0 && wt__is_question_word(word, false))
            return true;
        while (stop < end && text.ptr[stop] == '\'') /* the rest of "don't" */
            stop = scan_word_end(text, stop + 1, end);
        size_t behind = skip_segment_blanks(text, stop, end);
        if (verb.actions && behind > stop && behind < end) {
            struct str next = {text.ptr + behind, scan_word_end(text, behind, end) - behind};
            return !verb.noun || next.len == 0 || wt__is_stopword_any_case(next) ||
                   (next.ptr[0] >= '0' && next.ptr[0] <= '9');
        }
        if (word.len == 0 || !wt__is_stopword_any_case(word) || behind == stop)
            return false;
        at = behind;
    }
    return false;
}

/* Cuts one sentence. Words left at its end join the sub-query before them, if it is in the same sentence. */
static void cut_sentence(struct cutter *cutter, struct text_span sentence)
{
    struct text_span piece = {sentence.start, sentence.start}; /* text between two delimiters */
    size_t start = sentence.start, words = 0, next;            /* start and content words of the current sub-query */
    bool cut = false;
    if (count_content_words(cutter->text, sentence) == 0)
        return;
    for (size_t at = sentence.start; at <= sentence.end; at = next) {
        if (at == sentence.end)
            next = at + 1;
        else if (!is_delimiter(cutter->text, at, sentence.end, &next))
            continue;
        piece.end = at;
        words += count_content_words(cutter->text, piece);
        piece.start = next;
        bool wish = wish_begins(cutter->text, start, at);
        if (words >= CONTENT_MIN || (words > 0 && wish && wish_begins(cutter->text, next, sentence.end))) {
            add_subquery(cutter, (struct text_span){start, at});
            start = next;
            words = 0;
            cut = true;
        }
    }
    if (start >= sentence.end)
        return;
    if (cut && !wish_begins(cutter->text, start, sentence.end))
        cutter->subqueries[cutter->count - 1].end = sentence.end;
    else
        add_subquery(cutter, (struct text_span){start, sentence.end});
}

/* Removes blanks and punctuation from both ends. */
static void trim_span(struct str text, struct text_span *span)
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
    struct text_span sentence;
    for (size_t at = 0; next_sentence(request, &at, &sentence);)
        cut_sentence(&cutter, sentence);
    for (size_t i = 0; i < cutter.count; i++)
        trim_span(request, &cutter.subqueries[i]);
    while (cutter.count > SUBQUERIES_MAX)
        join_shortest(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        subqueries[i] = (struct str){request.ptr + cutter.subqueries[i].start,
                                     cutter.subqueries[i].end - cutter.subqueries[i].start};
    return cutter.count;
}

bool wt__has_wish(struct str text)
{
    size_t next;
    if (wish_begins(text, 0, text.len))
        return true;
    for (size_t at = 0; at < text.len; at = next)
        if (is_delimiter(text, at, text.len, &next) && wish_begins(text, next, text.len))
            return true;
    return false;
}

struct str wt__skip_stopwords(struct str subquery)
{
    size_t at = 0;
    for (struct str word; (word = wt__next_word(subquery, &at)).len > 0;)
        if (!wt__is_stopword_any_case(word))
            return (struct str){word.ptr, subquery.len - (size_t)(word.ptr - subquery.ptr)};
    return subquery;
}
