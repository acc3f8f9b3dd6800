/* pieces.h: the ids that the tokenizer algorithms produce. */
#ifndef WT_TEXT_PIECES_H
#define WT_TEXT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of the pieces of a text. Ids beyond the capacity are counted but not stored. */
struct pieces {
    int32_t *ids;    /* [capacity] */
    size_t capacity; /* maximum number of ids; tokenising may stop once it is reached */
    size_t count;    /* number of ids found; may exceed capacity */
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
