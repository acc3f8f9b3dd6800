/* request_examples.h: the requests that the prompts of ToolBank show: six by hand, and those that were made since; or
 * people's, whose manner is asked for.
 *
 * The pool is bounded: once it is full each new one is in it with the same probability as all before it. What a prompt
 * shows is drawn from it by the item's seed. */
#ifndef WT_GENERATE_REQUEST_EXAMPLES_H
#define WT_GENERATE_REQUEST_EXAMPLES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/str.h"

enum {
    EXAMPLES_POOL = 512,
    EXAMPLES_SHOWN_MAX = 5, /* the paper's; its script has 3 */
    EXAMPLES_SEEDS = 6,
};

struct request_examples {
    struct arena arena;
    struct str lines[EXAMPLES_POOL];
    size_t count, seen;
    struct rng rng; /* of what makes way */
};

/* With those by hand. */
void wt__request_examples_open(struct request_examples *out, uint64_t seed);
/* With those of dir's train split that two to five tools answer instead: an even sample where they are more than the
 * pool holds. Errors: those of wt__dataset_read and wt__text_lines_read; WT_EEMPTY, there is none. */
int wt__request_examples_read(struct request_examples *out, const char *dir, uint64_t seed, wt_error *err);
void wt__request_examples_dispose(struct request_examples *examples);

/* Adds a request with its tools' names [count] and what explains it ("": nothing), as one line of JSON. WT_ENOMEM. */
int wt__request_examples_add(struct request_examples *examples, struct str instruction, const struct str *names,
                             size_t count, struct str explanation, wt_error *err);

/* SHA-256 of them, in hexadecimal. */
void wt__request_examples_digest(const struct request_examples *examples, char hex[65]);

/* Some of them, in an order that is drawn: shown [EXAMPLES_SHOWN_MAX]; how many. They live as long as the pool. */
size_t wt__request_examples_draw(const struct request_examples *examples, size_t wanted, struct rng *rng,
                                 struct str *shown);

#endif
