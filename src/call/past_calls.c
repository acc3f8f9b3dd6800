/* past_calls.c: collects the past calls of a tool, and learns about the tool's parameters from them. Recorded calls
 * come first, the newest first. The examples of the tool's definition follow. */
#include "call/call.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "call/arguments.h"
#include "engine/engine.h"
#include "engine/tools.h"
#include "retrieve/words.h"

/* Returns the position of `text` in the request between word boundaries, ignoring case; SIZE_MAX if absent. */
static size_t find_whole_words(struct str request, struct str text)
{
    for (size_t at = 0; text.len > 0 && at + text.len <= request.len; at++) {
        bool begins = at == 0 || !wt__is_word_byte(request.ptr[at - 1]);
        bool ends = at + text.len == request.len || !wt__is_word_byte(request.ptr[at + text.len]);
        if (begins && ends && strncasecmp(request.ptr + at, text.ptr, text.len) == 0)
            return at;
    }
    return SIZE_MAX;
}

enum { BETWEEN = 3 /* maximum bytes between a value and an adjacent word, such as a blank and a sign */ };

/* Sets *before to the word right before byte `start`, and *behind to the word right after byte `end`. A word that is
 * absent or farther away is empty. */
static void find_adjacent_words(struct str request, size_t start, size_t end, struct str *before, struct str *behind)
{
    size_t at = 0;
    *before = *behind = (struct str){0};
    for (struct str word; behind->len == 0 && (word = wt__next_word(request, &at)).len > 0;) {
        size_t from = (size_t)(word.ptr - request.ptr);
        if (from + word.len <= start && start - from - word.len <= BETWEEN)
            *before = word;
        else if (from >= end && from - end <= BETWEEN)
            *behind = word;
        else if (from >= end)
            return;
    }
}

/* Adds the words before and after a value to the description words of the parameter. A capitalised value after a
 * preposition of place makes the parameter take places. */
static void learn_adjacent_words(struct parameter *parameter, struct str request, size_t start, size_t len)
{
    struct str beside[2];
    find_adjacent_words(request, start, start + len, &beside[0], &beside[1]);
    parameter->takes_place |= isupper((unsigned char)request.ptr[start]) && wt__is_place_word(beside[0]);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside[i].len > 2 && !wt__is_stopword_any_case(beside[i]) &&
            parameter->description_word_count < PARAMETER_DESCRIPTION_WORDS)
            parameter->description_words[parameter->description_word_count++] = beside[i];
}

/* Converts a text, a number, or the first item of a list to the text that a request would contain; empty for other
 * types. */
static int write_request_text(struct str *out, const json_t *value, struct arena *arena)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const json_t *one = json_is_array(value) ? json_array_get(value, 0) : value;
    *out = (struct str){json_string_value(one), json_string_length(one)};
    if (!json_is_number(one))
        return 0;
    wt__json_write_typed(&text, one);
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    *out = (struct str){copy, text.len};
    return copy ? 0 : WT_ENOMEM;
}

static bool is_known_example(const struct parameter *parameter, struct str text)
{
    for (size_t i = 0; i < parameter->example_count; i++)
        if (wt__str_equal(parameter->examples[i], text))
            return true;
    return false;
}

static void add_parameter_example(struct parameter *parameter, const json_t *value, struct str text)
{
    bool words = json_is_string(json_is_array(value) ? json_array_get(value, 0) : value);
    if (words && text.len > 1 && text.len <= PARAMETER_EXAMPLE_BYTES && !is_known_example(parameter, text) &&
        parameter->example_count < PARAMETER_EXAMPLES)
        parameter->examples[parameter->example_count++] = text;
}

/* Returns the most frequent value if it makes up at least half of the values; else NULL. unsaid: [count] values that
 * are absent from their requests. */
static const json_t *find_usual_value(const json_t *const *unsaid, size_t count)
{
    const json_t *usual = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t other = 0; other < count; other++)
            same += json_equal(unsaid[i], unsaid[other]) != 0;
        if (same > most) {
            most = same;
            usual = unsaid[i];
        }
    }
    return 2 * most >= count ? usual : NULL;
}

static int learn_parameter(struct parameter *parameter, const struct demonstration *calls, size_t count,
                           struct arena *arena)
{
    const json_t *unsaid[DEMONSTRATIONS_MOST];
    size_t unsaid_count = 0, given = 0, numbers = 0, lists = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(calls[i].arguments, parameter->name);
        struct str text;
        if (!value)
            continue;
        WT_TRY(write_request_text(&text, value, arena));
        bool known = calls[i].request.len > 0;
        size_t start = known ? find_whole_words(calls[i].request, text) : SIZE_MAX;
        bool said = start != SIZE_MAX;
        if (said)
            learn_adjacent_words(parameter, calls[i].request, start, text.len);
        if (said || !known)
            add_parameter_example(parameter, value, text);
        else
            unsaid[unsaid_count++] = value;
        given += said;
        numbers += said && json_is_number(value);
        lists += json_is_array(value);
    }
    parameter->usual = find_usual_value(unsaid, unsaid_count);
    if (parameter->kind == PARAMETER_ANY && given > 0 && numbers == given)
        parameter->kind = PARAMETER_NUMBER;
    if (parameter->kind == PARAMETER_ANY && lists > 0)
        parameter->list = true;
    return 0;
}

int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena)
{
    count = count < DEMONSTRATIONS_MOST ? count : DEMONSTRATIONS_MOST;
    parameters->past = calls;
    parameters->past_count = count;
    for (size_t p = 0; p < parameters->len; p++)
        WT_TRY(learn_parameter(&parameters->items[p], calls, count, arena));
    return 0;
}

/* Returns "input_examples" of an Anthropic definition: argument objects without their requests. NULL if absent. */
static json_t *read_input_examples(const wt_tool *tool)
{
    json_t *definition = NULL;
    if (!strstr(tool->definition, "input_examples") ||
        wt__json_parse(&definition, tool->definition, tool->definition_len, NULL) < 0)
        return NULL;
    json_t *examples = json_incref(wt__json_array(definition, "input_examples"));
    json_decref(definition);
    return examples;
}

/* Recorded use of a tool. */
struct past_use {
    struct recorded_call **calls; /* output: array of `count` calls, newest first; NULL to read only the last request */
    size_t count;
    struct str request; /* the last request, if calls is NULL */
};

static int read_recorded_calls(const struct call_run *calling, const wt_tool *tool, struct past_use *out, wt_error *err)
{
    struct store *reader;
    int64_t id;
    WT_TRY(wt__engine_reader(calling->engine, &reader, err));
    int rc = wt__store_read_begin(reader, err);
    if (rc == 0)
        rc = wt__tool_resolve(reader, tool->id, &id, err);
    if (rc == 0 && out->calls)
        rc = wt__store_recorded_calls(reader, id, DEMONSTRATIONS_MOST, calling->arena, out->calls, &out->count, err);
    else if (rc == 0)
        rc = wt__store_recorded_request(reader, id, calling->arena, &out->request, err);
    wt__store_read_end(reader);
    wt__engine_return_reader(calling->engine, reader);
    /* Not an error: the tool was removed meanwhile, or its name has become ambiguous. */
    return rc == WT_ENOTFOUND || rc == WT_EINVAL ? 0 : rc;
}

int wt__call_find_past_request(const struct call_run *calling, const wt_tool *tool, struct str *out, wt_error *err)
{
    struct past_use past = {.request = STR("")};
    int rc = read_recorded_calls(calling, tool, &past, err);
    *out = past.request;
    return rc;
}

int wt__call_load_demonstrations(struct call_run *calling, struct call_candidate *candidate, wt_error *err)
{
    struct recorded_call *recorded;
    struct past_use past = {.calls = &recorded};
    json_auto_t *examples = read_input_examples(candidate->tool);
    candidate->recorded = json_array();
    candidate->demonstrations = wt__arena_array(calling->arena, struct demonstration, DEMONSTRATIONS_MOST);
    WT_CHECK_ALLOC(candidate->recorded && candidate->demonstrations, err);
    WT_TRY(read_recorded_calls(calling, candidate->tool, &past, err));
    for (size_t i = 0; i < past.count; i++) {
        json_t *arguments;
        struct str text = recorded[i].arguments;
        if (wt__json_parse(&arguments, text.ptr, text.len, NULL) < 0)
            continue;
        candidate->demonstrations[candidate->demonstration_count++] =
            (struct demonstration){recorded[i].request, arguments};
        if (json_array_append_new(candidate->recorded, arguments) < 0)
            return wt__fail_nomem(err);
    }
    for (size_t i = 0; i < json_array_size(examples); i++) {
        json_t *one = json_array_get(examples, i);
        if (!json_is_object(one) || candidate->demonstration_count == DEMONSTRATIONS_MOST)
            continue;
        candidate->demonstrations[candidate->demonstration_count++] = (struct demonstration){.arguments = one};
        if (json_array_append(candidate->recorded, one) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}
