/* cmd_serve.c: `whichtool serve`: the options, signals, log and terminal output of the HTTP API. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "cli/replica.h"
#include "cli/servers.h"
#include "serve/api/api.h"
#include "serve/catalogue.h"
#include "serve/access.h"
#include "serve/mcp/transport.h"
#include "serve/mcp_routes.h"
#include "serve/usage_routes.h"

/* ---------------------------------------------------------------- log */

enum { LOG_KEPT_BYTES = 1 << 20 /* limit of the queue */ };

/* Writes log lines to standard error from a thread of its own, so that a blocked reader cannot block the server. Lines
 * over the limit of the queue are dropped, and their number is logged. */
struct log_writer {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    enum log_form form;        /* of the writer's own messages */
    struct buffer kept;        /* queued lines */
    size_t dropped;            /* lines dropped since the last write */
    atomic_uint_fast64_t lost; /* lines dropped since the start */
    bool ended;
};

static void print_log_line(void *context, struct str line)
{
    (void)context;
    fwrite(line.ptr, 1, line.len, stderr);
}

/* Waits for lines and moves them to *out, owned by the caller. Returns false at the end. */
static bool wait_for_log_lines(struct log_writer *writer, struct buffer *out, size_t *dropped)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->kept.len == 0 && !writer->ended)
        pthread_cond_wait(&writer->wake, &writer->lock);
    *out = writer->kept;
    *dropped = writer->dropped;
    writer->kept = (struct buffer){.max = LOG_KEPT_BYTES};
    writer->dropped = 0;
    pthread_mutex_unlock(&writer->lock);
    return out->len > 0;
}

static void *write_log_lines(void *context)
{
    const struct log_writer *writer = context;
    const struct log direct = {.form = writer->form, .say = print_log_line};
    struct buffer lines;
    size_t dropped;
    while (wait_for_log_lines(context, &lines, &dropped)) {
        print_log_line(NULL, wt__buffer_view(&lines));
        wt__buffer_dispose(&lines);
        if (dropped > 0)
            wt__log_message(&direct, LOG_LEVEL_WARNING,
                            "%zu log lines were dropped, because standard error was blocked", dropped);
    }
    return NULL;
}

/* Returns NULL if out of memory or threads. */
static struct log_writer *open_log_writer(enum log_form form)
{
    struct log_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->form = form;
    writer->kept.max = LOG_KEPT_BYTES;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->wake, NULL);
    if (pthread_create(&writer->thread, NULL, write_log_lines, writer) == 0)
        return writer;
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    free(writer);
    return NULL;
}

/* Queues a line, which includes its line end, without blocking. */
static void queue_log_line(void *context, struct str line)
{
    struct log_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    if (writer->kept.len + line.len < LOG_KEPT_BYTES) {
        wt__buffer_str(&writer->kept, line);
    } else {
        writer->dropped++;
        atomic_fetch_add(&writer->lost, 1);
    }
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
}

/* Implements routes.metrics; context is the log_writer. */
static void put_log_metrics(void *context, struct buffer *out)
{
    struct log_writer *writer = context;
    wt__metric_write(out, "whichtool_log_lines_dropped_total", "counter",
                     "Lines of the log that were dropped, because standard error was blocked.",
                     (double)atomic_load(&writer->lost));
}

/* Writes queued lines and stops the thread. NULL is a no-op. */
static void close_log_writer(struct log_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->ended = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    wt__buffer_dispose(&writer->kept);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    free(writer);
}

/* ---------------------------------------------------------------- signals */

/* Targets of the signal handlers, set before the handlers are installed. */
static struct http_server *serving;
static struct http_api *reloading;

static void on_reload_signal(int number)
{
    (void)number;
    wt__api_reload(reloading);
}

static void handle_signal(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* SIGTERM drains the server, and SIGINT stops it. The next of these signals ends the process. */
static void on_end_signal(int number)
{
    handle_signal(SIGINT, SIG_DFL, 0);
    handle_signal(SIGTERM, SIG_DFL, 0);
    (number == SIGTERM ? wt__http_server_drain : wt__http_server_stop)(serving);
}

static void watch_serve_signals(struct http_server *server, struct http_api *api)
{
    serving = server;
    reloading = api;
    handle_signal(SIGINT, on_end_signal, 0);
    handle_signal(SIGTERM, on_end_signal, 0);
    handle_signal(SIGHUP, on_reload_signal, SA_RESTART);
}

/* Ends the process at the end of standard input as Ctrl-C does. Reads no variable, because the thread may still wait
 * while main returns. */
static void *wait_for_input_end(void *context)
{
    char unused[256];
    ssize_t len;
    (void)context;
    do
        len = read(STDIN_FILENO, unused, sizeof unused);
    while (len > 0 || (len < 0 && errno == EINTR));
    kill(getpid(), SIGINT);
    return NULL;
}

/* With --until-eof, a server ends with the program that started it, even if that program was killed. */
static int watch_standard_input(const struct cli *cli)
{
    pthread_t thread;
    if (!wt__has_option(cli, OPT_UNTIL_EOF))
        return 0;
    if (pthread_create(&thread, NULL, wait_for_input_end, NULL) != 0)
        return wt__cli_report(cli, END_SYSTEM, "cannot start a thread for --until-eof");
    pthread_detach(thread);
    return 0;
}

static void note_ready(void *context, double ms)
{
    wt__cli_note(context, "Ready after %.0f ms.", ms);
}

static int create_key(struct cli *cli)
{
    const char *path = wt__option_text(cli, OPT_KEYS), *name = wt__option_text(cli, OPT_NEW_KEY);
    const char *tenant = wt__option_text(cli, OPT_TENANT);
    const char *list = wt__has_option(cli, OPT_SCOPES) ? wt__option_text(cli, OPT_SCOPES) : "find";
    char key[64];
    wt_error err;
    if (!path)
        return wt__cli_usage(cli, "--new-key needs --keys FILE, to store the hash of the key");
    unsigned scopes = wt__scopes_parse(wt__str(list), &err);
    if (scopes == 0)
        return wt__cli_usage(cli, "--scopes: %s", err.message);
    if (wt__keys_add(path, name, scopes, tenant, key, &err) < 0)
        return wt__cli_fail(cli, &err);
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "name", name);
        wt__json_text(&out, "scopes", list);
        if (tenant)
            wt__json_text(&out, "tenant", tenant);
        wt__json_text(&out, "key", key);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s\n", key);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    wt__cli_note(cli, "The key is not shown again. Send SIGHUP to a running server to reload the file.");
    return END_DONE;
}

/* ---------------------------------------------------------------- serving */

static enum log_form read_log_form(const struct cli *cli)
{
    const char *form = wt__option_text(cli, OPT_LOG);
    if (!form)
        return cli->quiet ? LOG_FORM_OFF : LOG_FORM_TEXT;
    return strcmp(form, "json") == 0 ? LOG_FORM_JSON : strcmp(form, "off") == 0 ? LOG_FORM_OFF : LOG_FORM_TEXT;
}

static enum log_level read_log_level(const struct cli *cli)
{
    const char *level = wt__option_text(cli, OPT_LOG_LEVEL);
    if (!level || strcmp(level, "info") == 0)
        return LOG_LEVEL_INFO;
    return strcmp(level, "warning") == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR;
}

/* Returns 0, or an exit code after reporting the error. */
static int read_serve_options(struct cli *cli, struct api_options *out)
{
    struct guard *guard = &out->guard;
    bool read =
        (!wt__has_option(cli, OPT_HOST) || wt__option_lines(cli, OPT_HOST, &guard->hosts, &guard->host_count)) &&
        (!wt__has_option(cli, OPT_ORIGIN) || wt__option_lines(cli, OPT_ORIGIN, &guard->origins, &guard->origin_count));
    if (!read)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < guard->origin_count; i++) {
        const char *slashes = strstr(guard->origins[i], "://");
        if (!slashes || strchr(slashes + 3, '/') || strchr(guard->origins[i], '*'))
            return wt__cli_usage(cli, "--origin takes an origin such as https://app.example.com, not \"%s\"",
                                 guard->origins[i]);
    }
    for (size_t i = 0; i < guard->host_count; i++)
        if (strpbrk(guard->hosts[i], ":/*"))
            return wt__cli_usage(cli, "--host takes a name without a port, not \"%s\"", guard->hosts[i]);
    guard->listen = wt__has_option(cli, OPT_LISTEN) ? wt__option_text(cli, OPT_LISTEN) : API_LISTEN;
    wt_error err;
    if (wt__http_address_check(guard->listen, &err) < 0)
        return wt__cli_usage(cli, "--listen: %s", err.message);
    out->keys_path = wt__option_text(cli, OPT_KEYS);
    out->time_limit_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIME_LIMIT];
    out->language_model = wt__has_option(cli, OPT_CHAT_MODEL);
    out->log.form = read_log_form(cli);
    out->log.level = read_log_level(cli);
    out->log_requests = wt__has_option(cli, OPT_LOG_REQUESTS);
    out->ready = note_ready;
    out->ready_context = cli;
    return 0;
}

/* Prints the address and flushes it, because the parent process may wait for it. */
static int print_address(struct cli *cli, const char *address)
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
    wt__cli_note(cli, "Listening at %s%s; stop with Ctrl-C.", scheme, address);
    return 0;
}

/* Notes the number of tools and keys, so that a mistyped store name, which creates an empty store, is noticed. */
static void note_tools_and_keys(const struct cli *cli, wt_engine *engine, const struct http_api *api)
{
    wt_status *status = NULL;
    size_t keys = wt__api_count_keys(api);
    if (wt_get_status(engine, &status, NULL) == 0 && status->tools > 0)
        wt__cli_note(cli, "%s has %" PRIu64 " tool%s.", status->store, status->tools, status->tools == 1 ? "" : "s");
    else if (status && !wt__has_option(cli, OPT_SERVERS)) /* tools of servers arrive later */
        wt__cli_note(cli, "%s has no tools yet; add some with `whichtool -s %s add FILE`.", status->store,
                     status->store);
    if (wt__has_option(cli, OPT_KEYS) && keys > 0)
        wt__cli_note(cli, "%zu key%s accepted.", keys, keys == 1 ? " is" : "s are");
    else if (wt__has_option(cli, OPT_KEYS))
        wt__cli_note(
            cli, "There are no keys; create one with `whichtool serve --keys FILE --new-key NAME` and send SIGHUP.");
    wt_status_free(status);
}

/* Notes keys that have the scope find without call. Before the scope call existed, such keys could call tools. */
static void note_keys_without_call(const struct cli *cli, const struct http_api *api)
{
    size_t count = wt__api_count_find_only_keys(api);
    if (count > 0 && wt__has_option(cli, OPT_SERVERS))
        wt__cli_note(
            cli,
            "%zu key%s the scope find without call: %s tools of the servers and cannot call them. To let a key "
            "call, write find,call in its line of %s and send SIGHUP.",
            count, count == 1 ? " has" : "s have", count == 1 ? "it finds" : "they find",
            wt__option_text(cli, OPT_KEYS));
}

enum { DRAIN_SECONDS = 1 /* default of --drain-seconds */ };

static unsigned read_drain_ms(const struct cli *cli)
{
    return 1000 * (wt__has_option(cli, OPT_DRAIN_SECONDS) ? (unsigned)cli->arguments.number[OPT_DRAIN_SECONDS]
                                                          : (unsigned)DRAIN_SECONDS);
}

static int run_http_server(struct cli *cli, struct http_api *api, wt_engine *engine, const char *listen)
{
    wt_error err;
    struct http_server *server = NULL;
    const struct http_server_options options = {.listen = listen,
                                                .workers = (unsigned)cli->arguments.number[OPT_WORKERS],
                                                .queue_max = (size_t)cli->arguments.number[OPT_QUEUE],
                                                .drain_ms = read_drain_ms(cli),
                                                .handler = wt__api_handler(api)};
    int rc = wt__http_server_open(&server, &options, &err);
    if (rc < 0)
        return wt__cli_report(cli, rc == WT_EINVAL ? END_USAGE : END_NETWORK, "%s", err.message);
    wt__api_set_server(api, server);
    watch_serve_signals(server, api);
    int code = watch_standard_input(cli);
    if (code == 0)
        code = print_address(cli, wt__http_server_address(server));
    if (code == 0) {
        note_tools_and_keys(cli, engine, api);
        note_keys_without_call(cli, api);
        wt__api_warm_up(api);
        rc = wt__http_server_run(server, &err);
        code = rc < 0 ? wt__cli_report(cli, END_NETWORK, "%s", err.message) : END_DONE;
    }
    wt__api_wait_for_calls(api);
    wt__http_server_close(server);
    return code;
}

/* The API, and the modules with routes of their own. */
struct serve_modules {
    wt_tenants *tenants;             /* NULL without a file of tenants */
    struct mcp_catalogue *catalogue; /* at /mcp; NULL with --servers */
    struct servers servers;
    struct otlp_settings otlp;
    struct face *faces[MCP_MOUNTS_MAX]; /* with --servers, at /mcp, /mcp/all and /mcp/p/PROFILE */
    struct mcp_mount mounts[MCP_MOUNTS_MAX];
    size_t mount_count;
    const char *const *passed_headers; /* as in struct mcp_mount */
    struct mcp_routes *mcp;
    struct usage_routes *usage;
    struct replica replica;
    struct routes routes[API_MORE_MAX];
    size_t route_count;
    struct http_api *api;
};

/* Reads --pass-header into a NULL-terminated list. Rejects Authorization with --keys, because this header then contains
 * the client's key for this server. */
static int read_passed_headers(struct cli *cli, struct serve_modules *modules)
{
    const char *const *names = NULL;
    size_t count = 0;
    if (!wt__has_option(cli, OPT_PASS_HEADER))
        return 0;
    const char **list = wt__option_lines(cli, OPT_PASS_HEADER, &names, &count)
                            ? wt__arena_array(&cli->arena, const char *, count + 1)
                            : NULL;
    if (!list)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    if (count > MCP_PASSED_HEADERS_MAX)
        return wt__cli_usage(cli, "--pass-header can be given at most %d times", MCP_PASSED_HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!wt__mcp_http_may_pass(wt__str(names[i])))
            return wt__cli_usage(
                cli, "--pass-header cannot forward \"%.64s\": not a header name, or reserved by HTTP or MCP", names[i]);
        if (strcasecmp(names[i], "Authorization") == 0 && wt__has_option(cli, OPT_KEYS))
            return wt__cli_usage(cli,
                                 "--pass-header Authorization would forward the clients' keys for this server (--keys) "
                                 "to the servers behind it");
        list[i] = names[i];
    }
    modules->passed_headers = list;
    return 0;
}

static int mount_face(struct cli *cli, struct serve_modules *modules, const char *path, const char *name,
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

static int mount_profile(struct cli *cli, struct serve_modules *modules, size_t index)
{
    const struct policy *policy = modules->servers.policy;
    struct face_options options = wt__servers_face(cli, FACE_AUTO);
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0}, name = {0};
    options.profile = wt__policy_profile_name(policy, index);
    options.kind = wt__policy_profile_face(policy, index);
    wt__buffer_printf(&path, "/mcp/p/%s", options.profile);
    wt__buffer_printf(&name, "mcp_%s", options.profile);
    const char *kept_path = wt__arena_copy(&cli->arena, wt__buffer_view(&path));
    const char *kept_name = wt__arena_copy(&cli->arena, wt__buffer_view(&name));
    bool whole = !path.failed && !name.failed && kept_path && kept_name;
    return whole ? mount_face(cli, modules, kept_path, kept_name, &options)
                 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

static int mount_servers(struct cli *cli, struct serve_modules *modules)
{
    struct face_options options = wt__servers_face(cli, FACE_SEARCH);
    WT_TRY(mount_face(cli, modules, "/mcp", "mcp", &options));
    options.kind = FACE_DIRECT;
    WT_TRY(mount_face(cli, modules, "/mcp/all", "mcp_all", &options));
    for (size_t i = 0; i < wt__policy_profile_count(modules->servers.policy); i++)
        WT_TRY(mount_profile(cli, modules, i));
    return 0;
}

static int mount_catalogue(struct cli *cli, const struct api_options *options, struct serve_modules *modules)
{
    const struct catalogue_options catalogue = {.summary = wt__option_text(cli, OPT_SUMMARY),
                                                .budget_bytes = (size_t)cli->arguments.number[OPT_BUDGET],
                                                .time_ms = options->time_limit_ms,
                                                .tenants = options->tenants,
                                                .failed = wt__note_hidden_error,
                                                .failed_context = cli};
    wt_error err;
    if (wt__catalogue_open(&modules->catalogue, options->engine, &catalogue, &err) < 0)
        return wt__cli_fail(cli, &err);
    modules->mounts[modules->mount_count++] =
        (struct mcp_mount){.path = "/mcp", .name = "mcp", .features = wt__catalogue_features(modules->catalogue)};
    return 0;
}

/* Logs the result of a reload of the file of tenants. */
static void log_tenants_reload(void *context, int rc, const char *message)
{
    const struct api_options *options = context;
    if (rc < 0)
        wt__log_message(&options->log, LOG_LEVEL_ERROR, "cannot reload the tenants, keeping the old ones: %s", message);
    else
        wt__log_message(&options->log, LOG_LEVEL_INFO, "reloaded the tenants");
}

static int open_tenants(struct cli *cli, struct api_options *options, struct serve_modules *modules)
{
    const char *path;
    wt_tenants_options tenants;
    wt_tenants_info info;
    wt_error err;
    WT_TRY(wt__cli_tenants_in_use(cli, &path));
    if (!path)
        return 0;
    wt_tenants_options_init(&tenants);
    wt_tenants_info_init(&info);
    tenants.watch = true;
    tenants.reloaded = log_tenants_reload;
    tenants.reloaded_context = options;
    if (wt_tenants_open(&modules->tenants, options->engine, path, &tenants, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    options->tenants = modules->tenants;
    wt_tenants_get_info(modules->tenants, &info, NULL);
    wt__cli_note(cli, "%s has %llu tenant%s.", path, (unsigned long long)info.tenants, info.tenants == 1 ? "" : "s");
    return 0;
}

static int open_modules(struct cli *cli, struct api_options *options, struct serve_modules *modules)
{
    wt_error err;
    WT_TRY(open_tenants(cli, options, modules));
    WT_TRY(wt__servers_open(cli, options->engine, options->tenants, 0, &modules->servers));
    WT_TRY(read_passed_headers(cli, modules));
    WT_TRY(modules->servers.gateway ? mount_servers(cli, modules) : mount_catalogue(cli, options, modules));
    if (wt__mcp_routes_open(&modules->mcp, modules->mounts, modules->mount_count, &err) < 0 ||
        wt__usage_routes_open(&modules->usage, options->engine, modules->servers.policy != NULL, &err) < 0)
        return wt__cli_fail(cli, &err);
    modules->routes[modules->route_count++] = *wt__mcp_routes(modules->mcp);
    modules->routes[modules->route_count++] = *wt__usage_routes(modules->usage);
    modules->routes[modules->route_count++] =
        (struct routes){.metrics = put_log_metrics, .context = options->log.context};
    if (modules->servers.gateway)
        modules->routes[modules->route_count++] =
            (struct routes){.metrics = wt__gateway_write_metrics, .context = modules->servers.gateway};
    if (modules->replica.follower)
        modules->routes[modules->route_count++] =
            (struct routes){.metrics = wt__replica_metrics, .context = &modules->replica};
    options->policed = modules->servers.policy != NULL;
    options->more = modules->routes;
    options->more_count = modules->route_count;
    options->stopping = wt__mcp_routes_stop;
    options->stopping_context = modules->mcp;
    return wt__api_open(&modules->api, options, &err) < 0 ? wt__cli_fail_input(cli, &err) : 0;
}

/* Attaches the services to the gateway and starts the servers. */
static int start_upstreams(struct cli *cli, struct serve_modules *modules)
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

static void close_modules(struct serve_modules *modules)
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
    wt__otlp_settings_dispose(&modules->otlp);
    wt_tenants_close(modules->tenants);
}

/* Opens the parts of the server and runs the server. The caller closes the parts. */
static int serve_api(struct cli *cli, struct api_options *options, struct serve_modules *modules,
                     struct log_writer **log)
{
    WT_TRY(wt__servers_prepare(cli));
    WT_TRY(read_serve_options(cli, options));
    wt_error err;
    if (wt__otlp_settings_read(&modules->otlp, wt__option_text(cli, OPT_OTLP_ENDPOINT), getenv, &err) < 0)
        return wt__cli_usage(cli, "%s", err.message);
    modules->otlp.has_texts = wt__has_option(cli, OPT_TRACE_REQUESTS);
    options->otlp = &modules->otlp;
    *log = open_log_writer(options->log.form);
    if (!*log)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    options->log.say = queue_log_line;
    options->log.context = *log;
    if (options->log.form == LOG_FORM_JSON)
        cli->log = &options->log;
    wt__file_map_copies();
    WT_TRY(wt__replica_open(cli, &modules->replica));
    WT_TRY(wt__cli_open(cli, OPEN_CREATE, NULL, &options->engine));
    WT_TRY(wt__replica_start(cli, &modules->replica, options->engine));
    WT_TRY(open_modules(cli, options, modules));
    WT_TRY(start_upstreams(cli, modules));
    return run_http_server(cli, modules->api, options->engine, options->guard.listen);
}

int wt__cmd_serve(struct cli *cli)
{
    struct api_options options = {0};
    struct serve_modules modules = {0};
    struct log_writer *log = NULL;
    if (wt__has_option(cli, OPT_NEW_KEY))
        return create_key(cli);
    if (wt__has_option(cli, OPT_SCOPES) || wt__has_option(cli, OPT_TENANT))
        return wt__cli_usage(cli, "--%s needs --new-key", wt__has_option(cli, OPT_SCOPES) ? "scopes" : "tenant");
    int code = serve_api(cli, &options, &modules, &log);
    close_modules(&modules);
    wt__replica_close(&modules.replica);
    wt_close(options.engine);
    cli->log = NULL;
    close_log_writer(log);
    return code;
}
