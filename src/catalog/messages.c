#include "catalog/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/memory.h"

enum { REASON_MAX = 256, PLACE_MAX = 64 };

enum role {
    ROLE_USER,
    ROLE_AGENT,
    ROLE_LEFT_OUT, /* system prompts, and results of tools */
    ROLE_BY_TURNS  /* a text without a role */
};

struct message_text {
    enum role role;
    struct str text;
};

struct message_reader {
    struct conversation *out;
    struct arena *arena;
    struct message_text *said; /* [count] including blank texts */
    size_t count, capacity;
    size_t seen;           /* number of messages, including invalid messages */
    bool objects;          /* at least one message is not a string */
    struct buffer text;    /* text of the current message */
    char place[PLACE_MAX]; /* place of the current message: a JSON pointer, or a line */
};

#define WHAT_IS_READ                                                                                                   \
    "a conversation is an array of messages, an object with \"messages\", or one message per line (docs/json.md)"

/* ---------------------------------------------------------------- results */

/* Counts an invalid message, and records the reason for the first invalid message. Returns 0 or WT_ENOMEM. */
static int WT_PRINTF(3, 4) skip_message(struct message_reader *r, wt_error *err, const char *format, ...)
{
    char reason[REASON_MAX], all[REASON_MAX + PLACE_MAX + sizeof ": "];
    if (r->out->left_out++ > 0)
        return 0;
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(all, sizeof all, "%s: %s", r->place, reason);
    r->out->reason = wt__arena_copy(r->arena, wt__str(all));
    return r->out->reason ? 0 : wt__fail_nomem(err);
}

/* Adds the text of a message. */
static int add_said(struct message_reader *r, enum role role, struct str text, wt_error *err)
{
    if (wt__grow((void **)&r->said, &r->capacity, r->count + 1, sizeof *r->said) < 0)
        return wt__fail_nomem(err);
    const char *copy = wt__arena_copy(r->arena, wt__str_trim(text));
    WT_CHECK_ALLOC(copy, err);
    r->said[r->count++] = (struct message_text){role, wt__str(copy)};
    return 0;
}

/* Adds the name of a called tool, unless the name was added before. */
static int add_call(struct message_reader *r, struct str name, wt_error *err)
{
    struct conversation *out = r->out;
    if (name.len == 0 || name.len > CALLED_NAME_BYTES)
        return skip_message(r, err, "the name of a called tool has %zu bytes; 1 to %d are allowed", name.len,
                            CALLED_NAME_BYTES);
    for (size_t i = 0; i < out->call_count; i++)
        if (wt__str_equal(out->calls[i], name))
            return 0;
    if (out->call_count == WT_MAX_KEPT) {
        out->calls_over++;
        return 0;
    }
    if (!out->calls && !(out->calls = wt__arena_array(r->arena, struct str, WT_MAX_KEPT)))
        return wt__fail_nomem(err);
    const char *copy = wt__arena_copy(r->arena, name);
    WT_CHECK_ALLOC(copy, err);
    out->calls[out->call_count++] = (struct str){copy, name.len};
    return 0;
}

/* ---------------------------------------------------------------- one message */

static void add_text(struct message_reader *r, struct str text)
{
    if (r->text.len > 0 && text.len > 0)
        wt__buffer_char(&r->text, '\n');
    wt__buffer_str(&r->text, text);
}

static int read_content_part(struct message_reader *r, const json_t *part, enum role role, wt_error *err)
{
    static const char *const texts[] = {"text", "input_text", "output_text"};
    static const char *const calls[] = {"tool_use", "server_tool_use", "mcp_tool_use"};
    if (json_is_string(part))
        add_text(r, (struct str){json_string_value(part), json_string_length(part)});
    struct str type = wt__json_str(part, "type");
    if (wt__str_among(type, texts, sizeof texts / sizeof *texts))
        add_text(r, wt__json_str(part, "text"));
    else if (role == ROLE_AGENT && wt__str_among(type, calls, sizeof calls / sizeof *calls))
        return add_call(r, wt__json_str(part, "name"), err);
    return 0;
}

static int read_message_content(struct message_reader *r, const json_t *content, enum role role, wt_error *err)
{
    if (!content || json_is_null(content))
        return 0;
    if (json_is_string(content))
        return read_content_part(r, content, role, err);
    if (!json_is_array(content))
        return skip_message(r, err, "its \"content\" is neither a string nor an array of parts");
    for (size_t i = 0; i < json_array_size(content); i++)
        WT_TRY(read_content_part(r, json_array_get(content, i), role, err));
    return 0;
}

/* Reads OpenAI's list of calls, and its older form of a single call. */
static int read_message_calls(struct message_reader *r, const json_t *message, wt_error *err)
{
    const json_t *calls = wt__json_array(message, "tool_calls"), *single = wt__json_object(message, "function_call");
    if (single)
        WT_TRY(add_call(r, wt__json_str(single, "name"), err));
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i), *function = wt__json_object(call, "function");
        WT_TRY(add_call(r, wt__json_str(function ? function : call, "name"), err));
    }
    return 0;
}

/* Reads the word of a role. Returns false if it is unknown. */
static bool read_role(struct str text, enum role *out)
{
    static const char *const users[] = {"user", "human"}, *const agents[] = {"assistant", "model", "ai", "agent"},
                             *const others[] = {"system", "developer", "tool", "function"};
    if (wt__str_among(text, users, sizeof users / sizeof *users))
        *out = ROLE_USER;
    else if (wt__str_among(text, agents, sizeof agents / sizeof *agents))
        *out = ROLE_AGENT;
    else if (wt__str_among(text, others, sizeof others / sizeof *others))
        *out = ROLE_LEFT_OUT;
    else
        return false;
    return true;
}

static int read_message_object(struct message_reader *r, const json_t *message, wt_error *err)
{
    struct str type = wt__json_str(message, "type"), said_by = wt__json_str(message, "role");
    enum role role;
    if (said_by.len == 0 && type.len > 0 && !wt__str_equal(type, STR("message")))
        return wt__str_equal(type, STR("function_call")) ? add_call(r, wt__json_str(message, "name"), err) : 0;
    if (said_by.len == 0)
        return skip_message(r, err, "it has no \"role\", such as \"user\"");
    if (!read_role(said_by, &role))
        return skip_message(r, err, "its \"role\" is not one of user, assistant, system, developer and tool");
    if (role == ROLE_LEFT_OUT)
        return 0;
    WT_TRY(read_message_content(r, json_object_get(message, "content"), role, err));
    if (role == ROLE_AGENT)
        WT_TRY(read_message_calls(r, message, err));
    if (r->text.failed)
        return wt__fail_nomem(err);
    return add_said(r, role, wt__buffer_view(&r->text), err);
}

static int count_message(struct message_reader *r, wt_error *err)
{
    if (r->seen++ == WT_MAX_MESSAGES)
        return wt__fail(err, WT_ETOOLONG, "the conversation has more than %d messages; send the last ones",
                        WT_MAX_MESSAGES);
    wt__buffer_clear(&r->text);
    return 0;
}

static int read_parsed_message(struct message_reader *r, const json_t *message, wt_error *err)
{
    r->objects |= !json_is_string(message);
    if (json_is_string(message))
        return add_said(r, ROLE_BY_TURNS, (struct str){json_string_value(message), json_string_length(message)}, err);
    if (json_is_object(message))
        return read_message_object(r, message, err);
    return skip_message(r, err, "it is neither an object nor a string");
}

static int read_one_message(struct message_reader *r, struct str bytes, wt_error *err)
{
    wt_error why;
    json_auto_t *message = NULL;
    WT_TRY(count_message(r, err));
    int rc = wt__json_parse(&message, bytes.ptr, bytes.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0) {
        r->objects = true;
        return skip_message(r, err, "%s", why.message);
    }
    return read_parsed_message(r, message, err);
}

/* ---------------------------------------------------------------- all of them */

static int read_message_array(struct message_reader *r, struct str text, const struct json_item *array,
                              const char *pointer, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int more = 0;
    if (array->value.len == 0 || array->value.ptr[0] != '[')
        return wt__fail_at(err, WT_EFORMAT, array->line, array->byte, pointer, "%s is not an array; " WHAT_IS_READ,
                           pointer);
    wt__json_scan_open(&scan, text, array->byte, array->line);
    for (size_t i = 0; (more = wt__json_scan_next(&scan, &item)) == 1; i++) {
        snprintf(r->place, sizeof r->place, "%s/%zu", pointer, i);
        WT_TRY(read_one_message(r, item.value, err));
    }
    if (more == 0)
        return 0;
    return wt__fail_at(err, WT_EFORMAT, scan.line, scan.at, pointer, "line %zu: %s; send the whole conversation",
                       scan.line, scan.reason);
}

static int read_message_lines(struct message_reader *r, struct str text, wt_error *err)
{
    size_t line = 0;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
        struct str bytes = wt__str_trim((struct str){text.ptr + at, len});
        at += len + 1;
        snprintf(r->place, sizeof r->place, "line %zu", ++line);
        if (bytes.len > 0)
            WT_TRY(read_one_message(r, bytes, err));
    }
    return 0;
}

/* Reads a single object: a message, or an object with the member "messages". */
static int read_message_root(struct message_reader *r, struct str text, const struct json_item *root, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    bool message = false;
    int more;
    wt__json_scan_open(&scan, text, root->byte, root->line);
    while ((more = wt__json_scan_next(&scan, &item)) == 1) {
        if (wt__str_equal(item.key, STR("messages")))
            return read_message_array(r, text, &item, "/messages", err);
        message |= wt__str_equal(item.key, STR("role"));
    }
    if (more == 0 && message) {
        snprintf(r->place, sizeof r->place, "the message");
        return read_one_message(r, root->value, err);
    }
    if (more == 0)
        return wt__fail_at(err, WT_EFORMAT, root->line, root->byte, "",
                           "the object has no \"messages\"; " WHAT_IS_READ);
    return wt__fail_at(err, WT_EFORMAT, scan.line, scan.at, "", "line %zu: %s; send the whole conversation", scan.line,
                       scan.reason);
}

static int read_conversation(struct message_reader *r, struct str text, wt_error *err)
{
    struct json_item root;
    wt__json_scan_root(text, 0, 1, &root);
    char first = root.value.len > 0 ? root.value.ptr[0] : '\0';
    size_t end = root.byte + root.value.len;
    bool alone = wt__str_trim((struct str){text.ptr + end, text.len - end}).len == 0;
    if (first == '[' && alone)
        return read_message_array(r, text, &root, "", err);
    if (first == '{' && alone)
        return read_message_root(r, text, &root, err);
    if (first == '{' || first == '"')
        return read_message_lines(r, text, err);
    if (first == '\0')
        return wt__fail(err, WT_EFORMAT, "the conversation is empty; " WHAT_IS_READ);
    return wt__fail_at(err, WT_EFORMAT, root.line, root.byte, "", "line %zu: not a conversation; " WHAT_IS_READ,
                       root.line);
}

static int read_parsed_array(struct message_reader *r, const json_t *array, const char *pointer, wt_error *err)
{
    if (!json_is_array(array))
        return wt__fail_at(err, WT_EFORMAT, 0, 0, pointer, "%s is not an array; " WHAT_IS_READ, pointer);
    for (size_t i = 0; i < json_array_size(array); i++) {
        snprintf(r->place, sizeof r->place, "%s/%zu", pointer, i);
        WT_TRY(count_message(r, err));
        WT_TRY(read_parsed_message(r, json_array_get(array, i), err));
    }
    return 0;
}

static int read_tree(struct message_reader *r, const json_t *tree, wt_error *err)
{
    if (!json_is_object(tree))
        return read_parsed_array(r, tree, "", err);
    const json_t *messages = json_object_get(tree, "messages");
    if (messages)
        return read_parsed_array(r, messages, "/messages", err);
    if (!json_object_get(tree, "role"))
        return wt__fail_at(err, WT_EFORMAT, 0, 0, "", "the object has no \"messages\"; " WHAT_IS_READ);
    snprintf(r->place, sizeof r->place, "the message");
    WT_TRY(count_message(r, err));
    return read_parsed_message(r, tree, err);
}

/* Writes the turns. If all messages are strings, the turns alternate, and the last turn is the user's. Otherwise each
 * string is a turn of the user. */
static int write_turns(struct message_reader *r, wt_error *err)
{
    struct conversation *out = r->out;
    out->turns = wt__arena_array(r->arena, struct turn, r->count);
    WT_CHECK_ALLOC(out->turns, err);
    for (size_t i = 0; i < r->count; i++) {
        const struct message_text *said = &r->said[i];
        bool by_turns = said->role == ROLE_BY_TURNS;
        bool user = by_turns ? r->objects || (r->count - 1 - i) % 2 == 0 : said->role == ROLE_USER;
        if (said->text.len > 0)
            out->turns[out->len++] = (struct turn){user, said->text};
    }
    return 0;
}

int wt__messages_read(struct conversation *out, struct str bytes, struct arena *arena, wt_error *err)
{
    static const struct str mark = {"\xef\xbb\xbf", 3};
    struct message_reader r = {.out = out, .arena = arena};
    *out = (struct conversation){0};
    if (bytes.len > WT_MAX_MESSAGES_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the conversation has %zu bytes; at most %d are read: send its last turns",
                        bytes.len, WT_MAX_MESSAGES_BYTES);
    if (wt__str_starts(bytes, mark))
        bytes = (struct str){bytes.ptr + mark.len, bytes.len - mark.len};
    int rc = read_conversation(&r, bytes.len > 0 ? bytes : STR(""), err);
    if (rc == 0)
        rc = write_turns(&r, err);
    free(r.said);
    wt__buffer_dispose(&r.text);
    return rc;
}

int wt__messages_read_tree(struct conversation *out, const json_t *tree, struct arena *arena, wt_error *err)
{
    struct message_reader r = {.out = out, .arena = arena};
    *out = (struct conversation){0};
    int rc = read_tree(&r, tree, err);
    if (rc == 0)
        rc = write_turns(&r, err);
    free(r.said);
    wt__buffer_dispose(&r.text);
    return rc;
}

size_t wt__messages_last_user(const struct conversation *conversation)
{
    for (size_t i = conversation->len; i > 0; i--)
        if (conversation->turns[i - 1].user)
            return i - 1;
    return conversation->len;
}
