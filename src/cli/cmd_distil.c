#include <math.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"

static void json_distilled_model(struct buffer *out, const wt_distilled *made)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "path", made->path);
    wt__json_text(out, "teacher", made->teacher);
    wt__json_count(out, "tokens", made->tokens);
    wt__json_count(out, "dimension", made->dimension);
    wt__json_count(out, "bytes", made->bytes);
    wt__json_count(out, "texts", made->texts);
    wt__json_count(out, "requests", made->requests);
    wt__json_count(out, "dev_requests", made->dev_requests);
    wt__json_number(out, "cosine", made->cosine);
    wt__json_number(out, "seconds", made->seconds);
    if (made->notice)
        wt__json_text(out, "notice", made->notice);
    wt__buffer_text(out, "}\n");
}

static void text_distilled_model(const struct cli *cli, struct buffer *out, const wt_distilled *made)
{
    struct buffer line = {0};
    wt__put_grouped(&line, made->tokens);
    wt__buffer_printf(&line, " tokens of %zu dimensions, %.1f MB, of %s by ", made->dimension,
                      (double)made->bytes / 1e6, made->teacher);
    wt__put_grouped(&line, made->texts);
    wt__buffer_text(&line, " texts and ");
    wt__put_grouped(&line, made->requests);
    wt__buffer_text(&line, " requests; ");
    if (!isnan(made->cosine))
        wt__buffer_printf(&line, "mean cosine with it %.3f on dev; ", made->cosine);
    wt__put_duration(&line, made->seconds);
    wt__buffer_printf(&line, "\n%s", made->path);
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
    wt__buffer_dispose(&line);
}

static int print_distilled_model(struct cli *cli, const wt_distilled *made)
{
    struct buffer out = {0};
    if (cli->json)
        json_distilled_model(&out, made);
    else
        text_distilled_model(cli, &out, made);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (made->notice)
        wt__cli_note(cli, "Note: %s", made->notice);
    return END_DONE;
}

static int fill_distil_options(struct cli *cli, wt_distil_options *options)
{
    const uint64_t *number = cli->arguments.number;
    wt_distil_options_init(options);
    options->data = wt__option_text(cli, OPT_DATA);
    options->out = wt__option_text(cli, OPT_OUT);
    options->model = cli->arguments.words[0];
    options->models_dir = wt__option_text(cli, OPT_MODELS);
    options->cache_dir = wt__option_text(cli, OPT_CACHE);
    options->ablate = wt__option_text(cli, OPT_ABLATE);
    options->threads = (unsigned)number[OPT_THREADS];
    options->seed = number[OPT_SEED];
    options->dimension = (size_t)number[OPT_DIMENSION];
    int code = wt__cli_positive_number(cli, OPT_EPOCHS, "epochs", &options->epochs);
    if (code == 0)
        code = wt__cli_positive_number(cli, OPT_CONTRAST_EPOCHS, "contrast-epochs", &options->contrast_epochs);
    if (code == 0)
        code = wt__cli_positive_number(cli, OPT_SMOOTHING, "smoothing", &options->smoothing);
    if (code == 0)
        code = wt__cli_dense_weight(cli, &options->dense_weight, &options->brief_weight);
    if (code == 0 && !options->out)
        code = wt__cli_usage(cli, "missing --out FOLDER, the folder of the new model");
    return code;
}

int wt__cmd_distil(struct cli *cli)
{
    wt_distil_options options;
    struct progress_line line;
    wt_engine *engine = NULL;
    wt_distilled *made = NULL;
    wt_error err;
    int code = fill_distil_options(cli, &options);
    if (code == 0 && !options.data)
        code = wt__cli_open(cli, OPEN_EXISTING, options.model, &engine);
    if (code != 0)
        return code;
    options.progress = wt__progress_show;
    options.progress_context = &line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int rc = wt_distil(engine, &options, &made, &err);
    wt__progress_clear();
    if (rc == 0)
        code = print_distilled_model(cli, made);
    else if (rc == WT_ECANCELLED)
        code = wt__cli_report(cli, END_INTERRUPTED, "stopped; no model was written");
    else if (rc == WT_EEMPTY)
        code = wt__cli_report(cli, END_INPUT, "%s", err.message);
    else
        code = wt__cli_fail_input(cli, &err);
    wt_distilled_free(made);
    wt_close(engine);
    return code;
}
