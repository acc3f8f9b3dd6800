/* api.h: the HTTP API as a handler for http_server. It checks the sender (Host, Origin, key and scope), dispatches to
 * the routes, and records metrics and the access log.
 *
 * Quick requests are answered on the server's workers. Slow ones run on separate threads, at most API_LONG_MAX at once,
 * so that searches never wait for an import.
 *
 * The API never starts a process, and never opens a file named by a request. */
#ifndef WT_SERVE_API_API_H
#define WT_SERVE_API_API_H

#include "http/server.h"
#include "serve/api/route.h"
#include "serve/guard.h"

#define API_LISTEN "127.0.0.1:8642" /* default address */

enum {
    API_TIME_LIMIT_MS = 60000, /* default time limit of a request */
    API_LONG_MAX = 8,          /* slow calls at once, shared by keys (shares.h); more get status 503 */
    API_STRANGER_BYTES =
        9999,                /* maximum body of an unauthorised request; enough to read it and send an error message */
    API_STRANGER_DIGITS = 5, /* digits of a Content-Length above API_STRANGER_BYTES */
};

enum access_form { ACCESS_OFF, ACCESS_TEXT, ACCESS_JSON };

struct api_options {
    wt_engine *engine;
    const char *keys_path;  /* NULL if no keys are required */
    struct guard guard;     /* guard.listen is the address as configured */
    unsigned time_limit_ms; /* 0 for API_TIME_LIMIT_MS */
    bool language_model;
    bool policed; /* a policy restricts tools by client. Routes that do not check it then require the scope admin, so
 *                      without keys they are unavailable */
    const struct routes *more; /* [more_count] tables of other modules, at most API_MORE_MAX; must outlive the API */
    size_t more_count;
    void (*stopping)(void *context); /* called like http_handler.stopping; may be NULL */
    void *stopping_context;
    enum access_form access;
    bool access_requests; /* include request bodies in the access log */
    void (*say)(void *context,
                struct str line); /* writes a log line with its line break. Called from the event loop, so it must
 *                                                     return quickly. NULL for no log */
    void *say_context;
    void (*ready)(void *context,
                  double ms); /* called once, from another thread, when the index is open and the model is loaded;
 *                                                 ms is the time since wt__api_warm_up. May be NULL */
    void *ready_context;
};

struct http_api;

/* Errors: WT_EINVAL (a non-local address without keys, or too many tables), and those of wt__keys_open. */
int wt__api_open(struct http_api **out, const struct api_options *options, wt_error *err);
/* Returns the handler for the server's options, valid as long as the API. */
struct http_handler wt__api_handler(struct http_api *api);
/* Sets the server for the metrics. */
void wt__api_set_server(struct http_api *api, const struct http_server *server);
/* Opens the index and loads the model in the background. Requests are answered meanwhile. */
void wt__api_warm_up(struct http_api *api);
bool wt__api_is_ready(const struct http_api *api);
/* Returns the number of keys, 0 if no keys are required. */
size_t wt__api_count_keys(const struct http_api *api);
/* Returns wt__keys_count_find_only of the keys. */
size_t wt__api_count_find_only_keys(const struct http_api *api);
/* Requests a reload of the keys and trained models, which happens at the next request. Models load in the background
 * while requests use the old ones. If a file is invalid, the old contents stay and the error is logged. May be called
 * from a signal handler. */
void wt__api_reload(struct http_api *api);
/* Waits for slow calls, which hold exchanges. Call it after the server has stopped and before it is closed. */
void wt__api_wait_for_calls(struct http_api *api);
/* NULL is a no-op. */
void wt__api_close(struct http_api *api);

/* Answers a call without a server. The caller fills request, is_gone and may_take_long. If the call is slow and
 * may_take_long is false, sets *takes_long and does not answer. Returns NULL, or the route that must take the exchange.
 * Dispose of the call with wt__api_call_dispose. */
const struct route *wt__api_respond(struct http_api *api, struct api_call *call, bool *takes_long);

#endif
