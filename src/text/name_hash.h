/* name_hash.h: hashes of names that ignore their spelling. "create_issue", "createIssue", "Create Issue" and
 * "CREATE-ISSUE" have the same letters and digits in the same order, and only these are hashed, in lower case and
 * without accents. So names need no rule for word boundaries.
 *
 * A state can be continued: hashing "create" and then " issue" equals hashing "create issue". */
#ifndef WT_TEXT_NAME_HASH_H
#define WT_TEXT_NAME_HASH_H

#include <stdint.h>

#include "base/str.h"

enum { NAME_HASH_BITS = 40 };

#define NAME_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Adds the letters and digits of text to the state. Accepts any bytes. */
uint64_t wt__name_hash_text(uint64_t state, struct str text);

/* Adds one byte of any value to the state, where separators matter. */
static inline uint64_t wt__name_hash_byte(uint64_t state, unsigned char byte)
{
    return (state ^ byte) * UINT64_C(0x100000001b3); /* FNV-1a */
}

/* Returns the hash of the exact spelling. It differs from the hash of any name. */
uint64_t wt__name_hash_written(struct str text);

/* Returns the final hash of a state, NAME_HASH_BITS bits. */
uint64_t wt__name_hash_end(uint64_t state);

#endif
