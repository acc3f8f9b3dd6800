/* data_sets.c: imports the tools of research data sets. Two layouts are supported: a corpus.jsonl as in BEIR, and the
 * RapidAPI files of ToolBench. */
#include "import/internal.h"

#include "base/json.h"
#include "base/memory.h"
#include "catalog/schema.h"

/* ---------------------------------------------------------------- BEIR */

static bool detect_beir(const struct peek *peek)
{
    return peek->lines && (peek->keys & PEEK_ID) && (peek->keys & PEEK_TEXT);
}

static int read_beir_row(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    json_auto_t *row = NULL, *schema = NULL;
    struct draft draft = {.definition = item->value, .place = {item->byte, item->line}};
    int rc = wt__reader_parse(reader, item, &row, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft.place, row, "_id", &draft.source_id, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft.place, row, "title", &draft.name, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft.place, row, "text", &draft.description, err);
    if (rc <= 0)
        return rc;
    const json_t *metadata = wt__json_object(row, "metadata");
    draft.provider = wt__json_str(metadata, "provider");
    draft.category = wt__json_str(metadata, "category");
    if (wt__schema_from_parameters(&schema, json_object_get(metadata, "parameters")) < 0)
        return wt__fail_nomem(err);
    draft.schema = schema;
    rc = wt__reader_add(reader, &draft, err);
    return rc < 0 ? rc : 0;
}

static int read_beir(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_lines(reader, bytes, read_beir_row, err);
}

const struct importer wt__import_beir = {.name = "beir", .detect = detect_beir, .read = read_beir};

/* ---------------------------------------------------------------- RapidAPI */

/* Members shared by the APIs of one list. */
struct api_provider {
    struct str name, category;
};

static bool detect_rapidapi(const struct peek *peek)
{
    return !peek->lines && (peek->keys & PEEK_API_LIST) && !(peek->keys & (PEEK_OPENAPI | PEEK_SWAGGER));
}

/* Returns NULL if out of memory. */
static json_t *make_api_schema(const json_t *api)
{
    json_t *schema = wt__schema_new();
    if (schema && wt__schema_add_parameters(schema, json_object_get(api, "required_parameters"), true) == 0 &&
        wt__schema_add_parameters(schema, json_object_get(api, "optional_parameters"), false) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

/* Reads the member under one of two names. */
static int read_either_text(struct import_reader *reader, const struct draft *draft, const json_t *api, const char *key,
                            const char *other, struct str *out, wt_error *err)
{
    int rc = wt__reader_text(reader, draft->place, api, key, out, err);
    return rc > 0 && out->len == 0 ? wt__reader_text(reader, draft->place, api, other, out, err) : rc;
}

static int read_api(struct import_reader *reader, const struct json_item *item, const struct api_provider *provider,
                    wt_error *err)
{
    json_auto_t *api = NULL, *schema = NULL;
    struct draft draft = {.definition = item->value,
                          .place = {item->byte, item->line},
                          .provider = provider->name,
                          .category = provider->category};
    int rc = wt__reader_parse(reader, item, &api, err);
    if (rc > 0)
        rc = read_either_text(reader, &draft, api, "name", "api_name", &draft.name, err);
    if (rc > 0)
        rc = read_either_text(reader, &draft, api, "description", "api_description", &draft.description, err);
    if (rc > 0 && draft.provider.len == 0)
        rc = wt__reader_text(reader, draft.place, api, "tool_name", &draft.provider, err);
    if (rc > 0 && draft.category.len == 0)
        rc = read_either_text(reader, &draft, api, "category", "category_name", &draft.category, err);
    if (rc <= 0)
        return rc;
    draft.schema = schema = make_api_schema(api);
    WT_CHECK_ALLOC(schema, err);
    rc = wt__reader_add(reader, &draft, err);
    return rc < 0 ? rc : 0;
}

/* Parses one short member of the object and adds it to head. Invalid JSON counts as absent. */
static int add_to_head(json_t *head, const char *key, const struct json_item *item)
{
    json_t *value;
    if (item->value.len > WT_MAX_NAME_BYTES * 8 || wt__json_parse(&value, item->value.ptr, item->value.len, NULL) < 0)
        return 0;
    return json_object_set_new(head, key, value);
}

static int read_api_list(struct import_reader *reader, const struct json_item *object, const struct json_item *list,
                         const struct api_provider *provider, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, object->value, list->byte, list->line);
    for (size_t i = 0; (rc = wt__json_scan_next(&scan, &item)) > 0; i++) {
        item.byte += object->byte;
        size_t mark = wt__pointer_index(reader, i);
        rc = read_api(reader, &item, provider, err);
        wt__pointer_back(reader, mark);
        if (rc < 0)
            return rc;
    }
    scan.at += object->byte;
    return rc < 0 ? wt__reader_broken(reader, &scan, err) : 0;
}

/* Reads the shared members into head, and finds the list of APIs. Shared members may also follow the list. Returns the
 * result of the scan, or WT_ENOMEM. */
static int read_rapidapi_head(const struct json_item *object, json_t *head, struct json_item *list,
                              struct json_scan *scan)
{
    static const char *const keys[] = {"tool_name", "name", "category", "category_name"};
    struct json_item item;
    int rc;
    wt__json_scan_open(scan, object->value, 0, object->line);
    while ((rc = wt__json_scan_next(scan, &item)) > 0) {
        if (wt__str_equal(item.key, STR("api_list")))
            *list = item;
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (wt__str_equal(item.key, wt__str(keys[i])) && add_to_head(head, keys[i], &item) < 0)
                return WT_ENOMEM;
    }
    return rc;
}

static int read_rapidapi_object(struct import_reader *reader, const struct json_item *object, wt_error *err)
{
    struct json_scan scan;
    struct json_item list = {.value = {"", 0}};
    json_auto_t *head = json_object();
    WT_CHECK_ALLOC(head, err);
    int ended = read_rapidapi_head(object, head, &list, &scan);
    if (ended == WT_ENOMEM)
        return wt__fail_nomem(err);
    struct api_provider provider = {wt__json_str(head, "tool_name"), wt__json_str(head, "category")};
    if (provider.name.len == 0)
        provider.name = wt__json_str(head, "name");
    if (provider.category.len == 0)
        provider.category = wt__json_str(head, "category_name");
    if (ended == 0 && (list.value.len == 0 || list.value.ptr[0] != '['))
        return wt__reader_issue(reader, (struct source_place){object->byte, object->line}, "", err,
                                "\"api_list\" is not a list: it must hold the provider's APIs");
    size_t mark = wt__pointer_key(reader, STR("api_list"));
    int rc = list.value.len > 0 ? read_api_list(reader, object, &list, &provider, err) : 0;
    wt__pointer_back(reader, mark);
    scan.at += object->byte;
    return rc == 0 && ended < 0 ? wt__reader_broken(reader, &scan, err) : rc;
}

static int read_rapidapi(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_rapidapi_object, err);
}

const struct importer wt__import_rapidapi = {.name = "rapidapi", .detect = detect_rapidapi, .read = read_rapidapi};
