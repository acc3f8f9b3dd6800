/* copy_groups.h: which rows are word-for-word copies of each other: forked servers, and servers that many wrap. What
 * makes two tools the same is a number that the caller brings (retrieve/document.h); here equal numbers become groups,
 * once for each snapshot, so that a query finds a row's group at the row.
 *
 * Groups lie one behind the other, each with its rows ascending, and hold at least two copies. A row's key says where its
 * group begins (snapshot_key.group). */
#ifndef WT_INDEX_COPY_GROUPS_H
#define WT_INDEX_COPY_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct snapshot;
struct snapshot_key;

enum { COPY_GROUP_READ = 1000 /* rows of a group, at most, that a query looks at */ };

/* All zero: no groups. */
struct copy_groups {
    const uint32_t *rows; /* [count] */
    size_t count;
};

/* Sets keys[].group by hashes [rows], of which 0 is no copy of anything. *grouped: rows of all groups [*count], the
 * caller's to free(). Linear but for a sort of the hashes. 0, or WT_ENOMEM. */
int wt__copy_groups_build(uint32_t **grouped, size_t *count, struct snapshot_key *keys, const uint64_t *hashes,
                          size_t rows, wt_error *err);

/* True if two rows of one group may share a place: they have different providers, or are one operation of one provider
 * under two HTTP methods. */
bool wt__are_copies(const struct snapshot_key *a, const struct snapshot_key *b);

/* The rows of the row's group, itself among them, the first COPY_GROUP_READ; *count: how many, 0 for a row that has no
 * copies. */
const uint32_t *wt__copy_group(const struct snapshot *snapshot, uint32_t row, size_t *count);

/* That groups and keys agree. WT_ESTORE. */
int wt__copy_groups_check(const struct snapshot *snapshot, wt_error *err);

#endif
