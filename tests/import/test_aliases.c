/* Tests anchors and aliases in OpenAPI documents in YAML.
 *
 * A grammar and fixed seeds generate each document twice: in YAML with aliases for nodes of every kind, and as its
 * twin, in JSON with all aliases expanded. Both must give the same tools. Some documents have an invalid alias: to an
 * enclosing node, to a later anchor, or to no anchor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/buffer.h"
#include "base/rng.h"
#include "import/import.h"
#include "import/internal.h"

enum {
    DOCUMENTS = 3000,
    PATHS_MOST = 6,
    DEPTH_MOST = 12,           /* from this depth on, lists are empty, and objects have only their first member */
    ALIASED_BYTES_MOST = 2000, /* maximum JSON bytes of one alias, to keep documents small */
    ANCHOR_NAMES = 12,         /* few, so that several anchors have the same name */
    ANCHORS_MOST = 4000,
    ALIASES_LEAST = 50, /* minimum aliases of each kind, in all documents together */
};

/* ---------------------------------------------------------------- the grammar */

enum kind {
    NONE, /* unused entries, and words of SCALAR */
    PATH,
    OPERATION,
    PARAMETERS,
    PARAMETER,
    BODY,
    RESPONSES,
    RESPONSE,
    CONTENT,
    MEDIA,
    SCHEMA,
    PROPERTIES,
    WORDS,
    TEXT,
    NAME,
    PLACE,
    TYPE,
    FLAG,
    NUMBER,
    KINDS
};

/* The form of a node. OBJECT: an object that has the first member and some of the others. LIST: a list of nodes of the
 * first member's kind. SCALAR: one of the words. */
static const struct node_form {
    enum { OBJECT, LIST, SCALAR } shape;
    struct {
        const char *key; /* key of a member, or a word of SCALAR as JSON */
        enum kind kind;
    } members[7];
} forms[] = {
    [PATH] =
        {OBJECT,
         {{"get", OPERATION}, {"put", OPERATION}, {"post", OPERATION}, {"summary", TEXT}, {"parameters", PARAMETERS}}},
    [OPERATION] = {OBJECT,
                   {{"responses", RESPONSES},
                    {"summary", TEXT},
                    {"description", TEXT},
                    {"tags", WORDS},
                    {"parameters", PARAMETERS},
                    {"requestBody", BODY},
                    {"deprecated", FLAG}}},
    [PARAMETERS] = {LIST, {{"", PARAMETER}}},
    [PARAMETER] = {OBJECT,
                   {{"name", NAME}, {"in", PLACE}, {"schema", SCHEMA}, {"required", FLAG}, {"description", TEXT}}},
    [BODY] = {OBJECT, {{"content", CONTENT}, {"required", FLAG}}},
    [RESPONSES] = {OBJECT, {{"200", RESPONSE}, {"default", RESPONSE}}},
    [RESPONSE] = {OBJECT, {{"description", TEXT}, {"content", CONTENT}}},
    [CONTENT] = {OBJECT, {{"application/json", MEDIA}}},
    [MEDIA] = {OBJECT, {{"schema", SCHEMA}}},
    [SCHEMA] = {OBJECT,
                {{"type", TYPE},
                 {"description", TEXT},
                 {"properties", PROPERTIES},
                 {"items", SCHEMA},
                 {"minimum", NUMBER},
                 {"enum", WORDS}}},
    [PROPERTIES] = {OBJECT, {{"size", SCHEMA}, {"colour", SCHEMA}, {"parts", SCHEMA}}},
    [WORDS] = {LIST, {{"", TEXT}}},
    [TEXT] = {SCALAR,
              {{"\"hello\""}, {"\"two words\""}, {"\"\""}, {"\"\\u00e9\\n\""}, {"\"*a0\""}, {"\"&a0 {x: y}\""}}},
    [NAME] = {SCALAR, {{"\"id\""}, {"\"limit\""}, {"\"colour\""}}},
    [PLACE] = {SCALAR, {{"\"query\""}, {"\"path\""}, {"\"header\""}}},
    [TYPE] = {SCALAR, {{"\"object\""}, {"\"string\""}, {"\"array\""}, {"\"integer\""}}},
    [FLAG] = {SCALAR, {{"true"}, {"false"}, {"null"}}},
    [NUMBER] = {SCALAR, {{"0"}, {"-1.5"}, {"12"}}},
};

enum fault { SOUND, ENCLOSING, LATER, NOWHERE, FAULTS };

struct drawn_anchor {
    unsigned name;
    enum kind kind;
    size_t begin, end; /* JSON offsets; end is 0 while incomplete */
};

/* A document being generated, in both languages. */
struct drawing {
    struct rng rng;
    struct buffer yaml, json;
    struct drawn_anchor anchors[ANCHORS_MOST];
    size_t anchor_count;
    size_t open[DEPTH_MOST + 2], open_count; /* indexes of the anchors around the current node */
    enum fault fault;
    size_t nodes, fault_at; /* number of nodes so far; index of the node replaced by the fault */
    bool faulty;            /* the fault was written */
    size_t aliases[KINDS];
};

static bool draw_chance(struct drawing *d, unsigned of)
{
    return wt__rng_below(&d->rng, of) == 0;
}

static void put_both(struct drawing *d, const char *text)
{
    wt__buffer_text(&d->yaml, text);
    wt__buffer_text(&d->json, text);
}

/* Returns the anchor that an alias with this name refers to at this point: the last anchor of that name. */
static const struct drawn_anchor *find_meaning(const struct drawing *d, unsigned name)
{
    for (size_t i = d->anchor_count; i > 0; i--)
        if (d->anchors[i - 1].name == name)
            return &d->anchors[i - 1];
    return NULL;
}

static bool put_alias(struct drawing *d, enum kind kind)
{
    unsigned first = (unsigned)wt__rng_below(&d->rng, ANCHOR_NAMES);
    for (unsigned i = 0; i < ANCHOR_NAMES; i++) {
        unsigned name = (first + i) % ANCHOR_NAMES;
        const struct drawn_anchor *anchor = find_meaning(d, name);
        if (!anchor || anchor->kind != kind || anchor->end == 0 || anchor->end - anchor->begin > ALIASED_BYTES_MOST)
            continue;
        char *copy = strndup(d->json.ptr + anchor->begin, anchor->end - anchor->begin);
        assert_non_null(copy);
        wt__buffer_printf(&d->yaml, "*a%u ", name);
        wt__buffer_text(&d->json, copy);
        free(copy);
        d->aliases[kind]++;
        return true;
    }
    return false;
}

static void put_fault(struct drawing *d)
{
    const struct drawn_anchor *around = d->open_count > 0 ? &d->anchors[d->open[d->open_count - 1]] : NULL;
    d->faulty = true;
    if (d->fault == ENCLOSING && around && find_meaning(d, around->name) == around)
        wt__buffer_printf(&d->yaml, "*a%u ", around->name);
    else
        wt__buffer_text(&d->yaml, d->fault == LATER ? "*later " : "*nowhere ");
}

static void put_node(struct drawing *d, enum kind kind, unsigned depth, unsigned indent);

/* indent: indentation of a block, or 0 within brackets. */
static void put_object(struct drawing *d, const struct node_form *form, unsigned depth, unsigned indent)
{
    bool first = true;
    wt__buffer_char(&d->json, '{');
    if (indent == 0)
        wt__buffer_char(&d->yaml, '{');
    for (size_t i = 0; i < sizeof form->members / sizeof form->members[0] && form->members[i].key && !d->faulty; i++) {
        if (i > 0 && (depth >= DEPTH_MOST || !draw_chance(d, 3)))
            continue;
        wt__buffer_printf(&d->json, "%s\"%s\":", first ? "" : ",", form->members[i].key);
        if (indent > 0)
            wt__buffer_printf(&d->yaml, "\n%*s", (int)indent, "");
        else if (!first)
            wt__buffer_text(&d->yaml, ", ");
        wt__buffer_printf(&d->yaml, "\"%s\": ", form->members[i].key);
        put_node(d, form->members[i].kind, depth + 1, indent > 0 ? indent + 2 : 0);
        first = false;
    }
    if (indent == 0)
        wt__buffer_char(&d->yaml, '}');
    wt__buffer_char(&d->json, '}');
}

static void put_list(struct drawing *d, const struct node_form *form, unsigned depth)
{
    put_both(d, "[");
    for (size_t i = 0; !d->faulty && depth < DEPTH_MOST && !draw_chance(d, 2); i++) {
        put_both(d, i > 0 ? "," : "");
        put_node(d, form->members[0].kind, depth + 1, 0);
    }
    put_both(d, "]");
}

static void put_scalar(struct drawing *d, const struct node_form *form)
{
    size_t count = 0;
    while (count < sizeof form->members / sizeof form->members[0] && form->members[count].key)
        count++;
    const char *word = form->members[wt__rng_below(&d->rng, count)].key;
    struct str text = wt__str(word);
    if (strchr(word, '\\')) /* The importer's JSON contains the letter itself instead of its escape. */
        text = STR("\"\xc3\xa9\\n\"");
    wt__buffer_text(&d->yaml, word);
    wt__buffer_str(&d->json, text);
}

static void put_node(struct drawing *d, enum kind kind, unsigned depth, unsigned indent)
{
    const struct node_form *form = &forms[kind];
    if (d->nodes++ == d->fault_at && d->fault != SOUND) {
        put_fault(d);
        return;
    }
    if (draw_chance(d, 3) && put_alias(d, kind))
        return;
    bool anchored = d->anchor_count < ANCHORS_MOST && draw_chance(d, 3);
    size_t index = d->anchor_count;
    if (anchored) {
        unsigned name = (unsigned)wt__rng_below(&d->rng, ANCHOR_NAMES);
        wt__buffer_printf(&d->yaml, "&a%u ", name);
        d->anchors[d->anchor_count++] = (struct drawn_anchor){name, kind, d->json.len, 0};
        d->open[d->open_count++] = index;
    }
    if (form->shape == OBJECT)
        put_object(d, form, depth, indent > 0 && draw_chance(d, 2) ? indent : 0);
    else if (form->shape == LIST)
        put_list(d, form, depth);
    else
        put_scalar(d, form);
    if (anchored) {
        d->anchors[index].end = d->json.len;
        d->open_count--;
    }
}

static void draw_document(struct drawing *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    wt__rng_seed(&d->rng, seed);
    d->fault = draw_chance(d, 3) ? (enum fault)wt__rng_below(&d->rng, FAULTS) : SOUND;
    d->fault_at = wt__rng_below(&d->rng, 40);
    wt__buffer_text(&d->yaml, "openapi: 3.1.0\ninfo: {title: Drawn}\npaths:");
    wt__buffer_text(&d->json, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Drawn\"},\"paths\":{");
    size_t paths = 1 + wt__rng_below(&d->rng, PATHS_MOST);
    for (size_t i = 0; i < paths && !d->faulty; i++) {
        wt__buffer_printf(&d->json, "%s\"/%zu\":", i ? "," : "", i);
        wt__buffer_printf(&d->yaml, "\n  /%zu: ", i);
        put_node(d, PATH, 0, 4);
    }
    wt__buffer_text(&d->yaml, "\nx-later: &later {get: {}}\n");
    wt__buffer_text(&d->json, "}}");
    assert_false(d->yaml.failed || d->json.failed);
}

/* ---------------------------------------------------------------- checks */

static bool is_view_of(struct str part, struct str whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

/* True if the definition is correct. A copy must equal the twin's definition. A part of the source must not begin with
 * an alias, and must be equivalent to the twin's definition if it is a flow mapping on one line without aliases. */
static bool definition_holds(struct str definition, struct str source, struct str twin)
{
    struct yaml yaml;
    if (!is_view_of(definition, source))
        return wt__str_equal(definition, twin);
    bool holds = definition.len > 0 && definition.ptr[0] != '*';
    bool alone = memchr(definition.ptr, '{', 12) && !memchr(definition.ptr, '*', definition.len) &&
                 !memchr(definition.ptr, '\n', definition.len);
    if (holds && alone) {
        assert_int_equal(wt__yaml_to_json(&yaml, definition, WT_MAX_FILE_BYTES), 0);
        holds = !yaml.reason && wt__str_equal(wt__buffer_view(&yaml.json), twin);
        wt__yaml_dispose(&yaml);
    }
    return holds;
}

static bool same_tool(const struct tool *a, const struct tool *b)
{
    return wt__str_equal(a->name, b->name) && wt__str_equal(a->provider, b->provider) &&
           wt__str_equal(a->title, b->title) && wt__str_equal(a->description, b->description) &&
           wt__str_equal(a->category, b->category) && wt__str_equal(a->source_id, b->source_id) &&
           wt__str_equal(a->schema, b->schema);
}

static void check_sound(uint64_t seed, struct str source, struct str twin_text)
{
    struct import import, twin;
    assert_int_equal(wt__import_bytes(&import, source, NULL, NULL), 0);
    assert_int_equal(wt__import_bytes(&twin, twin_text, NULL, NULL), 0);
    if (!import.whole || import.tool_count != twin.tool_count || import.skipped != twin.skipped)
        fail_msg("document %llu: %zu tools and %zu skipped, its twin has %zu and %zu: %s\n%.*s",
                 (unsigned long long)seed, import.tool_count, import.skipped, twin.tool_count, twin.skipped,
                 import.issue_count ? import.issues[0].reason : "", (int)source.len, source.ptr);
    for (size_t i = 0; i < import.tool_count; i++) {
        const struct tool *tool = &import.tools[i];
        if (!same_tool(tool, &twin.tools[i]) || !definition_holds(tool->definition, source, twin.tools[i].definition))
            fail_msg("document %llu, %.*s: \"%.*s\", its twin has \"%.*s\"\n%.*s", (unsigned long long)seed,
                     (int)tool->name.len, tool->name.ptr, (int)tool->definition.len, tool->definition.ptr,
                     (int)twin.tools[i].definition.len, twin.tools[i].definition.ptr, (int)source.len, source.ptr);
    }
    wt__import_dispose(&import);
    wt__import_dispose(&twin);
}

static size_t count_lines(struct str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

/* Checks that an issue reports the fault. The fault is on the line before x-later, which is the last line. The byte of
 * the issue must be the "*" of an alias. */
static void check_faulty(uint64_t seed, struct str source)
{
    struct import import;
    assert_int_equal(wt__import_bytes(&import, source, NULL, NULL), 0);
    const wt_add_issue *last = import.issue_count > 0 ? &import.issues[import.issue_count - 1] : NULL;
    bool told = false;
    for (size_t i = 0; i < import.issue_count; i++)
        told |= strstr(import.issues[i].reason, "this alias has no complete anchor") &&
                import.issues[i].line == count_lines(source) - 1 && source.ptr[import.issues[i].byte] == '*';
    if (import.whole || !told)
        fail_msg("document %llu: %s\n%.*s", (unsigned long long)seed, last ? last->reason : "no issue", (int)source.len,
                 source.ptr);
    for (size_t i = 0; i < import.tool_count; i++)
        assert_true(import.tools[i].definition.len > 0 && import.tools[i].definition.ptr[0] != '*');
    wt__import_dispose(&import);
}

static void documents_with_aliases_are_read_as_their_twins(void **state)
{
    (void)state;
    struct drawing *d = malloc(sizeof *d);
    size_t aliases[KINDS] = {0}, faults = 0;
    assert_non_null(d);
    for (uint64_t seed = 0; seed < DOCUMENTS; seed++) {
        draw_document(d, seed);
        char *exact = malloc(d->yaml.len); /* lets a sanitizer detect a read past the end */
        assert_non_null(exact);
        memcpy(exact, d->yaml.ptr, d->yaml.len);
        struct str source = {exact, d->yaml.len};
        if (d->faulty)
            check_faulty(seed, source);
        else
            check_sound(seed, source, wt__buffer_view(&d->json));
        for (size_t kind = 0; kind < KINDS; kind++)
            aliases[kind] += d->aliases[kind];
        faults += d->faulty;
        free(exact);
        wt__buffer_dispose(&d->yaml);
        wt__buffer_dispose(&d->json);
    }
    free(d);
    assert_true(faults > DOCUMENTS / 10);
    for (size_t kind = PATH; kind < KINDS; kind++)
        if (aliases[kind] < ALIASES_LEAST)
            fail_msg("only %zu aliases of kind %zu were drawn", aliases[kind], kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_with_aliases_are_read_as_their_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
