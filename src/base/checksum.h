/* checksum.h: a fast 64-bit checksum for derived files (snapshots, packed models): finds damage, not malice.
 * Eight lanes of multiply and rotate, so that it runs at the speed of memory. The value is part of file formats. */
#ifndef WT_BASE_CHECKSUM_H
#define WT_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t wt__checksum(const void *bytes, size_t len, uint64_t seed);

#endif
