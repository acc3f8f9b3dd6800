/* toolbank.h: runs wt_generate_toolbank with the caller's own language model. Also declares its stages.
 *
 * Items are made in batches of TOOLBANK_BATCH. The tools and examples in a batch's prompts depend on the earlier
 * batches and on the item's own seed, so that a continued run writes the same bytes. The steps of a batch:
 *
 *   ask       toolbank_items.c    reads the answers, validates them, looks up their tools
 *   trial     toolbank.c          first batches only; a model with too many unusable answers is refused
 *   polish    toolbank_items.c
 *   commit    toolbank_items.c    round trip and duplicates; adds to the set, its split, the usages and the examples
 *
 * A request counts as made once it is answered, and is withdrawn if it fails a later step. */
#ifndef WT_GENERATE_TOOLBANK_H
#define WT_GENERATE_TOOLBANK_H

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/str.h"
#include "generate/requests.h"
#include "llm/prompt.h"

/* The example requests shown in ToolBank's prompts: six handwritten requests and the requests generated so far. With
 * the option `like`, requests by people take their place, so that the model follows the style of these people.
 *
 * The pool of examples is bounded. Once it is full, every example so far is in it with the same probability. A prompt's
 * examples are drawn from the pool with the item's seed. */

enum {
    EXAMPLES_POOL = 512,
    EXAMPLES_SHOWN_MAX = 5, /* the value in the Tool2Vec paper; its script uses 3 */
    EXAMPLES_SEEDS = 6,
};

struct request_examples {
    struct arena arena;
    struct str lines[EXAMPLES_POOL];
    size_t count, seen; /* seen: examples so far, with those that are not in the pool */
    struct rng rng;     /* decides which example is replaced */
};

/* Starts with the handwritten examples. */
void wt__request_examples_open(struct request_examples *out, uint64_t seed);
/* Starts with the requests of dir's train split with two to five tools; a uniform sample if they exceed the pool.
 * Errors: those of wt__dataset_read and wt__text_lines_read; WT_EEMPTY (no such request). */
int wt__request_examples_read(struct request_examples *out, const char *dir, uint64_t seed, wt_error *err);
void wt__request_examples_dispose(struct request_examples *examples);

/* Writes the SHA-256 of the examples, in hexadecimal. */
void wt__request_examples_digest(const struct request_examples *examples, char hex[65]);

enum { TOOLBANK_BATCH = 50, TOOLBANK_TRIAL_HITS = 10, TOOLBANK_PHASE_BYTES = 96 };

/* One item of a batch. */
struct toolbank_item {
    struct drawn_tools drawn;
    struct str examples[EXAMPLES_SHOWN_MAX]; /* [example_count] examples shown in its prompt */
    size_t example_count;
    struct generated_request request; /* valid if kept; its texts live as long as the batch */
    bool is_unanswerable;             /* its tools were taken out of the catalogue */
    bool is_kept;
};

/* Quality of the first answers. */
struct toolbank_trial {
    bool is_judged, is_refused;
    uint64_t answers;                    /* number of answers of the trial */
    uint64_t repeating, broken, unknown; /* answers that repeat the prompt, break the schema, name unknown tools */
    uint64_t astray_requests;            /* requests whose search finds none of their tools */
};

struct toolbank {
    struct generate_session session;
    wt_toolbank_options options; /* defaults filled in */
    char phase[TOOLBANK_PHASE_BYTES];
    struct encoder *encoder; /* the static one */
    struct tool_draw draw;
    struct map places; /* ids to places in the draw */
    struct distinct queries;
    struct request_examples examples;
    struct request_set set;
    struct prompt request_prompt, polish_prompt;
    struct repetition request_words, polish_words; /* words of the two prompts, which an answer must not repeat */
    struct toolbank_item items[TOOLBANK_BATCH];
    struct arena batch; /* memory of the batch's texts */
    struct rng rng;
    struct toolbank_trial trial;
    size_t asked;                /* number of items asked so far */
    size_t good, rewritten;      /* requests that the polish found good, and rewrote */
    bool has_unanswerable_tools; /* true if a tool taken out can be the first of a draw */
};

/* Returns the name of the prompt that asks for a request. */
const char *wt__toolbank_prompt(const struct toolbank *t);

/* Run a stage for items begin .. begin + count - 1; count is at most TOOLBANK_BATCH. Errors: those of wt__stage_run. */
int wt__toolbank_ask(struct toolbank *t, size_t begin, size_t count, wt_error *err);
int wt__toolbank_polish(struct toolbank *t, size_t begin, size_t count, wt_error *err);
/* Adds to *count the number of the batch's requests whose first TOOLBANK_TRIAL_HITS hits contain none of their tools.
 * Errors: those of wt_find, WT_ECANCELLED, WT_ENOMEM. */
int wt__toolbank_count_astray(struct toolbank *t, uint64_t *count, wt_error *err);
/* Moves the batch's valid requests to the set. Errors: those of wt_find, WT_ECANCELLED, WT_ENOMEM. */
int wt__toolbank_commit(struct toolbank *t, size_t count, wt_error *err);

/* Does the work of wt_generate_toolbank. model: NULL for the engine's. */
int wt__generate_toolbank(wt_engine *engine, struct chat_model *model, const wt_toolbank_options *options,
                          wt_generated **out, wt_error *err);

#endif
