/* bpe.h: byte-level byte-pair encoding, as GPT-2 and RoBERTa use it (Sennrich et al., "Neural Machine Translation of
 * Rare Words with Subword Units", 2016, over bytes).
 *
 * Text is cut into words by the fixed pattern
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * and a word's bytes are merged, the pair of the lowest rank first and the leftmost of equal ones, until no pair of
 * neighbours is in the table. */
#ifndef WT_TEXT_BPE_H
#define WT_TEXT_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"
#include "text/pieces.h"

enum {
    BPE_MAX_WORD = 4096, /* bytes; a longer word is taken in parts of at most so many */
    BPE_MAX_PROBES = 64  /* slots of the table that one look-up may visit */
};

/* In words and in the table: what two neighbours become, and how soon. Its rank is its place in the list. */
struct bpe_merge {
    uint32_t left, right, result;
};

/* Immutable. */
struct bpe {
    const unsigned char *bytes; /* [256] int32: the id of each byte; -1: it is left out */
    const unsigned char *slots; /* [slot_count] of the table of merges */
    size_t slot_count;          /* a power of two */
    uint32_t token_count;
    bool prefix_space; /* a segment gets a space in front, unless it begins with one */
};

/* Appends the table for merges [count]; of two for one pair the later counts. 0, or -1 when memory is out. */
int wt__bpe_build_merges(struct buffer *out, const struct bpe_merge *merges, size_t count);

/* Sets slots and slot_count. False when section is not such a table. */
bool wt__bpe_open_merges(struct bpe *out, const void *section, size_t len);

/* Adds the pieces of a segment: what stands between two added tokens. */
void wt__bpe_add(const struct bpe *bpe, struct str text, struct pieces *out);

/* What the pattern sorts code points into. */
enum bpe_class { BPE_OTHER, BPE_LETTER, BPE_NUMBER, BPE_BLANK };
enum bpe_class wt__bpe_class(uint32_t c);

/* The byte-level alphabet writes each byte as a printable character. The byte of a character, or -1. */
int wt__bpe_byte_of(uint32_t c);

#endif
