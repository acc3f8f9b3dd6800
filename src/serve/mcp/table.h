/* table.h: constant features as tables. Lists keep the order of the table. */
#ifndef WT_SERVE_MCP_TABLE_H
#define WT_SERVE_MCP_TABLE_H

#include "serve/mcp/service.h"

struct mcp_tool_row {
    const char *name;
    const char *definition; /* the whole tool as JSON, with inputSchema */
    void (*run)(void *context, struct mcp_call *call);
    bool waits;
    bool unchecked; /* `run` checks the arguments itself; headers are not checked */
};

struct mcp_resource_row {
    const char *uri;        /* URI, or the common prefix of a template's URIs */
    const char *definition; /* JSON with uri or uriTemplate */
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
    void *context;             /* passed to the rows' functions */
    struct mcp_input **inputs; /* [tool_count], created by open */
};

/* Compiles the input schemas and fills the feature groups that have rows. Sets features->context to the table; other
 * feature functions then get it too, and find their own context in table->context. Error messages name the row. The
 * table must stay in place and outlive the service. */
int wt__mcp_table_open(struct mcp_table *table, struct mcp_features *features, wt_error *err);
void wt__mcp_table_close(struct mcp_table *table);

#endif
