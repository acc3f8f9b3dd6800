/* material.h: the vectors for the analyses, all from one encoder: requests, and for each tool its description and its
 * use. A vector has length one, or is zero if it is missing. */
#ifndef WT_EVAL_MATERIAL_H
#define WT_EVAL_MATERIAL_H

#include "base/progress.h"
#include "catalog/dataset.h"
#include "engine/engine.h"

struct analysis_input {
    struct arena arena;
    const char *encoder; /* its name */
    size_t dim;
    size_t request_count;
    const struct query *queries; /* [requests], borrowed from the data set */
    float *requests;             /* [requests, D] */
    size_t *gold_starts;         /* [requests + 1] into gold */
    uint32_t *gold;              /* rows of relevant tools; UINT32_MAX if the tool is not in the catalogue */
    size_t tool_count;
    struct str *names;    /* [M] source ids */
    float *descriptions;  /* [M, D] */
    float *uses;          /* [M, D] */
    uint32_t *use_counts; /* [M] recorded usages */
};

/* Reads the first `count` requests of the data set and every tool of the engine. Computes missing vectors. */
int wt__analysis_input_read(struct analysis_input *out, wt_engine *engine, const struct encoder *encoder,
                            const struct dataset *dataset, size_t count, struct progress *progress, wt_error *err);
void wt__analysis_input_dispose(struct analysis_input *input);

#endif
