/* markup.c: see markup.h. One pass writes what stays. What is markup only by what follows (a '[' when its target does,
 * a '*' when another closes it) is written first and struck out later, and a second pass closes the gaps.
 *
 * Nothing is looked at more than a few times, whatever the text: a search ahead ends at the next '<' or '>' (tags), at
 * a blank (addresses) or with the line (targets); where one failed, or the text ended before what may be anywhere (the
 * end of a comment), it is not begun again. This is no parser of HTML or Markdown, both of which accept anything; it
 * knows what tools' descriptions have. */
#include "text/markup.h"

#include <stdint.h>
#include <stdlib.h>

#include "text/unicode.h"

enum {
    STRUCK = '\0',     /* a byte that is taken back */
    LINKS_OPEN = 8,    /* '[' that may still become links; of more the first are text */
    LONGEST_RUN = 3,   /* of marks of emphasis */
    LONGEST_NAME = 10, /* of elements and entities */
    HEADINGS = 6,      /* levels */
    RULE_LEAST = 3     /* marks that a line of nothing else has */
};

/* ---------------------------------------------------------------- what there is in HTML */

enum {
    SURE = 1,   /* its name is no word that stands for something else: a tag wherever it is */
    INSIDE = 2, /* it may stand inside a word, or close to one */
    HIDDEN = 4  /* what is in it is nothing to read */
};

static const struct element {
    char name[LONGEST_NAME + 1];
    unsigned char flags;
} elements[] = {
    {"a", INSIDE},
    {"abbr", INSIDE | SURE},
    {"address", 0},
    {"article", 0},
    {"aside", 0},
    {"audio", 0},
    {"b", INSIDE},
    {"big", INSIDE},
    {"blockquote", SURE},
    {"body", 0},
    {"br", SURE},
    {"button", 0},
    {"canvas", 0},
    {"caption", 0},
    {"center", 0},
    {"cite", INSIDE},
    {"code", INSIDE},
    {"col", 0},
    {"colgroup", SURE},
    {"dd", SURE},
    {"del", INSIDE},
    {"details", 0},
    {"dfn", INSIDE},
    {"div", SURE},
    {"dl", SURE},
    {"dt", SURE},
    {"em", INSIDE | SURE},
    {"figcaption", SURE},
    {"figure", 0},
    {"font", INSIDE},
    {"footer", 0},
    {"form", 0},
    {"h1", SURE},
    {"h2", SURE},
    {"h3", SURE},
    {"h4", SURE},
    {"h5", SURE},
    {"h6", SURE},
    {"head", 0},
    {"header", 0},
    {"hr", SURE},
    {"html", 0},
    {"i", INSIDE},
    {"iframe", SURE},
    {"img", SURE},
    {"input", 0},
    {"ins", INSIDE},
    {"kbd", INSIDE},
    {"label", 0},
    {"li", SURE},
    {"link", 0},
    {"main", 0},
    {"mark", INSIDE},
    {"meta", 0},
    {"nav", 0},
    {"ol", SURE},
    {"option", 0},
    {"p", SURE},
    {"pre", SURE},
    {"q", INSIDE},
    {"s", INSIDE},
    {"samp", INSIDE},
    {"script", HIDDEN},
    {"section", 0},
    {"select", 0},
    {"small", INSIDE},
    {"source", 0},
    {"span", INSIDE | SURE},
    {"strike", INSIDE},
    {"strong", INSIDE | SURE},
    {"style", HIDDEN},
    {"sub", INSIDE},
    {"summary", 0},
    {"sup", 0},
    {"svg", 0},
    {"table", 0},
    {"tbody", SURE},
    {"td", SURE},
    {"textarea", 0},
    {"tfoot", SURE},
    {"th", SURE},
    {"thead", SURE},
    {"time", INSIDE},
    {"title", 0},
    {"tr", SURE},
    {"tt", INSIDE},
    {"u", INSIDE},
    {"ul", SURE},
    {"var", INSIDE},
    {"video", 0},
    {"wbr", INSIDE | SURE},
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

/* name: of the row. Both tables are in order of their names. */
static int compare_names(const void *name, const void *row)
{
    return strcmp(name, row); /* a row begins with its name */
}

/* ---------------------------------------------------------------- the text on its way */

struct cleaner {
    const char *begin, *at, *end;
    struct buffer *out;
    size_t start;                          /* where in out it begins */
    uint64_t closed[(ELEMENTS + 63) / 64]; /* elements that the text closes somewhere */
    size_t links[LINKS_OPEN];              /* where in out the '[' stand, the last opened last */
    unsigned link_count;
    size_t emphasis[3][LONGEST_RUN]; /* where in out the run opened, by mark and length; SIZE_MAX: none is open */
    const char *no_target;           /* no link's target ends before */
    bool no_comment;                 /* none ends any more */
    bool row;                        /* of a table */
    bool html_only;                  /* tags of visible elements and entities go; all else stays */
    bool has_tag;                    /* a tag was removed */
};

static bool is_word(char c)
{
    unsigned char lower = (unsigned char)c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

/* One of the marks; NUL is none. */
static bool is_one_of(char c, const char *marks)
{
    return c != '\0' && strchr(marks, c);
}

static char before(const struct cleaner *c)
{
    return c->at > c->begin ? c->at[-1] : ' ';
}

static struct str rest(const struct cleaner *c)
{
    return (struct str){c->at, (size_t)(c->end - c->at)};
}

static void put(struct cleaner *c, size_t bytes)
{
    wt__buffer_append(c->out, c->at, bytes);
    c->at += bytes;
}

static void strike(struct cleaner *c, size_t place, size_t bytes)
{
    memset(c->out->ptr + place, STRUCK, bytes);
}

/* ---------------------------------------------------------------- tags */

/* Which element the name at `at` is, and where it ends; -1: none. */
static int read_name(const char *at, const char *end, const char **name_end)
{
    char name[LONGEST_NAME + 1];
    size_t len = 0;
    while (at < end && len <= LONGEST_NAME && is_word(*at)) {
        if (len < LONGEST_NAME)
            name[len] = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
        len++;
        at++;
    }
    if (len == 0 || len > LONGEST_NAME || at == end || !(wt__is_blank(*at) || *at == '/' || *at == '>'))
        return -1;
    name[len] = '\0';
    *name_end = at;
    const struct element *found = bsearch(name, elements, ELEMENTS, sizeof *elements, compare_names);
    return found ? (int)(found - elements) : -1;
}

static void note_closed(struct cleaner *c)
{
    for (const char *at = c->begin; (at = memchr(at, '<', (size_t)(c->end - at))); at++) {
        const char *name_end;
        int element = at + 1 < c->end && at[1] == '/' ? read_name(at + 2, c->end, &name_end) : -1;
        if (element >= 0)
            c->closed[element / 64] |= (uint64_t)1 << element % 64;
    }
}

static bool is_closed(const struct cleaner *c, int element)
{
    return c->closed[element / 64] >> element % 64 & 1;
}

/* Whether a tag of the element is one, by its text from behind the name up to '>'. */
static bool is_tag(const struct cleaner *c, int element, bool closing, struct str attributes)
{
    bool single = attributes.len > 0 && attributes.ptr[attributes.len - 1] == '/';
    attributes = wt__str_trim((struct str){attributes.ptr, attributes.len - single});
    if (attributes.len > 0 && (closing || !is_word(attributes.ptr[0]) || !memchr(attributes.ptr, '=', attributes.len)))
        return false;
    bool parameter = c->at[1] == 'P'; /* List<P> */
    bool sure = elements[element].flags & SURE && !(parameter && elements[element].name[1] == '\0');
    return closing || sure || single || attributes.len > 0 || is_closed(c, element);
}

/* Behind the end tag of a hidden element that begins here; NULL where it does not end any more. */
static const char *hidden_end(struct cleaner *c, int element, const char *at)
{
    for (; (at = memchr(at, '<', (size_t)(c->end - at))); at++) {
        const char *name_end;
        if (at + 1 < c->end && at[1] == '/' && read_name(at + 2, c->end, &name_end) == element) {
            const char *close = memchr(name_end, '>', (size_t)(c->end - name_end));
            return close ? close + 1 : c->end;
        }
    }
    c->closed[element / 64] &= ~((uint64_t)1 << element % 64);
    return NULL;
}

/* False where no tag begins. */
static bool read_tag(struct cleaner *c)
{
    const char *name_end, *close;
    bool closing = c->at + 1 < c->end && c->at[1] == '/';
    int element = read_name(c->at + 1 + closing, c->end, &name_end);
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

/* False where none begins, or it does not end. */
static bool read_comment(struct cleaner *c)
{
    static const struct str begin = {"<!--", 4}, end = {"-->", 3};
    if (c->no_comment || !wt__str_starts(rest(c), begin))
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

/* What "#8217" or "#x2019" means; 0: nothing that is text. */
static uint32_t read_number(struct str digits)
{
    bool hexadecimal = digits.len > 1 && (digits.ptr[1] | 0x20) == 'x';
    uint32_t value = 0;
    for (size_t i = 1 + hexadecimal; i < digits.len; i++) {
        char lower = (char)(digits.ptr[i] | 0x20);
        uint32_t digit = digits.ptr[i] >= '0' && digits.ptr[i] <= '9'  ? (uint32_t)(digits.ptr[i] - '0')
                         : hexadecimal && lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a' + 10)
                                                                       : UINT32_MAX;
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

static void read_entity(struct cleaner *c)
{
    char name[LONGEST_NAME + 1];
    size_t len = 0;
    for (const char *at = c->at + 1; at < c->end && len < LONGEST_NAME && (is_word(*at) || *at == '#'); at++)
        name[len++] = *at;
    name[len] = '\0';
    bool ends = c->at + 1 + len < c->end && c->at[1 + len] == ';';
    const struct entity *found = ends && *name != '#' ? bsearch(name, entities, sizeof entities / sizeof *entities,
                                                                sizeof *entities, compare_names)
                                                      : NULL;
    uint32_t character = found ? found->character : ends && *name == '#' ? read_number((struct str){name, len}) : 0;
    char bytes[4];
    if (character == 0) {
        put(c, 1);
        return;
    }
    wt__buffer_append(c->out, bytes, wt__utf8_put(character, bytes));
    c->at += 1 + len + 1;
}

/* ---------------------------------------------------------------- addresses and links */

/* Where the address that begins here ends, and its host; NULL where none begins. */
static const char *read_address(const struct cleaner *c, const char *at, struct str *host)
{
    struct str text = {at, (size_t)(c->end - at)};
    size_t scheme = wt__str_starts(text, STR("https://")) ? 8 : wt__str_starts(text, STR("http://")) ? 7 : 0;
    const char *end = at + scheme;
    if (scheme == 0 || end == c->end || is_one_of(*end, "/?#:"))
        return NULL;
    while (end < c->end && !wt__is_blank(*end) && !is_one_of(*end, "<>\"`)]|"))
        end++;
    while (end > at + scheme && is_one_of(end[-1], ".,;:!?*_'"))
        end--;
    *host = (struct str){at + scheme, 0};
    while (host->ptr + host->len < end && !is_one_of(host->ptr[host->len], "/?#:"))
        host->len++;
    return host->len > 0 ? end : NULL;
}

static void read_bare_address(struct cleaner *c)
{
    struct str host;
    const char *end = is_word(before(c)) ? NULL : read_address(c, c->at, &host);
    if (!end) {
        put(c, 1);
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
    const char *end = read_address(c, c->at + 1, &host);
    if (end && end < c->end && *end == '>') {
        wt__buffer_str(c->out, host);
        c->at = end + 1;
        return;
    }
    put(c, 1);
}

static void open_link(struct cleaner *c)
{
    if (c->link_count == LINKS_OPEN)
        memmove(c->links, c->links + 1, --c->link_count * sizeof *c->links);
    c->links[c->link_count++] = c->out->len;
    put(c, 1);
}

/* The ')' behind a link's target that begins at `at`; NULL where there is none. A target has a '/', a '#', a '.' or a
 * ':', so that f[i](x) is none. */
static const char *target_end(struct cleaner *c, const char *at)
{
    unsigned depth = 1;
    bool leads = false;
    if (c->no_target && at < c->no_target)
        return NULL;
    for (; at < c->end && *at != '\n' && depth > 0; at++) {
        depth += (*at == '(') - (*at == ')');
        leads |= is_one_of(*at, "/#.:");
    }
    if (depth == 0 && leads)
        return at - 1;
    c->no_target = at;
    return NULL;
}

static void close_link(struct cleaner *c)
{
    const char *end = NULL;
    if (c->link_count > 0 && c->at + 1 < c->end && c->at[1] == '(')
        end = target_end(c, c->at + 2);
    size_t place = c->link_count > 0 ? c->links[--c->link_count] : 0;
    if (!end) {
        put(c, 1);
        return;
    }
    bool image = place > c->start && c->out->ptr[place - 1] == '!';
    strike(c, place - image, 1u + image);
    c->at = end + 1;
}

/* ---------------------------------------------------------------- emphasis */

static void forget_open(struct cleaner *c)
{
    c->link_count = 0;
    memset(c->emphasis, 0xff, sizeof c->emphasis);
}

/* A run opens where no word ends and something follows, and closes where something was and no word begins; two '*' also
 * close before a word, since "**Note:**text" is often written. Patterns of files ("*.js") are none. */
static void read_emphasis(struct cleaner *c)
{
    static const char marks[] = "*_~";
    char mark = *c->at;
    size_t run = 1;
    while (c->at + run < c->end && c->at[run] == mark)
        run++;
    char after = c->at + run < c->end ? c->at[run] : ' ';
    bool known = run <= LONGEST_RUN && (mark != '~' || run == 2);
    bool closes =
        known && !wt__is_blank(before(c)) && before(c) != '/' && (!is_word(after) || (mark == '*' && run == 2));
    size_t *open = known ? &c->emphasis[strchr(marks, mark) - marks][run - 1] : NULL;
    if (closes && *open != SIZE_MAX) {
        strike(c, *open, run);
        *open = SIZE_MAX;
        c->at += run;
        return;
    }
    if (known && !is_word(before(c)) && !wt__is_blank(after) && !is_one_of(after, "/."))
        *open = c->out->len;
    put(c, run);
}

/* ---------------------------------------------------------------- lines */

/* Nothing but marks that draw: a rule, what underlines a heading, what is between the head of a table and its body. */
static bool only_draws(struct str line)
{
    size_t marks = 0;
    for (size_t i = 0; i < line.len; i++) {
        if (!wt__is_blank(line.ptr[i]) && !is_one_of(line.ptr[i], "-=*_+|:"))
            return false;
        marks += is_one_of(line.ptr[i], "-=*_");
    }
    return marks >= RULE_LEAST;
}

/* "```json"; but not "```code```". */
static bool is_fence(struct str line)
{
    return wt__str_starts(line, STR("```")) && !memchr(line.ptr + 3, '`', line.len - 3);
}

/* A word for what a quotation is: "[!NOTE]". */
static bool is_alert(struct str line)
{
    size_t at = 2;
    while (at < line.len && is_word(line.ptr[at]))
        at++;
    return wt__str_starts(line, STR("[!")) && at + 1 == line.len && line.ptr[at] == ']';
}

static bool is_marked(struct str line, size_t mark)
{
    return mark > 0 && mark < line.len && wt__is_blank(line.ptr[mark]);
}

/* Passes the mark of a heading; that of what stands in a list is a '-', whichever it was. */
static void pass_mark(struct cleaner *c, struct str line)
{
    size_t heading = 0, item = is_one_of(line.ptr[0], "*+");
    while (heading < line.len && heading < HEADINGS && line.ptr[heading] == '#')
        heading++;
    if (is_marked(line, heading))
        c->at += heading;
    if (!is_marked(line, item))
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
    put(c, 1);
    if (c->at < c->end)
        begin_line(c);
}

/* ---------------------------------------------------------------- all of it */

static void read_escape(struct cleaner *c)
{
    bool escapes = c->at + 1 < c->end && is_one_of(c->at[1], "\\`*_{}[]()<>#+-.!|~&");
    c->at += escapes;
    put(c, 1);
}

/* Code stands for itself: "the`scope`" is two words. */
static void read_tick(struct cleaner *c)
{
    bool joins = is_word(before(c)) && c->at + 1 < c->end && is_word(c->at[1]);
    if (joins)
        wt__buffer_char(c->out, ' ');
    c->at++;
}

static void read_bar(struct cleaner *c)
{
    if (!c->row) {
        put(c, 1);
        return;
    }
    wt__buffer_char(c->out, ' ');
    c->at++;
}

static void read_piece(struct cleaner *c)
{
    size_t plain = 0;
    while (c->at + plain < c->end && !is_one_of(c->at[plain], "<&h[]*_~`\\|\n"))
        plain++;
    put(c, plain);
    if (c->at == c->end)
        return;
    switch (*c->at) {
    case '<':
        read_angle(c);
        return;
    case '&':
        read_entity(c);
        return;
    case 'h':
        read_bare_address(c);
        return;
    case '[':
        open_link(c);
        return;
    case ']':
        close_link(c);
        return;
    case '`':
        read_tick(c);
        return;
    case '\\':
        read_escape(c);
        return;
    case '|':
        read_bar(c);
        return;
    case '\n':
        end_line(c);
        return;
    default:
        read_emphasis(c);
    }
}

/* Removes struck bytes from `start` on and joins blanks. keep_lines: blanks with a line break become one line break. */
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
        read_piece(&c);
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
            put(&c, 1);
    }
    if (!c.has_tag && !out->failed)
        wt__buffer_cut(out, start);
    else if (!out->failed)
        close_gaps(out, start, true);
    return c.has_tag;
}
