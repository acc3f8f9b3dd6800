/* mailbox.h: how other threads tell the loop that there is something to do. It outlives the loop for as long as
 * somebody holds it: what is posted later is given back at once. */
#ifndef WT_HTTP_MAILBOX_H
#define WT_HTTP_MAILBOX_H

#include <stdbool.h>

struct mailbox;

/* A link in what is posted, inside of what is posted. */
struct letter {
    struct letter *next;
};

/* Held once; NULL when memory or descriptors are out, errno says which. */
struct mailbox *wt__mailbox_open(void);
struct mailbox *wt__mailbox_hold(struct mailbox *mailbox);
/* NULL is a no-op. */
void wt__mailbox_release(struct mailbox *mailbox);

/* The descriptor that can be read when somebody has posted or rung. */
int wt__mailbox_descriptor(const struct mailbox *mailbox);
/* Any thread. False when the mailbox is shut: the letter is still the caller's. A letter is in it at most once. */
bool wt__mailbox_post(struct mailbox *mailbox, struct letter *letter);
/* Wakes the loop; from a signal handler, too. */
void wt__mailbox_ring(struct mailbox *mailbox);
/* What was posted since, oldest first; NULL when there is nothing. */
struct letter *wt__mailbox_take(struct mailbox *mailbox);
/* Nothing is taken any more. What was posted before can still be taken. */
void wt__mailbox_shut(struct mailbox *mailbox);

/* That the server is asked to end: kept here, where exchanges and signal handlers see it. */
void wt__mailbox_ask_to_stop(struct mailbox *mailbox);
bool wt__mailbox_is_stopping(const struct mailbox *mailbox);

#endif
