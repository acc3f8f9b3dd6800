/* json.h: a thin skin over jansson: strict parsing with limits and positions, and getters that do not crash on the
 * wrong type. Objects with duplicate keys, NUL inside strings and nesting over WT_MAX_JSON_DEPTH are errors. */
#ifndef WT_BASE_JSON_H
#define WT_BASE_JSON_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* One JSON value and nothing after it but blanks. *out ends with json_decref(). Errors: WT_EFORMAT with line and
 * byte, WT_ETOOLONG (depth), WT_ENOMEM. */
int wt__json_parse(json_t **out, const char *text, size_t len, wt_error *err);

/* The same, but strings (not keys) may have NUL, as JSON allows: their lengths are json_string_length's. */
int wt__json_parse_with_nul(json_t **out, const char *text, size_t len, wt_error *err);

/* wt__json_parse of what people write into configurations: // and block comments, a comma behind the last member, and a byte
 * order mark are taken as blanks. */
int wt__json_parse_relaxed(json_t **out, struct str text, wt_error *err);

/* Comments and a byte order mark become blanks, in place: every other byte, and every line, stays where it is. */
void wt__json_blank_comments(char *text, size_t len);

/* The member as a string view (empty when absent or not a string). Borrowed from object. */
struct str wt__json_str(const json_t *object, const char *key);
/* The member when it is an object / an array, else NULL. Borrowed. */
json_t *wt__json_object(const json_t *object, const char *key);
json_t *wt__json_array(const json_t *object, const char *key);
/* The member as a whole number, or fallback when absent or not one. */
int64_t wt__json_int(const json_t *object, const char *key, int64_t fallback);
double wt__json_real(const json_t *object, const char *key, double fallback);
bool wt__json_bool(const json_t *object, const char *key, bool fallback);

/* A new string of any bytes: what is no UTF-8, and NUL, becomes U+FFFD. NULL when memory is out. */
json_t *wt__json_string(struct str text);

/* Appends "/key" as a step of a JSON pointer (RFC 6901). */
void wt__json_pointer_step(struct buffer *buffer, struct str key);

/* Appends value, compact, keys in source order. */
int wt__json_write(struct buffer *buffer, const json_t *value);
/* The same of numbers that somebody typed: with 15 digits, so that -97.8 is no -97.799999999999997. */
int wt__json_write_typed(struct buffer *buffer, const json_t *value);

#endif
