/* opening.h: finds the sentence of a description that says what the tool does.
 *
 * Some descriptions open with rules of use, warnings, requirements, notices, headings or tags: "IMPORTANT: call login
 * first. Lists the boards of a team." The encoder reads the beginning of a description only, and would encode the rules
 * of use. */
#ifndef WT_RETRIEVE_OPENING_H
#define WT_RETRIEVE_OPENING_H

#include <stddef.h>

#include "base/str.h"

/* Limits of an opening. Beyond them, the description is read from its beginning. */
enum {
    OPENING_BYTES = 800,     /* bytes before the sentence that says what the tool does */
    OPENING_SENTENCES = 16,  /* sentences, lines, labels and tags */
    OPENING_UNRECOGNISED = 2 /* sentences of no known kind */
};

/* Returns the length of the opening of a description with markup, or 0. It is not 0 only if the description begins with
 * a recognised opening, and a later sentence says what the tool does. Then the text behind the opening begins with this
 * sentence. Takes constant time. Accepts any bytes. */
size_t wt__opening_length(struct str description);

#endif
