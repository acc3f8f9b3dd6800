/* mcp_options.h: options and examples of `whichtool mcp`. A part of the table of options.c, by itself for that file's
 * length: read there alone, by whose macros it is written. */
#ifndef WT_CLI_MCP_OPTIONS_H
#define WT_CLI_MCP_OPTIONS_H

#include "gateway/policy.h"

/* What a model that searches is told, also over HTTP. */
#define CATALOGUE_OPTIONS                                                                                              \
    {.id = OPT_SUMMARY,                                                                                                \
     .name = "summary",                                                                                                \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "TEXT",                                                                                                  \
     .help = "What an MCP client's model is told to be behind the search, in a sentence. Default: the names of the "   \
             "providers that have most tools, with --servers of these servers."},                                      \
    {                                                                                                                  \
        .id = OPT_BUDGET, .name = "budget", .kind = VALUE_NUMBER, .value = "BYTES", .max = 1 << 20,                    \
        .help =                                                                                                        \
            "Bytes of definitions that an answer to an MCP client's search may hold; beyond them tools are named and " \
            "described. Default: 24576."                                                                               \
    }

/* The servers behind it, also over HTTP. */
#define SERVERS_OPTIONS                                                                                                \
    {.id = OPT_SERVERS,                                                                                                \
     .name = "servers",                                                                                                \
     .kind = VALUE_FILE,                                                                                               \
     .value = "FILE",                                                                                                  \
     .help =                                                                                                           \
         "The MCP servers behind it, as in a client's configuration (docs/mcp.md), but not the client's own file, "    \
         "which names whichtool. They are started and kept alive, their tools are searched and called from here, "     \
         "and the store holds what they list."},                                                                       \
        {.id = OPT_POLICY,                                                                                             \
         .name = "policy",                                                                                             \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Who may use which tools (docs/gateway.md). Default: everybody may use all of them."},                \
        {.id = OPT_AUDIT,                                                                                              \
         .name = "audit",                                                                                              \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Add a line of JSON to this file for each call, read and prompt, before it is sent, and for each "    \
                 "that was refused. What cannot be written down is not sent, and nothing is once the file was moved, " \
                 "cut or changed. FILE.head says how long it is."},                                                    \
        {.id = OPT_AUDIT_KEY,                                                                                          \
         .name = "audit-key",                                                                                          \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Link the lines of --audit by an HMAC with the key in this file, which only its owner may access "    \
                 "(docs/gateway.md). Who does not have the key cannot write lines that fit."},                         \
        {.id = OPT_LOCK,                                                                                               \
         .name = "lock",                                                                                               \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Only definitions that this file pins are used, whatever was approved: for repositories. `mcp "       \
                 "approve` says by it which differ from it, and which are not in it."},                                \
        {.id = OPT_REVIEW_FIRST,                                                                                       \
         .name = "review-first",                                                                                       \
         .help =                                                                                                       \
             "Even what a server lists first waits for `whichtool mcp approve`. Default: it is approved, but where "   \
             "its texts give a model orders to deceive, and what changes later waits."},                               \
        {.id = OPT_CALL_TIMEOUT,                                                                                       \
         .name = "call-timeout",                                                                                       \
         .kind = VALUE_NUMBER,                                                                                         \
         .value = "SECONDS",                                                                                           \
         .max = TIMEOUT_MAX,                                                                                           \
         .help = "How long a call of a server may go without a word from it; progress and log messages count. A "      \
                 "server's own \"timeout\" in FILE comes first. Default: 60."},                                        \
        {.id = OPT_LIST_WAIT,                                                                                          \
         .name = "list-wait",                                                                                          \
         .kind = VALUE_NUMBER,                                                                                         \
         .value = "SECONDS",                                                                                           \
         .max = TIMEOUT_MAX,                                                                                           \
         .help = "How long the first list of tools waits for servers that start. Tools that arrive later are "         \
                 "announced. Default: 1; 0 with serve."},                                                              \
        {.id = OPT_LEARN,                                                                                              \
         .name = "learn",                                                                                              \
         .help = "Record what is called after a search, with what was asked for, as use that the store learns from."}, \
    {                                                                                                                  \
        .id = OPT_BARE_NAMES, .name = "bare-names",                                                                    \
        .help = "Where all tools are listed, each goes by its server's own name for it, unless another has that too."  \
    }

static const char mcp_text[] =
    "Serves the catalogue to one MCP client on standard input and output: the client starts `whichtool mcp` as it "
    "starts any server. Its model then has three tools in the place of hundreds: search_tools finds tools for a task, "
    "with their definitions; get_tool_details has whole definitions; write_call writes a checked call, and asks for "
    "what is missing. Nothing is called.\n"
    "With --servers it stands before other MCP servers: what search_tools finds is called by call_read, call_write or "
    "call_destructive, whose names say to the client's user what is to be approved.\n"
    "Both eras of the protocol are spoken: 2026-07-28, and 2025-11-25 and older. The server ends when its input does. "
    "docs/serving.md has what clients are to be told.\n"
    "approve shows the definitions that servers list and nobody approved of, what changed in them, in words, and what "
    "they would take of the first places, and what of their texts `whichtool check` calls an error; with names of a "
    "provider's tools, or --all, it approves. Until then they are not in the catalogue. Without names the exit code is "
    "1 "
    "where something waits. status shows how the servers of --servers are, by what was written of them last. lock FILE "
    "writes pins of what is approved. Prompts, resources and resource templates are approved as tools are, by "
    "prompt:NAME, resource:URI and template:URI. forget SERVER removes a server's tools and approvals once it is out "
    "of "
    "the file of --servers, and frees its name for imports (docs/gateway.md).\n"
    "audit FILE checks the log of --audit, and repeats its decisions by --policy; --audit-key FILE checks its HMACs. "
    "The files of a rotated log are named together, the oldest first. audit FILE --rotate starts a new file, in which "
    "running gateways go on.\n"
    "init finds the files in which the MCP clients of this machine keep their servers, shows what it would do, asks, "
    "and "
    "moves the servers behind whichtool, which then stands in their place; undo puts all back (docs/gateway.md, \"In "
    "one "
    "command\").";

static const struct option mcp_options[] = {
    CATALOGUE_OPTIONS,
    {.id = OPT_TIMEOUT,
     .name = "timeout",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = TIMEOUT_MAX,
     .help = "Most seconds that one search may take. Default: 30."},
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
     .help = "With --policy: only what this profile of it allows."},
    {.id = OPT_ROTATE,
     .name = "rotate",
     .help = "audit: start a new file that continues the log, and keep the old one as FILE.YYYYMMDDTHHMMSSZ."},
    {.id = OPT_ALL, .name = "all", .help = "approve: everything of the provider that waits."},
    {.id = OPT_INSTRUCTIONS, .name = "instructions", .help = "approve: the instructions of the provider's server."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "approve, forget, init, undo: do not ask."},
    {.id = OPT_CLIENT,
     .name = "client",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "init, undo: only the files of this client: claude-code, claude-desktop, cursor, vscode, vscode-insiders, "
             "windsurf, gemini-cli, zed, cline, roo-code. May be given again."},
    {.id = OPT_PROJECT,
     .name = "project",
     .help = "init, undo: the files of the project in the current folder, in the place of the user's own."},
    {.id = OPT_NO_ENV,
     .name = "no-env",
     .help = "init: do not hand DOCKER_HOST, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS and the proxy variables of this "
             "environment on to the servers."},
    {.id = OPT_DRY_RUN, .name = "dry-run", .help = "init, undo: show what would be done, and do nothing."},
    MODEL_OPTIONS,
};

static const struct example mcp_examples[] = {
    {"whichtool mcp init", "Stands before the servers of all clients of this machine."},
    {"whichtool mcp undo", "Puts the clients' files back as they were."},
    {"claude mcp add tools -- whichtool mcp", "Has a client start it."},
    {"whichtool mcp --servers ~/.config/whichtool/servers.json", "Stands before the servers of a file."},
    {"whichtool -s team.wt mcp --summary \"Tools of our shop: orders, stock, refunds.\"",
     "Another store, in words of one's own."},
    {"whichtool mcp status", "Shows how the servers are: era, tools, and why one failed."},
    {"whichtool mcp approve", "Shows what waits for approval, of all servers."},
    {"whichtool mcp approve github create_issue", "Shows what changed in a tool, asks, and approves."},
    {"whichtool mcp lock whichtool.lock", "Pins what is approved, for a repository."},
    {"whichtool mcp forget github", "Forgets a server that is no longer used."},
};

#endif
