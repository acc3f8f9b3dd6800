/* unigram.h: text to the most probable sequence of pieces, as SentencePiece's unigram models are read by the reference
 * library's tokenizer.json (Kudo, "Subword Regularization", 2018, section 3.2, inference).
 *
 * Text is normalised and cut into words, each behind a U+2581 that stands for the blank before it; a word's pieces are
 * the best path through the lattice of all pieces in it. */
#ifndef WT_TEXT_UNIGRAM_H
#define WT_TEXT_UNIGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/added.h"
#include "text/normalizer.h"
#include "text/pieces.h"
#include "text/trie.h"

enum {
    UNIGRAM_MAX_PIECE = 512, /* bytes of a piece */
    /* Bytes of a word that are looked at together. A longer word, which no model has seen, is cut where every path
     * that can still win has passed; where there is no such place in the first half, the best path so far counts. */
    UNIGRAM_WINDOW = 4096
};

/* Immutable. */
struct unigram {
    struct trie trie;            /* pieces and their ids */
    const unsigned char *scores; /* [score_count] double, by id */
    uint32_t score_count;
    int32_t unknown;
    double unknown_score; /* of a character that no piece covers alone */
    size_t longest;       /* bytes of the longest piece */
    bool prefix;          /* a segment gets a U+2581 in front, unless it begins with one */
    bool split_blanks;    /* blanks only part segments */
    struct normalizer normalizer;
    struct added added; /* found in normalised text */
};

/* Adds the pieces of a segment: what stands between two added tokens of raw text. */
void wt__unigram_add(const struct unigram *u, struct str text, struct pieces *out);

#endif
