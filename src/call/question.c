/* question.c: see question.h. */
#include "call/question.h"

#include <ctype.h>

#include "base/json.h"
#include "llm/plain_text.h"
#include "text/analyser.h"

enum { FOLDED_BYTES = 32 };

/* ---------------------------------------------------------------- which tool */

static bool has_word(struct str text, struct str word)
{
    struct word_part part = {0};
    const char *one = NULL;
    char copy[FOLDED_BYTES];
    if (word.len >= sizeof copy)
        return false;
    memcpy(copy, word.ptr, word.len);
    copy[word.len] = 0;
    one = copy;
    while (wt__analyser_next_part(text, &part))
        if (wt__str_among((struct str){text.ptr + part.start, part.end - part.start}, &one, 1))
            return true;
    return false;
}

static bool is_telling(struct str word)
{
    char lower[FOLDED_BYTES];
    if (word.len < 2 || word.len >= sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)tolower((unsigned char)word.ptr[i]);
    return !wt__is_stopword((struct str){lower, word.len});
}

/* Its beginning, which ends with a word. */
static struct str compared(struct str description)
{
    size_t len = description.len;
    if (len <= QUESTION_COMPARED_BYTES)
        return description;
    for (len = QUESTION_COMPARED_BYTES; len > 0 && !wt__is_blank(description.ptr[len]);)
        len--;
    return (struct str){description.ptr, len > 0 ? len : QUESTION_COMPARED_BYTES};
}

/* Appends the words of one text that the other does not have. Returns how many there are. */
static size_t put_differences(struct buffer *out, struct str one, struct str other)
{
    struct word_part part = {0};
    size_t count = 0, begin = out->len;
    while (wt__analyser_next_part(one, &part)) {
        struct str word = {one.ptr + part.start, part.end - part.start};
        struct str before = {out->ptr + begin, out->len - begin};
        if (!is_telling(word) || has_word(other, word) || (before.len > 0 && has_word(before, word)))
            continue;
        if (count++ < QUESTION_DIFFERENCES) {
            wt__buffer_text(out, before.len > 0 ? ", " : "");
            wt__plain_line(out, word, FOLDED_BYTES);
        }
    }
    return count;
}

static void put_tool(struct buffer *out, const struct question_tool *tool, struct str says)
{
    wt__plain_line(out, tool->id, QUESTION_NAME_BYTES);
    if (says.len == 0)
        return;
    wt__buffer_text(out, " (");
    wt__plain_line(out, says, QUESTION_TOOL_BYTES);
    wt__buffer_char(out, ')');
}

void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b)
{
    struct buffer only_a = {0}, only_b = {0};
    const struct str text_a = compared(a->description), text_b = compared(b->description);
    size_t of_a = put_differences(&only_a, text_a, text_b), of_b = put_differences(&only_b, text_b, text_a);
    bool tell = of_a + of_b > 0 && of_a <= QUESTION_DIFFERENCES && of_b <= QUESTION_DIFFERENCES;
    bool same = of_a + of_b == 0 && wt__str_equal(wt__str_trim(a->description), wt__str_trim(b->description));
    struct str says_a = tell ? wt__buffer_view(&only_a) : same ? STR("") : a->description;
    struct str says_b = tell ? wt__buffer_view(&only_b) : same ? STR("") : b->description;
    wt__buffer_text(out, same ? "Two tools say the same of themselves. Which one is meant: " : "Which one is meant: ");
    put_tool(out, a, says_a);
    wt__buffer_text(out, ", or ");
    put_tool(out, b, says_b);
    wt__buffer_char(out, '?');
    out->failed |= only_a.failed || only_b.failed;
    wt__buffer_dispose(&only_a);
    wt__buffer_dispose(&only_b);
}

void wt__question_of_weak(struct buffer *out, const struct question_tool *tool)
{
    wt__buffer_text(out, "No tool clearly fits. Is this one meant: ");
    put_tool(out, tool, tool->description);
    wt__buffer_char(out, '?');
}

/* ---------------------------------------------------------------- which value */

static void put_value(struct buffer *out, const json_t *value)
{
    struct buffer json = {0};
    wt__json_write_typed(&json, value);
    out->failed |= json.failed;
    wt__plain_line(out, wt__buffer_view(&json), QUESTION_VALUE_BYTES);
    wt__buffer_dispose(&json);
}

static void put_parameter(struct buffer *out, const struct parameter *parameter)
{
    struct str description = wt__json_str(parameter->schema, "description");
    wt__plain_line(out, wt__str(parameter->name), QUESTION_NAME_BYTES);
    if (description.len > 0) {
        wt__buffer_text(out, " (");
        wt__plain_line(out, description, QUESTION_DESCRIPTION_BYTES);
        wt__buffer_char(out, ')');
    }
    size_t values = json_array_size(parameter->values);
    for (size_t i = 0; i < values && i < QUESTION_VALUES; i++) {
        wt__buffer_text(out, i == 0 ? ", one of " : ", ");
        put_value(out, json_array_get(parameter->values, i));
    }
    wt__buffer_text(out, values > QUESTION_VALUES ? ", ..." : "");
}

static void put_missing(struct buffer *out, const struct parameters *parameters, const struct call_arguments *arguments,
                        size_t *asked)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->len; i++)
        if (arguments->items[i].state == ARGUMENT_MISSING && count < QUESTION_ARGUMENTS) {
            wt__buffer_text(out, count++ == 0 ? "What is " : "; and ");
            put_parameter(out, &parameters->items[i]);
        }
    wt__buffer_text(out, count > 0 ? "?" : "");
    *asked += count;
}

static void put_unsure(struct buffer *out, const struct parameter *parameter, const struct argument *argument)
{
    wt__buffer_text(out, out->len > 0 ? " Is " : "Is ");
    put_parameter(out, parameter);
    if (argument->value) {
        wt__buffer_text(out, " to be ");
        put_value(out, argument->value);
        wt__buffer_text(out, ", or what?");
    } else {
        wt__buffer_text(out, " to be given, and as what?");
    }
}

/* How an optional argument that is asked for is said to be none: by the first of them. */
static void put_way_out(struct buffer *out, const struct parameters *parameters, const struct call_arguments *arguments)
{
    size_t missing = 0;
    for (size_t i = 0; i < arguments->len; i++)
        missing += arguments->items[i].state == ARGUMENT_MISSING;
    for (size_t i = 0; i < arguments->len && missing < QUESTION_ARGUMENTS; i++)
        if (arguments->items[i].state == ARGUMENT_UNSURE && !parameters->items[i].required) {
            wt__buffer_text(out, " If none, say \"");
            wt__plain_line(out, wt__str(parameters->items[i].name), QUESTION_NAME_BYTES);
            wt__buffer_text(out, ": none\".");
            return;
        }
}

void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments)
{
    size_t asked = 0;
    put_missing(out, parameters, arguments, &asked);
    for (size_t i = 0; i < arguments->len; i++)
        if (arguments->items[i].state == ARGUMENT_UNSURE && asked < QUESTION_ARGUMENTS) {
            put_unsure(out, &parameters->items[i], &arguments->items[i]);
            asked++;
        }
    put_way_out(out, parameters, arguments);
    if (asked == 0 && arguments->unused.len > 0) {
        wt__buffer_text(out, "What is \"");
        wt__plain_line(out, arguments->unused, QUESTION_VALUE_BYTES);
        wt__buffer_text(out, "\" for?");
    }
}
