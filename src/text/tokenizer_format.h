/* tokenizer_format.h: the blob of a tokenizer: this header, then the sections at the offsets in it. */
#ifndef WT_TEXT_TOKENIZER_FORMAT_H
#define WT_TEXT_TOKENIZER_FORMAT_H

#include <stdint.h>

#include "text/tokenizer.h"

#define TOKENIZER_MAGIC "WTTOKEN2" /* increases with the format */

enum { TOKENIZER_BYTE_ORDER = 0x01020304 };

/* Bits of flags. */
enum {
    /* any kind */
    TOKENIZER_PAIR_TWO_SEPS = 1 << 0,
    TOKENIZER_PAIR_TYPES = 1 << 1, /* the second text and its SEP have type 1 */
    /* WordPiece */
    TOKENIZER_LOWER_CASE = 1 << 2,
    TOKENIZER_STRIP_ACCENTS = 1 << 3,
    TOKENIZER_SPLIT_CJK = 1 << 4,
    /* unigram */
    TOKENIZER_STRIP_LEFT = 1 << 5,
    TOKENIZER_STRIP_RIGHT = 1 << 6,
    TOKENIZER_SQUEEZE_BLANKS = 1 << 7,
    TOKENIZER_COMPOSE = 1 << 8,
    TOKENIZER_COLLAPSE_SPACES = 1 << 9,
    TOKENIZER_SPLIT_BLANKS = 1 << 10,
    /* unigram and BPE */
    TOKENIZER_PREFIX = 1 << 11
};

enum tokenizer_section {
    SECTION_ADDED,            /* tokens matched in raw text: struct added */
    SECTION_NORMALIZED_ADDED, /* tokens matched in normalised text: struct added; unigram */
    SECTION_PIECES,           /* trie of ids; WordPiece and unigram */
    SECTION_SCORES,           /* double by id; unigram */
    SECTION_CHARACTER_MAP,    /* struct precompiled; unigram, may be empty */
    SECTION_BYTES,            /* int32 [256]; BPE */
    SECTION_MERGES,           /* BPE */
    TOKENIZER_SECTIONS
};

struct tokenizer_header {
    char magic[8];
    uint32_t byte_order, kind, flags, token_count;
    int32_t special[TOKENIZER_SPECIALS];
    uint32_t continuation; /* WordPiece: trie node of the prefix of continuation pieces */
    uint32_t longest;      /* unigram: bytes of the longest piece */
    uint32_t reserved;
    double unknown_score; /* unigram */
    struct {
        uint64_t offset, size; /* offset from the header's first byte */
    } sections[TOKENIZER_SECTIONS];
};

#endif
