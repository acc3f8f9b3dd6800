/* internal.h: internals shared by catalogue.c and catalogue_tools.c. */
#ifndef WT_SERVE_INTERNAL_H
#define WT_SERVE_INTERNAL_H

#include <pthread.h>

#include "serve/catalogue.h"

enum { CATALOGUE_TOOLS = 3 };

#define CATALOGUE_URI                                                                                                  \
    "whichtool://tools/" /* prefix of a resource URI; the tool's id follows, percent-encoded except '/' */

struct mcp_catalogue {
    wt_engine *engine;
    struct catalogue_options options;
    struct mcp_features features;
    struct mcp_input *inputs[CATALOGUE_TOOLS];
    pthread_mutex_t lock; /* guards summary and generation */
    char *summary;        /* cached summary, NULL until first used */
    uint64_t generation;
};

/* The three tools. */
void wt__catalogue_search(struct mcp_catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_details(struct mcp_catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_write_call(struct mcp_catalogue *catalogue, struct mcp_call *call);

/* Callbacks for mcp_features. */
void wt__catalogue_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__catalogue_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__catalogue_read(void *context, struct mcp_call *call, struct str uri);
void wt__catalogue_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

/* Appends the tool in MCP format, named like wt_export names it. `first` is inserted before the first member, such as
 * "\"probability\":0.5,". */
void wt__catalogue_definition(struct buffer *out, const wt_tool *tool, const char *first);
/* Works like wt__catalogue_definition without the schema, and with at most CATALOGUE_BRIEF_BYTES of the description. */
void wt__catalogue_brief(struct buffer *out, const wt_tool *tool, const char *first, bool described);

/* Sets the result both as structured content and as text. */
void wt__catalogue_answer(struct mcp_call *call, struct buffer *json);
/* A wt_progress_fn that stops when the client cancels; call is the mcp_call. */
int wt__catalogue_progress(void *call, const char *phase, uint64_t done, uint64_t total);

#endif
