/* literal_fit.c: scores how well a literal fits a parameter. Also converts a literal to the form that the parameter's
 * description asks for. Only forms common in real catalogues are supported. See argument_reader.h. */
#include "call/argument_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"

static const float DESCRIPTION_EVIDENCE = .35F;
static const float BOUND_EVIDENCE = .9F;
static const float TELLS_ITSELF = .3F; /* base score of a literal recognisable by its form, such as a date */

bool wt__repeats_name(const struct parameter *parameter, struct str text)
{
    for (size_t i = 0; i < parameter->word_count; i++)
        if (wt__words_alike(parameter->words[i], text))
            return true;
    return false;
}

static float score_text_kind(const struct parameter *parameter, const struct literal *literal)
{
    bool is_date = literal->kind == LITERAL_DATE, is_time = literal->kind == LITERAL_TIME;
    if (literal->kind == LITERAL_DATE_TIME)
        return parameter->takes_date_time ? TELLS_ITSELF : PAIR_NEVER;
    if (parameter->takes_date || parameter->takes_time)
        return (parameter->takes_date && is_date) || (parameter->takes_time && is_time) ? TELLS_ITSELF : PAIR_NEVER;
    if (is_date || is_time)
        return PAIR_NEVER;
    if (literal->kind == LITERAL_NUMBER)
        return parameter->takes_code && parameter->letters == 0 && !literal->spelled ? 0 : PAIR_NEVER;
    if (literal->kind == LITERAL_NAME && (parameter->takes_free_text || wt__repeats_name(parameter, literal->text)))
        return PAIR_NEVER;
    return parameter->takes_currency && literal->kind == LITERAL_NAME && wt__is_currency(literal->text) ? TELLS_ITSELF
                                                                                                        : PAIR_LITTLE;
}

float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal)
{
    bool number = literal->kind == LITERAL_NUMBER;
    switch (parameter->kind) {
    case PARAMETER_INTEGER:
        return number && literal->number == floor(literal->number) ? (literal->spelled ? -PAIR_LITTLE : 0) : PAIR_NEVER;
    case PARAMETER_NUMBER:
        return number ? (literal->spelled ? -PAIR_LITTLE : 0) : PAIR_NEVER;
    case PARAMETER_ANY:
        if (number ? parameter->names_words : parameter->names_number)
            return PAIR_NEVER;
        return number ? 0 : score_text_kind(parameter, literal);
    case PARAMETER_STRING:
        return score_text_kind(parameter, literal);
    default:
        return PAIR_NEVER;
    }
}

bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal)
{
    bool text = wt__takes_text(parameter) && !wt__takes_moment(parameter) && literal->kind >= LITERAL_EMAIL;
    return text || wt__kind_evidence(parameter, literal) > PAIR_NEVER;
}

float wt__word_evidence(const struct parameter *parameter, struct str word)
{
    for (size_t i = 0; i < parameter->word_count; i++)
        if (wt__words_alike(parameter->words[i], word))
            return PAIR_NAMED;
    for (size_t i = 0; i < parameter->description_word_count; i++)
        if (wt__words_alike(parameter->description_words[i], word))
            return DESCRIPTION_EVIDENCE;
    return 0;
}

enum parameter_bound wt__bound_cue(struct str word, struct str before)
{
    static const char *const lowest[] = {"least", "minimum", "min", "above", "over", "exceeding"};
    static const char *const highest[] = {"most", "maximum", "max", "under", "below", "within", "upto"};
    static const char *const more[] = {"more", "greater", "higher"}, *const less[] = {"less", "lower", "fewer",
                                                                                      "cheaper"};
    if (wt__str_among(word, lowest, sizeof lowest / sizeof *lowest))
        return BOUND_LOWEST;
    if (wt__str_among(word, highest, sizeof highest / sizeof *highest))
        return BOUND_HIGHEST;
    if (wt__str_equal(word, STR("than")))
        return wt__str_among(before, more, sizeof more / sizeof *more)   ? BOUND_LOWEST
               : wt__str_among(before, less, sizeof less / sizeof *less) ? BOUND_HIGHEST
                                                                         : BOUND_NONE;
    if (wt__str_equal(word, STR("to")))
        return wt__str_equal(before, STR("up")) ? BOUND_HIGHEST : BOUND_TO;
    return wt__str_equal(word, STR("from")) ? BOUND_FROM : BOUND_NONE;
}

enum parameter_bound wt__bound_opposite(enum parameter_bound bound)
{
    return bound == BOUND_LOWEST ? BOUND_HIGHEST : bound == BOUND_HIGHEST ? BOUND_LOWEST : bound;
}

static bool is_lower_end(enum parameter_bound bound)
{
    return bound == BOUND_LOWEST || bound == BOUND_FROM;
}

float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said)
{
    bool strict = parameter->bound == BOUND_LOWEST || parameter->bound == BOUND_HIGHEST;
    if (parameter->bound == BOUND_NONE)
        return said == BOUND_LOWEST || said == BOUND_HIGHEST ? -.2F : 0;
    if (said == BOUND_NONE)
        return strict ? PAIR_NEVER : 0;
    return is_lower_end(parameter->bound) == is_lower_end(said) ? BOUND_EVIDENCE : PAIR_NEVER;
}

enum { FORM_BYTES = 24 };

/* Returns the position of `part` in `text`; SIZE_MAX if absent. */
static size_t find_substring(struct str text, const char *part)
{
    const char *found = text.len > 0 ? memmem(text.ptr, text.len, part, strlen(part)) : NULL;
    return found ? (size_t)(found - text.ptr) : SIZE_MAX;
}

static bool has_substring(struct str text, const char *part)
{
    return find_substring(text, part) != SIZE_MAX;
}

/* Copies a converted text to the arena. Returns 1 or WT_ENOMEM. */
static int copy_converted(struct str *out, const char *text, struct arena *arena)
{
    char *copy = wt__arena_copy(arena, wt__str(text));
    *out = wt__str(copy);
    return copy ? 1 : WT_ENOMEM;
}

/* Returns the date pattern of a description, such as "MM/DD/YYYY"; empty if not found. */
static struct str find_date_pattern(struct str description)
{
    for (size_t at = 0; at + 10 <= description.len; at++) {
        struct str part = {description.ptr + at, 10};
        if (has_substring(part, "YYYY") && has_substring(part, "MM") && has_substring(part, "DD") &&
            isupper((unsigned char)part.ptr[0]) && isupper((unsigned char)part.ptr[9]))
            return part;
    }
    return (struct str){0};
}

/* Writes a date in the pattern. iso: the date as YYYY-MM-DD. Returns 1 or WT_ENOMEM. */
static int write_date_pattern(struct str *out, struct str pattern, struct str iso, struct arena *arena)
{
    static const struct {
        const char *part;
        size_t from, len;
    } parts[] = {{"YYYY", 0, 4}, {"MM", 5, 2}, {"DD", 8, 2}};
    char text[FORM_BYTES] = {0};
    memcpy(text, pattern.ptr, pattern.len);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t at = find_substring(pattern, parts[i].part);
        memcpy(text + (at < pattern.len ? at : 0), iso.ptr + parts[i].from, parts[i].len);
    }
    return copy_converted(out, text, arena);
}

/* Converts a date to the pattern of the description. Returns 1, 0 if the description also asks for a time, or
 * WT_ENOMEM. */
static int convert_date(struct str *out, struct str description, const struct literal *literal, struct arena *arena)
{
    if (has_substring(description, "HH") || has_substring(description, "hh:"))
        return 0;
    struct str pattern = find_date_pattern(description);
    return pattern.len > 0 ? write_date_pattern(out, pattern, literal->text, arena) : 1;
}

/* Replaces the UTC time *out by its form in the JSON Schema format "time", which requires seconds and a zone. Returns 1
 * or WT_ENOMEM. */
static int convert_zoned_time(struct str *out, struct arena *arena)
{
    enum { MINUTES = 5 };
    char text[FORM_BYTES];
    snprintf(text, sizeof text, "%.*s%sZ", (int)out->len, out->ptr, out->len == MINUTES ? ":00" : "");
    return copy_converted(out, text, arena);
}

/* Converts a time to the form of the description, with or without seconds. Returns 1, 0 if another form is asked for,
 * or WT_ENOMEM. */
static int convert_time(struct str *out, struct str description, struct arena *arena)
{
    enum { MINUTES = 5, SECONDS = 8 }; /* bytes of "19:30" and "19:30:00" */
    bool wanted = wt__text_has_words(description, "HH:MM:SS");
    if (has_substring(description, "AM/PM") || has_substring(description, "YYYY"))
        return 0;
    if (!wt__text_has_words(description, "HH:MM") || out->len == (wanted ? SECONDS : MINUTES))
        return 1;
    if (!wanted && out->len == SECONDS && memcmp(out->ptr + MINUTES, ":00", SECONDS - MINUTES) == 0) {
        out->len = MINUTES;
        return 1;
    }
    if (!wanted || out->len != MINUTES)
        return 0;
    char text[FORM_BYTES];
    snprintf(text, sizeof text, "%.*s:00", MINUTES, out->ptr);
    return copy_converted(out, text, arena);
}

/* True if the description asks for a city with its state: "City, State", or an example with a comma before two
 * capitals. */
static bool requires_state(struct str description)
{
    if (has_substring(description, "City, State") || has_substring(description, "city and state") ||
        has_substring(description, "City and state"))
        return true;
    for (size_t at = 1; at + 4 <= description.len; at++) {
        const char *p = description.ptr + at;
        bool ends = at + 4 == description.len || !isalpha((unsigned char)p[4]);
        if (p[0] == ',' && p[1] == ' ' && isupper((unsigned char)p[2]) && isupper((unsigned char)p[3]) && ends)
            return true;
    }
    return false;
}

static bool requires_code(struct str description)
{
    static const char *const codes[] = {"IATA",   "airport code",  "ISO 3166", "country code",
                                        "ticker", "language code", "ISO 639"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (has_substring(description, codes[i]))
            return true;
    return false;
}

static size_t count_characters(struct str text, int (*is_kind)(int))
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += is_kind((unsigned char)text.ptr[i]) != 0;
    return count;
}

/* True for two to five capitals and digits. A quoted literal may have small letters instead of capitals. */
static bool is_code_literal(const struct literal *literal)
{
    struct str text = literal->text;
    size_t digits = count_characters(text, isdigit), capitals = count_characters(text, isupper);
    bool small = literal->kind == LITERAL_QUOTED && digits + count_characters(text, islower) == text.len;
    return text.len >= 2 && text.len <= 5 && (digits + capitals == text.len || small);
}

bool wt__has_letters(const struct parameter *parameter, const struct literal *literal)
{
    bool text = literal->kind == LITERAL_NAME || literal->kind == LITERAL_QUOTED;
    return text && literal->text.len == parameter->letters && is_code_literal(literal) &&
           count_characters(literal->text, isdigit) == 0;
}

int wt__convert_literal(struct str *out, const struct parameter *parameter, const struct literal *literal,
                        struct arena *arena)
{
    struct str description = wt__json_str(parameter->schema, "description");
    *out = literal->text;
    if (literal->kind == LITERAL_DATE && wt__str_equal(wt__json_str(parameter->schema, "format"), STR("date-time")))
        return 0;
    if (literal->kind == LITERAL_DATE)
        return convert_date(out, description, literal, arena);
    if (literal->utc && wt__str_equal(wt__json_str(parameter->schema, "format"), STR("time")))
        return convert_zoned_time(out, arena);
    if (literal->kind == LITERAL_TIME)
        return convert_time(out, description, arena);
    if (literal->kind == LITERAL_DATE_TIME) /* other patterns would drop the zone or the "T" */
        return !wt__text_has_words(description, "YYYY") || wt__text_has_words(description, "YYYY-MM-DDTHH");
    if (literal->money && (has_substring(description, " cents") || has_substring(description, "Cents")))
        return 0;
    bool text = literal->kind == LITERAL_NAME || literal->kind == LITERAL_QUOTED;
    if (text && requires_state(description) && !memchr(literal->text.ptr, ',', literal->text.len))
        return 0;
    if (parameter->letters > 0)
        return wt__has_letters(parameter, literal);
    return !text || !requires_code(description) || is_code_literal(literal);
}
