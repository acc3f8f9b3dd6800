#include "generate/piece.h"

#include "llm/plain_text.h"
#include "text/unicode.h"

static const struct {
    size_t least, most;
} bounds[] = {
    [PIECE_NAME] = {PIECE_NAME_BYTES_LEAST, PIECE_NAME_BYTES_MAX},
    [PIECE_DESCRIPTION] = {PIECE_DESCRIPTION_BYTES_LEAST, PIECE_DESCRIPTION_BYTES_MAX},
    [PIECE_INSTRUCTION] = {PIECE_INSTRUCTION_BYTES_LEAST, PIECE_INSTRUCTION_BYTES_MAX},
    [PIECE_NOTE] = {PIECE_NOTE_BYTES_LEAST, PIECE_NOTE_BYTES_MAX},
    [PIECE_EXPLANATION] = {PIECE_EXPLANATION_BYTES_LEAST, PIECE_EXPLANATION_BYTES_MAX},
};

const char *wt__piece_fate_name(enum piece_fate fate)
{
    static const char *const names[PIECE_FATES] = {
        [PIECE_TAKEN] = "taken",           [PIECE_NO_WORD] = "no_word",
        [PIECE_LENGTH] = "length",         [PIECE_MARKS] = "marks",
        [PIECE_NAME_TAKEN] = "name_taken", [PIECE_SAME_WORDS] = "same_words",
        [PIECE_ALIKE] = "alike",           [PIECE_UNNAMED] = "tool_unnamed",
        [PIECE_SURPLUS] = "surplus",       [PIECE_REPEATS] = "repeats_prompt",
        [PIECE_UNKNOWN] = "unknown_tool",  [PIECE_COUNT] = "tool_count",
        [PIECE_NAMES_TOOL] = "names_tool", [PIECE_NOT_FOUND] = "not_found_again",
        [PIECE_TWIN] = "near_twin",
    };
    return names[fate];
}

static bool is_unicode_word_part(enum unicode_kind kind)
{
    return kind == UNICODE_LETTER || kind == UNICODE_UPPER || kind == UNICODE_DIGIT || kind == UNICODE_MARK;
}

static bool is_ascii_word_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Characters allowed in a name besides letters, digits and combining marks. */
static bool is_name_mark(uint32_t c)
{
    return c < 128 && c != 0 && strchr(" -_'&/,.+()%", (int)c) != NULL;
}

static bool is_valid_name_text(struct str text)
{
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        if (!is_unicode_word_part(wt__unicode_kind(c)) && !is_name_mark(c))
            return false;
    }
    return true;
}

/* True if the text contains a mark of the layout of training rows (generate/fine_tuning.c). */
static bool has_row_layout(struct str text)
{
    static const char *const marks[] = {"###", "CALLTOOL", "Tool Choices:"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (text.len > 0 && memmem(text.ptr, text.len, marks[i], strlen(marks[i])))
            return true;
    return false;
}

/* True if the text has a letter or, in an instruction, a digit: "12 * 7" is a request for a calculator. */
static bool has_content(struct str text, enum piece_kind piece)
{
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        enum unicode_kind kind = wt__unicode_kind(wt__utf8_next(&at, end));
        if (kind == UNICODE_LETTER || kind == UNICODE_UPPER || (kind == UNICODE_DIGIT && piece == PIECE_INSTRUCTION))
            return true;
    }
    return false;
}

int wt__piece_read(struct arena *arena, enum piece_kind kind, struct str text, struct str *out, enum piece_fate *fate,
                   wt_error *err)
{
    struct buffer plain = {0};
    *out = (struct str){"", 0};
    if (text.len > bounds[kind].most) { /* refused, not truncated: half a sentence is not a usable piece */
        *fate = PIECE_LENGTH;
        return 0;
    }
    if (text.len > 0)
        wt__plain_line(&plain, text, text.len);
    const struct str line = wt__buffer_view(&plain);
    if (line.len == 0 || !has_content(line, kind))
        *fate = PIECE_NO_WORD;
    else if (line.len < bounds[kind].least || line.len > bounds[kind].most)
        *fate = PIECE_LENGTH;
    else if (has_row_layout(line) || (kind == PIECE_NAME && !is_valid_name_text(line)))
        *fate = PIECE_MARKS;
    else
        *fate = PIECE_TAKEN;
    const char *copy = plain.failed ? NULL : *fate == PIECE_TAKEN ? wt__arena_copy(arena, line) : "";
    if (copy && *fate == PIECE_TAKEN)
        *out = (struct str){copy, line.len};
    wt__buffer_dispose(&plain);
    return copy ? 0 : wt__fail_nomem(err);
}

void wt__piece_words(struct buffer *out, struct str text)
{
    bool in_word = false, first = true;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end), lower[UNICODE_MAX_LOWER];
        const bool ascii = c < 128; /* the common case, decided without a Unicode table */
        bool part = ascii ? is_ascii_word_part((char)c) : is_unicode_word_part(wt__unicode_kind(c));
        if (part && !in_word && !first)
            wt__buffer_char(out, ' ');
        if (part && ascii)
            wt__buffer_char(out, (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c));
        for (unsigned i = 0, count = part && !ascii ? wt__unicode_lower(c, lower) : 0; i < count; i++) {
            char bytes[4];
            wt__buffer_append(out, bytes, wt__utf8_put(lower[i], bytes));
        }
        first &= !part;
        in_word = part;
    }
}

/* Appends the words with a blank at both ends, so that a search finds only whole words. */
static void append_bounded_words(struct buffer *out, struct str text)
{
    wt__buffer_char(out, ' ');
    wt__piece_words(out, text);
    wt__buffer_char(out, ' ');
}

int wt__piece_mentions_name(struct str text, struct str name, bool *out, wt_error *err)
{
    struct buffer words = {0}, wanted = {0};
    append_bounded_words(&words, text);
    append_bounded_words(&wanted, name);
    bool failed = words.failed || wanted.failed;
    *out = !failed && wanted.len > 2 && memmem(words.ptr, words.len, wanted.ptr, wanted.len);
    wt__buffer_dispose(&words);
    wt__buffer_dispose(&wanted);
    return failed ? wt__fail_nomem(err) : 0;
}

void wt__piece_line(struct buffer *out, struct str text, size_t max)
{
    size_t begin = out->len;
    bool blank = false;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        char bytes[4];
        uint32_t c = wt__utf8_next(&at, end);
        if (wt__unicode_blank(c)) {
            blank = true;
            continue;
        }
        size_t len = wt__utf8_put(c, bytes);
        if (wt__unicode_unseen(c))
            continue;
        if (out->len - begin + len + 1 > max)
            return;
        if (blank && out->len > begin)
            wt__buffer_char(out, ' ');
        blank = false;
        wt__buffer_append(out, bytes, len);
    }
}

size_t wt__piece_characters(struct str text)
{
    size_t count = 0;
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end; count++)
        wt__utf8_next(&at, end);
    return count;
}
