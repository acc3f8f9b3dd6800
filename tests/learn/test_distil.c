/* Tests wt_distil on a teacher of two layers: the result, the data sets and the errors. Also compares the gradient of a
 * table of rows with finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "encoder/token_table.h"
#include "learn/distil.h"
#include "learn/support.h"
#include "nn/gradient.h"
#include "nn/loss.h"
#include "nn/safetensors.h"

enum { USAGES = 60 };

static wt_engine *open_filled_distil(struct learn_place *place, size_t usages)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    if (usages > 0)
        import_synthetic_usages(place, engine, usages);
    return engine;
}

static wt_distil_options options_of_distil(const char *out)
{
    wt_distil_options options;
    wt_distil_options_init(&options);
    options.out = out;
    options.threads = 2;
    options.epochs = options.contrast_epochs = 2;
    return options;
}

/* Returns the bytes of a file of the model. */
static char *read_model_bytes(const char *out, const char *name, size_t *len)
{
    char path[160], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", out, name);
    assert_int_equal(wt__file_read(&bytes, len, path, 1 << 24, NULL), 0);
    return bytes;
}

static bool same_file(const char *a, const char *b, const char *name)
{
    size_t a_len, b_len;
    char *first = read_model_bytes(a, name, &a_len), *second = read_model_bytes(b, name, &b_len);
    bool same = a_len == b_len && memcmp(first, second, a_len) == 0;
    free(first);
    free(second);
    return same;
}

static void distils_model_of_store(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_distil(place, USAGES);
    wt_distilled *made = NULL;
    wt_distil_options options = options_of_distil(place->out);
    assert_train_ok(place, wt_distil(engine, &options, &made, &place->err));
    assert_string_equal(made->path, place->out);
    assert_string_equal(made->teacher, "tiny");
    assert_int_equal(made->tokens, TINY_VOCABULARY);
    assert_int_equal(made->dimension, 16); /* the teacher's, which is below 256 */
    assert_true(made->texts > 2 * PLACE_TOOLS && made->requests > 0 && made->dev_requests > 0);
    assert_true(made->cosine > .3 && made->cosine <= 1);

    size_t len, weights_len;
    char *config = read_model_bytes(place->out, "config.json", &len),
         *weights = read_model_bytes(place->out, "model.safetensors", &weights_len);
    static const char *const says[] = {"\"model_type\":\"model2vec\"", "\"hidden_dim\":16",
                                       "\"normalize\":true",           "\"lesson\":\"distil\"",
                                       "\"sources\":[\"tools.wt\"]",   "\"name\":\"tiny\""};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(config, says[i]))
            fail_msg("config.json lacks %s: %s", says[i], config);
    struct safetensors file;
    assert_int_equal(wt__safetensors_open(&file, "weights", weights, weights_len, NULL), 0);
    const struct tensor *rows = wt__safetensors_find(&file, "embeddings");
    assert_true(rows && rows->rank == 2 && rows->shape[0] == TINY_VOCABULARY && rows->shape[1] == 16);
    assert_int_equal(rows->bytes, TINY_VOCABULARY * 16);
    assert_int_equal(wt__safetensors_find(&file, "embeddings.scale")->count, TINY_VOCABULARY);
    assert_int_equal(made->bytes, weights_len);
    wt__safetensors_dispose(&file);
    free(config);
    free(weights);
    wt_distilled_free(made);
    wt_close(engine);
}

static void distilled_bytes_depend_on_seed_and_steps_but_not_on_threads(void **state)
{
    struct learn_place *place = *state;
    static const struct {
        const char *what;
        unsigned threads;
        uint64_t seed;
        const char *experiment;
        bool same;
    } cases[] = {
        {"the same options", 2, 1, NULL, true},
        {"one thread", 1, 0, NULL, true},
        {"another seed", 2, 2, NULL, false},
        {"without weights", 2, 1, "without=weights", false},
        {"without the fit", 2, 1, "without=fit", false},
        {"without likeness", 2, 1, "without=likeness", false},
        {"without contrast", 2, 1, "without=contrast", false},
        {"without the merge", 2, 1, "without=merge", false},
        {"without fit, contrast and weights", 2, 1, "without=fit,contrast,weights", false},
    };
    wt_engine *engine = open_filled_distil(place, USAGES);
    wt_distilled *made = NULL;
    wt_distil_options options = options_of_distil(place->out);
    assert_train_ok(place, wt_distil(engine, &options, &made, &place->err));
    wt_distilled_free(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[120];
        snprintf(out, sizeof out, "%s/%zu", place->folder, i);
        options = options_of_distil(out);
        options.threads = cases[i].threads;
        options.seed = cases[i].seed;
        options.experiment = cases[i].experiment;
        assert_train_ok(place, wt_distil(engine, &options, &made, &place->err));
        if (same_file(place->out, out, "model.safetensors") != cases[i].same)
            fail_msg("%s: the model is %s", cases[i].what, cases[i].same ? "different" : "the same");
        assert_true(same_file(place->out, out, "vocab.txt"));
        wt_distilled_free(made);
    }
    wt_close(engine);
}

static void write_catalogue_file(const struct learn_place *place, const char *folder)
{
    (void)place;
    put_text(folder, "corpus.jsonl",
             "{\"_id\": \"a\", \"title\": \"book_table\", \"text\": \"book a table\"}\n"
             "{\"_id\": \"b\", \"title\": \"play_music\", \"text\": \"play the music\"}\n");
    put_text(folder, "queries.jsonl", "");
}

static void accepts_data_sets_and_catalogues_without_requests(void **state)
{
    struct learn_place *place = *state;
    char both[256], catalogue[120];
    wt_distilled *made = NULL;
    snprintf(catalogue, sizeof catalogue, "%s/catalogue", place->folder);
    write_catalogue_file(place, catalogue);
    write_data_set(place,
                   "{\"_id\": \"q1\", \"text\": \"mail to paris\"}\n{\"_id\": \"q2\", \"text\": \"the price\"}\n"
                   "{\"_id\": \"q3\", \"text\": \"a table in london\"}\n",
                   "query-id\tcorpus-id\tscore\nq1\tt3\t1\nq2\tt5\t1\n", "query-id\tcorpus-id\tscore\nq3\tt0\t1\n");
    snprintf(both, sizeof both, "%s\n%s", place->data, catalogue);
    const struct {
        const char *data;
        size_t requests, dev;
    } cases[] = {{place->data, 2, 1}, {catalogue, 0, 0}, {both, 2, 1}};
    for (size_t i = 0; i < 3; i++) {
        char out[120];
        snprintf(out, sizeof out, "%s/%zu", place->folder, i);
        wt_distil_options options = options_of_distil(out);
        options.data = cases[i].data;
        options.model = place->model;
        options.cache_dir = place->folder;
        options.dimension = 8;
        assert_train_ok(place, wt_distil(NULL, &options, &made, &place->err));
        assert_int_equal(made->dimension, 8);
        assert_int_equal(made->requests, cases[i].requests);
        assert_int_equal(made->dev_requests, cases[i].dev);
        assert_true(isnan(made->cosine) == (cases[i].dev == 0));
        wt_distilled_free(made);
    }
}

static void rejects_invalid_distillations(void **state)
{
    struct learn_place *place = *state;
    wt_engine *empty = open_place_store(place);
    wt_distilled *made = NULL;
    char there[120], weights[120], file[140], catalogue[120];
    snprintf(there, sizeof there, "%s/there", place->folder);
    put_text(there, "config.json", "{}");
    snprintf(weights, sizeof weights, "%s/weights", place->folder);
    put_text(weights, "model.safetensors", "");
    snprintf(file, sizeof file, "%s/there/config.json", place->folder);
    snprintf(catalogue, sizeof catalogue, "%s/catalogue", place->folder);
    write_catalogue_file(place, catalogue);
    const struct {
        wt_engine *engine;
        wt_distil_options options;
        int code;
        const char *says;
    } cases[] = {
        {empty, {.out = place->out}, WT_EEMPTY, "has no tools to learn from"},
        {empty, {.out = NULL}, WT_EINVAL, "name a folder for the model"},
        {empty, {.out = ""}, WT_EINVAL, "name a folder for the model"},
        {empty, {.out = there}, WT_EINVAL, "there is a model in"},
        {empty, {.out = weights}, WT_EINVAL, "there is a model in"},
        {empty, {.out = file}, WT_EINVAL, "is a file"},
        {NULL, {.out = place->out}, WT_EINVAL, "name a store or a data set"},
        {NULL, {.out = place->out, .data = "\n"}, WT_EINVAL, "the list of data sets is empty"},
        {NULL, {.out = place->out, .data = "/nowhere", .model = place->model}, WT_ENOTFOUND, "/nowhere"},
        {NULL, {.out = place->out, .data = catalogue, .model = there}, WT_EMODEL, "there"},
        {NULL,
         {.out = place->out, .data = catalogue, .model = place->model, .dimension = 17},
         WT_EINVAL,
         "16 dimensions"},
        {NULL, {.out = place->out, .data = catalogue, .epochs = -1}, WT_EINVAL, "epochs must be above 0"},
        {NULL, {.out = place->out, .data = catalogue, .contrast_epochs = NAN}, WT_EINVAL, "epochs must be above 0"},
        {NULL, {.out = place->out, .data = catalogue, .smoothing = 2}, WT_EINVAL, "smoothing"},
        {NULL, {.out = place->out, .data = catalogue, .threads = 1000}, WT_EINVAL, "threads must be at most 256"},
        {NULL,
         {.out = place->out, .data = catalogue, .experiment = "without=fit,nothing"},
         WT_EINVAL,
         "unknown step \"nothing\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_distil_options options = cases[i].options;
        options.size = sizeof options;
        options.cache_dir = place->folder;
        made = (wt_distilled *)&options; /* must be cleared on failure */
        assert_train_refused(place, wt_distil(cases[i].engine, &options, &made, &place->err), cases[i].code,
                             cases[i].says);
        assert_null(made);
        assert_false(wt__is_folder(place->out));
    }
    wt_close(empty);
}

struct distil_stopper {
    const char *phase;
    bool met;
};

static int stop_distilling_at(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct distil_stopper *stopper = context;
    (void)done;
    (void)total;
    stopper->met |= strcmp(phase, stopper->phase) == 0;
    return strcmp(phase, stopper->phase) == 0;
}

static void cancelled_distillation_leaves_no_model(void **state)
{
    struct learn_place *place = *state;
    static const char *const phases[] = {"reading", "asking the teacher", "asking the teacher for tokens", "training"};
    wt_engine *engine = open_filled_distil(place, USAGES);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        wt_distilled *made = NULL;
        wt_distil_options options = options_of_distil(place->out);
        struct distil_stopper stopper = {phases[i], false};
        options.progress = stop_distilling_at;
        options.progress_context = &stopper;
        assert_int_equal(wt_distil(engine, &options, &made, &place->err), WT_ECANCELLED);
        assert_true(stopper.met);
        assert_null(made);
        assert_false(wt__is_folder(place->out));
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- table */

enum { TOKENS = 6, DIM = 4, TEXTS = 3 };

/* The second text has a token twice; the last one is empty. */
static size_t starts[] = {0, 2, 5, 5};
static int32_t ids[] = {1, 4, 2, 2, 1};
static const struct token_texts texts = {.count = TEXTS, .starts = starts, .ids = ids};

struct table_twin {
    double *rows; /* [TOKENS, DIM] */
    const float *teacher;
};

/* Computes the mean over the texts of |v - t|^2, where v is the normalised sum of the text's rows and t is the
 * teacher's vector. */
static double table_loss(void *context)
{
    const struct table_twin *twin = context;
    double loss = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        double sum[DIM] = {0}, length = 0;
        for (size_t t = starts[i]; t < starts[i + 1]; t++)
            for (size_t d = 0; d < DIM; d++)
                sum[d] += twin->rows[ids[t] * DIM + (int)d];
        for (size_t d = 0; d < DIM; d++)
            length += sum[d] * sum[d];
        length = length > 0 ? sqrt(length) : 1;
        for (size_t d = 0; d < DIM; d++)
            loss += pow(sum[d] / length - twin->teacher[i * DIM + d], 2) / TEXTS;
    }
    return loss;
}

static void row_gradients_match_differences(void **state)
{
    static const uint32_t which[] = {0, 1, 2};
    struct student student;
    float *first = random_floats(TOKENS * DIM, 1), *teacher = random_floats(TEXTS * DIM, 1), scratch[TEXTS * TEXTS];
    (void)state;
    assert_int_equal(wt__student_open(&student, TOKENS, DIM, TEXTS, NULL), 0);
    memcpy(student.rows, first, TOKENS * DIM * sizeof *first);
    wt__student_begin(&student);
    wt__student_forward(&student, &texts, which, TEXTS);
    wt__loss_distil(student.vectors, teacher, TEXTS, DIM, 0, scratch, student.dvectors);
    wt__student_backward(&student);
    struct table_twin twin = {doubles_of(first, TOKENS * DIM), teacher};
    gradient_agrees("rows", table_loss, &twin, twin.rows, TOKENS * DIM, student.parameter.gradient, 1e-5);
    static const uint8_t touched[TOKENS] = {0, 1, 1, 0, 1, 0};
    assert_memory_equal(student.parameter.touched, touched, TOKENS);
    wt__student_dispose(&student);
    free(first), free(teacher), free(twin.rows);
}

static void frequent_tokens_get_smaller_weights(void **state)
{
    struct student student;
    float frequency[TOKENS];
    const struct distil_texts all = {.count = TEXTS, .tokens = texts};
    (void)state;
    wt__distil_frequencies(&all, TOKENS, frequency);
    assert_true(frequency[0] == 0 && fabsf(frequency[1] - .4f) < 1e-6f && fabsf(frequency[4] - .2f) < 1e-6f);
    assert_int_equal(wt__student_open(&student, TOKENS, DIM, TEXTS, NULL), 0);
    for (size_t i = 0; i < TOKENS * DIM; i++)
        student.rows[i] = 1;
    wt__distil_weigh(&student, frequency, 0);
    assert_true(student.rows[DIM] == 1);
    wt__distil_weigh(&student, frequency, .1);
    assert_true(student.rows[0] == 1 && fabsf(student.rows[DIM] - .2f) < 1e-6f);
    wt__student_dispose(&student);
}

static void quantises_rows_within_half_a_step(void **state)
{
    struct learn_place *place = *state;
    float *rows = random_floats(TINY_VOCABULARY * DIM, 3);
    json_t *about = json_object();
    struct safetensors file;
    size_t len;
    memset(rows, 0, DIM * sizeof *rows); /* a row of zeros stays zero */
    assert_train_ok(place,
                    wt__token_table_save(place->out, place->model, rows, TINY_VOCABULARY, DIM, about, &place->err));
    char *weights = read_model_bytes(place->out, "model.safetensors", &len);
    assert_int_equal(wt__safetensors_open(&file, "weights", weights, len, NULL), 0);
    const int8_t *bytes = (const int8_t *)wt__safetensors_find(&file, "embeddings")->data;
    float scales[TINY_VOCABULARY];
    assert_int_equal(wt__tensor_floats(wt__safetensors_find(&file, "embeddings.scale"), scales, NULL), 0);
    for (size_t i = 0; i < TINY_VOCABULARY * DIM; i++)
        assert_true(fabsf(rows[i] - scales[i / DIM] * bytes[i]) <= scales[i / DIM] * .5001f);
    wt__safetensors_dispose(&file);
    json_decref(about);
    free(weights);
    free(rows);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(distils_model_of_store),
        WITH_PLACE(distilled_bytes_depend_on_seed_and_steps_but_not_on_threads),
        WITH_PLACE(accepts_data_sets_and_catalogues_without_requests),
        WITH_PLACE(rejects_invalid_distillations),
        WITH_PLACE(cancelled_distillation_leaves_no_model),
        cmocka_unit_test(row_gradients_match_differences),
        cmocka_unit_test(frequent_tokens_get_smaller_weights),
        WITH_PLACE(quantises_rows_within_half_a_step),
    };
    wt__rng_seed(&rng, 7);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
