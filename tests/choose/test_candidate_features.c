/* Tests the chooser's features of hits and of past requests' votes against values computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "choose/chooser.h"

enum { HITS = 3 };

/* Tools 0 and 1 are hits 0 and 2; tool 2 was removed. Past request 0 used tools 0 and 1. */
static const uint32_t starts[] = {0, 2, 3}, rows[] = {7, 5, NEIGHBOURS_GONE};
static struct hit items[HITS] = {{.row = 7, .score = .9f}, {.row = 9, .score = .6f}, {.row = 5, .score = .3f}};

/* Past request 1 used the tool labels[2]. Request 0 has weight 1, and request 1 has weight e^-2. */
static const struct {
    const char *name;
    uint32_t labels[3];
    size_t past_count; /* expected number of distinct sets */
    bool there;        /* true if the tool of request 1 still exists */
} cases[] = {
    {"request 1 used a tool that request 0 also used", {0, 1, 1}, 2, true},
    {"request 1 used a removed tool", {0, 1, 2}, 1, false},
};

static void computes_vote_features(void **state)
{
    const float nearer = 1 / (1 + expf(-2)), farther = 1 - nearer;
    static const struct scored requests[] = {{1, 0}, {.9f, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool there = cases[i].there;
        const struct scored votes[] = {{nearer + (there ? farther : 0), 5}, {nearer, 7}};
        const struct neighbours neighbours = {
            .count = 2, .starts = starts, .labels = cases[i].labels, .rows = rows, .most_labels = 2};
        items[0].features[FEATURE_NEIGHBOUR_VOTES] = votes[1].score;
        items[2].features[FEATURE_NEIGHBOUR_VOTES] = votes[0].score;
        const struct hit_list hits = {
            .items = items, .len = HITS, .votes = {.items = votes, .len = 2, .requests = requests, .request_count = 2}};
        struct candidate_features out;
        wt__candidate_features_read(&out, &hits, &neighbours);
        const float *answerable = out.answerability, used = 2 * nearer + farther;
        assert_int_equal(out.tools, HITS);
        assert_int_equal(out.past_count, cases[i].past_count);
        assert_int_equal(out.past[0].tools, 1 | 4);
        assert_float_equal(out.past[0].share, nearer, 1e-6);
        for (size_t t = 0; t < HITS; t++)
            assert_float_equal(out.features[t][TOOL_EXPECTED], logf(used), 1e-6);
        if (fabsf(answerable[ANSWERABLE_THERE] - (there ? 1 : 2 * nearer / used)) > 1e-6f)
            fail_msg("%s: the share of votes for existing tools is %g", cases[i].name,
                     (double)answerable[ANSWERABLE_THERE]);
        assert_float_equal(answerable[ANSWERABLE_NEAREST], 1, 0);
        assert_float_equal(answerable[ANSWERABLE_NEAR], .95, 1e-6);
        assert_float_equal(answerable[ANSWERABLE_NEIGHBOUR_VOTE], votes[there ? 0 : 1].score, 1e-6);
    }
}

static void has_no_votes_without_past_requests(void **state)
{
    const struct hit_list hits = {.items = items, .len = HITS};
    struct candidate_features out;
    (void)state;
    wt__candidate_features_read(&out, &hits, NULL);
    assert_int_equal(out.past_count, 0);
    assert_float_equal(out.answerability[ANSWERABLE_THERE], 0, 0);
    assert_float_equal(out.answerability[ANSWERABLE_BEST], .9f, 0);
    assert_float_equal(out.answerability[ANSWERABLE_SECOND], .9f - .6f, 1e-6);
    assert_float_equal(out.answerability[ANSWERABLE_FIFTH], .9f, 0);
    for (size_t t = 0; t < HITS; t++) {
        assert_float_equal(out.features[t][TOOL_EXPECTED], 0, 0);
        assert_float_equal(out.features[t][TOOL_GAP], items[t].score - .9f, 1e-6);
        assert_float_equal(out.features[t][TOOL_RANK], -logf((float)(t + 1)), 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_vote_features),
        cmocka_unit_test(has_no_votes_without_past_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
