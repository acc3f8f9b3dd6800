#include <unistd.h>

#include "base/clock.h"
#include "cli/add_mcp.h"
#include "cli/cli.h"
#include "cli/imports.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"
#include "wire/results.h"

static void text_report(struct buffer *out, const char *source, const wt_add_report *report)
{
    wt__buffer_text(out, source);
    if (report->format && *report->format)
        wt__buffer_printf(out, " (%s)", report->format);
    wt__buffer_text(out, ": ");
    wt__text_changes(out, report);
    wt__buffer_text(out, "; ");
    wt__grouped(out, report->embedded);
    wt__buffer_text(out, " vectors");
}

static int print_report(const struct cli *cli, const char *source, const wt_add_report *report, double seconds)
{
    const struct import_outcome outcome = {seconds,         report->notice,
                                           report->issues,  report->issue_count,
                                           report->skipped, report->added + report->updated + report->unchanged,
                                           !report->whole};
    struct buffer line = {0};
    (cli->json ? wt__json_added : text_report)(&line, source, report);
    return wt__import_print(cli, &outcome, &line);
}

static int add_stdin(struct cli *cli, wt_engine *engine, wt_add_options *options, wt_add_report **report, wt_error *err)
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

static int tell_stop(const struct cli *cli, const wt_add_report *report)
{
    if (!report)
        return wt__import_stopped(cli);
    return wt__cli_say(
        cli, END_INTERRUPTED,
        "stopped while encoding; the tools and %zu new vectors are stored. `whichtool vectors` computes the others",
        report->embedded);
}

struct adding {
    wt_engine *engine;
    wt_add_options *options;
};

/* Imports one source. Returns 0, or an exit code after reporting the error. */
static int add_source(struct cli *cli, const char *source, void *context)
{
    wt_engine *engine = ((struct adding *)context)->engine;
    wt_add_options *options = ((struct adding *)context)->options;
    wt_add_report *report = NULL;
    wt_error err = {0};
    double begin = wt__now_ms();
    int rc = 0, code = 0;
    if (strcmp(source, "-") == 0) {
        rc = add_stdin(cli, engine, options, &report, &err);
        if (rc > 0)
            return rc;
    } else if (access(source, R_OK) != 0) {
        wt__fail_errno(&err, "read", source);
        return wt__cli_say(cli, END_INPUT, "%s", err.message);
    } else {
        rc = wt_add_path(engine, source, options, &report, &err);
    }
    wt__progress_clear();
    if (report)
        code = print_report(cli, strcmp(source, "-") == 0 ? "standard input" : source, report,
                            (wt__now_ms() - begin) / 1000);
    if (rc == WT_ECANCELLED)
        code = tell_stop(cli, report);
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
    if (wt__given(cli, OPT_MCP))
        return wt__add_mcp(cli);
    if (wt__given(cli, OPT_TIMEOUT))
        return wt__cli_usage(cli, "--timeout needs --mcp");
    wt_add_options_init(&options);
    options.format = wt__text_of(cli, OPT_FORMAT);
    options.provider = wt__text_of(cli, OPT_PROVIDER);
    options.sync = wt__given(cli, OPT_SYNC);
    options.strict = wt__given(cli, OPT_STRICT);
    options.no_vectors = wt__given(cli, OPT_NO_VECTORS);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    for (size_t i = 0; i < cli->arguments.word_count; i++)
        if (options.sync && !options.provider && strcmp(cli->arguments.words[i], "-") == 0)
            return wt__cli_usage(cli, "--sync of standard input needs --provider, to know whose tools to remove");
    if (!wt__import_sort(cli))
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    wt__interrupt_watch();
    int code = wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine);
    if (code == 0) {
        wt__progress_begin(&line, cli);
        code = wt__import_each(cli, 0, add_source, &(struct adding){engine, &options});
    }
    wt_close(engine);
    return code;
}
