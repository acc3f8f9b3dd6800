/* Tests wt__examples_join_requests, which appends training requests made of two or three others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "learn/support.h"
#include "learn/examples.h"

enum { FIRST = 40, SECOND = 20, BARE = 1 };

/* Returns the examples of three data sets. The first set has 40 requests: request i needs tool i. Its last request is
 * too long to be joined. The second set has 20 requests: each needs tool 40 and one other tool. The third set has a
 * single request. */
static struct examples make_join_examples(void)
{
    static char text[FIRST + SECOND + BARE][600];
    struct examples e = {.tools = 70, .part_count = 3};
    size_t all = FIRST + SECOND + BARE, at = 0;
    e.parts = wt__arena_array(&e.arena, struct example_part, 3);
    e.parts[0] = (struct example_part){40, FIRST, 0, 0, NULL};
    e.parts[1] = (struct example_part){65, FIRST + SECOND, 0, 0, NULL};
    e.parts[2] = (struct example_part){70, all, 0, 0, NULL};
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
        e.texts[t] = calloc(e.tools, sizeof *e.texts[t]);
    e.pairs = e.texts[0];
    e.train = (struct example_set){.count = all,
                                   .texts = wt__alloc_array(all, sizeof *e.train.texts),
                                   .starts = wt__alloc_array(all + 1, sizeof *e.train.starts),
                                   .tools = wt__alloc_array(2 * all, sizeof *e.train.tools),
                                   .times = wt__alloc_array(2 * all, sizeof *e.train.times),
                                   .wrong_starts = calloc(all + 1, sizeof *e.train.wrong_starts),
                                   .wrong = wt__alloc_array(1, sizeof *e.train.wrong)};
    for (size_t i = 0; i < all; i++) {
        snprintf(text[i], sizeof text[i], "%s%zu%s", i < FIRST ? "First " : "Second ", i, i % 2 ? "." : "");
        if (i == FIRST - 1)
            memset(text[i], 'x', 500);
        e.train.texts[i] = wt__str(text[i]);
        e.train.starts[i] = at;
        e.train.tools[at] = i < FIRST ? (uint32_t)i : 40;
        e.train.times[at++] = 3;
        if (i >= FIRST && i < FIRST + SECOND) {
            e.train.tools[at] = (uint32_t)(i + 1);
            e.train.times[at++] = 3;
        }
    }
    e.train.starts[all] = at;
    e.train.wrong[0] = 7; /* the first request has a wrong tool */
    for (size_t i = 1; i <= all; i++)
        e.train.wrong_starts[i] = 1;
    return e;
}

static struct examples joined_of(double share, uint64_t seed)
{
    struct examples e = make_join_examples();
    wt_error err;
    assert_int_equal(wt__examples_join_requests(&e, share, seed, &err), 0);
    return e;
}

static size_t count_occurrences(struct str text, const char *word)
{
    size_t count = 0;
    for (const char *at = text.ptr; (at = strstr(at, word)); at++)
        count++;
    return count;
}

static bool has_tool(const struct example_set *set, size_t request, uint32_t tool)
{
    for (size_t l = set->starts[request]; l < set->starts[request + 1]; l++)
        if (set->tools[l] == tool)
            return true;
    return false;
}

/* Checks that a joined request has exactly the tools of the requests whose numbers are in its text. In the text, `word`
 * precedes each number. Each original request needs `needed` tools. */
static void assert_union(const struct example_set *set, size_t request, const char *word, size_t needed)
{
    struct str text = set->texts[request];
    size_t parts = count_occurrences(text, word);
    for (const char *at = text.ptr; (at = strstr(at, word)); at++) {
        unsigned long number = strtoul(at + strlen(word), NULL, 10);
        assert_true(has_tool(set, request, number < FIRST ? (uint32_t)number : (uint32_t)number + 1));
    }
    assert_in_range(parts, 2, 3);
    assert_int_equal(set->starts[request + 1] - set->starts[request], needed == 1 ? parts : parts + 1);
    for (size_t l = set->starts[request]; l < set->starts[request + 1]; l++) {
        assert_int_equal(set->times[l], 1);
        assert_true(l == set->starts[request] || set->tools[l - 1] < set->tools[l]);
    }
}

static void appends_joined_requests_to_their_part(void **state)
{
    struct examples plain = make_join_examples(), e = joined_of(.5, 1);
    (void)state;
    assert_int_equal(e.parts[0].train, 2 * FIRST);
    assert_int_equal(e.parts[0].joined, FIRST);
    assert_int_equal(e.parts[1].train, 2 * FIRST + 2 * SECOND);
    assert_int_equal(e.parts[1].joined, SECOND);
    assert_int_equal(e.parts[2].joined, 0); /* the third set has only one request */
    assert_int_equal(e.train.count, 2 * FIRST + 2 * SECOND + BARE);
    for (size_t i = 0; i < FIRST; i++) {
        assert_ptr_equal(e.train.texts[i].ptr, plain.train.texts[i].ptr);
        assert_int_equal(e.train.tools[e.train.starts[i]], i);
        assert_int_equal(e.train.times[e.train.starts[i]], 3);
    }
    for (size_t i = FIRST; i < 2 * FIRST; i++)
        assert_union(&e.train, i, "First ", 1);
    for (size_t i = 2 * FIRST + SECOND; i < 2 * FIRST + 2 * SECOND; i++)
        assert_union(&e.train, i, "Second ", 2);
    assert_int_equal(e.train.wrong_starts[1], 1);
    assert_int_equal(e.train.wrong_starts[e.train.count], 1);
    assert_int_equal(e.train.wrong[0], 7);
    assert_string_not_equal(e.hash, plain.hash);
    wt__examples_dispose(&e);
    wt__examples_dispose(&plain);
}

static void joined_requests_read_as_sentences(void **state)
{
    struct examples e = joined_of(.5, 1);
    (void)state;
    for (size_t i = FIRST; i < 2 * FIRST; i++) {
        struct str text = e.train.texts[i];
        assert_true(text.len <= 400 && strlen(text.ptr) == text.len);
        assert_null(strstr(text.ptr, ".."));
        assert_null(strstr(text.ptr, ".,"));
        assert_null(strstr(text.ptr, ".;"));
        assert_null(strstr(text.ptr, ". and"));
        assert_null(strstr(text.ptr, "xxx"));
    }
    wt__examples_dispose(&e);
}

static void joined_requests_depend_on_seed(void **state)
{
    struct examples first = joined_of(.3, 1), again = joined_of(.3, 1), other = joined_of(.3, 2);
    (void)state;
    assert_int_equal(first.parts[0].joined, 17); /* 40 * .3 / .7 */
    assert_string_equal(first.hash, again.hash);
    assert_string_not_equal(first.hash, other.hash);
    wt__examples_dispose(&first);
    wt__examples_dispose(&again);
    wt__examples_dispose(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_joined_requests_to_their_part),
        cmocka_unit_test(joined_requests_read_as_sentences),
        cmocka_unit_test(joined_requests_depend_on_seed),
    };
    return cmocka_run_group_tests_name("learn/joined_requests", tests, NULL, NULL);
}
