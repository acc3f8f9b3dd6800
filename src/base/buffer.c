#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* Reserves space for len more bytes and the NUL. */
static bool reserve_bytes(struct buffer *buffer, size_t len)
{
    if (buffer->failed)
        return false;
    size_t most = buffer->max ? buffer->max : SIZE_MAX / 2;
    if (len > most || buffer->len > most - len ||
        wt__grow((void **)&buffer->ptr, &buffer->capacity, buffer->len + len + 1, 1) < 0) {
        buffer->failed = true;
        return false;
    }
    return true;
}

void wt__buffer_reserve(struct buffer *buffer, size_t len)
{
    size_t left = buffer->max > buffer->len ? buffer->max - buffer->len : SIZE_MAX;
    reserve_bytes(buffer, buffer->max && len > left ? left : len);
}

void wt__buffer_append(struct buffer *buffer, const void *bytes, size_t len)
{
    if (!reserve_bytes(buffer, len))
        return;
    if (len)
        memcpy(buffer->ptr + buffer->len, bytes, len);
    buffer->len += len;
    buffer->ptr[buffer->len] = '\0';
}

void wt__buffer_str(struct buffer *buffer, struct str s)
{
    wt__buffer_append(buffer, s.ptr, s.len);
}

void wt__buffer_text(struct buffer *buffer, const char *text)
{
    wt__buffer_append(buffer, text, strlen(text));
}

void wt__buffer_char(struct buffer *buffer, char c)
{
    wt__buffer_append(buffer, &c, 1);
}

void wt__buffer_printf(struct buffer *buffer, const char *format, ...)
{
    enum { BRIEF = 128 }; /* size of texts that need only one formatting pass */
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    char brief[BRIEF];
    int len = vsnprintf(brief, sizeof brief, format, arguments);
    va_end(arguments);
    if (len >= 0 && len < BRIEF) {
        wt__buffer_append(buffer, brief, (size_t)len);
    } else if (len >= 0 && reserve_bytes(buffer, (size_t)len)) {
        vsnprintf(buffer->ptr + buffer->len, (size_t)len + 1, format, again);
        buffer->len += (size_t)len;
    }
    va_end(again);
}

static void append_escape(struct buffer *buffer, unsigned char c)
{
    static const char shorts[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
    if (c < sizeof shorts && shorts[c])
        wt__buffer_printf(buffer, "\\%c", shorts[c]);
    else
        wt__buffer_printf(buffer, "\\u%04x", c);
}

void wt__buffer_json(struct buffer *buffer, struct str s)
{
    const unsigned char *bytes = (const unsigned char *)s.ptr;
    wt__buffer_char(buffer, '"');
    for (size_t i = 0; i < s.len;) {
        size_t run = i; /* end of a run of characters that need no escaping */
        while (run < s.len && bytes[run] >= 0x20 && bytes[run] != 0x7F && bytes[run] != '"' && bytes[run] != '\\') {
            size_t n = wt__utf8_length(s.ptr + run, s.len - run);
            if (n == 0)
                break;
            run += n;
        }
        wt__buffer_append(buffer, bytes + i, run - i);
        i = run;
        if (i == s.len)
            break;
        if (bytes[i] < 0x80)
            append_escape(buffer, bytes[i]);
        else
            wt__buffer_text(buffer, "\xEF\xBF\xBD");
        i++;
    }
    wt__buffer_char(buffer, '"');
}

char *wt__buffer_take(struct buffer *buffer)
{
    char *taken = NULL;
    if (reserve_bytes(buffer, 0)) {
        buffer->ptr[buffer->len] = '\0';
        taken = buffer->ptr;
        buffer->ptr = NULL;
    }
    wt__buffer_dispose(buffer);
    return taken;
}

struct str wt__buffer_view(const struct buffer *buffer)
{
    return buffer->failed ? (struct str){"", 0} : (struct str){buffer->ptr, buffer->len};
}

void wt__buffer_clear(struct buffer *buffer)
{
    buffer->len = 0;
    buffer->failed = false;
}

void wt__buffer_cut(struct buffer *buffer, size_t len)
{
    if (len >= buffer->len)
        return;
    buffer->len = len;
    buffer->ptr[len] = '\0';
}

void wt__buffer_dispose(struct buffer *buffer)
{
    free(buffer->ptr);
    *buffer = (struct buffer){.max = buffer->max};
}
