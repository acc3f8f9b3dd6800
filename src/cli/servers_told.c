#include "cli/servers_told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/servers.h"
#include "cli/text.h"
#include "gateway/audit.h"
#include "whichtool/review.h"

/* ---------------------------------------------------------------- mcp status */

static void put_words(struct buffer *out, const char *text, size_t width)
{
    struct buffer shown = {0};
    wt__text_escape(&shown, wt__str(text), TEXT_LINE);
    wt__buffer_str(out, wt__buffer_view(&shown));
    size_t columns = wt__text_width(wt__buffer_view(&shown));
    wt__text_pad(out, columns < width ? width - columns : 1);
    out->failed |= shown.failed;
    wt__buffer_dispose(&shown);
}

static void put_server(const struct cli *cli, struct buffer *out, const json_t *server, size_t name_width)
{
    long long waiting = (long long)wt__json_int(server, "waiting", 0);
    long long offers = (long long)wt__json_int(server, "offers_waiting", 0);
    bool instructions = json_is_true(json_object_get(server, "instructions_wait"));
    const char *name = json_string_value(json_object_get(server, "name"));
    const char *state = json_string_value(json_object_get(server, "state"));
    const char *era = json_string_value(json_object_get(server, "era"));
    put_words(out, name ? name : "", name_width + 2);
    put_words(out, state ? state : "", strlen("disabled") + 2);
    put_words(out, era ? era : "", strlen("unknown") + 2);
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

/* Whether the audit could not be written. */
static void put_audit(const struct cli *cli, struct buffer *out, const char *error)
{
    if (!error)
        return;
    if (cli->json) {
        wt__buffer_char(out, '{');
        wt__json_text(out, "audit_error", error);
        wt__buffer_text(out, "}\n");
    } else {
        wt__buffer_text(out, "Nothing is called or read, for the audit cannot be written:\n");
        wt__print_line(cli, out, 4, error);
    }
}

/* What waits now stands in the store: whoever approved of it told no gateway. */
static int count_waiting(wt_engine *engine, json_t *servers, wt_error *err)
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

/* Without a gateway nothing of them runs, whatever was written last. */
static int tell_ended(json_t *servers, bool runs, wt_error *err)
{
    for (size_t i = 0; i < json_array_size(servers); i++) {
        json_t *server = json_array_get(servers, i);
        bool disabled = wt__str_equal(wt__json_str(server, "state"), STR("disabled"));
        if (!runs && !disabled && json_object_set_new(server, "state", json_string("ended")) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}

static void note_ended(const struct cli *cli, const char *path)
{
    struct stat info;
    char text[CLOCK_TEXT_BYTES];
    wt__clock_text(stat(path, &info) == 0 ? (int64_t)info.st_mtime : 0, text);
    wt__cli_note(cli, "No gateway runs now: this is how the servers were at %s.", text);
}

static int print_state(struct cli *cli, const json_t *state)
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
            put_server(cli, &out, server, widest);
        else if (wt__json_write(&out, server) == 0)
            wt__buffer_char(&out, '\n');
    }
    put_audit(cli, &out, json_string_value(json_object_get(state, "audit_error")));
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}

static int show_state(struct cli *cli, json_t *state, const char *path)
{
    const char *lock = wt__servers_lock_path(cli);
    json_t *servers = wt__json_array(state, "servers");
    bool runs = lock && wt__is_shared(lock);
    wt_engine *engine = NULL;
    wt_error err;
    int code = wt__is_file(cli->store) ? wt__cli_open(cli, OPEN_EXISTING, "", &engine) : 0;
    int rc = engine ? count_waiting(engine, servers, &err) : 0;
    wt_close(engine);
    if (rc == 0)
        rc = tell_ended(servers, runs, &err);
    if (code != 0 || rc < 0)
        return code != 0 ? code : wt__cli_fail(cli, &err);
    code = print_state(cli, state);
    if (code == 0 && !runs)
        note_ended(cli, path);
    return code;
}

int wt__mcp_status(struct cli *cli)
{
    char *text = NULL;
    size_t len = 0;
    json_t *state = NULL;
    wt_error err;
    int code = wt__cli_store(cli);
    if (code != 0)
        return code;
    const char *path = wt__servers_state_path(cli);
    if (!path || !wt__is_file(path))
        return wt__cli_say(cli, END_STORE,
                           "no server was started yet behind the store %s: start a client, after `whichtool mcp init`, "
                           "or `whichtool mcp --servers FILE`",
                           cli->store);
    int rc = wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, &err);
    if (rc == 0)
        rc = wt__json_parse(&state, text, len, &err);
    code = rc < 0 ? wt__cli_fail(cli, &err) : show_state(cli, state, path);
    json_decref(state);
    free(text);
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
    wt__buffer_printf(out, "%zu lines, each follows from the one before: %zu allowed, %zu denied.\n", replay->lines,
                      replay->allowed, replay->denied);
    if (replay->is_continued)
        wt__buffer_text(out, "The first line continues an earlier file: name that one first to check it as well.\n");
    if (has_key && replay->keyed < replay->lines)
        wt__buffer_printf(out, "%zu lines of the first files have no HMAC: others could have written them.\n",
                          replay->lines - replay->keyed);
    else if (!has_key)
        wt__buffer_text(out, "No line has an HMAC: whoever can write the file can have written all of it.\n");
    wt__buffer_printf(out, "The last line is number %" PRIu64 ", %s. Keep it elsewhere to notice a log that was cut.\n",
                      replay->chain.number, replay->chain.link);
    if (replay->ended < replay->allowed)
        wt__buffer_printf(out, "Of %zu that were allowed nobody wrote how they ended.\n",
                          replay->allowed - replay->ended);
    wt__buffer_printf(out, "Decided again by the policy %s: %zu, of which %zu come out otherwise", revision,
                      replay->replayed, replay->differing);
    if (replay->differing > 0)
        wt__buffer_printf(out, ", the first in line %zu", replay->first_differing);
    wt__buffer_printf(out, ". By another revision: %zu.\n", replay->other_revisions);
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

static int replay_file(struct audit_replay *replay, const char *path, const struct audit_key *key,
                       const struct policy *policy, wt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = wt__file_read(&text, &len, path, AUDIT_BYTES_MAX, err);
    if (rc == 0) {
        rc = wt__audit_replay(replay, (struct str){text, len}, key, policy, err);
        if (rc < 0)
            wt__fail_context(err, rc, "%s", path);
    }
    free(text);
    return rc;
}

static int check_logs(struct cli *cli, const struct audit_key *key)
{
    struct policy *policy = NULL;
    struct audit_replay replay = {0};
    wt_error err;
    int rc = wt__given(cli, OPT_POLICY) ? wt__policy_read(&policy, wt__text_of(cli, OPT_POLICY), &err) : 0;
    for (size_t i = 1; rc == 0 && i < cli->arguments.word_count; i++)
        rc = replay_file(&replay, cli->arguments.words[i], key, policy, &err);
    if (rc == 0 && key && replay.keyed == 0)
        rc =
            wt__fail(&err, WT_EFORMAT, "no line of the log has an HMAC, so that the key of --audit-key proves nothing");
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
    if (cli->arguments.word_count != 2 || wt__given(cli, OPT_POLICY))
        return wt__cli_usage(cli, "`mcp audit FILE --rotate` takes one file and no policy");
    if (wt__audit_rotate(&kept, &number, path, key, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "kept", kept);
        wt__json_count(&out, "first", number);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s has the lines before number %" PRIu64 ", with which %s goes on.\n", kept, number,
                          path);
    }
    free(kept);
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}

int wt__mcp_audit(struct cli *cli)
{
    struct audit_key key;
    wt_error err;
    bool has_key = wt__given(cli, OPT_AUDIT_KEY);
    if (cli->arguments.word_count < 2)
        return wt__cli_usage(cli, "`mcp audit` takes the file of --audit");
    if (has_key && wt__audit_key_read(&key, wt__text_of(cli, OPT_AUDIT_KEY), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    int code =
        wt__given(cli, OPT_ROTATE) ? rotate_log(cli, has_key ? &key : NULL) : check_logs(cli, has_key ? &key : NULL);
    if (has_key)
        wt__audit_key_forget(&key);
    return code;
}
