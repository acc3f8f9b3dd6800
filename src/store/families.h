/* families.h: the rows of one provider that share a name but for a number, "name~2", "name~3", ..., as of their first
 * use in an import. A family is read once per import and indexed by definition, so that frequent names stay cheap.
 * Names that differ only in the part replaced by the number share a family. */
#ifndef WT_STORE_FAMILIES_H
#define WT_STORE_FAMILIES_H

#include "base/map.h"
#include "store/sqlite.h"

enum { OWNER_MAX = 8 };

/* A source, and the folders above it that are sources themselves: older versions stored the folder for files in it. */
struct owner {
    struct str name;
    int64_t ids[OWNER_MAX];
    size_t count;
};

static inline bool wt__owner_has(const struct owner *owner, int64_t source)
{
    for (size_t i = 0; i < owner->count; i++)
        if (owner->ids[i] == source)
            return true;
    return false;
}

struct family;

/* All zero is empty. */
struct families {
    struct arena arena;
    struct map by_stem, by_definition;
    struct family *items;
    size_t capacity;
};

/* Reads the family of a name. *out is valid until the next call. */
int wt__family_open(struct families *families, struct store *store, int64_t provider, struct str name,
                    struct family **out, wt_error *err);
/* Returns the row with the same definition, arguments and source id; 0 if absent. */
int64_t wt__family_same(const struct families *families, const struct family *family, const struct tool *tool);
/* Returns the first row of the owner for which `taken` is false; 0 if absent. */
int64_t wt__family_own(struct family *family, const struct owner *owner, bool (*taken)(const void *, int64_t),
                       const void *context);
/* Writes the first free "name~N". */
int wt__family_number(struct family *family, struct store *store, char out[WT_MAX_NAME_BYTES + 1], wt_error *err);
void wt__families_dispose(struct families *families);

#endif
