/* request_examples.h: the example requests shown in ToolBank's prompts: six handwritten ones and the requests
 * generated so far; or requests by people, whose style the model should follow.
 *
 * The pool is bounded. Once it is full, every request so far is in it with the same probability. A prompt's examples
 * are drawn from it with the item's seed. */
#ifndef WT_GENERATE_REQUEST_EXAMPLES_H
#define WT_GENERATE_REQUEST_EXAMPLES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/str.h"

enum {
    EXAMPLES_POOL = 512,
    EXAMPLES_SHOWN_MAX = 5, /* the paper's value; its script uses 3 */
    EXAMPLES_SEEDS = 6,
};

struct request_examples {
    struct arena arena;
    struct str lines[EXAMPLES_POOL];
    size_t count, seen;
    struct rng rng; /* decides which example is replaced */
};

/* Starts with the handwritten examples. */
void wt__request_examples_open(struct request_examples *out, uint64_t seed);
/* Starts with the requests of dir's train split with two to five tools; a uniform sample if they exceed the pool.
 * Errors: those of wt__dataset_read and wt__text_lines_read; WT_EEMPTY (no such request). */
int wt__request_examples_read(struct request_examples *out, const char *dir, uint64_t seed, wt_error *err);
void wt__request_examples_dispose(struct request_examples *examples);

/* Adds a request with its tools' names [count] and its explanation, which may be "", as one line of JSON. Errors:
 * WT_ENOMEM. */
int wt__request_examples_add(struct request_examples *examples, struct str instruction, const struct str *names,
                             size_t count, struct str explanation, wt_error *err);

/* Writes the SHA-256 of the examples, in hexadecimal. */
void wt__request_examples_digest(const struct request_examples *examples, char hex[65]);

/* Draws up to `wanted` examples into shown [EXAMPLES_SHOWN_MAX] and returns their number. They live as long as the
 * pool. */
size_t wt__request_examples_draw(const struct request_examples *examples, size_t wanted, struct rng *rng,
                                 struct str *shown);

#endif
