/* texts.c: visits the texts of a tool, splits texts into words, and matches patterns of words. */
#include "audit/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "text/unicode.h"

struct audited_text_walk {
    text_visit visit;
    void *context;
    const char *schema;
    const char *parameter;
    struct buffer path; /* keys from the schema's root, without names of properties; joined by dots after `begin` */
    size_t begin;       /* offset in `path` of the first key inside the parameter */
};

/* Meaning of the members of an object or the elements of an array. */
enum inside {
    INSIDE_SCHEMA,
    INSIDE_PROPERTIES,  /* schemas by property name */
    INSIDE_DEFINITIONS, /* schemas by name of a definition */
    INSIDE_PATTERNS,    /* schemas by regular expression for property names */
    INSIDE_DATA         /* not schemas: an enumeration, a default, an example */
};

/* Returns the meaning of a member's contents. A key is a keyword only in a schema, because a property may have the same
 * name: {"properties": {"description": {...}}}. */
static enum inside meaning_of_member(enum inside outside, const char *key, const json_t *member)
{
    static const struct {
        const char *key;
        enum inside inside;
    } keywords[] = {{"properties", INSIDE_PROPERTIES},
                    {"$defs", INSIDE_DEFINITIONS},
                    {"definitions", INSIDE_DEFINITIONS},
                    {"dependentSchemas", INSIDE_DEFINITIONS},
                    {"patternProperties", INSIDE_PATTERNS},
                    {"enum", INSIDE_DATA},
                    {"const", INSIDE_DATA},
                    {"default", INSIDE_DATA},
                    {"example", INSIDE_DATA},
                    {"examples", INSIDE_DATA}};
    if (outside == INSIDE_DATA)
        return INSIDE_DATA;
    for (size_t k = 0; outside == INSIDE_SCHEMA && k < sizeof keywords / sizeof *keywords; k++)
        if (strcmp(key, keywords[k].key) == 0 && (json_is_object(member) || keywords[k].inside == INSIDE_DATA))
            return keywords[k].inside;
    return INSIDE_SCHEMA;
}

static enum text_kind kind_of_string(enum inside inside, const char *key)
{
    if (inside == INSIDE_SCHEMA && (strcmp(key, "description") == 0 || strcmp(key, "title") == 0))
        return TEXT_PROSE;
    return inside == INSIDE_SCHEMA && strcmp(key, "pattern") == 0 ? TEXT_PATTERN : TEXT_VALUE;
}

static int visit_text(const struct audited_text_walk *w, enum text_kind kind, struct str text, struct str member)
{
    const struct tool_text found = {kind, text, member, w->parameter, w->schema};
    return text.len > 0 ? w->visit(w->context, &found) : 0;
}

static struct str member_path(const struct audited_text_walk *w)
{
    return w->path.len > 0 ? (struct str){w->path.ptr + w->begin, w->path.len - w->begin} : STR("");
}

static int walk_schema_value(struct audited_text_walk *w, const json_t *value, enum inside inside, enum text_kind kind);

/* Visits a member's name and contents. Restores the state of the walk. */
static int walk_schema_member(struct audited_text_walk *w, enum inside inside, const char *key, const json_t *member)
{
    const char *parameter = w->parameter;
    size_t len = w->path.len, begin = w->begin;
    bool property = inside == INSIDE_PROPERTIES;
    if (!property)
        wt__buffer_printf(&w->path, "%s%s", len > begin ? "." : "", key);
    else
        w->parameter = key;
    w->begin = property ? len : begin;
    int rc = w->path.failed ? WT_ENOMEM
                            : visit_text(w, inside == INSIDE_PATTERNS ? TEXT_PATTERN : TEXT_NAME, wt__str(key),
                                         property ? STR("name") : member_path(w));
    if (rc == 0)
        rc = walk_schema_value(w, member, meaning_of_member(inside, key, member), kind_of_string(inside, key));
    wt__buffer_cut(&w->path, len);
    w->begin = begin;
    w->parameter = parameter;
    return rc;
}

static int walk_schema_value(struct audited_text_walk *w, const json_t *value, enum inside inside, enum text_kind kind)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value))
        return visit_text(w, kind, (struct str){json_string_value(value), json_string_length(value)}, member_path(w));
    json_array_foreach((json_t *)value, i, member)
    {
        WT_TRY(walk_schema_value(w, member, inside, TEXT_VALUE));
    }
    json_object_foreach((json_t *)value, key, member)
    {
        WT_TRY(walk_schema_member(w, inside, key, member));
    }
    return 0;
}

const json_t *wt__output_schema(const json_t *definition)
{
    const json_t *found = json_object_get(definition, "outputSchema");
    return json_is_null(found) ? NULL : found;
}

int wt__visit_tool_texts(const struct tool *tool, const json_t *schema, const json_t *definition, text_visit visit,
                         void *context, wt_error *err)
{
    struct str annotated = wt__json_str(wt__json_object(definition, "annotations"), "title");
    bool only = wt__str_equal(annotated, tool->title) && wt__json_str(definition, "title").len == 0;
    const struct {
        enum text_kind kind;
        struct str text, member;
    } own[] = {
        {TEXT_NAME, tool->name, STR("name")},
        {TEXT_PROSE, only ? STR("") : tool->title, STR("title")},
        {TEXT_PROSE, annotated, STR("annotations.title")},
        {TEXT_PROSE, tool->description, tool->name.len > 0 ? STR("description") : STR("text of the instructions")}};
    const struct {
        const json_t *schema;
        const char *name;
    } schemas[] = {{schema, "input schema"}, {wt__output_schema(definition), "output schema"}};
    struct audited_text_walk walk = {.visit = visit, .context = context};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof own / sizeof *own; i++)
        rc = visit_text(&walk, own[i].kind, own[i].text, own[i].member);
    for (size_t i = 0; rc == 0 && i < sizeof schemas / sizeof *schemas; i++) {
        walk.schema = schemas[i].name;
        rc = walk_schema_value(&walk, schemas[i].schema, INSIDE_SCHEMA, TEXT_VALUE);
    }
    if (walk.path.failed)
        rc = wt__fail_nomem(err);
    wt__buffer_dispose(&walk.path);
    return rc;
}

const char *wt__describe_text_place(struct audit_run *a, const struct tool_text *text)
{
    const char *member = wt__audit_quote(a, text->member);
    bool output = text->schema && strcmp(text->schema, "output schema") == 0;
    struct buffer place = {0};
    if (!text->schema)
        return member;
    wt__buffer_text(&place, *member ? member : "value");
    if (text->parameter)
        wt__buffer_printf(&place, " of the %s \"%s\"", output ? "property" : "parameter",
                          wt__audit_quote(a, wt__str(text->parameter)));
    if (!text->parameter || output)
        wt__buffer_printf(&place, "%s the %s", text->parameter ? " in" : " of", text->schema);
    const char *copy = place.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&place));
    wt__buffer_dispose(&place);
    return copy ? copy : "";
}

static bool is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019 || c == 0x2BC;
}

static bool ends_sentence(uint32_t c)
{
    return c < 0x80 && c > 0 && strchr(".!?;:()[]{}<>\n", (int)c) != NULL;
}

static int append_word(struct wording *wording, const char *bytes, size_t len, size_t start, size_t end)
{
    if (wt__grow((void **)&wording->words, &wording->capacity, wording->count + 1, sizeof *wording->words) < 0)
        return -1;
    char *copy = wt__arena_copy(&wording->arena, (struct str){bytes, len});
    wording->words[wording->count++] = (struct text_word){{copy, len}, start, end};
    return copy ? 0 : -1;
}

/* True for a full stop inside a word, as in "file.txt", which does not end a sentence. */
static bool is_inside_word(uint32_t c, const char *at, const char *end)
{
    return c == '.' && at < end && !wt__is_blank(*at);
}

int wt__wording_read(struct wording *wording, struct str text, wt_error *err)
{
    char word[WORDING_WORD_MAX];
    size_t len = 0, start = 0;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : at;
    int rc = 0;
    wording->count = wording->marks = 0;
    wt__arena_reset(&wording->arena);
    while (rc == 0 && at < end && wording->count < WORDING_MAX) {
        size_t from = (size_t)(at - text.ptr);
        uint32_t lower[UNICODE_MAX_LOWER], c = wt__utf8_next(&at, end);
        enum unicode_kind kind = wt__unicode_kind(c);
        bool inside = kind != UNICODE_OTHER || (is_apostrophe(c) && len > 0);
        if (!inside && len > 0) {
            rc = append_word(wording, word, len, start, from);
            len = 0;
        }
        if (!inside && ends_sentence(c) && !is_inside_word(c, at, end) && rc == 0)
            rc = append_word(wording, ".", 1, from, from + 1);
        wording->marks += !inside && c > ' ' && c != '_';
        if (inside && len == 0)
            start = from;
        for (unsigned i = 0, count = inside ? wt__unicode_lower(is_apostrophe(c) ? '\'' : c, lower) : 0; i < count; i++)
            if (len + 4 <= sizeof word)
                len += wt__utf8_put(lower[i], word + len);
    }
    if (rc == 0 && len > 0)
        rc = append_word(wording, word, len, start, (size_t)(at - text.ptr));
    return rc < 0 ? wt__fail_nomem(err) : 0;
}

void wt__wording_dispose(struct wording *wording)
{
    free(wording->words);
    wt__arena_dispose(&wording->arena);
    *wording = (struct wording){0};
}

static bool is_stop(const struct text_word *word)
{
    return wt__str_equal(word->text, STR("."));
}

static bool matches_at(const struct wording *wording, const char *pattern, size_t at, size_t *end)
{
    size_t len = strcspn(pattern, " ");
    const char *rest = pattern + len + strspn(pattern + len, " ");
    if (len == 0) {
        *end = at;
        return true;
    }
    bool gap = len == 1 && *pattern == '*';
    for (size_t passed = 0; gap && passed <= PATTERN_GAP; passed++) {
        if (matches_at(wording, rest, at + passed, end))
            return true;
        if (at + passed >= wording->count || is_stop(&wording->words[at + passed]))
            return false;
    }
    if (pattern[len - 1] == '?') {
        if (matches_at(wording, rest, at, end))
            return true;
        len--;
    }
    return !gap && at < wording->count && wt__str_is_one_of(wording->words[at].text, (struct str){pattern, len}) &&
           matches_at(wording, rest, at + 1, end);
}

size_t wt__wording_find(const struct wording *wording, const char *pattern, size_t at, size_t *end)
{
    while (at < wording->count && !matches_at(wording, pattern, at, end))
        at++;
    return at;
}

struct str wt__wording_sentence(struct str text, size_t start, size_t end)
{
    while (start > 0 && !(ends_sentence((unsigned char)text.ptr[start - 1]) &&
                          !is_inside_word((unsigned char)text.ptr[start - 1], text.ptr + start, text.ptr + text.len)))
        start--;
    while (end < text.len && !(ends_sentence((unsigned char)text.ptr[end]) &&
                               !is_inside_word((unsigned char)text.ptr[end], text.ptr + end + 1, text.ptr + text.len)))
        end++;
    return wt__str_trim((struct str){text.ptr + start, end - start});
}
