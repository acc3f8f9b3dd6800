/* tokenizer_parts.h: parts of a tokenizer, collected from any of a model directory's files and then written as a blob.
 * Strings are borrowed from the files, from JSON documents or from the arena. */
#ifndef WT_TEXT_TOKENIZER_PARTS_H
#define WT_TEXT_TOKENIZER_PARTS_H

#include "base/arena.h"
#include "base/json.h"
#include "text/tokenizer_format.h"

struct added_token {
    struct str content;
    int32_t id;
    unsigned flags;  /* ADDED_LSTRIP ... */
    bool normalized; /* matched in normalised text */
};

/* A zeroed struct with all special[] at -1 is empty. */
struct tokenizer_parts {
    enum tokenizer_kind kind;
    uint32_t flags;                       /* see tokenizer_format.h */
    struct trie_key *pieces;              /* [piece_count] texts and ids */
    double *scores;                       /* [piece_count] unigram: scores */
    struct bpe_merge *merges;             /* [merge_count] BPE */
    struct added_token *added;            /* [added_count] */
    struct str map;                       /* unigram: precompiled character map */
    struct str continuation;              /* WordPiece: prefix of continuation pieces */
    int32_t special[TOKENIZER_SPECIALS];  /* ids; -1 if unknown */
    bool frameless;                       /* never add CLS and SEP, even if the vocabulary has them */
    struct str names[TOKENIZER_SPECIALS]; /* configured names; empty if not configured */
    size_t piece_count, merge_count, added_count;
    size_t piece_capacity, score_capacity, merge_capacity, added_capacity;
    struct arena arena;
    json_t *config, *specials, *document; /* parsed tokenizer_config.json, special_tokens_map.json and main file */
};

/* Adds a piece. score is used only by unigram. Errors: WT_EMODEL (id), WT_ENOMEM. */
int wt__parts_add_piece(struct tokenizer_parts *parts, struct str text, int64_t id, double score, wt_error *err);

/* Adds a token; ignores tokens without content. Errors: WT_EMODEL (id), WT_ENOMEM. */
int wt__parts_add_token(struct tokenizer_parts *parts, struct added_token token, int64_t id, wt_error *err);

/* Names of the two tokens of a merge. wt__parts_add_merges needs the complete vocabulary. */
struct merge_names {
    struct str left, right;
};
int wt__parts_add_merges(struct tokenizer_parts *parts, const struct merge_names *names, size_t count, wt_error *err);

/* Returns the id of exactly this text, among added tokens, then pieces; -1 if it is not found. */
int32_t wt__parts_find(const struct tokenizer_parts *parts, struct str text);

/* Reads tokenizer.json, which has everything except the names of some special tokens. */
int wt__parts_read_json(struct tokenizer_parts *parts, struct str text, wt_error *err);

/* Reads the older files and adds the defaults of the library that wrote them. */
int wt__parts_read_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err);

#endif
