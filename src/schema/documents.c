/* documents.c: finds the subschemas of a document by walking the keywords that hold subschemas in its dialect, and
 * collects their "$id"s and anchors. The value of an unknown keyword is read as a schema only if a reference points
 * into it. Subschemas and resources never move in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "schema/compiled.h"
#include "schema/limits.h"

/* Position of the walk through a document. */
struct walk_position {
    const struct subschema *parent; /* NULL at the root */
    const char *relative_pointer;   /* JSON pointer from the parent */
    const struct resource *resource;
    int depth; /* nested subschemas */
};

static int walk_schema(struct documents *d, struct subschema **out, const json_t *json, struct walk_position position,
                       wt_error *err);

/* ---------------------------------------------------------------- rows */

static struct str key_of_pointer(json_t const *const *place)
{
    return (struct str){(const char *)place, sizeof *place};
}

struct subschema *wt__documents_at(const struct documents *d, const json_t *json)
{
    const uint32_t *row = wt__map_get(&d->places, key_of_pointer(&json));
    return row ? d->rows[*row] : NULL;
}

static struct subschema *add_subschema(struct documents *d, const json_t *json, const struct subschema *parent,
                                       const char *relative_pointer)
{
    int rc = wt__grow((void **)&d->rows, &d->capacity, d->len + 1, sizeof *d->rows);
    struct subschema *s = rc < 0 || !relative_pointer ? NULL : wt__arena_array(d->arena, struct subschema, 1);
    if (!s)
        return NULL;
    *s = (struct subschema){.json = json, .parent = parent, .relative_pointer = relative_pointer, .types = KIND_ANY};
    d->rows[d->len++] = s;
    return s;
}

struct subschema *wt__documents_boolean(struct documents *d, const json_t *json, const struct subschema *parent,
                                        const char *relative_pointer)
{
    struct subschema *s = add_subschema(d, json, parent, relative_pointer);
    if (s) {
        s->verdict = json_is_true(json) ? VERDICT_TRUE : VERDICT_FALSE;
        s->resource = parent ? parent->resource : NULL;
    }
    return s;
}

static struct resource *add_schema_resource(struct documents *d, const struct resource *like, const json_t *root)
{
    int rc =
        wt__grow((void **)&d->resource_rows, &d->resource_capacity, d->resource_count + 1, sizeof *d->resource_rows);
    struct resource *r = rc < 0 ? NULL : wt__arena_array(d->arena, struct resource, 1);
    if (!r)
        return NULL;
    if (like)
        *r = *like;
    r->root = root;
    r->dynamic = NULL;
    d->resource_rows[d->resource_count++] = r;
    return r;
}

/* Registers the newest resource under an address. If an earlier resource has the same address, the address still means
 * the earlier one. */
static bool register_resource(struct documents *d, const char *uri)
{
    return wt__map_insert(&d->resources, wt__str(uri), (uint32_t)(d->resource_count - 1), NULL) != NULL;
}

/* Resolves a reference against a base address. Returns 0, WT_ENOMEM, or WT_ETOOLONG. The message of WT_ETOOLONG lacks
 * its subject, which the caller adds. */
static int resolve_address(struct documents *d, const char **out, struct str base, struct str reference, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = NULL;
    wt__uri_resolve(&text, base, reference);
    WT_CHECK_ALLOC(!text.failed, err);
    if (text.len > SCHEMA_URI_BYTES)
        return wt__fail(err, WT_ETOOLONG, "resolves to an address of more than %d bytes", SCHEMA_URI_BYTES);
    *out = wt__arena_copy(d->arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(*out, err);
    return 0;
}

/* ---------------------------------------------------------------- identities */

static int add_anchor(struct documents *d, struct subschema *s, struct str name, bool dynamic, wt_error *err)
{
    struct resource *home = (struct resource *)s->resource;
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    wt__buffer_printf(&key, "%s#", home->uri);
    wt__buffer_str(&key, name);
    const char *copy = key.failed ? NULL : wt__arena_copy(d->arena, wt__buffer_view(&key));
    WT_CHECK_ALLOC(copy, err);
    uint32_t row = *wt__map_get(&d->places, key_of_pointer(&s->json));
    WT_CHECK_ALLOC(wt__map_insert(&d->anchors, wt__str(copy), row, NULL), err);
    if (!dynamic)
        return 0;
    struct dynamic_anchor *anchor = wt__arena_array(d->arena, struct dynamic_anchor, 1);
    WT_CHECK_ALLOC(anchor, err);
    *anchor = (struct dynamic_anchor){name, s, home->dynamic};
    home->dynamic = anchor;
    return 0;
}

static int begin_resource(struct documents *d, struct subschema *s, struct str id, wt_error *err)
{
    const char *uri;
    struct str dialect = wt__json_str(s->json, "$schema");
    wt_error why = {0};
    int rc = resolve_address(d, &uri, wt__str(s->resource->uri), id, &why);
    if (rc == WT_ETOOLONG)
        return wt__subschema_refuse(s, rc, err, "\"$id\" %s", why.message);
    struct resource *r = rc < 0 ? NULL : add_schema_resource(d, s->resource, s->json);
    WT_CHECK_ALLOC(r, err);
    r->uri = uri;
    s->resource = r;
    WT_CHECK_ALLOC(register_resource(d, uri), err);
    return dialect.len > 0 ? wt__dialect_read(r, dialect, d->dialect, d->table, s, err) : 0;
}

/* Registers "$id" and the anchors of a subschema. A fragment in "$id" defines an anchor, as in draft-07. */
static int register_identity(struct documents *d, struct subschema *s, wt_error *err)
{
    struct str id = wt__json_str(s->json, "$id"), anchor = wt__json_str(s->json, "$anchor");
    struct str dynamic = wt__json_str(s->json, "$dynamicAnchor");
    struct uri parts;
    wt__uri_split(&parts, id);
    if (id.len > SCHEMA_URI_BYTES || anchor.len > SCHEMA_URI_BYTES || dynamic.len > SCHEMA_URI_BYTES)
        return wt__subschema_refuse(s, WT_ETOOLONG, err, "\"$id\" or an anchor is longer than %d bytes",
                                    SCHEMA_URI_BYTES);
    if (s->resource->draft7 && json_object_get(s->json, "$ref"))
        return 0; /* In draft-07, "$ref" disables all other keywords of its object. */
    if (id.len > 0 && (parts.fragment.len == 0 || id.ptr[0] != '#'))
        WT_TRY(begin_resource(d, s, id, err));
    if (parts.fragment.len > 0)
        WT_TRY(add_anchor(d, s, parts.fragment, false, err));
    if (anchor.len > 0 && !s->resource->draft7)
        WT_TRY(add_anchor(d, s, anchor, false, err));
    if (dynamic.len > 0 && !s->resource->draft7)
        WT_TRY(add_anchor(d, s, dynamic, true, err));
    return 0;
}

/* ---------------------------------------------------------------- the walk */

static int walk_child(struct documents *d, const json_t *json, struct walk_position from, const char *keyword,
                      const char *name, wt_error *err)
{
    struct subschema *found;
    if (!json_is_object(json))
        return 0;
    from.relative_pointer = wt__subschema_pointer(d->arena, keyword, name);
    from.depth++;
    WT_CHECK_ALLOC(from.relative_pointer, err);
    return walk_schema(d, &found, json, from, err);
}

static int walk_keyword(struct documents *d, const struct keyword *keyword, const json_t *value,
                        struct walk_position from, wt_error *err)
{
    const char *name;
    json_t *member;
    switch (keyword->shape) {
    case SHAPE_SUBSCHEMA:
    case SHAPE_LIST:
    case SHAPE_ITEMS:
        WT_TRY(walk_child(d, value, from, keyword->name, NULL, err));
        for (size_t i = 0; i < json_array_size(value); i++) { /* The size of other values is 0. */
            char index[24];
            snprintf(index, sizeof index, "%zu", i);
            WT_TRY(walk_child(d, json_array_get(value, i), from, keyword->name, index, err));
        }
        return 0;
    case SHAPE_NAMED:
    case SHAPE_PATTERNS:
    case SHAPE_DEPENDENCIES:
    case SHAPE_DEFINITIONS:
        json_object_foreach((json_t *)value, name, member)
        {
            WT_TRY(walk_child(d, member, from, keyword->name, name, err));
        }
        return 0;
    default:
        return 0;
    }
}

static int walk_schema(struct documents *d, struct subschema **out, const json_t *json, struct walk_position position,
                       wt_error *err)
{
    const char *key;
    json_t *value;
    if ((*out = wt__documents_at(d, json)))
        return 0;
    if (position.depth > SCHEMA_NESTING)
        return wt__fail(err, WT_ETOOLONG, "the schema is nested deeper than %d levels", SCHEMA_NESTING);
    if (d->len >= SCHEMA_SUBSCHEMAS)
        return wt__fail(err, WT_ETOOLONG, "the schema has more than %d subschemas", SCHEMA_SUBSCHEMAS);
    struct subschema *s = add_subschema(d, json, position.parent, position.relative_pointer);
    WT_CHECK_ALLOC(s, err);
    WT_CHECK_ALLOC(wt__map_insert(&d->places, key_of_pointer(&s->json), (uint32_t)(d->len - 1), NULL), err);
    s->resource = position.resource;
    WT_TRY(register_identity(d, s, err));
    struct walk_position inside = {s, NULL, s->resource, position.depth};
    json_object_foreach((json_t *)json, key, value)
    {
        const struct keyword *keyword = wt__keyword_find(key, s->resource->draft7, ~0U);
        if (keyword)
            WT_TRY(walk_keyword(d, keyword, value, inside, err));
    }
    *out = s;
    return 0;
}

/* Adds a document and its subschemas. uri: address of the document; NULL for the schema itself. */
static int add_document(struct documents *d, struct subschema **out, const json_t *json, const char *uri, wt_error *err)
{
    struct resource *r = add_schema_resource(d, NULL, json);
    WT_CHECK_ALLOC(r, err);
    r->document = r->uri = uri ? uri : "";
    WT_CHECK_ALLOC(register_resource(d, r->uri), err);
    struct str dialect = wt__json_str(json, "$schema");
    struct subschema root = {.relative_pointer = "", .resource = r};
    if (dialect.len == 0)
        dialect = wt__str(d->dialect);
    WT_TRY(wt__dialect_read(r, dialect, d->dialect, d->table, &root, err));
    if (!json_is_object(json)) {
        *out = wt__documents_boolean(d, json, NULL, "");
        WT_CHECK_ALLOC(*out, err);
        (*out)->resource = r;
        return 0;
    }
    return walk_schema(d, out, json, (struct walk_position){NULL, "", r, 0}, err);
}

int wt__documents_open(struct documents *d, struct subschema **out, const json_t *schema, wt_error *err)
{
    if (json_object_size(d->table) > SCHEMA_DOCUMENTS)
        return wt__fail(err, WT_ETOOLONG, "more than %d documents are passed with the schema", SCHEMA_DOCUMENTS);
    return add_document(d, out, schema, NULL, err);
}

void wt__documents_dispose(struct documents *d)
{
    wt__map_dispose(&d->resources);
    wt__map_dispose(&d->anchors);
    wt__map_dispose(&d->places);
    free(d->resource_rows);
    free(d->rows);
}

/* ---------------------------------------------------------------- references */

/* Reads a document of the table on first use. If the document is invalid, stores the error in all its resources, so
 * that each reference can report the error. */
static int load_document(struct documents *d, const char *uri, json_t *document, wt_error *err)
{
    struct subschema *root;
    wt_error why = {0};
    size_t first = d->resource_count;
    if (wt__map_get(&d->resources, wt__str(uri)))
        return 0;
    const char *copy = wt__arena_copy(d->arena, wt__str(uri));
    int rc = copy ? add_document(d, &root, document, copy, &why) : WT_ENOMEM;
    const char *refused = rc < 0 ? wt__arena_copy(d->arena, wt__str(why.message)) : NULL;
    if (rc == WT_ENOMEM || (rc < 0 && !refused))
        return wt__fail_nomem(err);
    for (size_t i = first; refused && i < d->resource_count; i++) {
        d->resource_rows[i]->refused = refused;
        d->resource_rows[i]->refused_code = rc;
    }
    return 0;
}

/* Loads all documents of the table, because any of them may define the address in an "$id". */
static int load_all_documents(struct documents *d, wt_error *err)
{
    const char *uri;
    json_t *document;
    if (d->all_loaded)
        return 0;
    d->all_loaded = true;
    json_object_foreach((json_t *)d->table, uri, document)
    {
        WT_TRY(load_document(d, uri, document, err));
    }
    return 0;
}

static int load_metaschema(struct documents *d, const char *uri, struct str text, wt_error *err)
{
    struct subschema *root;
    json_t *json;
    WT_TRY(wt__json_parse(&json, text.ptr, text.len, err));
    WT_CHECK_ALLOC(json_array_append_new(d->keep, json) == 0, err);
    return add_document(d, &root, json, uri, err);
}

/* Finds the resource at an address. Searches in this order:
 * - known resources
 * - the supplied document with this address
 * - the built-in metaschemas
 * - an "$id" inside any supplied document */
static int find_resource(struct documents *d, const struct resource **out, const char *uri, wt_error *err)
{
    const uint32_t *row = wt__map_get(&d->resources, wt__str(uri));
    json_t *document = json_object_get(d->table, uri);
    struct str metaschema = wt__metaschema(wt__str(uri));
    if (!row && document)
        WT_TRY(load_document(d, uri, document, err));
    else if (!row && metaschema.len > 0)
        WT_TRY(load_metaschema(d, uri, metaschema, err));
    else if (!row)
        WT_TRY(load_all_documents(d, err));
    row = wt__map_get(&d->resources, wt__str(uri));
    if (!row)
        return wt__fail(
            err, WT_ENOTFOUND,
            "refers to unknown document \"%.200s\"; pass it with the schema, because documents are not fetched", uri);
    *out = d->resource_rows[*row];
    if ((*out)->refused)
        return wt__fail(err, (*out)->refused_code, "refers to invalid document \"%.200s\": %s", (*out)->document,
                        (*out)->refused);
    return 0;
}

/* Removes the first step from a JSON pointer and writes it, unescaped, to `token`. Returns false if an escape is
 * invalid, or if out of memory. */
static bool next_pointer_token(struct str *pointer, struct buffer *token)
{
    size_t at = 1;
    wt__buffer_clear(token);
    wt__buffer_text(token, "");
    for (; at < pointer->len && pointer->ptr[at] != '/'; at++) {
        char c = pointer->ptr[at];
        if (c == '~' && at + 1 < pointer->len && (pointer->ptr[at + 1] == '0' || pointer->ptr[at + 1] == '1'))
            c = pointer->ptr[++at] == '0' ? '~' : '/';
        else if (c == '~')
            return false;
        wt__buffer_char(token, c);
    }
    *pointer = (struct str){pointer->ptr + at, pointer->len - at};
    return !token->failed;
}

static const json_t *step_into_schema(const json_t *json, struct str token)
{
    if (json_is_object(json))
        return json_object_get(json, token.ptr);
    size_t index = 0;
    if (!json_is_array(json) || token.len == 0 || token.len > 9 || (token.len > 1 && token.ptr[0] == '0'))
        return NULL;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token.ptr[i] - '0');
    }
    return json_array_get(json, index);
}

/* Follows a JSON pointer from the root of the resource. *out is NULL if the target is not a schema. */
static int follow_json_pointer(struct documents *d, struct subschema **out, const struct resource *resource,
                               struct str pointer, wt_error *err)
{
    const json_t *json = resource->root;
    struct subschema *last = wt__documents_at(d, json), *at;
    WT_CLEANUP(wt__buffer_dispose) struct buffer token = {0};
    struct str from_last = pointer;
    *out = NULL;
    while (pointer.len > 0 && json) {
        json = next_pointer_token(&pointer, &token) ? step_into_schema(json, wt__buffer_view(&token)) : NULL;
        if (json && (at = wt__documents_at(d, json))) {
            last = at;
            from_last = pointer;
        }
    }
    WT_CHECK_ALLOC(!token.failed, err);
    if (!json || !last)
        return 0;
    if (json == last->json) {
        *out = last;
        return 0;
    }
    const char *relative_pointer = wt__arena_copy(d->arena, from_last);
    WT_CHECK_ALLOC(relative_pointer, err);
    if (json_is_object(json))
        return walk_schema(d, out, json, (struct walk_position){last, relative_pointer, last->resource, 0}, err);
    if (json_is_boolean(json)) {
        *out = wt__documents_boolean(d, json, last, relative_pointer);
        WT_CHECK_ALLOC(*out, err);
    }
    return 0;
}

static int resolve_fragment(struct documents *d, struct subschema **out, const struct resource *resource,
                            struct str fragment, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer anchor = {0};
    *out = NULL;
    bool is_valid = wt__uri_decode(&text, fragment);
    WT_CHECK_ALLOC(!text.failed, err);
    if (!is_valid || text.len == 0)
        return 0;
    if (text.ptr[0] == '/')
        return follow_json_pointer(d, out, resource, wt__buffer_view(&text), err);
    wt__buffer_printf(&anchor, "%s#", resource->uri);
    wt__buffer_str(&anchor, wt__buffer_view(&text));
    WT_CHECK_ALLOC(!anchor.failed, err);
    const uint32_t *row = wt__map_get(&d->anchors, wt__buffer_view(&anchor));
    *out = row ? d->rows[*row] : NULL;
    return 0;
}

int wt__documents_resolve(struct documents *d, struct subschema **out, const struct resource *from,
                          struct str reference, wt_error *err)
{
    struct uri parts;
    *out = NULL;
    if (reference.len > SCHEMA_URI_BYTES)
        return wt__fail(err, WT_ETOOLONG, "is longer than %d bytes", SCHEMA_URI_BYTES);
    wt__uri_split(&parts, reference);
    const struct resource *resource = NULL;
    const char *uri;
    WT_TRY(resolve_address(d, &uri, wt__str(from->uri), reference, err));
    WT_TRY(find_resource(d, &resource, uri, err));
    struct subschema *root = wt__documents_at(d, resource->root);
    if (root) /* the "$id" of the document may give the document another address */
        resource = root->resource;
    if (parts.fragment.len > 0) {
        WT_TRY(resolve_fragment(d, out, resource, parts.fragment, err));
    } else if (root) {
        *out = root;
    } else {
        *out = wt__documents_boolean(d, resource->root, NULL, "");
        WT_CHECK_ALLOC(*out, err);
        (*out)->resource = resource;
    }
    if (!*out)
        return wt__fail(err, WT_ENOTFOUND, "refers to \"%.200s\", but there is no schema there", reference.ptr);
    return 0;
}
