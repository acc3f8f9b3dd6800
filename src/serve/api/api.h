/* api.h: the HTTP API as the handler of a server: who may ask (Host, Origin, key and scope), what for (the routes), and
 * what becomes of it (figures, a line a request).
 *
 * Answers in milliseconds are made on the server's workers. What takes long is made on threads of its own, at most
 * API_LONG_MAX at once, so that finds never wait behind an import.
 *
 * Nothing here starts a process or reads a file of the server by a name that a request gives. */
#ifndef WT_SERVE_API_API_H
#define WT_SERVE_API_API_H

#include "http/server.h"
#include "serve/api/route.h"
#include "serve/guard.h"

#define API_LISTEN "127.0.0.1:8642" /* when nothing else is said */

enum {
    API_TIME_LIMIT_MS = 60000, /* of a request, when none is said */
    API_LONG_MAX = 8,          /* calls that take long, at once, shared by keys (shares.h); more are 503 */
    API_STRANGER_BYTES = 9999, /* of a body whose sender may not ask: enough to tell them so */
    API_STRANGER_DIGITS = 5,   /* that a longer one's length has */
};

enum access_form { ACCESS_OFF, ACCESS_TEXT, ACCESS_JSON };

struct api_options {
    wt_engine *engine;
    const char *keys_path;  /* NULL: whoever can reach the server may do everything */
    struct guard guard;     /* its `listen` as it is asked for */
    unsigned time_limit_ms; /* 0: API_TIME_LIMIT_MS */
    bool language_model;
    bool policed; /* a policy says who may use which tools, and other routes ask it: those that do not are for who may
                     administer, and for nobody where there are no keys */
    const struct routes *more; /* [more_count], at most API_MORE_MAX, of other modules; they outlive the API */
    size_t more_count;
    void (*stopping)(void *context); /* as in http_handler, for those modules; NULL: none */
    void *stopping_context;
    enum access_form access;
    bool access_requests;                        /* with what was asked for */
    void (*say)(void *context, struct str line); /* a line of the log, with its end; from the loop, so it must not wait
                                                    long. NULL: no log */
    void *say_context;
    void (*ready)(void *context, double ms); /* once, from another thread: the index is open and the model is loaded,
                                                so long after wt__api_warm. NULL: nobody wants to know */
    void *ready_context;
};

struct api;

/* Errors: WT_EINVAL (listening beyond this machine without keys; too many tables), those of wt__keys_open. */
int wt__api_open(struct api **out, const struct api_options *options, wt_error *err);
/* For a server's options; lives as long as the API. */
struct http_handler wt__api_handler(struct api *api);
/* The server that runs it, for its figures. */
void wt__api_bind(struct api *api, const struct http_server *server);
/* Opens the index and loads the model on a thread of its own, and is ready then; others are answered meanwhile. */
void wt__api_warm(struct api *api);
bool wt__api_is_ready(const struct api *api);
/* How many keys were read when it was opened; 0 where nobody needs one. */
size_t wt__api_keys(const struct api *api);
/* Keys that may find and not call (wt__keys_finding_only). */
size_t wt__api_keys_finding_only(const struct api *api);
/* The keys are read anew before the next request, which also begins to read what training left where that has changed;
 * requests are answered by what was there until it is read. Files that are wrong then change nothing, and are told to
 * `say`. From a signal handler, too. */
void wt__api_reload(struct api *api);
/* When the server runs no more, and before it is closed: waits for the calls that take long, which have their
 * exchanges. */
void wt__api_end(struct api *api);
/* NULL is a no-op. */
void wt__api_close(struct api *api);

/* Answers a call without a server: request, is_gone and may_take_long are filled. What takes long is answered here all
 * the same where may_take_long is set. NULL, or the route that has to take the exchange. The call is disposed of by
 * wt__buffer_dispose(&call->body). */
const struct route *wt__api_respond(struct api *api, struct api_call *call, bool *takes_long);

#endif
