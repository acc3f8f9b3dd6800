/* cmd_status.c: `whichtool status`: prints the state of the store, its index and its models. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

#include "wire/results.h"

enum {
    LABEL = 10,         /* columns of a label */
    PROVIDERS_SHOWN = 8 /* further providers are counted in one line */
};

static void format_time(int64_t seconds, char *out, size_t size, const char *form)
{
    time_t time = (time_t)seconds;
    struct tm clock = {0};
    gmtime_r(&time, &clock);
    strftime(out, size, form, &clock);
}

/* Prints a label and wrapped text; disposes of the text. */
static void print_status_line(const struct cli *cli, struct buffer *out, const char *label, struct buffer *text)
{
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_text(out, label);
    wt__style_end(out, cli->color_out);
    wt__text_pad(out, LABEL - strlen(label));
    wt__text_wrap(out, wt__buffer_view(text), LABEL, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= text->failed;
    wt__buffer_dispose(text);
}

static void put_size(struct buffer *out, const char *what, uint64_t bytes)
{
    wt__buffer_printf(out, "%s%s %.1f MB", out->len ? ", " : "", what, (double)bytes / 1e6);
}

static void print_tools_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    struct buffer text = {0};
    size_t shown = status->provider_count <= PROVIDERS_SHOWN + 1 ? status->provider_count : PROVIDERS_SHOWN;
    uint64_t rest = status->tools;
    wt__put_count(&text, status->tools, "tool of ", "tools of ");
    wt__put_count(&text, status->provider_count, "provider", "providers");
    for (size_t i = 0; i < shown; i++) {
        const wt_provider_status *provider = status->providers[i];
        wt__buffer_text(&text, "\n");
        wt__put_grouped(&text, provider->tools);
        wt__buffer_printf(&text, " %s", *provider->name ? provider->name : "(no provider)");
        rest -= provider->tools;
    }
    if (shown < status->provider_count) {
        wt__buffer_text(&text, "\n");
        wt__put_grouped(&text, rest);
        wt__buffer_text(&text, " of ");
        wt__put_count(&text, status->provider_count - shown, "other; `whichtool list --providers` shows it",
                      "others; `whichtool list --providers` shows them");
    }
    print_status_line(cli, out, "tools", &text);
}

static void print_vectors_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    bool formerly = status->encoder_embedded > status->embedded && strcmp(status->encoder, status->model) == 0;
    struct buffer text = {0};
    wt__put_grouped(&text, status->embedded);
    wt__buffer_text(&text, " of ");
    wt__put_count(&text, status->tools, "tool", "tools");
    if (*status->model)
        wt__buffer_printf(&text, ", with the model %s%s", status->model,
                          status->model_included ? ", included with whichtool" : "");
    const char *slash = strchr(status->model, '/');
    bool of_hub = slash && slash > status->model && *status->model != '.' && slash[1] && !strchr(slash + 1, '/');
    if (slash && !of_hub && !status->model_installed)
        wt__buffer_text(&text, ", which is not installed: the folder does not exist");
    else if (*status->model && !status->model_installed)
        wt__buffer_printf(&text, ", which is not installed; get it with `whichtool model pull %s`", status->model);
    else if (*status->model && status->embedded < status->tools)
        wt__buffer_printf(&text, "; compute the others with `whichtool vectors`%s",
                          formerly ? "; until then, vectors of an earlier version are used for them" : "");
    print_status_line(cli, out, "vectors", &text);
}

/* Prints the encoder of requests if a better encoder exists, or if the encoder is not the model of the vectors. */
static void print_encoder_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    struct buffer text = {0};
    if (status->better)
        wt__buffer_printf(&text, "%s, which is built in; get a better one with `whichtool model pull %s`",
                          status->encoder, status->better);
    else if (strcmp(status->encoder, status->model) != 0 && *status->encoder)
        wt__buffer_printf(&text,
                          "%s, because more tools have its vectors; compute the vectors of %s with `whichtool vectors`",
                          status->encoder, status->model);
    if (text.len > 0)
        print_status_line(cli, out, "encoder", &text);
}

static void print_usages_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    struct buffer text = {0};
    wt__put_count(&text, status->usages, "recorded usage", "recorded usages");
    if (status->usages == 0)
        wt__buffer_text(&text, "; record some with `whichtool usage add` to improve finding");
    if (status->teaching < status->usages) {
        wt__buffer_text(&text, ", of which ");
        wt__put_grouped(&text, status->teaching);
        wt__buffer_text(&text, " can be used for training");
    }
    if (status->untrained > 0) {
        wt__buffer_text(&text, "; ");
        wt__put_count(&text, status->untrained, "request was not used for training yet; run `whichtool train all`",
                      "requests were not used for training yet; run `whichtool train all`");
    }
    print_status_line(cli, out, "usages", &text);
}

/* Appends "2026-11-23, from 237 recorded requests ...". Usually several models share this line. */
static void put_training_origin(struct buffer *out, const wt_trained_status *model)
{
    char time[64];
    format_time(model->time, time, sizeof time, "%Y-%m-%d");
    wt__buffer_printf(out, "%s, from ", time);
    wt__put_count(out, model->requests + model->dev_requests, model->recorded_use ? "recorded request" : "request",
                  model->recorded_use ? "recorded requests" : "requests");
    if (!model->recorded_use)
        wt__buffer_printf(out, " of %s", model->data);
    wt__buffer_text(out, "; metric on held-out requests before and after:");
}

/* Appends "auto: recall@5 from 73.7 to 92.1 %". */
static void put_training_figure(struct buffer *out, const wt_trained_status *model)
{
    wt__buffer_printf(out, "%s: ", model->lesson);
    if (isnan(model->after))
        wt__buffer_text(out, "not measured");
    else
        wt__buffer_printf(out, "%s ", model->figure);
    if (!isnan(model->after) && !isnan(model->before))
        wt__buffer_printf(out, "from %.1f to ", 100 * model->before);
    if (!isnan(model->after))
        wt__buffer_printf(out, "%.1f %%", 100 * model->after);
    if (model->stale)
        wt__buffer_printf(out, "; not used: %s", model->stale);
}

static void print_trained_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    struct buffer text = {0}, before = {0}, here = {0};
    if (status->trained_count == 0)
        wt__buffer_text(&text, "no model; train on recorded use with `whichtool train all`");
    for (size_t i = 0; i < status->trained_count; i++) {
        put_training_origin(&here, status->trained[i]);
        wt__buffer_text(&text, i ? "\n" : "");
        if (!wt__str_equal(wt__buffer_view(&here), wt__buffer_view(&before))) {
            wt__buffer_str(&text, wt__buffer_view(&here));
            wt__buffer_char(&text, '\n');
        }
        put_training_figure(&text, status->trained[i]);
        wt__buffer_clear(&before);
        wt__buffer_str(&before, wt__buffer_view(&here));
        wt__buffer_clear(&here);
    }
    text.failed |= before.failed | here.failed;
    wt__buffer_dispose(&before);
    wt__buffer_dispose(&here);
    print_status_line(cli, out, "trained", &text);
}

static void text_status(const struct cli *cli, struct buffer *out, const wt_status *status)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "%s, store version %d; whichtool %s", status->store, status->store_version, wt_version());
    print_status_line(cli, out, "store", &text);
    print_tools_status(cli, out, status);
    print_vectors_status(cli, out, status);
    print_encoder_status(cli, out, status);
    print_usages_status(cli, out, status);
    print_trained_status(cli, out, status);
    wt__buffer_printf(&text, "%s: %s", status->recipe, status->why);
    print_status_line(cli, out, "recipe", &text);
    put_size(&text, "store", status->store_bytes);
    put_size(&text, "index", status->index_bytes);
    put_size(&text, "trained models", status->trained_bytes);
    put_size(&text, "model", status->model_bytes);
    put_size(&text, "cache", status->cache_bytes);
    print_status_line(cli, out, "on disk", &text);
}

int wt__cmd_status(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_status *status = NULL;
    struct buffer out = {0};
    wt_error err;
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    if (wt_get_status(engine, &status, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (cli->json) {
        wt__json_status(&out, status);
        wt__buffer_char(&out, '\n');
    } else {
        text_status(cli, &out, status);
    }
    wt_status_free(status);
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}
