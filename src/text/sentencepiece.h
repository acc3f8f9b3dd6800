/* sentencepiece.h: reads a SentencePiece model file (spm.model), a protocol buffer, without its library. Returns the
 * pieces in file order, and the character map. Skips unneeded fields. */
#ifndef WT_TEXT_SENTENCEPIECE_H
#define WT_TEXT_SENTENCEPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct sentencepiece {
    struct str rest;  /* unread part of the file */
    size_t len;       /* length of the file */
    struct str piece; /* last piece read */
    float score;
    int64_t model_type; /* 1 for unigram; valid at the end of the file, like the next two */
    int64_t unknown;
    struct str map; /* character map; may be empty */
};

void wt__sentencepiece_open(struct sentencepiece *out, struct str model);

/* Returns 1 with the next piece, 0 at the end. Errors: WT_EFORMAT with the byte offset. */
int wt__sentencepiece_next(struct sentencepiece *model, wt_error *err);

#endif
