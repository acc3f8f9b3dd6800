/* analyser.c: text is cut into parts, a part is folded, and a stemmer behind a small cache makes it a term.
 *
 * A part ends at everything that is no letter, digit or mark, and inside a run before a capital that follows
 *   a small letter                            getUser
 *   a capital or digit, if a small letter     HTTPResponse, Top5News; but an s that ends there is a plural: APIs
 *   comes next
 * Letters and digits do not part otherwise. On non-ASCII text the same rules hold by Unicode's categories.
 *
 * Stemming costs about a microsecond a word, the rest a few nanoseconds a byte; a catalogue's words repeat, so that a
 * direct-mapped cache of whole answers serves most of them. A colliding word simply takes the slot: the cache is
 * bounded, and its content never shows in a result. */
#include "text/analyser.h"

#include <libstemmer.h>
#include <stdlib.h>

#include "base/memory.h"
#include "text/bert_classes.h"
#include "text/unicode.h"

enum {
    SLOTS = 8192,   /* of 48 bytes: they stay in the second-level cache */
    SLOT_BYTES = 22 /* a longer word is stemmed anew each time */
};

struct slot {
    unsigned char word_len; /* 0: free */
    unsigned char stem_len;
    bool stop;
    char word[SLOT_BYTES], stem[SLOT_BYTES];
};

struct analyser {
    struct sb_stemmer *stemmer;
    struct slot slots[SLOTS];
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

static int append(struct token_list *list, struct str term, struct token_source source)
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

static struct slot *slot_of(struct analyser *analyser, struct str word)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < word.len; i++)
        hash = (hash ^ (unsigned char)word.ptr[i]) * 16777619U;
    return &analyser->slots[(hash ^ hash >> 16) % SLOTS];
}

/* The stem of a word, and whether it is a stop word. Valid until the next call. */
static int look_up(struct analyser *analyser, struct str word, struct str *stem, bool *stop)
{
    struct slot *slot = slot_of(analyser, word);

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

/* Cutting. */

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
        return SMALL; /* also of scripts without case */
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

/* The kind of the code point at *at, which is moved past it; BREAK at the end. */
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

/* Whether a part starts at a code point of `kind` behind one of kind `before`; rest is the text after it. */
static bool parts(enum kind before, enum kind kind, const char *rest, const char *end)
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
        } else if (kind == BREAK || (kind != MARK && parts(before, kind, at, end))) {
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

/* Folding and joining. */

struct word {
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
    wt__unicode_lower(c, lower); /* a second code point is an accent */
    unsigned count = wt__unicode_decompose(lower[0], decomposed);
    for (unsigned i = 1; i < count; i++)
        if (!is_accent(decomposed[i]))
            return wt__utf8_put(lower[0], bytes);
    return wt__utf8_put(decomposed[0], bytes);
}

/* The part's text as it is looked up, cut to what fits. */
static void fold_part(struct word *word, const char *at, const char *end)
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

static int add_part(struct analyser *analyser, const struct word *word, struct token_source source,
                    struct token_list *out)
{
    struct str stem = {0};
    bool stop = false;
    int rc = look_up(analyser, (struct str){word->bytes, word->len}, &stem, &stop);

    return rc < 0 || stop || stem.len == 0 ? rc : append(out, stem, source);
}

static int add_joined(struct analyser *analyser, const struct word *a, const struct word *b, struct token_source source,
                      struct token_list *out)
{
    struct str stem = {0};
    struct word both = {.len = a->len + b->len};
    bool stop = false;

    if (both.len > ANALYSER_MAX_TERM)
        return 0;
    memcpy(both.bytes, a->bytes, a->len);
    memcpy(both.bytes + a->len, b->bytes, b->len);
    int rc = look_up(analyser, (struct str){both.bytes, both.len}, &stem, &stop);
    return rc < 0 || stem.len == 0 ? rc : append(out, stem, source);
}

int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out)
{
    struct word words[2]; /* the current part's and the one before it */
    struct word_part part = {0};
    size_t before_start = 0;
    unsigned current = 0;
    int rc = 0;

    while (rc == 0 && wt__analyser_next_part(text, &part)) {
        struct word *word = &words[current], *before = &words[!current];
        fold_part(word, text.ptr + part.start, text.ptr + part.end);
        rc = add_part(analyser, word, (struct token_source){part.start, part.end}, out);
        if (rc == 0 && part.joined)
            rc = add_joined(analyser, before, word, (struct token_source){before_start, part.end}, out);
        before_start = part.start;
        current = !current;
    }
    return rc;
}
