/* named_values.c: fills parameters from enumeration values, answers by name, and the parameters' examples. Marks the
 * literals in such values as used. See argument_reader.h. */
#include "call/argument_reader.h"

#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"

enum { DENIAL_WORDS = 3 /* number of words before a value that may negate the value */ };

struct str wt__reader_word(const struct argument_reader *r, size_t w)
{
    return (struct str){r->request.ptr + r->words[w].start, r->words[w].end - r->words[w].start};
}

void wt__reader_read_words(struct argument_reader *r)
{
    size_t at = 0;
    for (struct str word; r->word_count < WORDS_MOST && (word = wt__next_word(r->request, &at)).len > 0;) {
        size_t start = (size_t)(word.ptr - r->request.ptr);
        r->words[r->word_count++] = (struct byte_span){start, start + word.len};
    }
}

size_t wt__reader_words_before(const struct argument_reader *r, size_t start)
{
    size_t w = 0;
    while (w < r->word_count && r->words[w].end <= start)
        w++;
    return w;
}

struct str wt__reader_word_before(const struct argument_reader *r, size_t start)
{
    size_t w = wt__reader_words_before(r, start);
    return w > 0 ? wt__reader_word(r, w - 1) : STR("");
}

void wt__call_argument_reject(struct call_argument *argument, const struct parameter *parameter)
{
    json_decref(argument->value);
    argument->value = NULL;
    argument->state = parameter->required ? ARGUMENT_MISSING : ARGUMENT_UNSURE;
}

static bool has_letter_byte(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (wt__is_word_byte(text.ptr[i]) && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return true;
    return false;
}

bool wt__is_denial_word(struct str word)
{
    static const char *const denials[] = {"not", "no", "without", "t", "never", "except", "don't", "isn't"};
    return wt__str_among(word, denials, sizeof denials / sizeof *denials);
}

/* True if a negation precedes the value at `start`: "not too pricey". */
static bool is_denied(const struct argument_reader *r, size_t start)
{
    size_t w = wt__reader_words_before(r, start);
    for (size_t back = 1; back <= DENIAL_WORDS && back <= w; back++)
        if (wt__is_denial_word(wt__reader_word(r, w - back)))
            return true;
    return false;
}

size_t wt__count_name_sharers(const struct parameters *parameters, struct str word)
{
    size_t count = 0;
    for (size_t p = 0; p < parameters->len; p++)
        count += wt__repeats_name(&parameters->items[p], word);
    return count;
}

json_t *wt__json_list_of(json_t *value)
{
    json_t *list = json_array();
    if (json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

struct call_argument wt__given_argument(json_t *value, size_t start, size_t end)
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

void wt__reader_mark_used(struct argument_reader *r, struct byte_span span)
{
    for (size_t l = 0; l < r->literal_count; l++)
        if (r->literals[l].start < span.end && span.start < r->literals[l].end)
            r->used[l] = true;
}

/* Marks the literals that overlap an enumeration value as used. If the value is only the currency of an amount ("5
 * USD"), the amount stays available. */
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

void wt__reader_mark_repeated(struct argument_reader *r, struct str text, struct byte_span given)
{
    bool once = false;
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        bool counted = literal->kind <= LITERAL_DATE_TIME;
        bool same =
            literal->text.len == text.len && text.len > 0 && strncasecmp(literal->text.ptr, text.ptr, text.len) == 0;
        if (!same || (literal->start < given.end && given.start < literal->end) || r->repeated[l] || (counted && once))
            continue;
        r->repeated[l] = true;
        once |= counted;
    }
}

static struct str get_answer_text(const struct argument_reader *r, size_t p)
{
    return (struct str){r->request.ptr + r->answers[p].start, r->answers[p].end - r->answers[p].start};
}

bool wt__reader_is_vacant(const struct argument_reader *r, size_t p)
{
    return r->out->items[p].state == ARGUMENT_ABSENT && !r->out->items[p].declined;
}

/* Marks an optional argument as declined if its answer is "none". */
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

/* Fills a parameter with the longest of its examples that the request contains. */
static int fill_example(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    const struct byte_span whole = {0, r->request.len};
    struct byte_span best = {0, 0};
    struct str said = {0};
    for (size_t i = 0; i < parameter->example_count; i++) {
        struct byte_span span = find_text_span(r, parameter->examples[i], whole);
        if (span.end - span.start > best.end - best.start &&
            wt__count_name_sharers(r->parameters, parameter->examples[i]) == 0) {
            best = span;
            said = parameter->examples[i];
        }
    }
    if (best.end == 0 || is_denied(r, best.start))
        return 0;
    json_t *value = wt__json_string(said);
    if (value && parameter->list)
        value = wt__json_list_of(value);
    if (!value)
        return WT_ENOMEM;
    wt__reader_mark_used(r, best);
    r->out->items[p] = wt__given_argument(value, best.start, best.end);
    return 0;
}

bool wt__reader_has_literal(const struct argument_reader *r, size_t start, size_t end)
{
    for (size_t l = 0; l < r->literal_count; l++)
        if (r->literals[l].start < end && start < r->literals[l].end)
            return true;
    return false;
}

size_t wt__reader_answering_literal(const struct argument_reader *r, size_t p)
{
    for (size_t l = 0; r->answers[p].end > 0 && l < r->literal_count; l++)
        if (r->literals[l].start == r->answers[p].start && r->literals[l].end == r->answers[p].end)
            return l;
    return SIZE_MAX;
}

/* Fills a parameter with the text of its answer. Does nothing if the answer contains a literal, or if the parameter
 * takes a list, a date or a time. */
static int fill_answer(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct call_argument *argument = &r->out->items[p];
    const struct argument_answer *answered = &r->answers[p];
    if (parameter->list || wt__takes_moment(parameter) || answered->end == 0 ||
        wt__reader_has_literal(r, answered->name, answered->end))
        return 0;
    const struct literal answer = {LITERAL_QUOTED, answered->start, answered->end, .text = get_answer_text(r, p)};
    struct str text;
    int rc = wt__convert_literal(&text, parameter, &answer, r->arena);
    json_t *value = rc < 0 ? NULL : wt__json_string(text);
    if (!value)
        return WT_ENOMEM;
    *argument = wt__given_argument(value, answered->start, answered->end);
    if (rc == 0)
        wt__call_argument_reject(argument, parameter);
    wt__reader_mark_repeated(r, answer.text, (struct byte_span){answered->start, answered->end});
    return 0;
}

/* Fills a parameter from its answer. The parameter takes a list of texts and has no enumeration. */
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
    r->out->items[p] = wt__given_argument(list, span.start, span.end);
    r->out->items[p].state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
    wt__reader_mark_used(r, span);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        wt__reader_mark_repeated(r, (struct str){json_string_value(item), json_string_length(item)}, span);
    }
    return 0;
}

/* Fills a currency parameter with the currency of the amount: USD in "250 USD to NOK". The parameter must be the only
 * vacant currency parameter that is not the target of a conversion. */
static int fill_currency(struct argument_reader *r)
{
    const struct literal *amount = NULL;
    struct call_argument *argument = NULL;
    for (size_t l = 0; l < r->literal_count; l++) {
        const struct literal *literal = &r->literals[l];
        if (literal->currency.len == 0)
            continue;
        if ((amount && !wt__str_equal(amount->currency, literal->currency)) ||
            wt__str_equal(wt__reader_word_before(r, literal->start), STR("to")))
            return 0;
        amount = literal;
    }
    for (size_t p = 0; amount && p < r->parameters->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        if (!parameter->takes_currency || !wt__takes_text(parameter) || parameter->list ||
            parameter->bound == BOUND_TO || parameter->values || !wt__reader_is_vacant(r, p))
            continue;
        if (argument)
            return 0; /* two parameters could take the currency */
        argument = &r->out->items[p];
    }
    if (!argument)
        return 0;
    json_t *value = wt__json_string(amount->currency);
    *argument = wt__given_argument(value, amount->end - amount->currency.len, amount->end);
    return value ? 0 : WT_ENOMEM;
}

static int fill_words(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    bool texts = parameter->list && !wt__takes_moment(parameter) && r->answers[p].assigned;
    int rc = texts ? fill_texts(r, p) : fill_answer(r, p);
    return rc < 0 || r->out->items[p].state != ARGUMENT_ABSENT ? rc : fill_example(r, p);
}

/* Appends the enumeration values that occur in `range` of the request to `found`. Ignores a value inside a longer
 * value. *first: place of the first value found, in the order of the enumeration. Returns the number of values, or
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
        if (span.start >= best.start && span.end <= best.end)
            continue;
        if (best.end > 0 && span.start <= best.start && best.end <= span.end) {
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

/* Marks literals equal to an item of the answer as repeated. Sets r->left_over to the first item that is not in the
 * enumeration. */
static void read_answer_parts(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    struct str text = get_answer_text(r, p), part;
    struct byte_span span = {r->answers[p].start, r->answers[p].end};
    for (size_t at = 0; (part = wt__next_answer_part(text, &at)).len > 0;) {
        size_t start = (size_t)(part.ptr - r->request.ptr), in = 0;
        bool known = wt__reader_has_literal(r, start, start + part.len) && parameter->list;
        for (size_t i = 0; !known && i < json_array_size(parameter->values); i++)
            known =
                find_value(r, json_array_get(parameter->values, i), (struct byte_span){start, start + part.len}).end >
                0;
        struct str word;
        do
            word = wt__next_word(part, &in);
        while (word.len > 0 && wt__is_stopword_any_case(word));
        if (!known && word.len > 0 && r->left_over.len == 0)
            r->left_over = part;
        wt__reader_mark_repeated(r, part, span);
    }
}

static int fill_enumeration(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    bool answered = r->answers[p].assigned;
    struct byte_span span = {0, 0}, range = {0, r->request.len};
    if (answered)
        range = (struct byte_span){r->answers[p].start, r->answers[p].end};
    json_t *found = json_array();
    int count = found ? find_enumeration_values(r, parameter, range, found, &span) : WT_ENOMEM;
    if (count > 0) {
        bool sure = (count == 1 || parameter->list) && !is_denied(r, span.start);
        json_t *value = parameter->list ? found : json_array_get(found, 0);
        r->out->items[p] = wt__given_argument(json_incref(value), span.start, span.end);
        r->out->items[p].state = sure ? ARGUMENT_GIVEN : ARGUMENT_UNSURE;
    }
    if (count >= 0 && answered)
        read_answer_parts(r, p);
    json_decref(found);
    return count < 0 ? count : 0;
}

static int fill_parameter(struct argument_reader *r, size_t p)
{
    const struct parameter *parameter = &r->parameters->items[p];
    if (read_declined(r, p))
        return 0;
    if (parameter->values)
        return fill_enumeration(r, p);
    return wt__takes_text(parameter) ? fill_words(r, p) : 0;
}

int wt__fill_named_values(struct argument_reader *r)
{
    for (size_t p = 0; p < r->parameters->len; p++)
        WT_TRY(fill_parameter(r, p));
    return fill_currency(r);
}
