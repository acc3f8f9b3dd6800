/* stage.h: asks a language model many questions of one kind, and asks each again until its answer is usable.
 *
 * Items are asked in rounds, concurrently as far as the model allows, and the answers are read in the order of the
 * items. The result therefore depends only on the answers, not on their timing. Answers are recorded in the data
 * set's folder (generate/folder.h), so that a continued run finds them and writes the same bytes. Each question has
 * its own seed, derived from the run's seed, the stage, the item and the attempt.
 *
 * Invariants of a stage's counts: questions = unusable + parsed answers; offered = made + sum of refused. */
#ifndef WT_GENERATE_STAGE_H
#define WT_GENERATE_STAGE_H

#include "base/progress.h"
#include "generate/piece.h"
#include "llm/chat.h"
#include "llm/prompt.h"

enum {
    STAGE_ATTEMPTS = 4,       /* maximum number of questions for an item */
    STAGE_FRUITLESS_MAX = 40, /* consecutive useless answers that end the stage */
    STAGE_ROUND = 64,         /* items asked together if they do not depend on each other */
    STAGE_VALUES = 4,         /* maximum number of slots in a prompt */
};

enum stage_id {
    STAGE_TOOLS,
    STAGE_RELATED,
    STAGE_DESCRIPTIONS,
    STAGE_INSTRUCTIONS,
    STAGE_NOTES,
    STAGE_REQUESTS, /* requests of ToolBank (toolbank.h), and their polish */
    STAGE_POLISH,
    STAGE_VERDICTS, /* verdicts on a request with its tools (verdict.h), then with one removed */
    STAGE_ONE_REMOVED,
    STAGE_COMPARISONS, /* comparisons of two requests (comparison.h) */
    STAGE_NAMES,       /* new names of tools (names.c) */
    STAGES
};

struct stage_count {
    size_t wanted, made;
    uint64_t questions, unusable, offered;
    uint64_t refused[PIECE_FATES]; /* PIECE_TAKEN is always 0 */
    size_t fruitless;              /* consecutive answers that gave nothing usable */
    bool gave_up;                  /* ended by STAGE_FRUITLESS_MAX */
};

struct stage_cost {
    uint64_t questions, requests, repaired, prompt_tokens, completion_tokens;
    double ms;
};

/* The model, and the totals of all questions to it. */
struct stage_runner {
    struct chat_model *model;
    double temperature;
    uint64_t seed;
    struct progress *progress;
    struct stage_count counts[STAGES];
    struct stage_cost cost;
};

/* Identifies a question for a test double (chat_question.subject). */
struct stage_subject {
    enum stage_id stage;
    size_t item;
    unsigned attempt; /* from 0 */
};

struct question_stage {
    enum stage_id id;
    const char *phase;         /* name for progress; NULL to continue the current phase */
    const char *prompt;        /* name of the prompt */
    size_t begin;              /* number of the first item */
    size_t count;              /* number of items */
    size_t round;              /* items asked together; 1 if each depends on those before it */
    unsigned attempts;         /* 0 for STAGE_ATTEMPTS */
    uint64_t salt;             /* mixed into the seeds of a stage that runs more than once */
    bool tolerates_duplicates; /* near-duplicates of earlier pieces do not count towards STAGE_FRUITLESS_MAX */
    void *context;

    /* Fills the values of the prompt's slots for an item, in the arena: values [STAGE_VALUES] and *count. */
    int (*fill)(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                wt_error *err);
    /* Takes the usable pieces of an answer and counts them. *done: true if the item is complete. */
    int (*accept)(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                  wt_error *err);
    /* True if an item needs no question. NULL if every item needs one. */
    bool (*skip)(void *context, size_t item);
};

/* Runs the stage. Errors: those of wt__chat_ask except WT_EFORMAT, which counts as an unusable answer; those of fill
 * and take; WT_ECANCELLED. */
int wt__stage_run(struct stage_runner *asker, const struct question_stage *stage, wt_error *err);

/* Moves a piece from made to refused after all. */
static inline void wt__stage_withdraw(struct stage_count *count, enum piece_fate fate)
{
    count->made--;
    count->refused[fate]++;
}

/* Counts a piece of an answer by its fate. */
static inline void wt__stage_note(struct stage_count *count, enum piece_fate fate)
{
    count->offered++;
    if (fate == PIECE_TAKEN)
        count->made++;
    else
        count->refused[fate]++;
}

/* Returns the stage's name in report.json: "tools", "related", ... */
const char *wt__stage_name(enum stage_id id);

#endif
