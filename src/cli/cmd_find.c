#include <math.h>

#include "cli/hits.h"
#include "cli/output.h"

static void print_json_lines(struct buffer *out, const wt_hits *hits)
{
    for (size_t i = 0; i < hits->len; i++) {
        wt__json_hit(out, hits->items[i], i + 1);
        wt__buffer_char(out, '\n');
    }
}

static void print_json_object(struct buffer *out, const wt_hits *hits, const char *request)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "request", request);
    wt__json_text(out, "recipe", hits->recipe);
    if (hits->notice)
        wt__json_text(out, "notice", hits->notice);
    if (hits->why)
        wt__json_text(out, "why", hits->why);
    if (!isnan(hits->multi_provider_probability))
        wt__json_number(out, "multi_provider_probability", hits->multi_provider_probability);
    if (!isnan(hits->no_answer_probability))
        wt__json_number(out, "no_answer_probability", hits->no_answer_probability);
    if (hits->copies > 0)
        wt__json_count(out, "copies", hits->copies);
    wt__json_number(out, "encode_ms", hits->encode_ms);
    wt__json_number(out, "search_ms", hits->search_ms);
    wt__json_number(out, "total_ms", hits->total_ms);
    wt__json_key(out, "hits");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < hits->len; i++) {
        wt__buffer_text(out, i ? ",\n" : "\n");
        wt__json_hit(out, hits->items[i], i + 1);
    }
    wt__buffer_text(out, "]}\n");
}

static int print_hits(struct cli *cli, const wt_hits *hits, const char *request)
{
    const char *format = wt__text_of(cli, OPT_FORMAT);
    struct buffer out = {0};
    int code = hits->len ? END_DONE : END_NOTHING;
    bool table = !format || strcmp(format, "table") == 0, json = format && strcmp(format, "json") == 0;
    if (!table && !json) {
        int printed = wt__hit_definitions(cli, hits->items, hits->len, format);
        code = printed ? printed : code;
    } else if (cli->json) {
        print_json_lines(&out, hits);
    } else if (json) {
        print_json_object(&out, hits, request);
    } else {
        wt__hit_table(cli, &out, hits->items, hits->len);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (hits->len == 0)
        wt__cli_note(cli, "Nothing in the catalogue fits.");
    else if (table && !cli->json)
        wt__cli_note(cli, "%zu %s in %.1f ms by %s (encoding %.1f, searching %.1f)", hits->len,
                     hits->len == 1 ? "tool" : "tools", hits->total_ms, hits->recipe, hits->encode_ms, hits->search_ms);
    if (hits->why && wt__given(cli, OPT_EXPLAIN) && table && !cli->json)
        wt__cli_note(cli, "%s was chosen by training: %s.", hits->recipe, hits->why);
    if (!isnan(hits->multi_provider_probability) && wt__given(cli, OPT_EXPLAIN) && table && !cli->json)
        wt__cli_note(cli, "the request needs tools of several providers with a probability of %.0f %%.",
                     100 * hits->multi_provider_probability);
    if (hits->copies > 0)
        wt__cli_note(cli, "%zu near-%s left out; --copies shows %s.", hits->copies,
                     hits->copies == 1 ? "copy of an older tool is" : "copies of older tools are",
                     hits->copies == 1 ? "it" : "them");
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
    struct buffer request = {0};
    wt_engine *engine = NULL;
    double abstain = 0;
    int code = wt__read_share(cli, OPT_ABSTAIN, "abstain", &abstain);
    if (code == 0)
        code = wt__read_request(cli, &request);
    if (code == 0)
        code = wt__cli_open(cli, OPEN_EXISTING, needs_model ? NULL : "", &engine);
    if (code == 0) {
        wt_find_options options;
        wt_find_options_init(&options);
        options.k = (size_t)cli->arguments.number[OPT_K];
        options.recipe = recipe;
        options.provider = wt__text_of(cli, OPT_PROVIDER);
        options.max_per_provider = (size_t)cli->arguments.number[OPT_MAX_PER_PROVIDER];
        options.explain = wt__given(cli, OPT_EXPLAIN);
        options.abstain = abstain;
        options.copies = wt__given(cli, OPT_COPIES);
        options.time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
        wt_hits *hits = NULL;
        wt_error err;
        int rc = wt_find(engine, request.ptr, request.len, &options, &hits, &err);
        if (rc >= 0) {
            code = print_hits(cli, hits, request.ptr);
            wt__note_training_due(cli, engine);
        } else {
            code = err.code == WT_EEMPTY ? wt__cli_empty(cli) : wt__cli_fail(cli, &err);
        }
        wt_hits_free(hits);
    }
    wt_close(engine);
    wt__buffer_dispose(&request);
    return code;
}
