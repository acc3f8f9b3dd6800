/* parameters.h: the parameters of a tool as stated in its schema. Only members of the schema's root are read; a nested
 * object is one parameter of kind PARAMETER_OTHER. */
#ifndef WT_CALL_PARAMETERS_H
#define WT_CALL_PARAMETERS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

enum {
    PARAMETERS_MOST = 128, /* maximum parameters of a tool; later ones are ignored */
    PARAMETER_WORDS = 12,  /* maximum words read of a name */
    PARAMETER_DESCRIPTION_WORDS = 40,
    PARAMETER_EXAMPLES = 24,
    PARAMETER_EXAMPLE_BYTES = 40,
};

enum parameter_kind {
    PARAMETER_STRING,
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_BOOLEAN,
    PARAMETER_ANY,   /* the schema has no type */
    PARAMETER_OTHER, /* objects and lists of lists: no span of text can be a value */
};

/* End of a range, by the parameter's name: "min_price", "end_date", "origin". */
enum parameter_bound { BOUND_NONE, BOUND_LOWEST, BOUND_HIGHEST, BOUND_FROM, BOUND_TO };

struct parameter {
    const char *name;
    const json_t *schema;
    enum parameter_kind kind; /* of the items for a list */
    bool list, required, has_default;
    bool takes_date, takes_time; /* for a date, for a time, by name or format */
    bool takes_date_time;        /* for a date with a time */
    bool takes_free_text;        /* for words of any kind by its name: a query, a message */
    bool takes_place;            /* for a place */
    bool takes_code;             /* for an identifier, or digits that are not a number, as in a phone number */
    bool takes_money;            /* for an amount of money */
    bool takes_currency;         /* for a currency code */
    size_t letters;              /* exact letters of a code by the description ("three-letter code"); 0 if unknown */
    const json_t *values;        /* "enum", or NULL */
    struct str examples[PARAMETER_EXAMPLES]; /* [example_count] values quoted in the description */
    size_t example_count;
    const json_t *usual; /* usual value of past calls whose requests do not give one (demonstrations.h), or NULL */
    enum parameter_bound bound;
    struct str words[PARAMETER_WORDS]; /* words of the name */
    size_t word_count;
    struct str description_words[PARAMETER_DESCRIPTION_WORDS];
    size_t description_word_count;
};

struct parameters {
    struct parameter *items; /* [len], in the schema's order */
    size_t len;
    const struct demonstration *past; /* [past_count] calls used for learning (demonstrations.h) */
    size_t past_count;
};

/* Reads the parameters of a schema, and borrows from it. 0 or WT_ENOMEM. */
int wt__parameters_read(struct parameters *out, const json_t *schema, struct arena *arena);

/* True if two words are variants of each other: equal without a final "s", or one is a prefix of the other with at
 * least three letters ("lat" and "latitude", "beds" and "bedroom"). Ignores case. */
bool wt__words_alike(struct str a, struct str b);

/* True if the text has these words, ignoring case. */
bool wt__text_has_words(struct str text, const char *words);

/* True for prepositions of place: "in", "near". */
bool wt__is_place_word(struct str word);

#endif
