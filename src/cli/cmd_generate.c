/* cmd_generate.c: `whichtool generate`: generates data with a language model. Each kind of data has its own
 * function. */
#include <string.h>

#include "cli/cli.h"

/* ---------------------------------------------------------------- results */

static void json_generated(struct buffer *out, const wt_generated *made)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "path", made->path);
    wt__json_count(out, "tools", made->tools);
    wt__json_count(out, "rows", made->rows);
    wt__json_count(out, "hard", made->hard);
    wt__json_count(out, "train", made->train);
    wt__json_count(out, "dev", made->dev);
    wt__json_count(out, "test", made->test);
    wt__json_count(out, "unanswerable", made->unanswerable);
    wt__json_count(out, "questions", made->questions);
    wt__json_count(out, "requests", made->requests);
    wt__json_count(out, "prompt_tokens", made->prompt_tokens);
    wt__json_count(out, "completion_tokens", made->completion_tokens);
    wt__json_number(out, "model_ms", made->model_ms);
    wt__json_number(out, "seconds", made->seconds);
    wt__json_text_or_null(out, "notice", made->notice);
    wt__json_text_or_null(out, "summary", made->summary);
    wt__json_raw(out, "report", made->report);
    wt__buffer_text(out, "}\n");
}

/* Appends "540 rows, 73 of them hard, from 180 tools; 812 questions to the language model (310,000 tokens), 90
 * questions in this run; 12 min 5 s", and the path on a line of its own. */
static void text_generated(const struct cli *cli, struct buffer *out, const wt_generated *made)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (made->summary)
        wt__buffer_printf(out, "%s\n", made->summary);
    wt__put_grouped(&line, made->rows);
    wt__buffer_text(&line, made->rows == 1 ? " row" : " rows");
    if (made->hard > 0) {
        wt__buffer_text(&line, ", ");
        wt__put_grouped(&line, made->hard);
        wt__buffer_text(&line, " of them hard");
    }
    if (made->tools > 0) {
        wt__buffer_text(&line, ", from ");
        wt__put_grouped(&line, made->tools);
        wt__buffer_text(&line, " tools");
    }
    if (made->train + made->dev + made->test > 0)
        wt__buffer_printf(&line, ": %zu for training, %zu for dev", made->train, made->dev);
    if (made->test > 0)
        wt__buffer_printf(&line, ", %zu for test", made->test);
    if (made->unanswerable > 0)
        wt__buffer_printf(&line, ", %zu that no tool fits", made->unanswerable);
    if (made->questions > 0) {
        wt__buffer_text(&line, "; ");
        wt__put_grouped(&line, made->questions);
        wt__buffer_text(&line, made->questions == 1 ? " question" : " questions");
        wt__buffer_text(&line, " to the language model (");
        wt__put_grouped(&line, made->prompt_tokens + made->completion_tokens);
        wt__buffer_printf(&line, " tokens), %llu questions in this run", (unsigned long long)made->requests);
    }
    wt__buffer_text(&line, "; ");
    wt__put_duration(&line, made->seconds);
    wt__buffer_printf(&line, "\n%s", made->path);
    wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed;
}

static int print_generated(struct cli *cli, const wt_generated *made)
{
    struct buffer out = {0};
    if (cli->json)
        json_generated(&out, made);
    else
        text_generated(cli, &out, made);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (made->notice)
        wt__cli_note(cli, "Note: %s", made->notice);
    return END_DONE;
}

/* ---------------------------------------------------------------- options */

enum { TOOLBANK = 1, TOOLSELECT = 2, FINE_TUNING = 4, RECTOOLS = 8, VERDICTS = 16, COMPARISON = 32, NAMES = 64 };

static int generate_toolbank(struct cli *cli);
static int generate_toolselect(struct cli *cli);
static int generate_fine_tuning(struct cli *cli);
static int generate_rectools(struct cli *cli);
static int generate_verdicts(struct cli *cli);
static int generate_comparison(struct cli *cli);
static int generate_names(struct cli *cli);

static const struct {
    const char *name;
    int kind;
    int (*run)(struct cli *cli);
} kinds[] = {
    {"toolbank", TOOLBANK, generate_toolbank},
    {"toolselect", TOOLSELECT, generate_toolselect},
    {"fine-tuning", FINE_TUNING, generate_fine_tuning},
    {"rectools", RECTOOLS, generate_rectools},
    {"verdicts", VERDICTS, generate_verdicts},
    {"comparison", COMPARISON, generate_comparison},
    {"names", NAMES, generate_names},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Options that only some generators accept. */
static const struct {
    const char *name;
    enum option_id id;
    int kinds;
} own[] = {
    {"usages", OPT_USAGES, TOOLBANK},
    {"items", OPT_ITEMS, TOOLBANK},
    {"draw", OPT_DRAW, TOOLBANK},
    {"within", OPT_WITHIN, TOOLBANK},
    {"examples", OPT_EXAMPLES, TOOLBANK},
    {"like", OPT_LIKE, TOOLBANK},
    {"one-tool", OPT_ONE_TOOL, TOOLBANK},
    {"no-polish", OPT_NO_POLISH, TOOLBANK},
    {"unanswerable", OPT_UNANSWERABLE, TOOLBANK},
    {"round-trip", OPT_ROUND_TRIP, TOOLBANK},
    {"recipe", OPT_RECIPE, TOOLBANK},
    {"trial", OPT_TRIAL, TOOLBANK},
    {"trial-limit", OPT_TRIAL_LIMIT, TOOLBANK},
    {"test", OPT_TEST, TOOLBANK | RECTOOLS},
    {"tools", OPT_TOOLS, TOOLSELECT},
    {"instructions", OPT_INSTRUCTIONS, TOOLSELECT},
    {"from-catalogue", OPT_FROM_CATALOGUE, TOOLSELECT},
    {"duplicate", OPT_DUPLICATE, TOOLBANK | TOOLSELECT | RECTOOLS},
    {"related", OPT_RELATED, TOOLSELECT | FINE_TUNING},
    {"choices", OPT_CHOICES, TOOLSELECT | FINE_TUNING},
    {"hard", OPT_HARD, TOOLSELECT | FINE_TUNING},
    {"dev", OPT_DEV, TOOLBANK | FINE_TUNING | RECTOOLS},
    {"from", OPT_FROM, FINE_TUNING},
    {"notes", OPT_NOTES, FINE_TUNING},
    {"layout", OPT_LAYOUT, FINE_TUNING},
    {"note-words", OPT_NOTE_WORDS, FINE_TUNING},
    {"right-first", OPT_RIGHT_FIRST, FINE_TUNING},
    {"limit", OPT_LIMIT, FINE_TUNING | VERDICTS | COMPARISON},
    {"temperature", OPT_TEMPERATURE, TOOLBANK | TOOLSELECT | FINE_TUNING | RECTOOLS | NAMES},
    {"smallest", OPT_SMALLEST, RECTOOLS},
    {"largest", OPT_LARGEST, RECTOOLS},
    {"combinations", OPT_COMBINATIONS, RECTOOLS},
    {"requests", OPT_REQUESTS, RECTOOLS},
    {"retries", OPT_RETRIES, RECTOOLS},
    {"keep-all", OPT_KEEP_ALL, RECTOOLS},
    {"data", OPT_DATA, VERDICTS},
    {"split", OPT_SPLIT, VERDICTS},
    {"first", OPT_FIRST, COMPARISON},
    {"second", OPT_SECOND, COMPARISON},
    {"labels", OPT_LABELS, COMPARISON},
};

static int check_generator_options(const struct cli *cli, int kind)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!wt__has_option(cli, own[i].id) || (own[i].kinds & kind))
            continue;
        WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
        for (size_t k = 0; k < KINDS; k++)
            if (own[i].kinds & kinds[k].kind)
                wt__buffer_printf(&names, "%s`generate %s`", names.len ? " and " : "", kinds[k].name);
        return wt__cli_usage(cli, "--%s belongs to %s", own[i].name, names.failed ? "other generators" : names.ptr);
    }
    return wt__option_text(cli, OPT_OUT) ? 0 : wt__cli_usage(cli, "missing --out FOLDER, the folder of the data");
}

/* Reads a share. Changes an explicit 0 to -1, because 0 selects the default in the library. */
static int read_share_or_zero(struct cli *cli, enum option_id id, const char *name, double *out)
{
    WT_TRY(wt__read_share(cli, id, name, out));
    if (wt__has_option(cli, id) && *out == 0)
        *out = -1;
    return 0;
}

/* One run of a generator. */
struct generator_run {
    struct progress_line line;
    wt_engine *engine;
    wt_generated *made;
    wt_error err;
};

enum store_use { USE_STORE, USE_PRIVATE_STORE, USE_NO_ENGINE };

/* Opens the engine that `of` selects and starts the progress line. USE_PRIVATE_STORE is for generators without a
 * catalogue. progress, context: fields of the generator's options to set. Returns 0, or an exit code after reporting
 * the error. */
static int begin_generator(struct cli *cli, enum store_use of, struct generator_run *run, wt_progress_fn *progress,
                           void **context)
{
    *run = (struct generator_run){.engine = NULL};
    *progress = wt__progress_show;
    *context = &run->line;
    if (of == USE_PRIVATE_STORE)
        cli->store = ":memory:";
    if (of != USE_NO_ENGINE)
        WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &run->engine));
    wt__watch_interrupt();
    wt__progress_begin(&run->line, cli);
    return 0;
}

static int report_generator_end(struct cli *cli, int rc, const wt_generated *made, const wt_error *err)
{
    wt__progress_clear();
    if (rc == 0)
        return print_generated(cli, made);
    if (rc == WT_ECANCELLED)
        return wt__cli_report(cli, END_INTERRUPTED,
                              "stopped; the answers so far are kept in %s, and the same command resumes",
                              wt__option_text(cli, OPT_OUT));
    int code = rc == WT_EEMPTY ? wt__cli_report(cli, END_INPUT, "%s", err->message) : wt__cli_fail_input(cli, err);
    if (rc == WT_ENETWORK)
        wt__cli_note(cli, "The answers so far are kept in %s, and the same command resumes.",
                     wt__option_text(cli, OPT_OUT));
    return code;
}

/* Reports the result, and frees it and the engine. Returns the exit code. */
static int finish_generator(struct cli *cli, struct generator_run *run, int rc)
{
    int code = report_generator_end(cli, rc, run->made, &run->err);
    wt_generated_free(run->made);
    wt_close(run->engine);
    return code;
}

static int generate_toolselect(struct cli *cli)
{
    const uint64_t *number = cli->arguments.number;
    wt_toolselect_options options;
    struct generator_run run;
    wt_toolselect_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.tools = (size_t)number[OPT_TOOLS];
    options.related = (size_t)number[OPT_RELATED];
    options.instructions = (size_t)number[OPT_INSTRUCTIONS];
    options.choices = (size_t)number[OPT_CHOICES];
    options.seed = number[OPT_SEED];
    options.from_catalogue = wt__has_option(cli, OPT_FROM_CATALOGUE);
    WT_TRY(read_share_or_zero(cli, OPT_HARD, "hard", &options.hard));
    WT_TRY(wt__cli_positive_number(cli, OPT_DUPLICATE, "duplicate", &options.duplicate));
    WT_TRY(wt__cli_positive_number(cli, OPT_TEMPERATURE, "temperature", &options.temperature));
    WT_TRY(begin_generator(cli, options.from_catalogue ? USE_STORE : USE_PRIVATE_STORE, &run, &options.progress,
                           &options.progress_context));
    return finish_generator(cli, &run, wt_generate_toolselect(run.engine, &options, &run.made, &run.err));
}

static int generate_fine_tuning(struct cli *cli)
{
    const uint64_t *number = cli->arguments.number;
    wt_fine_tuning_options options;
    struct generator_run run;
    wt_fine_tuning_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.from = wt__option_text(cli, OPT_FROM);
    options.related = (size_t)number[OPT_RELATED];
    options.choices = (size_t)number[OPT_CHOICES];
    options.limit = (size_t)number[OPT_LIMIT];
    options.seed = number[OPT_SEED];
    options.notes = wt__has_option(cli, OPT_NOTES);
    options.layout = wt__option_text(cli, OPT_LAYOUT);
    options.note_words = (size_t)number[OPT_NOTE_WORDS];
    options.right_first = wt__has_option(cli, OPT_RIGHT_FIRST);
    WT_TRY(read_share_or_zero(cli, OPT_HARD, "hard", &options.hard));
    WT_TRY(read_share_or_zero(cli, OPT_DEV, "dev", &options.dev));
    WT_TRY(wt__cli_positive_number(cli, OPT_TEMPERATURE, "temperature", &options.temperature));
    WT_TRY(begin_generator(cli, options.from ? USE_NO_ENGINE : USE_STORE, &run, &options.progress,
                           &options.progress_context));
    return finish_generator(cli, &run, wt_generate_fine_tuning(run.engine, &options, &run.made, &run.err));
}

/* Reads the options of toolbank. --trial 0 sets a trial limit of 1, with which every model passes the trial. */
static int read_toolbank(struct cli *cli, wt_toolbank_options *options)
{
    const uint64_t *number = cli->arguments.number;
    wt_toolbank_options_init(options);
    options->out = wt__option_text(cli, OPT_OUT);
    options->items = (size_t)number[OPT_ITEMS];
    options->usages = (size_t)number[OPT_USAGES];
    options->examples = (size_t)number[OPT_EXAMPLES];
    options->draw = wt__option_text(cli, OPT_DRAW);
    options->within = wt__option_text(cli, OPT_WITHIN);
    options->like = wt__option_text(cli, OPT_LIKE);
    options->one_tool = wt__has_option(cli, OPT_ONE_TOOL);
    options->no_polish = wt__has_option(cli, OPT_NO_POLISH);
    options->round_trip = (size_t)number[OPT_ROUND_TRIP];
    options->recipe = wt__option_text(cli, OPT_RECIPE);
    options->trial = (size_t)number[OPT_TRIAL];
    options->seed = number[OPT_SEED];
    const struct {
        enum option_id id;
        const char *name;
        double *out;
    } shares[] = {
        {OPT_UNANSWERABLE, "unanswerable", &options->unanswerable},
        {OPT_DEV, "dev", &options->dev},
        {OPT_TEST, "test", &options->test},
        {OPT_TRIAL_LIMIT, "trial-limit", &options->trial_limit},
    };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        WT_TRY(read_share_or_zero(cli, shares[i].id, shares[i].name, shares[i].out));
    WT_TRY(wt__cli_positive_number(cli, OPT_DUPLICATE, "duplicate", &options->duplicate));
    WT_TRY(wt__cli_positive_number(cli, OPT_TEMPERATURE, "temperature", &options->temperature));
    if (wt__has_option(cli, OPT_TRIAL) && options->trial == 0)
        options->trial_limit = 1;
    return 0;
}

static int generate_toolbank(struct cli *cli)
{
    wt_toolbank_options options;
    struct generator_run run;
    WT_TRY(read_toolbank(cli, &options));
    WT_TRY(begin_generator(cli, USE_STORE, &run, &options.progress, &options.progress_context));
    return finish_generator(cli, &run, wt_generate_toolbank(run.engine, &options, &run.made, &run.err));
}

static int generate_rectools(struct cli *cli)
{
    const uint64_t *number = cli->arguments.number;
    wt_rectools_options options;
    struct generator_run run;
    wt_rectools_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.smallest = (size_t)number[OPT_SMALLEST];
    options.largest = (size_t)number[OPT_LARGEST];
    options.combinations = (size_t)number[OPT_COMBINATIONS];
    options.requests = (size_t)number[OPT_REQUESTS];
    options.retries = (size_t)number[OPT_RETRIES];
    options.keep_all = wt__has_option(cli, OPT_KEEP_ALL);
    options.seed = number[OPT_SEED];
    WT_TRY(read_share_or_zero(cli, OPT_DEV, "dev", &options.dev));
    WT_TRY(read_share_or_zero(cli, OPT_TEST, "test", &options.test));
    WT_TRY(wt__cli_positive_number(cli, OPT_DUPLICATE, "duplicate", &options.duplicate));
    WT_TRY(wt__cli_positive_number(cli, OPT_TEMPERATURE, "temperature", &options.temperature));
    WT_TRY(begin_generator(cli, USE_STORE, &run, &options.progress, &options.progress_context));
    return finish_generator(cli, &run, wt_generate_rectools(run.engine, &options, &run.made, &run.err));
}

static int generate_verdicts(struct cli *cli)
{
    wt_verdicts_options options;
    struct generator_run run;
    wt_verdicts_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.data = wt__option_text(cli, OPT_DATA);
    options.split = wt__option_text(cli, OPT_SPLIT);
    options.limit = (size_t)cli->arguments.number[OPT_LIMIT];
    options.seed = cli->arguments.number[OPT_SEED];
    if (!options.data)
        return wt__cli_usage(cli, "missing --data FOLDER, the data set");
    WT_TRY(begin_generator(cli, USE_PRIVATE_STORE, &run, &options.progress, &options.progress_context));
    return finish_generator(cli, &run, wt_generate_verdicts(run.engine, &options, &run.made, &run.err));
}

static int generate_comparison(struct cli *cli)
{
    wt_comparison_options options;
    struct generator_run run;
    wt_comparison_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.first = wt__option_text(cli, OPT_FIRST);
    options.second = wt__option_text(cli, OPT_SECOND);
    options.labels = wt__option_text(cli, OPT_LABELS);
    options.limit = (size_t)cli->arguments.number[OPT_LIMIT];
    options.seed = cli->arguments.number[OPT_SEED];
    if (!options.first)
        return wt__cli_usage(cli, "missing --first FOLDER, the data set");
    WT_TRY(begin_generator(cli, USE_PRIVATE_STORE, &run, &options.progress, &options.progress_context));
    return finish_generator(cli, &run, wt_generate_comparison(run.engine, &options, &run.made, &run.err));
}

static int generate_names(struct cli *cli)
{
    wt_names_options options;
    struct generator_run run;
    wt_names_options_init(&options);
    options.out = wt__option_text(cli, OPT_OUT);
    options.seed = cli->arguments.number[OPT_SEED];
    WT_TRY(wt__cli_positive_number(cli, OPT_TEMPERATURE, "temperature", &options.temperature));
    WT_TRY(begin_generator(cli, USE_STORE, &run, &options.progress, &options.progress_context));
    return finish_generator(cli, &run, wt_generate_names(run.engine, &options, &run.made, &run.err));
}

int wt__cmd_generate(struct cli *cli)
{
    size_t k = 0;
    while (k + 1 < KINDS && strcmp(cli->arguments.words[0], kinds[k].name) != 0)
        k++;
    WT_TRY(check_generator_options(cli, kinds[k].kind));
    return kinds[k].run(cli);
}
