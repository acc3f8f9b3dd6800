/* find.c: POST /v1/find, /v1/pick, /v1/call. */
#include "serve/api/handlers.h"

#include "wire/bodies.h"
#include "wire/results.h"

/* Exports the definitions of the hits in the given format. Sets *out to NULL if format is NULL. */
static int export_hits(const wt_hit *const *hits, size_t count, const char *format, char **out, wt_error *err)
{
    *out = NULL;
    if (!format)
        return 0;
    const wt_tool **tools = calloc(count + 1, sizeof *tools);
    if (!tools)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        tools[i] = hits[i]->tool;
    int rc = wt_export(tools, count, format, out, err);
    free(tools);
    return rc;
}

static int put_found(struct api_call *call, const struct search_result *found, struct found_form form,
                     const char *format, wt_error *err)
{
    char *definitions;
    int rc = export_hits(found->hits, found->len, format, &definitions, err);
    form.definitions = definitions;
    if (rc == 0)
        wt__json_found(&call->body, found, &form);
    wt_string_free(definitions);
    return rc;
}

int wt__api_find(struct api_call *call, wt_error *err)
{
    struct find_body body;
    wt_hits *hits = NULL;
    int rc = wt__find_body_read(&body, call->request->body, err);
    if (rc == 0) {
        body.options.progress = wt__api_progress;
        body.options.progress_context = call;
        body.options.time_limit_ms = wt__api_time_limit(call, body.options.time_limit_ms);
        const char *query = body.asked.query;
        rc = wt_find(call->service->engine, query, query ? strlen(query) : 0, &body.options, &hits, err);
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
        body.options.progress = wt__api_progress;
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
        body.options.progress = wt__api_progress;
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
