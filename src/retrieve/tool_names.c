/* tool_names.c: hashes the names of tools and adds them to the index of names (tool_names.h). */
#include "retrieve/tool_names.h"

#include <strings.h>

#include "catalog/names.h"
#include "text/analyser.h"

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

/* True for a path segment with a parameter. */
static bool is_open_segment(struct str segment)
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
            out->open |= is_open_segment((struct str){segment, len}) ? 1u << out->count : 0;
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

enum { NAMES_OF_TOOL = 10, LETTERS_MIN = 2 };

/* A tool whose names are being added. */
struct name_adder {
    struct names_builder *builder;
    uint32_t row;
    uint64_t hashes[NAMES_OF_TOOL]; /* [count] names so far */
    size_t count;
    int rc; /* first error */
};

/* Adds a name, unless the tool has one with this hash. */
static void add_hash(struct name_adder *adding, uint64_t hash, enum name_kind kind, size_t words)
{
    for (size_t i = 0; i < adding->count; i++)
        if (adding->hashes[i] == hash)
            return;
    if (adding->count < NAMES_OF_TOOL)
        adding->hashes[adding->count++] = hash;
    if (adding->rc == 0)
        adding->rc = wt__names_builder_add(adding->builder, hash, kind, adding->row, words);
}

static size_t count_name_words(struct str text)
{
    struct word_part part = {0};
    size_t words = 0;
    while (wt__analyser_next_part(text, &part))
        words++;
    return words;
}

/* True if the text has enough letters for a name. Numbers and single letters are not names. */
static bool has_letters(struct str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i], lower = c | 0x20;
        letters += c >= 0x80 || (lower >= 'a' && lower <= 'z');
    }
    return letters >= LETTERS_MIN;
}

static void add_name(struct name_adder *adding, struct str name, enum name_kind kind)
{
    if (has_letters(name))
        add_hash(adding, wt__name_hash_end(wt__name_hash_text(NAME_HASH_EMPTY, name)), kind, count_name_words(name));
}

/* Adds a title of at least two words. Single words such as "Search" occur in requests for other tools. */
static void add_title(struct name_adder *adding, struct str title)
{
    size_t words = count_name_words(title);
    if (words >= 2 && words <= NAME_WORDS_MAX)
        add_name(adding, title, NAME_TITLE);
}

/* Returns the description if it is one sentence, else an empty view. */
static struct str one_sentence(struct str description)
{
    static const struct str none = {"", 0};
    description = wt__str_trim(description);
    for (size_t i = 0; i + 1 < description.len; i++)
        if (description.ptr[i] == '\n' || (description.ptr[i] == '.' && wt__is_blank(description.ptr[i + 1])))
            return none;
    return description;
}

static void add_id(struct name_adder *adding, const struct tool *tool)
{
    uint64_t state = wt__name_hash_text(NAME_HASH_EMPTY, tool->provider);
    if (tool->provider.len > 0 && has_letters(tool->name))
        add_hash(adding, wt__name_hash_end(wt__name_hash_text(state, tool->name)), NAME_ID,
                 count_name_words(tool->provider) + count_name_words(tool->name));
    add_name(adding, tool->export_name, NAME_ID);
}

static void add_path(struct name_adder *adding, struct str text)
{
    uint64_t hash;
    if (wt__path_name_hash(text, &hash))
        add_hash(adding, hash, NAME_PATH, 0);
}

static void add_written(struct name_adder *adding, struct str text)
{
    if (has_letters(text))
        add_hash(adding, wt__name_hash_written(text), NAME_WRITTEN, 0);
}

int wt__tool_names_add(struct names_builder *builder, const struct tool *tool, uint32_t row, wt_error *err)
{
    struct name_adder adding = {.builder = builder, .row = row};
    add_name(&adding, tool->name, NAME_OWN);
    add_name(&adding, wt__name_without_number(tool->name), NAME_OWN);
    add_title(&adding, tool->title.len > 0 ? tool->title : one_sentence(tool->description));
    add_id(&adding, tool);
    add_path(&adding, tool->name);
    add_path(&adding, tool->source_id);
    if (!wt__path_name_hash(tool->source_id, &(uint64_t){0}))
        add_name(&adding, tool->source_id, NAME_ID);
    add_written(&adding, tool->name);
    add_written(&adding, tool->source_id);
    return adding.rc < 0 ? wt__fail_nomem(err) : 0;
}
