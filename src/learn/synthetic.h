/* synthetic.h: synthetic requests by the inverse cloze task of Lee et al. 2019, with tools instead of passages. They
 * are made of tool descriptions, to learn a catalogue's words before it has usage, or for unused tools. A request joins
 * the descriptions of one to three tools of one provider. The tools to find have only name and provider, without their
 * descriptions:
 *
 *   "Returns the racecard of a meeting. Also, odds of a race."  ->  Horse Racing / racecards, Horse Racing / odds
 *
 * Users do not ask like this, so such requests complement recorded ones or replace missing ones. */
#ifndef WT_LEARN_SYNTHETIC_H
#define WT_LEARN_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SYNTHETIC_MAX = 1000000, /* requests */
    SYNTHETIC_TOOLS = 3,     /* maximum per request */
    SYNTHETIC_LEAST = 25     /* minimum bytes of a usable description */
};

/* Appends the head of a description as one line, or nothing if it is too short. */
void wt__synthetic_part(struct str description, struct buffer *out);

struct synthetic {
    const struct str *parts;  /* [M] part of each tool; may be empty */
    const int64_t *providers; /* [M] equal numbers for tools of one provider */
    size_t tools, wanted;     /* M; number of requests */
    uint64_t seed;
};

/* rows [count]: the tools, distinct. A non-zero result stops the enumeration. */
typedef int (*synthetic_visit)(void *context, struct str text, const uint32_t *rows, size_t count);

/* Generates requests. Every provider has its turn, in a seeded order, before one has its second turn; a text may
 * repeat. Generates no request without a usable description. Errors: the visitor's, WT_ENOMEM. */
int wt__synthetic_each(const struct synthetic *synthetic, synthetic_visit visit, void *context, wt_error *err);

#endif
