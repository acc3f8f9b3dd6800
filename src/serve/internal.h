/* internal.h: internals shared by catalogue.c and catalogue_tools.c. */
#ifndef WT_SERVE_INTERNAL_H
#define WT_SERVE_INTERNAL_H

#include <pthread.h>

#include "serve/catalogue.h"

enum { CATALOGUE_TOOLS = 3 };

/* Prefix of a resource URI; the tool's id follows, percent-encoded except '/'. */
#define CATALOGUE_URI "whichtool://tools/"

struct mcp_catalogue {
    wt_engine *engine;
    struct catalogue_options options;
    struct mcp_features features;
    struct mcp_input *inputs[CATALOGUE_TOOLS];
    pthread_mutex_t lock; /* guards summary and generation */
    char *summary;        /* cached summary, NULL until first used */
    uint64_t generation;  /* generation of the catalogue that the summary describes */
};

/* Takes the engine that the caller sees. On an error, refuses the call and returns false. */
bool wt__catalogue_take_engine(const struct mcp_catalogue *catalogue, struct mcp_call *call, struct tenant_hold *hold);

/* Run the three tools: search_tools, get_tool_details and write_call. */
void wt__catalogue_search(struct mcp_catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_details(struct mcp_catalogue *catalogue, struct mcp_call *call);
void wt__catalogue_write_call(struct mcp_catalogue *catalogue, struct mcp_call *call);

/* Appends the definition of a tool in MCP format, with the name that wt_export gives it. first: members to insert
 * before the others, each with a comma, such as "\"probability\":0.5,". */
void wt__catalogue_definition(struct buffer *out, const wt_tool *tool, const char *first);

#endif
