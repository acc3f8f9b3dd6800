/* message.h: JSON-RPC 2.0 as MCP speaks it. A message is taken apart by its members alone (base/json_scan.h): a
 * result of a megabyte is not turned into a tree, and what is wrong with one tool of it costs that tool. All views are
 * of the message's bytes. Servers are not trusted: each limit below is checked, and what is no message is said to be
 * none. */
#ifndef WT_MCP_MESSAGE_H
#define WT_MCP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* The revisions that are spoken. Legacy ones begin with `initialize`; the modern one has no beginning, and every
 * request says which it is. A legacy server may answer with an older revision than it was offered. */
#define MCP_LEGACY_VERSION "2025-11-25"
#define MCP_MODERN_VERSION "2026-07-28"

enum {
    MCP_ID_BYTES_MAX = 256, /* of a server's own request */
    MCP_WORDS_BYTES = 300,  /* of a server's text that an error repeats */
};

enum {
    MCP_METHOD_NOT_FOUND = -32601, /* JSON-RPC's */
    MCP_MODERN_ERRORS_FIRST = -32022,
    MCP_MODERN_ERRORS_LAST = -32020, /* what only servers of the modern revision say */
    MCP_VERSION_NOT_SPOKEN = -32022,
};

enum mcp_kind {
    MCP_NO_MESSAGE,
    MCP_ANSWER, /* result or error is there */
    MCP_REQUEST,
    MCP_NOTIFICATION,
};

/* The members as they are written; empty when absent. */
struct mcp_message {
    struct str jsonrpc, id, method, params, result, error;
};

enum mcp_kind wt__mcp_read(struct str text, struct mcp_message *out);
/* An error without an id: who could not read a request cannot name it. */
bool wt__mcp_is_nameless(const struct mcp_message *answer);
/* An id or a token that may be one of ours, which are numbers; some servers give a number back as a string. */
bool wt__mcp_number(struct str text, int64_t *out);

/* What _meta says of a request; "" and NULL for none. */
struct mcp_meta {
    bool modern;             /* with what the modern revision wants */
    struct str capabilities; /* of the client, an object; modern only */
    const char *log_level;   /* likewise */
    bool progress;           /* with the id as token */
    struct str more;         /* members that pass through */
};

/* Makes blanks of line ends: they end messages of pipes, and JSON has them between its values only. */
void wt__mcp_join_lines(struct buffer *out);
/* As one line, whatever blanks the parts have. */
void wt__mcp_write_ask(struct buffer *out, int64_t id, const char *method, struct str params,
                       const struct mcp_meta *meta);
/* The params of `initialize`: of a client that only lists, or of one that passes on what its own clients can. */
struct str wt__mcp_initialize_params(bool lists_only);
void wt__mcp_write_tell(struct buffer *out, const char *method, struct str params);
/* The answer to a server's request, whose id is as it was written: a result, or where that is empty an error. */
void wt__mcp_write_answer_to(struct buffer *out, struct str id, struct str result, struct str error);

/* Appends a server's words as one line of at most MCP_WORDS_BYTES, cut behind a word, with invisible characters
 * escaped. */
void wt__mcp_put_words(struct buffer *out, struct str words);
/* Appends the reason that the body of an HTTP error gives: "error", "error_description", "message" and "detail" of a
 * JSON object, or the first line of plain text. Appends nothing if there is none. type: the body's Content-Type. */
void wt__mcp_put_reason(struct buffer *out, const char *type, struct str body);
/* True if a JSON-RPC error says that the server does not know the session, or has not been initialised. *code: its
 * code. */
bool wt__mcp_is_session_error(struct str error, int64_t *code);
/* True if the code says that the request was refused before anything was done for it. */
bool wt__mcp_is_refused_early(int64_t code);

/* "SUBJECT: the server's words (code)" as an error of ours; *code: the server's. Returns WT_ENETWORK, WT_ENOMEM. */
int wt__mcp_fail(const struct mcp_message *answer, const char *subject, int64_t *code, wt_error *err);

/* The member of an object; its value as it is written, empty when absent. False when the object is broken, or has it
 * twice. */
bool wt__mcp_member(struct str object, const char *key, struct str *value);

#endif
