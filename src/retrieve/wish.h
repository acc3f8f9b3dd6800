/* wish.h: finds the wish in a mail, a ticket or a chat, and leaves out what is around it. */
#ifndef WT_RETRIEVE_WISH_H
#define WT_RETRIEVE_WISH_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    WISH_FROM = 240 /* bytes: shorter requests are read as they are */
};

/* Shortens a request of at least WISH_FROM bytes to the sentences that are wishes. A wish is a plea ("please post it",
 * "could you ..."), an order, or a question. Pleas count before orders, and orders before questions. Greetings,
 * signatures, disclaimers and quoted messages are left out. Sets *out to the wishes, in the arena, or to the request if
 * it has no wish or is short. Errors: WT_ENOMEM. */
int wt__wish_read(struct str *out, struct str request, struct arena *arena, wt_error *err);

#endif
