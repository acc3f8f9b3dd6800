/* answers.h: what a request gives by an argument's name: "target: kitchen", "target=kitchen", and, of one word,
 * ", target kitchen". So whoever was asked answers, and so what it says is surer than any evidence. A value ends with
 * its clause; one that is a literal (literals.h) has that one's end, commas and all; that of a list goes on over
 * commas. What follows a name that is no argument's is told as well: it is not dropped in silence. */
#ifndef WT_CALL_ANSWERS_H
#define WT_CALL_ANSWERS_H

#include "call/literals.h"
#include "call/parameters.h"

enum {
    ANSWER_BYTES = 200,   /* of a value; a longer one is not read */
    ANSWER_PART_WORDS = 3 /* of a part of a list behind a comma; more are another clause */
};

/* A parameter's answer, in bytes of the request; end 0: there is none. */
struct answer {
    size_t name, start, end; /* name: where the name begins, and start where the value does */
    bool assigned;           /* by a colon or "=" */
};

/* Where the request says value at start, blanks and joints alike, any case: the end; 0 where it does not. */
size_t wt__says(struct str request, size_t start, struct str value);

/* Fills out, which has an entry for each parameter. Of one name within another ("name", "pet name") the longer one is
 * meant. */
void wt__answers_read(struct answer *out, const struct literals *literals, const struct parameters *parameters);

/* Whether the answer is "none", and so that there is to be no such argument: not where that is a value. */
bool wt__answer_declines(struct str text, const struct parameter *parameter);

/* The next part of a list ("rabies, flu and distemper"), without blanks, brackets and quotes; empty behind the last. */
struct str wt__answer_part(struct str text, size_t *at);

/* What stands behind the name of an array of texts: a JSON array of them, texts in quotes with "," or "and" between
 * them, or one text to the end of its clause, in list, which it appends to. *end: where it ends; *sure: whether it is
 * all of a list, and not "a and b" or "a, b" without quotes, which are two or one. 0, WT_EFORMAT where there is none,
 * or WT_ENOMEM. */
int wt__answer_texts(json_t *list, size_t *end, bool *sure, const struct literals *literals,
                     const struct answer *answer);

/* From *at on, the next "WORD: VALUE" behind a comma, a semicolon or on a line of its own whose word is no parameter's
 * name; empty where there is none. *value: its value, which ends with it. */
struct str wt__answer_to_nothing(struct str request, size_t *at, const struct parameters *parameters,
                                 struct str *value);

#endif
