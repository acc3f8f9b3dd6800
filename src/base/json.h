/* json.h: a thin layer over jansson: strict parsing with limits and positions, and getters that tolerate values of the
 * wrong type. Duplicate keys, NUL inside strings and nesting over WT_MAX_JSON_DEPTH are errors. */
#ifndef WT_BASE_JSON_H
#define WT_BASE_JSON_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* Parses one JSON value, with only blanks after it. Release *out with json_decref(). Errors: WT_EFORMAT with line and
 * byte, WT_ETOOLONG (depth), WT_ENOMEM. */
int wt__json_parse(json_t **out, const char *text, size_t len, wt_error *err);

/* Works like wt__json_parse but allows NUL in strings (not in keys). Use json_string_length for their lengths. */
int wt__json_parse_with_nul(json_t **out, const char *text, size_t len, wt_error *err);

/* Works like wt__json_parse for hand-written configuration files. Also accepts // and block comments, trailing commas
 * and a byte order mark. */
int wt__json_parse_relaxed(json_t **out, struct str text, wt_error *err);

/* Overwrites comments and the byte order mark with blanks in place, so that byte offsets and line numbers stay the
 * same. */
void wt__json_blank_comments(char *text, size_t len);

/* Returns the string member; empty if it is missing or not a string. Borrowed from object. */
struct str wt__json_str(const json_t *object, const char *key);
/* Return the member if it is an object or an array respectively, else NULL. Borrowed from object. */
json_t *wt__json_object(const json_t *object, const char *key);
json_t *wt__json_array(const json_t *object, const char *key);
/* Return the member as an integer, a number or a Boolean; `fallback` if it is missing or of another type. */
int64_t wt__json_int(const json_t *object, const char *key, int64_t fallback);
double wt__json_real(const json_t *object, const char *key, double fallback);
bool wt__json_bool(const json_t *object, const char *key, bool fallback);

/* Creates a string from any bytes. Invalid UTF-8 and NUL become U+FFFD. Returns NULL if out of memory. */
json_t *wt__json_string(struct str text);

/* Appends "/key" as a JSON pointer token (RFC 6901). */
void wt__json_pointer_step(struct buffer *buffer, struct str key);

/* Appends value as compact JSON, keys in source order. 0, or WT_ENOMEM if the buffer fails. */
int wt__json_write(struct buffer *buffer, const json_t *value);
/* Works like wt__json_write with 15 digits per real number, so that a typed -97.8 is not written as
 * -97.799999999999997. */
int wt__json_write_typed(struct buffer *buffer, const json_t *value);

#endif
