/* Tests the cache of request vectors: vectors equal those of the encoder to the bit, and are encoded once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "encoder/tiny_model.h"
#include "retrieve/vector_cache.h"

enum { TEXTS = 7, ENTRIES = 64, THREADS = 4, ROUNDS = 200 };
static const char *const texts[TEXTS] = {"find a hotel in paris", "weather in london", "send mail", "", "play music",
                                         "the price of a stock",  "\xff\xfe"};

struct place {
    char folder[64], model[80];
    struct encoder *encoder;
    struct encoder_scratch *scratch;
    size_t dim;
    float *right; /* [TEXTS, dim] each text encoded alone */
};

static int set_up_place(void **state)
{
    static struct place place;
    wt_error err;
    tiny_model_make(place.folder, place.model, TINY_BERT, 1);
    assert_int_equal(wt__encoder_open(&place.encoder, place.model, &err), 0);
    assert_int_equal(wt__encoder_scratch_new(&place.scratch, place.encoder, &err), 0);
    place.dim = wt__encoder_dim(place.encoder);
    place.right = calloc(TEXTS * place.dim, sizeof *place.right);
    for (size_t t = 0; t < TEXTS; t++) {
        struct str text = wt__str(texts[t]);
        float *right = place.right + t * place.dim;
        assert_int_equal(wt__encode(place.encoder, place.scratch, TEXT_REQUEST, &text, 1, right, &err), 0);
    }
    *state = &place;
    return 0;
}

static int tear_down_place(void **state)
{
    struct place *place = *state;
    wt__encoder_scratch_free(place->scratch);
    wt__encoder_close(place->encoder);
    free(place->right);
    remove_model_folder(place->folder);
    return 0;
}

/* Encodes the texts with these numbers, [count], and compares their vectors with those encoded alone. */
static void assert_vectors(struct place *place, struct encoder_scratch *scratch, struct vector_cache *cache,
                           const size_t *numbers, size_t count)
{
    struct arena arena = {0};
    struct str wanted[TEXTS];
    float *out = calloc(count * place->dim, sizeof *out);
    wt_error err;
    for (size_t i = 0; i < count; i++)
        wanted[i] = wt__str(texts[numbers[i]]);
    assert_int_equal(wt__vector_cache_encode(cache, place->encoder, scratch, wanted, count, out, &arena, &err), 0);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(out + i * place->dim, place->right + numbers[i] * place->dim, place->dim * sizeof *out);
    free(out);
    wt__arena_dispose(&arena);
}

static void encodes_each_text_once(void **state)
{
    static const size_t first[] = {0, 1, 2}, second[] = {3, 0, 4, 2}, all[] = {6, 5, 4, 3, 2, 1, 0};
    struct place *place = *state;
    struct vector_cache *cache = wt__vector_cache_new(ENTRIES);
    assert_vectors(place, place->scratch, cache, first, 3);
    assert_int_equal(wt__vector_cache_count(cache).encoded, 3);
    assert_vectors(place, place->scratch, cache, second, 4);
    assert_int_equal(wt__vector_cache_count(cache).encoded, 5);
    assert_int_equal(wt__vector_cache_count(cache).found, 2);
    assert_vectors(place, place->scratch, cache, all, TEXTS);
    assert_vectors(place, place->scratch, cache, all, TEXTS);
    assert_int_equal(wt__vector_cache_count(cache).encoded, TEXTS);
    wt__vector_cache_free(cache);
}

static void without_a_cache_every_text_is_encoded(void **state)
{
    static const size_t all[] = {0, 1, 2, 3, 4, 5, 6};
    struct place *place = *state;
    assert_vectors(place, place->scratch, NULL, all, TEXTS);
    assert_int_equal(wt__vector_cache_count(NULL).found, 0);
}

/* A cache of four entries has one set, so the text that was used longest ago makes room. */
static void the_oldest_text_makes_room(void **state)
{
    static const size_t four[] = {0, 1, 2, 3}, again[] = {0}, fifth[] = {4}, oldest[] = {1}, kept[] = {0, 3, 4};
    struct place *place = *state;
    struct vector_cache *cache = wt__vector_cache_new(4);
    assert_vectors(place, place->scratch, cache, four, 4);
    assert_vectors(place, place->scratch, cache, again, 1);
    assert_vectors(place, place->scratch, cache, fifth, 1);
    assert_vectors(place, place->scratch, cache, kept, 3);
    assert_int_equal(wt__vector_cache_count(cache).encoded, 5);
    assert_vectors(place, place->scratch, cache, oldest, 1);
    assert_int_equal(wt__vector_cache_count(cache).encoded, 6);
    wt__vector_cache_free(cache);
}

/* Another encoder gives other vectors for the same text. */
static void encoders_do_not_share_vectors(void **state)
{
    static const size_t first[] = {0};
    struct place *place = *state, other = {0};
    struct vector_cache *cache = wt__vector_cache_new(ENTRIES);
    struct str text = wt__str(texts[0]);
    struct arena arena = {0};
    float *out = calloc(place->dim, sizeof *out);
    wt_error err;
    tiny_model_make(other.folder, other.model, TINY_BERT, 2);
    assert_int_equal(wt__encoder_open(&other.encoder, other.model, &err), 0);
    assert_int_equal(wt__encoder_scratch_new(&other.scratch, other.encoder, &err), 0);
    assert_vectors(place, place->scratch, cache, first, 1);
    assert_int_equal(wt__vector_cache_encode(cache, other.encoder, other.scratch, &text, 1, out, &arena, &err), 0);
    assert_memory_not_equal(out, place->right, place->dim * sizeof *out);
    assert_vectors(place, place->scratch, cache, first, 1);
    wt__encoder_scratch_free(other.scratch);
    wt__encoder_close(other.encoder);
    remove_model_folder(other.folder);
    free(out);
    wt__arena_dispose(&arena);
    wt__vector_cache_free(cache);
}

struct cache_user {
    struct place *place;
    struct vector_cache *cache;
    size_t number;
};

static void *encode_in_thread(void *context)
{
    struct cache_user *user = context;
    struct encoder_scratch *scratch;
    wt_error err;
    if (wt__encoder_scratch_new(&scratch, user->place->encoder, &err) < 0)
        abort();
    for (size_t i = 0; i < ROUNDS; i++) {
        const size_t pair[] = {(i + user->number) % TEXTS, (i * 3) % TEXTS};
        assert_vectors(user->place, scratch, user->cache, pair, 2);
    }
    wt__encoder_scratch_free(scratch);
    return NULL;
}

static void threads_share_a_cache(void **state)
{
    struct cache_user users[THREADS];
    pthread_t threads[THREADS];
    struct vector_cache *cache = wt__vector_cache_new(4); /* small, so that entries are replaced all the time */
    for (size_t t = 0; t < THREADS; t++) {
        users[t] = (struct cache_user){*state, cache, t};
        assert_int_equal(pthread_create(&threads[t], NULL, encode_in_thread, &users[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    struct vector_cache_counts counts = wt__vector_cache_count(cache);
    assert_int_equal(counts.found + counts.encoded, THREADS * ROUNDS * 2);
    wt__vector_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_each_text_once),     cmocka_unit_test(without_a_cache_every_text_is_encoded),
        cmocka_unit_test(the_oldest_text_makes_room), cmocka_unit_test(encoders_do_not_share_vectors),
        cmocka_unit_test(threads_share_a_cache),
    };
    return cmocka_run_group_tests(tests, set_up_place, tear_down_place);
}
