/* tools.c: lists, shows, imports and removes tools. Imports read the request body, never a path or URL. */
#include "serve/api/handlers.h"

#include "base/clock.h"
#include "wire/bodies.h"
#include "wire/results.h"

static void put_api_tool(struct buffer *out, const wt_tool *tool, bool definition)
{
    wt__buffer_char(out, '{');
    wt__json_tool(out, tool);
    if (definition)
        wt__json_text(out, "definition", tool->definition);
    wt__buffer_char(out, '}');
}

int wt__api_list_tools(struct api_call *call, wt_error *err)
{
    struct list_query query;
    wt_tools *tools = NULL;
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    int rc = wt__list_query_read(&query, call->request->query, err);
    if (rc == 0)
        rc = wt_list(call->service->engine, &query.options, &tools, err);
    if (rc >= 0)
        rc = wt_info(call->service->engine, &info, err);
    if (rc >= 0) {
        bool all =
            !query.options.provider &&
            !query.options.pattern; /* with a filter the total is unknown, so a full page always has a next one */
        bool more =
            tools->len == query.options.limit && !(all && query.options.offset + tools->len >= (size_t)info.tools);
        wt__buffer_char(&call->body, '{');
        wt__json_count(&call->body, "total", info.tools);
        wt__json_key(&call->body, "next_offset");
        if (more)
            wt__buffer_printf(&call->body, "%zu", query.options.offset + tools->len);
        else
            wt__buffer_text(&call->body, "null");
        wt__json_key(&call->body, "tools");
        wt__buffer_char(&call->body, '[');
        for (size_t i = 0; i < tools->len; i++) {
            wt__buffer_text(&call->body, i ? "," : "");
            put_api_tool(&call->body, tools->items[i], false);
        }
        wt__buffer_text(&call->body, "]}");
    }
    wt_tools_free(tools);
    wt__body_dispose(&query.body);
    return rc < 0 ? rc : 0;
}

/* Gets the tool named by the path. */
static int get_path_tool(struct api_call *call, struct arena *arena, wt_tools **out, wt_error *err)
{
    char *name;
    *out = NULL;
    int rc = wt__percent_decode(&name, arena, call->rest, false, err);
    return rc == 0 ? wt_get(call->service->engine, name, out, err) : rc;
}

int wt__api_get_tool(struct api_call *call, wt_error *err)
{
    struct show_query query;
    wt_tools *tools = NULL;
    char *definition = NULL;
    int rc = wt__show_query_read(&query, call->request->query, err);
    if (rc == 0)
        rc = get_path_tool(call, &query.body.arena, &tools, err);
    if (rc >= 0 && query.definition) {
        rc = wt_export(tools->items, 1, query.definition, &definition, err);
        if (rc == 0)
            wt__buffer_text(&call->body, definition);
    } else if (rc >= 0) {
        put_api_tool(&call->body, tools->items[0], true);
    }
    wt_string_free(definition);
    wt_tools_free(tools);
    wt__body_dispose(&query.body);
    return rc < 0 ? rc : 0;
}

int wt__api_add_tools(struct api_call *call, wt_error *err)
{
    struct add_query query;
    wt_add_report *report = NULL;
    double begin = wt__now_ms();
    int rc = wt__add_query_read(&query, call->request->query, err);
    if (rc == 0) {
        query.options.progress = wt__api_progress;
        query.options.progress_context = call;
        rc = wt_add(call->service->engine, call->request->body.ptr ? call->request->body.ptr : "",
                    call->request->body.len, &query.options, &report, err);
    }
    if (rc >= 0) {
        const char *source = query.options.source_name ? query.options.source_name : "input";
        wt__json_added(&call->body, source, report);
        wt__json_number(&call->body, "seconds", (wt__now_ms() - begin) / 1000);
        wt__json_text_or_null(&call->body, "notice", report->notice);
        wt__json_issues(&call->body, report->issues, report->issue_count);
        wt__buffer_char(&call->body, '}');
        atomic_fetch_add_explicit(&call->service->metrics->imports, 1, memory_order_relaxed);
    }
    wt_add_report_free(report);
    wt__body_dispose(&query.body);
    return rc < 0 ? rc : 0;
}

static void put_removed(struct api_call *call, int64_t removed)
{
    wt__buffer_char(&call->body, '{');
    wt__json_count(&call->body, "removed", (uint64_t)removed);
    wt__buffer_char(&call->body, '}');
}

int wt__api_remove_tool(struct api_call *call, wt_error *err)
{
    struct arena arena = {0};
    char *name;
    int rc = wt__percent_decode(&name, &arena, call->rest, false, err);
    if (rc == 0)
        rc = wt_remove(call->service->engine, name, err);
    if (rc >= 0)
        put_removed(call, rc);
    wt__arena_dispose(&arena);
    return rc < 0 ? rc : 0;
}

int wt__api_remove_provider(struct api_call *call, wt_error *err)
{
    struct remove_query query;
    int64_t removed = wt__remove_query_read(&query, call->request->query, err);
    if (removed == 0)
        removed = wt_remove_provider(call->service->engine, query.provider, err);
    if (removed >= 0)
        put_removed(call, removed);
    wt__body_dispose(&query.body);
    return removed < 0 ? (int)removed : 0;
}
