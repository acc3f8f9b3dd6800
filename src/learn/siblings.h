/* siblings.h: finds siblings of tools. A sibling is another tool of the same provider whose name shares words with the
 * tool's name, such as "create_issue" and "delete_issue". Encoders often confuse siblings, so they serve as hard
 * negatives in training.
 *
 * The siblings of a tool are ordered by weighted Jaccard similarity of the names' words, equal similarities by row. A
 * word weighs more if fewer tools of the provider have it, so the resource counts more than a common verb or prefix.
 * Words are terms of the analyser without joined forms; stop words do not count. */
#ifndef WT_LEARN_SIBLINGS_H
#define WT_LEARN_SIBLINGS_H

#include "learn/ranking.h"

/* These limits bound the comparisons to SIBLING_WORDS * SIBLING_COMMON for each tool. */
enum {
    SIBLINGS_MOST = 8,   /* maximum siblings of a tool */
    SIBLING_WORDS = 12,  /* words of a name that are read */
    SIBLING_COMMON = 256 /* maximum tools of a provider that share a word; a more common word is ignored */
};

/* A zeroed struct has no siblings. */
struct siblings {
    uint32_t *rows; /* [M, SIBLINGS_MOST] siblings of each tool, best first, padded with UINT32_MAX. Only tools that a
                       training request needs, and their twins, have siblings. */
};

/* Finds the siblings. Tools with the same text as the tool (ranking->twins) are not its siblings. The ranking needs no
 * vectors. Dispose of *out even after an error. Errors: WT_ENOMEM. */
int wt__siblings_find(struct siblings *out, const struct mined_ranking *ranking, wt_error *err);
void wt__siblings_dispose(struct siblings *siblings);

/* Returns the bytes that wt__siblings_find allocates at most at a time, including the result. */
size_t wt__siblings_bytes(const struct examples *examples);

/* Lists the siblings of tool `row` that are wrong for a training request. Returns their number. */
size_t wt__siblings_wrong(const struct siblings *siblings, const struct mined_ranking *ranking, size_t request,
                          uint32_t row, uint32_t wrong[SIBLINGS_MOST]);

#endif
