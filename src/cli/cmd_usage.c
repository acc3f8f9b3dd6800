/* cmd_usage.c: `whichtool usage`: adds, lists, exports and forgets recorded usages. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"

#include "text/shown.h"
#include "wire/results.h"

enum {
    PAGE = 1000,          /* usages per wt_list_usage */
    LEAD = 30,            /* columns of time and outcome */
    LEAST = 20,           /* minimum columns of tools and request */
    ARGUMENTS_SHOWN = 40, /* columns of a tool's arguments */
    SEGMENT_FILES_MAX = 1000000
};

/* ---------------------------------------------------------------- add SOURCE */

/* Appends a count, unless it is 0. */
static void put_nonzero_count(struct buffer *out, size_t count, const char *what)
{
    if (count == 0)
        return;
    wt__buffer_text(out, ", ");
    wt__put_grouped(out, count);
    wt__buffer_text(out, what);
}

static void text_usage_report(struct buffer *out, const char *source, const wt_usage_report *report)
{
    wt__buffer_printf(out, "%s: ", source);
    wt__put_grouped(out, report->added);
    wt__buffer_text(out, " added, ");
    wt__put_grouped(out, report->skipped);
    wt__buffer_text(out, " skipped, ");
    wt__put_grouped(out, report->unknown_tools);
    wt__buffer_text(out, " unknown tools");
    put_nonzero_count(out, report->repeated, " already recorded");
    put_nonzero_count(out, report->outcomes, " outcomes");
    put_nonzero_count(out, report->missing, " outcomes without a usage");
    wt__buffer_text(out, "; ");
    wt__put_grouped(out, report->learned);
    wt__buffer_text(out, " requests learned");
}

static int print_usage_report(const struct cli *cli, const char *source, const wt_usage_report *report, double seconds)
{
    const struct import_outcome outcome = {seconds,         report->notice, report->issues, report->issue_count,
                                           report->skipped, report->added,  false};
    struct buffer line = {0};
    (cli->json ? wt__json_usage_added : text_usage_report)(&line, source, report);
    return wt__print_import(cli, &outcome, &line);
}

static int add_usages_from_stdin(struct cli *cli, wt_engine *engine, wt_add_usage_options *options,
                                 wt_usage_report **report, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    int rc = wt__cli_read_stdin(cli, WT_MAX_FILE_BYTES, &bytes);
    if (rc == 0) {
        options->source_name = "standard input";
        rc = wt_add_usage(engine, bytes.ptr ? bytes.ptr : "", bytes.len, options, report, err);
    }
    return rc;
}

static int report_stopped_learning(const struct cli *cli, const wt_usage_report *report)
{
    if (!report)
        return wt__report_stopped_import(cli);
    return wt__cli_report(
        cli, END_INTERRUPTED,
        "stopped while learning; the usages are stored, and `whichtool vectors` or the next `whichtool "
        "usage add` continues");
}

struct usage_add_context {
    wt_engine *engine;
    wt_add_usage_options *options;
};

/* Imports one source. Returns 0, or an exit code after reporting the error. */
static int add_usage_source(struct cli *cli, const char *source, void *context)
{
    wt_engine *engine = ((struct usage_add_context *)context)->engine;
    wt_add_usage_options *options = ((struct usage_add_context *)context)->options;
    wt_usage_report *report = NULL;
    wt_error err = {0};
    double begin = wt__now_ms();
    bool from_stdin = strcmp(source, "-") == 0;
    int code = 0;
    int rc = from_stdin ? add_usages_from_stdin(cli, engine, options, &report, &err)
                        : wt_add_usage_path(engine, source, options, &report, &err);
    if (rc > 0)
        return rc; /* already reported */
    wt__progress_clear();
    if (report)
        code = print_usage_report(cli, from_stdin ? "standard input" : source, report, (wt__now_ms() - begin) / 1000);
    if (rc == WT_ECANCELLED)
        code = report_stopped_learning(cli, report);
    else if (rc == WT_ENOTFOUND)
        code = wt__cli_report(cli, END_INPUT, "%s", err.message);
    else if (rc < 0)
        code = wt__cli_fail(cli, &err);
    wt_usage_report_free(report);
    return code;
}

/* ---------------------------------------------------------------- add --request */

static bool is_among_ids(const char *const *ids, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* Returns the next line of a repeatable option, copied to the arena. Moves *rest to the line after it, or sets *rest to
 * NULL after the last line. Returns NULL if out of memory. */
static const char *next_option_line(struct cli *cli, const char **rest)
{
    const char *line = wt__arena_copy(&cli->arena, (struct str){*rest, strcspn(*rest, "\n")});
    const char *end = strchr(*rest, '\n');
    *rest = end ? end + 1 : NULL;
    return line;
}

/* Looks up the ids of the tools of --tool, in the arena. An unknown name is an error, because it is probably a typo.
 * Returns 0, or an exit code after reporting the error. */
static int find_named_tools(struct cli *cli, wt_engine *engine, const char **ids, size_t *count)
{
    const char *rest = wt__option_text(cli, OPT_TOOL);
    *count = 0;
    while (rest) {
        wt_tools *tools;
        wt_error err;
        if (*count == WT_MAX_USAGE_TOOLS)
            return wt__cli_usage(cli, "a usage has at most %d tools", WT_MAX_USAGE_TOOLS);
        const char *name = next_option_line(cli, &rest);
        if (!name)
            return wt__cli_report(cli, END_SYSTEM, "out of memory");
        int rc = wt_get(engine, name, &tools, &err);
        if (rc == WT_ENOTFOUND)
            return wt__cli_report(cli, END_NOTHING, "nothing was recorded: %s", err.message);
        if (rc < 0)
            return wt__cli_fail(cli, &err);
        const char *id = wt__arena_copy(&cli->arena, wt__str(tools->items[0]->id));
        wt_tools_free(tools);
        if (!id)
            return wt__cli_report(cli, END_SYSTEM, "out of memory");
        ids[(*count)++] = id;
    }
    return 0;
}

/* Reads --arguments, one for each tool in the same order. The last tools get NULL if there are fewer --arguments. */
static int read_named_arguments(struct cli *cli, const char **arguments, size_t count)
{
    const char *rest = wt__option_text(cli, OPT_ARGUMENTS);
    for (size_t i = 0; i < count; i++) {
        bool told = rest != NULL;
        arguments[i] = told ? next_option_line(cli, &rest) : NULL;
        if (told && !arguments[i])
            return wt__cli_report(cli, END_SYSTEM, "out of memory");
    }
    return rest ? wt__cli_usage(cli, "more --arguments than --tool were given; give at most one for each tool") : 0;
}

static int print_recorded(const struct cli *cli, const char *const *ids, size_t count)
{
    struct buffer line = {0}, out = {0};
    wt__buffer_text(&line, cli->json ? "{\"added\":1,\"tools\":[" : "1 usage recorded: ");
    for (size_t i = 0; i < count; i++) {
        if (is_among_ids(ids, i, ids[i]))
            continue;
        wt__buffer_text(&line, i == 0 ? "" : cli->json ? "," : ", ");
        if (cli->json)
            wt__shown_string(&line, wt__str(ids[i]));
        else
            wt__buffer_text(&line, ids[i]);
    }
    wt__buffer_text(&line, cli->json ? "]}" : "");
    wt__text_escape(&out, wt__buffer_view(&line), TEXT_LINE);
    wt__buffer_char(&out, '\n');
    out.failed |= line.failed;
    wt__buffer_dispose(&line);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int run_usage_record(struct cli *cli, wt_engine *engine)
{
    wt_record_options options;
    wt_error err;
    const char *ids[WT_MAX_USAGE_TOOLS], *arguments[WT_MAX_USAGE_TOOLS], *request = wt__option_text(cli, OPT_REQUEST);
    size_t count;
    WT_TRY(find_named_tools(cli, engine, ids, &count));
    WT_TRY(read_named_arguments(cli, arguments, count));
    wt_record_options_init(&options);
    options.outcome = wt__option_text(cli, OPT_OUTCOME);
    options.client = wt__option_text(cli, OPT_CLIENT);
    options.no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    options.arguments = arguments;
    if (wt_record_usage(engine, request, strlen(request), ids, count, &options, &err) < 0)
        return wt__cli_fail(cli, &err);
    return print_recorded(cli, ids, count);
}

static int run_usage_add(struct cli *cli, wt_engine *engine)
{
    if (wt__has_option(cli, OPT_REQUEST))
        return run_usage_record(cli, engine);
    wt_add_usage_options options;
    struct progress_line line;
    wt_add_usage_options_init(&options);
    options.split = wt__option_text(cli, OPT_SPLIT);
    options.strict = wt__has_option(cli, OPT_STRICT);
    options.no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    wt__progress_begin(&line, cli);
    return wt__import_each_source(cli, 1, add_usage_source, &(struct usage_add_context){engine, &options});
}

/* ---------------------------------------------------------------- list, export */

static void json_usage(struct buffer *out, const wt_usage *usage)
{
    char time[CLOCK_TEXT_BYTES];
    size_t gone = 0;
    wt__clock_text(usage->time, time);
    wt__buffer_char(out, '{');
    wt__json_count(out, "id", (uint64_t)usage->id);
    wt__json_text(out, "request", usage->request);
    wt__json_key(out, "tools");
    for (size_t i = 0; i < usage->tool_count; i++) {
        wt__buffer_char(out, i ? ',' : '[');
        wt__shown_string(out, wt__str(usage->tools[i]->id));
        gone += !usage->tools[i]->known;
    }
    wt__buffer_text(out, usage->tool_count ? "]" : "[]");
    wt__json_key(out, "arguments");
    for (size_t i = 0; i < usage->tool_count; i++) {
        wt__buffer_char(out, i ? ',' : '[');
        wt__shown_json(out, wt__str(usage->tools[i]->arguments ? usage->tools[i]->arguments : "null"));
    }
    wt__buffer_text(out, usage->tool_count ? "]" : "[]");
    wt__json_count(out, "unknown_tools", gone);
    wt__json_text(out, "outcome", usage->outcome);
    wt__json_text(out, "time", time);
    wt__json_text(out, "client", usage->client);
    wt__buffer_text(out, "}\n");
}

/* Appends 'mail/send {"to":"a"}', with the id in brackets if the catalogue does not have the tool. */
static void put_usage_tool(struct buffer *line, const wt_usage_tool *tool)
{
    wt__buffer_printf(line, tool->known ? "%s" : "(%s)", tool->id);
    if (!tool->arguments)
        return;
    wt__buffer_char(line, ' ');
    wt__text_cut(line, wt__str(tool->arguments), ARGUMENTS_SHOWN);
}

/* Appends "2026-11-22T08:30:00Z  ok      tables/book_table {"people":2}, mail/send: book a table". */
static void put_usage_line(const struct cli *cli, struct buffer *out, const wt_usage *usage)
{
    char time[CLOCK_TEXT_BYTES];
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__clock_text(usage->time, time);
    for (size_t i = 0; i < usage->tool_count; i++) {
        wt__buffer_text(&line, i ? ", " : "");
        put_usage_tool(&line, usage->tools[i]);
    }
    wt__buffer_printf(&line, ": %s", usage->request);
    wt__buffer_printf(out, "%s  %-6s  ", time, usage->outcome);
    wt__text_cut(out, wt__buffer_view(&line), cli->width > LEAD + LEAST ? cli->width - LEAD : cli->width ? LEAST : 0);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
}

/* Reads the filter from the options. Returns 0 or an exit code. */
static int read_usage_options(struct cli *cli, wt_usage_filter *filter)
{
    wt_error err;
    const char *before = wt__option_text(cli, OPT_BEFORE);
    wt_usage_filter_init(filter);
    filter->tool = wt__option_text(cli, OPT_TOOL);
    if (filter->tool && strchr(filter->tool, '\n'))
        return wt__cli_usage(cli, "give --tool only once");
    filter->client = wt__option_text(cli, OPT_CLIENT);
    filter->after_id = (int64_t)cli->arguments.number[OPT_AFTER];
    filter->limit = (size_t)cli->arguments.number[OPT_LIMIT];
    if (before && wt_read_time(before, &filter->before, &err) < 0)
        return wt__cli_usage(cli, "--before: %s", err.message);
    return 0;
}

static int run_usage_list(struct cli *cli, wt_engine *engine)
{
    wt_usage_filter filter;
    wt_error err;
    WT_TRY(read_usage_options(cli, &filter));
    size_t limit = filter.limit, seen = 0;
    for (bool more = true; more;) {
        wt_usages *page;
        struct buffer out = {0};
        filter.limit = limit && limit - seen < PAGE ? limit - seen : PAGE;
        if (wt_list_usage(engine, &filter, &page, &err) < 0)
            return wt__cli_fail(cli, &err);
        for (size_t i = 0; i < page->len; i++) {
            if (cli->json)
                json_usage(&out, page->items[i]);
            else
                put_usage_line(cli, &out, page->items[i]);
            filter.after_id = page->items[i]->id;
        }
        seen += page->len;
        more = page->len == PAGE && seen != limit;
        wt_usages_free(page);
        if (!wt__cli_print(&out))
            return END_SYSTEM;
    }
    if (seen > 0)
        return END_DONE;
    wt__cli_note(cli, "No usages match.");
    return END_NOTHING;
}

static int print_lines(void *context, const char *bytes, size_t len)
{
    struct buffer out = {0};
    (void)context;
    wt__buffer_append(&out, bytes, len);
    return !wt__cli_print(&out);
}

static int run_usage_export(struct cli *cli, wt_engine *engine)
{
    wt_usage_filter filter;
    wt_error err;
    WT_TRY(read_usage_options(cli, &filter));
    int64_t count = wt_export_usage(engine, &filter, print_lines, NULL, &err);
    if (count == WT_ECANCELLED)
        return END_SYSTEM; /* the reader is gone */
    return count < 0 ? wt__cli_fail(cli, &err) : END_DONE;
}

/* ---------------------------------------------------------------- forget */

/* Asks on the terminal; true only for a yes. Returns true without asking if there is no terminal, or with --yes. */
static bool confirm_forget_usages(struct cli *cli)
{
    if (wt__has_option(cli, OPT_YES) || !wt__can_ask(cli))
        return true;
    const char *tool = wt__option_text(cli, OPT_TOOL), *before = wt__option_text(cli, OPT_BEFORE);
    const char *client = wt__option_text(cli, OPT_CLIENT);
    WT_CLEANUP(wt__buffer_dispose) struct buffer question = {0}, shown = {0};
    wt__buffer_text(&question, tool || client || before ? "Forget the usages" : "Forget every usage");
    if (tool)
        wt__buffer_printf(&question, " of %s", tool);
    if (client)
        wt__buffer_printf(&question, " of the client %s", client);
    if (before)
        wt__buffer_printf(&question, " before %s", before);
    wt__text_escape(&shown, wt__buffer_view(&question), TEXT_LINE);
    fprintf(stderr, "%s? [y/N] ", shown.ptr ? shown.ptr : "Forget");
    return wt__answer_is_yes();
}

static int print_forgotten(struct cli *cli, int64_t forgotten)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_count(&out, "forgotten", (uint64_t)forgotten);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__put_grouped(&out, (uint64_t)forgotten);
        wt__buffer_text(&out, " forgotten\n");
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* Recomputes the learned vectors of tools that lost usages. A missing model is not an error, because the next
 * `usage add` recomputes the vectors. */
static int relearn_usages(struct cli *cli, wt_engine *engine)
{
    struct progress_line line;
    wt_error err;
    wt__progress_begin(&line, cli);
    int64_t learned = wt_learn_usage(engine, wt__progress_show, &line, &err);
    wt__progress_clear();
    if (learned == WT_ECANCELLED)
        return wt__cli_report(
            cli, END_INTERRUPTED,
            "stopped while learning from the remaining usages; the next `whichtool usage add` continues");
    return learned < 0 && learned != WT_EMODEL ? wt__cli_fail(cli, &err) : 0;
}

static int run_usage_forget(struct cli *cli, wt_engine *engine)
{
    wt_usage_filter filter;
    wt_error err;
    bool all = wt__has_option(cli, OPT_ALL);
    WT_TRY(read_usage_options(cli, &filter));
    if (all == (filter.tool || filter.client || filter.before))
        return wt__cli_usage(cli, "select the usages to forget with --tool, --client or --before, or all with --all");
    if (!confirm_forget_usages(cli))
        return wt__cli_report(cli, END_NOTHING, "nothing was forgotten");
    int64_t forgotten = wt_forget_usage(engine, &filter, all, &err);
    if (forgotten < 0)
        return wt__cli_fail(cli, &err);
    WT_TRY(print_forgotten(cli, forgotten));
    return forgotten > 0 && !wt__has_option(cli, OPT_NO_VECTORS) ? relearn_usages(cli, engine) : 0;
}

/* ---------------------------------------------------------------- segments of replicas */

/* Prints the result of one file. */
static int print_segment(struct cli *cli, const char *id, const struct usage_segment *segment)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__json_usage_segment(&out, id, segment);
        wt__buffer_char(&out, '\n');
    } else if (!segment->applied) {
        wt__buffer_printf(&out, "%s: applied before\n", id);
    } else {
        wt__buffer_printf(&out, "%s: %zu recorded, %zu repeated, %zu refused\n", id, segment->recorded,
                          segment->repeated, segment->refused);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* Applies a file named TIME-ID.jsonl, and removes it. */
static int import_segment_file(struct cli *cli, wt_engine *engine, const char *path)
{
    WT_AUTO_FREE char *text = NULL;
    struct usage_segment segment;
    size_t len = 0;
    wt_error err;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dash = strrchr(name, '-');
    struct str id = wt__str(dash ? dash + 1 : name);
    id.len -= strlen(".jsonl");
    const char *shown = wt__arena_copy(&cli->arena, id);
    if (!shown)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    int rc = wt__file_read(&text, &len, path, USAGE_SEGMENT_BYTES_MAX, &err);
    if (rc == 0)
        rc = wt__apply_usage_segment(engine, id, (struct str){text, len}, &segment, &err);
    if (rc == WT_EFORMAT || rc == WT_ETOOLONG)
        wt__fail_context(&err, rc, "%s", path);
    if (rc < 0)
        return wt__cli_fail(cli, &err);
    WT_TRY(print_segment(cli, shown, &segment));
    return unlink(path) == 0 ? 0 : wt__cli_report(cli, END_SYSTEM, "cannot remove %s", path);
}

/* Applies the segments in folders, oldest first. A malformed segment is reported, and stays. */
static int run_import_segments(struct cli *cli, wt_engine *engine)
{
    int code = END_DONE;
    wt_error err;
    if (cli->arguments.word_count < 2)
        return wt__cli_usage(cli, "`usage import-segments` needs the folder of a replica's segments, CACHE/usage");
    for (size_t i = 1; i < cli->arguments.word_count; i++) {
        char **paths;
        size_t count;
        if (wt__list_own_files(&cli->arena, cli->arguments.words[i], SEGMENT_FILES_MAX, &paths, &count, &err) < 0)
            return wt__cli_fail_input(cli, &err);
        for (size_t k = 0; k < count; k++) {
            size_t len = strlen(paths[k]);
            int done = len > 6 && strcmp(paths[k] + len - 6, ".jsonl") == 0 ? import_segment_file(cli, engine, paths[k])
                                                                            : END_DONE;
            if (done != END_DONE && done != END_INPUT)
                return done;
            code = done != END_DONE ? done : code;
        }
    }
    return code;
}

/* ---------------------------------------------------------------- the verb */

static const struct usage_action {
    const char *name;
    int (*run)(struct cli *cli, wt_engine *engine);
    bool takes_sources, uses_model;
    enum option_id options[11]; /* allowed besides the global options and those of tenants; ends with OPT_COUNT */
} actions[] = {
    {"add",
     run_usage_add,
     true,
     true,
     {OPT_SPLIT, OPT_STRICT, OPT_REQUEST, OPT_TOOL, OPT_ARGUMENTS, OPT_OUTCOME, OPT_CLIENT, OPT_NO_VECTORS, OPT_MODEL,
      OPT_MODELS, OPT_COUNT}},
    {"list", run_usage_list, false, false, {OPT_TOOL, OPT_CLIENT, OPT_BEFORE, OPT_AFTER, OPT_LIMIT, OPT_COUNT}},
    {"export", run_usage_export, false, false, {OPT_TOOL, OPT_CLIENT, OPT_BEFORE, OPT_AFTER, OPT_LIMIT, OPT_COUNT}},
    {"forget",
     run_usage_forget,
     false,
     true,
     {OPT_TOOL, OPT_CLIENT, OPT_BEFORE, OPT_ALL, OPT_YES, OPT_NO_VECTORS, OPT_MODEL, OPT_MODELS, OPT_COUNT}},
    {"import-segments", run_import_segments, true, false, {OPT_COUNT}},
};

static bool action_allows(const struct usage_action *action, enum option_id id)
{
    for (size_t i = 0; action->options[i] != OPT_COUNT; i++)
        if (action->options[i] == id)
            return true;
    return false;
}

bool wt__usage_allows(const char *action, enum option_id option)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, action) == 0)
            return action_allows(&actions[i], option);
    return false;
}

/* Checks the options of `usage add`: either one usage from the command line, or sources. */
static int check_usage_add(const struct cli *cli)
{
    static const enum option_id of_one[] = {OPT_TOOL, OPT_ARGUMENTS, OPT_OUTCOME, OPT_CLIENT},
                                of_many[] = {OPT_SPLIT, OPT_STRICT};
    bool one = wt__has_option(cli, OPT_REQUEST), sources = cli->arguments.word_count > 1;
    if (one == sources)
        return wt__cli_usage(cli, "`usage add` needs either SOURCE... or --request TEXT with --tool NAME");
    if (one && !wt__has_option(cli, OPT_TOOL))
        return wt__cli_usage(cli, "--request needs --tool NAME, once for each tool that the request used");
    for (size_t i = 0; !one && i < sizeof of_one / sizeof *of_one; i++)
        if (wt__has_option(cli, of_one[i]))
            return wt__cli_usage(cli,
                                 "--tool, --arguments, --outcome and --client of `usage add` need --request; a SOURCE "
                                 "contains them");
    for (size_t i = 0; one && i < sizeof of_many / sizeof *of_many; i++)
        if (wt__has_option(cli, of_many[i]))
            return wt__cli_usage(cli, "--split and --strict need a SOURCE");
    return 0;
}

/* Returns 0, or an exit code if the action does not accept an option or a word. */
static int check_usage_action(const struct cli *cli, const struct usage_action *action)
{
    const struct arguments *a = &cli->arguments;
    for (size_t i = 0; i < a->verb->option_count; i++) {
        enum option_id id = a->verb->options[i].id;
        if (a->given[id] && id != OPT_TENANT && id != OPT_TENANTS && !action_allows(action, id))
            return wt__cli_usage(cli, "--%s is not an option of `usage %s`", a->verb->options[i].name, action->name);
    }
    if (action->run == run_usage_add)
        return check_usage_add(cli);
    if (!action->takes_sources && a->word_count > 1)
        return wt__cli_usage(cli, "`usage %s` takes no arguments, but \"%s\" was given", action->name, a->words[1]);
    return 0;
}

int wt__cmd_usage(struct cli *cli)
{
    const struct usage_action *action = actions; /* the parser accepts known actions only */
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    while (strcmp(action->name, cli->arguments.words[0]) != 0)
        action++;
    WT_TRY(check_usage_action(cli, action));
    if (action->uses_model)
        wt__watch_interrupt();
    bool model = action->uses_model && !wt__has_option(cli, OPT_NO_VECTORS);
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, model ? NULL : "", &engine));
    return action->run(cli, engine);
}
