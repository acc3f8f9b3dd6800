/* message.c: reads and writes JSON-RPC messages, header values and event streams (message.h). */
#include "mcp/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "text/shown.h"

enum {
    ID_DIGITS = 18,              /* maximum digits of our ids */
    REASON_BYTES_MAX = 64 << 10, /* maximum size of a body that is parsed for its reason */
};

#define CLIENT_INFO "{\"name\":\"whichtool\",\"version\":\"" WT_VERSION "\"}"
#define META "io.modelcontextprotocol/"

/* ---------------------------------------------------------------- reading */

bool wt__mcp_member(struct str object, const char *key, struct str *value)
{
    struct json_scan scan;
    struct json_item item;
    bool twice = false;
    int rc;
    *value = (struct str){"", 0};
    wt__json_scan_open(&scan, object, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        if (!wt__json_key_is(item.key, wt__str(key)))
            continue;
        twice |= value->len > 0;
        *value = item.value;
    }
    return rc == 0 && !twice;
}

/* True if the id is a number or a string, as JSON-RPC requires, and not too long. */
static bool is_id(struct str id)
{
    return id.len > 0 && id.len <= MCP_ID_BYTES_MAX &&
           (id.ptr[0] == '"' || id.ptr[0] == '-' || wt__is_digit(id.ptr[0]));
}

/* Finds all members in one pass, since a message may be large. Returns false if the message is invalid or has a member
 * twice. */
static bool read_message_members(struct str message, struct mcp_message *out)
{
    const struct {
        struct str key;
        struct str *value;
    } members[] = {{STR("jsonrpc"), &out->jsonrpc}, {STR("id"), &out->id},         {STR("method"), &out->method},
                   {STR("params"), &out->params},   {STR("result"), &out->result}, {STR("error"), &out->error}};
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, message, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0)
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            if (!wt__json_key_is(item.key, members[i].key))
                continue;
            if (members[i].value->len > 0)
                return false;
            *members[i].value = item.value;
        }
    return rc == 0;
}

enum mcp_kind wt__mcp_parse_message(struct str text, struct mcp_message *out)
{
    static const struct str none = {"", 0};
    struct str message = wt__str_trim(text);
    *out = (struct mcp_message){none, none, none, none, none, none};
    if (message.len == 0 || message.ptr[0] != '{' || !read_message_members(message, out))
        return MCP_NO_MESSAGE;
    if (out->method.len > 0)
        return out->id.len > 0 ? MCP_REQUEST : MCP_NOTIFICATION;
    return (out->result.len > 0) != (out->error.len > 0) ? MCP_ANSWER : MCP_NO_MESSAGE;
}

bool wt__mcp_parse_id(struct str text, int64_t *out)
{
    char digits[24];
    size_t len = text.len, quoted = len >= 2 && text.ptr[0] == '"' && text.ptr[len - 1] == '"';
    len -= 2 * quoted;
    if (len == 0 || len > ID_DIGITS)
        return false;
    memcpy(digits, text.ptr + quoted, len);
    digits[len] = '\0';
    if (strspn(digits, "0123456789") != len)
        return false;
    *out = strtoll(digits, NULL, 10);
    return true;
}

/* ---------------------------------------------------------------- writing */

/* Appends the members of _meta, each after a comma or, for the first member, after a space. */
static void write_meta(struct buffer *out, int64_t id, const struct mcp_meta *meta)
{
    size_t before = out->len;
    if (meta->modern) {
        wt__buffer_text(out, ",\"" META "protocolVersion\":\"" MCP_MODERN_VERSION "\",\"" META
                             "clientInfo\":" CLIENT_INFO ",\"" META "clientCapabilities\":");
        wt__buffer_str(out, meta->capabilities.len > 0 ? meta->capabilities : STR("{}"));
    }
    if (meta->modern && meta->log_level) {
        wt__buffer_text(out, ",\"" META "logLevel\":");
        wt__buffer_json(out, wt__str(meta->log_level));
    }
    if (meta->progress)
        wt__buffer_printf(out, ",\"progressToken\":%" PRId64, id);
    if (meta->more.len > 0) {
        wt__buffer_char(out, ',');
        wt__buffer_str(out, meta->more);
    }
    if (out->len > before && !out->failed)
        out->ptr[before] = ' '; /* the first comma */
}

void wt__mcp_join_lines(struct buffer *out)
{
    for (size_t i = 0; !out->failed && i < out->len; i++)
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r')
            out->ptr[i] = ' ';
}

void wt__mcp_write_request(struct buffer *out, int64_t id, const char *method, struct str params,
                           const struct mcp_meta *meta)
{
    wt__buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":", id);
    wt__buffer_json(out, wt__str(method));
    wt__buffer_text(out, ",\"params\":{");
    wt__buffer_str(out, params);
    if (meta->modern || meta->progress || meta->more.len > 0) {
        wt__buffer_text(out, params.len > 0 ? ",\"_meta\":{" : "\"_meta\":{");
        write_meta(out, id, meta);
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, "}}");
    wt__mcp_join_lines(out);
}

#define INITIALIZE(capabilities)                                                                                       \
    "\"protocolVersion\":\"" MCP_LEGACY_VERSION "\",\"capabilities\":" capabilities ",\"clientInfo\":" CLIENT_INFO

struct str wt__mcp_initialize_params(bool lists_only)
{
    static const struct str listing = STR(INITIALIZE("{}")),
                            relaying = STR(
                                INITIALIZE("{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}"));
    return lists_only ? listing : relaying;
}

void wt__mcp_write_notification(struct buffer *out, const char *method, struct str params)
{
    wt__buffer_text(out, "{\"jsonrpc\":\"2.0\",\"method\":");
    wt__buffer_json(out, wt__str(method));
    if (params.len > 0) {
        wt__buffer_text(out, ",\"params\":{");
        wt__buffer_str(out, params);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, '}');
    wt__mcp_join_lines(out);
}

void wt__mcp_write_response(struct buffer *out, struct str id, struct str result, struct str error)
{
    if (!is_id(id))
        return;
    wt__buffer_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    wt__buffer_str(out, id);
    wt__buffer_text(out, result.len > 0 ? ",\"result\":" : ",\"error\":");
    wt__buffer_str(out, result.len > 0 ? result : error);
    wt__buffer_char(out, '}');
    wt__mcp_join_lines(out);
}

/* ---------------------------------------------------------------- errors */

void wt__mcp_put_server_text(struct buffer *out, struct str words)
{
    struct str shown = {words.ptr, words.len < MCP_WORDS_BYTES ? words.len : MCP_WORDS_BYTES};
    size_t from = out->len;
    while (shown.len < words.len && shown.len > 0 &&
           shown.ptr[shown.len - 1] != ' ') /* wt__mcp_hide_secrets would miss half a secret */
        shown.len--;
    wt__shown_json(out, shown);
    for (size_t i = from; !out->failed && i < out->len; i++)
        if ((unsigned char)out->ptr[i] < ' ' || out->ptr[i] == 0x7f)
            out->ptr[i] = ' ';
    wt__buffer_text(out, shown.len < words.len ? "..." : "");
}

/* Appends the text of a member, which is a string or an object with a "message". A text that `out` already contains is
 * not repeated. */
static void put_error_words(struct buffer *out, const json_t *body, const char *key)
{
    struct str words = wt__json_str(body, key), there = wt__buffer_view(out);
    if (words.len == 0)
        words = wt__json_str(json_object_get(body, key), "message");
    if (words.len == 0 || (there.len > 0 && memmem(there.ptr, there.len, words.ptr, words.len)))
        return;
    wt__buffer_text(out, there.len > 0 ? ": " : "");
    wt__buffer_str(out, words);
}

void wt__mcp_put_reason(struct buffer *out, const char *type, struct str body)
{
    static const char *const keys[] = {"error", "error_description", "message", "detail"};
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    json_auto_t *read = NULL;
    body = wt__str_trim(body);
    if (body.len == 0 || body.len > REASON_BYTES_MAX)
        return;
    if (body.ptr[0] == '{' && wt__json_parse(&read, body.ptr, body.len, NULL) == 0)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            put_error_words(&words, read, keys[i]);
    else if (strncasecmp(type, "text/plain", sizeof "text/plain" - 1) == 0)
        for (size_t i = 0; i < body.len && body.ptr[i] != '\n' && body.ptr[i] != '\r'; i++)
            wt__buffer_char(&words, body.ptr[i]);
    if (!words.failed && words.len > 0)
        wt__mcp_put_server_text(out, wt__buffer_view(&words));
}

bool wt__mcp_is_session_error(struct str error, int64_t *code)
{
    static const char *const words[] = {"session", "initializ", "initialis"};
    json_auto_t *read = NULL;
    *code = 0;
    if (error.len > REASON_BYTES_MAX || wt__json_parse(&read, error.ptr, error.len, NULL) < 0)
        return false;
    const char *message = json_string_value(json_object_get(read, "message"));
    *code = wt__json_int(read, "code", 0);
    for (size_t i = 0; message && i < sizeof words / sizeof *words; i++)
        if (strcasestr(message, words[i]))
            return true;
    return false;
}

bool wt__mcp_is_refused_early(int64_t code)
{
    /* Codes by which SDKs refuse a request without a session. */
    return code == -32600 || (code >= -32002 && code <= -32000);
}

int wt__mcp_fail(const struct mcp_message *answer, const char *subject, int64_t *code, wt_error *err)
{
    json_auto_t *error = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    *code = 0;
    if (wt__json_parse(&error, answer->error.ptr, answer->error.len, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    struct str words = wt__json_str(error, "message");
    *code = wt__json_int(error, "code", 0);
    if (words.len == 0 && json_is_string(error)) /* invalid, but some servers send it */
        words = (struct str){json_string_value(error), json_string_length(error)};
    wt__mcp_put_server_text(&shown, words.len > 0 ? words : STR("no reason given"));
    return shown.failed
               ? wt__fail_nomem(err)
               : wt__fail(err, WT_ENETWORK, "%s is refused: %s (error %" PRId64 ")", subject, shown.ptr, *code);
}

/* ---------------------------------------------------------------- header values */

static bool is_plain_header(struct str text)
{
    if (text.len == 0 || wt__str_starts(text, STR("=?base64?")) || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

const char *wt__mcp_encode_header(struct arena *arena, struct str text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    if (is_plain_header(text))
        return wt__arena_copy(arena, text);
    wt__buffer_text(&out, "=?base64?");
    wt__base64(&out, text);
    wt__buffer_text(&out, "?=");
    return out.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&out));
}

/* ---------------------------------------------------------------- server-sent events
 *
 * WHATWG HTML, section 9.2. Lines end in \n, \r\n or \r; an empty line ends an event. */

enum { RETRY_DIGITS = 9 };

/* Reads the line at *at and moves *at past it. Returns false if the line is incomplete. A "\r\n" that arrives in two
 * parts counts as two line ends, which at most adds an empty event. */
static bool take_line(struct str text, size_t *at, struct str *line)
{
    size_t end = *at;
    while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r')
        end++;
    if (end == text.len)
        return false;
    *line = (struct str){text.ptr + *at, end - *at};
    *at = end + 1 + (text.ptr[end] == '\r' && end + 1 < text.len && text.ptr[end + 1] == '\n');
    return true;
}

/* True if the line has the field `name`. *value: the text after the colon and an optional space; empty for a line
 * without a colon. */
static bool has_name(struct str line, struct str name, struct str *value)
{
    if (!wt__str_starts(line, name) || (line.len > name.len && line.ptr[name.len] != ':'))
        return false;
    size_t skip = name.len + (line.len > name.len);
    skip += line.len > skip && line.ptr[skip] == ' ';
    *value = (struct str){line.ptr + skip, line.len - skip};
    return true;
}

/* Parses a retry field; ignores an invalid value. */
static void take_retry(struct str value, int64_t *out)
{
    int64_t number = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!wt__is_digit(value.ptr[i]) || i >= RETRY_DIGITS)
            return;
        number = number * 10 + (value.ptr[i] - '0');
    }
    *out = value.len > 0 ? number : *out;
}

bool wt__sse_next(struct str *text, struct sse_event *out)
{
    struct str line, value;
    bool any = false;
    size_t at = 0;
    wt__buffer_clear(&out->data);
    out->type = out->id = (struct str){"", 0};
    out->has_id = false;
    out->retry_ms = -1;
    while (take_line(*text, &at, &line)) {
        if (line.len == 0) {
            *text = (struct str){text->ptr + at, text->len - at};
            return true;
        }
        if (has_name(line, STR("data"), &value)) {
            if (any)
                wt__buffer_char(&out->data, '\n');
            wt__buffer_str(&out->data, value);
            any = true;
        } else if (has_name(line, STR("id"), &value)) {
            out->id = value;
            out->has_id = true;
        } else if (has_name(line, STR("event"), &value)) {
            out->type = value;
        } else if (has_name(line, STR("retry"), &value)) {
            take_retry(value, &out->retry_ms);
        }
    }
    return false;
}

bool wt__sse_may_end(struct str text, size_t from)
{
    for (size_t at = from > 0 ? from : 1; at < text.len; at++) {
        bool ended = text.ptr[at - 1] == '\n' || text.ptr[at - 1] == '\r';
        if (ended && (text.ptr[at] == '\r' || (text.ptr[at] == '\n' && text.ptr[at - 1] == '\n')))
            return true;
    }
    return false;
}
