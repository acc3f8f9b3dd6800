/* wordpiece.c: BERT's tokenizer in one pass over the bytes, a word at a time.
 *
 * The reference runs whole-text passes: cut at special tokens; drop controls and turn blanks into spaces; put spaces
 * around ideographs; NFD; drop marks; lower case; cut at spaces and around punctuation; greedy longest match. Each of
 * them looks at one code point, except NFD, which orders the marks of one character; so all can run on one code point
 * after the other, with a buffer of one word:
 *
 *  - A special token begins with '[', which ends a word anyway, so it is looked for at each '['.
 *  - A word over WORDPIECE_MAX_WORD code points is [UNK] whatever is in it, so that nothing beyond is kept.
 *  - NFD sorts a run of marks (combining class > 0) by class, stably. A dropped mark needs no place in that order; a
 *    kept one is inserted behind the last of its run that must not follow it. Any code point of class 0 ends a run,
 *    also one that is dropped.
 *
 * Invariants: word.bytes holds the first min(characters, WORDPIECE_MAX_WORD) code points of the current word; ids
 * beyond `capacity` are counted and not stored. */
#include "text/wordpiece.h"

#include "text/bert_classes.h"
#include "text/unicode.h"

struct word {
    char bytes[WORDPIECE_MAX_WORD * 4];
    size_t len;
    size_t run; /* where the current run of marks begins in bytes */
    size_t characters;
};

/* Where pieces go. */
struct sink {
    const struct vocabulary *vocabulary;
    int32_t *ids;    /* [capacity] */
    size_t capacity; /* how many are stored */
    size_t count;    /* how many there were */
    struct word word;
};

static void put_id(struct sink *sink, int32_t id)
{
    if (sink->count < sink->capacity)
        sink->ids[sink->count] = id;
    sink->count++;
}

/* Ends the current word and adds its pieces: greedy longest match, all of it or [UNK]. */
static void end_word(struct sink *sink)
{
    struct word *word = &sink->word;
    const struct vocabulary *v = sink->vocabulary;
    size_t before = sink->count;
    bool known = word->characters <= WORDPIECE_MAX_WORD;

    if (word->characters == 0)
        return;
    for (size_t at = 0; known && at < word->len;) {
        int32_t id = 0;
        size_t len = wt__vocabulary_longest(v, at > 0, (struct str){word->bytes + at, word->len - at}, &id);
        known = len > 0;
        put_id(sink, id);
        at += len;
    }
    if (!known) {
        sink->count = before;
        put_id(sink, v->special[VOCABULARY_UNK]);
    }
    word->len = word->run = word->characters = 0;
}

/* A code point that starts a character. */
static void add_starter(struct word *word, uint32_t c)
{
    if (word->characters++ >= WORDPIECE_MAX_WORD)
        return;
    word->len += wt__utf8_put(c, word->bytes + word->len);
    word->run = word->len;
}

/* A mark that is kept. */
static void add_mark(struct word *word, uint32_t c, unsigned class)
{
    char bytes[4];
    size_t place = word->run;

    if (word->characters++ >= WORDPIECE_MAX_WORD)
        return;
    for (const char *at = word->bytes + word->run, *end = word->bytes + word->len; at < end;)
        if (wt__unicode_combining_class(wt__utf8_next(&at, end)) <= class)
            place = (size_t)(at - word->bytes);
    size_t len = wt__utf8_put(c, bytes);
    memmove(word->bytes + place + len, word->bytes + place, word->len - place);
    memcpy(word->bytes + place, bytes, len);
    word->len += len;
}

static void add_lowered(struct sink *sink, uint32_t c)
{
    uint32_t lower[UNICODE_MAX_LOWER] = {c};
    unsigned count = sink->vocabulary->options.lower_case ? wt__unicode_lower(c, lower) : 1;

    for (unsigned i = 0; i < count; i++)
        add_starter(&sink->word, lower[i]);
}

/* A word of one code point. */
static void add_alone(struct sink *sink, uint32_t c)
{
    end_word(sink);
    add_starter(&sink->word, c);
    end_word(sink);
}

/* A code point after decomposition. */
static void add_part(struct sink *sink, uint32_t c)
{
    unsigned class = wt__unicode_combining_class(c);

    switch (wt__bert_class(c)) {
    case BERT_SPACE:
        end_word(sink);
        break;
    case BERT_PUNCTUATION:
        add_alone(sink, c);
        break;
    case BERT_MARK:
        if (class == 0)
            sink->word.run = sink->word.len;
        break;
    default:
        if (class > 0)
            add_mark(&sink->word, c, class);
        else
            add_lowered(sink, c);
    }
}

/* A code point of the text that is not ASCII. */
static void add_wide(struct sink *sink, uint32_t c)
{
    const struct vocabulary_options *options = &sink->vocabulary->options;
    enum bert_class class = wt__bert_class(c);
    bool alone = class == BERT_CJK && options->split_cjk;

    if (class == BERT_REMOVED)
        return;
    if (class == BERT_SPACE || alone)
        end_word(sink);
    if (class == BERT_SPACE)
        return;
    if (options->strip_accents) {
        uint32_t parts[UNICODE_MAX_DECOMPOSED];
        unsigned count = wt__unicode_decompose(c, parts);
        for (unsigned i = 0; i < count; i++)
            add_part(sink, parts[i]);
    } else if (class == BERT_PUNCTUATION) {
        add_alone(sink, c);
    } else {
        add_lowered(sink, c);
    }
    if (alone)
        end_word(sink);
}

/* Adds the pieces of text until all were seen or `enough` were added. */
static void add_text(struct sink *sink, struct str text, size_t enough)
{
    const struct vocabulary *v = sink->vocabulary;
    unsigned char to_lower = v->options.lower_case ? 0x20 : 0;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : text.ptr;

    while (at < end && sink->count < enough) {
        unsigned char c = (unsigned char)*at;
        if (c >= 0x80) {
            add_wide(sink, wt__utf8_next(&at, end));
            continue;
        }
        size_t len = 1;
        int32_t special = c == '[' ? wt__vocabulary_special_at(v, (struct str){at, (size_t)(end - at)}, &len) : -1;
        at += len;
        if (special >= 0) {
            end_word(sink);
            put_id(sink, special);
            continue;
        }
        switch (wt__bert_ascii[c]) {
        case BERT_LETTER:
            add_starter(&sink->word, c >= 'A' && c <= 'Z' ? c | to_lower : c);
            break;
        case BERT_SPACE:
            end_word(sink);
            break;
        case BERT_PUNCTUATION:
            add_alone(sink, c);
            break;
        default: /* removed */
            break;
        }
    }
    end_word(sink);
}

/* Up to `capacity` pieces of text into ids. Returns how many are there; with count_all, how many there would be. */
static size_t pieces(const struct vocabulary *v, struct str text, size_t capacity, bool count_all, int32_t *ids)
{
    struct sink sink;

    sink.vocabulary = v;
    sink.ids = ids;
    sink.capacity = capacity;
    sink.count = sink.word.len = sink.word.run = sink.word.characters = 0;
    add_text(&sink, text, count_all ? SIZE_MAX : capacity);
    return count_all || sink.count < capacity ? sink.count : capacity;
}

size_t wt__wordpiece_encode(const struct vocabulary *v, struct str text, size_t max_tokens, int32_t *ids)
{
    size_t count = 0;

    if (max_tokens > 0)
        ids[count++] = v->special[VOCABULARY_CLS];
    if (max_tokens > 1) {
        count += pieces(v, text, max_tokens - 2, false, ids + 1);
        ids[count++] = v->special[VOCABULARY_SEP];
    }
    return count;
}

/* Shortens the lengths *a and *b until both fit into room. */
static void truncate_pair(size_t *a, size_t *b, size_t room, enum wordpiece_truncation truncation)
{
    size_t *shorter = *a <= *b ? a : b, *longer = *a <= *b ? b : a;
    size_t *victim = truncation == WORDPIECE_ONLY_FIRST ? a : b, *other = victim == a ? b : a;

    if (*a + *b <= room)
        return;
    if (truncation != WORDPIECE_LONGEST_FIRST) {
        *other = *other < room ? *other : room;
        *victim = room - *other;
    } else if (*shorter <= room / 2) {
        *longer = room - *shorter;
    } else {
        *shorter = room / 2;
        *longer = room - *shorter;
    }
}

size_t wt__wordpiece_encode_pair(const struct vocabulary *v, struct str a, struct str b, size_t max_tokens,
                                 enum wordpiece_truncation truncation, int32_t *ids, int32_t *types)
{
    enum { FRAME = 3 }; /* [CLS] [SEP] [SEP] */
    size_t room = max_tokens > FRAME ? max_tokens - FRAME : 0;
    size_t first = pieces(v, a, 0, true, NULL), second = pieces(v, b, 0, true, NULL);
    size_t count = 0, boundary = 0;

    truncate_pair(&first, &second, room, truncation);
    if (max_tokens > 0)
        ids[count++] = v->special[VOCABULARY_CLS];
    count += pieces(v, a, first, false, ids + count);
    if (count < max_tokens)
        ids[count++] = v->special[VOCABULARY_SEP];
    boundary = count;
    count += pieces(v, b, second, false, ids + count);
    if (count < max_tokens)
        ids[count++] = v->special[VOCABULARY_SEP];
    for (size_t i = 0; i < count; i++)
        types[i] = i >= boundary;
    return count;
}
