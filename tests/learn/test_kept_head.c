/* Tests the classifier ("head") that is trained and saved together with the encoder. The head can be measured on the
 * dev requests. `train mlc --loss kept` makes it the recipe mlc without changes. A head of another encoder or of other
 * training data is rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "learn/trainers.h"
#include "learn/support.h"
#include "nn/safetensors.h"
#include "retrieve/trained_vectors.h"

enum { USAGES = 240, ROWS_MAX = 8 * 64 };

static wt_train_options options_of_kept_head(const char *loss)
{
    wt_train_options options;
    wt_train_options_init(&options);
    options.epochs = 6;
    options.batch = 16;
    options.rate = 3e-3;
    options.threads = 2;
    options.loss = loss;
    return options;
}

static wt_engine *open_filled_kept_head(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, USAGES);
    return engine;
}

/* Trains a lesson. figures: receives its figures on the dev requests before and after training. */
static void train_kept_head_lesson(struct learn_place *place, wt_engine *engine, const char *lesson,
                                   const wt_train_options *options, double figures[2])
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(engine, lesson, options, &report, &place->err));
    figures[0] = report->items[0]->before;
    figures[1] = report->items[0]->after;
    wt_train_report_free(report);
}

static void assert_kept_head_refused(struct learn_place *place, wt_engine *engine, const char *lesson,
                                     const wt_train_options *options, int code, const char *text)
{
    wt_train_report *report = NULL;
    assert_train_refused(place, wt_train(engine, lesson, options, &report, &place->err), code, text);
    assert_null(report);
}

/* Reads the head from a file of the trained models into rows. Returns the number of values. */
static size_t read_head_rows(struct learn_place *place, const char *file, float *rows)
{
    char path[160], *bytes = NULL;
    size_t len;
    struct safetensors tensors;
    snprintf(path, sizeof path, "%s/%s", place->out, file);
    assert_train_ok(place, wt__file_read(&bytes, &len, path, 1 << 20, &place->err));
    assert_train_ok(place, wt__safetensors_open(&tensors, path, bytes, len, &place->err));
    const struct tensor *head = wt__safetensors_find(&tensors, MLC_HEAD);
    assert_non_null(head);
    assert_in_range(head->count, 1, ROWS_MAX);
    size_t count = head->count;
    assert_int_equal(head->shape[0], PLACE_TOOLS);
    assert_train_ok(place, wt__tensor_floats(head, rows, &place->err));
    wt__safetensors_dispose(&tensors);
    free(bytes);
    return count;
}

static void kept_head_becomes_recipe(void **state)
{
    static const char *const losses[] = {"softmax", "bce"};
    struct learn_place *place = *state;
    static float kept[ROWS_MAX], served[ROWS_MAX];
    wt_engine *engine = open_filled_kept_head(place);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        double encoder[2], mlc[2];
        wt_train_options options = options_of_kept_head(losses[i]), taken = options_of_kept_head("kept");
        options.dev = "head";
        train_kept_head_lesson(place, engine, "encoder", &options, encoder);
        assert_true(encoder[1] > encoder[0]);
        train_kept_head_lesson(place, engine, "mlc", &taken, mlc);
        assert_true(isnan(mlc[0]));
        assert_true(mlc[1] > 0.5);
        size_t count = read_head_rows(place, "encoder/head.safetensors", kept);
        assert_int_equal(read_head_rows(place, "mlc/model.safetensors", served), count);
        assert_memory_equal(kept, served, count * sizeof *kept);
    }
    wt_find_options find;
    wt_hits *hits = NULL;
    wt_find_options_init(&find);
    find.recipe = "mlc";
    find.k = 3;
    assert_train_ok(place, wt_find(engine, "hotel news price", strlen("hotel news price"), &find, &hits, &place->err));
    assert_string_equal(hits->items[0]->tool->id, "book_table");
    wt_hits_free(hits);
    wt_close(engine);
}

/* Training with a loss without a head removes the head of an earlier training. */
static void training_without_head_removes_old_head(void **state)
{
    struct learn_place *place = *state;
    double unused[2];
    wt_engine *engine = open_filled_kept_head(place);
    wt_train_options options = options_of_kept_head("softmax"), kept = options_of_kept_head("kept");
    char path[160];
    snprintf(path, sizeof path, "%s/encoder/head.safetensors", place->out);
    assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL, "has no head; `train encoder --loss softmax`");
    train_kept_head_lesson(place, engine, "encoder", &options, unused);
    assert_true(wt__is_file(path));
    train_kept_head_lesson(place, engine, "mlc", &kept, unused);
    options = options_of_kept_head(NULL);
    train_kept_head_lesson(place, engine, "encoder", &options, unused);
    assert_false(wt__is_file(path));
    assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL, "has no head");
    options.dev = "head";
    assert_kept_head_refused(place, engine, "encoder", &options, WT_EINVAL, "the loss \"contrast\" has no head");
    options.dev = "eyes";
    assert_kept_head_refused(place, engine, "encoder", &options, WT_EINVAL,
                             "must be use, description, hybrid or head, not \"eyes\"");
    wt_close(engine);
}

static void put_bytes(struct learn_place *place, const char *path, const char *bytes, size_t len)
{
    assert_train_ok(place, wt__file_replace(path, bytes, len, &place->err));
}

static void rejects_heads_of_other_trainings(void **state)
{
    struct learn_place *place = *state;
    double unused[2];
    char path[160], *first = NULL, *second = NULL;
    size_t len, other;
    wt_engine *engine = open_filled_kept_head(place);
    wt_train_options options = options_of_kept_head("bce"), kept = options_of_kept_head("kept");
    snprintf(path, sizeof path, "%s/encoder/head.safetensors", place->out);
    train_kept_head_lesson(place, engine, "encoder", &options, unused);
    assert_train_ok(place, wt__file_read(&first, &len, path, 1 << 20, &place->err));
    options.seed = kept.seed = 2;
    train_kept_head_lesson(place, engine, "encoder", &options, unused);
    assert_train_ok(place, wt__file_read(&second, &other, path, 1 << 20, &place->err));
    put_bytes(place, path, first, len);
    assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL,
                             "was not trained together with the encoder in that folder");
    for (size_t cut = 0; cut < other; cut += 97) {
        put_bytes(place, path, second, cut);
        assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL, "head.safetensors");
    }
    const float infinite = INFINITY;
    memcpy(second + other - sizeof infinite, &infinite, sizeof infinite);
    put_bytes(place, path, second, other);
    assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL, "row 7 has a number that is not finite");
    free(first);
    free(second);
    import_usages(place, engine, "{\"request\": \"one request more\", \"tools\": [\"find_hotel\"]}\n");
    assert_kept_head_refused(place, engine, "mlc", &kept, WT_EMODEL, "was trained on other data");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_head_becomes_recipe, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(training_without_head_removes_old_head, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(rejects_heads_of_other_trainings, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
