/* prompt.c: reads prompt files and fills their slots. See prompt.h. */
#include "llm/prompt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "llm/internal.h"
#include "llm/plain_text.h"

enum { LINE_BYTES = 256 };

/* ---------------------------------------------------------------- reading a file */

struct prompt_reader {
    struct str rest; /* unread part of the file */
    size_t line;     /* number of the last line read, from 1; 0 before the first */
};

/* Reads the next line, without its line end. Returns false at the end of the file. */
static bool read_prompt_line(struct prompt_reader *reader, struct str *out)
{
    if (reader->rest.len == 0)
        return false;
    const char *end = memchr(reader->rest.ptr, '\n', reader->rest.len);
    size_t len = end ? (size_t)(end - reader->rest.ptr) : reader->rest.len, step = end ? len + 1 : len;
    *out = (struct str){reader->rest.ptr, len};
    reader->rest = (struct str){reader->rest.ptr + step, reader->rest.len - step};
    reader->line++;
    return true;
}

static bool is_prompt_name(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len < PROMPT_NAME_BYTES && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

static const struct prompt_slot *find_prompt_slot(const struct prompt *prompt, struct str name)
{
    for (size_t i = 0; i < prompt->slot_count; i++)
        if (wt__str_equal(wt__str(prompt->slots[i].name), name))
            return &prompt->slots[i];
    return NULL;
}

static bool add_prompt_slot(struct prompt *prompt, const char *name, size_t max_items, size_t max_bytes)
{
    if (prompt->slot_count == PROMPT_SLOTS_MAX || !is_prompt_name(name) || find_prompt_slot(prompt, wt__str(name)) ||
        max_items > PROMPT_ITEMS_MAX || max_bytes == 0 || max_bytes > PROMPT_VALUE_BYTES_MAX)
        return false;
    struct prompt_slot *slot = &prompt->slots[prompt->slot_count++];
    *slot = (struct prompt_slot){.max_items = max_items, .max_bytes = max_bytes};
    memcpy(slot->name, name, strlen(name) + 1);
    return true;
}

/* Parses one setting, a line before "schema" or "prompt". Returns false if the line is invalid. */
static bool read_prompt_setting(struct prompt *prompt, struct str line)
{
    char text[LINE_BYTES], name[LINE_BYTES], excess;
    unsigned a, b;
    if (line.len >= sizeof text || memchr(line.ptr, '\0', line.len))
        return false;
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\0';
    if (sscanf(text, "version %9u %c", &a, &excess) == 1 && prompt->version == 0)
        return (prompt->version = a) > 0 && a <= PROMPT_VERSION_MAX;
    if (sscanf(text, "tokens %9u %c", &a, &excess) == 1 && prompt->max_tokens == 0)
        return (prompt->max_tokens = a) > 0 && a <= PROMPT_TOKENS_MAX;
    if (sscanf(text, "text %255s %9u %c", name, &a, &excess) == 2)
        return add_prompt_slot(prompt, name, 0, a);
    if (sscanf(text, "list %255s %9u %9u %c", name, &a, &b, &excess) == 3)
        return a > 0 && add_prompt_slot(prompt, name, a, b);
    return false;
}

static int read_answer_schema(struct prompt *prompt, struct prompt_reader *reader, wt_error *err)
{
    size_t first = reader->line;
    struct str line, all = {reader->rest.ptr, 0};
    while (read_prompt_line(reader, &line)) {
        if (!wt__str_equal(line, STR("prompt"))) {
            all.len = (size_t)(line.ptr + line.len - all.ptr);
            continue;
        }
        int rc = wt__json_parse(&prompt->schema, all.ptr ? all.ptr : "", all.len, err);
        if (rc < 0 && err)
            err->line += first;
        return rc < 0 ? rc : wt__answer_check_schema(prompt->schema, err);
    }
    return wt__fail_at(err, WT_EFORMAT, reader->line, 0, NULL, "the schema is not followed by a line \"prompt\"");
}

static int read_prompt_head(struct prompt *prompt, struct prompt_reader *reader, wt_error *err)
{
    struct str line;
    while (read_prompt_line(reader, &line)) {
        if (wt__str_equal(line, STR("prompt")))
            return 0;
        if (wt__str_equal(line, STR("schema")))
            return read_answer_schema(prompt, reader, err);
        if (line.len > 0 && line.ptr[0] != '#' && !read_prompt_setting(prompt, line))
            return wt__fail_at(err, WT_EFORMAT, reader->line, 0, NULL,
                               "line %zu is none of: version N, tokens N, text NAME BYTES, list NAME ITEMS BYTES, "
                               "schema, prompt",
                               reader->line);
    }
    return wt__fail_at(err, WT_EFORMAT, reader->line, 0, NULL, "there is no line \"prompt\"");
}

/* Returns the name of the slot of a line "{{name}}"; empty if the line is text. */
static struct str parse_slot_line(struct str line)
{
    if (line.len < 5 || memcmp(line.ptr, "{{", 2) != 0 || memcmp(line.ptr + line.len - 2, "}}", 2) != 0)
        return (struct str){"", 0};
    return (struct str){line.ptr + 2, line.len - 4};
}

/* True if the line has a mark reserved for slots and delimiters. */
static bool has_mark(struct str line)
{
    static const char *const marks[] = {"{{", "}}", "<<<", ">>>"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (memmem(line.ptr, line.len, marks[i], strlen(marks[i])))
            return true;
    return false;
}

/* Reads the text of the prompt. Each declared slot must occur, and no other line may contain marks. */
static int read_prompt_text(struct prompt *prompt, struct prompt_reader *reader, wt_error *err)
{
    unsigned seen = 0;
    struct str line, text = wt__str_trim(reader->rest);
    if (text.len == 0 || memchr(text.ptr, '\0', text.len))
        return wt__fail(err, WT_EFORMAT, "there is no text after the line \"prompt\"");
    while (read_prompt_line(reader, &line)) {
        const struct prompt_slot *slot = find_prompt_slot(prompt, parse_slot_line(line));
        if (!slot && has_mark(line))
            return wt__fail_at(err, WT_EFORMAT, reader->line, 0, NULL, "line %zu is neither text nor a known slot",
                               reader->line);
        if (slot)
            seen |= 1u << (slot - prompt->slots);
    }
    if (seen != (1u << prompt->slot_count) - 1)
        return wt__fail(err, WT_EFORMAT, "a declared slot does not occur in the text");
    prompt->text = wt__copy_string(text.ptr, text.len);
    return prompt->text ? 0 : wt__fail_nomem(err);
}

static int read_prompt_file(struct prompt *out, const char *name, struct str file, wt_error *err)
{
    struct prompt_reader reader = {.rest = file};
    if (!is_prompt_name(name))
        return wt__fail(err, WT_EFORMAT, "the name is invalid");
    WT_TRY(read_prompt_head(out, &reader, err));
    WT_TRY(read_prompt_text(out, &reader, err));
    if (out->version == 0 || out->max_tokens == 0)
        return wt__fail(err, WT_EFORMAT, "version or tokens are missing");
    return 0;
}

int wt__prompt_parse(struct prompt *out, const char *name, struct str file, wt_error *err)
{
    *out = (struct prompt){0};
    if (file.len > PROMPT_FILE_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "prompt %s has more than %d bytes", name, (int)PROMPT_FILE_BYTES_MAX);
    int rc = read_prompt_file(out, name, file, err);
    if (rc < 0) {
        wt__prompt_dispose(out);
        return wt__fail_context(err, rc, "prompt %.31s", name);
    }
    snprintf(out->task, sizeof out->task, "%s/%u", name, out->version);
    return 0;
}

int wt__prompt_open(struct prompt *out, const char *name, wt_error *err)
{
    *out = (struct prompt){0};
    for (size_t i = 0; i < wt__prompt_file_count; i++) {
        const struct prompt_file *file = &wt__prompt_files[i];
        if (strcmp(file->name, name) == 0)
            return wt__prompt_parse(out, name, (struct str){file->bytes, file->len}, err);
    }
    return wt__fail(err, WT_ENOTFOUND, "there is no prompt \"%s\"", name);
}

void wt__prompt_dispose(struct prompt *prompt)
{
    free(prompt->text);
    json_decref(prompt->schema);
    *prompt = (struct prompt){0};
}

/* ---------------------------------------------------------------- filling */

static const struct prompt_value *find_slot_value(const struct prompt_value *values, size_t count, const char *slot)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].slot, slot) == 0)
            return &values[i];
    return NULL;
}

static int check_values(const struct prompt *prompt, const struct prompt_value *values, size_t count, wt_error *err)
{
    for (size_t i = 0; i < prompt->slot_count; i++) {
        const struct prompt_slot *slot = &prompt->slots[i];
        const struct prompt_value *value = find_slot_value(values, count, slot->name);
        if (!value)
            return wt__fail(err, WT_EINVAL, "prompt %s: no value for slot \"%s\"", prompt->task, slot->name);
        if (value->item_count > slot->max_items)
            return wt__fail(err, WT_ETOOLONG, "prompt %s: %zu items for \"%s\"; at most %zu are allowed", prompt->task,
                            value->item_count, slot->name, slot->max_items);
    }
    if (count != prompt->slot_count)
        return wt__fail(err, WT_EINVAL, "prompt %s: %zu values for %zu slots", prompt->task, count, prompt->slot_count);
    return 0;
}

static void write_slot_value(struct buffer *out, const struct prompt_slot *slot, const struct prompt_value *value)
{
    wt__buffer_printf(out, "<<<%s\n", slot->name);
    if (slot->max_items == 0) {
        wt__plain_text(out, value->text, slot->max_bytes);
        wt__buffer_char(out, '\n');
    }
    for (size_t i = 0; i < value->item_count; i++) {
        wt__buffer_printf(out, "%zu. ", i + 1);
        wt__plain_line(out, value->items[i], slot->max_bytes);
        wt__buffer_char(out, '\n');
    }
    wt__buffer_printf(out, ">>>%s", slot->name);
}

int wt__prompt_fill(const struct prompt *prompt, const struct prompt_value *values, size_t count, struct arena *arena,
                    struct str *out, wt_error *err)
{
    struct prompt_reader reader = {.rest = wt__str(prompt->text)};
    WT_CLEANUP(wt__buffer_dispose) struct buffer buffer = {0};
    struct str line;
    WT_TRY(check_values(prompt, values, count, err));
    while (read_prompt_line(&reader, &line)) {
        const struct prompt_slot *slot = find_prompt_slot(prompt, parse_slot_line(line));
        if (reader.line > 1)
            wt__buffer_char(&buffer, '\n');
        if (slot)
            write_slot_value(&buffer, slot, find_slot_value(values, count, slot->name));
        else
            wt__buffer_str(&buffer, line);
    }
    const char *copy = buffer.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&buffer));
    *out = (struct str){copy, buffer.len};
    WT_CHECK_ALLOC(copy, err);
    return 0;
}

int wt__prompt_ask(const struct prompt *prompt, const struct prompt_value *values, size_t count,
                   struct chat_model *model, struct chat_question *question, struct arena *arena,
                   struct chat_answer *out, wt_error *err)
{
    *out = (struct chat_answer){0};
    int rc = wt__prompt_fill(prompt, values, count, arena, &question->text, err);
    question->task = prompt->task;
    question->schema = question->schema ? question->schema : prompt->schema;
    question->max_tokens = prompt->max_tokens;
    return rc < 0 ? rc : wt__chat_ask(model, question, arena, out, err);
}

struct str wt__prompt_tool(struct str name, struct str description, size_t max, struct arena *arena)
{
    const struct str pieces[] = {name, STR(": "), description};
    size_t whole = name.len + description.len + pieces[1].len;
    max = whole < max ? whole : max;
    char *bytes = wt__arena_alloc(arena, max, 1);
    struct str out = {bytes, 0};
    for (size_t i = 0; bytes && i < sizeof pieces / sizeof *pieces; i++) {
        size_t room = max - out.len, len = pieces[i].len < room ? pieces[i].len : room;
        if (len > 0)
            memcpy(bytes + out.len, pieces[i].ptr, len);
        out.len += len;
    }
    return out;
}

/* ---------------------------------------------------------------- exchanges */

void wt__chat_reply_dispose(struct chat_reply *reply)
{
    json_decref(reply->got.json);
    wt__arena_dispose(&reply->arena);
}

int wt__chat_put(struct chat_reply *reply, const struct prompt *prompt, const struct prompt_value *values, size_t count,
                 struct chat_model *model, struct chat_question question)
{
    reply->put = true;
    reply->rc = wt__progress_step(question.progress, 0)
                    ? wt__fail_cancelled(&reply->why)
                    : wt__prompt_ask(prompt, values, count, model, &question, &reply->arena, &reply->got, &reply->why);
    reply->question = question.text;
    wt__progress_step(question.progress, 1);
    return reply->rc == WT_EFORMAT ? 0 : reply->rc;
}

int wt__chat_reject(struct chat_exchange *exchange, struct chat_cost *cost, const char *reason, struct arena *arena,
                    wt_error *err)
{
    cost->unusable++;
    exchange->unusable = wt__arena_copy(arena, wt__str(reason));
    return exchange->unusable ? 0 : wt__fail_nomem(err);
}

int wt__chat_keep(struct chat_exchange *out, struct chat_cost *cost, const struct prompt *prompt,
                  const struct chat_reply *reply, struct arena *arena, wt_error *err)
{
    const struct chat_answer *got = &reply->got;
    if (reply->rc < 0 && reply->rc != WT_EFORMAT) {
        if (err)
            *err = reply->why;
        return wt__fail_context(err, reply->rc, "%s", prompt->task);
    }
    cost->questions++;
    cost->requests += got->attempts;
    cost->repaired += got->repaired;
    cost->prompt_tokens += got->prompt_tokens;
    cost->completion_tokens += got->completion_tokens;
    cost->ms += got->ms;
    *out = (struct chat_exchange){
        .task = wt__arena_copy(arena, wt__str(prompt->task)),
        .question = {wt__arena_copy(arena, reply->question), reply->question.len},
        .answer = {wt__arena_copy(arena, got->text), got->text.len},
    };
    if (!out->task || !out->question.ptr || !out->answer.ptr)
        return wt__fail_nomem(err);
    return reply->rc == WT_EFORMAT ? wt__chat_reject(out, cost, reply->why.message, arena, err) : 0;
}
