/* map.h: hash map from bytes to a 32-bit number, open addressing. Keys are borrowed and must outlive the map.
 * Hashing is keyed, so hostile keys cannot pile up. */
#ifndef WT_BASE_MAP_H
#define WT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct map_slot {
    struct str key;
    uint32_t hash;
    uint32_t value;
    bool used;
};

/* All zero is an empty map. */
struct map {
    struct map_slot *slots;
    size_t len, capacity; /* capacity is 0 or a power of two */
    uint64_t seed;
};

/* The value's place for key, or NULL. Valid until the next insert. */
uint32_t *wt__map_get(const struct map *map, struct str key);

/* The place for key, made with `value` when absent (*added tells; may be NULL). NULL when memory is out. */
uint32_t *wt__map_insert(struct map *map, struct str key, uint32_t value, bool *added);
void wt__map_dispose(struct map *map);

#endif
