/* ptr_trace.c: writes the trace of PTR as JSON, with tools as ids, and questions and answers word for word. */
#include "query/ptr_sources.h"

#include "catalog/names.h"
#include "query/chat_trace.h"

struct trace_writer {
    struct ptr_reach *reach;
    struct arena *arena;
    struct buffer json;
    wt_error *err;
    int rc;
};

static void write_trace_key(struct trace_writer *w, const char *name)
{
    wt__buffer_printf(&w->json, "%s\"%s\":", w->json.ptr && w->json.ptr[w->json.len - 1] != '{' ? "," : "", name);
}

static void write_trace_tool(struct trace_writer *w, uint32_t row)
{
    const struct search *home = &w->reach->home;
    struct buffer id = {0};
    struct tool tool;
    if (w->rc < 0)
        return;
    w->rc =
        wt__index_tools(home->engine, home->index, &home->index->snapshot->keys[row].id, 1, w->arena, &tool, w->err);
    if (w->rc < 0)
        return;
    wt__tool_id(&id, tool.provider, tool.name);
    w->json.failed |= id.failed;
    wt__buffer_json(&w->json, wt__buffer_view(&id));
    wt__buffer_dispose(&id);
}

static void write_trace_tools(struct trace_writer *w, const char *name, struct ptr_tools tools)
{
    write_trace_key(w, name);
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < tools.count; i++) {
        wt__buffer_text(&w->json, i ? "," : "");
        write_trace_tool(w, tools.rows[i]);
    }
    wt__buffer_char(&w->json, ']');
}

static void write_trace_text(struct trace_writer *w, const char *name, struct str text)
{
    write_trace_key(w, name);
    wt__buffer_json(&w->json, text);
}

static void write_trace_requirements(struct trace_writer *w, const struct ptr_trace *trace)
{
    write_trace_key(w, "requirements");
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < trace->requirement_count; i++) {
        const struct ptr_requirement *r = &trace->requirements[i];
        wt__buffer_text(&w->json, i ? ",{" : "{");
        write_trace_text(w, "text", r->text);
        write_trace_key(w, "asked");
        wt__buffer_text(&w->json, r->asked ? "true" : "false");
        write_trace_tools(w, "tools", r->tools);
        wt__buffer_char(&w->json, '}');
    }
    wt__buffer_char(&w->json, ']');
}

static void write_trace_problems(struct trace_writer *w, const struct ptr_trace *trace)
{
    write_trace_key(w, "problems");
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < trace->problem_count; i++) {
        const struct ptr_problem *p = &trace->problems[i];
        wt__buffer_text(&w->json, i ? ",{" : "{");
        write_trace_text(w, "text", trace->requirements[p->requirement].text);
        for (enum ptr_view view = 0; view < PTR_VIEWS; view++)
            write_trace_tools(w, wt__ptr_view_name(view), p->views[view]);
        write_trace_key(w, "tool");
        if (p->solved)
            write_trace_tool(w, p->tool);
        else
            wt__buffer_text(&w->json, "null");
        write_trace_key(w, "votes");
        wt__buffer_printf(&w->json, "%u", p->votes);
        write_trace_key(w, "already");
        wt__buffer_text(&w->json, p->already ? "true}" : "false}");
    }
    wt__buffer_char(&w->json, ']');
}

int wt__ptr_write_trace(struct ptr_reach *reach, const struct ptr_trace *trace, struct arena *arena, const char **out,
                        wt_error *err)
{
    struct arena reading = {0};
    struct trace_writer w = {.reach = reach, .arena = &reading, .err = err};
    wt__buffer_char(&w.json, '{');
    write_trace_tools(&w, "bundle", trace->bundle);
    write_trace_requirements(&w, trace);
    write_trace_key(&w, "ignored");
    wt__buffer_printf(&w.json, "%zu", trace->ignored);
    write_trace_text(&w, "verdict", wt__str(wt__ptr_verdict_name(trace->verdict)));
    write_trace_tools(&w, "kept", trace->kept);
    write_trace_problems(&w, trace);
    write_trace_tools(&w, "set", trace->set);
    write_trace_key(&w, "exchanges");
    wt__write_exchanges(&w.json, trace->exchanges, trace->exchange_count);
    write_trace_key(&w, "cost");
    wt__write_chat_cost(&w.json, &trace->cost);
    wt__buffer_char(&w.json, '}');
    *out = w.rc < 0 || w.json.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&w.json));
    int rc = w.rc < 0 ? w.rc : *out ? 0 : wt__fail_nomem(err);
    wt__buffer_dispose(&w.json);
    wt__arena_dispose(&reading);
    return rc;
}
