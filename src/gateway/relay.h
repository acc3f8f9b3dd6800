/* relay.h: relays a client's request to a server behind the gateway, for all combinations of eras:
 *
 *   client legacy   server legacy   a question goes to the client while both calls wait
 *   client modern   server modern   the client gets the server's `input_required`; the server's requestState is inside
 *                                   ours, which is sealed
 *   client legacy   server modern   the client is asked during its call, and the request is sent to the server again
 *   client modern   server legacy   the server's call is parked while the client answers `input_required`; the client's
 *                                   next request resumes it
 *
 * Progress and logs are forwarded; a cancellation reaches the server at once. */
#ifndef WT_GATEWAY_RELAY_H
#define WT_GATEWAY_RELAY_H

#include "gateway/gateway.h"
#include "serve/mcp/call.h"

struct relay {
    const char *method;                /* "tools/call" */
    const char *name_key;              /* "name", "uri" */
    struct str name;                   /* the server's own name */
    struct str arguments;              /* a JSON object; may be empty */
    struct str more;                   /* further members of the params, or "" */
    const struct http_header *headers; /* Mcp-Param-... */
    size_t header_count;
    bool is_safe; /* has no side effects, so that it may be sent again after a failure */
};

enum relayed {
    RELAY_ANSWERED, /* result holds the server's result; the caller passes it to the call */
    RELAY_ASKED,    /* a question went to the client; this request is finished */
    RELAY_REFUSED,  /* the call was answered with a JSON-RPC error */
    RELAY_FAILED    /* err has the reason; the call is not answered yet */
};

/* True if a result has isError. */
bool wt__result_is_error(struct str result);

/* Relays a request. Blocks until the server or the client is done. */
enum relayed wt__relay(struct gateway *gateway, struct mcp_call *call, struct upstream *upstream,
                       const struct relay *what, struct buffer *result, wt_error *err);

#endif
