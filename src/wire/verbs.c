/* verbs.c: the operations of the HTTP API and of wt_json. */
#include "wire/verbs.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "call/called.h"
#include "changes/recorded_use.h"

/* ---------------------------------------------------------------- find, pick, call */

/* Returns the smaller of the request's time limit and the limit of `run`. 0: unlimited. */
static unsigned bound_time_limit(const struct json_run *run, unsigned asked)
{
    return asked > 0 && (run->time_limit_ms == 0 || asked < run->time_limit_ms) ? asked : run->time_limit_ms;
}

/* Exports the definitions of the hits in the given format. Sets *out to NULL if format is NULL. */
static int export_hits(const wt_hit *const *hits, size_t count, const char *format, char **out, wt_error *err)
{
    *out = NULL;
    if (!format)
        return 0;
    WT_AUTO_FREE const wt_tool **tools = wt__alloc_zeros(count + 1, sizeof *tools);
    WT_CHECK_ALLOC(tools, err);
    for (size_t i = 0; i < count; i++)
        tools[i] = hits[i]->tool;
    return wt_export(tools, count, format, out, err);
}

static int put_found(struct json_run *run, const struct search_result *found, struct found_form form,
                     const char *format, wt_error *err)
{
    char *definitions;
    snprintf(run->recipe, sizeof run->recipe, "%s", found->recipe);
    WT_TRY(export_hits(found->hits, found->len, format, &definitions, err));
    form.definitions = definitions;
    wt__json_found(run->out, found, &form);
    wt_string_free(definitions);
    return 0;
}

int wt__run_find(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct find_body body = {0};
    wt_hits *hits = NULL;
    WT_TRY(wt__find_body_read(&body, json, err));
    body.options.progress = run->progress;
    body.options.progress_context = run->progress_context;
    body.options.time_limit_ms = bound_time_limit(run, body.options.time_limit_ms);
    int rc = wt__find_parsed(run->engine, wt__str(body.asked.query), &body.options, body.asked.messages, &hits, err);
    if (rc >= 0) {
        run->times = wt__hits_times(hits);
        const struct search_result found = wt__found_by_find(hits, body.asked.query);
        const struct found_form form = {.counted = body.options.max_tokens > 0, .explained = body.options.explain};
        rc = put_found(run, &found, form, body.definitions, err);
    }
    wt_hits_free(hits);
    return rc;
}

static int permit_model(const struct json_run *run, const char *pointer, wt_error *err)
{
    return run->permit_model ? run->permit_model(run->permit_context, pointer, err) : 0;
}

int wt__run_pick(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct pick_body body = {0};
    wt_picked *picked = NULL;
    WT_TRY(wt__pick_body_read(&body, json, err));
    if (body.options.recipe && strcmp(body.options.recipe, "ptr") == 0)
        WT_TRY(permit_model(run, "/recipe", err));
    const char *query = body.asked.query;
    body.options.progress = run->progress;
    body.options.progress_context = run->progress_context;
    body.options.time_limit_ms = bound_time_limit(run, body.options.time_limit_ms);
    int rc = wt_pick(run->engine, query, query ? strlen(query) : 0, &body.options, &picked, err);
    if (picked) {
        run->times = wt__picked_times(picked);
        const struct search_result found = wt__found_by_pick(picked, body.asked.query);
        const struct found_form form = {.counted = body.options.max_tokens > 0, .explained = body.options.explain};
        rc = put_found(run, &found, form, body.definitions, err);
    }
    wt_picked_free(picked);
    return rc;
}

int wt__run_call(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct call_body body = {0};
    wt_called *called = NULL;
    WT_TRY(wt__call_body_read(&body, json, err));
    if (body.options.language_model)
        WT_TRY(permit_model(run, "/language_model", err));
    body.options.progress = run->progress;
    body.options.progress_context = run->progress_context;
    body.options.time_limit_ms = bound_time_limit(run, body.options.time_limit_ms);
    int rc = wt_call(run->engine, body.asked.query, strlen(body.asked.query), &body.options, &called, err);
    if (called) {
        const struct called_form form = {.explained = body.options.explain, .call = body.options.form != NULL};
        snprintf(run->recipe, sizeof run->recipe, "%s", called->recipe);
        if (wt__called_hits(called))
            run->times = wt__hits_times(wt__called_hits(called));
        wt__json_called(run->out, called, body.asked.query, &form);
        rc = 0;
    }
    wt_called_free(called);
    return rc;
}

/* ---------------------------------------------------------------- the catalogue */

static void put_wire_tool(struct buffer *out, const wt_tool *tool, bool definition)
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

int wt__run_list(struct json_run *run, const wt_list_options *options, wt_error *err)
{
    WT_CLEANUP(free_tools) wt_tools *tools = NULL;
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    int rc = wt_list(run->engine, options, &tools, err);
    if (rc < 0)
        return rc;
    WT_TRY(wt_info(run->engine, &info, err));
    /* With a filter, the number of matching tools is unknown, so a full page always has a next page. */
    bool all = !options->provider && !options->pattern;
    bool more = tools->len == options->limit && !(all && options->offset + tools->len >= (size_t)info.tools);
    wt__buffer_char(run->out, '{');
    wt__json_count(run->out, "total", info.tools);
    wt__json_key(run->out, "next_offset");
    if (more)
        wt__buffer_printf(run->out, "%zu", options->offset + tools->len);
    else
        wt__buffer_text(run->out, "null");
    wt__json_open(run->out, "tools", '[');
    for (size_t i = 0; i < tools->len; i++) {
        wt__buffer_text(run->out, i ? "," : "");
        put_wire_tool(run->out, tools->items[i], false);
    }
    wt__buffer_text(run->out, "]}");
    return 0;
}

int wt__run_show(struct json_run *run, const char *name, const char *format, wt_error *err)
{
    WT_CLEANUP(free_tools) wt_tools *tools = NULL;
    char *definition;
    int rc = wt_get(run->engine, name, &tools, err);
    if (rc < 0)
        return rc;
    if (!format) {
        put_wire_tool(run->out, tools->items[0], true);
        return 0;
    }
    WT_TRY(wt_export(tools->items, 1, format, &definition, err));
    wt__buffer_text(run->out, definition);
    wt_string_free(definition);
    return 0;
}

int wt__run_add(struct json_run *run, struct str source, wt_add_options *options, wt_error *err)
{
    wt_add_report *report;
    double begin = wt__now_ms();
    options->progress = run->progress;
    options->progress_context = run->progress_context;
    int rc = wt_add(run->engine, source.ptr ? source.ptr : "", source.len, options, &report, err);
    if (rc < 0) {
        wt_add_report_free(report);
        return rc;
    }
    wt__json_added(run->out, options->source_name ? options->source_name : "input", report);
    wt__json_number(run->out, "seconds", (wt__now_ms() - begin) / 1000);
    wt__json_text_or_null(run->out, "notice", report->notice);
    wt__json_notice_codes(run->out, report->notice_codes);
    wt__json_issues(run->out, report->issues, report->issue_count);
    wt__buffer_char(run->out, '}');
    wt_add_report_free(report);
    return 0;
}

static int put_removed(struct json_run *run, int64_t removed)
{
    if (removed < 0)
        return (int)removed;
    wt__buffer_char(run->out, '{');
    wt__json_count(run->out, "removed", (uint64_t)removed);
    wt__buffer_char(run->out, '}');
    return 0;
}

int wt__run_remove(struct json_run *run, const char *name, wt_error *err)
{
    return put_removed(run, wt_remove(run->engine, name, err));
}

int wt__run_remove_provider(struct json_run *run, const char *provider, wt_error *err)
{
    return put_removed(run, wt_remove_provider(run->engine, provider, err));
}

/* Checks that the JSON is an object without members. */
static int read_nothing(struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct body body = {0};
    return wt__body_read(&body, json, (struct fields){0}, NULL, err);
}

int wt__run_status(struct json_run *run, struct str json, wt_error *err)
{
    wt_status *status;
    WT_TRY(read_nothing(json, err));
    WT_TRY(wt_get_status(run->engine, &status, err));
    wt__json_status(run->out, status);
    wt_status_free(status);
    return 0;
}

int wt__run_recipes(struct json_run *run, struct str json, wt_error *err)
{
    const wt_recipe *recipe;
    WT_TRY(read_nothing(json, err));
    wt__buffer_text(run->out, "{\"recipes\":[");
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++) {
        wt__buffer_text(run->out, i ? ",{" : "{");
        wt__json_text(run->out, "name", recipe->name);
        wt__json_text(run->out, "summary", recipe->summary);
        wt__json_flag(run->out, "needs_model", recipe->needs_model != 0);
        wt__json_flag(run->out, "needs_training", recipe->needs_training != 0);
        wt__json_flag(run->out, "picks", recipe->picks != 0);
        wt__buffer_char(run->out, '}');
    }
    wt__buffer_text(run->out, "]}");
    return 0;
}

/* ---------------------------------------------------------------- the verbs of wt_json */

static int run_list_verb(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct list_query query = {0};
    WT_TRY(wt__list_body_read(&query, json, err));
    return wt__run_list(run, &query.options, err);
}

static int run_show_verb(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct show_query query = {0};
    WT_TRY(wt__show_body_read(&query, json, err));
    return wt__run_show(run, query.name, query.definition, err);
}

static int run_add_verb(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct add_query query = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer source = {0};
    WT_TRY(wt__add_body_read(&query, json, err));
    if (json_is_string(query.tools))
        return wt__run_add(run, (struct str){json_string_value(query.tools), json_string_length(query.tools)},
                           &query.options, err);
    if (wt__json_write(&source, query.tools) < 0 || source.failed)
        return wt__fail_nomem(err);
    return wt__run_add(run, wt__buffer_view(&source), &query.options, err);
}

static int run_remove_verb(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct remove_query query = {0};
    WT_TRY(wt__remove_body_read(&query, json, err));
    return query.name ? wt__run_remove(run, query.name, err) : wt__run_remove_provider(run, query.provider, err);
}

static int record_usages(struct json_run *run, const json_t *list, struct arena *arena, wt_error *err)
{
    size_t count = json_array_size(list);
    struct reported_usage *usages = wt__arena_array(arena, struct reported_usage, count);
    struct reported_usage **pointers = wt__arena_array(arena, struct reported_usage *, count);
    if (!usages || !pointers)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        if (wt__json_write(&line, json_array_get(list, i)) < 0 || line.failed)
            return wt__fail_nomem(err);
        const char *copy = wt__arena_copy(arena, wt__buffer_view(&line));
        WT_CHECK_ALLOC(copy, err);
        usages[i] = (struct reported_usage){.line = {copy, line.len}};
        pointers[i] = &usages[i];
    }
    WT_TRY(wt__record_reported_usages(run->engine, pointers, count, err));
    wt__json_usage_result(run->out, pointers, count, false);
    return 0;
}

static int run_usage_verb(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct usages_body body = {0};
    WT_TRY(wt__usages_body_read(&body, json, err));
    return record_usages(run, body.usages, &body.body.arena, err);
}

static const struct json_verb {
    const char *name;
    int (*run)(struct json_run *run, struct str json, wt_error *err);
} json_verbs[] = {
    {"find", wt__run_find},     {"pick", wt__run_pick},     {"call", wt__run_call},      {"tools", run_list_verb},
    {"tool", run_show_verb},    {"add", run_add_verb},      {"remove", run_remove_verb}, {"usage", run_usage_verb},
    {"embed", wt__run_embed},   {"rerank", wt__run_rerank}, {"status", wt__run_status},  {"recipes", wt__run_recipes},
    {"decide", wt__run_decide},
};

static const struct json_verb *find_json_verb(const char *name, wt_error *err)
{
    for (size_t i = 0; name && i < sizeof json_verbs / sizeof *json_verbs; i++)
        if (strcmp(json_verbs[i].name, name) == 0)
            return &json_verbs[i];
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    for (size_t i = 0; i < sizeof json_verbs / sizeof *json_verbs; i++)
        wt__buffer_printf(&names, "%s%s", i > 0 ? ", " : "", json_verbs[i].name);
    wt__fail(err, WT_EINVAL, "unknown verb \"%.64s\"; use one of %s", name ? name : "", names.ptr ? names.ptr : "");
    return NULL;
}

int wt_json(wt_engine *engine, const char *verb, const char *json, size_t len, char **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer result = {0};
    struct json_run run = {.engine = engine, .out = &result};
    *out = NULL;
    const struct json_verb *found = find_json_verb(verb, err);
    if (!found)
        return WT_EINVAL;
    WT_TRY(found->run(&run, len > 0 ? (struct str){json, len} : STR("{}"), err));
    *out = result.failed ? NULL : wt__copy_string(result.ptr, result.len);
    WT_CHECK_ALLOC(*out, err);
    return 0;
}
