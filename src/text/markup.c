/* markup.c: removes markup in two passes. See markup.h. The code handles the markup found in tool descriptions. It is
 * not a complete parser for HTML or Markdown.
 *
 * The first pass writes the text without markup. Some characters are markup only if certain text follows: '[' before a
 * link target, or '*' before a closing '*'. These characters are written, and overwritten with STRUCK once that
 * text is found. The second pass removes the STRUCK bytes.
 *
 * The first pass takes linear time, because every character is examined only a few times. A search ahead stops at the
 * next '<' or '>' (tags), at a blank (addresses) or at the end of the line (link targets). A failed search, such as for
 * the end of a comment, is not repeated. */
#include "text/markup.h"

#include <stdint.h>
#include <stdlib.h>

#include "text/unicode.h"

enum {
    STRUCK = '\0',     /* overwrites a byte to be removed */
    LINKS_OPEN = 8,    /* maximum number of open '[' that may become links; an older '[' is text */
    LONGEST_RUN = 3,   /* maximum characters of a run of emphasis; a longer run is text */
    LONGEST_NAME = 10, /* length of the longest name of an element or entity */
    HEADINGS = 6,      /* number of heading levels */
    RULE_LEAST = 3     /* minimum characters of a line that is a rule */
};

/* ---------------------------------------------------------------- HTML names */

/* Properties of elements. */
enum {
    PLAIN = 0,
    SURE = 1,   /* a tag even without attributes and end tag, because the name is not a common word */
    INSIDE = 2, /* may be inside a word, so the tag is not replaced by a blank */
    HIDDEN = 4, /* the content is not text for readers, and is removed */
    BOTH = SURE | INSIDE
};

static const struct element {
    char name[LONGEST_NAME + 1];
    unsigned char flags;
} elements[] = {
    {"a", INSIDE},     {"abbr", BOTH},     {"address", PLAIN},   {"article", PLAIN},   {"aside", PLAIN},
    {"audio", PLAIN},  {"b", INSIDE},      {"big", INSIDE},      {"blockquote", SURE}, {"body", PLAIN},
    {"br", SURE},      {"button", PLAIN},  {"canvas", PLAIN},    {"caption", PLAIN},   {"center", PLAIN},
    {"cite", INSIDE},  {"code", INSIDE},   {"col", PLAIN},       {"colgroup", SURE},   {"dd", SURE},
    {"del", INSIDE},   {"details", PLAIN}, {"dfn", INSIDE},      {"div", SURE},        {"dl", SURE},
    {"dt", SURE},      {"em", BOTH},       {"figcaption", SURE}, {"figure", PLAIN},    {"font", INSIDE},
    {"footer", PLAIN}, {"form", PLAIN},    {"h1", SURE},         {"h2", SURE},         {"h3", SURE},
    {"h4", SURE},      {"h5", SURE},       {"h6", SURE},         {"head", PLAIN},      {"header", PLAIN},
    {"hr", SURE},      {"html", PLAIN},    {"i", INSIDE},        {"iframe", SURE},     {"img", SURE},
    {"input", PLAIN},  {"ins", INSIDE},    {"kbd", INSIDE},      {"label", PLAIN},     {"li", SURE},
    {"link", PLAIN},   {"main", PLAIN},    {"mark", INSIDE},     {"meta", PLAIN},      {"nav", PLAIN},
    {"ol", SURE},      {"option", PLAIN},  {"p", SURE},          {"pre", SURE},        {"q", INSIDE},
    {"s", INSIDE},     {"samp", INSIDE},   {"script", HIDDEN},   {"section", PLAIN},   {"select", PLAIN},
    {"small", INSIDE}, {"source", PLAIN},  {"span", BOTH},       {"strike", INSIDE},   {"strong", BOTH},
    {"style", HIDDEN}, {"sub", INSIDE},    {"summary", PLAIN},   {"sup", PLAIN},       {"svg", PLAIN},
    {"table", PLAIN},  {"tbody", SURE},    {"td", SURE},         {"textarea", PLAIN},  {"tfoot", SURE},
    {"th", SURE},      {"thead", SURE},    {"time", INSIDE},     {"title", PLAIN},     {"tr", SURE},
    {"tt", INSIDE},    {"u", INSIDE},      {"ul", SURE},         {"var", INSIDE},      {"video", PLAIN},
    {"wbr", BOTH},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static const struct entity {
    char name[LONGEST_NAME + 1];
    uint16_t character;
} entities[] = {
    {"Auml", 0xC4},    {"Ouml", 0xD6},     {"Uuml", 0xDC},    {"agrave", 0xE0}, {"amp", '&'},      {"apos", '\''},
    {"auml", 0xE4},    {"bull", 0x2022},   {"ccedil", 0xE7},  {"cent", 0xA2},   {"copy", 0xA9},    {"deg", 0xB0},
    {"eacute", 0xE9},  {"egrave", 0xE8},   {"emsp", ' '},     {"ensp", ' '},    {"euro", 0x20AC},  {"ge", 0x2265},
    {"gt", '>'},       {"hellip", 0x2026}, {"laquo", 0xAB},   {"larr", 0x2190}, {"ldquo", 0x201C}, {"le", 0x2264},
    {"lsquo", 0x2018}, {"lt", '<'},        {"mdash", 0x2014}, {"micro", 0xB5},  {"middot", 0xB7},  {"minus", 0x2212},
    {"nbsp", ' '},     {"ndash", 0x2013},  {"ne", 0x2260},    {"ntilde", 0xF1}, {"ouml", 0xF6},    {"plusmn", 0xB1},
    {"pound", 0xA3},   {"quot", '"'},      {"raquo", 0xBB},   {"rarr", 0x2192}, {"rdquo", 0x201D}, {"reg", 0xAE},
    {"rsquo", 0x2019}, {"sect", 0xA7},     {"szlig", 0xDF},   {"thinsp", ' '},  {"times", 0xD7},   {"trade", 0x2122},
    {"uuml", 0xFC},    {"yen", 0xA5},
};

/* Comparison for bsearch. row: a row of `elements` or `entities`, which begins with its name. Both tables are sorted by
 * name. */
static int compare_entity_name(const void *name, const void *row)
{
    return strcmp(name, row);
}

struct cleaner {
    const char *begin, *at, *end; /* the text, and the current position */
    struct buffer *out;
    size_t start;                          /* offset in `out` of the first byte written */
    uint64_t closed[(ELEMENTS + 63) / 64]; /* bits of the elements that have an end tag anywhere in the text */
    size_t links[LINKS_OPEN];              /* [link_count] offsets in `out` of open '[', the latest last */
    unsigned link_count;
    size_t emphasis[3][LONGEST_RUN]; /* offsets in `out` of open runs, by character and length; SIZE_MAX if none */
    const char *no_target;           /* link targets are not searched before this position; may be NULL */
    bool no_comment;                 /* true if no comment ends after the current position */
    bool row;                        /* true inside a table row */
    bool html_only;                  /* true to remove only entities and tags, as in wt__markup_strip_html */
    bool has_tag;                    /* true once a tag was removed */
};

static bool is_ascii_alphanumeric(char c)
{
    unsigned char lower = (unsigned char)c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

/* True if c is one of the marks; false for NUL. */
static bool is_any_of(char c, const char *marks)
{
    return c != '\0' && strchr(marks, c);
}

static char character_before(const struct cleaner *c)
{
    return c->at > c->begin ? c->at[-1] : ' ';
}

static void copy_bytes(struct cleaner *c, size_t bytes)
{
    wt__buffer_append(c->out, c->at, bytes);
    c->at += bytes;
}

static void strike_markup(struct cleaner *c, size_t place, size_t bytes)
{
    memset(c->out->ptr + place, STRUCK, bytes);
}

/* ---------------------------------------------------------------- tags */

/* Returns the index of the element with the name at `at`, and sets *name_end. Returns -1 if no element has the name. */
static int read_element_name(const char *at, const char *end, const char **name_end)
{
    char name[LONGEST_NAME + 1];
    size_t len = 0;
    while (at < end && len <= LONGEST_NAME && is_ascii_alphanumeric(*at)) {
        if (len < LONGEST_NAME)
            name[len] = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
        len++;
        at++;
    }
    if (len == 0 || len > LONGEST_NAME || at == end || !(wt__is_blank(*at) || *at == '/' || *at == '>'))
        return -1;
    name[len] = '\0';
    *name_end = at;
    const struct element *found = bsearch(name, elements, ELEMENTS, sizeof *elements, compare_entity_name);
    return found ? (int)(found - elements) : -1;
}

/* Finds all end tags of the text and sets their bits in c->closed. */
static void note_closed(struct cleaner *c)
{
    for (const char *at = c->begin; (at = memchr(at, '<', (size_t)(c->end - at))); at++) {
        const char *name_end;
        int element = at + 1 < c->end && at[1] == '/' ? read_element_name(at + 2, c->end, &name_end) : -1;
        if (element >= 0)
            c->closed[element / 64] |= (uint64_t)1 << element % 64;
    }
}

static bool is_closed(const struct cleaner *c, int element)
{
    return c->closed[element / 64] >> element % 64 & 1;
}

/* True if the text at c->at is a tag of the element. closing: true for an end tag. attributes: text from the end of the
 * name to '>'. */
static bool is_tag(const struct cleaner *c, int element, bool closing, struct str attributes)
{
    bool single = attributes.len > 0 && attributes.ptr[attributes.len - 1] == '/';
    attributes = wt__str_trim((struct str){attributes.ptr, attributes.len - single});
    if (attributes.len > 0 &&
        (closing || !is_ascii_alphanumeric(attributes.ptr[0]) || !memchr(attributes.ptr, '=', attributes.len)))
        return false;
    bool parameter = c->at[1] == 'P'; /* may be a type parameter, as in List<P> */
    bool sure = elements[element].flags & SURE && !(parameter && elements[element].name[1] == '\0');
    return closing || sure || single || attributes.len > 0 || is_closed(c, element);
}

/* Returns the position after the end tag of a hidden element, or NULL if no end tag follows. */
static const char *hidden_end(struct cleaner *c, int element, const char *at)
{
    for (; (at = memchr(at, '<', (size_t)(c->end - at))); at++) {
        const char *name_end;
        if (at + 1 < c->end && at[1] == '/' && read_element_name(at + 2, c->end, &name_end) == element) {
            const char *close = memchr(name_end, '>', (size_t)(c->end - name_end));
            return close ? close + 1 : c->end;
        }
    }
    c->closed[element / 64] &= ~((uint64_t)1 << element % 64);
    return NULL;
}

/* Removes the tag at the current position, and the content of a hidden element. Returns false if no tag starts here. */
static bool read_tag(struct cleaner *c)
{
    const char *name_end, *close;
    bool closing = c->at + 1 < c->end && c->at[1] == '/';
    int element = read_element_name(c->at + 1 + closing, c->end, &name_end);
    if (element < 0)
        return false;
    for (close = name_end; close < c->end && *close != '>' && *close != '<'; close++)
        ;
    if (close == c->end || *close != '>' ||
        !is_tag(c, element, closing, (struct str){name_end, (size_t)(close - name_end)}))
        return false;
    unsigned flags = elements[element].flags;
    const char *behind = close + 1;
    if (flags & HIDDEN && c->html_only)
        return false;
    if (flags & HIDDEN && !closing)
        behind = is_closed(c, element) ? hidden_end(c, element, close) : NULL;
    if (!behind)
        return false;
    if (!(flags & INSIDE))
        wt__buffer_char(c->out, ' ');
    c->at = behind;
    c->has_tag = true;
    return true;
}

/* Removes the comment at the current position. Returns false if no complete comment starts here. */
static bool read_comment(struct cleaner *c)
{
    static const struct str begin = {"<!--", 4}, end = {"-->", 3};
    if (c->no_comment || !wt__str_starts((struct str){c->at, (size_t)(c->end - c->at)}, begin))
        return false;
    const char *found = memmem(c->at + begin.len, (size_t)(c->end - c->at) - begin.len, end.ptr, end.len);
    c->no_comment = !found;
    if (!found)
        return false;
    wt__buffer_char(c->out, ' ');
    c->at = found + end.len;
    return true;
}

/* ---------------------------------------------------------------- entities */

/* Returns the character of "#8217" or "#x2019". Returns 0 if the reference is invalid or the character is invisible. */
static uint32_t read_character_reference(struct str digits)
{
    bool hexadecimal = digits.len > 1 && (digits.ptr[1] | 0x20) == 'x';
    uint32_t value = 0;
    for (size_t i = 1 + hexadecimal; i < digits.len; i++) {
        int hex = wt__hex_digit(digits.ptr[i]);
        uint32_t digit = hex >= 0 && (hexadecimal || hex < 10) ? (uint32_t)hex : UINT32_MAX;
        if (digit == UINT32_MAX || value > 0x10FFFF)
            return 0;
        value = value * (hexadecimal ? 16 : 10) + digit;
    }
    if (wt__unicode_blank(value))
        return ' ';
    bool text =
        value >= ' ' && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF) && !wt__unicode_unseen(value);
    return text ? value : 0;
}

/* Replaces an entity by its character. Copies the '&' if no known entity starts here. */
static void read_entity(struct cleaner *c)
{
    char name[LONGEST_NAME + 1];
    size_t len = 0;
    for (const char *at = c->at + 1; at < c->end && len < LONGEST_NAME && (is_ascii_alphanumeric(*at) || *at == '#');
         at++)
        name[len++] = *at;
    name[len] = '\0';
    bool ends = c->at + 1 + len < c->end && c->at[1 + len] == ';';
    const struct entity *found = ends && *name != '#' ? bsearch(name, entities, sizeof entities / sizeof *entities,
                                                                sizeof *entities, compare_entity_name)
                                                      : NULL;
    uint32_t character = found                  ? found->character
                         : ends && *name == '#' ? read_character_reference((struct str){name, len})
                                                : 0;
    char bytes[4];
    if (character == 0) {
        copy_bytes(c, 1);
        return;
    }
    wt__buffer_append(c->out, bytes, wt__utf8_put(character, bytes));
    c->at += 1 + len + 1;
}

/* ---------------------------------------------------------------- addresses and links */

/* Returns the end of the address at `at` and sets *host. Returns NULL if no address starts there. */
static const char *find_address_end(const struct cleaner *c, const char *at, struct str *host)
{
    struct str text = {at, (size_t)(c->end - at)};
    size_t scheme = wt__str_starts(text, STR("https://")) ? 8 : wt__str_starts(text, STR("http://")) ? 7 : 0;
    const char *end = at + scheme;
    if (scheme == 0 || end == c->end || is_any_of(*end, "/?#:"))
        return NULL;
    while (end < c->end && !wt__is_blank(*end) && !is_any_of(*end, "<>\"`)]|"))
        end++;
    while (end > at + scheme && is_any_of(end[-1], ".,;:!?*_'"))
        end--;
    *host = (struct str){at + scheme, 0};
    while (host->ptr + host->len < end && !is_any_of(host->ptr[host->len], "/?#:"))
        host->len++;
    return host->len > 0 ? end : NULL;
}

static void read_bare_address(struct cleaner *c)
{
    struct str host;
    const char *end = is_ascii_alphanumeric(character_before(c)) ? NULL : find_address_end(c, c->at, &host);
    if (!end) {
        copy_bytes(c, 1);
        return;
    }
    wt__buffer_str(c->out, host);
    c->at = end;
}

static void read_angle(struct cleaner *c)
{
    struct str host;
    if (read_comment(c) || read_tag(c))
        return;
    const char *end = find_address_end(c, c->at + 1, &host);
    if (end && end < c->end && *end == '>') {
        wt__buffer_str(c->out, host);
        c->at = end + 1;
        return;
    }
    copy_bytes(c, 1);
}

static void open_markup_link(struct cleaner *c)
{
    if (c->link_count == LINKS_OPEN)
        memmove(c->links, c->links + 1, --c->link_count * sizeof *c->links);
    c->links[c->link_count++] = c->out->len;
    copy_bytes(c, 1);
}

/* Returns the ')' after the link target that starts at `at`, or NULL. A target must contain '/', '#', '.' or ':', so
 * that f[i](x) is not a link. */
static const char *target_end(struct cleaner *c, const char *at)
{
    unsigned depth = 1;
    bool leads = false;
    if (c->no_target && at < c->no_target)
        return NULL;
    for (; at < c->end && *at != '\n' && depth > 0; at++) {
        depth += (*at == '(') - (*at == ')');
        leads |= is_any_of(*at, "/#.:");
    }
    if (depth == 0 && leads)
        return at - 1;
    c->no_target = at;
    return NULL;
}

static void close_markup_link(struct cleaner *c)
{
    const char *end = NULL;
    if (c->link_count > 0 && c->at + 1 < c->end && c->at[1] == '(')
        end = target_end(c, c->at + 2);
    size_t place = c->link_count > 0 ? c->links[--c->link_count] : 0;
    if (!end) {
        copy_bytes(c, 1);
        return;
    }
    bool image = place > c->start && c->out->ptr[place - 1] == '!';
    strike_markup(c, place - image, 1u + image);
    c->at = end + 1;
}

/* ---------------------------------------------------------------- emphasis */

/* Forgets the open '[' and the open runs of emphasis. They remain in the text. */
static void forget_open(struct cleaner *c)
{
    c->link_count = 0;
    memset(c->emphasis, 0xff, sizeof c->emphasis);
}

/* Reads a run of emphasis characters. A run opens emphasis if no word precedes the run and text follows. A run closes
 * emphasis if text precedes the run and no word follows. "**" also closes before a word, because "**Note:**text" is
 * common. File patterns ("*.js") are not emphasis. */
static void read_emphasis(struct cleaner *c)
{
    static const char marks[] = "*_~";
    char mark = *c->at;
    size_t run = 1;
    while (c->at + run < c->end && c->at[run] == mark)
        run++;
    char after = c->at + run < c->end ? c->at[run] : ' ';
    bool known = run <= LONGEST_RUN && (mark != '~' || run == 2);
    bool closes = known && !wt__is_blank(character_before(c)) && character_before(c) != '/' &&
                  (!is_ascii_alphanumeric(after) || (mark == '*' && run == 2));
    size_t *open = known ? &c->emphasis[strchr(marks, mark) - marks][run - 1] : NULL;
    if (closes && *open != SIZE_MAX) {
        strike_markup(c, *open, run);
        *open = SIZE_MAX;
        c->at += run;
        return;
    }
    if (known && !is_ascii_alphanumeric(character_before(c)) && !wt__is_blank(after) && !is_any_of(after, "/."))
        *open = c->out->len;
    copy_bytes(c, run);
}

/* ---------------------------------------------------------------- lines */

/* True for a line of drawing characters: a rule, a heading's underline, or the separator below a table head. */
static bool only_draws(struct str line)
{
    size_t marks = 0;
    for (size_t i = 0; i < line.len; i++) {
        if (!wt__is_blank(line.ptr[i]) && !is_any_of(line.ptr[i], "-=*_+|:"))
            return false;
        marks += is_any_of(line.ptr[i], "-=*_");
    }
    return marks >= RULE_LEAST;
}

/* True for "```json" but not for "```code```". */
static bool is_fence(struct str line)
{
    return wt__str_starts(line, STR("```")) && !memchr(line.ptr + 3, '`', line.len - 3);
}

/* True for the label of a quotation, such as "[!NOTE]". */
static bool is_alert(struct str line)
{
    size_t at = 2;
    while (at < line.len && is_ascii_alphanumeric(line.ptr[at]))
        at++;
    return wt__str_starts(line, STR("[!")) && at + 1 == line.len && line.ptr[at] == ']';
}

static bool has_blank_at(struct str line, size_t mark)
{
    return mark > 0 && mark < line.len && wt__is_blank(line.ptr[mark]);
}

/* Skips the mark of a heading. Replaces the marks '*' and '+' of a list item by '-'. */
static void pass_mark(struct cleaner *c, struct str line)
{
    size_t heading = 0, item = is_any_of(line.ptr[0], "*+");
    while (heading < line.len && heading < HEADINGS && line.ptr[heading] == '#')
        heading++;
    if (has_blank_at(line, heading))
        c->at += heading;
    if (!has_blank_at(line, item))
        return;
    wt__buffer_char(c->out, '-');
    c->at += item;
}

static void begin_line(struct cleaner *c)
{
    const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
    struct str line = wt__str_trim((struct str){c->at, (size_t)((newline ? newline : c->end) - c->at)});
    while (line.len > 0 && line.ptr[0] == '>' && (line.len == 1 || wt__is_blank(line.ptr[1])))
        line = wt__str_trim((struct str){line.ptr + 1, line.len - 1});
    c->row = line.len > 0 && line.ptr[0] == '|';
    c->at = line.ptr;
    if (line.len == 0) {
        forget_open(c);
    } else if (only_draws(line) || is_alert(line)) {
        c->at += line.len;
    } else if (is_fence(line)) {
        while (c->at < line.ptr + line.len && !wt__is_blank(*c->at))
            c->at++;
    } else {
        pass_mark(c, line);
    }
}

static void end_line(struct cleaner *c)
{
    copy_bytes(c, 1);
    if (c->at < c->end)
        begin_line(c);
}

static void read_escape(struct cleaner *c)
{
    bool escapes = c->at + 1 < c->end && is_any_of(c->at[1], "\\`*_{}[]()<>#+-.!|~&");
    c->at += escapes;
    copy_bytes(c, 1);
}

/* Skips a backtick. Writes a blank instead if the backtick separates two words, as in "the`scope`". */
static void read_tick(struct cleaner *c)
{
    bool joins = is_ascii_alphanumeric(character_before(c)) && c->at + 1 < c->end && is_ascii_alphanumeric(c->at[1]);
    if (joins)
        wt__buffer_char(c->out, ' ');
    c->at++;
}

static void read_bar(struct cleaner *c)
{
    if (!c->row) {
        copy_bytes(c, 1);
        return;
    }
    wt__buffer_char(c->out, ' ');
    c->at++;
}

static void read_markup(struct cleaner *c)
{
    static const struct {
        char mark;
        void (*read)(struct cleaner *c);
    } readers[] = {{'<', read_angle},       {'&', read_entity},       {'h', read_bare_address},
                   {'[', open_markup_link}, {']', close_markup_link}, {'`', read_tick},
                   {'\\', read_escape},     {'|', read_bar},          {'\n', end_line}};
    size_t plain = 0;
    while (c->at + plain < c->end && !is_any_of(c->at[plain], "<&h[]*_~`\\|\n"))
        plain++;
    copy_bytes(c, plain);
    if (c->at == c->end)
        return;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (*c->at == readers[i].mark) {
            readers[i].read(c);
            return;
        }
    read_emphasis(c);
}

/* Removes the STRUCK bytes from `start` on, and merges blanks. keep_lines: true to replace blanks that contain a line
 * break by one line break. */
static void close_gaps(struct buffer *out, size_t start, bool keep_lines)
{
    size_t kept = start;
    for (size_t i = start; i < out->len; i++) {
        bool no_break = out->ptr[i] == '\xC2' && i + 1 < out->len && out->ptr[i + 1] == '\xA0';
        i += no_break;
        if (out->ptr[i] == STRUCK)
            continue;
        bool blank = no_break || wt__is_blank(out->ptr[i]);
        if (!blank)
            out->ptr[kept++] = out->ptr[i];
        else if (keep_lines && out->ptr[i] == '\n' && kept > start && wt__is_blank(out->ptr[kept - 1]))
            out->ptr[kept - 1] = '\n';
        else if (kept > start && !wt__is_blank(out->ptr[kept - 1]))
            out->ptr[kept++] = keep_lines && out->ptr[i] == '\n' ? '\n' : ' ';
    }
    kept -= kept > start && wt__is_blank(out->ptr[kept - 1]);
    wt__buffer_cut(out, kept);
}

void wt__markup_clean(struct str text, struct buffer *out)
{
    size_t start = out->len;
    struct cleaner c = {.begin = text.ptr, .at = text.ptr, .end = text.ptr + text.len, .out = out, .start = start};
    if (text.len == 0)
        return;
    forget_open(&c);
    note_closed(&c);
    begin_line(&c);
    while (c.at < c.end && !out->failed)
        read_markup(&c);
    if (!out->failed && out->len > start)
        close_gaps(out, start, false);
}

bool wt__markup_strip_html(struct str text, struct buffer *out)
{
    size_t start = out->len;
    struct cleaner c = {
        .begin = text.ptr, .at = text.ptr, .end = text.ptr + text.len, .out = out, .start = start, .html_only = true};
    if (text.len == 0 || !memchr(text.ptr, '<', text.len))
        return false;
    note_closed(&c);
    while (c.at < c.end && !out->failed) {
        if (*c.at == '&')
            read_entity(&c);
        else if (*c.at != '<' || !read_tag(&c))
            copy_bytes(&c, 1);
    }
    if (!c.has_tag && !out->failed)
        wt__buffer_cut(out, start);
    else if (!out->failed)
        close_gaps(out, start, true);
    return c.has_tag;
}
