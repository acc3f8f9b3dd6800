/* internal.h: functions that build tokenizers, private to src/text. */
#ifndef WT_TEXT_INTERNAL_H
#define WT_TEXT_INTERNAL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "text/tokenizer.h"

/* ---------------------------------------------------------------- blob */

/* A blob starts with struct tokenizer_header, which has the offsets of the sections that follow. */
#define TOKENIZER_MAGIC "WTTOKEN2" /* the digit is the version of the format */

enum { TOKENIZER_BYTE_ORDER = 0x01020304 }; /* value of header.byte_order in the machine's own byte order */

/* Bits of tokenizer_header.flags. */
enum {
    /* any kind */
    TOKENIZER_PAIR_TWO_SEPS = 1 << 0, /* a pair is CLS a SEP SEP b SEP */
    TOKENIZER_PAIR_TYPES = 1 << 1,    /* the second text of a pair and its SEP have type 1 */
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
    SECTION_ADDED,            /* struct added: tokens matched in the original text */
    SECTION_NORMALIZED_ADDED, /* struct added: tokens matched in normalised text; unigram */
    SECTION_PIECES,           /* trie of the ids of pieces; WordPiece and unigram */
    SECTION_SCORES,           /* score of each id, as double; unigram */
    SECTION_CHARACTER_MAP,    /* struct precompiled; unigram; may be empty */
    SECTION_BYTES,            /* int32 [256]: id of each byte; BPE */
    SECTION_MERGES,           /* merge table; BPE */
    TOKENIZER_SECTIONS        /* number of sections */
};

struct tokenizer_header {
    char magic[8];
    uint32_t byte_order, kind, flags, token_count; /* kind: enum tokenizer_kind; token_count: all ids are lower */
    int32_t special[TOKENIZER_SPECIALS];           /* ids; -1 if the model has no such token */
    uint32_t continuation;                         /* WordPiece: trie node of the prefix "##" */
    uint32_t longest;                              /* unigram: length of the longest piece in bytes */
    uint32_t reserved;                             /* 0 */
    double unknown_score;                          /* unigram: score of a character that is not a piece */
    struct {
        uint64_t offset, size; /* in bytes; offset is relative to the header */
    } sections[TOKENIZER_SECTIONS];
};

/* ---------------------------------------------------------------- parts */

struct added_token {
    struct str content;
    int32_t id;
    unsigned flags;  /* ADDED_ bits */
    bool normalized; /* true if matched in normalised text, else in the original text */
};

/* Parts of a tokenizer. They are collected from the files of a model directory, and then written as a blob. Strings are
 * borrowed from the files, from JSON documents or from the arena. An empty struct is zero except for special[], whose
 * items are -1. */
struct tokenizer_parts {
    enum tokenizer_kind kind;
    uint32_t flags;                       /* TOKENIZER_ bits */
    struct trie_key *pieces;              /* [piece_count] texts and ids */
    double *scores;                       /* [piece_count] scores; used only for unigram */
    struct bpe_merge *merges;             /* [merge_count] for BPE */
    struct added_token *added;            /* [added_count] */
    struct str map;                       /* unigram: precompiled character map; empty without a map */
    struct str continuation;              /* WordPiece: prefix of continuation pieces */
    int32_t special[TOKENIZER_SPECIALS];  /* ids; -1 if unknown */
    bool frameless;                       /* true to never add CLS and SEP, even if the vocabulary has them */
    struct str names[TOKENIZER_SPECIALS]; /* names of the special tokens in the files; empty if unknown */
    size_t piece_count, merge_count, added_count;
    size_t piece_capacity, score_capacity, merge_capacity, added_capacity;
    struct arena arena;
    json_t *config, *specials, *document; /* parsed tokenizer_config.json, special_tokens_map.json and main file */
};

/* Adds a piece. score: used only for unigram. Errors: WT_EMODEL (negative id), WT_ETOOLONG (id too large, or too many
 * pieces), WT_ENOMEM. */
int wt__parts_add_piece(struct tokenizer_parts *parts, struct str text, int64_t id, double score, wt_error *err);

/* Adds an added token with this id; token.id is ignored. Ignores a token without content. Errors: WT_EMODEL (negative
 * id), WT_ETOOLONG (id too large, or too many tokens), WT_ENOMEM. */
int wt__parts_add_token(struct tokenizer_parts *parts, struct added_token token, int64_t id, wt_error *err);

/* Names of the two tokens of a merge. */
struct merge_names {
    struct str left, right;
};
/* Adds merges in order of rank. All pieces must be added before. Errors: WT_EMODEL (a token is not a piece),
 * WT_ETOOLONG, WT_ENOMEM. */
int wt__parts_add_merges(struct tokenizer_parts *parts, const struct merge_names *names, size_t count, wt_error *err);

/* Returns the id of the added token with exactly this text, or else of the piece with this text; -1 if not found. */
int32_t wt__parts_find(const struct tokenizer_parts *parts, struct str text);

/* Reads tokenizer.json. Sets special[] only for the tokens that the file names. */
int wt__parts_read_json(struct tokenizer_parts *parts, struct str text, wt_error *err);

/* Reads the files of a model without tokenizer.json. Missing settings have the defaults of the reference library. */
int wt__parts_read_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err);

#endif
