/* audit_replay.h: checks audit logs and repeats their decisions with the same policy. */
#ifndef WT_GATEWAY_AUDIT_REPLAY_H
#define WT_GATEWAY_AUDIT_REPLAY_H

#include "gateway/audit_chain.h"
#include "gateway/policy.h"

enum { AUDIT_BYTES_MAX = 1 << 30 /* maximum length of a file */ };

/* All zero before the first file. */
struct audit_replay {
    size_t files, lines;
    size_t allowed, denied; /* lines; the others are unknown names, outcomes and rotations */
    size_t ended;           /* allowed lines with an outcome; other calls are running or were killed */
    size_t replayed;        /* decisions of the policy's revision, repeated */
    size_t other_revisions; /* decisions of another revision */
    size_t differing;       /* repeated decisions with another result */
    size_t first_differing; /* line number, counted over all files */
    size_t keyed;           /* lines with an HMAC */
    bool is_continued;      /* the first line continues an earlier file */
    struct audit_chain chain;
};

/* Checks the links of the lines of one file and repeats its decisions. Call it with the files of a rotated log one
 * after the other, the oldest first. key: NULL for no key. policy: NULL for no policy. Errors, with the line: those of
 * wt__audit_check_line, WT_EFORMAT, WT_ENOMEM. */
int wt__audit_replay(struct audit_replay *replay, struct str text, const struct audit_key *key,
                     const struct policy *policy, wt_error *err);

#endif
