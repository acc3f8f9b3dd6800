/* wordpiece.c: BERT's tokenizer in one pass over the bytes, a word at a time.
 *
 * The reference runs whole-text passes: drop controls and turn blanks into spaces; put spaces
 * around ideographs; NFD; drop marks; lower case; cut at spaces and around punctuation; greedy longest match. Each of
 * them looks at one code point, except NFD, which orders the marks of one character; so all can run on one code point
 * after the other, with a buffer of one word:
 *
 *  - A word over WORDPIECE_MAX_WORD code points is [UNK] whatever is in it, so that nothing beyond is kept.
 *  - NFD sorts a run of marks (combining class > 0) by class, stably. A dropped mark needs no place in that order; a
 *    kept one is inserted behind the last of its run that must not follow it. Any code point of class 0 ends a run,
 *    also one that is dropped.
 *
 * Invariants: word.bytes holds the first min(characters, WORDPIECE_MAX_WORD) code points of the current word. */
#include "text/wordpiece.h"

#include "text/bert_classes.h"
#include "text/unicode.h"

struct word {
    char bytes[WORDPIECE_MAX_WORD * 4];
    size_t len;
    size_t run; /* where the current run of marks begins in bytes */
    size_t characters;
};

struct reader {
    const struct wordpiece *model;
    struct pieces *out;
    struct word word;
};

/* Ends the current word and adds its pieces: greedy longest match, all of it or [UNK]. */
static void end_word(struct reader *r)
{
    struct word *word = &r->word;
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

static void add_lowered(struct reader *r, uint32_t c)
{
    uint32_t lower[UNICODE_MAX_LOWER] = {c};
    unsigned count = r->model->lower_case ? wt__unicode_lower(c, lower) : 1;

    for (unsigned i = 0; i < count; i++)
        add_starter(&r->word, lower[i]);
}

/* A word of one code point. */
static void add_alone(struct reader *r, uint32_t c)
{
    end_word(r);
    add_starter(&r->word, c);
    end_word(r);
}

/* A code point after decomposition. */
static void add_part(struct reader *r, uint32_t c)
{
    unsigned class = wt__unicode_combining_class(c);

    switch (wt__bert_class(c)) {
    case BERT_SPACE:
        end_word(r);
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
            add_mark(&r->word, c, class);
        else
            add_lowered(r, c);
    }
}

/* A code point of the text that is not ASCII. */
static void add_wide(struct reader *r, uint32_t c)
{
    const struct wordpiece *options = r->model;
    enum bert_class class = wt__bert_class(c);
    bool alone = class == BERT_CJK && options->split_cjk;

    if (class == BERT_REMOVED)
        return;
    if (class == BERT_SPACE || alone)
        end_word(r);
    if (class == BERT_SPACE)
        return;
    if (options->strip_accents) {
        uint32_t parts[UNICODE_MAX_DECOMPOSED];
        unsigned count = wt__unicode_decompose(c, parts);
        for (unsigned i = 0; i < count; i++)
            add_part(r, parts[i]);
    } else if (class == BERT_PUNCTUATION) {
        add_alone(r, c);
    } else {
        add_lowered(r, c);
    }
    if (alone)
        end_word(r);
}

void wt__wordpiece_add(const struct wordpiece *w, struct str text, struct pieces *out)
{
    struct reader r;
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
            end_word(&r);
            break;
        case BERT_PUNCTUATION:
            add_alone(&r, c);
            break;
        default: /* removed */
            break;
        }
    }
    end_word(&r);
}
