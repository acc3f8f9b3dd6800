/* keywords.h: the table of supported keywords, used to find subschemas and to compile values. A row has the shape of
 * the value, the dialects and the vocabulary of the keyword, and the field for the compiled value. */
#ifndef WT_SCHEMA_KEYWORDS_H
#define WT_SCHEMA_KEYWORDS_H

#include <stdbool.h>
#include <stddef.h>

enum shape {
    SHAPE_NUMBER,       /* a number -> const json_t * */
    SHAPE_UNIT,         /* a number above 0 -> const json_t * */
    SHAPE_COUNT,        /* a whole number of 0 or more -> struct bound */
    SHAPE_FLAG,         /* true or false -> bool */
    SHAPE_SUBSCHEMA,    /* a subschema -> const struct subschema * */
    SHAPE_LIST,         /* a list of subschemas -> struct subschema_list */
    SHAPE_NAMED,        /* an object of subschemas -> struct named_subschemas */
    SHAPE_PATTERNS,     /* an object from patterns to subschemas -> struct pattern_properties */
    SHAPE_DEPENDENCIES, /* an object of subschemas or lists of names */
    SHAPE_DEPENDENT_NAMES,
    SHAPE_ITEMS, /* a subschema or a list of subschemas */
    SHAPE_TYPE,
    SHAPE_ENUM,
    SHAPE_CONST,
    SHAPE_REQUIRED,
    SHAPE_PATTERN,
    SHAPE_FORMAT,
    SHAPE_REFERENCE,
    SHAPE_DYNAMIC_REFERENCE,
    SHAPE_DEFINITIONS /* an object of subschemas for references only */
};

enum { DIALECT_2020_12 = 1, DIALECT_DRAFT_07 = 2, DIALECT_BOTH = 3 };

struct keyword {
    const char *name;
    enum shape shape;
    int dialects;
    unsigned vocabulary; /* VOCABULARY_ bit; 0 for core */
    size_t group;        /* offset of the group's pointer in struct subschema */
    size_t group_size;   /* 0 if the value has no group */
    size_t field;        /* offset in the group */
};

extern const struct keyword wt__keywords[];
extern const size_t wt__keyword_count;

/* Returns the keyword with this name in a dialect with these vocabularies, or NULL. */
const struct keyword *wt__keyword_find(const char *name, bool draft7, unsigned vocabularies);

#endif
