/* cmd_serve.c: the HTTP API in a process of its own: options, signals, and what is told on the terminal. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/log_writer.h"
#include "cli/output.h"
#include "cli/servers.h"
#include "serve/api/api.h"
#include "serve/catalogue.h"
#include "serve/access.h"
#include "serve/mcp/transport.h"
#include "serve/mcp_routes.h"
#include "serve/usage_routes.h"

/* What signals act on; set before they are caught. */
static struct http_server *serving;
static struct http_api *reloading;

static void on_end(int number)
{
    (void)number;
    wt__http_server_stop(serving);
}

static void on_reload(int number)
{
    (void)number;
    wt__api_reload(reloading);
}

static void watch(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* The second Ctrl-C ends the process. */
static void watch_signals(struct http_server *server, struct http_api *api)
{
    serving = server;
    reloading = api;
    watch(SIGINT, on_end, (int)SA_RESETHAND);
    watch(SIGTERM, on_end, (int)SA_RESETHAND);
    watch(SIGHUP, on_reload, SA_RESTART);
}

static void tell_ready(void *context, double ms)
{
    const struct cli *cli = context;
    if (!cli->quiet)
        fprintf(stderr, "Ready after %.0f ms.\n", ms);
}

/* ---------------------------------------------------------------- a new key */

static int make_key(struct cli *cli)
{
    const char *path = wt__text_of(cli, OPT_KEYS), *name = wt__text_of(cli, OPT_NEW_KEY);
    const char *list = wt__given(cli, OPT_SCOPES) ? wt__text_of(cli, OPT_SCOPES) : "find";
    char key[64];
    wt_error err;
    if (!path)
        return wt__cli_usage(cli, "--new-key takes --keys FILE, to which its hash is added");
    unsigned scopes = wt__scopes_parse(wt__str(list), &err);
    if (scopes == 0)
        return wt__cli_usage(cli, "--scopes: %s", err.message);
    if (wt__keys_add(path, name, scopes, key, &err) < 0)
        return wt__cli_fail(cli, &err);
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "name", name);
        wt__json_text(&out, "scopes", list);
        wt__json_text(&out, "key", key);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s\n", key);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    wt__cli_note(cli, "The key is not shown again. A server that runs reads the file anew on SIGHUP.");
    return END_DONE;
}

/* ---------------------------------------------------------------- serving */

static enum access_form access_of(const struct cli *cli)
{
    const char *form = wt__text_of(cli, OPT_LOG);
    if (!form)
        return cli->quiet ? ACCESS_OFF : ACCESS_TEXT;
    return strcmp(form, "json") == 0 ? ACCESS_JSON : strcmp(form, "off") == 0 ? ACCESS_OFF : ACCESS_TEXT;
}

/* 0, or an exit code with the reason told. */
static int read_options(struct cli *cli, struct api_options *out)
{
    struct guard *guard = &out->guard;
    bool read = (!wt__given(cli, OPT_HOST) || wt__read_lines(cli, OPT_HOST, &guard->hosts, &guard->host_count)) &&
                (!wt__given(cli, OPT_ORIGIN) || wt__read_lines(cli, OPT_ORIGIN, &guard->origins, &guard->origin_count));
    if (!read)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < guard->origin_count; i++) {
        const char *slashes = strstr(guard->origins[i], "://");
        if (!slashes || strchr(slashes + 3, '/') || strchr(guard->origins[i], '*'))
            return wt__cli_usage(cli,
                                 "--origin takes what a browser sends, such as https://app.example.com, not \"%s\"",
                                 guard->origins[i]);
    }
    for (size_t i = 0; i < guard->host_count; i++)
        if (strpbrk(guard->hosts[i], ":/*"))
            return wt__cli_usage(cli, "--host takes a name without a port, not \"%s\"", guard->hosts[i]);
    guard->listen = wt__given(cli, OPT_LISTEN) ? wt__text_of(cli, OPT_LISTEN) : API_LISTEN;
    wt_error err;
    if (wt__http_address_check(guard->listen, &err) < 0)
        return wt__cli_usage(cli, "--listen: %s", err.message);
    out->keys_path = wt__text_of(cli, OPT_KEYS);
    out->time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIME_LIMIT];
    out->language_model = wt__given(cli, OPT_CHAT_MODEL);
    out->access = access_of(cli);
    out->access_requests = wt__given(cli, OPT_LOG_REQUESTS);
    out->ready = tell_ready;
    out->ready_context = cli;
    return 0;
}

/* Where it listens, at once: whoever started it waits for that line. */
static int tell_address(struct cli *cli, const char *address)
{
    const char *scheme = strncmp(address, "unix:", 5) == 0 ? "" : "http://";
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_printf(&out, "{\"listening\":\"%s", scheme);
        wt__buffer_text(&out, address);
        wt__buffer_text(&out, "\"}\n");
    }
    if (!wt__cli_print(&out) || wt__cli_finish() != 0)
        return END_SYSTEM;
    wt__cli_note(cli, "Listening at %s%s; Ctrl-C ends it.", scheme, address);
    return 0;
}

/* What there is to be asked, and by whom: a mistyped name of a store made an empty one, which nobody else would tell.
 */
static void tell_holdings(const struct cli *cli, wt_engine *engine, const struct http_api *api)
{
    wt_status *status = NULL;
    size_t keys = wt__api_count_keys(api);
    if (wt_get_status(engine, &status, NULL) == 0 && status->tools > 0)
        wt__cli_note(cli, "%s has %" PRIu64 " tool%s.", status->store, status->tools, status->tools == 1 ? "" : "s");
    else if (status && !wt__given(cli, OPT_SERVERS)) /* whose tools are on their way */
        wt__cli_note(cli, "%s has no tools yet: `whichtool -s %s add FILE` adds some.", status->store, status->store);
    if (wt__given(cli, OPT_KEYS) && keys > 0)
        wt__cli_note(cli, "%zu key%s may ask.", keys, keys == 1 ? "" : "s");
    else if (wt__given(cli, OPT_KEYS))
        wt__cli_note(cli, "No key may ask: `whichtool serve --keys FILE --new-key NAME` makes one, SIGHUP reads it.");
    wt_status_free(status);
}

/* Before the scope `call` existed, `find` was enough to call: whoever has such a file hears what changed. */
static void tell_finding_only(const struct cli *cli, const struct http_api *api)
{
    size_t count = wt__api_count_find_only_keys(api);
    if (count > 0 && wt__given(cli, OPT_SERVERS))
        wt__cli_note(
            cli,
            "%zu key%s the scope find without call: %s tools of the servers and cannot call them. To let a key "
            "call, write find,call in its line of %s and send SIGHUP.",
            count, count == 1 ? " has" : "s have", count == 1 ? "it finds" : "they find", wt__text_of(cli, OPT_KEYS));
}

static int run(struct cli *cli, struct http_api *api, wt_engine *engine, const char *listen)
{
    wt_error err;
    struct http_server *server = NULL;
    const struct http_server_options options = {.listen = listen,
                                                .workers = (unsigned)cli->arguments.number[OPT_WORKERS],
                                                .queue_max = (size_t)cli->arguments.number[OPT_QUEUE],
                                                .handler = wt__api_handler(api)};
    int rc = wt__http_server_open(&server, &options, &err);
    if (rc < 0)
        return wt__cli_say(cli, rc == WT_EINVAL ? END_USAGE : END_NETWORK, "%s", err.message);
    wt__api_set_server(api, server);
    watch_signals(server, api);
    int code = tell_address(cli, wt__http_server_address(server));
    if (code == 0) {
        tell_holdings(cli, engine, api);
        tell_finding_only(cli, api);
        wt__api_warm_up(api);
        rc = wt__http_server_run(server, &err);
        code = rc < 0 ? wt__cli_say(cli, END_NETWORK, "%s", err.message) : END_DONE;
    }
    wt__api_wait_for_calls(api);
    wt__http_server_close(server);
    return code;
}

/* The API, and the modules that bring routes of their own. */
struct modules {
    struct mcp_catalogue *catalogue; /* at /mcp, where no servers are */
    struct servers servers;
    struct face *faces[MCP_MOUNTS_MAX]; /* of those: at /mcp, /mcp/all and /mcp/p/PROFILE */
    struct mcp_mount mounts[MCP_MOUNTS_MAX];
    size_t mount_count;
    const char *const *passed_headers; /* as of struct mcp_mount */
    struct mcp_routes *mcp;
    struct usage_routes *usage;
    struct routes routes[2];
    struct http_api *api;
};

/* Reads --pass-header into a list that ends in NULL. With keys, Authorization holds the client's key for this server. */
static int read_passed(struct cli *cli, struct modules *modules)
{
    const char *const *names = NULL;
    size_t count = 0;
    if (!wt__given(cli, OPT_PASS_HEADER))
        return 0;
    const char **list = wt__read_lines(cli, OPT_PASS_HEADER, &names, &count)
                            ? wt__arena_array(&cli->arena, const char *, count + 1)
                            : NULL;
    if (!list)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    if (count > MCP_PASSED_HEADERS_MAX)
        return wt__cli_usage(cli, "--pass-header can be given at most %d times", MCP_PASSED_HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!wt__mcp_http_may_pass(wt__str(names[i])))
            return wt__cli_usage(
                cli, "--pass-header cannot take \"%.64s\": it is no header name, or one of HTTP or MCP", names[i]);
        if (strcasecmp(names[i], "Authorization") == 0 && wt__given(cli, OPT_KEYS))
            return wt__cli_usage(cli,
                                 "--pass-header Authorization would give the clients' keys for this server (--keys) "
                                 "to the servers behind it");
        list[i] = names[i];
    }
    modules->passed_headers = list;
    return 0;
}

static int mount_face(struct cli *cli, struct modules *modules, const char *path, const char *name,
                      const struct face_options *options)
{
    struct mcp_mount *mount = &modules->mounts[modules->mount_count];
    struct face **face = &modules->faces[modules->mount_count++];
    wt_error err;
    if (wt__face_open(face, modules->servers.gateway, options, &err) < 0)
        return wt__cli_fail(cli, &err);
    *mount = (struct mcp_mount){path, name, wt__face_features(*face), modules->passed_headers};
    return 0;
}

static int mount_profile(struct cli *cli, struct modules *modules, size_t index)
{
    const struct policy *policy = modules->servers.policy;
    struct face_options options = wt__servers_face(cli, FACE_AUTO);
    struct buffer path = {0}, name = {0};
    options.profile = wt__policy_profile_name(policy, index);
    options.kind = wt__policy_profile_face(policy, index);
    wt__buffer_printf(&path, "/mcp/p/%s", options.profile);
    wt__buffer_printf(&name, "mcp_%s", options.profile);
    const char *kept_path = wt__arena_copy(&cli->arena, wt__buffer_view(&path));
    const char *kept_name = wt__arena_copy(&cli->arena, wt__buffer_view(&name));
    bool whole = !path.failed && !name.failed && kept_path && kept_name;
    wt__buffer_dispose(&path);
    wt__buffer_dispose(&name);
    return whole ? mount_face(cli, modules, kept_path, kept_name, &options)
                 : wt__cli_say(cli, END_SYSTEM, "out of memory");
}

static int mount_servers(struct cli *cli, struct modules *modules)
{
    struct face_options options = wt__servers_face(cli, FACE_SEARCH);
    int code = mount_face(cli, modules, "/mcp", "mcp", &options);
    options.kind = FACE_DIRECT;
    if (code == 0)
        code = mount_face(cli, modules, "/mcp/all", "mcp_all", &options);
    for (size_t i = 0; code == 0 && i < wt__policy_profile_count(modules->servers.policy); i++)
        code = mount_profile(cli, modules, i);
    return code;
}

static int mount_catalogue(struct cli *cli, const struct api_options *options, struct modules *modules)
{
    const struct catalogue_options catalogue = {.summary = wt__text_of(cli, OPT_SUMMARY),
                                                .budget_bytes = (size_t)cli->arguments.number[OPT_BUDGET],
                                                .time_ms = options->time_limit_ms,
                                                .failed = wt__servers_tell_error,
                                                .failed_context = cli};
    wt_error err;
    if (wt__catalogue_open(&modules->catalogue, options->engine, &catalogue, &err) < 0)
        return wt__cli_fail(cli, &err);
    modules->mounts[modules->mount_count++] =
        (struct mcp_mount){.path = "/mcp", .name = "mcp", .features = wt__catalogue_features(modules->catalogue)};
    return 0;
}

static int open_modules(struct cli *cli, struct api_options *options, struct modules *modules)
{
    wt_error err;
    int code = wt__servers_open(cli, options->engine, 0, &modules->servers);
    if (code == 0)
        code = read_passed(cli, modules);
    if (code == 0)
        code = modules->servers.gateway ? mount_servers(cli, modules) : mount_catalogue(cli, options, modules);
    if (code != 0)
        return code;
    if (wt__mcp_routes_open(&modules->mcp, modules->mounts, modules->mount_count, &err) < 0 ||
        wt__usage_routes_open(&modules->usage, options->engine, modules->servers.policy != NULL, &err) < 0)
        return wt__cli_fail(cli, &err);
    modules->routes[0] = *wt__mcp_routes(modules->mcp);
    modules->routes[1] = *wt__usage_routes(modules->usage);
    options->policed = modules->servers.policy != NULL;
    options->more = modules->routes;
    options->more_count = 2;
    options->stopping = wt__mcp_routes_stop;
    options->stopping_context = modules->mcp;
    return wt__api_open(&modules->api, options, &err) < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

/* The servers start when somebody can ask for them. */
static int start_servers(struct cli *cli, struct modules *modules)
{
    struct gateway *gateway = modules->servers.gateway;
    wt_error err;
    int rc = 0;
    for (size_t i = 0; gateway && rc == 0 && i < modules->mount_count; i++)
        rc = wt__gateway_attach(gateway, wt__mcp_routes_service(modules->mcp, i), &err);
    if (gateway && rc == 0)
        rc = wt__gateway_start(gateway, &err);
    return rc < 0 ? wt__cli_fail(cli, &err) : 0;
}

static void close_modules(struct modules *modules)
{
    struct gateway *gateway = modules->servers.gateway;
    for (size_t i = 0; gateway && modules->mcp && i < modules->mount_count; i++)
        wt__gateway_detach(gateway, wt__mcp_routes_service(modules->mcp, i));
    if (gateway)
        wt__gateway_stop(gateway);
    wt__usage_routes_close(modules->usage);
    wt__mcp_routes_close(modules->mcp);
    for (size_t i = 0; i < modules->mount_count; i++)
        wt__face_close(modules->faces[i]);
    wt__servers_close(&modules->servers);
    wt__catalogue_close(modules->catalogue);
    wt__api_close(modules->api);
}

int wt__cmd_serve(struct cli *cli)
{
    struct api_options options = {0};
    struct modules modules = {0};
    struct log_writer *log = NULL;
    if (wt__given(cli, OPT_NEW_KEY))
        return make_key(cli);
    if (wt__given(cli, OPT_SCOPES))
        return wt__cli_usage(cli, "--scopes is for --new-key");
    int code = wt__servers_prepare(cli);
    if (code == 0)
        code = read_options(cli, &options);
    if (code == 0 && !(log = wt__log_writer_open()))
        code = wt__cli_say(cli, END_SYSTEM, "out of memory");
    options.say = wt__log_writer_say;
    options.say_context = log;
    wt__file_map_copies();
    if (code == 0)
        code = wt__cli_open(cli, OPEN_CREATE, NULL, &options.engine);
    if (code == 0)
        code = open_modules(cli, &options, &modules);
    if (code == 0)
        code = start_servers(cli, &modules);
    if (code == 0)
        code = run(cli, modules.api, options.engine, options.guard.listen);
    close_modules(&modules);
    wt_close(options.engine);
    wt__log_writer_close(log);
    return code;
}
