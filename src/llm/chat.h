/* chat.h: interface for asking a language model one question.
 *
 * A model is a server (client.h), a file of recorded answers (record.h) or, in tests and evaluations, an oracle that
 * knows the correct answers. Callers can distinguish these only by `name`.
 *
 * Answers are untrusted. They are only used as data that matches the schema of the question, or as sanitised text. */
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
    const char *task;          /* name and version of the prompt: "ptr-requirements/2" */
    struct str text;           /* UTF-8 */
    const json_t *schema;      /* JSON Schema of the answer; NULL for free text */
    unsigned max_tokens;       /* maximum tokens of the answer */
    double temperature;        /* 0 for the most likely answer; in steps of .001 up to CHAT_TEMPERATURE_MAX */
    double top_p;              /* nucleus sampling: tokens whose probabilities sum to top_p, in steps of .001 up to 1;
                                  0 for the server's default; ignored at temperature 0 */
    unsigned seed;             /* seed for sampling; 0 for 1, the default; ignored at temperature 0 */
    const void *subject;       /* for oracles, which do not read the text; never sent to a server; may be NULL */
    struct progress *progress; /* checked for cancellation while waiting; may be NULL */
    /* Reads an answer in another layout than JSON. Returns the JSON for it, owned by the caller; NULL if the layout is
     * unknown. The result is checked against the schema. May be NULL. */
    json_t *(*read_layout)(const void *context, struct str text);
    const void *layout_context;
};

struct chat_answer {
    struct str text; /* verbatim answer, in the arena */
    json_t *json;    /* parsed answer, owned by the caller; NULL if the question has no schema */
    uint64_t prompt_tokens, completion_tokens; /* 0 if unknown */
    double ms;                                 /* time of the call, with waits and retries */
    unsigned attempts;                         /* number of requests sent; 0 if replayed from a record */
    bool repaired;                             /* true if only the second answer matched the schema */
};

/* Returns a temperature or top_p in thousandths. An integer has only one decimal form, so keys of records are stable.
 */
static inline unsigned wt__chat_thousandths(double number)
{
    return (unsigned)(number * 1000 + .5);
}

enum { CHAT_AT_ONCE = 4 }; /* default of chat_model.at_once */

struct chat_model {
    const char *name; /* name of the model, as shown to users and in record keys */
    /* Asks a question. Thread-safe. Errors:
     *   WT_EINVAL     invalid temperature
     *   WT_ENETWORK   no answer, or the server refuses the request
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
