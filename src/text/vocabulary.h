/* vocabulary.h: a WordPiece vocabulary as one flat blob that can be mapped from a file and used as it lies.
 *
 * Built once from vocab.txt; opening it again reads a header and copies nothing. A blob from a hostile file cannot
 * do harm: whatever it says, lookups stay inside it and ids stay below token_count. It is in the byte order of the
 * machine that built it; another order is refused. */
#ifndef WT_TEXT_VOCABULARY_H
#define WT_TEXT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* Limits of vocab.txt; beyond is WT_ETOOLONG. */
#define VOCABULARY_MAX_BYTES ((size_t)16 << 20)
#define VOCABULARY_MAX_TOKENS ((size_t)1 << 20)

/* How text is prepared before its words are looked up: BertNormalizer's settings in tokenizer.json. */
struct vocabulary_options {
    bool lower_case;
    bool strip_accents; /* where the file says null: as lower_case */
    bool split_cjk;     /* handle_chinese_chars: each ideograph is a word */
};

/* What uncased BERT models use. */
#define VOCABULARY_UNCASED ((struct vocabulary_options){true, true, true})

enum vocabulary_special { VOCABULARY_PAD, VOCABULARY_UNK, VOCABULARY_CLS, VOCABULARY_SEP, VOCABULARY_MASK };
enum { VOCABULARY_SPECIALS = 5 };

/* Immutable; any number of threads may use it. Borrows the blob, which must outlive it. */
struct vocabulary {
    const unsigned char *labels; /* [node_count] the byte that leads into a node */
    const unsigned char *nodes;  /* [node_count + 1] first child and token */
    uint32_t node_count;
    uint32_t token_count;
    uint32_t continuation;                /* the node of "##", where the search for a later piece begins */
    int32_t special[VOCABULARY_SPECIALS]; /* ids; -1 where the vocabulary has no such token */
    struct vocabulary_options options;
};

/* Appends the blob for the lines of vocab.txt: a token's id is its line, counted from 0. A token that stands twice has
 * the later id. Errors: WT_EMODEL (no [UNK], [CLS] or [SEP]), WT_ETOOLONG, WT_ENOMEM. */
int wt__vocabulary_build(struct buffer *blob, struct str text, const struct vocabulary_options *options, wt_error *err);

/* blob needs no alignment. Errors: WT_EMODEL. */
int wt__vocabulary_open(struct vocabulary *out, const void *blob, size_t len, wt_error *err);

/* The longest token that word begins with, of the tokens that start a word or (continues) of the "##" ones.
 * Returns its bytes in word and sets *id, or returns 0. */
size_t wt__vocabulary_longest(const struct vocabulary *v, bool continues, struct str word, int32_t *id);

/* The id of exactly this token, or -1. */
int32_t wt__vocabulary_find(const struct vocabulary *v, struct str token);

/* The special token that text begins with, its bytes in *len, or -1. Special tokens are recognised in raw text. */
int32_t wt__vocabulary_special_at(const struct vocabulary *v, struct str text, size_t *len);

#endif
