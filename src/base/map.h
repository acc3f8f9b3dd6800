/* map.h: hash map from byte strings to 32-bit numbers, with open addressing. Keys are borrowed and must outlive the
 * map. Hashing is seeded, so that attackers cannot force collisions. */
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

/* A zeroed struct is an empty map. */
struct map {
    struct map_slot *slots;
    size_t len, capacity; /* capacity is 0 or a power of two */
    uint64_t seed;
};

/* Returns a pointer to the value of key, or NULL if the key is missing. The pointer is valid until the next insert. */
uint32_t *wt__map_get(const struct map *map, struct str key);

/* Returns a pointer to the value of key; inserts `value` if the key is missing. *added is true for a new key; added may
 * be NULL. Returns NULL if out of memory. */
uint32_t *wt__map_insert(struct map *map, struct str key, uint32_t value, bool *added);
void wt__map_dispose(struct map *map);

#endif
