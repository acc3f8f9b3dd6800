/* yaml.c: converts libyaml's events to JSON text in one pass, without a tree.
 *
 * Places: libyaml gives the place of an event in characters. These places never go backwards, so a cursor over the
 * source converts them to bytes.
 *
 * An alias copies the JSON of its anchor. The total length of these copies has a limit that grows with the source.
 *
 * The value of a merge key is first written to the JSON, then moved to the level of its mapping. The members of the
 * value are appended when the mapping closes.
 *
 * At a line with wrong indentation, libyaml first ends the blocks before the line and then fails. These blocks look
 * complete, but the line may belong to them. So the outermost of these blocks that may contain the line is opened
 * again. */
#include "import/internal.h"

#include <stdlib.h>
#include <yaml.h>

#include "base/json_check.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "base/memory.h"

/* A list or mapping of the output. Levels below `depth` are open. Levels from `depth` on are closed. */
struct yaml_level {
    bool mapping, value;  /* value: the next node of a mapping is a value, not a key */
    bool filled;          /* has an element or a key */
    uint32_t anchor;      /* index + 1 of its anchor; 0 if the node has no anchor */
    size_t column;        /* column of its first key or dash */
    size_t begin;         /* JSON offset of its opening bracket */
    size_t end;           /* JSON offset of its closing bracket, once closed */
    bool merging;         /* the next node is the value of a merge key */
    bool was_filled;      /* value of `filled` before the merge key */
    size_t merge_at;      /* JSON length before the value of the merge key and its colon */
    struct buffer merged; /* values of merge keys so far: the start of a JSON list of mappings */
};

static const char TOO_LONG[] = "the document exceeds the limit of a file when converted to JSON";
static const char TOO_MANY_ALIASES[] =
    "the aliases up to this one expand to more than 1 MiB plus 16 times the document's "
    "length: use \"$ref\", or fewer aliases";
static const char NO_MAPPING[] = "the merge key << needs a mapping, or a list of mappings";
_Static_assert(YAML_ALIAS_FREE == 1 << 20 && YAML_ALIAS_TIMES == 16, "TOO_MANY_ALIASES gives these limits");

struct yaml_anchor {
    size_t begin, end; /* JSON offsets; end is 0 until complete */
};

struct converter {
    struct yaml *out;
    struct str source;
    size_t max;             /* maximum bytes of JSON */
    size_t alias_bytes;     /* bytes that aliases may still write */
    size_t character, byte; /* cursor: this character of the source is at this byte */
    struct yaml_level levels[WT_MAX_JSON_DEPTH + 1];
    size_t depth;
    size_t deepest;   /* levels [depth, deepest) were closed only by the indentation of the next token */
    struct map names; /* names of anchors */
    struct yaml_anchor *anchors;
    size_t anchor_count, anchor_capacity;
    struct arena arena;
    const char *reason;
    bool failed; /* out of memory */
};

/* ---------------------------------------------------------------- places */

static bool continues(const struct converter *c, size_t byte)
{
    return byte < c->source.len && ((unsigned char)c->source.ptr[byte] & 0xc0) == 0x80;
}

static size_t byte_of(struct converter *c, size_t character)
{
    while (c->character < character && c->byte < c->source.len) {
        c->byte++;
        while (continues(c, c->byte))
            c->byte++;
        c->character++;
    }
    return c->byte;
}

static void add_mark(struct converter *c, const yaml_event_t *event)
{
    struct yaml *out = c->out;
    if (c->depth > YAML_MARK_DEPTH)
        return;
    if (wt__grow((void **)&out->marks, &out->mark_capacity, out->mark_count + 1, sizeof *out->marks) < 0) {
        c->failed = true;
        return;
    }
    out->marks[out->mark_count++] =
        (struct yaml_mark){out->json.len, byte_of(c, event->start_mark.index), event->start_mark.line + 1};
}

/* ---------------------------------------------------------------- writing */

/* Writes the separator before the next node, a comma or a colon. Returns true if the node is a key. */
static bool put_separator(struct converter *c)
{
    if (c->depth == 0)
        return false;
    struct yaml_level *level = &c->levels[c->depth - 1];
    bool key = level->mapping && !level->value;
    if (level->mapping && level->value)
        wt__buffer_char(&c->out->json, ':');
    else if (level->filled)
        wt__buffer_char(&c->out->json, ',');
    level->filled = true;
    if (level->mapping)
        level->value = !level->value;
    return key;
}

static const char *find_literal(struct str text)
{
    static const char *const table[][2] = {{"", "null"},       {"~", "null"},      {"null", "null"},  {"Null", "null"},
                                           {"NULL", "null"},   {"true", "true"},   {"True", "true"},  {"TRUE", "true"},
                                           {"false", "false"}, {"False", "false"}, {"FALSE", "false"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (wt__str_equal(text, wt__str(table[i][0])))
            return table[i][1];
    return NULL;
}

static void put_yaml_scalar(struct converter *c, const yaml_event_t *event, bool key)
{
    struct str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.plain_implicit && !key;
    const char *word = plain ? find_literal(text) : NULL;
    if (word)
        wt__buffer_text(&c->out->json, word);
    else if (plain && wt__json_is_number(text))
        wt__buffer_str(&c->out->json, text);
    else
        wt__buffer_json(&c->out->json, text);
}

/* ---------------------------------------------------------------- anchors */

/* Registers the node that begins here under this name. A later anchor may reuse the name. Returns the index of the
 * anchor + 1. Returns 0 if name is NULL or memory is exhausted. */
static uint32_t begin_anchor(struct converter *c, const yaml_char_t *name)
{
    if (!name)
        return 0;
    char *copy = wt__arena_copy(&c->arena, wt__str((const char *)name));
    if (!copy || wt__grow((void **)&c->anchors, &c->anchor_capacity, c->anchor_count + 1, sizeof *c->anchors) < 0) {
        c->failed = true;
        return 0;
    }
    uint32_t *index = wt__map_insert(&c->names, wt__str(copy), 0, NULL);
    if (!index) {
        c->failed = true;
        return 0;
    }
    *index = (uint32_t)c->anchor_count;
    c->anchors[c->anchor_count++] = (struct yaml_anchor){c->out->json.len, 0};
    return (uint32_t)c->anchor_count;
}

static void end_anchor(struct converter *c, uint32_t anchor)
{
    if (anchor > 0)
        c->anchors[anchor - 1].end = c->out->json.len;
}

static void put_yaml_alias(struct converter *c, const yaml_event_t *event, bool key)
{
    const uint32_t *index = wt__map_get(&c->names, wt__str((const char *)event->data.alias.anchor));
    const struct yaml_anchor *anchor = index ? &c->anchors[*index] : NULL;
    struct buffer *json = &c->out->json;
    if (!anchor || anchor->end == 0 || (key && json->ptr[anchor->begin] != '"')) {
        c->reason = "this alias has no complete anchor before it";
        return;
    }
    size_t len = anchor->end - anchor->begin;
    if (len > c->alias_bytes || json->len + len > c->max) {
        c->reason = len > c->alias_bytes ? TOO_MANY_ALIASES : TOO_LONG;
        return;
    }
    c->alias_bytes -= len;
    char *copy = wt__copy_string(json->ptr + anchor->begin, len);
    if (!copy)
        c->failed = true;
    else
        wt__buffer_append(json, copy, len);
    free(copy);
}

/* ---------------------------------------------------------------- merge keys (YAML 1.1, "<<") */

static bool is_merge_key(const struct converter *c, const yaml_event_t *event)
{
    const struct yaml_level *level = c->depth > 0 ? &c->levels[c->depth - 1] : NULL;
    return level && level->mapping && !level->value && event->type == YAML_SCALAR_EVENT &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.plain_implicit &&
           event->data.scalar.length == 2 && memcmp(event->data.scalar.value, "<<", 2) == 0;
}

/* Starts a merge key, which is not written. take_merged later removes its value from the JSON. */
static void begin_merge(struct converter *c)
{
    struct yaml_level *level = &c->levels[c->depth - 1];
    level->value = level->merging = true;
    level->was_filled = level->filled;
    level->merge_at = c->out->json.len;
}

/* Drops the marks and anchors of the JSON from `at` on, because this JSON is cut off. */
static void forget_places(struct converter *c, size_t at)
{
    struct yaml *out = c->out;
    while (out->mark_count > 0 && out->marks[out->mark_count - 1].json >= at)
        out->mark_count--;
    for (size_t i = c->anchor_count; i > 0 && c->anchors[i - 1].begin >= at; i--)
        c->anchors[i - 1].end = 0;
}

/* Moves the value of a merge key from the JSON to level->merged, once the value is complete. */
static void take_merged(struct converter *c)
{
    struct yaml_level *level = c->depth > 0 ? &c->levels[c->depth - 1] : NULL;
    if (!level || !level->merging || level->value || c->reason || c->failed || c->out->json.failed)
        return;
    struct str value = wt__buffer_view(&c->out->json);
    value = (struct str){value.ptr + level->merge_at + 1, value.len - level->merge_at - 1}; /* after the colon */
    if (value.len > 2 && value.ptr[0] == '[')
        value = (struct str){value.ptr + 1, value.len - 2};
    if (value.len == 0 || value.ptr[0] != '{')
        c->reason = NO_MAPPING;
    wt__buffer_char(&level->merged, level->merged.len > 0 ? ',' : '[');
    wt__buffer_str(&level->merged, value);
    wt__buffer_cut(&c->out->json, level->merge_at);
    forget_places(c, level->merge_at);
    level->filled = level->was_filled;
    level->merging = false;
    c->deepest = c->depth;
}

/* Adds the key. Returns false if the key was known or memory is exhausted. */
static bool add_key(struct converter *c, struct map *keys, struct str key)
{
    bool added = false;
    c->failed |= !wt__map_insert(keys, key, 0, &added);
    return added && !c->failed;
}

/* Appends the members of merged mappings whose keys the level lacks. For a key in several merged mappings, the first
 * mapping wins. */
static void merge_members(struct converter *c, struct yaml_level *level)
{
    struct buffer *json = &c->out->json, own = {0};
    struct map keys = {0};
    struct json_scan scan, mappings;
    struct json_item member, mapping;
    wt__buffer_append(&own, json->ptr + level->begin, json->len - level->begin);
    wt__buffer_char(&own, '}');
    wt__json_scan_open(&scan, wt__buffer_view(&own), 0, 1);
    while (!own.failed && wt__json_scan_next(&scan, &member) > 0)
        add_key(c, &keys, member.key);
    wt__buffer_char(&level->merged, ']');
    wt__json_scan_open(&mappings, wt__buffer_view(&level->merged), 0, 1);
    while (!level->merged.failed && !c->reason && wt__json_scan_next(&mappings, &mapping) > 0) {
        if (mapping.value.len == 0 || mapping.value.ptr[0] != '{')
            c->reason = NO_MAPPING;
        wt__json_scan_open(&scan, mapping.value, 0, 1);
        while (!c->reason && json->len <= c->max && wt__json_scan_next(&scan, &member) > 0) {
            if (!add_key(c, &keys, member.key))
                continue;
            wt__buffer_text(json, level->filled ? ",\"" : "\"");
            wt__buffer_str(json, member.key);
            wt__buffer_text(json, "\":");
            wt__buffer_str(json, member.value);
            level->filled = true;
        }
    }
    c->failed |= own.failed || level->merged.failed;
    wt__map_dispose(&keys);
    wt__buffer_dispose(&own);
}

/* ---------------------------------------------------------------- events */

static void open_level(struct converter *c, const yaml_event_t *event, bool mapping, const yaml_char_t *anchor)
{
    if (put_separator(c)) {
        c->reason = "a key is a list or a mapping: use a string";
        return;
    }
    if (c->depth >= WT_MAX_JSON_DEPTH) {
        c->reason = "nested deeper than 64 levels";
        return;
    }
    add_mark(c, event);
    uint32_t named = begin_anchor(c, anchor);
    c->levels[c->depth++] = (struct yaml_level){
        .mapping = mapping, .anchor = named, .column = event->start_mark.column, .begin = c->out->json.len};
    c->deepest = c->depth;
    wt__buffer_char(&c->out->json, mapping ? '{' : '[');
}

static void close_level(struct converter *c, const yaml_event_t *event)
{
    struct yaml_level *level = &c->levels[--c->depth];
    if (level->merged.len > 0)
        merge_members(c, level);
    wt__buffer_dispose(&level->merged);
    level->end = c->out->json.len;
    wt__buffer_char(&c->out->json, level->mapping ? '}' : ']');
    if (event->end_mark.index > event->start_mark.index) /* a flow collection has a closing bracket of its own */
        c->deepest = c->depth;
    end_anchor(c, level->anchor);
    take_merged(c);
}

static void put_leaf(struct converter *c, const yaml_event_t *event)
{
    if (is_merge_key(c, event)) {
        begin_merge(c);
        return;
    }
    bool key = put_separator(c);
    if (!key)
        add_mark(c, event);
    if (event->type == YAML_SCALAR_EVENT) {
        uint32_t anchor = begin_anchor(c, event->data.scalar.anchor);
        put_yaml_scalar(c, event, key);
        end_anchor(c, anchor);
    } else {
        put_yaml_alias(c, event, key);
    }
    c->deepest = c->depth;
    take_merged(c);
}

/* Handles invalid YAML at `column`. Of the blocks that the invalid line ended, reopens the outermost one whose
 * enclosing block begins before this column. */
static void reopen_blocks(struct converter *c, size_t column)
{
    for (size_t depth = c->depth; depth < c->deepest; depth++) {
        if (depth > 0 && column <= c->levels[depth - 1].column)
            continue;
        wt__buffer_cut(&c->out->json, c->levels[depth].end);
        return;
    }
}

/* Returns false at the end of the first document. */
static bool convert_event(struct converter *c, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_MAPPING_START_EVENT:
        open_level(c, event, true, event->data.mapping_start.anchor);
        return true;
    case YAML_SEQUENCE_START_EVENT:
        open_level(c, event, false, event->data.sequence_start.anchor);
        return true;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_level(c, event);
        return true;
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT:
        put_leaf(c, event);
        return true;
    case YAML_DOCUMENT_END_EVENT:
    case YAML_STREAM_END_EVENT:
        return false;
    default:
        return true;
    }
}

static const char *reason_of(const yaml_parser_t *parser)
{
    switch (parser->error) {
    case YAML_READER_ERROR:
        return "not UTF-8 text, or a control character";
    case YAML_SCANNER_ERROR:
    case YAML_PARSER_ERROR:
        return "not valid YAML: look at indentation, quotes and colons here";
    default:
        return "not valid YAML";
    }
}

static void convert_events(struct converter *c, yaml_parser_t *parser)
{
    yaml_event_t event;
    for (bool more = true; more && !c->reason && !c->failed && !c->out->json.failed;) {
        if (!yaml_parser_parse(parser, &event)) {
            c->failed = parser->error == YAML_MEMORY_ERROR;
            c->reason = reason_of(parser);
            if (!c->out->json.failed)
                reopen_blocks(c, parser->problem_mark.column);
            c->out->line = parser->problem_mark.line + 1;
            c->out->byte =
                parser->error == YAML_READER_ERROR ? parser->problem_offset : byte_of(c, parser->problem_mark.index);
            return;
        }
        c->out->line = event.start_mark.line + 1;
        c->out->byte = byte_of(c, event.start_mark.index);
        more = convert_event(c, &event);
        yaml_event_delete(&event);
        if (c->out->json.len > c->max)
            c->reason = TOO_LONG;
    }
}

int wt__yaml_to_json(struct yaml *out, struct str source, size_t max)
{
    *out = (struct yaml){.mark_count = 0};
    struct converter c = {
        .out = out, .source = source, .max = max, .alias_bytes = YAML_ALIAS_FREE + YAML_ALIAS_TIMES * source.len};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return WT_ENOMEM;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source.ptr, source.len);
    convert_events(&c, &parser);
    yaml_parser_delete(&parser);
    out->reason = c.reason;
    while (c.depth > 0)
        wt__buffer_dispose(&c.levels[--c.depth].merged);
    wt__map_dispose(&c.names);
    free(c.anchors);
    wt__arena_dispose(&c.arena);
    return c.failed || out->json.failed ? WT_ENOMEM : 0;
}

void wt__yaml_dispose(struct yaml *yaml)
{
    wt__buffer_dispose(&yaml->json);
    free(yaml->marks);
    *yaml = (struct yaml){0};
}

const struct yaml_mark *wt__yaml_near(const struct yaml *yaml, size_t json)
{
    size_t low = 0, high = yaml->mark_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (yaml->marks[middle].json <= json)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &yaml->marks[low - 1] : NULL;
}
