/* scorer_lists.h: a file of lists of candidates, from which the learned scorer is trained (tools/train-scorer).
 *
 *   file   struct lists_header, then lists
 *   list   struct list_header, [count] labels padded to a multiple of 4 bytes, [texts][count][inputs] floats */
#ifndef WT_TOOLS_SCORER_LISTS_H
#define WT_TOOLS_SCORER_LISTS_H

#include <stdint.h>

#define LISTS_MAGIC "WTLISTS"

struct lists_header {
    char magic[8];
    uint64_t key; /* wt__scorer_key of the features */
    uint32_t inputs, lists;
};

struct list_header {
    uint32_t texts, count; /* count: N candidates */
    uint32_t needed;       /* tools that the request needs; some may be missing among the candidates */
    char kind[12];         /* "short", "joined", ..., "gone" if the needed tools were removed, "none" */
};

#endif
