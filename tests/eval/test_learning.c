/* Tests learned recipes: their training data, the origin of their models, and models of other data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "encoder/encoder.h"
#include "engine/support.h"

static struct test_place place;
static char set[96], cache[96], models[96];

static int create_learning_set(void **state)
{
    (void)state;
    make_test_place(&place);
    snprintf(set, sizeof set, "%s/set", place.folder);
    snprintf(cache, sizeof cache, "%s/cache", place.folder);
    snprintf(models, sizeof models, "%s/models-of-others", place.folder);
    put_text(set, "corpus.jsonl",
             "{\"_id\": \"A\", \"title\": \"table\", \"text\": \"book the table\"}\n"
             "{\"_id\": \"B\", \"title\": \"books\", \"text\": \"find a book\"}\n"
             "{\"_id\": \"C\", \"title\": \"letters\", \"text\": \"a b c d\"}\n");
    put_text(set, "queries.jsonl",
             "{\"_id\": \"1\", \"text\": \"book a table for two\"}\n{\"_id\": \"2\", \"text\": \"find books\"}\n"
             "{\"_id\": \"3\", \"text\": \"a b\"}\n{\"_id\": \"4\", \"text\": \"the table\"}\n"
             "{\"_id\": \"5\", \"text\": \"book\"}\n{\"_id\": \"6\", \"text\": \"c d\"}\n"
             "{\"_id\": \"7\", \"text\": \"tables for two\"}\n{\"_id\": \"8\", \"text\": \"find a d\"}\n");
    put_text(set, "qrels/test.tsv", "1\tA\t1\n2\tB\t1\n");
    put_text(set, "qrels/dev.tsv", "3\tC\t1\n");
    put_text(set, "qrels/train.tsv", "4\tA\t1\n5\tB\t1\n6\tC\t1\n7\tA\t1\n8\tB\t1\n8\tC\t1\n");
    return 0;
}

static int remove_learning_set(void **state)
{
    (void)state;
    remove_test_place(&place);
    return 0;
}

static wt_eval_options recipe_options(const char *recipes)
{
    wt_eval_options options;
    wt_eval_options_init(&options);
    options.recipes = recipes;
    options.model = place.model;
    options.cache_dir = cache;
    return options;
}

/* Writes FOLDER/RECIPE/config.json with these members and the hash of the training data. */
static void write_model_config(const char *folder, const char *recipe, const char *members, const char *sha256)
{
    struct encoder *encoder;
    struct buffer config = {0}, name = {0};
    assert_call_ok(&place, wt__encoder_open(&encoder, place.model, &place.err));
    wt__buffer_printf(&config,
                      "{\"encoder\": {\"hash\": \"%s\"}, %s, \"whichtool\": {\"seed\": 7, \"data\": {\"sha256\": "
                      "\"%s\"}, \"dev\": {\"after\": 0.5}}}",
                      wt__encoder_hash(encoder), members, sha256);
    wt__buffer_printf(&name, "%s/config.json", recipe);
    put_text(folder, name.ptr, config.ptr);
    wt__buffer_dispose(&config);
    wt__buffer_dispose(&name);
    wt__encoder_close(encoder);
}

static void write_tool2vec_model(const char *sha256)
{
    write_model_config(
        models, "tool2vec",
        "\"weights\": {\"dense\": 1, \"tool2vec\": 1}, \"interpolation\": {\"description\": 1, \"usage\": 1, "
        "\"shrink\": 2}",
        sha256);
}

static void hash_training_data(char sha256[65])
{
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_add_report *report = NULL;
    wt_add_options add;
    wt_add_options_init(&add);
    add.format = "beir";
    add.no_vectors = 1;
    assert_call_ok(&place, wt_add_path(engine, set, &add, &report, &place.err));
    wt_add_report_free(report);
    assert_call_ok(&place, wt_training_data(engine, set, 7, sha256, &place.err));
    wt_close(engine);
}

static void models_of_this_data_are_used(void **state)
{
    (void)state;
    char hash[65];
    wt_eval_options options = recipe_options("bm25,tool2vec");
    wt_eval_report *report = NULL;
    hash_training_data(hash);
    write_tool2vec_model(hash);
    options.trained = models;
    assert_call_ok(&place, wt_eval(set, &options, &report, &place.err));
    assert_int_equal(report->row_count, 2);
    assert_null(report->rows[1]->notice);
    json_t *settings = NULL;
    assert_call_ok(&place,
                   wt__json_parse(&settings, report->rows[1]->settings, strlen(report->rows[1]->settings), &place.err));
    const json_t *trained = wt__json_object(settings, "trained");
    assert_string_equal(wt__json_str(trained, "folder").ptr, models);
    assert_int_equal(wt__json_int(trained, "requests", 0), 5);
    assert_int_equal(wt__json_int(trained, "seed", 0), 7);
    assert_string_equal(wt__json_str(wt__json_object(trained, "data"), "sha256").ptr, hash);
    assert_true(wt__json_real(wt__json_object(trained, "dev"), "after", 0) == .5);
    json_decref(settings);
    assert_null(strstr(report->rows[0]->settings, "trained"));
    wt_eval_report_free(report);
}

static void models_of_other_data_are_rejected(void **state)
{
    (void)state;
    wt_eval_options options = recipe_options("tool2vec");
    wt_eval_report *report = NULL;
    write_tool2vec_model("00");
    options.trained = models;
    assert_call_refused(&place, wt_eval(set, &options, &report, &place.err), WT_EFORMAT,
                        "was not trained on the train split");
    options.trained = "/nowhere";
    assert_call_refused(&place, wt_eval(set, &options, &report, &place.err), WT_ENOTFOUND, "/nowhere");
    options.trained = models;
    options.recipes = "bm25,dense"; /* recipes without training */
    assert_call_ok(&place, wt_eval(set, &options, &report, &place.err));
    wt_eval_report_free(report);
}

static int count_training(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    *(int *)context += strncmp(phase, "tool2vec: ", 10) == 0;
    return 0;
}

static void missing_models_are_trained_once(void **state)
{
    (void)state;
    int calls = 0;
    wt_eval_options options = recipe_options("tool2vec");
    wt_eval_report *report = NULL;
    double value = 0;
    options.progress = count_training;
    options.progress_context = &calls;
    for (unsigned again = 0; again < 2; again++) {
        assert_call_ok(&place, wt_eval(set, &options, &report, &place.err));
        assert_non_null(strstr(report->rows[0]->settings, "\"trained\":{"));
        assert_true(again ? calls == 0 : calls > 0);
        assert_true(!again || value == report->rows[0]->metrics[0]->value);
        value = report->rows[0]->metrics[0]->value;
        wt_eval_report_free(report);
        calls = 0;
    }
    options.usages = 1; /* other training data, so another training */
    assert_call_ok(&place, wt_eval(set, &options, &report, &place.err));
    assert_true(calls > 0);
    assert_non_null(strstr(report->rows[0]->settings, "\"usages\":1"));
    wt_eval_report_free(report);
}

/* Models of other data are accepted if the data set has no train split; the notice names that data. */
static void a_data_set_without_train_split_takes_models_of_other_data(void **state)
{
    char foreign[112];
    (void)state;
    wt_eval_options options = recipe_options("bm25,tool2vec,toolrerank");
    wt_eval_report *report = NULL;
    snprintf(foreign, sizeof foreign, "%s-foreign", set);
    put_text(foreign, "corpus.jsonl", "{\"_id\": \"A\", \"title\": \"table\", \"text\": \"book the table\"}\n");
    put_text(foreign, "queries.jsonl", "{\"_id\": \"1\", \"text\": \"book a table\"}\n");
    put_text(foreign, "qrels/test.tsv", "1\tA\t1\n");
    write_tool2vec_model("00\"}, \"more\": {\"source\": \"elsewhere");
    options.trained = models;
    assert_call_ok(&place, wt_eval(foreign, &options, &report, &place.err));
    assert_int_equal(report->row_count, 3);
    assert_null(report->rows[0]->notice);
    assert_non_null(strstr(report->rows[1]->notice, "trained on other data (name unknown)"));
    assert_null(report->rows[2]->notice); /* the folder has no model of toolrerank */
    assert_null(strstr(report->rows[1]->settings, "trained_on"));
    wt_eval_report_free(report);
    write_tool2vec_model("00\", \"source\": \"elsewhere");
    assert_call_ok(&place, wt_eval(foreign, &options, &report, &place.err));
    assert_non_null(strstr(report->rows[1]->notice, "trained on other data (elsewhere), since the set has no train"));
    assert_non_null(strstr(report->rows[1]->settings, "\"trained_on\":\"elsewhere\""));
    wt_eval_report_free(report);
    options.trained = "/nowhere";
    assert_call_refused(&place, wt_eval(foreign, &options, &report, &place.err), WT_ENOTFOUND, "/nowhere");
}

/* Request 1 needs one provider, request 2 two providers, request 3 two tools without a provider, and request 4 one tool
 * in the catalogue and one missing tool. Requests 2 and 3 count as requests for several providers. The classifier gives
 * every request a probability of 3/4 for several providers. So it is right for two of the four requests, and its
 * squared errors are 9/16 for requests 1 and 4, and 1/16 for requests 2 and 3. */
static void kind_of_request_has_accuracy_and_brier_score(void **state)
{
    char folder[112], others[112];
    (void)state;
    wt_eval_options options = recipe_options("bm25,toolrerank");
    wt_eval_report *report = NULL;
    snprintf(folder, sizeof folder, "%s-kinds", set);
    snprintf(others, sizeof others, "%s-kinds", models);
    put_text(
        folder, "corpus.jsonl",
        "{\"_id\": \"A\", \"title\": \"table\", \"text\": \"book the table\", \"metadata\": {\"provider\": \"x\"}}\n"
        "{\"_id\": \"B\", \"title\": \"book\", \"text\": \"find a book\", \"metadata\": {\"provider\": \"x\"}}\n"
        "{\"_id\": \"C\", \"title\": \"letter\", \"text\": \"a b\", \"metadata\": {\"provider\": \"y\"}}\n"
        "{\"_id\": \"D\", \"title\": \"find\", \"text\": \"c d\"}\n"
        "{\"_id\": \"E\", \"title\": \"two\", \"text\": \"for two\"}\n");
    put_text(folder, "queries.jsonl",
             "{\"_id\": \"1\", \"text\": \"book a table\"}\n{\"_id\": \"2\", \"text\": \"find a b\"}\n"
             "{\"_id\": \"3\", \"text\": \"find two\"}\n{\"_id\": \"4\", \"text\": \"a table\"}\n");
    put_text(folder, "qrels/test.tsv",
             "1\tA\t1\n1\tB\t1\n1\tC\t0\n2\tB\t1\n2\tC\t1\n3\tD\t1\n3\tE\t1\n4\tA\t1\n4\tZ\t1\n");
    write_model_config(others, "dpr", "\"weights\": {\"dense\": 1, \"subquery\": 0}", "00");
    write_model_config(others, "toolrerank", "\"classifier\": {\"weight\": 0, \"constant\": 1.0986123}", "00");
    options.trained = others;
    assert_call_ok(&place, wt_eval(folder, &options, &report, &place.err));
    assert_int_equal(report->row_count, 2);
    assert_true(isnan(report->rows[0]->kind_accuracy) && isnan(report->rows[0]->kind_brier));
    assert_true(report->rows[1]->kind_accuracy == 0.5);
    assert_true(fabs(report->rows[1]->kind_brier - 5. / 16) < 1e-6);
    wt_eval_report_free(report);
}

/* Returns the number of recipes that rank and need no training. toolrerank is left out: without training it equals
 * hybrid. */
static size_t count_untrained_rankers(void)
{
    const wt_recipe *recipe;
    size_t count = 0;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        count += !recipe->picks && !recipe->needs_training && strcmp(recipe->name, "toolrerank") != 0 &&
                 strcmp(recipe->name, "joint") != 0;
    return count;
}

static void untrained_recipes_run_without_a_train_split(void **state)
{
    (void)state;
    char plain[112];
    wt_eval_options options = recipe_options("tool2vec");
    wt_eval_report *report = NULL;
    snprintf(plain, sizeof plain, "%s-plain", set);
    put_text(plain, "corpus.jsonl", "{\"_id\": \"A\", \"title\": \"table\", \"text\": \"book the table\"}\n");
    put_text(plain, "queries.jsonl", "{\"_id\": \"1\", \"text\": \"book a table\"}\n");
    put_text(plain, "qrels/test.tsv", "1\tA\t1\n");
    assert_call_refused(&place, wt_eval(plain, &options, &report, &place.err), WT_ERECIPE, "qrels/train.tsv");
    options.recipes = "auto"; /* does not need training */
    assert_call_ok(&place, wt_eval(plain, &options, &report, &place.err));
    wt_eval_report_free(report);
    options.recipes = NULL;
    assert_call_ok(&place, wt_eval(plain, &options, &report, &place.err));
    assert_int_equal(report->row_count, count_untrained_rankers());
    assert_non_null(strstr(report->rows[0]->notice, "no train split"));
    wt_eval_report_free(report);
    options.recipes = "tool2vec";
    options.model = "not-there";
    assert_call_refused(&place, wt_eval(set, &options, &report, &place.err), WT_EMODEL, "not-there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_this_data_are_used),
        cmocka_unit_test(models_of_other_data_are_rejected),
        cmocka_unit_test(missing_models_are_trained_once),
        cmocka_unit_test(a_data_set_without_train_split_takes_models_of_other_data),
        cmocka_unit_test(kind_of_request_has_accuracy_and_brier_score),
        cmocka_unit_test(untrained_recipes_run_without_a_train_split),
    };
    return cmocka_run_group_tests_name("eval/learning", tests, create_learning_set, remove_learning_set);
}
