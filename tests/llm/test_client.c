/* Tests the client with a scripted server. The client returns the server's answer, or gives up in time. It never
 * reveals the key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llm/client.h"
#include "net/script_server.h"

#define KEY "sk-a-very-secret-key"
#define SCHEMA                                                                                                         \
    "{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":[\"integer\",\"null\"]}},\"required\":[\"tool\"],"        \
    "\"additionalProperties\":false}"
/* A completion with this text, which the caller must escape for JSON. */
#define SAYS(text) SAYS_ENDING(text, "stop")
#define SAYS_ENDING(text, reason)                                                                                      \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"" text "\"},\"finish_reason\":\"" reason         \
    "\"}],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10}}"
#define GOOD                                                                                                           \
    {                                                                                                                  \
        .status = 200, .body = SAYS("{\\\"tool\\\": 2}")                                                               \
    }

static wt_error err;
static struct script_server server;
static struct arena arena;
static json_t *schema;
static char url[64];

static int set_up_client_server(void **state)
{
    (void)state;
    if (script_server_start(&server) < 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", server.port);
    return wt__json_parse(&schema, SCHEMA, strlen(SCHEMA), &err);
}

static int tear_down_client_server(void **state)
{
    (void)state;
    script_server_stop(&server);
    wt__arena_dispose(&arena);
    json_decref(schema);
    return 0;
}

static struct chat_client *open_scripted_client(unsigned total_ms)
{
    struct chat_client *client;
    struct chat_client_options options = wt__chat_client_defaults();
    options.base_url = url;
    options.key = KEY;
    options.model = "some-model";
    options.first_pause_ms = 1;
    options.stall_ms = 200;
    if (total_ms)
        options.total_ms = total_ms;
    assert_int_equal(wt__chat_client_open(&client, &options, &err), 0);
    return client;
}

static struct chat_question usual_question(void)
{
    return (struct chat_question){
        .task = "test/1", .text = STR("Which tool? 1. a 2. b"), .schema = schema, .max_tokens = 32};
}

static const struct {
    const char *name;
    struct script_step steps[4]; /* the last step with a status also serves later requests */
    int rc;
    unsigned attempts; /* number of requests to the server */
    bool repaired;     /* true if the answer came after a repair */
    const char *says;  /* part of the error; NULL on success */
    unsigned total_ms; /* 0 for the default */
} rows[] = {
    {.name = "an answer", .steps = {GOOD}, .attempts = 1},
    {.name = "an answer in a code fence",
     .steps = {{.status = 200, .body = SAYS("```json\\n{\\\"tool\\\": 2}\\n```")}},
     .attempts = 1},
    {.name = "a valid answer with another content type",
     .steps = {{.status = 200, .type = "text/plain", .body = SAYS("{\\\"tool\\\": 2}")}},
     .attempts = 1},
    {.name = "a NUL in the answer, then good",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": \\u0000 2}")}, GOOD},
     .attempts = 2,
     .repaired = true},
    {.name = "an escaped NUL in the answer, then good",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": \\\"\\\\u0000\\\"}")}, GOOD},
     .attempts = 2,
     .repaired = true},
    {.name = "a NUL in each answer",
     .steps = {{.status = 200, .body = SAYS("\\u0000")}},
     .rc = WT_EFORMAT,
     .attempts = 2,
     .says = "the answer has a NUL character"},
    {.name = "500, then good", .steps = {{.status = 500, .body = "oops"}, GOOD}, .attempts = 2},
    {.name = "503 twice, then good",
     .steps = {{.status = 503, .body = "{}"}, {.status = 503, .body = "{}"}, GOOD},
     .attempts = 3},
    {.name = "500 each time",
     .steps = {{.status = 500, .body = "{\"error\":{\"message\":\"out of cheese\"}}"}},
     .rc = WT_ENETWORK,
     .attempts = 3,
     .says = "/v1/chat/completions answers 500: out of cheese"},
    {.name = "500 that must not be retried",
     .steps = {{.status = 500, .headers = "x-should-retry: false\r\n", .body = "oops"}, GOOD},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "answers 500"},
    {.name = "400 that should be retried",
     .steps = {{.status = 400, .headers = "x-should-retry: true\r\n", .body = "oops"}, GOOD},
     .attempts = 2},
    {.name = "429 with a pause in ms",
     .steps = {{.status = 429, .headers = "retry-after-ms: 40\r\n", .body = "{}"}, GOOD},
     .attempts = 2},
    {.name = "429 with a pause above the limit",
     .steps = {{.status = 429, .headers = "Retry-After: 121\r\n", .body = "{\"error\":\"slow down\"}"}, GOOD},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "answers 429: slow down"},
    {.name = "truncated, then good",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": 2}"), .cut = 20}, GOOD},
     .attempts = 2},
    {.name = "truncated without a length, then good",
     .steps = {{.status = 200, .body = "{\"choices\":[{\"mess", .no_length = true}, GOOD},
     .attempts = 2},
    {.name = "stalls, then good",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": 2}"), .stall = 20}, GOOD},
     .attempts = 2},
    {.name = "hangs up, then good", .steps = {{.status = 0}, GOOD}, .attempts = 2},
    {.name = "slow, but within the timeout",
     .steps = {{.status = 200, .delay_ms = 300, .body = SAYS("{\\\"tool\\\": 2}")}},
     .attempts = 1},
    {.name = "too slow each time",
     .steps = {{.status = 200, .delay_ms = 700, .body = SAYS("{\\\"tool\\\": 2}")}},
     .rc = WT_ENETWORK,
     .attempts = 3,
     .says = "cannot ask http://127.0.0.1:",
     .total_ms = 100},
    {.name = "a response of 10 MB",
     .steps = {{.status = 200, .filler = 10 << 20, .body = SAYS("{\\\"tool\\\": 2}")}},
     .rc = WT_ETOOLONG,
     .attempts = 1,
     .says = "answers with more than 4194304 bytes"},
    {.name = "a redirect",
     .steps = {{.status = 307, .headers = "Location: http://127.0.0.1:1/\r\n", .body = ""}},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "answers 307: redirects are not followed"},
    {.name = "an HTML page in place of an answer",
     .steps = {{.status = 200, .type = "text/html", .body = "<html>Log in</html>"}},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "is it the address of a language model?: the server's response is not valid JSON"},
    {.name = "JSON that is not a completion",
     .steps = {{.status = 200, .body = "{\"data\":[]}"}},
     .rc = WT_ENETWORK,
     .attempts = 3,
     .says = "is not a chat completion"},
    {.name = "a wrong key, which the server repeats",
     .steps = {{.status = 401, .body = "{\"error\":{\"message\":\"Incorrect API key: " KEY ".\"}}"}},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "answers 401 (the key was rejected): Incorrect API key: (key)."},
    {.name = "a message with control characters",
     .steps = {{.status = 404, .body = "{\"error\":{\"message\":\"no\\u001b[31m such\\n\\nmodel\"}}"}},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "answers 404: no[31m such model"},
    {.name = "a question that is too long for the model",
     .steps = {{.status = 400,
                .body = "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"max_tokens\"}}"}},
     .rc = WT_ETOOLONG,
     .attempts = 1,
     .says = "answers 400: max_tokens"},
    {.name = "broken JSON, then repaired",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": 2")}, GOOD},
     .attempts = 2,
     .repaired = true},
    {.name = "an answer in words, then repaired",
     .steps = {{.status = 200, .body = SAYS("The best tool is {\\\"tool\\\": 2}")}, GOOD},
     .attempts = 2,
     .repaired = true},
    {.name = "an echo of the prompt, twice",
     .steps = {{.status = 200, .body = SAYS("Which tool? 1. a 2. b")}},
     .rc = WT_EFORMAT,
     .attempts = 2,
     .says = "some-model gives no usable answer (test/1): the answer has to begin with { or ["},
    {.name = "JSON that does not match the schema, twice",
     .steps = {{.status = 200, .body = SAYS("{\\\"tool\\\": \\\"b\\\"}")}},
     .rc = WT_EFORMAT,
     .attempts = 2,
     .says = "tool has to be of type integer or null"},
    {.name = "repaired after a failure",
     .steps = {{.status = 200, .body = SAYS("")}, {.status = 500, .body = ""}, GOOD},
     .attempts = 3,
     .repaired = true},
    {.name = "cut off at max_tokens, twice",
     .steps = {{.status = 200, .body = SAYS_ENDING("{\\\"tool\\\": 2}", "length")}},
     .rc = WT_EFORMAT,
     .attempts = 2,
     .says = "the answer was cut off after 32 tokens"},
    {.name = "a model that declines",
     .steps = {{.status = 200, .body = SAYS_ENDING("", "content_filter")}},
     .rc = WT_ENETWORK,
     .attempts = 1,
     .says = "some-model declines to answer (test/1)"},
};

static void gets_answers_or_gives_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chat_client *client = open_scripted_client(rows[i].total_ms);
        struct chat_question question = usual_question();
        struct chat_answer answer;
        size_t steps = 0;
        while (steps < 4 && (rows[i].steps[steps].status || rows[i].steps[steps + (steps < 3)].status))
            steps++;
        script_server_play(&server, rows[i].steps, steps);
        int rc = wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err);
        bool right =
            rc == 0 ? wt__json_int(answer.json, "tool", 0) == 2
                    : err.code == rc && !answer.json && strstr(err.message, rows[i].says) && !strstr(err.message, KEY);
        if (rc != rows[i].rc || !right || answer.attempts != rows[i].attempts || answer.repaired != rows[i].repaired)
            fail_msg("%s: %d after %u, \"%s\"", rows[i].name, rc, answer.attempts, rc < 0 ? err.message : "");
        json_decref(answer.json);
        wt__chat_client_close(client);
    }
}

static void waits_for_the_requested_pause(void **state)
{
    (void)state;
    static const struct script_step steps[] = {{.status = 429, .headers = "Retry-After: 1\r\n", .body = "{}"}, GOOD};
    struct chat_client *client = open_scripted_client(0);
    struct chat_question question = usual_question();
    struct chat_answer answer;
    script_server_play(&server, steps, 2);
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), 0);
    assert_true(answer.ms >= 1000);
    json_decref(answer.json);
    wt__chat_client_close(client);
}

/* Returns the body of request i; the caller must decref it. */
static json_t *sent_body(size_t i)
{
    json_t *body;
    const char *at = strstr(server.requests[i], "\r\n\r\n") + 4;
    assert_int_equal(wt__json_parse(&body, at, strlen(at), &err), 0);
    return body;
}

static void sends_expected_requests(void **state)
{
    (void)state;
    static const struct script_step steps[] = {{.status = 200, .body = SAYS("nonsense \\\"quoted\\\"")}, GOOD};
    struct chat_client *client = open_scripted_client(0);
    struct chat_question question = usual_question();
    struct chat_answer answer;
    script_server_play(&server, steps, 2);
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), 0);
    json_decref(answer.json);
    wt__chat_client_close(client);

    assert_int_equal(server.request_count, 2);
    assert_ptr_equal(strstr(server.requests[0], "POST /v1/chat/completions HTTP/1.1\r\n"), server.requests[0]);
    assert_non_null(strstr(server.requests[0], "\r\nAuthorization: Bearer " KEY "\r\n"));
    json_t *first = sent_body(0), *second = sent_body(1), *messages = wt__json_array(second, "messages");
    assert_string_equal(wt__json_str(first, "model").ptr, "some-model");
    assert_true(json_is_false(json_object_get(first, "cache_prompt")));
    assert_true(wt__json_real(first, "temperature", 1) == 0);
    assert_int_equal(wt__json_int(first, "seed", 0), 1);
    assert_int_equal(wt__json_int(first, "max_tokens", 0), 32);
    assert_int_equal(json_array_size(wt__json_array(first, "messages")), 1);
    const json_t *format = wt__json_object(wt__json_object(first, "response_format"), "json_schema");
    assert_true(json_equal(json_object_get(format, "schema"), schema));

    assert_int_equal(json_array_size(messages), 3);
    assert_string_equal(wt__json_str(json_array_get(messages, 0), "content").ptr, question.text.ptr);
    assert_string_equal(wt__json_str(json_array_get(messages, 1), "role").ptr, "assistant");
    assert_string_equal(wt__json_str(json_array_get(messages, 1), "content").ptr, "nonsense \"quoted\"");
    const char *repair = wt__json_str(json_array_get(messages, 2), "content").ptr;
    assert_non_null(strstr(repair, "cannot be used: the answer has to begin with { or ["));
    assert_non_null(strstr(repair, "\"additionalProperties\":false"));
    json_decref(first);
    json_decref(second);
}

static void sends_sampling_settings(void **state)
{
    (void)state;
    static const struct {
        double temperature;
        unsigned seed, sent_seed;
        const char *sent;
    } samples[] = {
        {0, 5, 1, "\"temperature\":0,"},
        {.7, 5, 5, "\"temperature\":0.700,"},
        {1.25, 0, 1, "\"temperature\":1.250,"},
        {2, 4294967295, 4294967295, "\"temperature\":2.000,"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        static const struct script_step steps[] = {GOOD};
        struct chat_client *client = open_scripted_client(0);
        struct chat_question question = usual_question();
        struct chat_answer answer;
        question.temperature = samples[i].temperature;
        question.seed = samples[i].seed;
        script_server_play(&server, steps, 1);
        assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), 0);
        json_decref(answer.json);
        wt__chat_client_close(client);
        json_t *request = sent_body(0);
        assert_int_equal(wt__json_int(request, "seed", 0), samples[i].sent_seed);
        assert_non_null(strstr(server.requests[0], samples[i].sent));
        json_decref(request);
    }
    static const double wrong[] = {-.1, 2.1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct chat_client *client = open_scripted_client(0);
        struct chat_question question = usual_question();
        struct chat_answer answer;
        question.temperature = wrong[i];
        assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), WT_EINVAL);
        wt__chat_client_close(client);
    }
}

/* A setting that the server rejects is omitted from then on. max_tokens is replaced by max_completion_tokens. */
static void omits_rejected_settings(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        {.status = 400, .body = "{\"error\":{\"message\":\"Unrecognized argument: cache_prompt\"}}"},
        {.status = 422, .body = "{\"detail\":[{\"loc\":[\"body\",\"response_format\"]}]}"},
        {.status = 400, .body = "{\"error\":{\"message\":\"use 'max_completion_tokens', not 'max_tokens'\"}}"},
        {.status = 400, .body = "{\"error\":{\"message\":\"'temperature' is fixed; exceeds\"}}"},
        GOOD,
    };
    struct chat_client *client = open_scripted_client(0);
    struct chat_question question = usual_question();
    struct chat_answer answer;
    script_server_play(&server, steps, 5);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), 0);
        assert_int_equal(answer.attempts, i == 0 ? 5 : 1);
        json_decref(answer.json);
    }
    json_t *last = sent_body(5);
    assert_null(json_object_get(last, "cache_prompt"));
    assert_null(json_object_get(last, "response_format"));
    assert_null(json_object_get(last, "max_tokens"));
    assert_null(json_object_get(last, "temperature"));
    assert_int_equal(wt__json_int(last, "max_completion_tokens", 0), 32);
    assert_int_equal(wt__json_int(last, "seed", 0), 1);
    json_decref(last);
    wt__chat_client_close(client);

    static const struct script_step always[] = {{.status = 400,
                                                 .body = "response_format cache_prompt seed max_tokens "
                                                         "temperature"}};
    client = open_scripted_client(0);
    script_server_play(&server, always, 1);
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), WT_ENETWORK);
    assert_int_equal(answer.attempts, 6);
    wt__chat_client_close(client);
}

static void returns_free_text(void **state)
{
    (void)state;
    static const struct script_step step = {.status = 200, .body = SAYS_ENDING("Use b, ", "length")};
    struct chat_client *client = open_scripted_client(0);
    struct chat_question question = usual_question();
    struct chat_answer answer;
    question.schema = NULL;
    script_server_play(&server, &step, 1);
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), 0);
    assert_string_equal(answer.text.ptr, "Use b, ");
    assert_null(answer.json);
    assert_null(strstr(server.requests[0], "response_format"));
    wt__chat_client_close(client);
}

static void rejects_invalid_questions(void **state)
{
    (void)state;
    static const struct script_step step = GOOD;
    struct chat_client *client = open_scripted_client(0);
    struct chat_question question = usual_question();
    struct chat_answer answer;
    script_server_play(&server, &step, 1);
    char *text = calloc(1, CHAT_QUESTION_BYTES_MAX + 1);
    question.text = (struct str){text, CHAT_QUESTION_BYTES_MAX + 1};
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "the question has 1048577 bytes (test/1); at most 1048576 are allowed");
    free(text);
    json_t *other = json_pack("{s:s}", "pattern", "x");
    question = usual_question();
    question.schema = other;
    assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), WT_EFORMAT);
    assert_string_equal(err.message, "the schema's \"pattern\" is not supported");
    json_decref(other);
    assert_int_equal(server.request_count, 0);
    wt__chat_client_close(client);
}

/* When to cancel. answered: true to cancel during a pause after a response, false to cancel during the request. waited:
 * number of progress reports in that state so far. */
struct wish {
    bool answered;
    unsigned waited;
};

static int stop_then(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct wish *wish = context;
    (void)phase, (void)done, (void)total;
    pthread_mutex_lock(&server.lock);
    bool now = server.request_count > 0 && (server.under_way == 0) == wish->answered;
    pthread_mutex_unlock(&server.lock);
    return now && ++wish->waited > 3;
}

/* Cancels during a request, and during a pause requested by the server. */
static void can_be_cancelled(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        {.status = 200, .delay_ms = SCRIPT_NEVER_MS, .body = SAYS("{}")},
        {.status = 429, .headers = "Retry-After: 100\r\n", .body = "{}"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct chat_client *client = open_scripted_client(0);
        struct chat_question question = usual_question();
        struct chat_answer answer;
        struct progress progress;
        script_server_play(&server, &steps[i], 1);
        struct wish wish = {.answered = i == 1};
        wt__progress_init(&progress, stop_then, &wish);
        question.progress = &progress;
        assert_int_equal(wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err), WT_ECANCELLED);
        wt__progress_dispose(&progress);
        wt__chat_client_close(client);
    }
}

enum { ASKERS = 12 };

static void *ask_once(void *context)
{
    struct chat_question question = usual_question();
    struct chat_answer answer;
    struct arena own = {0};
    wt_error why;
    if (wt__chat_ask(context, &question, &own, &answer, &why) < 0)
        context = NULL;
    json_decref(answer.json);
    wt__arena_dispose(&own);
    return context;
}

static void limits_concurrent_questions(void **state)
{
    (void)state;
    static const struct script_step step = {.status = 200, .delay_ms = 30, .body = SAYS("{\\\"tool\\\":2}")};
    struct chat_client *client;
    struct chat_client_options options = wt__chat_client_defaults();
    options.base_url = url;
    options.model = "some-model";
    options.concurrency = 3;
    assert_int_equal(wt__chat_client_open(&client, &options, &err), 0);
    script_server_play(&server, &step, 1);
    pthread_t threads[ASKERS];
    for (size_t i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_once, wt__chat_client_model(client)), 0);
    for (size_t i = 0; i < ASKERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
    assert_int_equal(server.most_under_way, 3);
    assert_int_equal(server.connection_count, 3);
    assert_null(strstr(server.requests[0], "Authorization"));
    wt__chat_client_close(client);
}

static void rejects_invalid_client_options(void **state)
{
    (void)state;
    static const struct {
        const char *base_url, *key, *model;
        unsigned concurrency, retries;
        const char *says;
    } wrong[] = {
        {"http://127.0.0.1/v1", NULL, NULL, 1, 0, "name a language model"},
        {"http://127.0.0.1/v1", NULL, "", 1, 0, "name a language model"},
        {"http://127.0.0.1/v1", NULL, "m", 0, 0, "0 concurrent questions; must be 1 to 64"},
        {"http://127.0.0.1/v1", NULL, "m", 65, 0, "65 concurrent questions; must be 1 to 64"},
        {"http://127.0.0.1/v1", NULL, "m", 1, 11, "11 retries; must be 0 to 10"},
        {NULL, NULL, "m", 1, 0, "https://api.openai.com/v1 requires a key; set OPENAI_API_KEY"},
        {"http://u:p@127.0.0.1/v1", NULL, "m", 1, 0, "must not contain a user, password"},
        {"127.0.0.1/v1", NULL, "m", 1, 0, "must be a URL"},
        {"http://127.0.0.1/v1", "secret\r\nX: y", "m", 1, 0, "the value of Authorization is too long or contains a"},
    };
    struct chat_client *client;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct chat_client_options options = wt__chat_client_defaults();
        options.base_url = wrong[i].base_url;
        options.key = wrong[i].key;
        options.model = wrong[i].model;
        options.concurrency = wrong[i].concurrency;
        options.retries = wrong[i].retries;
        assert_int_equal(wt__chat_client_open(&client, &options, &err), WT_EINVAL);
        assert_null(client);
        if (!strstr(err.message, wrong[i].says) || strstr(err.message, "secret"))
            fail_msg("\"%s\", not \"%s\"", err.message, wrong[i].says);
    }
}

static void reads_environment(void **state)
{
    (void)state;
    setenv("OPENAI_API_KEY", KEY, 1);
    setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/", 1);
    setenv("OPENAI_ORG_ID", "", 1);
    setenv("OPENAI_PROJECT_ID", "p", 1);
    struct chat_client_options options = wt__chat_client_defaults();
    options.project = "own";
    wt__chat_client_environment(&options);
    assert_string_equal(options.key, KEY);
    assert_string_equal(options.base_url, "http://127.0.0.1:8080/v1/");
    assert_null(options.organisation);
    assert_string_equal(options.project, "own");
    unsetenv("OPENAI_API_KEY");
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_ORG_ID");
    unsetenv("OPENAI_PROJECT_ID");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_answers_or_gives_up),    cmocka_unit_test(waits_for_the_requested_pause),
        cmocka_unit_test(sends_expected_requests),     cmocka_unit_test(sends_sampling_settings),
        cmocka_unit_test(omits_rejected_settings),     cmocka_unit_test(returns_free_text),
        cmocka_unit_test(rejects_invalid_questions),   cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(limits_concurrent_questions), cmocka_unit_test(rejects_invalid_client_options),
        cmocka_unit_test(reads_environment),
    };
    return cmocka_run_group_tests(tests, set_up_client_server, tear_down_client_server);
}
