/* message.c: JSON-RPC 2.0 messages in the subset of MCP: no batches, ids are strings or whole numbers. Decisions use
 * the parsed tree, so that duplicate or escaped names cannot have two meanings. */
#include <stdlib.h>

#include "base/base64.h"
#include "base/json_check.h"
#include "base/memory.h"
#include "serve/mcp/internal.h"

void wt__mcp_write_id(struct buffer *out, struct str id)
{
    json_auto_t *text = NULL;
    if (wt__json_is_number(id))
        wt__buffer_str(out, id);
    else if (id.len > 0 && id.ptr[0] == '"' && wt__json_parse(&text, id.ptr, id.len, NULL) == 0)
        wt__json_write(out, text);
}

/* Reads the id from the text, because the tree cannot hold every number. Also reads the id of an invalid message if
 * possible, because the client waits for a response with this id. */
static void read_id(struct mcp_incoming *in, struct str text)
{
    struct str id;
    wt__mcp_member(wt__str_trim(text), "id", &id);
    wt__buffer_clear(&in->id);
    wt__mcp_write_id(&in->id, id);
    if (in->id.len == 0)
        wt__buffer_text(&in->id, "null");
}

/* True if the id is valid for a request: a short string or a whole number. Other ids are only repeated in error
 * responses. The id of a response is not checked here. */
static bool is_request_id(struct mcp_incoming *in)
{
    const json_t *id = json_object_get(in->message, "id");
    struct str written = wt__buffer_view(&in->id);
    return json_is_string(id)
               ? json_string_length(id) <= MCP_ID_BYTES_MAX
               : json_is_number(id) && written.len <= MCP_ID_BYTES_MAX && !memchr(written.ptr, '.', written.len) &&
                     !memchr(written.ptr, 'e', written.len) && !memchr(written.ptr, 'E', written.len);
}

static enum mcp_incoming_kind mark_bad(struct mcp_incoming *in, int code, const char *words)
{
    in->code = code;
    in->words = words;
    return MCP_IN_BAD;
}

static enum mcp_incoming_kind read_message_kind(struct mcp_incoming *in)
{
    const json_t *method = json_object_get(in->message, "method"), *params = json_object_get(in->message, "params");
    if (!json_is_object(in->message))
        return mark_bad(in, MCP_INVALID_REQUEST,
                        json_is_array(in->message) ? "batches are not supported; send one message at a time"
                                                   : "the message is not a JSON object");
    bool named = is_request_id(in);
    if (in->id.failed)
        return mark_bad(in, MCP_INTERNAL_ERROR, "out of memory");
    if (!wt__str_equal(wt__json_str(in->message, "jsonrpc"), STR("2.0")))
        return mark_bad(in, MCP_INVALID_REQUEST, "\"jsonrpc\" is not \"2.0\"");
    if (!method) {
        bool result = json_object_get(in->message, "result"), error = json_object_get(in->message, "error");
        return result != error ? MCP_IN_RESPONSE
                               : mark_bad(in, MCP_INVALID_REQUEST, "the message has no method and is not a response");
    }
    if (!json_is_string(method))
        return mark_bad(in, MCP_INVALID_REQUEST, "\"method\" is not a string");
    in->method = (struct str){json_string_value(method), json_string_length(method)};
    if (!named && json_object_get(in->message, "id"))
        return mark_bad(in, MCP_INVALID_REQUEST, "\"id\" must be a string of at most 256 bytes or a whole number");
    if (params && !json_is_object(params) && !json_is_null(params))
        return mark_bad(in, MCP_INVALID_PARAMS, "\"params\" is not an object");
    in->params = json_is_object(params) ? params : NULL;
    return named ? MCP_IN_REQUEST : MCP_IN_NOTIFICATION;
}

/* Parses params.arguments and the rest of the message separately, because strings in arguments may contain NUL. rc: the
 * error of parsing the whole message. If only the arguments are invalid, sets in->fault, so that the request still gets
 * a response. Returns 0, WT_ENOMEM, or rc if the rest of the message is invalid. */
static int parse_around_arguments(struct mcp_incoming *in, struct str text, int rc)
{
    struct str params, arguments;
    WT_CLEANUP(wt__buffer_dispose) struct buffer around = {0};
    json_t *tree = NULL;
    wt_error err;
    if (!wt__mcp_member(wt__str_trim(text), "params", &params) || !wt__mcp_member(params, "arguments", &arguments) ||
        arguments.len == 0 || arguments.ptr[0] != '{')
        return rc;
    size_t begin = (size_t)(arguments.ptr - text.ptr), end = begin + arguments.len;
    wt__buffer_append(&around, text.ptr, begin);
    wt__buffer_text(&around, "{}");
    wt__buffer_append(&around, text.ptr + end, text.len - end);
    int parsed = around.failed ? WT_ENOMEM : wt__json_parse(&in->message, around.ptr, around.len, NULL);
    if (parsed < 0)
        return parsed == WT_ENOMEM ? parsed : rc;
    parsed = wt__json_parse_with_nul(&tree, arguments.ptr, arguments.len, &err);
    if (parsed == 0)
        parsed = json_object_set_new(json_object_get(in->message, "params"), "arguments", tree) < 0 ? WT_ENOMEM : 0;
    else if (parsed != WT_ENOMEM)
        wt__buffer_printf(&in->fault, "params.arguments: %s", err.message);
    return parsed == WT_ENOMEM || in->fault.failed ? WT_ENOMEM : 0;
}

void wt__mcp_read_message(struct mcp_incoming *in, struct str text)
{
    *in = (struct mcp_incoming){.method = {"", 0}, .words = ""};
    read_id(in, text);
    if (text.len > MCP_MESSAGE_BYTES_MAX) {
        in->kind = mark_bad(in, MCP_INVALID_REQUEST, "the message is longer than 4 MiB");
        return;
    }
    wt__buffer_str(&in->text, text);
    int rc = in->text.failed ? WT_ENOMEM : wt__json_parse(&in->message, text.ptr ? text.ptr : "", text.len, NULL);
    if (rc < 0 && rc != WT_ENOMEM)
        rc = parse_around_arguments(in, text, rc);
    if (rc < 0)
        in->kind = rc == WT_ENOMEM ? mark_bad(in, MCP_INTERNAL_ERROR, "out of memory")
                   : rc == WT_ETOOLONG
                       ? mark_bad(in, MCP_PARSE_ERROR, "the JSON is nested too deeply")
                       : mark_bad(in, MCP_PARSE_ERROR, "the message is not valid JSON, or has a duplicate name");
    else
        in->kind = read_message_kind(in);
}

void wt__mcp_incoming_dispose(struct mcp_incoming *in)
{
    json_decref(in->message);
    wt__buffer_dispose(&in->id);
    wt__buffer_dispose(&in->text);
    wt__buffer_dispose(&in->fault);
    *in = (struct mcp_incoming){.method = {"", 0}};
}

struct str wt__mcp_incoming_text(const struct mcp_incoming *in, const char *member)
{
    struct str params, value;
    wt__mcp_member(wt__str_trim(wt__buffer_view(&in->text)), "params", &params);
    wt__mcp_member(params, member, &value);
    return value;
}

const json_t *wt__mcp_incoming_meta(const struct mcp_incoming *in)
{
    return wt__json_object(in->params, "_meta");
}

void wt__mcp_put_text(struct buffer *out, const char *before, struct str text)
{
    wt__buffer_text(out, before);
    wt__buffer_json(out, text);
}

void wt__mcp_write_error(struct buffer *out, struct str id, int code, struct str words, struct str data)
{
    wt__buffer_text(out, "{\"jsonrpc\":\"2.0\",");
    if (id.len > 0 && !wt__str_equal(id, STR("null"))) {
        wt__buffer_text(out, "\"id\":");
        wt__buffer_str(out, id);
        wt__buffer_char(out, ',');
    }
    wt__buffer_printf(out, "\"error\":{\"code\":%d,\"message\":", code);
    wt__buffer_json(out, words);
    if (data.len > 0) {
        wt__buffer_text(out, ",\"data\":");
        wt__buffer_str(out, data);
    }
    wt__buffer_text(out, "}}");
}

bool wt__mcp_is_modern(const struct mcp_incoming *in, struct str header)
{
    if (json_object_get(wt__mcp_incoming_meta(in), MCP_META "protocolVersion"))
        return true;
    if (wt__str_equal(in->method, STR("server/discover")) || wt__str_equal(in->method, STR("subscriptions/listen")))
        return true;
    return header.len > 0 && !wt__mcp_is_legacy_version(header);
}

void wt__mcp_write_server_info(struct buffer *out, const struct mcp_features *features, bool with_title)
{
    wt__mcp_put_text(out, "{\"name\":", wt__str(features->name));
    if (with_title && features->title) {
        wt__mcp_put_text(out, ",\"title\":", wt__str(features->title));
    }
    wt__mcp_put_text(out, ",\"version\":", wt__str(features->version));
    wt__buffer_char(out, '}');
}

bool wt__mcp_is_legacy_version(struct str version)
{
    static const char *const versions[] = {MCP_LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"};
    return wt__str_among(version, versions, sizeof versions / sizeof *versions);
}

void wt__mcp_write_versions(struct buffer *out)
{
    wt__buffer_text(out, "[\"" MCP_MODERN_VERSION "\",\"" MCP_LEGACY_VERSION
                         "\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]");
}

/* Compares a modern request's HTTP headers with its body. A proxy that routes by headers and a server that acts
 * on the body must see the same request. */

#define SENTINEL "=?base64?"

/* Decodes a header value that has the base64 marker, and copies other values. Returns false if the value has bytes that
 * are forbidden in headers, or invalid base64. */
static bool decode_header(struct str header, struct buffer *out)
{
    static const struct str begin = {SENTINEL, sizeof SENTINEL - 1}, end = {"?=", 2};
    for (size_t i = 0; i < header.len; i++)
        if (((unsigned char)header.ptr[i] < 0x20 && header.ptr[i] != '\t') || (unsigned char)header.ptr[i] > 0x7e)
            return false;
    if (header.len >= begin.len + end.len && wt__str_starts(header, begin) &&
        memcmp(header.ptr + header.len - end.len, end.ptr, end.len) == 0)
        return wt__base64_decode(out, (struct str){header.ptr + begin.len, header.len - begin.len - end.len});
    wt__buffer_str(out, header);
    return true;
}

/* True if the header is a number equal to value; 42.0 equals 42. */
static bool is_header_number(struct str header, double value)
{
    char text[64], *end;
    if (header.len == 0 || header.len >= sizeof text || wt__is_blank(header.ptr[0]))
        return false;
    memcpy(text, header.ptr, header.len);
    text[header.len] = '\0';
    double number = strtod(text, &end);
    return *end == '\0' && number - value == 0;
}

bool wt__mcp_header_equals(struct str header, const json_t *value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer decoded = {0};
    if (!decode_header(header, &decoded) || decoded.failed)
        return false;
    struct str text = wt__buffer_view(&decoded);
    if (json_is_string(value))
        return wt__str_equal(text, (struct str){json_string_value(value), json_string_length(value)});
    if (json_is_number(value))
        return is_header_number(text, json_number_value(value));
    return json_is_boolean(value) && wt__str_equal(text, json_is_true(value) ? STR("true") : STR("false"));
}

bool wt__mcp_headers_match(const struct mcp_headers *headers, struct str method, const json_t *name,
                           struct buffer *words)
{
    const char *wrong = NULL;
    if (headers->method.len == 0)
        wrong = "the header Mcp-Method is missing";
    else if (!wt__str_equal(headers->method, method))
        wrong = "the header Mcp-Method differs from the method of the message";
    else if (name && headers->name.len == 0)
        wrong = "the header Mcp-Name is missing";
    else if (name && !wt__mcp_header_equals(headers->name, name))
        wrong = "the header Mcp-Name differs from the name in the message";
    if (wrong)
        wt__buffer_text(words, wrong);
    return !wrong;
}
