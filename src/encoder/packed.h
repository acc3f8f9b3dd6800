/* packed.h: a model as one file that is mapped and used in place.
 *
 *   header    magic, version, byte order, key and SHA-256 of the sources, configuration, table of sections, checksum
 *   sections  tokenizer blob, word embeddings, other weights of the model, layers, layers with int8 matrices; each
 *             starts on its own page. A static encoder has tokenizer blob, rows and scales.
 *
 * internal.h (LAYOUT_PACKED) defines the place of each weight in its section. Layers are stored in the order of use and
 * weights in the panels of nn/layers.h, so a forward pass reads them sequentially. The section of int8 matrices exists
 * if the source has them (internal.h). The header holds a checksum per section.
 *
 * Opening checks the header and its checksum, the sizes and places of the sections against the configuration, and the
 * checksums of the tokenizer and of all sections below PACKED_CHECKED bytes. These include all data used as an index or
 * for reading text. Larger sections, nearly all of the weights, are not read on opening. A bit flip in them makes a
 * number wrong but no access invalid. wt__packed_verify reads everything. */
#ifndef WT_ENCODER_PACKED_H
#define WT_ENCODER_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/config.h"
#include "encoder/token_table.h"
#include "encoder/transformer.h"
#include "text/tokenizer.h"

#define PACKED_MAGIC "WTMODEL\n"
enum { PACKED_VERSION = 8, PACKED_ENDIAN = 0x01020304, PACKED_PAGE = 4096, PACKED_CHECKED = 4 << 20 };

enum packed_part { PACKED_TOKENIZER, PACKED_WORDS, PACKED_MODEL, PACKED_LAYERS, PACKED_BYTES, PACKED_PARTS };

struct packed_section {
    uint64_t offset, size, checksum; /* offset and size are in bytes; offset is a multiple of PACKED_PAGE */
};

struct packed_header {
    char magic[8];
    uint32_t version, endian;
    uint64_t file_size;
    uint64_t source_key;             /* wt__model_source_key of the source files */
    unsigned char source_sha256[32]; /* SHA-256 of model.safetensors */
    uint64_t parameters;             /* numbers of the source used by the forward pass */
    struct packed_section sections[PACKED_PARTS];
    char fields[MODEL_FIELDS];    /* wt__model_fields of the source */
    struct model_prompts prompts; /* wt__model_prompts of the source */
    struct model_config config;
    uint64_t bytes;    /* 1 if PACKED_BYTES holds the layers with int8 matrices, else 0 */
    uint64_t checksum; /* checksum of all preceding bytes */
};

/* A view of a packed model; borrows its bytes. */
struct packed {
    const struct packed_header *header;
    struct tokenizer tokenizer;
    struct transformer model; /* only the configuration is set for a static encoder */
    struct token_table table; /* only of a static encoder */
};

/* Opens a packed model. `bytes` must be 64-byte aligned; `path` is for messages. Errors: WT_EMODEL. */
int wt__packed_open(struct packed *out, const void *bytes, size_t len, const char *path, wt_error *err);

/* Works like wt__packed_open without checking header and checksums, for trusted bytes such as the built-in model. */
int wt__packed_bind(struct packed *out, const void *bytes, const char *path, wt_error *err);

/* Verifies all checksums. Errors: WT_EMODEL. */
int wt__packed_verify(const struct packed *packed, const char *path, wt_error *err);

/* Sets the section offsets and the file size from the configuration and the tokenizer's size. */
int wt__packed_place(struct packed_header *header, wt_error *err);
/* Sets the identification and all checksums. */
void wt__packed_seal(struct packed_header *header, const unsigned char *image);

/* The static encoder that is linked into the library: the packed model of models/whichtool-static-v1, created by the
 * build (cmake/built_in.cmake). Page-aligned. */
extern const unsigned char wt__built_in_model[];
extern const size_t wt__built_in_model_len;

#endif
