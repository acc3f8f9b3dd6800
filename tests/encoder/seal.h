/* seal.h: repairs the checksums of a packed model, as the author of a hostile file would. */
#ifndef WT_TESTS_ENCODER_SEAL_H
#define WT_TESTS_ENCODER_SEAL_H

#include "base/checksum.h"
#include "encoder/packed.h"

/* Sets the checksums of all sections that lie inside the file, then that of the header. bytes: 64-byte aligned. */
static inline void seal_packed(unsigned char *bytes, size_t len)
{
    struct packed_header *header = (void *)bytes;
    if (len < sizeof *header)
        return;
    for (int part = 0; part < PACKED_PARTS; part++) {
        struct packed_section *s = &header->sections[part];
        if (s->offset <= len && s->size <= len - s->offset)
            s->checksum = wt__checksum(bytes + s->offset, s->size, (uint64_t)part);
    }
    header->checksum = wt__checksum(header, offsetof(struct packed_header, checksum), PACKED_VERSION);
}

#endif
