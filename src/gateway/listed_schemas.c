/* listed_schemas.c: see listed_schemas.h. */
#include "gateway/listed_schemas.h"

#include "base/json.h"
#include "base/json_scan.h"
#include "engine/validator.h"
#include "mcp/message.h"
#include "serve/mcp/input.h"

/* Notes a fault of a schema. tool: the name, in JSON. what: the consequence. */
static void note_faulty_schema(struct mcp_mends *mends, struct str tool, const char *what, const char *why)
{
    struct buffer text = {0};
    json_t *name = NULL;
    wt__json_parse(&name, tool.ptr, tool.len, NULL);
    wt__buffer_printf(&text, "%s: %s", what, why);
    if (!text.failed)
        wt__mcp_mends_note(mends, "tool", (struct str){json_string_value(name), json_string_length(name)}, text.ptr);
    mends->notes.failed |= text.failed;
    mends->faulty_schemas++;
    wt__buffer_dispose(&text);
    json_decref(name);
}

/* Notes how much of an input schema is checked. 0 or WT_ENOMEM. */
static int check_input_schema(struct str tool, struct str name, struct mcp_mends *mends, wt_error *err)
{
    struct mcp_input *input = NULL;
    struct str schema;
    if (!wt__mcp_member(tool, "inputSchema", &schema) || schema.len == 0)
        return 0;
    int rc = wt__mcp_input_open(&input, schema, err);
    if (rc < 0) /* invalid x-mcp-header: the view leaves the tool out */
        return rc == WT_ENOMEM ? rc : 0;
    const char *why = wt__mcp_input_unchecked(input);
    if (wt__mcp_input_checks(input) == MCP_CHECKS_PART)
        note_faulty_schema(mends, name, "inputSchema does not compile; arguments are checked against its valid part",
                           why);
    else if (wt__mcp_input_checks(input) == MCP_CHECKS_NOTHING)
        note_faulty_schema(mends, name, "inputSchema does not compile; arguments are not checked", why);
    wt__mcp_input_close(input);
    return 0;
}

/* Returns 1 if a schema compiles in a known dialect, 0 with *why if it does not, or WT_ENOMEM. */
static int schema_compiles(struct str schema, wt_error *why)
{
    wt_validator *validator;
    struct schema_drops drops = {0};
    int rc = wt_validator_open(&validator, schema.ptr, schema.len, NULL, why);
    if (rc < 0 && rc != WT_ENOMEM)
        rc = wt__validator_open_lenient(&validator, schema, &drops, NULL);
    wt_validator_close(validator);
    return rc == WT_ENOMEM ? rc : rc == 0 && drops.count == 0;
}

/* Appends a tool without its output schema. */
static int put_without_output_schema(struct str tool, struct buffer *out, wt_error *err)
{
    json_t *tree = NULL;
    int rc = wt__json_parse(&tree, tool.ptr, tool.len, err);
    if (rc == 0 && (json_object_del(tree, "outputSchema") < 0 || wt__json_write(out, tree) < 0))
        rc = wt__fail_nomem(err);
    json_decref(tree);
    return rc;
}

static int put_mended_tool(struct str tool, struct buffer *out, struct mcp_mends *mends, wt_error *err)
{
    struct str name = STR(""), output = STR("");
    wt_error why = {0};
    wt__mcp_member(tool, "name", &name);
    int rc = check_input_schema(tool, name, mends, err);
    wt__mcp_member(tool, "outputSchema", &output);
    int compiles = rc == 0 && output.len > 0 ? schema_compiles(output, &why) : 1;
    if (rc < 0 || compiles == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (compiles) {
        wt__buffer_str(out, tool);
        return 0;
    }
    note_faulty_schema(mends, name, "outputSchema does not compile and is ignored", why.message);
    return put_without_output_schema(tool, out, err);
}

int wt__listed_schemas_repair(struct str list, struct buffer *out, struct mcp_mends *mends, wt_error *err)
{
    struct buffer whole = {0};
    struct json_scan scan;
    struct json_item item;
    int rc = 0;
    wt__buffer_char(&whole, '[');
    wt__buffer_str(&whole, list);
    wt__buffer_char(&whole, ']');
    wt__json_scan_open(&scan, wt__buffer_view(&whole), 0, 1);
    for (bool is_first = true; rc == 0 && !whole.failed && wt__json_scan_next(&scan, &item) > 0; is_first = false) {
        if (!is_first)
            wt__buffer_char(out, ',');
        rc = put_mended_tool(item.value, out, mends, err);
    }
    if (rc == 0 && (whole.failed || out->failed || mends->notes.failed))
        rc = wt__fail_nomem(err);
    wt__buffer_dispose(&whole);
    return rc;
}
