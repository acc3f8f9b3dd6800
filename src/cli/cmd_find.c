/* cmd_find.c: `whichtool find` and `pick`: searches for tools, prints them, and explains the result in notes. */
#include "cli/cli.h"
#include "cli/replica.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void note_find_result(const struct cli *cli, const wt_hits *hits)
{
    if (hits->len == 0 && hits->over_budget == 0)
        wt__cli_note(cli, "No tool fits.");
    if (hits->len > 0)
        wt__cli_note(cli, "%zu %s in %.1f ms with the recipe %s (%.1f ms to encode the request, %.1f ms to search)",
                     hits->len, hits->len == 1 ? "tool" : "tools", hits->total_ms, hits->recipe, hits->encode_ms,
                     hits->search_ms);
    if (hits->why && wt__has_option(cli, OPT_EXPLAIN))
        wt__cli_note(cli, "The recipe %s was selected by training: %s.", hits->recipe, hits->why);
    if (*hits->encoder && wt__has_option(cli, OPT_EXPLAIN))
        wt__cli_note(cli,
                     hits->better ? "The request was encoded by %s; `whichtool model pull %s` gets a better encoder."
                                  : "The request was encoded by %s.",
                     hits->encoder, hits->better);
    if (!isnan(hits->multi_provider_probability) && wt__has_option(cli, OPT_EXPLAIN))
        wt__cli_note(cli, "Probability that the request needs tools of several providers: %.0f %%.",
                     100 * hits->multi_provider_probability);
}

static int print_hits(struct cli *cli, const wt_hits *hits, const struct search_input *input)
{
    const struct search_result found = wt__found_by_find(hits, input->request.ptr);
    bool table;
    int code = wt__print_found(cli, &found, &table);
    if (code != END_DONE && code != END_NOTHING)
        return code;
    if (table)
        note_find_result(cli, hits);
    wt__note_reading(cli, &found);
    wt__note_kept(cli, &found, table);
    wt__note_weak(cli, &found, table, "; --none-if-unsure leaves such tools out");
    if (hits->weak > 0)
        wt__cli_note(cli, "%zu weak %s left out.", hits->weak, hits->weak == 1 ? "match was" : "matches were");
    if (hits->copies > 0)
        wt__cli_note(cli, "%zu %s left out; --all-copies lists %s.", hits->copies,
                     hits->copies == 1 ? "copy of a tool above was" : "copies of tools above were",
                     hits->copies == 1 ? "it" : "them");
    if (hits->notice)
        wt__cli_note(cli, "Note: %s", hits->notice);
    return code;
}

int wt__cmd_find(struct cli *cli)
{
    const char *recipe = wt__option_text(cli, OPT_RECIPE);
    WT_CLEANUP(wt__search_input_dispose) struct search_input input = {0};
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    WT_CLEANUP(wt__replica_close) struct replica replica = {0};
    wt_find_options options;
    wt_filter filter;
    wt_hits *hits = NULL;
    wt_error err;
    bool needs_model = true;
    if (recipe && !wt__recipe_known(recipe, strlen(recipe), &needs_model))
        return wt__recipe_unknown(cli, recipe, strlen(recipe));
    wt_find_options_init(&options);
    WT_TRY(wt__read_share(cli, OPT_ABSTAIN, "abstain", &options.abstain));
    WT_TRY(wt__read_filter(cli, &filter));
    WT_TRY(wt__read_search_input(cli, &input));
    WT_TRY(wt__replica_open(cli, &replica));
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, needs_model ? NULL : "", &engine));
    if (needs_model)
        WT_TRY(wt__replica_check(cli, &replica, engine));
    options.k = (size_t)cli->arguments.number[OPT_K];
    options.recipe = recipe;
    options.filter = &filter;
    options.max_tokens = (size_t)cli->arguments.number[OPT_MAX_TOKENS];
    options.format = wt__definition_format(cli);
    options.max_per_provider = (size_t)cli->arguments.number[OPT_MAX_PER_PROVIDER];
    options.explain = wt__has_option(cli, OPT_EXPLAIN);
    options.copies = wt__has_option(cli, OPT_COPIES);
    options.as_typed = wt__has_option(cli, OPT_AS_TYPED);
    options.none_if_unsure = wt__has_option(cli, OPT_NONE_IF_UNSURE);
    options.messages = input.messages;
    options.messages_len = input.messages_len;
    options.have = input.have;
    options.have_count = input.have_count;
    options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
    if (wt_find(engine, input.request.ptr, input.request.len, &options, &hits, &err) < 0)
        return wt__fail_search(cli, &err);
    int code = print_hits(cli, hits, &input);
    wt__note_training_due(cli, engine);
    wt_hits_free(hits);
    return code;
}

static void note_no_pick(const struct cli *cli, const wt_picked *picked)
{
    if (picked->over_budget > 0)
        return;
    /* The probability may be low if the needs are unlikely, or if the request names an absent service. */
    if (picked->no_answer_probability > .5) /* false for NaN */
        wt__cli_note(cli, "No tool fits, with a probability of %.0f %%.", 100 * picked->no_answer_probability);
    else
        wt__cli_note(cli, "No tool fits.");
}

static void note_pick_result(const struct cli *cli, const wt_picked *picked)
{
    const char *tools = picked->len == 1 ? "tool" : "tools";
    if (picked->questions > 0)
        wt__cli_note(cli, "%zu %s, after %zu %s to the language model (%" PRIu64 " tokens) in %.1f s", picked->len,
                     tools, picked->questions, picked->questions == 1 ? "question" : "questions",
                     picked->prompt_tokens + picked->completion_tokens, picked->model_ms / 1000);
    else if (picked->len == 0)
        note_no_pick(cli, picked);
    else if (isnan(picked->complete))
        wt__cli_note(cli, "%zu %s in %.1f ms, chosen from the hits of the recipe %s", picked->len, tools,
                     picked->total_ms, picked->recipe);
    else if (isnan(picked->tracc)) /* the set was grown for --complete */
        wt__cli_note(
            cli, "%zu %s in %.1f ms, chosen from the hits of the recipe %s. Target: complete for %.0f %% of requests.",
            picked->len, tools, picked->total_ms, picked->recipe, 100 * picked->complete);
    else
        wt__cli_note(cli,
                     "%zu %s in %.1f ms, chosen from the hits of the recipe %s. Probability that the set is complete: "
                     "%.0f %%.",
                     picked->len, tools, picked->total_ms, picked->recipe, 100 * picked->complete);
    if (picked->len > 0 && picked->no_answer_probability > .5) /* false for NaN */
        wt__cli_note(cli, "Probably no tool fits (%.0f %%); these tools are the most likely ones.",
                     100 * picked->no_answer_probability);
}

static int print_picked(struct cli *cli, const wt_picked *picked, const struct search_input *input)
{
    const struct search_result found = wt__found_by_pick(picked, input->request.ptr);
    bool table;
    int code = wt__print_found(cli, &found, &table);
    if (code != END_DONE && code != END_NOTHING)
        return code;
    if (table)
        note_pick_result(cli, picked);
    wt__note_reading(cli, &found);
    wt__note_kept(cli, &found, table);
    wt__note_weak(cli, &found, table, "");
    if (picked->notice)
        wt__cli_note(cli, "Note: %s", picked->notice);
    return code;
}

static int read_pick_recipes(struct cli *cli, wt_pick_options *options)
{
    const char *names[] = {wt__option_text(cli, OPT_RECIPE), wt__option_text(cli, OPT_BASE_RETRIEVER)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && !wt__recipe_known(names[i], strlen(names[i]), NULL))
            return wt__recipe_unknown(cli, names[i], strlen(names[i]));
    options->recipe = names[0];
    options->base_retriever = names[1];
    return wt__read_experiment(cli, &options->experiment);
}

/* Picks with a progress line and Ctrl-C, since a language model may take long. Ctrl-C keeps the answers recorded so
 * far. */
static int run_pick(struct cli *cli, wt_engine *engine, const struct search_input *input, const wt_pick_options *wanted,
                    wt_picked **out, wt_error *err)
{
    wt_pick_options options = *wanted;
    struct progress_line line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_pick(engine, input->request.ptr, input->request.len, &options, out, err);
    wt__progress_clear();
    return rc;
}

int wt__cmd_pick(struct cli *cli)
{
    WT_CLEANUP(wt__search_input_dispose) struct search_input input = {0};
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_pick_options options;
    wt_filter filter;
    wt_picked *picked = NULL;
    wt_error err;
    wt_pick_options_init(&options);
    WT_TRY(wt__read_share(cli, OPT_COMPLETE, "complete", &options.complete));
    WT_TRY(wt__read_share(cli, OPT_ABSTAIN, "abstain", &options.abstain));
    if (wt__has_option(cli, OPT_ABSTAIN) && options.abstain == 0)
        options.abstain = WT_OFF;
    WT_TRY(read_pick_recipes(cli, &options));
    WT_TRY(wt__read_filter(cli, &filter));
    WT_TRY(wt__read_search_input(cli, &input));
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    options.filter = &filter;
    options.max_tokens = (size_t)cli->arguments.number[OPT_MAX_TOKENS];
    options.format = wt__definition_format(cli);
    options.explain = wt__has_option(cli, OPT_EXPLAIN);
    options.as_typed = wt__has_option(cli, OPT_AS_TYPED);
    options.messages = input.messages;
    options.messages_len = input.messages_len;
    options.have = input.have;
    options.have_count = input.have_count;
    options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
    if (run_pick(cli, engine, &input, &options, &picked, &err) < 0) {
        int code = wt__fail_search(cli, &err);
        if (err.code == WT_ERECIPE && options.complete > 0)
            wt__cli_note(cli, "To get a fixed number of tools, use `whichtool find -k N`; to fill a budget, use "
                              "`--max-tokens N`.");
        /* With --replay, this code means that the recording lacks the answer. */
        return code == END_NOTHING && wt__has_option(cli, OPT_REPLAY) ? END_INPUT : code;
    }
    int code = print_picked(cli, picked, &input);
    wt__note_training_due(cli, engine);
    wt_picked_free(picked);
    return code;
}
