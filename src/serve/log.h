/* log.h: writes the log: a line for each request, and messages of the server. Lines are text or JSON.
 *
 * Texts from clients are escaped, so that they cannot add lines or control a terminal. Lines never contain keys, and
 * contain texts of requests only if the caller passes them. */
#ifndef WT_SERVE_LOG_H
#define WT_SERVE_LOG_H

#include "base/buffer.h"
#include "http/server.h"

enum log_form { LOG_FORM_OFF, LOG_FORM_TEXT, LOG_FORM_JSON };
enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };
#define LOG_LEVEL_WORDS "info warning error" /* in the order of enum log_level */

struct log {
    enum log_form form;   /* LOG_FORM_OFF: no lines for requests, and messages as text */
    enum log_level level; /* requests below this level get no line */
    /* Writes a line, with its line break. Called from several threads, including the event loop, so it must return
     * quickly. NULL to log nothing. */
    void (*say)(void *context, struct str line);
    void *context;
};

/* Logs a message of the server. */
void wt__log_message(const struct log *log, enum log_level level, const char *format, ...) WT_PRINTF(3, 4);

/* Data of a request's line. */
struct log_request {
    const struct http_record *record;
    const char *route;      /* name of the route; "other" if unknown */
    const char *key;        /* name of the client's key, "" if unknown */
    const char *tenant;     /* tenant of the request, "" without one */
    const char *request_id; /* "" if the input was not a request */
    const char *trace_id;   /* "" if unknown */
    const char *mcp_method; /* NULL without MCP */
    struct str asked;       /* text of the request; empty to omit it */
    double unix_ms;         /* time since 1970 in milliseconds */
};

/* Returns the level of a request: an error for a status from 500 on, a warning for one from 400 on and for a client
 * that disconnected before the answer, else information. */
enum log_level wt__log_level_of(int status);
/* Appends a request's line. form: text or JSON. */
void wt__log_write_request(struct buffer *out, enum log_form form, const struct log_request *request);

#endif
