/* cmd_eval.c: `whichtool eval`: measures recipes on a data set and prints their metrics as a table or as JSON. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"

enum { LABEL = 20, COLUMN = 9 }; /* widths of the metric's name and of each recipe in the table */

/* Reads --k, such as "1,3,5". */
static int read_cutoffs(struct cli *cli, size_t *cutoffs)
{
    const char *text = wt__option_text(cli, OPT_K), *at = text;
    for (size_t i = 0; at; i++) {
        char *end = NULL;
        unsigned long k = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (k < 1 || k > WT_MAX_K || (*end && *end != ','))
            return wt__cli_usage(cli, "--k takes numbers from 1 to %d separated by commas, not \"%s\"", WT_MAX_K, text);
        if (i == WT_MAX_CUTOFFS)
            return wt__cli_usage(cli, "--k takes at most %d numbers", WT_MAX_CUTOFFS);
        cutoffs[i] = k;
        at = *end ? end + 1 : NULL;
    }
    return 0;
}

static int check_recipe_names(struct cli *cli)
{
    for (const char *at = wt__option_text(cli, OPT_RECIPE); at;) {
        size_t len = strcspn(at, ",");
        if (!wt__recipe_known(at, len, NULL))
            return wt__recipe_unknown(cli, at, len);
        at = at[len] ? at + len + 1 : NULL;
    }
    return 0;
}

/* Reads the options of the recipe ptr: its base retriever and its language model or oracle. */
static int read_eval_ptr_options(struct cli *cli, wt_eval_options *options)
{
    const char *base_retriever = wt__option_text(cli, OPT_BASE_RETRIEVER), *rate = wt__option_text(cli, OPT_ORACLE);
    char *end = NULL;
    if (base_retriever && !wt__recipe_known(base_retriever, strlen(base_retriever), NULL))
        return wt__recipe_unknown(cli, base_retriever, strlen(base_retriever));
    options->base_retriever = base_retriever;
    WT_TRY(wt__read_experiment(cli, &options->experiment));
    options->chat_url = wt__option_text(cli, OPT_CHAT_URL);
    options->chat_model = wt__option_text(cli, OPT_CHAT_MODEL);
    options->record_path = wt__option_text(cli, OPT_RECORD);
    options->replay_path = wt__option_text(cli, OPT_REPLAY);
    double error = rate ? strtod(rate, &end) : 0;
    if (!rate || (end != rate && !*end && error >= 0 && error <= 1))
        return 0;
    return wt__cli_usage(cli, "--oracle takes a number from 0 to 1, not \"%s\"", rate);
}

static void json_eval_row(struct buffer *out, const wt_eval_report *report, const wt_eval_row *row)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "set", row->set);
    wt__json_text(out, "split", row->split);
    wt__json_text(out, "recipe", row->recipe);
    wt__json_count(out, "tools", row->tools);
    wt__json_count(out, "queries", row->queries);
    wt__json_key(out, "metrics");
    wt__buffer_char(out, '{');
    for (size_t i = 0; i < row->metric_count; i++)
        wt__json_number(out, row->metrics[i]->name, row->metrics[i]->value);
    wt__buffer_char(out, '}');
    wt__json_key(out, "latency_ms");
    wt__buffer_char(out, '{');
    wt__json_number(out, "p50", row->p50_ms);
    wt__json_number(out, "p95", row->p95_ms);
    wt__json_number(out, "p99", row->p99_ms);
    wt__buffer_char(out, '}');
    if (!isnan(row->kind_accuracy)) {
        wt__json_key(out, "kind");
        wt__buffer_char(out, '{');
        wt__json_number(out, "accuracy", row->kind_accuracy);
        wt__json_number(out, "brier", row->kind_brier);
        wt__buffer_char(out, '}');
    }
    wt__json_raw(out, "settings", row->settings);
    if (row->notice)
        wt__json_text(out, "notice", row->notice);
    const char *against = NULL;
    for (size_t i = 0; i < report->comparison_count; i++) {
        const wt_eval_comparison *c = report->comparisons[i];
        if (strcmp(c->b, row->recipe) != 0)
            continue;
        if (!against) {
            against = c->a;
            wt__json_key(out, "against");
            wt__buffer_char(out, '{');
            wt__json_text(out, "recipe", against);
        }
        wt__json_key(out, c->metric);
        wt__buffer_char(out, '{');
        wt__json_number(out, "difference", c->difference);
        wt__json_number(out, "low", c->low);
        wt__json_number(out, "high", c->high);
        wt__json_number(out, "p", c->p);
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, against ? "}}\n" : "}\n");
}

/* Returns the row with the most metrics, whose names label the table. */
static const wt_eval_row *find_fullest_row(const wt_eval_report *report)
{
    const wt_eval_row *row = report->rows[0];
    for (size_t r = 1; r < report->row_count; r++)
        row = report->rows[r]->metric_count > row->metric_count ? report->rows[r] : row;
    return row;
}

/* Prints a metric: shares in percent, size_diff and set_size as numbers of tools. */
static void put_metric_cell(struct buffer *out, const wt_eval_row *row, size_t metric, size_t width)
{
    if (metric >= row->metric_count) {
        wt__buffer_printf(out, "%*s", (int)width, "-");
        return;
    }
    const wt_metric *m = row->metrics[metric];
    bool tools = strcmp(m->name, "size_diff") == 0 || strcmp(m->name, "set_size") == 0;
    wt__buffer_printf(out, "%*.*f", (int)width, tools ? 2 : 1, tools ? m->value : 100 * m->value);
}

/* Prints one line of the table: a label, then the cells of the recipes first to last - 1. */
static void put_eval_line(struct buffer *out, const wt_eval_report *report, size_t first, size_t last, size_t width,
                          size_t metric)
{
    static const char *const times[] = {"p50 ms", "p95 ms", "p99 ms"};
    const wt_eval_row *named = find_fullest_row(report);
    size_t metrics = named->metric_count;
    wt__buffer_printf(out, "%-*s", LABEL, metric < metrics ? named->metrics[metric]->name : times[metric - metrics]);
    for (size_t r = first; r < last; r++) {
        const wt_eval_row *row = report->rows[r];
        const double milliseconds[] = {row->p50_ms, row->p95_ms, row->p99_ms};
        if (metric < metrics)
            put_metric_cell(out, row, metric, width);
        else if (isnan(milliseconds[metric - metrics]))
            wt__buffer_printf(out, "%*s", (int)width, "-");
        else
            wt__buffer_printf(out, "%*.2f", (int)width, milliseconds[metric - metrics]);
    }
    wt__buffer_char(out, '\n');
}

/* Prints metrics as lines and recipes as columns, in several tables if the terminal is too narrow. */
static void print_eval_table(const struct cli *cli, struct buffer *out, const wt_eval_report *report)
{
    size_t width = COLUMN;
    for (size_t r = 0; r < report->row_count; r++)
        width = strlen(report->rows[r]->recipe) + 2 > width ? strlen(report->rows[r]->recipe) + 2 : width;
    size_t beside = cli->width > LABEL + width ? (cli->width - LABEL) / width : cli->width ? 1 : report->row_count;
    const wt_eval_row *head = report->rows[0];
    WT_CLEANUP(wt__buffer_dispose) struct buffer title = {0};
    wt__buffer_printf(&title, "%s, %s: ", head->set, head->split);
    wt__put_grouped(&title, head->queries);
    wt__buffer_text(&title, " queries, ");
    wt__put_grouped(&title, head->tools);
    wt__buffer_text(&title, " tools; percent");
    wt__text_wrap(out, wt__buffer_view(&title), 0, cli->width);
    wt__buffer_char(out, '\n');
    for (size_t first = 0; first < report->row_count; first += beside) {
        size_t last = first + beside < report->row_count ? first + beside : report->row_count;
        wt__buffer_printf(out, "%s%-*s", first ? "\n" : "", LABEL, "");
        wt__style_begin(out, cli->color_out, STYLE_BOLD);
        for (size_t r = first; r < last; r++)
            wt__buffer_printf(out, "%*s", (int)width, report->rows[r]->recipe);
        wt__style_end(out, cli->color_out);
        wt__buffer_char(out, '\n');
        for (size_t metric = 0; metric < find_fullest_row(report)->metric_count + 3; metric++)
            put_eval_line(out, report, first, last, width, metric);
    }
    for (size_t i = 0; i < report->comparison_count; i++) {
        const wt_eval_comparison *c = report->comparisons[i];
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        wt__buffer_printf(&line, "%s against %s, %s: %+.1f (95 %% interval %+.1f to %+.1f), p %.4f", c->b, c->a,
                          c->metric, 100 * c->difference, 100 * c->low, 100 * c->high, c->p);
        wt__buffer_text(out, i ? "" : "\n");
        wt__text_wrap(out, wt__buffer_view(&line), 2, cli->width);
        wt__buffer_char(out, '\n');
    }
}

static int print_eval_report(struct cli *cli, const wt_eval_report *report)
{
    struct buffer out = {0};
    for (size_t i = 0; i < report->row_count && cli->json; i++)
        json_eval_row(&out, report, report->rows[i]);
    if (!cli->json && report->row_count > 0)
        print_eval_table(cli, &out, report);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    for (size_t i = 0; i < report->row_count; i++)
        if (report->rows[i]->notice && (i == 0 || !report->rows[i - 1]->notice ||
                                        strcmp(report->rows[i]->notice, report->rows[i - 1]->notice) != 0))
            wt__cli_note(cli, "Note: %s", report->rows[i]->notice);
    return END_DONE;
}

int wt__cmd_eval(struct cli *cli)
{
    wt_eval_options options;
    struct progress_line line;
    wt_eval_options_init(&options);
    int code = 0;
    WT_TRY(read_cutoffs(cli, options.cutoffs));
    WT_TRY(check_recipe_names(cli));
    WT_TRY(read_eval_ptr_options(cli, &options));
    options.split = wt__option_text(cli, OPT_SPLIT);
    options.split_by = wt__option_text(cli, OPT_SPLIT_BY);
    options.recipes = wt__option_text(cli, OPT_RECIPE);
    options.model = wt__option_text(cli, OPT_MODEL);
    options.models_dir = wt__option_text(cli, OPT_MODELS);
    options.cache_dir = wt__option_text(cli, OPT_CACHE);
    options.run_path = wt__option_text(cli, OPT_RUN);
    options.other_runs = wt__option_text(cli, OPT_WITH_RUN);
    options.qrels_path = wt__option_text(cli, OPT_QRELS);
    options.html_path = wt__option_text(cli, OPT_HTML);
    options.out_of_domain = wt__option_text(cli, OPT_OUT_OF_DOMAIN);
    options.trained = wt__option_text(cli, OPT_TRAINED);
    options.usages = (size_t)cli->arguments.number[OPT_USAGES];
    options.max_queries = (size_t)cli->arguments.number[OPT_LIMIT];
    options.bootstrap = (size_t)cli->arguments.number[OPT_BOOTSTRAP];
    options.timed = (size_t)cli->arguments.number[OPT_TIMED];
    options.seed = cli->arguments.number[OPT_SEED];
    options.max_per_provider = (size_t)cli->arguments.number[OPT_MAX_PER_PROVIDER];
    options.copies = wt__has_option(cli, OPT_COPIES);
    options.as_typed = wt__has_option(cli, OPT_AS_TYPED);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    wt_eval_report *report = NULL;
    wt_error err;
    int rc = wt_eval(cli->arguments.words[0], &options, &report, &err);
    wt__progress_clear();
    if (rc == WT_ECANCELLED)
        code = wt__cli_report(cli, END_INTERRUPTED,
                              "stopped; the vectors and models computed so far are cached for the next evaluation");
    else if (rc < 0)
        code = wt__cli_fail_input(cli, &err);
    else
        code = print_eval_report(cli, report);
    wt_eval_report_free(report);
    return code;
}
