/* options_serve.c: the servers: mcp and serve. */
#include "cli/option_macros.h"

#include "gateway/policy.h"
#include "serve/api/api.h"

/* Search tools for MCP clients, in mcp and serve. */
#define CATALOGUE_OPTIONS                                                                                              \
    {.id = OPT_SUMMARY,                                                                                                \
     .name = "summary",                                                                                                \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "TEXT",                                                                                                  \
     .help = "One sentence that tells an MCP client's model which tools the search covers. Default: the names of the " \
             "largest providers, or of the servers with --servers."},                                                  \
    {                                                                                                                  \
        .id = OPT_BUDGET, .name = "budget", .kind = VALUE_NUMBER, .value = "BYTES", .max = 1 << 20,                    \
        .help =                                                                                                        \
            "Maximum size of the definitions in an answer to an MCP client's search; further tools are listed with "   \
            "name and description only. Default: 24576."                                                               \
    }

/* The servers behind the gateway, in mcp and serve. */
#define SERVERS_OPTIONS                                                                                                \
    {.id = OPT_SERVERS,                                                                                                \
     .name = "servers",                                                                                                \
     .kind = VALUE_FILE,                                                                                               \
     .value = "FILE",                                                                                                  \
     .help =                                                                                                           \
         "Run as a gateway for the MCP servers in FILE, a client configuration (docs/mcp.md). FILE must not be the "   \
         "client's own file, which names whichtool. The servers are started and kept running, their tools are stored " \
         "and searched, and calls are forwarded to them."},                                                            \
        {.id = OPT_POLICY,                                                                                             \
         .name = "policy",                                                                                             \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Policy: who may use which tools (docs/gateway.md). Default: all clients may use all tools."},        \
        {.id = OPT_AUDIT,                                                                                              \
         .name = "audit",                                                                                              \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Append a JSON line to FILE for each call, read and prompt before it is forwarded, and for each "     \
                 "refused one. If the line cannot be written, or FILE was moved, truncated or modified, nothing is "   \
                 "forwarded. FILE.head records the length."},                                                          \
        {.id = OPT_AUDIT_KEY,                                                                                          \
         .name = "audit-key",                                                                                          \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Chain the lines of --audit by an HMAC with the key in this file (docs/gateway.md). Lines cannot be " \
                 "forged without the key. Only its owner may have access to the file."},                               \
        {.id = OPT_LOCK,                                                                                               \
         .name = "lock",                                                                                               \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Use only definitions that FILE pins, regardless of approvals; keep FILE in a repository. With "      \
                 "approve, report the definitions that differ from FILE or are absent."},                              \
        {.id = OPT_REVIEW_FIRST,                                                                                       \
         .name = "review-first",                                                                                       \
         .help =                                                                                                       \
             "Require `whichtool mcp approve` for the first definitions of a server as well. By default, they are "    \
             "approved unless their texts try to deceive a model, and only later changes wait for approval."},         \
        {.id = OPT_CALL_TIMEOUT,                                                                                       \
         .name = "call-timeout",                                                                                       \
         .kind = VALUE_NUMBER,                                                                                         \
         .value = "SECONDS",                                                                                           \
         .max = TIMEOUT_MAX,                                                                                           \
         .help = "Time limit of a call without any message from the server; progress and log messages restart it. A "  \
                 "server's own \"timeout\" in FILE takes precedence. Default: 60."},                                   \
        {.id = OPT_LIST_WAIT,                                                                                          \
         .name = "list-wait",                                                                                          \
         .kind = VALUE_NUMBER,                                                                                         \
         .value = "SECONDS",                                                                                           \
         .max = TIMEOUT_MAX,                                                                                           \
         .help = "How long the first list of tools waits for starting servers. Later tools are announced. Default: "   \
                 "1; 0 with serve."},                                                                                  \
        {.id = OPT_LEARN,                                                                                              \
         .name = "learn",                                                                                              \
         .help = "Record each call that follows a search, together with the request, for training."},                  \
    {                                                                                                                  \
        .id = OPT_BARE_NAMES, .name = "bare-names",                                                                    \
        .help = "When all tools are listed, use the server's own tool names, without a prefix, if they are unique."    \
    }

static const char mcp_text[] =
    "Serves the catalogue to one MCP client on standard input and output. The client starts `whichtool mcp` like any "
    "other server. Its model gets three tools instead of hundreds: search_tools finds tools for a task, with their "
    "definitions; get_tool_details shows whole definitions; write_call writes and validates a call, and asks for "
    "missing "
    "values. No tool is called.\n"
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
    "its "
    "name for imports (docs/gateway.md).\n"
    "audit FILE verifies the log of --audit, and replays its decisions with --policy; --audit-key FILE verifies the "
    "HMACs. Name the files of a rotated log together, oldest first. audit FILE --rotate starts a new file, which "
    "running "
    "gateways continue.";

static const struct cli_option mcp_options[] = {
    CATALOGUE_OPTIONS,
    {.id = OPT_TIMEOUT,
     .name = "timeout",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = TIMEOUT_MAX,
     .help = "Time limit of one search. Default: 30."},
    SERVERS_OPTIONS,
    {.id = OPT_FACE,
     .name = "face",
     .kind = VALUE_CHOICE,
     .value = "FACE",
     .choices = FACE_KINDS(FACE_KIND_WORD, " "),
     .help = "With --servers, what the client sees: " FACE_KINDS(FACE_KIND_DESCRIPTION, "; ") ". Default: auto."},
    {.id = OPT_PROFILE,
     .name = "profile",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "With --policy: apply this profile of it."},
    {.id = OPT_ROTATE,
     .name = "rotate",
     .help = "audit: rename the log to FILE.YYYYMMDDTHHMMSSZ and continue it in a new FILE."},
    {.id = OPT_ALL, .name = "all", .help = "approve: everything of the provider that waits for approval."},
    {.id = OPT_INSTRUCTIONS, .name = "instructions", .help = "approve: the instructions of the provider's server."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "approve, forget, init, undo: do not ask."},
    {.id = OPT_CLIENT,
     .name = "client",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "init, undo: only the files of this client: claude-code, claude-desktop, cursor, vscode, vscode-insiders, "
             "windsurf, gemini-cli, zed, cline, roo-code. May be repeated."},
    {.id = OPT_PROJECT,
     .name = "project",
     .help = "init, undo: the files of the project in the current folder instead of the user's own."},
    {.id = OPT_NO_ENV,
     .name = "no-env",
     .help = "init: do not pass DOCKER_HOST, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS and the proxy variables of this "
             "environment to the servers."},
    {.id = OPT_DRY_RUN, .name = "dry-run", .help = "init, undo: show the planned changes without making them."},
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
    "Other processes may add and remove tools meanwhile; requests see the changes when the index is rebuilt. No HTTP "
    "request starts a program or reads a file.\n"
    "Ctrl-C and SIGTERM stop the server after running requests have finished, at most ten seconds later. SIGHUP "
    "reloads "
    "the keys and the trained models. If the server cannot listen, the exit code is 6.";

static const struct cli_option serve_options[] = {
    {.id = OPT_LISTEN,
     .letter = 'l',
     .name = "listen",
     .kind = VALUE_TEXT,
     .value = "ADDRESS",
     .help = "Address: HOST:PORT, or unix:PATH for a socket that only its owner can use. Port 0 takes a free port. "
             "Default: " API_LISTEN "."},
    {.id = OPT_KEYS,
     .name = "keys",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "Require a key of this file, with a scope that allows the request. The file contains hashes of keys."},
    {.id = OPT_NEW_KEY,
     .name = "new-key",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Create a key, print it once, add its hash to the file of --keys, and exit."},
    {.id = OPT_SCOPES,
     .name = "scopes",
     .kind = VALUE_TEXT,
     .value = "LIST",
     .help =
         "With --new-key: scopes of the key, separated by commas: find, call, write, usage, metrics, or admin for all "
         "of them. With --servers, calling a tool requires call. Default: find."},
    {.id = OPT_HOST,
     .name = "host",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help =
         "Additional name of this server that a Host header may contain, such as the name of a proxy. Loopback names "
         "and the --listen address are always allowed. May be repeated."},
    {.id = OPT_ORIGIN,
     .name = "origin",
     .kind = VALUE_TEXT,
     .value = "URL",
     .repeats = true,
     .help = "Allow requests from pages of this origin, such as https://app.example.com. May be repeated."},
    {.id = OPT_WORKERS,
     .name = "workers",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 256,
     .help = "Number of requests processed in parallel. Default: one for each processor."},
    {.id = OPT_QUEUE,
     .name = "queue",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 100000,
     .help =
         "Maximum number of requests that wait for a worker; further ones get 503. One key may use half of the queue. "
         "Default: 2048."},
    {.id = OPT_TIME_LIMIT,
     .name = "time-limit",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = 3600,
     .help = "Time limit of a find, pick or call; a request can only lower it. Default: 60."},
    {.id = OPT_LOG,
     .name = "log",
     .kind = VALUE_CHOICE,
     .value = "FORM",
     .choices = "text json off",
     .help = "Log one line for each request to standard error, without keys and request texts. Default: text; off with "
             "-q."},
    {.id = OPT_LOG_REQUESTS, .name = "log-requests", .help = "Also log request texts."},
    CATALOGUE_OPTIONS,
    SERVERS_OPTIONS,
    {.id = OPT_PASS_HEADER,
     .name = "pass-header",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "With --servers: forward this header of a client's request to HTTP servers, for that client's own calls "
             "only. A header in the server's entry takes precedence. May be repeated. Default: none."},
    CHAT_OPTIONS("for pick's recipe ptr and call's language_model"),
    MODEL_OPTIONS,
};
static const struct cli_example serve_examples[] = {
    {"whichtool serve", "Serves this machine at http://" API_LISTEN "."},
    {"whichtool serve --keys keys --new-key laptop --scopes find,usage", "Creates a key and prints it."},
    {"whichtool serve --keys keys --new-key agent --scopes find,call",
     "Creates a key that may call tools of --servers."},
    {"whichtool serve --listen 0.0.0.0:8642 --keys keys --host tools.example.com",
     "Serves other machines under a name; requires a key."},
    {"whichtool serve --listen unix:/run/whichtool/socket --log json", "Serves a proxy on this machine."},
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
