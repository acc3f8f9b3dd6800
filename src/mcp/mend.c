/* mend.c: repairs the items of lists (mend.h). The members of an item that may need a repair are repaired or removed
 * one by one. Then the shape of the item (shape.h) decides whether it stays. */
#include "mcp/mend.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/str.h"
#include "mcp/shape.h"
#include "text/unicode.h"

enum { NAME_SHOWN = 64 /* maximum length of an item's name in a note */ };

struct mending {
    struct mcp_mends *mends;
    const struct list_kind *list;
    struct str name; /* name or URI of the item, "" if absent */
    bool changed;    /* the item was changed */
    bool failed;     /* out of memory */
    struct map seen; /* names or URIs of the kept items, in the arena */
    struct arena arena;
};

static void mend_tool(struct mending *m, json_t *tool);
static void mend_resource(struct mending *m, json_t *resource);
static void mend_prompt(struct mending *m, json_t *prompt);

static const struct list_kind {
    const char *member; /* member of the server's result that holds the list */
    const char *kind;   /* word for an item in notes */
    const char *key;    /* member that identifies an item */
    void (*mend)(struct mending *m, json_t *item);
} lists[] = {{"tools", "tool", "name", mend_tool},
             {"resources", "resource", "uri", mend_resource},
             {"resourceTemplates", "resource template", "uriTemplate", mend_resource},
             {"prompts", "prompt", "name", mend_prompt}};

/* ---------------------------------------------------------------- notes */

void wt__mcp_mends_note(struct mcp_mends *mends, const char *kind, struct str name, const char *text)
{
    struct str head = wt__str_head(name, NAME_SHOWN);
    if (mends->noted == MCP_MEND_NOTES)
        return;
    mends->noted++;
    wt__buffer_text(&mends->notes, kind);
    if (head.len > 0) {
        wt__buffer_text(&mends->notes, " \"");
        wt__utf8_append(&mends->notes, head);
        wt__buffer_char(&mends->notes, '"');
    }
    wt__buffer_text(&mends->notes, ": ");
    wt__utf8_append(&mends->notes, wt__str_head(wt__str(text), MCP_MEND_NOTE_BYTES));
    wt__buffer_char(&mends->notes, '\n');
}

static void add_note(struct mending *m, const char *format, ...)
{
    char text[MCP_MEND_NOTE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wt__mcp_mends_note(m->mends, m->list->kind, m->name, text);
}

/* Replaces a member and notes it. at: path of the object, with a final slash, or ""; told: the rest of the note. */
static void replace_member(struct mending *m, json_t *object, const char *key, json_t *value, const char *at,
                           const char *told)
{
    m->failed |= json_object_set_new(object, key, value) < 0;
    m->changed = true;
    add_note(m, "%s%s %s", at, key, told);
}

static void remove_member(struct mending *m, json_t *object, const char *key, const char *at, const char *why)
{
    m->changed = true;
    add_note(m, "%s%s %s, and is ignored", at, key, why);
    json_object_del(object, key);
}

/* ---------------------------------------------------------------- members of every item */

enum mend_type {
    MEND_STRING,
    MEND_NUMBER,
    MEND_BOOLEAN,
    MEND_OBJECT,
    MEND_ICONS,
    MEND_AUDIENCE,
    MEND_PRIORITY,
    MEND_TIME,
    MEND_EXECUTION
};

static bool are_strings(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

/* True if the value is one of the words, or absent. */
static bool is_word_of(const json_t *value, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), words[i]) == 0)
            return true;
    return !value;
}

static bool are_icons(const json_t *value)
{
    static const char *const themes[] = {"light", "dark"};
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *icon = json_array_get(value, i), *sizes = json_object_get(icon, "sizes"),
                     *type = json_object_get(icon, "mimeType");
        if (!json_is_string(json_object_get(icon, "src")) || (sizes && !are_strings(sizes)) ||
            (type && !json_is_string(type)) || !is_word_of(json_object_get(icon, "theme"), themes, 2))
            return false;
    }
    return json_is_array(value);
}

static bool is_audience(const json_t *value)
{
    static const char *const roles[] = {"user", "assistant"};
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_word_of(json_array_get(value, i), roles, 2))
            return false;
    return json_is_array(value);
}

/* True if text begins like the pattern, in which 0 stands for any digit. */
static bool begins_like(const char *text, const char *pattern)
{
    for (; *pattern; text++, pattern++)
        if (*pattern == '0' ? !wt__is_digit(*text) : *text != *pattern)
            return false;
    return true;
}

/* True if the value is a date and time of RFC 3339; seconds are optional. */
static bool is_timestamp(const json_t *value)
{
    static const char minutes[] = "0000-00-00T00:00", seconds[] = ":00", offset[] = "00:00";
    const char *text = json_string_value(value);
    if (!text || !begins_like(text, minutes))
        return false;
    text += sizeof minutes - 1;
    if (begins_like(text, seconds)) {
        text += sizeof seconds - 1;
        if (*text == '.' && wt__is_digit(text[1]))
            text += 1 + strspn(text + 1, "0123456789");
    }
    if (*text == '+' || *text == '-')
        return begins_like(text + 1, offset) && text[sizeof offset] == '\0';
    return strcmp(text, "Z") == 0;
}

static bool is_execution(const json_t *value)
{
    static const char *const supports[] = {"forbidden", "optional", "required"};
    return json_is_object(value) && is_word_of(json_object_get(value, "taskSupport"), supports, 3);
}

static bool has_type(const json_t *value, enum mend_type type)
{
    switch (type) {
    case MEND_STRING:
        return json_is_string(value);
    case MEND_NUMBER:
        return json_is_number(value);
    case MEND_BOOLEAN:
        return json_is_boolean(value);
    case MEND_OBJECT:
        return json_is_object(value);
    case MEND_ICONS:
        return are_icons(value);
    case MEND_AUDIENCE:
        return is_audience(value);
    case MEND_PRIORITY:
        return json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= 1;
    case MEND_TIME:
        return is_timestamp(value);
    case MEND_EXECUTION:
        return is_execution(value);
    }
    return false;
}

static const char *const type_words[] = {[MEND_STRING] = "is not a string",
                                         [MEND_NUMBER] = "is not a number",
                                         [MEND_BOOLEAN] = "is not a boolean",
                                         [MEND_OBJECT] = "is not an object",
                                         [MEND_ICONS] = "is not a list of icons",
                                         [MEND_AUDIENCE] = "is not a list of \"user\" and \"assistant\"",
                                         [MEND_PRIORITY] = "is not a number from 0 to 1",
                                         [MEND_TIME] = "is not a date and time",
                                         [MEND_EXECUTION] = "is not an object with a known taskSupport"};

struct mend_member {
    const char *key; /* NULL ends the table */
    enum mend_type type;
};

/* Removes members of the wrong type. Removes null without a note, since it means the same as an absent member. */
static void mend_members(struct mending *m, json_t *object, const struct mend_member *members, const char *at)
{
    for (; members->key; members++) {
        const json_t *value = json_object_get(object, members->key);
        if (json_is_null(value)) {
            json_object_del(object, members->key);
            m->changed = true;
        } else if (value && !has_type(value, members->type)) {
            remove_member(m, object, members->key, at, type_words[members->type]);
        }
    }
}

static const struct mend_member common[] = {{"title", MEND_STRING}, {"description", MEND_STRING}, {"icons", MEND_ICONS},
                                            {"_meta", MEND_OBJECT}, {"annotations", MEND_OBJECT}, {NULL, 0}};

/* ---------------------------------------------------------------- input schemas */

static const char *const type_names[] = {"string", "number", "integer", "boolean", "array", "object", "null"};

/* Returns the JSON Schema type that a string names in any case, or NULL. */
static const char *find_type(const json_t *value)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < sizeof type_names / sizeof *type_names; i++)
        if (strcasecmp(text, type_names[i]) == 0)
            return type_names[i];
    return NULL;
}

static bool lists_object(const json_t *types)
{
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = find_type(json_array_get(types, i));
        if (type && strcmp(type, "object") == 0)
            return true;
    }
    return false;
}

static void mend_schema_type(struct mending *m, json_t *schema, const char *at)
{
    const json_t *type = json_object_get(schema, "type");
    const char *name = find_type(type);
    if (name && strcmp(json_string_value(type), "object") == 0)
        return;
    if (!type || json_is_null(type))
        replace_member(m, schema, "type", json_string("object"), at, "is missing, and read as \"object\"");
    else if ((name && strcmp(name, "object") == 0) || lists_object(type))
        replace_member(m, schema, "type", json_string("object"), at, "is read as \"object\"");
}

/* Converts a list of {"name": ...} to a properties object. Returns NULL if the list has other items, or if out of
 * memory. */
static json_t *read_property_list(const json_t *list)
{
    json_t *out = json_object();
    for (size_t i = 0; out && i < json_array_size(list); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
        json_t *property = name && !json_object_get(out, name) ? json_copy(json_array_get(list, i)) : NULL;
        if (!property || json_object_del(property, "name") < 0 || json_object_set_new(out, name, property) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Replaces each property that is not an object by a schema. false becomes a schema that allows no value. The name of a
 * type becomes a schema of this type. Any other property becomes a schema that allows every value. */
static void mend_property_values(struct mending *m, json_t *properties)
{
    const char *name;
    json_t *value;
    json_object_foreach(properties, name, value)
    {
        const char *type = find_type(value);
        if (json_is_object(value))
            continue;
        json_t *read = json_is_false(value) ? json_pack("{s:{}}", "not")
                       : type               ? json_pack("{s:s}", "type", type)
                                            : json_object();
        m->failed |= json_object_set_new(properties, name, read) < 0;
        m->changed = true;
        add_note(m, "property \"%.64s\" is not an object, and is read as one", name);
    }
}

static void mend_properties(struct mending *m, json_t *schema, const char *at)
{
    json_t *properties = json_object_get(schema, "properties");
    if (json_is_object(properties)) {
        mend_property_values(m, properties);
        return;
    }
    json_t *read = json_is_array(properties) ? read_property_list(properties) : NULL;
    if (read)
        replace_member(m, schema, "properties", read, at, "is a list, and is read as an object");
    else if (properties)
        remove_member(m, schema, "properties", at, "is not an object");
}

static void mend_required(struct mending *m, json_t *schema, const char *at)
{
    const json_t *required = json_object_get(schema, "required");
    if (!required || are_strings(required))
        return;
    json_t *names = json_is_string(required) ? json_pack("[O]", required) : NULL;
    for (size_t i = 0; i < json_array_size(required); i++) {
        json_t *name = json_array_get(required, i);
        names = names ? names : json_array();
        if (json_is_string(name))
            json_array_append(names, name);
    }
    if (names)
        replace_member(m, schema, "required", names, at, "is read as a list of names");
    else
        remove_member(m, schema, "required", at, "is not a list of names");
}

static void mend_input_schema(struct mending *m, json_t *tool)
{
    static const char key[] = "inputSchema", at[] = "inputSchema/";
    json_t *schema = json_object_get(tool, key);
    if (!schema || json_is_null(schema) || json_is_true(schema)) {
        replace_member(m, tool, key, json_pack("{s:s}", "type", "object"), "",
                       schema ? "is not an object, and allows any arguments" : "is missing, and allows any arguments");
        return;
    }
    if (!json_is_object(schema))
        return;
    mend_schema_type(m, schema, at);
    mend_properties(m, schema, at);
    mend_required(m, schema, at);
}

/* ---------------------------------------------------------------- items */

static void mend_tool(struct mending *m, json_t *tool)
{
    static const struct mend_member own[] = {{"outputSchema", MEND_OBJECT}, {"execution", MEND_EXECUTION}, {NULL, 0}},
                                    dialect[] = {{"$schema", MEND_STRING}, {NULL, 0}},
                                    hints[] = {{"title", MEND_STRING},
                                               {"readOnlyHint", MEND_BOOLEAN},
                                               {"destructiveHint", MEND_BOOLEAN},
                                               {"idempotentHint", MEND_BOOLEAN},
                                               {"openWorldHint", MEND_BOOLEAN},
                                               {NULL, 0}};
    mend_members(m, tool, own, "");
    mend_members(m, json_object_get(tool, "annotations"), hints, "annotations/");
    mend_members(m, json_object_get(tool, "inputSchema"), dialect, "inputSchema/");
    mend_members(m, json_object_get(tool, "outputSchema"), dialect, "outputSchema/");
    mend_input_schema(m, tool);
    mend_properties(m, json_object_get(tool, "outputSchema"), "outputSchema/");
    mend_required(m, json_object_get(tool, "outputSchema"), "outputSchema/");
}

static void mend_resource(struct mending *m, json_t *resource)
{
    static const struct mend_member own[] = {{"mimeType", MEND_STRING}, {"size", MEND_NUMBER}, {NULL, 0}},
                                    notes[] = {{"audience", MEND_AUDIENCE},
                                               {"priority", MEND_PRIORITY},
                                               {"lastModified", MEND_TIME},
                                               {NULL, 0}};
    mend_members(m, resource, own, "");
    mend_members(m, json_object_get(resource, "annotations"), notes, "annotations/");
}

static void mend_prompt(struct mending *m, json_t *prompt)
{
    static const struct mend_member own[] = {
        {"title", MEND_STRING}, {"description", MEND_STRING}, {"required", MEND_BOOLEAN}, {NULL, 0}};
    json_t *arguments = json_object_get(prompt, "arguments"), *argument;
    size_t i;
    if (json_is_null(arguments)) {
        json_object_del(prompt, "arguments");
        m->changed = true;
        return;
    }
    json_array_foreach(arguments, i, argument)
    {
        const char *required = json_string_value(json_object_get(argument, "required"));
        if (required && (strcasecmp(required, "true") == 0 || strcasecmp(required, "false") == 0))
            replace_member(m, argument, "required", json_boolean(strcasecmp(required, "true") == 0), "arguments/",
                           "is read as a boolean");
        mend_members(m, argument, own, "arguments/");
    }
}

/* ---------------------------------------------------------------- lists */

/* True if a text begins with a URI's scheme. Clients refuse a list with a URI without scheme. */
static bool has_scheme(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return len > 0 && text[len] == ':' && !wt__is_digit(*text);
}

/* True if strict clients accept the item. Otherwise adds a note with the reason. */
static bool may_stay(struct mending *m, struct str item, const json_t *read)
{
    struct mcp_misfit misfit;
    const char *key = m->list->key;
    const json_t *name = json_object_get(read, key);
    if (json_is_string(name) && json_string_length(name) == 0)
        add_note(m, "%s is empty; it is left out", key);
    else if (json_is_string(name) && strcmp(key, "uri") == 0 && !has_scheme(json_string_value(name)))
        add_note(m, "uri is not a URI, since it has no scheme; it is left out");
    else if (!wt__mcp_item_fits(m->list->member, item, &misfit))
        add_note(m, "%s is not %s; it is left out", misfit.member[0] ? misfit.member : "it", misfit.wanted);
    else
        return true;
    return false;
}

/* True if the item may need a repair: its shape is wrong, or its text contains null or the name of a member that the
 * shape checks incompletely. */
static bool may_need_repair(const char *member, struct str item)
{
    static const char *const signs[] = {"null", "\"annotations\"", "\"icons\"", "\"execution\"", "\"outputSchema\""};
    struct mcp_misfit misfit;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (memmem(item.ptr, item.len, signs[i], strlen(signs[i])))
            return true;
    return !wt__mcp_item_fits(member, item, &misfit);
}

/* Appends the item, unchanged or repaired. Returns 1 if it stays, 0 if it is left out, or WT_ENOMEM. *read: the parsed
 * item, which m->name borrows; released by the caller. */
static int take_item(struct mending *m, struct str item, struct buffer *out, json_t **read)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer mended = {0};
    int rc = wt__json_parse(read, item.ptr, item.len, NULL);
    if (rc < 0) {
        add_note(m, "it is not valid, or has a member twice; it is left out");
        return rc == WT_ENOMEM ? rc : 0;
    }
    m->changed = false;
    m->name = wt__json_str(*read, m->list->key);
    if (json_is_object(*read) && may_need_repair(m->list->member, item)) {
        mend_members(m, *read, common, "");
        m->list->mend(m, *read);
    }
    if (m->changed)
        wt__json_write(&mended, *read);
    struct str text = m->changed ? wt__buffer_view(&mended) : item;
    m->name = wt__json_str(*read, m->list->key);
    bool stays = !mended.failed && may_stay(m, text, *read);
    if (stays)
        wt__buffer_str(out, text);
    m->mends->mended += stays && m->changed;
    m->failed |= mended.failed || out->failed;
    return m->failed ? WT_ENOMEM : stays;
}

/* Records the name of a kept item. Returns 1, 0 if an earlier item has the name, or WT_ENOMEM. */
static int claim_name(struct mending *m)
{
    bool added = false;
    const char *name = wt__arena_copy(&m->arena, m->name);
    if (!name || !wt__map_insert(&m->seen, (struct str){name, m->name.len}, 0, &added))
        return WT_ENOMEM;
    if (!added)
        add_note(m, "it is listed twice; the second one is left out");
    return added;
}

int wt__mcp_mend_items(struct str list, const char *member, struct buffer *out, size_t *kept, struct mcp_mends *mends,
                       wt_error *err)
{
    struct mending m = {.mends = mends, .list = lists};
    WT_CLEANUP(wt__buffer_dispose) struct buffer whole = {0};
    struct json_scan scan;
    struct json_item item;
    int rc = 0;
    *kept = 0;
    while (strcmp(member, m.list->member) != 0)
        m.list++;
    wt__buffer_char(&whole, '[');
    wt__buffer_str(&whole, list);
    wt__buffer_char(&whole, ']');
    wt__json_scan_open(&scan, wt__buffer_view(&whole), 0, 1);
    while (rc >= 0 && !whole.failed && wt__json_scan_next(&scan, &item) > 0) {
        json_auto_t *read = NULL;
        size_t begin = out->len;
        if (*kept > 0)
            wt__buffer_char(out, ',');
        rc = take_item(&m, item.value, out, &read);
        if (rc > 0)
            rc = claim_name(&m);
        if (rc == 0)
            wt__buffer_cut(out, begin);
        *kept += rc > 0;
        mends->left_out += rc == 0;
        m.name = STR("");
    }
    rc = rc < 0 || whole.failed || mends->notes.failed ? wt__fail_nomem(err) : 0;
    wt__map_dispose(&m.seen);
    wt__arena_dispose(&m.arena);
    return rc;
}

void wt__mcp_mends_dispose(struct mcp_mends *mends)
{
    wt__buffer_dispose(&mends->notes);
    *mends = (struct mcp_mends){0};
}
