/* mailbox.h: wakes the loop and passes it work from other threads. It is reference-counted and may outlive the loop;
 * later posts fail. */
#ifndef WT_HTTP_MAILBOX_H
#define WT_HTTP_MAILBOX_H

#include <stdbool.h>

struct mailbox;

/* List link, embedded in the posted object. */
struct letter {
    struct letter *next;
};

/* Opens a mailbox with one reference. Returns NULL, with errno, if memory or descriptors are exhausted. */
struct mailbox *wt__mailbox_open(void);
struct mailbox *wt__mailbox_hold(struct mailbox *mailbox);
/* Releases a reference. Ignores NULL. */
void wt__mailbox_release(struct mailbox *mailbox);

/* Returns a descriptor that is readable after a post or a ring. */
int wt__mailbox_descriptor(const struct mailbox *mailbox);
/* Posts a letter, from any thread. Returns false if the mailbox is shut. A letter must not be posted twice at a
 * time. */
bool wt__mailbox_post(struct mailbox *mailbox, struct letter *letter);
/* Wakes the loop. Safe in signal handlers. */
void wt__mailbox_ring(struct mailbox *mailbox);
/* Returns the posted letters, oldest first, or NULL. */
struct letter *wt__mailbox_take(struct mailbox *mailbox);
/* Rejects further posts. Letters posted before can still be taken. */
void wt__mailbox_shut(struct mailbox *mailbox);

/* Requests the shutdown. The flag is kept here, where exchanges and signal handlers can access it. */
void wt__mailbox_request_stop(struct mailbox *mailbox);
bool wt__mailbox_is_stopping(const struct mailbox *mailbox);

#endif
