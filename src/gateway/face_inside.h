/* face_inside.h: declarations shared by the files of a face: kinds and meta tools (face.c, face_direct.c), calls
 * (call.c), resources and prompts (passthrough.c), audit lines (audited.c). */
#ifndef WT_GATEWAY_FACE_INSIDE_H
#define WT_GATEWAY_FACE_INSIDE_H

#include "gateway/audit_log.h"
#include "gateway/face.h"
#include "gateway/face_names.h"
#include "gateway/gateway_inside.h"
#include "gateway/relay.h"
#include "serve/catalogue.h"

enum { FACE_INSTRUCTIONS_BYTES = 2048 /* maximum length of a server's instructions */ };

struct face {
    struct gateway *gateway;
    struct face_options options;
    char *summary; /* description of the servers */
    struct catalogue *catalogue;
    struct mcp_features features;
    struct mcp_input *inputs[FACE_TOOLS]; /* NULL for tools of the catalogue */
};

/* Tool functions of a kind of face, as in mcp_features with the face as context. mcp_tool.handle is the view that holds
 * the tool, or NULL; the face releases it. */
struct face_kind_row {
    void (*list)(void *context, struct mcp_call *call, struct str after);
    int (*find)(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err);
    void (*run)(void *context, struct mcp_call *call, const struct mcp_tool *tool);
    void (*write_instructions)(void *context, const char *principal, struct buffer *out);
};

extern const struct face_kind_row wt__face_direct; /* also used by the other kinds */

/* Lists the tools of the view that the caller may use and whose names follow `after`. */
void wt__face_list_view(const struct face *face, struct mcp_call *call, const struct tool_view *view, struct str after);

/* True if the caller may use the tool, or the resources and prompts of the server. */
bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool);
bool wt__face_allows_server(const struct face *face, const struct mcp_call *call, const struct upstream *upstream);

/* Reports a name that cannot be called: WT_ENOTFOUND, or WT_EINVAL with the reason if the caller may know it. hidden:
 * the tool exists but the policy denies it. */
int wt__face_fail_missing(const struct face *face, const struct mcp_call *call, struct str name, bool hidden,
                          wt_error *err);
/* Appends a sentence to an empty search result if the request names a tool that waits for approval. */
void wt__face_put_waiting(void *context, struct mcp_call *call, struct str query, struct buffer *out);

/* Checks the arguments and calls a tool. Blocks. written: other text of the arguments by the client, or "". cut: cuts a
 * long result. */
void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments,
                   struct str written, bool cut);
/* True if the caller's key has SCOPE_CALL; otherwise sets *err. */
bool wt__face_may_call(const struct mcp_call *call, wt_error *err);
/* A request to a server, as the audit records it. */
struct face_request {
    const char *method;
    struct str name;              /* name in the request of the client */
    const struct view_tool *tool; /* NULL if unknown, or for a resource or prompt */
    struct upstream *upstream;    /* NULL if the name is unknown */
    struct str uri, prompt;       /* the server's own name; "" if not applicable */
    const char *sha256;           /* hash of the approved definition of a resource or prompt, or NULL */
    struct str arguments;         /* arguments sent to the server */
    struct str repaired_from;     /* arguments as the client wrote them; "" if they were not repaired */
    const char *unchecked;        /* see struct audit_line */
};
/* Writes the decision to the audit, relays the request and writes the outcome. Returns RELAY_FAILED without a request
 * to the server if the caller lacks SCOPE_CALL or the decision cannot be written. */
enum relayed wt__face_relay(const struct face *face, struct mcp_call *call, const struct face_request *asked,
                            const struct relay *what, struct buffer *result, wt_error *err);
/* Writes a refusal to the audit. */
void wt__face_audit_refusal(const struct face *face, const struct mcp_call *call, const struct face_request *asked,
                            enum audit_decision decision);
/* Writes the refusal of a call to the audit. tool: NULL if unknown. */
void wt__face_audit_refused_call(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                                 struct str asked, struct str arguments, enum audit_decision decision);
/* Runs a call tool of a search face: calls the named tool if it has this effect. */
void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect);

/* Functions of mcp_features. */
void wt__face_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__face_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__face_read(void *context, struct mcp_call *call, struct str uri);
bool wt__face_watch(void *context, struct mcp_call *call, struct str uri, wt_error *why);
void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after);
void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name);
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

#endif
