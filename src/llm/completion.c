/* completion.c: see completion.h. */
#include "llm/completion.h"

#include <string.h>

#include "llm/plain_text.h"

static const uint64_t TOKENS_MAX = 1000000000; /* larger counts are server errors, and treated as unknown */
enum { STRUCK_BYTES_MIN = 6 };                 /* a shorter key is a placeholder, which may be part of any word */

/* ---------------------------------------------------------------- a request */

static void append_message(struct buffer *out, const char *role, struct str text)
{
    wt__buffer_printf(out, "{\"role\":\"%s\",\"content\":", role);
    wt__buffer_json(out, text);
    wt__buffer_char(out, '}');
}

static struct str truncate_text(struct str text, size_t max)
{
    return (struct str){text.ptr, text.len < max ? text.len : max};
}

/* Appends the messages of the repair: the wrong answer, its error, and the schema. */
static int write_repair(struct buffer *out, const struct completion_request *request)
{
    struct buffer text = {0};
    wt__buffer_printf(&text,
                      "That answer cannot be used: %s. Answer the question again. Write JSON only, with nothing "
                      "before or after it, that matches this JSON Schema:\n",
                      request->fault);
    wt__json_write(&text, request->question->schema);
    wt__buffer_char(out, ',');
    append_message(out, "assistant", truncate_text(request->wrong, COMPLETION_WRONG_BYTES_MAX));
    wt__buffer_char(out, ',');
    append_message(out, "user", wt__buffer_view(&text));
    bool failed = text.failed;
    wt__buffer_dispose(&text);
    return failed ? WT_ENOMEM : 0;
}

static void write_sampling(struct buffer *out, const struct chat_question *question, unsigned refused)
{
    unsigned thousandths = wt__chat_thousandths(question);
    unsigned seed = thousandths > 0 && question->seed > 0 ? question->seed : 1;
    if (!(refused & COMPLETION_TEMPERATURE) && thousandths > 0)
        wt__buffer_printf(out, ",\"temperature\":%u.%03u", thousandths / 1000, thousandths % 1000);
    else if (!(refused & COMPLETION_TEMPERATURE))
        wt__buffer_text(out, ",\"temperature\":0");
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
    if (!(refused &
          COMPLETION_CACHE_PROMPT)) /* with its cache, llama.cpp gives different answers to the same question */
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

/* ---------------------------------------------------------------- an answer */

static uint64_t read_token_count(const json_t *usage, const char *key)
{
    int64_t count = wt__json_int(usage, key, 0);
    return count > 0 && (uint64_t)count <= TOKENS_MAX ? (uint64_t)count : 0;
}

int wt__completion_read(struct completion *out, struct str body, wt_error *err)
{
    *out = (struct completion){0};
    int rc = wt__json_parse(&out->body, body.ptr ? body.ptr : "", body.len, NULL);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    const json_t *choice = json_array_get(wt__json_array(out->body, "choices"), 0);
    const json_t *message = wt__json_object(choice, "message");
    if (!message) {
        json_decref(out->body);
        *out = (struct completion){0};
        return wt__fail(err, WT_ENETWORK, "what the server sent is %s",
                        rc < 0 ? "no JSON, or not all of it" : "no chat completion");
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

/* ---------------------------------------------------------------- a refusal */

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
    json_t *value = NULL;
    struct buffer struck = {0}, plain = {0};
    if (wt__json_parse(&value, body.ptr ? body.ptr : "", body.len, NULL) < 0)
        return;
    struct str text = wt__json_str(wt__json_object(value, "error"), "message");
    if (text.len == 0)
        text = wt__json_str(value, "error");
    if (text.len == 0)
        text = wt__json_str(value, "message");
    strike_out(&struck, text, key); /* before truncation could split the key */
    if (!struck.failed)
        wt__plain_line(&plain, wt__buffer_view(&struck), max);
    if (!plain.failed)
        strike_out(out, wt__buffer_view(&plain), key); /* catches a key with invisible characters inside */
    wt__buffer_dispose(&struck);
    wt__buffer_dispose(&plain);
    json_decref(value);
}
