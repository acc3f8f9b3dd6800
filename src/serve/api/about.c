/* about.c: health, metrics, status and recipes. */
#include "http/server.h"
#include "serve/api/handlers.h"
#include "wire/results.h"

int wt__api_health(struct api_call *call, wt_error *err)
{
    bool ready = atomic_load(&call->service->state->ready);
    (void)err;
    wt__buffer_char(&call->body, '{');
    wt__json_text(&call->body, "status", "ok");
    wt__json_flag(&call->body, "ready", ready);
    wt__json_text(&call->body, "version", wt_version());
    wt__buffer_char(&call->body, '}');
    return 0;
}

/* Appends the metrics of the HTTP server, if it is running. */
static void put_server_metrics(const struct server_state *state, struct buffer *out)
{
    struct http_figures figures = {0};
    if (!state->server)
        return;
    wt__http_server_figures(state->server, &figures);
    wt__metric_write(out, "whichtool_http_connections", "gauge", "Open connections.", (double)figures.connections);
    wt__metric_write(out, "whichtool_http_queued", "gauge", "Requests waiting for a worker.", (double)figures.queued);
    wt__metric_write(out, "whichtool_http_running", "gauge", "Requests being answered.", (double)figures.running);
    wt__metric_write(out, "whichtool_http_accepted_total", "counter", "Accepted connections.",
                     (double)figures.accepted);
    wt__metric_write(out, "whichtool_http_refused_total", "counter", "Malformed requests.", (double)figures.refused);
    wt__metric_write(out, "whichtool_http_overloaded_total", "counter", "Requests refused because the queue was full.",
                     (double)figures.overloaded);
}

static int put_catalogue_metrics(const struct api_call *call, struct buffer *out, wt_error *err)
{
    wt_catalog_info info;
    wt_usage_info usages;
    wt_catalog_info_init(&info);
    wt_usage_info_init(&usages);
    int rc = wt_info(call->service->engine, &info, err);
    if (rc == 0)
        rc = wt_get_usage_info(call->service->engine, &usages, err);
    if (rc < 0)
        return rc;
    wt__metric_write(out, "whichtool_tools", "gauge", "Tools in the catalogue.", (double)info.tools);
    wt__metric_write(out, "whichtool_providers", "gauge", "Providers in the catalogue.", (double)info.providers);
    wt__metric_write(out, "whichtool_embedded_tools", "gauge", "Tools with a vector of the current model.",
                     (double)info.embedded);
    wt__metric_write(out, "whichtool_catalogue_generation", "gauge", "Increases with every change to the catalogue.",
                     (double)info.generation);
    wt__metric_write(out, "whichtool_usages", "gauge", "Recorded usages.", (double)usages.usages);
    return 0;
}

int wt__api_metrics(struct api_call *call, wt_error *err)
{
    const struct server_state *state = call->service->state;
    call->type = "text/plain; version=0.0.4; charset=utf-8";
    wt__buffer_printf(&call->body,
                      "# HELP whichtool_build_info Version, as a label.\n# TYPE whichtool_build_info gauge\n"
                      "whichtool_build_info{version=\"%s\"} 1\n",
                      wt_version());
    wt__metric_write(&call->body, "process_start_time_seconds", "gauge", "Start time as seconds since 1970.",
                     (double)state->started);
    wt__metric_write(&call->body, "whichtool_ready", "gauge", "1 if the index is open and the model is loaded.",
                     atomic_load(&state->ready) ? 1 : 0);
    put_server_metrics(state, &call->body);
    wt__metrics_write(call->service->metrics, &call->body);
    for (size_t t = 0; t < call->service->table_count; t++) {
        const struct routes *module = &call->service->tables[t];
        if (module->metrics)
            module->metrics(module->context, &call->body);
    }
    return put_catalogue_metrics(call, &call->body, err);
}

int wt__api_status(struct api_call *call, wt_error *err)
{
    wt_status *status = NULL;
    int rc = wt_get_status(call->service->engine, &status, err);
    if (rc == 0)
        wt__json_status(&call->body, status);
    wt_status_free(status);
    return rc;
}

int wt__api_recipes(struct api_call *call, wt_error *err)
{
    const wt_recipe *recipe;
    (void)err;
    wt__buffer_text(&call->body, "{\"recipes\":[");
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++) {
        wt__buffer_text(&call->body, i ? ",{" : "{");
        wt__json_text(&call->body, "name", recipe->name);
        wt__json_text(&call->body, "summary", recipe->summary);
        wt__json_flag(&call->body, "needs_model", recipe->needs_model != 0);
        wt__json_flag(&call->body, "needs_training", recipe->needs_training != 0);
        wt__json_flag(&call->body, "picks", recipe->picks != 0);
        wt__buffer_char(&call->body, '}');
    }
    wt__buffer_text(&call->body, "]}");
    return 0;
}
