/* wordpiece.h: splits text into pieces exactly like BERT's reference tokenizer. Accepts any bytes. Needs only the
 * caller's arrays and a few hundred bytes of stack. */
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
    struct trie trie;      /* ids of pieces */
    uint32_t token_count;  /* ids at or above it are never emitted */
    uint32_t continuation; /* trie node of "##", root of continuation pieces; 0 if there are no such pieces */
    int32_t unknown;
    bool lower_case, strip_accents;
    bool split_cjk; /* split before and after each ideograph */
};

/* Adds the pieces of a segment, the text between two special tokens. */
void wt__wordpiece_add(const struct wordpiece *w, struct str text, struct pieces *out);

#endif
