#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/hits.h"
#include "cli/output.h"
#include "cli/progress_line.h"

static void tell_none(const struct cli *cli, const wt_picked *picked)
{
    if (picked->over_budget > 0)
        return;
    if (isnan(picked->no_answer_probability))
        wt__cli_note(cli, "No tool fits.");
    else
        wt__cli_note(cli, "No tool fits: the chance that the catalogue has none for this is %.0f %%.",
                     100 * picked->no_answer_probability);
}

static void tell(const struct cli *cli, const wt_picked *picked)
{
    const char *tools = picked->len == 1 ? "tool" : "tools";
    if (picked->questions > 0)
        wt__cli_note(cli, "%zu %s, after %zu %s to the language model (%" PRIu64 " tokens), answered in %.1f s",
                     picked->len, tools, picked->questions, picked->questions == 1 ? "question" : "questions",
                     picked->prompt_tokens + picked->completion_tokens, picked->model_ms / 1000);
    else if (picked->len == 0)
        tell_none(cli, picked);
    else if (isnan(picked->complete))
        wt__cli_note(cli, "%zu %s in %.1f ms, chosen from what the recipe %s found", picked->len, tools,
                     picked->total_ms, picked->recipe);
    else if (isnan(picked->tracc)) /* of a set that grew as far as it took */
        wt__cli_note(
            cli,
            "%zu %s in %.1f ms, chosen from what the recipe %s found. Aimed at: nothing needed is missing, for "
            "%.0f %% of requests.",
            picked->len, tools, picked->total_ms, picked->recipe, 100 * picked->complete);
    else
        wt__cli_note(cli,
                     "%zu %s in %.1f ms, chosen from what the recipe %s found. Chance that nothing needed is missing: "
                     "%.0f %%.",
                     picked->len, tools, picked->total_ms, picked->recipe, 100 * picked->complete);
    if (picked->len > 0 && picked->no_answer_probability > .5) /* not NaN */
        wt__cli_note(cli, "Probably no tool fits (%.0f %%): shown is what would, if any does.",
                     100 * picked->no_answer_probability);
}

static int print_picked(struct cli *cli, const wt_picked *picked, const struct asked *asked)
{
    const struct search_result found = wt__found_by_pick(picked, asked->request.ptr);
    bool table;
    int code = wt__print_found(cli, &found, &table);
    if (code != END_DONE && code != END_NOTHING)
        return code;
    if (table)
        tell(cli, picked);
    wt__note_reading(cli, &found);
    wt__note_kept(cli, &found, table);
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
static int ask(struct cli *cli, wt_engine *engine, const struct asked *asked, const wt_pick_options *wanted,
               wt_picked **out, wt_error *err)
{
    wt_pick_options options = *wanted;
    struct progress_line line;
    wt__interrupt_watch();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_pick(engine, asked->request.ptr, asked->request.len, &options, out, err);
    wt__progress_clear();
    return rc;
}

int wt__cmd_pick(struct cli *cli)
{
    struct asked asked = {0};
    wt_engine *engine = NULL;
    wt_pick_options options;
    wt_filter filter;
    wt_pick_options_init(&options);
    int code = wt__read_share(cli, OPT_COMPLETE, "complete", &options.complete);
    if (code == 0)
        code = wt__read_share(cli, OPT_ABSTAIN, "abstain", &options.abstain);
    if (code == 0)
        code = read_recipes(cli, &options);
    if (wt__given(cli, OPT_ABSTAIN) && options.abstain == 0)
        options.abstain = -1;
    if (code == 0)
        code = wt__read_filter(cli, &filter);
    if (code == 0)
        code = wt__read_asked(cli, &asked);
    if (code == 0)
        code = wt__cli_open(cli, OPEN_EXISTING, NULL, &engine);
    if (code == 0) {
        options.filter = &filter;
        options.max_tokens = (size_t)cli->arguments.number[OPT_MAX_TOKENS];
        options.format = wt__definition_format(cli);
        options.explain = wt__given(cli, OPT_EXPLAIN);
        options.as_typed = wt__given(cli, OPT_AS_TYPED);
        options.messages = asked.messages;
        options.messages_len = asked.messages_len;
        options.have = asked.have;
        options.have_count = asked.have_count;
        options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
        wt_picked *picked = NULL;
        wt_error err;
        int rc = ask(cli, engine, &asked, &options, &picked, &err);
        if (rc >= 0) {
            code = print_picked(cli, picked, &asked);
            wt__note_training_due(cli, engine);
        } else {
            code = wt__asked_fail(cli, &err);
            if (err.code == WT_ERECIPE && options.complete > 0)
                wt__cli_note(cli, "The first hits: `whichtool find -k N`; what fits a budget: `--max-tokens N`.");
        }
        if (code == END_NOTHING && !picked && wt__given(cli, OPT_REPLAY))
            code = END_INPUT; /* a record that lacks the answer */
        wt_picked_free(picked);
    }
    wt_close(engine);
    wt__asked_dispose(&asked);
    return code;
}
