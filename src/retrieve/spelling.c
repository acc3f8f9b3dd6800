/* spelling.c: corrects misspelt words (spelling.h). Candidates come from the catalogue and from the vocabulary.
 *
 * The index has only the stems of the catalogue's words. A stem is therefore tried with the ending of the typed word:
 * for "slaked", the stem "slack" gives "slacked". The result counts if it has this stem. The vocabulary is a trie,
 * walked as far as the slips allow. Only words that begin with the first or the second typed letter are tried, because
 * people type the first letter correctly or swap the first two.
 *
 * For an unknown word, the index terms are read that begin with the first typed letter, or with the first two swapped.
 * The search needs no memory or disk space per tool. bench_spelling measures its time. */
#include "retrieve/spelling.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "encoder/model_dir.h"
#include "encoder/packed.h"
#include "retrieve/services.h"
#include "retrieve/slips.h"
#include "retrieve/source.h"
#include "text/unicode.h"

/* Maximum costs of corrections, and limits on the length of words. */
enum {
    COST_SHORT = 110,    /* one slip */
    COST_LONG = 150,     /* two likely slips in a word of at least LONG_LETTERS */
    COST_ELSEWHERE = 70, /* a swap or a doubled letter; if only the vocabulary has the word, or for KNOWN_BY_STEM */
    LONG_LETTERS = 8,
    LEAST_LETTERS = 3, /* minimum; a word of this length can only become a stop word (teh) */
    SURE_LETTERS = 5, /* shorter words resemble too many others: only lost, swapped and doubled letters are corrected */
    ELSEWHERE = 20    /* extra cost of a word that no tool has */
};

_Static_assert((int)COST_LONG <= (int)SLIPS_MOST, "costs above SLIPS_MOST are not exact");
_Static_assert((int)COST_LONG < (int)SLIP_VOWEL + (int)SLIP_AT_FRONT, "the search needs the first letter to be right");

struct speller {
    const struct lexical *index;
    struct trie vocabulary;
    struct analyser *analyser;
    struct token_list *tokens;
    struct slips slips;
    struct str typed;             /* lower case */
    char stem[ANALYSER_MAX_TERM]; /* stem of the typed word */
    size_t stem_len;
    unsigned most; /* maximum cost */

    /* Best word so far; best_len is 0 without one. */
    char best[SLIPS_LETTERS + 2];
    size_t best_len;
    unsigned best_cost;
    uint32_t best_rows; /* number of tools with the word */
    int32_t best_rank;  /* rank in the vocabulary, where common words come first */
};

/* ---------------------------------------------------------------- known words */

/* Opens the vocabulary of the built-in encoder. */
static int open_vocabulary(struct trie *out, wt_error *err)
{
    struct packed packed;
    int rc = wt__packed_bind(&packed, wt__built_in_model, MODEL_BUILT_IN, err);
    *out = packed.tokenizer.wordpiece.trie;
    return rc;
}

/* Computes the stem of a word of letters a to z, valid until the next call. Empty for a stop word. */
static int compute_stem(struct speller *speller, struct str word, struct str *stem)
{
    wt__token_list_reset(speller->tokens);
    int rc = wt__analyser_run(speller->analyser, word, speller->tokens);
    *stem = rc == 0 && speller->tokens->len > 0 ? speller->tokens->terms[0] : (struct str){0};
    return rc;
}

static bool in_vocabulary(const struct speller *speller, struct str word)
{
    uint32_t node = wt__trie_walk(&speller->vocabulary, word);
    return node > 0 && wt__trie_unit(&speller->vocabulary, node).value >= 0;
}

/* True if the vocabulary has the stem with this ending. Ending "y" replaces the stem's final i, because the stemmer
 * turns y into i. */
static bool has_inflection(const struct speller *speller, struct str stem, struct str ending)
{
    char word[ANALYSER_MAX_TERM + 4];
    size_t len = stem.len;
    if (ending.len == 1 && ending.ptr[0] == 'y' && (len == 0 || stem.ptr[--len] != 'i'))
        return false;
    memcpy(word, stem.ptr, len);
    memcpy(word + len, ending.ptr, ending.len);
    return in_vocabulary(speller, (struct str){word, len + ending.len});
}

/* True if the vocabulary has the base form of the stem: the stem itself, or with the e or y that the stemmer
 * removed. */
static bool is_inflected(const struct speller *speller, struct str stem)
{
    return has_inflection(speller, stem, STR("")) || has_inflection(speller, stem, STR("e")) ||
           has_inflection(speller, stem, STR("y"));
}

/* True if the vocabulary has the base form of the stem, or the stem with the ending er or ion. */
static bool is_stem(const struct speller *speller, struct str stem)
{
    return is_inflected(speller, stem) || has_inflection(speller, stem, STR("er")) ||
           has_inflection(speller, stem, STR("ion"));
}

enum knowledge {
    KNOWN,
    KNOWN_BY_STEM, /* inflected form, or a slip that the stemmer removed (runing, meetting) */
    UNKNOWN
};

/* Starts a correction and classifies the word. */
static int classify_typed_word(struct speller *speller, struct str word, enum knowledge *known)
{
    struct str stem;
    WT_TRY(compute_stem(speller, word, &stem));
    *known = UNKNOWN;
    if (stem.len == 0 || in_vocabulary(speller, word))
        *known = KNOWN;
    else if (wt__lexical_df(speller->index, stem) > 0 || is_inflected(speller, stem))
        *known = word.len >= SURE_LETTERS ? KNOWN_BY_STEM : KNOWN;
    if (stem.len > 0) /* ptr may be NULL if the stem is empty */
        memcpy(speller->stem, stem.ptr, stem.len);
    speller->stem_len = stem.len;
    speller->typed = word;
    speller->best_len = 0;
    speller->best_rows = 0;
    speller->most = *known == KNOWN_BY_STEM ? COST_ELSEWHERE : word.len >= LONG_LETTERS ? COST_LONG : COST_SHORT;
    if (*known != KNOWN)
        wt__slips_begin(&speller->slips, word, speller->most);
    return 0;
}

/* ---------------------------------------------------------------- candidates */

/* True if the typed word is a longer form of `word` (an unknown plural, a name) rather than a slip. */
static bool is_beginning(struct str word, struct str typed)
{
    size_t n = typed.len;
    bool doubled = n == word.len + 1 && n > 1 && typed.ptr[n - 1] == typed.ptr[n - 2];
    return wt__str_starts(typed, word) && !doubled;
}

/* Returns the maximum edit cost for the word. rows: number of tools that contain it. */
static unsigned max_correction_cost(const struct speller *speller, struct str word, uint32_t rows)
{
    size_t typed = speller->typed.len;
    if (rows == 0)
        return typed >= SURE_LETTERS || wt__is_stopword(word) ? COST_ELSEWHERE : 0;
    if (typed >= SURE_LETTERS)
        return speller->most;
    if (typed <= LEAST_LETTERS)
        return 0;
    return word.len > typed ? SLIP_LOST : word.len == typed ? SLIP_SWAPPED : SLIP_DOUBLED;
}

static bool is_better(const struct speller *speller, unsigned cost, uint32_t rows, int32_t rank)
{
    if (speller->best_len == 0 || cost != speller->best_cost)
        return speller->best_len == 0 || cost < speller->best_cost;
    return rows != speller->best_rows ? rows > speller->best_rows : rank < speller->best_rank;
}

/* Makes the word, with the given stem, the best correction if it is better than the best one so far. */
static void weigh_correction(struct speller *speller, struct str word, struct str stem, unsigned cost, int32_t rank)
{
    uint32_t rows = stem.len ? wt__lexical_df(speller->index, stem) : 0;
    if (cost > max_correction_cost(speller, word, rows) || is_beginning(word, speller->typed))
        return;
    cost += rows ? 0 : ELSEWHERE;
    if (!is_better(speller, cost, rows, rank))
        return;
    memcpy(speller->best, word.ptr, word.len);
    speller->best_len = word.len;
    speller->best_cost = cost;
    speller->best_rows = rows;
    speller->best_rank = rank;
}

/* Tries the vocabulary's words below a trie node that represents the first `letters` intended letters. */
static int walk_vocabulary(struct speller *speller, uint32_t node, size_t letters)
{
    struct str word = {speller->slips.meant, letters}, stem;
    unsigned cost = wt__slips_cost(&speller->slips, letters);
    int32_t rank = wt__trie_unit(&speller->vocabulary, node).value;
    if (rank >= 0 && cost <= speller->most) {
        WT_TRY(compute_stem(speller, word, &stem));
        weigh_correction(speller, word, stem, cost, rank);
    }
    if (letters == speller->typed.len + 2)
        return 0;
    for (uint32_t left = wt__slips_letters(&speller->slips, letters); left; left &= left - 1) {
        char letter = (char)('a' + __builtin_ctz(left));
        uint32_t child = wt__trie_child(&speller->vocabulary, node, (unsigned char)letter);
        if (child && wt__slips_add(&speller->slips, letters, letter) <= speller->most)
            WT_TRY(walk_vocabulary(speller, child, letters + 1));
    }
    return 0;
}

/* Returns a bitmap of the letters, or 0 if the word has anything but letters a to z. */
static uint32_t collect_letters(struct str word)
{
    uint32_t letters = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] < 'a' || word.ptr[i] > 'z')
            return 0;
        letters |= 1u << (word.ptr[i] - 'a');
    }
    return letters;
}

static size_t length_distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* Tries `word` if its stem is `term` and its cost is at most `most`. If the vocabulary has a base form with this
 * stem, it usually has all words with the stem. walk_vocabulary tries these words, and a form that the vocabulary lacks
 * is rarely a word ("delive" for the stem "deliv"). So only a swap is accepted then. */
static int try_surface(struct speller *speller, struct str word, struct str term, unsigned most)
{
    struct str stem;
    size_t at = 0;
    if (word.len == 0 || word.len > speller->typed.len + 2)
        return 0;
    while (at < word.len && wt__slips_add(&speller->slips, at, word.ptr[at]) <= most)
        at++;
    unsigned cost = at == word.len ? wt__slips_cost(&speller->slips, at) : UINT32_MAX;
    if (cost > most || (cost != SLIP_SWAPPED && is_stem(speller, term)))
        return 0;
    WT_TRY(compute_stem(speller, word, &stem));
    if (wt__str_equal(stem, term))
        weigh_correction(speller, word, stem, cost, INT32_MAX);
    return 0;
}

/* Tries a dictionary term as it is, with the y that the stemmer turned into i, and with the ending of the typed word.
 * The last form is less certain, so it may have only one slip. */
static int try_term(struct speller *speller, struct str term)
{
    char word[2 * ANALYSER_MAX_TERM];
    struct str typed = speller->typed;
    size_t same = 0, len = term.len;
    WT_TRY(try_surface(speller, term, term, speller->most));
    memcpy(word, term.ptr, term.len);
    if (term.ptr[term.len - 1] == 'i') {
        word[term.len - 1] = 'y';
        WT_TRY(try_surface(speller, (struct str){word, term.len}, term, speller->most));
        word[term.len - 1] = 'i';
    }
    while (same < speller->stem_len && same < typed.len && typed.ptr[same] == speller->stem[same])
        same++;
    /* If the stemmer replaced the ending of the typed word, and the term ends in the same replacement, remove it. */
    size_t put = speller->stem_len - same;
    if (put > 0 && put <= len && memcmp(word + len - put, speller->stem + same, put) == 0)
        len -= put;
    if (same == typed.len)
        return 0;
    memcpy(word + len, typed.ptr + same, typed.len - same);
    return try_surface(speller, (struct str){word, len + typed.len - same}, term, COST_SHORT);
}

/* Tries dictionary terms with this beginning, a similar length and similar letters. */
static int scan_dictionary(struct speller *speller, struct str beginning)
{
    const struct lexical *index = speller->index;
    uint32_t typed = collect_letters(speller->typed);
    size_t slips = speller->typed.len >= LONG_LETTERS ? 2 : 1;
    for (uint32_t i = wt__lexical_lower_bound(index, beginning); i < index->terms; i++) {
        struct str term = wt__lexical_term(index, i);
        if (!wt__str_starts(term, beginning))
            break;
        if (length_distance(term.len, speller->stem_len) > slips &&
            length_distance(term.len, speller->typed.len) > slips)
            continue;
        uint32_t letters = collect_letters(term), ending = 1u << ('i' - 'a'); /* the stemmer's i may stand for y */
        if (letters && (size_t)__builtin_popcount(letters & ~typed & ~ending) <= slips)
            WT_TRY(try_term(speller, term));
    }
    return 0;
}

/* Tries the words of the vocabulary that begin with the letter. */
static int search_vocabulary(struct speller *speller, char first)
{
    uint32_t node = wt__trie_child(&speller->vocabulary, 0, (unsigned char)first);
    bool near = node && wt__slips_add(&speller->slips, 0, first) <= speller->most;
    return near ? walk_vocabulary(speller, node, 1) : 0;
}

/* Finds the intended word for an unknown one. It begins with the first typed letter, or with the first two swapped; any
 * other beginning costs too much. */
static int find_intended(struct speller *speller)
{
    const char *typed = speller->typed.ptr, swapped[] = {typed[1], typed[0]};
    WT_TRY(search_vocabulary(speller, typed[0]));
    WT_TRY(scan_dictionary(speller, (struct str){typed, 1}));
    if (typed[0] == typed[1])
        return 0;
    WT_TRY(search_vocabulary(speller, typed[1]));
    return scan_dictionary(speller, (struct str){swapped, 2});
}

/* Finds the intended word for a word with a known stem: a word of both vocabulary and catalogue that differs by a
 * doubled or swapped letter or a lost final e (creat). */
static int find_same_stem(struct speller *speller)
{
    char word[SLIPS_LETTERS + 1];
    struct str typed = speller->typed, stem;
    memcpy(word, typed.ptr, typed.len);
    word[typed.len] = 'e';
    WT_TRY(search_vocabulary(speller, typed.ptr[0]));
    if (speller->best_len == 0 && in_vocabulary(speller, (struct str){word, typed.len + 1})) {
        WT_TRY(compute_stem(speller, (struct str){word, typed.len + 1}, &stem));
        weigh_correction(speller, (struct str){word, typed.len + 1}, stem, 0, 0);
    }
    if (speller->best_rows == 0)
        speller->best_len = 0;
    return 0;
}

/* ---------------------------------------------------------------- requests */

struct correction {
    size_t at, len; /* in the request */
    char read[SLIPS_LETTERS + 2];
    size_t read_len;
};

struct spelling_reading {
    struct speller speller;
    struct correction corrections[SPELLING_WORDS_MAX];
    size_t count;
    size_t left; /* unknown words without a correction, and words with letters beyond ASCII */
};

/* Returns the end of the quotation at `at`, including its closing mark, or `at` if there is no quotation. */
static size_t skip_quoted(struct str text, size_t at)
{
    static const struct {
        struct str open, close;
    } marks[] = {{STR("\""), STR("\"")}, {STR("'"), STR("'")}, {STR("`"), STR("`")}, {STR("“"), STR("”")},
                 {STR("„"), STR("“")},   {STR("‘"), STR("’")}, {STR("«"), STR("»")}};
    struct str rest = {text.ptr + at, text.len - at};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        if (!wt__str_starts(rest, marks[m].open))
            continue;
        for (size_t i = marks[m].open.len; i < rest.len; i++) {
            struct str here = {rest.ptr + i, rest.len - i};
            size_t end = i + marks[m].close.len;
            if (wt__str_starts(here, marks[m].close) && (end == rest.len || !wt__is_letter(rest.ptr[end])))
                return at + end;
        }
    }
    return at;
}

/* True if the word has letters beyond ASCII. */
static bool has_wide_letter(struct str word)
{
    for (const char *at = word.ptr, *end = word.ptr + word.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        enum unicode_kind kind = wt__unicode_kind(c);
        if (c >= 0x80 && (kind == UNICODE_LETTER || kind == UNICODE_UPPER))
            return true;
    }
    return false;
}

/* Copies the word in lower case to lower [SLIPS_LETTERS]. Returns an empty view for a name or a non-word. begins: the
 * word starts a sentence and may have a capital. */
static struct str lower_word(struct str word, bool begins, char *lower)
{
    if (word.len < LEAST_LETTERS || word.len > SLIPS_LETTERS)
        return (struct str){0};
    memcpy(lower, word.ptr, word.len);
    if (begins && lower[0] >= 'A' && lower[0] <= 'Z')
        lower[0] |= 0x20;
    return collect_letters((struct str){lower, word.len}) ? (struct str){lower, word.len} : (struct str){0};
}

/* Corrects one word of the request. */
static int correct_word(struct spelling_reading *reading, struct str request, struct str word, bool begins)
{
    struct speller *speller = &reading->speller;
    char lower[SLIPS_LETTERS];
    struct str typed = lower_word(word, begins, lower);
    enum knowledge known;
    reading->left += has_wide_letter(word);
    if (typed.len == 0 || wt__is_service(word))
        return 0;
    WT_TRY(classify_typed_word(speller, typed, &known));
    if (known == KNOWN)
        return 0;
    if (reading->count + reading->left >= SPELLING_WORDS_MAX) {
        reading->left = SPELLING_WORDS_MAX;
        return 0;
    }
    WT_TRY(known == UNKNOWN ? find_intended(speller) : find_same_stem(speller));
    if (speller->best_len == 0) {
        reading->left += known == UNKNOWN && typed.len > LEAST_LETTERS;
        return 0;
    }
    struct correction *correction = &reading->corrections[reading->count++];
    *correction = (struct correction){.at = (size_t)(word.ptr - request.ptr), .len = word.len};
    memcpy(correction->read, speller->best, speller->best_len);
    correction->read_len = speller->best_len;
    if (word.ptr[0] != typed.ptr[0])
        correction->read[0] = (char)(correction->read[0] & ~0x20);
    return 0;
}

static struct str trim_signs(struct str word)
{
    static const char before[] = "([{", behind[] = ".,;:!?)]}";
    while (word.len > 0 && strchr(before, word.ptr[0]))
        word = (struct str){word.ptr + 1, word.len - 1};
    while (word.len > 0 && strchr(behind, word.ptr[word.len - 1]))
        word.len--;
    return word;
}

static int correct_words(struct spelling_reading *reading, struct str request)
{
    bool begins = true;
    for (size_t at = 0, end; at < request.len; at = end) {
        end = skip_quoted(request, at);
        if (end > at)
            continue;
        while (end < request.len && !wt__is_blank(request.ptr[end]))
            end++;
        if (end > at) {
            WT_TRY(correct_word(reading, request, trim_signs((struct str){request.ptr + at, end - at}), begins));
            begins = strchr(".?!", request.ptr[end - 1]) != NULL;
        } else {
            begins |= request.ptr[end++] == '\n';
        }
    }
    return 0;
}

/* Applies the corrections to the request. */
static int apply_corrections(struct str *out, const struct spelling_reading *reading, struct str request,
                             struct arena *arena, wt_error *err)
{
    size_t at = 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    for (size_t i = 0; i < reading->count; i++) {
        const struct correction *correction = &reading->corrections[i];
        wt__buffer_append(&text, request.ptr + at, correction->at - at);
        wt__buffer_append(&text, correction->read, correction->read_len);
        at = correction->at + correction->len;
    }
    wt__buffer_append(&text, request.ptr + at, request.len - at);
    struct str all = wt__buffer_view(&text);
    *out = (struct str){text.failed ? NULL : wt__arena_copy(arena, all), all.len};
    return out->ptr ? 0 : wt__fail_nomem(err);
}

int wt__spelling_read(struct str *out, struct str request, const struct lexical *index, struct workspace *workspace,
                      struct arena *arena, wt_error *err)
{
    struct spelling_reading reading = {
        .speller = {.index = index, .analyser = workspace->analyser, .tokens = &workspace->tokens}};
    *out = request;
    if (request.len > SPELLING_REQUEST_MAX)
        return 0;
    WT_TRY(open_vocabulary(&reading.speller.vocabulary, err));
    if (correct_words(&reading, request) < 0)
        return wt__fail_nomem(err);
    if (reading.count <= reading.left)
        return 0;
    return apply_corrections(out, &reading, request, arena, err);
}

/* ---------------------------------------------------------------- unknown words */

/* True unless the word has a digit or fewer than LEAST_LETTERS characters. */
static bool names_something(struct str word)
{
    size_t characters = 0;
    for (const char *at = word.ptr, *end = word.ptr + word.len; at < end; characters++)
        if (wt__unicode_kind(wt__utf8_next(&at, end)) == UNICODE_DIGIT)
            return false;
    return characters >= LEAST_LETTERS;
}

enum { BRIEF_WORDS = 6 /* maximum words, without stop words, of a request that consists of keywords */ };

/* True if the text consists of 2 to BRIEF_WORDS words of letters, digits, '_' and '-', without stop words. */
static bool is_keywords(struct str text)
{
    size_t words = 0;
    for (size_t at = 0, end; at < text.len; at = end) {
        char lower[SLIPS_LETTERS];
        for (end = at; end < text.len && !wt__is_blank(text.ptr[end]); end++) {
            char c = text.ptr[end];
            if (!wt__is_letter(c) && !wt__is_digit(c) && c != '_' && c != '-')
                return false;
            if (end - at < sizeof lower)
                lower[end - at] = (char)(c | (wt__is_letter(c) ? 0x20 : 0));
        }
        words += end > at;
        if (end - at <= sizeof lower && wt__is_stopword((struct str){lower, end - at}))
            return false;
        end += end == at;
    }
    return words > 1 && words <= BRIEF_WORDS;
}

/* True if one of the listed tokens has the term. */
static bool is_term_listed(const struct token_list *tokens, const size_t *listed, size_t count, struct str term)
{
    for (size_t i = 0; i < count; i++)
        if (wt__str_equal(tokens->terms[listed[i]], term))
            return true;
    return false;
}

int wt__unknown_words(struct unknown_words *out, struct str text, const struct lexical *index,
                      struct workspace *workspace, struct arena *arena, wt_error *err)
{
    struct token_list *tokens = &workspace->tokens;
    *out = (struct unknown_words){.keywords = is_keywords(text)};
    if (text.len > SPELLING_REQUEST_MAX)
        return 0;
    wt__token_list_reset(tokens);
    if (wt__analyser_run(workspace->analyser, text, tokens) < 0)
        return wt__fail_nomem(err);
    size_t *listed = wt__arena_array(arena, size_t, tokens->len); /* indices of the listed tokens */
    out->words = wt__arena_array(arena, struct str, tokens->len);
    WT_CHECK_ALLOC(listed && out->words, err);
    for (size_t i = 0, begun = 0; i < tokens->len; i++) {
        struct token_source source = tokens->sources[i];
        struct str word = {text.ptr + source.start, source.end - source.start};
        bool joined = i > 0 && source.start <= begun; /* second part of a word that was already counted */
        begun = joined ? begun : source.start;
        out->read += !joined;
        bool strange = !joined && wt__lexical_df(index, tokens->terms[i]) == 0;
        out->strange += strange;
        if (strange && names_something(word) && !is_term_listed(tokens, listed, out->len, tokens->terms[i])) {
            listed[out->len] = i;
            out->words[out->len++] = word;
        }
    }
    return 0;
}
