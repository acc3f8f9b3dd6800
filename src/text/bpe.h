/* bpe.h: byte-level byte-pair encoding, as in GPT-2 and RoBERTa (Sennrich et al., "Neural Machine Translation of Rare
 * Words with Subword Units", 2016, over bytes).
 *
 * Text is split into words by the fixed pattern
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * Each word starts as one token per byte. Then adjacent tokens are merged until no adjacent pair is in the merge table.
 * The pair with the lowest rank in the table is merged first, and of equal pairs the leftmost. */
#ifndef WT_TEXT_BPE_H
#define WT_TEXT_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"
#include "text/pieces.h"

enum {
    BPE_MAX_WORD = 4096, /* maximum bytes of a word; a longer word is split */
    BPE_MAX_PROBES = 64  /* maximum slots that a lookup in the merge table visits */
};

/* A merge of two adjacent tokens, given by their ids. The index of the merge in the list is its rank. */
struct bpe_merge {
    uint32_t left, right, result;
};

/* Immutable. */
struct bpe {
    const unsigned char *bytes; /* [256] int32: id of each byte; -1 to omit the byte */
    const unsigned char *slots; /* [slot_count] struct merge_slot (bpe.c): the merge table */
    size_t slot_count;          /* power of two */
    uint32_t token_count;       /* ids of this value or above are not produced */
    bool prefix_space;          /* true to add a space before a segment that does not start with a space */
};

/* Appends the merge table for merges [count]. If a pair occurs twice, the later merge is used. Returns 0. Returns
 * -1 if out of memory, or if lookups need too many probes at every tried table size. */
int wt__bpe_build_merges(struct buffer *out, const struct bpe_merge *merges, size_t count);

/* Sets out->slots and out->slot_count. Returns false if the size of the section is invalid. */
bool wt__bpe_open_merges(struct bpe *out, const void *section, size_t len);

/* Adds the ids of a segment to `out`. A segment is the text between two added tokens. */
void wt__bpe_add(const struct bpe *bpe, struct str text, struct pieces *out);

/* Classes of code points in the pattern: others, \p{L}, \p{N} and \s. */
enum bpe_class { BPE_OTHER, BPE_LETTER, BPE_NUMBER, BPE_BLANK };
enum bpe_class wt__bpe_class(uint32_t c);

/* Returns the byte that `c` represents in the byte-level alphabet, or -1. In this alphabet each byte is represented by
 * one printable character. */
int wt__bpe_byte_of(uint32_t c);

#endif
