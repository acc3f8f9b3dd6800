/* body.h: field tables, which describe the members of a request: name, kind, limits, description.
 *
 * One table is used to parse JSON objects, to parse URL queries and to generate the JSON Schema, so parser and
 * documentation agree. An unknown member is an error with a suggestion of the nearest name. If it were ignored, a
 * request with a misspelt "recipe" would silently use another recipe. Errors have a JSON pointer to the value.
 *
 * Each value is stored at `offset` of the caller's struct, in the type of its kind (enum field_kind). Absent members
 * leave the struct unchanged. Strings are views of the document, and live as long as the body. */
#ifndef WT_WIRE_BODY_H
#define WT_WIRE_BODY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

enum field_kind {
    FIELD_TEXT,   /* const char *; max: length in bytes */
    FIELD_CHOICE, /* const char *; one of the blank-separated `choices` */
    FIELD_COUNT,  /* size_t; min .. max */
    FIELD_MS,     /* unsigned; min .. max */
    FIELD_SHARE,  /* double, at least 0 and below 1 */
    FIELD_RATE,   /* like FIELD_SHARE, but 0 is stored as -1, which means never */
    FIELD_FLAG,   /* int; 1 if true */
    FIELD_TEXTS,  /* struct texts; max: number of items, each of at most `bytes` bytes */
    FIELD_TREE,   /* const json_t *; array or object; max: length in bytes as compact JSON */
    FIELD_ANY,    /* const json_t *; any value; the caller validates it, `schema` describes it */
    FIELD_OBJECT, /* object with `members`; their offsets refer to the same struct */
};

struct texts {
    const char *const *items; /* [count] */
    size_t count;
};

struct field {
    const char *name;
    enum field_kind kind;
    bool required;
    size_t offset;
    uint64_t min, max;
    size_t bytes;                /* for FIELD_TEXTS: maximum bytes of an item */
    const char *choices;         /* for FIELD_CHOICE */
    const char *schema;          /* for FIELD_ANY: JSON Schema without description */
    const char *says;            /* description, one or two sentences */
    const struct field *members; /* [member_count], for FIELD_OBJECT */
    size_t member_count;
};

struct fields {
    const struct field *items; /* [count] */
    size_t count;
};

/* Parsed document. */
struct body {
    json_t *root;
    size_t bytes; /* length of the JSON text */
    struct arena arena;
};

/* Parses a JSON object into `out`. The caller must dispose of the body, even after an error. Errors:
 *   WT_EFORMAT   not valid JSON (with line and byte), or not an object
 *   WT_EINVAL    unknown member, wrong type, value out of range, or missing required member (with pointer)
 *   WT_ETOOLONG  value too long (with pointer)
 *   WT_ENOMEM */
int wt__body_read(struct body *body, struct str json, struct fields fields, void *out, wt_error *err);

/* Works like wt__body_read for a query "k=3&recipe=bm25". Decodes percent-encoding and '+'. Only FIELD_TEXTS may be
 * given more than once. */
int wt__query_read(struct body *body, struct str query, struct fields fields, void *out, wt_error *err);
/* Releases the struct body at the start of *out. */
void wt__body_dispose(void *out);

/* Decodes percent-encoding, and '+' as a blank if `plus`. Errors: WT_EFORMAT (bad escape, NUL, or not valid UTF-8),
 * WT_ENOMEM. */
int wt__percent_decode(char **out, struct arena *arena, struct str text, bool plus, wt_error *err);

/* Appends the JSON Schema of an object with these fields. */
void wt__body_schema(struct buffer *out, struct fields fields);
/* Appends the JSON Schema of one field. */
void wt__field_schema(struct buffer *out, const struct field *field);

#endif
