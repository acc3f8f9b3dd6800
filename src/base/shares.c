/* shares.c: a hash table from holders to their units (shares.h). A holder has an entry only while it has units, so
 * there are at most as many entries as units in use. */
#include "base/shares.h"

#include <stdlib.h>
#include <string.h>

struct share_entry {
    struct share_entry *next; /* next in its bucket */
    size_t units;
    char holder[]; /* NUL-terminated */
};

static const char *share_name(const char *holder)
{
    return holder ? holder : "";
}

static struct share_entry **find_share(struct shares *shares, const char *holder)
{
    unsigned hash = 5381;
    for (const char *c = share_name(holder); *c; c++)
        hash = hash * 33 ^ (unsigned char)*c;
    struct share_entry **at = &shares->buckets[hash % SHARES_BUCKETS];
    while (*at && strcmp((*at)->holder, share_name(holder)) != 0)
        at = &(*at)->next;
    return at;
}

/* Adds units to an entry and creates it if needed. Returns false if out of memory. Requires the lock. */
static bool add_units(struct shares *shares, struct share_entry **at, const char *holder, size_t units)
{
    if (!*at) {
        size_t len = strlen(share_name(holder)) + 1;
        struct share_entry *share = calloc(1, sizeof *share + len);
        if (!share)
            return false;
        memcpy(share->holder, share_name(holder), len);
        *at = share;
    }
    (*at)->units += units;
    shares->used += units;
    return true;
}

/* Removes units from an entry; frees the entry if no units are left. Requires the lock. */
static void drop_units(struct shares *shares, struct share_entry **at, size_t units)
{
    struct share_entry *share = *at;
    if (!share)
        return;
    if (units > share->units)
        units = share->units;
    share->units -= units;
    shares->used -= units;
    if (share->units > 0)
        return;
    *at = share->next;
    free(share);
}

/* True if the holder may take this many more units. Requires the lock. */
static bool fits_share(const struct shares *shares, const struct share_entry *share, const char *holder, size_t units)
{
    size_t own = share && holder ? share->units : 0,
           left = shares->used < shares->most ? shares->most - shares->used : 0;
    return own <= left && units <= left - own;
}

void wt__shares_open(struct shares *shares, size_t most)
{
    *shares = (struct shares){.most = most};
    pthread_mutex_init(&shares->lock, NULL);
}

void wt__shares_close(struct shares *shares)
{
    for (size_t i = 0; i < SHARES_BUCKETS; i++)
        for (struct share_entry *share = shares->buckets[i], *next; share; share = next) {
            next = share->next;
            free(share);
        }
    pthread_mutex_destroy(&shares->lock);
}

bool wt__shares_take(struct shares *shares, const char *holder, size_t units)
{
    pthread_mutex_lock(&shares->lock);
    struct share_entry **at = find_share(shares, holder);
    bool taken = fits_share(shares, *at, holder, units) && add_units(shares, at, holder, units);
    pthread_mutex_unlock(&shares->lock);
    return taken;
}

void wt__shares_give(struct shares *shares, const char *holder, size_t units)
{
    pthread_mutex_lock(&shares->lock);
    drop_units(shares, find_share(shares, holder), units);
    pthread_mutex_unlock(&shares->lock);
}

bool wt__shares_change(struct shares *shares, const char *holder, size_t before, size_t after)
{
    bool fits = true;
    pthread_mutex_lock(&shares->lock);
    struct share_entry **at = find_share(shares, holder);
    if (after > before)
        fits = fits_share(shares, *at, holder, after - before);
    if (after > before)
        fits &= add_units(shares, at, holder, after - before);
    else
        drop_units(shares, at, before - after);
    pthread_mutex_unlock(&shares->lock);
    return fits;
}

size_t wt__shares_of(struct shares *shares, const char *holder)
{
    pthread_mutex_lock(&shares->lock);
    const struct share_entry *share = *find_share(shares, holder);
    size_t units = share ? share->units : 0;
    pthread_mutex_unlock(&shares->lock);
    return units;
}
