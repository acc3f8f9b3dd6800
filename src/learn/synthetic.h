/* synthetic.h: synthetic requests, by the inverse cloze task of Lee et al. 2019 with tools for passages: made of what a
 * catalogue says of its tools, to learn its words before anybody used it, or of tools that nobody used. A request is
 * what is said of one to three tools of one provider; to be found are those tools with their descriptions taken away,
 * by name and provider:
 *
 *   "Returns the racecard of a meeting. Also, odds of a race."  ->  Horse Racing / racecards, Horse Racing / odds
 *
 * Nobody asks like that, so that such requests serve beside recorded ones, or for want of any. */
#ifndef WT_LEARN_SYNTHETIC_H
#define WT_LEARN_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SYNTHETIC_MAX = 1000000, /* requests */
    SYNTHETIC_TOOLS = 3,     /* of one request at most */
    SYNTHETIC_LEAST = 25     /* bytes of a description that says enough */
};

/* Appends what the head of a description gives to a request, as one line. Nothing where it says too little. */
void wt__synthetic_part(struct str description, struct buffer *out);

struct synthetic {
    const struct str *parts;  /* [M] of every tool; may be empty */
    const int64_t *providers; /* [M] the same number for tools of one */
    size_t tools, wanted;     /* M; how many requests */
    uint64_t seed;
};

/* rows [count]: the tools, all different. A result other than 0 ends it. */
typedef int (*synthetic_visit)(void *context, struct str text, const uint32_t *rows, size_t count);

/* Every provider has its turn, in a seeded order, before one has its second; the same text may come twice. Without a
 * tool that says enough there is none. Errors: the visit's, WT_ENOMEM. */
int wt__synthetic_each(const struct synthetic *synthetic, synthetic_visit visit, void *context, wt_error *err);

#endif
