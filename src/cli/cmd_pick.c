#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/hits.h"
#include "cli/output.h"
#include "cli/progress_line.h"

static void json_share(struct buffer *out, const char *key, double value)
{
    if (!isnan(value))
        wt__json_number(out, key, value);
}

static void print_json(struct buffer *out, const wt_picked *picked, const char *request)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "request", request);
    wt__json_text(out, "recipe", picked->recipe);
    if (picked->notice)
        wt__json_text(out, "notice", picked->notice);
    json_share(out, "no_answer_probability", picked->no_answer_probability);
    json_share(out, "tracc", picked->tracc);
    json_share(out, "complete", picked->complete);
    wt__json_number(out, "encode_ms", picked->encode_ms);
    wt__json_number(out, "search_ms", picked->search_ms);
    wt__json_number(out, "total_ms", picked->total_ms);
    if (picked->questions > 0) {
        wt__json_count(out, "questions", picked->questions);
        wt__json_count(out, "prompt_tokens", picked->prompt_tokens);
        wt__json_count(out, "completion_tokens", picked->completion_tokens);
        wt__json_number(out, "model_ms", picked->model_ms);
    }
    if (picked->trace)
        wt__json_raw(out, "trace", picked->trace);
    wt__json_key(out, "tools");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < picked->len; i++) {
        wt__buffer_text(out, i ? "," : "");
        wt__json_hit(out, picked->items[i], i + 1);
    }
    wt__buffer_text(out, "]}\n");
}

static void tell(const struct cli *cli, const wt_picked *picked)
{
    if (picked->questions > 0)
        wt__cli_note(cli, "%zu %s, by %zu questions of %" PRIu64 " tokens, answered in %.1f s", picked->len,
                     picked->len == 1 ? "tool" : "tools", picked->questions,
                     picked->prompt_tokens + picked->completion_tokens, picked->model_ms / 1000);
    else if (picked->len == 0)
        wt__cli_note(cli, "No tool fits: with a probability of %.0f %% there is none.",
                     100 * picked->no_answer_probability);
    else if (isnan(picked->complete))
        wt__cli_note(cli, "%zu %s in %.1f ms from the hits of %s", picked->len, picked->len == 1 ? "tool" : "tools",
                     picked->total_ms, picked->recipe);
    else
        wt__cli_note(cli, "%zu %s in %.1f ms from the hits of %s; all that is needed with a probability of %.0f %%",
                     picked->len, picked->len == 1 ? "tool" : "tools", picked->total_ms, picked->recipe,
                     100 * picked->complete);
}

static int print_picked(struct cli *cli, const wt_picked *picked, const char *request)
{
    const char *format = wt__text_of(cli, OPT_FORMAT);
    bool table = !format || strcmp(format, "table") == 0, json = format && strcmp(format, "json") == 0;
    struct buffer out = {0};
    int code = picked->len ? END_DONE : END_NOTHING;
    if (!table && !json) {
        int printed = wt__hit_definitions(cli, picked->items, picked->len, format);
        code = printed ? printed : code;
    } else if (json || cli->json) {
        print_json(&out, picked, request);
    } else {
        wt__hit_table(cli, &out, picked->items, picked->len);
        if (picked->trace)
            wt__trace_words(cli, &out, picked->trace);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (table && !cli->json)
        tell(cli, picked);
    if (picked->notice)
        wt__cli_note(cli, "Note: %s", picked->notice);
    return code;
}

static int read_recipes(struct cli *cli, wt_pick_options *options)
{
    const char *names[] = {wt__text_of(cli, OPT_RECIPE), wt__text_of(cli, OPT_BASE_RETRIEVER)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && !wt__recipe_known(names[i], strlen(names[i]), NULL))
            return wt__recipe_unknown(cli, names[i], strlen(names[i]));
    options->recipe = names[0];
    options->base_retriever = names[1];
    options->ablate = wt__text_of(cli, OPT_ABLATE);
    return 0;
}

/* A language model may take its time, so it is shown, and Ctrl-C ends it with what was recorded so far kept. */
static int ask(struct cli *cli, wt_engine *engine, const struct buffer *request, const wt_pick_options *wanted,
               wt_picked **out, wt_error *err)
{
    wt_pick_options options = *wanted;
    struct progress_line line;
    wt__interrupt_watch();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_pick(engine, request->ptr, request->len, &options, out, err);
    wt__progress_clear();
    return rc;
}

int wt__cmd_pick(struct cli *cli)
{
    struct buffer request = {0};
    wt_engine *engine = NULL;
    wt_pick_options options;
    wt_pick_options_init(&options);
    int code = wt__read_share(cli, OPT_COMPLETE, "complete", &options.complete);
    if (code == 0)
        code = wt__read_share(cli, OPT_ABSTAIN, "abstain", &options.abstain);
    if (code == 0)
        code = read_recipes(cli, &options);
    if (wt__given(cli, OPT_ABSTAIN) && options.abstain == 0)
        options.abstain = -1;
    if (code == 0)
        code = wt__read_request(cli, &request);
    if (code == 0)
        code = wt__cli_open(cli, OPEN_EXISTING, NULL, &engine);
    if (code == 0) {
        options.provider = wt__text_of(cli, OPT_PROVIDER);
        options.explain = wt__given(cli, OPT_EXPLAIN);
        options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
        wt_picked *picked = NULL;
        wt_error err;
        int rc = ask(cli, engine, &request, &options, &picked, &err);
        if (rc >= 0) {
            code = print_picked(cli, picked, request.ptr);
            wt__note_training_due(cli, engine);
        } else {
            code = err.code == WT_EEMPTY ? wt__cli_empty(cli) : wt__cli_fail(cli, &err);
        }
        if (code == END_NOTHING && !picked && wt__given(cli, OPT_REPLAY))
            code = END_INPUT; /* a record that lacks the answer */
        wt_picked_free(picked);
    }
    wt_close(engine);
    wt__buffer_dispose(&request);
    return code;
}
