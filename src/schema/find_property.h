/* find_property.h: the property of a name, on the way of every member of every object. */
#ifndef WT_SCHEMA_FIND_PROPERTY_H
#define WT_SCHEMA_FIND_PROPERTY_H

#include "schema/compiled.h"

/* NULL for none. Few names are compared one by one, beginning at row *next, which then stands behind what was found:
 * members mostly come in the order of the schema. */
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
