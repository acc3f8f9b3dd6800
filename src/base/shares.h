/* shares.h: a pool that several holders draw from, so that no holder can use all of it.
 *
 * A holder gets more only while it would hold no more than what is left for all others. A single holder therefore gets
 * half of the pool, two holders a third each, and something is left for the next one (the dynamic threshold of
 * Choudhury and Hahne, 1998, with a factor of 1). No configuration is needed, and an idle holder reserves nothing.
 *
 * Holders are names: of a key, of a session, of an upstream server. NULL is a holder that may use the whole pool, for
 * where holders cannot be told apart. From any thread. */
#ifndef WT_BASE_SHARES_H
#define WT_BASE_SHARES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SHARES_BUCKETS = 64 };

struct share;

struct shares {
    size_t most; /* units in the pool */
    pthread_mutex_t lock;
    size_t used; /* under the lock, as is the next */
    struct share *buckets[SHARES_BUCKETS];
};

void wt__shares_open(struct shares *shares, size_t most);
/* Frees what holders have not given back, too. */
void wt__shares_close(struct shares *shares);
/* Takes so many units. False: the holder has its share, the pool is used up, or memory is out; nothing is taken. */
bool wt__shares_take(struct shares *shares, const char *holder, size_t units);
/* Gives back what was taken. */
void wt__shares_give(struct shares *shares, const char *holder, size_t units);
/* Counts `after` units in place of `before`, whether that is within the holder's share or not. Returns whether it is;
 * fewer units always are. */
bool wt__shares_change(struct shares *shares, const char *holder, size_t before, size_t after);
/* Units that the holder has. */
size_t wt__shares_of(struct shares *shares, const char *holder);

#endif
