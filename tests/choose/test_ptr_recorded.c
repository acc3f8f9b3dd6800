/* Tests that PTR repeats its choice without the model, from a file of recorded answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "choose/ptr_world.h"
#include "llm/record.h"

static char folder[] = "/tmp/wt-ptr-XXXXXX", path[64];

static int make_folder_ptr_recorded(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/answers.jsonl", folder);
    return 0;
}

static int remove_folder_ptr_recorded(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* Writes the trace of a request as one line. Answers come from the file. If the file lacks an answer, the
 * script answers, unless script is NULL. */
static int choose_recorded(const char *request_text, struct ptr_script *script, char **line, struct chat_cost *cost,
                           wt_error *err)
{
    struct ptr_world world = {.bundle = "ab", .match = "p=a q=-", .dsa = "q=c", .cte = "c=cd"};
    struct ptr_sources sources = world_sources(&world);
    const struct ptr_request request = {.text = wt__str(request_text)};
    struct chat_record *record;
    struct arena arena = {0};
    struct ptr_trace trace;
    assert_int_equal(wt__chat_record_open(&record, path, "script", script ? &script->model : NULL, NULL), 0);
    if (script)
        *script = ptr_script_of(&world);
    int rc = wt__ptr_choose(NULL, &sources, wt__chat_record_model(record), &request, &arena, &trace, err);
    *line = trace_line(&trace);
    *cost = trace.cost;
    wt__chat_record_close(record);
    wt__arena_dispose(&arena);
    return rc;
}

static void recorded_answers_give_same_trace(void **state)
{
    (void)state;
    struct ptr_script script = {.model = {"script", script_ask}};
    struct chat_cost asked, replayed;
    char *first, *again, *other;
    wt_error err = {0};
    assert_int_equal(choose_recorded("request", &script, &first, &asked, NULL), 0);
    assert_string_equal(first, "[ab] p=a q=- partial kept a; q c||cd c2; set ac");
    assert_int_equal(asked.questions, 3);
    assert_int_equal(asked.requests, 3);

    assert_int_equal(choose_recorded("request", NULL, &again, &replayed, NULL), 0);
    assert_string_equal(again, first);
    assert_int_equal(replayed.questions, 3);
    assert_int_equal(replayed.requests, 0);
    assert_int_equal(replayed.prompt_tokens, asked.prompt_tokens);

    assert_int_equal(choose_recorded("another request", NULL, &other, &replayed, &err), WT_ENOTFOUND);
    assert_memory_equal(err.message, "ptr-requirements/2: ", strlen("ptr-requirements/2: "));
    assert_int_equal(replayed.questions, 0);
    free(first);
    free(again);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded_answers_give_same_trace, make_folder_ptr_recorded,
                                        remove_folder_ptr_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
