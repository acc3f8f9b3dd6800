/* pattern.c: translates patterns to PCRE2 and limits the work of a match. PCRE2 calls a callback (callout) before each
 * item of the pattern, and the callback counts the work. This makes matching about half as fast, but PCRE2 has no other
 * measure for a whole match. A run such as ".*" has a single callout, so the distance moved in the text is added. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "schema/compiled.h"
#include "schema/limits.h"

/* ---------------------------------------------------------------- translation */

/* Translates ECMA-262 regular expressions to PCRE2.
 *
 * Syntax with the same meaning in both is copied. Other syntax is rewritten:
 * - "." and "\s", because ECMA-262 has other line ends and blanks
 * - "\v", which is a single character in ECMA-262
 * - "\u{...}" and the long names of Unicode categories
 * - "{" without a count, and "[" in a class
 *
 * Syntax specific to PCRE2 (verbs, callouts, recursion) is rejected, because a schema must not control the engine. */

/* BLANKS: characters matched by \s in ECMA-262: white space, line ends and U+FEFF. NO_BLANKS: all others, matched by
 * \S. */
#define BLANKS                                                                                                         \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NO_BLANKS                                                                                                      \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"                \
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

struct translation {
    struct buffer *out;
    struct str in;
    size_t at;
    bool strict, in_class; /* strict: as in translate_ecma; in_class: inside "[...]" */
    const char *why;       /* static reason if the pattern is invalid; else NULL */
};

/* Returns the short name of a Unicode general category, because PCRE2 does not support long names. Returns any other
 * name unchanged. */
static struct str shorten_category(struct str name)
{
    static const char categories[] =
        "Letter=L Cased_Letter=L& LC=L& Uppercase_Letter=Lu Lowercase_Letter=Ll Titlecase_Letter=Lt "
        "Modifier_Letter=Lm Other_Letter=Lo Mark=M Combining_Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc "
        "Enclosing_Mark=Me Number=N Decimal_Number=Nd digit=Nd Letter_Number=Nl Other_Number=No Punctuation=P "
        "punct=P Connector_Punctuation=Pc Dash_Punctuation=Pd Open_Punctuation=Ps Close_Punctuation=Pe "
        "Initial_Punctuation=Pi Final_Punctuation=Pf Other_Punctuation=Po Symbol=S Math_Symbol=Sm "
        "Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Separator=Z Space_Separator=Zs Line_Separator=Zl "
        "Paragraph_Separator=Zp Other=C Control=Cc cntrl=Cc Format=Cf Surrogate=Cs Private_Use=Co Unassigned=Cn ";
    for (const char *at = categories; *at; at += strcspn(at, " ") + 1) {
        struct str long_name = {at, strcspn(at, "=")}, short_name = {at + long_name.len + 1, 0};
        short_name.len = strcspn(short_name.ptr, " ");
        if (wt__str_equal(name, long_name))
            return short_name;
    }
    return name;
}

static char peek_char(const struct translation *t, size_t ahead)
{
    return t->at + ahead < t->in.len ? t->in.ptr[t->at + ahead] : '\0';
}

static bool refuse_pattern(struct translation *t, const char *why)
{
    t->why = why;
    return false;
}

static bool put_code_point(struct translation *t, uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return refuse_pattern(t, "\\u does not name a character");
    wt__buffer_printf(t->out, "\\x{%x}", (unsigned)c);
    return true;
}

/* Parses `digits` hexadecimal digits, `ahead` bytes after the current position. Returns -1 if there are fewer
 * digits. */
static int32_t parse_hex(const struct translation *t, size_t ahead, size_t digits)
{
    int32_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = wt__hex_digit(peek_char(t, ahead + i));
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Translates "\u{...}", "\uXXXX" or a surrogate pair of two "\uXXXX". */
static bool escape_unicode(struct translation *t)
{
    if (peek_char(t, 2) == '{') {
        uint32_t c = 0;
        size_t ahead = 3;
        for (; wt__hex_digit(peek_char(t, ahead)) >= 0 && c <= 0x10FFFF; ahead++)
            c = c * 16 + (uint32_t)wt__hex_digit(peek_char(t, ahead));
        if (peek_char(t, ahead) != '}' || ahead == 3)
            return refuse_pattern(t, "\\u{ is not followed by hexadecimal digits and }");
        t->at += ahead + 1;
        return put_code_point(t, c);
    }
    int32_t first = parse_hex(t, 2, 4);
    if (first < 0)
        return refuse_pattern(t, "\\u is not followed by four hexadecimal digits");
    t->at += 6;
    if (first >= 0xD800 && first < 0xDC00 && peek_char(t, 0) == '\\' && peek_char(t, 1) == 'u') {
        int32_t second = parse_hex(t, 2, 4);
        if (second >= 0xDC00 && second < 0xE000) {
            t->at += 6;
            return put_code_point(t, 0x10000U + ((uint32_t)first - 0xD800U) * 0x400U + (uint32_t)second - 0xDC00U);
        }
    }
    return put_code_point(t, (uint32_t)first);
}

/* Translates "\p{...}" or "\P{...}". */
static bool escape_property(struct translation *t)
{
    static const char *const prefixes[] = {"General_Category=", "gc=", "Script=", "sc=", "Script_Extensions=", "scx="};
    bool negated = peek_char(t, 1) == 'P';
    const char *close = t->at + 3 < t->in.len ? memchr(t->in.ptr + t->at, '}', t->in.len - t->at) : NULL;
    if (peek_char(t, 2) != '{' || !close)
        return refuse_pattern(t, "\\p is not followed by a property in braces");
    struct str name = {t->in.ptr + t->at + 3, (size_t)(close - t->in.ptr) - t->at - 3};
    t->at += name.len + 4;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        struct str prefix = wt__str(prefixes[i]);
        if (wt__str_starts(name, prefix)) {
            name = (struct str){name.ptr + prefix.len, name.len - prefix.len};
            break;
        }
    }
    if (name.len == 0 || memchr(name.ptr, '^', name.len))
        return refuse_pattern(t, "\\p is not followed by a property in braces");
    if (wt__str_equal(name, STR("ASCII"))) {
        const char *range = negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}";
        wt__buffer_printf(t->out, t->in_class ? "%s" : "[%s]", range);
        return true;
    }
    name = shorten_category(name);
    wt__buffer_text(t->out, negated ? "\\P{" : "\\p{");
    wt__buffer_str(t->out, name);
    wt__buffer_char(t->out, '}');
    return true;
}

static void put_translated(struct translation *t, const char *text, size_t consumed)
{
    wt__buffer_text(t->out, text);
    t->at += consumed;
}

/* Translates an escaped letter that has no meaning in ECMA-262. Unless strict, "\A" outside a class matches the start
 * of the text, and "\z" and "\Z" match its end. Any other letter stands for itself. */
static bool escape_letter(struct translation *t, char c)
{
    if (t->strict)
        return refuse_pattern(t, "an escaped letter or digit has no meaning");
    if (c == 'A' && !t->in_class)
        put_translated(t, "\\A", 2);
    else if ((c == 'z' || c == 'Z') && !t->in_class)
        put_translated(t, "\\z", 2);
    else {
        wt__buffer_char(t->out, c);
        t->at += 2;
    }
    return true;
}

static bool translate_escape(struct translation *t)
{
    char c = peek_char(t, 1);
    if (t->at + 1 >= t->in.len)
        return refuse_pattern(t, "it ends with a backslash");
    if (c == 'u' && (t->strict || peek_char(t, 2) == '{' || parse_hex(t, 2, 4) >= 0))
        return escape_unicode(t);
    if (c == 'p' || c == 'P')
        return escape_property(t);
    if (c == 's') {
        put_translated(t, t->in_class ? BLANKS : "[" BLANKS "]", 2);
    } else if (c == 'S') {
        put_translated(t, t->in_class ? NO_BLANKS : "[^" BLANKS "]", 2);
    } else if (c == 'v') {
        put_translated(t, "\\x{b}", 2);
    } else if (c == 'c' && wt__is_letter(peek_char(t, 2))) {
        put_code_point(t, (uint32_t)peek_char(t, 2) & 31U);
        t->at += 3;
    } else if (c == 'x' && parse_hex(t, 2, 2) >= 0) {
        put_code_point(t, (uint32_t)parse_hex(t, 2, 2));
        t->at += 4;
    } else if (c == '0' && !wt__is_digit(peek_char(t, 2))) {
        put_translated(t, "\\x{0}", 2);
    } else if ((wt__is_letter(c) && !strchr("dDwWbBnrtfk", c)) || (c == '0' && t->strict)) {
        return escape_letter(t, c);
    } else if ((unsigned char)c >= 0x80) {
        t->at++; /* Drop the backslash; the character itself follows. */
    } else {
        wt__buffer_append(t->out, t->in.ptr + t->at, 2);
        t->at += 2;
    }
    return true;
}

/* True if "{" at t->at starts {n}, {n,} or {n,m}. */
static bool is_repeat_count(const struct translation *t)
{
    size_t ahead = 1;
    while (wt__is_digit(peek_char(t, ahead)))
        ahead++;
    if (ahead == 1)
        return false;
    if (peek_char(t, ahead) == ',')
        ahead++;
    while (wt__is_digit(peek_char(t, ahead)))
        ahead++;
    return peek_char(t, ahead) == '}';
}

/* Translates the start of a group. Rejects unsupported syntax after "(?". */
static bool translate_group(struct translation *t)
{
    if (peek_char(t, 1) == '*')
        return refuse_pattern(t, "* does not follow a repeatable item");
    if (peek_char(t, 1) != '?') {
        put_translated(t, "(", 1);
        return true;
    }
    char c = peek_char(t, 2);
    bool known = c == ':' || c == '=' || c == '!' || c == '<';
    if (!known && !t->strict) {
        size_t ahead = 2;
        while (peek_char(t, ahead) != '\0' && strchr("imsx-", peek_char(t, ahead)))
            ahead++;
        known = (ahead > 2 && (peek_char(t, ahead) == ':' || peek_char(t, ahead) == ')')) || c == '>';
        known |= c == 'P' && (peek_char(t, 3) == '<' || peek_char(t, 3) == '=');
    }
    if (!known)
        return refuse_pattern(t, "\"(?\" does not begin a group of ECMA-262");
    put_translated(t, "(?", 2);
    return true;
}

static bool translate_in_class(struct translation *t, char c)
{
    if (c == ']')
        t->in_class = false;
    if (c == '[') /* Escape "[", because "[:" would start a POSIX class. */
        wt__buffer_char(t->out, '\\');
    wt__buffer_char(t->out, c);
    t->at++;
    return true;
}

static bool translate_next(struct translation *t)
{
    char c = peek_char(t, 0);
    if (c == '\\')
        return translate_escape(t);
    if (t->in_class)
        return translate_in_class(t, c);
    if (c == '(')
        return translate_group(t);
    if (c == '.') {
        put_translated(t, "[^\\n\\r\\x{2028}\\x{2029}]", 1);
    } else if (c == '[') {
        t->in_class = true;
        put_translated(t, peek_char(t, 1) == '^' ? "[^" : "[", peek_char(t, 1) == '^' ? 2 : 1);
    } else if (c == '{' && !is_repeat_count(t)) {
        if (t->strict)
            return refuse_pattern(t, "\"{\" does not begin a count");
        put_translated(t, "\\{", 1);
    } else if (t->strict && c == '+' && t->at > 0 && strchr("*+?}", t->in.ptr[t->at - 1]) &&
               !(t->at > 1 && t->in.ptr[t->at - 2] == '\\')) {
        return refuse_pattern(t, "+ does not follow a repeatable item");
    } else {
        wt__buffer_char(t->out, c);
        t->at++;
    }
    return true;
}

/* Appends the translated pattern. Sets out->failed if out of memory.
 *
 * strict: also reject syntax of other dialects found in real schemas ("\Z", "(?i)", "(?P<name>...)", "\a" for "a")
 *
 * Returns false if the pattern is invalid; *why is then the reason (static text). */
static bool translate_ecma(struct buffer *out, struct str pattern, bool strict, const char **why)
{
    struct translation t = {.out = out, .in = pattern, .strict = strict};
    while (t.at < pattern.len)
        if (!translate_next(&t)) {
            *why = t.why;
            return false;
        }
    if (t.in_class) {
        *why = "a class has no closing bracket";
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- PCRE2 */

/* A schema_pattern is the compiled code of PCRE2. */
static pcre2_code *code_of(const struct schema_pattern *pattern)
{
    return (pcre2_code *)pattern;
}

struct counter {
    uint64_t items; /* items tried, plus one for every PATTERN_ITEMS_A_STEP bytes moved in the text */
    size_t at;      /* position of the last callout */
};

/* Options that PCRE2 needs to match like ECMA-262:
 *   - "$" matches only at the very end.
 *   - "[]" and "[^]" are classes.
 *   - A reference to an unset group matches the empty text. */
static const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                                PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_AUTO_CALLOUT;

static int compile_pcre(pcre2_code **out, struct str text, bool strict, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer translated = {.max = 16 * (size_t)PATTERN_BYTES};
    const char *why = NULL;
    *out = NULL;
    if (text.len > PATTERN_BYTES)
        return wt__fail(err, WT_ETOOLONG, "is longer than %d bytes", PATTERN_BYTES);
    if (!translate_ecma(&translated, text, strict, &why))
        return wt__fail(err, WT_EFORMAT, "is not a regular expression: %s", why);
    WT_CHECK_ALLOC(!translated.failed, err);
    int code = 0;
    PCRE2_SIZE at = 0;
    *out = pcre2_compile((PCRE2_SPTR)(translated.ptr ? translated.ptr : ""), translated.len, options, &code, &at, NULL);
    if (*out)
        return 0;
    if (code == PCRE2_ERROR_HEAP_FAILED) /* out of memory during compilation */
        return wt__fail_nomem(err);
    PCRE2_UCHAR said[128] = "";
    pcre2_get_error_message(code, said, sizeof said);
    return wt__fail(err, WT_EFORMAT, "is not a regular expression: %s", (const char *)said);
}

int wt__pattern_compile(struct schema_pattern **out, struct str text, size_t *memory, wt_error *err)
{
    pcre2_code *code;
    size_t size = 0;
    *out = NULL;
    WT_TRY(compile_pcre(&code, text, false, err));
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    *memory += size;
    if (*memory > PATTERN_MEMORY) {
        pcre2_code_free(code);
        return wt__fail(err, WT_ETOOLONG, "makes the patterns of the schema exceed %d bytes", PATTERN_MEMORY);
    }
    *out = (struct schema_pattern *)code;
    return 0;
}

void wt__pattern_free(struct schema_pattern *pattern)
{
    pcre2_code_free(code_of(pattern));
}

enum pattern_answer wt__pattern_is_valid(struct str text)
{
    pcre2_code *code;
    int rc = compile_pcre(&code, text, true, NULL);
    pcre2_code_free(code);
    if (rc == WT_ENOMEM)
        return PATTERN_NO_MEMORY;
    return rc == 0 ? PATTERN_YES : PATTERN_NO;
}

static int count_tried_item(pcre2_callout_block *block, void *data)
{
    struct counter *counter = data;
    size_t at = block->current_position;
    size_t moved = at > counter->at ? at - counter->at : counter->at - at;
    counter->at = at;
    counter->items += 1 + moved / PATTERN_ITEMS_A_STEP;
    return counter->items > PATTERN_ITEMS ? PCRE2_ERROR_CALLOUT : 0;
}

static bool prepare_match(struct pattern_scratch *scratch)
{
    if (!scratch->context) {
        pcre2_match_context *context = pcre2_match_context_create(NULL);
        if (!context)
            return false;
        pcre2_set_match_limit(context, PATTERN_ITEMS);
        pcre2_set_depth_limit(context, PATTERN_DEPTH);
        pcre2_set_heap_limit(context, PATTERN_HEAP_KIB);
        scratch->context = context;
    }
    if (!scratch->data)
        scratch->data = pcre2_match_data_create(1, NULL);
    return scratch->data != NULL;
}

void wt__pattern_scratch_dispose(struct pattern_scratch *scratch)
{
    pcre2_match_data_free(scratch->data);
    pcre2_match_context_free(scratch->context);
    *scratch = (struct pattern_scratch){0};
}

enum pattern_answer wt__pattern_match(const struct schema_pattern *pattern, struct pattern_scratch *scratch,
                                      struct str text, uint64_t *steps)
{
    struct counter counter = {0};
    if (!prepare_match(scratch))
        return PATTERN_NO_MEMORY;
    pcre2_set_callout(scratch->context, count_tried_item, &counter);
    int rc = pcre2_match(code_of(pattern), (PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len, 0, 0, scratch->data,
                         scratch->context);
    *steps += 1 + (counter.items + text.len / PATTERN_ITEMS_A_STEP) / PATTERN_ITEMS_A_STEP;
    if (rc >= 0) /* 0 means a match with more groups than the scratch holds; groups are not used */
        return PATTERN_YES;
    if (rc == PCRE2_ERROR_NOMEMORY)
        return PATTERN_NO_MEMORY;
    bool limit = rc == PCRE2_ERROR_CALLOUT || rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT ||
                 rc == PCRE2_ERROR_HEAPLIMIT;
    return limit ? PATTERN_UNDECIDED : PATTERN_NO;
}
