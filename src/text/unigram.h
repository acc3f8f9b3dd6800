/* unigram.h: finds the most probable sequence of pieces, as the reference library does for SentencePiece's unigram
 * models (Kudo, "Subword Regularization", 2018, section 3.2, inference).
 *
 * Text is normalised and split into words. Each word starts with U+2581, which represents the blank before it. The
 * pieces of a word are the best path through the lattice of all pieces in it. */
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
    UNIGRAM_MAX_PIECE = 512, /* maximum bytes of a piece */
    /* Bytes of a word that are processed together. Longer words, unknown in training, are split at a position common to
     * all paths that can still win. If no such position is in the first half, the best path so far is used. */
    UNIGRAM_WINDOW = 4096
};

/* Immutable. */
struct unigram {
    struct trie trie;            /* ids of pieces */
    const unsigned char *scores; /* [score_count] double, by id */
    uint32_t score_count;
    int32_t unknown;
    double unknown_score; /* score of a character that is not a piece */
    size_t longest;       /* bytes of the longest piece */
    bool prefix;          /* add U+2581 before a segment, unless it starts with one */
    bool split_blanks;    /* blanks separate segments and are dropped */
    struct normalizer normalizer;
    struct added added; /* matched in normalised text */
};

/* Adds the pieces of a segment, the text between two added tokens in raw text. */
void wt__unigram_add(const struct unigram *u, struct str text, struct pieces *out);

#endif
