/* client.c: asks a language model on a server. See client.h. A question holds one HTTP session from its first request
 * to its last, also during pauses and the repair. The number of sessions thus limits concurrent questions. A pause that
 * the server requests therefore delays waiting questions, too.
 *
 *   ask_client ── exchange_completion ──► completion ── answer_parse ──► answer
 *                   │ retries, refusals         │ mismatch: one more exchange, with the error */
#include "llm/client.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "llm/internal.h"
#include "llm/plain_text.h"
#include "net/http_client.h"

static const uint64_t TOKENS_MAX = 1000000000; /* larger token counts are errors of the server, and count as unknown */
enum {
    STRUCK_BYTES_MIN = 6
}; /* shorter keys are placeholders and may occur in any word, so they are not removed from messages */

/* ---------------------------------------------------------------- a request */

static void append_message(struct buffer *out, const char *role, struct str text)
{
    wt__buffer_printf(out, "{\"role\":\"%s\",\"content\":", role);
    wt__buffer_json(out, text);
    wt__buffer_char(out, '}');
}

/* Appends the messages that ask for a repair: the wrong answer, its error, and the schema. */
static int write_repair(struct buffer *out, const struct completion_request *request)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct str wrong = request->wrong;
    wrong.len = wrong.len < COMPLETION_WRONG_BYTES_MAX ? wrong.len : COMPLETION_WRONG_BYTES_MAX;
    wt__buffer_printf(&text,
                      "That answer cannot be used: %s. Answer the question again. Write JSON only, with nothing "
                      "before or after it, that matches this JSON Schema:\n",
                      request->fault);
    wt__json_write(&text, request->question->schema);
    wt__buffer_char(out, ',');
    append_message(out, "assistant", wrong);
    wt__buffer_char(out, ',');
    append_message(out, "user", wt__buffer_view(&text));
    return text.failed ? WT_ENOMEM : 0;
}

static void write_sampling(struct buffer *out, const struct chat_question *question, unsigned refused)
{
    unsigned thousandths = wt__chat_thousandths(question->temperature), top = wt__chat_thousandths(question->top_p);
    unsigned seed = thousandths > 0 && question->seed > 0 ? question->seed : 1;
    if (!(refused & COMPLETION_TEMPERATURE) && thousandths > 0)
        wt__buffer_printf(out, ",\"temperature\":%u.%03u", thousandths / 1000, thousandths % 1000);
    else if (!(refused & COMPLETION_TEMPERATURE))
        wt__buffer_text(out, ",\"temperature\":0");
    if (!(refused & COMPLETION_TOP_P) && thousandths > 0 && top > 0)
        wt__buffer_printf(out, ",\"top_p\":%u.%03u", top / 1000, top % 1000);
    if (!(refused & COMPLETION_SEED))
        wt__buffer_printf(out, ",\"seed\":%u", seed);
}

int wt__completion_write(struct buffer *out, const struct completion_request *request, wt_error *err)
{
    const struct chat_question *question = request->question;
    unsigned refused = request->refused;
    int rc = 0;
    wt__buffer_text(out, "{\"model\":");
    wt__buffer_json(out, wt__str(request->model));
    wt__buffer_text(out, ",\"messages\":[");
    append_message(out, "user", question->text);
    if (request->fault)
        rc = write_repair(out, request);
    wt__buffer_printf(out, "],\"%s\":%u", refused & COMPLETION_MAX_TOKENS ? "max_completion_tokens" : "max_tokens",
                      question->max_tokens);
    write_sampling(out, question, refused);
    /* With its prompt cache, llama.cpp gives different answers to the same question. */
    if (!(refused & COMPLETION_CACHE_PROMPT))
        wt__buffer_text(out, ",\"cache_prompt\":false");
    if (question->schema && !(refused & COMPLETION_RESPONSE_FORMAT)) {
        wt__buffer_text(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\","
                             "\"strict\":true,\"schema\":");
        wt__json_write(out, question->schema);
        wt__buffer_text(out, "}}");
    }
    wt__buffer_char(out, '}');
    return rc < 0 || out->failed ? wt__fail_nomem(err) : 0;
}

static uint64_t read_token_count(const json_t *usage, const char *key)
{
    int64_t count = wt__json_int(usage, key, 0);
    return count > 0 && (uint64_t)count <= TOKENS_MAX ? (uint64_t)count : 0;
}

int wt__completion_read(struct completion *out, struct str body, wt_error *err)
{
    *out = (struct completion){0};
    int rc = wt__json_parse_with_nul(&out->body, body.ptr ? body.ptr : "", body.len, NULL);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    const json_t *choice = json_array_get(wt__json_array(out->body, "choices"), 0);
    const json_t *message = wt__json_object(choice, "message");
    if (!message) {
        json_decref(out->body);
        *out = (struct completion){0};
        return wt__fail(err, WT_ENETWORK, "the server's response is %s",
                        rc < 0 ? "not valid JSON, or truncated" : "not a chat completion");
    }
    const json_t *usage = wt__json_object(out->body, "usage");
    out->text = wt__json_str(message, "content");
    out->cut = wt__str_equal(wt__json_str(choice, "finish_reason"), STR("length"));
    out->declined = out->text.len == 0 && (wt__json_str(message, "refusal").len > 0 ||
                                           wt__str_equal(wt__json_str(choice, "finish_reason"), STR("content_filter")));
    out->prompt_tokens = read_token_count(usage, "prompt_tokens");
    out->completion_tokens = read_token_count(usage, "completion_tokens");
    return 0;
}

/* True if the text contains the name as a whole word. */
static bool contains_word(struct str text, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t len = strlen(name);
    for (const char *at = text.ptr; at;) {
        at = memmem(at, text.len - (size_t)(at - text.ptr), name, len);
        if (!at)
            return false;
        bool begins = at == text.ptr || !memchr(letters, at[-1], sizeof letters - 1);
        bool ends = at + len == text.ptr + text.len || !memchr(letters, at[len], sizeof letters - 1);
        if (begins && ends)
            return true;
        at += len;
    }
    return false;
}

unsigned wt__completion_refusal(struct str body, unsigned refused)
{
    static const struct {
        unsigned member;
        const char *name;
    } rows[] = {
        {COMPLETION_RESPONSE_FORMAT, "response_format"},
        {COMPLETION_RESPONSE_FORMAT, "json_schema"},
        {COMPLETION_RESPONSE_FORMAT, "grammar"},
        {COMPLETION_CACHE_PROMPT, "cache_prompt"},
        {COMPLETION_SEED, "seed"},
        {COMPLETION_TEMPERATURE, "temperature"},
        {COMPLETION_TOP_P, "top_p"},
        {COMPLETION_MAX_TOKENS, "max_tokens"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(refused & rows[i].member) && contains_word(body, rows[i].name))
            return rows[i].member;
    return 0;
}

bool wt__completion_too_long(struct str body)
{
    return contains_word(body, "context_length_exceeded") || contains_word(body, "exceed_context_size_error");
}

static void strike_out(struct buffer *out, struct str text, const char *key)
{
    size_t len = key ? strlen(key) : 0;
    while (len >= STRUCK_BYTES_MIN && text.len >= len) {
        const char *hit = memmem(text.ptr, text.len, key, len);
        if (!hit)
            break;
        wt__buffer_append(out, text.ptr, (size_t)(hit - text.ptr));
        wt__buffer_text(out, "(key)");
        text.len -= (size_t)(hit - text.ptr) + len;
        text.ptr = hit + len;
    }
    wt__buffer_str(out, text);
}

void wt__completion_reason(struct buffer *out, struct str body, const char *key, size_t max)
{
    WT_CLEANUP(json_decrefp) json_t *value = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer struck = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer plain = {0};
    if (wt__json_parse(&value, body.ptr ? body.ptr : "", body.len, NULL) < 0)
        return;
    struct str text = wt__json_str(wt__json_object(value, "error"), "message");
    if (text.len == 0)
        text = wt__json_str(value, "error");
    if (text.len == 0)
        text = wt__json_str(value, "message");
    strike_out(&struck, text, key); /* before the text is truncated, which could split the key */
    if (!struck.failed)
        wt__plain_line(&plain, wt__buffer_view(&struck), max);
    if (!plain.failed)
        strike_out(out, wt__buffer_view(&plain), key); /* catches a key with invisible characters inside */
}

/* ---------------------------------------------------------------- retries */

bool wt__retry_status(int status, int should_retry)
{
    if (should_retry >= 0)
        return should_retry > 0;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng)
{
    if (asked_ms >= 0)
        return asked_ms <= RETRY_ASKED_MS_MAX ? asked_ms : -1;
    double ms = first_ms;
    for (unsigned i = 0; i < pauses && ms < RETRY_LONGEST_MS; i++)
        ms *= 2;
    if (ms > RETRY_LONGEST_MS)
        ms = RETRY_LONGEST_MS;
    return ms * (1 - 0.25 * wt__rng_unit(rng));
}

/* ---------------------------------------------------------------- the client */

enum {
    PATIENCE_MS = 20,       /* milliseconds between checks for cancellation */
    REASON_BYTES_MAX = 240, /* maximum length of the server's error message */
    JITTER_SEED = 1,        /* seed of the random pauses */
    HEADERS = 3,            /* maximum headers of a request: key, organisation, project */
};

struct chat_client {
    struct chat_model model;            /* first member, so that its pointer can be cast */
    struct chat_client_options options; /* strings are in the arena */
    struct arena arena;
    const char *url; /* of the endpoint chat/completions */
    struct http_header headers[HEADERS];
    pthread_mutex_t lock;                               /* guards the members below, up to `rng` */
    pthread_cond_t given_back;                          /* signalled when a session becomes idle */
    struct http_session *sessions[WT_MAX_CHAT_AT_ONCE]; /* [idle] idle sessions */
    size_t idle, open;                                  /* open: number of idle and busy sessions */
    struct rng rng;
    atomic_uint refused; /* COMPLETION_ bits of the settings that the server rejected */
};

/* One question in progress. */
struct model_exchange {
    struct chat_client *client;
    const struct chat_question *question;
    struct http_session *session;
    struct chat_answer *out;
    wt_error *err; /* never NULL */
};

struct chat_client_options wt__chat_client_defaults(void)
{
    return (struct chat_client_options){
        .connect_ms = CHAT_CLIENT_CONNECT_MS,
        .total_ms = CHAT_CLIENT_TOTAL_MS,
        .stall_ms = CHAT_CLIENT_STALL_MS,
        .retries = CHAT_CLIENT_RETRIES,
        .first_pause_ms = RETRY_FIRST_MS,
        .concurrency = CHAT_AT_ONCE,
    };
}

static void set_from_environment(const char **option, const char *name)
{
    const char *value = getenv(name);
    if (!*option && value && value[0])
        *option = value;
}

void wt__chat_client_environment(struct chat_client_options *options)
{
    set_from_environment(&options->base_url, "OPENAI_BASE_URL");
    if (options->key && !*options->key) /* no key: the environment's belong to another server */
        return;
    set_from_environment(&options->key, "OPENAI_API_KEY");
    set_from_environment(&options->organisation, "OPENAI_ORG_ID");
    set_from_environment(&options->project, "OPENAI_PROJECT_ID");
}

static int check_client_options(const struct chat_client_options *options, wt_error *err)
{
    if (!options->model || !options->model[0])
        return wt__fail(err, WT_EINVAL, "name a language model");
    if (options->concurrency == 0 || options->concurrency > WT_MAX_CHAT_AT_ONCE)
        return wt__fail(err, WT_EINVAL, "%u concurrent questions; must be 1 to %d", options->concurrency,
                        (int)WT_MAX_CHAT_AT_ONCE);
    if (options->retries > CHAT_CLIENT_RETRIES_MAX)
        return wt__fail(err, WT_EINVAL, "%u retries; must be 0 to %d", options->retries, (int)CHAT_CLIENT_RETRIES_MAX);
    if (!options->base_url && !options->key)
        return wt__fail(err, WT_EINVAL, "%s requires a key; set OPENAI_API_KEY, or OPENAI_BASE_URL for another server",
                        CHAT_CLIENT_BASE_URL);
    return options->base_url ? wt__http_check_base(options->base_url, err) : 0;
}

/* Sets *out to prefix, text and suffix in one string, in the arena; to NULL if text is NULL or "". False if out of
 * memory. */
static bool keep_client_text(struct chat_client *client, const char **out, const char *prefix, const char *text,
                             const char *suffix)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer buffer = {0};
    *out = NULL;
    if (!text || !*text)
        return true;
    wt__buffer_text(&buffer, prefix);
    wt__buffer_text(&buffer, text);
    wt__buffer_text(&buffer, suffix);
    if (!buffer.failed)
        *out = wt__arena_copy(&client->arena, wt__buffer_view(&buffer));
    return *out != NULL;
}

static bool keep_options(struct chat_client *client, const struct chat_client_options *options)
{
    struct chat_client_options *kept = &client->options;
    const char *base = options->base_url ? options->base_url : CHAT_CLIENT_BASE_URL, *trimmed, *bearer, *url;
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        len--;
    trimmed = wt__arena_copy(&client->arena, (struct str){base, len});
    *kept = *options;
    if (!trimmed || !keep_client_text(client, &url, "", trimmed, "/chat/completions") ||
        !keep_client_text(client, &kept->model, "", options->model, "") ||
        !keep_client_text(client, &kept->key, "", options->key, "") ||
        !keep_client_text(client, &bearer, "Bearer ", options->key, "") ||
        !keep_client_text(client, &kept->organisation, "", options->organisation, "") ||
        !keep_client_text(client, &kept->project, "", options->project, ""))
        return false;
    kept->base_url = trimmed;
    client->model.name = kept->model;
    client->url = url;
    client->headers[0] = (struct http_header){"Authorization", bearer};
    client->headers[1] = (struct http_header){"OpenAI-Organization", kept->organisation};
    client->headers[2] = (struct http_header){"OpenAI-Project", kept->project};
    return true;
}

/* ---------------------------------------------------------------- sessions and pauses */

static struct timespec next_check_time(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    return until;
}

static int acquire_session(struct model_exchange *asking)
{
    struct chat_client *client = asking->client;
    bool stop = false;
    pthread_mutex_lock(&client->lock);
    while (!stop && client->idle == 0 && client->open == client->options.concurrency) {
        struct timespec until = next_check_time();
        pthread_cond_timedwait(&client->given_back, &client->lock, &until);
        pthread_mutex_unlock(&client->lock); /* the progress callback may be slow */
        stop = wt__progress_step(asking->question->progress, 0) != 0;
        pthread_mutex_lock(&client->lock);
    }
    if (!stop && client->idle > 0)
        asking->session = client->sessions[--client->idle];
    else if (!stop)
        client->open++;
    pthread_mutex_unlock(&client->lock);
    if (stop)
        return wt__fail_cancelled(asking->err);
    int rc = asking->session ? 0 : wt__http_session_open(&asking->session, asking->err);
    if (rc < 0) {
        pthread_mutex_lock(&client->lock);
        client->open--;
        pthread_cond_signal(&client->given_back);
        pthread_mutex_unlock(&client->lock);
    }
    return rc;
}

static void release_session(struct model_exchange *asking)
{
    struct chat_client *client = asking->client;
    pthread_mutex_lock(&client->lock);
    client->sessions[client->idle++] = asking->session;
    pthread_cond_signal(&client->given_back);
    pthread_mutex_unlock(&client->lock);
}

static int pause_for(struct model_exchange *asking, double ms)
{
    for (double until = wt__now_ms() + ms; wt__now_ms() < until;) {
        if (wt__progress_step(asking->question->progress, 0))
            return wt__fail_cancelled(asking->err);
        double left = until - wt__now_ms();
        long slice = left < PATIENCE_MS ? (long)(left * 1e6) : PATIENCE_MS * 1000000L;
        nanosleep(&(struct timespec){.tv_nsec = slice > 0 ? slice : 0}, NULL);
    }
    return 0;
}

/* ---------------------------------------------------------------- exchanges and retries */

/* Sets the error for a status other than 200. */
static int fail_http_status(struct model_exchange *asking, const struct http_answer *answer)
{
    const struct chat_client *client = asking->client;
    struct str body = wt__buffer_view(&answer->body);
    WT_CLEANUP(wt__buffer_dispose) struct buffer reason = {0};
    if (answer->status >= 300 && answer->status < 400)
        return wt__fail(asking->err, WT_ENETWORK,
                        "%s answers %d: redirects are not followed, since they would send the key elsewhere",
                        client->url, answer->status);
    wt__completion_reason(&reason, body, client->options.key, REASON_BYTES_MAX);
    int code = answer->status == 413 || wt__completion_too_long(body) ? WT_ETOOLONG : WT_ENETWORK;
    const char *what = answer->status == 401 || answer->status == 403 ? " (the key was rejected)" : "";
    return wt__fail(asking->err, code, "%s answers %d%s%s%s", client->url, answer->status, what,
                    reason.len > 0 ? ": " : "", reason.len > 0 ? reason.ptr : "");
}

/* Outcome of one attempt: completion, retry after a pause, retry without the rejected setting, or failure. */
enum outcome { DONE, AGAIN_LATER, AGAIN_OTHERWISE, FAILED };

static enum outcome judge_response(struct model_exchange *asking, const struct completion_request *request,
                                   const struct http_answer *answer, struct completion *out, int *rc)
{
    struct chat_client *client = asking->client;
    struct str body = wt__buffer_view(&answer->body);
    if (answer->status == 400 || answer->status == 422) {
        unsigned member = wt__completion_refusal(body, request->refused);
        if (member && !wt__completion_too_long(body)) {
            atomic_fetch_or(&client->refused, member);
            return AGAIN_OTHERWISE;
        }
    }
    if (answer->status != 200) {
        *rc = fail_http_status(asking, answer);
        return wt__retry_status(answer->status, answer->should_retry) ? AGAIN_LATER : FAILED;
    }
    *rc = wt__completion_read(out, body, asking->err);
    if (*rc == 0)
        return DONE;
    bool json = strstr(answer->type, "json") != NULL;
    if (*rc != WT_ENOMEM)
        *rc =
            wt__fail_context(asking->err, *rc, json ? "%s" : "%s: is it the address of a language model?", client->url);
    return json && *rc == WT_ENETWORK ? AGAIN_LATER : FAILED;
}

/* Sends the request once. *asked_ms: pause that the server requests, in ms; -1 if none. */
static enum outcome send_attempt(struct model_exchange *asking, struct completion_request *request,
                                 struct completion *out, double *asked_ms, int *rc)
{
    struct chat_client *client = asking->client;
    struct http_answer answer = {0};
    struct buffer body = {0};
    enum outcome outcome = FAILED;
    request->refused = atomic_load(&client->refused);
    *rc = wt__completion_write(&body, request, asking->err);
    if (*rc == 0) {
        struct http_post post = {
            .url = client->url,
            .headers = client->headers,
            .header_count = HEADERS,
            .body = wt__buffer_view(&body),
            .connect_ms = client->options.connect_ms,
            .total_ms = client->options.total_ms,
            .stall_ms = client->options.stall_ms,
            .progress = asking->question->progress,
        };
        asking->out->attempts++;
        *rc = wt__http_post(asking->session, &post, &answer, asking->err);
        if (*rc == 0)
            outcome = judge_response(asking, request, &answer, out, rc);
        else if (*rc == WT_ENETWORK && answer.may_retry)
            outcome = AGAIN_LATER;
    }
    *asked_ms = answer.retry_after_ms;
    wt__buffer_dispose(&answer.body);
    wt__buffer_dispose(&body);
    return outcome;
}

/* Returns the pause before another attempt in ms; -1 to give up. */
static double choose_pause(struct chat_client *client, unsigned pauses, double asked_ms)
{
    if (pauses >= client->options.retries)
        return -1;
    pthread_mutex_lock(&client->lock);
    double ms = wt__retry_pause(pauses, client->options.first_pause_ms, asked_ms, &client->rng);
    pthread_mutex_unlock(&client->lock);
    return ms;
}

static int exchange_completion(struct model_exchange *asking, struct completion_request *request,
                               struct completion *out)
{
    unsigned pauses = 0;
    for (;;) {
        double asked_ms;
        int rc;
        enum outcome outcome = send_attempt(asking, request, out, &asked_ms, &rc);
        if (outcome == AGAIN_OTHERWISE) /* each such retry omits one more setting, so the loop ends */
            continue;
        double ms = outcome == AGAIN_LATER ? choose_pause(asking->client, pauses++, asked_ms) : -1;
        if (ms < 0)
            return rc;
        WT_TRY(pause_for(asking, ms));
    }
}

/* Copies the completion to asking->out. Parses its text if the question has a schema. */
static int take_completion(struct model_exchange *asking, const struct completion *completion, struct arena *arena)
{
    struct chat_client *client = asking->client;
    struct chat_answer *out = asking->out;
    out->prompt_tokens += completion->prompt_tokens;
    out->completion_tokens += completion->completion_tokens;
    const char *copy = wt__arena_copy(arena, completion->text);
    out->text = (struct str){copy, completion->text.len};
    WT_CHECK_ALLOC(copy, asking->err);
    if (completion->declined)
        return wt__fail(asking->err, WT_ENETWORK, "%s declines to answer (%s)", client->model.name,
                        asking->question->task);
    if (memchr(completion->text.ptr, 0, completion->text.len))
        return wt__fail(asking->err, WT_EFORMAT, "the answer has a NUL character");
    if (!asking->question->schema)
        return 0;
    if (completion->cut)
        return wt__fail(asking->err, WT_EFORMAT, "the answer was cut off after %u tokens, it has to be shorter",
                        asking->question->max_tokens);
    return wt__answer_read(&out->json, completion->text, asking->question, asking->err);
}

/* Asks the server once, with retries, and validates the answer. */
static int exchange_once(struct model_exchange *asking, struct completion_request *request, struct arena *arena)
{
    struct completion completion = {0};
    WT_TRY(exchange_completion(asking, request, &completion));
    int rc = take_completion(asking, &completion, arena);
    json_decref(completion.body);
    return rc;
}

static int ask_in_session(struct model_exchange *asking, struct arena *arena)
{
    struct completion_request request = {.model = asking->client->model.name, .question = asking->question};
    int rc = exchange_once(asking, &request, arena);
    if (rc != WT_EFORMAT)
        return rc;
    char fault[sizeof asking->err->message];
    snprintf(fault, sizeof fault, "%s", asking->err->message);
    request.wrong = asking->out->text;
    request.fault = fault;
    rc = exchange_once(asking, &request, arena);
    asking->out->repaired = rc == 0;
    if (rc == WT_EFORMAT)
        wt__fail_context(asking->err, rc, "%s gives no usable answer (%s)", request.model, asking->question->task);
    return rc;
}

static int check_question(const struct chat_question *question, wt_error *err)
{
    if (question->text.len > CHAT_QUESTION_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the question has %zu bytes (%s); at most %d are allowed", question->text.len,
                        question->task, (int)CHAT_QUESTION_BYTES_MAX);
    if (!(question->temperature >= 0 && question->temperature <= CHAT_TEMPERATURE_MAX))
        return wt__fail(err, WT_EINVAL, "temperature %g (%s); must be 0 to %d", question->temperature, question->task,
                        (int)CHAT_TEMPERATURE_MAX);
    if (!(question->top_p >= 0 && question->top_p <= 1))
        return wt__fail(err, WT_EINVAL, "top_p %g (%s); must be 0 to 1", question->top_p, question->task);
    return question->schema ? wt__answer_check_schema(question->schema, err) : 0;
}

static int ask_client(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                      struct chat_answer *out, wt_error *err)
{
    wt_error scratch;
    struct chat_client *client = (struct chat_client *)model;
    struct model_exchange asking = {.client = client, .question = question, .out = out, .err = err ? err : &scratch};
    double begin = wt__now_ms();
    int rc = check_question(question, asking.err);
    if (rc == 0)
        rc = acquire_session(&asking);
    if (rc == 0) {
        rc = ask_in_session(&asking, arena);
        release_session(&asking);
    }
    out->ms = wt__now_ms() - begin;
    return rc;
}

/* ---------------------------------------------------------------- opening and closing */

int wt__chat_client_open(struct chat_client **out, const struct chat_client_options *options, wt_error *err)
{
    *out = NULL;
    WT_TRY(check_client_options(options, err));
    struct chat_client *client = calloc(1, sizeof *client);
    WT_CHECK_ALLOC(client, err);
    client->model.ask = ask_client;
    client->model.at_once = options->concurrency;
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->given_back, NULL);
    wt__rng_seed(&client->rng, JITTER_SEED);
    int rc = keep_options(client, options) ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < HEADERS; i++)
        rc = wt__http_check_header(&client->headers[i], err);
    if (rc < 0)
        wt__chat_client_close(client);
    else
        *out = client;
    return rc;
}

void wt__chat_client_close(struct chat_client *client)
{
    if (!client)
        return;
    for (size_t i = 0; i < client->idle; i++)
        wt__http_session_close(client->sessions[i]);
    pthread_cond_destroy(&client->given_back);
    pthread_mutex_destroy(&client->lock);
    wt__arena_dispose(&client->arena);
    free(client);
}

struct chat_model *wt__chat_client_model(struct chat_client *client)
{
    return &client->model;
}
