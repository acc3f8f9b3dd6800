/* labels.h: verdicts by a person on pairs of texts, and how far another's agree with them.
 *
 * A file of lines with tabs between their fields, as sheet.tsv (comparison.h) when its column `verdict` was filled in:
 *
 *   pair   verdict   a   b
 *   1      b         ...
 *   2      tie
 *
 * The first line names the columns: `pair`, and `verdict`; others are passed over. Without such a line the first two
 * columns are these. A verdict is a, b or tie, in any case; empty, or "?": the pair was not looked at. */
#ifndef WT_GENERATE_LABELS_H
#define WT_GENERATE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum {
    LABELS_BYTES_MAX = 64 << 20, /* of a file */
    LABEL_PAIR_MAX = 1000000,    /* a pair's number, from 1 */
};

enum label { LABEL_A, LABEL_B, LABEL_TIE, LABELS };

struct labels {
    struct label_row {
        size_t pair; /* from 1 */
        enum label label;
    } * rows; /* in order of the file; each pair once */
    size_t count, capacity;
};

/* name: for messages. Errors: WT_EFORMAT with the line (a pair that is no number, or that is there twice; a verdict
 * that is none), WT_ENOMEM. */
int wt__labels_parse(struct labels *out, struct str file, const char *name, wt_error *err);
void wt__labels_dispose(struct labels *labels);

/* How far two agree: a table of counts by the label that the one gave and the other did. */
struct agreement {
    size_t counts[LABELS][LABELS];
};

size_t wt__agreement_pairs(const struct agreement *agreement);
size_t wt__agreement_same(const struct agreement *agreement);

/* Cohen's kappa: the share that agrees beyond what two would who label by chance, as often each as these do. Where
 * that share is 1, as when both know but one label, or where there are no pairs, there is none: NAN. */
double wt__agreement_kappa(const struct agreement *agreement);

#endif
