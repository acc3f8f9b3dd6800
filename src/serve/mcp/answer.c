/* answer.c: collects the parts of a response and writes them as one message at the end. Adds the members that
 * depend on the protocol era: resultType, cache hints, and serverInfo in _meta. */
#include <stdarg.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "serve/mcp/internal.h"
#include "wire/failure.h"

enum {
    WORDS_BYTES = 1024,   /* maximum length of a formatted error message, with its NUL */
    META_KEY_BYTES = 256, /* maximum length of a name in _meta, with a NUL; longer names are dropped */
};

/* ---------------------------------------------------------------- errors */

void wt__mcp_refuse_with(struct mcp_call *call, int code, struct str message, struct str data)
{
    call->is_refused = true;
    call->code = code;
    wt__buffer_clear(&call->words);
    wt__buffer_clear(&call->data);
    wt__buffer_str(&call->words, message);
    wt__buffer_str(&call->data, data);
}

void wt__mcp_refuse(struct mcp_call *call, int code, const char *format, ...)
{
    char words[WORDS_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    wt__mcp_refuse_with(call, code, wt__str(words), STR(""));
}

void wt__mcp_refuse_unknown(struct mcp_call *call)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0}, data = {0};
    const json_t *ref = wt__json_object(call->in.params, "ref"); /* in completion/complete */
    bool resource = wt__str_equal(call->in.method, STR("resources/read"));
    bool prompt = wt__str_equal(call->in.method, STR("prompts/get")) || json_object_get(ref, "name");
    wt__buffer_printf(&words, "there is no %s ",
                      resource || json_object_get(ref, "uri") ? "resource"
                      : prompt                                ? "prompt"
                                                              : "tool");
    wt__buffer_json(&words, wt__str_head(!ref     ? call->name
                                         : prompt ? wt__json_str(ref, "name")
                                                  : wt__json_str(ref, "uri"),
                                         200));
    if (resource) {
        wt__mcp_put_text(&data, "{\"uri\":", call->name);
        wt__buffer_char(&data, '}');
    }
    wt__mcp_refuse_with(call, resource && !call->is_modern ? MCP_NO_SUCH_RESOURCE : MCP_INVALID_PARAMS,
                        wt__buffer_view(&words), wt__buffer_view(&data));
}

void wt__mcp_refuse_cursor(struct mcp_call *call)
{
    wt__mcp_refuse(call, MCP_INVALID_PARAMS, "invalid cursor, or the list has changed; start from the beginning");
}

void wt__mcp_client_error(const struct mcp_call *call, const wt_error *err, wt_error *told)
{
    const struct mcp_features *features = &call->service->features;
    if (wt__client_error(told, err, features->store_path) && features->failed)
        features->failed(features->context, err);
}

void wt__mcp_refuse_error(struct mcp_call *call, const wt_error *err)
{
    bool theirs =
        err->code == WT_EINVAL || err->code == WT_EFORMAT || err->code == WT_ENOTFOUND || err->code == WT_ETOOLONG;
    wt_error told;
    wt__mcp_client_error(call, err, &told);
    wt__mcp_refuse(call, theirs ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR, "%s",
                   told.message[0] ? told.message : "unknown error");
}

void wt__mcp_fail_tool_error(struct mcp_call *call, const wt_error *err)
{
    wt_error told;
    wt__mcp_client_error(call, err, &told);
    wt__mcp_fail_tool(call, "%s", told.message);
}

/* ---------------------------------------------------------------- parts */

void wt__mcp_result(struct mcp_call *call, struct str result)
{
    call->is_refused = false;
    call->is_whole = true;
    wt__buffer_clear(&call->result);
    wt__buffer_str(&call->result, result);
}

/* Starts an item: counts it, and appends a comma if needed. */
static struct buffer *begin_item(struct mcp_call *call)
{
    call->is_refused = false;
    if (call->item_count++ > 0)
        wt__buffer_char(&call->items, ',');
    return &call->items;
}

void wt__mcp_add_text(struct mcp_call *call, struct str text)
{
    wt__mcp_put_text(begin_item(call), "{\"type\":\"text\",\"text\":", text);
    wt__buffer_char(&call->items, '}');
}

void wt__mcp_add_contents(struct mcp_call *call, struct str uri, const char *mime_type, struct str text,
                          struct str base64)
{
    struct buffer *out = begin_item(call);
    wt__mcp_put_text(out, "{\"uri\":", uri);
    wt__mcp_put_text(out, ",\"mimeType\":", wt__str(mime_type));
    wt__mcp_put_text(out, base64.ptr ? ",\"blob\":" : ",\"text\":", base64.ptr ? base64 : text);
    wt__buffer_char(out, '}');
}

void wt__mcp_set_structured(struct mcp_call *call, struct str json)
{
    call->is_refused = false;
    call->has_structured = true;
    wt__buffer_clear(&call->structured);
    wt__buffer_str(&call->structured, json);
}

void wt__mcp_set_is_error(struct mcp_call *call)
{
    call->is_refused = false;
    call->is_error = true;
}

void wt__mcp_fail_tool(struct mcp_call *call, const char *format, ...)
{
    char words[WORDS_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    wt__mcp_add_text(call, wt__str(words));
    wt__mcp_set_is_error(call);
}

bool wt__mcp_add_item(struct mcp_call *call, struct str key, struct str definition)
{
    call->is_refused = false;
    if (call->item_count >= call->service->page_items ||
        (call->item_count > 0 && call->items.len + definition.len > MCP_PAGE_BYTES)) {
        call->is_page_full = true;
        return false;
    }
    wt__buffer_str(begin_item(call), definition);
    wt__buffer_clear(&call->cursor);
    wt__buffer_str(&call->cursor, key);
    return true;
}

void wt__mcp_add_value(struct mcp_call *call, struct str value)
{
    if (call->item_count >= MCP_VALUES_MAX) {
        call->item_count++;
        return;
    }
    wt__buffer_json(begin_item(call), value);
}

void wt__mcp_set_meta(struct mcp_call *call, struct str meta)
{
    wt__buffer_clear(&call->meta);
    wt__buffer_str(&call->meta, meta);
}

/* ---------------------------------------------------------------- the message */

static bool is_object(struct str json)
{
    json = wt__str_trim(json);
    return json.len > 0 && json.ptr[0] == '{';
}

/* Appends the members of an object except those named in `but`, each after a comma. */
static void copy_other_members(struct buffer *out, struct str object, const char *const *but, size_t but_count)
{
    struct json_scan scan;
    struct json_item item;
    wt__json_scan_open(&scan, wt__str_trim(object), 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        bool left_out = false;
        for (size_t i = 0; i < but_count; i++)
            left_out |= wt__json_key_is(item.key, wt__str(but[i]));
        if (left_out)
            continue;
        wt__buffer_text(out, ",\"");
        wt__buffer_str(out, item.key);
        wt__buffer_text(out, "\":");
        wt__buffer_str(out, item.value);
    }
}

/* Appends the members of an upstream server's _meta, each after a comma. Skips serverInfo and names that `ours` has
 * too. Also skips a name with an escape, because it may be another spelling of a name in `ours`. */
static void merge_meta(struct buffer *out, struct str theirs, struct str ours)
{
    struct json_scan scan;
    struct json_item item;
    struct str value;
    if (!is_object(theirs))
        return;
    wt__json_scan_open(&scan, wt__str_trim(theirs), 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        bool escaped = memchr(item.key.ptr, '\\', item.key.len) != NULL;
        char key[META_KEY_BYTES];
        if (escaped || item.key.len >= sizeof key || wt__str_equal(item.key, STR(MCP_META "serverInfo")))
            continue;
        memcpy(key, item.key.ptr, item.key.len);
        key[item.key.len] = '\0';
        if (ours.len > 0 && wt__mcp_member(ours, key, &value) && value.len > 0)
            continue;
        wt__buffer_printf(out, ",\"%s\":", key);
        wt__buffer_str(out, item.value);
    }
}

/* Appends _meta if it has members. more: _meta set by the call; theirs: _meta of an upstream server. Both may be "". */
static void write_result_meta(const struct mcp_call *call, struct buffer *out, struct str more, struct str theirs)
{
    static const char *const ours[] = {MCP_META "serverInfo"};
    WT_CLEANUP(wt__buffer_dispose) struct buffer members = {0};
    if (call->is_modern) {
        wt__buffer_text(&members, ",\"" MCP_META "serverInfo\":");
        wt__mcp_write_server_info(&members, &call->service->features, false);
    }
    copy_other_members(&members, more, ours, 1);
    merge_meta(&members, theirs, more);
    if (members.len > 1) {
        wt__buffer_text(out, ",\"_meta\":{");
        wt__buffer_append(out, members.ptr + 1, members.len - 1);
        wt__buffer_char(out, '}');
    }
    out->failed |= members.failed;
}

static void write_cache_hints(const struct mcp_call *call, struct buffer *out)
{
    const struct mcp_features *features = &call->service->features;
    wt__buffer_printf(out, ",\"ttlMs\":%u,\"cacheScope\":\"%s\"", features->ttl_ms,
                      features->private_lists ? "private" : "public");
}

static void write_items(const struct mcp_call *call, struct buffer *out, const char *key)
{
    wt__buffer_printf(out, ",\"%s\":[", key);
    wt__buffer_str(out, wt__buffer_view(&call->items));
    wt__buffer_char(out, ']');
}

static void write_tool_result(struct mcp_call *call, struct buffer *out)
{
    struct str structured = wt__buffer_view(&call->structured);
    if (call->has_structured && call->item_count == 0) /* some clients read only text */
        wt__mcp_add_text(call, structured);
    write_items(call, out, "content");
    if (call->has_structured && (call->is_modern || is_object(structured))) {
        wt__buffer_text(out, ",\"structuredContent\":");
        wt__buffer_str(out, structured);
    }
    if (call->is_error)
        wt__buffer_text(out, ",\"isError\":true");
}

static void write_list_result(struct mcp_call *call, struct buffer *out)
{
    write_items(call, out, call->method->member);
    if (call->is_page_full && call->item_count > 0) {
        wt__buffer_text(out, ",\"nextCursor\":\"");
        wt__base64_url(out, wt__buffer_view(&call->cursor));
        wt__buffer_char(out, '"');
    }
}

static void write_whole_result(const struct mcp_call *call, struct buffer *out)
{
    static const char *const but[] = {"resultType", "_meta", "ttlMs", "cacheScope", "structuredContent"};
    struct str result = wt__buffer_view(&call->result), structured, ttl, scope;
    bool read = wt__mcp_member(result, "structuredContent", &structured);
    copy_other_members(out, result, but, sizeof but / sizeof *but);
    if (read && structured.len > 0 && (call->is_modern || is_object(structured))) {
        wt__buffer_text(out, ",\"structuredContent\":");
        wt__buffer_str(out, structured);
    }
    if (!call->is_modern || call->method->shape != MCP_SHAPE_CONTENTS)
        return;
    if (wt__mcp_member(result, "ttlMs", &ttl) && ttl.len > 0 && wt__mcp_member(result, "cacheScope", &scope) &&
        scope.len > 0) {
        wt__buffer_printf(out, ",\"ttlMs\":%.*s,\"cacheScope\":%.*s", (int)ttl.len, ttl.ptr, (int)scope.len, scope.ptr);
        return;
    }
    write_cache_hints(call, out);
}

static void write_parts(struct mcp_call *call, struct buffer *out)
{
    switch (call->method->shape) {
    case MCP_SHAPE_EMPTY:
        break;
    case MCP_SHAPE_TOOL:
        write_tool_result(call, out);
        break;
    case MCP_SHAPE_CONTENTS:
        write_items(call, out, "contents");
        break;
    case MCP_SHAPE_LIST:
        write_list_result(call, out);
        break;
    case MCP_SHAPE_COMPLETION:
        wt__buffer_text(out, ",\"completion\":{\"values\":[");
        wt__buffer_str(out, wt__buffer_view(&call->items));
        wt__buffer_printf(out, "],\"total\":%zu,\"hasMore\":%s}", call->item_count,
                          call->item_count > MCP_VALUES_MAX ? "true" : "false");
        break;
    case MCP_SHAPE_RAW:
        wt__buffer_str(out, wt__buffer_view(&call->result));
        break;
    }
    if (call->is_modern && (call->method->shape == MCP_SHAPE_CONTENTS || call->method->shape == MCP_SHAPE_LIST))
        write_cache_hints(call, out);
}

static void write_input_required(const struct mcp_call *call, struct buffer *out)
{
    wt__buffer_text(out, "\"resultType\":\"input_required\",\"inputRequests\":{");
    wt__buffer_str(out, wt__buffer_view(&call->questions));
    wt__buffer_text(out, "},\"requestState\":\"");
    wt__buffer_str(out, wt__buffer_view(&call->sealed));
    wt__buffer_char(out, '"');
    write_result_meta(call, out, STR(""), STR(""));
}

static void write_result(struct mcp_call *call, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer members = {0};
    struct str theirs = STR("");
    if (call->is_modern)
        wt__buffer_text(&members, ",\"resultType\":\"complete\"");
    if (call->is_whole) {
        write_whole_result(call, &members);
        if (!wt__mcp_member(wt__buffer_view(&call->result), "_meta", &theirs))
            theirs = STR("");
    } else {
        write_parts(call, &members);
    }
    write_result_meta(call, &members, wt__buffer_view(&call->meta), theirs);
    if (members.len > 1)
        wt__buffer_append(out, members.ptr + 1, members.len - 1); /* skip the first comma */
    out->failed |= members.failed;
}

/* Returns the HTTP status of an error: call->status if set, else the status for its code. Legacy errors have 200. */
static int error_status(const struct mcp_call *call)
{
    if (call->status)
        return call->status;
    if (!call->is_modern)
        return 200;
    return call->code == MCP_METHOD_NOT_FOUND                                           ? 404
           : call->code <= MCP_HEADER_MISMATCH && call->code >= MCP_UNSUPPORTED_VERSION ? 400
                                                                                        : 200;
}

static void write_message(struct mcp_call *call, struct buffer *out, int *status)
{
    struct str id = wt__buffer_view(&call->in.id);
    wt__buffer_clear(out);
    if (call->is_refused) {
        *status = error_status(call);
        wt__mcp_write_error(out, id, call->code, wt__buffer_view(&call->words), wt__buffer_view(&call->data));
        return;
    }
    *status = 200;
    wt__buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{", id.ptr);
    if (call->is_modern && call->questions.len > 0)
        write_input_required(call, out);
    else
        write_result(call, out);
    wt__buffer_text(out, "}}");
    out->failed |= call->items.failed || call->structured.failed || call->meta.failed || call->result.failed ||
                   call->cursor.failed || call->questions.failed || call->sealed.failed;
}

void wt__mcp_write_answer(struct mcp_call *call, struct buffer *out, int *status)
{
    write_message(call, out, status);
    if (!out->failed)
        return;
    wt__buffer_dispose(out);
    wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    write_message(call, out, status);
}
