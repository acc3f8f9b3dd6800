/* argument_pairs.c: assigns literals to parameters in pairs, the pair with the best score first. See
 * argument_reader.h. */
#include "call/argument_reader.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"

enum {
    WORDS_BEFORE = 5, /* maximum words read before a literal */
    WORDS_AFTER = 3,  /* maximum words read after a literal */
};

/* A pair is sure if its score is at least SURE_SCORE, and at least SURE_MARGIN above every other pair of its literal or
 * parameter. */
static const float SURE_SCORE = .88F;
static const float SURE_MARGIN = .25F;
static const float SOLE = .6F;           /* bonus if literal and parameter are each other's only candidate */
static const float PER_WORD = .12F;      /* deducted for each word between the literal and a word of the name */
static const float PLACE_EVIDENCE = .6F; /* score of a name after a word such as "in", if the parameter takes a place */
static const float JOINT_EVIDENCE = .15F;      /* score of any literal after a word such as "by" or "of" */
static const float PLACE_JOINT_EVIDENCE = .3F; /* the same, if a name follows and the parameter takes a place */
static const float SURE_FIRST = 10.F;          /* score of an answer by name; added to the score of a sure pair */

static bool sentence_ends_between(const struct argument_reader *r, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        if (strchr(".!?;", r->request.ptr[at]) && (at + 1 == r->request.len || wt__is_blank(r->request.ptr[at + 1])))
            return true;
    return false;
}

struct literal_context {
    size_t first_before, before; /* words first_before .. before - 1 precede the literal */
    size_t after, last_after;    /* words after .. last_after - 1 follow the literal */
    enum parameter_bound bound;  /* bound that the words before the literal state, such as "at most" */
    bool follows_place_word;     /* true if the literal follows a word such as "in" or "from", as places do */
    bool follows_link_word;      /* true if the literal follows a word such as "by" or "with" */
};

/* Reads the words around a literal, up to the neighbouring literals and the ends of the sentence. After the literal, a
 * comma also ends the context. */
static struct literal_context read_context(const struct argument_reader *r, size_t l)
{
    const struct literal *literal = &r->literals[l];
    size_t floor_at = l > 0 ? r->literals[l - 1].end : 0;
    size_t ceiling = l + 1 < r->literal_count ? r->literals[l + 1].start : r->request.len;
    struct literal_context around = {0};
    around.before = around.first_before = wt__reader_words_before(r, literal->start);
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
           !sentence_ends_between(r, literal->end, r->words[around.last_after].start) &&
           !memchr(r->request.ptr + literal->end, ',', r->words[around.last_after].start - literal->end))
        around.last_after++;
    /* "longitude 4.8 and latitude 32.5": the word right before the next literal belongs to the next literal. */
    bool next = around.last_after < r->word_count && r->words[around.last_after].end > ceiling;
    if (next && around.last_after > around.after + 1)
        around.last_after--;
    static const char *const joints[] = {"by", "with", "featuring", "starring", "of", "for", "named", "called"};
    around.follows_place_word =
        around.before > around.first_before && wt__is_place_word(wt__reader_word(r, around.before - 1));
    around.follows_link_word =
        around.before > around.first_before &&
        wt__str_among(wt__reader_word(r, around.before - 1), joints, sizeof joints / sizeof *joints);
    for (size_t w = around.before; w > around.first_before && around.bound == BOUND_NONE; w--) {
        around.bound = wt__bound_cue(wt__reader_word(r, w - 1), w > 1 ? wt__reader_word(r, w - 2) : STR(""));
        if (w > 2 && wt__str_equal(wt__reader_word(r, w - 1), STR("than")) &&
            wt__is_denial_word(wt__reader_word(r, w - 3)))
            around.bound = wt__bound_opposite(around.bound); /* "no more than 500" */
    }
    return around;
}

/* Returns the noun right before a literal: "number" of "account number 123456". Empty if the word is a verb or a stop
 * word, or if it is more than a blank and a quote away from the literal. */
static struct str find_noun_before(const struct argument_reader *r, size_t l, const struct literal_context *around)
{
    if (around->before == around->first_before)
        return STR("");
    struct str word = wt__reader_word(r, around->before - 1);
    bool apart = r->literals[l].start - r->words[around->before - 1].end > 2; /* more than a blank and a quote */
    return apart || wt__is_stopword_any_case(word) || wt__verb(word).actions ? STR("") : word;
}

/* Sets `bound` of both literals of a range: "between 10 and 20". */
static void read_range_bounds(const struct argument_reader *r, struct literal_context around[LITERALS_MOST])
{
    for (size_t l = 0; l + 1 < r->literal_count; l++) {
        const struct literal *low = &r->literals[l], *high = low + 1;
        if (low->kind != high->kind || around[l + 1].before - around[l].after > 2)
            continue;
        size_t w = around[l].before;
        bool between = w > 0 && wt__str_equal(wt__reader_word(r, w - 1), STR("between"));
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
        beside = fmaxf(beside, wt__word_evidence(parameter, wt__reader_word(r, w)) -
                                   PER_WORD * (float)(around->before - 1 - w));
    for (size_t w = around->after; w < around->last_after; w++)
        beside =
            fmaxf(beside, wt__word_evidence(parameter, wt__reader_word(r, w)) - PER_WORD * (float)(w - around->after));
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
        return fminf(begin + bound + beside, PAIR_LITTLE); /* never sure: below SURE_SCORE even with the bonus SOLE */
    return begin + bound + beside;
}

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
            bool open = wt__reader_is_vacant(r, p) && !parameter->values && !r->used[l];
            bool named = wt__reader_answering_literal(r, p) == l && wt__fits_as_answer(parameter, &r->literals[l]);
            r->scores[p][l] = !open   ? PAIR_NEVER
                              : named ? SURE_FIRST
                                      : score_pair(r, parameter, &r->literals[l], &around[l]);
        }
}

static bool is_open_pair(const struct argument_reader *r, size_t p, size_t l)
{
    return r->scores[p][l] > PAIR_NEVER && !r->used[l] && r->out->items[p].state == ARGUMENT_ABSENT;
}

/* True if a parameter competes for a literal. A required parameter always competes. An optional parameter competes only
 * if words of the request support the pair, and never for a number. */
static bool is_rival(const struct argument_reader *r, size_t p, size_t l)
{
    bool number = r->literals[l].kind == LITERAL_NUMBER;
    return r->parameters->items[p].required || (!number && r->scores[p][l] > PAIR_LITTLE);
}

/* True if the parameter has no other open pair with a similar or higher score, and no other parameter competes for the
 * literal. A number can be in a sole pair only with a required parameter. Otherwise one of many optional parameters
 * could take any number. */
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

/* True if the pair may get the bonus SOLE. Words of the request must support the pair if the parameter is optional, or
 * if a text literal is already assigned. */
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

/* Returns the pair's score minus the best score of any other open pair with the same parameter or literal. A negative
 * best score counts as 0. */
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

bool wt__is_calendar_word(struct str word)
{
    static const char *const words[] = {"today",   "tomorrow",  "tonight", "yesterday", "weekend",   "week",
                                        "month",   "monday",    "tuesday", "wednesday", "thursday",  "friday",
                                        "sunday",  "saturday",  "noon",    "morning",   "afternoon", "evening",
                                        "january", "february",  "march",   "april",     "june",      "july",
                                        "august",  "september", "october", "november",  "december"};
    return wt__str_among(word, words, sizeof words / sizeof *words);
}

/* True if the request has a calendar word outside its literals. In "next Monday, today is 2023-10-01", the literal may
 * not be the date meant. */
static bool has_calendar_word(const struct argument_reader *r)
{
    size_t l = 0;
    for (size_t w = 0; w < r->word_count; w++) {
        while (l < r->literal_count && r->literals[l].end <= r->words[w].start)
            l++;
        bool within = l < r->literal_count && r->literals[l].start < r->words[w].end;
        if (!within && wt__is_calendar_word(wt__reader_word(r, w)))
            return true;
    }
    return false;
}

/* True if the literal may not be the value meant: "not Oslo", "3 or 4", "between 20 and 10", or a date in a request
 * with other calendar words. */
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
        static const char *const range_words[] = {"between", "from"};
        if (only && wt__str_equal(word, STR("or")) && a->kind == b->kind)
            return true;
        if (only && (wt__str_equal(word, STR("and")) || wt__str_equal(word, STR("to"))) && a->kind == LITERAL_NUMBER &&
            b->kind == LITERAL_NUMBER && a->number > b->number &&
            wt__str_among(wt__reader_word_before(r, a->start), range_words, 2))
            return true;
    }
    return (literal->kind == LITERAL_DATE && has_calendar_word(r)) ||
           wt__str_equal(wt__reader_word_before(r, literal->start), STR("not"));
}

static int take_pair(struct argument_reader *r, size_t p, size_t l)
{
    const struct parameter *parameter = &r->parameters->items[p];
    const struct literal *literal = &r->literals[l];
    float score = score_open_pair(r, p, l);
    bool named = wt__reader_answering_literal(r, p) == l && score >= SURE_FIRST;
    bool likely = score >= SURE_SCORE && compute_margin(r, p, l) >= SURE_MARGIN && !is_doubtful_literal(r, l);
    bool sure = (named || likely) && !literal->percent;
    if (named)
        wt__reader_mark_repeated(r, literal->text, (struct byte_span){literal->start, literal->end});
    r->used[l] = true;
    if (r->repeated[l] && !sure)
        return 0;
    struct call_argument *argument = &r->out->items[p];
    struct str text;
    int rc = wt__convert_literal(&text, parameter, literal, r->arena);
    json_t *value = rc < 0 ? NULL : make_literal_value(parameter, literal, text);
    if (value && parameter->list)
        value = wt__json_list_of(value);
    if (!value)
        return WT_ENOMEM;
    *argument = wt__given_argument(value, literal->start, literal->end);
    argument->state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
    argument->score = score;
    if (rc == 0)
        wt__call_argument_reject(argument, parameter);
    r->taken += literal->kind >= LITERAL_QUOTED;
    return 0;
}

/* Finds the open pair with the highest score. Sure pairs come first. Returns false if no open pair is left. */
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

/* True for parameters of one kind whose names have the same length and differ at most in the last character: "num1" and
 * "num2", "a" and "b". If the names have several characters, the last one of a's name must be a digit. */
static bool are_in_series(const struct parameter *a, const struct parameter *b)
{
    size_t len = strlen(a->name);
    return a->kind == b->kind && len == strlen(b->name) && memcmp(a->name, b->name, len - 1) == 0 &&
           (len == 1 || (a->name[len - 1] >= '0' && a->name[len - 1] <= '9'));
}

/* Assigns literals to a series of parameters ("num1", "num2") in order, if there are as many fitting literals as
 * parameters. */
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
                WT_TRY(take_pair(r, p++, l));
            }
    }
    return 0;
}

int wt__fill_pairs(struct argument_reader *r)
{
    score_all_pairs(r);
    for (size_t p = 0; p < r->parameters->len; p++) { /* a literal that is the whole answer comes first */
        size_t l = wt__reader_answering_literal(r, p);
        if (l < r->literal_count && is_open_pair(r, p, l) && r->scores[p][l] >= SURE_FIRST)
            WT_TRY(take_pair(r, p, l));
    }
    WT_TRY(take_series(r));
    for (size_t p = 0, l = 0; find_best_pair(r, &p, &l);)
        WT_TRY(take_pair(r, p, l));
    return 0;
}
