/* tools.c: finds, picks and calls tools; lists, shows, imports and removes them. Imports read the request body, never a
 * path or URL. */
#include "serve/api/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "query/find.h"
#include "wire/bodies.h"
#include "wire/results.h"

/* A wt_progress_fn that stops when the client disconnects; context is the api_call. */
static int stop_if_gone(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct api_call *call = context;
    (void)phase;
    (void)done;
    (void)total;
    return call->is_gone && call->is_gone(call->gone_context);
}

unsigned wt__api_time_limit(const struct api_call *call, unsigned asked)
{
    unsigned most = call->service->time_limit_ms;
    return asked > 0 && (most == 0 || asked < most) ? asked : most;
}

/* ---------------------------------------------------------------- find, pick, call */

/* Exports the definitions of the hits in the given format. Sets *out to NULL if format is NULL. */
static int export_hits(const wt_hit *const *hits, size_t count, const char *format, char **out, wt_error *err)
{
    *out = NULL;
    if (!format)
        return 0;
    WT_AUTO_FREE const wt_tool **tools = calloc(count + 1, sizeof *tools);
    WT_CHECK_ALLOC(tools, err);
    for (size_t i = 0; i < count; i++)
        tools[i] = hits[i]->tool;
    return wt_export(tools, count, format, out, err);
}

static int put_found(struct api_call *call, const struct search_result *found, struct found_form form,
                     const char *format, wt_error *err)
{
    char *definitions;
    WT_TRY(export_hits(found->hits, found->len, format, &definitions, err));
    form.definitions = definitions;
    wt__json_found(&call->body, found, &form);
    wt_string_free(definitions);
    return 0;
}

int wt__api_find(struct api_call *call, wt_error *err)
{
    struct find_body body;
    wt_hits *hits = NULL;
    int rc = wt__find_body_read(&body, call->request->body, err);
    if (rc == 0) {
        body.options.progress = stop_if_gone;
        body.options.progress_context = call;
        body.options.time_limit_ms = wt__api_time_limit(call, body.options.time_limit_ms);
        const char *query = body.asked.query;
        rc = wt__find_parsed(call->service->engine, wt__str(query), &body.options, body.asked.messages, &hits, err);
    }
    if (rc >= 0) {
        const struct search_result found = wt__found_by_find(hits, body.asked.query);
        const struct found_form form = {.counted = body.options.max_tokens > 0, .explained = body.options.explain};
        wt__metrics_count_find(call->service->metrics, hits->recipe);
        rc = put_found(call, &found, form, body.definitions, err);
    }
    wt_hits_free(hits);
    wt__body_dispose(&body.asked.body);
    return rc;
}

static int needs_language_model(const struct api_call *call, const char *pointer, wt_error *err)
{
    if (!call->service->language_model)
        return wt__fail_at(err, WT_EINVAL, 0, 0, pointer,
                           "the server has no language model; start it with --chat-model");
    return call->may_take_long ? 0 : API_TAKES_LONG;
}

int wt__api_pick(struct api_call *call, wt_error *err)
{
    struct pick_body body;
    wt_picked *picked = NULL;
    int rc = wt__pick_body_read(&body, call->request->body, err);
    if (rc == 0 && body.options.recipe && strcmp(body.options.recipe, "ptr") == 0)
        rc = needs_language_model(call, "/recipe", err);
    if (rc == 0) {
        body.options.progress = stop_if_gone;
        body.options.progress_context = call;
        body.options.time_limit_ms = wt__api_time_limit(call, body.options.time_limit_ms);
        const char *query = body.asked.query;
        rc = wt_pick(call->service->engine, query, query ? strlen(query) : 0, &body.options, &picked, err);
    }
    if (picked) {
        const struct search_result found = wt__found_by_pick(picked, body.asked.query);
        const struct found_form form = {.counted = body.options.max_tokens > 0, .explained = body.options.explain};
        wt__metrics_count_find(call->service->metrics, picked->recipe);
        rc = put_found(call, &found, form, body.definitions, err);
    }
    wt_picked_free(picked);
    wt__body_dispose(&body.asked.body);
    return rc;
}

int wt__api_call(struct api_call *call, wt_error *err)
{
    struct call_body body;
    wt_called *called = NULL;
    int rc = wt__call_body_read(&body, call->request->body, err);
    if (rc == 0 && body.options.language_model)
        rc = needs_language_model(call, "/language_model", err);
    if (rc == 0) {
        body.options.progress = stop_if_gone;
        body.options.progress_context = call;
        body.options.time_limit_ms = wt__api_time_limit(call, body.options.time_limit_ms);
        rc = wt_call(call->service->engine, body.asked.query, strlen(body.asked.query), &body.options, &called, err);
    }
    if (called) {
        const struct called_form form = {.explained = body.options.explain, .call = body.options.form != NULL};
        wt__metrics_count_find(call->service->metrics, called->recipe);
        wt__json_called(&call->body, called, body.asked.query, &form);
        rc = 0;
    }
    wt_called_free(called);
    wt__body_dispose(&body.asked.body);
    return rc;
}

/* ---------------------------------------------------------------- the catalogue */

static void put_api_tool(struct buffer *out, const wt_tool *tool, bool definition)
{
    wt__buffer_char(out, '{');
    wt__json_tool(out, tool);
    if (definition)
        wt__json_text(out, "definition", tool->definition);
    wt__buffer_char(out, '}');
}

static void free_tools(wt_tools **tools)
{
    wt_tools_free(*tools);
}

static int put_tool_page(struct api_call *call, const wt_list_options *options, wt_error *err)
{
    WT_CLEANUP(free_tools) wt_tools *tools = NULL;
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    int rc = wt_list(call->service->engine, options, &tools, err);
    if (rc < 0)
        return rc;
    WT_TRY(wt_info(call->service->engine, &info, err));
    /* With a filter the total is unknown, so a full page always has a next one. */
    bool all = !options->provider && !options->pattern;
    bool more = tools->len == options->limit && !(all && options->offset + tools->len >= (size_t)info.tools);
    wt__buffer_char(&call->body, '{');
    wt__json_count(&call->body, "total", info.tools);
    wt__json_key(&call->body, "next_offset");
    if (more)
        wt__buffer_printf(&call->body, "%zu", options->offset + tools->len);
    else
        wt__buffer_text(&call->body, "null");
    wt__json_key(&call->body, "tools");
    wt__buffer_char(&call->body, '[');
    for (size_t i = 0; i < tools->len; i++) {
        wt__buffer_text(&call->body, i ? "," : "");
        put_api_tool(&call->body, tools->items[i], false);
    }
    wt__buffer_text(&call->body, "]}");
    return 0;
}

int wt__api_list_tools(struct api_call *call, wt_error *err)
{
    struct list_query query;
    int rc = wt__list_query_read(&query, call->request->query, err);
    if (rc == 0)
        rc = put_tool_page(call, &query.options, err);
    wt__body_dispose(&query.body);
    return rc;
}

static int put_path_tool(struct api_call *call, struct arena *arena, const char *format, wt_error *err)
{
    WT_CLEANUP(free_tools) wt_tools *tools = NULL;
    char *name, *definition;
    WT_TRY(wt__percent_decode(&name, arena, call->rest, false, err));
    int rc = wt_get(call->service->engine, name, &tools, err);
    if (rc < 0)
        return rc;
    if (!format) {
        put_api_tool(&call->body, tools->items[0], true);
        return 0;
    }
    WT_TRY(wt_export(tools->items, 1, format, &definition, err));
    wt__buffer_text(&call->body, definition);
    wt_string_free(definition);
    return 0;
}

int wt__api_get_tool(struct api_call *call, wt_error *err)
{
    struct show_query query;
    int rc = wt__show_query_read(&query, call->request->query, err);
    if (rc == 0)
        rc = put_path_tool(call, &query.body.arena, query.definition, err);
    wt__body_dispose(&query.body);
    return rc;
}

int wt__api_add_tools(struct api_call *call, wt_error *err)
{
    struct add_query query;
    wt_add_report *report = NULL;
    double begin = wt__now_ms();
    int rc = wt__add_query_read(&query, call->request->query, err);
    if (rc == 0) {
        query.options.progress = stop_if_gone;
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
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *name;
    WT_TRY(wt__percent_decode(&name, &arena, call->rest, false, err));
    int rc = wt_remove(call->service->engine, name, err);
    if (rc < 0)
        return rc;
    put_removed(call, rc);
    return 0;
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
