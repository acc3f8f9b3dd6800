/* view.h: snapshot of the callable tools. They are the tools of the catalogue whose provider is a server of the
 * gateway, whose definition is byte for byte the approved one, and whose hash is in the lock. A view is immutable and
 * reference counted, and newer ones replace it. So a call is checked with the definition shown to its client or a newer
 * one, without access to the store. */
#ifndef WT_GATEWAY_VIEW_H
#define WT_GATEWAY_VIEW_H

#include <pthread.h>

#include "base/arena.h"
#include "base/map.h"
#include "gateway/effect.h"
#include "gateway/upstream.h"
#include "serve/mcp/input.h"
#include "whichtool.h"

struct view_tool {
    struct upstream *upstream;
    const char *id, *exported; /* id and exported name in the catalogue */
    const char *name;          /* name in the catalogue */
    const char *own_name;      /* the server's own name; the import may have changed it */
    const char *shown;         /* name shown to clients */
    const char *sha256;        /* hash of the definition in hexadecimal digits */
    struct str definition;     /* with the shown name */
    struct str legacy;         /* definition for legacy clients: outputSchema has type object or is omitted */
    struct str schema;         /* input schema */
    enum effect effect;
    bool has_mirrors;        /* headers may repeat some arguments */
    size_t number;           /* index in the view */
    struct mcp_input *input; /* created on first use; NULL before, or if the schema is invalid */
    pthread_mutex_t *lock;   /* protects input */
};

struct tool_view {
    atomic_uint refs;
    uint64_t generation;      /* catalogue generation */
    struct view_tool **tools; /* [count], sorted by shown name */
    size_t count;
    struct map by_name; /* shown names first, then exported names, then ids */
    struct map by_id;   /* ids only, since a server may name a tool like the id of another one */
    pthread_mutex_t lock;
    struct arena arena;
};

struct pins;

struct view_options {
    struct upstream *const *upstreams; /* [count] */
    size_t count;
    bool bare_names; /* show the server's own name if it is unique among names, exported names and tools of a search
                        face; else the exported name */
    const struct pins *lock; /* tools without a pin of their hash are left out; NULL for no lock */
};

/* Builds the current view. Errors: those of wt_list_approved. */
int wt__view_open(struct tool_view **out, wt_engine *engine, const struct view_options *options, wt_error *err);
struct tool_view *wt__view_keep(struct tool_view *view);
void wt__view_release(struct tool_view *view); /* NULL is a no-op */

struct view_tool *wt__view_find(const struct tool_view *view, struct str name);
/* Finds a tool by its id only. */
struct view_tool *wt__view_find_id(const struct tool_view *view, const char *id);
/* Returns the compiled input schema, or NULL with err set. */
const struct mcp_input *wt__view_input(struct view_tool *tool, wt_error *err);

#endif
