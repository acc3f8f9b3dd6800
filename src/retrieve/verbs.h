/* verbs.h: what a request or a tool's name asks to be done: its verb, and the kind of action that this is. */
#ifndef WT_RETRIEVE_VERBS_H
#define WT_RETRIEVE_VERBS_H

#include <stdbool.h>

#include "base/str.h"

/* Kinds of actions as bits, since some verbs are of two: "open" reads a file and starts a conversation. */
enum action { ACTION_READ = 1, ACTION_CREATE = 2, ACTION_UPDATE = 4, ACTION_DELETE = 8 };

struct verb {
    unsigned actions; /* 0: the word is no verb that is known */
    bool noun;        /* it is as often a noun: "list", "comment" */
};

/* The word, a verb in its base form ("create", "unlock", "re-run" is two words); any case. */
struct verb wt__verb(struct str word);

#endif
