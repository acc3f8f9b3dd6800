/* pieces.h: output of the tokenizer algorithms. */
#ifndef WT_TEXT_PIECES_H
#define WT_TEXT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Output of an algorithm. Ids beyond the capacity are counted but not stored. */
struct pieces {
    int32_t *ids;    /* [capacity] */
    size_t capacity; /* maximum number of stored ids; tokenising may stop there */
    size_t count;    /* number of ids found */
};

static inline void wt__pieces_put(struct pieces *pieces, int32_t id)
{
    if (pieces->count < pieces->capacity)
        pieces->ids[pieces->count] = id;
    pieces->count++;
}

static inline bool wt__pieces_full(const struct pieces *pieces)
{
    return pieces->count >= pieces->capacity;
}

#endif
