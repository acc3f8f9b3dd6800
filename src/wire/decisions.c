/* decisions.c: decisions in the formats of OpenAI's API (/v1/decisions) and of System One (/v1/systemone): questions
 * with given options about one input. query/decide.h scores the options.
 *
 * Both formats have three kinds of questions. A predicate (noul) is one option: its instructions. A choice and a score
 * have several; the instructions of these are checked and not used. The options are sorted before they are scored, so
 * that each order of the caller gives the same bits. */
#include "wire/verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/decide.h"
#include "wire/bodies.h"
#include "wire/members.h"

enum { PLACE_BYTES = sizeof((wt_error *)0)->pointer };

enum question_kind { QUESTION_PREDICATE, QUESTION_CHOICE, QUESTION_SCORE, QUESTION_KINDS };

static const char *const open_ai_kinds[QUESTION_KINDS] = {"predicate", "choice", "score"};
static const char *const system_one_kinds[QUESTION_KINDS] = {"noul", "choice", "score"};

struct asked_option {
    size_t index; /* place in the question */
    bool boolean; /* the value is true or false */
    struct decision_option text;
};

struct asked_question {
    enum question_kind kind;
    const char *name;             /* NULL if it has none */
    struct asked_option *options; /* [count] sorted */
    size_t count;
    float *shares; /* [count] probability of each option in the order of the caller */
    float none;    /* probability that no option fits */
};

struct decision_reader {
    struct arena *arena;
    char place[PLACE_BYTES]; /* JSON pointer of the question */
    size_t options;          /* options of all questions so far */
    wt_error *err;
};

/* ---------------------------------------------------------------- reading */

/* Fails with the place of a member of the question. index: SIZE_MAX for the member itself. */
static int fail_at_question(const struct decision_reader *reader, int code, const char *member, size_t index,
                            const char *why)
{
    char pointer[PLACE_BYTES + 64];
    snprintf(pointer, sizeof pointer, index == SIZE_MAX ? "%s/%s" : "%s/%s/%zu", reader->place, member, index);
    return wt__fail_at(reader->err, code, 0, 0, pointer, "%s %s", pointer + 1, why);
}

/* True for members of messages and their parts that are not their text. */
static bool is_frame_member(const char *key)
{
    static const char *const frame[] = {"type", "role", "id", "call_id", "status", "phase", "prompt_cache_breakpoint"};
    for (size_t i = 0; i < sizeof frame / sizeof *frame; i++)
        if (strcmp(key, frame[i]) == 0)
            return true;
    return false;
}

/* Appends all strings of a value, one per line. Returns false if it contains an image. */
static bool put_strings(struct buffer *out, const json_t *value)
{
    const char *key;
    const json_t *member;
    bool is_framed = json_is_string(json_object_get(value, "type")) || json_is_string(json_object_get(value, "role"));
    bool whole = !(is_framed && wt__str_equal(wt__json_str(value, "type"), STR("input_image")));
    if (json_is_string(value))
        wt__buffer_printf(out, "%s%s", out->len > 0 ? "\n" : "", json_string_value(value));
    for (size_t i = 0; i < json_array_size(value) && whole; i++)
        whole = put_strings(out, json_array_get(value, i));
    if (json_is_object(value))
        json_object_foreach((json_t *)value, key, member) if (whole && !(is_framed && is_frame_member(key))) whole =
            put_strings(out, member);
    return whole;
}

/* Returns the last message of the user in an array of messages; else the value itself. */
static const json_t *find_last_user_message(const json_t *value)
{
    for (size_t i = json_array_size(value); i-- > 0;)
        if (wt__str_equal(wt__json_str(json_array_get(value, i), "role"), STR("user")))
            return json_array_get(value, i);
    return value;
}

/* Reads the words of the input. member: its name in the body. */
static int read_input_words(struct str *out, struct arena *arena, const json_t *value, const char *member,
                            wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    char pointer[16];
    snprintf(pointer, sizeof pointer, "/%s", member);
    if (!put_strings(&text, value))
        return wt__fail_at(err, WT_EINVAL, 0, 0, pointer, "%s has an image; only text is supported", member);
    if (text.failed)
        return wt__fail_nomem(err);
    struct str words = wt__str_trim(wt__buffer_view(&text));
    if (words.len == 0)
        return wt__fail_at(err, WT_EINVAL, 0, 0, pointer, "%s has no words", member);
    if (words.len > WT_MAX_REQUEST_BYTES)
        return wt__fail_at(err, WT_ETOOLONG, 0, 0, pointer, "%s has more than %d bytes", member, WT_MAX_REQUEST_BYTES);
    out->ptr = wt__arena_copy(arena, words);
    out->len = words.len;
    WT_CHECK_ALLOC(out->ptr, err);
    return 0;
}

/* Reads the words of a member of the question: a string, parts of a message, or JSON. */
static int read_question_words(struct str *out, struct decision_reader *reader, const json_t *value, const char *member,
                               size_t index)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = (struct str){"", 0};
    if (value && !json_is_string(value) && !json_is_array(value) && !json_is_object(value) && !json_is_null(value))
        return fail_at_question(reader, WT_EINVAL, member, index, "must be a string");
    if (!put_strings(&text, value))
        return fail_at_question(reader, WT_EINVAL, member, index, "has an image; only text is supported");
    struct str words = wt__str_trim(wt__buffer_view(&text));
    if (words.len > WIRE_TEXT_BYTES_MAX)
        return fail_at_question(reader, WT_ETOOLONG, member, index, "has more than 65536 bytes");
    out->ptr = wt__arena_copy(reader->arena, words.len > 0 ? words : STR(""));
    out->len = words.len;
    return text.failed || !out->ptr ? wt__fail_nomem(reader->err) : 0;
}

static int read_instructions(struct str *out, struct decision_reader *reader, const json_t *question, bool required)
{
    WT_TRY(read_question_words(out, reader, json_object_get(question, "instructions"), "instructions", SIZE_MAX));
    return required && out->len == 0 ? fail_at_question(reader, WT_EINVAL, "instructions", SIZE_MAX, "has no words")
                                     : 0;
}

/* Rejects unknown members, which may be misspelt. */
static int check_decision_members(const struct decision_reader *reader, const json_t *object, const char *const *known,
                                  const char *member, size_t index)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool found = false;
        for (size_t i = 0; known[i]; i++)
            found |= strcmp(known[i], key) == 0;
        if (!found)
            return fail_at_question(reader, WT_EINVAL, member, index, "has an unknown member");
    }
    return 0;
}

/* Checks the name of an option, which stands for it in the answer. */
static int check_option_name(const struct decision_reader *reader, struct str name, const char *member, size_t index)
{
    if (wt__str_trim(name).len == 0)
        return fail_at_question(reader, WT_EINVAL, member, index, "has no words");
    if (name.len > WT_MAX_NAME_BYTES)
        return fail_at_question(reader, WT_ETOOLONG, member, index, "has more than 256 bytes; use a description");
    return 0;
}

/* Order of scoring, which does not depend on that of the caller. */
static int compare_options(const void *a, const void *b)
{
    const struct asked_option *x = a, *y = b;
    struct str one = x->text.name, other = y->text.name;
    int order = memcmp(one.ptr, other.ptr, one.len < other.len ? one.len : other.len);
    if (order == 0)
        order = (one.len > other.len) - (one.len < other.len);
    return order ? order : (int)x->boolean - (int)y->boolean;
}

/* Allocates the options of a question. */
static int begin_options(struct decision_reader *reader, struct asked_question *question, size_t count, size_t least,
                         const char *member)
{
    if (count < least || count > WIRE_OPTIONS_MAX)
        return fail_at_question(reader, WT_EINVAL, member, SIZE_MAX,
                                least > 1 ? "must have 2 to 255 options" : "must have 1 to 255 options");
    reader->options += count;
    if (reader->options > WIRE_TEXTS_MAX)
        return fail_at_question(reader, WT_ETOOLONG, member, SIZE_MAX,
                                "exceeds 1000 options of all questions; ask the others in another request");
    question->count = count;
    question->options = wt__arena_array(reader->arena, struct asked_option, count);
    question->shares = wt__arena_array(reader->arena, float, count);
    return question->options && question->shares ? 0 : wt__fail_nomem(reader->err);
}

/* Sorts the options, and rejects an option that occurs twice. */
static int finish_options(struct decision_reader *reader, struct asked_question *question, const char *member)
{
    struct asked_option *options = question->options;
    qsort(options, question->count, sizeof *options, compare_options);
    for (size_t i = 1; i < question->count; i++)
        if (compare_options(&options[i - 1], &options[i]) == 0)
            return fail_at_question(reader, WT_EINVAL, member, options[i].index, "occurs twice");
    return 0;
}

/* A predicate has one option: its statement. */
static int read_predicate(struct decision_reader *reader, struct asked_question *question, struct str statement)
{
    WT_TRY(begin_options(reader, question, 1, 1, "instructions"));
    question->options[0] =
        (struct asked_option){.text = {.name = wt__str_head(statement, WT_MAX_NAME_BYTES), .description = statement}};
    return 0;
}

/* Reads the choices or levels of OpenAI's format. key: "value" or "label". */
static int read_listed_options(struct decision_reader *reader, struct asked_question *question, const json_t *list,
                               const char *member, const char *key)
{
    if (!json_is_array(list))
        return fail_at_question(reader, WT_EINVAL, member, SIZE_MAX, "must be an array");
    WT_TRY(begin_options(reader, question, json_array_size(list), 2, member));
    for (size_t i = 0; i < question->count; i++) {
        const char *const known[] = {key, "description", NULL};
        const json_t *item = json_array_get(list, i), *value = json_object_get(item, key);
        struct asked_option *option = &question->options[i];
        bool boolean = json_is_boolean(value) && question->kind == QUESTION_CHOICE;
        if (!json_is_string(value) && !boolean)
            return fail_at_question(reader, WT_EINVAL, member, i,
                                    question->kind == QUESTION_CHOICE ? "must have a value, a string or a Boolean"
                                                                      : "must have a label, a string");
        WT_TRY(check_decision_members(reader, item, known, member, i));
        *option = (struct asked_option){.index = i, .boolean = boolean};
        option->text.name = boolean ? wt__str(json_is_true(value) ? "true" : "false") : wt__json_str(item, key);
        WT_TRY(check_option_name(reader, option->text.name, member, i));
        WT_TRY(read_question_words(&option->text.description, reader, json_object_get(item, "description"), member, i));
    }
    return finish_options(reader, question, member);
}

static int read_question_kind(struct decision_reader *reader, const json_t *question, const char *const *kinds,
                              enum question_kind *out)
{
    struct str named = wt__json_str(question, "type");
    char why[64];
    for (*out = 0; *out < QUESTION_KINDS; (*out)++)
        if (wt__str_equal(named, wt__str(kinds[*out])))
            return 0;
    snprintf(why, sizeof why, "must be one of %s, %s, %s", kinds[0], kinds[1], kinds[2]);
    return fail_at_question(reader, WT_EINVAL, "type", SIZE_MAX, why);
}

/* Reads a question of OpenAI's format. */
static int read_open_ai_question(struct decision_reader *reader, const json_t *json, struct asked_question *out)
{
    static const char *const known[QUESTION_KINDS][6] = {
        [QUESTION_PREDICATE] = {"type", "name", "instructions"},
        [QUESTION_CHOICE] = {"type", "name", "instructions", "choices"},
        [QUESTION_SCORE] = {"type", "name", "instructions", "levels"},
    };
    struct str instructions;
    const json_t *name = json_object_get(json, "name");
    WT_TRY(read_question_kind(reader, json, open_ai_kinds, &out->kind));
    WT_TRY(check_decision_members(reader, json, known[out->kind], "type", SIZE_MAX));
    if (name && !json_is_string(name) && !json_is_null(name))
        return fail_at_question(reader, WT_EINVAL, "name", SIZE_MAX, "must be a string");
    out->name = json_string_value(name);
    WT_TRY(read_instructions(&instructions, reader, json, true));
    if (out->kind == QUESTION_PREDICATE)
        return read_predicate(reader, out, instructions);
    bool choice = out->kind == QUESTION_CHOICE;
    const char *member = choice ? "choices" : "levels";
    return read_listed_options(reader, out, json_object_get(json, member), member, choice ? "value" : "label");
}

/* Reads criteria by label, for a choice of System One. */
static int read_labelled_options(struct decision_reader *reader, struct asked_question *question,
                                 const json_t *criteria)
{
    const char *label;
    const json_t *text;
    size_t i = 0;
    if (!json_is_object(criteria))
        return fail_at_question(reader, WT_EINVAL, "criteria", SIZE_MAX, "must be an object");
    WT_TRY(begin_options(reader, question, json_object_size(criteria), 1, "criteria"));
    json_object_foreach((json_t *)criteria, label, text)
    {
        struct asked_option *option = &question->options[i];
        *option = (struct asked_option){.index = i, .text.name = wt__str(label)};
        WT_TRY(check_option_name(reader, option->text.name, "criteria", SIZE_MAX));
        WT_TRY(read_question_words(&option->text.description, reader, text, "criteria", SIZE_MAX));
        i++;
    }
    return finish_options(reader, question, "criteria");
}

/* Reads the levels of a score of System One. A level is its own name. */
static int read_levels(struct decision_reader *reader, struct asked_question *question, const json_t *criteria)
{
    if (!json_is_array(criteria))
        return fail_at_question(reader, WT_EINVAL, "criteria", SIZE_MAX, "must be an array");
    WT_TRY(begin_options(reader, question, json_array_size(criteria), 1, "criteria"));
    for (size_t i = 0; i < question->count; i++) {
        struct decision_option *text = &question->options[i].text;
        question->options[i] = (struct asked_option){.index = i};
        WT_TRY(read_question_words(&text->description, reader, json_array_get(criteria, i), "criteria", i));
        text->name = wt__str_head(text->description, WT_MAX_NAME_BYTES);
        WT_TRY(check_option_name(reader, text->name, "criteria", i));
    }
    return finish_options(reader, question, "criteria");
}

/* Reads a question of System One. */
static int read_system_one_question(struct decision_reader *reader, const json_t *json, struct asked_question *out)
{
    static const char *const known[] = {"type", "instructions", "criteria", NULL};
    const json_t *criteria = json_object_get(json, "criteria");
    struct str instructions;
    WT_TRY(read_question_kind(reader, json, system_one_kinds, &out->kind));
    WT_TRY(check_decision_members(reader, json, known, "type", SIZE_MAX));
    WT_TRY(read_instructions(&instructions, reader, json, out->kind == QUESTION_PREDICATE));
    if (out->kind == QUESTION_CHOICE)
        return read_labelled_options(reader, out, criteria);
    if (out->kind == QUESTION_SCORE)
        return read_levels(reader, out, criteria);
    struct str yes;
    WT_TRY(read_question_words(&yes, reader, json_object_get(criteria, "true"), "criteria", SIZE_MAX));
    return read_predicate(reader, out, yes.len > 0 ? yes : instructions);
}

/* ---------------------------------------------------------------- deciding */

/* Scores the options of all questions. Writes the shares in the order of the caller. */
static int decide_questions(const struct json_run *run, struct arena *arena, struct str input,
                            struct asked_question *questions, size_t count, wt_error *err)
{
    struct progress progress;
    struct decider *decider = NULL;
    struct decision_option *options = wt__arena_array(arena, struct decision_option, WIRE_OPTIONS_MAX);
    float *fits = wt__arena_array(arena, float, WIRE_OPTIONS_MAX),
          *shares = wt__arena_array(arena, float, WIRE_OPTIONS_MAX);
    if (!options || !fits || !shares)
        return wt__fail_nomem(err);
    wt__progress_init(&progress, run->progress, run->progress_context);
    wt__progress_limit(&progress, run->time_limit_ms);
    int rc = wt__decider_open(&decider, run->engine, &progress, err);
    for (size_t q = 0; rc == 0 && q < count; q++) {
        struct asked_question *question = &questions[q];
        for (size_t i = 0; i < question->count; i++)
            options[i] = question->options[i].text;
        rc = wt__decide(decider, input, options, question->count, fits, err);
        if (rc < 0)
            break;
        question->none = wt__decision_shares(fits, question->count, shares);
        for (size_t i = 0; i < question->count; i++)
            question->shares[question->options[i].index] = shares[i];
    }
    wt__decider_close(decider);
    rc = wt__progress_end(&progress, rc, err);
    wt__progress_dispose(&progress);
    return rc;
}

/* Returns the most likely option. Of equally likely ones, the first in the sorted order. */
static const struct asked_option *likeliest_option(const struct asked_question *question)
{
    const struct asked_option *best = &question->options[0];
    for (size_t i = 1; i < question->count; i++)
        if (question->shares[question->options[i].index] > question->shares[best->index])
            best = &question->options[i];
    return best;
}

/* Returns 1 if the best option has all probability, and 0 if all options are equally likely. */
static double confidence_of(const struct asked_question *question)
{
    double n = (double)question->count, peak = (double)question->shares[likeliest_option(question)->index];
    return n > 1 ? fmax((n * peak - 1) / (n - 1), 0) : 1;
}

/* Returns the expected level. Levels count from 0. */
static double score_of(const struct asked_question *question)
{
    double score = 0;
    for (size_t i = 0; i < question->count; i++)
        score += (double)i * (double)question->shares[i];
    return score;
}

/* Returns the option at a place of the caller. */
static const struct asked_option *option_at(const struct asked_question *question, size_t index)
{
    size_t i = 0;
    while (question->options[i].index != index)
        i++;
    return &question->options[i];
}

/* ---------------------------------------------------------------- writing */

static void put_option_value(struct buffer *out, const char *key, const struct asked_option *option)
{
    wt__json_key(out, key);
    if (option->boolean)
        wt__buffer_str(out, option->text.name);
    else
        wt__buffer_json(out, option->text.name);
}

static void put_measures(struct buffer *out, const struct asked_question *question)
{
    if (question->kind == QUESTION_SCORE)
        wt__json_number(out, "score", score_of(question));
    else
        put_option_value(out, "choice", likeliest_option(question));
    wt__json_number(out, "confidence", confidence_of(question));
    wt__json_number(out, "none_probability", (double)question->none);
}

static void put_open_ai_answer(struct buffer *out, const struct asked_question *question)
{
    wt__json_text(out, "type", open_ai_kinds[question->kind]);
    wt__json_text_or_null(out, "name", question->name);
    if (question->kind == QUESTION_PREDICATE) {
        wt__json_number(out, "probability", 1 - (double)question->none);
        return;
    }
    put_measures(out, question);
    wt__json_open(out, "probabilities", '[');
    for (size_t i = 0; i < question->count; i++) {
        wt__buffer_text(out, i > 0 ? ",{" : "{");
        if (question->kind == QUESTION_SCORE) {
            put_option_value(out, "label", option_at(question, i));
            wt__json_count(out, "value", i);
        } else {
            put_option_value(out, "value", option_at(question, i));
        }
        wt__json_number(out, "probability", (double)question->shares[i]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_system_one_answer(struct buffer *out, const struct asked_question *question)
{
    bool score = question->kind == QUESTION_SCORE;
    wt__json_text(out, "type", system_one_kinds[question->kind]);
    if (question->kind == QUESTION_PREDICATE) {
        wt__json_number(out, "noul", 1 - (double)question->none);
        return;
    }
    put_measures(out, question);
    for (int legend = score; legend >= 0; legend--) {
        wt__json_open(out, legend ? "legend" : "probabilities", '{');
        for (size_t i = 0; i < question->count; i++) {
            struct str name = option_at(question, i)->text.name;
            wt__buffer_text(out, i > 0 ? "," : "");
            if (score)
                wt__buffer_printf(out, "\"%zu\"", i);
            else
                wt__buffer_json(out, name);
            wt__buffer_char(out, ':');
            if (legend)
                wt__buffer_json(out, name);
            else
                wt__buffer_printf(out, "%.9g", (double)question->shares[i]);
        }
        wt__buffer_char(out, '}');
    }
}

/* Estimates tokens as a quarter of the bytes, as max_tokens does. */
static uint64_t estimate_input_tokens(struct str input, const struct asked_question *questions, size_t count)
{
    uint64_t bytes = input.len;
    for (size_t q = 0; q < count; q++)
        for (size_t i = 0; i < questions[q].count; i++)
            bytes += questions[q].options[i].text.name.len + questions[q].options[i].text.description.len;
    return (bytes + 3) / 4;
}

/* ---------------------------------------------------------------- the two formats */

static int fail_question_count(wt_error *err, const char *kind)
{
    return wt__fail_at(err, WT_EINVAL, 0, 0, "/questions", "questions must be %s of 1 to %d questions", kind,
                       WIRE_QUESTIONS_MAX);
}

static int read_open_ai_questions(struct decision_reader *reader, const json_t *list, struct asked_question **out,
                                  size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list) || *count == 0 || *count > WIRE_QUESTIONS_MAX)
        return fail_question_count(reader->err, "an array");
    struct asked_question *questions = wt__arena_array(reader->arena, struct asked_question, *count);
    WT_CHECK_ALLOC(questions, reader->err);
    for (size_t q = 0; q < *count; q++) {
        snprintf(reader->place, sizeof reader->place, "/questions/%zu", q);
        questions[q] = (struct asked_question){0};
        WT_TRY(read_open_ai_question(reader, json_array_get(list, q), &questions[q]));
    }
    *out = questions;
    return 0;
}

static int read_system_one_questions(struct decision_reader *reader, const json_t *object, struct asked_question **out,
                                     size_t *count)
{
    const char *name;
    const json_t *json;
    size_t q = 0;
    *count = json_object_size(object);
    if (!json_is_object(object) || *count == 0 || *count > WIRE_QUESTIONS_MAX)
        return fail_question_count(reader->err, "an object");
    struct asked_question *questions = wt__arena_array(reader->arena, struct asked_question, *count);
    WT_CHECK_ALLOC(questions, reader->err);
    json_object_foreach((json_t *)object, name, json)
    {
        WT_CLEANUP(wt__buffer_dispose) struct buffer place = {0};
        wt__buffer_text(&place, "/questions");
        wt__json_pointer_step(&place, wt__str(name));
        snprintf(reader->place, sizeof reader->place, "%s", place.ptr ? place.ptr : "");
        questions[q] = (struct asked_question){.name = name};
        WT_TRY(read_system_one_question(reader, json, &questions[q]));
        q++;
    }
    *out = questions;
    return 0;
}

int wt__run_decide(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct decisions_body body = {0};
    struct asked_question *questions = NULL;
    wt_catalog_info info;
    struct str input;
    size_t count = 0;
    WT_TRY(wt__decisions_body_read(&body, json, err));
    WT_TRY(wt__check_asked_model(run, body.model, &info, err));
    struct decision_reader reader = {.arena = &body.body.arena, .err = err};
    WT_TRY(read_input_words(&input, reader.arena, find_last_user_message(body.input), "input", err));
    WT_TRY(read_open_ai_questions(&reader, body.questions, &questions, &count));
    WT_TRY(decide_questions(run, reader.arena, input, questions, count, err));
    struct buffer *out = run->out;
    uint64_t tokens = estimate_input_tokens(input, questions, count);
    wt__buffer_text(out, "{\"answers\":[");
    for (size_t q = 0; q < count; q++) {
        wt__buffer_text(out, q > 0 ? ",{" : "{");
        put_open_ai_answer(out, &questions[q]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
    wt__json_text(out, "model", info.model);
    wt__json_open(out, "usage", '{');
    wt__json_count(out, "input_tokens", tokens);
    wt__buffer_text(out, ",\"input_tokens_details\":{\"cache_write_tokens\":0,\"cached_tokens\":0},\"output_tokens\":0,"
                         "\"output_tokens_details\":{\"reasoning_tokens\":0}");
    wt__json_count(out, "total_tokens", tokens);
    wt__buffer_text(out, "}}");
    return 0;
}

int wt__run_system_one(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct system_one_body body = {0};
    struct asked_question *questions = NULL;
    wt_catalog_info info;
    struct str input;
    size_t count = 0;
    WT_TRY(wt__system_one_body_read(&body, json, err));
    WT_TRY(wt__check_asked_model(run, body.model, &info, err));
    struct decision_reader reader = {.arena = &body.body.arena, .err = err};
    WT_TRY(read_input_words(&input, reader.arena, body.state, "state", err));
    WT_TRY(read_system_one_questions(&reader, body.questions, &questions, &count));
    WT_TRY(decide_questions(run, reader.arena, input, questions, count, err));
    struct buffer *out = run->out;
    wt__buffer_char(out, '{');
    wt__json_text(out, "model", info.model);
    wt__json_open(out, "answers", '{');
    for (size_t q = 0; q < count; q++) {
        wt__buffer_text(out, q > 0 ? "," : "");
        wt__buffer_json(out, wt__str(questions[q].name));
        wt__buffer_text(out, ":{");
        put_system_one_answer(out, &questions[q]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, '}');
    wt__json_open(out, "usage", '{');
    wt__json_count(out, "input_tokens", estimate_input_tokens(input, questions, count));
    wt__json_count(out, "output_tokens", 0);
    wt__buffer_text(out, "}}");
    return 0;
}
