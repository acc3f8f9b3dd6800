#include "serve/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "text/shown.h"
#include "wire/members.h"

enum { METHOD_SHOWN = 20, PATH_SHOWN = 200, ASKED_SHOWN = 2000, MESSAGE_BYTES = 2048 };

static const char *level_word(enum log_level level)
{
    static const char *const words[] = {"info", "warning", "error"};
    return words[level];
}

/* Appends "2026-11-22T08:30:00.123Z". */
static void put_log_time(struct buffer *out, double unix_ms)
{
    char text[CLOCK_TEXT_BYTES];
    long long ms = (long long)unix_ms;
    wt__clock_text(ms / 1000, text);
    wt__buffer_append(out, text, CLOCK_TEXT_BYTES - 2);
    wt__buffer_printf(out, ".%03dZ", (int)(ms % 1000));
}

/* ---------------------------------------------------------------- messages */

void wt__log_message(const struct log *log, enum log_level level, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    struct timespec now;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    va_list arguments;
    if (!log->say)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct str text = wt__str(message);
    if (log->form == LOG_FORM_JSON) {
        clock_gettime(CLOCK_REALTIME, &now);
        wt__buffer_text(&line, "{\"time\":\"");
        put_log_time(&line, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
        wt__buffer_printf(&line, "\",\"level\":\"%s\",\"message\":", level_word(level));
        wt__shown_string(&line, text);
        wt__buffer_text(&line, "}\n");
    } else {
        bool plain = true;
        for (size_t i = 0; i < text.len; i++)
            plain &= text.ptr[i] >= ' ' && text.ptr[i] < 0x7f;
        wt__buffer_text(&line, "whichtool: ");
        if (plain)
            wt__buffer_str(&line, text);
        else
            wt__shown_string(&line, text);
        wt__buffer_char(&line, '\n');
    }
    if (!line.failed)
        log->say(log->context, wt__buffer_view(&line));
}

/* ---------------------------------------------------------------- requests */

enum log_level wt__log_level_of(int status)
{
    return status >= 500 ? LOG_LEVEL_ERROR : status >= 400 || status == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
}

static void write_text_line(struct buffer *out, const struct log_request *request)
{
    const struct http_record *record = request->record;
    put_log_time(out, request->unix_ms);
    wt__buffer_printf(out, " %s %s%s%s ", record->peer, *request->key ? request->key : "-", *request->tenant ? "@" : "",
                      request->tenant);
    if (record->request) {
        wt__buffer_str(out, wt__str_head(record->request->method, METHOD_SHOWN));
        wt__buffer_char(out, ' ');
        wt__shown_string(out, wt__str_head(record->request->path, PATH_SHOWN));
    } else {
        wt__buffer_text(out, "- -");
    }
    wt__buffer_printf(out, " %d %llu bytes %.1f+%.1f ms %s", record->status, (unsigned long long)record->bytes,
                      record->queue_ms, record->run_ms, *request->request_id ? request->request_id : "-");
    if (*request->trace_id && strcmp(request->trace_id, request->request_id) != 0)
        wt__buffer_printf(out, " trace %s", request->trace_id);
    if (request->asked.len > 0) {
        wt__buffer_char(out, ' ');
        wt__shown_string(out, wt__str_head(request->asked, ASKED_SHOWN));
    }
    wt__buffer_char(out, '\n');
}

static void put_shown_member(struct buffer *out, const char *key, struct str value)
{
    wt__json_key(out, key);
    wt__shown_string(out, value);
}

static void write_json_line(struct buffer *out, const struct log_request *request)
{
    const struct http_record *record = request->record;
    wt__buffer_text(out, "{\"time\":\"");
    put_log_time(out, request->unix_ms);
    wt__buffer_printf(out, "\",\"level\":\"%s\"", level_word(wt__log_level_of(record->status)));
    wt__json_text_or_null(out, "request_id", *request->request_id ? request->request_id : NULL);
    wt__json_text_or_null(out, "trace_id", *request->trace_id ? request->trace_id : NULL);
    wt__json_text(out, "peer", record->peer);
    wt__json_text_or_null(out, "key", *request->key ? request->key : NULL);
    if (*request->tenant)
        wt__json_text(out, "tenant", request->tenant);
    wt__json_text(out, "route", request->route);
    if (record->request) {
        put_shown_member(out, "method", wt__str_head(record->request->method, PATH_SHOWN));
        put_shown_member(out, "path", wt__str_head(record->request->path, PATH_SHOWN));
    }
    if (request->mcp_method)
        wt__json_text(out, "mcp_method", request->mcp_method);
    wt__json_count(out, "status", (uint64_t)record->status);
    wt__json_count(out, "bytes", record->bytes);
    wt__json_number(out, "queue_ms", record->queue_ms);
    wt__json_number(out, "run_ms", record->run_ms);
    wt__json_number(out, "ms", record->queue_ms + record->run_ms);
    if (request->asked.len > 0)
        put_shown_member(out, "asked", wt__str_head(request->asked, ASKED_SHOWN));
    wt__buffer_text(out, "}\n");
}

void wt__log_write_request(struct buffer *out, enum log_form form, const struct log_request *request)
{
    (form == LOG_FORM_JSON ? write_json_line : write_text_line)(out, request);
}
