/* seal.h: sets the checksums in the files of an index to match any content. Checksums detect damage, not tampering. So
 * opening a forged file with valid checksums must also be safe. All buffers must be aligned to 64 bytes. */
#ifndef WT_TESTS_INDEX_SEAL_H
#define WT_TESTS_INDEX_SEAL_H

#include "index/internal.h"

static inline void seal_section(struct snapshot_section *section, const unsigned char *bytes, size_t len)
{
    if (section->offset <= len && section->len <= len - section->offset)
        section->sum = wt__checksum(bytes + section->offset, section->len, section->offset);
}

static inline void seal_snapshot(unsigned char *bytes, size_t len)
{
    struct snapshot_header *header = (void *)bytes;
    if (len < sizeof *header)
        return;
    seal_section(&header->keys, bytes, len);
    seal_section(&header->lexical, bytes, len);
    seal_section(&header->names, bytes, len);
    seal_section(&header->copies, bytes, len);
    for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++) {
        seal_section(&header->sets[i].row_of_slot, bytes, len);
        seal_section(&header->sets[i].slot_of_row, bytes, len);
    }
    header->mark.sum = wt__header_sum(header, sizeof *header);
}

/* Parts of a chunk (index/vectors.c). */
enum { SIGNS, FACTOR, SIGN_SUM, CODES, SCALE, ERROR, NORM, CODE_SUM, ROW_SUM, ROWS };

/* Sets the checksum of a slot's signs and factor as index/vectors.c does. */
static inline void seal_signs(unsigned char *chunk, const struct vector_part *parts, size_t at, uint64_t seed)
{
    uint32_t sum, *sums = (void *)(chunk + parts[SIGN_SUM].offset);
    const struct vector_part *signs = &parts[SIGNS];
    const unsigned char *byte = chunk + signs->offset + at / signs->lanes * signs->lanes * signs->size;
    memcpy(&sum, chunk + parts[FACTOR].offset + at * sizeof sum, sizeof sum);
    sum ^= (uint32_t)(seed * 0x9E3779B97F4A7C15u >> 32);
    for (size_t b = 0; b < signs->size; b++)
        sum = sum * 33 ^ byte[b * signs->lanes + at % signs->lanes];
    sums[at] = sum;
}

/* Sets the other two checksums of a slot. The first covers codes, scale, error and norm, the second the fp32 vector. */
static inline void seal_slot(unsigned char *chunk, const struct vector_part *parts, size_t at, uint64_t seed)
{
    uint32_t notes[3];
    uint64_t sums[2], code_seed = seed;
    static const uint64_t factors[] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u};
    for (size_t i = 0; i < 3; i++) {
        memcpy(&notes[i], chunk + parts[SCALE + i].offset + at * sizeof notes[i], sizeof notes[i]);
        code_seed += notes[i] * factors[i];
    }
    sums[0] = wt__checksum(chunk + parts[CODES].offset + at * parts[CODES].size, parts[CODES].size, code_seed);
    sums[1] = wt__checksum(chunk + parts[ROWS].offset + at * parts[ROWS].size, parts[ROWS].size, seed);
    for (size_t i = 0; i < 2; i++)
        memcpy(chunk + parts[CODE_SUM + i].offset + at * sizeof sums[i], &sums[i], sizeof sums[i]);
    seal_signs(chunk, parts, at, seed);
}

static inline void seal_slots(unsigned char *chunks, size_t len, size_t dim, uint32_t slots, uint64_t seed)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t chunk_bytes = wt__vectors_chunk_bytes(dim);
    wt__vectors_layout(dim, parts);
    for (uint32_t slot = 0; slot < slots && (slot / VECTOR_CHUNK + 1) * chunk_bytes <= len; slot++)
        seal_slot(chunks + slot / VECTOR_CHUNK * chunk_bytes, parts, slot % VECTOR_CHUNK, seed + slot);
}

/* Returns the number of slots up to the last one with a checksum other than 0. */
static inline uint32_t slots_written(const unsigned char *chunks, size_t len, size_t dim)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t chunk_bytes = wt__vectors_chunk_bytes(dim);
    uint32_t written = 0;
    wt__vectors_layout(dim, parts);
    for (uint32_t slot = 0; (slot / VECTOR_CHUNK + 1) * chunk_bytes <= len; slot++) {
        uint64_t sum;
        size_t at = slot % VECTOR_CHUNK * sizeof sum;
        memcpy(&sum, chunks + slot / VECTOR_CHUNK * chunk_bytes + parts[CODE_SUM].offset + at, sizeof sum);
        written = sum ? slot + 1 : written;
    }
    return written;
}

/* Corrects the checksums of a vector file. */
static inline void seal_vectors(unsigned char *bytes, size_t len)
{
    struct vectors_header *header = (void *)bytes;
    if (len < VECTORS_HEADER_BYTES)
        return;
    header->mark.sum = wt__header_sum(header, sizeof *header);
    if (header->dim == 0 || header->dim > VECTOR_MAX_DIM)
        return;
    unsigned char *chunks = bytes + VECTORS_HEADER_BYTES;
    len -= VECTORS_HEADER_BYTES;
    seal_slots(chunks, len, (size_t)header->dim, slots_written(chunks, len, (size_t)header->dim), header->number);
}

#endif
