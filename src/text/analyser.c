/* analyser.c: one pass that cuts text into words, and a stemmer behind a small cache.
 *
 * The cutter looks at a code point's kind and at the two before it:
 *   other                          ends the word (blanks, _ - . / and every other sign)
 *   lower, Upper                   a word starts at Upper                            getUser
 *   Upper, Upper, lower            a word starts at the second Upper                 HTTPResponse
 *     unless lower is a final s    the plural of an acronym, which is left out        user_IDs
 *   mark                           belongs to the letter before it
 *
 * Stemming costs about a microsecond a word, the rest a few nanoseconds a byte; a catalogue's words repeat, so that a
 * direct-mapped cache of whole answers (stem, or "stop word") serves nearly all of them. A colliding word simply takes
 * the slot: the cache is bounded, and its content never shows in a result. */
#include "text/analyser.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "text/bert_classes.h"
#include "text/stopwords.h"
#include "text/unicode.h"

enum {
    SLOTS = 8192,   /* of 48 bytes: they stay in the second-level cache */
    SLOT_BYTES = 23 /* a longer word is stemmed anew each time */
};

struct slot {
    unsigned char word_len; /* 0: free */
    unsigned char stem_len; /* 0: a stop word */
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

/* The stem of a word, empty for a stop word; valid until the next call. */
static int stem(struct analyser *analyser, struct str word, struct str *out)
{
    struct slot *slot = slot_of(analyser, word);

    if (slot->word_len == word.len && memcmp(slot->word, word.ptr, word.len) == 0) {
        *out = (struct str){slot->stem, slot->stem_len};
        return 0;
    }
    *out = (struct str){"", 0};
    if (!wt__is_stopword(word)) {
        const sb_symbol *stemmed = sb_stemmer_stem(analyser->stemmer, (const sb_symbol *)word.ptr, (int)word.len);
        if (!stemmed)
            return WT_ENOMEM;
        *out = (struct str){(const char *)stemmed, (size_t)sb_stemmer_length(analyser->stemmer)};
    }
    if (word.len <= SLOT_BYTES && out->len <= SLOT_BYTES) {
        slot->word_len = (unsigned char)word.len;
        slot->stem_len = (unsigned char)out->len;
        memcpy(slot->word, word.ptr, word.len);
        memcpy(slot->stem, out->ptr, out->len);
    }
    return 0;
}

/* The word that is being read. */
struct cutter {
    struct analyser *analyser;
    struct token_list *out;
    char word[ANALYSER_MAX_TERM];
    size_t len;
    bool full;                     /* a code point did not fit: what follows is cut off */
    enum unicode_kind last, prior; /* kinds of its last two letters or digits; UNICODE_OTHER: none */
    size_t start;                  /* where it starts in the text */
    char last_bytes[4];            /* its last code point, as added */
    size_t last_len;
    size_t last_place; /* where that stands in word */
    size_t last_start; /* and in the text */
};

static void add(struct cutter *cutter, const char *bytes, size_t len)
{
    cutter->full = cutter->full || cutter->len + len > ANALYSER_MAX_TERM;
    if (cutter->full)
        return;
    memcpy(cutter->word + cutter->len, bytes, len);
    cutter->len += len;
}

static void add_letter(struct cutter *cutter, enum unicode_kind kind, const char *bytes, size_t len, size_t start)
{
    if (cutter->last == UNICODE_OTHER)
        cutter->start = start;
    cutter->prior = cutter->last;
    cutter->last = kind;
    memcpy(cutter->last_bytes, bytes, len);
    cutter->last_len = len;
    cutter->last_place = cutter->len;
    cutter->last_start = start;
    add(cutter, bytes, len);
}

/* Ends the word, which ends before byte `end` of the text. */
static int end_word(struct cutter *cutter, size_t end)
{
    struct str term;
    int rc = 0;

    if (cutter->len > 0) {
        rc = stem(cutter->analyser, (struct str){cutter->word, cutter->len}, &term);
        if (rc == 0 && term.len > 0)
            rc = append(cutter->out, term, (struct token_source){cutter->start, end});
    }
    cutter->len = 0;
    cutter->full = false;
    cutter->last = cutter->prior = UNICODE_OTHER;
    return rc;
}

/* Ends the word before its last code point, with which a new one starts. */
static int end_word_before_last(struct cutter *cutter)
{
    enum unicode_kind kind = cutter->last;

    cutter->len = cutter->last_place;
    int rc = end_word(cutter, cutter->last_start);
    add_letter(cutter, kind, cutter->last_bytes, cutter->last_len, cutter->last_start);
    return rc;
}

static enum unicode_kind kind_of(uint32_t c)
{
    if (c >= 0x80)
        return wt__unicode_kind(c);
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return c & 0x20 ? UNICODE_LETTER : UNICODE_UPPER;
    return c >= '0' && c <= '9' ? UNICODE_DIGIT : UNICODE_OTHER;
}

static bool is_accent(uint32_t c)
{
    return c >= 0x300 && c <= 0x36F;
}

/* c in lower case and without accents, as UTF-8. */
static size_t fold(uint32_t c, char bytes[4])
{
    uint32_t lower[UNICODE_MAX_LOWER], parts[UNICODE_MAX_DECOMPOSED];

    if (c < 0x80) {
        bytes[0] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        return 1;
    }
    wt__unicode_lower(c, lower); /* a second code point is an accent */
    unsigned count = wt__unicode_decompose(lower[0], parts);
    for (unsigned i = 1; i < count; i++)
        if (!is_accent(parts[i]))
            return wt__utf8_put(lower[0], bytes);
    return wt__utf8_put(parts[0], bytes);
}

/* Whether `rest` follows an s that makes the plural of an acronym: no lower-case letter goes on. */
static bool ends_lower_case(const char *rest, const char *end)
{
    return rest == end || kind_of(wt__utf8_next(&rest, end)) != UNICODE_LETTER;
}

/* Takes one letter or digit; rest is the text behind it. */
static int take(struct cutter *cutter, uint32_t c, enum unicode_kind kind, size_t start, const char *rest,
                const char *end)
{
    bool acronym = cutter->prior == UNICODE_UPPER && cutter->last == UNICODE_UPPER && kind == UNICODE_LETTER;
    char bytes[4];
    int rc = 0;

    if (acronym && c == 's' && ends_lower_case(rest, end)) {
        cutter->last = UNICODE_LETTER; /* the stemmer would keep it in "pdfs" and drop it in "ids" */
        return 0;
    }
    if (acronym)
        rc = end_word_before_last(cutter);
    else if (cutter->last == UNICODE_LETTER && kind == UNICODE_UPPER)
        rc = end_word(cutter, start);
    add_letter(cutter, kind, bytes, fold(c, bytes), start);
    return rc;
}

int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out)
{
    struct cutter cutter = {.analyser = analyser, .out = out};
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : text.ptr;
    char bytes[4];
    int rc = 0;

    while (at < end && rc == 0) {
        size_t start = (size_t)(at - text.ptr);
        uint32_t c = wt__utf8_next(&at, end);
        enum unicode_kind kind = kind_of(c);
        if (kind == UNICODE_OTHER) {
            rc = end_word(&cutter, start);
        } else if (kind == UNICODE_MARK) {
            if (cutter.last != UNICODE_OTHER && !is_accent(c))
                add(&cutter, bytes, wt__utf8_put(c, bytes));
        } else if (wt__bert_class(c) == BERT_CJK) {
            rc = end_word(&cutter, start);
            add_letter(&cutter, kind, bytes, wt__utf8_put(c, bytes), start);
            if (rc == 0)
                rc = end_word(&cutter, (size_t)(at - text.ptr));
        } else {
            rc = take(&cutter, c, kind, start, at, end);
        }
    }
    return rc == 0 ? end_word(&cutter, text.len) : rc;
}
