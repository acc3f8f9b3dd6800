/* lines.h: at which line of its file a tool is defined.
 *
 * The store has no places: a file is read again, as an import would, when the first of its tools is asked for, and a
 * tool is known by its definition, byte for byte. So a line is that of the file as it is now, and one whose definition
 * was changed since, or is gone, has none; nor have two of the same file that nothing tells apart. */
#ifndef WT_AUDIT_LINES_H
#define WT_AUDIT_LINES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "catalog/tool.h"

/* Where a tool comes from. All zero: it is not known. */
struct origin {
    const char *source;         /* the file, by its whole path, or a name; "": it is not known */
    const char *format;         /* the file's */
    unsigned char exact[32];    /* of the definition, the source's id and the provider */
    unsigned char wherever[32]; /* the same without the provider, which an import may have been given */
};

/* False when memory is out. source: outlives the origin, whose other text is copied. */
bool wt__origin_of(struct origin *out, const struct tool *tool, const char *source, struct arena *arena);

/* Lines of files that were read so far. All zero is empty. */
struct lines {
    struct map lines; /* source, or source NUL exact or wherever -> line; 0: it is read, or several have it */
    struct arena arena;
};

/* The line, from 1; 0: it is not known. WT_ENOMEM. */
int wt__line_of(struct lines *lines, const struct origin *origin, size_t *out);
void wt__lines_dispose(struct lines *lines);

#endif
