/* call.c: makes a call for a request. Searches tools, reads the arguments of each, chooses a tool, validates the call,
 * and writes questions and the explanation.
 *
 *   wt_find -> arguments.c (each tool) -> decision.c -> schema/ -> question.c, tool_call.c */
#include "call/call.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "call/arguments.h"
#include "call/called.h"
#include "engine/notice.h"
#include "engine/sized_options.h"
#include "query/chat_trace.h"
#include "query/chooser_input.h"
#include "query/search.h"
#include "recipe/recipes.h"
#include "text/analyser.h"
#include "text/shown.h"

static const double ABSTAIN = .05; /* default of wt_call_options.abstain */
/* Minimum probability that some tool fits, for asking about a weak hit. Chosen on the dev sets, because the higher
 * threshold of wt_pick loses correct tools (docs/verified-calls.md). */
static const double WEAK_LEAST = .16;

struct call_result {
    wt_called public; /* first member, so that the public pointer converts to struct call_result */
    wt_hits *hits;    /* owns public.tool; NULL with options->tool */
    wt_tools *tools;  /* owns public.tool with options->tool; else NULL */
    struct arena arena;
};

const wt_hits *wt__called_hits(const wt_called *called)
{
    return ((const struct call_result *)called)->hits;
}

void wt_called_free(wt_called *public)
{
    if (!public)
        return;
    struct call_result *result = (struct call_result *)public;
    wt_hits_free(result->hits);
    wt_tools_free(result->tools);
    wt__arena_dispose(&result->arena);
    free(result);
}

/* Makes candidates of the hits, weak ones included: details of the request may decide for one. */
static void take_candidates(struct call_run *calling)
{
    const wt_hits *hits = calling->hits;
    size_t weak = 0;
    for (size_t i = 0; i < hits->len; i++)
        weak += hits->items[i]->weak != 0;
    calling->weak = calling->unlikely || (weak > 0 && weak == hits->len);
    calling->unlikely |= calling->weak && !calling->model.wanted && calling->options->abstain == 0 &&
                         hits->no_answer_probability > 1 - WEAK_LEAST;
    for (size_t i = 0; i < hits->len && calling->count < WT_MAX_CALL_CANDIDATES; i++) {
        const wt_hit *hit = hits->items[i];
        calling->candidates[calling->count++] =
            (struct call_candidate){.tool = hit->tool, .score = hit->score, .probability = hit->probability};
    }
}

static int search_call_candidates(struct call_run *calling, wt_error *err)
{
    const wt_call_options *options = calling->options;
    wt_find_options find;
    wt_find_options_init(&find);
    size_t usual = calling->model.wanted ? CALL_MODEL_CANDIDATES : CALL_CANDIDATES;
    find.k = options->candidates ? options->candidates : usual;
    find.recipe = options->recipe;
    find.provider = options->provider;
    find.filter = options->filter;
    find.as_typed = options->as_typed;
    find.progress = options->progress;
    find.progress_context = options->progress_context;
    find.time_limit_ms = options->time_limit_ms;
    /* The default is to abstain with "auto" only: it estimates whether any tool fits, and other recipes may not. A
     * language model gets the hits in any case, and can answer that no tool fits. */
    bool chosen = options->recipe && strcmp(options->recipe, "auto") != 0;
    bool abstains = options->abstain == 0 && !chosen && !calling->model.wanted;
    double share = abstains ? ABSTAIN : options->abstain;
    find.abstain = share > 0 ? share : 0; /* WT_OFF is 0 here */
    WT_TRY(wt__find_jointly(calling->engine, calling->request, &find, &calling->hits, err));
    if (abstains && calling->hits->len == 0 && wt__has_value_kind(&calling->literals)) {
        wt_hits_free(calling->hits);
        calling->hits = NULL;
        calling->unlikely = true;
        find.abstain = 0;
        WT_TRY(wt__find_jointly(calling->engine, calling->request, &find, &calling->hits, err));
    }
    take_candidates(calling);
    return 0;
}

static int read_candidate_arguments(struct call_run *calling, struct call_candidate *candidate, wt_error *err)
{
    const wt_tool *tool = candidate->tool;
    struct parameters *parameters = &candidate->parameters;
    WT_CLEANUP(wt__buffer_dispose) struct buffer about = {0};
    wt__buffer_printf(&about, "%s %s", tool->name, tool->description);
    const char *copy = about.failed ? NULL : wt__arena_copy(calling->arena, wt__buffer_view(&about));
    WT_CHECK_ALLOC(copy, err);
    /* An invalid schema has no parameters; validation reports it. */
    if (wt__json_parse(&candidate->schema, tool->schema, strlen(tool->schema), NULL) == WT_ENOMEM ||
        wt__parameters_read(parameters, candidate->schema, calling->arena) < 0)
        return wt__fail_nomem(err);
    WT_TRY(wt__call_load_demonstrations(calling, candidate, err));
    if (wt__parameters_learn(parameters, candidate->demonstrations, candidate->demonstration_count, calling->arena) <
            0 ||
        wt__call_arguments_fill(&candidate->arguments, &calling->literals, wt__str(copy), parameters, calling->arena) <
            0)
        return wt__fail_nomem(err);
    return 0;
}

/* Chooses the candidate. If it is unlikely that any tool fits, only a candidate that takes a kind of value in the
 * request remains. */
static void decide_candidate(struct call_run *calling)
{
    struct choice choices[WT_MAX_CALL_CANDIDATES];
    for (size_t i = 0; i < calling->count; i++) {
        const struct call_candidate *candidate = &calling->candidates[i];
        choices[i] = (struct choice){.name = wt__str(candidate->tool->name),
                                     .description = wt__str(candidate->tool->description),
                                     .parameters = &candidate->parameters,
                                     .leftover = candidate->arguments.unused.len > 0,
                                     .score = candidate->score};
    }
    calling->first = wt__decide_tool(&calling->literals, choices, calling->count);
    calling->second = wt__decide_second(choices, calling->count, calling->first);
    for (size_t i = 0; i < calling->count; i++) {
        calling->candidates[i].decided = choices[i].decided;
        calling->candidates[i].details = choices[i].details;
    }
    if (calling->unlikely && choices[calling->first].kinds_taken == 0)
        calling->count = 0;
}

/* ---------------------------------------------------------------- doubt about calling the tool */

/* Finds the quoted texts in the request, and the argument values of several words. Their words do not show whether the
 * request is an instruction: 'send Bob "is it locked?"'. Returns the number of spans. */
static size_t find_value_spans(const struct call_run *calling, const struct call_arguments *arguments,
                               struct byte_span *out)
{
    size_t count = 0;
    for (size_t l = 0; l < calling->literals.len; l++) {
        const struct literal *literal = &calling->literals.items[l];
        if (literal->kind == LITERAL_QUOTED)
            out[count++] = (struct byte_span){literal->start, literal->end};
    }
    for (size_t p = 0; p < arguments->len; p++) {
        const struct call_argument *argument = &arguments->items[p];
        if (argument->end > argument->start &&
            memchr(calling->request.ptr + argument->start, ' ', argument->end - argument->start))
            out[count++] = (struct byte_span){argument->start, argument->end};
    }
    return count;
}

/* Sets calling->doubt and calling->unread for the chosen candidate. Its arguments must be final. 0 or WT_ENOMEM. */
static int find_doubt(struct call_run *calling, wt_error *err)
{
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    const wt_tool *found = candidate->tool;
    const struct tool tool = {.name = wt__str(found->name),
                              .description = wt__str(found->description),
                              .source_id = wt__str(found->source_id),
                              .format = wt__str(found->format),
                              .definition = {found->definition, found->definition_len}};
    struct tool_effect effect;
    struct intent intent;
    wt__tool_effect_read(&effect, &tool);
    if (!effect.acts)
        return 0;
    struct byte_span *values =
        wt__arena_array(calling->arena, struct byte_span, calling->literals.len + candidate->arguments.len + 1);
    WT_CHECK_ALLOC(values, err);
    size_t count = find_value_spans(calling, &candidate->arguments, values);
    if (wt__intent_read(&intent, calling->request, values, count, &effect, calling->arena) < 0)
        return wt__fail_nomem(err);
    calling->doubt = intent.doubt;
    if (intent.doubt != DOUBT_NONE)
        return 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    wt__analyser_spell_out(tool.name, &name);
    WT_CHECK_ALLOC(!name.failed, err);
    calling->unread = wt__coverage_unread(&candidate->arguments, &intent, calling->request, wt__buffer_view(&name),
                                          tool.description, &candidate->parameters);
    if (calling->unread.len > 0 || intent.cut)
        calling->doubt = DOUBT_UNREAD;
    return 0;
}

/* ---------------------------------------------------------------- arguments */

static int collect_values(struct call_run *calling, wt_error *err)
{
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    const struct call_arguments *arguments = &candidate->arguments;
    calling->values = json_object();
    calling->missing = wt__arena_array(calling->arena, const char *, arguments->len);
    if (!calling->values || (!calling->missing && arguments->len > 0))
        return wt__fail_nomem(err);
    for (size_t i = 0; i < arguments->len; i++) {
        const struct call_argument *argument = &arguments->items[i];
        const char *name = candidate->parameters.items[i].name;
        bool sure = argument->state == ARGUMENT_GIVEN || argument->state == ARGUMENT_DEFAULT;
        if (sure && json_object_set(calling->values, name, argument->value) < 0)
            return wt__fail_nomem(err);
        if (argument->state == ARGUMENT_MISSING) {
            calling->missing[calling->missing_count] = wt__arena_copy(calling->arena, wt__str(name));
            if (!calling->missing[calling->missing_count++])
                return wt__fail_nomem(err);
        }
    }
    return 0;
}

/* True if the schema requires members that are not among the known parameters. The question cannot name such a member,
 * so the violation has to report it. */
static bool requires_unread_parameter(const struct call_candidate *candidate)
{
    const json_t *required = wt__json_array(candidate->schema, "required");
    size_t known = 0;
    for (size_t i = 0; i < candidate->parameters.len; i++)
        known += candidate->parameters.items[i].required;
    return json_array_size(required) > known;
}

/* Copies the messages of the violations. Leaves out missing arguments if the question to the user names them. */
static int report_violations(struct call_run *calling, const wt_validation *validation, wt_called *out, wt_error *err)
{
    const char **messages = wt__arena_array(calling->arena, const char *, CALL_VIOLATIONS);
    bool unread = requires_unread_parameter(&calling->candidates[calling->first]);
    WT_CHECK_ALLOC(messages, err);
    out->violations = messages;
    for (size_t i = 0; i < validation->violation_count && out->violation_count < CALL_VIOLATIONS; i++) {
        const wt_violation *violation = validation->violations[i];
        if (!unread && *violation->pointer == 0 && strcmp(violation->schema_pointer, "/required") == 0)
            continue;
        const char *message = wt__arena_copy(calling->arena, wt__str(violation->message));
        WT_CHECK_ALLOC(message, err);
        messages[out->violation_count++] = message;
        if (!calling->wrong && violation->code == WT_EFORMAT)
            calling->wrong = message;
    }
    return 0;
}

static int validate_call(struct call_run *calling, const struct call_checker *checker, wt_called *out, wt_error *err)
{
    wt_validation *validation = NULL;
    wt_error why;
    if (!checker->validator)
        return wt__add_notice(&calling->notice, WT_NOTICE_SCHEMA, checker->why.message, calling->arena, err);
    int rc = wt_validate(checker->validator, out->arguments, strlen(out->arguments), NULL, &validation, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        return wt__add_notice(&calling->notice, WT_NOTICE_SCHEMA, why.message, calling->arena, err);
    out->valid = validation->valid;
    rc = report_violations(calling, validation, out, err);
    wt_validation_free(validation);
    return rc;
}

/* ---------------------------------------------------------------- result */

/* Moves the text of the buffer into the arena and empties the buffer. */
static int keep_call_text(struct call_run *calling, struct buffer *text, const char **out, wt_error *err)
{
    *out = text->failed ? NULL : wt__arena_copy(calling->arena, wt__buffer_view(text));
    wt__buffer_dispose(text);
    return *out ? 0 : wt__fail_nomem(err);
}

static struct question_tool make_question_tool(const wt_tool *tool)
{
    return (struct question_tool){wt__str(tool->id), wt__str(tool->name), wt__str(tool->description)};
}

static int write_question(struct call_run *calling, wt_called *out, wt_error *err)
{
    const struct call_candidate *first = &calling->candidates[calling->first];
    const struct call_candidate *second = calling->second < SIZE_MAX ? &calling->candidates[calling->second] : NULL;
    const struct question_tool tool = make_question_tool(first->tool);
    bool close = second && first->decided - second->decided < DECISION_CLOSE;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    out->asks_tool = close || calling->weak;
    out->doubt = wt__doubt_name(calling->doubt);
    if (calling->weak) {
        wt__question_of_weak(&text, &tool);
    } else if (close) {
        const struct question_tool other = make_question_tool(second->tool);
        wt__question_of_tools(&text, &tool, &other);
    } else if (calling->doubt != DOUBT_NONE && calling->doubt != DOUBT_UNREAD) {
        wt__question_of_intent(&text, calling->doubt, &tool);
    } else {
        wt__question_of_arguments(&text, &first->parameters, &first->arguments);
        if (text.len == 0 && calling->wrong)
            wt__question_of_violation(&text, calling->wrong);
        if (calling->doubt == DOUBT_UNREAD)
            wt__question_of_unread(&text, calling->unread, &first->parameters, &first->arguments);
    }
    return text.len > 0 || text.failed ? keep_call_text(calling, &text, &out->question, err) : 0;
}

static int write_call_forms(struct call_run *calling, wt_called *out, wt_error *err)
{
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    struct str form = wt__str(calling->options->form ? calling->options->form : "arguments");
    WT_CLEANUP(wt__buffer_dispose) struct buffer arguments = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer call = {0};
    WT_TRY(wt__tool_call_write(&arguments, STR("arguments"), STR(""), STR(""), NULL, calling->values, err));
    WT_TRY(keep_call_text(calling, &arguments, &out->arguments, err));
    WT_TRY(wt__tool_call_write(&call, form, wt__str(candidate->tool->name), wt__str(candidate->tool->export_name),
                               candidate->schema, calling->values, err));
    return keep_call_text(calling, &call, &out->call, err);
}

/* Copies the recipe, the encoder and the notice of the search. A warning about uncalibrated probabilities goes to
 * out->chances. */
static int report_search(struct call_run *calling, wt_called *out, wt_error *err)
{
    const wt_hits *hits = calling->hits;
    struct str notice = wt__str(hits && hits->notice ? hits->notice : ""), chances = wt__str(wt__notice_uncalibrated);
    out->recipe = hits ? hits->recipe : "";
    out->encoder = hits ? hits->encoder : "";
    bool is_uncalibrated = hits && hits->notice_codes & WT_NOTICE_UNCALIBRATED && notice.len >= chances.len;
    if (is_uncalibrated && wt__str_equal(wt__str(notice.ptr + notice.len - chances.len), chances)) {
        /* The search appends this text last, after "; " if the notice has other text. */
        out->chances = wt__notice_uncalibrated;
        notice.len -= chances.len;
        notice.len -= notice.len > 0 ? strlen("; ") : 0;
    }
    const char *copy = wt__arena_copy(calling->arena, notice);
    WT_CHECK_ALLOC(copy, err);
    const struct notice found = {notice.len > 0 ? copy : NULL, hits ? hits->notice_codes : 0};
    calling->notice.codes = found.codes;
    return wt__join_notices(&calling->notice, &found, calling->arena, err);
}

/* Adds the cost of the language model to the result, and a notice if an answer of the model was unusable. */
static int report_model(struct call_run *calling, wt_called *out, wt_error *err)
{
    const struct call_model *model = &calling->model;
    const struct chat_cost *costs[] = {&model->selection.cost, &model->generation.cost};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        out->questions += costs[i]->questions;
        out->prompt_tokens += costs[i]->prompt_tokens;
        out->completion_tokens += costs[i]->completion_tokens;
        out->model_ms += costs[i]->ms;
    }
    const char *unsaid = NULL;
    if (model->selected && model->selection.end == SELECTION_UNSAID)
        unsaid = "the language model chose none of the listed tools; the first one found is used, unverified";
    else if (model->name && calling->count > 0 && !model->generated)
        unsaid =
            "the language model's arguments cannot be read; the call's arguments are from the words of the request";
    return wt__add_notice(&calling->notice, WT_NOTICE_ANSWER_UNUSABLE, unsaid, calling->arena, err);
}

/* Lists the verified parts of the call, each with the model or validator that verified the part. */
static int report_checks(struct call_run *calling, wt_called *out, wt_error *err)
{
    const struct call_model *model = &calling->model;
    enum selection_end end = model->selection.end;
    bool tool = model->selected && (end == SELECTION_CONFIRMED || end == SELECTION_CORRECTED);
    const wt_verified checks[] = {{tool ? "tool" : NULL, model->name},
                                  {model->generated && model->generation.verified ? "arguments" : NULL, model->name},
                                  {out->valid ? "schema" : NULL, "validator"}};
    wt_verified *items = wt__arena_array(calling->arena, wt_verified, sizeof checks / sizeof *checks);
    for (size_t i = 0; items && i < sizeof checks / sizeof *checks; i++)
        if (checks[i].what)
            items[out->verified_count++] = checks[i];
    out->verified = wt__arena_pointers(calling->arena, items, out->verified_count, sizeof *items);
    return out->verified || out->verified_count == 0 ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- explanation */

static void write_step_number(struct buffer *out, const char *key, double value)
{
    wt__buffer_printf(out, ",\"%s\":", key);
    if (isfinite(value))
        wt__buffer_printf(out, "%.6g", value);
    else
        wt__buffer_text(out, "null");
}

/* Appends the text as a JSON string, or null if the text is empty. */
static void write_text_or_null(struct buffer *out, struct str text)
{
    if (text.len > 0)
        wt__shown_string(out, text);
    else
        wt__buffer_text(out, "null");
}

static void write_detail_names(struct buffer *out, unsigned details)
{
    static const struct {
        enum detail detail;
        const char *name;
    } names[] = {{DETAIL_TIME, "time"}, {DETAIL_KIND, "kind"}, {DETAIL_LEFTOVER, "leftover"}};
    const char *comma = "";
    wt__buffer_text(out, ",\"details\":[");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (details & names[i].detail) {
            wt__buffer_printf(out, "%s\"%s\"", comma, names[i].name);
            comma = ",";
        }
    wt__buffer_char(out, ']');
}

static void write_candidate_step(struct buffer *out, const struct call_candidate *candidate)
{
    wt__buffer_text(out, "{\"tool\":");
    wt__shown_string(out, wt__str(candidate->tool->id));
    write_step_number(out, "score", candidate->score);
    write_step_number(out, "probability", candidate->probability);
    write_step_number(out, "decided", candidate->decided);
    write_detail_names(out, candidate->details);
    wt__buffer_char(out, '}');
}

static void write_argument_step(struct buffer *out, struct str request, const struct parameter *parameter,
                                const struct call_argument *argument)
{
    static const char *const states[] = {"absent", "given", "default", "missing", "unsure"}; /* enum argument_state */
    wt__buffer_text(out, "{\"name\":");
    wt__shown_string(out, wt__str(parameter->name));
    wt__buffer_printf(out, ",\"required\":%s,\"state\":\"%s\",\"value\":", parameter->required ? "true" : "false",
                      states[argument->state]);
    wt__write_shown_value(out, argument->value, "null");
    wt__buffer_text(out, ",\"from\":");
    write_text_or_null(out, (struct str){request.ptr + argument->start, argument->end - argument->start});
    write_step_number(out, "score", (double)argument->score);
    wt__buffer_char(out, '}');
}

static void write_candidate_id(struct buffer *out, const char *key, const struct call_run *calling, size_t place)
{
    wt__buffer_printf(out, ",\"%s\":", key);
    write_text_or_null(out, place < calling->found ? wt__str(calling->candidates[place].tool->id) : STR(""));
}

static void write_selection_trace(struct buffer *out, const struct call_run *calling)
{
    const struct selection_trace *trace = &calling->model.selection;
    wt__buffer_printf(out, ",\"selection\":{\"end\":\"%s\"", wt__selection_end_name(trace->end));
    write_candidate_id(out, "first", calling, trace->first);
    write_candidate_id(out, "second", calling, trace->second);
    wt__buffer_text(out, ",\"question\":");
    wt__shown_string(out, trace->question);
    wt__buffer_text(out, ",\"answer\":");
    wt__shown_string(out, trace->answer);
    wt__buffer_printf(out, ",\"stored\":%s", trace->stored ? "true" : "false");
    write_candidate_id(out, "chosen", calling, trace->chosen);
    wt__buffer_text(out, ",\"exchanges\":");
    wt__write_exchanges(out, trace->exchanges, trace->exchange_count);
    wt__buffer_text(out, ",\"cost\":");
    wt__write_chat_cost(out, &trace->cost);
    wt__buffer_char(out, '}');
}

static void write_prediction_step(struct buffer *out, const struct generated_argument *argument)
{
    wt__buffer_text(out, "{\"name\":");
    wt__shown_string(out, wt__str(argument->parameter->name));
    wt__buffer_text(out, ",\"predictions\":[");
    for (size_t i = 0; i < GENERATION_PREDICTIONS; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        wt__write_shown_value(out, argument->predictions[i], "null");
    }
    wt__buffer_printf(out, "],\"asked\":%s}", argument->asked ? "true" : "false");
}

static void write_generation_trace(struct buffer *out, const struct generation_trace *trace)
{
    wt__buffer_printf(out, ",\"generation\":{\"end\":\"%s\",\"arguments\":[", wt__generation_end_name(trace->end));
    for (size_t i = 0; i < trace->len; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_prediction_step(out, &trace->items[i]);
    }
    wt__buffer_text(out, "],\"fault\":");
    wt__shown_string(out, trace->fault);
    wt__buffer_printf(out, ",\"mended\":%s,\"exchanges\":", trace->mended ? "true" : "false");
    wt__write_exchanges(out, trace->exchanges, trace->exchange_count);
    wt__buffer_text(out, ",\"cost\":");
    wt__write_chat_cost(out, &trace->cost);
    wt__buffer_char(out, '}');
}

/* Appends a JSON object with the candidates, the chosen tool's arguments, the first value that they leave unused, and
 * the traces of the language model, if any. */
static void write_steps(struct buffer *out, const struct call_run *calling)
{
    wt__buffer_text(out, "{\"candidates\":[");
    for (size_t i = 0; i < calling->found; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_candidate_step(out, &calling->candidates[i]);
    }
    wt__buffer_text(out, "],\"arguments\":[");
    const struct call_candidate *first = calling->count > 0 ? &calling->candidates[calling->first] : NULL;
    for (size_t i = 0; first && i < first->arguments.len; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_argument_step(out, calling->request, &first->parameters.items[i], &first->arguments.items[i]);
    }
    wt__buffer_text(out, "],\"leftover\":");
    write_text_or_null(out, first ? first->arguments.unused : STR(""));
    if (calling->model.selected)
        write_selection_trace(out, calling);
    if (calling->model.generation.exchange_count > 0)
        write_generation_trace(out, &calling->model.generation);
    wt__buffer_char(out, '}');
}

/* Writes the call of the chosen tool, validates the call, and writes the question to the user. */
static int finish_call(struct call_run *calling, wt_called *out, wt_error *err)
{
    struct call_candidate *candidate = &calling->candidates[calling->first];
    WT_CLEANUP(wt__call_checker_close) struct call_checker checker = {0};
    WT_TRY(wt__call_checker_open(&checker, candidate->tool->schema, err));
    WT_TRY(wt__call_reject_unfit(&checker, &candidate->parameters, &candidate->arguments, err));
    WT_TRY(find_doubt(calling, err));
    WT_TRY(collect_values(calling, err));
    WT_TRY(write_call_forms(calling, out, err));
    WT_TRY(validate_call(calling, &checker, out, err));
    return write_question(calling, out, err);
}

static int make_call(struct call_run *calling, wt_called *out, wt_error *err)
{
    if (wt__literals_read(&calling->literals, calling->request, calling->arena) < 0)
        return wt__fail_nomem(err);
    if (calling->options->tool) {
        WT_TRY(wt_get(calling->engine, calling->options->tool, &calling->tools, err));
        calling->candidates[calling->count++] =
            (struct call_candidate){.tool = calling->tools->items[0], .score = 1, .probability = NAN};
    } else {
        WT_TRY(search_call_candidates(calling, err));
    }
    WT_TRY(report_search(calling, out, err));
    calling->found = calling->count;
    for (size_t i = 0; i < calling->count; i++)
        WT_TRY(read_candidate_arguments(calling, &calling->candidates[i], err));
    if (calling->count == 0)
        return 0;
    decide_candidate(calling);
    if (calling->model.wanted)
        WT_TRY(wt__call_by_model(calling, err));
    WT_TRY(report_model(calling, out, err));
    if (calling->count == 0)
        return 0;
    WT_TRY(finish_call(calling, out, err));
    WT_TRY(report_checks(calling, out, err));
    const struct call_candidate *first = &calling->candidates[calling->first];
    out->tool = first->tool;
    out->probability = first->probability;
    out->missing = calling->missing;
    out->missing_count = calling->missing_count;
    return 0;
}

static void dispose_call(struct call_run *calling)
{
    for (size_t i = 0; i < calling->found; i++) {
        wt__call_arguments_dispose(&calling->candidates[i].arguments);
        json_decref(calling->candidates[i].schema);
        json_decref(calling->candidates[i].recorded);
    }
    wt__call_model_dispose(&calling->model);
    json_decref(calling->values);
}

int wt_call(wt_engine *engine, const char *request, size_t request_len, const wt_call_options *given, wt_called **out,
            wt_error *err)
{
    double begun = wt__now_ms();
    wt_call_options options;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    if (options.form)
        WT_TRY(wt__tool_call_check(wt__str(options.form), err));
    if (options.candidates > WT_MAX_CALL_CANDIDATES)
        return wt__fail(err, WT_EINVAL, "%zu candidates; at most %d are possible", options.candidates,
                        WT_MAX_CALL_CANDIDATES);
    WT_TRY(wt__request_check((struct str){request, request_len}, err));
    struct call_result *result = calloc(1, sizeof *result);
    WT_CHECK_ALLOC(result, err);
    struct call_run calling = {
        .engine = engine, .request = {request, request_len}, .options = &options, .arena = &result->arena};
    struct progress progress;
    wt__progress_init(&progress, options.progress, options.progress_context);
    wt__progress_limit(&progress, options.time_limit_ms);
    calling.progress = &progress;
    result->public.probability = NAN;
    int rc = wt__call_model_options(&options, calling.arena, &calling.model, err);
    if (rc == 0)
        rc = wt__progress_end(&progress, make_call(&calling, &result->public, err), err);
    if (rc == 0 && options.explain) {
        struct buffer steps = {0};
        write_steps(&steps, &calling);
        rc = keep_call_text(&calling, &steps, &result->public.steps, err);
    }
    dispose_call(&calling);
    result->hits = calling.hits;
    result->tools = calling.tools;
    if (rc < 0) {
        wt_called_free(&result->public);
        return rc;
    }
    result->public.notice = calling.notice.text;
    result->public.notice_codes = calling.notice.codes;
    result->public.total_ms = wt__now_ms() - begun;
    *out = &result->public;
    return 0;
}
