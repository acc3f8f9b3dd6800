#include "base/json.h"
#include "cli/cli.h"
#include "cli/left_out.h"
#include "cli/output.h"
#include "cli/text.h"
#include "text/shown.h"

enum { INDENT = 2 };

/* Appends the type of a schema, such as "string" or "string or null". */
static void put_schema_type(struct buffer *out, const json_t *schema)
{
    json_t *type = json_object_get(schema, "type"), *one;
    size_t index;
    if (json_is_string(type))
        wt__buffer_text(out, json_string_value(type));
    json_array_foreach(type, index, one) if (json_is_string(one))
        wt__buffer_printf(out, "%s%s", index ? " or " : "", json_string_value(one));
}

static bool is_required_argument(const json_t *required, const char *name)
{
    json_t *one;
    size_t index;
    json_array_foreach(required, index,
                       one) if (json_is_string(one) && strcmp(json_string_value(one), name) == 0) return true;
    return false;
}

static void print_tool_arguments(const struct cli *cli, struct buffer *out, const char *schema)
{
    json_t *root = NULL, *property;
    const char *name;
    if (wt__json_parse(&root, schema, strlen(schema), NULL) < 0)
        return;
    json_t *properties = wt__json_object(root, "properties"), *required = wt__json_array(root, "required");
    if (json_object_size(properties) > 0)
        wt__print_field(cli, out, "arguments", " ");
    json_object_foreach(properties, name, property)
    {
        struct buffer line = {0};
        wt__buffer_printf(&line, "%s (", name);
        put_schema_type(&line, property);
        wt__buffer_printf(&line, "%s%s) ", line.len && line.ptr[line.len - 1] != '(' ? ", " : "",
                          is_required_argument(required, name) ? "required" : "optional");
        wt__buffer_str(&line, wt__json_str(property, "description"));
        wt__text_pad(out, INDENT);
        wt__text_wrap(out, wt__buffer_view(&line), 2 * INDENT, cli->width);
        wt__buffer_char(out, '\n');
        out->failed |= line.failed;
        wt__buffer_dispose(&line);
    }
    json_decref(root);
}

static void print_left_out(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    struct buffer names = {0};
    wt__put_left_out(&names, tool);
    if (names.len > 0)
        wt__buffer_text(&names, " (credentials and similar arguments, set by the calling program)");
    wt__print_field(cli, out, "left out", names.ptr ? names.ptr : "");
    out->failed |= names.failed;
    wt__buffer_dispose(&names);
}

static void print_tool_fields(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    wt__print_field(cli, out, "tool", tool->id);
    wt__print_field(cli, out, "title", tool->title);
    wt__print_field(cli, out, "exported as", tool->export_name);
    wt__print_field(cli, out, "provider", tool->provider);
    wt__print_field(cli, out, "category", tool->category);
    wt__print_field(cli, out, "source id", tool->source_id);
    wt__print_field(cli, out, "format", tool->format);
    wt__print_field(cli, out, "sha256", tool->sha256);
    wt__print_field(cli, out, "about", tool->description);
    print_tool_arguments(cli, out, tool->schema);
    print_left_out(cli, out, tool);
}

/* Prints the bytes of the source; control characters are escaped on a terminal only. */
static void print_definition(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    if (cli->tty_out) {
        wt__text_escape(out, (struct str){tool->definition, tool->definition_len}, TEXT_LINES);
        wt__buffer_char(out, '\n');
    } else {
        wt__buffer_append(out, tool->definition, tool->definition_len);
    }
}

static int print_in_format(struct cli *cli, const wt_tool *tool)
{
    struct buffer out = {0};
    if (wt__has_option(cli, OPT_FORMAT))
        return wt__print_export(cli, &tool, 1, wt__option_text(cli, OPT_FORMAT));
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_tool(&out, tool);
        wt__json_text(&out, "definition", tool->definition);
        wt__buffer_text(&out, "}\n");
    } else if (wt__has_option(cli, OPT_DEFINITION)) {
        print_definition(cli, &out, tool);
    } else if (wt__has_option(cli, OPT_SCHEMA)) {
        wt__shown_json(&out, wt__str(tool->schema));
        wt__buffer_char(&out, '\n');
    } else {
        print_tool_fields(cli, &out, tool);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__cmd_show(struct cli *cli)
{
    wt_engine *engine = NULL;
    wt_tools *tools = NULL;
    if (wt__has_option(cli, OPT_FORMAT) + wt__has_option(cli, OPT_DEFINITION) + wt__has_option(cli, OPT_SCHEMA) > 1)
        return wt__cli_usage(cli, "give only one of --definition, --schema and --format");
    int code = wt__cli_open(cli, OPEN_EXISTING, "", &engine);
    if (code == 0) {
        wt_error err;
        code = wt_get(engine, cli->arguments.words[0], &tools, &err) < 0 ? wt__cli_fail(cli, &err)
                                                                         : print_in_format(cli, tools->items[0]);
    }
    wt_tools_free(tools);
    wt_close(engine);
    return code;
}
