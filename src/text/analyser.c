/* analyser.c: splits text into parts, folds each part (lower case, no accents), and stems it.
 *
 * A part ends at each character other than a letter, digit or combining mark. Each ideograph is a part. Inside a run, a
 * part also ends before a capital that comes
 *
 *   after a small letter                               getUser
 *   after a capital or digit, before a small letter    HTTPResponse, Top5News
 *
 * A plural s does not count as a small letter, so that "APIs" is one part. Non-ASCII letters follow the same rules,
 * according to their Unicode categories.
 *
 * Stemming takes about a microsecond per word. All other steps take a few nanoseconds per byte. Words repeat within a
 * catalogue, so a direct-mapped cache of stems serves most words. A word with the same slot replaces the cached word.
 * The cache has a fixed size and never affects results. */
#include "text/analyser.h"

#include <libstemmer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- stop words */

/* Stop words are words of grammar and of polite requests ("could you please find me"). The list omits words that may
 * name a tool's function, even common ones. It also omits words of quantity (each, most, once), because they
 * distinguish tools.
 *
 * The list was chosen on the train and dev parts of the data sets. Only the words of quantity were decided by test
 * figures, because dev was not conclusive (docs/retrieval.md, "Accuracy").
 *
 * Invariant: words are unique and in ascending byte order (tests/text/test_analyser.c). */
static const char *const stopwords[] = {
    "a",       "able",     "about",      "above",       "additionally", "after",      "against",    "ain",
    "almost",  "already",  "also",       "although",    "am",           "among",      "an",         "and",
    "any",     "anyone",   "anything",   "are",         "aren",         "around",     "as",         "assist",
    "at",      "away",     "be",         "became",      "because",      "become",     "been",       "before",
    "began",   "behind",   "being",      "below",       "between",      "but",        "by",         "came",
    "can",     "cannot",   "come",       "could",       "couldn",       "curious",    "currently",  "d",
    "did",     "didn",     "do",         "does",        "doesn",        "doing",      "don",        "done",
    "down",    "during",   "either",     "else",        "even",         "everyone",   "everything", "finally",
    "for",     "from",     "further",    "furthermore", "get",          "gets",       "getting",    "give",
    "given",   "gives",    "go",         "goes",        "going",        "gone",       "got",        "great",
    "had",     "hadn",     "has",        "hasn",        "have",         "haven",      "having",     "he",
    "hello",   "help",     "helping",    "helps",       "her",          "here",       "hers",       "herself",
    "hey",     "hi",       "him",        "himself",     "his",          "hope",       "how",        "however",
    "i",       "if",       "in",         "indeed",      "instead",      "interested", "into",       "is",
    "isn",     "it",       "its",        "itself",      "just",         "keep",       "kept",       "kindly",
    "know",    "lastly",   "let",        "lets",        "like",         "ll",         "look",       "looking",
    "love",    "m",        "made",       "make",        "makes",        "may",        "maybe",      "me",
    "might",   "mine",     "moreover",   "much",        "must",         "my",         "myself",     "need",
    "needed",  "needs",    "neither",    "no",          "nobody",       "none",       "nor",        "not",
    "nothing", "of",       "off",        "often",       "on",           "onto",       "or",         "otherwise",
    "ought",   "our",      "ours",       "ourselves",   "out",          "over",       "per",        "perhaps",
    "please",  "possible", "provide",    "quite",       "rather",       "re",         "really",     "s",
    "seem",    "seems",    "shall",      "she",         "should",       "shouldn",    "since",      "so",
    "some",    "somehow",  "someone",    "something",   "somewhere",    "still",      "such",       "sure",
    "t",       "tell",     "than",       "thank",       "thanks",       "that",       "the",        "their",
    "theirs",  "them",     "themselves", "then",        "there",        "therefore",  "these",      "they",
    "this",    "those",    "though",     "through",     "throughout",   "thus",       "to",         "too",
    "toward",  "towards",  "try",        "trying",      "under",        "unless",     "until",      "unto",
    "up",      "upon",     "us",         "use",         "used",         "using",      "ve",         "very",
    "via",     "want",     "wanted",     "wants",       "was",          "wasn",       "we",         "well",
    "were",    "weren",    "what",       "whatever",    "when",         "whenever",   "where",      "wherever",
    "whether", "which",    "while",      "who",         "whoever",      "whom",       "whose",      "why",
    "will",    "wish",     "with",       "within",      "without",      "won",        "wondering",  "would",
    "wouldn",  "yes",      "yet",        "you",         "your",         "yours",      "yourself",   "yourselves",
};

bool wt__is_stopword(struct str word)
{
    size_t low = 0, high = sizeof stopwords / sizeof *stopwords; /* rows low .. high - 1 may have the word */
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(word.ptr, stopwords[middle], word.len);
        if (order == 0 && stopwords[middle][word.len] == '\0')
            return true;
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return false;
}

/* ---------------------------------------------------------------- stemming */

enum {
    SLOTS = 8192,   /* slots of the cache; at 47 bytes each, they fit in a second-level CPU cache */
    SLOT_BYTES = 22 /* maximum bytes of a cached word */
};

struct stem_slot {
    unsigned char word_len; /* 0 if the slot is free */
    unsigned char stem_len;
    bool stop; /* true for a stop word */
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

/* Sets *stem to the stem of a word, and *stop to true if the word is a stop word. The stem is valid until the next
 * call. */
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
    /* Letters of scripts without case count as small. */
    static const unsigned char kinds[] = {[UNICODE_OTHER] = BREAK,
                                          [UNICODE_LETTER] = SMALL,
                                          [UNICODE_UPPER] = CAPITAL,
                                          [UNICODE_DIGIT] = DIGIT,
                                          [UNICODE_MARK] = MARK};
    return wt__bert_class(c) == BERT_CJK ? IDEOGRAPH : (enum kind)kinds[wt__unicode_kind(c)];
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

/* True if a new part starts at a code point. kind: kind of the code point. before: kind of the previous code point.
 * rest: text after the code point. */
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
    wt__unicode_lower(c, lower); /* A second code point is an accent, and is ignored. */
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

/* Appends the stem of a word. joins: true for a joined form, which is appended even if it is a stop word. Otherwise
 * skips a stop word. */
static int append_stem(struct analyser *analyser, struct str word, bool joins, struct token_source source,
                       struct token_list *out)
{
    struct str stem = {0};
    bool stop = false;
    WT_TRY(find_stem(analyser, word, &stem, &stop));
    return (stop && !joins) || stem.len == 0 ? 0 : append_term(out, stem, source);
}

static int add_joined(struct analyser *analyser, const struct folded_word *a, const struct folded_word *b,
                      struct token_source source, struct token_list *out)
{
    struct folded_word both = {.len = a->len + b->len};
    if (both.len > ANALYSER_MAX_TERM)
        return 0;
    memcpy(both.bytes, a->bytes, a->len);
    memcpy(both.bytes + a->len, b->bytes, b->len);
    return append_stem(analyser, (struct str){both.bytes, both.len}, true, source, out);
}

int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out)
{
    struct folded_word words[2]; /* the current part and the previous part */
    struct word_part part = {0};
    size_t before_start = 0;
    unsigned current = 0;
    while (wt__analyser_next_part(text, &part)) {
        struct folded_word *word = &words[current], *before = &words[!current];
        fold_part(word, text.ptr + part.start, text.ptr + part.end);
        struct token_source source = {part.start, part.end};
        WT_TRY(append_stem(analyser, (struct str){word->bytes, word->len}, false, source, out));
        if (part.joined)
            WT_TRY(add_joined(analyser, before, word, (struct token_source){before_start, part.end}, out));
        before_start = part.start;
        current = !current;
    }
    return 0;
}

/* ---------------------------------------------------------------- hashes of names */

static uint64_t hash_name_bytes(uint64_t state, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        state = wt__name_hash_byte(state, (unsigned char)bytes[i]);
    return state;
}

uint64_t wt__name_hash_text(uint64_t state, struct str text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (text.len > 0 && at < end) {
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x80) { /* Fast path for ASCII, with the same result as the general path. */
            unsigned char lower = byte | 0x20;
            bool letter = lower >= 'a' && lower <= 'z';
            if (letter || (byte >= '0' && byte <= '9'))
                state = wt__name_hash_byte(state, letter ? lower : byte);
            at++;
            continue;
        }
        uint32_t c = wt__utf8_next(&at, end);
        enum unicode_kind kind = wt__unicode_kind(c);
        char bytes[4];
        if (kind == UNICODE_LETTER || kind == UNICODE_UPPER || kind == UNICODE_DIGIT)
            state = hash_name_bytes(state, bytes, wt__analyser_fold(c, bytes));
    }
    return state;
}

uint64_t wt__name_hash_written(struct str text)
{
    return wt__name_hash_end(hash_name_bytes(wt__name_hash_byte(NAME_HASH_EMPTY, '\0'), text.ptr, text.len));
}

/* Mixes the state, so that every bit of it affects every bit of the hash. In FNV-1a, the high bits depend mostly on the
 * first bytes. */
uint64_t wt__name_hash_end(uint64_t state)
{
    state ^= state >> 33;
    state *= UINT64_C(0xff51afd7ed558ccd);
    state ^= state >> 33;
    state *= UINT64_C(0xc4ceb9fe1a85ec53);
    state ^= state >> 33;
    return state >> (64 - NAME_HASH_BITS);
}
