/* serve_options.h: options and examples of `whichtool serve`. A part of the table of options.c, by itself for that
 * file's length: read there alone, by whose macros it is written. */
#ifndef WT_CLI_SERVE_OPTIONS_H
#define WT_CLI_SERVE_OPTIONS_H

#include "serve/api/api.h"

static const char serve_text[] =
    "docs/serving.md has the routes; the server itself describes them at /openapi.json. MCP clients find it at /mcp. "
    "It stays on this machine "
    "unless "
    "--listen says otherwise, and beyond it nobody is answered without a key (--keys). Requests must name the server "
    "in "
    "their Host, and pages of other sites are turned away (--host, --origin). TLS is a proxy's job.\n"
    "Another process may add and remove tools meanwhile: requests see it as soon as the index is made. Nothing that "
    "comes over HTTP starts a program or reads a file.\n"
    "Ctrl-C and SIGTERM stop it when the running requests are answered, at most ten seconds later; SIGHUP reads the "
    "keys anew, and what was trained. The exit code is 6 when it cannot listen.";

static const struct option serve_options[] = {
    {.id = OPT_LISTEN,
     .letter = 'l',
     .name = "listen",
     .kind = VALUE_TEXT,
     .value = "ADDRESS",
     .help = "HOST:PORT, or unix:PATH, whose socket only the owner can use. Port 0: any free one. Default: " API_LISTEN
             "."},
    {.id = OPT_KEYS,
     .name = "keys",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "Answer only who has a key of this file, for what its scopes allow. The file holds hashes."},
    {.id = OPT_NEW_KEY,
     .name = "new-key",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Serve nobody, but make a key, print it, and add its hash to the file of --keys. It is not shown again."},
    {.id = OPT_SCOPES,
     .name = "scopes",
     .kind = VALUE_TEXT,
     .value = "LIST",
     .help =
         "With --new-key: what the key is for, of find, call, write, usage, metrics and admin, which is all of them, "
         "with commas between. With --servers, calling a tool takes call. Default: find."},
    {.id = OPT_HOST,
     .name = "host",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "A name that requests may call this server, beside loopback names and the address that it listens at, as "
             "behind a proxy. May be given again."},
    {.id = OPT_ORIGIN,
     .name = "origin",
     .kind = VALUE_TEXT,
     .value = "URL",
     .repeats = true,
     .help = "Pages of this origin, such as https://app.example.com, may ask the server. May be given again."},
    {.id = OPT_WORKERS,
     .name = "workers",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 256,
     .help = "Requests that are answered at once. Default: one a processor."},
    {.id = OPT_QUEUE,
     .name = "queue",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 100000,
     .help = "Requests that may wait for a worker; others are told to come again (503). One key gets half of them at "
             "most. Default: 2048."},
    {.id = OPT_TIME_LIMIT,
     .name = "time-limit",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = 3600,
     .help = "Most that a find, pick or call may take, whatever it asks for itself. Default: 60."},
    {.id = OPT_LOG,
     .name = "log",
     .kind = VALUE_CHOICE,
     .value = "FORM",
     .choices = "text json off",
     .help = "A line a request on standard error. It never holds keys or what was asked. Default: text, with -q off."},
    {.id = OPT_LOG_REQUESTS, .name = "log-requests", .help = "Log what was asked, too."},
    CATALOGUE_OPTIONS,
    SERVERS_OPTIONS,
    {.id = OPT_PASS_HEADER,
     .name = "pass-header",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "With --servers: take this header of a client's request on to servers over HTTP, with the client's own "
             "calls only. A header in the server's entry comes first. May be given again. Default: none."},
    CHAT_OPTIONS("for pick's recipe ptr and call's language_model"),
    MODEL_OPTIONS,
};
static const struct example serve_examples[] = {
    {"whichtool serve", "Serves this machine at http://" API_LISTEN "."},
    {"whichtool serve --keys keys --new-key laptop --scopes find,usage", "Makes a key and prints it."},
    {"whichtool serve --keys keys --new-key agent --scopes find,call", "Makes a key that may call tools of --servers."},
    {"whichtool serve --listen 0.0.0.0:8642 --keys keys --host tools.example.com",
     "Serves others, by a name, whoever has a key."},
    {"whichtool serve --listen unix:/run/whichtool/socket --log json", "Serves a proxy on this machine."},
};

#endif
