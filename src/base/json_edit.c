/* json_edit.c: locates the members of an object in a copy of the text with comments blanked out, and edits the text.
 * Both texts have the same length, so offsets are valid in both. */
#include "base/json_edit.h"

#include "base/json.h"
#include "base/json_scan.h"
#include "base/memory.h"

enum { MEMBERS_MAX = 1 << 16 };

/* True for a blank of JSON. */
static bool is_edit_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks_from(struct str text, size_t at)
{
    while (at < text.len && is_edit_blank(text.ptr[at]))
        at++;
    return at;
}

/* Returns the unescaped key in the arena, or NULL if out of memory. */
static const char *unescape_key(struct arena *arena, struct str key)
{
    if (!memchr(key.ptr, '\\', key.len))
        return wt__arena_copy(arena, key);
    json_auto_t *value = NULL; /* key is borrowed from text, so its quotes are around it */
    if (wt__json_parse(&value, key.ptr - 1, key.len + 2, NULL) < 0)
        return NULL;
    return wt__arena_copy(arena, (struct str){json_string_value(value), json_string_length(value)});
}

/* Collects the members of the object whose bracket is at members->open. */
static int collect_members(struct json_members *members, struct arena *arena, struct str blanked, wt_error *err)
{
    WT_AUTO_FREE struct json_member *items = NULL;
    size_t capacity = 0;
    struct json_scan scan;
    wt__json_scan_open(&scan, blanked, members->open, 1);
    for (;;) {
        struct json_item item;
        scan.at = skip_blanks_from(blanked, scan.at);
        if (scan.more && scan.at < blanked.len && blanked.ptr[scan.at] == '}') {
            members->close = scan.at;
            break;
        }
        int got = wt__json_scan_next(&scan, &item);
        if (got < 0) /* unexpected, because the parser accepted the text */
            return wt__fail(err, WT_EFORMAT, "cannot locate the members of an object: %s", scan.reason);
        if (got == 0) {
            members->close = scan.at - 1;
            break;
        }
        if (members->count == MEMBERS_MAX)
            return wt__fail(err, WT_ETOOLONG, "an object has more than %d members", MEMBERS_MAX);
        if (wt__grow((void **)&items, &capacity, members->count + 1, sizeof *items) < 0)
            return wt__fail_nomem(err);
        size_t end = item.byte + item.value.len;
        items[members->count] = (struct json_member){.name = unescape_key(arena, item.key),
                                                     .begin = (size_t)(item.key.ptr - blanked.ptr) - 1,
                                                     .value = item.byte,
                                                     .end = end,
                                                     .comma = scan.more ? skip_blanks_from(blanked, end) : SIZE_MAX,
                                                     .text = {members->text.ptr + item.byte, item.value.len},
                                                     .readable = item.value};
        WT_CHECK_ALLOC(items[members->count++].name, err);
    }
    members->members = wt__arena_array(arena, struct json_member, members->count + 1);
    WT_CHECK_ALLOC(members->members, err);
    if (members->count > 0)
        memcpy(members->members, items, members->count * sizeof *items);
    return 0;
}

const struct json_member *wt__json_member_named(const struct json_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->members[i].name, name) == 0)
            return &members->members[i];
    return NULL;
}

static size_t find_line_begin(struct str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n')
        at--;
    return at;
}

static bool has_only_blanks(struct str text, size_t from, size_t to)
{
    return from <= to && skip_blanks_from((struct str){text.ptr, to}, from) == to;
}

/* Returns the leading blanks of the line at this offset. */
static struct str read_indent(struct str text, size_t at)
{
    size_t begin = find_line_begin(text, at), end = begin;
    while (end < at && (text.ptr[end] == ' ' || text.ptr[end] == '\t'))
        end++;
    return (struct str){text.ptr + begin, end - begin};
}

/* True if the members are on separate lines. For an empty object, true if there is a newline before or inside it. */
static bool has_lines(const struct json_members *m)
{
    struct str text = m->text;
    if (m->count == 0)
        return memchr(text.ptr, '\n', m->open) || memchr(text.ptr + m->open, '\n', m->close - m->open);
    size_t begin = find_line_begin(text, m->members[0].begin);
    return begin > m->open && has_only_blanks(text, begin, m->members[0].begin);
}

static int detect_layout(struct json_members *m, struct arena *arena, wt_error *err)
{
    const char *first = m->text.len > 0 ? memchr(m->text.ptr, '\n', m->text.len) : NULL;
    m->line_end = first && first > m->text.ptr && first[-1] == '\r' ? "\r\n" : "\n";
    if (!has_lines(m))
        return 0;
    struct str outer = read_indent(m->text, m->open), inner = outer, step = STR("  ");
    if (m->count > 0) {
        inner = read_indent(m->text, m->members[0].begin);
        if (inner.len > outer.len && wt__str_starts(inner, outer))
            step = (struct str){inner.ptr + outer.len, inner.len - outer.len};
    } else if (outer.len > 0 && outer.ptr[0] == '\t') {
        step = STR("\t");
    }
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_str(&text, inner);
    if (m->count == 0)
        wt__buffer_str(&text, step);
    m->indent = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    m->deeper = wt__arena_copy(arena, step);
    return m->indent && m->deeper ? 0 : wt__fail_nomem(err);
}

/* Moves to the object that is the value of this member. Returns false if it does not exist. */
static bool enter_member(struct json_members *m, const char *key)
{
    const struct json_member *member = wt__json_member_named(m, key);
    if (!member || member->readable.len == 0 || member->readable.ptr[0] != '{')
        return false;
    *m = (struct json_members){.text = m->text, .open = member->value};
    return true;
}

int wt__json_members(struct json_members *out, struct arena *arena, struct str text, const char *const *path,
                     wt_error *err)
{
    json_t *root = NULL;
    *out = (struct json_members){.text = text};
    if (text.len > JSON_EDIT_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the text has more than %d bytes", JSON_EDIT_BYTES_MAX);
    WT_TRY(wt__json_parse_relaxed(&root, text, err));
    bool object = json_is_object(root);
    json_decref(root);
    if (!object)
        return 0;
    char *copy = wt__arena_copy(arena, text);
    WT_CHECK_ALLOC(copy, err);
    wt__json_blank_comments(copy, text.len);
    struct str blanked = {copy, text.len};
    out->open = skip_blanks_from(blanked, 0);
    WT_TRY(collect_members(out, arena, blanked, err));
    for (; *path; path++) {
        if (!enter_member(out, *path))
            return 0;
        WT_TRY(collect_members(out, arena, blanked, err));
    }
    WT_TRY(detect_layout(out, arena, err));
    return 1;
}

static void append_new_members(struct buffer *out, const struct json_members *m, const struct json_new_member *added,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && m->indent)
            wt__buffer_printf(out, ",%s%s", m->line_end, m->indent);
        else if (i > 0)
            wt__buffer_text(out, ", ");
        wt__buffer_json(out, wt__str(added[i].name));
        wt__buffer_text(out, ": ");
        wt__buffer_str(out, added[i].value);
    }
}

/* Copies the text from *at up to `to`, and moves *at to `to`. */
static void copy_until(struct buffer *out, struct str text, size_t *at, size_t to)
{
    if (to > *at) {
        wt__buffer_append(out, text.ptr + *at, to - *at);
        *at = to;
    }
}

/* Returns the offset behind the newline if only blanks remain on the line, else `at`. */
static size_t skip_rest_of_line(struct str text, size_t at)
{
    size_t end = at;
    while (end < text.len && text.ptr[end] != '\n' && is_edit_blank(text.ptr[end]))
        end++;
    return end < text.len && text.ptr[end] == '\n' ? end + 1 : at;
}

/* Returns the offset of the first of the blanks right before `at`, but at least `least`. Returns `at` if the blanks are
 * the line's indent. */
static size_t find_blanks_before(struct str text, size_t at, size_t least)
{
    size_t begin = at;
    while (begin > least && (text.ptr[begin - 1] == ' ' || text.ptr[begin - 1] == '\t'))
        begin--;
    return begin > 0 && text.ptr[begin - 1] == '\n' ? at : begin;
}

/* Drops member i, and its line if nothing else is on the line. last: index of the last member that stays. */
static void drop_member(struct buffer *out, const struct json_members *m, size_t i, size_t last, size_t *at)
{
    const struct json_member *member = &m->members[i];
    struct str text = m->text;
    size_t begin = find_line_begin(text, member->begin), end = member->end;
    bool near = member->comma != SIZE_MAX && has_only_blanks(text, member->end, member->comma);
    if (near)
        end = member->comma + 1;
    size_t line = skip_rest_of_line(text, end);
    bool alone = line > end && begin >= *at && begin > m->open && has_only_blanks(text, begin, member->begin) &&
                 (near || member->comma == SIZE_MAX);
    if (!alone)
        begin = i > last ? find_blanks_before(text, member->begin, *at) : member->begin;
    copy_until(out, text, at, begin);
    *at = alone ? line : end;
    while (!alone && near && *at < text.len && (text.ptr[*at] == ' ' || text.ptr[*at] == '\t'))
        ++*at;
    if (member->comma != SIZE_MAX && !near) { /* a comment is between value and comma */
        copy_until(out, text, at, member->comma);
        *at = member->comma + 1;
    }
}

/* Adds members behind the last member, or to an empty object. */
static void append_behind_last(struct buffer *out, const struct json_members *m, const struct json_new_member *added,
                               size_t count, size_t *at)
{
    const struct json_member *last = m->count > 0 ? &m->members[m->count - 1] : NULL;
    bool comma = last && last->comma != SIZE_MAX;
    size_t place = last ? last->end : m->open + 1;
    copy_until(out, m->text, at, place);
    if (last && !comma)
        wt__buffer_char(out, ',');
    if (comma)
        copy_until(out, m->text, at, last->comma + 1);
    if (m->indent)
        wt__buffer_printf(out, "%s%s", m->line_end, m->indent);
    else if (last)
        wt__buffer_char(out, ' ');
    append_new_members(out, m, added, count);
    if (comma)
        wt__buffer_char(out, ',');
    if (!last && m->indent && has_only_blanks(m->text, m->open + 1, m->close)) {
        struct str outer = read_indent(m->text, m->open);
        *at = m->close;
        wt__buffer_text(out, m->line_end);
        wt__buffer_str(out, outer);
    }
}

void wt__json_edit(struct buffer *out, const struct json_members *m, const bool *drop,
                   const struct json_new_member *added, size_t added_count)
{
    size_t at = 0, first = m->count, last = m->count; /* first dropped member; last member that stays */
    for (size_t i = m->count; i-- > 0;)
        if (drop[i])
            first = i;
    for (size_t i = 0; i < m->count; i++)
        if (!drop[i] || (i == first && added_count > 0))
            last = i;
    bool trailing = m->count > 0 && m->members[m->count - 1].comma != SIZE_MAX;
    for (size_t i = 0; i < m->count; i++) {
        const struct json_member *member = &m->members[i];
        if (drop[i] && !(i == first && added_count > 0)) {
            drop_member(out, m, i, last, &at);
            continue;
        }
        if (drop[i]) {
            copy_until(out, m->text, &at, member->begin);
            append_new_members(out, m, added, added_count);
            at = member->end;
        }
        if (i == last && i + 1 < m->count && !trailing) { /* drop its comma, because no member follows any more */
            copy_until(out, m->text, &at, member->comma);
            at = member->comma + 1;
        }
    }
    if (first == m->count && added_count > 0)
        append_behind_last(out, m, added, added_count, &at);
    copy_until(out, m->text, &at, m->text.len);
}
