/* waits.h: who waits on the loop, for what, and until when. All waits of a kind are equally long, so each kind is a
 * list in the order of its ends, and a wait begins and ends in a few steps however many there are. */
#ifndef WT_HTTP_WAITS_H
#define WT_HTTP_WAITS_H

#include <stdbool.h>

enum http_wait {
    HTTP_WAIT_NONE,
    HTTP_WAIT_IDLE,   /* for another request */
    HTTP_WAIT_HEAD,   /* for the rest of a head */
    HTTP_WAIT_BODY,   /* for the rest of a body */
    HTTP_WAIT_ANSWER, /* for the beginning of an answer */
    HTTP_WAIT_READER, /* for the client to read */
    HTTP_WAIT_CLOSE,  /* for the client to close, too */
    HTTP_WAITS
};

struct wait {
    enum http_wait kind; /* NONE: in no list */
    double until_ms;
    struct wait *before, *after;
};

struct event;
struct event_base;

struct waits {
    struct wait ends[HTTP_WAITS]; /* of the lists; each closes a ring */
    unsigned long_ms[HTTP_WAITS]; /* 0: for ever */
    struct event *timer;
    double due_ms; /* of the timer; 0: it does not run */
    void (*expired)(void *context, struct wait *wait, enum http_wait kind);
    void *context;
};

/* expired is called for each wait whose time is up, when it is in no list any more. -1: memory is out. */
int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context);
void wt__waits_close(struct waits *waits);
/* Begins a wait in place of the one that it was in, from now on. */
void wt__wait_for(struct waits *waits, struct wait *wait, enum http_wait kind);
/* The one that waits longest; NULL when none does. */
struct wait *wt__waits_first(struct waits *waits, enum http_wait kind);

#endif
