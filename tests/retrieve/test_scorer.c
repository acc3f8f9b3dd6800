/* Tests the learned scorer: the network against its formula, damaged images, the built-in networks, features of a small
 * catalogue, and a table with one more row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/rng.h"
#include "encoder/model_dir.h"
#include "retrieve/scorer.h"
#include "retrieve/source.h"

/* ---------------------------------------------------------------- networks */

enum { HIDDEN = 32, CANDIDATES = 37 };

/* Returns an image with random networks "first" and "second", to be freed. */
static unsigned char *make_image(size_t *len)
{
    size_t inputs = wt__scorer_inputs(&wt__scorer_table);
    size_t floats = 2 * inputs + inputs * HIDDEN + HIDDEN + HIDDEN * SCORER_STRIDE + SCORER_STRIDE + HIDDEN + 2 +
                    SCORER_PERCENTILES;
    struct scorer_header header = {.magic = SCORER_MAGIC,
                                   .version = SCORER_VERSION,
                                   .key = wt__scorer_key(&wt__scorer_table),
                                   .variants = 2,
                                   .inputs = (uint32_t)inputs,
                                   .hidden = HIDDEN,
                                   .names = {"first", "second"}};
    struct rng rng;
    *len = sizeof header + 2 * floats * sizeof(float);
    unsigned char *image = wt__alloc_aligned(*len, 1);
    assert_non_null(image);
    memcpy(image, &header, sizeof header);
    wt__rng_seed(&rng, 3);
    for (size_t i = 0; i < 2 * floats; i++)
        ((float *)(void *)(image + sizeof header))[i] = (float)(wt__rng_unit(&rng) - .5);
    return image;
}

/* Computes one output of one candidate in doubles. */
static double plain_output(const struct scorer *s, const float *inputs, size_t c, size_t o)
{
    double out = (double)s->bias2[o];
    for (size_t h = 0; h < s->hidden; h++) {
        double sum = (double)s->bias1[h];
        for (size_t i = 0; i < s->inputs; i++) {
            double z = ((double)inputs[i * CANDIDATES + c] - (double)s->mean[i]) * (double)s->scale[i];
            sum += fmin(fmax(z, -(double)SCORER_CLIP), (double)SCORER_CLIP) * (double)s->weight1[i * s->hidden + h];
        }
        out += sum / 2 * (1 + erf(sum / sqrt(2))) * (double)s->weight2[h * SCORER_STRIDE + o];
    }
    return out;
}

static void network_equals_its_formula(void **state)
{
    size_t len, inputs = wt__scorer_inputs(&wt__scorer_table);
    unsigned char *image = make_image(&len);
    float *values = malloc(inputs * CANDIDATES * sizeof *values), *copy = malloc(inputs * CANDIDATES * sizeof *copy);
    float outputs[CANDIDATES * SCORER_OUTPUTS], hidden[CANDIDATES * HIDDEN];
    static const char *const names[] = {"first", "second"};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 4);
    for (size_t i = 0; i < inputs * CANDIDATES; i++)
        values[i] = (float)(20 * wt__rng_unit(&rng) - 10);
    for (size_t n = 0; n < 2; n++) {
        struct scorer scorer;
        assert_int_equal(wt__scorer_bind_image(&scorer, image, len, names[n], NULL), 0);
        memcpy(copy, values, inputs * CANDIDATES * sizeof *copy);
        wt__scorer_run(&scorer, copy, CANDIDATES, hidden, outputs);
        for (size_t c = 0; c < CANDIDATES; c++)
            for (size_t o = 0; o < SCORER_OUTPUTS; o++) {
                double expected = plain_output(&scorer, values, c, o);
                assert_true(fabs((double)outputs[c * SCORER_OUTPUTS + o] - expected) < 1e-4 * (1 + fabs(expected)));
            }
    }
    free(values);
    free(copy);
    free(image);
}

static void fit_is_logistic_of_greatest_units(void **state)
{
    static const float hidden[3][2] = {{1, -5}, {-2, 7}, {0, 3}}, fits[] = {.5f, -.25f, 2, .125f};
    const struct scorer scorer = {.hidden = 2, .fits = fits};
    float pooled[2];
    (void)state;
    wt__scorer_pool(hidden[0], 3, 2, pooled);
    assert_float_equal(pooled[0], 1, 0);
    assert_float_equal(pooled[1], 7, 0);
    assert_float_equal(wt__scorer_fits(&scorer, pooled, .5f), 1 / (1 + exp(-(.5 - 1.75 + 1 + .125))), 1e-6);
}

static void quantile_counts_lower_percentiles(void **state)
{
    float percentiles[SCORER_PERCENTILES];
    const struct scorer scorer = {.percentiles = percentiles};
    (void)state;
    for (size_t p = 0; p < SCORER_PERCENTILES; p++)
        percentiles[p] = .4f + .005f * (float)p;
    assert_float_equal(wt__scorer_fits_quantile(&scorer, 0), 0, 0);
    assert_float_equal(wt__scorer_fits_quantile(&scorer, .452f), .11, 1e-6);
    assert_float_equal(wt__scorer_fits_quantile(&scorer, 1), 1, 0);
}

static void damaged_images_are_refused(void **state)
{
    static const struct {
        const char *says;
        size_t offset; /* position of a uint32_t */
        uint32_t value;
    } cases[] = {
        {"scorer: the file is damaged, or from another version", offsetof(struct scorer_header, magic), 1},
        {"scorer: the file is damaged, or from another version", offsetof(struct scorer_header, version), 99},
        {"scorer: the file is damaged, or from another version", offsetof(struct scorer_header, variants), 3},
        {"scorer: the file is damaged, or from another version", offsetof(struct scorer_header, inputs), UINT32_MAX},
        {"scorer: the file is damaged, or from another version", offsetof(struct scorer_header, hidden), 33},
        {"scorer: the features have changed since the networks were trained; run tools/train-scorer",
         offsetof(struct scorer_header, key), 1},
        {"scorer: there is no network \"first\"", offsetof(struct scorer_header, names), 0},
    };
    size_t len;
    unsigned char *image = make_image(&len);
    struct scorer scorer;
    wt_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t was;
        memcpy(&was, image + cases[i].offset, sizeof was);
        memcpy(image + cases[i].offset, &cases[i].value, sizeof was);
        assert_int_equal(wt__scorer_bind_image(&scorer, image, len, "first", &err), WT_EMODEL);
        assert_string_equal(err.message, cases[i].says);
        memcpy(image + cases[i].offset, &was, sizeof was);
    }
    assert_int_equal(wt__scorer_bind_image(&scorer, image, len - 4, "first", &err), WT_EMODEL);
    assert_int_equal(wt__scorer_bind_image(&scorer, image, 7, "first", &err), WT_EMODEL);
    assert_int_equal(wt__scorer_bind_image(&scorer, image, len, "first", &err), 0);
    free(image);
}

static void every_encoder_has_a_network(void **state)
{
    static const char *const encoders[] = {NULL, "whichtool-minilm-v2", "all-MiniLM-L6-v2", "whichtool-static-v1",
                                           "some/other-encoder"};
    enum { COUNT = sizeof encoders / sizeof *encoders };
    struct scorer scorers[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(wt__scorer_bind(&scorers[i], encoders[i], NULL), 0);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(scorers[i].mean, scorers[j].mean);
    }
}

static void values_are_at_most_1_and_fall_with_the_score(void **state)
{
    (void)state;
    assert_true(wt__scorer_value(3, 3, 3) == 1);
    assert_true(wt__scorer_value(2, 3, 3) < 1);
    assert_true(wt__scorer_value(1, 1, 3) < wt__scorer_value(3, 3, 3));
    assert_true(wt__scorer_value(1, 1, 3) > wt__scorer_value(1, 3, 3));
}

/* ---------------------------------------------------------------- features */

static const struct {
    const char *provider, *name, *description;
} tools[] = {
    {"mail", "send_message", "Sends a message to somebody."},
    {"mail", "list_messages", "Lists the messages of a folder."},
    {"calendar", "create_event", "Creates an event."},
    {"photos", "show_picture", "Shows a picture."},
};
enum { TOOLS = sizeof tools / sizeof *tools, EVERYTHING = 1000 };

struct scorer_fixture {
    struct snapshot *snapshot;
    struct workspace *workspace;
};

static int open_scorer_fixture(void **state)
{
    static struct scorer_fixture f;
    struct lexical_builder *builder;
    struct analyser *analyser;
    struct row_words_builder words = {.rows = 0};
    struct packed encoder;
    static struct snapshot_key keys[TOOLS];
    void *lexical;
    size_t len;
    assert_int_equal(wt__packed_bind(&encoder, wt__built_in_model, MODEL_BUILT_IN, NULL), 0);
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL), 0);
    for (uint32_t row = 0; row < TOOLS; row++) {
        struct document document = {.described = 0};
        uint16_t tokens[ROW_WORDS_MAX];
        const struct tool tool = {.provider = wt__str(tools[row].provider),
                                  .name = wt__str(tools[row].name),
                                  .description = wt__str(tools[row].description)};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__lexical_builder_add(builder, document.fields, NULL), 0);
        struct row_tokens of_row = {tokens, wt__document_words(&document, &tool, &encoder.tokenizer, tokens)};
        assert_int_equal(wt__row_words_add(&words, of_row, NULL), 0);
        keys[row] = (struct snapshot_key){.id = row + 1,
                                          .generation = 1,
                                          .provider = row < 2 ? 0 : row,
                                          .name_hash = row,
                                          .actions = wt__tool_actions(&tool),
                                          .verbs = wt__tool_verbs(&tool)};
        wt__document_dispose(&document);
    }
    assert_int_equal(wt__lexical_builder_finish(builder, &lexical, &len, NULL), 0);
    const struct snapshot_content content = {.generation = 1,
                                             .settings = wt__document_settings_key(),
                                             .keys = keys,
                                             .rows = TOOLS,
                                             .lexical = lexical,
                                             .lexical_len = len,
                                             .words = wt__row_words_view(&words)};
    assert_int_equal(wt__snapshot_build(&f.snapshot, NULL, &content, NULL), 0);
    assert_int_equal(wt__workspace_open(&f.workspace, NULL), 0);
    wt__lexical_builder_free(builder);
    wt__analyser_close(analyser);
    wt__row_words_dispose(&words);
    free(lexical);
    *state = &f;
    return 0;
}

static int close_scorer_fixture(void **state)
{
    struct scorer_fixture *f = *state;
    wt__snapshot_free(f->snapshot);
    wt__workspace_close(f->workspace);
    return 0;
}

static struct candidate_list find_candidates(struct scorer_fixture *f, const char *request,
                                             const struct scorer_table *table)
{
    const struct view view = {.snapshot = f->snapshot};
    const struct retrieve_request wanted = {.text = wt__str(request), .k = 10};
    struct candidate_list list;
    assert_int_equal(wt__retrieve_candidates(&view, &wanted, table, false, f->workspace, &list, NULL), 0);
    return list;
}

static size_t find_feature(const char *name)
{
    size_t f = 0;
    while (f < wt__scorer_table.count && strcmp(wt__scorer_table.features[f].name, name) != 0)
        f++;
    assert_true(f < wt__scorer_table.count);
    return f;
}

/* Returns a feature of the tool in `row` for the whole request, in thousandths; -EVERYTHING for other rows. */
static long read_feature(const struct candidate_list *list, const char *feature, uint32_t row)
{
    for (size_t c = 0; c < list->count; c++)
        if (list->rows[c] == row)
            return lroundf(1000 * list->inputs[find_feature(feature) * list->count + c]);
    return -EVERYTHING;
}

static void features_describe_the_candidates(void **state)
{
    static const struct {
        const char *request, *feature;
        uint32_t row;
        long least, most;
    } cases[] = {
        {"send a message", "name", 0, 1000, 1000},       /* both words are in the name */
        {"send a message", "name_share", 0, 1000, 1000}, /* and the name has no others */
        {"send a message", "name", 1, 1, 999},           /* "message", not "send" */
        {"send a message", "name_share", 1, 500, 500},
        {"send a message", "description", 0, 1000, 1000},
        {"send a message", "any_gap", 0, 0, 0},
        {"send a message", "any_gap", 1, -999, -1},
        {"send a message", "sibling_words", 1, -999, -1}, /* the sibling in row 0 has more of the words */
        {"send a message", "matches", 0, 2000, 2000},
        {"mail a message", "provider", 0, 1, 999},
        {"mail a message", "provider_share", 0, 1000, 1000},
        {"mail a message", "provider_share", 2, -EVERYTHING, -EVERYTHING}, /* no word of the request */
        {"create an event", "verb_same", 2, 1000, 1000},
        {"create a message", "verb_clash", 1, 1000, 1000}, /* the tool reads */
        {"are there messages?", "question", 1, 1000, 1000},
        {"are there messages?", "question_reads", 1, 1000, 1000},
        {"list messages", "question", 1, 0, 0},
        {"list messages", "reads", 1, 1000, 1000},
        {"list messages", "words_share", 1, 1000, 1000},
        {"list messages", "soft_name", 1, 990, 1001}, /* equal words have cosine 1 */
        {"a message with an image", "soft_sentence", 0, 1, 999},
        {"send a message", "soft_name_cosine", 0, 990, 1001},
        {"send a message", "own_name_excess", 0, -10, 1},      /* the name has no other words */
        {"send a message", "own_name_excess", 1, -9999, -100}, /* "list" is not in the request */
        {"send a message", "own_name_excess_sibling", 0, 0, 0},
        {"send a message", "rare_name_excess_sibling", 1, -9999, -100},
        {"send a message", "siblings", 0, 693, 693},    /* ln 2 */
        {"send a message", "name_size", 0, 1099, 1099}, /* ln 3 */
        {"list messages", "cosine", 1, 0, 0},           /* there are no vectors */
        {"list messages", "is_subquery", 1, 0, 0},
        {"list the messages of the folder, then create an event", "has_subqueries", 1, 1000, 1000},
    };
    (void)*state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct candidate_list list = find_candidates(*state, cases[i].request, &wt__scorer_table);
        long found = read_feature(&list, cases[i].feature, cases[i].row);
        if (found < cases[i].least || found > cases[i].most)
            fail_msg("\"%s\", %s of row %u: %ld, not %ld to %ld", cases[i].request, cases[i].feature,
                     (unsigned)cases[i].row, found, cases[i].least, cases[i].most);
    }
}

static void subqueries_also_have_features_of_the_whole(void **state)
{
    struct candidate_list list =
        find_candidates(*state, "list the messages of the folder, then create an event", &wt__scorer_table);
    size_t inputs = wt__scorer_inputs(&wt__scorer_table), whole = wt__scorer_table.count;
    assert_true(list.texts > 1);
    for (size_t i = whole; i < inputs; i++) {
        size_t f = (size_t)(wt__scorer_input(&wt__scorer_table, i) - wt__scorer_table.features);
        assert_true(wt__scorer_table.features[f].properties & FEATURE_WHOLE);
        for (size_t t = 0; t < list.texts; t++)
            assert_memory_equal(list.inputs + (t * inputs + i) * list.count, list.inputs + f * list.count,
                                list.count * sizeof(float));
    }
}

static void fill_answer(const struct scored_text *text, float *out)
{
    (void)text;
    *out = 42; /* for the first candidate */
}

static void one_row_adds_a_feature(void **state)
{
    size_t count = wt__scorer_table.count;
    struct scorer_feature *features = malloc((count + 1) * sizeof *features);
    assert_non_null(features);
    memcpy(features, wt__scorer_table.features, count * sizeof *features);
    features[count] = (struct scorer_feature){"answer", fill_answer, 0};
    const struct scorer_table table = {features, count + 1};
    assert_int_equal(wt__scorer_inputs(&table), wt__scorer_inputs(&wt__scorer_table) + 1);
    assert_true(wt__scorer_key(&table) != wt__scorer_key(&wt__scorer_table));
    struct candidate_list list = find_candidates(*state, "send a message", &table);
    assert_true(list.count > 0 && list.inputs[count * list.count] == 42);
    free(features);
}

static void requests_without_candidates_have_no_features(void **state)
{
    assert_int_equal(find_candidates(*state, "zeppelin", &wt__scorer_table).count, 0);
}

/* Searches with hybrid. context: as in struct view. */
static struct hit_list find_by_scorer(struct scorer_fixture *f, const char *request, const struct context *context)
{
    struct retriever retriever = wt__hybrid;
    const struct view view = {.snapshot = f->snapshot, .context = context};
    const struct retrieve_request wanted = {.text = wt__str(request), .k = 10};
    struct hit_list hits;
    retriever.weights[SOURCE_CONTEXT] = context ? 1 : 0;
    assert_int_equal(wt__retrieve(&retriever, &view, &wanted, f->workspace, &hits, NULL), 0);
    assert_true(hits.len > 0);
    return hits;
}

static void explains_greatest_changes_first(void **state)
{
    struct scorer_fixture *f = *state;
    struct arena arena = {0};
    struct feature_share *shares;
    size_t count;
    const struct candidate_list list = find_candidates(f, "send a message", &wt__scorer_table);
    const long name_share = read_feature(&list, "name_share", 0);
    find_by_scorer(f, "send a message", NULL);
    assert_int_equal(wt__scorer_explain(f->workspace, 0, &arena, &shares, &count, NULL), 0);
    assert_int_equal(count, FEATURES_EXPLAINED);
    for (size_t i = 0; i < count; i++) {
        assert_true(shares[i].share != 0 && (i == 0 || fabsf(shares[i].share) <= fabsf(shares[i - 1].share)));
        if (strcmp(shares[i].name, "name_share") == 0)
            assert_int_equal(lroundf(1000 * shares[i].value), name_share);
    }
    assert_int_equal(wt__scorer_explain(f->workspace, 1000, &arena, &shares, &count, NULL), 0);
    assert_int_equal(count, 0); /* no candidate has this row */
    wt__arena_dispose(&arena);
}

/* The networks were trained with English requests. */
static void foreign_requests_have_no_fit(void **state)
{
    struct scorer_fixture *f = *state;
    assert_false(isnan(find_by_scorer(f, "send a message to the team", NULL).fits));
    assert_true(isnan(find_by_scorer(f, "bitte eine message an das Team schicken", NULL).fits));
}

static void conversation_raises_probabilities(void **state)
{
    struct scorer_fixture *f = *state;
    static const struct context_tool opened[] = {{.row = 1, .share = 1, .estimate = .9f}};
    static const struct context context = {.tools = opened, .count = 1, .fits = .8f, .fits_quantile = .7f};
    const struct hit_list alone = find_by_scorer(f, "messages", NULL);
    const float fits = alone.fits;
    const struct hit_list hits = find_by_scorer(f, "messages", &context);
    assert_float_equal(hits.fits, fmaxf(fits, .8f), 1e-6);
    assert_true(hits.fits_quantile >= .7f);
    for (size_t i = 0; i < hits.len; i++)
        if (hits.items[i].row == 1)
            assert_true(hits.items[i].estimate >= .9f - 1e-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(network_equals_its_formula),
        cmocka_unit_test(fit_is_logistic_of_greatest_units),
        cmocka_unit_test(quantile_counts_lower_percentiles),
        cmocka_unit_test(damaged_images_are_refused),
        cmocka_unit_test(every_encoder_has_a_network),
        cmocka_unit_test(values_are_at_most_1_and_fall_with_the_score),
        cmocka_unit_test(features_describe_the_candidates),
        cmocka_unit_test(subqueries_also_have_features_of_the_whole),
        cmocka_unit_test(one_row_adds_a_feature),
        cmocka_unit_test(requests_without_candidates_have_no_features),
        cmocka_unit_test(explains_greatest_changes_first),
        cmocka_unit_test(foreign_requests_have_no_fit),
        cmocka_unit_test(conversation_raises_probabilities),
    };
    return cmocka_run_group_tests(tests, open_scorer_fixture, close_scorer_fixture);
}
