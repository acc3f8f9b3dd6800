/* stage.c: asks the questions of a stage in rounds and counts their answers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "generate/internal.h"

static const uint64_t SEED_MASK = 0x7fffffff; /* seeds accepted by every server; 0 would mean a random seed */

/* A question and its answer, filled by any thread. */
struct question_reply {
    struct stage_subject subject;
    struct arena arena; /* memory of the question and the answer */
    struct chat_answer got;
    int rc;
    bool was_asked;
    wt_error why;
};

struct question_round {
    struct stage_runner *runner;
    const struct question_stage *stage;
    struct prompt prompt;
    struct question_reply *replies; /* [count] */
    size_t count;
};

static void dispose_question_round(struct question_round *round)
{
    free(round->replies);
    wt__prompt_dispose(&round->prompt);
}

const char *wt__stage_name(enum stage_id id)
{
    static const char *const names[STAGES] = {"tools",  "related",  "descriptions", "instructions", "notes", "requests",
                                              "polish", "verdicts", "one_removed",  "comparisons",  "names"};
    return names[id];
}

/* Returns the seed of a question: positive, derived from the run's seed, the stage, the salt, the item and the attempt.
 */
static unsigned derive_question_seed(uint64_t seed, uint64_t salt, const struct stage_subject *subject)
{
    struct rng rng;
    const uint64_t parts[] = {(uint64_t)subject->stage, salt, subject->item, subject->attempt};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        wt__rng_seed(&rng, seed ^ (parts[i] + 1) * 0x9e3779b97f4a7c15u);
        seed = wt__rng_next(&rng);
    }
    return (unsigned)(seed & SEED_MASK) | 1;
}

static int ask_question(void *context, size_t index, unsigned worker)
{
    struct question_round *round = context;
    struct question_reply *reply = &round->replies[index];
    struct stage_runner *runner = round->runner;
    struct prompt_value values[STAGE_VALUES];
    size_t count = 0;
    struct chat_question question = {
        .subject = &reply->subject,
        .progress = runner->progress,
        .temperature = runner->temperature,
        .seed = derive_question_seed(runner->seed, round->stage->salt, &reply->subject),
    };
    (void)worker;
    reply->was_asked = true;
    if (wt__progress_step(runner->progress, 0))
        return reply->rc = wt__fail_cancelled(&reply->why);
    reply->rc =
        round->stage->fill(round->stage->context, reply->subject.item, &reply->arena, values, &count, &reply->why);
    if (reply->rc == 0)
        reply->rc = wt__prompt_ask(&round->prompt, values, count, runner->model, &question, &reply->arena, &reply->got,
                                   &reply->why);
    return reply->rc == WT_EFORMAT ? 0 : reply->rc;
}

static void add_answer_cost(struct stage_cost *cost, const struct chat_answer *got)
{
    cost->questions++;
    cost->requests += got->attempts;
    cost->repaired += got->repaired;
    cost->prompt_tokens += got->prompt_tokens;
    cost->completion_tokens += got->completion_tokens;
    cost->ms += got->ms;
}

static uint64_t count_duplicates(const struct stage_count *count)
{
    return count->refused[PIECE_SAME_WORDS] + count->refused[PIECE_ALIKE];
}

/* Reads an answer. *done: true if its item is complete. */
static int read_reply(struct question_round *round, struct question_reply *reply, bool *done, wt_error *err)
{
    struct stage_count *count = &round->runner->counts[round->stage->id];
    const size_t made = count->made;
    const uint64_t alike = count_duplicates(count);
    *done = false;
    if (reply->rc < 0 && reply->rc != WT_EFORMAT) {
        if (err)
            *err = reply->why;
        return wt__fail_context(err, reply->rc, "%s", round->prompt.task);
    }
    add_answer_cost(&round->runner->cost, &reply->got);
    count->questions++;
    count->unusable += reply->rc == WT_EFORMAT;
    int rc = 0;
    if (reply->rc == 0)
        rc = round->stage->accept(round->stage->context, reply->subject.item, reply->got.json, count, done, err);
    if (count->made > made)
        count->fruitless = 0;
    else if (!round->stage->tolerates_duplicates || count_duplicates(count) == alike)
        count->fruitless++;
    return rc;
}

/* Asks the round's questions and reads the answers in order, also those after a failed question. Items to ask again
 * move to the front of round->replies; round->count is their number. */
static int ask_question_round(struct question_round *round, wt_error *err)
{
    wt_error unused;
    const unsigned attempts = round->stage->attempts ? round->stage->attempts : STAGE_ATTEMPTS;
    size_t again = 0;
    int rc = 0;
    const unsigned at_once = round->runner->model->at_once;
    wt__pool_run(at_once > 0 ? at_once : CHAT_AT_ONCE, round->count, ask_question, round);
    for (size_t i = 0; i < round->count; i++) {
        struct question_reply *reply = &round->replies[i];
        struct stage_subject subject = reply->subject;
        bool done = true;
        int failed = reply->was_asked ? read_reply(round, reply, &done, rc == 0 ? err : &unused) : 0;
        rc = rc < 0 ? rc : failed;
        json_decref(reply->got.json);
        wt__arena_dispose(&reply->arena);
        *reply = (struct question_reply){0};
        subject.attempt++;
        if (!done && subject.attempt < attempts)
            round->replies[again++].subject = subject;
        else
            wt__progress_step(round->runner->progress, 1);
    }
    round->count = again;
    return rc;
}

static int run_rounds(struct question_round *round, wt_error *err)
{
    const struct question_stage *stage = round->stage;
    struct stage_count *count = &round->runner->counts[stage->id];
    const size_t end = stage->begin + stage->count;
    for (size_t next = stage->begin; next < end && !count->gave_up;) {
        round->count = 0;
        for (; next < end && round->count < stage->round; next++) {
            if (stage->skip && stage->skip(stage->context, next))
                wt__progress_step(round->runner->progress, 1);
            else
                round->replies[round->count++].subject = (struct stage_subject){.stage = stage->id, .item = next};
        }
        while (round->count > 0 && !count->gave_up) {
            int rc = ask_question_round(round, err);
            count->gave_up = count->fruitless >= STAGE_FRUITLESS_MAX;
            WT_TRY(rc);
        }
    }
    return 0;
}

int wt__stage_run(struct stage_runner *runner, const struct question_stage *stage, wt_error *err)
{
    WT_CLEANUP(dispose_question_round) struct question_round round = {.runner = runner, .stage = stage};
    WT_TRY(wt__prompt_open(&round.prompt, stage->prompt, err));
    round.replies = wt__alloc_zeros(stage->round, sizeof *round.replies);
    WT_CHECK_ALLOC(round.replies, err);
    if (stage->phase && wt__progress_phase(runner->progress, stage->phase, stage->count))
        return wt__fail_cancelled(err);
    return run_rounds(&round, err);
}

static void write_stage_counts(const struct stage_count *count, enum stage_id id, struct buffer *out)
{
    const char *comma = "";
    wt__buffer_printf(out,
                      "{\"stage\":\"%s\",\"wanted\":%zu,\"made\":%zu,\"missing\":%zu,\"questions\":%" PRIu64
                      ",\"unusable\":%" PRIu64 ",\"offered\":%" PRIu64 ",\"gave_up\":%s,\"refused\":{",
                      wt__stage_name(id), count->wanted, count->made,
                      count->wanted > count->made ? count->wanted - count->made : 0, count->questions, count->unusable,
                      count->offered, count->gave_up ? "true" : "false");
    for (enum piece_fate fate = PIECE_TAKEN + 1; fate < PIECE_FATES; fate++) {
        if (count->refused[fate] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%s\":%" PRIu64, comma, wt__piece_fate_name(fate), count->refused[fate]);
        comma = ",";
    }
    wt__buffer_text(out, "}}");
}

void wt__stages_report(const struct stage_runner *runner, struct buffer *out)
{
    const struct stage_cost *cost = &runner->cost;
    const char *comma = "";
    wt__buffer_text(out, "\"stages\":[");
    for (enum stage_id id = 0; id < STAGES; id++) {
        if (runner->counts[id].wanted == 0)
            continue;
        wt__buffer_text(out, comma);
        write_stage_counts(&runner->counts[id], id, out);
        comma = ",";
    }
    wt__buffer_printf(out,
                      "],\"cost\":{\"questions\":%" PRIu64 ",\"repaired\":%" PRIu64 ",\"prompt_tokens\":%" PRIu64
                      ",\"completion_tokens\":%" PRIu64 "}",
                      cost->questions, cost->repaired, cost->prompt_tokens, cost->completion_tokens);
}
