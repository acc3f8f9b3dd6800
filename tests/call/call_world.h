/* call_world.h: a simulated model for tests of calls, with answers from a table.
 *
 * The table `says` has entries "STEP=TEXT", separated by bars: "pick=1|again=2|decide=null". Question N of a step gets
 * the step's entry N, or its last entry if it has fewer. Questions of pick and predict are asked in parallel, so N is
 * the number of the sample for these steps. The meaning of TEXT:
 *   - pick, again, decide: a number or null, which becomes {"tool": TEXT}
 *   - verify: a number or null, which becomes {"option": TEXT}
 *   - contrast and answer: words, which become {"question": TEXT} and {"answer": TEXT}
 *   - predict, build, mend: an object, which becomes {"arguments": TEXT}. predict and mend also get a "thought"
 *   - "!" and JSON, for any step: the JSON is the whole answer
 *   - "#": an answer of the wrong form
 *   - "%": a network failure */
#ifndef WT_TESTS_CALL_CALL_WORLD_H
#define WT_TESTS_CALL_CALL_WORLD_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "call/language_model.h"
#include "llm/chat.h"
#include "llm/prompt.h"

static const char *const world_steps[] = {"pick",    "again",  "contrast", "answer", "decide",
                                          "predict", "verify", "build",    "mend"};
static const char *const world_members[] = {"tool",      "tool",   "question",  "answer",   "tool",
                                            "arguments", "option", "arguments", "arguments"};

struct scripted_model {
    struct chat_model model;
    const char *says;
    pthread_mutex_t lock;
    unsigned asked[16];      /* questions so far, by step */
    double temperature[64];  /* temperature of each question */
    unsigned seeds[64], all; /* all: number of questions */
    unsigned stop_after;     /* number of the question, from 1, that cancels the call; 0 for no cancellation */
};

static inline struct scripted_model world_of(const char *says);

/* Returns entry `index` of a step, or the step's last entry if there are fewer; empty if the step has no entry. */
static inline struct str world_entry(const char *says, const char *step, unsigned index)
{
    struct str found = {0};
    for (const char *at = says; *at;) {
        struct str entry = {at, strcspn(at, "|")};
        size_t len = strlen(step);
        at += entry.len + (at[entry.len] == '|');
        if (entry.len <= len || memcmp(entry.ptr, step, len) != 0 || entry.ptr[len] != '=')
            continue;
        found = (struct str){entry.ptr + len + 1, entry.len - len - 1};
        if (index-- == 0)
            break;
    }
    return found;
}

static inline void world_write(struct buffer *out, enum call_step step, struct str says)
{
    bool words = step == CALL_CONTRAST || step == CALL_ANSWER;
    if (says.ptr[0] == '!') {
        wt__buffer_append(out, says.ptr + 1, says.len - 1);
        return;
    }
    bool thinks = step == CALL_PREDICT || step == CALL_MEND || strcmp(world_members[step], "tool") == 0;
    wt__buffer_printf(out, thinks ? "{\"thought\": \"so\", \"%s\": " : "{\"%s\": ", world_members[step]);
    if (words)
        wt__buffer_json(out, says);
    else
        wt__buffer_str(out, says);
    wt__buffer_char(out, '}');
}

/* True if a question's schema has the member of its step (world_members), and lists the valid numbers of "tool" and
 * "option". */
static inline bool world_is_bound(const json_t *schema, enum call_step step)
{
    const char *member = world_members[step];
    const json_t *rule = json_object_get(json_object_get(schema, "properties"), member);
    bool numbered = strcmp(member, "tool") == 0 || strcmp(member, "option") == 0;
    return rule && (!numbered || json_array_size(json_object_get(rule, "enum")) > 0);
}

static inline int world_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                            struct chat_answer *out, wt_error *err)
{
    struct scripted_model *world = (struct scripted_model *)model;
    const struct call_subject *subject = question->subject;
    struct buffer text = {0};
    pthread_mutex_lock(&world->lock);
    unsigned place = world->asked[subject->step]++;
    world->temperature[world->all % 64] = question->temperature;
    world->seeds[world->all++ % 64] = question->seed;
    if (world->all == world->stop_after)
        question->progress->cancelled = true;
    pthread_mutex_unlock(&world->lock);
    if (subject->step == CALL_PICK || subject->step == CALL_PREDICT)
        place = subject->sample; /* asked in parallel */
    struct str says = world_entry(world->says, world_steps[subject->step], place);
    *out = (struct chat_answer){.prompt_tokens = 100, .completion_tokens = 10, .ms = 2, .attempts = 1};
    if (!world_is_bound(question->schema, subject->step))
        return wt__fail(err, WT_EINVAL, "the schema of \"%s\" does not restrict the answer",
                        world_steps[subject->step]);
    if (says.len == 0)
        return wt__fail(err, WT_EINVAL, "the table has no entry \"%s\" %u", world_steps[subject->step], place);
    if (says.ptr[0] == '#')
        return wt__fail(err, WT_EFORMAT, "the answer has the wrong form");
    if (says.ptr[0] == '%')
        return wt__fail(err, WT_ENETWORK, "the model is unavailable");
    world_write(&text, subject->step, says);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    int rc = wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
    if (rc == WT_EFORMAT && question->read_layout) {
        out->json = question->read_layout(question->layout_context, out->text);
        rc = out->json ? 0 : rc;
    }
    wt__buffer_dispose(&text);
    return rc;
}

static inline struct scripted_model world_of(const char *says)
{
    return (struct scripted_model){.model = {"world", world_ask}, .says = says, .lock = PTHREAD_MUTEX_INITIALIZER};
}

/* Returns the letter of a place in a list; '-' for CALL_NO_CANDIDATE. */
static inline char letter_of(size_t place)
{
    return place == CALL_NO_CANDIDATE ? '-' : (char)('a' + place);
}

#endif
