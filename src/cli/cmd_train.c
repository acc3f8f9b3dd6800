/* cmd_train.c: `whichtool train` and `distil`: trains or distils models, and prints the progress and the results. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- progress of training */

/* State of the progress callback of wt_train. */
struct training_line {
    struct progress_line line;
    const struct cli *cli;
    const wt_measurement *measured; /* last reported measurement; NULL before the first */
    double best;                    /* best figure of the lesson so far */
    const char *lesson;             /* lesson of `measured` and `best` */
};

/* Appends "encoder: training 120 of 236 (51 %), loss 1.204, 2,310 tokens/s, 4 min 10 s left, dev 71.3 %". */
static void describe_training(struct buffer *out, const wt_train_progress *p)
{
    if (*p->lesson)
        wt__buffer_printf(out, "%s: ", p->lesson);
    wt__buffer_text(out, p->phase);
    if (p->total) {
        wt__buffer_char(out, ' ');
        wt__put_grouped(out, p->done);
        wt__buffer_text(out, " of ");
        wt__put_grouped(out, p->total);
        wt__buffer_printf(out, " (%.0f %%)", 100.0 * (double)p->done / (double)p->total);
    }
    if (!isnan(p->loss))
        wt__buffer_printf(out, ", loss %.3f", p->loss);
    if (!isnan(p->tokens_per_second)) {
        wt__buffer_text(out, ", ");
        wt__put_grouped(out, (uint64_t)p->tokens_per_second);
        wt__buffer_text(out, " tokens/s");
    }
    if (!isnan(p->seconds_left)) {
        wt__buffer_text(out, ", ");
        wt__put_duration(out, p->seconds_left);
        wt__buffer_text(out, " left");
    }
    if (!isnan(p->best))
        wt__buffer_printf(out, ", dev %.1f %%", 100 * p->best);
}

/* Prints a permanent line for each new measurement: "encoder: dev 57.5 % at step 9 of 15, not above 58.0 %; connectors
 * 50.1, nl2bash 63.0" */
static void note_measured(struct training_line *training, const wt_train_progress *p)
{
    const wt_measurement *m = p->measured;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (!m || m == training->measured || isnan(m->figure))
        return;
    bool first = !training->measured || training->lesson != p->lesson;
    training->measured = m;
    training->lesson = p->lesson;
    wt__buffer_printf(&line, "%s: dev %.1f %%", p->lesson, 100 * m->figure);
    if (m->step > 0)
        wt__buffer_printf(&line, " at step %llu", (unsigned long long)m->step);
    if (!first && m->figure <= training->best)
        wt__buffer_printf(&line, ", not above %.1f %%", 100 * training->best);
    for (size_t s = 0; m->len > 1 && s < m->len; s++)
        wt__buffer_printf(&line, "%s%s %.1f", s ? ", " : "; ", m->sets[s].set, 100 * m->sets[s].value);
    training->best = first ? m->figure : fmax(training->best, m->figure);
    if (!line.failed)
        wt__cli_note(training->cli, "%s", line.ptr);
}

static int show_training(void *context, const wt_train_progress *p)
{
    struct training_line *training = context;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    note_measured(training, p);
    describe_training(&text, p);
    wt__progress_draw(&training->line, &text);
    return wt__interrupted();
}

/* ---------------------------------------------------------------- results */

/* Appends "measurements":[{"step":0,"figure":0.5,"sets":[{"set":"nl2bash","figure":0.5},...]},...] */
static void json_measurements(struct buffer *out, const wt_trained *model)
{
    wt__json_key(out, "measurements");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < model->measurement_count; i++) {
        const wt_measurement *m = model->measurements[i];
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_count(out, "step", m->step);
        wt__json_number(out, "figure", m->figure);
        wt__json_key(out, "sets");
        wt__buffer_char(out, '[');
        for (size_t s = 0; s < m->len; s++) {
            wt__buffer_text(out, s ? ",{" : "{");
            wt__json_text(out, "set", m->sets[s].set);
            wt__json_number(out, "figure", m->sets[s].value);
            wt__buffer_char(out, '}');
        }
        wt__buffer_text(out, "]}");
    }
    wt__buffer_char(out, ']');
}

static void json_trained_model(struct buffer *out, const wt_trained *model)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "model", model->lesson);
    wt__json_text(out, "path", model->path);
    wt__json_text(out, "figure", model->figure);
    wt__json_number(out, "before", model->before);
    wt__json_number(out, "after", model->after);
    wt__json_count(out, "steps", model->steps);
    wt__json_number(out, "epochs", model->epochs);
    wt__json_number(out, "seconds", model->seconds);
    wt__json_raw(out, "stopped_early", model->stopped_early ? "true" : "false");
    json_measurements(out, model);
    if (model->notice)
        wt__json_text(out, "notice", model->notice);
    wt__buffer_text(out, "}\n");
}

static void text_trained_model(const struct cli *cli, struct buffer *out, const wt_trained *model)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__buffer_printf(&line, "%s: ", model->lesson);
    if (!isnan(model->after))
        wt__buffer_printf(&line, "%s on dev ", model->figure);
    if (!isnan(model->after) && !isnan(model->before))
        wt__buffer_printf(&line, "from %.1f to ", 100 * model->before);
    if (!isnan(model->after))
        wt__buffer_printf(&line, "%.1f %%; ", 100 * model->after);
    if (model->steps > 0) {
        wt__put_grouped(&line, model->steps);
        wt__buffer_printf(&line, " steps, %.1f epochs, ", model->epochs);
    }
    wt__put_duration(&line, model->seconds);
    wt__buffer_printf(&line, "%s\n%s", model->stopped_early ? "; stopped early" : "",
                      model->path[0] ? model->path : "no model was written");
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
}

static int print_train_report(struct cli *cli, const wt_train_report *report)
{
    struct buffer out = {0};
    for (size_t i = 0; i < report->len; i++) {
        if (cli->json)
            json_trained_model(&out, report->items[i]);
        else
            text_trained_model(cli, &out, report->items[i]);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    for (size_t i = 0; i < report->len; i++)
        if (report->items[i]->notice)
            wt__cli_note(cli, "Note: %s: %s", report->items[i]->lesson, report->items[i]->notice);
    return END_DONE;
}

/* Notes the recipe that find uses now. */
static void note_recipe(struct cli *cli, wt_engine *engine)
{
    wt_status *status = NULL;
    if (engine && wt_get_status(engine, &status, NULL) == 0)
        wt__cli_note(cli, "`whichtool find` now uses %s; `whichtool status` explains why.", status->recipe);
    wt_status_free(status);
}

/* ---------------------------------------------------------------- train */

static int read_train_options(struct cli *cli, wt_train_options *options)
{
    const uint64_t *number = cli->arguments.number;
    const char *keep = wt__option_text(cli, OPT_KEEP);
    wt_train_options_init(options);
    options->data = wt__option_text(cli, OPT_DATA);
    options->out = wt__option_text(cli, OPT_OUT);
    options->model = wt__option_text(cli, OPT_MODEL);
    options->models_dir = wt__option_text(cli, OPT_MODELS);
    options->cache_dir = wt__option_text(cli, OPT_CACHE);
    options->loss = wt__option_text(cli, OPT_LOSS);
    options->precision = wt__option_text(cli, OPT_PRECISION);
    options->fields = wt__option_text(cli, OPT_FIELDS);
    options->most_of = wt__option_text(cli, OPT_MOST);
    options->threads = (unsigned)number[OPT_THREADS];
    options->seed = number[OPT_SEED];
    options->batch = (size_t)number[OPT_BATCH];
    options->accumulate = (size_t)number[OPT_ACCUMULATE];
    options->freeze = (size_t)number[OPT_FREEZE];
    options->candidates = (size_t)number[OPT_CANDIDATES];
    options->negatives = (size_t)number[OPT_NEGATIVES];
    options->siblings = (size_t)number[OPT_SIBLINGS];
    options->layers = (size_t)number[OPT_LAYERS];
    options->synthetic = (size_t)number[OPT_SYNTHETIC];
    options->memory = number[OPT_MEMORY] * 1000000;
    options->dev = wt__option_text(cli, OPT_DEV);
    options->dev_tools = (size_t)number[OPT_DEV_TOOLS];
    options->teacher = wt__option_text(cli, OPT_TEACHER);
    options->keep_last = keep && strcmp(keep, "last") == 0;
    options->resume = wt__has_option(cli, OPT_RESUME);
    WT_TRY(wt__cli_positive_number(cli, OPT_EPOCHS, "epochs", &options->epochs));
    WT_TRY(wt__cli_positive_number(cli, OPT_LR, "lr", &options->rate));
    WT_TRY(wt__cli_positive_number(cli, OPT_JOIN, "join", &options->join));
    if (options->data && !options->out)
        return wt__cli_usage(cli, "--data needs --out FOLDER, the folder of the models");
    return 0;
}

int wt__cmd_train(struct cli *cli)
{
    wt_train_options options;
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_train_report *report = NULL;
    wt_error err;
    int code = 0;
    WT_TRY(read_train_options(cli, &options));
    if (!options.data)
        WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    struct training_line training = {.cli = cli};
    options.progress = show_training;
    options.progress_context = &training;
    wt__watch_interrupt();
    wt__progress_begin(&training.line, cli);
    int rc = wt_train(engine, cli->arguments.words[0], &options, &report, &err);
    wt__progress_clear();
    if (report)
        code = print_train_report(cli, report);
    if (rc == WT_ECANCELLED)
        code = wt__cli_report(cli, END_INTERRUPTED, "%s; the best model so far is kept, and --resume continues",
                              err.message);
    else if (rc == WT_EEMPTY)
        code = wt__cli_report(cli, END_INPUT, "%s", err.message);
    else if (rc < 0)
        code = wt__cli_fail_input(cli, &err);
    else if (!options.out)
        note_recipe(cli, engine);
    wt_train_report_free(report);
    return code;
}

/* ---------------------------------------------------------------- distil */

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
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__put_grouped(&line, made->tokens);
    wt__buffer_printf(&line, " tokens of %zu dimensions, %.1f MB, distilled from %s with ", made->dimension,
                      (double)made->bytes / 1e6, made->teacher);
    wt__put_grouped(&line, made->texts);
    wt__buffer_text(&line, " texts and ");
    wt__put_grouped(&line, made->requests);
    wt__buffer_text(&line, " requests; ");
    if (!isnan(made->cosine))
        wt__buffer_printf(&line, "mean cosine with the teacher %.3f on dev; ", made->cosine);
    wt__put_duration(&line, made->seconds);
    wt__buffer_printf(&line, "\n%s", made->path);
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
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
    WT_TRY(wt__read_experiment(cli, &options->experiment));
    options->threads = (unsigned)number[OPT_THREADS];
    options->seed = number[OPT_SEED];
    options->dimension = (size_t)number[OPT_DIMENSION];
    WT_TRY(wt__cli_positive_number(cli, OPT_EPOCHS, "epochs", &options->epochs));
    WT_TRY(wt__cli_positive_number(cli, OPT_CONTRAST_EPOCHS, "contrast-epochs", &options->contrast_epochs));
    WT_TRY(wt__cli_positive_number(cli, OPT_SMOOTHING, "smoothing", &options->smoothing));
    if (!options->out)
        return wt__cli_usage(cli, "missing --out FOLDER, the folder of the new model");
    return 0;
}

int wt__cmd_distil(struct cli *cli)
{
    wt_distil_options options;
    struct progress_line line;
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_distilled *made = NULL;
    wt_error err;
    int code = 0;
    WT_TRY(fill_distil_options(cli, &options));
    if (!options.data)
        WT_TRY(wt__cli_open(cli, OPEN_EXISTING, options.model, &engine));
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
    return code;
}
