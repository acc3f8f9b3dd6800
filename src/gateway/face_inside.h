/* face_inside.h: what the files of a face share: its kinds and meta tools (face.c, face_direct.c), its calls (call.c),
 * what it passes through (passthrough.c), and what it writes down of both (audited.c). */
#ifndef WT_GATEWAY_FACE_INSIDE_H
#define WT_GATEWAY_FACE_INSIDE_H

#include "gateway/audit_log.h"
#include "gateway/face.h"
#include "gateway/face_names.h"
#include "gateway/gateway_inside.h"
#include "gateway/relay.h"
#include "serve/catalogue.h"

enum { FACE_INSTRUCTIONS_BYTES = 2048 /* of what one server says of itself, passed on */ };

struct face {
    struct gateway *gateway;
    struct face_options options;
    char *summary; /* what is behind it, in a sentence */
    struct mcp_catalogue *catalogue;
    struct mcp_features features;
    struct mcp_input *inputs[FACE_TOOLS]; /* NULL: the catalogue's own */
};

/* What a kind of face shows of tools, and how they are found and run: as in mcp_features, with the face as context. A
 * tool's handle is the view that holds it, or NULL; a face lets go of it. */
struct face_kind_row {
    void (*list)(void *context, struct mcp_call *call, struct str after);
    int (*find)(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err);
    void (*run)(void *context, struct mcp_call *call, const struct mcp_tool *tool);
    void (*write_instructions)(void *context, const char *principal, struct buffer *out);
};

extern const struct face_kind_row wt__face_direct; /* whose ways others share */

/* All tools of the view that who asks may use, from behind a name on. */
void wt__face_list_view(const struct face *face, struct mcp_call *call, const struct tool_view *view, struct str after);

/* Whether who asks may use it. */
bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool);
bool wt__face_allows_server(const struct face *face, const struct mcp_call *call, const struct upstream *upstream);

/* Why there is no tool of that name: WT_ENOTFOUND, or where who asks may know more, WT_EINVAL. hidden: there is one,
 * and who asks may not know. */
int wt__face_absent(const struct face *face, const struct mcp_call *call, struct str name, bool hidden, wt_error *err);
/* Appends a sentence for a search that found nothing: a tool that the request names waits for approval. */
void wt__face_lacking(void *context, struct mcp_call *call, struct str query, struct buffer *out);

/* Calls a tool, on a thread that may wait; its arguments were not checked yet. written: other text that the client wrote
 * for the arguments; "" if there is none. cut: a long result is cut. */
void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments,
                   struct str written, bool cut);
/* True if the caller's key may have a server do something (SCOPE_CALL); else *err says what it lacks. */
bool wt__face_may_call(const struct mcp_call *call, wt_error *err);
/* What somebody wants of a server, for the audit. */
struct face_asked {
    const char *method;
    struct str name;              /* as the client said it */
    const struct view_tool *tool; /* NULL: none, or no tool was asked for */
    struct upstream *upstream;    /* NULL: none has it */
    struct str uri, prompt;       /* as the server knows it; "" for none */
    const char *sha256;           /* of its definition as it was approved; NULL: none, or it is the tool's */
    struct str arguments;         /* as they are sent on */
    struct str repaired_from;     /* as the client wrote them, if they were repaired; else "" */
    const char *unchecked;        /* as in struct audit_line */
};
/* Writes down the decision, asks the server, and writes down what came of it. Where the caller may not call, or the
 * decision cannot be written, the server is not asked (RELAY_FAILED). */
enum relayed wt__face_relay(const struct face *face, struct mcp_call *call, const struct face_asked *asked,
                            const struct relay *what, struct buffer *result, wt_error *err);
/* Writes down a decision by which no server is asked. */
void wt__face_note(const struct face *face, const struct mcp_call *call, const struct face_asked *asked,
                   enum audit_decision decision);
/* The same of a call; tool: NULL: there is none. */
void wt__face_refused(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                      struct str asked, struct str arguments, enum audit_decision decision);
/* What a search face's call tools do: finds the tool that is named, and calls it where its effect is that one. */
void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect);

/* Of mcp_features. */
void wt__face_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__face_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__face_read(void *context, struct mcp_call *call, struct str uri);
bool wt__face_watch(void *context, struct mcp_call *call, struct str uri, wt_error *why);
void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after);
void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name);
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

#endif
