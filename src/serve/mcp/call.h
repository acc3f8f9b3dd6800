/* call.h: one request of a client, as the function that answers it sees it: what is asked, by whom, and the answer that
 * is written.
 *
 * A call that needs to know more asks its client (wt__mcp_ask), and one way of writing it serves both eras:
 *
 *     switch (wt__mcp_ask(call, "name", "elicitation/create", params, &response)) {
 *     case MCP_ASK_ANSWERED: break;          response is the client's result
 *     default: return;                       asked, or refused: the call is over for now
 *     }
 *
 * A legacy client answers while the function waits inside. A modern one gets `input_required` with all questions that
 * were pending when the function returned, and sends its request anew with the answers: the function then runs anew
 * from its beginning, and finds them. So whatever acts comes after the last question, or is kept by wt__mcp_keep_state,
 * which travels through the client, sealed: nobody can change it, or use it for another request, as another principal,
 * or later than MCP_STATE_MS. It is not secret.
 *
 * Text may be any bytes: what is no UTF-8 becomes U+FFFD. JSON that is handed over must be JSON. All views that a call
 * gives live as long as the call. A call belongs to one thread, but for wt__mcp_is_cancelled and for what is told on
 * the way (progress, logs, notifications), which any thread may say until the function has returned. */
#ifndef WT_SERVE_MCP_CALL_H
#define WT_SERVE_MCP_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

/* JSON-RPC's codes and MCP's. */
enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_NO_SUCH_RESOURCE = -32002,   /* legacy; a modern client is told MCP_INVALID_PARAMS */
    MCP_HEADER_MISMATCH = -32020,    /* modern, over HTTP */
    MCP_MISSING_CAPABILITY = -32021, /* modern */
    MCP_UNSUPPORTED_VERSION = -32022 /* modern */
};

struct mcp_call;

/* ---------------------------------------------------------------- what is asked, and by whom */

struct str wt__mcp_call_method(const struct mcp_call *call);
/* Of the tool or prompt, or the URI; "" where the method has none. */
struct str wt__mcp_call_name(const struct mcp_call *call);
/* As the client wrote them, or as they were repaired by the tool's schema: an object, "{}" when absent; and as a tree,
 * NULL when absent. */
struct str wt__mcp_call_arguments(const struct mcp_call *call);
const json_t *wt__mcp_call_argument_tree(const struct mcp_call *call);
/* As the client wrote them, whether they were repaired or not; empty if absent. */
struct str wt__mcp_call_written_arguments(const struct mcp_call *call);
/* _meta as the client wrote it; empty if absent. */
struct str wt__mcp_call_meta(const struct mcp_call *call);
/* All parameters, with _meta (traceparent, ...) in them; NULL when absent. */
const json_t *wt__mcp_call_params(const struct mcp_call *call);

bool wt__mcp_call_is_modern(const struct mcp_call *call);
/* As the transport vouches for it; "" when there is none. */
const char *wt__mcp_call_principal(const struct mcp_call *call);
/* Whom shared pools count the call as (base/shares.h): its principal, or without keys its session. */
const char *wt__mcp_call_holder(const struct mcp_call *call);
/* Headers of the client's request that --pass-header names [*count], as long as the call lives. */
const struct http_header *wt__mcp_call_passed(const struct mcp_call *call, size_t *count);
/* True if the caller's key has the scope `call`, or no key is needed. */
bool wt__mcp_call_may_call(const struct mcp_call *call);
/* What the client says of itself: an object with name and version, or NULL. Not to be believed. */
const json_t *wt__mcp_call_client(const struct mcp_call *call);
/* What it says it can do; NULL: nothing. */
const json_t *wt__mcp_call_capabilities(const struct mcp_call *call);
/* path: "sampling", "sampling.tools", "elicitation.url", ...; "elicitation" and "elicitation.form" are the same. */
bool wt__mcp_call_client_can(const struct mcp_call *call, const char *path);

/* ---------------------------------------------------------------- while it runs */

/* The client does not want it any more: the answer goes nowhere. From any thread. */
bool wt__mcp_is_cancelled(const struct mcp_call *call);
/* Called once, from another thread, when that happens before the call is over; at once when it has. It must not wait,
 * and is not called any more when the function that answers the call has returned. A second one takes the first's
 * place; NULL takes it away. */
void wt__mcp_on_cancel(struct mcp_call *call, void (*cancelled)(void *context), void *context);

/* Nothing when the client has not asked for it. total: below 0 when unknown; message: "" for none. */
void wt__mcp_progress(struct mcp_call *call, double progress, double total, struct str message);

enum mcp_level { MCP_DEBUG, MCP_INFO, MCP_NOTICE, MCP_WARNING, MCP_ERROR, MCP_CRITICAL, MCP_ALERT, MCP_EMERGENCY };
/* Nothing when the client wants no such level. logger: "" for none. */
void wt__mcp_log(struct mcp_call *call, enum mcp_level level, struct str logger, struct str text);

/* The least level that the client wants of this call's logs, as a word; NULL: it wants none. And one log as another
 * server wrote it: params of notifications/message. For who relays. */
const char *wt__mcp_wanted_level(const struct mcp_call *call);
void wt__mcp_relay_log(struct mcp_call *call, struct str params);

/* Any other notification on the call's way to its client; params: an object as JSON. For who relays. */
void wt__mcp_notify(struct mcp_call *call, const char *method, struct str params);

/* A call that takes long need not hold a connection: a legacy client over HTTP that knows how to come back for the rest
 * (SSE polling, 2025-11-25) does so. Nothing to all others. */
void wt__mcp_close_stream(struct mcp_call *call);

enum mcp_asked {
    MCP_ASK_FAILED = -1, /* the client did not say that it can, or refused, or took too long, or cancelled. The call is
                            refused for that reason, unless something else is answered afterwards */
    MCP_ASK_PENDING,     /* ask more, or return; what is answered is not looked at */
    MCP_ASK_ANSWERED
};
/* method: elicitation/create, sampling/createMessage or roots/list. key: one for each question of this call. params:
 * an object as JSON. The call must be one that waits: tools/call, resources/read, prompts/get. */
enum mcp_asked wt__mcp_ask(struct mcp_call *call, const char *key, const char *method, struct str params,
                           struct str *response);
/* The response to a question of an earlier run; "" when there is none. */
struct str wt__mcp_response(struct mcp_call *call, const char *key);
/* What comes back by wt__mcp_state when the call goes on after a question. Any bytes. */
void wt__mcp_keep_state(struct mcp_call *call, struct str state);
struct str wt__mcp_state(const struct mcp_call *call);

/* ---------------------------------------------------------------- the answer */

/* An error of the protocol; it takes the place of all that was written. */
void wt__mcp_refuse(struct mcp_call *call, int code, const char *format, ...) WT_PRINTF(3, 4);
/* The same with `data`, any JSON. */
void wt__mcp_refuse_with(struct mcp_call *call, int code, struct str message, struct str data);
/* No such tool, prompt or resource: in the era's words. */
void wt__mcp_refuse_unknown(struct mcp_call *call);
void wt__mcp_refuse_cursor(struct mcp_call *call);
/* err in the words of the protocol: invalid parameters where the caller is to blame, else an internal error. */
void wt__mcp_refuse_error(struct mcp_call *call, const wt_error *err);
/* The same as a tool's own failure, which a model reads (wt__mcp_fail_tool). */
void wt__mcp_fail_tool_error(struct mcp_call *call, const wt_error *err);
/* Writes the error for the client, without paths of this machine (wire/failure.h). */
void wt__mcp_client_error(const struct mcp_call *call, const wt_error *err, wt_error *told);

/* The whole result, an object as JSON, as some server gave it: what an era wants or does not know is put right. */
void wt__mcp_result(struct mcp_call *call, struct str result);

/* tools/call: content, item by item. prompts/get: each item is a message, of the role that was named last. */
void wt__mcp_add_text(struct mcp_call *call, struct str text);
void wt__mcp_add_image(struct mcp_call *call, struct str base64, const char *mime_type);
void wt__mcp_add_audio(struct mcp_call *call, struct str base64, const char *mime_type);
/* text, or base64 with the other one's ptr NULL. */
void wt__mcp_add_embedded(struct mcp_call *call, struct str uri, const char *mime_type, struct str text,
                          struct str base64);
void wt__mcp_add_link(struct mcp_call *call, struct str uri, struct str name, const char *mime_type);
void wt__mcp_add_content(struct mcp_call *call, struct str item); /* as JSON */

/* tools/call: any JSON, beside the content; a legacy client gets it only when it is an object. */
void wt__mcp_set_structured(struct mcp_call *call, struct str json);
void wt__mcp_set_is_error(struct mcp_call *call);
/* What the model is told went wrong: text, and isError. */
void wt__mcp_fail_tool(struct mcp_call *call, const char *format, ...) WT_PRINTF(2, 3);

/* prompts/get. role: "user" (as it begins), "assistant". */
void wt__mcp_set_role(struct mcp_call *call, const char *role);
void wt__mcp_set_description(struct mcp_call *call, struct str text);

/* resources/read. */
void wt__mcp_add_contents(struct mcp_call *call, struct str uri, const char *mime_type, struct str text,
                          struct str base64);
/* Of this answer alone. */
void wt__mcp_set_cache(struct mcp_call *call, unsigned ttl_ms, bool is_private);

/* Lists: the item as JSON, and its key, by which the next page goes on. False: the page is full, and the item was not
 * taken. */
bool wt__mcp_add_item(struct mcp_call *call, struct str key, struct str definition);

/* completion/complete. */
struct mcp_completion {
    bool of_prompt;          /* else of a resource template */
    struct str ref;          /* the prompt's name, the template's URI */
    struct str argument;     /* its name */
    struct str value;        /* what was typed so far */
    const json_t *arguments; /* those already known: an object of strings, or NULL */
};
/* At most 100 are sent; the others are counted. */
void wt__mcp_add_value(struct mcp_call *call, struct str value);

/* Any answer: `_meta` of the result, an object as JSON. */
void wt__mcp_set_meta(struct mcp_call *call, struct str meta);

/* ---------------------------------------------------------------- what became of it */

struct mcp_record {
    const struct mcp_call *call;
    int error_code; /* 0: there was a result */
    bool is_error;  /* the tool said so */
    bool input_required, cancelled;
    size_t bytes; /* of the answer */
    double ms;
};

#endif
