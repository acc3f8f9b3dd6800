/* cmd_mcp.c: an MCP server on standard input and output, as a client starts it: the catalogue, or the servers behind
 * it. Standard output carries messages and nothing else; what there is to say goes to standard error, which clients
 * keep as the server's log. What follows the verb is one of its other actions: approvals.c, clients.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/approvals.h"
#include "cli/clients.h"
#include "cli/servers.h"
#include "cli/servers_told.h"
#include "serve/catalogue.h"
#include "serve/mcp/transport.h"

enum { LIST_WAIT_MS = 1000 /* how long the first list waits for servers of which nothing is known yet */ };

static int stop_pipe[2] = {-1, -1}; /* a signal's way to the loop that reads */

static void on_signal(int number)
{
    int kept = errno;
    (void)number;
    (void)!write(stop_pipe[1], "", 1);
    errno = kept;
}

/* A client that is gone is the end of a pipe, not a signal. */
static bool watch_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaction(ending[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

/* One client, until its input ends. */
static int run(struct cli *cli, const struct mcp_features *features, struct gateway *gateway)
{
    struct mcp_service *service = NULL;
    wt_error err;
    int rc = wt__mcp_service_open(&service, features, NULL, &err);
    if (rc == 0 && gateway)
        rc = wt__gateway_attach(gateway, service, &err);
    if (rc == 0 && gateway)
        rc = wt__gateway_start(gateway, &err);
    if (rc == 0)
        rc = wt__mcp_stdio_run(service, STDIN_FILENO, STDOUT_FILENO, stop_pipe[0], 0, &err);
    if (gateway) {
        wt__gateway_detach(gateway, service);
        wt__gateway_stop(gateway);
    }
    wt__mcp_service_close(service);
    return rc < 0 ? wt__cli_fail(cli, &err) : 0;
}

static int serve_catalogue(struct cli *cli, wt_engine *engine)
{
    const struct catalogue_options options = {.summary = wt__text_of(cli, OPT_SUMMARY),
                                              .budget_bytes = (size_t)cli->arguments.number[OPT_BUDGET],
                                              .time_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT],
                                              .failed = wt__servers_tell_error,
                                              .failed_context = cli};
    struct mcp_catalogue *catalogue = NULL;
    wt_error err;
    if (wt__catalogue_open(&catalogue, engine, &options, &err) < 0)
        return wt__cli_fail(cli, &err);
    int code = run(cli, wt__catalogue_features(catalogue), NULL);
    wt__catalogue_close(catalogue);
    return code;
}

static int serve_servers(struct cli *cli, struct servers *servers)
{
    const struct face_options options = wt__servers_face(cli, FACE_AUTO);
    struct face *face = NULL;
    wt_error err;
    if (wt__face_open(&face, servers->gateway, &options, &err) < 0)
        return wt__cli_fail(cli, &err);
    int code = run(cli, wt__face_features(face), servers->gateway);
    wt__face_close(face);
    return code;
}

static int serve(struct cli *cli, wt_engine *engine)
{
    struct servers servers;
    int code = wt__servers_open(cli, engine, LIST_WAIT_MS, &servers);
    if (code == 0)
        code = servers.gateway ? serve_servers(cli, &servers) : serve_catalogue(cli, engine);
    wt__servers_close(&servers);
    return code;
}

static int serve_client(struct cli *cli)
{
    wt_engine *engine = NULL;
    if (isatty(STDIN_FILENO))
        wt__cli_note(cli, "An MCP server reads its client's messages from standard input; Ctrl-C ends it. "
                          "`whichtool help mcp` says how a client is told to start it.");
    if (!watch_signals())
        return wt__cli_say(cli, END_SYSTEM, "no pipe for signals can be had");
    int code = wt__servers_prepare(cli);
    wt__file_map_copies();
    if (code == 0)
        code = wt__cli_open(cli, OPEN_CREATE, NULL, &engine);
    if (code == 0)
        code = serve(cli, engine);
    wt_close(engine);
    return code;
}

/* Options of one action are none of another's; without an action a client is served. */
static int check_options(struct cli *cli, const char *action)
{
    static const struct {
        enum option_id option;
        const char *name, *actions;
    } rows[] = {{OPT_SUMMARY, "summary", "serve"},
                {OPT_BUDGET, "budget", "serve"},
                {OPT_TIMEOUT, "timeout", "serve"},
                {OPT_SERVERS, "servers", "serve"},
                {OPT_FACE, "face", "serve"},
                {OPT_PROFILE, "profile", "serve"},
                {OPT_POLICY, "policy", "serve audit"},
                {OPT_AUDIT, "audit", "serve"},
                {OPT_AUDIT_KEY, "audit-key", "serve audit"},
                {OPT_ROTATE, "rotate", "audit"},
                {OPT_LOCK, "lock", "serve approve"},
                {OPT_REVIEW_FIRST, "review-first", "serve"},
                {OPT_BARE_NAMES, "bare-names", "serve"},
                {OPT_CALL_TIMEOUT, "call-timeout", "serve"},
                {OPT_LIST_WAIT, "list-wait", "serve"},
                {OPT_LEARN, "learn", "serve"},
                {OPT_ALL, "all", "approve"},
                {OPT_INSTRUCTIONS, "instructions", "approve"},
                {OPT_YES, "yes", "approve forget init undo"},
                {OPT_CLIENT, "client", "init undo"},
                {OPT_NO_ENV, "no-env", "init"},
                {OPT_DRY_RUN, "dry-run", "init undo"},
                {OPT_PROJECT, "project", "init undo"}};
    bool serves = strcmp(action, "serve") == 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__given(cli, rows[i].option) && !wt__is_choice(rows[i].actions, action))
            return wt__cli_usage(cli, "--%s is no option of `mcp%s%s`", rows[i].name, serves ? "" : " ",
                                 serves ? "" : action);
    return 0;
}

int wt__cmd_mcp(struct cli *cli)
{
    static const struct {
        const char *action;
        int (*run)(struct cli *cli);
    } actions[] = {{"serve", serve_client}, {"status", wt__mcp_status}, {"approve", wt__mcp_approve},
                   {"lock", wt__mcp_lock},  {"audit", wt__mcp_audit},   {"init", wt__mcp_init},
                   {"undo", wt__mcp_undo},  {"forget", wt__mcp_forget}};
    const char *action = cli->arguments.word_count > 0 ? cli->arguments.words[0] : "serve";
    size_t at = 0;
    while (strcmp(actions[at].action, action) != 0) /* the table of options has let it through */
        at++;
    int code = check_options(cli, action);
    return code != 0 ? code : actions[at].run(cli);
}
