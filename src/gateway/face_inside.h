/* face_inside.h: what the files of a face share: its lists and meta tools (face.c), its calls (call.c), and what it
 * passes through (passthrough.c). */
#ifndef WT_GATEWAY_FACE_INSIDE_H
#define WT_GATEWAY_FACE_INSIDE_H

#include "gateway/face.h"
#include "gateway/face_names.h"
#include "gateway/gateway_inside.h"
#include "gateway/relay.h"
#include "serve/catalogue.h"

enum { FACE_INSTRUCTIONS_BYTES = 2048 /* of what one server says of itself, passed on */ };

struct face {
    struct gateway *gateway;
    struct face_options options;
    struct catalogue *catalogue;
    struct mcp_features features;
    struct mcp_input *inputs[FACE_TOOLS]; /* NULL: the catalogue's own */
};

/* Whether who asks may use it. */
bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool);
bool wt__face_allows_server(const struct face *face, const struct mcp_call *call, const struct upstream *upstream);

/* Calls a tool, on a thread that may wait; its arguments were not checked yet. cut: a long result is cut. */
void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments, bool cut);
/* Writes down that it may not be called, or (NULL) is not there; what the caller is told is the same. */
void wt__face_refused(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                      struct str asked, struct str arguments);
/* What a search face's call tools do: finds the tool that is named, and calls it where its effect is that one. */
void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect);

/* Of mcp_features. */
void wt__face_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__face_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__face_read(void *context, struct mcp_call *call, struct str uri);
void wt__face_watch(void *context, struct str uri);
void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after);
void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name);
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

#endif
