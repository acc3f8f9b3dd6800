/* The classifier that is trained together with the encoder and kept: it is measured on dev by itself, becomes the
 * recipe mlc as it is, and is never taken for another encoder's, nor for other tools'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "learn/kept_head.h"
#include "learn/support.h"
#include "nn/safetensors.h"
#include "retrieve/mlc.h"

enum { USAGES = 240, ROWS_MAX = 8 * 64 };

static wt_train_options options_of(const char *loss)
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

static wt_engine *open_filled(struct place *place)
{
    wt_engine *engine = open_store(place);
    add_tools(place, engine);
    add_synthetic_usages(place, engine, USAGES);
    return engine;
}

/* Figures on dev before and after. */
static void train(struct place *place, wt_engine *engine, const char *lesson, const wt_train_options *options,
                  double figures[2])
{
    wt_train_report *report = NULL;
    sound(place, wt_train(engine, lesson, options, &report, &place->err));
    figures[0] = report->items[0]->before;
    figures[1] = report->items[0]->after;
    wt_train_report_free(report);
}

static void refused_train(struct place *place, wt_engine *engine, const char *lesson, const wt_train_options *options,
                          int code, const char *text)
{
    wt_train_report *report = NULL;
    refused(place, wt_train(engine, lesson, options, &report, &place->err), code, text);
    assert_null(report);
}

/* The head in a file of the trained models; how many numbers. */
static size_t rows_of(struct place *place, const char *file, float *rows)
{
    char path[160], *bytes = NULL;
    size_t len;
    struct safetensors tensors;
    snprintf(path, sizeof path, "%s/%s", place->out, file);
    sound(place, wt__file_read(&bytes, &len, path, 1 << 20, &place->err));
    sound(place, wt__safetensors_open(&tensors, path, bytes, len, &place->err));
    const struct tensor *head = wt__safetensors_find(&tensors, MLC_HEAD);
    assert_non_null(head);
    assert_in_range(head->count, 1, ROWS_MAX);
    size_t count = head->count;
    assert_int_equal(head->shape[0], PLACE_TOOLS);
    sound(place, wt__tensor_floats(head, rows, &place->err));
    wt__safetensors_dispose(&tensors);
    free(bytes);
    return count;
}

static void the_head_becomes_the_recipe(void **state)
{
    static const char *const losses[] = {"softmax", "bce"};
    struct place *place = *state;
    static float kept[ROWS_MAX], served[ROWS_MAX];
    wt_engine *engine = open_filled(place);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        double encoder[2], mlc[2];
        wt_train_options options = options_of(losses[i]), taken = options_of("kept");
        options.dev = "head";
        train(place, engine, "encoder", &options, encoder);
        assert_true(encoder[1] > encoder[0]);
        train(place, engine, "mlc", &taken, mlc);
        assert_true(isnan(mlc[0]));
        assert_true(mlc[1] > 0.5);
        size_t count = rows_of(place, "encoder/head.safetensors", kept);
        assert_int_equal(rows_of(place, "mlc/model.safetensors", served), count);
        assert_memory_equal(kept, served, count * sizeof *kept);
    }
    wt_find_options find;
    wt_hits *hits = NULL;
    wt_find_options_init(&find);
    find.recipe = "mlc";
    find.k = 3;
    sound(place, wt_find(engine, "hotel news price", strlen("hotel news price"), &find, &hits, &place->err));
    assert_string_equal(hits->items[0]->tool->id, "book_table");
    wt_hits_free(hits);
    wt_close(engine);
}

/* Whatever the encoder is measured by, its head is kept; one without a head takes an earlier one away. */
static void an_encoder_without_a_head_has_none(void **state)
{
    struct place *place = *state;
    double unused[2];
    wt_engine *engine = open_filled(place);
    wt_train_options options = options_of("softmax"), kept = options_of("kept");
    char path[160];
    snprintf(path, sizeof path, "%s/encoder/head.safetensors", place->out);
    refused_train(place, engine, "mlc", &kept, WT_EMODEL, "has no head; `train encoder --loss softmax`");
    train(place, engine, "encoder", &options, unused);
    assert_true(wt__is_file(path));
    train(place, engine, "mlc", &kept, unused);
    options = options_of(NULL);
    train(place, engine, "encoder", &options, unused);
    assert_false(wt__is_file(path));
    refused_train(place, engine, "mlc", &kept, WT_EMODEL, "has no head");
    options.dev = "head";
    refused_train(place, engine, "encoder", &options, WT_EINVAL, "the loss \"contrast\" has no head");
    options.dev = "eyes";
    refused_train(place, engine, "encoder", &options, WT_EINVAL,
                  "by use, description, hybrid or head, not by \"eyes\"");
    wt_close(engine);
}

static void put_bytes(struct place *place, const char *path, const char *bytes, size_t len)
{
    sound(place, wt__file_replace(path, bytes, len, &place->err));
}

static void a_head_of_something_else_is_refused(void **state)
{
    struct place *place = *state;
    double unused[2];
    char path[160], *first = NULL, *second = NULL;
    size_t len, other;
    wt_engine *engine = open_filled(place);
    wt_train_options options = options_of("bce"), kept = options_of("kept");
    snprintf(path, sizeof path, "%s/encoder/head.safetensors", place->out);
    train(place, engine, "encoder", &options, unused);
    sound(place, wt__file_read(&first, &len, path, 1 << 20, &place->err));
    options.seed = kept.seed = 2;
    train(place, engine, "encoder", &options, unused);
    sound(place, wt__file_read(&second, &other, path, 1 << 20, &place->err));
    put_bytes(place, path, first, len);
    refused_train(place, engine, "mlc", &kept, WT_EMODEL, "is of another training than the encoder beside it");
    for (size_t cut = 0; cut < other; cut += 97) {
        put_bytes(place, path, second, cut);
        refused_train(place, engine, "mlc", &kept, WT_EMODEL, "head.safetensors");
    }
    const float infinite = INFINITY;
    memcpy(second + other - sizeof infinite, &infinite, sizeof infinite);
    put_bytes(place, path, second, other);
    refused_train(place, engine, "mlc", &kept, WT_EMODEL, "row 7 has a number that is not finite");
    free(first);
    free(second);
    add_usages(place, engine, "{\"request\": \"one request more\", \"tools\": [\"find_hotel\"]}\n");
    refused_train(place, engine, "mlc", &kept, WT_EMODEL, "was trained on other data");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_head_becomes_the_recipe, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(an_encoder_without_a_head_has_none, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(a_head_of_something_else_is_refused, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
