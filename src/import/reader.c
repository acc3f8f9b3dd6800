/* reader.c: adds the tools of all importers. It checks a tool, cleans its texts, makes its name unique for its
 * provider, and hashes its definition.
 *
 * The provider and name of a tool are stored in one block, "provider NUL name". The block is also the key in the map of
 * names, so that two million tools need only one copy of their names.
 *
 * A repeated name with another definition becomes "name~2", "name~3", in the order of the source. A counter for each
 * stem gives the next number in constant time. */
#include "import/internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/credentials.h"
#include "catalog/names.h"
#include "catalog/schema.h"

enum {
    REASON_MAX = 512,          /* maximum bytes of a reason, with its NUL; a longer reason is truncated */
    QUOTE_MAX = 60,            /* maximum bytes of a name within a reason */
    PROGRESS_BYTES = 64 << 10, /* approximate step between progress reports */
};

/* ---------------------------------------------------------------- issues */

struct source_place wt__reader_place(const struct import_reader *reader, struct source_place place)
{
    const struct yaml_mark *mark = reader->yaml ? wt__yaml_near(reader->yaml, place.byte) : NULL;
    if (mark)
        place = (struct source_place){mark->byte, mark->line};
    place.byte += reader->offset;
    return place;
}

static int keep_import_issue(struct import *out, wt_add_issue issue, wt_error *err)
{
    out->skipped++;
    if (out->issue_count >= WT_MAX_ISSUES)
        return 0;
    if (wt__grow((void **)&out->issues, &out->issue_capacity, out->issue_count + 1, sizeof *out->issues) < 0 ||
        !issue.pointer || !issue.reason)
        return wt__fail_nomem(err);
    out->issues[out->issue_count++] = issue;
    return 0;
}

int wt__reader_issue(struct import_reader *reader, struct source_place place, const char *below, wt_error *err,
                     const char *format, ...)
{
    char reason[REASON_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct import *out = reader->out;
    const char *file = out->files[reader->file];
    size_t mark = reader->pointer.len;
    place = wt__reader_place(reader, place);
    wt__buffer_text(&reader->pointer, below);
    if (reader->pointer.failed)
        return wt__fail_nomem(err);
    const char *pointer = reader->pointer.ptr ? reader->pointer.ptr : "";
    int rc = 0;
    if (reader->options->strict) {
        rc = wt__fail_at(err, WT_EFORMAT, place.line, place.byte, pointer, "%s:%zu: %s%s%s", file, place.line, pointer,
                         *pointer ? ": " : "", reason);
    } else {
        bool kept = out->issue_count < WT_MAX_ISSUES;
        wt_add_issue issue = {file, place.line, place.byte, kept ? wt__arena_copy(&out->arena, wt__str(pointer)) : "",
                              kept ? wt__arena_copy(&out->arena, wt__str(reason)) : ""};
        rc = keep_import_issue(out, issue, err);
    }
    wt__pointer_back(reader, mark);
    return rc;
}

int wt__reader_remark(struct import_reader *reader, struct source_place place, wt_error *err, const char *format, ...)
{
    char reason[REASON_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    int rc = wt__reader_issue(reader, place, "", err, "%s", reason);
    reader->out->skipped -= rc == 0;
    return rc;
}

int wt__reader_leave(struct import_reader *reader, struct str source_id, wt_error *err)
{
    struct import *out = reader->out;
    const char *copy = wt__arena_copy(&out->arena, source_id);
    if (!copy || wt__grow((void **)&out->left, &out->left_capacity, out->left_count + 1, sizeof *out->left) < 0)
        return wt__fail_nomem(err);
    out->left[out->left_count++] = (struct skipped_tool){.source_id = {copy, source_id.len}, .file = reader->file};
    return 0;
}

int wt__reader_broken(struct import_reader *reader, const struct json_scan *scan, wt_error *err)
{
    if (reader->broken)
        return 0;
    reader->out->whole = false;
    reader->broken = true;
    return wt__reader_issue(reader, (struct source_place){scan->at, scan->line}, "", err,
                            "%s; the rest was not read: repair the file here", scan->reason);
}

int wt__reader_at(struct import_reader *reader, size_t byte, wt_error *err)
{
    if (byte < reader->reported + PROGRESS_BYTES)
        return 0;
    size_t step = byte - reader->reported;
    reader->reported = byte;
    return wt__progress_step(reader->options->progress, step) ? wt__fail_cancelled(err) : 0;
}

size_t wt__pointer_key(struct import_reader *reader, struct str key)
{
    size_t mark = reader->pointer.len;
    wt__json_pointer_step(&reader->pointer, key);
    return mark;
}

size_t wt__pointer_index(struct import_reader *reader, size_t index)
{
    size_t mark = reader->pointer.len;
    wt__buffer_printf(&reader->pointer, "/%zu", index);
    return mark;
}

void wt__pointer_back(struct import_reader *reader, size_t mark)
{
    if (reader->pointer.ptr && mark <= reader->pointer.len) {
        reader->pointer.len = mark;
        reader->pointer.ptr[mark] = '\0';
    }
}

/* ---------------------------------------------------------------- parsing */

int wt__reader_parse(struct import_reader *reader, const struct json_item *item, json_t **out, wt_error *err)
{
    struct source_place place = {item->byte, item->line};
    wt_error why = {0};
    *out = NULL;
    if (item->cut && reader->broken)
        return wt__reader_issue(reader, place, "", err, "reading stopped inside this tool, so it was skipped");
    if (item->cut) {
        struct json_scan end = {.at = item->byte, .line = item->line, .reason = "the text ends inside this value"};
        return wt__reader_broken(reader, &end, err);
    }
    if (item->value.len > reader->limits.definition_bytes)
        return wt__reader_issue(reader, place, "", err,
                                "the definition has %zu bytes; at most %zu are allowed: shorten it", item->value.len,
                                reader->limits.definition_bytes);
    if (item->value.len == 0)
        return wt__reader_issue(reader, place, "", err, "a value is missing here: remove the extra comma");
    int rc = wt__json_parse(out, item->value.ptr, item->value.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0) {
        place.byte += why.byte;
        place.line += why.line > 0 ? why.line - 1 : 0;
        return wt__reader_issue(reader, place, "", err, "%s", why.message);
    }
    if (json_is_object(*out))
        return 1;
    json_decref(*out);
    *out = NULL;
    return wt__reader_issue(reader, place, "", err, "not an object: a tool is an object with a name");
}

int wt__reader_text(struct import_reader *reader, struct source_place place, const json_t *object, const char *key,
                    struct str *out, wt_error *err)
{
    const json_t *value = json_object_get(object, key);
    *out = (struct str){"", 0};
    if (value && !json_is_string(value) && !json_is_null(value)) {
        char below[64];
        snprintf(below, sizeof below, "/%s", key);
        return wt__reader_issue(reader, place, below, err, "\"%s\" is not a string: put it in double quotes", key);
    }
    if (json_is_string(value))
        *out = (struct str){json_string_value(value), json_string_length(value)};
    return 1;
}

/* ---------------------------------------------------------------- texts */

/* Copies text, which is valid UTF-8, into out, and replaces control characters by blanks. layout: true to keep newlines
 * and tabs, and to drop a CR before a newline. out has room for text.len bytes. Returns the trimmed result. */
static struct str write_clean(char *out, struct str text, bool layout)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool next_line = i + 1 < text.len && text.ptr[i + 1] == '\n';
        if (layout && c == '\r' && next_line)
            continue;
        if (c == 0xc2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xa0) {
            out[len++] = ' ';
            i++;
        } else if ((c < 0x20 && !(layout && (c == '\n' || c == '\t'))) || c == 0x7f) {
            out[len++] = ' ';
        } else {
            out[len++] = (char)c;
        }
    }
    return wt__str_trim((struct str){out, len});
}

/* Writes a cleaned copy in the arena. Returns -1 if out of memory. */
static int copy_clean(struct arena *arena, struct str text, bool layout, struct str *out)
{
    *out = (struct str){"", 0};
    if (text.len == 0)
        return 0;
    char *copy = wt__arena_alloc(arena, text.len, 1);
    if (!copy)
        return -1;
    *out = write_clean(copy, text, layout);
    return 0;
}

/* Returns the length of text to quote in a message. */
static int quoted_length(struct str text)
{
    return (int)wt__str_cut(text, QUOTE_MAX).len;
}

/* ---------------------------------------------------------------- names */

/* Returns "provider NUL name" in the arena, with room for `extra` bytes after it. */
static char *make_tool_key(struct import_reader *reader, struct str provider, struct str name, size_t extra)
{
    char *key = wt__arena_alloc(&reader->out->arena, provider.len + 1 + name.len + extra, 1);
    if (key) {
        memcpy(key, provider.ptr, provider.len);
        key[provider.len] = '\0';
        memcpy(key + provider.len + 1, name.ptr, name.len);
    }
    return key;
}

/* Records the hash of a tool's definition under the tool's name. Returns 1 if the hash is new for this name, 0 if it is
 * known, -1 if out of memory. */
static int add_variant(struct import_reader *reader, struct str provider, struct str name,
                       const unsigned char sha256[32])
{
    char *key = make_tool_key(reader, provider, name, 33);
    bool added = false;
    if (!key)
        return -1;
    size_t len = provider.len + 1 + name.len;
    key[len] = '\0';
    memcpy(key + len + 1, sha256, 32);
    if (!wt__map_insert(&reader->variants, (struct str){key, len + 33}, 0, &added))
        return -1;
    return added;
}

/* Gives tool the first free name of the form "stem~N". Returns -1 if out of memory. */
static int number_name(struct import_reader *reader, struct tool *tool)
{
    struct str stem = wt__name_stem(tool->name);
    tool->own_name = tool->name;
    char *counter_key = make_tool_key(reader, tool->provider, stem, 0);
    if (!counter_key)
        return -1;
    uint32_t *counter =
        wt__map_insert(&reader->counters, (struct str){counter_key, tool->provider.len + 1 + stem.len}, 1, NULL);
    char *key = make_tool_key(reader, tool->provider, stem, NAME_NUMBER_MAX + 1);
    if (!counter || !key)
        return -1;
    for (bool added = false; !added;) {
        int digits = snprintf(key + tool->provider.len + 1 + stem.len, NAME_NUMBER_MAX + 1, "~%u", ++*counter);
        tool->provider.ptr = key;
        tool->name = (struct str){key + tool->provider.len + 1, stem.len + (size_t)digits};
        struct str whole = {key, tool->provider.len + 1 + tool->name.len};
        if (!wt__map_insert(&reader->names, whole, (uint32_t)reader->out->tool_count, &added))
            return -1;
    }
    return 0;
}

/* Writes the cleaned provider and name as the tool's key, and sets tool->provider and tool->name to views of the key.
 * Returns -1 if out of memory. */
static int clean_names(struct import_reader *reader, struct str provider, struct str name, struct tool *tool)
{
    char *key = wt__arena_alloc(&reader->out->arena, provider.len + 1 + name.len, 1);
    if (!key)
        return -1;
    struct str cleaned = write_clean(key, provider, false);
    memmove(key, cleaned.ptr, cleaned.len);
    tool->provider = (struct str){key, cleaned.len};
    key[cleaned.len] = '\0';
    key += cleaned.len + 1;
    cleaned = write_clean(key, name, false);
    memmove(key, cleaned.ptr, cleaned.len);
    tool->name = (struct str){key, cleaned.len};
    return 0;
}

/* Makes the tool's name unique. If the name is repeated, sets *first to the index of the first tool with the name.
 * Returns 1, 0 if a tool with this name and definition already exists, or -1 if out of memory. */
static int make_name_unique(struct import_reader *reader, struct tool *tool, uint32_t *first)
{
    bool added = false;
    struct str key = {tool->provider.ptr, tool->provider.len + 1 + tool->name.len};
    uint32_t *slot = wt__map_insert(&reader->names, key, (uint32_t)reader->out->tool_count, &added);
    if (!slot)
        return -1;
    if (added)
        return 1;
    *first = *slot;
    if (add_variant(reader, tool->provider, tool->name, reader->out->tools[*first].sha256) < 0)
        return -1;
    int fresh = add_variant(reader, tool->provider, tool->name, tool->sha256);
    if (fresh <= 0)
        return fresh;
    if (reader->out->twins++ == 0) {
        reader->out->twin[0] = (uint32_t)reader->out->tool_count;
        reader->out->twin[1] = *first;
    }
    return number_name(reader, tool) < 0 ? -1 : 1;
}

/* ---------------------------------------------------------------- adding a tool */

/* Checks the limits of a draft. Returns 1, or 0 if an issue was reported. */
static int check_draft(struct import_reader *reader, const struct draft *draft, struct str provider, struct str name,
                       wt_error *err)
{
    if (name.len == 0)
        return wt__reader_issue(reader, draft->place, "", err, "the tool has no name: give every tool a name");
    if (name.len > WT_MAX_NAME_BYTES)
        return wt__reader_issue(reader, draft->place, "", err,
                                "the name \"%.*s...\" has %zu bytes; at most %d are allowed", quoted_length(name),
                                name.ptr, name.len, WT_MAX_NAME_BYTES);
    if (provider.len > WT_MAX_NAME_BYTES)
        return wt__reader_issue(reader, draft->place, "", err,
                                "the provider \"%.*s...\" has %zu bytes; at most %d are allowed",
                                quoted_length(provider), provider.ptr, provider.len, WT_MAX_NAME_BYTES);
    if (draft->definition.len > reader->limits.definition_bytes)
        return wt__reader_issue(reader, draft->place, "", err,
                                "the definition has %zu bytes; at most %zu are allowed: shorten it",
                                draft->definition.len, reader->limits.definition_bytes);
    return 1;
}

/* Writes the normal form of a draft's schema to the arena. Tools without arguments share one text. Consecutive tools
 * with equal schemas share a text, too. */
static int write_draft_schema(struct import_reader *reader, json_t *schema, struct str *out)
{
    const struct import *import = reader->out;
    struct str last = import->tool_count > 0 ? import->tools[import->tool_count - 1].schema : STR(SCHEMA_NONE);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = STR(SCHEMA_NONE);
    if (!schema)
        return 0;
    WT_TRY(wt__schema_write(&text, schema));
    if (wt__str_equal(wt__buffer_view(&text), last))
        *out = last;
    else if (!wt__str_equal(wt__buffer_view(&text), *out))
        *out = (struct str){wt__arena_copy(&reader->out->arena, wt__buffer_view(&text)), text.len};
    return out->ptr ? 0 : WT_ENOMEM;
}

static int keep_imported_tool(struct import_reader *reader, const struct tool *tool, struct source_place place,
                              wt_error *err)
{
    struct import *out = reader->out;
    size_t need = out->tool_count + 1;
    place = wt__reader_place(reader, place);
    if (wt__grow((void **)&out->tools, &out->tool_capacity, need, sizeof *out->tools) < 0 ||
        wt__grow((void **)&out->places, &out->place_capacity, need, sizeof *out->places) < 0)
        return wt__fail_nomem(err);
    out->tools[out->tool_count] = *tool;
    out->places[out->tool_count++] = (struct import_place){reader->file, place.line, place.byte};
    return 0;
}

int wt__reader_add(struct import_reader *reader, const struct draft *draft, wt_error *err)
{
    struct import *out = reader->out;
    struct str given = reader->options->provider.len > 0 ? reader->options->provider
                       : draft->provider.len > 0         ? draft->provider
                                                         : reader->provider;
    struct tool tool = {.format = wt__str(reader->format), .definition = draft->definition};
    if (clean_names(reader, given, draft->name, &tool) < 0)
        return wt__fail_nomem(err);
    int rc = check_draft(reader, draft, tool.provider, tool.name, err);
    if (rc <= 0)
        return rc;
    if (out->tool_count >= reader->limits.tools)
        return wt__fail_at(err, WT_ETOOLONG, draft->place.line, draft->place.byte, NULL,
                           "%s:%zu: more than %zu tools: split the source over several stores",
                           out->files[reader->file], draft->place.line, reader->limits.tools);
    uint32_t first = 0;
    wt__sha256(tool.definition.ptr, tool.definition.len, tool.sha256);
    rc = make_name_unique(reader, &tool, &first);
    if (rc < 0)
        return wt__fail_nomem(err);
    if (rc == 0) {
        const struct import_place *place = &out->places[first];
        return wt__reader_issue(reader, draft->place, "", err,
                                "\"%.*s\" duplicates the tool at %s:%zu: remove one of them%s",
                                quoted_length(tool.name), tool.name.ptr, out->files[place->file], place->line,
                                place->file == reader->file ? "" : IMPORT_OTHER_PROVIDER);
    }
    if (!draft->judged)
        wt__leave_out_credentials(draft->schema, tool.name);
    if (copy_clean(&out->arena, draft->title, false, &tool.title) < 0 ||
        copy_clean(&out->arena, draft->description, true, &tool.description) < 0 ||
        copy_clean(&out->arena, draft->category, false, &tool.category) < 0 ||
        copy_clean(&out->arena, draft->source_id, false, &tool.source_id) < 0 ||
        write_draft_schema(reader, draft->schema, &tool.schema) < 0)
        return wt__fail_nomem(err);
    rc = keep_imported_tool(reader, &tool, draft->place, err);
    return rc < 0 ? rc : wt__reader_at(reader, draft->place.byte, err);
}
