/* call.h: the interface for functions that answer MCP requests. It gives access to the request, the client and the
 * response.
 *
 * The legacy era is the revisions of MCP up to 2025-11-25. The modern era is the revisions from 2026-07-28 (service.h).
 * A call can ask its client for input with wt__mcp_ask. The same code serves both eras:
 *
 *     switch (wt__mcp_ask(call, "name", "elicitation/create", params, &response)) {
 *     case MCP_ASK_ANSWERED: break;          response is the client's result
 *     default: return;                       asked, or failed: the call is over for now
 *     }
 *
 * A legacy client answers while wt__mcp_ask waits. A modern client gets the result `input_required`, with all questions
 * that the function asked before it returned. The client then repeats its request with the answers. The function runs
 * again from the beginning, and wt__mcp_ask returns the answers. So act only after the last question, or remember
 * completed actions with wt__mcp_keep_state.
 *
 * The state travels through the client. The client can read the state but not change it. The state is valid only for
 * the same request and principal, and for MCP_STATE_MS.
 *
 * Text may be any bytes; invalid UTF-8 becomes U+FFFD. JSON passed in must be valid. All returned views live as long as
 * the call. A call belongs to one thread, except that any thread may use wt__mcp_is_cancelled and send progress, logs
 * and notifications until the function has returned. */
#ifndef WT_SERVE_MCP_CALL_H
#define WT_SERVE_MCP_CALL_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

/* Error codes of JSON-RPC and MCP. "modern" and "legacy": used in that era only. */
enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_NO_SUCH_RESOURCE = -32002,   /* legacy; modern clients get MCP_INVALID_PARAMS */
    MCP_HEADER_MISMATCH = -32020,    /* modern, over HTTP */
    MCP_MISSING_CAPABILITY = -32021, /* modern */
    MCP_UNSUPPORTED_VERSION = -32022 /* modern */
};

struct mcp_call;

/* Returns the requested name of a tool or prompt, or the requested URI; "" if the method has neither. */
struct str wt__mcp_call_name(const struct mcp_call *call);
/* Returns the text of the arguments object, as sent or as repaired to fit the tool's schema; "{}" if absent. */
struct str wt__mcp_call_arguments(const struct mcp_call *call);
/* Returns the same arguments, parsed; NULL if absent. */
const json_t *wt__mcp_call_argument_tree(const struct mcp_call *call);
/* Returns the arguments as sent, even if they were repaired; empty if absent. */
struct str wt__mcp_call_written_arguments(const struct mcp_call *call);
/* Returns _meta as sent; empty if absent. */
struct str wt__mcp_call_meta(const struct mcp_call *call);
/* Returns all parameters including _meta (traceparent, ...); NULL if absent. */
const json_t *wt__mcp_call_params(const struct mcp_call *call);

bool wt__mcp_call_is_modern(const struct mcp_call *call);
/* Returns the authenticated principal, "" without keys. */
const char *wt__mcp_call_principal(const struct mcp_call *call);
/* Returns the tenant of the caller, "" without one. */
const char *wt__mcp_call_tenant(const struct mcp_call *call);
/* Returns the holder for shared pools (base/shares.h): the principal. Without keys, the session, or "" for a modern
 * HTTP request. */
const char *wt__mcp_call_holder(const struct mcp_call *call);
/* Returns the request headers selected by --pass-header, [*count], valid as long as the call. */
const struct http_header *wt__mcp_call_passed_headers(const struct mcp_call *call, size_t *count);
struct request_trace;
/* Returns the trace of the call's HTTP request, valid as long as the call; NULL over stdio. */
struct request_trace *wt__mcp_call_trace(const struct mcp_call *call);
/* True if the caller's key has the scope `call`, or no key is needed. */
bool wt__mcp_call_may_call(const struct mcp_call *call);
/* Returns clientInfo, an object with name and version, or NULL. Unverified. */
const json_t *wt__mcp_call_client(const struct mcp_call *call);
/* Returns the client's capabilities, or NULL. */
const json_t *wt__mcp_call_capabilities(const struct mcp_call *call);
/* True if the client declared a capability. path: "sampling", "sampling.tools", "elicitation.url", ...; "elicitation"
 * and "elicitation.form" are the same. */
bool wt__mcp_call_client_can(const struct mcp_call *call, const char *path);

/* True if the client has cancelled the call; its response is then discarded. Thread-safe. */
bool wt__mcp_is_cancelled(const struct mcp_call *call);
/* Sets a callback for cancellation, called once from another thread, or immediately if the call is already cancelled.
 * The callback must not block. It is not called after the function that answers the call has returned. Replaces an
 * earlier callback; NULL removes it. */
void wt__mcp_on_cancel(struct mcp_call *call, void (*cancelled)(void *context), void *context);

/* Sends progress if the client asked for it. total: below 0 if unknown; message: "" for none. */
void wt__mcp_progress(struct mcp_call *call, double progress, double total, struct str message);

/* Levels of log messages, in ascending severity. */
enum mcp_level { MCP_DEBUG, MCP_INFO, MCP_NOTICE, MCP_WARNING, MCP_ERROR, MCP_CRITICAL, MCP_ALERT, MCP_EMERGENCY };
/* Returns the minimum log level that the client wants for this call, as a word, or NULL for no logs. */
const char *wt__mcp_wanted_level(const struct mcp_call *call);
/* Sends a log message of an upstream server if the client wants its level. params: the parameters of
 * notifications/message. */
void wt__mcp_relay_log(struct mcp_call *call, struct str params);

/* Closes the connection of a slow call if its client can resume the stream later (SSE polling of 2025-11-25); no effect
 * for other clients. */
void wt__mcp_close_stream(struct mcp_call *call);

enum mcp_asked {
    MCP_ASK_FAILED = -1, /* no answer; the call fails with the reason unless the function sets another result */
    MCP_ASK_PENDING,     /* ask more questions, or return; any other result of the function is ignored */
    MCP_ASK_ANSWERED
};
/* Asks the client. method: elicitation/create, sampling/createMessage or roots/list. key: unique for each question of
 * the call. params: a JSON object. Only for calls running on threads that may wait: tools/call, resources/read,
 * prompts/get. Fails if the client lacks the capability, refuses, times out or cancels. */
enum mcp_asked wt__mcp_ask(struct mcp_call *call, const char *key, const char *method, struct str params,
                           struct str *response);
/* Returns the response to a question of an earlier run; "" if there was no response. */
struct str wt__mcp_response(struct mcp_call *call, const char *key);
/* Sets the bytes returned by wt__mcp_state when the call runs again after a question. */
void wt__mcp_keep_state(struct mcp_call *call, struct str state);
struct str wt__mcp_state(const struct mcp_call *call);

/* Responds with a protocol error, which replaces everything set before. */
void wt__mcp_refuse(struct mcp_call *call, int code, const char *format, ...) WT_PRINTF(3, 4);
/* Works like wt__mcp_refuse with `data`, any JSON. */
void wt__mcp_refuse_with(struct mcp_call *call, int code, struct str message, struct str data);
/* Responds that the tool, prompt or resource is unknown, with the error code of the client's era. */
void wt__mcp_refuse_unknown(struct mcp_call *call);
/* Responds that the cursor of a list is invalid. */
void wt__mcp_refuse_cursor(struct mcp_call *call);
/* Responds with err as a protocol error: invalid parameters if the caller is at fault, else an internal error. */
void wt__mcp_refuse_error(struct mcp_call *call, const wt_error *err);
/* Reports err as a tool error (wt__mcp_fail_tool). */
void wt__mcp_fail_tool_error(struct mcp_call *call, const wt_error *err);
/* Copies the error for the client, without paths of this machine (wire/failure.h). */
void wt__mcp_client_error(const struct mcp_call *call, const wt_error *err, wt_error *told);

/* Sets the whole result, a JSON object, as received from an upstream server. Members that only one era has are
 * adjusted to the client's era. */
void wt__mcp_result(struct mcp_call *call, struct str result);

/* Adds a content item for tools/call. */
void wt__mcp_add_text(struct mcp_call *call, struct str text);

/* Sets structuredContent for tools/call, any JSON. Legacy clients get it only if it is an object. */
void wt__mcp_set_structured(struct mcp_call *call, struct str json);
void wt__mcp_set_is_error(struct mcp_call *call);
/* Reports a tool error to the model: text, and isError. */
void wt__mcp_fail_tool(struct mcp_call *call, const char *format, ...) WT_PRINTF(2, 3);

/* Adds the contents of a resource for resources/read: either text, or base64 if base64.ptr is not NULL. */
void wt__mcp_add_contents(struct mcp_call *call, struct str uri, const char *mime_type, struct str text,
                          struct str base64);

/* Adds a JSON item to a list. key: passed as `after` if the next page follows this item. Returns false if the page is
 * full; the item was then not added. */
bool wt__mcp_add_item(struct mcp_call *call, struct str key, struct str definition);

/* A request of completion/complete. */
struct mcp_completion {
    bool of_prompt;          /* completes a prompt's argument, else a resource template's */
    struct str ref;          /* name of the prompt or URI of the template */
    struct str argument;     /* name of the argument */
    struct str value;        /* text typed so far */
    const json_t *arguments; /* arguments already known: an object of strings, or NULL */
};
/* Adds a completion. The client gets the first 100 and the total count. */
void wt__mcp_add_value(struct mcp_call *call, struct str value);

/* Appends `before` unchanged, then text as a JSON string. */
void wt__mcp_put_text(struct buffer *out, const char *before, struct str text);

/* Sets `_meta` of any result, a JSON object. */
void wt__mcp_set_meta(struct mcp_call *call, struct str meta);

#endif
