/* audit_head.h: PATH.head, a small file next to an audit log. It holds the length of the log on disk and the number and
 * link of its last line, so that the next start notices if the log was cut, emptied or removed in between. The head is
 * written after the log is on disk, so it is never ahead of the log after a power failure. Replacing both files with
 * older copies is not noticed (docs/threats.md). */
#ifndef WT_GATEWAY_AUDIT_HEAD_H
#define WT_GATEWAY_AUDIT_HEAD_H

#include "gateway/audit_chain.h"

#define AUDIT_HEAD_SUFFIX ".head"

struct audit_head {
    uint64_t bytes; /* length of the log */
    struct audit_chain chain;
};

/* Reads the head of the log at path, and checks its HMAC with the key. Returns 1, 0 if the file does not exist, or
 * WT_EFORMAT, WT_EINVAL (it has an HMAC, and key is NULL), WT_EIO, ... */
int wt__audit_head_read(struct audit_head *out, const char *path, const struct audit_key *key, wt_error *err);

/* Replaces the head atomically, unless the head on disk has the same number or a later one. */
int wt__audit_head_write(const char *path, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key,
                         wt_error *err);

#endif
