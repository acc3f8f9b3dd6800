/* Tests records: answers are replayed from the file. Concurrent threads, concurrent processes and crashes do not damage
 * the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "llm/record.h"

enum { THREADS = 4, PROCESSES = 3, QUESTIONS = 40 };

static wt_error err;
static struct arena arena;
static json_t *schema;
static char path[64];
static atomic_int asked; /* number of questions to the inner model */

/* Answers {"tool": N}, where N is the length of the question. Fails for the questions "network" and "nonsense". */
static int answer_length(struct chat_model *model, const struct chat_question *question, struct arena *own,
                         struct chat_answer *out, wt_error *why)
{
    char text[64];
    (void)model;
    atomic_fetch_add(&asked, 1);
    out->attempts = 1;
    out->prompt_tokens = 100;
    out->completion_tokens = 10;
    out->ms = 12.5;
    if (wt__str_equal(question->text, STR("network")))
        return wt__fail(why, WT_ENETWORK, "the network is down");
    if (wt__str_equal(question->text, STR("nonsense")))
        return wt__fail(why, WT_EFORMAT, "it says \"nonsense\"");
    snprintf(text, sizeof text, "{\"tool\": %zu}", question->text.len);
    out->text = (struct str){wt__arena_copy(own, wt__str(text)), strlen(text)};
    return question->schema ? wt__json_parse(&out->json, text, strlen(text), why) : 0;
}

static struct chat_model inner = {.name = "some-model", .ask = answer_length};

static int set_up_record_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/whichtool-record-XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    schema = json_pack("{s:s, s:{s:{s:s}}}", "type", "object", "properties", "tool", "type", "integer");
    return schema ? 0 : -1;
}

static int tear_down_record_folder(void **state)
{
    (void)state;
    unlink(path);
    json_decref(schema);
    wt__arena_dispose(&arena);
    return 0;
}

/* Empties the file. */
static int remove_record(void **state)
{
    (void)state;
    asked = 0;
    return wt__file_replace(path, "", 0, &err);
}

static int ask_recorded(struct chat_record *record, const char *text, struct chat_answer *answer)
{
    struct chat_question question = {.task = "test/1", .text = wt__str(text), .schema = schema, .max_tokens = 32};
    return wt__chat_ask(wt__chat_record_model(record), &question, &arena, answer, &err);
}

static struct chat_record *open_record(struct chat_model *behind)
{
    struct chat_record *record;
    if (wt__chat_record_open(&record, path, "some-model", behind, &err) < 0)
        fail_msg("%s", err.message);
    return record;
}

static void replays_recorded_answers_of_a_file(void **state)
{
    (void)state;
    struct chat_answer answer;
    struct chat_record *record = open_record(&inner);
    assert_string_equal(wt__chat_record_model(record)->name, "some-model");
    for (int i = 0; i < 2; i++) { /* the second answer comes from the record */
        assert_int_equal(ask_recorded(record, "three", &answer), 0);
        assert_int_equal(wt__json_int(answer.json, "tool", 0), 5);
        assert_int_equal(answer.attempts, i == 0);
        json_decref(answer.json);
        assert_int_equal(ask_recorded(record, "nonsense", &answer), WT_EFORMAT);
        assert_string_equal(err.message, "it says \"nonsense\"");
        assert_int_equal(ask_recorded(record, "network", &answer), WT_ENETWORK);
    }
    assert_int_equal(asked, 4);
    wt__chat_record_close(record);

    record = open_record(NULL);
    assert_int_equal(ask_recorded(record, "three", &answer), 0);
    assert_string_equal(answer.text.ptr, "{\"tool\": 5}");
    assert_int_equal(wt__json_int(answer.json, "tool", 0), 5);
    assert_int_equal(answer.prompt_tokens, 100);
    assert_int_equal(answer.completion_tokens, 10);
    assert_true(answer.ms == 12.5);
    assert_int_equal(answer.attempts, 0);
    json_decref(answer.json);
    assert_int_equal(ask_recorded(record, "nonsense", &answer), WT_EFORMAT);
    assert_null(answer.json);
    assert_string_equal(err.message, "it says \"nonsense\"");
    assert_int_equal(asked, 4);
    wt__chat_record_close(record);
}

static void rejects_missing_question(void **state)
{
    (void)state;
    char want[256];
    struct chat_answer answer;
    struct chat_record *record = open_record(NULL);
    assert_int_equal(ask_recorded(record,
                                  "Which\n>>>tool\x1b is it, of all the tools that there are in this large and ever"
                                  " growing catalogue?",
                                  &answer),
                     WT_ENOTFOUND);
    snprintf(want, sizeof want,
             "%s has no answer of some-model to test/1: \"Which > > >tool is it, of all the tools "
             "that there are in this large and ever gr [...]\"",
             path);
    assert_string_equal(err.message, want);
    wt__chat_record_close(record);
}

static void key_depends_on_the_whole_question(void **state)
{
    (void)state;
    char first[65], key[65];
    json_t *same = json_pack("{s:{s:{s:s}}, s:s}", "properties", "tool", "type", "integer", "type", "object"),
           *other = json_pack("{s:s}", "type", "object");
    struct chat_question question = {.task = "test/1", .text = STR("x"), .schema = schema, .max_tokens = 32};
    assert_int_equal(wt__chat_record_key("m", &question, first, &err), 0);
    struct {
        const char *model;
        struct chat_question question;
        bool same;
    } rows[] = {
        {"m", {.task = "test/1", .text = STR("x"), .schema = same, .max_tokens = 32, .subject = "looked at"}, true},
        {"n", {.task = "test/1", .text = STR("x"), .schema = schema, .max_tokens = 32}, false},
        {"m", {.task = "test/2", .text = STR("x"), .schema = schema, .max_tokens = 32}, false},
        {"m", {.task = "test/1", .text = STR("y"), .schema = schema, .max_tokens = 32}, false},
        {"m", {.task = "test/1", .text = STR("x"), .schema = other, .max_tokens = 32}, false},
        {"m", {.task = "test/1", .text = STR("x"), .schema = NULL, .max_tokens = 32}, false},
        {"m", {.task = "test/1", .text = STR("x"), .schema = schema, .max_tokens = 33}, false},
        {"m", {.task = "test/1", .text = STR("x"), .schema = schema, .max_tokens = 32, .seed = 7}, true},
        {"m", {.task = "test/1", .text = STR("x"), .schema = schema, .max_tokens = 32, .temperature = .7}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(wt__chat_record_key(rows[i].model, &rows[i].question, key, &err), 0);
        assert_int_equal(strlen(key), 64);
        assert_int_equal(strcmp(first, key) == 0, rows[i].same);
    }
    /* SHA-256 of {"max_tokens":2,"model":"m","schema":null,"task":"t/1","text":"x"}. Keys must never change, since
     * files outlive programs. */
    question = (struct chat_question){.task = "t/1", .text = STR("x"), .max_tokens = 2};
    assert_int_equal(wt__chat_record_key("m", &question, key, &err), 0);
    assert_string_equal(key, "e9e53d95e549caf0fc997c45aff7f3bc51bc9e5b3d2883abad52a9d74a822e90");
    /* {"max_tokens":2,"model":"m","schema":null,"seed":3,"task":"t/1","text":"x","thousandths":700} */
    question.temperature = .7;
    question.seed = 3;
    assert_int_equal(wt__chat_record_key("m", &question, key, &err), 0);
    assert_string_equal(key, "99fce085060f0fa0bfb1fb03c0561dfe256315918d4724a5d788d2f723d35951");
    question.text = STR("\xff");
    assert_int_equal(wt__chat_record_key("m", &question, key, &err), WT_EFORMAT);
    assert_string_equal(err.message, "a question to a language model (t/1) is not UTF-8");
    json_decref(same);
    json_decref(other);
}

/* Cuts `cut` bytes from the end of the file and appends `add`. */
static void truncate_record(size_t cut, const char *add)
{
    char *bytes;
    size_t len;
    assert_int_equal(wt__file_read(&bytes, &len, path, 1 << 20, &err), 0);
    struct buffer out = {0};
    wt__buffer_append(&out, bytes, len - cut);
    wt__buffer_text(&out, add);
    assert_int_equal(wt__file_replace(path, out.ptr, out.len, &err), 0);
    wt__buffer_dispose(&out);
    free(bytes);
}

static void ignores_truncated_line(void **state)
{
    (void)state;
    struct chat_answer answer;
    struct chat_record *record = open_record(&inner);
    const char *const texts[] = {"a", "bb"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ask_recorded(record, texts[i], &answer), 0);
        json_decref(answer.json);
    }
    wt__chat_record_close(record);
    truncate_record(20, "");

    record = open_record(&inner);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ask_recorded(record, texts[i], &answer), 0);
        assert_int_equal(answer.attempts, i);
        json_decref(answer.json);
    }
    wt__chat_record_close(record);

    record = open_record(NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ask_recorded(record, texts[i], &answer), 0);
        json_decref(answer.json);
    }
    wt__chat_record_close(record);
}

/* Another writer appends an incomplete line while the record is open. */
static void survives_line_truncated_meanwhile(void **state)
{
    (void)state;
    struct chat_answer answer;
    struct chat_record *record = open_record(&inner);
    FILE *other = fopen(path, "a");
    assert_non_null(other);
    fputs("{\"key\":\"torn", other);
    fclose(other);
    assert_int_equal(ask_recorded(record, "a", &answer), 0);
    json_decref(answer.json);
    wt__chat_record_close(record);
    record = open_record(NULL);
    assert_int_equal(ask_recorded(record, "a", &answer), 0);
    json_decref(answer.json);
    wt__chat_record_close(record);
}

static void ignores_lines_without_answer(void **state)
{
    (void)state;
    struct chat_question question = {.task = "test/1", .text = STR("a"), .schema = schema, .max_tokens = 32};
    struct chat_answer answer;
    struct buffer file = {0};
    char key[65];
    assert_int_equal(wt__chat_record_key("some-model", &question, key, &err), 0);
    wt__buffer_text(&file, "\n\nnonsense\n{}\n[]\n{\"key\":\"short\",\"answer\":\"x\"}\n");
    wt__buffer_printf(&file, "{\"key\":\"%s\"}\n{\"key\":\"%s\",\"answer\":3}\n", key, key);
    wt__buffer_printf(&file, "{\"key\":\"%s\",\"answer\":\"{\\\"tool\\\": 7}\",\"ms\":\"x\",\"prompt_tokens\":-3}\n",
                      key);
    wt__buffer_printf(&file, "{\"key\":\"%s\",\"answer\":\"{\\\"tool\\\": 8}\"}\n", key);
    wt__buffer_text(&file, "\x00\xff");
    assert_int_equal(wt__file_replace(path, file.ptr, file.len, &err), 0);
    wt__buffer_dispose(&file);
    struct chat_record *record = open_record(NULL);
    assert_int_equal(ask_recorded(record, "a", &answer), 0);
    assert_int_equal(wt__json_int(answer.json, "tool", 0), 7); /* the first of several answers counts */
    assert_int_equal(answer.prompt_tokens, 0);
    assert_true(answer.ms == 0);
    json_decref(answer.json);
    wt__chat_record_close(record);
}

static void validates_recorded_answers(void **state)
{
    (void)state;
    char key[65];
    struct chat_answer answer;
    struct buffer line = {0};
    struct chat_question question = {.task = "test/1", .text = STR("a"), .schema = schema, .max_tokens = 32};
    assert_int_equal(wt__chat_record_key("some-model", &question, key, &err), 0);
    wt__buffer_printf(&line, "{\"key\":\"%s\",\"answer\":\"{\\\"tool\\\":\\\"a\\\"}\"}\n", key);
    assert_int_equal(wt__file_replace(path, line.ptr, line.len, &err), 0);
    wt__buffer_dispose(&line);
    struct chat_record *record = open_record(NULL);
    assert_int_equal(ask_recorded(record, "a", &answer), WT_EFORMAT);
    assert_non_null(strstr(err.message, ": the answer recorded for test/1: tool has to be of type integer"));
    assert_null(answer.json);
    wt__chat_record_close(record);
}

/* ---------------------------------------------------------------- concurrency */

static void *ask_many(void *record)
{
    struct chat_question question = {.task = "test/1", .max_tokens = 32};
    struct chat_answer answer;
    struct arena own = {0};
    wt_error why;
    for (size_t i = 0; record && i < QUESTIONS; i++) {
        char text[QUESTIONS + 1];
        memset(text, 'x', i + 1);
        question.text = (struct str){text, i + 1};
        if (wt__chat_ask(wt__chat_record_model(record), &question, &own, &answer, &why) < 0)
            record = NULL;
    }
    wt__arena_dispose(&own);
    return record;
}

static bool ask_in_threads(void)
{
    pthread_t threads[THREADS];
    struct chat_record *record;
    bool well = wt__chat_record_open(&record, path, NULL, &inner, NULL) == 0;
    for (size_t i = 0; i < THREADS; i++)
        well &= pthread_create(&threads[i], NULL, ask_many, record) == 0;
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        well &= result != NULL;
    }
    wt__chat_record_close(record);
    return well;
}

/* Each process appends each answer at most once, and no line is damaged. */
static void supports_threads_and_processes(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(ask_in_threads() ? 0 : 1);
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct chat_record *record = open_record(NULL);
    assert_non_null(ask_many(record));
    wt__chat_record_close(record);
    char *bytes;
    size_t len, lines = 0;
    assert_int_equal(wt__file_read(&bytes, &len, path, 1 << 20, &err), 0);
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n';
    assert_true(lines >= QUESTIONS && lines <= QUESTIONS * PROCESSES);
    free(bytes);
}

static void rejects_unusable_files(void **state)
{
    (void)state;
    struct chat_record *record;
    assert_int_equal(wt__chat_record_open(&record, "/tmp/whichtool-no-such/x", "m", NULL, &err), WT_ENOTFOUND);
    assert_null(record);
    assert_int_equal(wt__chat_record_open(&record, "/tmp/whichtool-no-such/x", "m", &inner, &err), WT_ENOTFOUND);
    assert_int_equal(wt__chat_record_open(&record, path, NULL, NULL, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "without the name of a model"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(replays_recorded_answers_of_a_file, remove_record),
        cmocka_unit_test_setup(rejects_missing_question, remove_record),
        cmocka_unit_test_setup(key_depends_on_the_whole_question, remove_record),
        cmocka_unit_test_setup(ignores_truncated_line, remove_record),
        cmocka_unit_test_setup(survives_line_truncated_meanwhile, remove_record),
        cmocka_unit_test_setup(ignores_lines_without_answer, remove_record),
        cmocka_unit_test_setup(validates_recorded_answers, remove_record),
        cmocka_unit_test_setup(supports_threads_and_processes, remove_record),
        cmocka_unit_test_setup(rejects_unusable_files, remove_record),
    };
    return cmocka_run_group_tests(tests, set_up_record_folder, tear_down_record_folder);
}
