/* wordpiece.h: text to token ids as BERT's reference tokenizer does it, exactly, on any bytes. Needs no memory beyond
 * the caller's arrays and a few hundred bytes of stack, and may be used from any number of threads. */
#ifndef WT_TEXT_WORDPIECE_H
#define WT_TEXT_WORDPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/pieces.h"
#include "text/trie.h"
#include "text/vocabulary.h"

enum { WORDPIECE_MAX_WORD = 100 }; /* code points of a word after normalisation; a longer one is [UNK] */

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

/* [CLS] text [SEP], at most max_tokens ids: the first max_tokens - 2 pieces are kept. ids: [max_tokens].
 * Returns how many ids were written. Reading stops where the limit is reached, so that a long text costs no more than
 * its head. */
size_t wt__wordpiece_encode(const struct vocabulary *v, struct str text, size_t max_tokens, int32_t *ids);

/* Which of a pair is cut when both do not fit. */
enum wordpiece_truncation {
    WORDPIECE_LONGEST_FIRST, /* the longer one down to the shorter one's length, then both */
    WORDPIECE_ONLY_FIRST,    /* the first; what it cannot give is taken from the second */
    WORDPIECE_ONLY_SECOND    /* the second; what it cannot give is taken from the first */
};

/* [CLS] a [SEP] b [SEP], at most max_tokens ids. types: 0 up to the first [SEP], 1 behind it.
 * ids, types: [max_tokens]. Returns how many were written. */
size_t wt__wordpiece_encode_pair(const struct vocabulary *v, struct str a, struct str b, size_t max_tokens,
                                 enum wordpiece_truncation truncation, int32_t *ids, int32_t *types);

#endif
