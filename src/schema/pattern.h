/* pattern.h: the regular expressions of schemas (ECMA-262 in Unicode mode), matched with PCRE2.
 *
 * A compiled pattern is immutable and can be used by any number of threads; each validation has its own scratch. The
 * items tried in a match are counted over all starting positions, so that the total work has a limit. The limits of
 * PCRE2 alone would start again at each position. */
#ifndef WT_SCHEMA_PATTERN_H
#define WT_SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct schema_pattern;

/* Compiles a pattern and adds its size to *memory, the bytes of all patterns of the validator. The message in err does
 * not contain the pattern. Returns 0, WT_EFORMAT, WT_ETOOLONG (PATTERN_BYTES, PATTERN_MEMORY) or WT_ENOMEM. */
int wt__pattern_compile(struct schema_pattern **out, struct str text, size_t *memory, wt_error *err);
void wt__pattern_free(struct schema_pattern *pattern);

/* Memory for matches. Zero-initialise it before the first use. */
struct pattern_scratch {
    void *context, *data;
};
void wt__pattern_scratch_dispose(struct pattern_scratch *scratch);

enum pattern_answer {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_UNDECIDED, /* a limit was reached */
    PATTERN_NO_MEMORY
};

/* Checks that text is a regular expression in strict ECMA-262, for the format "regex". Never PATTERN_UNDECIDED. */
enum pattern_answer wt__pattern_is_valid(struct str text);

/* Searches text for the pattern, and adds the cost to *steps. */
enum pattern_answer wt__pattern_match(const struct schema_pattern *pattern, struct pattern_scratch *scratch,
                                      struct str text, uint64_t *steps);

#endif
