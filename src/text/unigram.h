/* unigram.h: finds the most probable sequence of pieces, as the reference library does for SentencePiece's unigram
 * models (Kudo, "Subword Regularization", 2018, section 3.2, inference).
 *
 * Text is normalised and split into words. U+2581 replaces the blank before a word, and is part of the word.
 * The pieces of a word are the sequence with the highest sum of scores. */
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
    /* Maximum bytes of a word that are processed together. A longer word is split at a position common to all paths
     * that can still be the best. If the second half of the window has no such position, the word is split on the best
     * path so far. */
    UNIGRAM_WINDOW = 4096
};

/* Immutable. */
struct unigram {
    struct trie trie;            /* ids of pieces */
    const unsigned char *scores; /* [score_count] double, by id */
    uint32_t score_count;
    int32_t unknown;      /* id of text that has no piece */
    double unknown_score; /* score of a character that is not a piece */
    size_t longest;       /* length of the longest piece in bytes */
    bool prefix;          /* true to add U+2581 before a segment that does not start with it */
    bool split_blanks;    /* true if any blank separates words and is dropped */
    struct normalizer normalizer;
    struct added added; /* tokens matched in normalised text */
};

/* Adds the ids of a segment to `out`. A segment is the original text between two added tokens. */
void wt__unigram_add(const struct unigram *u, struct str text, struct pieces *out);

#endif
