/* checksum.h: a fast 64-bit checksum for derived files (snapshots, packed models). It detects damage, not tampering.
 * Eight lanes of multiply and rotate run at memory speed. File formats store the value. */
#ifndef WT_BASE_CHECKSUM_H
#define WT_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t wt__checksum(const void *bytes, size_t len, uint64_t seed);

#endif
