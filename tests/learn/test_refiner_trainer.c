/* Tests the training of refiners with a tiny encoder: losses, folds and results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/file.h"
#include "base/json.h"
#include "learn/learn.h"
#include "learn/trainers.h"
#include "learn/support.h"

enum { USAGES = 160 };

/* ---------------------------------------------------------------- losses and weights */

static const struct {
    const char *name;
    refiner_loss loss;
} losses[] = {{"softmax", wt__refiner_softmax}, {"bce", wt__refiner_bce}};

static void gradients_match_losses(void **state)
{
    enum { N = 6 };
    static const uint8_t golds[][N] = {{0, 1, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 0}, {0}, {1, 1, 1, 1, 1, 1}};
    static const float step = 1e-2f;
    (void)state;
    for (size_t l = 0; l < 2; l++)
        for (size_t g = 0; g < sizeof golds / sizeof *golds; g++) {
            float logits[N] = {0.5f, -1, 2, 0, -3, 30}, gradient[N], ignored[N];
            size_t terms;
            double loss = losses[l].loss(logits, golds[g], N, gradient, &terms);
            assert_true(isfinite(loss) && loss >= 0);
            for (size_t i = 0; i < N; i++) {
                float up[N], down[N];
                memcpy(up, logits, sizeof up);
                memcpy(down, logits, sizeof down);
                up[i] += step;
                down[i] -= step;
                double slope = (losses[l].loss(up, golds[g], N, ignored, &terms) -
                                losses[l].loss(down, golds[g], N, ignored, &terms)) /
                               (2 * (double)step);
                if (fabs(slope - (double)gradient[i]) > 1e-3)
                    fail_msg("%s, gold %zu, logit %zu: %g, not %g", losses[l].name, g, i, (double)gradient[i], slope);
            }
            double again = losses[l].loss(logits, golds[g], N, logits, &terms);
            assert_true(again == loss);
            assert_memory_equal(logits, gradient, sizeof gradient);
        }
}

static void terms_are_divisor_of_mean(void **state)
{
    static const uint8_t gold[] = {1, 0, 1, 0};
    float logits[] = {1, 2, 3, 4}, gradient[4];
    size_t terms;
    (void)state;
    wt__refiner_softmax(logits, gold, 4, gradient, &terms);
    assert_int_equal(terms, 2);
    wt__refiner_bce(logits, gold, 4, gradient, &terms);
    assert_int_equal(terms, 4);
    assert_true(wt__refiner_softmax(logits, gold, 0, gradient, &terms) == 0 && terms == 0);
}

/* The feature FEATURE_WORDS alone decides which candidates are gold, so the fit must give it weight. */
static void fits_feature_weights(void **state)
{
    enum { SAMPLES = 200, N = 8 };
    static uint16_t lengths[SAMPLES];
    static uint8_t gold[SAMPLES * N];
    static float features[SAMPLES * N][RETRIEVE_FEATURES];
    struct refiner_samples samples = {
        .count = SAMPLES, .candidates = N, .lengths = lengths, .gold = gold, .features = features};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        lengths[i] = (uint16_t)(N - i % 3);
        for (size_t c = i * N; c < i * N + lengths[i]; c++) {
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                features[c][f] = (float)wt__rng_unit(&rng);
            gold[c] = features[c][FEATURE_WORDS] > 0.7f;
        }
    }
    for (size_t l = 0; l < 2; l++) {
        float weights[FIT_WEIGHTS], sums[N];
        size_t right = 0, pairs = 0;
        wt__refiner_fit(&samples, losses[l].loss, 12, weights);
        for (size_t i = 0; i < SAMPLES; i++) {
            for (size_t c = 0; c < lengths[i]; c++) {
                sums[c] = 12 * features[i * N + c][FEATURE_SCORE];
                for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                    sums[c] += weights[f] * features[i * N + c][f];
            }
            for (size_t a = 0; a < lengths[i]; a++)
                for (size_t b = 0; b < lengths[i]; b++)
                    if (gold[i * N + a] && !gold[i * N + b]) {
                        pairs++;
                        right += sums[a] > sums[b];
                    }
        }
        if (right < pairs * 19 / 20)
            fail_msg("%s: %zu of %zu pairs in order, with weight %g for words", losses[l].name, right, pairs,
                     (double)weights[FEATURE_WORDS]);
    }
}

/* ---------------------------------------------------------------- lessons */

static wt_train_options options_of_refiner_trainer(void)
{
    wt_train_options options;
    wt_train_options_init(&options);
    options.threads = 2;
    options.candidates = 8;
    return options;
}

static wt_engine *open_filled_refiner_trainer(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, USAGES);
    return engine;
}

static double train_refiner_lesson(struct learn_place *place, wt_engine *engine, const char *lesson,
                                   const wt_train_options *options)
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(engine, lesson, options, &report, &place->err));
    assert_int_equal(report->len, 1);
    double after = report->items[0]->after;
    assert_false(after < report->items[0]->before); /* either may be NaN */
    wt_train_report_free(report);
    return after;
}

static void write_model_path(const struct learn_place *place, const char *name, char out[160])
{
    snprintf(out, 160, "%s/%s", place->out, name);
}

/* Opens a training as wt_train does. */
static void open_training(struct learn_place *place, wt_engine *engine, const wt_train_options *options,
                          struct training *training)
{
    const struct examples_options examples = {.seed = 1};
    *training = (struct training){.engine = engine, .options = options, .seed = 1, .threads = 2, .out = place->out};
    wt__train_progress_init(&training->progress, NULL, NULL);
    assert_train_ok(place, wt__examples_read(&training->examples, engine, &examples, &training->progress, &place->err));
}

static void close_training(struct training *training)
{
    wt__evaluator_free(training->evaluator);
    wt__examples_dispose(&training->examples);
    wt__arena_dispose(&training->arena);
}

/* The vectors of a fold must not depend on the requests of that fold: if these requests change, the vectors stay
 * identical. */
static void folds_use_vectors_of_other_folds(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    struct training training;
    struct dev_evaluator *evaluator;
    train_refiner_lesson(place, engine, "tool2vec", &options);
    train_refiner_lesson(place, engine, "mlc", &options);
    open_training(place, engine, &options, &training);
    assert_train_ok(place, wt__evaluator_open(&evaluator, &training, &place->err));
    size_t count = evaluator->tools * evaluator->dim;
    float *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
    assert_true(before && after);
    for (int classified = 0; classified < 2; classified++)
        for (unsigned fold = 0; fold < REFINER_FOLDS; fold++) {
            const struct first_stage first = {
                classified ? "mlc" : "tool2vec", "", {.weights = {[SOURCE_DENSE] = 1}, .subquery = 1}, classified};
            float *saved = malloc(training.examples.train.count * evaluator->dim * sizeof *saved);
            assert_non_null(saved);
            memcpy(saved, evaluator->requests, training.examples.train.count * evaluator->dim * sizeof *saved);
            assert_train_ok(place, wt__refiner_vectors(evaluator, &first, fold, before, &place->err));
            for (size_t b = 0; b < training.examples.train.count; b++)
                if (wt__refiner_fold(b) == fold)
                    for (size_t d = 0; d < evaluator->dim; d++)
                        evaluator->requests[b * evaluator->dim + d] = -1;
            assert_train_ok(place, wt__refiner_vectors(evaluator, &first, fold, after, &place->err));
            assert_memory_equal(before, after, count * sizeof *before);
            assert_train_ok(place,
                            wt__refiner_vectors(evaluator, &first, (fold + 1) % REFINER_FOLDS, after, &place->err));
            assert_memory_not_equal(before, after, count * sizeof *before);
            memcpy(evaluator->requests, saved, training.examples.train.count * evaluator->dim * sizeof *saved);
            free(saved);
        }
    free(before);
    free(after);
    close_training(&training);
    wt_close(engine);
}

static void keeps_used_tools_as_candidates(void **state)
{
    enum { N = 3 }; /* of eight tools, so some used tools are not among the candidates */
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    struct training training;
    struct dev_evaluator *evaluator;
    struct refiner_data data;
    size_t golds[2] = {0}, all = 0;
    const struct first_stage first = {"tool2vec", "", {.weights = {[SOURCE_DENSE] = 1}, .subquery = 1}, false};
    train_refiner_lesson(place, engine, "tool2vec", &options);
    open_training(place, engine, &options, &training);
    assert_train_ok(place, wt__evaluator_open(&evaluator, &training, &place->err));
    for (int kept = 0; kept < 2; kept++) {
        assert_train_ok(place, wt__refiner_data_open(&data, evaluator, &first, N, kept, &place->err));
        assert_int_equal(data.train.count, training.examples.train.count);
        assert_int_equal(data.dev.count, evaluator->dev_count);
        for (size_t i = 0; i < data.train.count; i++) {
            uint32_t request = data.train.requests[i];
            assert_int_equal(data.train.vectors[i], wt__refiner_fold(request));
            assert_int_equal(data.train.lengths[i], N);
            assert_true(data.train.tokens[i] >= 3 && data.train.tokens[i] <= REFINER_TOKENS);
            for (size_t c = 0; c < N; c++) {
                assert_non_null(wt__refiner_vector(&data, &data.train, i, c));
                golds[kept] += data.train.gold[i * N + c];
                for (size_t other = 0; other < c; other++)
                    assert_int_not_equal(data.train.rows[i * N + c], data.train.rows[i * N + other]);
            }
            all += kept ? data.train.set->starts[request + 1] - data.train.set->starts[request] : 0;
        }
        wt__refiner_data_dispose(&data);
    }
    assert_int_equal(golds[1], all);
    assert_true(golds[0] < all);
    close_training(&training);
    wt_close(engine);
}

/* The recall of queries for the dev requests must equal the figure that the training reports. */
static void query_equals_figure_of_training(void **state)
{
    static const char *const names[] = {"tool2vec", "mlc", "tool2vec+refiner", "neighbours", "mlc+refiner"};
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    double after[5];
    for (size_t i = 0; i < 5; i++) {
        options.rate = strchr(names[i], '+') ? 3e-3 : 0;
        after[i] = train_refiner_lesson(place, engine, names[i], &options);
    }
    for (size_t i = 2; i < 5; i += 2) { /* one refiner was trained before "neighbours", the other after it */
        struct training training;
        struct dev_evaluator *evaluator;
        struct dev_outcome outcome = {0};
        bool there;
        open_training(place, engine, &options, &training);
        assert_train_ok(place, wt__evaluator_open(&evaluator, &training, &place->err));
        assert_train_ok(place, wt__refiner_measure(evaluator, names[i], &there, &outcome, &place->err));
        assert_true(there);
        assert_true(evaluator->dev_count > 5);
        if (fabs(outcome.figure - after[i]) > 1e-9)
            fail_msg("%s: figure %g in training, %g in queries", names[i], after[i], outcome.figure);
        close_training(&training);
    }
    wt_close(engine);
}

static wt_hits *find_refined(struct learn_place *place, wt_engine *engine, const char *recipe, size_t k)
{
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    options.k = k;
    assert_train_ok(place, wt_find(engine, "hotel news", 10, &options, &hits, &place->err));
    return hits;
}

static void query_is_refined_and_explained(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    train_refiner_lesson(place, engine, "tool2vec", &options);
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    wt_close(engine);
    engine = open_place_store(place);
    wt_hits *all = find_refined(place, engine, "tool2vec+refiner", 8),
            *few = find_refined(place, engine, "tool2vec+refiner", 2);
    assert_string_equal(all->recipe, "tool2vec+refiner");
    assert_int_equal(all->len, PLACE_TOOLS);
    assert_int_equal(few->len, 2);
    for (size_t i = 0; i < all->len; i++) {
        const wt_stage_score *refined = NULL;
        double sum = 0;
        for (size_t s = 0; s < all->items[i]->stage_count; s++) {
            sum += all->items[i]->stages[s]->share;
            if (strcmp(all->items[i]->stages[s]->stage, "refiner") == 0)
                refined = all->items[i]->stages[s];
        }
        assert_non_null(refined);
        assert_int_equal(refined->rank, i + 1);
        assert_true(fabs(sum - all->items[i]->score) < 1e-4);
        assert_true(i == 0 || all->items[i]->score <= all->items[i - 1]->score);
        if (i < 2) {
            assert_string_equal(few->items[i]->tool->name, all->items[i]->tool->name);
            assert_true(few->items[i]->score == all->items[i]->score);
        }
    }
    wt_hits_free(all);
    wt_hits_free(few);
    wt_close(engine);
}

/* A refiner trained with past requests must not be used without past requests. */
static void refiner_needs_its_past_requests(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    wt_hits *hits;
    char path[160];
    train_refiner_lesson(place, engine, "tool2vec", &options);
    train_refiner_lesson(place, engine, "neighbours", &options);
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    wt_close(engine);
    engine = open_place_store(place);
    hits = find_refined(place, engine, "tool2vec+refiner", 8);
    assert_string_equal(hits->recipe, "tool2vec+refiner");
    wt_hits_free(hits);
    wt_close(engine);

    write_model_path(place, "neighbours/config.json", path);
    assert_int_equal(unlink(path), 0);
    engine = open_place_store(place);
    hits = find_refined(place, engine, NULL, 8);
    assert_non_null(strstr(hits->notice, "the past requests that it needs are missing"));
    wt_hits_free(hits);
    wt_close(engine);
}

/* auto must return the hits of the recipe that it chose, here one with a refiner. If that recipe is missing, auto falls
 * back to hybrid. */
static void auto_runs_chosen_refiner(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    json_t *config;
    char path[160], *text;
    size_t len;
    train_refiner_lesson(place, engine, "tool2vec", &options);
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    train_refiner_lesson(place, engine, "auto", &options);
    wt_close(engine);
    write_model_path(place, "auto/config.json", path);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    assert_train_ok(place, wt__json_parse(&config, text, len, &place->err));
    free(text);
    json_object_set_new(config, "runs", json_string("tool2vec+refiner"));
    json_object_set_new(config, "why", json_string("it was best"));
    text = json_dumps(config, 0);
    assert_train_ok(place, wt__file_replace(path, text, strlen(text), &place->err));
    free(text);
    json_decref(config);

    engine = open_place_store(place);
    wt_hits *chosen = find_refined(place, engine, "auto", 8),
            *named = find_refined(place, engine, "tool2vec+refiner", 8);
    assert_string_equal(chosen->recipe, "tool2vec+refiner");
    assert_string_equal(chosen->why, "it was best");
    assert_int_equal(chosen->len, named->len);
    for (size_t i = 0; i < named->len; i++) {
        assert_string_equal(chosen->items[i]->tool->name, named->items[i]->tool->name);
        assert_true(chosen->items[i]->score == named->items[i]->score);
    }
    wt_hits_free(chosen);
    wt_hits_free(named);
    wt_close(engine);

    write_model_path(place, "tool2vec+refiner/config.json", path);
    assert_int_equal(unlink(path), 0);
    engine = open_place_store(place);
    chosen = find_refined(place, engine, "auto", 8);
    assert_string_equal(chosen->recipe, "hybrid");
    assert_non_null(strstr(chosen->notice, "the recipe that it chose is missing"));
    wt_hits_free(chosen);
    wt_close(engine);
}

/* ---------------------------------------------------------------- stopping, and errors */

static int stop_refiner_at(void *context, const wt_train_progress *progress)
{
    const uint64_t *at = context;
    return strcmp(progress->phase, "training") == 0 && progress->total > 30 && progress->done >= *at;
}

static void resumed_training_gives_identical_bits(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    wt_train_options options = options_of_refiner_trainer();
    char path[160], *whole, *resumed;
    size_t whole_len, resumed_len;
    uint64_t at = 9;
    wt_train_report *report = NULL;
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, 8 * USAGES);
    train_refiner_lesson(place, engine, "tool2vec", &options);
    options.epochs = 8;
    options.batch = 1; /* many steps, so that training still runs when progress (ten times a second) stops it */
    options.rate = 3e-4;
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    write_model_path(place, "tool2vec+refiner/model.safetensors", path);
    assert_int_equal(wt__file_read(&whole, &whole_len, path, 1 << 24, NULL), 0);
    options.progress = stop_refiner_at;
    options.progress_context = &at;
    int rc = wt_train(engine, "tool2vec+refiner", &options, &report, &place->err);
    wt_train_report_free(report);
    if (rc == 0)
        print_message("skipped: training ended before the stop was requested\n");
    else
        assert_train_refused(place, rc, WT_ECANCELLED, "; resume to continue");
    options.progress = NULL;
    options.resume = 1;
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    assert_int_equal(wt__file_read(&resumed, &resumed_len, path, 1 << 24, NULL), 0);
    assert_int_equal(whole_len, resumed_len);
    assert_memory_equal(whole, resumed, whole_len);
    free(whole);
    free(resumed);
    wt_close(engine);
}

/* Returns the layer where request and candidates meet in the trained refiner. */
static long long trained_join(struct learn_place *place)
{
    char path[160];
    write_model_path(place, "tool2vec+refiner/config.json", path);
    json_auto_t *config = json_load_file(path, 0, NULL);
    return json_integer_value(json_object_get(config, "join"));
}

static void rejects_untrainable_refiners(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    wt_train_report *report = NULL;
    assert_train_refused(place, wt_train(engine, "mlc+refiner", &options, &report, &place->err), WT_EINVAL,
                         "mlc+refiner reranks the hits of mlc; run `whichtool train mlc` first");
    train_refiner_lesson(place, engine, "tool2vec", &options);
    options.candidates = 7;
    assert_train_refused(place, wt_train(engine, "tool2vec+refiner", &options, &report, &place->err), WT_EINVAL,
                         "a refiner takes 8 to 128 candidates, not 7");
    options.candidates = 8;
    options.loss = "triplet";
    assert_train_refused(place, wt_train(engine, "tool2vec+refiner", &options, &report, &place->err), WT_EINVAL,
                         "softmax bce");
    options.loss = "bce";
    options.layers = 3;
    assert_train_refused(place, wt_train(engine, "tool2vec+refiner", &options, &report, &place->err), WT_EINVAL,
                         "a refiner of this model has at most 2 layers, not 3");
    options.layers = 1;
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    assert_int_equal(trained_join(place), 1);
    options.layers = 2;
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    assert_int_equal(trained_join(place), 0);
    options.memory = 1000;
    assert_train_refused(place, wt_train(engine, "tool2vec+refiner", &options, &report, &place->err), WT_ENOMEM,
                         "training would take");
    wt_close(engine);
}

static void refuses_recipe_of_stale_or_damaged_refiner(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_refiner_trainer(place);
    wt_train_options options = options_of_refiner_trainer();
    wt_find_options asked;
    wt_hits *hits = NULL;
    char path[160];
    train_refiner_lesson(place, engine, "tool2vec", &options);
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    options.seed = 2;
    train_refiner_lesson(place, engine, "tool2vec", &options);
    wt_close(engine);
    engine = open_place_store(place);
    wt_find_options_init(&asked);
    asked.recipe = "tool2vec+refiner";
    assert_train_refused(place, wt_find(engine, "hotel", 5, &asked, &hits, &place->err), WT_ERECIPE,
                         "is not used: tool2vec, whose hits it reranks, has been retrained");
    train_refiner_lesson(place, engine, "tool2vec+refiner", &options);
    wt_close(engine);
    write_model_path(place, "tool2vec+refiner/model.safetensors", path);
    assert_int_equal(truncate(path, 100), 0);
    engine = open_place_store(place);
    wt_find_options_init(&asked);
    asked.recipe = "tool2vec+refiner";
    assert_train_refused(place, wt_find(engine, "hotel", 5, &asked, &hits, &place->err), WT_ERECIPE,
                         "the trained recipe tool2vec+refiner is not used: ");
    asked.recipe = "tool2vec";
    assert_train_ok(place, wt_find(engine, "hotel", 5, &asked, &hits, &place->err));
    wt_hits_free(hits);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_losses),
        cmocka_unit_test(terms_are_divisor_of_mean),
        cmocka_unit_test(fits_feature_weights),
        cmocka_unit_test_setup_teardown(folds_use_vectors_of_other_folds, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(keeps_used_tools_as_candidates, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(query_equals_figure_of_training, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(query_is_refined_and_explained, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(refiner_needs_its_past_requests, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(auto_runs_chosen_refiner, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(resumed_training_gives_identical_bits, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(rejects_untrainable_refiners, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(refuses_recipe_of_stale_or_damaged_refiner, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
