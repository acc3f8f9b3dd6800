/* wordpiece.h: splits text into pieces as BERT's reference tokenizer does. Accepts any bytes. Allocates no memory, and
 * uses a few hundred bytes of stack. */
#ifndef WT_TEXT_WORDPIECE_H
#define WT_TEXT_WORDPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/pieces.h"
#include "text/trie.h"

enum { WORDPIECE_MAX_WORD = 100 }; /* maximum code points of a normalised word; longer words are unknown */

/* Immutable. */
struct wordpiece {
    struct trie trie;               /* ids of pieces */
    uint32_t token_count;           /* ids of this value or above are not produced */
    uint32_t continuation;          /* trie node of the prefix "##" of continuation pieces; 0 if no piece has it */
    int32_t unknown;                /* id of [UNK] */
    bool lower_case, strip_accents; /* true to convert to lower case, to remove accents */
    bool split_cjk;                 /* true to make each ideograph a word */
};

/* Adds the ids of a segment to `out`. A segment is the text between two added tokens. */
void wt__wordpiece_add(const struct wordpiece *w, struct str text, struct pieces *out);

#endif
