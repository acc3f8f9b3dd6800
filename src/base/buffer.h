/* buffer.h: bytes that grow, up to a declared maximum. Errors stick: append freely, look at `failed` once at the end.
 * The content is always followed by a NUL that len does not count. */
#ifndef WT_BASE_BUFFER_H
#define WT_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* All zero is an empty buffer without a limit. */
struct buffer {
    char *ptr; /* NULL while nothing was appended */
    size_t len, capacity;
    size_t max;  /* 0: no limit */
    bool failed; /* memory was out, or max was hit: later appends do nothing */
};

/* Makes room for so many more bytes at once, for who knows about how many come; need not be called. */
void wt__buffer_reserve(struct buffer *buffer, size_t len);
void wt__buffer_append(struct buffer *buffer, const void *bytes, size_t len);
void wt__buffer_str(struct buffer *buffer, struct str s);
void wt__buffer_text(struct buffer *buffer, const char *text);
void wt__buffer_char(struct buffer *buffer, char c);
void wt__buffer_printf(struct buffer *buffer, const char *format, ...) WT_PRINTF(2, 3);

/* s as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. */
void wt__buffer_json(struct buffer *buffer, struct str s);

/* The content as a string that the caller frees with free() ("" rather than NULL); the buffer is empty afterwards.
 * NULL when it failed. */
char *wt__buffer_take(struct buffer *buffer);
/* Nothing of what failed: nobody takes the beginning of a text for the text. */
struct str wt__buffer_view(const struct buffer *buffer);
void wt__buffer_clear(struct buffer *buffer);
/* Keeps the first len bytes, which it must have. */
void wt__buffer_cut(struct buffer *buffer, size_t len);
void wt__buffer_dispose(struct buffer *buffer);

#endif
