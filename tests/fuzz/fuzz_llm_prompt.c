/* Fuzzes prompt files and the values of their slots. A filled prompt must have the delimiters of its slots and no
 * others. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "llm/plain_text.h"
#include "llm/prompt.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_parts(struct str text, const char *part)
{
    size_t n = 0, len = strlen(part);
    for (size_t at = 0; at + len <= text.len; at++)
        n += memcmp(text.ptr + at, part, len) == 0;
    return n;
}

/* Checks that sanitised text is valid UTF-8 without marks of prompts (plain_text.h), and that sanitising it again does
 * not change it. */
static void check_plain(struct str value, size_t max)
{
    struct buffer text = {0}, again = {0}, line = {0};
    wt__plain_text(&text, value, max);
    wt__plain_line(&line, value, max);
    wt__plain_text(&again, wt__buffer_view(&text), max + sizeof PLAIN_CUT);
    require(text.len < max + sizeof PLAIN_CUT && line.len < max + sizeof PLAIN_CUT);
    require(wt__str_equal(wt__buffer_view(&text), wt__buffer_view(&again)));
    require(count_parts(wt__buffer_view(&line), "\n") == 0);
    static const char *const marks[] = {"<<", ">>", "{{", "}}", "<|", "|>", "</", "[/", "\x1b", "\r"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        require(count_parts(wt__buffer_view(&text), marks[i]) == 0 &&
                count_parts(wt__buffer_view(&line), marks[i]) == 0);
    for (size_t at = 0; at < text.len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n =
            utf8proc_iterate((const utf8proc_uint8_t *)text.ptr + at, (utf8proc_ssize_t)(text.len - at), &c);
        require(n > 0);
        at += (size_t)n;
    }
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&again);
    wt__buffer_dispose(&line);
}

static void check_filled(const struct prompt *prompt, struct str value)
{
    struct arena arena = {0};
    struct prompt_value values[PROMPT_SLOTS_MAX];
    const struct str items[2] = {value, value};
    struct str out;
    wt_error err = {0};
    for (size_t i = 0; i < prompt->slot_count; i++) {
        size_t items_there = prompt->slots[i].max_items < 2 ? prompt->slots[i].max_items : 2;
        values[i] = (struct prompt_value){prompt->slots[i].name, value, items, items_there};
    }
    require(wt__prompt_fill(prompt, values, prompt->slot_count, &arena, &out, &err) == 0);
    size_t places = count_parts(wt__str(prompt->text), "{{");
    require(count_parts(out, "<<<") == places && count_parts(out, ">>>") == places && count_parts(out, "{{") == 0);
    wt__arena_dispose(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = "version 1\ntokens 9\ntext a 99\nlist b 9 99\nprompt\nx\n{{a}}\n{{b}}";
    struct str bytes = {(const char *)data, size};
    struct prompt prompt;
    wt_error err = {0};
    int rc = wt__prompt_parse(&prompt, "fuzz", bytes, &err);
    require(rc == 0 ? prompt.version > 0 && prompt.max_tokens > 0 : rc == err.code && err.message[0] != '\0');
    if (rc == 0)
        check_filled(&prompt, bytes);
    wt__prompt_dispose(&prompt);
    require(wt__prompt_parse(&prompt, "fuzz", STR(file), &err) == 0);
    check_filled(&prompt, bytes);
    wt__prompt_dispose(&prompt);
    check_plain(bytes, 64);
    return 0;
}
