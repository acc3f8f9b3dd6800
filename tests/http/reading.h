/* reading.h: feeds bytes to the reader in pieces, and prints the results:
 *
 *   a request is printed as: METHOD PATH[?QUERY] keep|close [100 ][NAME:VALUE, ...] | BODY
 *   a rejection is printed as: STATUS SENTENCE
 *   "..." is printed if more input is needed */
#ifndef WT_TESTS_HTTP_READING_H
#define WT_TESTS_HTTP_READING_H

#include <stdlib.h>
#include <string.h>

#include "http/reader.h"

static void write_request(struct buffer *out, const struct http_request *request, bool expects)
{
    wt__buffer_str(out, request->method);
    wt__buffer_char(out, ' ');
    wt__buffer_str(out, request->path);
    if (request->query.len > 0)
        wt__buffer_char(out, '?');
    wt__buffer_str(out, request->query);
    wt__buffer_text(out, request->keep_alive ? " keep " : " close ");
    wt__buffer_text(out, expects ? "100 " : "");
    for (size_t i = 0; i < request->field_count; i++) {
        wt__buffer_text(out, i > 0 ? ", " : "");
        wt__buffer_str(out, request->fields[i].name);
        wt__buffer_char(out, ':');
        wt__buffer_str(out, request->fields[i].value);
    }
    wt__buffer_text(out, request->field_count > 0 ? " |" : "|");
    wt__buffer_text(out, request->body.len > 0 ? " " : "");
    wt__buffer_str(out, request->body);
    wt__buffer_char(out, '\n');
}

/* Feeds one piece, in a heap block of its size. Returns false after a rejection. */
static bool feed_piece(struct http_reader *reader, const char *bytes, size_t len, size_t body_max, struct buffer *out)
{
    char *block = malloc(len);
    struct str piece = {block, len};
    bool more = true;
    if (len > 0)
        memcpy(block, bytes, len);
    while (more && piece.len > 0) {
        enum http_part part = wt__http_reader_feed(reader, &piece);
        bool expects = reader->framing.expects_continue;
        if (part == HTTP_PART_ACCEPT)
            part = wt__http_reader_accept(reader, body_max);
        if (part == HTTP_PART_DONE) {
            struct http_message *message = wt__http_reader_take(reader);
            write_request(out, &message->request, expects);
            wt__http_message_free(message);
        } else if (part == HTTP_PART_REFUSED) {
            wt__buffer_printf(out, "%d %s\n", wt__http_refusal_status(reader->refusal),
                              wt__http_refusal_message(reader->refusal));
            more = false;
        }
    }
    free(block);
    return more;
}

/* Feeds all bytes. The first piece has `first` bytes, every later piece `then`. */
static void read_in_pieces(struct str bytes, size_t first, size_t then, size_t body_max, struct buffer *out)
{
    struct http_reader reader = {0};
    size_t at = 0, len = first < bytes.len ? first : bytes.len;
    bool more = true;
    while (more && at < bytes.len) {
        more = feed_piece(&reader, bytes.ptr + at, len, body_max, out);
        at += len;
        len = then < bytes.len - at ? then : bytes.len - at;
    }
    if (more && reader.part != HTTP_PART_HEAD)
        wt__buffer_text(out, "...\n");
    else if (more && (reader.message || bytes.len == 0))
        wt__buffer_text(out, "...\n");
    wt__http_reader_dispose(&reader);
}

#endif
