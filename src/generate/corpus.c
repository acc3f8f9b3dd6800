#include "generate/corpus.h"

#include <string.h>

static void write_text(const char *name, const char *text, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\": ", name);
    wt__buffer_json(out, wt__str(text));
    wt__buffer_text(out, ", ");
}

void wt__corpus_line(const wt_tool *tool, const char *name, struct buffer *out)
{
    wt__buffer_char(out, '{');
    write_text("_id", tool->id, out);
    write_text("title", name, out);
    write_text("text", tool->description, out);
    wt__buffer_text(out, "\"metadata\": {");
    if (strcmp(name, tool->name) != 0)
        write_text("original", tool->name, out);
    if (tool->provider[0])
        write_text("provider", tool->provider, out);
    if (tool->category[0])
        write_text("category", tool->category, out);
    wt__buffer_printf(out, "\"parameters\": %s}}\n", tool->schema);
}
