/* servers.c: see servers.h. */
#include "cli/servers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "gateway/audit.h"
#include "net/process.h"
#include "store/location.h"

enum { LOCK_BYTES_MAX = 64 << 20 };

static const char *path_beside_store(struct cli *cli, const char *suffix)
{
    struct buffer path = {0};
    char *base;
    if (strcmp(cli->store, ":memory:") == 0 || wt__store_base(&base, &cli->arena, cli->store, false, NULL) < 0)
        return NULL;
    wt__buffer_printf(&path, "%s%s", base, suffix);
    const char *out = path.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&path));
    wt__buffer_dispose(&path);
    return out;
}

const char *wt__servers_state_path(struct cli *cli)
{
    return path_beside_store(cli, "-servers.json");
}

const char *wt__servers_lock_path(struct cli *cli)
{
    return path_beside_store(cli, "-servers.lock");
}

static bool is_path_listed(const char *list, const char *path)
{
    size_t len = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at++)
        if ((at == list || at[-1] == ':') && (at[len] == '\0' || at[len] == ':'))
            return true;
    return false;
}

/* Refuses a configuration that an ancestor process already serves, because the gateways would start each other
 * endlessly. Gateways of different files may be nested. The environment variable MCP_GATEWAY_VARIABLE lists the files
 * of all ancestor gateways. Adds this file to the variable for child processes. */
static int refuse_nested_gateway(struct cli *cli)
{
    const char *file = wt__option_text(cli, OPT_SERVERS), *list = getenv(MCP_GATEWAY_VARIABLE);
    char path[PATH_MAX];
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (!realpath(file, path))
        return 0; /* reading the file reports the error */
    if (list && is_path_listed(list, path))
        return wt__cli_report(
            cli, END_INPUT,
            "a server of %s started this whichtool, which would start the servers of that file again: "
            "remove the server that starts whichtool from the file",
            file);
    wt__buffer_printf(&text, "%s%s%s", list ? list : "", list && *list ? ":" : "", path);
    bool set = !text.failed && setenv(MCP_GATEWAY_VARIABLE, text.ptr, 1) == 0;
    return set ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

int wt__servers_prepare(struct cli *cli)
{
    wt_error err;
    if (!wt__has_option(cli, OPT_SERVERS))
        return 0;
    WT_TRY(refuse_nested_gateway(cli));
    return wt__keeper_start(&err) < 0 ? wt__cli_fail(cli, &err) : 0;
}

/* Rejects options that need --servers. */
static int refuse_gateway_options(const struct cli *cli)
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
        if (wt__has_option(cli, needing[i].id))
            return wt__cli_usage(cli, "--%s needs --servers FILE", needing[i].name);
    return 0;
}

static int read_lock_file(struct cli *cli, struct servers *servers, struct gateway_options *options)
{
    size_t len = 0;
    wt_error err;
    if (!wt__has_option(cli, OPT_LOCK))
        return 0;
    if (wt__file_read(&servers->lock, &len, wt__option_text(cli, OPT_LOCK), LOCK_BYTES_MAX, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    options->lock = (struct str){servers->lock, len};
    return 0;
}

static int check_profile_option(const struct cli *cli, const struct policy *policy)
{
    const char *profile = wt__option_text(cli, OPT_PROFILE);
    bool known = !profile;
    for (size_t i = 0; !known && i < wt__policy_profile_count(policy); i++)
        known = strcmp(wt__policy_profile_name(policy, i), profile) == 0;
    return known ? 0 : wt__cli_usage(cli, "the policy has no profile %s", profile);
}

static void print_gateway_message(void *cli, bool failing, const char *sentence)
{
    if (failing)
        wt__cli_report(cli, 0, "%s", sentence);
    else
        wt__cli_note(cli, "whichtool: %s", sentence);
}

void wt__note_hidden_error(void *cli, const wt_error *err)
{
    print_gateway_message(cli, false, err->message);
}

/* Returns the command that approves waiting definitions of this store; NULL if out of memory. */
static const char *format_approve_command(struct cli *cli)
{
    struct buffer text = {0};
    const char *store = wt__option_text(cli, OPT_STORE), *lock = wt__option_text(cli, OPT_LOCK);
    wt__buffer_printf(&text, "whichtool%s%s mcp approve%s%s", store && *store ? " -s " : "", store ? store : "",
                      lock ? " --lock " : "", lock ? lock : "");
    const char *out = text.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return out;
}

static int open_gateway_audit(struct cli *cli, struct audit_log **out)
{
    struct audit_key key;
    wt_error err;
    bool has_key = wt__has_option(cli, OPT_AUDIT_KEY);
    if (has_key && !wt__has_option(cli, OPT_AUDIT))
        return wt__cli_usage(cli, "--audit-key needs --audit FILE");
    if (!wt__has_option(cli, OPT_AUDIT))
        return 0;
    int rc = has_key ? wt__audit_key_read(&key, wt__option_text(cli, OPT_AUDIT_KEY), &err) : 0;
    if (rc == 0)
        rc = wt__audit_open(out, wt__option_text(cli, OPT_AUDIT), has_key ? &key : NULL, &err);
    wt__audit_key_forget(&key);
    return rc < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

int wt__servers_open(struct cli *cli, wt_engine *engine, wt_tenants *tenants, unsigned list_wait_ms,
                     struct servers *out)
{
    struct gateway_options options = {.list_wait_ms = list_wait_ms,
                                      .report = print_gateway_message,
                                      .report_context = cli,
                                      .approve = format_approve_command(cli),
                                      .bare_names = wt__has_option(cli, OPT_BARE_NAMES),
                                      .review_first = wt__has_option(cli, OPT_REVIEW_FIRST),
                                      .learn = wt__has_option(cli, OPT_LEARN)};
    wt_error err;
    *out = (struct servers){0};
    if (!wt__has_option(cli, OPT_SERVERS))
        return refuse_gateway_options(cli);
    if (wt__mcp_config_read(&out->config, wt__option_text(cli, OPT_SERVERS), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    if (wt__has_option(cli, OPT_POLICY) && wt__policy_read(&out->policy, wt__option_text(cli, OPT_POLICY), &err) < 0)
        return wt__cli_fail_input(cli, &err);
    WT_TRY(check_profile_option(cli, out->policy));
    WT_TRY(open_gateway_audit(cli, &out->audit));
    WT_TRY(read_lock_file(cli, out, &options));
    if (wt__has_option(cli, OPT_LIST_WAIT))
        options.list_wait_ms = 1000 * (unsigned)cli->arguments.number[OPT_LIST_WAIT];
    options.call_timeout_ms = 1000 * (unsigned)cli->arguments.number[OPT_CALL_TIMEOUT];
    options.policy = out->policy;
    options.tenants = tenants;
    options.audit = out->audit;
    options.state_path = wt__servers_state_path(cli);
    options.lock_path = wt__servers_lock_path(cli);
    int rc = wt__gateway_open(&out->gateway, engine, out->config.servers, out->config.count, &options, &err);
    return rc < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

struct face_options wt__servers_face(const struct cli *cli, enum face_kind kind)
{
    int said = wt__has_option(cli, OPT_FACE) ? wt__face_kind_parse(wt__str(wt__option_text(cli, OPT_FACE))) : -1;
    return (struct face_options){.kind = said < 0 ? kind : (enum face_kind)said,
                                 .profile = wt__option_text(cli, OPT_PROFILE),
                                 .summary = wt__option_text(cli, OPT_SUMMARY),
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
