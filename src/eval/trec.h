/* trec.h: runs and judgements in the text format of trec_eval, for other programs.
 *
 *   run     QUERY Q0 TOOL RANK SCORE RECIPE          qrels   QUERY 0 TOOL GAIN
 *
 * Fields are separated by blanks. In an id, bytes up to and including the blank, DEL and '%' are escaped as %XX.
 * trec_eval ignores RANK, reads SCORE as a 32-bit float and breaks ties by id. To preserve our ranking, a score equal
 * to or above the previous one is written as the next smaller float. */
#ifndef WT_EVAL_TREC_H
#define WT_EVAL_TREC_H

#include <stddef.h>

#include "base/buffer.h"
#include "catalog/dataset.h"

/* Appends one hit. *last: the score written before, INFINITY at the first hit of a query. */
void wt__trec_run_line(struct buffer *out, struct str query, struct str tool, size_t rank, double score, float *last,
                       const char *recipe);
void wt__trec_qrels_line(struct buffer *out, struct str query, const struct judgement *judgement);

/* Escapes an id. */
void wt__trec_escape(struct buffer *out, struct str id);
/* Unescapes an id in place. A '%' without two hexadecimal digits after it is kept. */
void wt__trec_unescape(char *field);

#endif
