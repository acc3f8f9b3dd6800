/* segment.c: cuts at the ends of sentences, and inside them at commas, colons, semicolons, "and" and "then", but only
 * so that every sub-query keeps at least CONTENT_MIN content words or asks for something by a verb ("fork the
 * repository and star it"): "Paris, London and Rome" stays one sub-query, because a list of names calls for one tool.
 * Content words are those that are not stop words. What is left over at the end of a sentence joins the sub-query
 * before it. One that says what shall not be done ("do not delete it") is left out. More than SUBQUERIES_MAX
 * sub-queries: neighbours are joined, the shortest pair first.
 *
 * One pass over the bytes, whatever they are: a request of 64 KiB may hold ten thousand parts, so only the last
 * SUBQUERIES_SEEN are kept apart while it is read. */
#include "retrieve/segment.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "retrieve/verbs.h"
#include "retrieve/words.h"

enum {
    CONTENT_MIN = 3,
    WISH_AMONG = 6 /* words that a wish begins with, its verb one of them */,
    SUBQUERIES_SEEN = 64
};

struct span {
    size_t start, end;
};

struct cutter {
    struct str text;
    struct span subqueries[SUBQUERIES_SEEN];
    size_t count;
};

static size_t content_words(struct str text, struct span span)
{
    size_t count = 0;
    for (size_t i = span.start; i < span.end;) {
        size_t start = i;
        while (i < span.end && wt__is_word_byte(text.ptr[i]))
            i++;
        if (i > start)
            count += !wt__says_nothing((struct str){text.ptr + start, i - start});
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

static size_t word_end(struct str text, size_t at, size_t end)
{
    while (at < end && wt__is_word_byte(text.ptr[at]))
        at++;
    return at;
}

/* Whether a wish begins at `at`: a question, or a verb in its base form with something behind it, after words that say
 * nothing. A verb that may be a noun ("comment and label") is one where a stop word or a sign comes next: "comment on
 * it", "tell #ci". */
static bool wish_begins(struct str text, size_t at, size_t end)
{
    for (size_t words = 0; words < WISH_AMONG && at < end; words++) {
        size_t stop = word_end(text, at, end);
        struct str word = {text.ptr + at, stop - at};
        struct verb verb = wt__verb(word);
        if (words == 0 && wt__asks(word))
            return true;
        while (stop < end && text.ptr[stop] == '\'') /* "don't": the rest of it */
            stop = word_end(text, stop + 1, end);
        size_t behind = skip_blanks(text, stop, end);
        if (verb.actions && behind > stop && behind < end) {
            struct str next = {text.ptr + behind, word_end(text, behind, end) - behind};
            return !verb.noun || next.len == 0 || wt__says_nothing(next) || (next.ptr[0] >= '0' && next.ptr[0] <= '9');
        }
        if (word.len == 0 || !wt__says_nothing(word) || behind == stop)
            return false;
        at = behind;
    }
    return false;
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
        bool wish = wish_begins(cutter->text, start, at);
        if (words >= CONTENT_MIN || (words > 0 && wish && wish_begins(cutter->text, next, sentence.end))) {
            add_subquery(cutter, (struct span){start, at});
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
        add_subquery(cutter, (struct span){start, sentence.end});
}

/* The next sentence from *at on, which ends at a sign with a blank behind it, or with the line. false: there is none.
 */
static bool next_sentence(struct str text, size_t *at, struct span *out)
{
    if (*at >= text.len)
        return false;
    *out = (struct span){*at, text.len};
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

static void cut_sentences(struct cutter *cutter)
{
    struct span sentence;
    for (size_t at = 0; next_sentence(cutter->text, &at, &sentence);)
        cut_sentence(cutter, sentence);
}

static void trim(struct str text, struct span *span)
{
    static const char signs[] = " ,;:.";
    while (span->start < span->end && strchr(signs, text.ptr[span->start]))
        span->start++;
    while (span->start < span->end && strchr(signs, text.ptr[span->end - 1]))
        span->end--;
}

/* Whether it begins with what shall not be: "not", "don't", "do not", "never", "without". */
static bool is_negated(struct str text, struct span span)
{
    static const char *const negations[] = {"never", "no", "not", "nothing", "without"};
    for (size_t at = span.start; at < span.end;) {
        size_t stop = word_end(text, at, span.end);
        struct str word = {text.ptr + at, stop - at};
        if (wt__str_among(word, negations, sizeof negations / sizeof *negations))
            return true;
        bool apostrophe = stop + 1 < span.end && (text.ptr[stop] == '\'' || (unsigned char)text.ptr[stop] >= 0x80);
        if (apostrophe && word.len > 2 && (word.ptr[word.len - 1] | 0x20) == 'n' && (text.ptr[stop + 1] | 0x20) == 't')
            return true;
        if (word.len == 0 || !wt__says_nothing(word))
            return false;
        at = skip_blanks(text, stop, span.end);
    }
    return false;
}

static void leave_out_negated(struct cutter *cutter)
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
    cut_sentences(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        trim(request, &cutter.subqueries[i]);
    leave_out_negated(&cutter);
    while (cutter.count > SUBQUERIES_MAX)
        join_shortest(&cutter);
    for (size_t i = 0; i < cutter.count; i++)
        subqueries[i] = (struct str){request.ptr + cutter.subqueries[i].start,
                                     cutter.subqueries[i].end - cutter.subqueries[i].start};
    return cutter.count;
}

/* Whether a wish begins in it, after a delimiter, too: "what I need: on Spotify, start a playlist". */
static bool has_wish(struct str text, struct span span)
{
    size_t next;
    if (wish_begins(text, span.start, span.end))
        return true;
    for (size_t at = span.start; at < span.end; at = next)
        if (delimiter(text, at, span.end, &next) && wish_begins(text, next, span.end))
            return true;
    return false;
}

/* Sentences of a long request: where its wish is looked for, at either end, and what is read beside it, since it says
 * of what. */
enum { WISH_WITHIN = 4, SENTENCES_BEFORE = 2, SENTENCES_BEHIND = 1 };

/* What is read of a long request: its first sentences, and those around its last wish; each empty where there is none
 * at that end. */
struct ends {
    struct span first, last;
};

static struct ends find_ends(struct str text)
{
    size_t starts[SENTENCES_BEFORE + 1] = {0}, seen = 0, behind = 0;
    struct ends ends = {{0, 0}, {0, 0}};
    struct span sentence;
    for (size_t at = 0; next_sentence(text, &at, &sentence); seen++) {
        bool wish = has_wish(text, sentence);
        memmove(starts, starts + 1, sizeof starts - sizeof *starts);
        starts[SENTENCES_BEFORE] = sentence.start;
        behind = wish ? 0 : behind + 1;
        if (wish)
            ends.last = (struct span){starts[0], sentence.end};
        else if (ends.last.end > 0 && behind <= SENTENCES_BEHIND)
            ends.last.end = sentence.end;
        if (seen < WISH_WITHIN && ends.last.end > 0)
            ends.first.end = sentence.end;
    }
    if (behind >= WISH_WITHIN)
        ends.last = (struct span){0, 0};
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
    struct buffer text = {0};
    if (ends.first.end == 0 && ends.last.end == 0)
        return 0;
    wt__buffer_str(&text, (struct str){request.ptr, ends.first.end});
    if (ends.last.end > ends.last.start) {
        wt__buffer_text(&text, ends.first.end > 0 ? "\n" : "");
        wt__buffer_str(&text, (struct str){request.ptr + ends.last.start, ends.last.end - ends.last.start});
    }
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    if (!copy)
        return wt__fail_nomem(err);
    *out = wt__str(copy);
    return 0;
}

struct str wt__skip_stopwords(struct str subquery)
{
    for (size_t i = 0; i < subquery.len;) {
        size_t start = i;
        while (i < subquery.len && wt__is_word_byte(subquery.ptr[i]))
            i++;
        if (i == start)
            i++;
        else if (!wt__says_nothing((struct str){subquery.ptr + start, i - start}))
            return (struct str){subquery.ptr + start, subquery.len - start};
    }
    return subquery;
}
