/* Tests the examples in the prompt for a new tool: the new tool replaces the most similar tool shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/model_dir.h"
#include "generate/toolselect.h"
#include "generate/writer.h"

static wt_error err;

/* A model that always gives the same answer. */
struct fixed_model {
    struct chat_model model;
    const char *answer;
};

static int give_fixed_answer(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                             struct chat_answer *out, wt_error *why)
{
    (void)arena;
    *out = (struct chat_answer){.text = wt__str(((struct fixed_model *)model)->answer), .attempts = 1};
    return wt__answer_parse(&out->json, out->text, question->schema, why);
}

static const struct {
    const char *name, *description;
    const char *replaces; /* NULL if the tool is refused */
    const char *fate;
} tools[] = {
    {"Low Water Alarm", "Warns before low water at a harbour, by the harbour and the date.", "Tide Table", NULL},
    {"Package Locator", "Finds where a package is by its tracking number.", "Parcel Tracker", NULL},
    {"Bill Writer", "Writes a bill over an amount and sends it to a customer by mail.", "Invoice Sender", NULL},
    {"Secret Word Tester", "Estimates how hard a password is to guess.", "Password Strength", NULL},
    {"tide-table", "Something else entirely, by its colour.", NULL, "name_taken"},
    {"Parcel Tracking", "Tells where a parcel is now, by its tracking number.", NULL, "same_words"},
    {"Parcel Tracking", "Tells where a parcel is just now, by the tracking number.", NULL, "alike"},
};

static bool is_shown_tool(const struct library *library, const char *name)
{
    bool shown = false;
    for (size_t i = 0; i < library->shown_count; i++)
        shown |= strcmp(library->tools[library->shown[i]].name.ptr, name) == 0;
    return shown;
}

static void test_new_tool_replaces_most_similar_example(void **state)
{
    struct encoder *encoder = NULL;
    (void)state;
    assert_int_equal(wt__encoder_open(&encoder, MODEL_BUILT_IN, &err), 0);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        struct library library;
        char answer[512];
        snprintf(answer, sizeof answer, "{\"name\": \"%s\", \"description\": \"%s\"}", tools[i].name,
                 tools[i].description);
        struct fixed_model teller = {{.name = "teller", .ask = give_fixed_answer}, answer};
        struct stage_runner runner = {.model = &teller.model, .temperature = 0.7, .seed = 1};
        assert_int_equal(wt__library_open(&library, encoder, 0.9, &err), 0);
        assert_int_equal(wt__library_add_seeds(&library, &err), 0);
        assert_int_equal(wt__library_generate(&library, &runner, SEED_TOOLS + 1, 1, &err), 0);
        assert_int_equal(library.shown_count, LIBRARY_SHOWN);
        assert_int_equal(runner.counts[STAGE_TOOLS].made, tools[i].replaces ? 1 : 0);
        assert_int_equal(is_shown_tool(&library, tools[i].name), tools[i].replaces != NULL);
        for (size_t seed = 0; seed < SEED_TOOLS; seed++) {
            const char *name = wt__seed_tools[seed].name;
            bool replaced = tools[i].replaces && strcmp(name, tools[i].replaces) == 0;
            if (is_shown_tool(&library, name) == replaced)
                fail_msg("%s: %s is %sshown", tools[i].name, name, replaced ? "" : "not ");
        }
        for (enum piece_fate fate = 0; fate < PIECE_FATES; fate++)
            assert_int_equal(runner.counts[STAGE_TOOLS].refused[fate] > 0,
                             tools[i].fate && strcmp(wt__piece_fate_name(fate), tools[i].fate) == 0);
        wt__library_dispose(&library);
    }
    wt__encoder_close(encoder);
}

/* Without an encoder, a new tool replaces the example that was shown longest. */
static void test_library_without_encoder_is_complete(void **state)
{
    struct fake_writer writer = make_writer(0);
    struct stage_runner runner = {.model = &writer.model, .temperature = 0.7, .seed = 1};
    struct library library;
    (void)state;
    assert_int_equal(wt__library_open(&library, NULL, 0.95, &err), 0);
    assert_int_equal(wt__library_add_seeds(&library, &err), 0);
    assert_int_equal(wt__library_generate(&library, &runner, SEED_TOOLS + 3, 3, &err), 0);
    assert_int_equal(library.count, (SEED_TOOLS + 3) * 4);
    for (size_t seed = 0; seed < SEED_TOOLS; seed++)
        assert_int_equal(is_shown_tool(&library, wt__seed_tools[seed].name), seed >= 3);
    for (size_t i = 0; i < library.count; i++) {
        size_t siblings[8];
        assert_int_equal(wt__library_siblings(&library, i, siblings, 8), 3);
        assert_true(library.tools[i].description.len > 0);
    }
    wt__library_dispose(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_tool_replaces_most_similar_example),
        cmocka_unit_test(test_library_without_encoder_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
