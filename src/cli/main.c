/* main.c: parses the command line, inspects the terminal, and runs the verb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { NARROWEST = 20, WIDEST = 1000 };

/* Returns the maximum columns of a line on stdout; 0 for no limit. */
static size_t stdout_columns(bool tty)
{
    const char *text = getenv("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
    struct winsize size = {0};
    if (columns <= 0 && tty)
        columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    if (columns <= 0)
        return 0;
    return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : (size_t)columns;
}

static void inspect_terminal(struct cli *cli)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool color =
        !wt__has_option(cli, OPT_NO_COLOR) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
    cli->tty_out = isatty(STDOUT_FILENO) == 1;
    cli->tty_err = isatty(STDERR_FILENO) == 1;
    cli->color_out = color && cli->tty_out;
    cli->color_err = color && cli->tty_err;
    cli->width = stdout_columns(cli->tty_out);
}

static int run_verb(struct cli *cli)
{
    const struct cli_verb *verb = cli->arguments.verb;
    if (wt__has_option(cli, OPT_VERSION))
        return wt__cmd_version(cli);
    if (wt__has_option(cli, OPT_HELP))
        return wt__cmd_help(cli);
    if (!verb)
        return wt__cli_usage(cli, "missing verb, such as `add` or `find`");
    return verb->run(cli);
}

/* Flushes stdout and reports a failed write. If the reader is gone (| head), the process ends silently by SIGPIPE. This
 * signal was ignored before, so that a broken pipe elsewhere in the library does not end the process. */
static int flush_output(const struct cli *cli, int code)
{
    int why = wt__cli_finish();
    if (why == 0)
        return code;
    if (why == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    wt_error err;
    errno = why;
    wt__fail_errno(&err, "write to", "standard output");
    return wt__cli_report(cli, END_SYSTEM, "%s", err.message);
}

int main(int argc, char **argv)
{
    struct cli cli = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer why = {0};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails with an error, as on a full disk */
    signal(SIGCHLD, SIG_DFL); /* child exit codes are needed, even if the parent process ignores the signal */
    int rc = wt__arguments_parse(&cli.arguments, argc, argv, &why);
    cli.json = wt__has_option(&cli, OPT_JSON);
    cli.quiet = wt__has_option(&cli, OPT_QUIET);
    inspect_terminal(&cli);
    int code = rc < 0 ? wt__cli_usage(&cli, "%s", why.ptr ? why.ptr : "out of memory") : run_verb(&cli);
    code = flush_output(&cli, code);
    wt__arguments_dispose(&cli.arguments);
    wt__arena_dispose(&cli.arena);
    return code;
}
