#include "cli/servers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "gateway/audit.h"
#include "net/process.h"

enum { LOCK_BYTES_MAX = 64 << 20 };

static const char *beside_store(struct cli *cli, const char *suffix)
{
    struct buffer path = {0};
    if (strcmp(cli->store, ":memory:") == 0)
        return NULL;
    wt__buffer_printf(&path, "%s%s", cli->store, suffix);
    const char *out = path.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&path));
    wt__buffer_dispose(&path);
    return out;
}

const char *wt__servers_state_path(struct cli *cli)
{
    return beside_store(cli, "-servers.json");
}

const char *wt__servers_lock_path(struct cli *cli)
{
    return beside_store(cli, "-servers.lock");
}

static bool is_listed(const char *list, const char *path)
{
    size_t len = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at++)
        if ((at == list || at[-1] == ':') && (at[len] == '\0' || at[len] == ':'))
            return true;
    return false;
}

/* Servers whose file is being served by who started this, whoever stands between, would be started without end. Other
 * files' may: gateways may stand behind one another. */
static int refuse_circle(struct cli *cli)
{
    const char *file = wt__text_of(cli, OPT_SERVERS), *list = getenv(MCP_GATEWAY_VARIABLE);
    char path[PATH_MAX];
    struct buffer text = {0};
    if (!realpath(file, path))
        return 0; /* whoever reads it says why */
    if (list && is_listed(list, path))
        return wt__cli_say(cli, END_INPUT,
                           "a server of %s has started this whichtool, which would start the servers of that file "
                           "again, and so on: take the server that starts whichtool out of it",
                           file);
    wt__buffer_printf(&text, "%s%s%s", list ? list : "", list && *list ? ":" : "", path);
    bool set = !text.failed && setenv(MCP_GATEWAY_VARIABLE, text.ptr, 1) == 0;
    wt__buffer_dispose(&text);
    return set ? 0 : wt__cli_say(cli, END_SYSTEM, "out of memory");
}

int wt__servers_prepare(struct cli *cli)
{
    wt_error err;
    if (!wt__given(cli, OPT_SERVERS))
        return 0;
    int code = refuse_circle(cli);
    return code == 0 && wt__keeper_start(&err) < 0 ? wt__cli_fail(cli, &err) : code;
}

/* Options that say something of servers, where there are none. */
static int refuse_without(const struct cli *cli)
{
    static const struct {
        enum option_id id;
        const char *name;
    } needing[] = {{OPT_FACE, "face"},
                   {OPT_POLICY, "policy"},
                   {OPT_PROFILE, "profile"},
                   {OPT_AUDIT, "audit"},
                   {OPT_AUDIT_KEY, "audit-key"},
                   {OPT_BARE_NAMES, "bare-names"},
                   {OPT_REVIEW_FIRST, "review-first"},
                   {OPT_LOCK, "lock"},
                   {OPT_CALL_TIMEOUT, "call-timeout"},
                   {OPT_PASS_HEADER, "pass-header"},
                   {OPT_LIST_WAIT, "list-wait"},
                   {OPT_LEARN, "learn"}};
    for (size_t i = 0; i < sizeof needing / sizeof *needing; i++)
        if (wt__given(cli, needing[i].id))
            return wt__cli_usage(cli, "--%s is for the servers of --servers FILE", needing[i].name);
    return 0;
}

static int read_lock(struct cli *cli, struct servers *servers, struct gateway_options *options)
{
    size_t len = 0;
    wt_error err;
    if (!wt__given(cli, OPT_LOCK))
        return 0;
    if (wt__file_read(&servers->lock, &len, wt__text_of(cli, OPT_LOCK), LOCK_BYTES_MAX, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    options->lock = (struct str){servers->lock, len};
    return 0;
}

static int check_profile(const struct cli *cli, const struct policy *policy)
{
    const char *profile = wt__text_of(cli, OPT_PROFILE);
    bool known = !profile;
    for (size_t i = 0; !known && i < wt__policy_profile_count(policy); i++)
        known = strcmp(wt__policy_profile_name(policy, i), profile) == 0;
    return known ? 0 : wt__cli_usage(cli, "the policy has no profile %s", profile);
}

static void tell(void *cli, bool failing, const char *sentence)
{
    if (failing)
        wt__cli_say(cli, 0, "%s", sentence);
    else
        wt__cli_note(cli, "whichtool: %s", sentence);
}

void wt__servers_tell_error(void *cli, const wt_error *err)
{
    tell(cli, false, err->message);
}

/* The command that approves of what waits in this store. */
static const char *approve_command(struct cli *cli)
{
    struct buffer text = {0};
    const char *store = wt__text_of(cli, OPT_STORE), *lock = wt__text_of(cli, OPT_LOCK);
    wt__buffer_printf(&text, "whichtool%s%s mcp approve%s%s", store && *store ? " -s " : "", store ? store : "",
                      lock ? " --lock " : "", lock ? lock : "");
    const char *out = text.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return out;
}

static int open_audit(struct cli *cli, struct audit_log **out)
{
    struct audit_key key;
    wt_error err;
    bool has_key = wt__given(cli, OPT_AUDIT_KEY);
    if (has_key && !wt__given(cli, OPT_AUDIT))
        return wt__cli_usage(cli, "--audit-key is for the log of --audit FILE");
    if (!wt__given(cli, OPT_AUDIT))
        return 0;
    int rc = has_key ? wt__audit_key_read(&key, wt__text_of(cli, OPT_AUDIT_KEY), &err) : 0;
    if (rc == 0)
        rc = wt__audit_open(out, wt__text_of(cli, OPT_AUDIT), has_key ? &key : NULL, &err);
    wt__audit_key_forget(&key);
    return rc < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

int wt__servers_open(struct cli *cli, wt_engine *engine, unsigned list_wait_ms, struct servers *out)
{
    struct gateway_options options = {.list_wait_ms = list_wait_ms,
                                      .report = tell,
                                      .report_context = cli,
                                      .approve = approve_command(cli),
                                      .bare_names = wt__given(cli, OPT_BARE_NAMES),
                                      .review_first = wt__given(cli, OPT_REVIEW_FIRST),
                                      .learn = wt__given(cli, OPT_LEARN)};
    wt_error err;
    *out = (struct servers){0};
    if (!wt__given(cli, OPT_SERVERS))
        return refuse_without(cli);
    if (wt__mcp_config_read(&out->config, wt__text_of(cli, OPT_SERVERS), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    if (wt__given(cli, OPT_POLICY) && wt__policy_read(&out->policy, wt__text_of(cli, OPT_POLICY), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    int code = check_profile(cli, out->policy);
    if (code == 0)
        code = open_audit(cli, &out->audit);
    if (code == 0)
        code = read_lock(cli, out, &options);
    if (code != 0)
        return code;
    if (wt__given(cli, OPT_LIST_WAIT))
        options.list_wait_ms = 1000 * (unsigned)cli->arguments.number[OPT_LIST_WAIT];
    options.call_timeout_ms = 1000 * (unsigned)cli->arguments.number[OPT_CALL_TIMEOUT];
    options.policy = out->policy;
    options.audit = out->audit;
    options.state_path = wt__servers_state_path(cli);
    options.lock_path = wt__servers_lock_path(cli);
    int rc = wt__gateway_open(&out->gateway, engine, out->config.servers, out->config.count, &options, &err);
    return rc < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

struct face_options wt__servers_face(const struct cli *cli, enum face_kind kind)
{
    int said = wt__given(cli, OPT_FACE) ? wt__face_kind_parse(wt__str(wt__text_of(cli, OPT_FACE))) : -1;
    return (struct face_options){.kind = said < 0 ? kind : (enum face_kind)said,
                                 .profile = wt__text_of(cli, OPT_PROFILE),
                                 .summary = wt__text_of(cli, OPT_SUMMARY),
                                 .budget_bytes = (size_t)cli->arguments.number[OPT_BUDGET]};
}

void wt__servers_close(struct servers *servers)
{
    wt__gateway_close(servers->gateway);
    wt__audit_close(servers->audit);
    wt__policy_close(servers->policy);
    wt__mcp_config_dispose(&servers->config);
    free(servers->lock);
}
