#include <unistd.h>

#include "base/clock.h"
#include "cli/add_mcp.h"
#include "cli/cli.h"
#include "cli/imports.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"
#include "wire/results.h"

static void text_add_report(struct buffer *out, const char *source, const wt_add_report *report)
{
    wt__buffer_text(out, source);
    if (report->format && *report->format)
        wt__buffer_printf(out, " (%s)", report->format);
    wt__buffer_text(out, ": ");
    wt__put_changes(out, report);
    wt__buffer_text(out, "; ");
    wt__put_grouped(out, report->embedded);
    wt__buffer_text(out, " vectors");
}

static int print_add_report(const struct cli *cli, const char *source, const wt_add_report *report, double seconds)
{
    const struct import_outcome outcome = {seconds,         report->notice,
                                           report->issues,  report->issue_count,
                                           report->skipped, report->added + report->updated + report->unchanged,
                                           !report->whole};
    struct buffer line = {0};
    (cli->json ? wt__json_added : text_add_report)(&line, source, report);
    return wt__print_import(cli, &outcome, &line);
}

static int add_tools_from_stdin(struct cli *cli, wt_engine *engine, wt_add_options *options, wt_add_report **report,
                                wt_error *err)
{
    struct buffer bytes = {0}, name = {0};
    wt__buffer_text(&name, "standard input");
    if (options->provider)
        wt__buffer_printf(&name, " of %s", options->provider);
    err->code = 0; /* wt__cli_read_stdin reports its own errors */
    int rc = wt__cli_read_stdin(cli, WT_MAX_FILE_BYTES, &bytes);
    if (rc == 0 && !name.failed) {
        options->source_name = name.ptr;
        rc = wt_add(engine, bytes.ptr ? bytes.ptr : "", bytes.len, options, report, err);
        options->source_name = NULL;
    }
    wt__buffer_dispose(&bytes);
    wt__buffer_dispose(&name);
    return rc;
}

static int report_stopped_add(const struct cli *cli, const wt_add_report *report)
{
    if (!report)
        return wt__report_stopped_import(cli);
    return wt__cli_report(
        cli, END_INTERRUPTED,
        "stopped while encoding; the tools and %zu new vectors are stored. `whichtool vectors` computes the others",
        report->embedded);
}

struct tool_add_context {
    wt_engine *engine;
    wt_add_options *options;
};

/* Imports one source. Returns 0, or an exit code after reporting the error. */
static int add_tool_source(struct cli *cli, const char *source, void *context)
{
    wt_engine *engine = ((struct tool_add_context *)context)->engine;
    wt_add_options *options = ((struct tool_add_context *)context)->options;
    wt_add_report *report = NULL;
    wt_error err = {0};
    double begin = wt__now_ms();
    int rc = 0, code = 0;
    if (strcmp(source, "-") == 0) {
        rc = add_tools_from_stdin(cli, engine, options, &report, &err);
        if (rc > 0)
            return rc;
    } else if (access(source, R_OK) != 0) {
        wt__fail_errno(&err, "read", source);
        return wt__cli_report(cli, END_INPUT, "%s", err.message);
    } else {
        rc = wt_add_path(engine, source, options, &report, &err);
    }
    wt__progress_clear();
    if (report)
        code = print_add_report(cli, strcmp(source, "-") == 0 ? "standard input" : source, report,
                                (wt__now_ms() - begin) / 1000);
    if (rc == WT_ECANCELLED)
        code = report_stopped_add(cli, report);
    else if (rc < 0)
        code = wt__cli_fail_input(cli, &err);
    wt_add_report_free(report);
    return code;
}

int wt__cmd_add(struct cli *cli)
{
    wt_add_options options;
    struct progress_line line;
    wt_engine *engine = NULL;
    if (wt__has_option(cli, OPT_MCP))
        return wt__add_mcp(cli);
    if (wt__has_option(cli, OPT_TIMEOUT))
        return wt__cli_usage(cli, "--timeout needs --mcp");
    wt_add_options_init(&options);
    options.format = wt__option_text(cli, OPT_FORMAT);
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.sync = wt__has_option(cli, OPT_SYNC);
    options.strict = wt__has_option(cli, OPT_STRICT);
    options.no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    for (size_t i = 0; i < cli->arguments.word_count; i++)
        if (options.sync && !options.provider && strcmp(cli->arguments.words[i], "-") == 0)
            return wt__cli_usage(cli, "--sync of standard input needs --provider, to know whose tools to remove");
    if (!wt__sort_sources(cli))
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    wt__watch_interrupt();
    int code = wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine);
    if (code == 0) {
        wt__progress_begin(&line, cli);
        code = wt__import_each_source(cli, 0, add_tool_source, &(struct tool_add_context){engine, &options});
    }
    wt_close(engine);
    return code;
}
