/* message.h: reads and writes the JSON-RPC 2.0 messages of MCP, values of its HTTP headers, and event streams. A
 * message is split into its members without parsing them (base/json_scan.h), so that a large result costs little and a
 * fault in one tool affects only that tool. All returned views point into the message. */
#ifndef WT_MCP_MESSAGE_H
#define WT_MCP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

/* Supported revisions. Legacy ones begin with `initialize`. The modern one has no handshake, and every request names
 * its revision. A legacy server may answer with an older revision than the offered one. */
#define MCP_LEGACY_VERSION "2025-11-25"
#define MCP_MODERN_VERSION "2026-07-28"

enum {
    MCP_ID_BYTES_MAX = 256, /* maximum length of the id of a server's request */
    MCP_WORDS_BYTES = 300,  /* maximum length of a server's text in an error message */
};

enum {
    MCP_METHOD_NOT_FOUND = -32601, /* defined by JSON-RPC */
    MCP_MODERN_ERRORS_FIRST = -32022,
    MCP_MODERN_ERRORS_LAST = -32020, /* end of the range of codes that only modern servers use */
    MCP_VERSION_NOT_SPOKEN = -32022, /* the server does not support the revision of the request */
};

enum mcp_kind {
    MCP_NO_MESSAGE, /* not a JSON-RPC message */
    MCP_ANSWER,     /* has a result or an error */
    MCP_REQUEST,
    MCP_NOTIFICATION,
};

/* Members as raw JSON; empty if absent. */
struct mcp_message {
    struct str jsonrpc, id, method, params, result, error;
};

/* Splits a message into its members and returns its kind. */
enum mcp_kind wt__mcp_parse_message(struct str text, struct mcp_message *out);
/* Parses an id or a progress token that we have sent: a number, which some servers return as a string. False for
 * other texts. */
bool wt__mcp_parse_id(struct str text, int64_t *out);

/* Contents of the _meta of a request; "" and NULL if absent. */
struct mcp_meta {
    bool modern;             /* write the members that the modern revision requires */
    struct str capabilities; /* client capabilities, a JSON object; modern only */
    const char *log_level;   /* modern only */
    bool progress;           /* request progress, with the id as the token */
    struct str more;         /* further members, as `"name":value,...` */
};

/* Replaces line ends by spaces, since a line end terminates a message on a pipe. Valid JSON has line ends between
 * tokens only. */
void wt__mcp_join_lines(struct buffer *out);
/* Appends a request on one line. params: members of the params object. */
void wt__mcp_write_request(struct buffer *out, int64_t id, const char *method, struct str params,
                           const struct mcp_meta *meta);
/* Returns the params of `initialize`. A client that only lists declares no capabilities; others declare everything that
 * the gateway relays. */
struct str wt__mcp_initialize_params(bool lists_only);
/* Appends a notification on one line. */
void wt__mcp_write_notification(struct buffer *out, const char *method, struct str params);
/* Appends the answer to a server's request: the result, or the error if the result is empty. id: raw JSON. A no-op
 * if the id is invalid. */
void wt__mcp_write_response(struct buffer *out, struct str id, struct str result, struct str error);

/* Appends at most MCP_WORDS_BYTES of a server's text as one line, truncated at a space. Escapes invisible
 * characters. */
void wt__mcp_put_server_text(struct buffer *out, struct str words);
/* Appends the reason in the body of an HTTP error, if any: "error", "error_description", "message" and "detail" of a
 * JSON object, or the first line of plain text. type: the body's Content-Type. */
void wt__mcp_put_reason(struct buffer *out, const char *type, struct str body);
/* True if a JSON-RPC error is about an unknown session or a missing initialization, judged by its message. Sets *code
 * to the error's code. */
bool wt__mcp_is_session_error(struct str error, int64_t *code);
/* True if servers send this error code only before they execute a request. */
bool wt__mcp_is_refused_early(int64_t code);

/* Fills *err with "SUBJECT is refused: the server's message (error CODE)" and sets *code to the code of the answer's
 * error. Returns WT_ENETWORK, or WT_ENOMEM. */
int wt__mcp_fail(const struct mcp_message *answer, const char *subject, int64_t *code, wt_error *err);

/* Finds a member of an object. *value: raw JSON, empty if absent. Returns false if the text is not an object, is
 * invalid, or has the member twice. */
bool wt__mcp_member(struct str object, const char *key, struct str *value);

/* Returns the text as a header value in the arena, or NULL if out of memory. Encodes the text as "=?base64?...?=" if it
 * is empty, begins or ends with a space, has characters that headers cannot carry, or looks encoded itself. */
const char *wt__mcp_encode_header(struct arena *arena, struct str text);

/* A server-sent event. type and id are views of the text. The caller disposes of data. Initialise with zeros. */
struct sse_event {
    struct buffer data;  /* the data lines, joined by newlines */
    struct str type, id; /* "" if absent */
    bool has_id;         /* true for an empty id, too, which resets the last id */
    int64_t retry_ms;    /* -1 if absent */
};

/* Parses the next complete event and moves *text past it. False if no event is complete; *out then holds the incomplete
 * one. */
bool wt__sse_next(struct str *text, struct sse_event *out);

/* True if an event may end in bytes [from, end) of the text, that is, at an empty line. Lets callers skip parsing of
 * pieces in which no event ends. */
bool wt__sse_may_end(struct str text, size_t from);

#endif
