/* characters.c: finds characters that a language model reads and a person does not see: zero-width characters,
 * direction marks, tags and private-use characters. Also finds words that mix Latin with look-alike letters.
 *
 * Such characters are allowed in legitimate uses:
 *   - joiners between emoji and in scripts with joined letters
 *   - variation selectors after a symbol
 *   - direction marks next to a right-to-left script
 *   - tags in flags, soft hyphens, and a byte order mark at the start */
#include "audit/families.h"

#include "audit/texts.h"
#include "text/unicode.h"

struct character_check {
    struct audit_run *a;
    struct checked_tool *at;
    bool hidden, mixed; /* reported already */
    wt_error *err;
};

static bool is_symbol(uint32_t c)
{
    return (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x1F000 && c <= 0x1FAFF) || c == 0xA9 || c == 0xAE || c == 0x2122 ||
           c == 0x203C || c == 0x2049 || c == 0x2139 || c == 0x3030 || c == 0x303D || c == 0x3297 || c == 0x3299 ||
           c == '#' || c == '*' || (c >= '0' && c <= '9') || c == 0xFE0F || c == 0x20E3;
}

/* True for scripts with joined letters or right-to-left direction: Hebrew to Arabic, Indic to Myanmar, Mongolian. */
static bool is_joining_script(uint32_t c)
{
    return (c >= 0x0590 && c <= 0x08FF) || (c >= 0x0900 && c <= 0x109F) || (c >= 0x1780 && c <= 0x18AF) ||
           (c >= 0xFB1D && c <= 0xFEFC && c != 0xFEFF);
}

/* True if an invisible character has a legitimate use between its neighbours. */
static bool has_legitimate_use(uint32_t c, uint32_t before, uint32_t after, bool first)
{
    if (c == '\t' || c == '\n' || c == '\r' || c == 0xAD || (c == 0xFEFF && first))
        return true;
    if (c >= 0xFE00 && c <= 0xFE0F)
        return is_symbol(before) || before >= 0x2E80;
    if (c == 0x200D)
        return is_symbol(before) || is_joining_script(before);
    if (c == 0x200C || c == 0x200E || c == 0x200F || c == 0x061C)
        return is_joining_script(before) || is_joining_script(after);
    if (c == 0x2028 || c == 0x2029 || c == 0x2060 || c == 0x0085)
        return true;                  /* line breaks, and the word joiner */
    if (c >= 0xE0020 && c <= 0xE007F) /* tags of a flag */
        return before == 0x1F3F4 || (before >= 0xE0020 && before <= 0xE007F);
    return false;
}

static bool is_private_use(uint32_t c)
{
    return (c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000;
}

static const char *describe_character(uint32_t c)
{
    if (c >= 0xE0000 && c <= 0xE007F)
        return "a tag character, which can hide text";
    if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069))
        return "a mark that reverses the direction of text";
    if (is_private_use(c))
        return "a private-use character";
    return c < ' ' || (c >= 0x7F && c < 0xA0) ? "a control character" : "a zero-width character";
}

/* True if the text may contain invisible characters: regular expressions, and values of one character, which are often
 * separators. */
static bool may_have_invisible(const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len;
    if (text->kind == TEXT_VALUE)
        wt__utf8_next(&at, end);
    return text->kind == TEXT_PATTERN || at == end;
}

static int find_hidden_characters(struct character_check *l, const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len;
    uint32_t before = 0, worst = 0;
    size_t count = 0, worst_at = 0;
    while (at < end) {
        const char *from = at;
        uint32_t c = wt__utf8_next(&at, end);
        const char *next = at;
        uint32_t after = at < end ? wt__utf8_next(&next, end) : 0;
        bool hidden = is_private_use(c) ||
                      (wt__unicode_unseen(c) && !has_legitimate_use(c, before, after, from == text->text.ptr));
        if (hidden && count++ == 0) {
            worst = c;
            worst_at = (size_t)(from - text->text.ptr);
        }
        before = c;
    }
    if (count == 0)
        return 0;
    l->hidden = true;
    size_t begin = worst_at > 20 ? worst_at - 20 : 0;
    while (begin > 0 && (text->text.ptr[begin] & 0xC0) == 0x80)
        begin--;
    uint32_t place = (uint32_t)l->at->tool;
    const struct new_finding found = {
        .rule = RULE_HIDDEN_CHARACTERS, .tools = &place, .count = 1, .figure = (double)count};
    return wt__audit_add_finding(l->a, &found, l->err, "The %s has U+%04X, %s%s: \"%s\".",
                                 wt__describe_text_place(l->a, text), (unsigned)worst, describe_character(worst),
                                 count > 1 ? ", and more such characters" : "",
                                 wt__audit_quote(l->a, (struct str){text->text.ptr + begin, text->text.len - begin}));
}

/* ---------------------------------------------------------------- look-alikes */

enum alphabet { ALPHABET_OTHER, ALPHABET_LATIN, ALPHABET_GREEK, ALPHABET_CYRILLIC };

static enum alphabet alphabet_of(uint32_t c)
{
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80)
        return ALPHABET_LATIN;
    if (c >= 0x0370 && c <= 0x03FF)
        return ALPHABET_GREEK;
    return c >= 0x0400 && c <= 0x052F ? ALPHABET_CYRILLIC : ALPHABET_OTHER;
}

/* True if a Greek or Cyrillic letter looks like a Latin one. */
static bool looks_latin(uint32_t c)
{
    static const uint32_t alike[] = {0x0430, 0x0435, 0x043E, 0x0440, 0x0441, 0x0443, 0x0445, 0x0455, 0x0456, 0x0458,
                                     0x04BB, 0x0501, 0x051B, 0x0410, 0x0412, 0x0415, 0x041A, 0x041C, 0x041D, 0x041E,
                                     0x0420, 0x0421, 0x0422, 0x0423, 0x0425, 0x0405, 0x0406, 0x0408, 0x03BF, 0x03B1,
                                     0x03BD, 0x03C1, 0x0391, 0x0392, 0x0395, 0x0396, 0x0397, 0x0399, 0x039A, 0x039C,
                                     0x039D, 0x039F, 0x03A1, 0x03A4, 0x03A5, 0x03A7};
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (c == alike[i])
            return true;
    return false;
}

/* True if all Greek and Cyrillic letters of a word with Latin letters look Latin: "pаypal". Words with other Greek or
 * Cyrillic letters, as "Zoom-встреча" and "μTorrent", are legitimate. */
static bool is_mixed_word(struct str word)
{
    size_t latin = 0, alike = 0, foreign = 0;
    for (const char *at = word.ptr, *end = at + word.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        enum alphabet alphabet = alphabet_of(c);
        latin += alphabet == ALPHABET_LATIN;
        if (alphabet > ALPHABET_LATIN) {
            alike += looks_latin(c);
            foreign += !looks_latin(c);
        }
    }
    return latin > 0 && alike > 0 && foreign == 0;
}

static int find_mixed_words(struct character_check *l, const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len, *begin = NULL;
    while (at <= end && !l->mixed) {
        const char *from = at;
        uint32_t c = at < end ? wt__utf8_next(&at, end) : ' ';
        enum unicode_kind kind = wt__unicode_kind(c);
        bool letter = kind == UNICODE_LETTER || kind == UNICODE_UPPER;
        if (letter && !begin)
            begin = from;
        if (!letter && begin && is_mixed_word((struct str){begin, (size_t)(from - begin)})) {
            l->mixed = true;
            return wt__audit_add_tool_finding(l->a, RULE_MIXED_SCRIPTS, l->at->tool, l->err,
                                              "The %s has a word that mixes Latin letters with look-alikes: \"%s\".",
                                              wt__describe_text_place(l->a, text),
                                              wt__audit_quote(l->a, (struct str){begin, (size_t)(from - begin)}));
        }
        if (!letter)
            begin = NULL;
        if (from == end)
            break;
    }
    return 0;
}

static int check_characters(void *context, const struct tool_text *text)
{
    struct character_check *l = context;
    if (may_have_invisible(text))
        return 0;
    int rc = l->hidden ? 0 : find_hidden_characters(l, text);
    return rc == 0 && !l->mixed ? find_mixed_words(l, text) : rc;
}

int wt__audit_characters(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    struct character_check l = {.a = a, .at = at, .err = err};
    return wt__visit_tool_texts(&a->tools[at->tool].tool, at->schema, at->definition, check_characters, &l, err);
}
