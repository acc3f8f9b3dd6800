/* arguments.c: fills the arguments of a tool from a request; see arguments.h. Enumeration values, answers and examples
 * come first (named_values.c), then literals (argument_pairs.c). The other arguments become default, missing or
 * unsure. */
#include "call/argument_reader.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"

enum { MENTION_BYTES = 4 /* length of the shortest word that can mention a parameter */ };

/* True if the request mentions the parameter by a word of its name that is in no other parameter's name. Any calendar
 * word mentions a parameter that takes a date or a time. Words in the values of arguments do not count. */
static bool is_mentioned_parameter(const struct argument_reader *r, const struct parameter *parameter)
{
    for (size_t w = 0; w < r->word_count; w++) {
        struct str word = wt__reader_word(r, w);
        if (wt__overlaps_argument(r->out, r->words[w].start, r->words[w].end))
            continue;
        if ((parameter->takes_date || parameter->takes_time) && wt__is_calendar_word(word))
            return true;
        if (word.len >= MENTION_BYTES && !wt__is_stopword_any_case(word) && wt__repeats_name(parameter, word) &&
            wt__count_name_sharers(r->parameters, word) == 1)
            return true;
    }
    return false;
}

/* True if the literal is a name, and the tool's name and description have all its words. */
static bool is_about_tool(const struct argument_reader *r, const struct literal *literal)
{
    size_t at = 0;
    for (struct str word; (word = wt__next_word(literal->text, &at)).len > 0;)
        if (!wt__text_has_alike(r->about, word))
            return false;
    return literal->kind == LITERAL_NAME;
}

/* Returns the first "name: value" clause whose name matches no parameter; empty if there is no such clause. */
static struct str find_unknown_answer(const struct argument_reader *r)
{
    struct str clause, value;
    for (size_t at = 0; (clause = wt__next_unknown_answer(r->request, &at, r->parameters, &value)).len > 0;) {
        size_t start = (size_t)(value.ptr - r->request.ptr), end = start + value.len;
        if (!wt__overlaps_argument(r->out, start, end) && !wt__reader_has_literal(r, start, end))
            return clause;
    }
    return STR("");
}

/* Returns the first unused literal, answer part, or "name: value" clause; empty if all are used. A quoted literal is
 * returned without its quotes. */
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

/* True if the request gives the parameter by name, but its value was found elsewhere: "42.50 EUR, amount: forty". The
 * user has to decide. */
static bool is_contradicted(const struct argument_reader *r, size_t p)
{
    const struct argument_answer *answer = &r->answers[p];
    const struct call_argument *argument = &r->out->items[p];
    return answer->end > 0 && answer->assigned && argument->state == ARGUMENT_GIVEN &&
           (argument->end <= answer->start || argument->start >= answer->end);
}

/* Sets the state of arguments without a value. A required argument becomes default or missing. An optional argument
 * becomes unsure if the request mentions the parameter. A contradicted argument also becomes unsure. Finds the first
 * unused part of the request, too. */
static void settle_arguments(struct argument_reader *r)
{
    for (size_t p = 0; p < r->parameters->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        struct call_argument *argument = &r->out->items[p];
        if ((wt__reader_is_vacant(r, p) && !parameter->required && is_mentioned_parameter(r, parameter)) ||
            is_contradicted(r, p))
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
    wt__reader_read_words(r);
    wt__answers_read(answers, literals, parameters);
    r->answers = answers;
    r->all = literals;
    for (size_t p = 0; p < parameters->len; p++)
        if (answers[p].end > 0) /* "num2" of "num2: 5" is not a value */
            wt__reader_mark_used(r, (struct byte_span){answers[p].name, answers[p].start});
    WT_TRY(wt__fill_named_values(r));
    WT_TRY(wt__fill_pairs(r));
    settle_arguments(r);
    wt__coverage_check(out, r->request, about, parameters);
    return 0;
}

void wt__call_arguments_dispose(struct call_arguments *arguments)
{
    for (size_t i = 0; i < arguments->len; i++)
        json_decref(arguments->items[i].value);
    arguments->len = 0;
}
