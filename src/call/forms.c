/* forms.c: see forms.h. Supports only the examples and patterns common in real catalogues. */
#include "call/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

enum { FORM_BYTES = 24 };

static bool find_substring(struct str text, const char *part, size_t *at)
{
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, part, len) == 0) {
            *at = i;
            return true;
        }
    return false;
}

static bool has_substring(struct str text, const char *part)
{
    size_t at;
    return find_substring(text, part, &at);
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

/* Writes a date in the pattern. iso: YYYY-MM-DD. */
static int write_date_pattern(struct str *out, struct str pattern, struct str iso, struct arena *arena)
{
    static const struct {
        const char *part;
        size_t from, len;
    } parts[] = {{"YYYY", 0, 4}, {"MM", 5, 2}, {"DD", 8, 2}};
    char text[FORM_BYTES] = {0};
    memcpy(text, pattern.ptr, pattern.len);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t at = 0;
        find_substring(pattern, parts[i].part, &at);
        memcpy(text + at, iso.ptr + parts[i].from, parts[i].len);
    }
    char *copy = wt__arena_copy(arena, wt__str(text));
    *out = wt__str(copy);
    return copy ? 1 : WT_ENOMEM;
}

static int convert_date(struct str *out, struct str description, const struct literal *literal, struct arena *arena)
{
    if (has_substring(description, "HH") || has_substring(description, "hh:"))
        return 0; /* the description asks for a time as well */
    struct str pattern = find_date_pattern(description);
    return pattern.len > 0 ? write_date_pattern(out, pattern, literal->text, arena) : 1;
}

/* Writes a time for the format "time", which requires seconds and a zone. */
static int convert_zoned_time(struct str *out, struct arena *arena)
{
    enum { MINUTES = 5 };
    char text[FORM_BYTES];
    snprintf(text, sizeof text, "%.*s%sZ", (int)out->len, out->ptr, out->len == MINUTES ? ":00" : "");
    char *copy = wt__arena_copy(arena, wt__str(text));
    *out = wt__str(copy);
    return copy ? 1 : WT_ENOMEM;
}

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
    char *copy = wt__arena_copy(arena, wt__str(text));
    *out = wt__str(copy);
    return copy ? 1 : WT_ENOMEM;
}

/* True for "City, State", or an example with a comma before two capitals: a city alone is not enough. */
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
    return has_substring(description, "IATA") || has_substring(description, "airport code") ||
           has_substring(description, "ISO 3166") || has_substring(description, "country code") ||
           has_substring(description, "ticker") || has_substring(description, "language code") ||
           has_substring(description, "ISO 639");
}

static size_t count_characters(struct str text, int (*is_kind)(int))
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += is_kind((unsigned char)text.ptr[i]) != 0;
    return count;
}

/* True for capitals and digits. Small letters count only in quotes. */
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
    if (literal->kind == LITERAL_DATE_TIME) /* the zone and the T must stay */
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
