/* analyser.c: splits text into parts, folds each part, and stems it with the help of a small cache.
 *
 * A part ends at each character other than a letter, digit or mark. Inside a run it also ends before a capital that
 * follows
 *   a small letter getUser
 *   a capital or digit, if a small letter HTTPResponse, Top5News; but not before a plural s: APIs
 *   comes next
 * Letters and digits are not separated otherwise. Non-ASCII text follows the same rules by Unicode categories.
 *
 * Stemming takes about a microsecond per word; everything else takes a few nanoseconds per byte. Words repeat within a
 * catalogue, so a direct-mapped cache of complete results serves most of them. A colliding word replaces the entry. The
 * cache is bounded and never affects results. */
#include "text/analyser.h"

#include <libstemmer.h>
#include <stdlib.h>

#include "base/memory.h"
#include "text/bert_classes.h"
#include "text/unicode.h"

enum {
    SLOTS = 8192,   /* 48 bytes each, to fit in the second-level cache */
    SLOT_BYTES = 22 /* longer words are not cached */
};

struct stem_slot {
    unsigned char word_len; /* 0 if the slot is free */
    unsigned char stem_len;
    bool stop;
    char word[SLOT_BYTES], stem[SLOT_BYTES];
};

struct analyser {
    struct sb_stemmer *stemmer;
    struct stem_slot slots[SLOTS];
};

int wt__analyser_open(struct analyser **out, wt_error *err)
{
    struct analyser *analyser = calloc(1, sizeof *analyser);

    *out = NULL;
    if (analyser)
        analyser->stemmer = sb_stemmer_new("english", "UTF_8");
    if (!analyser || !analyser->stemmer) {
        free(analyser);
        return wt__fail_nomem(err);
    }
    *out = analyser;
    return 0;
}

void wt__analyser_close(struct analyser *analyser)
{
    if (!analyser)
        return;
    sb_stemmer_delete(analyser->stemmer);
    free(analyser);
}

void wt__token_list_reset(struct token_list *list)
{
    list->len = 0;
    wt__arena_reset(&list->bytes);
}

void wt__token_list_dispose(struct token_list *list)
{
    free(list->terms);
    free(list->sources);
    wt__arena_dispose(&list->bytes);
    *list = (struct token_list){0};
}

static int append_term(struct token_list *list, struct str term, struct token_source source)
{
    if (wt__grow((void **)&list->terms, &list->term_capacity, list->len + 1, sizeof *list->terms) != 0 ||
        wt__grow((void **)&list->sources, &list->source_capacity, list->len + 1, sizeof *list->sources) != 0)
        return WT_ENOMEM;
    char *bytes = wt__arena_alloc(&list->bytes, term.len, 1);
    if (!bytes)
        return WT_ENOMEM;
    memcpy(bytes, term.ptr, term.len);
    list->terms[list->len] = (struct str){bytes, term.len};
    list->sources[list->len++] = source;
    return 0;
}

static struct stem_slot *stem_slot_of(struct analyser *analyser, struct str word)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < word.len; i++)
        hash = (hash ^ (unsigned char)word.ptr[i]) * 16777619U;
    return &analyser->slots[(hash ^ hash >> 16) % SLOTS];
}

/* Sets the stem of a word, and whether it is a stop word. The stem is valid until the next call. */
static int find_stem(struct analyser *analyser, struct str word, struct str *stem, bool *stop)
{
    struct stem_slot *slot = stem_slot_of(analyser, word);

    if (slot->word_len == word.len && memcmp(slot->word, word.ptr, word.len) == 0) {
        *stem = (struct str){slot->stem, slot->stem_len};
        *stop = slot->stop;
        return 0;
    }
    const sb_symbol *stemmed = sb_stemmer_stem(analyser->stemmer, (const sb_symbol *)word.ptr, (int)word.len);
    if (!stemmed)
        return WT_ENOMEM;
    *stem = (struct str){(const char *)stemmed, (size_t)sb_stemmer_length(analyser->stemmer)};
    *stop = wt__is_stopword(word);
    if (word.len <= SLOT_BYTES && stem->len <= SLOT_BYTES) {
        slot->word_len = (unsigned char)word.len;
        slot->stem_len = (unsigned char)stem->len;
        slot->stop = *stop;
        memcpy(slot->word, word.ptr, word.len);
        memcpy(slot->stem, stem->ptr, stem->len);
    }
    return 0;
}

/* ---------------------------------------------------------------- splitting */

enum kind { BREAK, SMALL, CAPITAL, DIGIT, IDEOGRAPH, MARK };

static inline enum kind ascii_kind(unsigned char c)
{
    if ((unsigned char)((c | 0x20) - 'a') < 26)
        return c & 0x20 ? SMALL : CAPITAL;
    return (unsigned char)(c - '0') < 10 ? DIGIT : BREAK;
}

static enum kind wide_kind(uint32_t c)
{
    if (wt__bert_class(c) == BERT_CJK)
        return IDEOGRAPH;
    switch (wt__unicode_kind(c)) {
    case UNICODE_LETTER:
        return SMALL; /* includes letters of scripts without case */
    case UNICODE_UPPER:
        return CAPITAL;
    case UNICODE_DIGIT:
        return DIGIT;
    case UNICODE_MARK:
        return MARK;
    default:
        return BREAK;
    }
}

/* Returns the kind of the code point at *at and moves *at past it. Returns BREAK at the end. */
static inline enum kind next_kind(const char **at, const char *end)
{
    if (*at == end)
        return BREAK;
    unsigned char c = (unsigned char)**at;
    if (c >= 0x80)
        return wide_kind(wt__utf8_next(at, end));
    *at += 1;
    return ascii_kind(c);
}

/* True if a new part starts at a code point of kind `kind` after one of kind `before`. rest: text after the code
 * point. */
static bool starts_part(enum kind before, enum kind kind, const char *rest, const char *end)
{
    if (before == IDEOGRAPH || kind == IDEOGRAPH)
        return true;
    if (kind != CAPITAL || before == SMALL)
        return kind == CAPITAL;
    bool s = rest < end && *rest == 's';
    return next_kind(&rest, end) == SMALL && (!s || next_kind(&rest, end) == SMALL);
}

bool wt__analyser_next_part(struct str text, struct word_part *part)
{
    if (text.len == 0)
        return false;
    const char *at = text.ptr + part->end, *end = text.ptr + text.len;
    enum kind before = BREAK;

    part->joined = part->end > 0;
    while (at < end) {
        const char *here = at;
        enum kind kind = next_kind(&at, end);
        if (before == BREAK && (kind == BREAK || kind == MARK)) {
            part->joined = false;
        } else if (before == BREAK) {
            part->start = (size_t)(here - text.ptr);
            before = kind;
        } else if (kind == BREAK || (kind != MARK && starts_part(before, kind, at, end))) {
            at = here;
            break;
        } else if (kind != MARK) {
            before = kind;
        }
    }
    part->end = (size_t)(at - text.ptr);
    return before != BREAK;
}

void wt__analyser_spell_out(struct str text, struct buffer *out)
{
    struct word_part part = {0};

    for (bool first = true; wt__analyser_next_part(text, &part); first = false) {
        if (!first)
            wt__buffer_char(out, ' ');
        wt__buffer_append(out, text.ptr + part.start, part.end - part.start);
    }
}

/* ---------------------------------------------------------------- folding and joining */

struct folded_word {
    size_t len;
    char bytes[ANALYSER_MAX_TERM];
};

static bool is_accent(uint32_t c)
{
    return c >= 0x300 && c <= 0x36F;
}

size_t wt__analyser_fold(uint32_t c, char bytes[4])
{
    uint32_t lower[UNICODE_MAX_LOWER], decomposed[UNICODE_MAX_DECOMPOSED];

    if (c < 0x80) {
        bytes[0] = (char)(c - 'A' < 26 ? c | 0x20 : c);
        return 1;
    }
    if (is_accent(c))
        return 0;
    wt__unicode_lower(c, lower); /* the optional second code point is an accent */
    unsigned count = wt__unicode_decompose(lower[0], decomposed);
    for (unsigned i = 1; i < count; i++)
        if (!is_accent(decomposed[i]))
            return wt__utf8_put(lower[0], bytes);
    return wt__utf8_put(decomposed[0], bytes);
}

/* Folds a part, truncated to ANALYSER_MAX_TERM bytes. */
static void fold_part(struct folded_word *word, const char *at, const char *end)
{
    word->len = 0;
    while (at < end && word->len < ANALYSER_MAX_TERM) {
        char bytes[4];
        size_t len = wt__analyser_fold(wt__utf8_next(&at, end), bytes);
        if (len > ANALYSER_MAX_TERM - word->len)
            return;
        memcpy(word->bytes + word->len, bytes, len);
        word->len += len;
    }
}

static int append_part(struct analyser *analyser, const struct folded_word *word, struct token_source source,
                       struct token_list *out)
{
    struct str stem = {0};
    bool stop = false;
    int rc = find_stem(analyser, (struct str){word->bytes, word->len}, &stem, &stop);

    return rc < 0 || stop || stem.len == 0 ? rc : append_term(out, stem, source);
}

static int add_joined(struct analyser *analyser, const struct folded_word *a, const struct folded_word *b,
                      struct token_source source, struct token_list *out)
{
    struct str stem = {0};
    struct folded_word both = {.len = a->len + b->len};
    bool stop = false;

    if (both.len > ANALYSER_MAX_TERM)
        return 0;
    memcpy(both.bytes, a->bytes, a->len);
    memcpy(both.bytes + a->len, b->bytes, b->len);
    int rc = find_stem(analyser, (struct str){both.bytes, both.len}, &stem, &stop);
    return rc < 0 || stem.len == 0 ? rc : append_term(out, stem, source);
}

int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out)
{
    struct folded_word words[2]; /* current part and the one before it */
    struct word_part part = {0};
    size_t before_start = 0;
    unsigned current = 0;
    int rc = 0;

    while (rc == 0 && wt__analyser_next_part(text, &part)) {
        struct folded_word *word = &words[current], *before = &words[!current];
        fold_part(word, text.ptr + part.start, text.ptr + part.end);
        rc = append_part(analyser, word, (struct token_source){part.start, part.end}, out);
        if (rc == 0 && part.joined)
            rc = add_joined(analyser, before, word, (struct token_source){before_start, part.end}, out);
        before_start = part.start;
        current = !current;
    }
    return rc;
}
