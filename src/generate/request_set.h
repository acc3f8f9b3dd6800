/* request_set.h: requests with their tools and splits, written as a folder in BEIR's layout for `usage add`, `train
 * --data` and `eval`:
 *
 *   corpus.jsonl       the tools; _id is a tool's id in the store
 *   queries.jsonl      the requests, with their properties in `metadata`
 *   qrels/SPLIT.tsv    train, dev and test; a split without requests has no file
 *   none/              the same for the unanswerable requests, with the tools taken out of the corpus: the input of
 *                      `eval --out-of-domain`
 *
 * In the main folder an unanswerable request is judged with 0, for a tool missing from the corpus. Training and
 * evaluation leave it out and count it (catalog/dataset.h).
 *
 * The split is a hash of the seed and the set of tools: a set of tools never has requests in two splits, and later
 * requests do not change the split of earlier ones. Requests for a single tool are split by a hash of their words,
 * since each tool should be in train. */
#ifndef WT_GENERATE_REQUEST_SET_H
#define WT_GENERATE_REQUEST_SET_H

#include "base/map.h"
#include "generate/folder.h"
#include "generate/tool_draw.h"

enum {
    REQUEST_TOOLS_MIN = 2, /* ToolBank's M */
    REQUEST_TOOLS_MAX = 5,
    REQUEST_TOOLS_HELD = 10, /* maximum of all data sets */
};

enum request_split { SPLIT_TRAIN, SPLIT_DEV, SPLIT_TEST, REQUEST_SPLITS };

struct generated_request {
    struct str text, draft, explanation; /* draft: text before the polish; empty if it was not changed */
    struct str more;                     /* further metadata members in JSON, each after a comma; may be empty */
    size_t tools[REQUEST_TOOLS_HELD];    /* [tool_count] places in the draw, in order */
    size_t tool_count;
    enum request_split split;
    bool is_unanswerable; /* true if its tools are not in the corpus */
};

struct split_settings {
    uint64_t seed;
    double dev, test; /* shares */
};

struct request_set {
    struct arena arena;
    struct generated_request *requests;
    size_t count, capacity;
    struct split_settings split;
    struct map combinations; /* sets of tool ids to a bit mask of their splits */
    size_t splits[REQUEST_SPLITS], unanswerable, in_two_splits;
};

void wt__request_set_open(struct request_set *out, const struct split_settings *split);
void wt__request_set_dispose(struct request_set *set);

/* Adds a copy with its tools sorted and its split set. Errors: WT_ENOMEM. */
int wt__request_set_add(struct request_set *set, const struct tool_draw *draw, const struct generated_request *request,
                        struct generated_request **out, wt_error *err);

/* Writes the folder's files, or removes those of an earlier run if the set is empty. Errors: those of
 * wt__folder_write. */
int wt__request_set_write(const struct request_set *set, const struct tool_draw *draw, struct generate_folder *folder,
                          wt_error *err);

#endif
