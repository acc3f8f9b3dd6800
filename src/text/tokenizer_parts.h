/* tokenizer_parts.h: what a tokenizer's blob is written from, gathered from a model directory's files, whichever of
 * them there are. Strings are borrowed from the files, from JSON documents or from the arena. */
#ifndef WT_TEXT_TOKENIZER_PARTS_H
#define WT_TEXT_TOKENIZER_PARTS_H

#include "base/arena.h"
#include "base/json.h"
#include "text/tokenizer_format.h"

struct added_token {
    struct str content;
    int32_t id;
    unsigned flags;  /* ADDED_LSTRIP ... */
    bool normalized; /* looked for in normalised text */
};

/* All zero with special[] -1 is empty. */
struct tokenizer_parts {
    enum tokenizer_kind kind;
    uint32_t flags;                       /* of tokenizer_format.h */
    struct trie_key *pieces;              /* [piece_count] text and id */
    double *scores;                       /* [piece_count] unigram: score of each piece */
    struct bpe_merge *merges;             /* [merge_count] BPE */
    struct added_token *added;            /* [added_count] */
    struct str map;                       /* unigram: the precompiled character map */
    struct str continuation;              /* WordPiece: what later pieces begin with */
    int32_t special[TOKENIZER_SPECIALS];  /* ids; -1: not known */
    bool frameless;                       /* CLS and SEP are in no text, whether the vocabulary has them or not */
    struct str names[TOKENIZER_SPECIALS]; /* what the settings call them; empty: nothing */
    size_t piece_count, merge_count, added_count;
    size_t piece_capacity, score_capacity, merge_capacity, added_capacity;
    struct arena arena;
    json_t *config, *specials, *document; /* of tokenizer_config.json, special_tokens_map.json and the main file */
};

/* Adds one piece; score is for unigram only. Errors: WT_EMODEL (id), WT_ENOMEM. */
int wt__parts_add_piece(struct tokenizer_parts *parts, struct str text, int64_t id, double score, wt_error *err);

/* Adds one token; what has no content is left out. Errors: as above. */
int wt__parts_add_token(struct tokenizer_parts *parts, struct added_token token, int64_t id, wt_error *err);

/* Adds the merges, each of the two names of its parts, to the vocabulary that is there. */
struct merge_names {
    struct str left, right;
};
int wt__parts_add_merges(struct tokenizer_parts *parts, const struct merge_names *names, size_t count, wt_error *err);

/* The id of exactly this text, among added tokens, then pieces; -1 where it is neither. */
int32_t wt__parts_find(const struct tokenizer_parts *parts, struct str text);

/* Reads tokenizer.json, which says everything but the names of some special tokens. */
int wt__parts_read_json(struct tokenizer_parts *parts, struct str text, wt_error *err);

/* Reads the older files, with what the library of their time filled in. */
int wt__parts_read_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err);

#endif
