/* Votes of past requests, on a circle where each one's weight can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "retrieve/neighbours.h"

/* Vectors are 16 wide, as kernels like them, of which two numbers count. Request 0 is the query itself; 1 and 2 have
 * the cosine .9 with it, 3 has -1. Labels 0 to 3 are in rows 7, 5, nowhere and 2. */
enum { DIM = 16, PAST = 4 };
static float requests[PAST][DIM];
static const float cosines[PAST] = {1, .9f, .9f, -1};
static const uint32_t starts[] = {0, 2, 3, 5, 6}, labels[] = {0, 1, 0, 2, 1, 3}, rows[] = {7, 5, NEIGHBOURS_GONE, 2};

static struct neighbours past(void)
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

static size_t vote(const struct neighbours *neighbours, const uint64_t *allowed, struct scored *out)
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

/* The weights are 1, e^-2, e^-2 and e^-40, divided by their sum. Row 7 is of requests 0 and 1, row 5 of 0 and 2, row 2
 * of 3; the tool of label 2 is gone, and its request's weight with it. */
static void each_request_votes_by_its_nearness(void **state)
{
    const float near = expf(-2), far = expf(-40), all = 1 + 2 * near + far;
    const struct scored wanted[] = {{far / all, 2}, {(1 + near) / all, 5}, {(1 + near) / all, 7}};
    struct neighbours neighbours = past();
    struct scored out[NEIGHBOURS_ASKED * 2];
    (void)state;
    assert_votes(out, vote(&neighbours, NULL, out), wanted, 3);
    const uint64_t allowed = 1u << 5;
    assert_votes(out, vote(&neighbours, &allowed, out), &wanted[1], 1);
    neighbours.count = 0;
    assert_int_equal(vote(&neighbours, NULL, out), 0);
}

/* Without requests 0 and 2, request 1 is the nearest. */
static void who_is_left_out_has_no_vote(void **state)
{
    const float far = expf(20 * -1.9f), all = 1 + far;
    const struct scored wanted[] = {{far / all, 2}, {1 / all, 7}};
    struct neighbours neighbours = past();
    struct scored out[NEIGHBOURS_ASKED * 2];
    (void)state;
    const uint64_t left_out = 1u << 0 | 1u << 2;
    neighbours.left_out = &left_out;
    assert_votes(out, vote(&neighbours, NULL, out), wanted, 2);
}

/* 1 and 2 are equally near: the first of them stands first. */
static void voters_are_told_the_nearest_first(void **state)
{
    static const float query[DIM] = {1};
    const struct scored wanted[] = {{1, 0}, {.9f, 1}, {.9f, 2}, {-1, 3}};
    struct neighbours neighbours = past();
    struct scored items[NEIGHBOURS_ASKED * 2], nearest[NEIGHBOURS_ASKED];
    float scores[PAST];
    (void)state;
    struct neighbour_votes votes = wt__neighbours_vote(&neighbours, query, NULL, scores, items, nearest);
    assert_ptr_equal(votes.requests, nearest);
    assert_votes(votes.requests, votes.request_count, wanted, 4);
    assert_float_equal(wt__neighbours_weight(.9f, 1), expf(-2), 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_votes_by_its_nearness),
        cmocka_unit_test(who_is_left_out_has_no_vote),
        cmocka_unit_test(voters_are_told_the_nearest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
