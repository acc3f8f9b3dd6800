/* Fuzzes the HTTP request reader: the result does not depend on how the bytes are split, and a request that is written
 * in the plainest form is read back unchanged. */
#include <stdint.h>
#include <stdlib.h>

#include "http/reading.h"
#include "require.h"

enum { BODY_MAX = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the request again: the head without the framing fields, and a body with Content-Length. */
static void write_plainly(struct buffer *out, const struct http_request *request, bool http_1_0)
{
    static const char *const framing[] = {"Content-Length", "Transfer-Encoding", "Expect"};
    wt__buffer_str(out, request->method);
    wt__buffer_char(out, ' ');
    wt__buffer_str(out, request->path);
    wt__buffer_text(out, request->query.len > 0 ? "?" : "");
    wt__buffer_str(out, request->query);
    wt__buffer_text(out, http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    for (size_t i = 0; i < request->field_count; i++) {
        if (wt__str_among(request->fields[i].name, framing, 3))
            continue;
        wt__buffer_str(out, request->fields[i].name);
        wt__buffer_char(out, ':');
        wt__buffer_str(out, request->fields[i].value);
        wt__buffer_text(out, "\r\n");
    }
    wt__buffer_printf(out, "Content-Length:%zu\r\n\r\n", request->body.len);
    wt__buffer_str(out, request->body);
}

static struct http_message *read_one(struct str *bytes, bool *http_1_0)
{
    struct http_reader reader = {0};
    struct http_message *message = NULL;
    enum http_part part = HTTP_PART_BODY;
    while (part != HTTP_PART_DONE && part != HTTP_PART_REFUSED && bytes->len > 0) {
        part = wt__http_reader_feed(&reader, bytes);
        *http_1_0 = reader.framing.http_1_0;
        if (part == HTTP_PART_ACCEPT)
            part = wt__http_reader_accept(&reader, BODY_MAX);
    }
    if (part == HTTP_PART_DONE)
        message = wt__http_reader_take(&reader);
    wt__http_reader_dispose(&reader);
    return message;
}

static void read_back(const struct http_request *was, bool http_1_0)
{
    struct buffer plain = {0};
    write_plainly(&plain, was, http_1_0);
    struct str rest = wt__buffer_view(&plain);
    struct http_message *message = read_one(&rest, &http_1_0);
    /* Adding Content-Length can exceed the limits of the head's size and number of fields. */
    if (!message) {
        require(plain.len + 64 > HTTP_TARGET_BYTES_MAX || was->field_count == HTTP_FIELDS_MAX);
    } else {
        const struct http_request *now = &message->request;
        require(rest.len == 0 && wt__str_equal(now->method, was->method) && wt__str_equal(now->path, was->path));
        require(wt__str_equal(now->query, was->query) && wt__str_equal(now->body, was->body));
        require(now->keep_alive == was->keep_alive && now->field_count <= was->field_count + 1);
    }
    wt__http_message_free(message);
    wt__buffer_dispose(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    struct buffer whole = {0}, single = {0}, cut = {0};
    size_t middle = size > 0 ? data[size / 2] * size / 256 : 0;
    read_in_pieces(bytes, size, 1, BODY_MAX, &whole);
    read_in_pieces(bytes, 1, 1, BODY_MAX, &single);
    read_in_pieces(bytes, middle + 1, 7, BODY_MAX, &cut);
    require(wt__str_equal(wt__buffer_view(&whole), wt__buffer_view(&single)));
    require(wt__str_equal(wt__buffer_view(&whole), wt__buffer_view(&cut)));
    bool http_1_0 = false;
    for (struct http_message *message; (message = read_one(&bytes, &http_1_0)) != NULL;) {
        read_back(&message->request, http_1_0);
        wt__http_message_free(message);
    }
    wt__buffer_dispose(&whole);
    wt__buffer_dispose(&single);
    wt__buffer_dispose(&cut);
    return 0;
}
