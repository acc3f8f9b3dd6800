/* parameters.c: reads the parameters of a tool from its schema; see arguments.h. */
#include "call/arguments.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"
#include "text/analyser.h"

bool wt__words_alike(struct str a, struct str b)
{
    a.len -= a.len > 3 && (a.ptr[a.len - 1] | 0x20) == 's';
    b.len -= b.len > 3 && (b.ptr[b.len - 1] | 0x20) == 's';
    size_t shared = a.len < b.len ? a.len : b.len;
    if (shared == 0 || strncasecmp(a.ptr, b.ptr, shared) != 0)
        return false;
    return a.len == b.len || shared >= 3;
}

bool wt__text_has_words(struct str text, const char *words)
{
    size_t len = strlen(words);
    for (size_t at = 0; at + len <= text.len; at++)
        if (strncasecmp(text.ptr + at, words, len) == 0)
            return true;
    return false;
}

bool wt__is_place_word(struct str word)
{
    static const char *const words[] = {"in", "near", "around", "at", "to", "from"};
    return wt__str_among(word, words, sizeof words / sizeof *words);
}

static enum parameter_bound find_bound(struct str word)
{
    static const char *const lowest[] = {"min", "minimum", "lower", "lowest", "least"};
    static const char *const highest[] = {"max", "maximum", "upper", "highest", "most"};
    static const char *const from[] = {"from", "start", "origin", "source", "begin", "departure", "since"};
    static const char *const to[] = {"to", "end", "destination", "target", "until", "arrival", "dest", "return"};
    if (wt__str_among(word, lowest, sizeof lowest / sizeof *lowest))
        return BOUND_LOWEST;
    if (wt__str_among(word, highest, sizeof highest / sizeof *highest))
        return BOUND_HIGHEST;
    if (wt__str_among(word, from, sizeof from / sizeof *from))
        return BOUND_FROM;
    return wt__str_among(word, to, sizeof to / sizeof *to) ? BOUND_TO : BOUND_NONE;
}

static bool name_has_word(const struct parameter *parameter, const char *const *words, size_t count)
{
    for (size_t w = 0; w < parameter->word_count; w++)
        if (wt__str_among(parameter->words[w], words, count))
            return true;
    return false;
}

static void read_parameter_name(struct parameter *out)
{
    struct str name = wt__str(out->name);
    struct word_part part = {0};
    while (wt__analyser_next_part(name, &part) && out->word_count < PARAMETER_WORDS) {
        struct str word = {name.ptr + part.start, part.end - part.start};
        enum parameter_bound bound = find_bound(word);
        if (bound != BOUND_NONE && out->bound == BOUND_NONE)
            out->bound = bound;
        out->words[out->word_count++] = word;
    }
}

static void read_parameter_description(struct parameter *out)
{
    struct str text = wt__json_str(out->schema, "description");
    struct word_part part = {0};
    while (out->description_word_count < PARAMETER_DESCRIPTION_WORDS && wt__analyser_next_part(text, &part)) {
        struct str word = {text.ptr + part.start, part.end - part.start};
        if (word.len >= 3 && word.len <= PARAMETER_WORD_BYTES && !wt__is_stopword_any_case(word))
            out->description_words[out->description_word_count++] = word;
    }
}

/* Adds the texts that the description quotes as examples: "such as 'Hindi', 'English'". An apostrophe within a word
 * does not open a quote. */
static void read_quoted_examples(struct parameter *out)
{
    struct str text = wt__json_str(out->schema, "description");
    for (size_t at = 0; at < text.len && out->example_count < PARAMETER_EXAMPLES; at++) {
        char mark = text.ptr[at];
        bool begins = (mark == '\'' || mark == '"') && (at == 0 || !isalnum((unsigned char)text.ptr[at - 1]));
        const char *end = begins ? memchr(text.ptr + at + 1, mark, text.len - at - 1) : NULL;
        if (!end)
            continue;
        struct str example = {text.ptr + at + 1, (size_t)(end - text.ptr) - at - 1};
        if (example.len > 1 && example.len <= PARAMETER_EXAMPLE_BYTES)
            out->examples[out->example_count++] = example;
        at += example.len + 1;
    }
}

static struct str get_text_at(const json_t *list, size_t at)
{
    const json_t *item = json_array_get(list, at);
    return (struct str){json_string_value(item), json_string_length(item)};
}

/* Returns the branch without null of a nullable schema: {"anyOf": [{"type": "string"}, {"type": "null"}]}. Returns
 * other schemas unchanged. */
static const json_t *skip_null_branch(const json_t *schema)
{
    const json_t *branches = wt__json_array(schema, "anyOf");
    for (size_t i = 0; i < 2 && json_array_size(branches) == 2; i++)
        if (wt__str_equal(wt__json_str(json_array_get(branches, i), "type"), STR("null")))
            return json_array_get(branches, 1 - i);
    return schema;
}

static enum parameter_kind read_parameter_kind(const json_t *schema)
{
    static const struct {
        const char *type;
        enum parameter_kind kind;
    } kinds[] = {{"string", PARAMETER_STRING},
                 {"integer", PARAMETER_INTEGER},
                 {"number", PARAMETER_NUMBER},
                 {"boolean", PARAMETER_BOOLEAN}};
    const json_t *type = json_object_get(schema, "type");
    if (json_is_array(type))
        type = json_array_get(type, wt__str_equal(get_text_at(type, 0), STR("null")) ? 1 : 0);
    if (!json_is_string(type))
        return json_object_get(schema, "$ref") || json_object_get(schema, "anyOf") ? PARAMETER_OTHER : PARAMETER_ANY;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(json_string_value(type), kinds[i].type) == 0)
            return kinds[i].kind;
    return PARAMETER_OTHER;
}

/* Reads from the description how many letters a code has ("three-letter code"). Also reads if the code is a
 * currency ("ISO 4217"). */
static void read_code_form(struct parameter *out)
{
    static const struct {
        const char *said;
        size_t letters;
    } forms[] = {{"two-letter", 2},    {"two letter ", 2},   {"2-letter", 2},    {"2 letter ", 2}, {"alpha-2", 2},
                 {"three-letter", 3},  {"three letter ", 3}, {"3-letter", 3},    {"3 letter ", 3}, {"alpha-3", 3},
                 {"currency code", 3}, {"ISO 4217", 3},      {"four-letter", 4}, {"4-letter", 4}};
    static const char *const codes[] = {"code", "abbreviat", "ISO "};
    static const char *const others[] = {"countr", "airport", "airline", "language",
                                         "state",  "region",  "IATA",    "station"};
    static const char *const currency[] = {"currency", "currencies"};
    struct str text = wt__json_str(out->schema, "description");
    bool is_code = false, other = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        is_code |= wt__text_has_words(text, codes[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other |= wt__text_has_words(text, others[i]);
    size_t kinds = 0; /* "two-letter or three-letter": both are valid, so the length is unknown */
    for (size_t i = 0; is_code && i < sizeof forms / sizeof *forms; i++)
        if (wt__text_has_words(text, forms[i].said) && out->letters != forms[i].letters) {
            out->letters = forms[i].letters;
            kinds++;
        }
    out->letters = kinds == 1 ? out->letters : 0;
    bool named = name_has_word(out, currency, sizeof currency / sizeof *currency);
    out->takes_currency =
        named ||
        (out->letters == 3 && (wt__text_has_words(text, "currenc") || wt__text_has_words(text, "ISO 4217") || !other));
}

/* Sets the flags for a date, a time, or both from name, "format", or a pattern in the description. named_date: true if
 * the name has a word such as "day". named_time: true if the name has a word such as "hour". */
static void read_date_flags(struct parameter *out, bool named_date, bool named_time)
{
    struct str format = wt__json_str(out->schema, "format"), text = wt__json_str(out->schema, "description");
    bool clock = wt__text_has_words(text, "HH:MM"), calendar = wt__text_has_words(text, "YYYY");
    out->takes_date = wt__str_starts(format, STR("date")) || named_date;
    out->takes_time = wt__str_equal(format, STR("time")) || named_time || (clock && !calendar);
    bool says_neither = format.len == 0 && !clock && !calendar;
    out->takes_date_time =
        wt__str_equal(format, STR("date-time")) || (clock && calendar) || (says_neither && (named_date || named_time));
}

/* Sets the flags of the parameter from the words of its name. */
static void read_name_flags(struct parameter *out)
{
    static const char *const dates[] = {"date", "day", "checkin", "checkout", "birthday", "dob", "datetime"};
    static const char *const times[] = {"time", "hour", "datetime", "period"};
    static const char *const texts[] = {"query",   "question", "text",        "prompt", "message", "search",  "keyword",
                                        "content", "term",     "description", "body",   "title",   "subject", "note",
                                        "comment", "purpose",  "statement",   "reason", "keywords"};
    static const char *const places[] = {"city",  "location", "place",   "area", "region",  "country",
                                         "where", "state",    "address", "town", "origin",  "destination",
                                         "from",  "to",       "start",   "end",  "airport", "station"};
    static const char *const codes[] = {"id",  "ids",  "code",  "number",   "no",     "zip",     "zipcode",  "phone",
                                        "key", "uuid", "token", "username", "postal", "account", "password", "version"};
    static const char *const money[] = {"price",  "cost",    "amount",    "budget", "fee",
                                        "salary", "payment", "principal", "income", "fare"};
    static const char *const counts[] = {"num", "count", "quantity", "max", "min", "maximum", "minimum"};
    static const char *const sorts[] = {"type", "kind", "category", "means", "mode", "sort", "color", "colour"};
    if (wt__takes_text(out))
        read_date_flags(out, name_has_word(out, dates, sizeof dates / sizeof *dates),
                        name_has_word(out, times, sizeof times / sizeof *times));
    out->takes_free_text = name_has_word(out, texts, sizeof texts / sizeof *texts);
    out->takes_place = name_has_word(out, places, sizeof places / sizeof *places);
    out->takes_code = name_has_word(out, codes, sizeof codes / sizeof *codes);
    out->takes_money = name_has_word(out, money, sizeof money / sizeof *money);
    bool other = out->takes_date || out->takes_time || out->takes_date_time || out->takes_code;
    out->names_number = !other && (out->takes_money || name_has_word(out, counts, sizeof counts / sizeof *counts));
    out->names_words = name_has_word(out, sorts, sizeof sorts / sizeof *sorts);
}

static void read_parameter_schema(struct parameter *out)
{
    const json_t *one = skip_null_branch(out->schema), *types = wt__json_array(one, "type");
    struct str array = STR("array");
    out->list = wt__str_equal(wt__json_str(one, "type"), array) || wt__str_equal(get_text_at(types, 0), array) ||
                wt__str_equal(get_text_at(types, 1), array);
    if (out->list)
        one = json_object_get(one, "items");
    out->kind = one ? read_parameter_kind(one) : PARAMETER_ANY;
    out->values = wt__json_array(one, "enum");

    read_name_flags(out);
}

static bool is_required_parameter(const json_t *schema, const char *name)
{
    const json_t *required = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *text = json_string_value(json_array_get(required, i));
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

int wt__parameters_read(struct parameters *out, const json_t *schema, struct arena *arena)
{
    const json_t *properties = wt__json_object(schema, "properties");
    size_t count = json_object_size(properties);
    count = count < PARAMETERS_MOST ? count : PARAMETERS_MOST;
    *out = (struct parameters){.items = wt__arena_array(arena, struct parameter, count)};
    if (!out->items && count > 0)
        return WT_ENOMEM;
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)properties, name, property)
    {
        if (out->len == count)
            break;
        struct parameter *parameter = &out->items[out->len++];
        parameter->name = name;
        parameter->schema = property;
        parameter->required = is_required_parameter(schema, name);
        read_parameter_name(parameter);
        read_parameter_schema(parameter);
        read_parameter_description(parameter);
        read_code_form(parameter);
        read_quoted_examples(parameter);
    }
    return 0;
}
