/* Tests cross-encoders against the reference implementation, if its data is available, and on models of two layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "encoder/golden.h"
#include "encoder/transformer.h"
#include "encoder/packed.h"
#include "encoder/tiny_model.h"
#include "rerank/cross.h"
#include "text/encode_pair.h"

#define TOLERANCE 1e-5
#define ONE_LABEL TINY_LABELS(1)
/* Tokenizer configuration of MPNet, which has two [SEP] between the texts of a pair. */
#define TWO_SEPS                                                                                                       \
    "{\"tokenizer_class\": \"MPNetTokenizer\", \"cls_token\": \"[CLS]\", \"sep_token\": \"[SEP]\","                    \
    " \"pad_token\": \"[PAD]\", \"mask_token\": \"[MASK]\"}"

static const struct {
    const char *name, *config;
} models[] = {
    {"BERT", TINY_BERT ONE_LABEL},
    {"BERT with one token type", TINY_BERT ONE_LABEL ", \"type_vocab_size\": 1"},
    {"BERT with one layer", TINY_BERT ONE_LABEL ", \"num_hidden_layers\": 1"},
    {"RoBERTa", TINY_ROBERTA ONE_LABEL},
    {"DistilBERT", TINY_DISTILBERT ONE_LABEL},
    {"MPNet", TINY_MPNET ONE_LABEL},
    {"DeBERTa-v3", TINY_DEBERTA ONE_LABEL},
    {"DeBERTa-v2", TINY_DEBERTA_V2 ONE_LABEL},
    {"DeBERTa-v2 with one layer and its convolution", TINY_DEBERTA_V2 ONE_LABEL ", \"num_hidden_layers\": 1"},
};
enum { MODELS = sizeof models / sizeof *models, TOOLS = 60, POSITIONS = 64, FRAME = 3 };

struct cross_place {
    char folder[64], model[80];
    struct cross *cross;
    struct encoder *encoder; /* encoder of the same folder */
    int32_t ids[TOOLS][CROSS_TOKENS];
    struct token_run tools[TOOLS]; /* the text of tools[i] has i words */
    wt_error err;
};

static const struct str request = STR("find a hotel in paris");

static void open_cross(struct cross_place *place)
{
    if (wt__cross_open(&place->cross, place->model, NULL, &place->err) < 0 ||
        wt__encoder_open(&place->encoder, place->model, &place->err) < 0)
        tiny_die(&place->err);
    for (size_t i = 0; i < TOOLS; i++) {
        struct buffer text = {0};

        for (size_t w = 0; w < i; w++)
            wt__buffer_printf(&text, "%s ", tiny_words[5 + (i * 7 + w * 3) % (TINY_WORDS - 5)]);
        place->tools[i] = wt__cross_tokens(place->cross, (struct str){text.ptr, text.len}, place->ids[i]);
        wt__buffer_dispose(&text);
    }
}

static void make_cross_place(struct cross_place *place, const char *config)
{
    memset(place, 0, sizeof *place);
    tiny_model_make(place->folder, place->model, config, 1);
}

static void open_cross_place(struct cross_place *place, const char *config)
{
    make_cross_place(place, config);
    open_cross(place);
}

static void close_cross_place(struct cross_place *place)
{
    wt__cross_close(place->cross);
    wt__encoder_close(place->encoder);
    remove_model_folder(place->folder);
}

static void score_tools(struct cross_place *place, const struct token_run *tools, size_t count, float *logits)
{
    if (wt__cross_score(place->cross, request, tools, count, NULL, logits, &place->err) < 0)
        tiny_die(&place->err);
}

static const struct packed *packed_of(const struct cross_place *place)
{
    return wt__encoder_packed(place->encoder);
}

/* Computes the logits of a batch. whole: compute all rows of the last layer instead of only the first row of each
 * pair. */
static void run_reference_batch(const struct transformer *m, const struct token_batch *batch, bool whole, float *logits)
{
    size_t rows = batch->starts[batch->count];
    struct activation_limits limits = {.rows = rows, .longest = rows};
    struct activations a;
    size_t floats = wt__activations_place(&a, m, &limits, false, NULL), bytes = (floats * sizeof(float) + 63) / 64 * 64;
    float *memory = aligned_alloc(64, bytes), *pooled = malloc(batch->count * a.stride * sizeof *pooled);

    assert_true(memory && pooled);
    memset(memory, 0xff, bytes); /* NaN reveals reads of uninitialised memory */
    wt__activations_place(&a, m, &limits, false, memory);
    if (whole)
        wt__transformer_forward(m, batch, &a);
    else
        wt__transformer_forward_first(m, batch, &a);
    for (size_t b = 0; whole && b < batch->count; b++)
        wt__head_forward(m, a.x + batch->starts[b] * a.stride, a.stride, 1, pooled, logits + b);
    if (!whole)
        wt__head_forward(m, a.x, a.stride, batch->count, pooled, logits);
    free(memory);
    free(pooled);
}

/* ---------------------------------------------------------------- reference */

/* Opens the reference's model, which reads at most 96 tokens of a pair, like the golden data. Returns false if the
 * golden data is not available. */
static bool open_reference(struct cross_place *place, struct encoder_golden *golden)
{
    if (!open_golden(golden, "golden/encoders/bert_cross_encoder/golden.safetensors"))
        return false;
    memset(place, 0, sizeof *place);
    snprintf(place->folder, sizeof place->folder, "/tmp/whichtool-cross-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    setenv("XDG_CACHE_HOME", place->folder, 1);
    snprintf(place->model, sizeof place->model, "%s/model", place->folder);
    copy_golden(place->model, "golden/encoders/bert_cross_encoder");
    put_text(place->model, "tokenizer_config.json", "{\"do_lower_case\": true, \"model_max_length\": 96}");
    open_cross(place);
    return true;
}

static void logits_of_random_rows_equal_reference(void **state)
{
    static struct ragged r;
    struct encoder_golden golden;
    struct cross_place place;
    float logits[RAGGED_COUNT];

    (void)state;
    if (!open_reference(&place, &golden))
        skip();
    r = (struct ragged){.starts = {0}};
    add_padded(&r, tensor_of(&golden, "rand.input_ids"), tensor_of(&golden, "rand.attention_mask"),
               tensor_of(&golden, "rand.token_type_ids"));
    const struct tensor *want = tensor_of(&golden, "rand.logits"), *share = tensor_of(&golden, "rand.sigmoid");
    run_reference_batch(&packed_of(&place)->model, &r.batch, false, logits);
    for (size_t b = 0; b < r.batch.count; b++) {
        if (!(fabs((double)logits[b] - float_at(want, b)) <= TOLERANCE))
            fail_msg("row %zu: %g instead of %g", b, (double)logits[b], (double)float_at(want, b));
        assert_true(fabs((double)wt__cross_probability(logits[b]) - float_at(share, b)) <= TOLERANCE);
    }
    close_cross_place(&place);
    close_golden(&golden);
}

static void logits_of_texts_equal_reference(void **state)
{
    struct encoder_golden golden;
    struct cross_place place;
    char path[PATH_BYTES];

    (void)state;
    if (!open_reference(&place, &golden))
        skip();
    assert_true(shared_path(path, "golden/encoders/bert_cross_encoder/golden_pairs.json"));
    struct str text = read_whole(path);
    json_t *file = parse_reference_json(text);
    const json_t *pairs = json_object_get(file, "pairs");
    const struct tensor *want = tensor_of(&golden, "pairs.logits"), *ids = tensor_of(&golden, "pairs.input_ids");
    assert_int_equal(json_integer_value(json_object_get(file, "max_length")), 96);
    assert_int_equal(json_array_size(pairs), want->shape[0]);
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *first = json_array_get(json_array_get(pairs, i), 0);
        const json_t *second = json_array_get(json_array_get(pairs, i), 1);
        int32_t a[CROSS_TOKENS], b[CROSS_TOKENS], both[96], types[96];
        struct str asked = {json_string_value(first), json_string_length(first)};
        struct token_run tool =
            wt__cross_tokens(place.cross, (struct str){json_string_value(second), json_string_length(second)}, b);
        size_t count = wt__cross_pair(&packed_of(&place)->tokenizer, wt__cross_tokens(place.cross, asked, a), tool, 96,
                                      both, types);
        float logit;

        for (size_t t = 0; t < count; t++)
            assert_int_equal(both[t], int_at(ids, i * ids->shape[1] + t));
        assert_int_equal(wt__cross_score(place.cross, asked, &tool, 1, NULL, &logit, &place.err), 0);
        if (!(fabs((double)logit - float_at(want, i)) <= TOLERANCE))
            fail_msg("pair %zu: %g instead of %g", i, (double)logit, (double)float_at(want, i));
    }
    json_decref(file);
    free((void *)(uintptr_t)text.ptr);
    close_cross_place(&place);
    close_golden(&golden);
}

/* Weights are random with seed 1. The expected logits were computed by transformers in double precision. */
static void heads_of_all_architectures_equal_reference(void **state)
{
    static const struct {
        const char *name, *config;
        double logit;
    } rows[] = {{"BERT", TINY_BERT ONE_LABEL, -1.563557956},
                {"RoBERTa", TINY_ROBERTA ONE_LABEL, 0.367845878},
                {"DistilBERT", TINY_DISTILBERT ONE_LABEL, -1.172376720},
                {"MPNet", TINY_MPNET ONE_LABEL, -0.269240366},
                {"DeBERTa-v3", TINY_DEBERTA ONE_LABEL, -0.472638451},
                {"DeBERTa-v2", TINY_DEBERTA_V2 ONE_LABEL, -0.539372480}};
    static const int32_t ids[] = {2, 12, 7, 30, 3, 9, 40, 51, 13, 3};
    static const size_t starts[] = {0, sizeof ids / sizeof *ids};
    const struct token_batch batch = {.count = 1, .starts = starts, .ids = ids};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cross_place place;
        float logit;

        open_cross_place(&place, rows[i].config);
        run_reference_batch(&packed_of(&place)->model, &batch, false, &logit);
        if (!(fabs((double)logit - rows[i].logit) <= TOLERANCE))
            fail_msg("%s: %.9g instead of %.9g", rows[i].name, (double)logit, rows[i].logit);
        close_cross_place(&place);
    }
}

/* ---------------------------------------------------------------- pairs */

static void cuts_pairs_like_the_tokenizer(void **state)
{
    static const size_t lengths[][2] = {{0, 0}, {0, 9}, {9, 0}, {1, 1},   {3, 20},  {20, 3},
                                        {5, 6}, {6, 5}, {6, 6}, {20, 21}, {21, 20}, {30, 30}};
    static const char *const frames[] = {"{}", TWO_SEPS};

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct cross_place place;

        make_cross_place(&place, TINY_BERT ONE_LABEL);
        put_text(place.model, "tokenizer_config.json", frames[f]);
        open_cross(&place);
        const struct tokenizer *tokenizer = &packed_of(&place)->tokenizer;
        size_t frame = wt__cross_frame(tokenizer);
        assert_int_equal(frame, FRAME + f);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (size_t most = frame; most <= POSITIONS; most++) {
                char texts[2][128];
                struct str sides[2];
                int32_t ids[2][POSITIONS], types[2][POSITIONS], runs[2][CROSS_TOKENS];
                for (size_t s = 0; s < 2; s++) {
                    for (size_t w = 0; w < lengths[i][s]; w++)
                        memcpy(texts[s] + 2 * w, s ? "a " : ". ", 2);
                    sides[s] = (struct str){texts[s], 2 * lengths[i][s]};
                }
                size_t want =
                    encode_pair(tokenizer, sides[0], sides[1], most, TOKENIZER_LONGEST_FIRST, ids[0], types[0]);
                size_t have = wt__cross_pair(tokenizer, wt__cross_tokens(place.cross, sides[0], runs[0]),
                                             wt__cross_tokens(place.cross, sides[1], runs[1]), most, ids[1], types[1]);
                assert_int_equal(have, want);
                assert_memory_equal(ids[1], ids[0], have * sizeof **ids);
                assert_memory_equal(types[1], types[0], have * sizeof **types);
            }
        close_cross_place(&place);
    }
}

static void ignores_tokens_beyond_a_pair(void **state)
{
    enum { LONG = 1000 };
    struct cross_place place;
    int32_t ids[LONG];
    float logits[2];

    (void)state;
    open_cross_place(&place, TINY_BERT ONE_LABEL);
    for (size_t i = 0; i < LONG; i++)
        ids[i] = (int32_t)(5 + i % 20);
    const struct token_run runs[] = {{ids, LONG}, {ids, POSITIONS - FRAME - 5 /* tokens of the request */}};
    score_tools(&place, runs, 2, logits);
    assert_memory_equal(&logits[0], &logits[1], sizeof *logits);
    close_cross_place(&place);
}

/* ---------------------------------------------------------------- scores */

static void skipped_rows_do_not_change_logits(void **state)
{
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct cross_place place;
        float whole, first, both[2];
        int32_t ids[2 * POSITIONS], types[2 * POSITIONS], words[CROSS_TOKENS];
        size_t starts[3] = {0};

        open_cross_place(&place, models[m].config);
        const struct packed *packed = packed_of(&place);
        struct token_batch batch = {.starts = starts, .ids = ids};
        struct token_run asked = wt__cross_tokens(place.cross, request, words);
        if (packed->model.config.types > 1)
            batch.types = types;
        for (; batch.count < 2; batch.count++)
            starts[batch.count + 1] =
                starts[batch.count] + wt__cross_pair(&packed->tokenizer, asked, place.tools[9 + batch.count], POSITIONS,
                                                     ids + starts[batch.count], types + starts[batch.count]);
        run_reference_batch(&packed->model, &batch, true, both);
        whole = both[0];
        run_reference_batch(&packed->model, &batch, false, both);
        if (memcmp(&both[0], &whole, sizeof whole) != 0)
            fail_msg("%s: %g instead of %g", models[m].name, (double)both[0], (double)whole);
        score_tools(&place, &place.tools[9], 1, &first);
        assert_memory_equal(&first, &whole, sizeof whole);
        assert_memory_not_equal(&both[0], &both[1], sizeof whole);
        close_cross_place(&place);
    }
}

static void pairs_do_not_influence_each_other(void **state)
{
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct cross_place place;
        struct token_run turned[TOOLS];
        float together[TOOLS], backward[TOOLS], alone;

        open_cross_place(&place, models[m].config);
        score_tools(&place, place.tools, TOOLS, together);
        for (size_t i = 0; i < TOOLS; i++)
            turned[i] = place.tools[TOOLS - 1 - i];
        score_tools(&place, turned, TOOLS, backward);
        for (size_t i = 0; i < TOOLS; i++) {
            score_tools(&place, &place.tools[i], 1, &alone);
            if (memcmp(&alone, &together[i], sizeof alone) != 0 ||
                memcmp(&alone, &backward[TOOLS - 1 - i], sizeof alone) != 0)
                fail_msg("%s: tool %zu alone has %g, among others %g and %g", models[m].name, i, (double)alone,
                         (double)together[i], (double)backward[TOOLS - 1 - i]);
        }
        close_cross_place(&place);
    }
}

struct thread_job {
    struct cross_place *place;
    float logits[32][TOOLS];
};

static int score_once(void *context, size_t index, unsigned worker)
{
    struct thread_job *job = context;

    (void)worker;
    return wt__cross_score(job->place->cross, request, job->place->tools, TOOLS, NULL, job->logits[index], NULL);
}

static void threads_share_a_cross_encoder(void **state)
{
    static struct thread_job job;
    struct cross_place place;

    (void)state;
    open_cross_place(&place, TINY_BERT ONE_LABEL);
    job.place = &place;
    assert_int_equal(wt__pool_run(4, 32, score_once, &job), 0);
    for (size_t i = 1; i < 32; i++)
        assert_memory_equal(job.logits[i], job.logits[0], sizeof job.logits[0]);
    close_cross_place(&place);
}

static void accepts_empty_texts_and_zero_tools(void **state)
{
    static const struct token_run nothing;
    struct cross_place place;
    float logits[3] = {7, 7, 7}, empty[2];

    (void)state;
    open_cross_place(&place, TINY_BERT ONE_LABEL);
    assert_int_equal(wt__cross_score(place.cross, request, NULL, 0, NULL, logits, &place.err), 0);
    assert_true(logits[0] == 7);
    score_tools(&place, &nothing, 1, logits);
    score_tools(&place, place.tools, 1, logits + 1); /* empty text */
    assert_memory_equal(&logits[0], &logits[1], sizeof *logits);
    assert_true(logits[2] == 7);
    assert_int_equal(wt__cross_score(place.cross, STR(""), place.tools, 2, NULL, empty, &place.err), 0);
    assert_true(isfinite(empty[0]) && isfinite(empty[1]));
    assert_memory_not_equal(empty, logits, sizeof *empty);
    close_cross_place(&place);
}

static void converts_logits_to_probabilities(void **state)
{
    (void)state;
    assert_true(wt__cross_probability(0) == 0.5f);
    assert_true(wt__cross_probability(1000) == 1);
    assert_true(wt__cross_probability(-1000) == 0);
    assert_true(fabsf(wt__cross_probability(2) - 0.880797f) < 1e-6f);
}

static void accepts_prefixed_tensor_names(void **state)
{
    struct cross_place place;
    float plain[TOOLS], prefixed[TOOLS];

    (void)state;
    open_cross_place(&place, TINY_BERT ONE_LABEL);
    score_tools(&place, place.tools, TOOLS, plain);
    wt__cross_close(place.cross);
    wt__encoder_close(place.encoder);
    tiny_weights_write(place.model, "bert.", 1);
    open_cross(&place);
    score_tools(&place, place.tools, TOOLS, prefixed);
    assert_memory_equal(prefixed, plain, sizeof plain);
    close_cross_place(&place);
}

/* ---------------------------------------------------------------- rejected models */

static void rejects_unknown_tokens(void **state)
{
    static const int32_t ids[] = {5, 6, -1, TINY_VOCABULARY, INT32_MAX};
    struct cross_place place;
    float logit;

    (void)state;
    open_cross_place(&place, TINY_BERT ONE_LABEL);
    for (size_t i = 2; i < 5; i++) {
        const struct token_run runs[] = {{ids, 2}, {ids + i, 1}};
        char want[80];

        snprintf(want, sizeof want, "token %ld of tool 1 is not among the %d tokens of tiny", (long)ids[i],
                 TINY_VOCABULARY);
        assert_int_equal(wt__cross_score(place.cross, request, runs, 2, NULL, &logit, &place.err), WT_EMODEL);
        assert_string_equal(place.err.message, want);
    }
    close_cross_place(&place);
}

static void rejects_other_models(void **state)
{
    static const struct {
        const char *name, *weights, *config, *message;
    } rows[] = {
        {"a model without a classifier", TINY_BERT, TINY_BERT,
         "tiny: the model has no classifier; a cross-encoder's config.json names"},
        {"two labels", TINY_BERT, TINY_BERT TINY_LABELS(2),
         "tiny: the model's classifier has 2 labels; a cross-encoder must have one"},
        {"three labels, named by id2label", TINY_BERT,
         TINY_BERT TINY_LABELS(1) ", \"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}", "has 3 labels"},
        {"no labels in config.json: the default of two", TINY_BERT,
         TINY_BERT ", \"architectures\": [\"BertForSequenceClassification\"]", "has 2 labels"},
        {"a head for masked words", TINY_BERT ONE_LABEL, TINY_BERT ", \"architectures\": [\"BertForMaskedLM\"]",
         "no classifier"},
        {"missing weights of the classifier", TINY_BERT, TINY_BERT ONE_LABEL, "has no tensor \"pooler.dense.weight\""},
        {"missing weights of DistilBERT's classifier", TINY_DISTILBERT, TINY_DISTILBERT ONE_LABEL,
         "has no tensor \"pre_classifier.weight\""},
        {"too few positions for a pair", TINY_BERT ONE_LABEL ", \"max_position_embeddings\": 2",
         TINY_BERT ONE_LABEL ", \"max_position_embeddings\": 2",
         "a pair needs room for 3 tokens; the model has room for 2"},
        {"an unsupported activation in DeBERTa's head", TINY_DEBERTA ONE_LABEL,
         TINY_DEBERTA ONE_LABEL ", \"pooler_hidden_act\": \"sine\"", "pooler_hidden_act \"sine\" is not supported"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cross_place place;

        make_cross_place(&place, rows[i].weights);
        tiny_config_write(place.model, rows[i].config);
        if (wt__cross_open(&place.cross, place.model, NULL, &place.err) != WT_EMODEL ||
            !strstr(place.err.message, rows[i].message))
            fail_msg("%s: \"%s\"", rows[i].name, place.err.message);
        assert_null(place.cross);
        close_cross_place(&place);
    }
}

static void classifier_does_not_affect_encoder(void **state)
{
    static const char *const configs[] = {TINY_BERT, TINY_BERT TINY_LABELS(2), TINY_BERT ONE_LABEL};
    float first[16], vector[16];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct encoder_scratch *scratch;
        struct encoder *encoder;
        struct cross_place place;

        make_cross_place(&place, configs[2]);
        tiny_config_write(place.model, configs[i]);
        if (wt__encoder_open(&encoder, place.model, &place.err) < 0)
            tiny_die(&place.err);
        assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, &place.err), 0);
        assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &request, 1, i ? vector : first, &place.err), 0);
        if (i > 0)
            assert_memory_equal(vector, first, sizeof first);
        wt__encoder_scratch_free(scratch);
        wt__encoder_close(encoder);
        close_cross_place(&place);
    }
}

/* Sets the first number of a tensor to `value`. */
static void spoil_tensor(struct cross_place *place, const char *name, float value)
{
    char path[120], *bytes;
    struct safetensors file;
    size_t len;

    snprintf(path, sizeof path, "%s/model.safetensors", place->model);
    assert_int_equal(wt__file_read(&bytes, &len, path, 1 << 24, &place->err), 0);
    assert_int_equal(wt__safetensors_open(&file, path, bytes, len, &place->err), 0);
    const struct tensor *tensor = wt__safetensors_find(&file, name);
    assert_non_null(tensor);
    memcpy(bytes + ((const char *)tensor->data - bytes), &value, sizeof value);
    put_file(place->model, "model.safetensors", bytes, len);
    wt__safetensors_dispose(&file);
    free(bytes);
}

static void rejects_non_finite_numbers(void **state)
{
    static const char *const tensors[] = {"classifier.bias", "pooler.dense.weight", "embeddings.LayerNorm.bias"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct cross_place place;
        float logits[TOOLS];

        make_cross_place(&place, TINY_BERT ONE_LABEL);
        spoil_tensor(&place, tensors[i], NAN);
        open_cross(&place);
        assert_int_equal(wt__cross_score(place.cross, request, place.tools, TOOLS, NULL, logits, &place.err),
                         WT_EMODEL);
        assert_string_equal(place.err.message, "the weights of tiny give a number that is not finite");
        close_cross_place(&place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_of_random_rows_equal_reference),
        cmocka_unit_test(logits_of_texts_equal_reference),
        cmocka_unit_test(heads_of_all_architectures_equal_reference),
        cmocka_unit_test(cuts_pairs_like_the_tokenizer),
        cmocka_unit_test(ignores_tokens_beyond_a_pair),
        cmocka_unit_test(skipped_rows_do_not_change_logits),
        cmocka_unit_test(pairs_do_not_influence_each_other),
        cmocka_unit_test(threads_share_a_cross_encoder),
        cmocka_unit_test(accepts_empty_texts_and_zero_tools),
        cmocka_unit_test(converts_logits_to_probabilities),
        cmocka_unit_test(accepts_prefixed_tensor_names),
        cmocka_unit_test(rejects_unknown_tokens),
        cmocka_unit_test(rejects_other_models),
        cmocka_unit_test(classifier_does_not_affect_encoder),
        cmocka_unit_test(rejects_non_finite_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
