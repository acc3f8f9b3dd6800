#include "retrieve/path_name.h"

#include <strings.h>

#include "text/name_hash.h"

const struct str wt__path_methods[PATH_METHODS] = {{"get", 3},    {"post", 4}, {"put", 3},    {"patch", 5},
                                                   {"delete", 6}, {"head", 4}, {"options", 7}};

size_t wt__path_method(struct str word)
{
    size_t method = 0;
    while (method < PATH_METHODS && !(wt__path_methods[method].len == word.len &&
                                      strncasecmp(wt__path_methods[method].ptr, word.ptr, word.len) == 0))
        method++;
    return method;
}

static bool is_open(struct str segment)
{
    return memchr(segment.ptr, '{', segment.len) || segment.ptr[0] == ':' || segment.ptr[0] == '<';
}

/* Returns the part of a URL after its host, or the whole text if it is not a URL. */
static struct str skip_host(struct str text)
{
    static const char sign[] = "://";
    const char *host = memmem(text.ptr, text.len, sign, sizeof sign - 1);
    if (!host)
        return text;
    host += sizeof sign - 1;
    size_t left = text.len - (size_t)(host - text.ptr);
    const char *path = memchr(host, '/', left);
    return path ? (struct str){path, left - (size_t)(path - host)} : (struct str){host, 0};
}

bool wt__path_read(struct path_name *out, struct str text)
{
    *out = (struct path_name){0};
    if (text.len == 0)
        return false;
    text = skip_host(text);
    size_t end = 0;
    while (end < text.len && text.ptr[end] != '?' && text.ptr[end] != '#')
        end++;
    for (size_t at = 0; at < end;) {
        const char *segment = text.ptr + at;
        const char *slash = memchr(segment, '/', end - at);
        size_t len = slash ? (size_t)(slash - segment) : end - at;
        if (len > 0 && out->count == PATH_SEGMENTS_MAX)
            return false;
        if (len > 0) {
            out->open |= is_open((struct str){segment, len}) ? 1u << out->count : 0;
            out->segments[out->count++] = (struct str){segment, len};
        }
        at += len + 1;
    }
    return out->count > 0;
}

uint64_t wt__path_hash(const struct path_name *path, size_t method, size_t first, uint32_t open)
{
    uint64_t state = wt__name_hash_text(NAME_HASH_EMPTY, wt__path_methods[method]);
    for (size_t i = first; i < path->count; i++) {
        state = wt__name_hash_byte(state, '/');
        state = open >> i & 1 ? wt__name_hash_byte(state, '*') : wt__name_hash_text(state, path->segments[i]);
    }
    return wt__name_hash_end(state);
}

bool wt__path_name_hash(struct str text, uint64_t *hash)
{
    const char *blank = text.len > 0 ? memchr(text.ptr, ' ', text.len) : NULL;
    size_t word = blank ? (size_t)(blank - text.ptr) : 0;
    size_t method = wt__path_method((struct str){text.ptr, word});
    struct path_name path;
    if (method == PATH_METHODS || word + 1 >= text.len || blank[1] != '/' ||
        !wt__path_read(&path, (struct str){blank + 1, text.len - word - 1}))
        return false;
    *hash = wt__path_hash(&path, method, 0, path.open);
    return true;
}
