/* toolbank.h: wt_generate_toolbank, with a language model of the caller's in place of the engine's; and its parts.
 *
 * Items are made in batches of TOOLBANK_BATCH. What a batch's prompts show, which tools and which examples, hangs on
 * what the batches before it left and on the item's own seed; so a run that goes on makes the same bytes. A batch:
 *
 *   asked        toolbank_items.c    the answer is read, held to the rules, and its tools are looked up
 *   on trial     toolbank.c          the first ones only: is the model of any use?
 *   polished     toolbank_items.c
 *   settled      toolbank_items.c    found again, not alike, into the set, its split, usages and the pool of examples
 *
 * A request counts as made from its answer on, and is withdrawn where it does not pass what follows. */
#ifndef WT_GENERATE_TOOLBANK_H
#define WT_GENERATE_TOOLBANK_H

#include "generate/distinct.h"
#include "generate/repetition.h"
#include "generate/request_examples.h"
#include "generate/request_set.h"
#include "generate/session.h"
#include "llm/prompt.h"

enum { TOOLBANK_BATCH = 50, TOOLBANK_TRIAL_HITS = 10, TOOLBANK_PHASE_BYTES = 96 };

/* One of a batch. */
struct toolbank_item {
    struct drawn drawn;
    struct str examples[EXAMPLES_SHOWN_MAX]; /* [example_count] that its prompt showed */
    size_t example_count;
    struct request request; /* where it was kept; its texts live as long as the batch */
    bool none;              /* drawn of the tools that were taken out */
    bool kept;
};

/* How the first answers were. */
struct toolbank_trial {
    bool judged, refused;
    uint64_t answers, repeating, broken, unknown;
    uint64_t astray; /* requests by which none of their tools is found */
};

struct toolbank {
    struct session session;
    wt_toolbank_options options; /* with every default filled in */
    char phase[TOOLBANK_PHASE_BYTES];
    struct encoder *encoder; /* the static one */
    struct tool_draw draw;
    struct map places; /* ids to places of the draw */
    struct distinct queries;
    struct request_examples examples;
    struct request_set set;
    struct prompt asks, polishes;
    struct repetition asked_words, polish_words; /* of these, which an answer may not repeat */
    struct toolbank_item items[TOOLBANK_BATCH];
    struct arena batch; /* of their texts */
    struct rng rng;
    struct toolbank_trial trial;
    size_t asked; /* items */
    size_t good, rewritten;
    bool some_none; /* there are tools taken out that a draw can begin with */
};

/* Name of the prompt that asks for a request. */
const char *wt__toolbank_prompt(const struct toolbank *t);

/* Stages of items begin .. begin + count - 1, count at most TOOLBANK_BATCH. Errors: those of wt__stage_run. */
int wt__toolbank_ask(struct toolbank *t, size_t begin, size_t count, wt_error *err);
int wt__toolbank_polish(struct toolbank *t, size_t begin, size_t count, wt_error *err);
/* Adds to *count the batch's requests by which a search finds none of their tools among TOOLBANK_TRIAL_HITS. Errors:
 * those of wt_find, WT_ECANCELLED, WT_ENOMEM. */
int wt__toolbank_astray(struct toolbank *t, uint64_t *count, wt_error *err);
/* Errors: those of wt_find, WT_ECANCELLED, WT_ENOMEM. */
int wt__toolbank_settle(struct toolbank *t, size_t count, wt_error *err);

/* Appends report.json, on one line. */
void wt__report_toolbank(const struct toolbank *t, bool complete, struct buffer *out);

/* model: NULL: the engine's. */
int wt__generate_toolbank(wt_engine *engine, struct chat_model *model, const wt_toolbank_options *options,
                          wt_generated **out, wt_error *err);

#endif
