/* shares.h: divides a pool of units among several holders, so that units are left for the next holder.
 *
 * A holder may take units only if its new total does not exceed the units that were left before. Holders that take
 * units in small portions therefore get half of the pool if alone, or a third each if two, and always leave units for
 * the next holder. This is the dynamic threshold of Choudhury and Hahne (1998) with a factor of 1. It needs no
 * configuration, and idle holders reserve no units.
 *
 * A holder is the name of a key, a session or an upstream server. The holder NULL may use the whole pool; it is for
 * callers that cannot distinguish holders. All functions are thread-safe. */
#ifndef WT_BASE_SHARES_H
#define WT_BASE_SHARES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SHARES_BUCKETS = 64 };

struct share_entry;

struct shares {
    size_t most; /* units in the pool */
    pthread_mutex_t lock;
    size_t used; /* protected by the lock, like buckets */
    struct share_entry *buckets[SHARES_BUCKETS];
};

void wt__shares_open(struct shares *shares, size_t most);
/* Frees the memory, even if holders have not returned all units. */
void wt__shares_close(struct shares *shares);
/* Takes units. Returns false, with nothing taken, if the holder would exceed its share, or if out of memory. */
bool wt__shares_take(struct shares *shares, const char *holder, size_t units);
/* Returns units to the pool. */
void wt__shares_give(struct shares *shares, const char *holder, size_t units);
/* Replaces `before` units of the holder by `after` units, even if the holder then exceeds its share. Returns false if
 * the holder exceeds its share or if out of memory. Always returns true if after <= before. */
bool wt__shares_change(struct shares *shares, const char *holder, size_t before, size_t after);
/* Returns the number of units of the holder. */
size_t wt__shares_of(struct shares *shares, const char *holder);

#endif
