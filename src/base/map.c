/* map.c: a hash map with linear probing at a load of at most 3/4. The hash is seeded from an address and the clock, so
 * that collisions cannot be precomputed. */
#include "base/map.h"

#include <stdlib.h>
#include <time.h>

#include "base/checksum.h"
#include "base/memory.h"

enum { CAPACITY_MIN = 16 };

static uint32_t hash_key(const struct map *map, struct str key)
{
    return (uint32_t)wt__checksum(key.ptr, key.len, map->seed);
}

static struct map_slot *probe_slots(const struct map *map, struct str key, uint32_t hash)
{
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &map->slots[i];
        if (!slot->used || (slot->hash == hash && wt__str_equal(slot->key, key)))
            return slot;
    }
}

static int resize_map(struct map *map, size_t capacity)
{
    struct map bigger = {.capacity = capacity, .len = map->len, .seed = map->seed};
    bigger.slots = calloc(capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            *probe_slots(&bigger, map->slots[i].key, map->slots[i].hash) = map->slots[i];
    free(map->slots);
    *map = bigger;
    return 0;
}

uint32_t *wt__map_get(const struct map *map, struct str key)
{
    if (map->len == 0)
        return NULL;
    struct map_slot *slot = probe_slots(map, key, hash_key(map, key));
    return slot->used ? &slot->value : NULL;
}

uint32_t *wt__map_insert(struct map *map, struct str key, uint32_t value, bool *added)
{
    if (map->capacity == 0) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        map->seed = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)map << 16;
    }
    if ((map->len + 1) * 4 > map->capacity * 3 && resize_map(map, map->capacity ? map->capacity * 2 : CAPACITY_MIN) < 0)
        return NULL;
    uint32_t hash = hash_key(map, key);
    struct map_slot *slot = probe_slots(map, key, hash);
    bool fresh = !slot->used;
    if (fresh) {
        *slot = (struct map_slot){.key = key, .hash = hash, .value = value, .used = true};
        map->len++;
    }
    if (added)
        *added = fresh;
    return &slot->value;
}

void wt__map_dispose(struct map *map)
{
    free(map->slots);
    *map = (struct map){0};
}
