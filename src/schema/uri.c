/* uri.c: the algorithm of RFC 3986, section 5.2. */
#include "schema/uri.h"

#include "base/str.h"

static struct str cut_front(struct str *rest, size_t len, size_t skip)
{
    struct str head = {rest->ptr, len};
    rest->ptr += len + skip;
    rest->len -= len + skip;
    return head;
}

static size_t find_any(struct str text, const char *stops)
{
    size_t at = 0;
    while (at < text.len && !(text.ptr[at] != '\0' && strchr(stops, text.ptr[at])))
        at++;
    return at;
}

static bool is_uri_scheme(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool later = wt__is_digit(c) || c == '+' || c == '-' || c == '.';
        if (!wt__is_letter(c) && (i == 0 || !later))
            return false;
    }
    return text.len > 0;
}

void wt__uri_split(struct uri *out, struct str text)
{
    const struct str none = {"", 0};
    *out = (struct uri){.scheme = none, .authority = none, .path = none, .query = none, .fragment = none};
    if (text.len == 0)
        return;
    size_t at = find_any(text, "#");
    if (at < text.len) {
        out->fragment = (struct str){text.ptr + at + 1, text.len - at - 1};
        out->has_fragment = true;
        text.len = at;
    }
    at = find_any(text, "?");
    if (at < text.len) {
        out->query = (struct str){text.ptr + at + 1, text.len - at - 1};
        out->has_query = true;
        text.len = at;
    }
    at = find_any(text, ":/");
    if (at < text.len && text.ptr[at] == ':' && is_uri_scheme((struct str){text.ptr, at})) {
        out->scheme = cut_front(&text, at, 1);
        out->has_scheme = true;
    }
    if (wt__str_starts(text, STR("//"))) {
        cut_front(&text, 0, 2);
        out->authority = cut_front(&text, find_any(text, "/"), 0);
        out->has_authority = true;
    }
    out->path = text;
}

/* Removes the last segment appended after `from`, and the slash before it. */
static void drop_segment(struct buffer *out, size_t from)
{
    size_t len = out->len;
    while (len > from && out->ptr[len - 1] != '/')
        len--;
    wt__buffer_cut(out, len > from ? len - 1 : from);
}

static void append_path(struct buffer *out, struct str path)
{
    size_t from = out->len;
    while (path.len > 0) {
        bool slash = path.ptr[0] == '/';
        struct str rest = {path.ptr + slash, path.len - slash};
        size_t len = find_any(rest, "/");
        struct str segment = {rest.ptr, len};
        bool last = len == rest.len;
        if (wt__str_equal(segment, STR("."))) {
            if (last && slash)
                wt__buffer_char(out, '/');
        } else if (wt__str_equal(segment, STR(".."))) {
            drop_segment(out, from);
            if (last && slash)
                wt__buffer_char(out, '/');
        } else {
            if (slash)
                wt__buffer_char(out, '/');
            wt__buffer_str(out, segment);
        }
        path = (struct str){rest.ptr + len, rest.len - len};
    }
}

static void append_merged(struct buffer *out, const struct uri *base, struct str path)
{
    struct buffer merged = {0};
    size_t len = base->path.len;
    while (len > 0 && base->path.ptr[len - 1] != '/')
        len--;
    if (base->has_authority && base->path.len == 0)
        wt__buffer_char(&merged, '/');
    wt__buffer_str(&merged, (struct str){base->path.ptr, len});
    wt__buffer_str(&merged, path);
    append_path(out, wt__buffer_view(&merged));
    out->failed |= merged.failed;
    wt__buffer_dispose(&merged);
}

void wt__uri_resolve(struct buffer *out, struct str base_text, struct str reference)
{
    struct uri base, ref;
    wt__uri_split(&base, base_text);
    wt__uri_split(&ref, reference);
    const struct uri *scheme = ref.has_scheme ? &ref : &base;
    const struct uri *authority = ref.has_scheme || ref.has_authority ? &ref : &base;
    bool same_path = authority == &base && ref.path.len == 0;
    const struct uri *query = same_path && !ref.has_query ? &base : &ref;
    if (scheme->has_scheme) {
        wt__buffer_str(out, scheme->scheme);
        wt__buffer_char(out, ':');
    }
    if (authority->has_authority) {
        wt__buffer_text(out, "//");
        wt__buffer_str(out, authority->authority);
    }
    if (same_path)
        wt__buffer_str(out, base.path);
    else if (authority == &ref || (ref.path.len > 0 && ref.path.ptr[0] == '/'))
        append_path(out, ref.path);
    else
        append_merged(out, &base, ref.path);
    if (query->has_query) {
        wt__buffer_char(out, '?');
        wt__buffer_str(out, query->query);
    }
}

bool wt__uri_decode(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '%') {
            wt__buffer_char(out, text.ptr[i]);
            continue;
        }
        int high = i + 2 < text.len ? wt__hex_digit(text.ptr[i + 1]) : -1;
        int low = i + 2 < text.len ? wt__hex_digit(text.ptr[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        wt__buffer_char(out, (char)(high * 16 + low));
        i += 2;
    }
    return true;
}
