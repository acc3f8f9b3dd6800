/* Tools for tests of concurrency: one waits until released or cancelled, one waits for a second call, and some ask the
 * client. */
#ifndef WT_TESTS_SERVE_WAITING_H
#define WT_TESTS_SERVE_WAITING_H

#include <stdio.h>

#include "serve/mcp/service.h"
#include "serve/mcp_table.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    unsigned waiting;             /* calls of `wait` so far */
    unsigned let_go;              /* calls of `wait` that may end */
    unsigned cancelled, answered; /* ended calls */
    unsigned together;            /* calls of `meet` so far */
    bool cancel_heard;
    char watched[64]; /* the last subscription */
} meanwhile = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

static inline void meanwhile_reset(void)
{
    pthread_mutex_lock(&meanwhile.lock);
    meanwhile.waiting = meanwhile.let_go = meanwhile.cancelled = meanwhile.answered = meanwhile.together = 0;
    meanwhile.cancel_heard = false;
    pthread_mutex_unlock(&meanwhile.lock);
}

static inline void meanwhile_until(const unsigned *number, unsigned least)
{
    pthread_mutex_lock(&meanwhile.lock);
    while (*number < least)
        pthread_cond_wait(&meanwhile.news, &meanwhile.lock);
    pthread_mutex_unlock(&meanwhile.lock);
}

static inline void meanwhile_add(unsigned *number)
{
    pthread_mutex_lock(&meanwhile.lock);
    ++*number;
    pthread_cond_broadcast(&meanwhile.news);
    pthread_mutex_unlock(&meanwhile.lock);
}

static void hear_cancel(void *context)
{
    (void)context;
    pthread_mutex_lock(&meanwhile.lock);
    meanwhile.cancel_heard = true;
    pthread_cond_broadcast(&meanwhile.news);
    pthread_mutex_unlock(&meanwhile.lock);
}

/* Waits until released or cancelled. */
static void tool_wait(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_on_cancel(call, hear_cancel, NULL);
    wt__mcp_progress(call, 0, 1, STR("waiting"));
    meanwhile_add(&meanwhile.waiting);
    pthread_mutex_lock(&meanwhile.lock);
    while (meanwhile.let_go == 0 && !wt__mcp_is_cancelled(call))
        pthread_cond_wait(&meanwhile.news, &meanwhile.lock);
    if (!wt__mcp_is_cancelled(call))
        meanwhile.let_go--;
    pthread_mutex_unlock(&meanwhile.lock);
    meanwhile_add(wt__mcp_is_cancelled(call) ? &meanwhile.cancelled : &meanwhile.answered);
    wt__mcp_add_text(call, STR("let go"));
}

/* Waits for a second call, so that a call ends only if two calls run at once. */
static void tool_meet(void *context, struct mcp_call *call)
{
    (void)context;
    meanwhile_add(&meanwhile.together);
    meanwhile_until(&meanwhile.together, 2);
    wt__mcp_add_text(call, STR("met"));
}

static void tool_echo(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_text(call, wt__mcp_call_arguments(call));
    meanwhile_add(&meanwhile.answered);
}

/* Asks two questions in turn, and answers with the responses and the kept state. */
static void tool_ask(void *context, struct mcp_call *call)
{
    struct str one, two;
    struct buffer text = {0};
    (void)context;
    if (wt__mcp_ask(call, "one", "elicitation/create", STR("{\"message\":\"one?\",\"requestedSchema\":{}}"), &one) !=
        MCP_ASK_ANSWERED)
        return;
    wt__mcp_keep_state(call, STR("kept \xff bytes"));
    if (wt__mcp_ask(call, "two", "sampling/createMessage", STR("{\"messages\":[],\"maxTokens\":1}"), &two) !=
        MCP_ASK_ANSWERED)
        return;
    wt__buffer_printf(&text, "%.*s and %.*s, %s", (int)one.len, one.ptr, (int)two.len, two.ptr,
                      wt__str_equal(wt__mcp_state(call), STR("kept \xff bytes")) ? "kept" : "lost");
    wt__mcp_add_text(call, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
}

static void tool_ask_url(void *context, struct mcp_call *call)
{
    struct str response;
    (void)context;
    if (wt__mcp_ask(call, "url", "elicitation/create",
                    STR("{\"mode\":\"url\",\"message\":\"?\",\"elicitationId\":\"1\",\"url\":\"https://x.example\"}"),
                    &response) == MCP_ASK_ANSWERED)
        wt__mcp_add_text(call, response);
}

static void tool_ask_for_ever(void *context, struct mcp_call *call)
{
    struct str response;
    char key[32];
    (void)context;
    for (int i = 0;; i++) {
        snprintf(key, sizeof key, "question %d", i);
        if (wt__mcp_ask(call, key, "roots/list", STR("{}"), &response) != MCP_ASK_ANSWERED)
            return;
    }
}

static void tool_ask_much(void *context, struct mcp_call *call)
{
    struct str response;
    char key[32];
    (void)context;
    for (int i = 0; i <= MCP_QUESTIONS_MAX; i++) {
        snprintf(key, sizeof key, "question %d", i);
        if (wt__mcp_ask(call, key, "roots/list", STR("{}"), &response) == MCP_ASK_FAILED)
            return;
    }
}

static void tool_silent(void *context, struct mcp_call *call)
{
    (void)context;
    (void)call;
}

static void tool_structured(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_set_structured(call, wt__json_bool(wt__mcp_call_argument_tree(call), "list", false) ? STR("[1,2]")
                                                                                                : STR("{\"a\":1}"));
    wt__mcp_set_meta(call, STR("{\"x\":{\"y\":1},\"io.modelcontextprotocol/serverInfo\":{\"name\":\"evil\"}}"));
}

/* Answers with a whole result, like a result relayed from an upstream server. */
static void tool_raw(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_result(call,
                   STR("{\n \"resultType\": \"other\", \"content\": [],\n \"structuredContent\": [3],\n \"ttlMs\": 9, "
                       "\"_meta\": {\"z\":1}, \"more\": 1.50}"));
}

static void tool_bytes(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_text(call, (struct str){"a\0b\xff\n\"", 6});
    wt__mcp_relay_log(call, STR("{\"level\":\"error\",\"logger\":\"l\",\"data\":\"said\"}"));
    wt__mcp_relay_log(call, STR("{\"level\":\"debug\",\"logger\":\"l\",\"data\":\"not said\"}"));
}

static void tool_refuse(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_text(call, STR("gone"));
    wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "no: %d", 7);
}

#define WAITING_TOOL(name) "{\"name\":\"" name "\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}"

static const struct mcp_tool_row waiting_tools[] = {
    {"wait", WAITING_TOOL("wait"), tool_wait, true, false},
    {"wait_quickly", WAITING_TOOL("wait_quickly"), tool_wait, false, false},
    {"meet", WAITING_TOOL("meet"), tool_meet, true, false},
    {"meet_quickly", WAITING_TOOL("meet_quickly"), tool_meet, false, false},
    {"echo", WAITING_TOOL("echo"), tool_echo, false, false},
    {"ask", WAITING_TOOL("ask"), tool_ask, true, false},
    {"ask_url", WAITING_TOOL("ask_url"), tool_ask_url, true, false},
    {"ask_for_ever", WAITING_TOOL("ask_for_ever"), tool_ask_for_ever, true, false},
    {"ask_much", WAITING_TOOL("ask_much"), tool_ask_much, true, false},
    {"silent", WAITING_TOOL("silent"), tool_silent, false, false},
    {"structured", WAITING_TOOL("structured"), tool_structured, false, false},
    {"raw", WAITING_TOOL("raw"), tool_raw, false, false},
    {"bytes", WAITING_TOOL("bytes"), tool_bytes, false, false},
    {"refuse", WAITING_TOOL("refuse"), tool_refuse, false, false},
};

static void read_watched(void *context, struct mcp_call *call, struct str uri)
{
    (void)context;
    wt__mcp_add_contents(call, uri, "text/plain", STR("text"), (struct str){NULL, 0});
}

static bool watch_test_resource(void *context, struct mcp_call *call, struct str uri, wt_error *why)
{
    (void)context, (void)call, (void)why;
    snprintf(meanwhile.watched, sizeof meanwhile.watched, "%.*s", (int)uri.len, uri.ptr);
    return true;
}

static const struct mcp_resource_row waiting_resources[] = {
    {"test://watched", "{\"uri\":\"test://watched\",\"name\":\"w\"}", read_watched, false},
};

static struct mcp_table waiting_table = {
    .tools = waiting_tools,
    .tool_count = sizeof waiting_tools / sizeof *waiting_tools,
    .resources = waiting_resources,
    .resource_count = 1,
};

static inline int waiting_open(struct mcp_service **out, const struct mcp_service_options *options, wt_error *err)
{
    struct mcp_features features = {.name = "waiting",
                                    .version = "1",
                                    .changes = true,
                                    .resources = {.watched = true, .watch = watch_test_resource}};
    meanwhile_reset();
    int rc = mcp_table_open(&waiting_table, &features, err);
    return rc < 0 ? rc : wt__mcp_service_open(out, &features, options, err);
}

static inline void waiting_close(struct mcp_service *service)
{
    wt__mcp_service_close(service);
    mcp_table_close(&waiting_table);
}

#endif
