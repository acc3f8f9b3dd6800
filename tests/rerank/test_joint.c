/* Tests the joint scorer on a model of two layers: which hits and texts it reads, their order and probabilities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "encoder/tiny_model.h"
#include "rerank/reranker.h"
#include "retrieve/document.h"

enum { TOOLS = 25, READS = 14, OTHERS = 5 /* special tokens of tiny_words */ };

struct joint_place {
    char folder[64], model[80];
    struct cross_encoder *cross;
    struct hit hits[TOOLS];
    struct hit_list list;
    wt_error err;
};

/* The tool of row i is named by a word of the model. */
static int read_named_tools(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                            wt_error *err)
{
    (void)context;
    (void)arena;
    (void)err;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct tool){.name = wt__str(tiny_words[OTHERS + rows[i] % (TINY_WORDS - OTHERS)])};
    return 0;
}

static void open_joint_place(struct joint_place *place, size_t count)
{
    memset(place, 0, sizeof *place);
    tiny_model_make(place->folder, place->model, TINY_BERT TINY_LABELS(1), 1);
    place->cross = wt__cross_encoder_new(place->model, "");
    assert_non_null(place->cross);
    place->list = (struct hit_list){.items = place->hits, .len = count, .fits = 0.5f};
    for (size_t i = 0; i < count; i++)
        place->hits[i] = (struct hit){.row = (uint32_t)i, .score = 1 / (float)(i + 1), .estimate = 0.3f};
}

static void close_joint_place(struct joint_place *place)
{
    wt__cross_encoder_free(place->cross);
    remove_model_folder(place->folder);
}

static void run_joint_scorer(struct joint_place *place)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const struct retrieve_request request = {.text = STR("find a hotel in paris")};
    const struct rerank_input input = {.request = &request, .tools = {.read = read_named_tools}, .arena = &arena};
    const struct reranker reranker = {.kind = &wt__rerank_joint, .cross = place->cross};
    if (wt__rerank(&reranker, &input, &place->list, &place->err) < 0)
        tiny_die(&place->err);
}

/* Returns the logit of a text and the tool of a row. */
static float logit_of(struct joint_place *place, struct str text, uint32_t row)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct cross *cross;
    struct tool tool;
    float logit;
    read_named_tools(NULL, &row, 1, NULL, &tool, NULL);
    if (wt__cross_encoder_open(place->cross, NULL, &cross, &place->err) < 0 ||
        wt__cross_encoder_score(cross, place->cross->fields, text, &tool, 1, NULL, &arena, &logit, &place->err) < 0)
        tiny_die(&place->err);
    return logit;
}

static const struct stage_evidence *joint_stage(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, CROSS_STAGE) == 0)
            return &hit->stages[s];
    return NULL;
}

static void first_hits_are_ordered_by_score_and_logit(void **state)
{
    struct joint_place place;
    double weight = NAN;
    (void)state;
    open_joint_place(&place, TOOLS);
    run_joint_scorer(&place);
    assert_true(place.hits[0].score == 1);
    for (size_t i = 0; i < TOOLS; i++) {
        const struct hit *hit = &place.hits[i], *first = &place.hits[0];
        const struct stage_evidence *stage = joint_stage(hit);
        assert_true(i == 0 || hit->score <= place.hits[i - 1].score);
        assert_non_null(stage);
        if (i >= READS) { /* not read: behind the others in their order */
            assert_int_equal(hit->row, i);
            assert_float_equal(hit->estimate, 0.3, 1e-6);
            continue;
        }
        assert_int_equal(stage->rank, i + 1);
        assert_float_equal(stage->score, logit_of(&place, STR("find a hotel in paris"), hit->row), 1e-5);
        /* The same weight of logits explains each score. */
        double before = log((double)(first->row + 1) / (double)(hit->row + 1));
        double logits = (double)stage->score - (double)joint_stage(first)->score;
        if (fabs(logits) < 1e-3)
            continue;
        double here = (log((double)hit->score) - before) / logits;
        assert_true(isnan(weight) || fabs(here - weight) < 1e-2);
        weight = here;
    }
    assert_true(weight > 0);
    close_joint_place(&place);
}

static void hits_of_a_subquery_are_read_with_the_whole_request(void **state)
{
    struct joint_place place;
    (void)state;
    open_joint_place(&place, 6);
    for (size_t i = 0; i < 4; i++)
        place.hits[i].subquery = STR("in paris");
    run_joint_scorer(&place);
    for (size_t i = 0; i < 6; i++)
        assert_float_equal(joint_stage(&place.hits[i])->score,
                           logit_of(&place, STR("find a hotel in paris"), place.hits[i].row), 1e-5);
    close_joint_place(&place);
}

static void probabilities_rise_with_the_logit(void **state)
{
    struct joint_place place;
    (void)state;
    open_joint_place(&place, READS);
    place.hits[3].estimate = NAN; /* the learned scorer was not used */
    run_joint_scorer(&place);
    for (size_t i = 0; i < READS; i++)
        for (size_t j = 0; j < READS; j++) {
            const struct hit *a = &place.hits[i], *b = &place.hits[j];
            if (a->row == 3 || b->row == 3)
                assert_true(isnan(a->row == 3 ? a->estimate : b->estimate));
            else if (joint_stage(a)->score > joint_stage(b)->score)
                assert_true(a->estimate > b->estimate && a->estimate > 0 && a->estimate < 1);
        }
    assert_true(place.list.fits > 0 && place.list.fits < 1);
    assert_true(place.list.fits_quantile >= 0 && place.list.fits_quantile <= 1);
    close_joint_place(&place);
}

static void foreign_requests_are_not_read(void **state)
{
    struct joint_place place;
    (void)state;
    open_joint_place(&place, 2);
    place.list.fits = NAN;
    run_joint_scorer(&place);
    assert_true(isnan(place.list.fits));
    assert_null(joint_stage(&place.hits[0]));
    close_joint_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_hits_are_ordered_by_score_and_logit),
                                       cmocka_unit_test(hits_of_a_subquery_are_read_with_the_whole_request),
                                       cmocka_unit_test(probabilities_rise_with_the_logit),
                                       cmocka_unit_test(foreign_requests_are_not_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
