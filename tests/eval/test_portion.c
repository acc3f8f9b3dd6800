/* Tests that a portion of a train split has the requested usages per tool, and is a valid data set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/file.h"
#include "encoder/support.h"
#include "eval/internal.h"

/* Twelve requests over four tools: request i uses tool i % 3, and every fourth request also tool 3. */
enum { REQUESTS = 12, TOOLS = 4 };
static const char *const tools[TOOLS] = {"t0", "t1", "t2", "t3"};

static void make_train_split(struct dataset *set)
{
    struct buffer queries = {0}, qrels = {0};
    for (int i = 0; i < REQUESTS; i++) {
        wt__buffer_printf(&queries, "{\"_id\": \"q%d\", \"text\": \"say \\\"%d\\\"\"}\n", i, i);
        wt__buffer_printf(&qrels, "q%d\tt%d\t1\nq%d\tt9\t0\n", i, i % 3, i);
        if (i % 4 == 0)
            wt__buffer_printf(&qrels, "q%d\tt3\t2\n", i);
    }
    assert_int_equal(wt__dataset_parse(set, wt__buffer_view(&queries), "q", wt__buffer_view(&qrels), "r", NULL), 0);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&qrels);
}

static size_t count_uses(const struct dataset *set, const bool *taken, const char *tool)
{
    size_t uses = 0;
    for (size_t q = 0; q < set->len; q++)
        for (size_t j = 0; taken[q] && j < set->queries[q].judgement_count; j++)
            uses += set->queries[q].judgements[j].gain > 0 &&
                    wt__str_equal(set->queries[q].judgements[j].tool, wt__str(tool));
    return uses;
}

static void every_tool_gets_its_usages(void **state)
{
    (void)state;
    struct dataset set;
    make_train_split(&set);
    bool all[REQUESTS], taken[REQUESTS], more[REQUESTS];
    assert_int_equal(wt__portion_draw(&set, 0, 1, all, NULL), REQUESTS);
    for (uint64_t seed = 1; seed < 20; seed++)
        for (size_t most = 1; most < 6; most++) {
            int64_t few = wt__portion_draw(&set, most, seed, taken, NULL);
            assert_true(few <= wt__portion_draw(&set, most + 1, seed, more, NULL));
            for (size_t t = 0; t < TOOLS; t++) {
                size_t there = count_uses(&set, all, tools[t]);
                assert_true(count_uses(&set, taken, tools[t]) >= (there < most ? there : most));
            }
            for (size_t q = 0; q < REQUESTS; q++)
                assert_true(!taken[q] || more[q]); /* a larger portion contains a smaller one */
        }
    assert_int_equal(wt__portion_draw(&set, 1, 5, taken, NULL), wt__portion_draw(&set, 1, 5, more, NULL));
    assert_memory_equal(taken, more, sizeof taken);
    wt__dataset_dispose(&set);
}

static void portion_is_a_valid_data_set(void **state)
{
    (void)state;
    char folder[] = "/tmp/whichtool-portion-XXXXXX", out[64];
    struct dataset set, train, dev;
    wt_error err;
    make_train_split(&set);
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/part", folder);
    put_text(folder, "corpus.jsonl", "{}\n");
    bool taken[REQUESTS] = {[2] = true, [4] = true};
    for (unsigned again = 0; again < 2; again++)
        assert_int_equal(wt__portion_write(out, folder, &set, taken, &set, &err), 0);
    assert_int_equal(wt__dataset_read(&train, out, "train", &err), 0);
    assert_int_equal(train.len, 2);
    assert_memory_equal(train.queries[1].text.ptr, "say \"4\"", 7);
    assert_int_equal(train.queries[1].judgement_count, set.queries[4].judgement_count);
    assert_int_equal(wt__dataset_read(&dev, out, "dev", &err), 0);
    assert_int_equal(dev.len, REQUESTS); /* requests in both splits are in queries.jsonl once */
    assert_int_equal(wt__portion_write(out, "/nowhere", &set, taken, NULL, &err), WT_ENOTFOUND);
    assert_non_null(strstr(err.message, "/nowhere/corpus.jsonl"));
    wt__dataset_dispose(&train);
    wt__dataset_dispose(&dev);
    wt__dataset_dispose(&set);
    remove_model_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_gets_its_usages),
        cmocka_unit_test(portion_is_a_valid_data_set),
    };
    return cmocka_run_group_tests_name("eval/portion", tests, NULL, NULL);
}
