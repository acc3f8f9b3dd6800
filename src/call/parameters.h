/* parameters.h: the arguments that a tool takes, one by one, as its schema states them: what an argument of a request
 * is matched with. Members of the schema's root alone: what lies deeper is one argument of kind PARAMETER_OTHER. */
#ifndef WT_CALL_PARAMETERS_H
#define WT_CALL_PARAMETERS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

enum {
    PARAMETERS_MOST = 128, /* of one tool; later ones are not filled */
    PARAMETER_WORDS = 12,  /* of a name that are looked at */
    PARAMETER_DESCRIPTION_WORDS = 40,
    PARAMETER_EXAMPLES = 24,
    PARAMETER_EXAMPLE_BYTES = 40,
};

enum parameter_kind {
    PARAMETER_STRING,
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_BOOLEAN,
    PARAMETER_ANY,   /* the schema states no type */
    PARAMETER_OTHER, /* objects, lists of lists: nothing that a span of text is */
};

/* Which end of a range an argument is, by its name: "min_price", "end_date", "origin". */
enum parameter_bound { BOUND_NONE, BOUND_LOWEST, BOUND_HIGHEST, BOUND_FROM, BOUND_TO };

struct parameter {
    const char *name;
    const json_t *schema;
    enum parameter_kind kind; /* of a list: of its items */
    bool list, required, has_default;
    bool dated, timed; /* its name or form asks for a date, a time */
    bool date_timed;   /* for a date with its time */
    bool free_text;    /* its name asks for words of any kind: a query, a message */
    bool placed;       /* for a place */
    bool coded;        /* for an identifier, or a number that is none: a phone's */
    bool paid;         /* for an amount of money */
    bool currency;     /* for the code of one */
    size_t letters;    /* that a code has by the description ("three-letter code"), no more and no fewer; 0: unsaid */
    const json_t *values;                    /* "enum", or NULL */
    struct str examples[PARAMETER_EXAMPLES]; /* [example_count] values that the description quotes */
    size_t example_count;
    const json_t *usual; /* what past calls give where their requests say nothing (demonstrations.h), or NULL */
    enum parameter_bound bound;
    struct str words[PARAMETER_WORDS]; /* of the name, without those that say its bound */
    size_t word_count;
    struct str description_words[PARAMETER_DESCRIPTION_WORDS];
    size_t description_word_count;
};

struct parameters {
    struct parameter *items; /* [len], in the schema's order */
    size_t len;
    const struct demonstration *past; /* [past_count] calls that they learned from (demonstrations.h) */
    size_t past_count;
};

/* The parameters of schema, which they borrow. 0 or WT_ENOMEM. */
int wt__parameters_read(struct parameters *out, const json_t *schema, struct arena *arena);

/* Whether two words mean the same here: without an "s" at their ends, equal, or one begins the
 * other and has three letters or more ("lat" and "latitude", "beds" and "bedroom"). Any case. */
bool wt__words_alike(struct str a, struct str b);

/* Whether a text has these words, in upper or lower case. */
bool wt__text_says(struct str text, const char *words);

/* "in", "near": what stands before a place. */
bool wt__is_place_word(struct str word);

#endif
