/* view.h: the tools that can be called from here, as they are at one moment: those of the catalogue whose provider is a
 * server behind the gateway, whose definition is byte for byte what was approved, and has the hash of the lock. A view
 * never changes; who uses one holds it, and a later one takes its place. So a call is checked by the definition that
 * its client was shown, or by a newer one, and nothing of it is read from the store. */
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
    const char *id, *exported; /* of the catalogue */
    const char *name;          /* of the catalogue */
    const char *own_name;      /* as its server knows it: an import may have changed it */
    const char *shown;         /* as clients know it */
    const char *sha256;        /* of its definition, in hexadecimal digits */
    struct str definition;     /* under the name that is shown */
    struct str legacy;         /* the same for legacy clients, whose outputSchema describes an object or is left out */
    struct str schema;         /* of its input */
    enum effect effect;
    bool repeats;            /* headers may repeat some of its arguments */
    size_t number;           /* in the view */
    struct mcp_input *input; /* made when it is wanted; NULL: not yet, or its schema is none */
    pthread_mutex_t *lock;   /* of that */
};

struct tool_view {
    atomic_uint refs;
    uint64_t generation;      /* of the catalogue */
    struct view_tool **tools; /* [count] by the names that are shown */
    size_t count;
    struct map by_name; /* shown names before exported ones before ids */
    struct map by_id;   /* ids alone, for a server may call a tool by another one's id */
    pthread_mutex_t lock;
    struct arena arena;
};

struct pins;

struct view_options {
    struct upstream *const *upstreams; /* [count] */
    size_t count;
    bool bare_names; /* a tool is shown by its server's own name where no other tool has it or is exported by it, and no
                        tool of a search face, else by its exported one */
    const struct pins *lock; /* what it does not name by its hash is left out; NULL: no lock */
};

/* Errors: those of wt_list_approved. */
int wt__view_make(struct tool_view **out, wt_engine *engine, const struct view_options *options, wt_error *err);
struct tool_view *wt__view_keep(struct tool_view *view);
void wt__view_release(struct tool_view *view); /* NULL is a no-op */

struct view_tool *wt__view_find(const struct tool_view *view, struct str name);
/* By what the catalogue calls it, and nothing else. */
struct view_tool *wt__view_of_id(const struct tool_view *view, const char *id);
/* Its input schema, ready to check arguments; NULL: it cannot be, and err says why. */
const struct mcp_input *wt__view_input(struct view_tool *tool, wt_error *err);

#endif
