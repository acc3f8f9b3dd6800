/* Tests reading examples: requests with the tools that they need, from recorded usages or from data sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/examples.h"
#include "learn/support.h"

static struct examples read_place_examples(struct learn_place *place, wt_engine *engine, const char *data)
{
    struct examples examples;
    assert_train_ok(place, wt__examples_read(&examples, engine, &(struct examples_options){.data = data, .seed = 1},
                                             NULL, &place->err));
    return examples;
}

static void refused_examples(struct learn_place *place, wt_engine *engine, const char *data, int code, const char *text)
{
    struct examples examples;
    assert_train_refused(
        place,
        wt__examples_read(&examples, engine, &(struct examples_options){.data = data, .seed = 1}, NULL, &place->err),
        code, text);
}

/* Returns the tools of the request with this text, for example "0 3", or NULL if the set has no such request. */
static const char *tools_of_request(const struct example_set *set, const char *text, char out[256])
{
    for (size_t i = 0; i < set->count; i++) {
        if (!wt__str_equal(set->texts[i], wt__str(text)))
            continue;
        size_t len = 0;
        out[0] = '\0';
        for (size_t g = set->starts[i]; g < set->starts[i + 1] && len < 200; g++)
            len += (size_t)snprintf(out + len, 256 - len, "%s%u", len ? " " : "", set->tools[g]);
        return out;
    }
    return NULL;
}

static const char *write_examples_notice(struct learn_place *place, struct examples *examples)
{
    const char *notice;
    assert_train_ok(place, wt__examples_notice(examples, &examples->arena, &notice, &place->err));
    return notice ? notice : "";
}

static void reads_both_sides_of_data_set(void **state)
{
    struct learn_place *place = *state;
    char text[256];
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_data_set(place,
                   "{\"_id\": \"a\", \"text\": \"one\"}\n{\"_id\": \"b\", \"text\": \"two\"}\n"
                   "{\"_id\": \"c\", \"text\": \"three\"}\n",
                   "a\tbook_table\t1\na\tget_weather\t1\nb\tbook_table\t0\nb\tsend_mail\t1\n", "c\tplay_music\t1\n");
    struct examples examples = read_place_examples(place, engine, place->data);
    assert_int_equal(examples.tools, PLACE_TOOLS);
    assert_int_equal(examples.train.count, 2);
    assert_int_equal(examples.dev.count, 1);
    assert_string_equal(tools_of_request(&examples.train, "one", text), "0 2");
    assert_string_equal(tools_of_request(&examples.train, "two", text), "3");
    assert_string_equal(tools_of_request(&examples.dev, "three", text), "4");
    assert_string_equal(examples.texts[0][0].ptr, "book table: book a table");
    assert_string_equal(examples.texts[1][0].ptr, "book table");
    assert_string_equal(write_examples_notice(place, &examples), "");
    write_data_set(place,
                   "{\"_id\": \"a\", \"text\": \"one\"}\n{\"_id\": \"b\", \"text\": \"two\"}\n"
                   "{\"_id\": \"c\", \"text\": \"three\"}\n",
                   "a\tbook_table\t1\na\tget_weather\t1\nb\tbook_table\t0\nb\tsend_mail\t1\n", "c\tsend_mail\t1\n");
    struct examples other =
        read_place_examples(place, engine, place->data); /* the hash also depends on the dev requests */
    assert_string_not_equal(examples.hash, other.hash);
    wt__examples_dispose(&other);
    wt__examples_dispose(&examples);
    wt_close(engine);
}

/* A score of 0 or less judges a tool wrong, unless another judgement of the same text says that it is right. */
static void reads_wrong_tools_of_requests(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        uint32_t wrong[3];
    } wanted[] = {{"one", 2, {1, 3}}, {"two", 1, {0}}, {"three", 0, {0}}};
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_data_set(place,
                   "{\"_id\": \"a\", \"text\": \"one\"}\n{\"_id\": \"b\", \"text\": \"two\"}\n"
                   "{\"_id\": \"c\", \"text\": \"three\"}\n{\"_id\": \"d\", \"text\": \"one\"}\n"
                   "{\"_id\": \"e\", \"text\": \"four\"}\n",
                   "a\tsend_mail\t0\na\tbook_table\t1\na\tget_weather\t-1\na\tabsent\t0\n"
                   "b\tbook_table\t0\nb\tsend_mail\t1\nc\tplay_music\t1\n"
                   "d\tget_weather\t1\nd\tsend_mail\t0\nd\tbook_table\t0\nd\ttrain_times\t0\n",
                   "e\tplay_music\t1\n");
    struct examples one = read_place_examples(place, engine, place->data), sets[] = {one}, joined;
    assert_train_ok(place, wt__examples_join(&joined, sets, NULL, 1, 1, &place->err));
    const struct example_set *read[] = {&one.train, &joined.train};
    for (size_t r = 0; r < 2; r++) {
        assert_int_equal(read[r]->count, 3);
        for (size_t i = 0; i < 3; i++) {
            size_t first = read[r]->wrong_starts[i];
            assert_true(wt__str_equal(read[r]->texts[i], wt__str(wanted[i].text)));
            assert_int_equal(read[r]->wrong_starts[i + 1] - first, wanted[i].count);
            assert_memory_equal(read[r]->wrong + first, wanted[i].wrong, wanted[i].count * sizeof *read[r]->wrong);
        }
    }
    assert_int_equal(one.unknown_labels, 0);
    wt__examples_dispose(&one);
    wt__examples_dispose(&joined);
    wt_close(engine);
}

static void tools_have_names_and_providers(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    import_tool_lines(place, engine,
                      "{\"name\": \"send_mail\", \"provider\": \"a\"}\n{\"name\": \"send\", \"provider\": \"b\"}\n"
                      "{\"name\": \"find\", \"provider\": \"a\"}\n{\"name\": \"alone\"}\n{\"name\": \"own\"}\n");
    import_usages(place, engine, "{\"request\": \"one\", \"tools\": [\"alone\"]}\n");
    struct examples examples = read_place_examples(place, engine, NULL);
    static const char *const names[] = {"send_mail", "send", "find", "alone", "own"};
    assert_int_equal(examples.tools, 5);
    for (size_t row = 0; row < 5; row++) {
        assert_string_equal(examples.names[row].ptr, names[row]);
        assert_int_equal(examples.providers[row] >= 0, row < 3);
    }
    assert_true(examples.providers[0] == examples.providers[2] && examples.providers[0] != examples.providers[1]);
    assert_true(examples.providers[3] != examples.providers[4]);
    wt__examples_dispose(&examples);
    wt_close(engine);
}

static void counts_unknown_labels(void **state)
{
    struct learn_place *place = *state;
    char text[256];
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_data_set(place, "{\"_id\": \"a\", \"text\": \"one\"}\n{\"_id\": \"b\", \"text\": \"two\"}\n",
                   "a\tbook_table\t1\na\tgone\t1\nb\tnever\t1\nb\tthere\t1\n", "a\tbook_table\t1\n");
    struct examples examples = read_place_examples(place, engine, place->data);
    assert_int_equal(examples.train.count, 1);
    assert_string_equal(tools_of_request(&examples.train, "one", text), "0");
    assert_int_equal(examples.unknown_labels, 3);
    assert_int_equal(examples.barren, 1);
    assert_string_equal(write_examples_notice(place, &examples),
                        "3 labels of unknown tools were dropped; 1 requests without a "
                        "known tool were dropped");
    wt__examples_dispose(&examples);
    write_data_set(place, "{\"_id\": \"a\", \"text\": \"one\"}\n", "a\tgone\t1\n", NULL);
    refused_examples(place, engine, place->data, WT_EEMPTY, "none of the 1 training requests of");
    wt_close(engine);
}

static void rejects_stores_without_tools_or_usages(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    refused_examples(place, engine, NULL, WT_EEMPTY, "has no tools to learn from");
    import_place_tools(place, engine);
    refused_examples(place, engine, NULL, WT_EEMPTY, "has no recorded use; record some with `whichtool usage add`");
    import_usages(place, engine, "{\"request\": \"a failure\", \"tools\": [\"send_mail\"], \"outcome\": \"failed\"}\n");
    refused_examples(place, engine, NULL, WT_EEMPTY, "has no recorded use");
    refused_examples(place, engine, "/nowhere", WT_ENOTFOUND, "/nowhere");
    wt_close(engine);
}

static void equal_requests_are_one_example(void **state)
{
    struct learn_place *place = *state;
    char text[256];
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_usages(place, engine,
                  "{\"request\": \"the same\", \"tools\": [\"send_mail\", \"book_table\"]}\n"
                  "{\"request\": \"another\", \"tools\": [\"play_music\"]}\n"
                  "{\"request\": \"the same\", \"tools\": [\"get_weather\", \"send_mail\"]}\n");
    struct examples examples = read_place_examples(place, engine, NULL);
    assert_int_equal(examples.train.count, 2);
    assert_int_equal(examples.dev.count, 0);
    assert_string_equal(tools_of_request(&examples.train, "the same", text), "0 2 3");
    /* Uses of tools 0, 2 and 3 for "the same", and of tool 4 for "another". */
    static const uint32_t times[] = {1, 1, 2, 1};
    assert_memory_equal(examples.train.times, times, sizeof times);
    assert_non_null(strstr(write_examples_notice(place, &examples), "too few requests for a dev set"));
    wt__examples_dispose(&examples);
    wt_close(engine);
}

static void counts_a_client_once_per_request(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_usages(place, engine,
                  "{\"request\": \"the same\", \"tools\": [\"send_mail\"], \"client\": \"a\"}\n"
                  "{\"request\": \"the same\", \"tools\": [\"send_mail\", \"book_table\"], \"client\": \"a\"}\n"
                  "{\"request\": \"the same\", \"tools\": [\"send_mail\"], \"client\": \"b\"}\n");
    struct examples examples = read_place_examples(place, engine, NULL);
    static const uint32_t times[] = {1, 2}; /* book_table, send_mail */
    assert_int_equal(examples.train.count, 1);
    assert_memory_equal(examples.train.times, times, sizeof times);
    wt__examples_dispose(&examples);
    wt_close(engine);
}

static void accepts_requests_of_any_alphabet(void **state)
{
    struct learn_place *place = *state;
    char text[256];
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_tool_lines(place, engine, "{\"name\": \"nameless\"}\n{\"name\": \"___\", \"description\": \"\"}\n");
    import_usages(place, engine,
                  "{\"request\": \"予約 テーブル 二人\", \"tools\": [\"book_table\"]}\n"
                  "{\"request\": \"какая погода\", \"tools\": [\"get_weather\", \"___\"]}\n"
                  "{\"request\": \"🎵🎶\", \"tools\": [\"nameless\"]}\n");
    struct examples examples = read_place_examples(place, engine, NULL);
    assert_string_equal(tools_of_request(&examples.train, "予約 テーブル 二人", text), "0");
    assert_string_equal(tools_of_request(&examples.train, "какая погода", text), "2 9");
    assert_string_equal(tools_of_request(&examples.train, "🎵🎶", text), "8");
    assert_string_equal(examples.texts[0][8].ptr, "nameless: ");
    wt__examples_dispose(&examples);
    wt_close(engine);
}

/* Checks that the dev requests of `small` are dev requests of `large`, and that its training requests are training
 * requests there. */
static void assert_sides_stay(const struct examples *small, const struct examples *large)
{
    char text[256];
    for (size_t i = 0; i < small->dev.count; i++)
        assert_non_null(tools_of_request(&large->dev, small->dev.texts[i].ptr, text));
    for (size_t i = 0; i < small->train.count; i++)
        assert_non_null(tools_of_request(&large->train, small->train.texts[i].ptr, text));
}

static void write_usage_lines(struct buffer *jsonl, size_t from, size_t to)
{
    wt__buffer_clear(jsonl);
    for (size_t i = from; i < to; i++)
        wt__buffer_printf(jsonl, "{\"request\": \"request %zu\", \"tools\": [\"%s\"]}\n", i,
                          place_tools[i % PLACE_TOOLS].name);
}

static void one_tenth_is_dev_and_stays_dev(void **state)
{
    struct learn_place *place = *state;
    struct buffer jsonl = {0};
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_usage_lines(&jsonl, 0, 500);
    import_usages(place, engine, jsonl.ptr);
    struct examples small = read_place_examples(place, engine, NULL);
    write_usage_lines(&jsonl, 500, 2000);
    import_usages(place, engine, jsonl.ptr);
    struct examples large = read_place_examples(place, engine, NULL);
    assert_in_range(small.dev.count, 25, 75);
    assert_in_range(large.dev.count, 150, 250);
    assert_int_equal(large.dev.count + large.train.count, 2000);
    assert_sides_stay(&small, &large);
    assert_string_not_equal(small.hash, large.hash);
    struct examples again = read_place_examples(place, engine, NULL);
    assert_string_equal(again.hash, large.hash);
    struct examples other;
    assert_train_ok(place, wt__examples_read(&other, engine, &(struct examples_options){.seed = 2}, NULL, &place->err));
    assert_string_not_equal(other.hash, large.hash);
    wt__examples_dispose(&small);
    wt__examples_dispose(&large);
    wt__examples_dispose(&again);
    wt__examples_dispose(&other);
    wt__buffer_dispose(&jsonl);
    wt_close(engine);
}

static void small_sets_have_dev_requests(void **state)
{
    static const struct {
        size_t requests, least;
    } rows[] = {{4, 1}, {8, 2}, {20, 5}, {60, 5}};
    struct learn_place *place = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer jsonl = {0};
        snprintf(place->store, sizeof place->store, "%s/%zu.wt", place->folder, rows[i].requests);
        wt_engine *engine = open_place_store(place);
        import_place_tools(place, engine);
        write_usage_lines(&jsonl, 0, rows[i].requests);
        import_usages(place, engine, jsonl.ptr);
        struct examples examples = read_place_examples(place, engine, NULL);
        assert_true(examples.dev.count >= rows[i].least);
        assert_true(examples.train.count >= rows[i].requests / 2);
        wt__examples_dispose(&examples);
        wt__buffer_dispose(&jsonl);
        wt_close(engine);
    }
}

static void reads_100000_usages(void **state)
{
    enum { MANY = 100000 };
    struct learn_place *place = *state;
    struct buffer jsonl = {0};
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_usage_lines(&jsonl, 0, MANY);
    import_usages(place, engine, jsonl.ptr);
    struct examples examples = read_place_examples(place, engine, NULL);
    assert_int_equal(examples.dev.count + examples.train.count, MANY);
    assert_int_equal(examples.train.starts[examples.train.count], examples.train.count);
    wt__examples_dispose(&examples);
    wt__buffer_dispose(&jsonl);
    wt_close(engine);
}

/* ---------------------------------------------------------------- several data sets */

/* Creates a store and a data set of two tools, and returns the examples of the data set. The store and the folder of
 * the data set are named `name`. The other parameters are those of write_data_set. */
static struct examples read_small_set(struct learn_place *place, const char *name, const char *queries,
                                      const char *train, const char *dev)
{
    char corpus[300];
    snprintf(place->store, sizeof place->store, "%s/%s.wt", place->folder, name);
    snprintf(place->data, sizeof place->data, "%s/%s", place->folder, name);
    wt_engine *engine = open_place_store(place);
    snprintf(corpus, sizeof corpus, "{\"name\": \"send\", \"description\": \"%s\"}\n{\"name\": \"find\"}\n", name);
    import_tool_lines(place, engine, corpus);
    put_text(place->data, "corpus.jsonl", corpus);
    put_text(place->data, "queries.jsonl", queries);
    put_text(place->data, "qrels/train.tsv", train);
    put_text(place->data, "qrels/dev.tsv", dev);
    struct examples examples = read_place_examples(place, engine, place->data);
    wt_close(engine);
    return examples;
}

static void read_two_sets(struct learn_place *place, struct examples sets[2])
{
    sets[0] = read_small_set(place, "one",
                             "{\"_id\": \"a\", \"text\": \"shared\"}\n{\"_id\": \"b\", \"text\": \"hidden\"}\n"
                             "{\"_id\": \"c\", \"text\": \"first\"}\n",
                             "a\tsend\t1\nb\tfind\t1\n", "c\tsend\t1\n");
    sets[1] = read_small_set(place, "two",
                             "{\"_id\": \"a\", \"text\": \"shared\"}\n{\"_id\": \"b\", \"text\": \"hidden\"}\n"
                             "{\"_id\": \"c\", \"text\": \"second\"}\n",
                             "a\tfind\t1\nc\tsend\t1\nc\tfind\t1\n", "b\tsend\t1\n");
}

static void joined_sets_keep_their_tools_and_labels(void **state)
{
    struct learn_place *place = *state;
    struct examples sets[2], both, swapped;
    read_two_sets(place, sets);
    assert_train_ok(place, wt__examples_join(&both, sets, (size_t[]){0, 0}, 2, 1, &place->err));
    assert_int_equal(both.tools, 4);
    assert_string_equal(both.texts[0][0].ptr, "send: one");
    assert_string_equal(both.texts[0][2].ptr, "send: two");
    assert_string_equal(both.names[3].ptr, "find");
    for (size_t row = 0; row < both.tools; row++)
        assert_true(both.providers[row] == sets[row / 2].providers[row % 2]);
    /* "hidden" is a dev request of the second set, so it must not be a training request of the first. "shared" is a
     * training request of both sets. */
    assert_int_equal(both.train.count, 3);
    assert_int_equal(both.withheld, 1);
    assert_string_equal(both.train.texts[0].ptr, "shared");
    assert_string_equal(both.train.texts[1].ptr, "shared");
    assert_int_equal(both.train.tools[both.train.starts[0]], 0);
    assert_int_equal(both.train.tools[both.train.starts[1]], 3);
    assert_int_equal(both.train.starts[3] - both.train.starts[2], 2);
    assert_int_equal(both.dev.count, 2);
    assert_int_equal(both.dev.tools[both.dev.starts[1]], 2);
    assert_int_equal(both.part_count, 2);
    assert_int_equal(both.parts[0].tools, 2);
    assert_int_equal(both.parts[0].train, 1);
    assert_int_equal(both.parts[1].tools, 4);
    assert_int_equal(both.parts[1].train, 3);
    assert_non_null(strstr(write_examples_notice(place, &both), "1 training requests that are dev in one of the sets"));
    assert_non_null(strstr(both.source, "one, "));
    struct examples turned[2] = {sets[1], sets[0]};
    assert_train_ok(place, wt__examples_join(&swapped, turned, (size_t[]){0, 0}, 2, 1, &place->err));
    assert_string_not_equal(both.hash, swapped.hash);
    wt__examples_dispose(&swapped);
    wt__examples_dispose(&both);
    wt__examples_dispose(&sets[0]);
    wt__examples_dispose(&sets[1]);
}

static void maximum_selects_the_same_requests(void **state)
{
    struct learn_place *place = *state;
    struct buffer jsonl = {0};
    const size_t most = 50;
    struct examples capped, again, other;
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    write_usage_lines(&jsonl, 0, 300);
    import_usages(place, engine, jsonl.ptr);
    struct examples all = read_place_examples(place, engine, NULL);
    assert_train_ok(place, wt__examples_join(&capped, &all, &most, 1, 1, &place->err));
    assert_train_ok(place, wt__examples_join(&again, &all, &most, 1, 1, &place->err));
    assert_train_ok(place, wt__examples_join(&other, &all, &most, 1, 2, &place->err));
    assert_int_equal(capped.train.count, 50);
    assert_int_equal(capped.dev.count, all.dev.count);
    assert_sides_stay(&capped, &all);
    assert_string_equal(capped.hash, again.hash);
    assert_string_not_equal(capped.hash, other.hash);
    assert_string_not_equal(capped.hash, all.hash);
    struct examples *every[] = {&all, &capped, &again, &other};
    for (size_t i = 0; i < 4; i++)
        wt__examples_dispose(every[i]);
    wt__buffer_dispose(&jsonl);
    wt_close(engine);
}

static void rejects_sets_whose_requests_are_all_dev(void **state)
{
    struct learn_place *place = *state;
    struct examples sets[2], out;
    sets[0] = read_small_set(place, "one", "{\"_id\": \"a\", \"text\": \"x\"}\n{\"_id\": \"b\", \"text\": \"y\"}\n",
                             "a\tsend\t1\n", "b\tsend\t1\n");
    sets[1] = read_small_set(place, "two", "{\"_id\": \"a\", \"text\": \"x\"}\n{\"_id\": \"b\", \"text\": \"y\"}\n",
                             "b\tsend\t1\n", "a\tsend\t1\n");
    assert_train_refused(place, wt__examples_join(&out, sets, (size_t[]){0, 0}, 2, 1, &place->err), WT_EEMPTY,
                         "are dev requests as well");
    wt__examples_dispose(&sets[0]);
    wt__examples_dispose(&sets[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_both_sides_of_data_set, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(reads_wrong_tools_of_requests, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(tools_have_names_and_providers, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(counts_unknown_labels, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(rejects_stores_without_tools_or_usages, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(equal_requests_are_one_example, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(counts_a_client_once_per_request, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(accepts_requests_of_any_alphabet, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(one_tenth_is_dev_and_stays_dev, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(small_sets_have_dev_requests, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(reads_100000_usages, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(joined_sets_keep_their_tools_and_labels, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(maximum_selects_the_same_requests, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(rejects_sets_whose_requests_are_all_dev, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests_name("learn/examples", tests, NULL, NULL);
}
