/* yaml.h: a YAML document as JSON text, with the way back to the places it came from. One reader then serves both. */
#ifndef WT_IMPORT_YAML_H
#define WT_IMPORT_YAML_H

#include "base/arena.h"
#include "base/buffer.h"

enum {
    YAML_MARK_DEPTH = 8,       /* nodes down to this depth are remembered with their place */
    YAML_ALIAS_FREE = 1 << 20, /* aliases may write out so many bytes of JSON ... */
    YAML_ALIAS_TIMES = 16,     /* ... and so many more for each byte of the source */
};

/* Where a node stands: its JSON begins at `json`; in the source it begins at `byte`, on line `line`. */
struct yaml_mark {
    size_t json, byte, line;
};

struct yaml {
    struct buffer json;
    struct yaml_mark *marks; /* [mark_count], ascending json */
    size_t mark_count, mark_capacity;
    size_t line, byte;  /* where reading stopped, when it did */
    const char *reason; /* why it stopped before the end; NULL when it did not. Static */
};

/* Converts the first document of source, whose JSON may have at most max bytes. Aliases are written out within their
 * limits: a few lines of them can refer to each other into the billions. Text that is not YAML ends the JSON where it
 * stands (yaml->reason), brackets open, as a cut file would. Scalars follow the JSON schema of YAML 1.2: null, true,
 * false and numbers are themselves, all else are strings. Returns 0 or WT_ENOMEM. Ends with wt__yaml_dispose in any
 * case. */
int wt__yaml_to_json(struct yaml *out, struct str source, size_t max);
void wt__yaml_dispose(struct yaml *yaml);

/* The last mark at or before offset json, or NULL: the nearest place for what has none of its own. */
const struct yaml_mark *wt__yaml_near(const struct yaml *yaml, size_t json);

#endif
