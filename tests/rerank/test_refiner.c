/* Tests the refiner on models of two and three layers: which inputs the additions depend on, the order of the hits,
 * and rejected files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "encoder/packed.h"
#include "encoder/tiny_model.h"
#include "encoder/transformer.h"
#include "rerank/refiner.h"

#define THREE_LAYERS ", \"num_hidden_layers\": 3, \"n_layers\": 3"

static const struct {
    const char *name, *config;
    size_t join;
} models[] = {
    {"BERT, joined after the embeddings", TINY_BERT, 0},
    {"BERT, joined after layer 0", TINY_BERT, 1},
    {"BERT, joined after two of three layers", TINY_BERT THREE_LAYERS, 2},
    {"RoBERTa", TINY_ROBERTA, 1},
    {"DistilBERT", TINY_DISTILBERT THREE_LAYERS, 1},
    {"MPNet", TINY_MPNET, 0},
    {"DeBERTa-v3", TINY_DEBERTA, 0},
    {"DeBERTa-v3, joined after layer 0", TINY_DEBERTA, 1},
    {"DeBERTa-v2", TINY_DEBERTA_V2, 1},
};
enum { MODELS = sizeof models / sizeof *models, HIDDEN = 16, CANDIDATES = REFINER_MAX_CANDIDATES };

struct refiner_place {
    char folder[64], model[80], path[96];
    struct encoder *encoder;
    struct refiner *refiner;
    struct refiner_scratch *scratch;
    float vectors[CANDIDATES][HIDDEN];
    float features[CANDIDATES][RETRIEVE_FEATURES];
    const float *pointers[CANDIDATES];
    wt_error err;
};

static float draw_number(struct rng *rng)
{
    return (float)(wt__rng_unit(rng) - 0.5);
}

/* Parameters of a refiner's file. */
struct refiner_file {
    size_t join;
    const char *without;           /* name of a tensor to omit */
    const char *infinite, *narrow; /* tensor whose first number is INFINITY; tensor whose last dimension is one short */
    bool flat;                     /* the score ignores the output of the layers */
};

static void make_file(struct refiner_place *place, const struct refiner_file *making)
{
    struct model_config config = wt__encoder_packed(place->encoder)->model.config;
    struct arena arena = {0};
    struct tensor_source *tensors = wt__arena_array(&arena, struct tensor_source, 256), kept[256];
    size_t count = 0, used = 0;
    struct rng rng;
    config.layers -= (uint32_t)making->join;
    config.convolution = 0;
    struct weight_walk walk = {.config = &config, .below = making->join};
    wt__rng_seed(&rng, 5);
    while (wt__weight_next(&walk)) {
        const struct weight_tensor *t = &walk.tensor;
        float *data = wt__arena_array(&arena, float, t->count);
        for (size_t i = 0; i < t->count; i++)
            data[i] = tiny_number(&rng, t);
        tensors[count++] = (struct tensor_source){
            wt__arena_copy(&arena, wt__str(t->name)), data, t->columns ? 2 : 1, {t->rows, t->columns}};
    }
    const struct tensor_source own[] = {{REFINER_CANDIDATE, NULL, 2, {HIDDEN, HIDDEN + RETRIEVE_FEATURES}},
                                        {REFINER_CANDIDATE_BIAS, NULL, 1, {HIDDEN}},
                                        {REFINER_SCORE, NULL, 2, {1, HIDDEN + RETRIEVE_FEATURES}},
                                        {REFINER_SCORE_BIAS, NULL, 1, {1}}};
    for (size_t i = 0; i < 4; i++) {
        size_t n = own[i].shape[0] * (own[i].rank == 2 ? own[i].shape[1] : 1);
        float *data = wt__arena_array(&arena, float, n);
        for (size_t k = 0; k < n; k++)
            data[k] = making->flat && i == 2 && k < HIDDEN ? 0 : draw_number(&rng);
        tensors[count] = own[i];
        tensors[count++].data = data;
    }
    for (size_t i = 0; i < count; i++) {
        if (making->without && strcmp(tensors[i].name, making->without) == 0)
            continue;
        if (making->narrow && strcmp(tensors[i].name, making->narrow) == 0)
            tensors[i].shape[tensors[i].rank - 1] -= 1;
        if (making->infinite && strcmp(tensors[i].name, making->infinite) == 0)
            ((float *)(uintptr_t)tensors[i].data)[0] = INFINITY;
        kept[used++] = tensors[i];
    }
    if (wt__safetensors_write(place->path, kept, used, NULL, &place->err) < 0)
        tiny_die(&place->err);
    wt__arena_dispose(&arena);
}

static void open_refiner_place(struct refiner_place *place, const char *config)
{
    struct rng rng;
    memset(place, 0, sizeof *place);
    tiny_model_make(place->folder, place->model, config, 1);
    snprintf(place->path, sizeof place->path, "%s/refiner.safetensors", place->folder);
    if (wt__encoder_open(&place->encoder, place->model, &place->err) < 0)
        tiny_die(&place->err);
    wt__rng_seed(&rng, 7);
    for (size_t i = 0; i < CANDIDATES; i++) {
        for (size_t d = 0; d < HIDDEN; d++)
            place->vectors[i][d] = draw_number(&rng);
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
            place->features[i][f] = draw_number(&rng);
        place->pointers[i] = place->vectors[i];
    }
}

static void open_refiner_file(struct refiner_place *place, const struct refiner_file *making)
{
    make_file(place, making);
    if (wt__refiner_open(&place->refiner, place->encoder, place->path, making->join, CANDIDATES, &place->err) < 0 ||
        wt__refiner_scratch_new(&place->scratch, place->encoder, CANDIDATES, &place->err) < 0)
        tiny_die(&place->err);
}

static void close_refiner_place(struct refiner_place *place)
{
    wt__refiner_scratch_free(place->scratch);
    wt__refiner_close(place->refiner);
    wt__encoder_close(place->encoder);
    remove_model_folder(place->folder);
}

static void run_refiner_file(struct refiner_place *place, size_t count, float *additions)
{
    wt__refiner_run(place->refiner, place->scratch, STR("find a hotel in paris"), count, place->pointers,
                    (const float(*)[RETRIEVE_FEATURES])place->features, additions);
}

/* ---------------------------------------------------------------- inputs */

static void ignores_order_of_candidates(void **state)
{
    static const size_t counts[] = {1, 2, 7, 32, CANDIDATES};
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct refiner_place place;
        open_refiner_place(&place, models[m].config);
        open_refiner_file(&place, &(struct refiner_file){.join = models[m].join});
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t n = counts[c], order[CANDIDATES];
            float first[CANDIDATES], second[CANDIDATES], features[CANDIDATES][RETRIEVE_FEATURES];
            struct rng rng;
            run_refiner_file(&place, n, first);
            wt__rng_seed(&rng, n);
            for (size_t i = 0; i < n; i++)
                order[i] = i;
            for (size_t i = n; i > 1; i--) {
                size_t other = (size_t)wt__rng_below(&rng, i), moved = order[i - 1];
                order[i - 1] = order[other];
                order[other] = moved;
            }
            const float *pointers[CANDIDATES];
            for (size_t i = 0; i < n; i++) {
                pointers[i] = place.pointers[order[i]];
                memcpy(features[i], place.features[order[i]], sizeof features[i]);
            }
            wt__refiner_run(place.refiner, place.scratch, STR("find a hotel in paris"), n, pointers,
                            (const float(*)[RETRIEVE_FEATURES])features, second);
            for (size_t i = 0; i < n; i++)
                if (!(fabsf(second[i] - first[order[i]]) < 1e-5f))
                    fail_msg("%s, %zu candidates: candidate %zu got %g, and %g in another order", models[m].name, n,
                             order[i], (double)first[order[i]], (double)second[i]);
        }
        close_refiner_place(&place);
    }
}

static void depends_on_candidates_and_request(void **state)
{
    struct refiner_place place;
    float alone[1], among[8], other[8];
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    open_refiner_file(&place, &(struct refiner_file){.join = 1});
    run_refiner_file(&place, 1, alone);
    run_refiner_file(&place, 8, among);
    assert_true(fabsf(alone[0] - among[0]) > 1e-5f);
    wt__refiner_run(place.refiner, place.scratch, STR("send mail to london"), 8, place.pointers,
                    (const float(*)[RETRIEVE_FEATURES])place.features, other);
    assert_true(fabsf(other[0] - among[0]) > 1e-5f);
    run_refiner_file(&place, 8, other);
    assert_memory_equal(among, other, sizeof among);
    close_refiner_place(&place);
}

/* If the score ignores the output of the layers (`flat`), the addition is linear in the features. */
static void depends_on_features(void **state)
{
    enum { N = 8 };
    struct refiner_place place;
    float none[N], once[N], twice[N], features[N][RETRIEVE_FEATURES];
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    open_refiner_file(&place, &(struct refiner_file){.join = 1, .flat = true});
    memcpy(features, place.features, sizeof features);
    run_refiner_file(&place, N, once);
    for (size_t i = 0; i < N; i++)
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
            place.features[i][f] = 2 * features[i][f];
    run_refiner_file(&place, N, twice);
    memset(place.features, 0, sizeof place.features);
    run_refiner_file(&place, N, none);
    for (size_t i = 0; i < N; i++) {
        assert_true(fabsf(once[i] - none[i]) > 1e-3f);
        assert_true(fabsf(twice[i] - none[i] - 2 * (once[i] - none[i])) < 1e-5f);
    }
    close_refiner_place(&place);
}

/* The encoder's lower layers, followed by its own upper layers, give the same result as the whole encoder. */
static void lower_and_upper_layers_equal_encoder(void **state)
{
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct refiner_place place;
        struct mapping map;
        struct safetensors file;
        struct upper_layers upper;
        char path[120];
        const float *rows;
        size_t stride;
        open_refiner_place(&place, models[m].config);
        const struct packed *packed = wt__encoder_packed(place.encoder);
        size_t layers = packed->model.config.layers;
        if (wt__refiner_scratch_new(&place.scratch, place.encoder, 8, &place.err) < 0)
            tiny_die(&place.err);
        size_t tokens = wt__refiner_request(place.encoder, layers, place.scratch, STR("book a table"), &rows, &stride);
        float *whole = malloc(tokens * stride * sizeof *whole);
        assert_non_null(whole);
        memcpy(whole, rows, tokens * stride * sizeof *whole);

        snprintf(path, sizeof path, "%s/model.safetensors", place.model);
        assert_int_equal(wt__file_map(&map, path, &place.err), 0);
        assert_int_equal(wt__safetensors_open(&file, path, map.ptr, map.len, &place.err), 0);
        if (wt__upper_layers_open(&upper, &packed->model.config, models[m].join, &file, place.model, &place.err) < 0)
            tiny_die(&place.err);
        struct activation_limits limits = {.rows = tokens, .longest = tokens};
        struct activations a;
        size_t floats = wt__activations_place(&a, &packed->model, &limits, false, NULL);
        float *memory = aligned_alloc(64, (floats * sizeof *memory + 63) / 64 * 64);
        assert_non_null(memory);
        memset(memory, 0, floats * sizeof *memory);
        wt__activations_place(&a, &packed->model, &limits, false, memory);
        wt__refiner_request(place.encoder, models[m].join, place.scratch, STR("book a table"), &rows, &stride);
        memcpy(a.x, rows, tokens * stride * sizeof *rows);
        const size_t starts[2] = {0, tokens};
        wt__upper_layers_forward(&upper, &(struct token_batch){.count = 1, .starts = starts}, &a);
        for (size_t t = 0; t < tokens; t++)
            assert_memory_equal(a.x + t * stride, whole + t * stride, HIDDEN * sizeof *whole);
        free(memory);
        free(whole);
        wt__upper_layers_close(&upper);
        wt__safetensors_dispose(&file);
        wt__file_unmap(&map);
        close_refiner_place(&place);
    }
}

/* ---------------------------------------------------------------- hits */

/* Vectors as in a search, one row per candidate. */
struct refiner_index {
    struct vectors view;
    void *chunks;
    uint32_t rows[CANDIDATES];
};

static void fill_index(struct refiner_index *index, struct refiner_place *place)
{
    size_t bytes = wt__vectors_chunk_bytes(HIDDEN);
    index->chunks = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(index->chunks);
    memset(index->chunks, 0, bytes);
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        index->rows[i] = i;
        assert_int_equal(wt__vectors_put(index->chunks, HIDDEN, 0, i, place->vectors[i], &place->err), 0);
    }
    index->view = (struct vectors){.chunks = index->chunks,
                                   .dim = HIDDEN,
                                   .slots = CANDIDATES,
                                   .rows = CANDIDATES,
                                   .row_of_slot = index->rows,
                                   .slot_of_row = index->rows};
}

static void fill_hits(struct hit *hits, size_t count, const struct refiner_place *place)
{
    for (size_t i = 0; i < count; i++) {
        hits[i] = (struct hit){.row = (uint32_t)i, .score = 2 - (float)i / 100};
        memcpy(hits[i].features, place->features[i], sizeof hits[i].features);
    }
}

static void reorders_hits(void **state)
{
    enum { N = 8 };
    static const size_t lengths[] = {0, 1, 5, N, 20};
    struct refiner_place place;
    struct refiner_index index;
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    for (int flat = 0; flat < 2; flat++) {
        make_file(&place, &(struct refiner_file){.join = 1, .flat = flat});
        if (wt__refiner_open(&place.refiner, place.encoder, place.path, 1, N, &place.err) < 0)
            tiny_die(&place.err);
        assert_int_equal(wt__refiner_candidates(place.refiner), N);
        fill_index(&index, &place);
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct hit hits[20];
            struct hit_list list = {.items = hits, .len = lengths[l]};
            bool seen[20] = {false};
            fill_hits(hits, list.len, &place);
            assert_int_equal(wt__refine(place.refiner, STR("find a hotel"), &index.view, &list, &place.err), 0);
            assert_int_equal(list.len, lengths[l]);
            for (size_t i = 0; i < list.len; i++) {
                const struct stage_evidence *stage = wt__hit_stage(&hits[i], "refiner");
                assert_false(seen[hits[i].row]);
                seen[hits[i].row] = true;
                assert_true(i == 0 || hits[i].score <= hits[i - 1].score);
                assert_true(fabsf(hits[i].score - stage->share - (2 - (float)hits[i].row / 100)) < 1e-5f);
                assert_int_equal(stage->rank, i < N ? i + 1 : 0);
                if (i < N)
                    assert_true(fabsf(stage->share - 2 * stage->score) < 1e-5f);
                else
                    assert_int_equal(hits[i].row, i);
            }
        }
        free(index.chunks);
        wt__refiner_close(place.refiner);
        place.refiner = NULL;
    }
    close_refiner_place(&place);
}

static void accepts_missing_but_not_damaged_vectors(void **state)
{
    struct refiner_place place;
    struct refiner_index index;
    struct hit hits[8];
    struct hit_list list = {.items = hits, .len = 8};
    uint32_t slots[CANDIDATES];
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    open_refiner_file(&place, &(struct refiner_file){.join = 1});
    fill_index(&index, &place);
    memcpy(slots, index.rows, sizeof slots);
    slots[3] = VECTOR_NONE;
    index.view.slot_of_row = slots;
    fill_hits(hits, 8, &place);
    assert_int_equal(wt__refine(place.refiner, STR("find a hotel"), &index.view, &list, &place.err), 0);
    fill_hits(hits, 8, &place);
    assert_int_equal(wt__refine(place.refiner, STR("find a hotel"), NULL, &list, &place.err), 0);
    memset(index.chunks, 1, wt__vectors_chunk_bytes(HIDDEN));
    fill_hits(hits, 8, &place);
    assert_int_equal(wt__refine(place.refiner, STR("find a hotel"), &index.view, &list, &place.err), WT_ESTORE);
    assert_non_null(strstr(place.err.message, "is damaged"));
    free(index.chunks);
    close_refiner_place(&place);
}

/* ---------------------------------------------------------------- rejected files */

static void rejects_unsuitable_files(void **state)
{
    static const struct {
        struct refiner_file making;
        size_t join, candidates;
        const char *text;
    } cases[] = {
        {{.join = 1, .without = REFINER_CANDIDATE}, 1, 32, "needs a tensor \"candidate.weight\" of 16 x 22"},
        {{.join = 1, .without = REFINER_SCORE}, 1, 32, "needs a tensor \"score.weight\" of 1 x 22"},
        {{.join = 1, .without = REFINER_SCORE_BIAS}, 1, 32, "needs a tensor \"score.bias\""},
        {{.join = 1, .without = "encoder.layer.1.output.dense.weight"},
         1,
         32,
         "no tensor \"encoder.layer.1.output.dense.weight\""},
        {{.join = 1, .narrow = REFINER_CANDIDATE_BIAS}, 1, 32, "needs a tensor \"candidate.bias\" of 1 x 16"},
        {{.join = 1, .narrow = "encoder.layer.1.intermediate.dense.weight"}, 1, 32, "does not have the shape"},
        {{.join = 1, .infinite = REFINER_SCORE}, 1, 32, "\"score.weight\" has a number that is not finite"},
        {{.join = 1}, 0, 32, "no tensor \"encoder.layer.0."},
        {{.join = 1}, 2, 32, "cannot use the layers from 2 on; the encoder has 2"},
        {{.join = 1}, SIZE_MAX, 32, "cannot use the layers"},
        {{.join = 1}, 1, REFINER_MIN_CANDIDATES - 1, "takes 8 to 128 candidates, not 7"},
        {{.join = 1}, 1, REFINER_MAX_CANDIDATES + 1, "takes 8 to 128 candidates, not 129"},
    };
    struct refiner_place place;
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_file(&place, &cases[i].making);
        int rc =
            wt__refiner_open(&place.refiner, place.encoder, place.path, cases[i].join, cases[i].candidates, &place.err);
        if (rc != WT_EMODEL || !strstr(place.err.message, cases[i].text))
            fail_msg("case %zu: wanted \"%s\", got %d: %s", i, cases[i].text, rc, place.err.message);
        assert_null(place.refiner);
    }
    close_refiner_place(&place);
}

static void rejects_truncated_and_missing_files(void **state)
{
    struct refiner_place place;
    char *bytes;
    size_t len;
    (void)state;
    open_refiner_place(&place, TINY_BERT);
    make_file(&place, &(struct refiner_file){.join = 1});
    assert_int_equal(wt__file_read(&bytes, &len, place.path, 1 << 24, &place.err), 0);
    for (size_t cut = 0; cut < len; cut += 1 + len / 50) {
        assert_int_equal(wt__file_replace(place.path, bytes, cut, &place.err), 0);
        assert_int_equal(wt__refiner_open(&place.refiner, place.encoder, place.path, 1, 32, &place.err), WT_EMODEL);
        assert_null(place.refiner);
    }
    unlink(place.path);
    assert_int_equal(wt__refiner_open(&place.refiner, place.encoder, place.path, 1, 32, &place.err), WT_EMODEL);
    assert_non_null(strstr(place.err.message, "refiner.safetensors"));
    free(bytes);
    close_refiner_place(&place);
}

static void convolution_stays_with_layer_0(void **state)
{
    struct refiner_place place;
    (void)state;
    open_refiner_place(&place, TINY_DEBERTA_V2);
    make_file(&place, &(struct refiner_file){.join = 1});
    assert_int_equal(wt__refiner_open(&place.refiner, place.encoder, place.path, 0, 32, &place.err), WT_EMODEL);
    assert_non_null(strstr(place.err.message, "the first with a convolution"));
    close_refiner_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ignores_order_of_candidates),
        cmocka_unit_test(depends_on_candidates_and_request),
        cmocka_unit_test(depends_on_features),
        cmocka_unit_test(lower_and_upper_layers_equal_encoder),
        cmocka_unit_test(reorders_hits),
        cmocka_unit_test(accepts_missing_but_not_damaged_vectors),
        cmocka_unit_test(rejects_unsuitable_files),
        cmocka_unit_test(rejects_truncated_and_missing_files),
        cmocka_unit_test(convolution_stays_with_layer_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
