/* tokenizer.h: converts text to token ids, with the algorithm of the model: WordPiece, unigram or byte-level BPE.
 *
 * A tokenizer is built once from the files of a model directory, into one flat blob. The blob can be mapped from a file
 * and used in place. A malicious blob is harmless: all reads stay inside the blob, and all ids stay below token_count.
 * The blob has the byte order of the machine that built it. A blob of another byte order or version is rejected.
 *
 * Ids equal those that the reference library (Hugging Face's tokenizers) computes with tokenizer.json, with three
 * exceptions:
 *   - a unigram word of over UNIGRAM_WINDOW bytes may be split (unigram.h);
 *   - a BPE word of over BPE_MAX_WORD bytes is split (bpe.h);
 *   - in WordPiece models, added tokens are matched only in the original text, before normalisation. */
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

/* Limits of wt__tokenizer_build; above them it returns WT_ETOOLONG. */
#define TOKENIZER_MAX_FILE ((size_t)64 << 20)    /* bytes of one source file */
#define TOKENIZER_MAX_TOKENS ((uint32_t)1 << 20) /* ids of a tokenizer */

/* Contents of a model directory's files; empty if a file is missing. tokenizer.json is sufficient for every kind.
 * Without it, vocab.txt is WordPiece, vocab.json with merges.txt is byte-level BPE, and spm.model is unigram as in
 * DeBERTa. tokenizer_config.json and special_tokens_map.json name the special tokens and complete the settings. */
struct tokenizer_files {
    struct str tokenizer_json;
    struct str tokenizer_config_json, special_tokens_map_json;
    struct str vocab_txt;
    struct str vocab_json, merges_txt;
    struct str spm_model;
};

enum tokenizer_kind { TOKENIZER_WORDPIECE, TOKENIZER_UNIGRAM, TOKENIZER_BPE };

/* Special tokens. CLS starts a text and SEP ends it. Models use different names for them, such as "[CLS]" or "<s>". */
enum tokenizer_special { TOKENIZER_PAD, TOKENIZER_UNK, TOKENIZER_CLS, TOKENIZER_SEP, TOKENIZER_MASK };
enum { TOKENIZER_SPECIALS = 5 };

/* Immutable and thread-safe. Borrows the blob, which must outlive the tokenizer. */
struct tokenizer {
    enum tokenizer_kind kind;
    uint32_t token_count;                /* all ids are lower */
    int32_t special[TOKENIZER_SPECIALS]; /* ids; -1 if the model has no such token */
    bool framed;                         /* true if texts get CLS and SEP; false for static models */
    bool pair_two_seps;                  /* true for pairs CLS a SEP SEP b SEP, false for CLS a SEP b SEP */
    bool pair_types;                     /* true if the second text of a pair and its SEP have type 1 */
    struct added added;                  /* tokens matched in the original text */
    struct wordpiece wordpiece;          /* set if kind is TOKENIZER_WORDPIECE */
    struct unigram unigram;              /* set if kind is TOKENIZER_UNIGRAM */
    struct bpe bpe;                      /* set if kind is TOKENIZER_BPE */
};

/* Appends the blob. Errors: WT_EMODEL (a file is missing or needs an unsupported feature, named in the message),
 * WT_EFORMAT (malformed file), WT_ETOOLONG, WT_ENOMEM. */
int wt__tokenizer_build(struct buffer *blob, const struct tokenizer_files *files, wt_error *err);

/* Opens a blob, which needs no alignment. Errors: WT_EMODEL. */
int wt__tokenizer_open(struct tokenizer *out, const void *blob, size_t len, wt_error *err);

/* Works like wt__tokenizer_encode without CLS and SEP: writes at most max_tokens pieces. */
size_t wt__tokenizer_pieces(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids);

/* Writes the ids of CLS, text and SEP, at most max_tokens. A longer text is cut to max_tokens - 2 pieces. If `framed`
 * is false, writes only pieces. ids: [max_tokens]. Returns the number of ids. Invalid UTF-8 is read as U+FFFD.
 * Allocates no memory and uses less than 128 KiB of stack. Time is linear in the text, and reading stops at the
 * limit. */
size_t wt__tokenizer_encode(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids);

#endif
