/* cmd_model.c: `whichtool model`: lists, inspects, downloads, packs, merges and quantizes models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *model_state(const wt_model *model)
{
    return model->built_in     ? "built in"
           : !model->installed ? "not installed"
           : model->packed     ? "installed, packed"
                               : "installed";
}

static void json_installed_model(struct buffer *out, const wt_model *model)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "name", model->name);
    wt__json_text(out, "path", model->path);
    wt__json_key(out, "installed");
    wt__buffer_text(out, model->installed ? "true" : "false");
    wt__json_key(out, "built_in");
    wt__buffer_text(out, model->built_in ? "true" : "false");
    wt__json_key(out, "included");
    wt__buffer_text(out, model->included ? "true" : "false");
    wt__json_key(out, "packed");
    wt__buffer_text(out, model->packed ? "true" : "false");
    wt__json_text(out, "architecture", model->architecture);
    wt__json_text(out, "license", model->license);
    wt__json_count(out, "dimension", model->dimension);
    wt__json_count(out, "layers", model->layers);
    wt__json_count(out, "max_tokens", model->max_tokens);
    wt__json_count(out, "parameters", model->parameters);
    wt__json_count(out, "bytes", model->bytes);
    wt__json_text(out, "revision", model->revision);
    wt__buffer_text(out, "}\n");
}

static void text_installed_model(const struct cli *cli, struct buffer *out, const wt_model *model)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__buffer_printf(&line, "%s: %s", model->name, model_state(model));
    if (model->included)
        wt__buffer_text(&line, ", included with whichtool");
    if (model->installed) {
        wt__buffer_printf(&line, "; %s, %zu layers, dimension %zu, %zu tokens, ", model->architecture, model->layers,
                          model->dimension, model->max_tokens);
        wt__put_grouped(&line, model->parameters);
        wt__buffer_text(&line, " parameters");
    }
    if (model->bytes)
        wt__buffer_printf(&line, "; %.1f MB", (double)model->bytes / 1e6);
    if (*model->license)
        wt__buffer_printf(&line, "; licence %s", model->license);
    if (*model->revision)
        wt__buffer_printf(&line, "; revision %.12s", model->revision);
    if (*model->path)
        wt__buffer_printf(&line, "\n%s", model->path);
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
}

/* Reports the error. Returns the exit code: END_MODEL if a model is missing. */
static int fail_on_model(const struct cli *cli, const wt_error *err)
{
    int code = wt__cli_fail(cli, err);
    return code == END_NOTHING ? END_MODEL : code;
}

static int print_models(struct cli *cli, const wt_models *models)
{
    struct buffer out = {0};
    for (size_t i = 0; i < models->len; i++) {
        if (cli->json)
            json_installed_model(&out, models->items[i]);
        else
            text_installed_model(cli, &out, models->items[i]);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (models->len == 0)
        wt__cli_note(cli, "No models are known.");
    return models->len ? END_DONE : END_NOTHING;
}

static int pull_model(struct cli *cli, const char *folder, const char *name)
{
    struct progress_line line;
    wt_error err;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int rc = wt_model_pull(folder, name, wt__progress_show, &line, &err);
    wt__progress_clear();
    if (rc == WT_ECANCELLED)
        return wt__cli_report(cli, END_INTERRUPTED, "stopped; downloaded files are kept, and the same command resumes");
    if (rc < 0)
        return fail_on_model(cli, &err);
    wt_models *models = NULL;
    bool along =
        wt_model_info(folder, name, &models, NULL) == 0 && (models->items[0]->included || models->items[0]->built_in);
    bool hub = strchr(name, '/') != NULL;
    wt__cli_note(cli,
                 rc > 0 && hub ? "%s was downloaded; the hashes of its files were recorded."
                 : rc > 0      ? "%s was downloaded and verified."
                 : along       ? "%s is included with whichtool, and its files are valid."
                               : "%s is installed, and its files are valid.",
                 name);
    wt_models_free(models);
    return END_DONE;
}

static int pack_model(struct cli *cli, const char *folder, const char *name)
{
    wt_error err;
    if (wt_model_pack(folder, name, &err) < 0)
        return fail_on_model(cli, &err);
    wt__cli_note(cli, "%s was packed.", name);
    return END_DONE;
}

/* Reads --weight into the weights of two models. models: number of models. *given: false without --weight, which means
 * equal weights for any number of models. */
static int read_merge_weights(struct cli *cli, size_t models, double *weights, bool *given)
{
    const char *text = wt__option_text(cli, OPT_WEIGHT);
    char *end = NULL;
    *given = text != NULL;
    if (!text)
        return 0;
    weights[1] = strtod(text, &end);
    weights[0] = 1 - weights[1];
    if (models != 2)
        return wt__cli_usage(
            cli, "--weight needs exactly two models, not %zu; more models are merged with equal weights", models);
    if (end == text || *end || !(weights[1] >= 0 && weights[1] <= 1))
        return wt__cli_usage(cli, "--weight takes a number from 0 to 1, not \"%s\"", text);
    return 0;
}

static int merge_models(struct cli *cli, const char *folder)
{
    const char *const *names = cli->arguments.words + 1, *out = wt__option_text(cli, OPT_OUT);
    size_t count = cli->arguments.word_count - 1;
    double weights[2];
    bool given;
    wt_error err;
    if (count < 2)
        return wt__cli_usage(cli, "`model merge` needs at least two models");
    if (!out)
        return wt__cli_usage(cli, "missing --out FOLDER, the folder of the new model");
    int code = read_merge_weights(cli, count, weights, &given);
    if (code != 0)
        return code;
    if (wt_model_merge(folder, names, given ? weights : NULL, count, out, &err) < 0)
        return fail_on_model(cli, &err);
    wt__cli_note(cli, "%zu models were merged in %s.", count, out);
    return END_DONE;
}

static int quantize_model(struct cli *cli, const char *folder)
{
    const struct arguments *a = &cli->arguments;
    const char *out = wt__option_text(cli, OPT_OUT);
    wt_error err;
    if (a->word_count != 2)
        return wt__cli_usage(cli, "`model quantize` takes one model");
    if (!out)
        return wt__cli_usage(cli, "missing --out FOLDER, the folder of the new model");
    if (wt_model_quantize(folder, a->words[1], wt__option_text(cli, OPT_PRECISION), out, &err) < 0)
        return fail_on_model(cli, &err);
    wt__cli_note(cli, "%s was quantized in %s.", a->words[1], out);
    return END_DONE;
}

/* Rejects options of other actions, and too many names. */
static int check_model_words(struct cli *cli, const char *action)
{
    static const struct {
        enum option_id option;
        const char *name, *actions;
    } rows[] = {
        {OPT_WEIGHT, "weight", "merge"}, {OPT_PRECISION, "precision", "quantize"}, {OPT_OUT, "out", "merge quantize"}};
    const struct arguments *a = &cli->arguments;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__has_option(cli, rows[i].option) && !strstr(rows[i].actions, action))
            return wt__cli_usage(cli, "--%s is not an option of `model %s`", rows[i].name, action);
    if (strcmp(action, "list") == 0 && a->word_count > 1)
        return wt__cli_usage(cli, "`model list` takes no name; show one model with `model info %s`", a->words[1]);
    if (strcmp(action, "merge") != 0 && a->word_count > 2)
        return wt__cli_usage(cli, "`model %s` takes one name", action);
    return 0;
}

int wt__cmd_model(struct cli *cli)
{
    const struct arguments *a = &cli->arguments;
    const char *folder = wt__option_text(cli, OPT_MODELS);
    const char *action = a->word_count > 0 ? a->words[0] : "list";
    const char *name = a->word_count > 1 ? a->words[1] : wt_default_model(folder);
    wt_models *models = NULL;
    wt_error err;
    int code = check_model_words(cli, action);
    if (strcmp(action, "pull") == 0 && a->word_count < 2 && strcmp(name, WT_BUILT_IN_MODEL) == 0)
        name = WT_BASE_MODEL; /* the built-in model needs no download */
    if (code != 0)
        return code;
    if (strcmp(action, "merge") == 0)
        return merge_models(cli, folder);
    if (strcmp(action, "quantize") == 0)
        return quantize_model(cli, folder);
    if (strcmp(action, "pull") == 0)
        return pull_model(cli, folder, name);
    if (strcmp(action, "pack") == 0)
        return pack_model(cli, folder, name);
    bool list = strcmp(action, "list") == 0;
    int rc = list ? wt_model_list(folder, &models, &err) : wt_model_info(folder, name, &models, &err);
    code = rc < 0 ? fail_on_model(cli, &err) : print_models(cli, models);
    wt_models_free(models);
    return code;
}
