/* internal.h: how tokenizers are built, for the files of this room. */
#ifndef WT_TEXT_INTERNAL_H
#define WT_TEXT_INTERNAL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "text/tokenizer.h"

/* ---------------------------------------------------------------- blob */

/* The blob of a tokenizer: struct tokenizer_header, then the sections at the offsets in it. */
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

/* ---------------------------------------------------------------- parts */

struct added_token {
    struct str content;
    int32_t id;
    unsigned flags;  /* ADDED_LSTRIP ... */
    bool normalized; /* matched in normalised text */
};

/* Parts of a tokenizer, collected from any of a model directory's files and then written as a blob. Strings are
 * borrowed from the files, from JSON documents or from the arena. A zeroed struct with all special[] at -1 is empty. */
struct tokenizer_parts {
    enum tokenizer_kind kind;
    uint32_t flags;                       /* TOKENIZER_LOWER_CASE ... */
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
