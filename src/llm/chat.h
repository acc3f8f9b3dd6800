/* chat.h: interface for asking a language model one question.
 *
 * A model is a server (client.h), a file of recorded answers (record.h) or, in tests and evaluations, a stand-in that
 * knows the gold labels. Callers can distinguish them only by `name`.
 *
 * Answers are untrusted text, and are only parsed against the schema of the question. */
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

/* One user message. All members are borrowed for the call. */
struct chat_question {
    const char *task;     /* name and version of the prompt: "ptr-requirements/2" */
    struct str text;      /* UTF-8 */
    const json_t *schema; /* JSON Schema of the answer; NULL for free text */
    unsigned max_tokens;  /* limit of the answer */
    double temperature; /* 0 for the likeliest answer, else a sample; at most CHAT_TEMPERATURE_MAX, in steps of .001 */
    unsigned seed;      /* number of the sample; 0 for any; ignored at temperature 0 */
    const void
        *subject; /* what the question is about, for stand-ins that do not read the text; never sent to a server */
    struct progress *progress; /* checked for cancellation while waiting; may be NULL */
};

struct chat_answer {
    struct str text; /* unchanged answer, in the arena */
    json_t *json;    /* parsed answer if the question has a schema; the caller must decref it */
    uint64_t prompt_tokens, completion_tokens; /* 0 if unknown */
    double ms;
    unsigned attempts; /* requests sent; 0 if replayed */
    bool repaired;     /* true if only the second answer matched the schema */
};

/* Returns the temperature in thousandths, a whole number, so that it is always written in the same way. */
static inline unsigned wt__chat_thousandths(const struct chat_question *question)
{
    return (unsigned)(question->temperature * 1000 + .5);
}

enum { CHAT_AT_ONCE = 4 };

struct chat_model {
    const char *name;
    /* Asks a question. Thread-safe. Errors:
     *   WT_EINVAL     invalid temperature
     *   WT_ENETWORK   no answer, or the server refuses
     *   WT_EFORMAT    no answer that matches the schema, after one retry; or an unsupported schema
     *   WT_ENOTFOUND  the question is not in the replayed record
     *   WT_ETOOLONG, WT_ECANCELLED, WT_ENOMEM; file errors of a record */
    int (*ask)(struct chat_model *model, const struct chat_question *question, struct arena *arena,
               struct chat_answer *out, wt_error *err);
    unsigned at_once; /* maximum concurrent questions; 0 for CHAT_AT_ONCE */
};

static inline int wt__chat_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                               struct chat_answer *out, wt_error *err)
{
    *out = (struct chat_answer){0};
    return model->ask(model, question, arena, out, err);
}

#endif
