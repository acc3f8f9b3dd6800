/* mcp_table.h: defines the features of a test service as constant tables. Lists keep the order of the rows. */
#ifndef WT_TESTS_SERVE_MCP_TABLE_H
#define WT_TESTS_SERVE_MCP_TABLE_H

#include <stdlib.h>

#include "base/json_scan.h"
#include "mcp/message.h"
#include "serve/mcp/internal.h"

struct mcp_tool_row {
    const char *name;
    const char *definition; /* the whole tool as JSON, with inputSchema */
    void (*run)(void *context, struct mcp_call *call);
    bool waits;     /* see struct mcp_tool */
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
    struct mcp_input **inputs; /* [tool_count], created by mcp_table_open */
};

/* Compiles the input schemas and fills the feature groups that have rows. Sets features->context to the table, so all
 * feature functions get the table as context. The functions of the rows get table->context. Error messages name the
 * row. The table must not move, and must outlive the service. */
static inline int mcp_table_open(struct mcp_table *table, struct mcp_features *features, wt_error *err);
static inline void mcp_table_close(struct mcp_table *table);

/* Returns the index of the row that follows the row with the key `after`. Returns 0 if `after` is empty, and SIZE_MAX
 * if the key is unknown. */
static inline size_t find_next_row(const void *rows, size_t count, size_t size, struct str after)
{
    if (after.len == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (wt__str_equal(wt__str(*(const char *const *)((const char *)rows + i * size)),
                          after)) /* the key is the first member of each row */
            return i + 1;
    return SIZE_MAX;
}

static inline void list_table_tools(void *context, struct mcp_call *call, struct str after)
{
    const struct mcp_table *table = context;
    size_t i = find_next_row(table->tools, table->tool_count, sizeof *table->tools, after);
    if (i == SIZE_MAX)
        wt__mcp_refuse_cursor(call);
    for (; i < table->tool_count; i++)
        if (!wt__mcp_add_item(call, wt__str(table->tools[i].name), wt__str(table->tools[i].definition)))
            return;
}

static inline int find_table_tool(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out,
                                  wt_error *err)
{
    struct mcp_table *table = context;
    (void)call;
    for (size_t i = 0; i < table->tool_count; i++) {
        if (!wt__str_equal(wt__str(table->tools[i].name), name))
            continue;
        *out = (struct mcp_tool){.input = table->inputs[i], .waits = table->tools[i].waits, .number = i};
        return 0;
    }
    return wt__fail(err, WT_ENOTFOUND, "there is no such tool");
}

static inline void run_table_tool(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    const struct mcp_table *table = context;
    table->tools[tool->number].run(table->context, call);
}

/* Lists either the resources or the templates of the table. */
static inline void list_table_rows(const struct mcp_table *table, struct mcp_call *call, struct str after,
                                   bool templates)
{
    size_t i = find_next_row(table->resources, table->resource_count, sizeof *table->resources, after);
    if (i == SIZE_MAX)
        wt__mcp_refuse_cursor(call);
    for (; i < table->resource_count; i++) {
        const struct mcp_resource_row *row = &table->resources[i];
        if (row->is_template == templates && !wt__mcp_add_item(call, wt__str(row->uri), wt__str(row->definition)))
            return;
    }
}

static inline void list_table_resources(void *context, struct mcp_call *call, struct str after)
{
    list_table_rows(context, call, after, false);
}

static inline void list_table_templates(void *context, struct mcp_call *call, struct str after)
{
    list_table_rows(context, call, after, true);
}

static inline void read_table_resource(void *context, struct mcp_call *call, struct str uri)
{
    const struct mcp_table *table = context;
    for (size_t i = 0; i < table->resource_count; i++) {
        const struct mcp_resource_row *row = &table->resources[i];
        if (row->is_template ? !wt__str_starts(uri, wt__str(row->uri)) : !wt__str_equal(uri, wt__str(row->uri)))
            continue;
        row->read(table->context, call, uri);
        return;
    }
    wt__mcp_refuse_unknown(call);
}

static inline void list_table_prompts(void *context, struct mcp_call *call, struct str after)
{
    const struct mcp_table *table = context;
    size_t i = find_next_row(table->prompts, table->prompt_count, sizeof *table->prompts, after);
    if (i == SIZE_MAX)
        wt__mcp_refuse_cursor(call);
    for (; i < table->prompt_count; i++)
        if (!wt__mcp_add_item(call, wt__str(table->prompts[i].name), wt__str(table->prompts[i].definition)))
            return;
}

/* Sets the result of a prompt, with a user message for each content item that the row's function has added. */
static inline void wrap_prompt_items(struct mcp_call *call)
{
    struct buffer text = {0}, result = {0};
    json_t *items = NULL, *item;
    size_t i;
    if (call->is_refused || call->item_count == 0)
        return;
    wt__buffer_printf(&text, "[%s]", call->items.ptr);
    wt__json_parse(&items, text.ptr ? text.ptr : "", text.len, NULL);
    wt__buffer_text(&result, "{\"messages\":[");
    json_array_foreach(items, i, item)
    {
        wt__buffer_text(&result, i > 0 ? ",{\"role\":\"user\",\"content\":" : "{\"role\":\"user\",\"content\":");
        wt__json_write(&result, item);
        wt__buffer_char(&result, '}');
    }
    wt__buffer_text(&result, "]}");
    wt__mcp_result(call, wt__buffer_view(&result));
    json_decref(items);
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&result);
}

static inline void get_table_prompt(void *context, struct mcp_call *call, struct str name)
{
    const struct mcp_table *table = context;
    for (size_t i = 0; i < table->prompt_count; i++)
        if (wt__str_equal(wt__str(table->prompts[i].name), name)) {
            table->prompts[i].get(table->context, call);
            wrap_prompt_items(call);
            return;
        }
    wt__mcp_refuse_unknown(call);
}

static inline int open_table_tool(struct mcp_table *table, size_t i, wt_error *err)
{
    const struct mcp_tool_row *row = &table->tools[i];
    struct str schema;
    if (!wt__mcp_member(wt__str(row->definition), "inputSchema", &schema) || schema.len == 0)
        return wt__fail(err, WT_EFORMAT, "tool \"%s\" has no inputSchema", row->name);
    if (row->unchecked)
        return 0;
    int rc = wt__mcp_input_open(&table->inputs[i], schema, err);
    return rc < 0 ? wt__fail_context(err, rc, "tool \"%s\"", row->name) : 0;
}

static inline int mcp_table_open(struct mcp_table *table, struct mcp_features *features, wt_error *err)
{
    int rc = 0;
    table->inputs = calloc(table->tool_count + 1, sizeof(struct mcp_input *));
    if (!table->inputs)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < table->tool_count; i++)
        rc = open_table_tool(table, i, err);
    if (rc < 0) {
        mcp_table_close(table);
        return rc;
    }
    features->context = table;
    if (table->tool_count > 0) {
        features->tools.list = list_table_tools;
        features->tools.find = find_table_tool;
        features->tools.run = run_table_tool;
    }
    if (table->resource_count > 0) {
        features->resources.list = list_table_resources;
        features->resources.templates = list_table_templates;
        features->resources.read = read_table_resource;
    }
    if (table->prompt_count > 0) {
        features->prompts.list = list_table_prompts;
        features->prompts.get = get_table_prompt;
    }
    return 0;
}

static inline void mcp_table_close(struct mcp_table *table)
{
    for (size_t i = 0; table->inputs && i < table->tool_count; i++)
        wt__mcp_input_close(table->inputs[i]);
    free(table->inputs);
    table->inputs = NULL;
}

#endif
