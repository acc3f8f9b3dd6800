/* comparison.h: runs wt_generate_comparison with the caller's own language model. Also parses a person's labels. */
#ifndef WT_GENERATE_COMPARISON_H
#define WT_GENERATE_COMPARISON_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "llm/chat.h"
#include "whichtool.h"

/* A person's verdicts on pairs of texts, and how far another judge agrees with them.
 *
 * A file has tab-separated fields, like sheet.tsv after its column `verdict` was filled in:
 *
 *   pair   verdict   a   b
 *   1      b         ...
 *   2      tie
 *
 * The first line names the columns. Columns other than `pair` and `verdict` are ignored. Without this line, the first
 * two columns are pair and verdict. A verdict is a, b or tie, in any case. It is empty or "?" if the pair was not
 * judged. */

enum {
    LABELS_BYTES_MAX = 64 << 20, /* maximum size of a file */
    LABEL_PAIR_MAX = 1000000,    /* maximum number of a pair; numbers start at 1 */
};

enum label { LABEL_A, LABEL_B, LABEL_TIE, LABELS };

struct pair_labels {
    struct pair_label {
        size_t pair; /* from 1 */
        enum label label;
    } * rows; /* in the order of the file; each pair at most once */
    size_t count, capacity;
};

/* Parses a file. name: for messages. Errors: WT_EFORMAT with the line (a malformed or repeated pair number, an
 * unknown verdict), WT_ENOMEM. */
int wt__pair_labels_parse(struct pair_labels *out, struct str file, const char *name, wt_error *err);
void wt__pair_labels_dispose(struct pair_labels *labels);

/* Agreement of two judges. counts[x][y]: pairs that the first judge labelled x and the second y. */
struct agreement {
    size_t counts[LABELS][LABELS];
};

size_t wt__agreement_pairs(const struct agreement *agreement);
size_t wt__agreement_same(const struct agreement *agreement);

/* Returns Cohen's kappa: the agreement beyond the agreement that is expected by chance from how often each judge uses
 * each label. NAN if it is undefined: there are no pairs, or both judges use only one and the same label. */
double wt__agreement_kappa(const struct agreement *agreement);

/* Does the work of wt_generate_comparison. model: NULL for the engine's. engine may be NULL if a model is given. */
int wt__generate_comparison(wt_engine *engine, struct chat_model *model, const wt_comparison_options *options,
                            wt_generated **out, wt_error *err);

#endif
