/* comparison.h: wt_generate_comparison with a caller's own language model.
 *
 * A judge that always prefers the text shown first says nothing about either text. So each pair is asked about
 * twice, in both orders, and a verdict that changes with the order counts as a tie (Zheng et al. 2023, "Judging
 * LLM-as-a-judge", section 3.4, the conservative approach). The overall verdict on a pair is for the text that wins
 * more criteria. */
#ifndef WT_GENERATE_COMPARISON_H
#define WT_GENERATE_COMPARISON_H

#include "base/bootstrap.h"
#include "base/buffer.h"
#include "generate/labels.h"
#include "llm/chat.h"
#include "whichtool.h"

enum comparison_criterion { NATURALNESS, FLUENCY, COHERENCE, CRITERIA };

enum preference { PREFERS_FIRST = 1, PREFERS_NEITHER = 0, PREFERS_SECOND = -1 };

struct compared_pair {
    struct str ids[2], texts[2]; /* from the first and the second data set */
    /* [order][criterion]: answers with the first data set's text shown first, then last; valid only if both of
     * `answered` are true */
    enum preference preferences[2][CRITERIA];
    bool answered[2];
    bool is_swapped; /* true if column a of sheet.tsv holds the second data set's text */
};

static inline bool wt__pair_is_judged(const struct compared_pair *pair)
{
    return pair->answered[0] && pair->answered[1];
}

/* Returns the verdict on a judged pair. criterion: CRITERIA for the overall verdict. */
enum preference wt__pair_preference(const struct compared_pair *pair, size_t criterion);

/* Compares the model's verdicts with a person's labels: rows of the table are the person's. criterion: CRITERIA for
 * the overall verdict. */
void wt__pairs_compare_labels(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                              size_t criterion, struct agreement *out);

/* model: NULL for the engine's. engine may be NULL if a model is given. */
int wt__generate_comparison(wt_engine *engine, struct chat_model *model, const wt_comparison_options *options,
                            wt_generated **out, wt_error *err);

/* One criterion over all judged pairs. */
struct comparison_outcome {
    size_t judged, wins, ties, losses;     /* for the first data set */
    size_t changed_with_order;             /* ties whose verdict changed with the order; 0 overall */
    struct bootstrap won, tied, lost, net; /* shares, and wins minus losses */
};

/* Fills outcomes [CRITERIA + 1]; the last one is the overall verdict. Errors: WT_ENOMEM. */
int wt__pairs_measure(const struct compared_pair *pairs, size_t count, uint64_t seed,
                      struct comparison_outcome *outcomes, wt_error *err);

/* Append the verdicts as members of report.json ("pairs", "criteria", "agreement") or as lines to read. labels: NULL
 * if a person has not labelled the pairs. */
void wt__comparison_report(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                           const struct comparison_outcome *outcomes, struct buffer *out);
void wt__comparison_text(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                         const struct comparison_outcome *outcomes, const char *model, struct buffer *out);

#endif
