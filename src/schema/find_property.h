/* find_property.h: the property of a name, on the way of every member of every object. */
#ifndef WT_SCHEMA_FIND_PROPERTY_H
#define WT_SCHEMA_FIND_PROPERTY_H

#include "schema/compiled.h"

/* NULL for none. Few names are compared one by one: lengths mostly differ. */
static inline struct property *wt__find_property(const struct object_rules *rules, struct str name)
{
    struct property *items = rules->properties.items;
    if (rules->by_name.capacity > 0) {
        const uint32_t *row = wt__map_get(&rules->by_name, name);
        return row ? &items[*row] : NULL;
    }
    for (size_t i = 0; i < rules->properties.len; i++)
        if (items[i].name.len == name.len && memcmp(items[i].name.ptr, name.ptr, name.len) == 0)
            return &items[i];
    return NULL;
}

#endif
