/* evaluate_value.c: the keywords of numbers, strings and fixed values. */
#include "schema/evaluate_value.h"

#include "schema/numbers.h"
#include "schema/same.h"

static bool is_enum_value(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    uint64_t steps = 0;
    bool found = false;
    if (s->texts.capacity > 0 && json_is_string(at->value)) {
        struct str text = {json_string_value(at->value), json_string_length(at->value)};
        return wt__map_get(&s->texts, text) != NULL;
    }
    for (size_t i = 0; i < json_array_size(s->values) && !found && e->steps + steps <= e->most_steps; i++)
        found = wt__json_same(json_array_get(s->values, i), at->value, &steps);
    return wt__spend_steps(e, s, at, steps / 4) && found;
}

bool wt__evaluate_choice(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    uint64_t steps = 0;
    if (s->values && !is_enum_value(e, s, at))
        return wt__report_violation(e, at, (struct violation){VIOLATION_VALUE, s, "enum", .wanted = s->values});
    if (s->constant && !wt__json_same(s->constant, at->value, &steps))
        return wt__report_violation(e, at, (struct violation){VIOLATION_VALUE, s, "const", .wanted = s->constant});
    return wt__spend_steps(e, s, at, steps / 4);
}

bool wt__evaluate_number(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    const struct number_rules *rules = s->number;
    const json_t *value = at->value;
    const char *keyword = NULL;
    const json_t *wanted = NULL;
    if (rules->minimum && wt__number_compare(value, rules->minimum) < 0) {
        keyword = "minimum";
        wanted = rules->minimum;
    } else if (rules->exclusive_minimum && wt__number_compare(value, rules->exclusive_minimum) <= 0) {
        keyword = "exclusiveMinimum";
        wanted = rules->exclusive_minimum;
    } else if (rules->maximum && wt__number_compare(value, rules->maximum) > 0) {
        keyword = "maximum";
        wanted = rules->maximum;
    } else if (rules->exclusive_maximum && wt__number_compare(value, rules->exclusive_maximum) >= 0) {
        keyword = "exclusiveMaximum";
        wanted = rules->exclusive_maximum;
    }
    if (keyword)
        return wt__report_violation(e, at, (struct violation){VIOLATION_BOUND, s, keyword, .wanted = wanted});
    if (rules->multiple_of && !wt__spend_steps(e, s, at, MULTIPLE_STEPS))
        return false;
    if (rules->multiple_of && !wt__number_is_multiple(value, rules->multiple_of))
        return wt__report_violation(
            e, at, (struct violation){VIOLATION_MULTIPLE, s, "multipleOf", .wanted = rules->multiple_of});
    return true;
}

static size_t count_code_points(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static bool evaluate_length(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct str text)
{
    const struct string_rules *rules = s->string;
    if (!rules->min_length.set && !rules->max_length.set)
        return true;
    size_t len = count_code_points(text);
    bool low = rules->min_length.set && len < rules->min_length.value;
    if (!low && !(rules->max_length.set && len > rules->max_length.value))
        return true;
    return wt__report_violation(e, at,
                                (struct violation){VIOLATION_LENGTH, s, low ? "minLength" : "maxLength",
                                                   .limit = low ? rules->min_length.value : rules->max_length.value,
                                                   .other = len});
}

static bool evaluate_format(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct str text)
{
    enum format_answer answer = wt__format_fits(s->string->format, text);
    if (answer == FORMAT_NO_MEMORY)
        return wt__stop_out_of_memory(e);
    return answer == FORMAT_YES ||
           wt__report_violation(e, at,
                                (struct violation){.kind = VIOLATION_FORMAT, .subschema = s, .keyword = "format"});
}

bool wt__evaluate_string(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    const struct string_rules *rules = s->string;
    struct str text = {json_string_value(at->value), json_string_length(at->value)};
    if (!wt__spend_steps(e, s, at, text.len / (rules->format ? 16 : 256)))
        return false;
    bool fits = evaluate_length(e, s, at, text);
    if (rules->format && wt__should_continue(e, fits))
        fits &= evaluate_format(e, s, at, text);
    if (rules->pattern && wt__should_continue(e, fits) &&
        !wt__evaluate_pattern(e, s, rules->pattern, "pattern", at, text))
        fits = wt__report_violation(
            e, at, (struct violation){.kind = VIOLATION_PATTERN, .subschema = s, .keyword = "pattern"});
    return fits && !e->stopped;
}
