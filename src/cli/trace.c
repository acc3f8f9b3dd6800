/* trace.c: prints PTR's trace stage by stage. Questions to the language model appear in the JSON only. Requirements are
 * text of a language model and are escaped. */
#include "cli/hits.h"

#include <string.h>

#include "base/json.h"
#include "cli/output.h"
#include "cli/text.h"

enum { INDENT = 2 };

static void write_trace_line(const struct cli *cli, struct buffer *out, size_t indent, struct buffer *text)
{
    struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__buffer_view(text), TEXT_LINE);
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(&escaped), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= text->failed || escaped.failed;
    wt__buffer_dispose(&escaped);
    wt__buffer_clear(text);
}

static void put_tool_names(struct buffer *text, const char *name, const json_t *tools)
{
    wt__buffer_printf(text, "%s: ", name);
    for (size_t i = 0; i < json_array_size(tools); i++) {
        wt__buffer_text(text, i ? ", " : "");
        wt__buffer_text(text, json_string_value(json_array_get(tools, i)));
    }
    if (json_array_size(tools) == 0)
        wt__buffer_text(text, "nothing");
}

static const char *trace_tool(const json_t *of)
{
    return json_string_value(json_object_get(of, "tool")); /* NULL if absent */
}

static void write_requirement(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    wt__buffer_printf(text, "requires \"%s\": ", wt__json_str(of, "text").ptr);
    const json_t *tools = json_object_get(of, "tools");
    if (json_array_size(tools) > 0)
        put_tool_names(text, "met by", tools);
    else
        wt__buffer_text(text,
                        wt__json_bool(of, "asked", false) ? "no tool of past use meets it" : "there is no past use");
    write_trace_line(cli, out, INDENT, text);
}

static void write_problem(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    static const struct {
        const char *name, *words;
    } views[] = {
        {"dsa", "near these words"}, {"hqc", "used for similar requests"}, {"cte", "similar to the first of them"}};
    int votes = (int)wt__json_int(of, "votes", 0);
    wt__buffer_printf(text, "unsolved \"%s\": ", wt__json_str(of, "text").ptr);
    if (!trace_tool(of))
        wt__buffer_text(text, "nothing was found");
    else
        wt__buffer_printf(text, "%s, which %d of the lists %s%s", trace_tool(of), votes, votes == 1 ? "holds" : "hold",
                          wt__json_bool(of, "already", false) ? "; already in the set" : "");
    write_trace_line(cli, out, INDENT, text);
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        put_tool_names(text, views[v].words, json_object_get(of, views[v].name));
        write_trace_line(cli, out, 2 * INDENT, text);
    }
}

typedef void (*member_writer)(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text);

static void write_each(const struct cli *cli, struct buffer *out, const json_t *items, member_writer write,
                       struct buffer *text)
{
    for (size_t i = 0; i < json_array_size(items); i++)
        write(cli, out, json_array_get(items, i), text);
}

static void write_failed_exchange(const struct cli *cli, struct buffer *out, const json_t *of, struct buffer *text)
{
    if (wt__json_str(of, "unusable").len == 0)
        return;
    wt__buffer_printf(text, "%s gave no usable answer: %s", wt__json_str(of, "task").ptr,
                      wt__json_str(of, "unusable").ptr);
    write_trace_line(cli, out, INDENT, text);
}

static const char *verdict_text(struct str verdict)
{
    return wt__str_equal(verdict, STR("exact"))  ? "this set meets all requirements"
           : wt__str_equal(verdict, STR("over")) ? "this set contains unneeded tools"
                                                 : "this set does not meet all requirements";
}

void wt__put_trace(const struct cli *cli, struct buffer *out, const char *trace)
{
    json_t *root = NULL;
    struct buffer text = {0};
    if (wt__json_parse(&root, trace, strlen(trace), NULL) < 0) {
        out->failed = true;
        return;
    }
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    put_tool_names(&text, "nearest set of past use", json_object_get(root, "bundle"));
    write_trace_line(cli, out, 0, &text);
    write_each(cli, out, json_object_get(root, "requirements"), write_requirement, &text);
    wt__buffer_printf(&text, "%s; ", verdict_text(wt__json_str(root, "verdict")));
    put_tool_names(&text, "kept", json_object_get(root, "kept"));
    write_trace_line(cli, out, 0, &text);
    write_each(cli, out, json_object_get(root, "problems"), write_problem, &text);
    write_each(cli, out, json_object_get(root, "exchanges"), write_failed_exchange, &text);
    wt__style_end(out, cli->color_out);
    wt__buffer_dispose(&text);
    json_decref(root);
}
