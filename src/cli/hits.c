/* hits.c: reads the request and its filter, and prints hits. Shared by find, pick and call. */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

/* ---------------------------------------------------------------- request */

static int read_request_words(struct cli *cli, struct buffer *request)
{
    const struct arguments *a = &cli->arguments;
    if (a->word_count == 0)
        return 0;
    if (a->word_count == 1 && strcmp(a->words[0], "-") == 0) {
        WT_TRY(wt__cli_read_stdin(cli, WT_MAX_REQUEST_BYTES, request));
    } else {
        for (size_t i = 0; i < a->word_count; i++) {
            wt__buffer_text(request, i ? " " : "");
            wt__buffer_text(request, a->words[i]);
        }
    }
    if (request->failed)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    if (wt__str_trim(wt__buffer_view(request)).len == 0)
        return wt__cli_usage(cli, "the request is empty; describe what you need in words");
    return 0;
}

static int read_messages_option(struct cli *cli, struct search_input *out)
{
    const char *path = wt__option_text(cli, OPT_MESSAGES);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_error err;
    if (!path)
        return 0;
    if (strcmp(path, "-") != 0)
        return wt__file_read(&out->messages, &out->messages_len, path, WT_MAX_MESSAGES_BYTES, &err) < 0
                   ? wt__cli_fail_input(cli, &err)
                   : 0;
    WT_TRY(wt__cli_read_stdin(cli, WT_MAX_MESSAGES_BYTES, &text));
    out->messages_len = text.len;
    out->messages = wt__buffer_take(&text);
    return out->messages ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

void wt__search_input_dispose(struct search_input *input)
{
    wt__buffer_dispose(&input->request);
    free(input->messages);
}

int wt__fail_search(struct cli *cli, wt_error *err)
{
    const char *path = wt__option_text(cli, OPT_MESSAGES);
    if (err->code == WT_EEMPTY)
        return wt__cli_fail_empty(cli);
    if (path && err->code == WT_EFORMAT)
        wt__fail_context(err, WT_EFORMAT, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    return wt__cli_fail(cli, err);
}

int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out)
{
    const char *text = wt__option_text(cli, id);
    char *end;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= 0 && *out < 1)
        return 0;
    return wt__cli_usage(cli, "--%s takes a number from 0 to below 1, not \"%s\"", name, text);
}

int wt__read_search_input(struct cli *cli, struct search_input *out)
{
    const struct arguments *a = &cli->arguments;
    const char *path = wt__option_text(cli, OPT_MESSAGES);
    if (path && strcmp(path, "-") == 0 && a->word_count == 1 && strcmp(a->words[0], "-") == 0)
        return wt__cli_usage(cli, "only one of REQUEST and --messages can be -, standard input");
    WT_TRY(read_request_words(cli, &out->request));
    WT_TRY(read_messages_option(cli, out));
    return wt__option_lines(cli, OPT_HAVE, &out->have, &out->have_count)
               ? 0
               : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

int wt__read_filter(struct cli *cli, wt_filter *out)
{
    wt_filter_init(out);
    bool read = wt__option_lines(cli, OPT_PROVIDER, &out->providers, &out->provider_count) &&
                wt__option_lines(cli, OPT_EXCLUDE_PROVIDER, &out->excluded_providers, &out->excluded_provider_count) &&
                wt__option_lines(cli, OPT_ONLY, &out->only, &out->only_count) &&
                wt__option_lines(cli, OPT_EXCLUDE, &out->excluded, &out->excluded_count);
    return read ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

const char *wt__definition_format(const struct cli *cli)
{
    const char *format = wt__option_text(cli, OPT_FORMAT);
    return format && strcmp(format, "table") != 0 && strcmp(format, "json") != 0 ? format : NULL;
}

/* ---------------------------------------------------------------- trace of PTR */

enum { INDENT = 2 };

static void write_trace_line(const struct cli *cli, struct buffer *out, size_t indent, struct buffer *text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__buffer_view(text), TEXT_LINE);
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(&escaped), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= text->failed || escaped.failed;
    wt__buffer_clear(text);
}

static void put_tool_names(struct buffer *text, const char *name, const json_t *tools)
{
    wt__buffer_printf(text, "%s: ", name);
    for (size_t i = 0; i < json_array_size(tools); i++) {
        wt__buffer_text(text, i ? ", " : "");
        wt__buffer_text(text, json_string_value(json_array_get(tools, i)));
    }
    if (json_array_size(tools) == 0)
        wt__buffer_text(text, "nothing");
}

static const char *trace_tool(const json_t *of)
{
    return json_string_value(json_object_get(of, "tool")); /* NULL if absent */
}

static void write_requirement(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    wt__buffer_printf(text, "requires \"%s\": ", wt__json_str(of, "text").ptr);
    const json_t *tools = json_object_get(of, "tools");
    if (json_array_size(tools) > 0)
        put_tool_names(text, "met by", tools);
    else
        wt__buffer_text(text,
                        wt__json_bool(of, "asked", false) ? "no tool of past use meets it" : "there is no past use");
    write_trace_line(cli, out, INDENT, text);
}

static void write_problem(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    static const struct {
        const char *name, *words;
    } views[] = {{"dsa", "near these words"},
                 {"hqc", "used for similar requests"},
                 {"cte", "similar to the first tool near these words"}};
    int votes = (int)wt__json_int(of, "votes", 0);
    wt__buffer_printf(text, "unsolved \"%s\": ", wt__json_str(of, "text").ptr);
    if (!trace_tool(of))
        wt__buffer_text(text, "nothing was found");
    else
        wt__buffer_printf(text, "%s, which %d of the lists %s%s", trace_tool(of), votes, votes == 1 ? "holds" : "hold",
                          wt__json_bool(of, "already", false) ? "; already in the set" : "");
    write_trace_line(cli, out, INDENT, text);
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        put_tool_names(text, views[v].words, json_object_get(of, views[v].name));
        write_trace_line(cli, out, 2 * INDENT, text);
    }
}

typedef void (*member_writer)(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text);

static void write_each(const struct cli *cli, struct buffer *out, const json_t *items, member_writer write,
                       struct buffer *text)
{
    for (size_t i = 0; i < json_array_size(items); i++)
        write(cli, out, json_array_get(items, i), text);
}

static void write_failed_exchange(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    if (wt__json_str(of, "unusable").len == 0)
        return;
    wt__buffer_printf(text, "%s gave no usable answer: %s", wt__json_str(of, "task").ptr,
                      wt__json_str(of, "unusable").ptr);
    write_trace_line(cli, out, INDENT, text);
}

static const char *verdict_text(struct str verdict)
{
    return wt__str_equal(verdict, STR("exact"))  ? "this set meets all requirements"
           : wt__str_equal(verdict, STR("over")) ? "this set contains unneeded tools"
                                                 : "this set does not meet all requirements";
}

/* Appends PTR's trace (wt_picked.trace) as text, without the questions to the language model. The requirements are
 * escaped, because a language model wrote them. */
static void put_ptr_trace(const struct cli *cli, struct buffer *out, const char *trace)
{
    json_t *root = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (wt__json_parse(&root, trace, strlen(trace), NULL) < 0) {
        out->failed = true;
        return;
    }
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    put_tool_names(&text, "nearest set of past use", json_object_get(root, "bundle"));
    write_trace_line(cli, out, 0, &text);
    write_each(cli, out, json_object_get(root, "requirements"), write_requirement, &text);
    wt__buffer_printf(&text, "%s; ", verdict_text(wt__json_str(root, "verdict")));
    put_tool_names(&text, "kept", json_object_get(root, "kept"));
    write_trace_line(cli, out, 0, &text);
    write_each(cli, out, json_object_get(root, "problems"), write_problem, &text);
    write_each(cli, out, json_object_get(root, "exchanges"), write_failed_exchange, &text);
    wt__style_end(out, cli->color_out);
    json_decref(root);
}

/* ---------------------------------------------------------------- table */

/* Returns the display name of a stage, or `stage` itself if the table has no display name. */
static const char *stage_title(const char *stage)
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

/* Prints a wrapped line below a hit's row, and empties the text. */
static void put_hit_line(const struct cli *cli, struct buffer *out, struct buffer *text, size_t indent)
{
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(text), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= text->failed;
    wt__buffer_clear(text);
}

/* Prints the evidence for a hit, indented below its row. */
static void explain_hit(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    for (size_t i = 0; i < hit->stage_count; i++) {
        const wt_stage_score *stage = hit->stages[i];
        wt__buffer_printf(&text, "%s: ", stage_title(stage->stage));
        if (stage->rank)
            wt__buffer_printf(&text, "rank %zu, score %.4g, ", stage->rank, stage->score);
        else
            wt__buffer_text(&text, "not among its best hits, ");
        if (stage->weight > 0)
            wt__buffer_printf(&text, "weight %.3g, ", stage->weight);
        wt__buffer_printf(&text, "adds %.4g", stage->share);
        put_hit_line(cli, out, &text, indent);
    }
    if (hit->match_count > 0) {
        wt__buffer_text(&text, "matched: ");
        for (size_t i = 0; i < hit->match_count; i++)
            wt__buffer_printf(&text, "%s%s (%s) %.3g", i ? ", " : "", hit->matches[i]->word, hit->matches[i]->fields,
                              hit->matches[i]->score);
        put_hit_line(cli, out, &text, indent);
    }
    if (hit->feature_count > 0) {
        wt__buffer_text(&text, "features: ");
        for (size_t i = 0; i < hit->feature_count; i++)
            wt__buffer_printf(&text, "%s%s %.3g (%+.2g)", i ? ", " : "", hit->features[i]->feature,
                              hit->features[i]->value, hit->features[i]->share);
        put_hit_line(cli, out, &text, indent);
    }
    wt__style_end(out, cli->color_out);
}

/* Prints the copies that share a hit's place, below its row. */
static void put_hit_copies(const struct cli *cli, struct buffer *out, const wt_hit *hit, size_t indent)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_printf(&text, "and %zu more like it", hit->more_count);
    for (size_t i = 0; i < hit->more_listed; i++) {
        wt__buffer_text(&text, i ? ", " : ": ");
        wt__text_cut(&text, wt__str(hit->more_like_it[i]), 0);
    }
    wt__buffer_text(&text, hit->more_count > hit->more_listed ? ", ..." : "");
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    put_hit_line(cli, out, &text, indent);
    wt__style_end(out, cli->color_out);
}

/* Formats rank, score, probability and sign: + for kept, ? for weak. A narrow terminal has no room for the score. */
static int format_lead(char *out, size_t size, const wt_hit *hit, size_t rank, int rank_width, bool narrow)
{
    char probability[16] = "     ";
    if (!isnan(hit->probability))
        snprintf(probability, sizeof probability, "%3.0f %%", 100 * hit->probability);
    char sign = hit->kept ? '+' : hit->weak ? '?' : ' ';
    if (narrow)
        return snprintf(out, size, "%*zu  %s%c ", rank_width, rank, probability, sign);
    return snprintf(out, size, "%*zu  %6.3f  %s%c ", rank_width, rank, hit->score, probability, sign);
}

static void print_hit_table(const struct cli *cli, struct buffer *out, const struct search_result *found)
{
    size_t id_width = 0;
    for (size_t i = 0; i < found->len; i++)
        id_width = wt__id_width(cli, found->hits[i]->tool, id_width);
    for (size_t i = 0; i < found->len; i++) {
        char lead[64];
        int width = format_lead(lead, sizeof lead, found->hits[i], i + 1, found->len > 99 ? 4 : 2, wt__is_narrow(cli));
        struct list_row row = {lead, (size_t)width, found->hits[i]->tool};
        wt__put_tool_row(cli, out, &row, id_width);
        if (found->hits[i]->more_count > 0)
            put_hit_copies(cli, out, found->hits[i], (size_t)width);
        if (wt__has_option(cli, OPT_EXPLAIN))
            explain_hit(cli, out, found->hits[i], (size_t)width);
    }
    if (found->trace)
        put_ptr_trace(cli, out, found->trace);
}

/* ---------------------------------------------------------------- all formats */

static void print_found_json(const struct cli *cli, struct buffer *out, const struct search_result *found)
{
    const struct found_form form = {.counted = wt__has_option(cli, OPT_MAX_TOKENS),
                                    .explained = wt__has_option(cli, OPT_EXPLAIN)};
    wt__json_found(out, found, &form);
    wt__buffer_char(out, '\n');
}

static int print_hit_definitions(struct cli *cli, const struct search_result *found, const char *format)
{
    const wt_tool **tools = calloc(found->len + 1, sizeof *tools);
    if (!tools)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < found->len; i++)
        tools[i] = found->hits[i]->tool;
    int code = wt__print_export(cli, tools, found->len, format);
    free(tools);
    return code;
}

int wt__print_found(struct cli *cli, const struct search_result *found, bool *table)
{
    const char *format = wt__option_text(cli, OPT_FORMAT), *definitions = wt__definition_format(cli);
    struct buffer out = {0};
    *table = !definitions && !cli->json && !(format && strcmp(format, "json") == 0);
    int code = definitions ? print_hit_definitions(cli, found, definitions) : 0;
    if (*table)
        print_hit_table(cli, &out, found);
    else if (!definitions)
        print_found_json(cli, &out, found);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    return code ? code : found->len ? END_DONE : END_NOTHING;
}

enum { UNKNOWN_TOLD = 5 /* maximum unknown words that a note names */ };

void wt__note_reading(const struct cli *cli, const struct search_result *found)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    size_t count = found->unknown_count;
    if (found->read_as)
        wt__cli_note(cli, "Read as: %s (disable corrections with --as-typed)", found->read_as);
    for (size_t i = 0; i < count && i < UNKNOWN_TOLD; i++)
        wt__buffer_printf(&words, "%s\"%s\"", i == 0 ? "" : i + 1 == count ? " and " : ", ", found->unknown_words[i]);
    if (count > 0 && !words.failed)
        wt__cli_note(cli, "No tool contains the %s %s%s.", count == 1 ? "word" : "words", words.ptr,
                     count > UNKNOWN_TOLD ? " and others" : "");
}

void wt__note_kept(const struct cli *cli, const struct search_result *found, bool table)
{
    if (found->kept > 0 && table)
        wt__cli_note(cli, "+: called in the conversation, or named by --have.");
}

void wt__note_weak(const struct cli *cli, const struct search_result *found, bool table, const char *advice)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer weak = {0};
    for (size_t i = 0; i < found->len; i++)
        if (found->hits[i]->weak && !found->hits[i]->kept)
            wt__buffer_printf(&weak, "%s%s", weak.len > 0 ? ", " : "", found->hits[i]->tool->id);
    if (weak.len > 0 && table)
        wt__cli_note(cli, "?: weak match, hardly any evidence for it%s.", advice);
    else if (weak.len > 0 && !weak.failed && wt__definition_format(cli))
        wt__cli_note(cli, "Weak matches, with hardly any evidence for them: %s%s.", weak.ptr, advice);
}

void wt__note_training_due(struct cli *cli, wt_engine *engine)
{
    if (!cli->tty_err || cli->quiet || cli->json)
        return;
    long long due = (long long)wt_training_due(engine, NULL);
    if (due > 0)
        wt__cli_note(cli, "Note: %lld recorded usages are not used for training yet; run `whichtool train all`", due);
}
