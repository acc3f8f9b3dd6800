/* plain_text.c: sanitises text in one pass over its characters. See plain_text.h. A mark is detected by comparing each
 * character with the last byte written. An omitted character inside a mark thus does not hide the mark. */
#include "llm/plain_text.h"

#include <stdint.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/unicode.h"

enum { REPLACEMENT = 0xFFFD, NON_JOINER = 0x200C, JOINER = 0x200D, TAGS = 0xE0000, TAGS_END = 0xE1000 };

struct plain_writer {
    struct buffer *out;
    size_t begin, end; /* bytes of `out` that this writer may change */
    bool lines;        /* true to keep line ends */
    bool gap;          /* true if a blank must precede the next character */
    bool full;         /* true if the text was truncated */
};

static char last_byte(const struct plain_writer *w)
{
    return w->out->len > w->begin ? w->out->ptr[w->out->len - 1] : '\0';
}

/* Returns the ASCII mark that a character looks like; the character itself if it looks like no mark. */
static int32_t normalise_mark(int32_t c)
{
    static const struct {
        int32_t character, mark;
    } look_alikes[] = {{0xFF1C, '<'}, {0xFE64, '<'}, {0xFF1E, '>'}, {0xFE65, '>'}, {0xFF5B, '{'},
                       {0xFE5B, '{'}, {0xFF5D, '}'}, {0xFE5C, '}'}, {0xFF3B, '['}, {0xFF5C, '|'}};
    for (size_t i = 0; i < sizeof look_alikes / sizeof *look_alikes; i++)
        if (c == look_alikes[i].character)
            return look_alikes[i].mark;
    return c;
}

/* True if `c` after the byte `last` would begin or form a mark of prompts (plain_text.h). */
static bool makes_mark(char last, int32_t c)
{
    switch (last) {
    case '<':
        return c != '=' && c != ' ' && c != '\n' && c != '\t'; /* begins "<<<", "<|", "<s>", "</s>", "<think>" */
    case '>':
    case '{':
    case '}':
        return c == last;
    case '|':
        return c == '>';
    case '[':
        return c == '/' || (c >= 'A' && c <= 'Z'); /* "[INST]", "[/INST]" */
    default:
        return false;
    }
}

/* True if c is omitted. Joiners are kept after non-ASCII characters only, because some scripts need them. */
static bool is_hidden(const struct plain_writer *w, int32_t c)
{
    if (c == JOINER || c == NON_JOINER)
        return (unsigned char)last_byte(w) < 0x80;
    if (c >= TAGS && c < TAGS_END)
        return true;
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

static bool is_line_end(int32_t c)
{
    return c == '\n' || c == 0x2028 || c == 0x2029 || c == 0x85 || c == '\v' || c == '\f';
}

static void put_plain_character(struct plain_writer *w, int32_t c)
{
    utf8proc_uint8_t bytes[4];
    size_t len = (size_t)utf8proc_encode_char(c, bytes);
    bool gap = w->gap || makes_mark(last_byte(w), c);
    if (w->out->len + len + gap > w->end) {
        w->full = true;
        return;
    }
    if (gap)
        wt__buffer_char(w->out, ' ');
    wt__buffer_append(w->out, bytes, len);
    w->gap = false;
}

static void sanitise_character(struct plain_writer *w, int32_t c)
{
    if (c > ' ' && c < 0x7f) { /* fast path for most characters: visible, and not a look-alike of a mark */
        put_plain_character(w, c);
        return;
    }
    c = normalise_mark(c);
    bool blank = is_line_end(c) || c == '\t' || c == '\r' || utf8proc_category(c) == UTF8PROC_CATEGORY_ZS;
    if (!w->lines && blank)
        w->gap = w->out->len > w->begin;
    else if (is_line_end(c))
        put_plain_character(w, '\n');
    else if (c == '\t' || !is_hidden(w, c))
        put_plain_character(w, c);
}

static void write_plain(struct buffer *out, struct str text, size_t max, bool lines)
{
    struct plain_writer w = {.out = out, .begin = out->len, .end = out->len + max, .lines = lines};
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.ptr;
    for (size_t at = 0; at < text.len && !w.full && !out->failed;) {
        size_t left = text.len - at;
        int32_t c = bytes[at];
        utf8proc_ssize_t n = c < 0x80 ? 1 : utf8proc_iterate(bytes + at, left < 4 ? (utf8proc_ssize_t)left : 4, &c);
        if (n <= 0) {
            c = REPLACEMENT;
            n = 1;
        }
        sanitise_character(&w, c);
        at += (size_t)n;
    }
    if (w.full)
        wt__buffer_text(out, PLAIN_CUT);
}

void wt__plain_text(struct buffer *out, struct str text, size_t max)
{
    write_plain(out, text, max, true);
}

void wt__plain_line(struct buffer *out, struct str text, size_t max)
{
    write_plain(out, text, max, false);
}

int wt__plain_words(struct str *out, struct str text, size_t max, struct arena *arena)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer plain = {0};
    if (wt__has_word(text))
        wt__plain_line(&plain, text, max);
    *out = (struct str){plain.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&plain)), plain.len};
    return out->ptr ? 0 : WT_ENOMEM;
}
