/* name_hash.h: names that are written differently and are one. "create_issue", "createIssue", "Create Issue" and
 * "CREATE-ISSUE" have the same letters and digits in the same order, and that is all that is hashed: lower case,
 * accents off, whatever stands between them left out. So no rule of where words part has to be kept, by those who write
 * names or by those who ask for them.
 *
 * A state goes on over pieces of text: that of "create" and then " issue" is that of "create issue". */
#ifndef WT_TEXT_NAME_HASH_H
#define WT_TEXT_NAME_HASH_H

#include <stdint.h>

#include "base/str.h"

enum { NAME_HASH_BITS = 40 };

#define NAME_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* The state behind the letters and digits of text. Any bytes are text. */
uint64_t wt__name_hash_text(uint64_t state, struct str text);

/* The state behind one byte, whatever it is: for what is told apart by signs. */
static inline uint64_t wt__name_hash_byte(uint64_t state, unsigned char byte)
{
    return (state ^ byte) * UINT64_C(0x100000001b3); /* FNV-1a */
}

/* The hash of a text as it is written, which is that of no other text's name. */
uint64_t wt__name_hash_written(struct str text);

/* What a state comes to: NAME_HASH_BITS of it. */
uint64_t wt__name_hash_end(uint64_t state);

#endif
