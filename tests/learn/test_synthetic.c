/* Tests synthetic requests: the part of a description that they use, and the combination of tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/examples.h"
#include "learn/support.h"
#include "retrieve/document.h"

static void description_gives_one_line(void **state)
{
    static const struct {
        const char *description, *part;
    } rows[] = {
        {"", ""},
        {"too short to say it all", ""},
        {"   \n\t   ....................   ", ""},
        {"exactly twenty-five bytes", "exactly twenty-five bytes"},
        {"  The weather of\n\n a city,\ttoday. . ", "The weather of a city, today. "},
        {"The weather of a city, today...", "The weather of a city, today"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer out = {0};
        wt__synthetic_part(wt__str(rows[i].description), &out);
        assert_string_equal(out.len ? out.ptr : "", rows[i].part);
        wt__buffer_dispose(&out);
    }
}

/* A long description is cut after a word, or between characters if it has no words. */
static void cuts_long_synthetic_descriptions(void **state)
{
    static const char *const units[] = {"word ", "x", "\xe6\x97\xa5", "\xf0\x9f\x98\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct buffer text = {0}, out = {0};
        while (text.len < 2000)
            wt__buffer_text(&text, units[i]);
        wt__synthetic_part(wt__buffer_view(&text), &out);
        assert_in_range(out.len, DOCUMENT_HEAD - 5, DOCUMENT_HEAD);
        assert_memory_equal(out.ptr, text.ptr, out.len);
        assert_int_equal(out.len % strlen(units[i]), i == 0 ? 4 : 0);
        wt__buffer_dispose(&text);
        wt__buffer_dispose(&out);
    }
}

enum { TOOLS = 8, WANTED = 400 };

/* Two tools have no description. The first provider has four tools, the second two, and the other two one each. */
static const struct str parts[TOOLS] = {{"a", 1}, {"b", 1}, {"c", 1},  {NULL, 0},
                                        {"d", 1}, {"e", 1}, {NULL, 0}, {"f", 1}};
static const int64_t providers[TOOLS] = {5, 5, 5, 5, 9, 9, 12, -8};

struct seen_requests {
    size_t requests, of_provider[TOOLS], with[SYNTHETIC_TOOLS + 1];
    struct buffer all;
    size_t stop_at;
};

static int see_request(void *context, struct str text, const uint32_t *rows, size_t count)
{
    struct seen_requests *seen = context;
    struct buffer wanted = {0};
    assert_in_range(count, 1, SYNTHETIC_TOOLS);
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i] < TOOLS && parts[rows[i]].len > 0);
        assert_int_equal(providers[rows[i]], providers[rows[0]]);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(rows[i], rows[j]);
        wt__buffer_printf(&wanted, "%s%c.", i ? " Also, " : "", parts[rows[i]].ptr[0]);
    }
    assert_true(wt__str_equal(text, wt__buffer_view(&wanted)));
    wt__buffer_dispose(&wanted);
    seen->with[count]++;
    seen->of_provider[rows[0]]++;
    wt__buffer_str(&seen->all, text);
    return ++seen->requests == seen->stop_at ? WT_ECANCELLED : 0;
}

static struct seen_requests synthetic_with(uint64_t seed)
{
    struct seen_requests seen = {0};
    const struct synthetic synthetic = {parts, providers, TOOLS, WANTED, seed};
    assert_int_equal(wt__synthetic_each(&synthetic, see_request, &seen, NULL), 0);
    return seen;
}

static void groups_tools_by_provider(void **state)
{
    struct seen_requests seen = synthetic_with(1), again = synthetic_with(1), other = synthetic_with(2);
    (void)state;
    assert_int_equal(seen.requests, WANTED);
    /* Three providers have descriptions and get equal numbers of turns. */
    assert_in_range(seen.of_provider[7], WANTED / 3, WANTED / 3 + 1);
    assert_in_range(seen.of_provider[4] + seen.of_provider[5], WANTED / 3, WANTED / 3 + 1);
    assert_true(seen.of_provider[0] > 20 && seen.of_provider[1] > 20 && seen.of_provider[2] > 20);
    assert_true(seen.with[1] > WANTED / 3 && seen.with[2] > WANTED / 4 && seen.with[3] > WANTED / 30);
    assert_true(wt__str_equal(wt__buffer_view(&seen.all), wt__buffer_view(&again.all)));
    assert_false(wt__str_equal(wt__buffer_view(&seen.all), wt__buffer_view(&other.all)));
    wt__buffer_dispose(&seen.all);
    wt__buffer_dispose(&again.all);
    wt__buffer_dispose(&other.all);
}

static void visitor_may_stop(void **state)
{
    struct seen_requests seen = {.stop_at = 3};
    const struct synthetic synthetic = {parts, providers, TOOLS, WANTED, 1};
    (void)state;
    assert_int_equal(wt__synthetic_each(&synthetic, see_request, &seen, NULL), WT_ECANCELLED);
    assert_int_equal(seen.requests, 3);
    wt__buffer_dispose(&seen.all);
}

static void makes_no_requests_without_descriptions(void **state)
{
    static const struct str silent[2] = {{NULL, 0}, {NULL, 0}};
    struct seen_requests seen = {0};
    (void)state;
    const struct synthetic none = {silent, providers, 2, WANTED, 1}, empty = {NULL, NULL, 0, WANTED, 1};
    assert_int_equal(wt__synthetic_each(&none, see_request, &seen, NULL), 0);
    assert_int_equal(wt__synthetic_each(&empty, see_request, &seen, NULL), 0);
    assert_int_equal(seen.requests, 0);
}

/* ---------------------------------------------------------------- examples of a training */

#define LONG " with many words behind it"

static wt_engine *open_described(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_tool_lines(place, engine,
                      "{\"name\": \"send\", \"description\": \"send a mail" LONG "\"}\n"
                      "{\"name\": \"find\", \"description\": \"find a hotel" LONG "\"}\n"
                      "{\"name\": \"mute\", \"description\": \"short\"}\n");
    return engine;
}

static void tools_omit_descriptions_used_as_requests(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_described(place);
    struct examples made;
    struct examples_options options = {.seed = 1, .synthetic = 40, .no_dev = true};
    assert_train_ok(place, wt__examples_read(&made, engine, &options, NULL, &place->err));
    assert_int_equal(made.tools, 3);
    assert_string_equal(made.texts[0][0].ptr, "send: ");
    assert_int_equal(made.dev.count, 0);
    /* The tools have no provider, so each request needs one tool. Its text is always the same. */
    assert_int_equal(made.train.count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool send = made.train.tools[made.train.starts[i]] == 0;
        assert_int_equal(made.train.times[i], 20);
        assert_string_equal(made.train.texts[i].ptr, send ? "send a mail" LONG "." : "find a hotel" LONG ".");
    }
    assert_non_null(strstr(made.source, "descriptions of "));
    wt__examples_dispose(&made);
    options.synthetic = 0;
    assert_train_refused(place, wt__examples_read(&made, engine, &options, NULL, &place->err), WT_EEMPTY,
                         "no recorded use");
    wt_close(engine);
}

static void train_with(struct learn_place *place, wt_engine *engine, const wt_train_options *options, char hash[65])
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(engine, "encoder", options, &report, &place->err));
    hash_trained_model(place->out, "encoder", hash);
    wt_train_report_free(report);
}

static void trains_with_and_without_recorded_use(void **state)
{
    static const char *const others[] = {"dpr", "tool2vec", "mlc", "auto", "toolrerank", "all"};
    struct learn_place *place = *state;
    char without[65], beside[65], again[65];
    wt_train_report *report = NULL;
    wt_train_options options;
    wt_engine *engine = open_described(place);
    wt_train_options_init(&options);
    options.threads = 1;
    options.epochs = 2;
    assert_train_refused(place, wt_train(engine, "encoder", &options, &report, &place->err), WT_EEMPTY,
                         "no recorded use");
    options.synthetic = 20;
    train_with(place, engine, &options, without);
    import_usages(
        place, engine,
        "{\"request\": \"a mail\", \"tools\": [\"send\"]}\n{\"request\": \"a room\", \"tools\": [\"find\"]}\n");
    train_with(place, engine, &options, beside);
    train_with(place, engine, &options, again);
    assert_string_not_equal(without, beside);
    assert_string_equal(beside, again);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_train_refused(place, wt_train(engine, others[i], &options, &report, &place->err), WT_EINVAL,
                             "synthetic requests work with \"encoder\" and \"cross\", not with");
    options.synthetic = SYNTHETIC_MAX + 1;
    assert_train_refused(place, wt_train(engine, "encoder", &options, &report, &place->err), WT_EINVAL,
                         "at most 1000000");
    wt_close(engine);
}

static void rejects_catalogues_without_descriptions(void **state)
{
    struct learn_place *place = *state;
    wt_train_report *report = NULL;
    wt_train_options options;
    wt_engine *engine = open_place_store(place);
    import_tool_lines(place, engine, "{\"name\": \"mute\", \"description\": \"short\"}\n");
    wt_train_options_init(&options);
    options.synthetic = 1;
    assert_train_refused(place, wt_train(engine, "encoder", &options, &report, &place->err), WT_EEMPTY,
                         "are all shorter than 25 bytes");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(description_gives_one_line),
        cmocka_unit_test(cuts_long_synthetic_descriptions),
        cmocka_unit_test(groups_tools_by_provider),
        cmocka_unit_test(visitor_may_stop),
        cmocka_unit_test(makes_no_requests_without_descriptions),
        cmocka_unit_test_setup_teardown(tools_omit_descriptions_used_as_requests, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(trains_with_and_without_recorded_use, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(rejects_catalogues_without_descriptions, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
