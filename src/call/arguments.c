/* arguments.c: see arguments.h. Matches values of enumerations first, and marks their words as used. Then it pairs
 * literals with parameters, best score first. */
#include "call/arguments.h"

#include <math.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "call/answers.h"
#include "call/coverage.h"
#include "call/forms.h"
#include "call/pair_evidence.h"
#include "retrieve/verbs.h"
#include "retrieve/words.h"

enum {
    WORDS_MOST = 512,
    WORDS_BEFORE = 5, /* words before a literal that may belong to it */
    WORDS_AFTER = 3,
    DENIAL_WORDS = 3,  /* words before a value that may deny it */
    MENTION_BYTES = 4, /* shortest word that mentions a parameter */
};

/* A pair is unsure if its score is below SURE_SCORE, or less than SURE_MARGIN above the next one. */
static const float SURE_SCORE = .88F;
static const float SURE_MARGIN = .25F;
static const float SOLE = .6F;      /* literal and parameter are each other's only candidate */
static const float PER_WORD = .12F; /* deducted for each word between them */
static const float PLACE_EVIDENCE = .6F;
static const float JOINT_EVIDENCE = .15F;
static const float PLACE_JOINT_EVIDENCE = .3F; /* "the forecast for Oslo" */
static const float SURE_FIRST = 10.F;

struct word_span {
    size_t start, end;
};

struct argument_reader {
    struct str request, about;
    struct word_span words[WORDS_MOST];
    size_t word_count;
    const struct literal *literals; /* [literal_count] */
    size_t literal_count;
    bool used[LITERALS_MOST];
    bool repeated[LITERALS_MOST]; /* repeats the value of an answer */
    const struct literals *all;
    const struct argument_answer *answers; /* [parameters->len] */
    struct str nouns[LITERALS_MOST];       /* noun right before each literal; empty if absent */
    const struct parameters *parameters;
    float (*scores)[LITERALS_MOST]; /* [parameters->len] */
    struct call_arguments *out;
    struct arena *arena;
    size_t taken;         /* number of text literals assigned to parameters */
    struct str left_over; /* part of an answer missing from its enumeration */
};

static struct str get_word(const struct argument_reader *r, size_t w)
{
    return (struct str){r->request.ptr + r->words[w].start, r->words[w].end - r->words[w].start};
}

static void read_request_words(struct argument_reader *r)
{
    size_t at = 0;
    while (r->word_count < WORDS_MOST) {
        struct str word = wt__next_word(r->request, &at);
        if (word.len == 0)
            break;
        size_t start = (size_t)(word.ptr - r->request.ptr);
        r->words[r->word_count++] = (struct word_span){start, start + word.len};
    }
}

/* Number of words ending at or before a byte of the request. */
static size_t count_words_before(const struct argument_reader *r, size_t start)
{
    size_t w = 0;
    while (w < r->word_count && r->words[w].end <= start)
        w++;
    return w;
}

/* Returns the word right before a byte; empty at the start. */
static struct str find_word_before(const struct argument_reader *r, size_t start)
{
    size_t w = count_words_before(r, start);
    return w > 0 ? get_word(r, w - 1) : STR("");
}

/* ---------------------------------------------------------------- enumerations */

struct byte_span {
    size_t start, end;
};

static bool has_letter_byte(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (wt__is_word_byte(text.ptr[i]) && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return true;
    return false;
}

static bool is_denial(struct str word)
{
    static const char *const denials[] = {"not", "no", "without", "t", "never", "except", "don't", "isn't"};
    return wt__str_among(word, denials, sizeof denials / sizeof *denials);
}

/* True if a denial precedes the value at `start`: "not too pricey". */
static bool is_denied(const struct argument_reader *r, size_t start)
{
    size_t w = count_words_before(r, start);
    for (size_t back = 1; back <= DENIAL_WORDS && back <= w; back++)
        if (is_denial(get_word(r, w - back)))
            return true;
    return false;
}

/* Number of parameters with the word in their names. */
static size_t count_sharers(const struct parameters *parameters, struct str word)
{
    size_t count = 0;
    for (size_t p = 0; p < parameters->len; p++)
        count += wt__repeats_name(&parameters->items[p], word);
    return count;
}

static json_t *wrap_in_list(json_t *value)
{
    json_t *list = json_array();
    if (json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static struct call_argument make_given(json_t *value, size_t start, size_t end)
{
    return (struct call_argument){
        .state = ARGUMENT_GIVEN, .value = value, .start = start, .end = end, .score = PAIR_NAMED};
}

static struct byte_span find_text_span(const struct argument_reader *r, struct str text, struct byte_span within)
{
    for (size_t w = 0; w < r->word_count && has_letter_byte(text); w++) {
        size_t start = r->words[w].start, end = start < within.start ? 0 : wt__match_value(r->request, start, text);
        if (end > 0 && end <= within.end)
            return (struct byte_span){start, end};
    }
    return (struct byte_span){0, 0};
}

static struct byte_span whole_request(const struct argument_reader *r)
{
    return (struct byte_span){0, r->request.len};
}

static void mark_used_within(struct argument_reader *r, struct byte_span span)
{
    for (size_t l = 0; l < r->literal_count; l++)
        if (r->literals[l].start < span.end && span.start < r->literals[l].end)
            r->used[l] = true;
}

/* Marks the literals within a value of an enumeration as used, except the amount before a currency: "5 USD". */
static void mark_value_used(struct argument_reader *r, struct byte_span span)
{
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        bool code =
            literal->currency.len > 0 && span.end == literal->end && span.start == literal->end - literal->currency.len;
        if (literal->start < span.end && span.start < literal->end && !code)
            r->used[l] = true;
    }
}

static bool is_same_text(struct str a, struct str b)
{
    return a.len == b.len && a.len > 0 && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* Marks literals equal to the text of an answer: the request often has the value already, before the user answers a
 * question. Marks only one number, date or time: two equal ones often mean two things. */
static void mark_repeated(struct argument_reader *r, struct str text, struct byte_span given)
{
    bool once = false;
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        bool counted = literal->kind <= LITERAL_DATE_TIME;
        if (!is_same_text(literal->text, text) || (literal->start < given.end && given.start < literal->end) ||
            r->repeated[l] || (counted && once))
            continue;
        r->repeated[l] = true;
        once |= counted;
    }
}

static struct str get_answer_text(const struct argument_reader *r, size_t p)
{
    return (struct str){r->request.ptr + r->answers[p].start, r->answers[p].end - r->answers[p].start};
}

/* True if the parameter has no value yet and is not declined by the request. */
static bool is_vacant(const struct argument_reader *r, size_t p)
{
    return r->out->items[p].state == ARGUMENT_ABSENT && !r->out->items[p].declined;
}

static bool read_declined(struct argument_reader *r, size_t p)
{
    const struct argument_answer *answered = &r->answers[p];
    bool declines = answered->end > 0 && !r->parameters->items[p].required &&
                    wt__answer_declines(get_answer_text(r, p), &r->parameters->items[p]);
    if (declines)
        r->out->items[p] = (struct call_argument){.start = answered->name, .end = answered->end, .declined = true};
    return declines;
}

static struct byte_span find_value(const struct argument_reader *r, const json_t *value, struct byte_span within)
{
    return find_text_span(r, (struct str){json_string_value(value), json_string_length(value)}, within);
}

/* Fills a parameter with an example of its description found in the request. */
static int fill_example(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct call_argument *argument = &r->out->items[p];
    struct byte_span best = {0, 0};
    struct str said = {0};
    for (size_t i = 0; i < parameter->example_count; i++) {
        struct byte_span span = find_text_span(r, parameter->examples[i], whole_request(r));
        if (span.end - span.start > best.end - best.start &&
            count_sharers(r->parameters, parameter->examples[i]) == 0) {
            best = span;
            said = parameter->examples[i];
        }
    }
    if (best.end == 0 || is_denied(r, best.start))
        return 0;
    json_t *value = wt__json_string(said);
    if (value && parameter->list)
        value = wrap_in_list(value);
    if (!value)
        return WT_ENOMEM;
    mark_used_within(r, best);
    *argument = make_given(value, best.start, best.end);
    return 0;
}

/* True if a literal overlaps these bytes. Literals are converted elsewhere. */
static bool has_literal(const struct argument_reader *r, size_t start, size_t end)
{
    for (size_t l = 0; l < r->literal_count; l++)
        if (r->literals[l].start < end && start < r->literals[l].end)
            return true;
    return false;
}

/* Returns the literal equal to the whole answer; SIZE_MAX if there is no such literal. */
static size_t find_answering_literal(const struct argument_reader *r, size_t p)
{
    for (size_t l = 0; r->answers[p].end > 0 && l < r->literal_count; l++)
        if (r->literals[l].start == r->answers[p].start && r->literals[l].end == r->answers[p].end)
            return l;
    return SIZE_MAX;
}

static int fill_answer(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct call_argument *argument = &r->out->items[p];
    const struct argument_answer *answered = &r->answers[p];
    if (parameter->list || parameter->takes_date || parameter->takes_time || parameter->takes_date_time ||
        answered->end == 0 || has_literal(r, answered->name, answered->end))
        return 0;
    const struct literal answer = {LITERAL_QUOTED, answered->start, answered->end, .text = get_answer_text(r, p)};
    struct str text;
    int rc = wt__convert_literal(&text, parameter, &answer, r->arena);
    json_t *value = rc < 0 ? NULL : wt__json_string(text);
    if (!value)
        return WT_ENOMEM;
    *argument = make_given(value, answered->start, answered->end);
    if (rc == 0)
        wt__call_argument_reject(argument, parameter);
    mark_repeated(r, answer.text, (struct byte_span){answered->start, answered->end});
    return 0;
}

/* Fills a list of texts that has no enumeration. */
static int fill_texts(struct argument_reader *r, size_t p)
{
    const struct argument_answer *answered = &r->answers[p];
    struct byte_span span = {answered->start, answered->end};
    bool sure;
    json_t *list = json_array();
    int rc = list ? wt__answer_read_texts(list, &span.end, &sure, r->all, answered) : WT_ENOMEM;
    if (rc < 0) {
        json_decref(list);
        return rc == WT_ENOMEM ? rc : 0;
    }
    r->out->items[p] = make_given(list, span.start, span.end);
    r->out->items[p].state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
    mark_used_within(r, span);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        mark_repeated(r, (struct str){json_string_value(item), json_string_length(item)}, span);
    }
    return 0;
}

/* "250 USD to NOK": fills the only currency parameter, or the source of a conversion, with the currency of the amount;
 * never the target. */
static int fill_currency(struct argument_reader *r)
{
    const struct literal *amount = NULL;
    struct call_argument *argument = NULL;
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        if (literal->currency.len == 0)
            continue;
        if ((amount && !wt__str_equal(amount->currency, literal->currency)) ||
            wt__str_equal(find_word_before(r, literal->start), STR("to")))
            return 0;
        amount = literal;
    }
    for (size_t p = 0; amount && p < r->parameters->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        bool text = parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
        if (!parameter->takes_currency || !text || parameter->list || parameter->bound == BOUND_TO ||
            parameter->values || !is_vacant(r, p))
            continue;
        if (argument)
            return 0; /* two parameters could take the currency */
        argument = &r->out->items[p];
    }
    if (!argument)
        return 0;
    json_t *value = wt__json_string(amount->currency);
    *argument = make_given(value, amount->end - amount->currency.len, amount->end);
    return value ? 0 : WT_ENOMEM;
}

static int fill_words(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    bool moments = parameter->takes_date || parameter->takes_time || parameter->takes_date_time;
    bool texts = parameter->list && !moments && r->answers[p].assigned;
    int rc = texts ? fill_texts(r, p) : fill_answer(r, p);
    return rc < 0 || r->out->items[p].state != ARGUMENT_ABSENT ? rc : fill_example(r, p);
}

/* Appends the values found in the request to `found`, without those inside longer ones. Returns their number, or
 * WT_ENOMEM. */
static int find_enumeration_values(struct argument_reader *r, const struct parameter *parameter, struct byte_span range,
                                   json_t *found, struct byte_span *first)
{
    struct byte_span best = {0, 0};
    int count = 0;
    for (size_t i = 0; i < json_array_size(parameter->values); i++) {
        const json_t *value = json_array_get(parameter->values, i);
        struct byte_span span = find_value(r, value, range);
        if (span.end == 0)
            continue;
        bool within = span.start >= best.start && span.end <= best.end;
        bool over = best.end > 0 && span.start <= best.start && best.end <= span.end;
        if (within)
            continue;
        if (over) {
            json_array_remove(found, json_array_size(found) - 1);
            count--;
        }
        best = span;
        mark_value_used(r, span);
        *first = count == 0 ? span : *first;
        if (json_array_append(found, (json_t *)value) < 0)
            return WT_ENOMEM;
        count++;
    }
    return count;
}

/* Marks literals equal to a part of the answer, and keeps the first part missing from the enumeration in left_over. */
static void read_answer_parts(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct str text = get_answer_text(r, p), part;
    struct byte_span span = {r->answers[p].start, r->answers[p].end};
    for (size_t at = 0; (part = wt__next_answer_part(text, &at)).len > 0;) {
        size_t start = (size_t)(part.ptr - r->request.ptr), in = 0;
        bool known = has_literal(r, start, start + part.len) && parameter->list;
        for (size_t i = 0; !known && i < json_array_size(parameter->values); i++)
            known =
                find_value(r, json_array_get(parameter->values, i), (struct byte_span){start, start + part.len}).end >
                0;
        struct str word;
        do
            word = wt__next_word(part, &in);
        while (word.len > 0 && wt__says_nothing(word));
        if (!known && word.len > 0 && r->left_over.len == 0)
            r->left_over = part;
        mark_repeated(r, part, span);
    }
}

static int fill_enumeration(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct call_argument *argument = &r->out->items[p];
    bool answered = r->answers[p].assigned;
    struct byte_span span = {0, 0},
                     range = answered ? (struct byte_span){r->answers[p].start, r->answers[p].end} : whole_request(r);
    json_t *found = json_array();
    int count = found ? find_enumeration_values(r, parameter, range, found, &span) : WT_ENOMEM;
    if (count > 0) {
        bool sure = (count == 1 || parameter->list) && !is_denied(r, span.start);
        argument->state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
        argument->value = parameter->list ? json_incref(found) : json_incref(json_array_get(found, 0));
        argument->start = span.start;
        argument->end = span.end;
        argument->score = 1;
    }
    if (count >= 0 && answered)
        read_answer_parts(r, p);
    json_decref(found);
    return count < 0 ? count : 0;
}

/* ---------------------------------------------------------------- scores of pairs */

static bool sentence_ends_between(const struct argument_reader *r, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        if (strchr(".!?;", r->request.ptr[at]) && (at + 1 == r->request.len || wt__is_blank(r->request.ptr[at + 1])))
            return true;
    return false;
}

static bool part_ends_between(const struct argument_reader *r, size_t from, size_t to)
{
    return sentence_ends_between(r, from, to) || memchr(r->request.ptr + from, ',', to - from) != NULL;
}

struct literal_context {
    size_t first_before, before; /* words first_before .. before - 1 precede it */
    size_t after, last_after;    /* words after .. last_after - 1 follow it */
    enum parameter_bound bound;
    bool follows_place_word; /* follows "in" or "near": a place */
    bool follows_link_word;  /* follows "by" or "with": belongs to the noun before */
};

/* Reads the words beside a literal, up to the next literal of its kind or the end of the sentence. */
static struct literal_context read_context(const struct argument_reader *r, size_t l)
{
    const struct literal *literal = &r->literals[l];
    size_t floor_at = l > 0 ? r->literals[l - 1].end : 0;
    size_t ceiling = l + 1 < r->literal_count ? r->literals[l + 1].start : r->request.len;
    struct literal_context around = {0};
    around.before = around.first_before = count_words_before(r, literal->start);
    while (around.first_before > 0 && around.before - around.first_before < WORDS_BEFORE &&
           r->words[around.first_before - 1].start >= floor_at &&
           !sentence_ends_between(r, r->words[around.first_before - 1].end, literal->start))
        around.first_before--;
    around.after = around.before;
    while (around.after < r->word_count && r->words[around.after].start < literal->end)
        around.after++;
    around.last_after = around.after;
    while (around.last_after < r->word_count && around.last_after - around.after < WORDS_AFTER &&
           r->words[around.last_after].end <= ceiling &&
           !part_ends_between(r, literal->end, r->words[around.last_after].start))
        around.last_after++;
    /* "longitude 4.8 and latitude 32.5": the word right before the next literal belongs to the next literal. */
    bool next = around.last_after < r->word_count && r->words[around.last_after].end > ceiling;
    if (next && around.last_after > around.after + 1)
        around.last_after--;
    static const char *const joints[] = {"by", "with", "featuring", "starring", "of", "for", "named", "called"};
    around.follows_place_word =
        around.before > around.first_before && wt__is_place_word(get_word(r, around.before - 1));
    around.follows_link_word = around.before > around.first_before &&
                               wt__str_among(get_word(r, around.before - 1), joints, sizeof joints / sizeof *joints);
    for (size_t w = around.before; w > around.first_before && around.bound == BOUND_NONE; w--) {
        around.bound = wt__bound_cue(get_word(r, w - 1), w > 1 ? get_word(r, w - 2) : STR(""));
        if (w > 2 && wt__str_equal(get_word(r, w - 1), STR("than")) && is_denial(get_word(r, w - 3)))
            around.bound = wt__bound_opposite(around.bound); /* "no more than 500" */
    }
    return around;
}

/* Returns the noun right before a literal: "account number 123456". Empty if the word is a verb or has no meaning. */
static struct str find_noun_before(const struct argument_reader *r, size_t l, const struct literal_context *around)
{
    if (around->before == around->first_before)
        return STR("");
    struct str word = get_word(r, around->before - 1);
    bool apart = r->literals[l].start - r->words[around->before - 1].end > 2; /* a blank, or a blank and a quote */
    return apart || wt__says_nothing(word) || wt__verb(word).actions ? STR("") : word;
}

static bool follows_range_word(const struct argument_reader *r, size_t start)
{
    static const char *const words[] = {"between", "from"};
    return wt__str_among(find_word_before(r, start), words, sizeof words / sizeof *words);
}

/* Sets the bounds of the ends of ranges: "between 10 and 20". */
static void read_range_bounds(const struct argument_reader *r, struct literal_context around[LITERALS_MOST])
{
    for (size_t l = 0; l + 1 < r->literal_count; l++) {
        const struct literal *low = &r->literals[l], *high = low + 1;
        if (low->kind != high->kind || around[l + 1].before - around[l].after > 2)
            continue;
        size_t w = around[l].before;
        bool between = w > 0 && wt__str_equal(get_word(r, w - 1), STR("between"));
        if (between && low->kind == LITERAL_NUMBER) {
            around[l].bound = BOUND_LOWEST;
            around[l + 1].bound = BOUND_HIGHEST;
        } else if (between) {
            around[l].bound = BOUND_FROM;
            around[l + 1].bound = BOUND_TO;
        }
    }
}

static float score_pair(const struct argument_reader *r, const struct parameter *parameter,
                        const struct literal *literal, const struct literal_context *around)
{
    float begin = wt__kind_evidence(parameter, literal), bound = wt__bound_evidence(parameter, around->bound),
          beside = 0;
    if (begin == PAIR_NEVER || bound == PAIR_NEVER)
        return PAIR_NEVER;
    for (size_t w = around->first_before; w < around->before; w++)
        beside =
            fmaxf(beside, wt__word_evidence(parameter, get_word(r, w)) - PER_WORD * (float)(around->before - 1 - w));
    for (size_t w = around->after; w < around->last_after; w++)
        beside = fmaxf(beside, wt__word_evidence(parameter, get_word(r, w)) - PER_WORD * (float)(w - around->after));
    if (literal->spelled && beside < PAIR_NAMED)
        return PAIR_NEVER;
    if (literal->kind == LITERAL_NAME && parameter->takes_place && around->follows_place_word)
        beside = fmaxf(beside, PLACE_EVIDENCE);
    if (literal->kind == LITERAL_NAME && parameter->takes_place && around->follows_link_word)
        beside = fmaxf(beside, PLACE_JOINT_EVIDENCE);
    if (literal->money && parameter->takes_money)
        beside = fmaxf(beside, PAIR_NAMED);
    if (around->follows_link_word)
        beside = fmaxf(beside, JOINT_EVIDENCE);
    if (parameter->letters > 0 && !wt__has_letters(parameter, literal))
        return fminf(begin + bound + beside, PAIR_LITTLE); /* enough only if the request has no other candidate */
    return begin + bound + beside;
}

/* ---------------------------------------------------------------- pairs */

static void score_all_pairs(struct argument_reader *r)
{
    struct literal_context around[LITERALS_MOST];
    for (size_t l = 0; l < r->literal_count; l++) {
        around[l] = read_context(r, l);
        r->nouns[l] = find_noun_before(r, l, &around[l]);
    }
    read_range_bounds(r, around);
    for (size_t p = 0; p < r->parameters->len; p++)
        for (size_t l = 0; l < r->literal_count; l++) {
            const struct parameter *parameter = &r->parameters->items[p];
            bool open = is_vacant(r, p) && !parameter->values && !r->used[l];
            bool named = find_answering_literal(r, p) == l && wt__fits_as_answer(parameter, &r->literals[l]);
            r->scores[p][l] = !open   ? PAIR_NEVER
                              : named ? SURE_FIRST
                                      : score_pair(r, parameter, &r->literals[l], &around[l]);
        }
}

static bool is_open_pair(const struct argument_reader *r, size_t p, size_t l)
{
    return r->scores[p][l] > PAIR_NEVER && !r->used[l] && r->out->items[p].state == ARGUMENT_ABSENT;
}

/* True if a parameter competes for a literal. A required one always does. An optional one does if words support it, and
 * never for a number. */
static bool is_rival(const struct argument_reader *r, size_t p, size_t l)
{
    bool number = r->literals[l].kind == LITERAL_NUMBER;
    return r->parameters->items[p].required || (!number && r->scores[p][l] > PAIR_LITTLE);
}

/* True if neither can be in another pair, now that others are taken. Numbers go to required parameters only: otherwise
 * one of many optional parameters would take any number. */
static bool is_sole_pair(const struct argument_reader *r, size_t p, size_t l)
{
    if (r->literals[l].kind == LITERAL_NUMBER && !r->parameters->items[p].required)
        return false;
    for (size_t other = 0; other < r->literal_count; other++)
        if (other != l && is_open_pair(r, p, other) && r->scores[p][other] > r->scores[p][l] - PAIR_LITTLE)
            return false;
    for (size_t other = 0; other < r->parameters->len; other++)
        if (other != p && is_open_pair(r, other, l) && is_rival(r, other, l))
            return false;
    return true;
}

/* True if the pair may get the bonus of a sole pair. For an optional parameter, or after others were taken, words must
 * support it. */
static bool may_take_sole_bonus(const struct argument_reader *r, size_t p, size_t l)
{
    if (r->nouns[l].len > 0 && wt__word_evidence(&r->parameters->items[p], r->nouns[l]) <= 0)
        return false; /* the noun names something else */
    return r->scores[p][l] > PAIR_LITTLE || (r->parameters->items[p].required && r->taken == 0);
}

static float score_open_pair(const struct argument_reader *r, size_t p, size_t l)
{
    return is_open_pair(r, p, l) ? r->scores[p][l] + (may_take_sole_bonus(r, p, l) && is_sole_pair(r, p, l) ? SOLE : 0)
                                 : PAIR_NEVER;
}

/* Distance of the pair's score from the best other pair of the same parameter or literal. */
static float compute_margin(const struct argument_reader *r, size_t p, size_t l)
{
    float second = 0;
    for (size_t other = 0; other < r->literal_count; other++)
        if (other != l && is_open_pair(r, p, other))
            second = fmaxf(second, r->scores[p][other]);
    for (size_t other = 0; other < r->parameters->len; other++)
        if (other != p && is_open_pair(r, other, l))
            second = fmaxf(second, r->scores[other][l]);
    return score_open_pair(r, p, l) - second;
}

static json_t *make_literal_value(const struct parameter *parameter, const struct literal *literal, struct str text)
{
    bool number =
        literal->kind == LITERAL_NUMBER && (parameter->kind == PARAMETER_INTEGER ||
                                            parameter->kind == PARAMETER_NUMBER || parameter->kind == PARAMETER_ANY);
    if (!number)
        return wt__json_string(text);
    return literal->number == floor(literal->number) && fabs(literal->number) < 1e15
               ? json_integer((json_int_t)literal->number)
               : json_real(literal->number);
}

/* True for a word used for dates or times: "tomorrow", "March". "may" is left out: it is usually a verb. */
static bool is_calendar_word(struct str word)
{
    static const char *const words[] = {"today",   "tomorrow",  "tonight", "yesterday", "weekend",   "week",
                                        "month",   "monday",    "tuesday", "wednesday", "thursday",  "friday",
                                        "sunday",  "saturday",  "noon",    "morning",   "afternoon", "evening",
                                        "january", "february",  "march",   "april",     "june",      "july",
                                        "august",  "september", "october", "november",  "december"};
    return wt__str_among(word, words, sizeof words / sizeof *words);
}

/* True if the request has a calendar word: in "next Monday, today is 2023-10-01" the date may not be the date meant. */
static bool has_calendar_word(const struct argument_reader *r)
{
    size_t l = 0;
    for (size_t w = 0; w < r->word_count; w++) {
        while (l < r->literal_count && r->literals[l].end <= r->words[w].start)
            l++;
        bool within = l < r->literal_count && r->literals[l].start < r->words[w].end;
        if (!within && is_calendar_word(get_word(r, w)))
            return true;
    }
    return false;
}

/* True if the literal is negated, or one of two alternatives: "not Oslo", "3 or 4", "between 20 and 10". */
static bool is_doubtful_literal(const struct argument_reader *r, size_t l)
{
    const struct literal *literal = &r->literals[l];
    size_t from = l > 0 ? l - 1 : 0, to = l + 1 < r->literal_count ? l + 1 : l;
    for (size_t first = from; first < to; first++) {
        const struct literal *a = &r->literals[first], *b = a + 1;
        struct str between = {r->request.ptr + a->end, b->start - a->end};
        size_t at = 0;
        struct str word = wt__next_word(between, &at);
        bool only = wt__next_word(between, &at).len == 0;
        if (only && wt__str_equal(word, STR("or")) && a->kind == b->kind)
            return true;
        if (only && (wt__str_equal(word, STR("and")) || wt__str_equal(word, STR("to"))) && a->kind == LITERAL_NUMBER &&
            b->kind == LITERAL_NUMBER && a->number > b->number && follows_range_word(r, a->start))
            return true;
    }
    return (literal->kind == LITERAL_DATE && has_calendar_word(r)) ||
           wt__str_equal(find_word_before(r, literal->start), STR("not"));
}

static int take_pair(struct argument_reader *r, size_t p, size_t l)
{
    const struct parameter *parameter = &r->parameters->items[p];
    const struct literal *literal = &r->literals[l];
    float score = score_open_pair(r, p, l);
    bool named = find_answering_literal(r, p) == l && score >= SURE_FIRST;
    bool likely = score >= SURE_SCORE && compute_margin(r, p, l) >= SURE_MARGIN && !is_doubtful_literal(r, l);
    bool sure = (named || likely) && !literal->percent;
    if (named)
        mark_repeated(r, literal->text, (struct byte_span){literal->start, literal->end});
    r->used[l] = true;
    if (r->repeated[l] && !sure)
        return 0;
    struct call_argument *argument = &r->out->items[p];
    struct str text;
    int rc = wt__convert_literal(&text, parameter, literal, r->arena);
    json_t *value = rc < 0 ? NULL : make_literal_value(parameter, literal, text);
    if (value && parameter->list)
        value = wrap_in_list(value);
    if (!value)
        return WT_ENOMEM;
    *argument = make_given(value, literal->start, literal->end);
    argument->state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
    argument->score = score;
    if (rc == 0)
        wt__call_argument_reject(argument, parameter);
    r->taken += literal->kind >= LITERAL_QUOTED;
    return 0;
}

/* Finds the pair with the highest score; a sure pair comes before all others. False if all pairs are taken. */
static bool find_best_pair(const struct argument_reader *r, size_t *best_p, size_t *best_l)
{
    float best = PAIR_NEVER;
    for (size_t p = 0; p < r->parameters->len; p++)
        for (size_t l = 0; l < r->literal_count; l++) {
            float score = score_open_pair(r, p, l);
            if (score <= PAIR_NEVER)
                continue;
            score += compute_margin(r, p, l) >= SURE_MARGIN && score >= SURE_SCORE ? SURE_FIRST : 0;
            if (score > best) {
                best = score;
                *best_p = p;
                *best_l = l;
            }
        }
    return best > PAIR_NEVER;
}

static int take_all_pairs(struct argument_reader *r)
{
    size_t p = 0, l = 0;
    int rc = 0;
    while (rc == 0 && find_best_pair(r, &p, &l))
        rc = take_pair(r, p, l);
    return rc;
}

/* Pairs the answers, which name their parameter, before all other literals. */
static int take_answer_pairs(struct argument_reader *r)
{
    for (size_t p = 0; p < r->parameters->len; p++) {
        size_t l = find_answering_literal(r, p);
        int rc =
            l < r->literal_count && is_open_pair(r, p, l) && r->scores[p][l] >= SURE_FIRST ? take_pair(r, p, l) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* True if the names differ only in a number or a letter: "num1" and "num2", "a" and "b". */
static bool are_in_series(const struct parameter *a, const struct parameter *b)
{
    size_t len = strlen(a->name);
    return a->kind == b->kind && len == strlen(b->name) && memcmp(a->name, b->name, len - 1) == 0 &&
           (len == 1 || (a->name[len - 1] >= '0' && a->name[len - 1] <= '9'));
}

/* Gives a series of parameters ("num1", "num2") the literals in their order, if there are exactly as many. */
static int take_series(struct argument_reader *r)
{
    const struct parameter *items = r->parameters->items;
    for (size_t first = 0; first + 1 < r->parameters->len; first++) {
        size_t count = 1, fitting = 0;
        while (first + count < r->parameters->len && are_in_series(&items[first], &items[first + count]))
            count++;
        for (size_t l = 0; l < r->literal_count; l++)
            fitting += is_open_pair(r, first, l);
        if (count < 2 || fitting != count) {
            first += count - 1; /* the rest of this series is not a series of its own */
            continue;
        }
        size_t p = first;
        for (size_t l = 0; l < r->literal_count && p < first + count; l++)
            if (is_open_pair(r, p, l)) {
                r->scores[p][l] = SURE_FIRST;
                int rc = take_pair(r, p++, l);
                if (rc < 0)
                    return rc;
            }
    }
    return 0;
}

static bool is_taken_span(const struct argument_reader *r, size_t start, size_t end)
{
    for (size_t p = 0; p < r->out->len; p++)
        if (start < r->out->items[p].end && r->out->items[p].start < end)
            return true;
    return false;
}

/* True if the request has a word of the parameter's name, unique to this parameter and outside other arguments. For
 * dates and times, any calendar word counts. */
static bool is_mentioned_parameter(const struct argument_reader *r, const struct parameter *parameter)
{
    for (size_t w = 0; w < r->word_count; w++) {
        struct str word = get_word(r, w);
        if (is_taken_span(r, r->words[w].start, r->words[w].end))
            continue;
        if ((parameter->takes_date || parameter->takes_time) && is_calendar_word(word))
            return true;
        if (word.len >= MENTION_BYTES && !wt__says_nothing(word) && wt__repeats_name(parameter, word) &&
            count_sharers(r->parameters, word) == 1)
            return true;
    }
    return false;
}

static bool is_about_tool(const struct argument_reader *r, const struct literal *literal)
{
    size_t at = 0;
    for (struct str word; (word = wt__next_word(literal->text, &at)).len > 0;) {
        size_t in = 0;
        bool found = false;
        for (struct str other; !found && (other = wt__next_word(r->about, &in)).len > 0;)
            found = wt__words_alike(word, other);
        if (!found)
            return false;
    }
    return literal->kind == LITERAL_NAME;
}

/* Returns the first "name: value" clause whose name matches no parameter; empty at the end. */
static struct str find_unknown_answer(const struct argument_reader *r)
{
    struct str clause, value;
    for (size_t at = 0; (clause = wt__next_unknown_answer(r->request, &at, r->parameters, &value)).len > 0;) {
        size_t start = (size_t)(value.ptr - r->request.ptr), end = start + value.len;
        if (!is_taken_span(r, start, end) && !has_literal(r, start, end))
            return clause;
    }
    return STR("");
}

/* Returns the first unused literal, answer part, or "name: value" clause; empty if all are used. Quoted literals come
 * without their quotes. */
static struct str find_unused(const struct argument_reader *r)
{
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        if (r->used[l] || r->repeated[l] || literal->spelled || is_about_tool(r, literal))
            continue;
        return literal->kind == LITERAL_QUOTED
                   ? literal->text
                   : (struct str){r->request.ptr + literal->start, literal->end - literal->start};
    }
    return r->left_over.len > 0 ? r->left_over : find_unknown_answer(r);
}

/* True if an unreadable answer contradicts a value found elsewhere: "42.50 EUR, amount: forty". The user has to
 * decide. */
static bool is_contradicted(const struct argument_reader *r, size_t p)
{
    const struct argument_answer *answer = &r->answers[p];
    const struct call_argument *argument = &r->out->items[p];
    return answer->end > 0 && answer->assigned && argument->state == ARGUMENT_GIVEN &&
           (argument->end <= answer->start || argument->start >= answer->end);
}

/* Sets the state of parameters without a value: default, missing, or unsure if mentioned in the request. */
static void settle_arguments(struct argument_reader *r)
{
    for (size_t p = 0; p < r->parameters->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        struct call_argument *argument = &r->out->items[p];
        if ((is_vacant(r, p) && !parameter->required && is_mentioned_parameter(r, parameter)) || is_contradicted(r, p))
            argument->state = ARGUMENT_UNSURE;
        if (argument->state != ARGUMENT_ABSENT || !parameter->required)
            continue;
        json_t *value = json_object_get(parameter->schema, "default");
        if (!value)
            value = (json_t *)parameter->usual;
        argument->state = value ? ARGUMENT_DEFAULT : ARGUMENT_MISSING;
        argument->value = json_incref(value);
    }
    r->out->unused = find_unused(r);
}

/* Fills a parameter by its enumeration, its answer or its examples, independent of other parameters. */
static int fill_parameter(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    bool text = parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
    if (read_declined(r, p))
        return 0;
    if (parameter->values)
        return fill_enumeration(r, p);
    return text ? fill_words(r, p) : 0;
}

int wt__call_arguments_fill(struct call_arguments *out, const struct literals *literals, struct str about,
                            const struct parameters *parameters, struct arena *arena)
{
    struct argument_reader *r = wt__arena_array(arena, struct argument_reader, 1);
    *out = (struct call_arguments){.items = wt__arena_array(arena, struct call_argument, parameters->len),
                                   .len = parameters->len};
    if (!r || (!out->items && parameters->len > 0))
        return WT_ENOMEM;
    r->request = literals->request;
    r->literals = literals->items;
    r->literal_count = literals->len;
    r->about = about;
    r->parameters = parameters;
    r->out = out;
    r->arena = arena;
    r->scores = wt__arena_calloc(arena, parameters->len, sizeof *r->scores, _Alignof(float));
    if (!r->scores && parameters->len > 0)
        return WT_ENOMEM;
    struct argument_answer *answers = wt__arena_array(arena, struct argument_answer, parameters->len);
    if (!answers && parameters->len > 0)
        return WT_ENOMEM;
    read_request_words(r);
    wt__answers_read(answers, literals, parameters);
    r->answers = answers;
    r->all = literals;
    for (size_t p = 0; p < parameters->len; p++)
        if (answers[p].end > 0) /* "num2" of "num2: 5" is not a value */
            mark_used_within(r, (struct byte_span){answers[p].name, answers[p].start});
    int rc = 0;
    for (size_t p = 0; p < parameters->len && rc == 0; p++)
        rc = fill_parameter(r, p);
    if (rc == 0)
        rc = fill_currency(r);
    if (rc == 0) {
        score_all_pairs(r);
        rc = take_answer_pairs(r);
    }
    if (rc == 0)
        rc = take_series(r);
    if (rc == 0)
        rc = take_all_pairs(r);
    if (rc == 0) {
        settle_arguments(r);
        wt__coverage_check(out, r->request, about, parameters);
    }
    return rc;
}

void wt__call_argument_reject(struct call_argument *argument, const struct parameter *parameter)
{
    json_decref(argument->value);
    argument->value = NULL;
    argument->state = parameter->required ? ARGUMENT_MISSING : ARGUMENT_UNSURE;
}

void wt__call_arguments_dispose(struct call_arguments *arguments)
{
    for (size_t i = 0; i < arguments->len; i++)
        json_decref(arguments->items[i].value);
    arguments->len = 0;
}
