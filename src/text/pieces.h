/* pieces.h: where the algorithms put the ids that they find. */
#ifndef WT_TEXT_PIECES_H
#define WT_TEXT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ids beyond `capacity` are counted and not stored. */
struct pieces {
    int32_t *ids;    /* [capacity] */
    size_t capacity; /* how many are stored */
    size_t enough;   /* how many the caller wants to know of: reading may stop there */
    size_t count;    /* how many there were */
};

static inline void wt__pieces_put(struct pieces *pieces, int32_t id)
{
    if (pieces->count < pieces->capacity)
        pieces->ids[pieces->count] = id;
    pieces->count++;
}

static inline bool wt__pieces_full(const struct pieces *pieces)
{
    return pieces->count >= pieces->enough;
}

#endif
