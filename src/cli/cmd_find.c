#include <math.h>

#include "cli/hits.h"
#include "cli/output.h"

static void tell(const struct cli *cli, const wt_hits *hits)
{
    if (hits->len == 0 && hits->over_budget == 0)
        wt__cli_note(cli, "Nothing in the catalogue fits.");
    if (hits->len > 0)
        wt__cli_note(cli, "%zu %s in %.1f ms by the recipe %s (%.1f ms to read the request, %.1f to search)", hits->len,
                     hits->len == 1 ? "tool" : "tools", hits->total_ms, hits->recipe, hits->encode_ms, hits->search_ms);
    if (hits->why && wt__given(cli, OPT_EXPLAIN))
        wt__cli_note(cli, "The recipe %s was chosen by training: %s.", hits->recipe, hits->why);
    if (*hits->encoder && wt__given(cli, OPT_EXPLAIN))
        wt__cli_note(cli,
                     hits->better ? "The encoder %s read the request; `whichtool model pull %s` gets a better one."
                                  : "The encoder %s read the request.",
                     hits->encoder, hits->better);
    if (!isnan(hits->multi_provider_probability) && wt__given(cli, OPT_EXPLAIN))
        wt__cli_note(cli, "Chance that the request needs tools of several providers: %.0f %%.",
                     100 * hits->multi_provider_probability);
}

/* Which hits are weak, where no sign could say it beside them, and how many were left out. */
static void tell_weak(struct cli *cli, const wt_hits *hits, bool table)
{
    struct buffer weak = {0};
    for (size_t i = 0; i < hits->len; i++)
        if (hits->items[i]->weak && !hits->items[i]->kept)
            wt__buffer_printf(&weak, "%s%s", weak.len > 0 ? ", " : "", hits->items[i]->tool->id);
    if (weak.len > 0 && table)
        wt__cli_note(cli, "?: no more than a common word speaks for it; --none-if-unsure leaves it out.");
    else if (weak.len > 0 && !weak.failed && wt__definition_format(cli))
        wt__cli_note(cli, "No more than a common word speaks for %s; --none-if-unsure leaves out such tools.",
                     weak.ptr);
    if (hits->weak > 0)
        wt__cli_note(cli, "%zu %s left out, for which no more than a common word speaks.", hits->weak,
                     hits->weak == 1 ? "tool is" : "tools are");
    wt__buffer_dispose(&weak);
}

static int print_hits(struct cli *cli, const wt_hits *hits, const struct asked *asked)
{
    const struct search_result found = wt__found_by_find(hits, asked->request.ptr);
    bool table;
    int code = wt__print_found(cli, &found, &table);
    if (code != END_DONE && code != END_NOTHING)
        return code;
    if (table)
        tell(cli, hits);
    wt__note_reading(cli, &found);
    wt__note_kept(cli, &found, table);
    tell_weak(cli, hits, table);
    if (hits->copies > 0)
        wt__cli_note(cli, "%zu %s left out; --all-copies gives %s.", hits->copies,
                     hits->copies == 1 ? "copy of a tool above is" : "copies of tools above are",
                     hits->copies == 1 ? "it a place" : "each a place");
    if (hits->notice)
        wt__cli_note(cli, "Note: %s", hits->notice);
    return code;
}

int wt__cmd_find(struct cli *cli)
{
    const char *recipe = wt__text_of(cli, OPT_RECIPE);
    bool needs_model = true;
    if (recipe && !wt__recipe_known(recipe, strlen(recipe), &needs_model))
        return wt__recipe_unknown(cli, recipe, strlen(recipe));
    struct asked asked = {0};
    wt_engine *engine = NULL;
    wt_filter filter;
    double abstain = 0;
    int code = wt__read_share(cli, OPT_ABSTAIN, "abstain", &abstain);
    if (code == 0)
        code = wt__read_filter(cli, &filter);
    if (code == 0)
        code = wt__read_asked(cli, &asked);
    if (code == 0)
        code = wt__cli_open(cli, OPEN_EXISTING, needs_model ? NULL : "", &engine);
    if (code == 0) {
        wt_find_options options;
        wt_find_options_init(&options);
        options.k = (size_t)cli->arguments.number[OPT_K];
        options.recipe = recipe;
        options.filter = &filter;
        options.max_tokens = (size_t)cli->arguments.number[OPT_MAX_TOKENS];
        options.format = wt__definition_format(cli);
        options.max_per_provider = (size_t)cli->arguments.number[OPT_MAX_PER_PROVIDER];
        options.explain = wt__given(cli, OPT_EXPLAIN);
        options.abstain = abstain;
        options.copies = wt__given(cli, OPT_COPIES);
        options.as_typed = wt__given(cli, OPT_AS_TYPED);
        options.none_if_unsure = wt__given(cli, OPT_NONE_IF_UNSURE);
        options.messages = asked.messages;
        options.messages_len = asked.messages_len;
        options.have = asked.have;
        options.have_count = asked.have_count;
        options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
        wt_hits *hits = NULL;
        wt_error err;
        int rc = wt_find(engine, asked.request.ptr, asked.request.len, &options, &hits, &err);
        if (rc >= 0) {
            code = print_hits(cli, hits, &asked);
            wt__note_training_due(cli, engine);
        } else {
            code = wt__asked_fail(cli, &err);
        }
        wt_hits_free(hits);
    }
    wt_close(engine);
    wt__asked_dispose(&asked);
    return code;
}
