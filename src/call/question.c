/* question.c: writes questions to the user. See call.h. */
#include "call/call.h"

#include <strings.h>

#include "base/json.h"
#include "base/memory.h"
#include "llm/plain_text.h"
#include "retrieve/words.h"
#include "text/analyser.h"

enum { FOLDED_BYTES = 32 /* words of at least this many bytes are not compared */ };

/* True if the text has the word, ignoring case. */
static bool has_folded_word(struct str text, struct str word)
{
    struct word_part part = {0};
    while (wt__analyser_next_part(text, &part))
        if (part.end - part.start == word.len && strncasecmp(text.ptr + part.start, word.ptr, word.len) == 0)
            return true;
    return false;
}

/* Returns at most the first QUESTION_COMPARED_BYTES bytes of a description, if possible cut at the end of a word. */
static struct str cut_description(struct str description)
{
    size_t len = description.len;
    if (len <= QUESTION_COMPARED_BYTES)
        return description;
    for (len = QUESTION_COMPARED_BYTES; len > 0 && !wt__is_blank(description.ptr[len]);)
        len--;
    return (struct str){description.ptr, len > 0 ? len : QUESTION_COMPARED_BYTES};
}

/* Appends at most QUESTION_DIFFERENCES words of `one` that `other` does not have. Returns the number of all such words,
 * which may be greater. */
static size_t write_differences(struct buffer *out, struct str one, struct str other)
{
    struct word_part part = {0};
    size_t count = 0, begin = out->len;
    while (wt__analyser_next_part(one, &part)) {
        struct str word = {one.ptr + part.start, part.end - part.start};
        struct str before = {out->ptr + begin, out->len - begin};
        if (word.len < 2 || word.len >= FOLDED_BYTES || wt__is_stopword_any_case(word) ||
            has_folded_word(other, word) || (before.len > 0 && has_folded_word(before, word)))
            continue;
        if (count++ < QUESTION_DIFFERENCES) {
            wt__buffer_text(out, before.len > 0 ? ", " : "");
            wt__plain_line(out, word, FOLDED_BYTES);
        }
    }
    return count;
}

static void write_question_tool(struct buffer *out, const struct question_tool *tool, struct str says)
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
    const struct str text_a = cut_description(a->description), text_b = cut_description(b->description);
    size_t of_a = write_differences(&only_a, text_a, text_b), of_b = write_differences(&only_b, text_b, text_a);
    bool tell = of_a + of_b > 0 && of_a <= QUESTION_DIFFERENCES && of_b <= QUESTION_DIFFERENCES;
    bool same = of_a + of_b == 0 && wt__str_equal(wt__str_trim(a->description), wt__str_trim(b->description));
    struct str says_a = tell ? wt__buffer_view(&only_a) : same ? STR("") : a->description;
    struct str says_b = tell ? wt__buffer_view(&only_b) : same ? STR("") : b->description;
    wt__buffer_text(out, same ? "Two tools have the same description. " : "");
    wt__buffer_text(out, "Which tool should be called: ");
    write_question_tool(out, a, says_a);
    wt__buffer_text(out, " or ");
    write_question_tool(out, b, says_b);
    wt__buffer_char(out, '?');
    out->failed |= only_a.failed || only_b.failed;
    wt__buffer_dispose(&only_a);
    wt__buffer_dispose(&only_b);
}

void wt__question_of_weak(struct buffer *out, const struct question_tool *tool)
{
    wt__buffer_text(out, "No tool clearly fits. Should this one be called: ");
    write_question_tool(out, tool, tool->description);
    wt__buffer_char(out, '?');
}

void wt__question_of_intent(struct buffer *out, enum doubt doubt, const struct question_tool *tool)
{
    static const char *const reasons[] = {
        [DOUBT_QUESTION] = "The request asks a question, and ",
        [DOUBT_DENIED] = "The request says what not to do, and ",
        [DOUBT_UNASKED] = "The request does not say to do this now, and ",
    };
    wt__buffer_text(out, reasons[doubt]);
    wt__plain_line(out, tool->id, QUESTION_NAME_BYTES);
    wt__buffer_text(out, " would act. Should it be called? If so, repeat the request as an instruction.");
}

static void write_question_value(struct buffer *out, const json_t *value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__json_write_typed(&json, value);
    out->failed |= json.failed;
    wt__plain_line(out, wt__buffer_view(&json), QUESTION_VALUE_BYTES);
}

/* Appends a parameter with its description and values, such as: unit (Scale; one of "c", "f"). */
static void write_question_parameter(struct buffer *out, const struct parameter *parameter)
{
    struct str description = wt__json_str(parameter->schema, "description");
    size_t values = json_array_size(parameter->values);
    wt__plain_line(out, wt__str(parameter->name), QUESTION_NAME_BYTES);
    if (description.len == 0 && values == 0)
        return;
    wt__buffer_text(out, " (");
    wt__plain_line(out, description, QUESTION_DESCRIPTION_BYTES);
    wt__buffer_text(out, description.len > 0 && values > 0 ? "; " : "");
    for (size_t i = 0; i < values && i < QUESTION_VALUES; i++) {
        wt__buffer_text(out, i == 0 ? "one of " : ", ");
        write_question_value(out, json_array_get(parameter->values, i));
    }
    wt__buffer_text(out, values > QUESTION_VALUES ? ", ...)" : ")");
}

/* Returns the number of missing arguments, at most QUESTION_ARGUMENTS. */
static size_t count_missing_arguments(const struct call_arguments *arguments)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->len; i++)
        count += arguments->items[i].state == ARGUMENT_MISSING;
    return count < QUESTION_ARGUMENTS ? count : QUESTION_ARGUMENTS;
}

/* Appends the question for the missing arguments, and returns their number. */
static size_t write_missing(struct buffer *out, const struct parameters *parameters,
                            const struct call_arguments *arguments)
{
    size_t count = 0, most = count_missing_arguments(arguments);
    for (size_t i = 0; i < arguments->len && count < most; i++)
        if (arguments->items[i].state == ARGUMENT_MISSING) {
            wt__buffer_text(out, count == 0 ? "What should " : count + 1 == most ? " and " : ", ");
            write_question_parameter(out, &parameters->items[i]);
            count++;
        }
    wt__buffer_text(out, count > 0 ? " be?" : "");
    return count;
}

/* Appends the range that the schema allows, such as " The schema allows -90 to 90." */
static void write_range(struct buffer *out, const json_t *schema)
{
    const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum");
    if (!json_is_number(least) && !json_is_number(most))
        return;
    wt__buffer_text(out, " The schema allows ");
    if (json_is_number(least)) {
        wt__buffer_text(out, json_is_number(most) ? "" : "at least ");
        write_question_value(out, least);
    }
    if (json_is_number(most)) {
        wt__buffer_text(out, json_is_number(least) ? " to " : "at most ");
        write_question_value(out, most);
    }
    wt__buffer_char(out, '.');
}

static void write_unsure(struct buffer *out, const struct parameter *parameter, const struct call_argument *argument)
{
    wt__buffer_text(out, out->len > 0 ? " Should " : "Should ");
    write_question_parameter(out, parameter);
    if (argument->value) {
        wt__buffer_text(out, " be ");
        write_question_value(out, argument->value);
        wt__buffer_char(out, '?');
        write_range(out, parameter->schema);
    } else {
        wt__buffer_text(out, " be set, and to which value?");
    }
}

/* Tells the user how to leave out the first unsure optional argument. */
static void write_opt_out(struct buffer *out, const struct parameters *parameters,
                          const struct call_arguments *arguments)
{
    bool asked = count_missing_arguments(arguments) < QUESTION_ARGUMENTS;
    for (size_t i = 0; i < arguments->len && asked; i++)
        if (arguments->items[i].state == ARGUMENT_UNSURE && !parameters->items[i].required) {
            wt__buffer_text(out, " To leave it out, say \"");
            wt__plain_line(out, wt__str(parameters->items[i].name), QUESTION_NAME_BYTES);
            wt__buffer_text(out, ": none\".");
            return;
        }
}

void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments)
{
    size_t asked = write_missing(out, parameters, arguments);
    for (size_t i = 0; i < arguments->len; i++)
        if (arguments->items[i].state == ARGUMENT_UNSURE && asked < QUESTION_ARGUMENTS) {
            write_unsure(out, &parameters->items[i], &arguments->items[i]);
            asked++;
        }
    write_opt_out(out, parameters, arguments);
    if (asked == 0 && arguments->unused.len > 0) {
        wt__buffer_text(out, "What is \"");
        wt__plain_line(out, arguments->unused, QUESTION_VALUE_BYTES);
        wt__buffer_text(out, "\" for? No argument takes it.");
    }
}

void wt__question_of_violation(struct buffer *out, const char *violation)
{
    wt__buffer_printf(out, "The call does not fit the tool's schema: %s. What should the value be?", violation);
}

/* Appends suggestions such as "label: kitchen" for the unread word "kitchen". */
static void write_suggestions(struct buffer *out, struct str word, const struct parameters *parameters,
                              const struct call_arguments *arguments)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->len && count < QUESTION_SUGGESTIONS; i++) {
        if (arguments->items[i].state != ARGUMENT_ABSENT || !wt__takes_text(&parameters->items[i]))
            continue;
        wt__buffer_text(out, count++ == 0 ? " If it is the value of an argument, add its name: \"" : ", \"");
        wt__plain_line(out, wt__str(parameters->items[i].name), QUESTION_NAME_BYTES);
        wt__buffer_text(out, ": ");
        wt__plain_line(out, word, QUESTION_VALUE_BYTES);
        wt__buffer_char(out, '"');
    }
    wt__buffer_text(out, count > 0 ? "." : "");
}

void wt__question_of_unread(struct buffer *out, struct str word, const struct parameters *parameters,
                            const struct call_arguments *arguments)
{
    bool asked = out->len > 0;
    if (word.len == 0) {
        wt__buffer_text(out, asked ? " " : "");
        wt__buffer_text(out, "The request is too long to be read in full. Please say in one sentence what to do.");
        return;
    }
    wt__buffer_text(out, asked ? " The call ignores \"" : "The call ignores \"");
    wt__plain_line(out, word, QUESTION_VALUE_BYTES);
    wt__buffer_text(out, asked ? "\"." : "\". Should it be made? If so, repeat the request without the word.");
    if (!asked)
        write_suggestions(out, word, parameters, arguments);
}
