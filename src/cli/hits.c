#include "cli/hits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/output.h"
#include "cli/text.h"

static int read_request(struct cli *cli, struct buffer *request)
{
    const struct arguments *a = &cli->arguments;
    if (a->word_count == 0)
        return 0;
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

static int read_messages(struct cli *cli, struct asked *out)
{
    const char *path = wt__text_of(cli, OPT_MESSAGES);
    struct buffer text = {0};
    wt_error err;
    if (!path)
        return 0;
    if (strcmp(path, "-") != 0)
        return wt__file_read(&out->messages, &out->messages_len, path, WT_MAX_MESSAGES_BYTES, &err) < 0
                   ? wt__cli_fail_input(cli, &err)
                   : 0;
    int code = wt__cli_read_stdin(cli, WT_MAX_MESSAGES_BYTES, &text);
    out->messages_len = text.len;
    if (code == 0 && !(out->messages = wt__buffer_take(&text)))
        code = wt__cli_say(cli, END_SYSTEM, "out of memory");
    wt__buffer_dispose(&text);
    return code;
}

void wt__asked_dispose(struct asked *asked)
{
    wt__buffer_dispose(&asked->request);
    free(asked->messages);
}

int wt__asked_fail(struct cli *cli, wt_error *err)
{
    const char *path = wt__text_of(cli, OPT_MESSAGES);
    if (err->code == WT_EEMPTY)
        return wt__cli_empty(cli);
    if (path && err->code == WT_EFORMAT)
        wt__fail_context(err, WT_EFORMAT, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    return wt__cli_fail(cli, err);
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

int wt__read_asked(struct cli *cli, struct asked *out)
{
    const struct arguments *a = &cli->arguments;
    const char *path = wt__text_of(cli, OPT_MESSAGES);
    if (path && strcmp(path, "-") == 0 && a->word_count == 1 && strcmp(a->words[0], "-") == 0)
        return wt__cli_usage(cli, "REQUEST and --messages are both -, and there is one standard input");
    int code = read_request(cli, &out->request);
    if (code == 0)
        code = read_messages(cli, out);
    if (code == 0 && !wt__read_lines(cli, OPT_HAVE, &out->have, &out->have_count))
        code = wt__cli_say(cli, END_SYSTEM, "out of memory");
    return code;
}

int wt__read_filter(struct cli *cli, wt_filter *out)
{
    wt_filter_init(out);
    bool read = wt__read_lines(cli, OPT_PROVIDER, &out->providers, &out->provider_count) &&
                wt__read_lines(cli, OPT_EXCLUDE_PROVIDER, &out->excluded_providers, &out->excluded_provider_count) &&
                wt__read_lines(cli, OPT_ONLY, &out->only, &out->only_count) &&
                wt__read_lines(cli, OPT_EXCLUDE, &out->excluded, &out->excluded_count);
    return read ? 0 : wt__cli_say(cli, END_SYSTEM, "out of memory");
}

const char *wt__definition_format(const struct cli *cli)
{
    const char *format = wt__text_of(cli, OPT_FORMAT);
    return format && strcmp(format, "table") != 0 && strcmp(format, "json") != 0 ? format : NULL;
}

/* ---------------------------------------------------------------- as a table */

/* What a stage is called by people; other stages by their names. */
static const char *stage_words(const char *stage)
{
    static const struct {
        const char *stage, *words;
    } known[] = {{"bm25", "words (bm25)"},
                 {"dense", "meaning (dense)"},
                 {"neighbours", "past requests (neighbours)"},
                 {"hierarchy", "providers (hierarchy)"},
                 {"context", "the conversation (context)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].stage, stage) == 0)
            return known[i].words;
    return stage;
}

/* A line below a hit's row, broken where the terminal ends; the text is empty afterwards. */
static void put_reason(const struct cli *cli, struct buffer *out, struct buffer *text, size_t indent)
{
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(text), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= text->failed;
    wt__buffer_clear(text);
}

/* The reasons for a hit, indented below its row. */
static void explain(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    struct buffer text = {0};
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    for (size_t i = 0; i < hit->stage_count; i++) {
        const wt_stage_score *stage = hit->stages[i];
        wt__buffer_printf(&text, "%s: ", stage_words(stage->stage));
        if (stage->rank)
            wt__buffer_printf(&text, "rank %zu, score %.4g, ", stage->rank, stage->score);
        else
            wt__buffer_text(&text, "not among its best, ");
        if (stage->weight > 0)
            wt__buffer_printf(&text, "weight %.3g, ", stage->weight);
        wt__buffer_printf(&text, "adds %.4g", stage->share);
        put_reason(cli, out, &text, indent);
    }
    if (hit->match_count > 0) {
        wt__buffer_text(&text, "matched: ");
        for (size_t i = 0; i < hit->match_count; i++)
            wt__buffer_printf(&text, "%s%s (%s) %.3g", i ? ", " : "", hit->matches[i]->word, hit->matches[i]->fields,
                              hit->matches[i]->score);
        put_reason(cli, out, &text, indent);
    }
    wt__style_end(out, cli->color_out);
    wt__buffer_dispose(&text);
}

/* The copies that share a hit's place, below its row. */
static void tell_more(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "and %zu more like it", hit->more_count);
    for (size_t i = 0; i < hit->more_listed; i++) {
        wt__buffer_text(&text, i ? ", " : ": ");
        wt__text_cut(&text, wt__str(hit->more_like_it[i]), 0);
    }
    wt__buffer_text(&text, hit->more_count > hit->more_listed ? ", ..." : "");
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    put_reason(cli, out, &text, indent);
    wt__style_end(out, cli->color_out);
    wt__buffer_dispose(&text);
}

/* Rank, score and probability, with a sign behind them where the hit is weak; on a narrow terminal there is no room for
 * the score. */
static int write_lead(char *out, size_t size, const wt_hit *hit, size_t rank, int rank_width, bool narrow)
{
    char probability[16] = "     ";
    if (!isnan(hit->probability))
        snprintf(probability, sizeof probability, "%3.0f %%", 100 * hit->probability);
    char sign = hit->kept ? '+' : hit->weak ? '?' : ' ';
    if (narrow)
        return snprintf(out, size, "%*zu  %s%c ", rank_width, rank, probability, sign);
    return snprintf(out, size, "%*zu  %6.3f  %s%c ", rank_width, rank, hit->score, probability, sign);
}

static void print_table(const struct cli *cli, struct buffer *out, const struct search_result *found)
{
    size_t id_width = 0;
    for (size_t i = 0; i < found->len; i++)
        id_width = wt__id_width(cli, found->hits[i]->tool, id_width);
    for (size_t i = 0; i < found->len; i++) {
        char lead[64];
        int width = write_lead(lead, sizeof lead, found->hits[i], i + 1, found->len > 99 ? 4 : 2, wt__is_narrow(cli));
        struct row row = {lead, (size_t)width, found->hits[i]->tool};
        wt__tool_row(cli, out, &row, id_width);
        if (found->hits[i]->more_count > 0)
            tell_more(cli, out, found->hits[i], (size_t)width);
        if (wt__given(cli, OPT_EXPLAIN))
            explain(cli, out, found->hits[i], (size_t)width);
    }
    if (found->trace)
        wt__trace_words(cli, out, found->trace);
}

/* ---------------------------------------------------------------- in any form */

static void print_json(const struct cli *cli, struct buffer *out, const struct search_result *found)
{
    const struct found_form form = {.counted = wt__given(cli, OPT_MAX_TOKENS),
                                    .explained = wt__given(cli, OPT_EXPLAIN)};
    wt__json_found(out, found, &form);
    wt__buffer_char(out, '\n');
}

static int print_definitions(struct cli *cli, const struct search_result *found, const char *format)
{
    const wt_tool **tools = calloc(found->len + 1, sizeof *tools);
    if (!tools)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < found->len; i++)
        tools[i] = found->hits[i]->tool;
    int code = wt__print_export(cli, tools, found->len, format);
    free(tools);
    return code;
}

int wt__print_found(struct cli *cli, const struct search_result *found, bool *table)
{
    const char *format = wt__text_of(cli, OPT_FORMAT), *definitions = wt__definition_format(cli);
    struct buffer out = {0};
    *table = !definitions && !cli->json && !(format && strcmp(format, "json") == 0);
    int code = definitions ? print_definitions(cli, found, definitions) : 0;
    if (*table)
        print_table(cli, &out, found);
    else if (!definitions)
        print_json(cli, &out, found);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    return code ? code : found->len ? END_DONE : END_NOTHING;
}

enum { UNKNOWN_TOLD = 5 };

void wt__note_reading(const struct cli *cli, const struct search_result *found)
{
    struct buffer words = {0};
    size_t count = found->unknown_count;
    if (found->read_as)
        wt__cli_note(cli, "Read as: %s (--as-typed corrects nothing)", found->read_as);
    for (size_t i = 0; i < count && i < UNKNOWN_TOLD; i++)
        wt__buffer_printf(&words, "%s\"%s\"", i == 0 ? "" : i + 1 == count ? " and " : ", ", found->unknown_words[i]);
    if (count > 0 && !words.failed)
        wt__cli_note(cli, "No tool has the %s %s%s.", count == 1 ? "word" : "words", words.ptr,
                     count > UNKNOWN_TOLD ? " and others" : "");
    wt__buffer_dispose(&words);
}

void wt__note_kept(const struct cli *cli, const struct search_result *found, bool table)
{
    if (found->kept > 0 && table)
        wt__cli_note(cli, "+: the conversation called it, or --have says that it is loaded.");
}

void wt__note_training_due(struct cli *cli, wt_engine *engine)
{
    if (!cli->tty_err || cli->quiet || cli->json)
        return;
    long long due = (long long)wt_training_due(engine, NULL);
    if (due > 0)
        wt__cli_note(cli, "Note: %lld usages are recorded and not yet trained on: `whichtool train all`", due);
}
