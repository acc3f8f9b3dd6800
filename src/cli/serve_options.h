/* serve_options.h: options and examples of `whichtool serve`, included by options.c only. */
#ifndef WT_CLI_SERVE_OPTIONS_H
#define WT_CLI_SERVE_OPTIONS_H

#include "serve/api/api.h"

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

#endif
