/* tokenizer.h: text to the token ids of a model, whichever of the three algorithms the model was trained with.
 *
 * A tokenizer is built once, from the files of a model directory, into one flat blob that can be mapped from a file and
 * used as it lies. A blob from a hostile file cannot do harm: whatever it says, reads stay inside it and ids stay below
 * token_count. It is in the byte order of the machine that built it; another order, or another version, is refused.
 *
 * Ids equal those of the reference library's tokenizer.json, with three departures in corners: a word of over
 * UNIGRAM_WINDOW bytes may be cut where the reference weighs it whole (unigram.h), one of over BPE_MAX_WORD is (bpe.h);
 * and in WordPiece models added tokens are looked for in raw text only. */
#ifndef WT_TEXT_TOKENIZER_H
#define WT_TEXT_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"
#include "text/added.h"
#include "text/bpe.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

/* Limits; beyond is WT_ETOOLONG. */
#define TOKENIZER_MAX_FILE ((size_t)64 << 20)    /* bytes of one source file */
#define TOKENIZER_MAX_TOKENS ((uint32_t)1 << 20) /* ids of one tokenizer */

/* The bytes of a model directory's files; empty where a file is absent. tokenizer.json is enough for any kind. Without
 * it: vocab.txt is WordPiece, vocab.json with merges.txt is byte-level BPE, spm.model is unigram as DeBERTa uses it.
 * tokenizer_config.json and special_tokens_map.json name the special tokens and complete the settings. */
struct tokenizer_files {
    struct str tokenizer_json;
    struct str tokenizer_config_json, special_tokens_map_json;
    struct str vocab_txt;
    struct str vocab_json, merges_txt;
    struct str spm_model;
};

enum tokenizer_kind { TOKENIZER_WORDPIECE, TOKENIZER_UNIGRAM, TOKENIZER_BPE };

/* CLS begins a text and SEP ends it, whatever the model calls them. */
enum tokenizer_special { TOKENIZER_PAD, TOKENIZER_UNK, TOKENIZER_CLS, TOKENIZER_SEP, TOKENIZER_MASK };
enum { TOKENIZER_SPECIALS = 5 };

/* Immutable; any number of threads may use it. Borrows the blob, which must outlive it. */
struct tokenizer {
    enum tokenizer_kind kind;
    uint32_t token_count;                /* every id is below it */
    int32_t special[TOKENIZER_SPECIALS]; /* ids; -1 where the model has no such token */
    bool framed;                         /* there are CLS and SEP, which only models without layers do without */
    bool pair_two_seps;                  /* CLS a SEP SEP b SEP */
    bool pair_types;                     /* b and its SEP have type 1 */
    struct added added;                  /* found in raw text */
    struct wordpiece wordpiece;          /* the one of kind is set */
    struct unigram unigram;
    struct bpe bpe;
};

/* Appends the blob. Errors: WT_EMODEL (a file is missing, or asks for what is not supported: the sentence says what),
 * WT_EFORMAT (a file is malformed), WT_ETOOLONG, WT_ENOMEM. */
int wt__tokenizer_build(struct buffer *blob, const struct tokenizer_files *files, wt_error *err);

/* blob needs no alignment. Errors: WT_EMODEL. */
int wt__tokenizer_open(struct tokenizer *out, const void *blob, size_t len, wt_error *err);

/* The text's pieces alone, at most max_tokens of them, as wt__tokenizer_encode below has them. */
size_t wt__tokenizer_pieces(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids);

/* CLS text SEP, at most max_tokens ids: the first max_tokens - 2 pieces are kept; where it is not framed, the pieces
 * alone. ids: [max_tokens]. Returns how many ids were written. Any bytes are text; what is not UTF-8 reads as U+FFFD. No memory is
 * allocated, and less than 128 KiB of stack is used; time is linear in the text, and reading stops where the limit is
 * reached. */
size_t wt__tokenizer_encode(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids);

/* Which of a pair is cut when both do not fit. */
enum tokenizer_truncation {
    TOKENIZER_LONGEST_FIRST, /* the longer one down to the shorter one's length, then both */
    TOKENIZER_ONLY_FIRST,    /* the first; what it cannot give is taken from the second */
    TOKENIZER_ONLY_SECOND    /* the second; what it cannot give is taken from the first */
};

/* The same of two texts: CLS a SEP b SEP, or CLS a SEP SEP b SEP where the model was trained so. types: the token
 * types that the model expects; in models without them all are 0. ids, types: [max_tokens]. Returns how many were
 * written. */
size_t wt__tokenizer_encode_pair(const struct tokenizer *t, struct str a, struct str b, size_t max_tokens,
                                 enum tokenizer_truncation truncation, int32_t *ids, int32_t *types);

#endif
