/* Tests the data sets that an evaluation writes: a portion of a train split, and requests divided by their sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Writes a data set of 40 sets of one or two tools with three requests each. Two requests are train, and one is test.
 * The order of a set's judgements varies. */
static void put_requests_by_set(const char *folder)
{
    struct buffer queries = {0}, rows[2] = {{0}, {0}};
    for (int set = 0; set < 40; set++)
        for (int i = 0; i < 3; i++) {
            int first = i == 1 ? set + 1 : set, second = i == 1 ? set : set + 1;
            wt__buffer_printf(&queries, "{\"_id\": \"q%d-%d\", \"text\": \"request %d of %d\"}\n", set, i, i, set);
            wt__buffer_printf(&rows[i == 2], "q%d-%d\tt%d\t1\n", set, i, first);
            wt__buffer_printf(&rows[i == 2], "q%d-%d\tt%d\t1\n", set, i, second);
        }
    put_text(folder, "corpus.jsonl", "{}\n");
    put_text(folder, "queries.jsonl", queries.ptr);
    put_text(folder, "qrels/train.tsv", rows[0].ptr);
    put_text(folder, "qrels/test.tsv", rows[1].ptr);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&rows[0]);
    wt__buffer_dispose(&rows[1]);
}

static void no_set_is_in_two_splits(void **state)
{
    (void)state;
    static const char *const names[] = {"train", "dev", "test"};
    static const size_t wanted[] = {28 * 3, 4 * 3, 8 * 3};
    char folder[] = "/tmp/whichtool-divided-XXXXXX", path[64];
    struct arena arena = {0};
    struct dataset splits[3];
    const char *out, *again;
    bool unseen[8 * 3], seen[40];
    wt_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/qrels", folder);
    assert_int_equal(wt__make_folders(path, &err), 0);
    put_requests_by_set(folder);
    assert_int_equal(wt__divide_by_set(folder, folder, &arena, &out, &err), 0);
    assert_int_equal(wt__divide_by_set(folder, folder, &arena, &again, &err), 0);
    assert_string_equal(out, again);
    for (size_t s = 0; s < 3; s++) {
        assert_int_equal(wt__dataset_read(&splits[s], out, names[s], &err), 0);
        assert_int_equal(splits[s].len, wanted[s]);
    }
    assert_int_equal(wt__mark_unseen_sets(&splits[2], splits[2].len, &splits[0], unseen, &err), 0);
    for (size_t q = 0; q < splits[2].len; q++)
        assert_true(unseen[q]);
    struct dataset given, train;
    assert_int_equal(wt__dataset_read(&given, folder, "test", &err), 0);
    assert_int_equal(wt__dataset_read(&train, folder, "train", &err), 0);
    assert_int_equal(wt__mark_unseen_sets(&given, given.len, &train, seen, &err), 0);
    for (size_t q = 0; q < given.len; q++)
        assert_false(seen[q]);
    for (size_t s = 0; s < 3; s++)
        wt__dataset_dispose(&splits[s]);
    wt__dataset_dispose(&given);
    wt__dataset_dispose(&train);
    for (size_t s = 0; s < 3; s += 2) {
        snprintf(path, sizeof path, "%s/qrels/%s.tsv", folder, names[s]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(wt__divide_by_set(folder, folder, &arena, &out, &err), WT_EEMPTY);
    wt__arena_dispose(&arena);
    remove_model_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_gets_its_usages),
        cmocka_unit_test(portion_is_a_valid_data_set),
        cmocka_unit_test(no_set_is_in_two_splits),
    };
    return cmocka_run_group_tests_name("eval/portion", tests, NULL, NULL);
}
