/* walk.c: finds the tools in a JSON source, in any supported wrapper.
 *
 * Formats wrap a list of tools in a request body, a JSON-RPC result, pages of results, or a list of declarations. One
 * walk handles all of these formats. It visits the elements of an array. In an object that is not a tool itself, it
 * visits the members known to hold tools. It passes all other values to the importer as tools. The importer parses
 * them.
 *
 * One file may list several servers. If each member of an object holds the tools of a server, the keys of the
 * members are the providers. A page of tools may also name its server. */
#include <strings.h>

#include "base/json.h"
#include "import/internal.h"

enum {
    WRAPPERS = 8,         /* maximum depth of nested containers */
    INNER = 8,            /* maximum members of one object that hold tools */
    PEEK_TOOLS_SEEN = 16, /* maximum tools read to detect the format */
};

static const char *const containers[] = {"result", "tools", "functions", "functionDeclarations",
                                         "function_declarations"};
/* Keys of a tool. An object with one of these keys is read as a tool. Exception: "name" next to a list of tools is the
 * name of a server. */
static const char *const marks[] = {"name", "tool_name", "function", "api_list"};
/* Members of a page of tools that identify its server: a name, or an object with a name. */
static const char *const servers[] = {"server", "serverInfo", "server_info"};
/* Keys of the schema of a tool. An object with a name and one of these keys is a tool. */
static const char *const schemas[] = {"inputSchema", "input_schema", "parameters", "parametersJsonSchema"};

bool wt__key_among(const char *const *words, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (wt__str_equal(key, wt__str(words[i])))
            return true;
    return false;
}

static bool begins_with(const struct json_item *item, const char *brackets)
{
    return item->value.len > 0 && memchr(brackets, item->value.ptr[0], strlen(brackets));
}

/* ---------------------------------------------------------------- walking */

/* True if the object has a name and a schema, or an object `function`. */
static bool is_function_tool(struct str text, const struct json_item *item)
{
    struct json_scan scan;
    struct json_item member;
    bool name = false, schema = false;
    wt__json_scan_open(&scan, text, item->byte, item->line);
    while (!(name && schema) && wt__json_scan_next(&scan, &member) > 0) {
        bool function = wt__str_equal(member.key, STR("function")) && begins_with(&member, "{");
        name = name || function || wt__str_equal(member.key, STR("name"));
        schema = schema || function || (KEY_AMONG(schemas, member.key) && begins_with(&member, "{"));
    }
    return name && schema;
}

/* Searches a list or an object for tools. Only the first element of a list and the containers of an object are
 * searched. Returns 1 if a tool is found, 0 if an empty list but no tool is found, -1 otherwise. */
static int holds_tools(struct str text, const struct json_item *item, int depth)
{
    struct json_scan scan;
    struct json_item member;
    int found = -1;
    if (depth > WRAPPERS || !begins_with(item, "{["))
        return -1;
    wt__json_scan_open(&scan, text, item->byte, item->line);
    if (begins_with(item, "[") && wt__json_scan_next(&scan, &member) <= 0)
        return 0;
    if (begins_with(item, "["))
        return begins_with(&member, "{") && is_function_tool(text, &member) ? 1 : holds_tools(text, &member, depth + 1);
    while (found < 1 && wt__json_scan_next(&scan, &member) > 0) {
        int inner = KEY_AMONG(containers, member.key) ? holds_tools(text, &member, depth + 1) : -1;
        found = inner > found ? inner : found;
    }
    return found;
}

/* True if each member of an object holds the tools of a server, and at least one member has a tool. */
static bool maps_servers(struct str text, const struct json_item *object)
{
    struct json_scan scan;
    struct json_item member;
    bool some = false;
    wt__json_scan_open(&scan, text, object->byte, object->line);
    while (wt__json_scan_next(&scan, &member) > 0) {
        int holds =
            KEY_AMONG(containers, member.key) || KEY_AMONG(marks, member.key) ? -1 : holds_tools(text, &member, 0);
        if (holds < 0)
            return false;
        some = some || holds > 0;
    }
    return some;
}

struct walk_root {
    struct import_reader *reader;
    struct str text;
    walk_visit visit;
    bool named; /* the provider of the tools is known */
};

static int walk_tool_value(struct walk_root *walk, const struct json_item *item, int depth, wt_error *err);

static int walk_tool_array(struct walk_root *walk, const struct json_item *array, int depth, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, walk->text, array->byte, array->line);
    for (size_t i = 0; (rc = wt__json_scan_next(&scan, &item)) > 0; i++) {
        size_t mark = wt__pointer_index(walk->reader, i);
        rc = walk_tool_value(walk, &item, depth + 1, err);
        wt__pointer_back(walk->reader, mark);
        if (rc == 0)
            rc = wt__reader_at(walk->reader, item.byte, err);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? wt__reader_broken(walk->reader, &scan, err) : 0;
}

/* Members of an object used by the walk. inner: [count] members that may hold tools. count is 0 if the object is a tool
 * itself or has no such member. server: member that identifies the server; its value is empty if there is no such
 * member. */
struct tool_page {
    struct json_item inner[INNER], server;
    size_t count;
};

/* Fills *page. A name next to a list of tools is the name of a server. Returns -1 if the text is invalid, 0 otherwise.
 * The scan stops early at a key of a tool. */
static int find_inner(struct json_scan *scan, struct tool_page *page)
{
    struct json_item item, name = {.value = {"", 0}};
    bool tools = false;
    int rc;
    *page = (struct tool_page){.count = 0};
    while ((rc = wt__json_scan_next(scan, &item)) > 0) {
        if (wt__str_equal(item.key, STR("name"))) {
            name = item;
        } else if (KEY_AMONG(marks, item.key) || (name.value.len > 0 && KEY_AMONG(schemas, item.key))) {
            page->count = 0;
            return 0;
        }
        if (KEY_AMONG(servers, item.key))
            page->server = item;
        if (page->count < INNER && begins_with(&item, "{[") && KEY_AMONG(containers, item.key)) {
            tools = tools || holds_tools(scan->text, &item, 0) > 0;
            page->inner[page->count++] = item;
        }
    }
    if (name.value.len > 0 && page->server.value.len == 0)
        page->server = name;
    if (name.value.len > 0 && !tools)
        page->count = 0;
    return rc;
}

/* Sets the provider to the string in item, or to the member "name" of the object in item. Does nothing if the provider
 * is known, if the value is too long, or if it has no such string. Returns 0 or WT_ENOMEM. */
static int set_provider(struct walk_root *walk, const struct json_item *item)
{
    json_auto_t *value = NULL;
    if (walk->named || item->value.len == 0 || item->value.len > WT_MAX_NAME_BYTES * 8)
        return 0;
    int rc = wt__json_parse(&value, item->value.ptr, item->value.len, NULL);
    struct str name = wt__json_str(value, "name");
    if (json_is_string(value))
        name = (struct str){json_string_value(value), json_string_length(value)};
    if (name.len == 0)
        return rc == WT_ENOMEM ? rc : 0;
    walk->reader->provider = (struct str){wt__arena_copy(&walk->reader->out->arena, name), name.len};
    walk->named = true;
    return walk->reader->provider.ptr ? 0 : WT_ENOMEM;
}

/* Visits the tools of an object whose keys are names of servers. */
static int walk_servers(struct walk_root *walk, const struct json_item *object, int depth, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, walk->text, object->byte, object->line);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        struct str before = walk->reader->provider;
        struct json_item key = {.value = {item.key.ptr - 1, item.key.len + 2}}; /* with its quotes */
        size_t mark = wt__pointer_key(walk->reader, item.key);
        walk->named = false;
        rc = set_provider(walk, &key) < 0 ? wt__fail_nomem(err) : walk_tool_value(walk, &item, depth + 1, err);
        walk->named = false;
        walk->reader->provider = before;
        wt__pointer_back(walk->reader, mark);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? wt__reader_broken(walk->reader, &scan, err) : 0;
}

static int walk_page(struct walk_root *walk, const struct tool_page *page, int depth, wt_error *err)
{
    struct str provider = walk->reader->provider;
    bool named = walk->named;
    int rc = set_provider(walk, &page->server) < 0 ? wt__fail_nomem(err) : 0;
    for (size_t i = 0; rc == 0 && i < page->count; i++) {
        size_t mark = wt__pointer_key(walk->reader, page->inner[i].key);
        rc = walk_tool_value(walk, &page->inner[i], depth + 1, err);
        wt__pointer_back(walk->reader, mark);
    }
    walk->reader->provider = provider;
    walk->named = named;
    return rc;
}

static int walk_tool_object(struct walk_root *walk, const struct json_item *object, int depth, wt_error *err)
{
    struct json_scan scan;
    struct tool_page page;
    wt__json_scan_open(&scan, walk->text, object->byte, object->line);
    int ended = find_inner(&scan, &page);
    if (page.count == 0 && maps_servers(walk->text, object))
        return walk_servers(walk, object, depth, err);
    if (page.count == 0)
        return walk->visit(walk->reader, object, err);
    int rc = walk_page(walk, &page, depth, err);
    return rc == 0 && ended < 0 ? wt__reader_broken(walk->reader, &scan, err) : rc;
}

static int walk_tool_value(struct walk_root *walk, const struct json_item *item, int depth, wt_error *err)
{
    struct source_place place = {item->byte, item->line};
    if (depth > WRAPPERS)
        return wt__reader_issue(walk->reader, place, "", err, "nested deeper than %d levels: no tools are read here",
                                WRAPPERS);
    if (begins_with(item, "["))
        return walk_tool_array(walk, item, depth, err);
    if (begins_with(item, "{"))
        return walk_tool_object(walk, item, depth, err);
    return walk->visit(walk->reader, item, err);
}

/* Reports text after the root value. */
static int check_rest(struct import_reader *reader, struct str text, const struct json_item *root, wt_error *err)
{
    struct json_item rest;
    size_t end = root->byte + root->value.len;
    size_t line = root->line;
    for (size_t i = root->byte; i < end; i++)
        line += text.ptr[i] == '\n';
    wt__json_scan_root(text, end, line, &rest);
    if (rest.value.len == 0 || root->cut)
        return 0;
    struct json_scan scan = {.at = rest.byte, .line = rest.line, .reason = "text after the end of the document"};
    return wt__reader_broken(reader, &scan, err);
}

int wt__walk_document(struct import_reader *reader, struct str text, walk_visit visit, wt_error *err)
{
    struct json_item root;
    wt__json_scan_root(text, 0, 1, &root);
    struct walk_root walk = {.reader = reader, .text = text, .visit = visit};
    WT_TRY(walk_tool_value(&walk, &root, 0, err));
    return check_rest(reader, text, &root, err);
}

int wt__walk_lines(struct import_reader *reader, struct str text, walk_visit visit, wt_error *err)
{
    size_t line = 1;
    for (size_t at = 0, end; at < text.len; line++, at = end + 1) {
        const char *newline = memchr(text.ptr + at, '\n', text.len - at);
        end = newline ? (size_t)(newline - text.ptr) : text.len;
        struct str value = wt__str_trim((struct str){text.ptr + at, end - at});
        if (value.len == 0)
            continue;
        struct walk_root walk = {.reader = reader, .text = {text.ptr, end}, .visit = visit};
        struct json_item item;
        wt__json_scan_root(walk.text, at, line, &item);
        item.value = value;
        item.cut = item.cut && !newline;
        reader->broken = false;
        WT_TRY(walk_tool_value(&walk, &item, 0, err));
        WT_TRY(wt__reader_at(reader, end, err));
    }
    return 0;
}

/* ---------------------------------------------------------------- peeking */

static const struct {
    const char *key;
    enum peek_key bit;
} peeked[] = {
    {"openapi", PEEK_OPENAPI},
    {"swagger", PEEK_SWAGGER},
    {"result", PEEK_RESULT},
    {"tools", PEEK_TOOLS},
    {"functionDeclarations", PEEK_DECLARATIONS},
    {"function_declarations", PEEK_DECLARATIONS},
    {"name", PEEK_NAME},
    {"type", PEEK_TYPE},
    {"function", PEEK_FUNCTION},
    {"parameters", PEEK_PARAMETERS},
    {"parametersJsonSchema", PEEK_JSON_PARAMETERS},
    {"parameters_json_schema", PEEK_JSON_PARAMETERS},
    {"input_schema", PEEK_INPUT_SCHEMA},
    {"inputSchema", PEEK_INPUT_SCHEMA_MCP},
    {"api_list", PEEK_API_LIST},
    {"_id", PEEK_ID},
    {"text", PEEK_TEXT},
    {"provider", PEEK_PROVIDER},
};

enum {
    PEEK_SCHEMAS = PEEK_FUNCTION | PEEK_PARAMETERS | PEEK_JSON_PARAMETERS | PEEK_INPUT_SCHEMA | PEEK_INPUT_SCHEMA_MCP
};

/* Collects the known keys of a value and of the containers and tools in it. *left: tools that may still be read. */
static void peek_value(struct peek *peek, struct str text, const struct json_item *value, int depth, unsigned *left)
{
    struct json_scan scan;
    struct json_item item;
    if (depth > WRAPPERS || *left == 0)
        return;
    if (!begins_with(value, "{[")) {
        --*left;
        return;
    }
    bool entered = false;
    bool several = begins_with(value, "{") && maps_servers(text, value); /* the keys are servers */
    wt__json_scan_open(&scan, text, value->byte, value->line);
    while (*left > 0 && wt__json_scan_next(&scan, &item) > 0) {
        for (size_t i = 0; !several && i < sizeof peeked / sizeof peeked[0]; i++)
            if (wt__str_equal(item.key, wt__str(peeked[i].key)))
                peek->keys |= peeked[i].bit;
        bool enter =
            several || begins_with(value, "[") || (begins_with(&item, "{[") && KEY_AMONG(containers, item.key));
        if (enter)
            peek_value(peek, text, &item, depth + 1, left);
        entered = entered || enter;
    }
    if (!entered && *left > 0)
        *left = peek->keys & PEEK_SCHEMAS ? 0 : *left - 1; /* the first tool with a schema decides */
}

/* Finds the first line that begins with the key openapi or swagger, as in a YAML document. The key may be quoted.
 * Returns its PEEK_ bit, or 0 if there is no such line. */
static unsigned peek_yaml(struct str text)
{
    for (size_t at = 0; at < text.len;) {
        struct str line = {text.ptr + at, text.len - at};
        const char *newline = memchr(line.ptr, '\n', line.len);
        at += newline ? (size_t)(newline - line.ptr) + 1 : line.len;
        if (line.len > 0 && (line.ptr[0] == '"' || line.ptr[0] == '\''))
            line = (struct str){line.ptr + 1, line.len - 1};
        if (wt__str_starts(line, STR("openapi")) && line.len > 7 && strchr(":\"' ", line.ptr[7]))
            return PEEK_OPENAPI;
        if (wt__str_starts(line, STR("swagger")) && line.len > 7 && strchr(":\"' ", line.ptr[7]))
            return PEEK_SWAGGER;
    }
    return 0;
}

static bool file_ends_with(const char *file, const char *ending)
{
    size_t len = strlen(file), tail = strlen(ending);
    return len >= tail && strcasecmp(file + len - tail, ending) == 0;
}

/* True if the source seems to have one value per line: its file name ends in .jsonl or .ndjson, or its first non-blank
 * line begins with '{' and ends with '}', and the next non-blank line begins with '{'. */
static bool peek_lines(const char *file, struct str text)
{
    if (file_ends_with(file, ".jsonl") || file_ends_with(file, ".ndjson"))
        return true;
    struct str rest = wt__str_trim(text);
    const char *newline = rest.len > 0 ? memchr(rest.ptr, '\n', rest.len) : NULL;
    if (!newline || rest.ptr[0] != '{')
        return false;
    size_t len = (size_t)(newline - rest.ptr);
    struct str first = wt__str_trim((struct str){rest.ptr, len});
    rest = wt__str_trim((struct str){newline, rest.len - len});
    return first.ptr[first.len - 1] == '}' && rest.ptr[0] == '{';
}

void wt__peek(struct peek *peek, const char *file, struct str text)
{
    struct str start = wt__str_trim(text);
    unsigned left = PEEK_TOOLS_SEEN;
    *peek = (struct peek){0};
    peek->lines = peek_lines(file, text);
    if (start.len == 0 || !memchr("{[", start.ptr[0], 2)) {
        peek->keys = peek_yaml(text);
        peek->yaml = peek->keys != 0;
    }
    struct json_item root;
    if (!peek->lines && !peek->yaml) {
        wt__json_scan_root(text, 0, 1, &root);
        peek_value(peek, text, &root, 0, &left);
        return;
    }
    for (size_t at = 0; peek->lines && at < text.len && left > 0;) {
        const char *newline = memchr(text.ptr + at, '\n', text.len - at);
        size_t end = newline ? (size_t)(newline - text.ptr) : text.len;
        wt__json_scan_root((struct str){text.ptr, end}, at, 1, &root);
        peek_value(peek, (struct str){text.ptr, end}, &root, 0, &left);
        at = end + 1;
        left -= left > 0;
    }
}
