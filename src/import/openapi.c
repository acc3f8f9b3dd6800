/* openapi.c: imports OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0, in JSON or YAML. YAML is converted to JSON first. Each
 * operation is a tool and is parsed alone. The tool's name is the operationId or "METHOD /path". Its provider is a
 * short name of the document (provider.c), and its category is the list of tags. Its definition is the operation as
 * JSON with its inherited members (see below). */
#include "import/internal.h"

#include <ctype.h>

#include "base/memory.h"
#include "base/json.h"
#include "base/nearest.h"
#include "catalog/pins.h"
#include "text/markup.h"

/* ---------------------------------------------------------------- inherited members */

/* The root of a document states where requests are sent and how they are authorised. A path may override the servers,
 * and an operation may override both. The approval of a tool covers these members, too (docs/audit.md, "Pins"). They
 * are therefore part of the definition, after the operation's own members:
 *
 *   own bytes, without the last brace  ,"servers":[...],"security":[...],"x-securitySchemes":{...}}
 *
 * The definition of every operation contains a copy of the inherited values. In a document with a million operations,
 * long values would take too much memory. An inherited value longer than OPENAPI_INHERITED_BYTES is therefore replaced
 * by its hash, which still reveals a change. */

#define SCHEMES_KEY "x-securitySchemes"
/* "host", "basePath" and "schemes" are of Swagger 2.0. */
static const char *const inherited[] = {"servers", "security", "host", "basePath", "schemes", SCHEMES_KEY};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns a new reference to the value, or to its hash if it is long. Returns NULL if out of memory. */
static json_t *shorten_value(const json_t *value)
{
    char text[sizeof "sha256:" + DEFINITION_DIGITS] = "sha256:";
    if (json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) <= OPENAPI_INHERITED_BYTES)
        return json_incref((json_t *)value);
    return wt__json_hash(value, text + strlen(text)) < 0 ? NULL : json_string(text);
}

static int set_brief(json_t *out, const char *key, const json_t *value)
{
    json_t *brief = value ? shorten_value(value) : NULL;
    return value && (!brief || json_object_set_new(out, key, brief) < 0) ? WT_ENOMEM : 0;
}

/* Sets SCHEMES_KEY of out to the security schemes named in `security`, a list of requirements. Sets nothing if the list
 * names no known scheme. */
static int set_schemes(const struct openapi *document, json_t *out, const json_t *security)
{
    json_auto_t *used = json_object();
    json_t *requirement, *scopes;
    const char *name;
    size_t i;
    if (!used)
        return WT_ENOMEM;
    json_array_foreach((json_t *)security, i, requirement)
    {
        json_object_foreach(requirement, name, scopes)
        {
            json_t *scheme = json_object_get(document->brief_schemes, name);
            if (scheme && json_object_set(used, name, scheme) < 0)
                return WT_ENOMEM;
        }
    }
    return json_object_size(used) > 0 ? set_brief(out, SCHEMES_KEY, used) : 0;
}

/* Stores the members of the root that operations inherit. Call it after wt__openapi_index, which reads the schemes.
 * Returns 0 or WT_ENOMEM. */
static int keep_inherited(struct openapi *document, const json_t *root)
{
    const char *name;
    json_t *scheme;
    document->inherited = json_object();
    document->brief_schemes = json_object();
    if (!document->inherited || !document->brief_schemes)
        return WT_ENOMEM;
    json_object_foreach(document->schemes, name, scheme)
    {
        WT_TRY(set_brief(document->brief_schemes, name, scheme));
    }
    for (size_t i = 0; i < COUNT(inherited); i++)
        WT_TRY(set_brief(document->inherited, inherited[i], json_object_get(root, inherited[i])));
    return set_schemes(document, document->inherited, json_object_get(root, "security"));
}

/* Sets *out to the definition: the operation's own bytes and the inherited members. servers: the servers of the path,
 * shortened; NULL if absent. *out is a view of the source, or text in the import's arena. Returns 0 or WT_ENOMEM. */
static int write_definition(struct openapi *document, const json_t *servers, const json_t *operation, struct str own,
                            struct str *out)
{
    json_auto_t *near = json_object(); /* members from the path and the operation; they override the root's */
    const json_t *security = json_object_get(operation, "security");
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    bool first = json_object_size(operation) == 0, same = !document->reader->yaml;
    if (!near || (servers && json_object_set(near, "servers", (json_t *)servers) < 0))
        return WT_ENOMEM;
    if (security)
        WT_TRY(set_schemes(document, near, security));
    wt__buffer_str(&text, wt__str_trim((struct str){own.ptr, own.len - 1}));
    for (size_t i = 0; i < COUNT(inherited); i++) {
        const json_t *value = json_object_get(near, inherited[i]);
        if (!value && !(security && strcmp(inherited[i], SCHEMES_KEY) == 0))
            value = json_object_get(document->inherited, inherited[i]);
        if (!value || json_object_get(operation, inherited[i]))
            continue;
        wt__buffer_printf(&text, "%s\"%s\":", first ? "" : ",", inherited[i]);
        WT_TRY(wt__json_write(&text, value));
        first = same = false;
    }
    wt__buffer_char(&text, '}');
    if (text.failed)
        return WT_ENOMEM;
    *out = own;
    if (!same)
        *out = (struct str){wt__arena_copy(&document->reader->out->arena, wt__buffer_view(&text)), text.len};
    return out->ptr ? 0 : WT_ENOMEM;
}

/* A path item while its operations are read. */
struct path_item {
    struct str name;
    json_t *shared;            /* parameters of all its operations, or NULL */
    json_t *servers;           /* shortened, or NULL */
    struct str summary, about; /* summary and description, for operations without a text; views of head */
    json_t *head;              /* members of the path item with a key in `fields` */
};

static const char *const methods[] = {"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"};
/* Other members of a path item. */
static const char *const fields[] = {"$ref", "summary", "description", "servers", "parameters"};

enum { METHOD_SHOWN = 32 }; /* maximum bytes of an unknown method in a message */

static bool detect_openapi(const struct peek *peek)
{
    return (peek->keys & (PEEK_OPENAPI | PEEK_SWAGGER)) != 0;
}

/* ---------------------------------------------------------------- operations */

static void put_tags(struct buffer *out, const json_t *operation)
{
    const json_t *tags = json_object_get(operation, "tags");
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const json_t *tag = json_array_get(tags, i);
        if (!json_is_string(tag) || json_string_length(tag) == 0)
            continue;
        if (out->len > 0)
            wt__buffer_text(out, ", ");
        wt__buffer_str(out, (struct str){json_string_value(tag), json_string_length(tag)});
    }
}

static void put_method(struct buffer *out, struct str method, struct str path)
{
    for (size_t i = 0; i < method.len; i++)
        wt__buffer_char(out, (char)toupper((unsigned char)method.ptr[i]));
    wt__buffer_char(out, ' ');
    wt__buffer_str(out, path);
}

/* Sets description and title. A single text becomes the description. */
static void set_texts(struct draft *draft, struct str summary, struct str description)
{
    draft->description = description.len > 0 ? description : summary;
    draft->title = description.len > 0 ? summary : (struct str){"", 0};
}

/* Reports a missing target of a reference. In a truncated document, the target may be in the unread part. The operation
 * is then only counted. */
static int report_dangling(struct openapi *document, struct source_place place, wt_error *err)
{
    if (document->whole)
        return wt__reader_issue(document->reader, place, "", err,
                                "the reference \"%s\" has no valid target in this document", document->dangling);
    document->waiting++;
    return 0;
}

static int add_operation(struct openapi *document, const struct path_item *path, const struct json_item *item,
                         struct draft *draft, const json_t *operation, wt_error *err)
{
    struct import_reader *reader = document->reader;
    WT_CLEANUP(wt__buffer_dispose) struct buffer route = {0}, tags = {0}, plain_description = {0}, plain_title = {0};
    struct str summary, description;
    int rc = wt__reader_text(reader, draft->place, operation, "operationId", &draft->name, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft->place, operation, "summary", &summary, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft->place, operation, "description", &description, err);
    if (rc <= 0)
        return rc;
    put_method(&route, item->key, path->name);
    put_tags(&tags, operation);
    set_texts(draft, summary, description);
    if (draft->description.len == 0)
        set_texts(draft, path->summary, path->about);
    if (wt__markup_strip_html(draft->description, &plain_description))
        draft->description = wt__buffer_view(&plain_description);
    if (wt__markup_strip_html(draft->title, &plain_title))
        draft->title = wt__buffer_view(&plain_title);
    draft->source_id = wt__buffer_view(&route);
    draft->category = wt__buffer_view(&tags);
    if (wt__str_trim(draft->name).len == 0)
        draft->name = draft->source_id;
    wt__openapi_next_tool(document, draft->name);
    draft->judged = true;
    if (route.failed || tags.failed || plain_description.failed || plain_title.failed ||
        wt__openapi_arguments(document, path->shared, operation, &draft->schema) < 0)
        rc = wt__fail_nomem(err);
    else if (document->dangling[0])
        rc = report_dangling(document, draft->place, err);
    else
        rc = wt__reader_add(reader, draft, err);
    if (rc >= 0 && document->wrong[0])
        rc = wt__reader_remark(reader, draft->place, err, "%s", document->wrong);
    json_decref(draft->schema);
    return rc;
}

/* Records the id of an operation that was skipped. */
static int skip_operation(struct import_reader *reader, const struct path_item *path, const struct json_item *item,
                          wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer route = {0};
    put_method(&route, item->key, path->name);
    return route.failed ? wt__fail_nomem(err) : wt__reader_leave(reader, wt__buffer_view(&route), err);
}

static int read_operation(struct openapi *document, const struct path_item *path, struct str provider,
                          const struct json_item *item, wt_error *err)
{
    json_t *operation;
    size_t before = document->reader->out->tool_count;
    int rc = wt__reader_parse(document->reader, item, &operation, err);
    if (rc > 0) {
        struct draft draft = {.provider = provider, .place = {item->byte, item->line}};
        rc = write_definition(document, path->servers, operation, item->value, &draft.definition) < 0
                 ? wt__fail_nomem(err)
                 : add_operation(document, path, item, &draft, operation, err);
        json_decref(operation);
    }
    if (rc >= 0 && document->reader->out->tool_count == before)
        rc = skip_operation(document->reader, path, item, err);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- paths */

/* Reports an unknown key of a path item. If the value is an object, the key is most likely a misspelt method, and the
 * operation is lost. */
static int report_unknown_key(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    char lower[METHOD_SHOWN];
    size_t len = item->key.len < sizeof lower ? item->key.len : sizeof lower;
    struct source_place place = {item->byte, item->line};
    struct nearest nearest;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)tolower((unsigned char)item->key.ptr[i]);
    wt__nearest_begin(&nearest, (struct str){lower, len});
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        wt__nearest_show(&nearest, wt__str(methods[i]));
    if (item->value.len == 0 || item->value.ptr[0] != '{')
        return wt__reader_remark(reader, place, err, "\"%.*s\" is not a member of a path and was ignored", (int)len,
                                 item->key.ptr);
    return wt__reader_issue(reader, place, "", err, "\"%.*s\" is not a method and was skipped%s%s%s", (int)len,
                            item->key.ptr, nearest.best[0] ? "; did you mean \"" : "", nearest.best,
                            nearest.best[0] ? "\"?" : "");
}

/* Reads the operations of a path item. If `additional`, object is its additionalOperations, and all members are
 * operations. */
static int read_operations(struct openapi *document, const struct path_item *path, struct str provider,
                           const struct json_item *object, bool additional, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, document->text, object->byte, object->line);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        rc = 0;
        size_t mark = wt__pointer_key(document->reader, item.key);
        if (additional || KEY_AMONG(methods, item.key))
            rc = read_operation(document, path, provider, &item, err);
        else if (wt__str_equal(item.key, STR("additionalOperations")))
            rc = read_operations(document, path, provider, &item, true, err);
        else if (!KEY_AMONG(fields, item.key) && !wt__str_starts(item.key, STR("x-")))
            rc = report_unknown_key(document->reader, &item, err);
        wt__pointer_back(document->reader, mark);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? wt__reader_broken(document->reader, &scan, err) : 0;
}

/* Adds the shared members of object, a path item, to path->head. Keeps members that are already there. Returns 1, or 0
 * if an issue was reported. */
static int read_shared(struct openapi *document, const struct json_item *object, struct path_item *path, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    struct source_place place = {object->byte, object->line};
    wt__json_scan_open(&scan, document->text, object->byte, object->line);
    while (wt__json_scan_next(&scan, &item) > 0) {
        bool parameters = wt__str_equal(item.key, STR("parameters"));
        json_t *value = NULL;
        if (!KEY_AMONG(fields, item.key) || json_object_getn(path->head, item.key.ptr, item.key.len))
            continue;
        int rc = wt__json_parse(&value, item.value.ptr, item.value.len, NULL);
        if (rc == WT_ENOMEM)
            return wt__fail_nomem(err);
        if (parameters && !json_is_array(value)) {
            json_decref(value);
            return wt__reader_issue(document->reader, place, "/parameters", err,
                                    "the parameters of this path are not a valid list");
        }
        if (value && json_object_setn_new(path->head, item.key.ptr, item.key.len, value) < 0)
            return wt__fail_nomem(err);
    }
    return 1;
}

/* Reads the shared members of a path item. If the item has a "$ref", sets *elsewhere to the target and reads the shared
 * members of the target, too. Returns 1, or 0 if an issue was reported. */
static int read_path_head(struct openapi *document, const struct json_item *object, struct path_item *path,
                          struct openapi_part **elsewhere, wt_error *err)
{
    struct source_place place = {object->byte, object->line};
    int rc = read_shared(document, object, path, err);
    if (rc <= 0)
        return rc;
    struct str reference = wt__json_str(path->head, "$ref");
    *elsewhere = reference.len > 0 ? wt__openapi_part(document, reference) : NULL;
    if (reference.len > 0 && !*elsewhere)
        return wt__reader_issue(document->reader, place, "/$ref", err,
                                "the path refers to %.*s, which is not in this document",
                                (int)(reference.len < 128 ? reference.len : 128), reference.ptr);
    if (*elsewhere)
        rc = read_shared(document, &(*elsewhere)->item, path, err);
    if (rc <= 0)
        return rc;
    path->shared = wt__json_array(path->head, "parameters");
    json_t *servers = json_object_get(path->head, "servers");
    if (servers && !(path->servers = shorten_value(servers)))
        return wt__fail_nomem(err);
    path->summary = wt__json_str(path->head, "summary");
    path->about = wt__json_str(path->head, "description");
    return 1;
}

/* Reads the operations of a path item, or those of the target of its "$ref". */
static int read_path_operations(struct openapi *document, struct str provider, const struct json_item *item,
                                struct path_item *path, wt_error *err)
{
    struct source_place place = {item->byte, item->line};
    struct openapi_part *elsewhere = NULL;
    if (path->name.len > 0 && path->name.ptr[0] != '/')
        return wt__reader_issue(document->reader, place, "", err,
                                "a path must begin with \"/\", so this one was skipped");
    if (item->value.len == 0 || item->value.ptr[0] != '{')
        return wt__reader_issue(document->reader, place, "", err, "a path must be an object of operations");
    int rc = read_path_head(document, item, path, &elsewhere, err);
    if (rc <= 0)
        return rc;
    return read_operations(document, path, provider, elsewhere ? &elsewhere->item : item, false, err);
}

static int read_path(struct openapi *document, struct str provider, const struct json_item *item, wt_error *err)
{
    json_auto_t *head = json_object(), *key = NULL;
    struct path_item path = {.name = item->key, .head = head};
    WT_CHECK_ALLOC(head, err);
    /* Decode a key with escapes as a JSON string, with the quotes around it. */
    if (memchr(item->key.ptr, '\\', item->key.len) &&
        wt__json_parse(&key, item->key.ptr - 1, item->key.len + 2, NULL) == 0 && json_is_string(key))
        path.name = (struct str){json_string_value(key), json_string_length(key)};
    size_t mark = wt__pointer_key(document->reader, path.name);
    int rc = read_path_operations(document, provider, item, &path, err);
    wt__pointer_back(document->reader, mark);
    json_decref(path.servers);
    return rc;
}

static int read_paths(struct openapi *document, struct str provider, const struct json_item *paths, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, document->text, paths->byte, paths->line);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        rc = wt__str_starts(item.key, STR("x-")) ? 0 : read_path(document, provider, &item, err);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? wt__reader_broken(document->reader, &scan, err) : 0;
}

/* ---------------------------------------------------------------- the document */

/* Members of the root. */
struct document_root {
    struct json_item version, swagger, info, servers, host, base, schemes, security, paths;
    struct json_item like_paths; /* a member whose key resembles "paths" */
    struct json_scan scan;       /* state at the end of the root */
    bool whole;                  /* true if the root was read to its end */
};

static void scan_root(struct document_root *root, struct str text)
{
    struct json_item object, item;
    int rc;
    *root = (struct document_root){.whole = true};
    wt__json_scan_root(text, 0, 1, &object);
    wt__json_scan_open(&root->scan, text, object.byte, object.line);
    while ((rc = wt__json_scan_next(&root->scan, &item)) > 0) {
        const struct {
            struct str key;
            struct json_item *out;
        } wanted[] = {
            {STR("openapi"), &root->version}, {STR("swagger"), &root->swagger},   {STR("info"), &root->info},
            {STR("servers"), &root->servers}, {STR("host"), &root->host},         {STR("basePath"), &root->base},
            {STR("schemes"), &root->schemes}, {STR("security"), &root->security}, {STR("paths"), &root->paths}};
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (wt__str_equal(item.key, wanted[i].key))
                *wanted[i].out = item;
        if (wt__edit_distance(item.key, STR("paths"), NEAREST_EDITS) < NEAREST_EDITS)
            root->like_paths = item;
    }
    root->whole = rc == 0;
}

static int check_openapi_version(const struct import_reader *reader, const struct document_root *root, wt_error *err)
{
    static const char *const read[] = {"3.0", "3.1", "3.2"};
    const char *file = reader->out->files[reader->file];
    bool swagger = root->version.value.len == 0 && root->swagger.value.len > 0;
    const struct json_item *item = swagger ? &root->swagger : &root->version;
    struct str version = item->value;
    if (version.len > 2 && version.ptr[0] == '"')
        version = (struct str){version.ptr + 1, version.len - 2};
    for (size_t i = 0; !swagger && i < sizeof read / sizeof read[0]; i++)
        if (wt__str_starts(version, wt__str(read[i])))
            return 0;
    if (swagger && (wt__str_equal(version, STR("2.0")) || wt__str_equal(version, STR("2"))))
        return 0;
    if (version.len == 0)
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL,
                           "%s is not an OpenAPI document: it has neither \"openapi\" nor \"swagger\"", file);
    return wt__fail_at(err, WT_EFORMAT, item->line, item->byte, swagger ? "/swagger" : "/openapi",
                       "%s is %s %.*s; Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are supported", file,
                       swagger ? "Swagger" : "OpenAPI", (int)(version.len < 32 ? version.len : 32), version.ptr);
}

/* Parses a member of the root. *out is NULL if it is absent or not valid JSON. */
static int read_openapi_member(json_t **out, const struct json_item *item, wt_error *err)
{
    *out = NULL;
    return item->value.len > 0 && wt__json_parse(out, item->value.ptr, item->value.len, NULL) == WT_ENOMEM
               ? wt__fail_nomem(err)
               : 0;
}

/* Derives the provider from the title, the first server, and the file name. */
static int name_provider(const struct import_reader *reader, const struct document_root *root, struct buffer *out,
                         wt_error *err)
{
    json_auto_t *info = NULL, *servers = NULL;
    WT_TRY(read_openapi_member(&info, &root->info, err));
    WT_TRY(read_openapi_member(&servers, &root->servers, err));
    struct str host = root->host.value, url = wt__json_str(json_array_get(servers, 0), "url");
    if (url.len == 0 && host.len > 2 && host.ptr[0] == '"') /* Swagger 2.0 */
        url = (struct str){host.ptr + 1, host.len - 2};
    wt__short_provider(out, wt__json_str(info, "title"), url, reader->stem);
    return out->failed ? wt__fail_nomem(err) : 0;
}

/* Reads the members of the root that operations inherit. */
static int read_inherited(struct openapi *document, const struct document_root *root, wt_error *err)
{
    const struct {
        const char *key;
        const struct json_item *item;
    } members[] = {{"servers", &root->servers},
                   {"security", &root->security},
                   {"host", &root->host},
                   {"basePath", &root->base},
                   {"schemes", &root->schemes}};
    json_auto_t *all = json_object();
    WT_CHECK_ALLOC(all, err);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value;
        WT_TRY(read_openapi_member(&value, members[i].item, err));
        if (value && json_object_set_new(all, members[i].key, value) < 0)
            return wt__fail_nomem(err);
    }
    return keep_inherited(document, all) < 0 ? wt__fail_nomem(err) : 0;
}

/* Reports a document without operations as an error, because this is most likely a mistake. */
static int fail_empty(const struct import_reader *reader, const struct document_root *root, wt_error *err)
{
    const char *file = reader->out->files[reader->file];
    const struct json_item *item = root->paths.value.len > 0 ? &root->paths : &root->like_paths;
    struct source_place place = wt__reader_place(reader, (struct source_place){item->byte, item->line});
    if (item->value.len == 0)
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL, "%s: this OpenAPI document has no \"paths\"", file);
    if (item == &root->paths)
        return wt__fail_at(err, WT_EFORMAT, place.line, place.byte, "/paths",
                           "%s:%zu: no path of this OpenAPI document has an operation", file, place.line);
    return wt__fail_at(err, WT_EFORMAT, place.line, place.byte, NULL,
                       "%s:%zu: this OpenAPI document has no \"paths\"; is \"%.*s\" a typo of it?", file, place.line,
                       (int)item->key.len, item->key.ptr);
}

static int read_openapi_document(struct openapi *document, const struct document_root *root, wt_error *err)
{
    struct import_reader *reader = document->reader;
    WT_CLEANUP(wt__buffer_dispose) struct buffer provider = {0};
    size_t before = reader->out->tool_count + reader->out->skipped;
    WT_TRY(check_openapi_version(reader, root, err));
    WT_TRY(name_provider(reader, root, &provider, err));
    if (wt__openapi_index(document) < 0)
        return wt__fail_nomem(err);
    WT_TRY(read_inherited(document, root, err));
    size_t mark = wt__pointer_key(reader, STR("paths"));
    if (root->paths.value.len > 0)
        WT_TRY(read_paths(document, wt__buffer_view(&provider), &root->paths, err));
    if (document->waiting > 0)
        WT_TRY(wt__reader_issue(reader, (struct source_place){root->paths.byte, root->paths.line}, "", err,
                                "%zu operation%s to parts after the point where reading stopped, and %s skipped",
                                document->waiting, document->waiting > 1 ? "s refer" : " refers",
                                document->waiting > 1 ? "were" : "was"));
    wt__pointer_back(reader, mark);
    if (!root->whole)
        WT_TRY(wt__reader_broken(reader, &root->scan, err));
    bool is_empty = before == reader->out->tool_count + reader->out->skipped;
    return document->whole && is_empty ? fail_empty(reader, root, err) : 0;
}

static int read_openapi_text(struct import_reader *reader, struct str text, wt_error *err)
{
    WT_CLEANUP(wt__openapi_dispose) struct openapi document = {.reader = reader, .text = text};
    struct document_root root;
    scan_root(&root, text);
    document.whole = root.whole && !reader->broken;
    return read_openapi_document(&document, &root, err);
}

static int read_openapi_yaml(struct import_reader *reader, struct str bytes, wt_error *err)
{
    struct yaml yaml;
    int rc = wt__yaml_to_json(&yaml, bytes, reader->limits.file_bytes);
    if (rc < 0)
        rc = wt__fail_nomem(err);
    if (rc == 0 && yaml.reason) {
        struct json_scan end = {.at = yaml.byte, .line = yaml.line, .reason = yaml.reason};
        rc = wt__reader_broken(reader, &end, err);
    }
    reader->yaml = &yaml;
    if (rc == 0)
        rc = read_openapi_text(reader, wt__buffer_view(&yaml.json), err);
    reader->yaml = NULL;
    wt__yaml_dispose(&yaml);
    return rc;
}

static int read_openapi(struct import_reader *reader, struct str bytes, wt_error *err)
{
    struct str start = wt__str_trim(bytes);
    return start.ptr[0] == '{' ? read_openapi_text(reader, bytes, err) : read_openapi_yaml(reader, bytes, err);
}

const struct importer wt__import_openapi = {.name = "openapi", .detect = detect_openapi, .read = read_openapi};
