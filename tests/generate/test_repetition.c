/* Tests the detection of answers that only repeat their prompt. The prompts are those of prompts/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/internal.h"
#include "llm/prompt.h"

static const char example[] = "Have my shoes left the depot in Leeds yet, and which day will they be here?";

static const struct {
    const char *prompt, *said;
    bool repeats;
} rows[] = {
    /* the answer format that the prompt shows, in full or in part */
    {"ptr-requirements", "{\"requirements\": [\"...\", \"...\"]}", true},
    {"ptr-requirements", "...", true},
    {"generate-toolbank", "{\"instruction\": \"...\", \"functions\": [\"...\", \"...\"], \"explanation\": \"...\"}",
     true},
    {"generate-request", "...", true},
    /* sentences of the prompt */
    {"generate-toolbank", "The request is what a person would write who wants the outcome and does not know the tools.",
     true},
    {"generate-toolbank", "It holds every detail that the tools have to be told, such as names!", true},
    {"generate-request", "Write what a person who needs this tool would ask an assistant for", true},
    /* the example, verbatim, in part or with a word added */
    {"generate-toolbank", "Have my shoes left the depot in Leeds yet, and which day will they be here?", true},
    {"generate-toolbank", "have MY shoes left the depot in Leeds yet", true},
    {"generate-toolbank", "Please: Have my shoes left the depot in Leeds yet, and which day?", true},
    /* original answers */
    {"ptr-requirements", "{\"requirements\": [\"find a flight to Oslo\", \"book a hotel for two nights\"]}", false},
    {"generate-toolbank", "Have the two crates for the Harbour museum left Rotterdam, and what did their customs cost?",
     false},
    {"generate-toolbank", "Convert 30 dollars", false},
    {"generate-request", "Could you tell me how much rain is due in Leith on Sunday?", false},
    {"generate-request", "", false},
    {"generate-request", "?!", false},
};

static void test_answers_that_repeat_prompt_are_detected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prompt prompt;
        struct repetition own;
        wt_error err;
        bool repeats;
        assert_int_equal(wt__prompt_open(&prompt, rows[i].prompt, &err), 0);
        assert_int_equal(wt__repetition_open(&own, wt__str(prompt.text), &err), 0);
        assert_int_equal(
            wt__repetition_check(&own, wt__str(prompt.text), wt__str(example), wt__str(rows[i].said), &repeats, &err),
            0);
        if (repeats != rows[i].repeats)
            fail_msg("%s: \"%s\" %s", rows[i].prompt, rows[i].said,
                     repeats ? "repeats the prompt" : "does not repeat the prompt");
        wt__repetition_dispose(&own);
        wt__prompt_dispose(&prompt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_that_repeat_prompt_are_detected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
