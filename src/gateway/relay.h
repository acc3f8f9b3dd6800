/* relay.h: a client's request that a server behind the gateway answers, in all four cells of eras:
 *
 *   client legacy   server legacy   a question goes to the client while both calls wait
 *   client modern   server modern   the server's `input_required` is the client's, and what its requestState says comes
 *                                   back within ours, which is sealed
 *   client legacy   server modern   the questions are asked within the client's call, and the server is asked anew
 *   client modern   server legacy   the server's call is parked while the client answers `input_required`; the request
 *                                   that comes again takes it up
 *
 * Progress and logs pass; a cancel reaches the server at once. */
#ifndef WT_GATEWAY_RELAY_H
#define WT_GATEWAY_RELAY_H

#include "gateway/gateway.h"
#include "serve/mcp/call.h"

struct relay {
    const char *method;                /* "tools/call" */
    const char *name_key;              /* "name", "uri" */
    struct str name;                   /* as the server knows it */
    struct str arguments;              /* an object as JSON; empty: none */
    struct str more;                   /* further members of the params; "" for none */
    const struct http_header *headers; /* Mcp-Param-... */
    size_t header_count;
    bool is_safe; /* it changes nothing, so that it may be sent a second time where the first came to nothing */
};

enum relayed {
    RELAY_ANSWERED, /* result holds the server's, which is not given to the call yet */
    RELAY_ASKED,    /* the client is asked: the call is over for now */
    RELAY_REFUSED,  /* by the server, by JSON-RPC's error: the call is answered */
    RELAY_FAILED    /* it could not be asked, as err says: the call is not answered */
};

/* Whether a result says of itself that it is an error. */
bool wt__result_is_error(struct str result);

/* On a thread that may wait. */
enum relayed wt__relay(struct gateway *gateway, struct mcp_call *call, struct upstream *upstream,
                       const struct relay *what, struct buffer *result, wt_error *err);

#endif
