/* path_name.h: the method and path of an HTTP operation as a name: "GET /repos/{owner}/{repo}/issues".
 *
 * A segment that holds a parameter ("{owner}", ":owner", "<owner>") is open: it stands for any text, and is hashed as
 * such. Who asks may have written another name there, or a value. */
#ifndef WT_RETRIEVE_PATH_NAME_H
#define WT_RETRIEVE_PATH_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { PATH_SEGMENTS_MAX = 24 };

struct path_name {
    struct str segments[PATH_SEGMENTS_MAX];
    uint32_t open; /* a bit each */
    size_t count;
};

enum { PATH_METHODS = 7 };
extern const struct str wt__path_methods[PATH_METHODS];

/* The place of a word among the methods, in any case; PATH_METHODS where it is none. */
size_t wt__path_method(struct str word);

/* The segments of "/a/{b}/c"; of a URL those behind its host; without a query. False where there are none, or too many.
 */
bool wt__path_read(struct path_name *out, struct str text);

/* Of the segments from `first` on, those of the bits `open` as open ones. method: among wt__path_methods. */
uint64_t wt__path_hash(const struct path_name *path, size_t method, size_t first, uint32_t open);

/* The hash of "METHOD /path"; false when the text is something else. */
bool wt__path_name_hash(struct str text, uint64_t *hash);

#endif
