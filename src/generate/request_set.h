/* request_set.h: requests and the tools that each takes, split, and as a folder in BEIR's layout that `usage add`,
 * `train --data` and `eval` read:
 *
 *   corpus.jsonl       the tools; _id is a tool's id in the store
 *   queries.jsonl      the requests, with what they are in `metadata`
 *   qrels/SPLIT.tsv    train, dev and test, those that have a request
 *   none/              the same of the requests that no tool of the corpus fits, with the tools that were taken out:
 *                      what `eval --out-of-domain` reads
 *
 * In the folder itself a request that no tool fits is judged, and by 0: for a tool that the corpus lacks. So whoever
 * learns or measures leaves it out and counts it (catalog/dataset.h).
 *
 * The split is by a hash of the seed and the set of tools: no set has requests in two splits, and what is drawn later
 * changes nothing. Requests for one tool alone are split by a hash of their words, since each tool is to be in train.
 */
#ifndef WT_GENERATE_REQUEST_SET_H
#define WT_GENERATE_REQUEST_SET_H

#include "base/map.h"
#include "generate/folder.h"
#include "generate/tool_draw.h"

enum {
    REQUEST_TOOLS_MIN = 2, /* ToolBank's M */
    REQUEST_TOOLS_MAX = 5,
    REQUEST_TOOLS_HELD = 10, /* of any data set */
};

enum request_split { SPLIT_TRAIN, SPLIT_DEV, SPLIT_TEST, REQUEST_SPLITS };

struct request {
    struct str text, draft, explanation; /* draft: before the polish; empty where it is the same */
    struct str more; /* members of its metadata beside these, in JSON, with a comma before each; may be empty */
    size_t tools[REQUEST_TOOLS_HELD]; /* [tool_count] places of the draw, in their order */
    size_t tool_count;
    enum request_split split;
    bool none; /* its tools are not in the corpus */
};

struct split_settings {
    uint64_t seed;
    double dev, test; /* shares */
};

struct request_set {
    struct arena arena;
    struct request *requests;
    size_t count, capacity;
    struct split_settings split;
    struct map combinations; /* sets of ids to the splits that they are in, a bit each */
    size_t splits[REQUEST_SPLITS], none, in_two_splits;
};

void wt__request_set_open(struct request_set *out, const struct split_settings *split);
void wt__request_set_dispose(struct request_set *set);

/* Adds a copy, with its split set. Its tools are put in order. WT_ENOMEM. */
int wt__request_set_add(struct request_set *set, const struct tool_draw *draw, const struct request *request,
                        struct request **out, wt_error *err);

/* Writes the folder's files; of no requests it takes away what an earlier run left. Errors of wt__folder_write. */
int wt__request_set_write(const struct request_set *set, const struct tool_draw *draw, struct generate_folder *folder,
                          wt_error *err);

#endif
