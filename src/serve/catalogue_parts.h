/* catalogue_parts.h: what the files of catalogue.h share. */
#ifndef WT_SERVE_CATALOGUE_PARTS_H
#define WT_SERVE_CATALOGUE_PARTS_H

#include <pthread.h>

#include "serve/catalogue.h"

enum { CATALOGUE_TOOLS = 3 };

#define CATALOGUE_URI "whichtool://tools/" /* before a tool's id, percent-encoded but for '/' */

struct catalogue {
    wt_engine *engine;
    struct catalogue_options options;
    struct mcp_features features;
    struct mcp_input *inputs[CATALOGUE_TOOLS];
    pthread_mutex_t lock; /* of the next two */
    char *summary;        /* of the catalogue's generation; NULL: not made yet */
    uint64_t generation;
};

/* What each tool answers. */
void wt__catalogue_search(struct catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_details(struct catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_write_call(struct catalogue *catalogue, struct mcp_call *call);

/* Of mcp_features. */
void wt__catalogue_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__catalogue_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__catalogue_read(void *context, struct mcp_call *call, struct str uri);
void wt__catalogue_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

/* The tool in MCP's form, named as wt_export names it; the members before `{`'s first one come from `first`, as
 * "\"probability\":0.5,". */
void wt__catalogue_definition(struct buffer *out, const wt_tool *tool, const char *first);
/* The same without its schema, and with the beginning of its description alone. */
void wt__catalogue_brief(struct buffer *out, const wt_tool *tool, const char *first, bool described);

/* The answer, as JSON for programs and as text for models. */
void wt__catalogue_answer(struct mcp_call *call, struct buffer *json);
/* Progress of the library that hears whether the client still wants it; context: the call. */
int wt__catalogue_progress(void *call, const char *phase, uint64_t done, uint64_t total);

#endif
