/* tools.c: runs the verbs of wire/verbs.h for the routes, with arguments from the body, the path or the query. An
 * import reads its source from the request body, never from a path or URL. */
#include "serve/api/internal.h"

#include "base/memory.h"
#include "wire/verbs.h"

/* A wt_progress_fn that stops when the client disconnects; context is the api_call. */
static int stop_if_gone(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct api_call *call = context;
    (void)phase, (void)done, (void)total;
    return call->is_gone && call->is_gone(call->gone_context);
}

/* Implements json_run.permit_model; context is the api_call. */
static int permit_language_model(void *context, const char *pointer, wt_error *err)
{
    const struct api_call *call = context;
    if (!call->service->language_model)
        return wt__fail_at(err, WT_EINVAL, 0, 0, pointer,
                           "the server has no language model; start it with --chat-model");
    return call->may_take_long ? 0 : API_TAKES_LONG;
}

static struct json_run make_verb_run(struct api_call *call)
{
    return (struct json_run){.engine = call->engine,
                             .out = &call->body,
                             .progress = stop_if_gone,
                             .progress_context = call,
                             .time_limit_ms = call->service->time_limit_ms,
                             .permit_model = permit_language_model,
                             .permit_context = call};
}

int wt__api_run_verb(struct api_call *call, int (*verb)(struct json_run *run, struct str json, wt_error *err),
                     wt_error *err)
{
    struct json_run run = make_verb_run(call);
    int rc = verb(&run, call->request->body, err);
    wt__trace_add_search(call->trace, run.recipe, &run.times);
    return rc;
}

int wt__api_list_tools(struct api_call *call, wt_error *err)
{
    struct json_run run = make_verb_run(call);
    WT_CLEANUP(wt__body_dispose) struct list_query query = {0};
    WT_TRY(wt__list_query_read(&query, call->request->query, err));
    return wt__run_list(&run, &query.options, err);
}

int wt__api_get_tool(struct api_call *call, wt_error *err)
{
    struct json_run run = make_verb_run(call);
    WT_CLEANUP(wt__body_dispose) struct show_query query = {0};
    char *name;
    WT_TRY(wt__show_query_read(&query, call->request->query, err));
    WT_TRY(wt__percent_decode(&name, &query.body.arena, call->rest, false, err));
    return wt__run_show(&run, name, query.definition, err);
}

int wt__api_add_tools(struct api_call *call, wt_error *err)
{
    struct json_run run = make_verb_run(call);
    WT_CLEANUP(wt__body_dispose) struct add_query query = {0};
    WT_TRY(wt__add_query_read(&query, call->request->query, err));
    WT_TRY(wt__run_add(&run, call->request->body, &query.options, err));
    atomic_fetch_add_explicit(&call->service->metrics->imports, 1, memory_order_relaxed);
    return 0;
}

int wt__api_remove_tool(struct api_call *call, wt_error *err)
{
    struct json_run run = make_verb_run(call);
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *name;
    WT_TRY(wt__percent_decode(&name, &arena, call->rest, false, err));
    return wt__run_remove(&run, name, err);
}

int wt__api_remove_provider(struct api_call *call, wt_error *err)
{
    struct json_run run = make_verb_run(call);
    WT_CLEANUP(wt__body_dispose) struct remove_query query = {0};
    WT_TRY(wt__remove_query_read(&query, call->request->query, err));
    return wt__run_remove_provider(&run, query.provider, err);
}
