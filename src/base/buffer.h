/* buffer.h: a growing byte buffer with an optional maximum. Errors are sticky: append freely and check `failed` once at
 * the end. Each append ends the content with a NUL that is not counted in len. */
#ifndef WT_BASE_BUFFER_H
#define WT_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* A zeroed struct is an empty buffer without a limit. */
struct buffer {
    char *ptr; /* NULL until the first append or wt__buffer_reserve */
    size_t len, capacity;
    size_t max;  /* maximum length; 0 for no limit */
    bool failed; /* out of memory, or max was exceeded; later appends are ignored */
};

/* Reserves space for len more bytes. Optional: appending grows the buffer as needed. */
void wt__buffer_reserve(struct buffer *buffer, size_t len);
void wt__buffer_append(struct buffer *buffer, const void *bytes, size_t len);
void wt__buffer_str(struct buffer *buffer, struct str s);
void wt__buffer_text(struct buffer *buffer, const char *text);
void wt__buffer_char(struct buffer *buffer, char c);
void wt__buffer_printf(struct buffer *buffer, const char *format, ...) WT_PRINTF(2, 3);

/* Appends s as a quoted JSON string. Invalid UTF-8 becomes U+FFFD. */
void wt__buffer_json(struct buffer *buffer, struct str s);

/* Returns the content as a string to be freed with free(), "" if empty, and empties the buffer. Returns NULL if the
 * buffer has failed. */
char *wt__buffer_take(struct buffer *buffer);
/* Returns the content; empty if the buffer has failed, so that a truncated text is never used. */
struct str wt__buffer_view(const struct buffer *buffer);
/* Empties the buffer and resets `failed`. Keeps the memory. */
void wt__buffer_clear(struct buffer *buffer);
/* Truncates the content to len bytes. Shorter content stays the same. */
void wt__buffer_cut(struct buffer *buffer, size_t len);
void wt__buffer_dispose(struct buffer *buffer);

#endif
