/* yaml.h: converts a YAML document to JSON text and maps JSON offsets to the source, so that one reader serves both. */
#ifndef WT_IMPORT_YAML_H
#define WT_IMPORT_YAML_H

#include "base/arena.h"
#include "base/buffer.h"

enum {
    YAML_MARK_DEPTH = 8,       /* depth of nodes whose places are stored */
    YAML_ALIAS_FREE = 1 << 20, /* JSON bytes that aliases may expand to, plus */
    YAML_ALIAS_TIMES = 16,     /* this many per byte of the source */
};

/* The place of a node: its JSON begins at `json`, its source at `byte` on line `line`. */
struct yaml_mark {
    size_t json, byte, line;
};

struct yaml {
    struct buffer json;
    struct yaml_mark *marks; /* [mark_count], by ascending json */
    size_t mark_count, mark_capacity;
    size_t line, byte;  /* place where reading stopped early */
    const char *reason; /* reason for stopping early; NULL if the document is complete. Static */
};

/* Converts the first document of source to at most max bytes of JSON. Aliases are expanded within limits, because a few
 * lines of them can expand to billions of bytes. At invalid YAML the JSON ends with open brackets, as if truncated, and
 * out->reason is set. Scalars follow the JSON schema of YAML 1.2: null, true, false and numbers keep their types, all
 * others are strings. Returns 0 or WT_ENOMEM. Call wt__yaml_dispose in any case. */
int wt__yaml_to_json(struct yaml *out, struct str source, size_t max);
void wt__yaml_dispose(struct yaml *yaml);

/* Returns the last mark at or before offset json, or NULL. */
const struct yaml_mark *wt__yaml_near(const struct yaml *yaml, size_t json);

#endif
