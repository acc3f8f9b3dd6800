/* cmd_call.c: `whichtool call`: prints the call for a request as text, as JSON (docs/json.md), or in another form of
 * --format, such as "openai" or "lines". Does not call the tool. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static int call_exit_code(const wt_called *called)
{
    if (!called->tool)
        return END_NOTHING;
    return called->valid && !called->question ? END_DONE : END_ASK;
}

/* True for forms that are printed even if the call is incomplete. The other forms, which are API objects, are printed
 * only if complete: a program that ignores the exit code would execute the call. */
static bool is_partial_form(const char *form)
{
    static const char *const forms[] = {"arguments", "lines"};
    return wt__str_among(wt__str(form), forms, sizeof forms / sizeof *forms);
}

static void put_candidate_details(struct buffer *out, const json_t *details)
{
    for (size_t i = 0; i < json_array_size(details); i++)
        wt__buffer_printf(out, "%s%s", i > 0 ? ", " : " (", json_string_value(json_array_get(details, i)));
    wt__buffer_text(out, json_array_size(details) > 0 ? ")" : "");
}

static void put_typed_json(struct buffer *out, const json_t *value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__json_write_typed(&json, value);
    wt__buffer_str(out, wt__buffer_view(&json));
    out->failed |= json.failed;
}

static void explain_call(const struct cli *cli, struct buffer *out, const char *steps)
{
    json_t *root = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (wt__json_parse(&root, steps, strlen(steps), NULL) < 0)
        return;
    const json_t *candidates = wt__json_array(root, "candidates"), *arguments = wt__json_array(root, "arguments");
    for (size_t i = 0; i < json_array_size(candidates); i++) {
        const json_t *one = json_array_get(candidates, i);
        wt__buffer_printf(&line, "%.3f %s", wt__json_real(one, "decided", 0), wt__json_str(one, "tool").ptr);
        put_candidate_details(&line, wt__json_array(one, "details"));
        wt__print_field(cli, out, i == 0 ? "chosen from" : "", line.failed ? "" : line.ptr);
        wt__buffer_clear(&line);
    }
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const json_t *one = json_array_get(arguments, i), *from = json_object_get(one, "from");
        wt__buffer_printf(&line, "%s: %s", wt__json_str(one, "name").ptr, wt__json_str(one, "state").ptr);
        if (!json_is_null(json_object_get(one, "value"))) {
            wt__buffer_char(&line, ' ');
            put_typed_json(&line, json_object_get(one, "value"));
        }
        if (json_is_string(from))
            wt__buffer_printf(&line, ", from \"%s\"", json_string_value(from));
        wt__print_field(cli, out, i == 0 ? "read" : "", line.failed ? "" : line.ptr);
        wt__buffer_clear(&line);
    }
    json_decref(root);
}

static void print_call_text(const struct cli *cli, struct buffer *out, const wt_called *called)
{
    wt__print_field(cli, out, "tool", called->tool->id);
    wt__print_field(cli, out, "arguments", called->arguments);
    for (size_t i = 0; i < called->missing_count; i++)
        wt__print_field(cli, out, i == 0 ? "missing" : "", called->missing[i]);
    for (size_t i = 0; i < called->violation_count; i++)
        wt__print_field(cli, out, i == 0 ? "wrong" : "", called->violations[i]);
    wt__print_field(cli, out, "question", called->question ? called->question : "");
    if (called->steps)
        explain_call(cli, out, called->steps);
}

static void note_call_result(const struct cli *cli, const wt_called *called)
{
    if (!called->tool)
        wt__cli_note(cli, "No tool fits.");
    else if (call_exit_code(called) == END_DONE)
        wt__cli_note(cli, "Valid call, written in %.1f ms; nothing was called.", called->total_ms);
    else if (called->missing_count > 0)
        wt__cli_note(cli, "No call yet: required arguments are missing.");
    else if (called->question)
        wt__cli_note(cli, "No call yet: answer the question first.");
    else
        wt__cli_note(cli, "No call: the arguments could not be validated.");
}

/* Reports the violations and the question of a call that is not ready. They are part of the answer, so -q does not
 * suppress them. */
static void print_call_problems(const struct cli *cli, const wt_called *called)
{
    for (size_t i = 0; i < called->violation_count; i++)
        if (!called->question || !strstr(called->question, called->violations[i]))
            wt__cli_report(cli, 0, "%s", called->violations[i]);
    if (called->question)
        wt__cli_report(cli, 0, "%s", called->question);
}

static int print_call(struct cli *cli, const wt_called *called, const struct search_input *input)
{
    const char *form = wt__option_text(cli, OPT_FORMAT);
    bool json = cli->json || (form && strcmp(form, "json") == 0);
    struct buffer out = {0};
    if (json) {
        const struct called_form whole = {.explained = wt__has_option(cli, OPT_EXPLAIN)};
        wt__json_called(&out, called, input->request.ptr, &whole);
        wt__buffer_char(&out, '\n');
    } else if (called->tool && form) {
        bool shown = call_exit_code(called) == END_DONE || is_partial_form(form);
        wt__buffer_printf(&out, "%s%s", shown ? called->call : "", shown ? "\n" : "");
    } else if (called->tool) {
        print_call_text(cli, &out, called);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (!json && form)
        print_call_problems(cli, called);
    if (!json)
        note_call_result(cli, called);
    if (called->notice)
        wt__cli_note(cli, "Note: %s", called->notice);
    return call_exit_code(called);
}

/* Builds the call. Shows progress and can be interrupted with Ctrl-C, since a language model may take long. Answers
 * that were recorded before an interruption stay in the record. */
static int run_call(struct cli *cli, wt_engine *engine, const struct search_input *input, const wt_call_options *wanted,
                    wt_called **out, wt_error *err)
{
    wt_call_options options = *wanted;
    struct progress_line line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_call(engine, input->request.ptr, input->request.len, &options, out, err);
    wt__progress_clear();
    return rc;
}

/* Fails if an option needs --chat-model, which is missing. */
static int require_chat_model(struct cli *cli)
{
    static const struct {
        enum option_id option;
        const char *name;
    } options[] = {{OPT_SELECTION, "selection"},
                   {OPT_GENERATION, "generation"},
                   {OPT_CONSTRUCTION, "construction"},
                   {OPT_SECOND_CHAT_MODEL, "second-chat-model"},
                   {OPT_VERIFY_CHAT_MODEL, "verify-chat-model"},
                   {OPT_ARGUMENT_CHAT_MODEL, "argument-chat-model"},
                   {OPT_SAMPLES, "samples"},
                   {OPT_TEMPERATURE, "temperature"},
                   {OPT_TOP_P, "top-p"},
                   {OPT_PREPARE, "prepare"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (wt__has_option(cli, options[i].option) && !wt__has_option(cli, OPT_CHAT_MODEL))
            return wt__cli_usage(cli, "--%s needs --chat-model", options[i].name);
    return 0;
}

static bool print_prepared(const struct cli *cli, const wt_prepared *done)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_printf(&out,
                          "{\"pairs\":%zu,\"written\":%zu,\"known\":%zu,\"unusable\":%zu,\"prompt_tokens\":%llu,"
                          "\"completion_tokens\":%llu,\"model_ms\":%.1f}\n",
                          done->pairs, done->written, done->known, done->unusable,
                          (unsigned long long)done->prompt_tokens, (unsigned long long)done->completion_tokens,
                          done->model_ms);
        return wt__cli_print(&out);
    }
    wt__buffer_printf(&out, "%zu pairs of tools: %zu questions written, %zu known", done->pairs, done->written,
                      done->known);
    if (done->unusable > 0)
        wt__buffer_printf(&out, ", %zu answers unusable", done->unusable);
    wt__buffer_char(&out, '\n');
    return wt__cli_print(&out);
}

/* Runs `call --prepare`. */
static int prepare_calls(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_prepare_options options;
    wt_prepared done;
    struct progress_line line;
    wt_error err;
    if (cli->arguments.word_count > 0)
        return wt__cli_usage(cli, "--prepare takes no REQUEST");
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    wt_prepare_options_init(&options);
    wt_prepared_init(&done);
    options.questions = (size_t)cli->arguments.number[OPT_PREPARE];
    options.verify_model = wt__option_text(cli, OPT_VERIFY_CHAT_MODEL);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int rc = wt_prepare_calls(engine, &options, &done, &err);
    wt__progress_clear();
    if ((rc == 0 || done.pairs > 0) && !print_prepared(cli, &done))
        return END_SYSTEM;
    return rc < 0 ? wt__fail_search(cli, &err) : END_DONE;
}

int wt__cmd_call(struct cli *cli)
{
    const char *recipe = wt__option_text(cli, OPT_RECIPE), *form = wt__option_text(cli, OPT_FORMAT);
    WT_CLEANUP(wt__search_input_dispose) struct search_input input = {0};
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_call_options options;
    wt_filter filter;
    wt_called *called = NULL;
    wt_error err;
    bool needs_model = true;
    if (recipe && !wt__recipe_known(recipe, strlen(recipe), &needs_model))
        return wt__recipe_unknown(cli, recipe, strlen(recipe));
    WT_TRY(require_chat_model(cli));
    if (wt__has_option(cli, OPT_PREPARE))
        return prepare_calls(cli);
    wt_call_options_init(&options);
    WT_TRY(wt__read_share(cli, OPT_ABSTAIN, "abstain", &options.abstain));
    if (wt__has_option(cli, OPT_ABSTAIN) && options.abstain == 0)
        options.abstain = WT_OFF;
    WT_TRY(wt__read_filter(cli, &filter));
    WT_TRY(wt__read_search_input(cli, &input));
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, needs_model && !wt__has_option(cli, OPT_TOOL) ? NULL : "", &engine));
    options.tool = wt__option_text(cli, OPT_TOOL);
    options.recipe = recipe;
    options.filter = &filter;
    options.candidates = (size_t)cli->arguments.number[OPT_CANDIDATES];
    options.form = form && strcmp(form, "json") != 0 ? form : NULL;
    options.explain = wt__has_option(cli, OPT_EXPLAIN);
    options.as_typed = wt__has_option(cli, OPT_AS_TYPED);
    options.language_model = wt__has_option(cli, OPT_CHAT_MODEL);
    options.verify_model = wt__option_text(cli, OPT_VERIFY_CHAT_MODEL);
    options.argument_model = wt__option_text(cli, OPT_ARGUMENT_CHAT_MODEL);
    WT_TRY(wt__read_experiment(cli, &options.experiment));
    options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
    if (run_call(cli, engine, &input, &options, &called, &err) < 0) {
        int code = wt__fail_search(cli, &err);
        /* With --replay, the recording may lack the answer. END_NOTHING would then claim that no tool fits. */
        return code == END_NOTHING && wt__has_option(cli, OPT_REPLAY) ? END_INPUT : code;
    }
    int code = print_call(cli, called, &input);
    wt_called_free(called);
    return code;
}
