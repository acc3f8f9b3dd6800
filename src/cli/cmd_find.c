#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text.h"

/* The words joined, or stdin for "-". 0, or an exit code. */
static int read_request(struct cli *cli, struct buffer *request)
{
    const struct arguments *a = &cli->arguments;
    if (a->word_count == 1 && strcmp(a->words[0], "-") == 0) {
        int rc = wt__cli_read_stdin(cli, WT_MAX_REQUEST_BYTES, request);
        if (rc != 0)
            return rc;
    } else {
        for (size_t i = 0; i < a->word_count; i++) {
            wt__buffer_text(request, i ? " " : "");
            wt__buffer_text(request, a->words[i]);
        }
    }
    if (request->failed)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    if (wt__str_trim(wt__buffer_view(request)).len == 0)
        return wt__cli_usage(cli, "the request is empty");
    return 0;
}

static void json_hit(struct buffer *out, const wt_hit *hit, size_t rank)
{
    wt__buffer_char(out, '{');
    wt__json_count(out, "rank", rank);
    wt__json_number(out, "score", hit->score);
    wt__json_tool(out, &hit->tool);
    for (size_t i = 0; i < hit->stage_count; i++) {
        if (i == 0)
            wt__json_key(out, "stages");
        wt__buffer_text(out, i ? ",{" : "[{");
        wt__json_text(out, "stage", hit->stages[i].stage);
        wt__json_count(out, "rank", hit->stages[i].rank);
        wt__json_number(out, "score", hit->stages[i].score);
        wt__json_number(out, "share", hit->stages[i].share);
        wt__buffer_text(out, i + 1 < hit->stage_count ? "}" : "}]");
    }
    for (size_t i = 0; i < hit->match_count; i++) {
        if (i == 0)
            wt__json_key(out, "matches");
        wt__buffer_text(out, i ? ",{" : "[{");
        wt__json_text(out, "word", hit->matches[i].word);
        wt__json_text(out, "fields", hit->matches[i].fields);
        wt__json_number(out, "score", hit->matches[i].score);
        wt__buffer_text(out, i + 1 < hit->match_count ? "}" : "}]");
    }
    wt__buffer_char(out, '}');
}

static void print_json_lines(struct buffer *out, const wt_hits *hits)
{
    for (size_t i = 0; i < hits->len; i++) {
        json_hit(out, &hits->items[i], i + 1);
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
    if (!isnan(hits->several))
        wt__json_number(out, "several", hits->several);
    wt__json_number(out, "encode_ms", hits->encode_ms);
    wt__json_number(out, "search_ms", hits->search_ms);
    wt__json_number(out, "total_ms", hits->total_ms);
    wt__json_key(out, "hits");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < hits->len; i++) {
        wt__buffer_text(out, i ? ",\n" : "\n");
        json_hit(out, &hits->items[i], i + 1);
    }
    wt__buffer_text(out, "]}\n");
}

/* The reasons for a hit, indented below its row. */
static void explain(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    for (size_t i = 0; i < hit->stage_count; i++) {
        const wt_stage_score *stage = &hit->stages[i];
        wt__text_pad(out, indent);
        wt__buffer_printf(out, "%s: ", stage->stage);
        if (stage->rank)
            wt__buffer_printf(out, "rank %zu, score %.4g, adds %.4g\n", stage->rank, stage->score, stage->share);
        else
            wt__buffer_printf(out, "not among its candidates, adds %.4g\n", stage->share);
    }
    if (hit->match_count > 0) {
        struct buffer words = {0};
        wt__buffer_text(&words, "words: ");
        for (size_t i = 0; i < hit->match_count; i++)
            wt__buffer_printf(&words, "%s%s (%s) %.3g", i ? ", " : "", hit->matches[i].word, hit->matches[i].fields,
                              hit->matches[i].score);
        wt__text_pad(out, indent);
        wt__text_wrap(out, wt__buffer_view(&words), indent, cli->width);
        wt__buffer_char(out, '\n');
        wt__buffer_dispose(&words);
    }
    wt__style_end(out, cli->color_out);
}

static void print_table(const struct cli *cli, struct buffer *out, const wt_hits *hits)
{
    size_t id_width = 0;
    for (size_t i = 0; i < hits->len; i++)
        id_width = wt__id_width(cli, &hits->items[i].tool, id_width);
    for (size_t i = 0; i < hits->len; i++) {
        char lead[64];
        int width = snprintf(lead, sizeof lead, "%*zu  %6.3f  ", hits->len > 99 ? 4 : 2, i + 1, hits->items[i].score);
        struct row row = {lead, (size_t)width, &hits->items[i].tool};
        wt__tool_row(cli, out, &row, id_width);
        if (wt__given(cli, OPT_EXPLAIN))
            explain(cli, out, &hits->items[i], (size_t)width);
    }
}

static int print_definitions(struct cli *cli, const wt_hits *hits, const char *format)
{
    const wt_tool **tools = calloc(hits->len + 1, sizeof *tools);
    if (!tools)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < hits->len; i++)
        tools[i] = &hits->items[i].tool;
    int code = wt__print_export(cli, tools, hits->len, format);
    free(tools);
    return code;
}

static int print_hits(struct cli *cli, const wt_hits *hits, const char *request)
{
    const char *format = wt__text_of(cli, OPT_FORMAT);
    struct buffer out = {0};
    int code = hits->len ? END_DONE : END_NOTHING;
    bool table = !format || strcmp(format, "table") == 0, json = format && strcmp(format, "json") == 0;
    if (!table && !json) {
        int printed = print_definitions(cli, hits, format);
        code = printed ? printed : code;
    } else if (cli->json) {
        print_json_lines(&out, hits);
    } else if (json) {
        print_json_object(&out, hits, request);
    } else {
        print_table(cli, &out, hits);
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
    if (!isnan(hits->several) && wt__given(cli, OPT_EXPLAIN) && table && !cli->json)
        wt__cli_note(cli, "the request needs tools of several providers with a probability of %.0f %%.",
                     100 * hits->several);
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
    int code = read_request(cli, &request);
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
        wt_hits *hits = NULL;
        wt_error err;
        int rc = wt_find(engine, request.ptr, request.len, &options, &hits, &err);
        if (rc >= 0)
            code = print_hits(cli, hits, request.ptr);
        else
            code = err.code == WT_EEMPTY ? wt__cli_empty(cli) : wt__cli_fail(cli, &err);
        wt_hits_free(hits);
    }
    wt_close(engine);
    wt__buffer_dispose(&request);
    return code;
}
