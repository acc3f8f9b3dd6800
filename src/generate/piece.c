/* piece.c: validates pieces of a language model's answer, and finds duplicates and repetitions of the prompt. */
#include <stdlib.h>

#include "base/memory.h"
#include "generate/internal.h"
#include "llm/plain_text.h"
#include "nn/kernels/kernels.h"
#include "text/unicode.h"

static const struct {
    size_t least, most;
} bounds[] = {
    [PIECE_NAME] = {PIECE_NAME_BYTES_LEAST, PIECE_NAME_BYTES_MAX},
    [PIECE_DESCRIPTION] = {PIECE_DESCRIPTION_BYTES_LEAST, PIECE_DESCRIPTION_BYTES_MAX},
    [PIECE_INSTRUCTION] = {PIECE_INSTRUCTION_BYTES_LEAST, PIECE_INSTRUCTION_BYTES_MAX},
    [PIECE_NOTE] = {PIECE_NOTE_BYTES_LEAST, PIECE_NOTE_BYTES_MAX},
    [PIECE_EXPLANATION] = {PIECE_EXPLANATION_BYTES_LEAST, PIECE_EXPLANATION_BYTES_MAX},
};

const char *wt__piece_fate_name(enum piece_fate fate)
{
    static const char *const names[PIECE_FATES] = {
        [PIECE_TAKEN] = "taken",           [PIECE_NO_WORD] = "no_word",
        [PIECE_LENGTH] = "length",         [PIECE_MARKS] = "marks",
        [PIECE_NAME_TAKEN] = "name_taken", [PIECE_SAME_WORDS] = "same_words",
        [PIECE_ALIKE] = "alike",           [PIECE_UNNAMED] = "tool_unnamed",
        [PIECE_SURPLUS] = "surplus",       [PIECE_REPEATS] = "repeats_prompt",
        [PIECE_UNKNOWN] = "unknown_tool",  [PIECE_COUNT] = "tool_count",
        [PIECE_NAMES_TOOL] = "names_tool", [PIECE_NOT_FOUND] = "not_found_again",
        [PIECE_TWIN] = "near_twin",
    };
    return names[fate];
}

static bool is_unicode_word_part(enum unicode_kind kind)
{
    return kind == UNICODE_LETTER || kind == UNICODE_UPPER || kind == UNICODE_DIGIT || kind == UNICODE_MARK;
}

/* True if the text has only letters, digits, combining marks and a few ASCII marks. */
static bool is_valid_name_text(struct str text)
{
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        const bool is_mark = c < 128 && c != 0 && strchr(" -_'&/,.+()%", (int)c);
        if (!is_mark && !is_unicode_word_part(wt__unicode_kind(c)))
            return false;
    }
    return true;
}

/* True if the text contains a mark of the layout of training rows (fine_tuning.c). */
static bool has_row_layout(struct str text)
{
    static const char *const marks[] = {"###", "CALLTOOL", "Tool Choices:"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (text.len > 0 && memmem(text.ptr, text.len, marks[i], strlen(marks[i])))
            return true;
    return false;
}

/* True if the text has a letter or, in an instruction, a digit: "12 * 7" is a request for a calculator. */
static bool has_content(struct str text, enum piece_kind piece)
{
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        enum unicode_kind kind = wt__unicode_kind(wt__utf8_next(&at, end));
        if (kind == UNICODE_LETTER || kind == UNICODE_UPPER || (kind == UNICODE_DIGIT && piece == PIECE_INSTRUCTION))
            return true;
    }
    return false;
}

int wt__piece_read(struct arena *arena, enum piece_kind kind, struct str text, struct str *out, enum piece_fate *fate,
                   wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer plain = {0};
    *out = STR("");
    if (text.len > bounds[kind].most) { /* refused, not truncated: half a sentence is not a usable piece */
        *fate = PIECE_LENGTH;
        return 0;
    }
    if (text.len > 0)
        wt__plain_line(&plain, text, text.len);
    const struct str line = wt__buffer_view(&plain);
    if (line.len == 0 || !has_content(line, kind))
        *fate = PIECE_NO_WORD;
    else if (line.len < bounds[kind].least || line.len > bounds[kind].most)
        *fate = PIECE_LENGTH;
    else if (has_row_layout(line) || (kind == PIECE_NAME && !is_valid_name_text(line)))
        *fate = PIECE_MARKS;
    else
        *fate = PIECE_TAKEN;
    if (*fate == PIECE_TAKEN)
        *out = (struct str){wt__arena_copy(arena, line), line.len};
    return plain.failed || !out->ptr ? wt__fail_nomem(err) : 0;
}

void wt__piece_words(struct buffer *out, struct str text)
{
    bool in_word = false, first = true;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end), lower[UNICODE_MAX_LOWER];
        const bool ascii = c < 128; /* the common case, decided without a Unicode table */
        bool part = ascii ? wt__is_letter((char)c) || wt__is_digit((char)c) : is_unicode_word_part(wt__unicode_kind(c));
        if (part && !in_word && !first)
            wt__buffer_char(out, ' ');
        if (part && ascii)
            wt__buffer_char(out, (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c));
        for (unsigned i = 0, count = part && !ascii ? wt__unicode_lower(c, lower) : 0; i < count; i++) {
            char bytes[4];
            wt__buffer_append(out, bytes, wt__utf8_put(lower[i], bytes));
        }
        first &= !part;
        in_word = part;
    }
}

/* Appends the words with a blank at both ends, so that a search finds only whole words. */
static void append_bounded_words(struct buffer *out, struct str text)
{
    wt__buffer_char(out, ' ');
    wt__piece_words(out, text);
    wt__buffer_char(out, ' ');
}

int wt__piece_mentions_name(struct str text, struct str name, bool *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0}, wanted = {0};
    append_bounded_words(&words, text);
    append_bounded_words(&wanted, name);
    bool failed = words.failed || wanted.failed;
    *out = !failed && wanted.len > 2 && memmem(words.ptr, words.len, wanted.ptr, wanted.len);
    return failed ? wt__fail_nomem(err) : 0;
}

void wt__piece_line(struct buffer *out, struct str text, size_t max)
{
    size_t begin = out->len;
    bool blank = false;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        char bytes[4];
        uint32_t c = wt__utf8_next(&at, end);
        if (wt__unicode_blank(c)) {
            blank = true;
            continue;
        }
        size_t len = wt__utf8_put(c, bytes);
        if (wt__unicode_unseen(c))
            continue;
        if (out->len - begin + len + 1 > max)
            return;
        if (blank && out->len > begin)
            wt__buffer_char(out, ' ');
        blank = false;
        wt__buffer_append(out, bytes, len);
    }
}

bool wt__piece_next_line(struct str *rest, struct str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    *line = (struct str){rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    const size_t step = line->len + (end != NULL);
    *rest = (struct str){rest->ptr + step, rest->len - step};
    return true;
}

size_t wt__piece_characters(struct str text)
{
    size_t count = 0;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end; count++)
        wt__utf8_next(&at, end);
    return count;
}

int wt__distinct_open(struct distinct *out, const struct encoder *encoder, double threshold, wt_error *err)
{
    *out = (struct distinct){.encoder = encoder, .threshold = threshold};
    if (!encoder)
        return 0;
    out->dim = wt__encoder_dim(encoder);
    return wt__encoder_scratch_new(&out->scratch, encoder, err);
}

void wt__distinct_dispose(struct distinct *distinct)
{
    if (distinct->scratch)
        wt__encoder_scratch_free(distinct->scratch);
    wt__map_dispose(&distinct->words);
    wt__arena_dispose(&distinct->arena);
    free(distinct->vectors);
    free(distinct->likeness);
    *distinct = (struct distinct){0};
}

/* Sets *alike to true if the similarity to an earlier text reaches the threshold. Stores the text's vector after those
 * of the earlier texts, but does not count it. */
static int find_similar_text(struct distinct *d, struct str text, bool *alike, wt_error *err)
{
    *alike = false;
    if (!d->encoder)
        return 0;
    if (wt__grow((void **)&d->vectors, &d->capacity, d->count + 1, d->dim * sizeof *d->vectors) < 0 ||
        wt__grow((void **)&d->likeness, &d->likeness_capacity, d->count + 1, sizeof *d->likeness) < 0)
        return wt__fail_nomem(err);
    float *vector = d->vectors + d->count * d->dim;
    WT_TRY(wt__encode(d->encoder, d->scratch, TEXT_REQUEST, &text, 1, vector, err));
    wt__kernels()->dots_f32(vector, d->vectors, d->count, d->dim, d->likeness);
    for (size_t i = 0; i < d->count; i++)
        *alike |= d->likeness[i] >= d->threshold;
    return 0;
}

int wt__distinct_add(struct distinct *distinct, struct str text, enum piece_fate *fate, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    bool alike = false;
    *fate = PIECE_SAME_WORDS;
    wt__piece_words(&words, text);
    WT_CHECK_ALLOC(!words.failed, err);
    if (wt__map_get(&distinct->words, wt__buffer_view(&words)))
        return 0;
    WT_TRY(find_similar_text(distinct, text, &alike, err));
    *fate = alike ? PIECE_ALIKE : PIECE_TAKEN;
    if (alike)
        return 0;
    const char *key = wt__arena_copy(&distinct->arena, wt__buffer_view(&words));
    WT_CHECK_ALLOC(key && wt__map_insert(&distinct->words, (struct str){key, words.len}, 0, NULL), err);
    distinct->count++;
    return 0;
}

int wt__distinct_has_words(const struct distinct *distinct, struct str text, bool *has, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    wt__piece_words(&words, text);
    *has = !words.failed && wt__map_get(&distinct->words, wt__buffer_view(&words));
    return words.failed ? wt__fail_nomem(err) : 0;
}

size_t wt__distinct_nearest(const struct distinct *distinct, const size_t *texts, size_t count)
{
    size_t best = 0;
    if (!distinct->encoder)
        return count;
    for (size_t i = 1; i < count; i++)
        if (distinct->likeness[texts[i]] > distinct->likeness[texts[best]])
            best = i;
    return best;
}

void wt__repetition_dispose(struct repetition *repetition)
{
    wt__buffer_dispose(&repetition->words);
    wt__map_dispose(&repetition->runs);
    free(repetition->begins);
    *repetition = (struct repetition){0};
}

/* Indexes the words of the text, but not its runs. */
static int index_words(struct repetition *out, struct str text, wt_error *err)
{
    *out = (struct repetition){0};
    append_bounded_words(&out->words, text);
    const struct str view = wt__buffer_view(&out->words);
    size_t blanks = 0;
    for (size_t i = 0; i < view.len; i++)
        blanks += view.ptr[i] == ' ';
    out->begins = wt__alloc_array(blanks + 1, sizeof *out->begins);
    WT_CHECK_ALLOC(!out->words.failed && out->begins, err);
    if (view.len == 2) /* no words */
        return 0;
    for (size_t i = 0; i < view.len; i++)
        if (view.ptr[i] == ' ')
            out->begins[out->count++] = i + 1;
    out->count--;
    return 0;
}

/* Returns words first .. first + length - 1. */
static struct str get_word_run(const struct repetition *words, size_t first, size_t length)
{
    const size_t begin = words->begins[first];
    return (struct str){words->words.ptr + begin, words->begins[first + length] - 1 - begin};
}

int wt__repetition_open(struct repetition *out, struct str prompt, wt_error *err)
{
    WT_TRY(index_words(out, prompt, err));
    for (size_t i = 0; i + REPETITION_RUN <= out->count; i++)
        WT_CHECK_ALLOC(wt__map_insert(&out->runs, get_word_run(out, i, REPETITION_RUN), 0, NULL), err);
    return 0;
}

/* True if at least half of the words of `said` are copied, or a run of REPETITION_RUN_LONG. own: index of the prompt.
 * shown: index of its examples. */
static bool is_mostly_copied(const struct repetition *own, const struct repetition *shown,
                             const struct repetition *said)
{
    size_t copied = 0, begin = 0, end = 0, longest = 0; /* begin, end: bounds of the copied run */
    for (size_t i = 0; i + REPETITION_RUN <= said->count; i++) {
        const struct str run = get_word_run(said, i, REPETITION_RUN);
        if (!wt__map_get(&own->runs, run) && !wt__map_get(&shown->runs, run))
            continue;
        begin = i < end ? begin : i;
        copied += i + REPETITION_RUN - (i < end ? end : i);
        end = i + REPETITION_RUN;
        longest = end - begin > longest ? end - begin : longest;
    }
    return 2 * copied >= said->count || longest >= REPETITION_RUN_LONG;
}

static bool contains_text(struct str text, struct str part)
{
    return part.len > 0 && text.len > 0 && memmem(text.ptr, text.len, part.ptr, part.len);
}

int wt__repetition_check(const struct repetition *own, struct str prompt, struct str examples, struct str said,
                         bool *out, wt_error *err)
{
    WT_CLEANUP(wt__repetition_dispose) struct repetition answer = {0}, shown = {0};
    *out = false;
    WT_TRY(index_words(&answer, said, err));
    WT_TRY(wt__repetition_open(&shown, examples, err));
    const struct str words = wt__buffer_view(&answer.words);
    if (answer.count == 0)
        *out = contains_text(prompt, wt__str_trim(said)) || contains_text(examples, wt__str_trim(said));
    else if (answer.count < REPETITION_RUN)
        *out =
            contains_text(wt__buffer_view(&own->words), words) || contains_text(wt__buffer_view(&shown.words), words);
    else
        *out = is_mostly_copied(own, &shown, &answer);
    return 0;
}
