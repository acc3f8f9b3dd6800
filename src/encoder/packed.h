/* packed.h: a model as one file that is mapped and used as it lies.
 *
 *   header    magic, version, byte order, key and SHA-256 of the sources, configuration, table of sections, checksum
 *   sections  tokenizer blob, word embeddings, the model's other weights, the layers, the layers with their matrices as
 *             bytes; each on a page of its own. Of a static encoder: tokenizer blob, rows, scales
 *
 * Where a weight lies inside its section is weights.h's LAYOUT_PACKED. The layers lie in the order of their use,
 * weights in panels as nn/layers.h wants them: a forward pass reads them as one stream. Those with bytes are there
 * where the source has bytes (weights.h). A section's checksum is kept in the header.
 *
 * What opening trusts: it checks the header with its checksum, that the sections have the sizes that the configuration
 * needs and lie inside the file, and the checksum of the tokenizer and of every section below PACKED_CHECKED bytes
 * (whatever is used as an index or decides how text is read is among them). It does not read the 90 MB of weights: the
 * file was written in one rename after an fsync, and a bit that fell over later makes a number wrong but no access.
 * wt__packed_verify reads everything. */
#ifndef WT_ENCODER_PACKED_H
#define WT_ENCODER_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/prompts.h"
#include "encoder/token_table.h"
#include "encoder/transformer.h"
#include "text/tokenizer.h"

#define PACKED_MAGIC "WTMODEL\n"
enum { PACKED_VERSION = 6, PACKED_ENDIAN = 0x01020304, PACKED_PAGE = 4096, PACKED_CHECKED = 4 << 20 };

enum packed_part { PACKED_TOKENIZER, PACKED_WORDS, PACKED_MODEL, PACKED_LAYERS, PACKED_BYTES, PACKED_PARTS };

struct packed_section {
    uint64_t offset, size, checksum; /* in bytes; offset a multiple of PACKED_PAGE */
};

struct packed_header {
    char magic[8];
    uint32_t version, endian;
    uint64_t file_size;
    uint64_t source_key;             /* of the files that it was made from, see wt__model_source_key */
    unsigned char source_sha256[32]; /* of model.safetensors */
    uint64_t parameters;             /* numbers in the source that the forward pass uses */
    struct packed_section sections[PACKED_PARTS];
    char fields[MODEL_FIELDS];        /* wt__model_fields of the source ... */
    struct dense_weight dense_weight; /* ... wt__model_dense_weight ... */
    struct model_prompts prompts;     /* ... and wt__model_prompts */
    struct model_config config;
    uint64_t bytes;    /* 1: the layers are there with matrices of bytes, too */
    uint64_t checksum; /* of everything before it */
};

/* A view of a packed model; borrows its bytes. */
struct packed {
    const struct packed_header *header;
    struct tokenizer tokenizer;
    struct transformer model; /* unless it is static: then the configuration is all there is of it */
    struct token_table table; /* of a static encoder */
};

/* bytes on a 64-byte boundary. path is for messages. Errors: WT_EMODEL. */
int wt__packed_open(struct packed *out, const void *bytes, size_t len, const char *path, wt_error *err);

/* The same without a look at header and checksums: of bytes that are as safe as the program's code. */
int wt__packed_bind(struct packed *out, const void *bytes, const char *path, wt_error *err);

/* Every checksum. Errors: WT_EMODEL. */
int wt__packed_verify(const struct packed *packed, const char *path, wt_error *err);

/* Fills in the places and sums of a header whose config and section sizes are set. */
int wt__packed_place(struct packed_header *header, wt_error *err);
void wt__packed_seal(struct packed_header *header, const unsigned char *image);

#endif
