/* snapshot_format.h: byte layout of a snapshot's files, and the two steps of opening them. */
#ifndef WT_INDEX_SNAPSHOT_FORMAT_H
#define WT_INDEX_SNAPSHOT_FORMAT_H

#include "base/checksum.h"
#include "base/file.h"
#include "index/snapshot.h"

#define SNAPSHOT_MAGIC "WTSNAPSH"
#define VECTORS_MAGIC "WTVECTOR"
#define SNAPSHOT_FILE "snapshot"
#define SNAPSHOT_LOCK "lock"
#define SNAPSHOT_BYTE_ORDER 0x0A0B0C0Du
#define SNAPSHOT_NO_GENERATION UINT64_MAX /* generation of a snapshot that only preserves vectors */

enum {
    SNAPSHOT_VERSION = 7,
    SNAPSHOT_ALIGN = 64,        /* alignment of sections */
    VECTORS_HEADER_BYTES = 4096 /* offset of the first chunk */
};

/* Start of a header. `sum` covers the rest of the header, excluding this struct. */
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
    uint64_t number; /* number of the vector file: part of its name, and seed of its checksums */
    struct snapshot_section row_of_slot, slot_of_row;
};

struct snapshot_header {
    struct file_mark mark;
    uint64_t generation, settings;
    uint32_t rows, set_count, name_words, reserved;
    struct snapshot_section keys, lexical, names, copies;
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

/* Memory of a snapshot, for the image and for each set: mapped files or allocations. */
struct snapshot_memory {
    struct mapping image, sets[SNAPSHOT_MAX_SETS];
    bool owned; /* free instead of unmapping */
};

/* Parses and verifies an image. The sets have no chunks yet, and *out owns no memory yet. */
int wt__snapshot_parse(struct snapshot **out, struct mapping image, wt_error *err);
/* Attaches and verifies the slots of a set. */
int wt__snapshot_attach(struct snapshot *snapshot, size_t set, const unsigned char *chunks, size_t len, wt_error *err);
/* Opens the folder's snapshot of any generation and settings. */
int wt__snapshot_load(struct snapshot **out, const char *folder, wt_error *err);

/* Writes "vectors-MODEL-KIND-NUMBER" to name. */
enum { VECTORS_NAME_BYTES = 12 + SNAPSHOT_NAME_BYTES + 32 };
void wt__vectors_file_name(char name[VECTORS_NAME_BYTES], const char *model, const char *kind, uint64_t number);

static inline size_t wt__vectors_bytes(size_t dim, size_t slots)
{
    return (slots + VECTOR_CHUNK - 1) / VECTOR_CHUNK * wt__vectors_chunk_bytes(dim);
}

/* Returns the path of a file in the folder, to be freed with free(), or NULL if out of memory. */
char *wt__snapshot_path(const char *folder, const char *name);

#endif
