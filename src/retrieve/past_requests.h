/* past_requests.h: the past requests that training remembered, with the tools that they used, as neighbours.h asks
 * them.
 *
 * Of the model's file: vectors of requests by the encoder in use and, where that is another one, by the engine's, too;
 * and which labels each request has. A label is a tool by its id; which row it is depends on the snapshot. */
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

/* Of the file; the config's "tools" names the labels. Numbers are whole, below 2^24. */
#define PAST_REQUESTS "requests"   /* [N, D] */
#define PAST_UNTRAINED "untrained" /* [N, D] by the engine's encoder; the config's member of this name has its hash */
#define PAST_STARTS "starts"       /* [N + 1] */
#define PAST_LABELS "labels"       /* [starts[N]] */
enum { PAST_MAX_REQUESTS = 50000 };

struct past_requests {
    struct neighbours trained;   /* without rows, which are a snapshot's; count 0: none */
    struct neighbours untrained; /* the same by the engine's encoder of then; count 0: not remembered so */
    char untrained_hash[65];     /* of that encoder */
    struct mapping file;
    uint32_t *numbers;       /* memory of starts and labels */
    uint32_t *label_hashes;  /* [label_count] of the tools' ids, ascending */
    uint32_t *label_of_hash; /* [label_count] */
    size_t label_count;
};

/* encoder: in use. out is disposed of even when this fails. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__past_requests_open(struct past_requests *out, const char *path, const json_t *config,
                           const struct encoder *encoder, wt_error *err);
void wt__past_requests_dispose(struct past_requests *past);

/* Their vectors by an encoder that is not the one in use; count 0: they are not remembered so. */
struct neighbours wt__past_requests_by(const struct past_requests *past, const struct encoder *encoder);

/* Which row each label is: rows [label_count], by the keys of the snapshot's rows. */
void wt__past_requests_rows(const struct past_requests *past, const struct snapshot_key *keys, size_t count,
                            uint32_t *rows);

#endif
