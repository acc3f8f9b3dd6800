/* Vectors of an audit's requests. They equal the vectors of a single search, are computed once per text, and are
 * dropped above the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/internal.h"
#include "base/buffer.h"
#include "encoder/support.h"
#include "retrieve/compose.h"
#include "retrieve/retrieve.h"

static char folder[64], model[80];

static int set_up_model_folder(void **state)
{
    (void)state;
    make_model(folder, model);
    return 0;
}

static int tear_down_model_folder(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

static struct encoder *open_vector_model(void)
{
    struct encoder *encoder = NULL;
    assert_int_equal(wt__encoder_open(&encoder, model, NULL), 0);
    return encoder;
}

static const struct str requests[] = {
    STR("book a table in paris and send mail to london"),
    STR("book a table in paris. play the music"),
    STR("weather"),
    STR("play the music"),
    STR("weather"),
    STR("and, and. the"),
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static void assert_equals_single_encoding(const struct request_vectors *vectors, struct str request)
{
    struct arena arena = {0};
    struct encoder_scratch *scratch;
    struct retrieve_texts split;
    assert_int_equal(wt__retrieve_texts(request, &arena, &split, NULL), 0);
    const size_t count = split.count, dim = wt__encoder_dim(vectors->encoder);
    float *own = wt__arena_array(&arena, float, count *dim);
    assert_int_equal(wt__encoder_scratch_new(&scratch, vectors->encoder, NULL), 0);
    assert_int_equal(wt__encode(vectors->encoder, scratch, TEXT_REQUEST, split.texts, count, own, NULL), 0);
    const float *made = wt__request_vectors_of(vectors, request, &arena);
    assert_non_null(made);
    assert_memory_equal(made, own, count * dim * sizeof *own);
    wt__encoder_scratch_free(scratch);
    wt__arena_dispose(&arena);
}

static void vectors_equal_those_of_a_search(void **state)
{
    (void)state;
    struct encoder *encoder = open_vector_model();
    struct request_vectors vectors = {.encoder = encoder};
    assert_int_equal(wt__request_vectors_make(&vectors, requests, REQUESTS, 2, NULL), 0);
    const size_t count = vectors.count;
    assert_true(count < (size_t)REQUESTS * TEXTS_MAX);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_equals_single_encoding(&vectors, requests[i]);
    assert_int_equal(wt__request_vectors_make(&vectors, requests, REQUESTS, 2, NULL), 0);
    assert_int_equal(vectors.count, count); /* no text is encoded twice */
    wt__request_vectors_dispose(&vectors);
    wt__encoder_close(encoder);
}

static void makes_no_vectors_without_encoder(void **state)
{
    (void)state;
    struct request_vectors vectors = {0};
    struct arena arena = {0};
    assert_int_equal(wt__request_vectors_make(&vectors, requests, REQUESTS, 2, NULL), 0);
    assert_null(wt__request_vectors_of(&vectors, requests[0], &arena));
    assert_int_equal(vectors.count, 0);
    wt__arena_dispose(&arena);
    wt__request_vectors_dispose(&vectors);
}

/* Exceeding the limit drops old vectors. The vectors of the last call are always available. */
static void keeps_vectors_up_to_the_limit(void **state)
{
    (void)state;
    enum { BLOCK = 256, BLOCKS = 2 * REQUEST_VECTORS_MAX / BLOCK };
    struct encoder *encoder = open_vector_model();
    struct request_vectors vectors = {.encoder = encoder};
    struct arena texts = {0};
    size_t most = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        struct str block[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) {
            char text[32];
            int len = snprintf(text, sizeof text, "%zu", b * BLOCK + i);
            block[i] = (struct str){wt__arena_copy(&texts, (struct str){text, (size_t)len}), (size_t)len};
        }
        assert_int_equal(wt__request_vectors_make(&vectors, block, BLOCK, 2, NULL), 0);
        if (b % 64 == 0)
            assert_equals_single_encoding(&vectors, block[BLOCK - 1]);
        most = vectors.count > most ? vectors.count : most;
    }
    assert_in_range(most, REQUEST_VECTORS_MAX / 2, REQUEST_VECTORS_MAX);
    wt__request_vectors_dispose(&vectors);
    wt__arena_dispose(&texts);
    wt__encoder_close(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_equal_those_of_a_search),
        cmocka_unit_test(makes_no_vectors_without_encoder),
        cmocka_unit_test(keeps_vectors_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, set_up_model_folder, tear_down_model_folder);
}
