/* internal.h: byte layout of the lexical index and of a snapshot's files, and the steps of opening them.
 *
 * The header of a lexical index stores counts. The offsets of its arrays are derived from the counts, so no array
 * offset can be invalid. */
#ifndef WT_INDEX_INTERNAL_H
#define WT_INDEX_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/str.h"
#include "index/lexical.h"
#include "index/snapshot.h"

#define LEXICAL_MAGIC 0x58455457u /* "WTEX" in little-endian order */
enum { LEXICAL_VERSION = 3, LEXICAL_FULL = 65535 /* stored value of a term's maximum impact */ };

struct lexical_header {
    uint32_t magic, version, rows, terms, postings, blocks, text_len, field_count;
};

struct lexical_layout {
    /* byte offsets; len: bytes of the block */
    size_t entries, row, block_last, damping, impact, block_max, fields, field_terms, text, len;
};

/* Returns the layout: arrays by descending alignment, without gaps. The sums cannot overflow, because each count is
 * below 2^32. */
static inline struct lexical_layout wt__lexical_layout(const struct lexical_header *header)
{
    struct lexical_layout at = {.entries = sizeof *header};
    at.row = at.entries + ((size_t)header->terms + 1) * sizeof(struct lexical_entry);
    at.block_last = at.row + (size_t)header->postings * sizeof(uint32_t);
    at.damping = at.block_last + (size_t)header->blocks * sizeof(uint32_t);
    at.impact = at.damping + (size_t)header->rows * sizeof(float);
    at.block_max = at.impact + (size_t)header->postings * sizeof(uint16_t);
    at.fields = at.block_max + (size_t)header->blocks * sizeof(uint16_t);
    at.field_terms = at.fields + header->postings;
    at.text = at.field_terms + (size_t)header->rows * header->field_count;
    at.len = at.text + header->text_len;
    return at;
}

/* Compares terms in dictionary order: by unsigned bytes, a prefix before the longer term. */
static inline int wt__lexical_compare(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.ptr, b.ptr, shared) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

#define SNAPSHOT_MAGIC "WTSNAPSH"
#define VECTORS_MAGIC "WTVECTOR"
#define SNAPSHOT_FILE "snapshot"
#define SNAPSHOT_LOCK "lock"
#define SNAPSHOT_BYTE_ORDER 0x0A0B0C0Du
#define SNAPSHOT_NO_GENERATION UINT64_MAX /* generation of a snapshot that is written only to keep its vectors */

enum {
    SNAPSHOT_VERSION = 11,
    SNAPSHOT_ALIGN = 64,        /* alignment of sections */
    VECTORS_HEADER_BYTES = 4096 /* offset of the first chunk */
};

/* Start of a header. `sum` is the checksum of the part of the header after this struct. */
struct file_mark {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t sum;
};

struct snapshot_section {
    uint64_t offset, len, sum;
};

struct snapshot_set_header {
    char model[SNAPSHOT_MODEL_BYTES], kind[SNAPSHOT_NAME_BYTES];
    uint32_t dim, slots, former;
    uint64_t number; /* number of the vector file: part of the file name, and seed of the checksums in the file */
    struct snapshot_section row_of_slot, slot_of_row;
};

struct snapshot_header {
    struct file_mark mark;
    uint64_t generation, settings;
    uint32_t rows, set_count, name_words, reserved;
    struct snapshot_section keys, lexical, names, copies, word_ends, word_tokens;
    struct snapshot_set_header sets[SNAPSHOT_MAX_SETS];
};

struct vectors_header {
    struct file_mark mark;
    uint64_t number, dim;
};

/* Returns the checksum for a header's mark. */
static inline uint64_t wt__header_sum(const void *header, size_t len)
{
    const struct file_mark *mark = header;
    const unsigned char *rest = (const unsigned char *)header + sizeof *mark;
    return wt__checksum(rest, len - sizeof *mark, ((uint64_t)mark->byte_order << 32) ^ mark->version);
}

/* Memory of a snapshot: a mapped file or an allocation for the image, and one for each set. */
struct snapshot_memory {
    struct mapping image, sets[SNAPSHOT_MAX_SETS];
    bool owned;                                  /* free instead of unmapping */
    struct vector_file files[SNAPSHOT_MAX_SETS]; /* of sets whose vectors.file is not NULL */
    uint32_t *shared_slots; /* slot_of_row of all sets of wt__snapshot_share_vectors; NULL without */
};

/* Parses and verifies an image. The sets have no chunks yet, and *out owns no memory yet. */
int wt__snapshot_parse(struct snapshot **out, struct mapping image, wt_error *err);
/* Attaches and verifies the slots of a set, whose vectors.file is set before if it has one. */
int wt__snapshot_attach(struct snapshot *snapshot, size_t set, const unsigned char *chunks, size_t len, wt_error *err);
/* Opens the folder's snapshot of any generation and settings. */
int wt__snapshot_load(struct snapshot **out, const char *folder, wt_error *err);

/* Writes "vectors-MODEL-KIND-NUMBER" to name. */
enum { VECTORS_NAME_BYTES = 12 + SNAPSHOT_NAME_BYTES + 32 };
void wt__vectors_file_name(char name[VECTORS_NAME_BYTES], const char *model, const char *kind, uint64_t number);

static inline size_t wt__vectors_chunks(size_t slots)
{
    return (slots + VECTOR_CHUNK - 1) / VECTOR_CHUNK;
}

static inline size_t wt__vectors_bytes(size_t dim, size_t slots)
{
    return wt__vectors_chunks(slots) * wt__vectors_chunk_bytes(dim);
}

/* Returns the path of a file in the folder, to be freed with free(), or NULL if out of memory. */
char *wt__snapshot_path(const char *folder, const char *name);

#endif
