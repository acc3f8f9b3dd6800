#include "cli/hits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/text.h"

int wt__read_request(struct cli *cli, struct buffer *request)
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

int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out)
{
    const char *text = wt__text_of(cli, id);
    char *end;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= 0 && *out < 1)
        return 0;
    return wt__cli_usage(cli, "--%s takes a number from 0 to below 1, not \"%s\"", name, text);
}

void wt__json_hit(struct buffer *out, const wt_hit *hit, size_t rank)
{
    wt__buffer_char(out, '{');
    wt__json_count(out, "rank", rank);
    wt__json_number(out, "score", hit->score);
    if (!isnan(hit->probability))
        wt__json_number(out, "probability", hit->probability);
    wt__json_tool(out, hit->tool);
    for (size_t i = 0; i < hit->stage_count; i++) {
        if (i == 0)
            wt__json_key(out, "stages");
        wt__buffer_text(out, i ? ",{" : "[{");
        wt__json_text(out, "stage", hit->stages[i]->stage);
        wt__json_count(out, "rank", hit->stages[i]->rank);
        wt__json_number(out, "score", hit->stages[i]->score);
        wt__json_number(out, "share", hit->stages[i]->share);
        wt__buffer_text(out, i + 1 < hit->stage_count ? "}" : "}]");
    }
    for (size_t i = 0; i < hit->match_count; i++) {
        if (i == 0)
            wt__json_key(out, "matches");
        wt__buffer_text(out, i ? ",{" : "[{");
        wt__json_text(out, "word", hit->matches[i]->word);
        wt__json_text(out, "fields", hit->matches[i]->fields);
        wt__json_number(out, "score", hit->matches[i]->score);
        wt__buffer_text(out, i + 1 < hit->match_count ? "}" : "}]");
    }
    wt__buffer_char(out, '}');
}

/* The reasons for a hit, indented below its row. */
static void explain(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    for (size_t i = 0; i < hit->stage_count; i++) {
        const wt_stage_score *stage = hit->stages[i];
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
            wt__buffer_printf(&words, "%s%s (%s) %.3g", i ? ", " : "", hit->matches[i]->word, hit->matches[i]->fields,
                              hit->matches[i]->score);
        wt__text_pad(out, indent);
        wt__text_wrap(out, wt__buffer_view(&words), indent, cli->width);
        wt__buffer_char(out, '\n');
        wt__buffer_dispose(&words);
    }
    wt__style_end(out, cli->color_out);
}

/* Rank, score and probability; on a narrow terminal there is no room for the score. */
static int write_lead(char *out, size_t size, const wt_hit *hit, size_t rank, int rank_width, bool narrow)
{
    char probability[16] = "     ";
    if (!isnan(hit->probability))
        snprintf(probability, sizeof probability, "%3.0f %%", 100 * hit->probability);
    if (narrow)
        return snprintf(out, size, "%*zu  %s  ", rank_width, rank, probability);
    return snprintf(out, size, "%*zu  %6.3f  %s  ", rank_width, rank, hit->score, probability);
}

void wt__hit_table(const struct cli *cli, struct buffer *out, const wt_hit *const *hits, size_t len)
{
    size_t id_width = 0;
    for (size_t i = 0; i < len; i++)
        id_width = wt__id_width(cli, hits[i]->tool, id_width);
    for (size_t i = 0; i < len; i++) {
        char lead[64];
        int width = write_lead(lead, sizeof lead, hits[i], i + 1, len > 99 ? 4 : 2, wt__is_narrow(cli));
        struct row row = {lead, (size_t)width, hits[i]->tool};
        wt__tool_row(cli, out, &row, id_width);
        if (wt__given(cli, OPT_EXPLAIN))
            explain(cli, out, hits[i], (size_t)width);
    }
}

int wt__hit_definitions(struct cli *cli, const wt_hit *const *hits, size_t len, const char *format)
{
    const wt_tool **tools = calloc(len + 1, sizeof *tools);
    if (!tools)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < len; i++)
        tools[i] = hits[i]->tool;
    int code = wt__print_export(cli, tools, len, format);
    free(tools);
    return code;
}

void wt__note_training_due(struct cli *cli, wt_engine *engine)
{
    if (!cli->tty_err || cli->quiet || cli->json)
        return;
    long long due = (long long)wt_training_due(engine, NULL);
    if (due > 0)
        wt__cli_note(cli, "Note: %lld usages are recorded and not yet trained on: whichtool train all", due);
}
