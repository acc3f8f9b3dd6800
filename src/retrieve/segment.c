/* segment.c: cuts a request at the ends of sentences, and within sentences at commas, colons, semicolons, "and" and
 * "then".
 *
 * A cut needs CONTENT_MIN content words before it, which are words other than stop words. Fewer are enough between two
 * wishes (segment.h): "fork the repository and star it". "Paris, London and Rome" stays whole, because a list of names
 * needs one tool. Words left at the end of a sentence join the sub-query before them. A negated sub-query ("do not
 * delete it") is dropped. If there are more than SUBQUERIES_MAX sub-queries, neighbours are joined, the shortest pair
 * first.
 *
 * The scan is one pass over arbitrary bytes. A request of 64 KiB may have ten thousand parts, so only
 * SUBQUERIES_SEEN are kept separate during the scan. */
#include "retrieve/segment.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
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

static size_t skip_blanks(struct str text, size_t at, size_t end)
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
    size_t behind = skip_blanks(text, at + word.len, end);
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
        *next = skip_blanks(text, at + 1, end);
        return *next > at + 1;
    }
    if (!wt__is_blank(c)) {
        *next = at + 1;
        return false;
    }
    size_t word = *next = skip_blanks(text, at, end);
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
        if (words == 0 && wt__is_question_word(word))
            return true;
        while (stop < end && text.ptr[stop] == '\'') /* the rest of "don't" */
            stop = scan_word_end(text, stop + 1, end);
        size_t behind = skip_blanks(text, stop, end);
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

/* Finds the next sentence from *at on, which ends at a full stop, question or exclamation mark before a blank, or at
 * the line end. False at the end of the text. */
static bool next_sentence(struct str text, size_t *at, struct text_span *out)
{
    if (*at >= text.len)
        return false;
    *out = (struct text_span){*at, text.len};
    for (size_t i = *at; i < text.len; i++) {
        bool stop = (text.ptr[i] == '.' || text.ptr[i] == '?' || text.ptr[i] == '!') && i + 1 < text.len &&
                    wt__is_blank(text.ptr[i + 1]);
        if (!stop && text.ptr[i] != '\n')
            continue;
        out->end = i + stop;
        *at = skip_blanks(text, i + 1, text.len);
        return true;
    }
    *at = text.len;
    return true;
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

/* True if the span begins with a negation, perhaps after stop words: "not", "don't", "do not", "never", "without". */
static bool is_negated(struct str text, struct text_span span)
{
    static const char *const negations[] = {"never", "no", "not", "nothing", "without"};
    for (size_t at = span.start; at < span.end;) {
        size_t stop = scan_word_end(text, at, span.end);
        struct str word = {text.ptr + at, stop - at};
        if (wt__str_among(word, negations, sizeof negations / sizeof *negations))
            return true;
        bool apostrophe = stop + 1 < span.end && (text.ptr[stop] == '\'' || (unsigned char)text.ptr[stop] >= 0x80);
        if (apostrophe && word.len > 2 && (word.ptr[word.len - 1] | 0x20) == 'n' && (text.ptr[stop + 1] | 0x20) == 't')
            return true;
        if (word.len == 0 || !wt__is_stopword_any_case(word))
            return false;
        at = skip_blanks(text, stop, span.end);
    }
    return false;
}

/* Drops negated sub-queries, unless all are negated. */
static void drop_negated(struct cutter *cutter)
{
    size_t left = 0;
    for (size_t i = 0; i < cutter->count; i++)
        if (!is_negated(cutter->text, cutter->subqueries[i]))
            cutter->subqueries[left++] = cutter->subqueries[i];
    cutter->count = left ? left : cutter->count;
}

size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX])
{
    struct cutter cutter = {.text = request};
    struct text_span sentence;
    for (size_t at = 0; next_sentence(request, &at, &sentence);)
        cut_sentence(&cutter, sentence);
    for (size_t i = 0; i < cutter.count; i++)
        trim_span(request, &cutter.subqueries[i]);
    drop_negated(&cutter);
    while (cutter.count > SUBQUERIES_MAX)
        join_shortest(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        subqueries[i] = (struct str){request.ptr + cutter.subqueries[i].start,
                                     cutter.subqueries[i].end - cutter.subqueries[i].start};
    return cutter.count;
}

/* True if a wish begins at the start of the span or after a delimiter: "what I need: on Spotify, start a playlist". */
static bool has_wish(struct str text, struct text_span span)
{
    size_t next;
    if (wish_begins(text, span.start, span.end))
        return true;
    for (size_t at = span.start; at < span.end; at = next)
        if (is_delimiter(text, at, span.end, &next) && wish_begins(text, next, span.end))
            return true;
    return false;
}

/* Numbers of sentences: distance from either end of a long request within which a wish counts, and context kept
 * before and after the wish. */
enum { WISH_WITHIN = 4, SENTENCES_BEFORE = 2, SENTENCES_BEHIND = 1 };

/* Parts of a long request to read: its first sentences, and those around its last wish. A part is empty if that end has
 * no wish. */
struct ends {
    struct text_span first, last;
};

/* Finds the parts of a long request to read. */
static struct ends find_ends(struct str text)
{
    size_t starts[SENTENCES_BEFORE + 1] = {0}, seen = 0, behind = 0;
    struct ends ends = {{0, 0}, {0, 0}};
    struct text_span sentence;
    for (size_t at = 0; next_sentence(text, &at, &sentence); seen++) {
        bool wish = has_wish(text, sentence);
        memmove(starts, starts + 1, sizeof starts - sizeof *starts);
        starts[SENTENCES_BEFORE] = sentence.start;
        behind = wish ? 0 : behind + 1;
        if (wish)
            ends.last = (struct text_span){starts[0], sentence.end};
        else if (ends.last.end > 0 && behind <= SENTENCES_BEHIND)
            ends.last.end = sentence.end;
        if (seen < WISH_WITHIN && ends.last.end > 0)
            ends.first.end = sentence.end;
    }
    if (behind >= WISH_WITHIN)
        ends.last = (struct text_span){0, 0};
    if (ends.last.start < ends.first.end)
        ends.last.start = ends.first.end;
    return ends;
}

int wt__segment_wish(struct str *out, struct str request, struct arena *arena, wt_error *err)
{
    *out = request;
    if (request.len <= LONG_REQUEST)
        return 0;
    struct ends ends = find_ends(request);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (ends.first.end == 0 && ends.last.end == 0)
        return 0;
    wt__buffer_str(&text, (struct str){request.ptr, ends.first.end});
    if (ends.last.end > ends.last.start) {
        wt__buffer_text(&text, ends.first.end > 0 ? "\n" : "");
        wt__buffer_str(&text, (struct str){request.ptr + ends.last.start, ends.last.end - ends.last.start});
    }
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    *out = wt__str(copy);
    return 0;
}

struct str wt__skip_stopwords(struct str subquery)
{
    size_t at = 0;
    for (struct str word; (word = wt__next_word(subquery, &at)).len > 0;)
        if (!wt__is_stopword_any_case(word))
            return (struct str){word.ptr, subquery.len - (size_t)(word.ptr - subquery.ptr)};
    return subquery;
}
