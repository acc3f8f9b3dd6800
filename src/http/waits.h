/* waits.h: timeouts of the loop. All waits of a kind have the same duration, so each kind is a list ordered by end
 * time. Starting and ending a wait takes constant time. */
#ifndef WT_HTTP_WAITS_H
#define WT_HTTP_WAITS_H

#include <stdbool.h>

enum http_wait {
    HTTP_WAIT_NONE,
    HTTP_WAIT_IDLE,   /* another request */
    HTTP_WAIT_HEAD,   /* rest of a head */
    HTTP_WAIT_BODY,   /* rest of a body */
    HTTP_WAIT_ANSWER, /* start of an answer */
    HTTP_WAIT_READER, /* reading by the client */
    HTTP_WAIT_CLOSE,  /* closing by the client */
    HTTP_WAITS
};

struct wait {
    enum http_wait kind; /* HTTP_WAIT_NONE if in no list */
    double until_ms;
    struct wait *before, *after;
};

struct event;
struct event_base;

struct waits {
    struct wait ends[HTTP_WAITS];     /* list heads; each list is a ring */
    unsigned duration_ms[HTTP_WAITS]; /* 0 for no timeout */
    struct event *timer;
    double due_ms; /* due time of the timer; 0 if it is not set */
    void (*expired)(void *context, struct wait *wait, enum http_wait kind);
    void *context;
};

/* Opens the lists. expired is called for each wait that times out, after its removal. Returns -1 if out of memory. */
int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context);
void wt__waits_close(struct waits *waits);
/* Starts a wait now and ends the previous one. */
void wt__wait_for(struct waits *waits, struct wait *wait, enum http_wait kind);
/* Returns the longest running wait of a kind, or NULL. */
struct wait *wt__waits_first(struct waits *waits, enum http_wait kind);

#endif
