/* wordpiece.h: text to pieces as BERT's reference tokenizer does it, exactly, on any bytes. Needs no memory beyond the
 * caller's arrays and a few hundred bytes of stack. */
#ifndef WT_TEXT_WORDPIECE_H
#define WT_TEXT_WORDPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/pieces.h"
#include "text/trie.h"

enum { WORDPIECE_MAX_WORD = 100 }; /* code points of a word after normalisation; a longer one is unknown */

/* Immutable. */
struct wordpiece {
    struct trie trie;      /* pieces and their ids */
    uint32_t token_count;  /* ids from here on are not put out */
    uint32_t continuation; /* the node of "##", where the search for a later piece begins; 0: there are none */
    int32_t unknown;
    bool lower_case, strip_accents;
    bool split_cjk; /* each ideograph is a word */
};

/* Adds the pieces of a segment: what stands between two special tokens. */
void wt__wordpiece_add(const struct wordpiece *w, struct str text, struct pieces *out);

#endif
