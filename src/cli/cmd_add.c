#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/issues.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/text.h"

static void json_report(struct buffer *out, const char *source, const wt_add_report *report, double seconds)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "source", source);
    wt__json_text(out, "format", report->format ? report->format : "");
    wt__json_count(out, "added", report->added);
    wt__json_count(out, "updated", report->updated);
    wt__json_count(out, "unchanged", report->unchanged);
    wt__json_count(out, "removed", report->removed);
    wt__json_count(out, "skipped", report->skipped);
    wt__json_count(out, "embedded", report->embedded);
    wt__json_number(out, "seconds", seconds);
    if (report->notice)
        wt__json_text(out, "notice", report->notice);
    wt__issues_json(out, report->issues, report->issue_count);
    wt__buffer_text(out, "}\n");
}

static void text_report(struct buffer *out, const char *source, const wt_add_report *report, double seconds)
{
    static const char *const words[] = {"added", "updated", "unchanged", "removed", "skipped"};
    const size_t counts[] = {report->added, report->updated, report->unchanged, report->removed, report->skipped};
    wt__buffer_text(out, source);
    if (report->format && *report->format)
        wt__buffer_printf(out, " (%s)", report->format);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        wt__buffer_text(out, i ? ", " : ": ");
        wt__grouped(out, counts[i]);
        wt__buffer_printf(out, " %s", words[i]);
    }
    wt__buffer_text(out, "; ");
    wt__grouped(out, report->embedded);
    wt__buffer_printf(out, " vectors; %.2f s\n", seconds);
}

static int print_report(struct cli *cli, const char *source, const wt_add_report *report, double seconds)
{
    struct buffer out = {0};
    if (cli->json) {
        json_report(&out, source, report, seconds);
    } else {
        struct buffer line = {0};
        wt__issues_tell(cli, report->issues, report->issue_count, report->skipped);
        text_report(&line, source, report, seconds);
        wt__text_escape(&out, wt__buffer_view(&line), TEXT_LINES);
        out.failed |= line.failed;
        wt__buffer_dispose(&line);
    }
    if (report->notice)
        wt__cli_note(cli, "Note: %s", report->notice);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    /* A source of which nothing could be taken is no source. */
    bool nothing = report->added + report->updated + report->unchanged == 0;
    return nothing && report->skipped > 0 ? END_INPUT : END_DONE;
}

static int add_stdin(struct cli *cli, wt_engine *engine, wt_add_options *options, wt_add_report **report, wt_error *err)
{
    struct buffer bytes = {0}, name = {0};
    wt__buffer_text(&name, "standard input");
    if (options->provider)
        wt__buffer_printf(&name, " of %s", options->provider);
    err->code = 0; /* what reading has to say is said already */
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
        return wt__cli_say(cli, END_INTERRUPTED,
                           "stopped before the import was complete; the store is as it was before this source");
    return wt__cli_say(cli, END_INTERRUPTED,
                       "stopped while encoding; the tools and %zu new vectors are stored, and the next `whichtool add` "
                       "goes on where this one ended",
                       report->embedded);
}

/* Imports one source. 0, or an exit code with the reason told. */
static int add_source(struct cli *cli, wt_engine *engine, wt_add_options *options, const char *source)
{
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
        code = wt__cli_fail(cli, &err) == END_NOTHING ? END_INPUT : wt__exit_of(rc);
    wt_add_report_free(report);
    return code;
}

/* A source that cannot be read does not keep the others out; a store that cannot be written does. */
static int add_sources(struct cli *cli, wt_engine *engine, wt_add_options *options)
{
    int code = 0;
    for (size_t i = 0; i < cli->arguments.word_count; i++) {
        int one = add_source(cli, engine, options, cli->arguments.words[i]);
        code = code ? code : one;
        if (one != 0 && one != END_INPUT)
            return one;
    }
    return code;
}

int wt__cmd_add(struct cli *cli)
{
    wt_add_options options;
    struct progress_line line;
    wt_engine *engine = NULL;
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
            return wt__cli_usage(cli, "--sync of standard input needs --provider, which says whose tools may go");
    wt__interrupt_watch();
    int code = wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine);
    if (code == 0) {
        wt__progress_begin(&line, cli);
        code = add_sources(cli, engine, &options);
    }
    wt_close(engine);
    return code;
}
