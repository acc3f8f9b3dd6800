/* unigram.c: splits a stream of normalised text into words and finds the best path through each word.
 *
 * A path is a sequence of pieces from the start of the word to a position. Positions are visited from left to right. At
 * each position, the best path to it is known, and is extended by every piece that starts there. Scores are added in
 * double precision from left to right, and the first of equal scores wins. The reference library does the same, so
 * near ties have the same result there. A character that is not a piece has the unknown score. Adjacent unknown
 * characters become one unknown id.
 *
 * A word is processed in a window of UNIGRAM_WINDOW bytes. When the window is full, the best path of the whole word
 * must go through one of the last positions of the window. The start that the best paths to all these positions share
 * is final, and is emitted. If this start is shorter than half a window, the best path to the end of the window is
 * emitted up to its first position in the second half. Time is thus linear in the text (times the longest piece), and
 * memory is constant. */
#include "text/unigram.h"

#include "text/unicode.h"

static const char blank[3] = {'\xE2', '\x96', '\x81'}; /* U+2581 */

enum { NOWHERE = UINT16_MAX };

struct position {
    double score;  /* score of the best path to this position */
    int32_t id;    /* id of the last piece of this path */
    uint16_t from; /* start of this piece; NOWHERE if no path exists */
    bool live;     /* true if on a path that may still be the best */
};

struct unigram_reader {
    const struct unigram *unigram;
    struct pieces *out;
    bool prefix;    /* true if the next word starts a segment and may need a U+2581 */
    bool unknown;   /* true if the last id of this word was the unknown id */
    double settled; /* score of the emitted part of this word */
    char *word;     /* [len] rest of the current word, within `bytes`; a U+2581 fits before it */
    size_t len;
    char bytes[sizeof blank + UNIGRAM_WINDOW];
    struct position positions[sizeof blank + UNIGRAM_WINDOW + 1];
};

static double piece_score(const struct unigram *u, int32_t id)
{
    double score = 0;
    if ((uint32_t)id < u->score_count)
        memcpy(&score, u->scores + (size_t)id * sizeof score, sizeof score);
    return score;
}

static void offer_path(struct position *positions, size_t from, size_t to, double score, int32_t id)
{
    struct position *target = &positions[to];
    if (target->from == NOWHERE || score > target->score) {
        target->score = score;
        target->id = id;
        target->from = (uint16_t)from;
    }
}

/* Finds the best path to every position of the word. */
static void find_paths(struct unigram_reader *r, struct str word)
{
    const struct unigram *u = r->unigram;
    const struct trie *trie = &u->trie;
    r->positions[0].score = r->settled;
    for (size_t i = 1; i <= word.len; i++)
        r->positions[i].from = NOWHERE;
    for (size_t at = 0; at < word.len;) {
        const char *next = word.ptr + at;
        wt__utf8_next(&next, word.ptr + word.len);
        size_t character = (size_t)(next - word.ptr) - at;
        double score = r->positions[at].score;
        bool single = false;
        uint32_t node = 0;
        for (size_t to = at; to < word.len;) {
            node = wt__trie_child(trie, node, (unsigned char)word.ptr[to++]);
            if (node == 0)
                break;
            int32_t id = wt__trie_unit(trie, node).value;
            if (id < 0 || (uint32_t)id >= u->score_count)
                continue;
            offer_path(r->positions, at, to, piece_score(u, id) + score, id);
            single = single || to - at == character;
        }
        if (!single)
            offer_path(r->positions, at, at + character, u->unknown_score + score, u->unknown);
        at += character;
    }
}

/* Emits the pieces of the best path to position `to`. The path is first reversed in place, so that `from` of each
 * position is the next position. */
static void emit_path(struct unigram_reader *r, size_t to)
{
    struct position *positions = r->positions;
    size_t next = NOWHERE;
    for (size_t at = to;;) {
        size_t from = at == 0 ? NOWHERE : positions[at].from;
        positions[at].from = (uint16_t)next;
        next = at;
        if (at == 0)
            break;
        at = from;
    }
    for (size_t at = positions[0].from; at != NOWHERE; at = positions[at].from) {
        bool unknown = positions[at].id == r->unigram->unknown;
        if (!unknown || !r->unknown)
            wt__pieces_put(r->out, positions[at].id);
        r->unknown = unknown;
    }
}

/* Returns the last position that is on the best path to every one of the last `open` positions. */
static size_t find_meeting_place(struct unigram_reader *r, size_t len, size_t open)
{
    struct position *positions = r->positions;
    size_t alive = 0, at = len;
    for (size_t i = 0; i <= len; i++) {
        positions[i].live = i + open > len && (i == 0 || positions[i].from != NOWHERE);
        alive += positions[i].live;
    }
    for (; alive > 1; at--)
        if (positions[at].live) {
            struct position *before = &positions[positions[at].from];
            alive -= before->live;
            before->live = true;
        }
    while (!positions[at].live)
        at--;
    return at;
}

/* Returns the next `len` bytes of the word, after a U+2581 if the word still needs its prefix. */
static struct str take_rest_of_word(struct unigram_reader *r, size_t len)
{
    char *word = r->word;
    if (r->prefix && len > 0) {
        word -= sizeof blank;
        memcpy(word, blank, sizeof blank);
        len += sizeof blank;
        r->prefix = false;
    }
    return (struct str){word, len};
}

/* Emits the pieces of the next `len` bytes: the whole word, or the text before an added token. */
static void finish_part(struct unigram_reader *r, size_t len)
{
    struct str part = take_rest_of_word(r, len);
    if (part.len > 0) {
        find_paths(r, part);
        emit_path(r, part.len);
    }
    r->word += len;
    r->len -= len;
    r->settled = 0;
    r->unknown = false;
}

/* Emits the word up to and including its last added token. A new segment starts after each added token. */
static void cut_added(struct unigram_reader *r)
{
    const struct added *added = &r->unigram->added;
    struct added_match match;
    while (added->only != -1 && wt__added_next(added, (struct str){r->word, r->len}, r->word, &match)) {
        finish_part(r, (size_t)(match.place.ptr - r->word));
        wt__pieces_put(r->out, match.id);
        r->word += match.place.len;
        r->len -= match.place.len;
        r->prefix = r->unigram->prefix;
    }
}

static void finish_unigram_word(struct unigram_reader *r)
{
    cut_added(r);
    finish_part(r, r->len);
    r->word = r->bytes + sizeof blank;
}

/* Makes room in a full window by emitting at least half of it. */
static void settle_window(struct unigram_reader *r)
{
    enum { HALF = UNIGRAM_WINDOW / 2 };
    cut_added(r);
    struct str rest = {r->word, r->len};
    if (r->len > HALF) {
        struct str word = take_rest_of_word(r, r->len);
        size_t longest = r->unigram->longest, place;
        find_paths(r, word);
        place = find_meeting_place(r, word.len, longest < HALF ? longest : HALF);
        if (place < HALF)
            for (place = word.len; r->positions[place].from >= HALF;)
                place = r->positions[place].from;
        r->settled = r->positions[place].score;
        emit_path(r, place);
        rest = (struct str){word.ptr + place, word.len - place};
    }
    r->word = r->bytes + sizeof blank;
    r->len = rest.len;
    memmove(r->word, rest.ptr, rest.len);
}

static void append_to_window(struct unigram_reader *r, struct str bytes)
{
    while (bytes.len > 0) {
        size_t used = (size_t)(r->word - r->bytes) - sizeof blank + r->len, room = UNIGRAM_WINDOW - used;
        size_t portion = bytes.len < room ? bytes.len : room;
        for (int i = 0; i < 3 && portion > 0 && portion < bytes.len && (bytes.ptr[portion] & 0xC0) == 0x80; i++)
            portion--; /* do not split a code point */
        memcpy(r->word + r->len, bytes.ptr, portion);
        r->len += portion;
        bytes = (struct str){bytes.ptr + portion, bytes.len - portion};
        if (bytes.len > 0)
            settle_window(r);
    }
}

/* Returns the length in bytes of the word separator at `at`, or 0 if none is there. A separator is a space or U+2581.
 * With split_blanks, every blank is a separator. */
static size_t measure_separator(const struct unigram *u, const char *at, const char *end)
{
    unsigned char c = (unsigned char)*at;
    const char *behind = at;
    if (c == ' ')
        return 1;
    if (c == 0xE2 && end - at >= (ptrdiff_t)sizeof blank && memcmp(at, blank, sizeof blank) == 0)
        return sizeof blank;
    if (u->split_blanks && (c < ' ' || c >= 0x80) && wt__unicode_blank(wt__utf8_next(&behind, end)))
        return (size_t)(behind - at);
    return 0;
}

/* Splits normalised text into words. A normalizer_put callback. */
static bool read_normalized(void *context, struct str text)
{
    struct unigram_reader *r = context;
    const struct unigram *u = r->unigram;
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    while (at < end) {
        size_t part = measure_separator(u, at, end);
        if (part > 0) {
            finish_unigram_word(r);
            if (wt__pieces_full(r->out))
                return false;
            bool stays = !u->split_blanks || wt__str_equal((struct str){at, part}, (struct str){blank, sizeof blank});
            r->prefix = u->prefix && !stays;
            if (stays)
                append_to_window(r, (struct str){blank, sizeof blank});
            at += part;
        } else {
            const char *stop = at + 1;
            while (stop < end && measure_separator(u, stop, end) == 0)
                stop++;
            append_to_window(r, (struct str){at, (size_t)(stop - at)});
            at = stop;
        }
    }
    return true;
}

void wt__unigram_add(const struct unigram *u, struct str text, struct pieces *out)
{
    struct unigram_reader r;
    r.unigram = u;
    r.out = out;
    r.prefix = u->prefix;
    r.unknown = false;
    r.settled = 0;
    r.word = r.bytes + sizeof blank;
    r.len = 0;
    wt__normalizer_run(&u->normalizer, text, read_normalized, &r);
    if (!wt__pieces_full(out))
        finish_unigram_word(&r);
}
