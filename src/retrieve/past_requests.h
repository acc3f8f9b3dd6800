/* past_requests.h: the tools that past requests used.
 *
 * Users often repeat requests with the same sets of tools. The most similar past requests ("neighbours") retrieve such
 * a set together, which vectors of single tools cannot do.
 *
 * Training stores the past requests in the model's file, with their vectors by the trained encoder and their labels.
 * If the engine uses another encoder, the file also holds the vectors by that encoder. A label is the id of a tool
 * that the request used. The row of a label depends on the snapshot. */
#ifndef WT_RETRIEVE_PAST_REQUESTS_H
#define WT_RETRIEVE_PAST_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/topk.h"
#include "encoder/encoder.h"
#include "index/snapshot.h"

enum { NEIGHBOURS_ASKED = 20 }; /* number of past requests that vote */

/* Past requests. The caller owns all memory. */
struct neighbours {
    size_t count, dim;        /* N, D */
    const float *requests;    /* [N, D] unit vectors */
    const uint32_t *starts;   /* [N + 1] start of each request's labels */
    const uint32_t *labels;   /* labels used by each request */
    const uint32_t *rows;     /* row of each label in the snapshot, or NEIGHBOURS_GONE */
    size_t most_labels;       /* maximum number of labels of a request */
    const uint64_t *left_out; /* bitmap of requests without a vote; NULL if all vote */
    const float *ridge;       /* [labels, D + 1] ridge regression: weights, then a constant; NULL if not trained */
    const uint32_t *label_of; /* [rows of the snapshot] label of each row, or NEIGHBOURS_GONE; NULL without ridge */
};
#define NEIGHBOURS_GONE UINT32_MAX

/* Votes by row, ascending, each row once, and the requests that voted. */
struct neighbour_votes {
    const struct scored *items;
    size_t len;
    const struct scored *requests; /* [request_count] requests by number with their cosines, best first */
    size_t request_count;
};

static inline size_t wt__neighbours_bits(size_t count)
{
    return (count + 63) / 64;
}

/* Returns the unnormalised weight of a request's vote: exp(20 (cosine - nearest)), so 1 for the nearest request. */
float wt__neighbours_weight(float cosine, float nearest);

/* Finds the k requests nearest to the unit vector query [D] and stores them in best [k], best first. Returns their
 * number. scores: [N] scratch. */
size_t wt__neighbours_nearest(const struct neighbours *neighbours, const float *query, size_t k, float *scores,
                              struct scored *best);

/* Votes for the rows used by the nearest requests. The weights of all requests add up to one vote. query: [D] unit
 * vector. scores: [N] scratch. items: room for NEIGHBOURS_ASKED * most_labels. requests: room for NEIGHBOURS_ASKED.
 * allowed: as in a search, or NULL. */
struct neighbour_votes wt__neighbours_vote(const struct neighbours *neighbours, const float *query,
                                           const uint64_t *allowed, float *scores, struct scored *items,
                                           struct scored *requests);

/* Returns how strongly the request [D] needs the tool in `row`, by a regression from past requests to their tools:
 * about 1 if it does, about 0 if not. Other than a vote, it separates the parts of requests that needed several tools,
 * so it also finds sets that no past request used. 0 for a tool without past use, or whose past requests are all left
 * out, and without a regression. */
float wt__neighbours_ridge(const struct neighbours *neighbours, const float *query, uint32_t row);

/* Tensors of the model's file; "tools" in the config names the labels. Numbers are integers below 2^24. */
#define PAST_REQUESTS "requests"   /* [N, D] */
#define PAST_UNTRAINED "untrained" /* [N, D] by the engine's encoder; the config has its hash */
#define PAST_STARTS "starts"       /* [N + 1] */
#define PAST_LABELS "labels"       /* [starts[N]] */
#define PAST_RIDGE "ridge"         /* [labels, D + 1]; missing in models of earlier versions */
enum { PAST_MAX_REQUESTS = 50000 };

struct past_requests {
    struct neighbours trained;   /* vectors by the trained encoder; `rows` is not set (it depends on the snapshot) */
    struct neighbours untrained; /* vectors by the engine's encoder at training time; count is 0 if not stored */
    char untrained_hash[65];     /* hash of that encoder */
    struct mapping file;
    uint32_t *numbers;       /* memory of starts and labels */
    uint32_t *label_hashes;  /* [label_count] hashes of the tool ids, ascending */
    uint32_t *label_of_hash; /* [label_count] */
    size_t label_count;
};

/* Opens the past requests of a model. encoder: the trained encoder. The caller disposes of `out` even on error.
 * Errors: WT_EMODEL, WT_ENOMEM. */
int wt__past_requests_open(struct past_requests *out, const char *path, const json_t *config,
                           const struct encoder *encoder, wt_error *err);
void wt__past_requests_dispose(struct past_requests *past);

/* Returns the past requests with vectors by the given encoder; count is 0 if they were not stored for it. */
struct neighbours wt__past_requests_by(const struct past_requests *past, const struct encoder *encoder);

/* Sets rows [label_count] to the row of each label in the snapshot with these keys, and label_of [count] to the label
 * of each row. */
void wt__past_requests_rows(const struct past_requests *past, const struct snapshot_key *keys, size_t count,
                            uint32_t *rows, uint32_t *label_of);

#endif
