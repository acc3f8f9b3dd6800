/* mcp_options.h: options and examples of `whichtool mcp`, included by options.c only. */
#ifndef WT_CLI_MCP_OPTIONS_H
#define WT_CLI_MCP_OPTIONS_H

#include "gateway/face_kinds.h"

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
     .help = "With --servers, what the client sees: " FACE_KINDS(FACE_KIND_TOLD, "; ") ". Default: auto."},
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

#endif
