/* wordpiece.c: BERT's tokenizer in one pass over the bytes, word by word.
 *
 * The reference runs passes over the whole text: remove controls and convert blanks to spaces; add spaces around
 * ideographs; NFD; remove marks; lower case; split at spaces and punctuation; greedy longest match. Each pass before
 * the match handles one code point at a time. Only NFD also sorts the marks of a character. So here all passes run
 * code point by code point, with a buffer for one word.
 *
 * A word of more than WORDPIECE_MAX_WORD code points is always [UNK], so its rest is not stored.
 *
 * NFD sorts each run of marks (combining class > 0) by class, and keeps the order of marks of one class. Removed marks
 * do not affect this order. A kept mark is inserted after the last mark of its run with the same or a lower class. Any
 * code point of class 0 ends a run, even a mark that is removed as an accent.
 *
 * Invariant: word.bytes holds the first min(characters, WORDPIECE_MAX_WORD) code points of the current word. */
#include "text/wordpiece.h"

#include "text/unicode.h"

struct wordpiece_word {
    char bytes[WORDPIECE_MAX_WORD * 4];
    size_t len;
    size_t run;        /* start of the current run of marks, as an offset in `bytes` */
    size_t characters; /* code points of the word, including those not stored */
};

struct wordpiece_reader {
    const struct wordpiece *model;
    struct pieces *out;
    struct wordpiece_word word;
};

/* Ends the current word, and adds its pieces by greedy longest match. Adds [UNK] if part of the word has no match. */
static void emit_wordpieces(struct wordpiece_reader *r)
{
    struct wordpiece_word *word = &r->word;
    const struct wordpiece *model = r->model;
    size_t before = r->out->count;
    bool known = word->characters <= WORDPIECE_MAX_WORD;
    if (word->characters == 0)
        return;
    for (size_t at = 0; known && at < word->len;) {
        int32_t id = 0;
        struct str rest = {word->bytes + at, word->len - at};
        size_t len = at > 0 && model->continuation == 0
                         ? 0
                         : wt__trie_longest(&model->trie, at > 0 ? model->continuation : 0, rest, &id);
        known = len > 0 && (uint32_t)id < model->token_count;
        wt__pieces_put(r->out, id);
        at += len;
    }
    if (!known) {
        r->out->count = before;
        wt__pieces_put(r->out, model->unknown);
    }
    word->len = word->run = word->characters = 0;
}

/* Adds a code point of combining class 0 to the word. */
static void add_starter(struct wordpiece_word *word, uint32_t c)
{
    if (word->characters++ >= WORDPIECE_MAX_WORD)
        return;
    word->len += wt__utf8_put(c, word->bytes + word->len);
    word->run = word->len;
}

/* Inserts a combining mark into the current run of marks, in canonical order. */
static void insert_mark(struct wordpiece_word *word, uint32_t c, unsigned class)
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

static void add_lowered(struct wordpiece_reader *r, uint32_t c)
{
    uint32_t lower[UNICODE_MAX_LOWER] = {c};
    unsigned count = r->model->lower_case ? wt__unicode_lower(c, lower) : 1;
    for (unsigned i = 0; i < count; i++)
        add_starter(&r->word, lower[i]);
}

/* Adds a word of one code point. */
static void add_alone(struct wordpiece_reader *r, uint32_t c)
{
    emit_wordpieces(r);
    add_starter(&r->word, c);
    emit_wordpieces(r);
}

/* Adds a code point after decomposition. */
static void add_decomposed(struct wordpiece_reader *r, uint32_t c)
{
    unsigned class = wt__unicode_combining_class(c);
    switch (wt__bert_class(c)) {
    case BERT_SPACE:
        emit_wordpieces(r);
        break;
    case BERT_PUNCTUATION:
        add_alone(r, c);
        break;
    case BERT_MARK:
        if (class == 0)
            r->word.run = r->word.len;
        break;
    default:
        if (class > 0)
            insert_mark(&r->word, c, class);
        else
            add_lowered(r, c);
    }
}

/* Adds a non-ASCII code point. */
static void add_wide(struct wordpiece_reader *r, uint32_t c)
{
    const struct wordpiece *options = r->model;
    enum bert_class class = wt__bert_class(c);
    bool alone = class == BERT_CJK && options->split_cjk;
    if (class == BERT_REMOVED)
        return;
    if (class == BERT_SPACE || alone)
        emit_wordpieces(r);
    if (class == BERT_SPACE)
        return;
    if (options->strip_accents) {
        uint32_t parts[UNICODE_MAX_DECOMPOSED];
        unsigned count = wt__unicode_decompose(c, parts);
        for (unsigned i = 0; i < count; i++)
            add_decomposed(r, parts[i]);
    } else if (class == BERT_PUNCTUATION) {
        add_alone(r, c);
    } else {
        add_lowered(r, c);
    }
    if (alone)
        emit_wordpieces(r);
}

void wt__wordpiece_add(const struct wordpiece *w, struct str text, struct pieces *out)
{
    struct wordpiece_reader r;
    unsigned char to_lower = w->lower_case ? 0x20 : 0;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : text.ptr;
    r.model = w;
    r.out = out;
    r.word.len = r.word.run = r.word.characters = 0;
    while (at < end && !wt__pieces_full(out)) {
        unsigned char c = (unsigned char)*at;
        if (c >= 0x80) {
            add_wide(&r, wt__utf8_next(&at, end));
            continue;
        }
        at++;
        switch (wt__bert_ascii[c]) {
        case BERT_LETTER:
            add_starter(&r.word, c >= 'A' && c <= 'Z' ? c | to_lower : c);
            break;
        case BERT_SPACE:
            emit_wordpieces(&r);
            break;
        case BERT_PUNCTUATION:
            add_alone(&r, c);
            break;
        default: /* removed */
            break;
        }
    }
    emit_wordpieces(&r);
}
