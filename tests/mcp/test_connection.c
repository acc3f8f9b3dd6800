/* Tests connections to programs: eras, events of requests, and errors of faulty servers. Each server is a shell script.
 * The ids of requests begin at 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "mcp/talk.h"
#include "net/held_pipe.h"

static wt_error err;
static const struct str none = {"", 0};

/* Functions for the scripts. A script and its children hold a pipe ($1) open. The test reads the end of the pipe when
 * all of them have ended. */
static const char prelude[] =
    "exec 3>\"$1\"\n"
    "result() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$1\" \"$2\"; }\n"
    "error() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"%s\"}}\\n' \"$1\" \"$2\" "
    "\"$3\"; }\n"
    "say() { printf '{\"jsonrpc\":\"2.0\",%s}\\n' \"$1\"; }\n"
    "note() { say \"\\\"method\\\":\\\"notifications/$1\\\",\\\"params\\\":$2\"; }\n"
    "want() { read -r r; case \"$r\" in *\"$1\"*) ;; *) echo \"heard $r, not $1\" >&2; exit 9;; esac; }\n"
    "legacy() { want server/discover; error 1 -32601 what; want '\"elicitation\":{\"form\"'; "
    "result 2 '{\"protocolVersion\":\"2025-06-18\"}'; want notifications/initialized; }\n"
    "modern() { want server/discover; result 1 '{\"supportedVersions\":[\"2026-07-28\"]}'; }\n"
    "legacy_self() { case \"$r\" in *initialize*) ;; *) exit 9;; esac; i=${r#*\\\"id\\\":}; "
    "result \"${i%%,*}\" '{\"protocolVersion\":\"2025-06-18\"}'; }\n"
    "stay() { cat >/dev/null; }\n";

/* Calls of a connection's callbacks. */
struct callback_log {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buffer noticed;
    unsigned notices, losses;
    wt_error why;
};

static void on_noticed(void *context, struct str method, struct str params)
{
    struct callback_log *heard = context;
    pthread_mutex_lock(&heard->lock);
    heard->notices++;
    wt__buffer_str(&heard->noticed, method);
    wt__buffer_char(&heard->noticed, ' ');
    wt__buffer_str(&heard->noticed, params);
    wt__buffer_char(&heard->noticed, '\n');
    pthread_cond_broadcast(&heard->changed);
    pthread_mutex_unlock(&heard->lock);
}

static void on_lost(void *context, const wt_error *why)
{
    struct callback_log *heard = context;
    pthread_mutex_lock(&heard->lock);
    heard->losses++;
    heard->why = *why;
    pthread_cond_broadcast(&heard->changed);
    pthread_mutex_unlock(&heard->lock);
}

static void heard_init(struct callback_log *heard)
{
    *heard = (struct callback_log){.losses = 0};
    pthread_mutex_init(&heard->lock, NULL);
    pthread_cond_init(&heard->changed, NULL);
}

static void heard_dispose(struct callback_log *heard)
{
    pthread_mutex_destroy(&heard->lock);
    pthread_cond_destroy(&heard->changed);
    wt__buffer_dispose(&heard->noticed);
}

static void wait_for_loss(struct callback_log *heard)
{
    pthread_mutex_lock(&heard->lock);
    while (heard->losses == 0)
        pthread_cond_wait(&heard->changed, &heard->lock);
    pthread_mutex_unlock(&heard->lock);
}

static int connect_script(struct mcp_connection **out, const char *script, const char *words[6], struct buffer *text,
                          struct mcp_server *server, const struct mcp_connection_options *options)
{
    static const char *const environment[] = {"API_KEY=4711-key", "OTHER=x", NULL};
    wt__buffer_printf(text, "%s%s", prelude, script);
    words[0] = "sh";
    words[1] = "-c";
    words[2] = text->ptr;
    words[3] = "sh";
    words[4] = pipe_path;
    words[5] = NULL;
    *server = (struct mcp_server){.name = "s", .argv = words, .environment = environment};
    return wt__mcp_connect(out, server, options, &err);
}

/* ---------------------------------------------------------------- opening */

#define SELF "{\"protocolVersion\":\"2025-06-18\"}"
#define DISCOVERED "{\"supportedVersions\":[\"2026-07-28\"]}"
#define OLD_ONLY                                                                                                       \
    "say '\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2025-11-25\"]}}'"

static const struct {
    const char *name, *script;
    enum mcp_era remembered; /* era of an earlier connection; 0 if unknown */
    unsigned timeout_ms;     /* 0 for 900000 */
    int rc;
    enum mcp_era era;
    const char *says;  /* result of the opening, or part of the message */
    enum mcp_era only; /* configured era; 0 if not configured */
} openings[] = {
    {"legacy", "legacy; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"modern", "modern; stay", 0, 0, 0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"legacy, remembered", "want initialize; result 1 '" SELF "'; want notifications/initialized; stay", MCP_ERA_LEGACY,
     0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"modern, remembered", "modern; stay", MCP_ERA_MODERN, 0, 0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"remembered as legacy, now modern",
     "want initialize; error 1 -32601 what; want server/discover; result 2 '" DISCOVERED "'; stay", MCP_ERA_LEGACY, 0,
     0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"remembered as modern, now legacy", "legacy; stay", MCP_ERA_MODERN, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"modern, refuses with a modern error", "want server/discover; error 1 -32021 'say more'; stay", 0, 0, 0,
     MCP_ERA_MODERN, "{}", 0},
    {"legacy only, reported by a modern error",
     "want server/discover; " OLD_ONLY "; want initialize; result 2 '" SELF "'; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF,
     0},
    {"legacy only, reported by server/discover",
     "want server/discover; result 1 '{\"supportedVersions\":[\"2025-11-25\"]}'; want initialize; result 2 '" SELF
     "'; stay",
     0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"answers any request", "want server/discover; result 1 '{}'; want initialize; result 2 '" SELF "'; stay", 0, 0, 0,
     MCP_ERA_LEGACY, SELF, 0},
    {"refuses our revision once",
     "want discover; say "
     "'\"id\":1,\"error\":{\"code\":-32022,\"data\":{\"supported\":[\"2026-07-28\"]}}'; want discover; result 2 "
     "'" DISCOVERED "'; stay",
     0, 0, 0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"unknown revision only",
     "want server/discover; say '\"id\":1,\"error\":{\"code\":-32022,\"data\":{\"supported\":[\"2099-01-01\"]}}'; stay",
     0, 0, WT_ENETWORK, 0, "sh supports no revision of MCP that whichtool supports", 0},
    {"ends after the probe, and is restarted",
     "read -r r; case \"$r\" in *server/discover*) exit 1;; esac; result 2 '" SELF "'; stay", 0, 0, 0, MCP_ERA_LEGACY,
     SELF, 0},
    {"remembered as modern, ends after the probe",
     "read -r r; case \"$r\" in *server/discover*) exit 1;; esac; result 2 '" SELF "'; stay", MCP_ERA_MODERN, 0, 0,
     MCP_ERA_LEGACY, SELF, 0},
    {"silent about the probe, ends at initialize",
     "read -r r; case \"$r\" in *server/discover*) read -r r; exit 1;; esac; legacy_self; stay", 0, 0, 0,
     MCP_ERA_LEGACY, SELF, 0},
    {"refuses the probe as invalid and ends",
     "read -r r; case \"$r\" in *server/discover*) error 1 -32600 invalid; exit 1;; esac; legacy_self; stay", 0, 0, 0,
     MCP_ERA_LEGACY, SELF, 0},
    {"refuses initialize after the probe",
     "read -r r; case \"$r\" in *server/discover*) error 1 -32601 what; want initialize; error 2 -32600 'too late'; "
     "stay;; esac; legacy_self; stay",
     0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"cannot parse the probe", "want discover; error null -32700 what; want initialize; result 2 '" SELF "'; stay", 0,
     0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"ignores the probe", "read -r r; want initialize; result 2 '" SELF "'; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"modern, starts slowly", "read -r r; want initialize; result 1 '" DISCOVERED "'; error 2 -32601 what; stay", 0, 0,
     0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"output at the start", "echo Listening...; echo; echo '[1]'; legacy; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"output at the start without a newline", "printf 'Loading {config: 1} ... '; legacy; stay", 0, 0, 0,
     MCP_ERA_LEGACY, SELF, 0},
    {"begins with a byte order mark", "printf '\\357\\273\\277'; legacy; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"request at the start",
     "say '\"id\":\"p\",\"method\":\"ping\"'; say '\"id\":7,\"method\":\"roots/list\"'; for i in 1 2 3; do read -r r; "
     "case \"$r\" in *server/discover*) ;; *'\"id\":\"p\",\"result\":{}'*) ;; *'\"id\":7,\"error\":{\"code\":-32601'*) "
     ";; "
     "*) exit 9;; esac; done; error 1 -1 what; want initialize; result 2 '" SELF "'; stay",
     0, 0, 0, MCP_ERA_LEGACY, SELF, 0},
    {"id as a string", "want discover; result '\"1\"' '" DISCOVERED "'; stay", 0, 0, 0, MCP_ERA_MODERN, DISCOVERED, 0},
    {"no answer", "sleep 900", 0, 200, WT_ETIMEOUT, 0, "no answer came within 0.", 0},
    {"configured as legacy", "want initialize; result 1 '" SELF "'; stay", 0, 0, 0, MCP_ERA_LEGACY, SELF,
     MCP_ERA_LEGACY},
    {"configured as legacy, refused", "want initialize; error 1 -1 no; stay", 0, 0, WT_ENETWORK, 0,
     "`initialize` is refused: no (error -1)", MCP_ERA_LEGACY},
    {"configured as modern", "modern; stay", 0, 0, 0, MCP_ERA_MODERN, DISCOVERED, MCP_ERA_MODERN},
    {"configured as modern, refused", "want discover; error 1 -32601 what; stay", 0, 0, WT_ENETWORK, 0,
     "sh does not support MCP 2026-07-28: `server/discover` is refused: what (error -32601)", MCP_ERA_MODERN},
    {"configured as modern, lists legacy revisions", "want discover; " OLD_ONLY "; stay", 0, 0, WT_ENETWORK, 0,
     "sh does not support MCP 2026-07-28", MCP_ERA_MODERN},
    {"configured as modern, ends", "exit 3", 0, 0, WT_ENETWORK, 0, "sh does not support MCP 2026-07-28: it ended",
     MCP_ERA_MODERN},
    {"exit at start", "echo 'no  database' >&2; exit 3", 0, 0, WT_ENETWORK, 0,
     "sh ended before it answered `initialize`; it said last: no database", 0},
    {"ends at initialize, with and without the probe",
     "read -r r; case \"$r\" in *discover*) error 1 -32601 what; read -r r;; esac; echo bye >&2; exit 1", 0, 0,
     WT_ENETWORK, 0, "sh ended before it answered `initialize`; it said last: bye", 0},
    {"both openings refused", "want discover; error 1 -1 what; want initialize; error 2 -32000 'not today'; stay", 0, 0,
     WT_ENETWORK, 0, "`initialize` is refused: not today (error -32000)", 0},
    {"both openings refused, legacy first",
     "want initialize; error 1 -32000 'not today'; want discover; error 2 -1 what; stay", MCP_ERA_LEGACY, 0,
     WT_ENETWORK, 0, "`initialize` is refused: not today (error -32000)", 0},
    {"result not an object", "want discover; error 1 -1 what; want initialize; result 2 '[]'; stay", 0, 0, WT_ENETWORK,
     0, "the answer to `initialize` is invalid: its result is not an object", 0},
    {"not a server", "yes", 0, 0, WT_ETOOLONG, 0, "sh wrote more than 1000 lines that are not messages", 0},
    {"endless line", "while :; do printf %65536s x; done", 0, 0, WT_ETOOLONG, 0, "a line of more than 16 MB", 0},
    {"secret in stderr", "echo \"cannot log in with $API_KEY\" >&2; exit 1", 0, 0, WT_ENETWORK, 0,
     "it said last: cannot log in with ***", 0},
};

static void each_program_opens_in_its_era(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        struct buffer text = {0};
        const char *words[6];
        struct mcp_server server;
        struct mcp_connection *connection;
        const struct mcp_connection_options options = {.era = openings[i].remembered,
                                                       .only = openings[i].only,
                                                       .timeout_ms =
                                                           openings[i].timeout_ms ? openings[i].timeout_ms : 900000};
        int rc = connect_script(&connection, openings[i].script, words, &text, &server, &options);
        struct str self = rc == 0 ? wt__mcp_connection_self(connection) : none;
        enum mcp_era era = rc == 0 ? wt__mcp_connection_era(connection) : MCP_ERA_UNKNOWN;
        bool right =
            rc == 0 ? wt__str_equal(self, wt__str(openings[i].says)) : strstr(err.message, openings[i].says) != NULL;
        if (rc != openings[i].rc || era != openings[i].era || !right)
            fail_msg("%s: %d, era %d, \"%.*s\"", openings[i].name, rc, era,
                     rc < 0 ? (int)strlen(err.message) : (int)self.len, rc < 0 ? err.message : self.ptr);
        wt__mcp_disconnect(connection, true);
        nothing_is_left();
        wt__buffer_dispose(&text);
    }
}

/* ---------------------------------------------------------------- requests */

static const struct {
    const char *name, *script; /* the next request has the id 3 after `legacy`, and the id 2 after `modern` */
    struct mcp_request request;
    const char *answer; /* to questions; "" to leave them open */
    const char *events;
    const char *noticed; /* notifications passed to the `noticed` callback; NULL if the connection is lost */
} talks[] = {
    {"answer",
     "legacy; want '\"id\":3,\"method\":\"m\",\"params\":{\"a\":1}}'; result 3 '{ \"b\": 2 }'; stay",
     {.method = "m", .params = STR("\"a\":1")},
     "",
     "= { \"b\": 2 }\n",
     ""},
    {"error", "legacy; want m; error 3 -5 no; stay", {.method = "m"}, "", "- {\"code\":-5,\"message\":\"no\"}\n", ""},
    {"error without an id",
     "legacy; want m; error null -5 no; stay",
     {.method = "m"},
     "",
     "- {\"code\":-5,\"message\":\"no\"}\n",
     ""},
    {"repeated and unmatched answers",
     "legacy; want m; result 9 '{}'; result 3 '{\"a\":1}'; result 3 '{}'; stay",
     {.method = "m"},
     "",
     "= {\"a\":1}\n",
     ""},
    {"_meta of a modern request",
     "modern; want "
     "'\"params\":{\"a\":1,\"_meta\":{ \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io."
     "modelcontextprotocol/clientInfo\":{\"name\":\"whichtool\",'; case \"$r\" in "
     "*'/clientCapabilities\":{\"sampling\":{}},\"io.modelcontextprotocol/logLevel\":\"info\",\"progressToken\":2,"
     "\"traceparent\":\"t\"}}}') ;; *) exit 8;; esac; result 2 '{}'; stay",
     {.method = "m",
      .params = STR("\"a\":1"),
      .meta = STR("\"traceparent\":\"t\""),
      .capabilities = STR("{\"sampling\":{}}"),
      .log_level = "info",
      .progress = true},
     "",
     "= {}\n",
     ""},
    {"_meta of a legacy request",
     "legacy; want '\"params\":{\"_meta\":{ \"progressToken\":3,\"traceparent\":\"t\"}}}'; result 3 '{}'; stay",
     {.method = "m",
      .meta = STR("\"traceparent\":\"t\""),
      .capabilities = STR("{}"),
      .log_level = "info",
      .progress = true},
     "",
     "= {}\n",
     ""},
    {"line ends in params",
     "legacy; want '\"a\": 1}}'; result 3 '{}'; stay",
     {.method = "m", .params = STR("\"a\":\n1")},
     "",
     "= {}\n",
     ""},
    {"progress events do not contain the token",
     "legacy; want m; note progress '{\"progressToken\":3,\"progress\":1 , \"total\":2}'; "
     "note progress '{\"progress\":2,\"progressToken\":\"3\"}'; note progress '{\"progressToken\":99}'; result 3 '{}'; "
     "stay",
     {.method = "m", .progress = true},
     "",
     "> notifications/progress {\"progress\":1,\"total\":2}\n> notifications/progress {\"progress\":2}\n= {}\n",
     ""},
    {"unrequested progress",
     "legacy; want m; note progress '{\"progressToken\":3}'; result 3 '{}'; stay",
     {.method = "m"},
     "",
     "= {}\n",
     ""},
    {"logs and changes",
     "legacy; want m; note message '{\"level\":\"info\"}'; note tools/list_changed '{}'; note resources/updated "
     "'{\"uri\":\"x\"}'; result 3 '{}'; stay",
     {.method = "m"},
     "",
     "> notifications/message {\"level\":\"info\"}\n= {}\n",
     "notifications/tools/list_changed {}\nnotifications/resources/updated {\"uri\":\"x\"}\n"},
    {"notices of a modern subscription",
     "modern; want m; note tools/list_changed '{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":2}}'; note "
     "prompts/list_changed '{}'; result 2 '{}'; stay",
     {.method = "m"},
     "",
     "> notifications/tools/list_changed {\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":2}}\n= {}\n",
     "notifications/prompts/list_changed {}\n"},
    {"question, answer and ping",
     "legacy; want m; say '\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}'; say "
     "'\"id\":5,\"method\":\"ping\"'; for i in 1 2; do read -r r; case \"$r\" in *'\"id\":5,\"result\":{}'*) ;; "
     "*'\"id\":\"q\",\"result\":{\"action\":\"accept\"}'*) ;; *) exit 9;; esac; done; result 3 '{}'; stay",
     {.method = "m"},
     "{\"action\":\"accept\"}",
     "? elicitation/create {\"message\":\"?\"}\n= {}\n",
     ""},
    {"cancelled question",
     "legacy; want m; say '\"id\":\"q\",\"method\":\"elicitation/create\"'; note cancelled '{\"requestId\":\"q\"}'; "
     "result 3 '{}'; stay",
     {.method = "m"},
     "",
     "? elicitation/create \n> notifications/cancelled {\"requestId\":\"q\"}\n= {}\n",
     ""},
    {"question of a modern server",
     "modern; want m; say '\"id\":1,\"method\":\"roots/list\"'; want '\"id\":1,\"error\":{\"code\":-32601'; result 2 "
     "'{}'; "
     "stay",
     {.method = "m"},
     "",
     "= {}\n",
     ""},
    {"exit before the answer",
     "legacy; want m; echo 'out of $API_KEY' >&2; exit 1",
     {.method = "m"},
     "",
     "! -16 sh ended before it answered `m`\n",
     NULL},
    {"exit in the middle of an answer",
     "legacy; want m; printf '{\"jsonrpc\":\"2.0\",\"id\":3,\"res'; exit 1",
     {.method = "m"},
     "",
     "! -16 the server s sent an invalid message: a string without an end at byte 28\n",
     NULL},
    {"closes its output",
     "legacy; want m; exec >&-; sleep 900",
     {.method = "m"},
     "",
     "! -16 sh ended before it answered `m`\n",
     NULL},
    {"truncated message",
     "legacy; want m; echo '{\"jsonrpc\":\"2.0\",\"id\":3'; stay",
     {.method = "m"},
     "",
     "! -16 the server s sent an invalid message: an end where a bracket should close at byte 23\n",
     ""},
    {"invalid UTF-8",
     "legacy; want m; printf '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"x\":\"\\377\\376\"}}\\n'; stay",
     {.method = "m"},
     "",
     "! -16 the server s sent an invalid message: bytes that are not UTF-8 at byte 39\n",
     ""},
    {"invalid JSON before the id",
     "legacy; want m; echo '{\"jsonrpc\":\"2.0\",\"result\":{\"a\":[1,2},\"id\":3}'; stay",
     {.method = "m"},
     "",
     "! -16 the server s sent an invalid message: a byte where a comma or a closing bracket should be at byte "
     "35\n",
     ""},
    {"output before the message on its line",
     "legacy; want m; echo 'starting{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}'; stay",
     {.method = "m"},
     "",
     "= {}\n",
     ""},
    {"result and error",
     "legacy; want m; echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{},\"error\":{}}'; stay",
     {.method = "m"},
     "",
     "! -16 the server s sent an invalid message: no result, error or method at byte 0\n",
     ""},
    {"invalid notification",
     "legacy; want m; echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"x\":y}}'; "
     "result 3 '{\"a\":1}'; stay",
     {.method = "m"},
     "",
     "= {\"a\":1}\n",
     ""},
    {"invalid question",
     "legacy; want m; echo '{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\",\"params\":{\"x\":y}}'; want "
     "'\"id\":\"q\",\"error\":{\"code\":-32700'; result 3 '{\"a\":1}'; stay",
     {.method = "m"},
     "",
     "= {\"a\":1}\n",
     ""},
    {"too many lines that are not messages",
     "legacy; want m; yes",
     {.method = "m"},
     "",
     "! -3 sh wrote more than 1000 lines that are not messages; check that it is an MCP server\n",
     NULL},
    {"too many notifications",
     "legacy; want m; yes '{\"method\":\"notifications/tools/list_changed\"}'",
     {.method = "m"},
     "",
     "! -3 sh sent more than 10000 unsolicited messages\n",
     NULL},
    {"too many unmatched answers",
     "legacy; want m; yes '{\"id\":99,\"result\":{}}'",
     {.method = "m"},
     "",
     "! -3 sh sent more than 10000 unsolicited messages\n",
     NULL},
    {"too many bytes of notifications",
     "legacy; want m; while :; do printf '{\"method\":\"%4000000s/list_changed\"}\\n' x; done",
     {.method = "m"},
     "",
     "! -3 sh sent more than 64 MB of unsolicited messages\n",
     NULL},
    {"line above the limit",
     "legacy; want m; while :; do printf %65536s x; done",
     {.method = "m"},
     "",
     "! -3 sh wrote a line of more than 16 MB\n",
     NULL},
    {"no answer",
     "legacy; want m; stay",
     {.method = "m", .timeout_ms = 100},
     "",
     "! -17 no answer came within 0.1 s\n",
     ""},
    {"progress restarts the timeout",
     "legacy; want m; for i in 1 2 3 4 5 6 7 8; do sleep .2; note progress '{\"progressToken\":3}'; done; result 3 "
     "'{}'; "
     "stay",
     {.method = "m", .timeout_ms = 1500, .progress = true},
     "",
     "> notifications/progress {}\n> notifications/progress {}\n> notifications/progress {}\n> notifications/progress "
     "{}\n> notifications/progress {}\n> notifications/progress {}\n> notifications/progress {}\n> "
     "notifications/progress {}\n= {}\n",
     ""},
};

static void messages_reach_their_exchanges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++) {
        struct buffer text = {0};
        const char *words[6];
        struct mcp_server server;
        struct mcp_connection *connection;
        struct callback_log heard;
        heard_init(&heard);
        const struct mcp_connection_options options = {
            .timeout_ms = 900000, .context = &heard, .noticed = on_noticed, .lost = on_lost};
        if (connect_script(&connection, talks[i].script, words, &text, &server, &options) < 0)
            fail_msg("%s: %s", talks[i].name, err.message);
        struct mcp_request request = talks[i].request;
        if (request.timeout_ms == 0)
            request.timeout_ms = 900000;
        char *events = talk(connection, &request, talks[i].answer);
        bool is_lost = !talks[i].noticed;
        if (is_lost)
            wait_for_loss(&heard);
        if (!events || strcmp(events, talks[i].events) != 0 || wt__mcp_connection_is_lost(connection) != is_lost)
            fail_msg("%s: %s", talks[i].name, events);
        if (is_lost && (strstr(heard.why.message, "4711") || strncmp(heard.why.message, "sh ", 3) != 0))
            fail_msg("%s: lost: %s", talks[i].name, heard.why.message);
        wt__mcp_disconnect(connection, true);
        const char *noticed = heard.noticed.ptr ? heard.noticed.ptr : "";
        if (heard.losses != is_lost || (talks[i].noticed && strcmp(noticed, talks[i].noticed) != 0))
            fail_msg("%s: %u losses, noticed %s", talks[i].name, heard.losses, noticed);
        nothing_is_left();
        free(events);
        heard_dispose(&heard);
        wt__buffer_dispose(&text);
    }
}

/* ---------------------------------------------------------------- concurrent requests */

static struct mcp_exchange *begin_timed_request(struct mcp_connection *connection, const char *method,
                                                const char *principal, unsigned timeout_ms)
{
    const struct mcp_request request = {.method = method, .principal = principal, .timeout_ms = timeout_ms};
    struct mcp_exchange *exchange;
    assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), 0);
    return exchange;
}

static struct mcp_exchange *begin_request(struct mcp_connection *connection, const char *method, const char *principal)
{
    return begin_timed_request(connection, method, principal, 900000);
}

static void check_events(struct mcp_exchange *exchange, const char *wanted)
{
    struct buffer out = {0};
    talk_listen(&out, exchange, "{}");
    assert_string_equal(out.ptr, wanted);
    wt__buffer_dispose(&out);
    wt__mcp_exchange_end(exchange);
}

/* A question that names no request is refused if it could belong to requests of two principals. */
static void question_is_refused_if_two_principals_could_answer(void **state)
{
    static const struct {
        const char *first, *second;
        const char *script, *one, *two;
    } rows[] = {
        {"ada", "ada", "want '\"id\":7,\"result\":{}'", "= {\"first\":1}\n", "? roots/list \n= {\"second\":1}\n"},
        {"ada", "bob", "want '\"id\":7,\"error\":{\"code\":-32603'", "= {\"first\":1}\n", "= {\"second\":1}\n"},
        {NULL, NULL, "want '\"id\":7,\"result\":{}'", "= {\"first\":1}\n", "? roots/list \n= {\"second\":1}\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer text = {0}, script = {0};
        const char *words[6];
        struct mcp_server server;
        struct mcp_connection *connection;
        const struct mcp_connection_options options = {.timeout_ms = 900000};
        wt__buffer_printf(&script,
                          "legacy; want one; want two; say '\"id\":7,\"method\":\"roots/list\"'; %s; result 4 "
                          "'{\"second\":1}'; result 3 '{\"first\":1}'; stay",
                          rows[i].script);
        assert_int_equal(connect_script(&connection, script.ptr, words, &text, &server, &options), 0);
        struct mcp_exchange *one = begin_request(connection, "one", rows[i].first);
        struct mcp_exchange *two = begin_request(connection, "two", rows[i].second);
        check_events(two, rows[i].two);
        check_events(one, rows[i].one);
        wt__mcp_disconnect(connection, true);
        nothing_is_left();
        wt__buffer_dispose(&text);
        wt__buffer_dispose(&script);
    }
}

/* A log message that names no request goes to neither of two principals, but restarts the timeouts of both. */
static void log_messages_restart_timeouts(void **state)
{
    struct buffer text = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    const struct mcp_connection_options options = {.timeout_ms = 900000};
    const char *script = "legacy; want one; want two; for i in 1 2 3 4 5 6 7 8; do sleep .2; note message "
                         "'{\"level\":\"info\",\"data\":1}'; done; result 4 '{}'; result 3 '{}'; stay";
    (void)state;
    assert_int_equal(connect_script(&connection, script, words, &text, &server, &options), 0);
    struct mcp_exchange *one = begin_timed_request(connection, "one", "ada", 1500);
    struct mcp_exchange *two = begin_timed_request(connection, "two", "bob", 1500);
    check_events(two, "= {}\n");
    check_events(one, "= {}\n");
    wt__mcp_disconnect(connection, true);
    nothing_is_left();
    wt__buffer_dispose(&text);
}

/* Questions may be answered in any order, but only once. */
static void replies_may_come_in_any_order(void **state)
{
    static const size_t order[] = {1, 2, 0};
    struct buffer text = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    struct mcp_event event;
    struct str ids[3];
    char copies[3][8];
    const struct mcp_connection_options options = {.timeout_ms = 900000};
    const char *script =
        "legacy; want m; for i in 7 8 9; do say \"\\\"id\\\":$i,\\\"method\\\":\\\"roots/list\\\"\"; done; "
        "want '\"id\":8,\"result\":{}'; want '\"id\":9,'; want '\"id\":7,'; result 3 '{}'; stay";
    (void)state;
    assert_int_equal(connect_script(&connection, script, words, &text, &server, &options), 0);
    struct mcp_exchange *exchange = begin_request(connection, "m", NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), 0);
        assert_int_equal(event.kind, MCP_EVENT_ASKED);
        snprintf(copies[i], sizeof copies[i], "%.*s", (int)event.id.len, event.id.ptr);
        ids[i] = wt__str(copies[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wt__mcp_exchange_reply(exchange, ids[order[i]], STR("{}"), none, &err), 0);
        assert_int_equal(wt__mcp_exchange_reply(exchange, ids[order[i]], STR("{}"), none, &err), WT_EINVAL);
    }
    check_events(exchange, "= {}\n");
    wt__mcp_disconnect(connection, true);
    nothing_is_left();
    wt__buffer_dispose(&text);
}

/* Queued events are limited: notifications are dropped, the answer is kept. */
static void event_queue_is_limited(void **state)
{
    struct buffer text = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    struct mcp_event event;
    struct callback_log heard;
    size_t bytes = 0;
    heard_init(&heard);
    const struct mcp_connection_options options = {.timeout_ms = 900000, .context = &heard, .noticed = on_noticed};
    const char *script = "legacy; want one; for i in 1 2 3 4 5 6 7 8; do printf "
                         "'{\"method\":\"notifications/message\",\"params\":{\"data\":\"%1000000s\"}}\\n' x; done; "
                         "result 3 '{}'; note tools/list_changed '{}'; stay";
    (void)state;
    assert_int_equal(connect_script(&connection, script, words, &text, &server, &options), 0);
    struct mcp_exchange *exchange = begin_request(connection, "one", NULL);
    pthread_mutex_lock(&heard.lock);
    while (heard.notices == 0) /* the notice comes last */
        pthread_cond_wait(&heard.changed, &heard.lock);
    pthread_mutex_unlock(&heard.lock);
    while (wt__mcp_exchange_next(exchange, &event, &err) == 0 && event.kind == MCP_EVENT_NOTIFIED)
        bytes += event.params.len;
    assert_int_equal(event.kind, MCP_EVENT_RESULT);
    assert_true(bytes > 1000000 && bytes <= MCP_EVENTS_BYTES_MAX);
    wt__mcp_exchange_end(exchange);
    wt__mcp_disconnect(connection, true);
    nothing_is_left();
    heard_dispose(&heard);
    wt__buffer_dispose(&text);
}

static void requests_over_the_limit_are_rejected(void **state)
{
    static struct mcp_exchange *exchanges[MCP_EXCHANGES_MAX];
    static const struct mcp_request request = {.method = "m"};
    struct buffer text = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    struct mcp_exchange *more;
    const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    assert_int_equal(connect_script(&connection, "legacy; stay", words, &text, &server, &options), 0);
    for (size_t i = 0; i < MCP_EXCHANGES_MAX; i++)
        exchanges[i] = begin_request(connection, "m", NULL);
    assert_int_equal(wt__mcp_exchange_begin(&more, connection, &request, &err), WT_EFULL);
    assert_string_equal(err.message, "sh has 1024 requests running already; try again later");
    wt__mcp_exchange_end(exchanges[0]);
    exchanges[0] = begin_request(connection, "m", NULL);
    wt__mcp_disconnect(connection, true);
    for (size_t i = 0; i < MCP_EXCHANGES_MAX; i++)
        wt__mcp_exchange_end(exchanges[i]);
    nothing_is_left();
    wt__buffer_dispose(&text);
}

/* A request above the size limit is refused, and the server gets neither the request nor its cancellation. */
static void unsent_request_is_not_cancelled(void **state)
{
    struct buffer text = {0}, much = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    struct mcp_exchange *exchange;
    const struct mcp_connection_options options = {.timeout_ms = 900000};
    const char *script = "legacy; want '\"method\":\"one\"'; result 4 '{}'; stay";
    (void)state;
    assert_int_equal(connect_script(&connection, script, words, &text, &server, &options), 0);
    wt__buffer_printf(&much, "\"a\":\"%*s\"", MCP_SENT_BYTES_MAX, "");
    const struct mcp_request request = {.method = "m", .params = wt__buffer_view(&much)};
    assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "the request is larger than 6 MB");
    assert_null(exchange);
    check_events(begin_request(connection, "one", NULL), "= {}\n");
    wt__mcp_disconnect(connection, true);
    nothing_is_left();
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&much);
}

/* A server that does not read its input loses its connection, and does not block the caller. */
static void program_that_does_not_read_loses_its_connection(void **state)
{
    struct buffer text = {0}, much = {0};
    const char *words[6];
    struct mcp_server server;
    struct mcp_connection *connection;
    struct mcp_exchange *exchange;
    struct callback_log heard;
    int rc = 0;
    heard_init(&heard);
    const struct mcp_connection_options options = {.timeout_ms = 900000, .context = &heard, .lost = on_lost};
    (void)state;
    assert_int_equal(connect_script(&connection, "legacy; sleep 900", words, &text, &server, &options), 0);
    wt__buffer_printf(&much, "\"a\":\"%*s\"", 1 << 20, "");
    const struct mcp_request request = {.method = "m", .params = wt__buffer_view(&much)};
    for (size_t i = 0; rc == 0 && i < 16; i++) {
        rc = wt__mcp_exchange_begin(&exchange, connection, &request, &err);
        wt__mcp_exchange_end(exchange);
    }
    assert_int_equal(rc, WT_ENETWORK);
    assert_string_equal(err.message, "sh does not read what it is sent");
    wait_for_loss(&heard);
    assert_string_equal(heard.why.message, "sh does not read what it is sent");
    wt__mcp_disconnect(connection, true);
    nothing_is_left();
    heard_dispose(&heard);
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_program_opens_in_its_era),
        cmocka_unit_test(messages_reach_their_exchanges),
        cmocka_unit_test(question_is_refused_if_two_principals_could_answer),
        cmocka_unit_test(log_messages_restart_timeouts),
        cmocka_unit_test(replies_may_come_in_any_order),
        cmocka_unit_test(event_queue_is_limited),
        cmocka_unit_test(requests_over_the_limit_are_rejected),
        cmocka_unit_test(unsent_request_is_not_cancelled),
        cmocka_unit_test(program_that_does_not_read_loses_its_connection),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
