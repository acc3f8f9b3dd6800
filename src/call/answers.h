/* answers.h: values that a request gives by the name of an argument: "target: kitchen", "target=kitchen", and, for one
 * word, ", target kitchen". Users answer questions this way, so an answer outweighs all other evidence.
 *
 * A value ends with its clause, or with its literal (literals.h), which may contain commas. Values of a list continue
 * after commas. A "name: value" clause whose name matches no argument is reported, not dropped. */
#ifndef WT_CALL_ANSWERS_H
#define WT_CALL_ANSWERS_H

#include "call/literals.h"
#include "call/parameters.h"

enum {
    ANSWER_BYTES = 200,   /* longest value that is read */
    ANSWER_PART_WORDS = 3 /* most words of a list item after a comma; a longer one is another clause */
};

/* Answer for a parameter, in bytes of the request; end is 0 if the request has no answer. */
struct argument_answer {
    size_t name, start, end; /* name: start of the name; start, end: the value */
    bool assigned;           /* the name is followed by a colon or "=" */
};

/* Returns the end of value if the request has it at start, ignoring case and taking blanks, "_" and "-" as equal; else
 * 0. */
size_t wt__match_value(struct str request, size_t start, struct str value);

/* Fills out, which has one entry per parameter. The longer name wins where names overlap ("name", "pet name"). */
void wt__answers_read(struct argument_answer *out, const struct literals *literals,
                      const struct parameters *parameters);

/* True if the answer is "none", so that the argument is left out, unless "none" is a value of the parameter. */
bool wt__answer_declines(struct str text, const struct parameter *parameter);

/* Returns the next item of a list ("rabies, flu and distemper") without blanks, brackets and quotes; empty at the end.
 */
struct str wt__next_answer_part(struct str text, size_t *at);

/* Appends to list the texts after the name of an array of texts: a JSON array, quoted texts joined by "," or "and", or
 * one text to the end of its clause. *end: end of the texts. *sure: false for "a and b" or "a, b" without quotes, which
 * may be two texts or one. 0, WT_EFORMAT if there is no text, or WT_ENOMEM. */
int wt__answer_read_texts(json_t *list, size_t *end, bool *sure, const struct literals *literals,
                          const struct argument_answer *answer);

/* Returns the next "WORD: VALUE" from *at on whose word names no parameter. The clause follows a comma or semicolon, or
 * begins a line. Sets *value to its value. Empty at the end. */
struct str wt__next_unknown_answer(struct str request, size_t *at, const struct parameters *parameters,
                                   struct str *value);

#endif
