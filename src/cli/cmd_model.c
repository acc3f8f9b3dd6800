#include <stdio.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"

static const char *state_of(const wt_model *model)
{
    return model->built_in ? "built in" : !model->installed ? "not here" : model->packed ? "here, packed" : "here";
}

static void json_model(struct buffer *out, const wt_model *model)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "name", model->name);
    wt__json_text(out, "path", model->path);
    wt__json_key(out, "installed");
    wt__buffer_text(out, model->installed ? "true" : "false");
    wt__json_key(out, "built_in");
    wt__buffer_text(out, model->built_in ? "true" : "false");
    wt__json_key(out, "packed");
    wt__buffer_text(out, model->packed ? "true" : "false");
    wt__json_text(out, "architecture", model->architecture);
    wt__json_text(out, "license", model->license);
    wt__json_count(out, "dimension", model->dimension);
    wt__json_count(out, "layers", model->layers);
    wt__json_count(out, "max_tokens", model->max_tokens);
    wt__json_count(out, "parameters", model->parameters);
    wt__json_count(out, "bytes", model->bytes);
    wt__buffer_text(out, "}\n");
}

static void text_model(const struct cli *cli, struct buffer *out, const wt_model *model)
{
    struct buffer line = {0};
    wt__buffer_printf(&line, "%s: %s", model->name, state_of(model));
    if (model->installed) {
        wt__buffer_printf(&line, "; %s, %zu layers, dimension %zu, %zu tokens, ", model->architecture, model->layers,
                          model->dimension, model->max_tokens);
        wt__grouped(&line, model->parameters);
        wt__buffer_text(&line, " parameters");
    }
    if (model->bytes)
        wt__buffer_printf(&line, "; %.1f MB", (double)model->bytes / 1e6);
    if (*model->license)
        wt__buffer_printf(&line, "; licence %s", model->license);
    if (*model->path)
        wt__buffer_printf(&line, "\n%s", model->path);
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
    wt__buffer_dispose(&line);
}

/* A model that is not there is the model's failure, whatever the code says. */
static int fail(const struct cli *cli, const wt_error *err)
{
    int code = wt__cli_fail(cli, err);
    return code == END_NOTHING ? END_MODEL : code;
}

static int print_models(struct cli *cli, const wt_models *models)
{
    struct buffer out = {0};
    for (size_t i = 0; i < models->len; i++) {
        if (cli->json)
            json_model(&out, models->items[i]);
        else
            text_model(cli, &out, models->items[i]);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (models->len == 0)
        wt__cli_note(cli, "No model is known here.");
    return models->len ? END_DONE : END_NOTHING;
}

static int pull(struct cli *cli, const char *folder, const char *name)
{
    struct progress_line line;
    wt_error err;
    wt__interrupt_watch();
    wt__progress_begin(&line, cli);
    int rc = wt_model_pull(folder, name, wt__progress_show, &line, &err);
    wt__progress_clear();
    if (rc == WT_ECANCELLED)
        return wt__cli_say(cli, END_INTERRUPTED, "stopped; what was fetched is kept: run the same command to go on");
    if (rc < 0)
        return fail(cli, &err);
    wt__cli_note(cli, rc > 0 ? "%s was fetched and checked." : "%s is here and right.", name);
    return END_DONE;
}

static int pack(struct cli *cli, const char *folder, const char *name)
{
    wt_error err;
    if (wt_model_pack(folder, name, &err) < 0)
        return fail(cli, &err);
    wt__cli_note(cli, "%s is packed.", name);
    return END_DONE;
}

int wt__cmd_model(struct cli *cli)
{
    const struct arguments *a = &cli->arguments;
    const char *folder = wt__text_of(cli, OPT_MODELS);
    const char *action = a->word_count > 0 ? a->words[0] : "list";
    const char *name = a->word_count > 1 ? a->words[1] : WT_DEFAULT_MODEL;
    wt_models *models = NULL;
    wt_error err;
    if (strcmp(action, "pull") == 0)
        return pull(cli, folder, name);
    if (strcmp(action, "pack") == 0)
        return pack(cli, folder, name);
    bool list = strcmp(action, "list") == 0;
    if (list && a->word_count > 1)
        return wt__cli_usage(cli, "`model list` takes no name; `model info %s` shows one model", name);
    int rc = list ? wt_model_list(folder, &models, &err) : wt_model_info(folder, name, &models, &err);
    int code = rc < 0 ? fail(cli, &err) : print_models(cli, models);
    wt_models_free(models);
    return code;
}
