/* answer.c: see answer.h. RFC 9112, section 4; RFC 9110, sections 6.6.1 (Date) and 15 (statuses). */
#include "http/answer.h"

#include <time.h>

#include "http/characters.h"

/* Statuses used by this server and its handlers. code: error code in JSON. */
static const struct status_text {
    int number;
    const char *phrase, *code, *message;
} statuses[] = {
    {100, "Continue", "", ""},
    {200, "OK", "", ""},
    {201, "Created", "", ""},
    {202, "Accepted", "", ""},
    {204, "No Content", "", ""},
    {304, "Not Modified", "", ""},
    {400, "Bad Request", "bad_request", "The request is not valid HTTP/1.1."},
    {401, "Unauthorized", "unauthorized", "This requires a key."},
    {403, "Forbidden", "forbidden", "This is not allowed."},
    {404, "Not Found", "not_found", "There is no such resource."},
    {405, "Method Not Allowed", "method_not_allowed", "This path does not support the method."},
    {406, "Not Acceptable", "not_acceptable", "None of the accepted media types is available."},
    {408, "Request Timeout", "timeout", "The request was not received in time."},
    {409, "Conflict", "conflict", "The state does not allow this now."},
    {413, "Content Too Large", "too_large", "The body is too large."},
    {414, "URI Too Long", "too_long", "The first line is too long."},
    {415, "Unsupported Media Type", "media_type", "The media type of the body is not supported."},
    {417, "Expectation Failed", "expectation", "Only the expectation 100-continue is supported."},
    {421, "Misdirected Request", "misdirected", "This host is not served here."},
    {422, "Unprocessable Content", "unprocessable", "The body is not a request that can be processed."},
    {429, "Too Many Requests", "too_many_requests", "Too many requests; try again later."},
    {431, "Request Header Fields Too Large", "head_too_large", "The head is too large."},
    {500, "Internal Server Error", "internal", "The server failed to answer the request."},
    {501, "Not Implemented", "not_implemented", "This is not supported."},
    {502, "Bad Gateway", "bad_gateway", "An upstream server returned an invalid answer."},
    {503, "Service Unavailable", "overloaded", "The server is overloaded; try again later."},
    {504, "Gateway Timeout", "deadline", "The answer was not ready in time."},
    {505, "HTTP Version Not Supported", "version", "Only HTTP/1.1 and HTTP/1.0 are supported."},
};

static const struct status_text *find_status(int number)
{
    static const struct status_text unknown = {0, "Status", "error", "The request was refused."};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].number == number)
            return &statuses[i];
    return &unknown;
}

bool wt__http_status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void put_two_digits(char *at, int value)
{
    at[0] = (char)('0' + value / 10 % 10);
    at[1] = (char)('0' + value % 10);
}

/* Returns the current date as "Sun, 06 Nov 1994 08:49:37 GMT". Each thread formats it at most once a second. */
static const char *http_date(void)
{
    static _Thread_local time_t made_at;
    static _Thread_local char text[] = "Thu, 01 Jan 1970 00:00:00 GMT";
    time_t now = time(NULL);
    struct tm t;
    if (now == made_at || !gmtime_r(&now, &t))
        return text;
    memcpy(text, "SunMonTueWedThuFriSat" + 3 * t.tm_wday, 3);
    put_two_digits(text + 5, t.tm_mday);
    memcpy(text + 8, "JanFebMarAprMayJunJulAugSepOctNovDec" + 3 * t.tm_mon, 3);
    put_two_digits(text + 12, (t.tm_year + 1900) / 100);
    put_two_digits(text + 14, t.tm_year % 100);
    put_two_digits(text + 17, t.tm_hour);
    put_two_digits(text + 20, t.tm_min);
    put_two_digits(text + 23, t.tm_sec);
    made_at = now;
    return text;
}

static bool may_be_sent(const struct http_field *field)
{
    static const char *const ours[] = {"Connection", "Content-Length", "Date", "Transfer-Encoding", "Trailer"};
    if (!wt__http_is_token(field->name) || wt__str_among(field->name, ours, sizeof ours / sizeof *ours))
        return false;
    for (size_t i = 0; i < field->value.len; i++)
        if (wt__http_is_control(field->value.ptr[i]) && field->value.ptr[i] != '\t')
            return false;
    return true;
}

static void write_field(struct buffer *out, struct str name, struct str value)
{
    wt__buffer_str(out, name);
    wt__buffer_append(out, ": ", 2);
    wt__buffer_str(out, value);
    wt__buffer_append(out, "\r\n", 2);
}

static void write_fields(struct buffer *out, const struct http_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (may_be_sent(&fields[i]))
            write_field(out, fields[i].name, fields[i].value);
}

void wt__http_write_head(struct buffer *out, const struct http_answer_head *head)
{
    wt__buffer_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", head->status, find_status(head->status)->phrase,
                      http_date());
    if (head->type)
        write_field(out, STR("Content-Type"), wt__str(head->type));
    wt__buffer_text(out, "X-Content-Type-Options: nosniff\r\n");
    if (head->common)
        write_fields(out, head->common->items, head->common->count);
    write_fields(out, head->fields, head->field_count);
    if (head->body == HTTP_BODY_LENGTH)
        wt__buffer_printf(out, "Content-Length: %zu\r\n", head->length);
    if (head->body == HTTP_BODY_CHUNKED)
        wt__buffer_text(out, "Transfer-Encoding: chunked\r\n");
    if (head->close || head->body == HTTP_BODY_CLOSE)
        wt__buffer_text(out, "Connection: close\r\n");
    wt__buffer_append(out, "\r\n", 2);
}

void wt__http_write_error(struct buffer *out, int status, const char *message)
{
    const struct status_text *known = find_status(status);
    wt__buffer_printf(out, "{\"error\":{\"code\":\"%s\",\"message\":", known->code);
    wt__buffer_json(out, wt__str(message ? message : known->message));
    wt__buffer_text(out, "}}\n");
}
