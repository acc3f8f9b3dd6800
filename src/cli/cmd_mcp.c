/* cmd_mcp.c: `whichtool mcp`. Without an action, this is an MCP server on standard input and output, for the catalogue
 * or as a gateway. The server writes only protocol messages to standard output. Notes go to standard error, which
 * clients keep as the server's log. The actions status and audit are here as well; approvals.c and clients.c have the
 * others. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/replica.h"
#include "cli/servers.h"
#include "gateway/audit.h"
#include "serve/catalogue.h"
#include "whichtool/review.h"
#include "serve/mcp/transport.h"

/* ---------------------------------------------------------------- mcp status */

/* The actions status and audit read files that a gateway wrote. They work without a running gateway. */

static void put_padded_words(struct buffer *out, const char *text, size_t width)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    wt__text_escape(&shown, wt__str(text), TEXT_LINE);
    wt__buffer_str(out, wt__buffer_view(&shown));
    size_t columns = wt__text_width(wt__buffer_view(&shown));
    wt__text_pad(out, columns < width ? width - columns : 1);
    out->failed |= shown.failed;
}

static void put_server_state(const struct cli *cli, struct buffer *out, const json_t *server, size_t name_width)
{
    long long waiting = (long long)wt__json_int(server, "waiting", 0);
    long long offers = (long long)wt__json_int(server, "offers_waiting", 0);
    bool instructions = json_is_true(json_object_get(server, "instructions_wait"));
    const char *name = json_string_value(json_object_get(server, "name"));
    const char *state = json_string_value(json_object_get(server, "state"));
    const char *era = json_string_value(json_object_get(server, "era"));
    put_padded_words(out, name ? name : "", name_width + 2);
    put_padded_words(out, state ? state : "", strlen("disabled") + 2);
    put_padded_words(out, era ? era : "", strlen("unknown") + 2);
    wt__buffer_printf(out, "%lld tools", (long long)wt__json_int(server, "tools", 0));
    if (waiting > 0)
        wt__buffer_printf(out, ", %lld of them %s for approval", waiting, waiting == 1 ? "waits" : "wait");
    if (offers > 0)
        wt__buffer_printf(out, ", %lld prompt%s or resource%s for approval", offers, offers == 1 ? "" : "s",
                          offers == 1 ? " waits" : "s wait");
    if (instructions)
        wt__buffer_text(out, ", its instructions wait for approval");
    wt__buffer_char(out, '\n');
    const char *error = json_string_value(json_object_get(server, "error"));
    if (error && *error)
        wt__print_line(cli, out, 4, error);
    const json_t *malformed = json_object_get(server, "malformed"), *note;
    size_t i;
    json_array_foreach((json_t *)malformed, i, note)
    {
        wt__print_line(cli, out, 4, json_is_string(note) ? json_string_value(note) : "");
    }
}

/* Prints the error of the audit log. error: NULL if the log can be written. */
static void put_audit_error(const struct cli *cli, struct buffer *out, const char *error)
{
    if (!error)
        return;
    if (cli->json) {
        wt__buffer_char(out, '{');
        wt__json_text(out, "audit_error", error);
        wt__buffer_text(out, "}\n");
    } else {
        wt__buffer_text(out, "Calls and reads are refused, because the audit log cannot be written:\n");
        wt__print_line(cli, out, 4, error);
    }
}

/* Sets the numbers of waiting items from the store, because approvals do not update the gateway's state file. */
static int set_waiting_counts(wt_engine *engine, json_t *servers, wt_error *err)
{
    wt_waiting_list *list = NULL;
    int rc = wt_list_waiting(engine, NULL, &list, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(servers); i++) {
        json_t *server = json_array_get(servers, i);
        struct str name = wt__json_str(server, "name");
        json_int_t tools = 0, offers = 0;
        bool instructions = false;
        for (size_t k = 0; k < list->len; k++) {
            bool its = wt__str_equal(name, wt__str(list->items[k]->provider));
            bool tool = list->items[k]->what == WT_REVIEW_TOOL;
            tools += its && tool && *list->items[k]->name;
            offers += its && !tool;
            instructions |= its && tool && !*list->items[k]->name;
        }
        if (json_object_set_new(server, "waiting", json_integer(tools)) < 0 ||
            json_object_set_new(server, "offers_waiting", json_integer(offers)) < 0 ||
            json_object_set_new(server, "instructions_wait", json_boolean(instructions)) < 0)
            rc = wt__fail_nomem(err);
    }
    wt_waiting_list_free(list);
    return rc;
}

/* Sets the state of all but disabled servers to "ended" if no gateway runs. The state file still contains the states
 * that the servers had before the gateway ended. */
static int mark_ended_servers(json_t *servers, bool runs, wt_error *err)
{
    for (size_t i = 0; i < json_array_size(servers); i++) {
        json_t *server = json_array_get(servers, i);
        bool disabled = wt__str_equal(wt__json_str(server, "state"), STR("disabled"));
        if (!runs && !disabled && json_object_set_new(server, "state", json_string("ended")) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}

static void note_no_gateway(const struct cli *cli, const char *path)
{
    struct stat info;
    char text[CLOCK_TEXT_BYTES];
    wt__clock_text(stat(path, &info) == 0 ? (int64_t)info.st_mtime : 0, text);
    wt__cli_note(cli, "No gateway is running; this is the state of the servers at %s.", text);
}

static int print_server_states(struct cli *cli, const json_t *state)
{
    const json_t *servers = wt__json_array(state, "servers");
    struct buffer out = {0};
    size_t widest = 0;
    for (size_t i = 0; i < json_array_size(servers); i++) {
        size_t width = wt__text_width(wt__json_str(json_array_get(servers, i), "name"));
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < json_array_size(servers); i++) {
        const json_t *server = json_array_get(servers, i);
        if (!cli->json)
            put_server_state(cli, &out, server, widest);
        else if (wt__json_write(&out, server) == 0)
            wt__buffer_char(&out, '\n');
    }
    put_audit_error(cli, &out, json_string_value(json_object_get(state, "audit_error")));
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}

static int show_server_states(struct cli *cli, json_t *state, const char *path)
{
    const char *lock = wt__servers_lock_path(cli);
    json_t *servers = wt__json_array(state, "servers");
    bool runs = lock && wt__is_shared(lock);
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_error err;
    if (wt__cli_has_store(cli))
        WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    if ((engine && set_waiting_counts(engine, servers, &err) < 0) || mark_ended_servers(servers, runs, &err) < 0)
        return wt__cli_fail(cli, &err);
    WT_TRY(print_server_states(cli, state));
    if (!runs)
        note_no_gateway(cli, path);
    return 0;
}

static int run_mcp_status(struct cli *cli)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    json_t *state = NULL;
    wt_error err;
    WT_TRY(wt__cli_find_store(cli));
    const char *path = wt__servers_state_path(cli);
    if (!path || !wt__is_file(path))
        return wt__cli_report(cli, END_STORE,
                              "no server was started yet for the store %s: start a client after `whichtool mcp init`, "
                              "or run `whichtool mcp --servers FILE`",
                              cli->store_shown);
    if (wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, &err) < 0 || wt__json_parse(&state, text, len, &err) < 0)
        return wt__cli_fail(cli, &err);
    int code = show_server_states(cli, state, path);
    json_decref(state);
    return code;
}

/* ---------------------------------------------------------------- mcp audit */

static void put_replay_json(struct buffer *out, const struct audit_replay *replay, const char *revision)
{
    wt__buffer_char(out, '{');
    wt__json_count(out, "lines", replay->lines);
    wt__json_count(out, "allowed", replay->allowed);
    wt__json_count(out, "denied", replay->denied);
    wt__json_count(out, "ended", replay->ended);
    wt__json_count(out, "keyed", replay->keyed);
    wt__json_text(out, "policy", revision);
    wt__json_count(out, "replayed", replay->replayed);
    wt__json_count(out, "other_revisions", replay->other_revisions);
    wt__json_count(out, "differing", replay->differing);
    wt__json_count(out, "first_differing", replay->first_differing);
    wt__json_count(out, "last", replay->chain.number);
    wt__json_text(out, "chain", replay->chain.link);
    wt__buffer_text(out, "}\n");
}

static void put_replay_text(struct buffer *out, const struct audit_replay *replay, const char *revision, bool has_key)
{
    wt__buffer_printf(out, "%zu lines, with an intact chain: %zu allowed, %zu denied.\n", replay->lines,
                      replay->allowed, replay->denied);
    if (replay->is_continued)
        wt__buffer_text(out, "The first line continues an earlier file; name that file first to check both.\n");
    if (has_key && replay->keyed < replay->lines)
        wt__buffer_printf(out, "%zu lines of the first files have no HMAC and could be forged.\n",
                          replay->lines - replay->keyed);
    else if (!has_key)
        wt__buffer_text(out, "The lines have no HMAC: anyone with write access to the file could have forged them.\n");
    wt__buffer_printf(out, "The last line is number %" PRIu64 ", %s. Store this elsewhere to detect a truncated log.\n",
                      replay->chain.number, replay->chain.link);
    if (replay->ended < replay->allowed)
        wt__buffer_printf(out, "%zu allowed entries have no recorded end.\n", replay->allowed - replay->ended);
    wt__buffer_printf(out, "Replayed with the policy %s: %zu lines, %zu of them with a different decision", revision,
                      replay->replayed, replay->differing);
    if (replay->differing > 0)
        wt__buffer_printf(out, ", the first in line %zu", replay->first_differing);
    wt__buffer_printf(out, ". Lines of other policy revisions: %zu.\n", replay->other_revisions);
}

static int print_replay(struct cli *cli, const struct audit_replay *replay, const char *revision, bool has_key)
{
    struct buffer out = {0};
    if (cli->json)
        put_replay_json(&out, replay, revision);
    else
        put_replay_text(&out, replay, revision, has_key);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    return replay->differing > 0 ? END_NOTHING : END_DONE;
}

static int replay_log_file(struct audit_replay *replay, const char *path, const struct audit_key *key,
                           const struct policy *policy, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    WT_TRY(wt__file_read(&text, &len, path, AUDIT_BYTES_MAX, err));
    int rc = wt__audit_replay(replay, (struct str){text, len}, key, policy, err);
    return rc < 0 ? wt__fail_context(err, rc, "%s", path) : rc;
}

static int replay_logs(struct cli *cli, const struct audit_key *key)
{
    struct policy *policy = NULL;
    struct audit_replay replay = {0};
    wt_error err;
    int rc = wt__has_option(cli, OPT_POLICY) ? wt__policy_read(&policy, wt__option_text(cli, OPT_POLICY), &err) : 0;
    for (size_t i = 1; rc == 0 && i < cli->arguments.word_count; i++)
        rc = replay_log_file(&replay, cli->arguments.words[i], key, policy, &err);
    if (rc == 0 && key && replay.keyed == 0)
        rc = wt__fail(&err, WT_EFORMAT, "no line of the log has an HMAC; check it without --audit-key");
    int code =
        rc < 0 ? wt__cli_fail_input(cli, &err) : print_replay(cli, &replay, wt__policy_revision(policy), key != NULL);
    wt__policy_close(policy);
    return code;
}

static int rotate_log(struct cli *cli, const struct audit_key *key)
{
    const char *path = cli->arguments.words[1];
    struct buffer out = {0};
    char *kept = NULL;
    uint64_t number = 0;
    wt_error err;
    if (cli->arguments.word_count != 2 || wt__has_option(cli, OPT_POLICY))
        return wt__cli_usage(cli, "`mcp audit FILE --rotate` takes one file and no policy");
    if (wt__audit_rotate(&kept, &number, path, key, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "kept", kept);
        wt__json_count(&out, "first", number);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s contains the lines before number %" PRIu64 "; later lines go to %s.\n", kept,
                          number, path);
    }
    free(kept);
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}

static int run_mcp_audit(struct cli *cli)
{
    struct audit_key key;
    wt_error err;
    bool has_key = wt__has_option(cli, OPT_AUDIT_KEY);
    if (cli->arguments.word_count < 2)
        return wt__cli_usage(cli, "`mcp audit` needs the log file that --audit wrote");
    if (has_key && wt__audit_key_read(&key, wt__option_text(cli, OPT_AUDIT_KEY), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    int code = wt__has_option(cli, OPT_ROTATE) ? rotate_log(cli, has_key ? &key : NULL)
                                               : replay_logs(cli, has_key ? &key : NULL);
    if (has_key)
        wt__audit_key_forget(&key);
    return code;
}

/* ---------------------------------------------------------------- serving */

enum { LIST_WAIT_MS = 1000 /* how long the first list waits for servers that were never listed */ };

static int stop_pipe[2] = {-1, -1}; /* wakes the reading loop on a signal */

static void on_stop_signal(int number)
{
    int kept = errno;
    (void)number;
    (void)!write(stop_pipe[1], "", 1);
    errno = kept;
}

/* Makes SIGINT, SIGTERM and SIGHUP write to stop_pipe. Ignores SIGPIPE, so that writing to a client that is gone fails
 * with an error. Returns false if the pipe cannot be created. */
static bool watch_stop_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = (int)SA_RESETHAND};
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaction(ending[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

/* Serves one client until the end of its input. */
static int run_stdio_service(struct cli *cli, const struct mcp_features *features, struct gateway *gateway)
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
    const struct catalogue_options options = {.summary = wt__option_text(cli, OPT_SUMMARY),
                                              .budget_bytes = (size_t)cli->arguments.number[OPT_BUDGET],
                                              .time_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT],
                                              .failed = wt__note_hidden_error,
                                              .failed_context = cli};
    struct mcp_catalogue *catalogue = NULL;
    wt_error err;
    if (wt__catalogue_open(&catalogue, engine, &options, &err) < 0)
        return wt__cli_fail(cli, &err);
    int code = run_stdio_service(cli, wt__catalogue_features(catalogue), NULL);
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
    int code = run_stdio_service(cli, wt__face_features(face), servers->gateway);
    wt__face_close(face);
    return code;
}

static int serve_stdio(struct cli *cli, wt_engine *engine)
{
    WT_CLEANUP(wt__servers_close) struct servers servers = {0};
    WT_TRY(wt__servers_open(cli, engine, NULL, LIST_WAIT_MS, &servers));
    return servers.gateway ? serve_servers(cli, &servers) : serve_catalogue(cli, engine);
}

static int serve_stdio_client(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    WT_CLEANUP(wt__replica_close) struct replica replica = {0};
    if (isatty(STDIN_FILENO))
        wt__cli_note(cli, "Reading MCP messages from standard input; stop with Ctrl-C. "
                          "`whichtool help mcp` shows how to let a client start this server.");
    if (wt__has_option(cli, OPT_TENANT) && wt__has_option(cli, OPT_SERVERS))
        return wt__cli_usage(cli, "--tenant serves the catalogue; with --servers, tenants need `whichtool serve`");
    if (!watch_stop_signals())
        return wt__cli_report(cli, END_SYSTEM, "cannot create a pipe for signals");
    WT_TRY(wt__servers_prepare(cli));
    wt__file_map_copies();
    WT_TRY(wt__replica_open(cli, &replica));
    WT_TRY(wt__cli_open(cli, OPEN_CREATE, NULL, &engine));
    WT_TRY(wt__replica_start(cli, &replica, engine));
    return serve_stdio(cli, engine);
}

/* Rejects options that belong to another action. action: "serve" if the command line has no action. */
static int check_mcp_options(struct cli *cli, const char *action)
{
    static const struct {
        enum option_id option;
        const char *name, *actions;
    } rows[] = {{OPT_SUMMARY, "summary", "serve"},
                {OPT_BUDGET, "budget", "serve"},
                {OPT_TIMEOUT, "timeout", "serve"},
                {OPT_SERVERS, "servers", "serve"},
                {OPT_FOLLOW_PUBLICATION, "follow", "serve"},
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
                {OPT_PROJECT, "project", "init undo"},
                {OPT_TENANT, "tenant", "serve"},
                {OPT_TENANTS, "tenants", "serve"}};
    bool serves = strcmp(action, "serve") == 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__has_option(cli, rows[i].option) && !wt__is_choice(rows[i].actions, action))
            return wt__cli_usage(cli, "--%s is not an option of `mcp%s%s`", rows[i].name, serves ? "" : " ",
                                 serves ? "" : action);
    return 0;
}

int wt__cmd_mcp(struct cli *cli)
{
    static const struct {
        const char *action;
        int (*run)(struct cli *cli);
    } actions[] = {{"serve", serve_stdio_client}, {"status", run_mcp_status}, {"approve", wt__mcp_approve},
                   {"lock", wt__mcp_lock},        {"audit", run_mcp_audit},   {"init", wt__mcp_init},
                   {"undo", wt__mcp_undo},        {"forget", wt__mcp_forget}};
    const char *action = cli->arguments.word_count > 0 ? cli->arguments.words[0] : "serve";
    size_t at = 0;
    while (strcmp(actions[at].action, action) != 0) /* the parser accepts known actions only */
        at++;
    WT_TRY(check_mcp_options(cli, action));
    return actions[at].run(cli);
}
