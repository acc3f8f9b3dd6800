/* table.h: features that never change, as tables. The order of a table is the order of its list. */
#ifndef WT_SERVE_MCP_TABLE_H
#define WT_SERVE_MCP_TABLE_H

#include "serve/mcp/service.h"

struct mcp_tool_row {
    const char *name;
    const char *definition; /* the whole tool, as JSON, with inputSchema */
    void (*run)(void *context, struct mcp_call *call);
    bool waits;
    bool unchecked; /* the function looks at the arguments itself; no header is held against them */
};

struct mcp_resource_row {
    const char *uri;        /* or, of a template, the beginning that all its URIs have */
    const char *definition; /* with uri or uriTemplate */
    void (*read)(void *context, struct mcp_call *call, struct str uri);
    bool is_template;
};

struct mcp_prompt_row {
    const char *name;
    const char *definition;
    void (*get)(void *context, struct mcp_call *call);
};

struct mcp_table {
    const struct mcp_tool_row *tools;
    size_t tool_count;
    const struct mcp_resource_row *resources;
    size_t resource_count;
    const struct mcp_prompt_row *prompts;
    size_t prompt_count;
    void *context;             /* of the rows' functions */
    struct mcp_input **inputs; /* [tool_count]; made by open */
};

/* Compiles the tools' input schemas and fills the groups of features that have rows. features->context becomes the
 * table: functions that are set besides get it, and find what is theirs as its context. An error says which row is
 * wrong. The table stays where it is and lives longer than the service. */
int wt__mcp_table_open(struct mcp_table *table, struct mcp_features *features, wt_error *err);
void wt__mcp_table_close(struct mcp_table *table);

#endif
