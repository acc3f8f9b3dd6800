/* services.h: names of well-known services and products, to tell "there is no tool of Linear here" from an unknown
 * word. */
#ifndef WT_RETRIEVE_SERVICES_H
#define WT_RETRIEVE_SERVICES_H

#include <stdbool.h>

#include "base/str.h"

/* True for the name of a service, in any case. */
bool wt__is_service(struct str word);

/* True if `word`, a part of the text, is used as the name of a service. A name that is also an English word, such as
 * "linear", must have a capital inside a sentence, or be next to a word such as "in" or "issue". */
bool wt__names_service(struct str text, struct str word);

#endif
