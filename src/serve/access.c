#include "serve/access.h"

#include "base/clock.h"
#include "text/shown.h"
#include "wire/members.h"

enum { PATH_SHOWN = 200, ASKED_SHOWN = 2000 };

static void put_access_time(struct buffer *out, long long seconds)
{
    char text[CLOCK_TEXT_BYTES];
    wt__clock_text(seconds, text);
    wt__buffer_text(out, text);
}

/* Writes the path as a JSON string so that bytes sent by the client cannot break the line. */
static void put_request_word(struct buffer *out, struct str word)
{
    wt__shown_string(out, wt__str_head(word, PATH_SHOWN));
}

void wt__access_text(struct buffer *out, const struct access *access)
{
    const struct http_record *record = access->record;
    put_access_time(out, access->seconds);
    wt__buffer_printf(out, " %s %s ", record->peer, *access->principal ? access->principal : "-");
    if (record->request) {
        wt__buffer_str(out, wt__str_head(record->request->method, 20));
        wt__buffer_char(out, ' ');
        put_request_word(out, record->request->path);
    } else {
        wt__buffer_text(out, "- -");
    }
    wt__buffer_printf(out, " %d %llu bytes %.1f+%.1f ms", record->status, (unsigned long long)record->bytes,
                      record->queue_ms, record->run_ms);
    if (access->asked.len > 0) {
        wt__buffer_char(out, ' ');
        wt__shown_string(out, wt__str_head(access->asked, ASKED_SHOWN));
    }
    wt__buffer_char(out, '\n');
}

static void put_access_member(struct buffer *out, const char *key, struct str value)
{
    wt__json_key(out, key);
    put_request_word(out, value);
}

void wt__access_json(struct buffer *out, const struct access *access)
{
    const struct http_record *record = access->record;
    wt__buffer_text(out, "{\"time\":\"");
    put_access_time(out, access->seconds);
    wt__buffer_char(out, '"');
    wt__json_text(out, "peer", record->peer);
    wt__json_text_or_null(out, "key", *access->principal ? access->principal : NULL);
    if (record->request) {
        put_access_member(out, "method", record->request->method);
        put_access_member(out, "path", record->request->path);
    }
    wt__json_count(out, "status", (uint64_t)record->status);
    wt__json_count(out, "bytes", record->bytes);
    wt__json_number(out, "queue_ms", record->queue_ms);
    wt__json_number(out, "run_ms", record->run_ms);
    if (access->asked.len > 0) {
        wt__json_key(out, "asked");
        wt__shown_string(out, wt__str_head(access->asked, ASKED_SHOWN));
    }
    wt__buffer_text(out, "}\n");
}
