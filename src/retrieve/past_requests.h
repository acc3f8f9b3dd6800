/* past_requests.h: past requests and their tools as stored by training, in the form that neighbours.h reads.
 *
 * The model's file holds the vectors of the requests by the trained encoder and, if that is a different one, by the
 * engine's encoder. It also holds the labels of each request. A label is a tool id; its row depends on the snapshot. */
#ifndef WT_RETRIEVE_PAST_REQUESTS_H
#define WT_RETRIEVE_PAST_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "encoder/encoder.h"
#include "index/snapshot.h"
#include "retrieve/neighbours.h"

/* Tensors of the model's file; "tools" in the config names the labels. Numbers are integers below 2^24. */
#define PAST_REQUESTS "requests"   /* [N, D] */
#define PAST_UNTRAINED "untrained" /* [N, D] by the engine's encoder; the config has its hash */
#define PAST_STARTS "starts"       /* [N + 1] */
#define PAST_LABELS "labels"       /* [starts[N]] */
enum { PAST_MAX_REQUESTS = 50000 };

struct past_requests {
    struct neighbours trained;   /* without rows, which depend on the snapshot; count is 0 if empty */
    struct neighbours untrained; /* same requests by the engine's encoder of that time; count is 0 if not stored */
    char untrained_hash[65];     /* hash of that encoder */
    struct mapping file;
    uint32_t *numbers;       /* memory of starts and labels */
    uint32_t *label_hashes;  /* [label_count] hashes of the tool ids, ascending */
    uint32_t *label_of_hash; /* [label_count] */
    size_t label_count;
};

/* Opens the past requests of a model. encoder: the trained encoder. The caller disposes of `out` even on error. Errors:
 * WT_EMODEL, WT_ENOMEM. */
int wt__past_requests_open(struct past_requests *out, const char *path, const json_t *config,
                           const struct encoder *encoder, wt_error *err);
void wt__past_requests_dispose(struct past_requests *past);

/* Returns the past requests with vectors by the given encoder; count is 0 if they were not stored for it. */
struct neighbours wt__past_requests_by(const struct past_requests *past, const struct encoder *encoder);

/* Sets rows [label_count] to the row of each label in the snapshot with these keys. */
void wt__past_requests_rows(const struct past_requests *past, const struct snapshot_key *keys, size_t count,
                            uint32_t *rows);

#endif
