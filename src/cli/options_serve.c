/* options_serve.c: the servers: mcp and serve. */
#include "cli/option_macros.h"

#include "gateway/policy.h"
#include "serve/api/api.h"

/* Options of mcp and serve for the search tools of MCP clients. */
#define CATALOGUE_OPTIONS                                                                                              \
    OPTION(SUMMARY, "summary", TEXT, "TEXT",                                                                           \
           "One sentence that tells an MCP client's model which tools the search covers. Default: the names of the "   \
           "largest providers, or of the servers with --servers."),                                                    \
        NUMBER(BUDGET, "budget", "BYTES", 1 << 20,                                                                     \
               "Maximum size of the definitions in an answer to an MCP client's search; further tools are listed "     \
               "with name and description only. Default: 24576.")

/* Options of mcp and serve for the servers behind the gateway. */
#define SERVERS_OPTIONS                                                                                                \
    OPTION(SERVERS, "servers", FILE, "FILE",                                                                           \
           "Run as a gateway for the MCP servers in FILE, a client configuration (docs/mcp.md). FILE must not be the " \
           "client's own file, which names whichtool. The servers are started and kept running, their tools are "      \
           "stored and searched, and calls are forwarded to them."),                                                   \
        OPTION(POLICY, "policy", FILE, "FILE",                                                                         \
               "Policy: who may use which tools (docs/gateway.md). Default: all clients may use all tools."),          \
        OPTION(AUDIT, "audit", FILE, "FILE",                                                                           \
               "Append a JSON line to FILE for each call, read and prompt before it is forwarded, and for each "       \
               "refused one. If the line cannot be written, or FILE was moved, truncated or modified, nothing is "     \
               "forwarded. FILE.head records the length."),                                                            \
        OPTION(AUDIT_KEY, "audit-key", FILE, "FILE",                                                                   \
               "Chain the lines of --audit by an HMAC with the key in this file (docs/gateway.md). Lines cannot be "   \
               "forged without the key. Only its owner may have access to the file."),                                 \
        OPTION(LOCK, "lock", FILE, "FILE",                                                                             \
               "Use only definitions that FILE pins, regardless of approvals; keep FILE in a repository. With "        \
               "approve, report the definitions that differ from FILE or are absent."),                                \
        FLAG(REVIEW_FIRST, "review-first",                                                                             \
             "Require `whichtool mcp approve` for the first definitions of a server as well. By default, they are "    \
             "approved unless their texts try to deceive a model, and only later changes wait for approval."),         \
        NUMBER(CALL_TIMEOUT, "call-timeout", "SECONDS", TIMEOUT_MAX,                                                   \
               "Time limit of a call without any message from the server; progress and log messages restart it. A "    \
               "server's own \"timeout\" in FILE takes precedence. Default: 60."),                                     \
        NUMBER(LIST_WAIT, "list-wait", "SECONDS", TIMEOUT_MAX,                                                         \
               "How long the first list of tools waits for starting servers. Later tools are announced. Default: 1; "  \
               "0 with serve."),                                                                                       \
        FLAG(LEARN, "learn", "Record each call that follows a search, together with the request, for training."),      \
        FLAG(BARE_NAMES, "bare-names",                                                                                 \
             "When all tools are listed, use the server's own tool names, without a prefix, if they are unique.")

static const char mcp_text[] =
    "Serves the catalogue to one MCP client on standard input and output. The client starts `whichtool mcp` like any "
    "other server. Its model gets three tools instead of hundreds: search_tools finds tools for a task, with their "
    "definitions; get_tool_details shows whole definitions; write_call writes and validates a call, and asks for "
    "missing values. No tool is called.\n"
    "With --servers it is a gateway for other MCP servers. The model calls the tools that it found through call_read, "
    "call_write or call_destructive; the names show the client's user what to approve.\n"
    "Supported protocol versions are 2026-07-28, and 2025-11-25 and older. The server exits at the end of its input. "
    "docs/serving.md shows how to configure clients.\n"
    "init finds the configuration files of the MCP clients on this machine, shows the planned changes, asks, and moves "
    "the servers behind whichtool. undo restores the files (docs/gateway.md, \"In one command\").\n"
    "approve shows the definitions that wait for approval: what changed in them, their effect on search results, and "
    "errors that `whichtool check` finds in their texts. They are not in the catalogue before they are approved. With "
    "names of a provider's tools, or --all, it approves them. Prompts, resources and resource templates are named "
    "prompt:NAME, resource:URI and template:URI. Without names, the exit code is 1 if anything waits.\n"
    "status shows the last known state of the servers of --servers. lock FILE writes pins of the approved definitions. "
    "forget SERVER removes the tools and approvals of a server that is no longer in the file of --servers, and frees "
    "its name for imports (docs/gateway.md).\n"
    "audit FILE verifies the log of --audit, and replays its decisions with --policy; --audit-key FILE verifies the "
    "HMACs. Name the files of a rotated log together, oldest first. audit FILE --rotate starts a new file, which "
    "running gateways continue.";

static const struct cli_option mcp_options[] = {
    CATALOGUE_OPTIONS,
    NUMBER(TIMEOUT, "timeout", "SECONDS", TIMEOUT_MAX, "Time limit of one search. Default: 30."),
    FOLLOW_OPTIONS,
    WRITER_KEY_OPTION,
    SERVERS_OPTIONS,
    CHOICE(FACE, "face", "FACE", FACE_KINDS(FACE_KIND_WORD, " "),
           "With --servers, what the client sees: " FACE_KINDS(FACE_KIND_DESCRIPTION, "; ") ". Default: auto."),
    OPTION(PROFILE, "profile", TEXT, "NAME", "With --policy: apply this profile of it."),
    FLAG(ROTATE, "rotate", "audit: rename the log to FILE.YYYYMMDDTHHMMSSZ and continue it in a new FILE."),
    FLAG(ALL, "all", "approve: everything of the provider that waits for approval."),
    FLAG(INSTRUCTIONS, "instructions", "approve: the instructions of the provider's server."),
    FLAG(YES, "yes", "approve, forget, init, undo: do not ask.", .letter = 'y'),
    OPTION(CLIENT, "client", TEXT, "NAME",
           "init, undo: only the files of this client: claude-code, claude-desktop, cursor, vscode, vscode-insiders, "
           "windsurf, gemini-cli, zed, cline, roo-code. May be repeated.",
           .repeats = true),
    FLAG(PROJECT, "project", "init, undo: the files of the project in the current folder instead of the user's own."),
    FLAG(NO_ENV, "no-env",
         "init: do not pass DOCKER_HOST, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS and the proxy variables of this "
         "environment to the servers."),
    FLAG(DRY_RUN, "dry-run", "init, undo: show the planned changes without making them."),
    TENANT_OPTIONS,
    MODEL_OPTIONS,
};

static const struct cli_example mcp_examples[] = {
    {"whichtool mcp init", "Moves the servers of all clients on this machine behind whichtool."},
    {"whichtool mcp undo", "Restores the clients' files."},
    {"claude mcp add tools -- whichtool mcp", "Configures a client to start whichtool."},
    {"whichtool mcp --servers ~/.config/whichtool/servers.json", "Runs a gateway for the servers of a file."},
    {"whichtool -s team.wt mcp --summary \"Tools of our shop: orders, stock, refunds.\"",
     "Serves another store with your own summary."},
    {"whichtool mcp status", "Shows the state, protocol version and tools of each server, and its error."},
    {"whichtool mcp approve", "Shows everything that waits for approval."},
    {"whichtool mcp approve github create_issue", "Shows the changes of one tool, asks, and approves it."},
    {"whichtool mcp lock whichtool.lock", "Pins the approved definitions, for a repository."},
    {"whichtool mcp forget github", "Forgets a server that is no longer used."},
};

const struct cli_verb wt__mcp_verb = {
    .name = "mcp",
    .arguments = "[status|approve [PROVIDER [NAME...]]|lock FILE [PROVIDER]|forget SERVER|audit FILE...|init|undo]",
    .summary = "Serve the catalogue to an MCP client that starts this command",
    .text = mcp_text,
    .kind = VALUE_TEXT,
    .choices = "status approve lock forget audit init undo",
    .max_words = MANY_WORDS,
    OPTIONS(mcp_options),
    EXAMPLES(mcp_examples),
    .run = wt__cmd_mcp,
};

static const char serve_text[] =
    "docs/serving.md lists the routes; the server describes them at /openapi.json. MCP clients connect to /mcp.\n"
    "The server listens on this machine only, unless --listen names another address. Non-local addresses require "
    "--keys. The Host header must name the server, and requests from pages of other sites are rejected (--host, "
    "--origin). Use a proxy for TLS.\n"
    "Other processes may add and remove tools meanwhile; the next request rebuilds the index and sees the changes. No "
    "HTTP "
    "request starts a program or reads a file.\n"
    "SIGTERM drains the server (--drain-seconds) and then stops it; Ctrl-C stops it without a drain. Both wait at most "
    "ten seconds for running requests. A second signal ends the server at once. SIGHUP reloads the keys and the "
    "trained models. If the server cannot listen, the exit code is 6.";

static const struct cli_option serve_options[] = {
    OPTION(LISTEN, "listen", TEXT, "ADDRESS",
           "Address: HOST:PORT, or unix:PATH for a socket that only its owner can use. Port 0 takes a free port. "
           "Default: " API_LISTEN ".",
           .letter = 'l'),
    OPTION(KEYS, "keys", FILE, "FILE",
           "Require a key of this file, with a scope that allows the request. The file contains hashes of keys."),
    OPTION(NEW_KEY, "new-key", TEXT, "NAME",
           "Create a key, print it once, add its hash to the file of --keys, and exit."),
    OPTION(SCOPES, "scopes", TEXT, "LIST",
           "With --new-key: scopes of the key, separated by commas: find, call, write, usage, metrics, or admin for "
           "all of them. With --servers, calling a tool requires call. Default: find."),
    OPTION(TENANT, "tenant", TEXT, "NAME",
           "With --new-key: tenant of the key. Its requests see only the tools of the tenant."),
    TENANTS_OPTION,
    OPTION(HOST, "host", TEXT, "NAME",
           "Additional name of this server that a Host header may contain, such as the name of a proxy. Loopback names "
           "and the --listen address are always allowed. May be repeated.",
           .repeats = true),
    OPTION(ORIGIN, "origin", TEXT, "URL",
           "Allow requests from pages of this origin, such as https://app.example.com. May be repeated.",
           .repeats = true),
    NUMBER(WORKERS, "workers", "N", 256, "Number of requests processed in parallel. Default: one for each processor."),
    NUMBER(QUEUE, "queue", "N", 100000,
           "Maximum number of requests that wait for a worker; further ones get 503. One key may use half of the "
           "queue. Default: 2048."),
    NUMBER(TIME_LIMIT, "time-limit", "SECONDS", 3600,
           "Time limit of a find, pick or call; a request can only lower it. Default: 60."),
    CHOICE(
        LOG, "log", "FORM", "text json off",
        "Log one line for each request to standard error, without keys and request texts. Default: text; off with -q."),
    CHOICE(LOG_LEVEL, "log-level", "LEVEL", LOG_LEVEL_WORDS,
           "Log only requests of this level or above: warning for a status from 400 on, error from 500 on. Default: "
           "info, which is all."),
    FLAG(LOG_REQUESTS, "log-requests", "Also log request texts."),
    OPTION(OTLP_ENDPOINT, "otlp-endpoint", TEXT, "URL",
           "Export traces to this OpenTelemetry collector, such as http://127.0.0.1:4318, as JSON over HTTP "
           "(docs/operations.md). Default: $OTEL_EXPORTER_OTLP_ENDPOINT, or no traces."),
    FLAG(TRACE_REQUESTS, "trace-requests", "Also export request texts with the traces."),
    NUMBER(DRAIN_SECONDS, "drain-seconds", "N", HTTP_DRAIN_MS_MAX / 1000,
           "After SIGTERM, keep serving for N seconds while GET /readyz answers 503, so that a load balancer can send "
           "new requests elsewhere. Default: 1."),
    FLAG(UNTIL_EOF, "until-eof",
         "Stop at the end of standard input, as with Ctrl-C. A program that starts the server keeps the other end of "
         "a pipe open; the server then ends with the program."),
    CATALOGUE_OPTIONS,
    FOLLOW_OPTIONS,
    WRITER_KEY_OPTION,
    SERVERS_OPTIONS,
    OPTION(
        PASS_HEADER, "pass-header", TEXT, "NAME",
        "With --servers: forward this header of a client's request to HTTP servers, for that client's own calls "
        "only. A header in the server's entry takes precedence. May be repeated. By default, no header is forwarded.",
        .repeats = true),
    CHAT_OPTIONS("for pick's recipe ptr and call's language_model"),
    MODEL_OPTIONS,
};
static const struct cli_example serve_examples[] = {
    {"whichtool serve", "Serves this machine at http://" API_LISTEN "."},
    {"whichtool serve --keys keys --new-key laptop --scopes find,usage", "Creates a key and prints it."},
    {"whichtool serve --keys keys --new-key agent --scopes find,call",
     "Creates a key that may call tools of --servers."},
    {"whichtool serve --keys keys --new-key acme-1 --scopes find,call --tenant acme",
     "Creates a key of the tenant acme."},
    {"whichtool serve --listen 0.0.0.0:8642 --keys keys --host tools.example.com",
     "Serves other machines under a name; requires a key."},
    {"whichtool serve --listen unix:/run/whichtool/socket --log json", "Serves a proxy on this machine."},
    {"whichtool serve --follow https://files.example.com/tools", "Serves a replica of a published store."},
};

const struct cli_verb wt__serve_verb = {
    .name = "serve",
    .arguments = "",
    .summary = "Serve find, pick, call, the catalogue and embeddings over HTTP",
    .text = serve_text,
    OPTIONS(serve_options),
    EXAMPLES(serve_examples),
    .run = wt__cmd_serve,
};

static const char tenants_text[] =
    "A tenant sees only its own tools of the catalogue, and its search results do not depend on the others. The file "
    "of tenants has one JSON object a line (docs/tenants.md). A running server reads it again within a second after a "
    "change.\n"
    "list prints all tenants. show prints a tenant and counts the tools that it sees now. add adds a tenant, or "
    "replaces the one of this name. remove removes it, but keeps its own store. check reads the whole file and reports "
    "the first error.\n"
    "`find`, `pick`, `call`, `list`, `show`, `status` and `mcp` take --tenant NAME. `add`, `remove`, `usage`, `train` "
    "and `vectors` take it too, if the tenant has a store of its own (--own). `serve --new-key NAME --tenant TENANT` "
    "creates a key of a tenant.";

static const struct cli_option tenants_options[] = {
    OPTION(PROVIDER, "provider", TEXT, "NAME", "add: all tools of this provider. May be repeated.", .letter = 'p',
           .repeats = true),
    OPTION(ONLY, "only", TEXT, "PATTERN",
           "add: the tool with this id, or the tools that match a pattern such as 'github/get_*'. May be repeated.",
           .repeats = true),
    OPTION(EXCLUDE, "exclude", TEXT, "PATTERN",
           "add: not the tool with this id, or those that match, such as '*delete*'. May be repeated.",
           .repeats = true),
    FLAG(OWN, "own", "add: the tenant has a store of its own, for its tools, recorded use and trained models."),
    TENANTS_OPTION,
};
static const struct cli_example tenants_examples[] = {
    {"whichtool tenants add acme --provider github --only 'slack/post_*' --exclude '*delete*'", "Adds a tenant."},
    {"whichtool find --tenant acme \"open an issue\"", "Searches the tools of a tenant."},
    {"whichtool tenants show acme", "Shows what the tenant sees."},
    {"whichtool tenants add bolt --provider github --own && whichtool add --tenant bolt tools.json",
     "Adds a tenant with tools of its own."},
};

const struct cli_verb wt__tenants_verb = {
    .name = "tenants",
    .arguments = "[list|show NAME|add NAME|remove NAME|check]",
    .summary = "Manage tenants that see only a part of the catalogue",
    .text = tenants_text,
    .kind = VALUE_TEXT,
    .choices = "list show add remove check",
    .max_words = 2,
    OPTIONS(tenants_options),
    EXAMPLES(tenants_examples),
    .run = wt__cmd_tenants,
};

static const struct cli_option publish_options[] = {
    FLAG(WATCH, "watch", "Keep running, and publish each change of the store."),
    NUMBER(POLL, "poll", "MS", 3600000,
           "With --watch: interval of looking for changes, in milliseconds. Default: 200."),
    OPTION(WRITER, "writer", TEXT, "URL",
           "Address of the server that changes the store, such as https://tools.example.com. Replicas name it in "
           "errors, and deliver reported usage to it."),
    OPTION(POLICY, "policy", FILE, "FILE", "Policy of the gateway, which replicas with --servers then use."),
    NUMBER(GRACE, "grace", "SECONDS", 30 * 24 * 60 * 60,
           "Time that replaced files stay, for replicas that still read them. Default: 600."),
    OPTION(TOKEN, "token", FILE, "FILE", "For an address: file with the bearer token of the server."),
    MODEL_OPTIONS,
};
static const struct cli_example publish_examples[] = {
    {"whichtool publish /srv/tools", "Publishes the store once to a folder."},
    {"whichtool publish --watch --writer https://tools.example.com /srv/tools",
     "Publishes each change; replicas send usage to the writer."},
    {"whichtool publish --watch https://files.example.com/tools --token token.txt",
     "Publishes to a server that accepts PUT."},
};

const struct cli_verb wt__publish_verb = {
    .name = "publish",
    .arguments = "LOCATION",
    .summary = "Publish the store for replicas",
    .text =
        "Writes the tools, their vectors, approvals, recorded use and trained models to LOCATION: a folder that any "
        "static file server can serve, or an address that accepts PUT. Replicas follow it with --follow of find, mcp "
        "and serve (docs/replicas.md). A publication is atomic. The next one appends only what has changed. The "
        "encoder is not published: replicas need the same one, which is checked by its hash.\n"
        "The publication contains recorded requests and arguments. Protect it like the store.",
    .kind = VALUE_FOLDER,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(publish_options),
    EXAMPLES(publish_examples),
    .run = wt__cmd_publish,
};
