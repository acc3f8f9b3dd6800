/* copy_groups.h: groups of rows with word-for-word copies, from forked servers and commonly wrapped servers. The caller
 * supplies a hash per tool (retrieve/document.h); rows with equal hashes form groups. Groups are built once per
 * snapshot, so that a query finds the group of a row at once.
 *
 * Groups are stored one after the other, each with at least two rows in ascending order. A row's key has the start
 * of its group (snapshot_key.group). */
#ifndef WT_INDEX_COPY_GROUPS_H
#define WT_INDEX_COPY_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct snapshot;
struct snapshot_key;

enum { COPY_GROUP_READ = 1000 /* maximum rows of a group read by a query */ };

/* A zeroed struct has no groups. */
struct copy_groups {
    const uint32_t *rows; /* [count] */
    size_t count;
};

/* Sets keys[].group from hashes, [rows]; hash 0 means no copies. *grouped: rows of all groups, [*count], to be freed
 * with free(). Takes linear time plus a sort of the hashes. Returns 0 or WT_ENOMEM. */
int wt__copy_groups_build(uint32_t **grouped, size_t *count, struct snapshot_key *keys, const uint64_t *hashes,
                          size_t rows, wt_error *err);

/* True if two rows of a group may share one result place: they have different providers, or are one operation of one
 * provider under two HTTP methods. */
bool wt__are_copies(const struct snapshot_key *a, const struct snapshot_key *b);

/* Returns the rows of the row's group, including the row itself, at most COPY_GROUP_READ. *count: their number, 0 if
 * the row has no copies. */
const uint32_t *wt__copy_group(const struct snapshot *snapshot, uint32_t row, size_t *count);

/* Checks that groups and keys agree. Fails with WT_ESTORE. */
int wt__copy_groups_check(const struct snapshot *snapshot, wt_error *err);

#endif
