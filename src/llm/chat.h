/* chat.h: one question to a language model, and its answer, whoever gives it.
 *
 * A model is anything that answers: a server (client.h), a file of recorded answers (record.h), or, in tests and
 * evaluations, a stand-in that knows the gold labels. Who asks cannot tell which, but for `name`.
 *
 * What a model says is hostile text. It is only ever parsed against the schema of the question. */
#ifndef WT_LLM_CHAT_H
#define WT_LLM_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"

enum { CHAT_TEMPERATURE_MAX = 2 };

/* One user message. All of it is borrowed for the call. */
struct chat_question {
    const char *task;     /* which prompt asks, with its version: "ptr-requirements/2" */
    struct str text;      /* UTF-8 */
    const json_t *schema; /* JSON Schema of the answer; NULL: free text */
    unsigned max_tokens;  /* of the answer */
    double temperature;   /* 0: the likeliest answer; above it a sample, at most CHAT_TEMPERATURE_MAX, in thousandths */
    unsigned seed;        /* which sample; 0: as any one, and nothing at temperature 0 */
    const void *subject;  /* what the question is about, for a stand-in that looks at it in place of the text; a server
                             never sees it */
    struct progress *progress; /* heard for a wish to stop while it waits; may be NULL */
};

struct chat_answer {
    struct str text;                           /* as it came, in the arena */
    json_t *json;                              /* parsed, when the question has a schema: the caller's to decref */
    uint64_t prompt_tokens, completion_tokens; /* 0 where the server does not say */
    double ms;
    unsigned attempts; /* requests that were sent; 0: none, it was replayed */
    bool repaired;     /* the first answer did not match the schema, the second did */
};

/* The temperature as a whole number of thousandths, which looks the same wherever it is written. */
static inline unsigned wt__chat_thousandths(const struct chat_question *question)
{
    return (unsigned)(question->temperature * 1000 + .5);
}

enum { CHAT_AT_ONCE = 4 };

struct chat_model {
    const char *name;
    /* Errors: WT_EINVAL (a temperature that is none), WT_ENETWORK (no answer, or the server refuses to give one),
     * WT_EFORMAT (no answer that matches the schema, after one more try; or the schema is one that cannot be held),
     * WT_ETOOLONG, WT_ECANCELLED, WT_ENOTFOUND (a replay that lacks the question), WT_ENOMEM; a record of answers also
     * fails as files do. Any number of threads may ask at once. */
    int (*ask)(struct chat_model *model, const struct chat_question *question, struct arena *arena,
               struct chat_answer *out, wt_error *err);
    unsigned at_once; /* questions that it takes under way at once, for who has many; 0: CHAT_AT_ONCE */
};

static inline int wt__chat_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                               struct chat_answer *out, wt_error *err)
{
    *out = (struct chat_answer){0};
    return model->ask(model, question, arena, out, err);
}

#endif
