/* trec.h: runs and judgements in the text form of trec_eval, for other people's tools.
 *
 *   run     QUERY Q0 TOOL RANK SCORE RECIPE          qrels   QUERY 0 TOOL GAIN
 *
 * Fields are separated by blanks, so in an id the bytes up to and including the blank, DEL and '%' are written as %XX.
 * trec_eval ignores RANK, reads SCORE as a 32-bit float and breaks ties by id; a score that would tie with the one
 * before it, or be above it, is written as the next smaller float, so that its ranking is ours. */
#ifndef WT_EVAL_TREC_H
#define WT_EVAL_TREC_H

#include <stddef.h>

#include "base/buffer.h"
#include "catalog/dataset.h"

/* One query's hits. *last is the score that was written before, INFINITY at a query's first. */
void wt__trec_run_line(struct buffer *out, struct str query, struct str tool, size_t rank, double score, float *last,
                       const char *recipe);
void wt__trec_qrels_line(struct buffer *out, struct str query, const struct judgement *judgement);

/* An id as one field, and back, in its place; a % that no two hexadecimal digits follow stays. */
void wt__trec_field(struct buffer *out, struct str id);
void wt__trec_read_field(char *field);

#endif
