/* body.h: what a request may say, as tables of fields: name, kind, limits, one sentence.
 *
 * One table reads a JSON object, reads the query of a URL, and writes the JSON Schema of what it reads: so what is
 * documented is what is read. A member that no table has is an error that names the near one, for a misspelt "recipe"
 * that is passed over would be answered by another recipe than was asked for. Wrong types are errors with the place as
 * a JSON pointer; numbers in strings are no numbers, but in a URL, where all are.
 *
 * A field's value lands in the reader's struct at `offset`, by its kind; what is absent leaves the struct as it was.
 * Strings are views of the document that the body owns, so they live as long as it does. */
#ifndef WT_WIRE_BODY_H
#define WT_WIRE_BODY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

enum field_kind {
    FIELD_TEXT,   /* const char *; max: bytes */
    FIELD_CHOICE, /* the same; one of `choices`, which blanks separate */
    FIELD_COUNT,  /* size_t; min .. max */
    FIELD_MS,     /* unsigned; min .. max */
    FIELD_SHARE,  /* double, 0 to below 1 */
    FIELD_RATE,   /* the same, but 0 is read as -1: never */
    FIELD_FLAG,   /* int: true is 1 */
    FIELD_TEXTS,  /* struct texts; max: how many, each of at most `bytes` */
    FIELD_JSON,   /* struct str: an array or object, as compact JSON; max: bytes */
    FIELD_ANY,    /* const json_t *, whatever it is: its reader says what it may be, in `schema` */
    FIELD_OBJECT, /* `members`, whose offsets are of the same struct */
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
    size_t bytes;        /* FIELD_TEXTS */
    const char *choices; /* FIELD_CHOICE */
    const char *schema;  /* FIELD_ANY: JSON Schema, without a description */
    const char *says;    /* one sentence or two */
    const struct field *members;
    size_t member_count;
};

struct fields {
    const struct field *items; /* [count] */
    size_t count;
};

/* A document that was read. */
struct body {
    json_t *root;
    struct arena arena;
};

/* Reads an object of JSON into `out`. Errors: WT_EFORMAT (no JSON, no object, with line and byte), WT_EINVAL (a member
 * that no field has, is of another type, or out of its limits; or one that is required is missing), WT_ETOOLONG,
 * WT_ENOMEM; all but the first with a pointer. The body is to be disposed of in any case. */
int wt__body_read(struct body *body, struct str json, struct fields fields, void *out, wt_error *err);

/* The same of "k=3&recipe=bm25": percent-encoding and '+' are undone, a field of texts may come again. */
int wt__query_read(struct body *body, struct str query, struct fields fields, void *out, wt_error *err);
void wt__body_dispose(struct body *body);

/* Undoes percent-encoding, and '+' where it stands for a blank. WT_EFORMAT: a bad escape, NUL, or no UTF-8. */
int wt__percent_decode(char **out, struct arena *arena, struct str text, bool plus, wt_error *err);

/* The JSON Schema of the object that the fields read. */
void wt__body_schema(struct buffer *out, struct fields fields);
/* The same of one field. */
void wt__field_schema(struct buffer *out, const struct field *field);

#endif
