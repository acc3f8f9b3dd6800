/* tool_names.h: the names under which a request finds a tool:
 *
 *   name, with and without the number that the store appended
 *   title; without one, the description if it is one short sentence
 *   provider and name, exported name, and identifier in the source
 *   method and path of an HTTP operation, if the source or the name has them: "GET /repos/{owner}/issues"
 *
 * A path segment with a parameter ("{owner}", ":owner", "<owner>") is open: it matches any text and hashes as a
 * wildcard. The request may have another parameter name or a value there. */
#ifndef WT_RETRIEVE_TOOL_NAMES_H
#define WT_RETRIEVE_TOOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "catalog/tool.h"
#include "index/names.h"

/* Maximum number of words in a title or description that counts as a name, and in a name within a request. */
enum { NAME_WORDS_MAX = 20 };

/* Increment when the names of a tool or their hashes change. */
enum { TOOL_NAMES_VERSION = 2 };

/* Adds the names of one tool. Errors: WT_ENOMEM. */
int wt__tool_names_add(struct names_builder *builder, const struct tool *tool, uint32_t row, wt_error *err);

enum { PATH_SEGMENTS_MAX = 24 };

struct path_name {
    struct str segments[PATH_SEGMENTS_MAX];
    uint32_t open; /* bitmap of open segments */
    size_t count;
};

enum { PATH_METHODS = 7 };
extern const struct str wt__path_methods[PATH_METHODS];

/* Returns the index of a method name in any case, or PATH_METHODS if the word is not a method. */
size_t wt__path_method(struct str word);

/* Splits "/a/{b}/c", or the path of a URL, into segments without the query. False if there are no segments or too
 * many. */
bool wt__path_read(struct path_name *out, struct str text);

/* Hashes the segments from `first` on; bits in `open` mark wildcards. method: index into wt__path_methods. */
uint64_t wt__path_hash(const struct path_name *path, size_t method, size_t first, uint32_t open);

/* Hashes "METHOD /path". False if the text has another form. */
bool wt__path_name_hash(struct str text, uint64_t *hash);

#endif
