#include "generate/corpus.h"

#include <string.h>

static void write_json_member(const char *name, const char *text, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\": ", name);
    wt__buffer_json(out, wt__str(text));
    wt__buffer_text(out, ", ");
}

void wt__beir_write_tool(const wt_tool *tool, const char *name, struct buffer *out)
{
    wt__buffer_char(out, '{');
    write_json_member("_id", tool->id, out);
    write_json_member("title", name, out);
    write_json_member("text", tool->description, out);
    wt__buffer_text(out, "\"metadata\": {");
    if (strcmp(name, tool->name) != 0)
        write_json_member("original", tool->name, out);
    if (tool->provider[0])
        write_json_member("provider", tool->provider, out);
    if (tool->category[0])
        write_json_member("category", tool->category, out);
    wt__buffer_printf(out, "\"parameters\": %s}}\n", tool->schema);
}
