/* sentencepiece.h: reads a SentencePiece model file (spm.model), a protocol buffer, without its library: the pieces and
 * the character map, field by field in the order of the file. Fields that are not needed are walked past. */
#ifndef WT_TEXT_SENTENCEPIECE_H
#define WT_TEXT_SENTENCEPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct sentencepiece {
    struct str rest;  /* what is yet to be read of the file */
    size_t len;       /* of the file */
    struct str piece; /* the piece that was read last */
    float score;
    int64_t model_type; /* 1: unigram; known when the file was read to its end, as the next two */
    int64_t unknown;
    struct str map; /* the character map; may be empty */
};

void wt__sentencepiece_open(struct sentencepiece *out, struct str model);

/* Returns 1 with the next piece, 0 at the end. Errors: WT_EFORMAT with the byte where the file is malformed. */
int wt__sentencepiece_next(struct sentencepiece *model, wt_error *err);

#endif
