/* verbs.h: the verb of a request or tool name, and the kind of action it stands for. */
#ifndef WT_RETRIEVE_VERBS_H
#define WT_RETRIEVE_VERBS_H

#include <stdbool.h>

#include "base/str.h"

/* Kinds of actions as bits, because some verbs have two: "open" reads a file and starts a conversation. */
enum action { ACTION_READ = 1, ACTION_CREATE = 2, ACTION_UPDATE = 4, ACTION_DELETE = 8 };

struct verb {
    unsigned actions; /* 0 if the word is not a known verb */
    bool noun;        /* also common as a noun: "list", "comment" */
};

/* Looks up a verb in its base form ("create", "unlock"), in any case. "re-run" is two words. */
struct verb wt__verb(struct str word);

#endif
