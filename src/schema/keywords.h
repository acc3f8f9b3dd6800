/* keywords.h: every keyword that a validator reads: where its subschemas are, which vocabulary and dialect it is of,
 * and where its value goes. One table for whoever looks for subschemas and for the compiler. */
#ifndef WT_SCHEMA_KEYWORDS_H
#define WT_SCHEMA_KEYWORDS_H

#include <stdbool.h>
#include <stddef.h>

enum shape {
    SHAPE_NUMBER,    /* a number -> const json_t * */
    SHAPE_UNIT,      /* a number above 0 -> the same */
    SHAPE_COUNT,     /* a whole number of 0 or more -> struct bound */
    SHAPE_FLAG,      /* true or false -> bool */
    SHAPE_SUBSCHEMA, /* -> const struct subschema * */
    SHAPE_LIST,      /* of subschemas -> struct subschema_list */
    SHAPE_NAMED,     /* subschemas by names -> struct named_subschemas */
    SHAPE_PATTERNS,
    SHAPE_DEPENDENCIES, /* by names: subschemas, or lists of names */
    SHAPE_DEPENDENT_NAMES,
    SHAPE_ITEMS, /* a subschema, or a list of them */
    SHAPE_TYPE,
    SHAPE_ENUM,
    SHAPE_CONST,
    SHAPE_REQUIRED,
    SHAPE_PATTERN,
    SHAPE_FORMAT,
    SHAPE_REFERENCE,
    SHAPE_DYNAMIC_REFERENCE,
    SHAPE_DEFINITIONS /* subschemas by names that only references use */
};

enum { DIALECT_2020_12 = 1, DIALECT_DRAFT_07 = 2, DIALECT_BOTH = 3 };

struct keyword {
    const char *name;
    enum shape shape;
    int dialects;
    unsigned vocabulary; /* 0: core */
    size_t group;        /* offset of the group's pointer in struct subschema */
    size_t group_size;
    size_t field; /* offset in the group */
};

extern const struct keyword wt__keywords[];
extern const size_t wt__keyword_count;

/* The keyword of this name in a dialect with these vocabularies, or NULL. */
const struct keyword *wt__keyword_find(const char *name, bool draft7, unsigned vocabularies);

#endif
