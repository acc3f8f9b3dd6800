/* pattern.h: the regular expressions of schemas (ECMA-262, in its Unicode mode), by PCRE2.
 *
 * A compiled pattern is immutable and serves any number of threads; what a match needs is in a scratch, one a
 * validation. Every item that a match tries is counted, over all places where it may begin, so that its whole work has
 * a limit: PCRE2's own counts begin anew at each place. */
#ifndef WT_SCHEMA_PATTERN_H
#define WT_SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct pattern;

/* memory: bytes that a validator's patterns take, added to. err: one sentence without the pattern. Returns 0,
 * WT_EFORMAT, WT_ETOOLONG (PATTERN_BYTES, PATTERN_MEMORY) or WT_ENOMEM. */
int wt__pattern_compile(struct pattern **out, struct str text, size_t *memory, wt_error *err);
void wt__pattern_free(struct pattern *pattern);

/* All zero is one that was not used yet. */
struct pattern_scratch {
    void *context, *data;
};
void wt__pattern_scratch_dispose(struct pattern_scratch *scratch);

enum pattern_answer {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_UNDECIDED, /* it would take too long */
    PATTERN_NO_MEMORY
};

/* Whether text is a regular expression by the letter of ECMA-262: for the format "regex". Never PATTERN_UNDECIDED. */
enum pattern_answer wt__pattern_is_valid(struct str text);

/* Whether the pattern is found anywhere in text. *steps: what it cost, added to. */
enum pattern_answer wt__pattern_match(const struct pattern *pattern, struct pattern_scratch *scratch, struct str text,
                                      uint64_t *steps);

#endif
