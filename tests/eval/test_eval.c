/* Tests wt_eval through the public API, on a data set of four tools with an unambiguous ranking by words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "changes/corpus.h"

static char root[] = "/tmp/whichtool-eval-XXXXXX";
static char cache[64], run[64], qrels[64];

static void write_set_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(wt__file_replace(path, text, strlen(text), NULL), 0);
}

static int create_eval_set(void **state)
{
    (void)state;
    char path[128];
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/qrels", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(cache, sizeof cache, "%s/cache", root);
    snprintf(run, sizeof run, "%s/run.txt", root);
    snprintf(qrels, sizeof qrels, "%s/qrels.txt", root);
    write_set_file("corpus.jsonl", "{\"_id\": \"a 1\", \"title\": \"weather\", \"text\": \"forecast of rain\"}\n"
                                   "{\"_id\": \"b\", \"title\": \"currency\", \"text\": \"exchange of money\"}\n"
                                   "{\"_id\": \"c\", \"title\": \"restaurant\", \"text\": \"table booking\"}\n"
                                   "{\"_id\": \"d\", \"title\": \"music\", \"text\": \"songs by an artist\"}\n");
    write_set_file("queries.jsonl", "{\"_id\": \"one\", \"text\": \"rain forecast\"}\n"
                                    "{\"_id\": \"two\", \"text\": \"exchange money\"}\n"
                                    "{\"_id\": \"none\", \"text\": \"zebra\"}\n");
    write_set_file("qrels/test.tsv", "query-id\tcorpus-id\tscore\none\ta 1\t1\ntwo\tb\t1\ntwo\tgone\t1\nnone\tc\t1\n");
    return 0;
}

static int remove_set_path(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static int remove_eval_set(void **state)
{
    (void)state;
    return nftw(root, remove_set_path, 8, FTW_DEPTH | FTW_PHYS);
}

static wt_eval_options lexical_options(void)
{
    wt_eval_options options;
    wt_eval_options_init(&options);
    options.recipes = "bm25";
    options.model = "";
    options.cache_dir = cache;
    return options;
}

static double find_metric(const wt_eval_row *row, const char *name)
{
    for (size_t i = 0; i < row->metric_count; i++)
        if (strcmp(row->metrics[i]->name, name) == 0)
            return row->metrics[i]->value;
    fail_msg("no metric %s", name);
    return 0;
}

static void figures_are_means_over_queries(void **state)
{
    (void)state;
    wt_eval_options options = lexical_options();
    options.run_path = run;
    options.qrels_path = qrels;
    wt_eval_report *report = NULL;
    wt_error err;
    assert_int_equal(wt_eval(root, &options, &report, &err), 0);
    assert_int_equal(report->row_count, 1);
    assert_int_equal(report->comparison_count, 0);
    const wt_eval_row *row = report->rows[0];
    assert_string_equal(row->set, strrchr(root, '/') + 1);
    assert_string_equal(row->split, "test");
    assert_string_equal(row->recipe, "bm25");
    assert_int_equal(row->tools, 4);
    assert_int_equal(row->queries, 3);
    assert_int_equal(row->metric_count, 16);
    assert_true(fabs(find_metric(row, "recall@1") - (1 + .5 + 0) / 3) < 1e-12);
    assert_true(fabs(find_metric(row, "complete@10") - (1 + 0 + 0) / 3.) < 1e-12);
    assert_true(fabs(find_metric(row, "ndcg@5") - (1 + 1 / (1 + 1 / log2(3))) / 3) < 1e-12);
    assert_true(fabs(find_metric(row, "mrr") - 2 / 3.) < 1e-12);
    assert_true(row->p50_ms > 0 && row->p50_ms <= row->p95_ms && row->p95_ms <= row->p99_ms);
    assert_non_null(strstr(row->notice, "1 relevant tools are not in the catalogue"));
    assert_non_null(strstr(row->settings, "\"depth\":100"));
    wt_eval_report_free(report);

    char *text = NULL;
    size_t len = 0;
    assert_int_equal(wt__file_read(&text, &len, run, 1 << 16, NULL), 0);
    assert_non_null(strstr(text, "one Q0 a%201 1 "));
    free(text);
    assert_int_equal(wt__file_read(&text, &len, qrels, 1 << 16, NULL), 0);
    assert_string_equal(text, "one 0 a%201 1\ntwo 0 b 1\ntwo 0 gone 1\nnone 0 c 1\n");
    free(text);
}

static void every_recipe_is_compared_with_the_first(void **state)
{
    (void)state;
    wt_eval_options options = lexical_options();
    options.recipes = "bm25, auto";
    options.cutoffs[0] = 7;
    options.cutoffs[1] = 2;
    options.bootstrap = 50;
    wt_eval_report *report = NULL;
    assert_int_equal(wt_eval(root, &options, &report, NULL), 0);
    assert_int_equal(report->row_count, 2);
    assert_int_equal(report->comparison_count, 3);
    assert_string_equal(report->rows[0]->metrics[0]->name, "recall@7");
    assert_string_equal(report->comparisons[0]->metric, "recall@2"); /* 5 is not a cutoff here, so the last is used */
    assert_string_equal(report->comparisons[0]->a, "bm25");
    assert_string_equal(report->comparisons[0]->b, "auto");
    assert_true(report->comparisons[0]->difference == 0 && report->comparisons[0]->p == 1);
    wt_eval_report_free(report);
}

static int count_and_cancel(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return ++*(int *)context > 0;
}

static void errors_have_codes_and_messages(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dir, *split, *recipes;
        size_t cutoff, bootstrap;
        int code;
        const char *says;
    } cases[] = {
        {"no folder", "nowhere", NULL, "bm25", 0, 0, WT_ENOTFOUND, "qrels/test.tsv"},
        {"no split", NULL, "dev", "bm25", 0, 0, WT_ENOTFOUND, "qrels/dev.tsv"},
        {"an unknown recipe", NULL, NULL, "bm25,magic", 0, 0, WT_ERECIPE, "no recipe \"magic\""},
        {"an empty name", NULL, NULL, "bm25,", 0, 0, WT_EINVAL, "has an empty name"},
        {"a recipe twice", NULL, NULL, "bm25,bm25", 0, 0, WT_EINVAL, "listed twice"},
        {"a cutoff over the limit", NULL, NULL, "bm25", WT_MAX_K + 1, 0, WT_EINVAL, "over the limit"},
        {"too many resamples", NULL, NULL, "bm25", 0, 100000000, WT_EINVAL, "resamples"},
        {"a recipe without its model", NULL, NULL, "dense", 0, 0, WT_EMODEL, "recipe dense"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_eval_options options = lexical_options();
        options.split = cases[i].split;
        options.recipes = cases[i].recipes;
        options.cutoffs[0] = cases[i].cutoff;
        options.bootstrap = cases[i].bootstrap;
        wt_eval_report *report = NULL;
        wt_error err = {0};
        int rc = wt_eval(cases[i].dir ? cases[i].dir : root, &options, &report, &err);
        if (rc != cases[i].code || !strstr(err.message, cases[i].says))
            fail_msg("%s: %s \"%s\"", cases[i].name, wt_code_name(rc), err.message);
        assert_null(report);
    }
    wt_eval_options options = lexical_options();
    wt_eval_report *report = NULL;
    int calls = 0;
    options.progress = count_and_cancel;
    options.progress_context = &calls;
    assert_int_equal(wt_eval(root, &options, &report, NULL), WT_ECANCELLED);
    assert_null(report);
    wt_eval_report_free(NULL);
}

/* Cancels at the second call of the phase "timing". The first call sleeps longer than the interval between progress
 * callbacks, so that the second call is made before the query is answered. */
static int cancel_before_the_first_answer(void *context, const char *phase, uint64_t done, uint64_t total)
{
    int *calls = context;
    (void)total;
    if (strcmp(phase, "timing") != 0)
        return 0;
    assert_int_equal(done, 0);
    if (++*calls == 2)
        return 1;
    usleep(110000);
    return 0;
}

/* A query with a language model may take minutes, so cancelling must interrupt the query itself. */
static void cancelling_interrupts_a_query(void **state)
{
    static const char *const recipes[] = {"bm25", "ptr"};
    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        wt_eval_options options = lexical_options();
        wt_eval_report *report = NULL;
        wt_error err;
        int calls = 0;
        options.recipes = recipes[i];
        options.experiment = "oracle=0";
        options.progress = cancel_before_the_first_answer;
        options.progress_context = &calls;
        assert_int_equal(wt_eval(root, &options, &report, &err), WT_ECANCELLED);
        assert_string_equal(err.message, "stopped on request");
        assert_null(report);
        assert_int_equal(calls, 2);
    }
}

static void each_corpus_has_a_cached_store(void **state)
{
    (void)state;
    struct arena arena = {0};
    char *before = NULL, *same = NULL, *after = NULL;
    assert_int_equal(wt__corpus_path(&before, &arena, root, cache, NULL), 0);
    assert_true(wt__is_file(before));
    write_set_file("queries.jsonl", "{\"_id\": \"one\", \"text\": \"other words\"}\n");
    assert_int_equal(wt__corpus_path(&same, &arena, root, cache, NULL), 0);
    assert_string_equal(before, same);
    write_set_file("corpus.jsonl", "{\"_id\": \"a 1\", \"title\": \"weather\", \"text\": \"forecast of snow\"}\n");
    assert_int_equal(wt__corpus_path(&after, &arena, root, cache, NULL), 0);
    assert_string_not_equal(before, after);
    wt__arena_dispose(&arena);
}

/* Several threads judge more queries than fit in one batch. The results keep the order of the queries. */
static void queries_keep_their_order(void **state)
{
    enum { MANY = 150 };
    (void)state;
    struct buffer queries = {0}, judged = {0}, wanted = {0};
    wt_eval_options options = lexical_options();
    options.run_path = run;
    wt_eval_report *report = NULL;
    char *text;
    size_t len;
    wt__buffer_text(&judged, "query-id\tcorpus-id\tscore\n");
    for (int q = 0; q < MANY; q++) {
        bool rain = q % 3 == 0;
        wt__buffer_printf(&queries, "{\"_id\": \"q%d\", \"text\": \"%s\"}\n", q, rain ? "rain" : "money");
        wt__buffer_printf(&judged, "q%d\tb\t1\n", q); /* wrong for rain */
        wt__buffer_printf(&wanted, "q%d %s\n", q, rain ? "a" : "b");
    }
    write_set_file("corpus.jsonl", "{\"_id\": \"a\", \"title\": \"weather\", \"text\": \"forecast of rain\"}\n"
                                   "{\"_id\": \"b\", \"title\": \"currency\", \"text\": \"exchange of money\"}\n");
    write_set_file("queries.jsonl", queries.ptr);
    write_set_file("qrels/test.tsv", judged.ptr);
    assert_int_equal(wt_eval(root, &options, &report, NULL), 0);
    assert_int_equal(report->rows[0]->queries, MANY);
    assert_true(fabs(find_metric(report->rows[0], "recall@1") - 2 / 3.) < 1e-12);
    wt_eval_report_free(report);
    assert_int_equal(wt__file_read(&text, &len, run, 1 << 16, NULL), 0);
    wt__buffer_clear(&queries);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char query[16], tool[16];
        assert_int_equal(sscanf(line, "%15s Q0 %15s", query, tool), 2);
        wt__buffer_printf(&queries, "%s %s\n", query, tool);
    }
    assert_string_equal(queries.ptr, wanted.ptr);
    free(text);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&judged);
    wt__buffer_dispose(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_means_over_queries), cmocka_unit_test(every_recipe_is_compared_with_the_first),
        cmocka_unit_test(errors_have_codes_and_messages), cmocka_unit_test(cancelling_interrupts_a_query),
        cmocka_unit_test(each_corpus_has_a_cached_store), cmocka_unit_test(queries_keep_their_order),
    };
    return cmocka_run_group_tests_name("eval/eval", tests, create_eval_set, remove_eval_set);
}
