/* stage.h: many questions of one kind to a language model, each asked again until its answer is of use.
 *
 * Items are asked in rounds, as many of them under way at once as the model takes, and their answers read in the items'
 * order. So what comes out depends on the answers alone, never on which came first; and since the answers are recorded
 * in the data set's folder (generate/folder.h), a run that was stopped finds them there and goes on to the same bytes.
 * Each question is drawn by a seed of its own, which the run's seed, the stage, the item and the attempt make.
 *
 * What always holds of a stage's counts: questions = unusable + answers that were read; offered = made + the sum of
 * what was turned away. */
#ifndef WT_GENERATE_STAGE_H
#define WT_GENERATE_STAGE_H

#include "base/progress.h"
#include "generate/piece.h"
#include "llm/chat.h"
#include "llm/prompt.h"

enum {
    STAGE_ATTEMPTS = 4,       /* questions for one item */
    STAGE_FRUITLESS_MAX = 40, /* answers in a row that were of no use: then the stage ends */
    STAGE_ROUND = 64,         /* items asked together where none depends on another */
    STAGE_VALUES = 4,         /* slots of a prompt */
};

enum stage_id {
    STAGE_TOOLS,
    STAGE_RELATED,
    STAGE_DESCRIPTIONS,
    STAGE_INSTRUCTIONS,
    STAGE_NOTES,
    STAGE_REQUESTS, /* of ToolBank (toolbank.h), and their polish */
    STAGE_POLISH,
    STAGE_VERDICTS, /* of a request and its tools (verdict.h), and once more without one of these */
    STAGE_ONE_REMOVED,
    STAGE_COMPARISONS, /* of two requests (comparison.h) */
    STAGE_NAMES,       /* of tools that are renamed (names.c) */
    STAGES
};

struct stage_count {
    size_t wanted, made;
    uint64_t questions, unusable, offered;
    uint64_t refused[PIECE_FATES]; /* PIECE_TAKEN is always 0 */
    size_t fruitless;              /* answers in a row up to now of which nothing was made */
    bool gave_up;                  /* it ended by STAGE_FRUITLESS_MAX */
};

struct stage_cost {
    uint64_t questions, requests, repaired, prompt_tokens, completion_tokens;
    double ms;
};

/* Who asks. */
struct asker {
    struct chat_model *model;
    double temperature;
    uint64_t seed;
    struct progress *progress;
    struct stage_count counts[STAGES];
    struct stage_cost cost;
};

/* What a question is about, for a stand-in (chat_question.subject). */
struct stage_subject {
    enum stage_id stage;
    size_t item;
    unsigned attempt; /* from 0 */
};

struct stage {
    enum stage_id id;
    const char *phase;  /* as progress calls it; NULL: the phase goes on that is under way */
    const char *prompt; /* name */
    size_t begin;       /* number of the first item */
    size_t count;       /* items */
    size_t round;       /* items asked together: 1 where each depends on those before it */
    unsigned attempts;  /* 0: STAGE_ATTEMPTS */
    uint64_t salt;      /* of its seeds, where a stage runs more than once */
    bool likes_pass;    /* what is like an earlier piece is no sign that the model is of no use: such an answer does not
                           count towards STAGE_FRUITLESS_MAX */
    void *context;

    /* The values of the prompt's slots for an item, in the arena: [STAGE_VALUES] and how many. */
    int (*fill)(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                wt_error *err);
    /* Takes what it can of an answer, counting it, and tells whether the item has all that it wants. */
    int (*take)(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done, wt_error *err);
    /* Whether an item wants no question; NULL: every one does. */
    bool (*skip)(void *context, size_t item);
};

/* Runs it. Errors: those of wt__chat_ask but WT_EFORMAT, which is an answer of no use; of fill and take; WT_ECANCELLED.
 */
int wt__stage_run(struct asker *asker, const struct stage *stage, wt_error *err);

/* A piece that was taken and is turned away after all. */
static inline void wt__stage_withdraw(struct stage_count *count, enum piece_fate fate)
{
    count->made--;
    count->refused[fate]++;
}

/* Counts a piece of an answer, by what became of it. */
static inline void wt__stage_note(struct stage_count *count, enum piece_fate fate)
{
    count->offered++;
    if (fate == PIECE_TAKEN)
        count->made++;
    else
        count->refused[fate]++;
}

/* "tools", "related", ... as report.json calls a stage. */
const char *wt__stage_name(enum stage_id id);

#endif
