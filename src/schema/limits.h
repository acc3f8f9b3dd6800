/* limits.h: limits on the cost of a schema, an instance and a validation. Schemas come from untrusted servers, so
 * everything that can grow has a limit. docs/validator.md says what happens beyond each limit. */
#ifndef WT_SCHEMA_LIMITS_H
#define WT_SCHEMA_LIMITS_H

enum {
    SCHEMA_NESTING = 128,        /* nested subschemas in a document, without following "$ref" */
    SCHEMA_SUBSCHEMAS = 100000,  /* subschemas in all documents of one validator */
    SCHEMA_DOCUMENTS = 1000,     /* documents passed by the caller */
    SCHEMA_URI_BYTES = 4096,     /* length of an address or a "$ref" */
    VALIDATION_STEPS = 5000000,  /* steps per evaluation: one per subschema, and more for patterns and other work */
    VALIDATION_DEPTH = 512,      /* nested evaluations, through values and "$ref" */
    VALIDATION_RECORDED = 20000, /* recorded violations in all lists of an evaluation together */
    PATTERN_BYTES = 16 << 10,    /* length of a regular expression */
    PATTERN_MEMORY = 16 << 20,   /* bytes of all compiled regular expressions of one validator */
    PATTERN_ITEMS = 1000000,     /* items of a pattern tried in one match */
    PATTERN_DEPTH = 10000,       /* nested backtracking in one match */
    PATTERN_HEAP_KIB = 20 << 10, /* memory of one match */
    PATTERN_ITEMS_A_STEP = 16,   /* number of items per step */
    VIOLATIONS_KEPT = 1000,      /* violations kept in one list; only the first are reported */
    MULTIPLE_STEPS = 4,          /* steps charged for "multipleOf", which may parse decimals */
    NOTE_STEPS = 8,              /* steps charged for recording a violation */
    MESSAGE_VALUE_BYTES = 60,    /* bytes of a quoted value */
    MESSAGE_NAME_BYTES = 80,     /* bytes of a name or a pattern */
    MESSAGE_POINTER_BYTES = 200, /* bytes of a JSON pointer */
    MESSAGE_VALUES = 10,         /* listed values of an enumeration */
    MESSAGE_NEAREST_OF = 200,    /* values or names searched for the nearest one */
};

#endif
