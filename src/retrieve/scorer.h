/* scorer.h: the learned scorer. A small network reads features of a candidate and gives two numbers: a score that
 * orders the candidates, and the probability that the request needs the tool. The hidden units of all candidates also
 * give the probability that any tool fits the request.
 *
 * Features are the rows of one table (scorer_features.c). To add a feature, add a row and run tools/train-scorer. The
 * trained networks are built into the library (cmake/built_in.cmake). There is one for each known encoder, one for
 * other encoders, and one for searches without vectors. docs/retrieval.md says how they were trained and what each
 * feature is worth. */
#ifndef WT_RETRIEVE_SCORER_H
#define WT_RETRIEVE_SCORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct source_query;
struct scored_text; /* scorer_features.c */

/* Properties of a feature. */
enum {
    FEATURE_WHOLE = 1u << 0,   /* for a sub-query, the network also reads this feature of the whole request */
    FEATURE_VECTORS = 1u << 1, /* needs vectors; 0 in searches without vectors */
    FEATURE_SIBLING = 1u << 2, /* depends on the provider; hidden in half of the training lists, because some catalogues
                                * have a provider for each tool or only one */
};

/* A feature of a candidate for one text of the request. */
struct scorer_feature {
    const char *name;
    /* Writes the feature of each candidate to out, [N]. */
    void (*fill)(const struct scored_text *text, float *out);
    unsigned properties; /* bits FEATURE_* */
};

struct scorer_table {
    const struct scorer_feature *features;
    size_t count;
};
extern const struct scorer_table wt__scorer_table;

/* Returns the number of inputs of a network: the features, and those with FEATURE_WHOLE again. */
size_t wt__scorer_inputs(const struct scorer_table *table);

/* Returns the feature of input i. */
const struct scorer_feature *wt__scorer_input(const struct scorer_table *table, size_t i);

/* Returns a hash of the names and properties in the table. A network fits only the table that it was trained for. */
uint64_t wt__scorer_key(const struct scorer_table *table);

/* Computes the inputs of all texts and candidates: *out, [texts][inputs][N], in the workspace's arena. The sources
 * before SOURCE_SCORER must have scored. z_scores: see struct scorer. */
int wt__scorer_read(struct source_query *query, const struct scorer_table *table, bool z_scores, float **out,
                    wt_error *err);

/* A network with one hidden layer: outputs = W2 gelu(W1 z + b1) + b2, where z are the inputs after (x - mean) * scale,
 * clipped to SCORER_CLIP. Borrows its weights. */
struct scorer {
    size_t inputs, hidden;
    bool z_scores;                /* reads cosines as z-scores: in deviations from the mean cosine of two tools */
    const float *mean, *scale;    /* [inputs] */
    const float *weight1, *bias1; /* [inputs, hidden], [hidden] */
    const float *weight2, *bias2; /* [hidden, SCORER_STRIDE], [SCORER_STRIDE]: unused outputs are 0 */
    const float *fits;            /* [hidden + 2]: weights of the hidden units, of the log odds, and a constant */
    const float *percentiles;     /* [SCORER_PERCENTILES] of wt__scorer_fits for dev requests that have a tool */
};
enum { SCORER_SCORE, SCORER_LOG_ODDS, SCORER_OUTPUTS, SCORER_STRIDE = 16 /* one panel of the kernels */ };
enum { SCORER_PERCENTILES = 100 };
#define SCORER_CLIP 6.0f

/* The file of networks: a header, then for each network mean, scale, weight1, bias1, weight2, bias2, fits and
 * percentiles, as fp32 in the byte order of this machine. */
enum { SCORER_MAGIC = 0x52435357, SCORER_VERSION = 2, SCORER_VARIANTS_MAX = 8, SCORER_NAME_MAX = 40 };
struct scorer_header {
    uint32_t magic, version;
    uint64_t key;                      /* wt__scorer_key of the features */
    uint32_t variants, inputs, hidden; /* hidden is a multiple of SCORER_STRIDE */
    char names[SCORER_VARIANTS_MAX][SCORER_NAME_MAX];
    uint32_t unused[9]; /* zeros, so that the weights begin at a multiple of 64 bytes */
};

#define SCORER_WORDS "words" /* network for searches without vectors */
#define SCORER_OTHER "other" /* network for encoders that have none of their own; reads z-scores of cosines */

/* Binds the network for an encoder. encoder: its name; NULL for a search without vectors. Errors: WT_EMODEL (the
 * features have changed since the networks were trained). */
int wt__scorer_bind(struct scorer *out, const char *encoder, wt_error *err);

/* Binds the network `variant` in an image of the file. Errors: WT_EMODEL (damaged, other features, unknown name). */
int wt__scorer_bind_image(struct scorer *out, const void *image, size_t len, const char *variant, wt_error *err);

/* Runs the network. inputs: [inputs][count], standardised in place. outputs: [count, SCORER_OUTPUTS]. hidden: receives
 * the hidden units, [count, hidden]. */
void wt__scorer_run(const struct scorer *scorer, float *inputs, size_t count, float *hidden, float *outputs);

/* Sets out [width] to the greatest value of each hidden unit, hidden [count, width], over the candidates. */
void wt__scorer_pool(const float *hidden, size_t count, size_t width, float *out);

/* Returns the probability that any tool fits a text. pooled: wt__scorer_pool of the text's candidates. odds: their
 * greatest log odds. */
float wt__scorer_fits(const struct scorer *scorer, const float *pooled, float odds);

/* Returns the share of requests with a fitting tool for which wt__scorer_fits is below this value. */
float wt__scorer_fits_quantile(const struct scorer *scorer, float fits);

/* Returns exp(score - (best_of_text + best) / 2), the value of a candidate for compose.h. best_of_text: greatest score
 * of a candidate for this text; best: for any text. The value is at most 1. A sub-query whose best tool fits less well
 * than that of another sub-query counts less. */
float wt__scorer_value(float score, float best_of_text, float best);

struct workspace;
struct arena;

/* Change of a candidate's score by a feature. */
struct feature_share {
    const char *name;
    float value; /* for the whole request */
    float share; /* the score minus the score with the feature's mean in training */
};
enum { FEATURES_EXPLAINED = 6 };

/* Returns in the arena the features that changed the score of the tool in `row` most for the workspace's last request,
 * at most FEATURES_EXPLAINED, the greatest change first. *count is 0 if the tool was not a candidate of the scorer. */
int wt__scorer_explain(struct workspace *workspace, uint32_t row, struct arena *arena, struct feature_share **out,
                       size_t *count, wt_error *err);

/* The networks that are linked into the library, aligned to 64 bytes. */
extern const unsigned char wt__built_in_scorer[];
extern const size_t wt__built_in_scorer_len;

#endif
