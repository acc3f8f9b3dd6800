/* limits.h: limits on the cost of a schema, an instance and a validation. Schemas come from untrusted servers, so
 * everything that can grow has a limit. docs/validator.md says what happens beyond each limit. */
#ifndef WT_SCHEMA_LIMITS_H
#define WT_SCHEMA_LIMITS_H

enum {
    SCHEMA_NESTING = 128,        /* maximum nesting of subschemas in a document, without following "$ref" */
    SCHEMA_SUBSCHEMAS = 100000,  /* maximum subschemas in all documents of one compiled schema */
    SCHEMA_DOCUMENTS = 1000,     /* maximum documents passed by the caller */
    SCHEMA_URI_BYTES = 4096,     /* maximum length of an address or a "$ref" */
    VALIDATION_STEPS = 5000000,  /* maximum steps per evaluation: one per subschema, more for patterns and other work */
    VALIDATION_DEPTH = 512,      /* maximum nesting of evaluations, through values and "$ref" */
    VALIDATION_RECORDED = 20000, /* maximum recorded violations in all lists of an evaluation together */
    PATTERN_BYTES = 16 << 10,    /* maximum length of a regular expression */
    PATTERN_MEMORY = 16 << 20,   /* maximum bytes of all compiled regular expressions of one compiled schema */
    PATTERN_ITEMS = 1000000,     /* maximum items of a pattern tried in one match */
    PATTERN_DEPTH = 10000,       /* maximum nesting of backtracking in one match */
    PATTERN_HEAP_KIB = 20 << 10, /* maximum memory of one match, in KiB */
    PATTERN_ITEMS_A_STEP = 16,   /* items of a pattern tried per step */
    VIOLATIONS_KEPT = 1000,      /* maximum violations in one list; later ones are dropped */
    MULTIPLE_STEPS = 4,          /* steps charged for "multipleOf", which may parse decimals */
    NOTE_STEPS = 8,              /* steps charged for recording a violation */
    MESSAGE_VALUE_BYTES = 60,    /* maximum bytes of a quoted value in a message */
    MESSAGE_NAME_BYTES = 80,     /* maximum bytes of a name or a pattern in a message */
    MESSAGE_POINTER_BYTES = 200, /* maximum bytes of a JSON pointer in a message */
    MESSAGE_VALUES = 10,         /* maximum enumeration values listed in a message */
    MESSAGE_NEAREST_OF = 200,    /* maximum values or names among which the nearest is searched */
};

#endif
