/* Tests exchanges: they are kept verbatim and counted. An unusable answer is kept with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llm/prompt.h"

static const char prompt_file[] = "version 3\ntokens 64\ntext request 64\nschema\n{\"type\": \"object\"}\nprompt\n"
                                  "Say something.\n{{request}}\n";

static struct prompt prompt;
static struct arena arena;

/* Answers {} and reports two attempts. The subject points to an error code, with which the function fails instead; 0 to
 * succeed. */
static int answer_second_try(struct chat_model *model, const struct chat_question *question, struct arena *own,
                             struct chat_answer *out, wt_error *err)
{
    const int *code = question->subject;
    (void)model;
    *out = (struct chat_answer){.text = {wt__arena_copy(own, STR("{}")), 2},
                                .prompt_tokens = 7,
                                .completion_tokens = 2,
                                .ms = 1.5,
                                .attempts = 2,
                                .repaired = *code == 0};
    if (*code < 0)
        return wt__fail(err, *code, "so it is");
    out->json = json_object();
    return out->json ? 0 : wt__fail_nomem(err);
}

static struct chat_model model = {.name = "some-model", .ask = answer_second_try};

static int open_prompt(void **state)
{
    (void)state;
    return wt__prompt_parse(&prompt, "some", (struct str){prompt_file, sizeof prompt_file - 1}, NULL);
}

static int close_prompt(void **state)
{
    (void)state;
    wt__prompt_dispose(&prompt);
    wt__arena_dispose(&arena);
    return 0;
}

static int put_scripted(struct chat_reply *reply, int code, struct progress *progress)
{
    const struct prompt_value value = {.slot = "request", .text = STR("a request")};
    return wt__chat_put(reply, &prompt, &value, 1, &model,
                        (struct chat_question){.subject = &code, .progress = progress});
}

static void keeps_and_counts_exchanges(void **state)
{
    (void)state;
    struct chat_exchange exchanges[2];
    struct chat_cost cost = {0};
    for (int i = 0; i < 2; i++) {
        struct chat_reply reply = {0};
        assert_int_equal(put_scripted(&reply, 0, NULL), 0);
        assert_int_equal(wt__chat_keep(&exchanges[i], &cost, &prompt, &reply, &arena, NULL), 0);
        wt__chat_reply_dispose(&reply); /* kept exchanges outlive the reply */
        assert_string_equal(exchanges[i].task, "some/3");
        assert_string_equal(exchanges[i].question.ptr, "Say something.\n<<<request\na request\n>>>request");
        assert_string_equal(exchanges[i].answer.ptr, "{}");
        assert_null(exchanges[i].unusable);
    }
    assert_int_equal(cost.questions, 2);
    assert_int_equal(cost.requests, 4);
    assert_int_equal(cost.repaired, 2);
    assert_int_equal(cost.unusable, 0);
    assert_int_equal(cost.prompt_tokens, 14);
    assert_int_equal(cost.completion_tokens, 4);
    assert_true(cost.ms == 3);

    assert_int_equal(wt__chat_reject(&exchanges[1], &cost, "it says nothing", &arena, NULL), 0);
    assert_string_equal(exchanges[1].unusable, "it says nothing");
    assert_int_equal(cost.unusable, 1);
}

static void keeps_malformed_answers_as_unusable(void **state)
{
    (void)state;
    struct chat_reply reply = {0};
    struct chat_exchange exchange;
    struct chat_cost cost = {0};
    assert_int_equal(put_scripted(&reply, WT_EFORMAT, NULL), 0);
    assert_int_equal(wt__chat_keep(&exchange, &cost, &prompt, &reply, &arena, NULL), 0);
    assert_string_equal(exchange.unusable, "so it is");
    assert_int_equal(cost.questions, 1);
    assert_int_equal(cost.unusable, 1);
    wt__chat_reply_dispose(&reply);
}

static void keeps_nothing_without_answer(void **state)
{
    (void)state;
    struct chat_reply reply = {0};
    struct chat_exchange exchange;
    struct chat_cost cost = {0};
    wt_error err = {0};
    assert_int_equal(put_scripted(&reply, WT_ENETWORK, NULL), WT_ENETWORK);
    assert_int_equal(wt__chat_keep(&exchange, &cost, &prompt, &reply, &arena, &err), WT_ENETWORK);
    assert_string_equal(err.message, "some/3: so it is");
    assert_int_equal(cost.questions, 0);
    wt__chat_reply_dispose(&reply);

    /* Cancellation is checked before the question is asked. */
    struct progress progress;
    wt__progress_init(&progress, NULL, NULL);
    progress.cancelled = true;
    reply = (struct chat_reply){0};
    assert_int_equal(put_scripted(&reply, 0, &progress), WT_ECANCELLED);
    assert_true(reply.put);
    assert_int_equal(wt__chat_keep(&exchange, &cost, &prompt, &reply, &arena, &err), WT_ECANCELLED);
    wt__chat_reply_dispose(&reply);
    wt__progress_dispose(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_and_counts_exchanges),
        cmocka_unit_test(keeps_malformed_answers_as_unusable),
        cmocka_unit_test(keeps_nothing_without_answer),
    };
    return cmocka_run_group_tests(tests, open_prompt, close_prompt);
}
