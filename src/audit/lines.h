/* lines.h: finds the line at which a tool is defined in its source file.
 *
 * The store has no line numbers. The first lookup for a file imports it again, and matches tools by their definition,
 * byte for byte. Lines therefore refer to the current file. A tool has no line if its definition was changed or removed
 * since, or occurs twice in the file. */
#ifndef WT_AUDIT_LINES_H
#define WT_AUDIT_LINES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "catalog/tool.h"

/* Source of a tool. All zero if unknown. */
struct tool_origin {
    const char *source;         /* absolute path or name; "" if unknown */
    const char *format;         /* format of the file */
    unsigned char exact[32];    /* hash of definition, source id and provider */
    unsigned char wherever[32]; /* same without the provider, which `add` may have set */
};

/* Fills *out. False if out of memory. source: borrowed; other texts are copied to the arena. */
bool wt__make_origin(struct tool_origin *out, const struct tool *tool, const char *source, struct arena *arena);

/* Lines of the files read so far. Initialise with zeros. */
struct source_lines {
    struct map lines; /* source, or source NUL hash -> line; 0 for a file, or if several tools match */
    struct arena arena;
};

/* Sets *out to the line, from 1; 0 if unknown. Errors: WT_ENOMEM. */
int wt__find_source_line(struct source_lines *lines, const struct tool_origin *origin, size_t *out);
void wt__lines_dispose(struct source_lines *lines);

#endif
