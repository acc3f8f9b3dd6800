/* limits.h: how much a schema, an instance and one validation of it may cost. Schemas come from servers that nobody
 * vouches for, so each way to grow without end has a number; docs/validator.md says what happens at each. */
#ifndef WT_SCHEMA_LIMITS_H
#define WT_SCHEMA_LIMITS_H

enum {
    SCHEMA_NESTING = 128,        /* schemas within schemas, as they are written */
    SCHEMA_SUBSCHEMAS = 100000,  /* of all documents that one validator reads */
    SCHEMA_DOCUMENTS = 1000,     /* that a caller hands over */
    SCHEMA_URI_BYTES = 4096,     /* one address, and one "$ref" */
    VALIDATION_STEPS = 5000000,  /* subschemas evaluated, and work that counts as so many */
    VALIDATION_DEPTH = 512,      /* evaluations within evaluations: values within values, by way of "$ref" */
    VALIDATION_RECORDED = 20000, /* violations noted in all alternatives together */
    PATTERN_BYTES = 16 << 10,    /* one regular expression */
    PATTERN_MEMORY = 16 << 20,   /* all compiled regular expressions of one validator */
    PATTERN_ITEMS = 1000000,     /* items of a pattern that one match may try */
    PATTERN_DEPTH = 10000,       /* nested backtracking of one match */
    PATTERN_HEAP_KIB = 20 << 10, /* memory of one match */
    PATTERN_ITEMS_A_STEP = 16,   /* so many items are one step */
    VIOLATIONS_KEPT = 1000,      /* violations of one list, of which the first are reported */
    MULTIPLE_STEPS = 4,          /* "multipleOf", which may read decimals */
    NOTE_STEPS = 8,              /* what it costs to note one */
    MESSAGE_VALUE_BYTES = 60,    /* of a value that a message quotes */
    MESSAGE_NAME_BYTES = 80,     /* of a name, a pattern or a pointer's last step */
    MESSAGE_POINTER_BYTES = 200, /* of a place */
    MESSAGE_VALUES = 10,         /* values of an enumeration that a message lists */
    MESSAGE_NEAREST_OF = 200,    /* values or names among which a nearest one is looked for */
};

#endif
