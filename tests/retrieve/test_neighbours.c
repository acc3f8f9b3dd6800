/* Tests the votes of past requests. Their vectors lie on a circle, so that the weights can be computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "retrieve/past_requests.h"

/* Vectors have 16 components, as the kernels require, but only two are used. Request 0 equals the query; 1 and 2 have
 * cosine .9 with it, and 3 has -1. Labels 0, 1 and 3 are in rows 7, 5 and 2; label 2 has no row. */
enum { DIM = 16, PAST = 4 };
static float requests[PAST][DIM];
static const float cosines[PAST] = {1, .9f, .9f, -1};
static const uint32_t starts[] = {0, 2, 3, 5, 6}, labels[] = {0, 1, 0, 2, 1, 3}, rows[] = {7, 5, NEIGHBOURS_GONE, 2};

static struct neighbours past_requests_on_circle(void)
{
    for (size_t i = 0; i < PAST; i++) {
        requests[i][0] = cosines[i];
        requests[i][1] = sqrtf(1 - cosines[i] * cosines[i]);
    }
    return (struct neighbours){.count = PAST,
                               .dim = DIM,
                               .requests = &requests[0][0],
                               .starts = starts,
                               .labels = labels,
                               .rows = rows,
                               .most_labels = 2};
}

static size_t count_votes(const struct neighbours *neighbours, const uint64_t *allowed, struct scored *out)
{
    static const float query[DIM] = {1};
    float scores[PAST];
    struct scored nearest[NEIGHBOURS_ASKED];
    return wt__neighbours_vote(neighbours, query, allowed, scores, out, nearest).len;
}

static void assert_votes(const struct scored *votes, size_t len, const struct scored *wanted, size_t count)
{
    assert_int_equal(len, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(votes[i].row, wanted[i].row);
        assert_float_equal(votes[i].score, wanted[i].score, 1e-6);
    }
}

/* The weights are 1, e^-2, e^-2 and e^-40, divided by their sum. Row 7 has votes of requests 0 and 1, row 5 of 0 and 2,
 * and row 2 of 3. The tool of label 2 is gone, so its votes are lost. */
static void votes_are_weighted_by_cosine(void **state)
{
    const float near = expf(-2), far = expf(-40), all = 1 + 2 * near + far;
    const struct scored wanted[] = {{far / all, 2}, {(1 + near) / all, 5}, {(1 + near) / all, 7}};
    struct neighbours neighbours = past_requests_on_circle();
    struct scored out[NEIGHBOURS_ASKED * 2];
    (void)state;
    assert_votes(out, count_votes(&neighbours, NULL, out), wanted, 3);
    const uint64_t allowed = 1u << 5;
    assert_votes(out, count_votes(&neighbours, &allowed, out), &wanted[1], 1);
    neighbours.count = 0;
    assert_int_equal(count_votes(&neighbours, NULL, out), 0);
}

/* Without requests 0 and 2, request 1 is the nearest. */
static void left_out_requests_have_no_vote(void **state)
{
    const float far = expf(20 * -1.9f), all = 1 + far;
    const struct scored wanted[] = {{far / all, 2}, {1 / all, 7}};
    struct neighbours neighbours = past_requests_on_circle();
    struct scored out[NEIGHBOURS_ASKED * 2];
    (void)state;
    const uint64_t left_out = 1u << 0 | 1u << 2;
    neighbours.left_out = &left_out;
    assert_votes(out, count_votes(&neighbours, NULL, out), wanted, 2);
}

/* Requests 1 and 2 are equally near, so the lower number comes first. */
static void reports_nearest_voters_first(void **state)
{
    static const float query[DIM] = {1};
    const struct scored wanted[] = {{1, 0}, {.9f, 1}, {.9f, 2}, {-1, 3}};
    struct neighbours neighbours = past_requests_on_circle();
    struct scored items[NEIGHBOURS_ASKED * 2], nearest[NEIGHBOURS_ASKED];
    float scores[PAST];
    (void)state;
    struct neighbour_votes votes = wt__neighbours_vote(&neighbours, query, NULL, scores, items, nearest);
    assert_ptr_equal(votes.requests, nearest);
    assert_votes(votes.requests, votes.request_count, wanted, 4);
    assert_float_equal(wt__neighbours_weight(.9f, 1), expf(-2), 1e-6);
}

/* The weights of a label are its number in the first component, and the constant is 10. */
static void regression_reads_the_label_of_a_row(void **state)
{
    static const uint32_t label_of[8] = {
        NEIGHBOURS_GONE, NEIGHBOURS_GONE, 3, NEIGHBOURS_GONE, NEIGHBOURS_GONE, 1, 2, 0};
    static const float query[DIM] = {1};
    static const struct {
        uint32_t row;
        uint64_t left_out; /* bitmap of requests */
        float wanted;
    } cases[] = {{2, 0, 13}, {5, 0, 11},   {7, 0, 10}, {0, 0, 0}, /* a tool that no past request used */
                 {2, 8, 0},                                       /* request 3 alone used it */
                 {5, 8, 11}, {5, 1, 11},   {5, 5, 0},             /* requests 0 and 2 used it */
                 {7, 1, 10}, {7, 1 | 2, 0}};
    float ridge[4][DIM + 1] = {0};
    struct neighbours neighbours = past_requests_on_circle();
    (void)state;
    assert_float_equal(wt__neighbours_ridge(&neighbours, query, 5), 0, 0);
    for (size_t l = 0; l < 4; l++) {
        ridge[l][0] = (float)l;
        ridge[l][DIM] = 10;
    }
    neighbours.ridge = &ridge[0][0];
    neighbours.label_of = label_of;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        neighbours.left_out = cases[i].left_out ? &cases[i].left_out : NULL;
        assert_float_equal(wt__neighbours_ridge(&neighbours, query, cases[i].row), cases[i].wanted, 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(votes_are_weighted_by_cosine),
        cmocka_unit_test(left_out_requests_have_no_vote),
        cmocka_unit_test(reports_nearest_voters_first),
        cmocka_unit_test(regression_reads_the_label_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
