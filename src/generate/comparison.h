/* comparison.h: wt_generate_comparison, with a language model of the caller's in place of the engine's.
 *
 * A judge that always takes the text that stands first says nothing of either; so each pair is asked twice, the other
 * way round the second time, and a verdict that is not for the same text both times is a tie (Zheng et al. 2023,
 * "Judging LLM-as-a-judge", section 3.4: their conservative way). What the judge thinks of a pair on the whole is
 * whichever text wins more of the criteria. */
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
    struct str ids[2], texts[2]; /* of the first data set and of the second */
    /* [order][criterion]: what was said when the first one's text stood first, and when it stood last; of no use
     * unless `answered` has both. */
    enum preference said[2][CRITERIA];
    bool answered[2];
    bool turned; /* in sheet.tsv the second one's text is a */
};

static inline bool wt__pair_is_judged(const struct compared_pair *pair)
{
    return pair->answered[0] && pair->answered[1];
}

/* Of a pair that is judged; criterion CRITERIA: on the whole. */
enum preference wt__pair_preference(const struct compared_pair *pair, size_t criterion);

/* Of the whole, or of a criterion, with the labels of a person: rows by these. */
void wt__pairs_agreement(const struct compared_pair *pairs, size_t count, const struct labels *labels, size_t criterion,
                         struct agreement *out);

/* model: NULL: the engine's; engine may be NULL where a model is given. */
int wt__generate_comparison(wt_engine *engine, struct chat_model *model, const wt_comparison_options *options,
                            wt_generated **out, wt_error *err);

/* A criterion over all pairs that are judged. */
struct outcome {
    size_t judged, wins, ties, losses;     /* of the first data set */
    size_t turned;                         /* of the ties: verdicts that went with the order; 0 of the whole */
    struct bootstrap won, tied, lost, net; /* shares, and wins less losses */
};

/* outcomes [CRITERIA + 1], the last one on the whole. WT_ENOMEM. */
int wt__pairs_outcomes(const struct compared_pair *pairs, size_t count, uint64_t seed, struct outcome *outcomes,
                       wt_error *err);

/* Appends "pairs":..., "criteria":{...}, "agreement":{...} of report.json; and the same as lines for a person. labels
 * NULL: none. */
void wt__comparison_report(const struct compared_pair *pairs, size_t count, const struct labels *labels,
                           const struct outcome *outcomes, struct buffer *out);
void wt__comparison_text(const struct compared_pair *pairs, size_t count, const struct labels *labels,
                         const struct outcome *outcomes, const char *model, struct buffer *out);

#endif
