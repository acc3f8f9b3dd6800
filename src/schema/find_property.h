/* find_property.h: finds a property by name. This runs for every member of every object, so it is inline. */
#ifndef WT_SCHEMA_FIND_PROPERTY_H
#define WT_SCHEMA_FIND_PROPERTY_H

#include "schema/compiled.h"

/* Returns the property with this name, or NULL. Short lists are searched linearly from row *next, which is then set to
 * the row after the match. Members mostly come in the order of the schema. */
static inline struct property *wt__find_property(const struct object_rules *rules, struct str name, size_t *next)
{
    struct property *items = rules->properties.items;
    size_t len = rules->properties.len, row = *next;
    if (rules->mapped) {
        const uint32_t *found = wt__map_get(&rules->by_name, name);
        return found ? &items[*found] : NULL;
    }
    for (size_t i = 0; i < len; i++, row++) {
        if (row >= len)
            row = 0;
        if (items[row].name.len == name.len && memcmp(items[row].name.ptr, name.ptr, name.len) == 0) {
            *next = row + 1;
            return &items[row];
        }
    }
    return NULL;
}

#endif
