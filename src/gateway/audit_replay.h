/* audit_replay.h: checks audit logs, and makes their decisions again by the policy that they were made by. */
#ifndef WT_GATEWAY_AUDIT_REPLAY_H
#define WT_GATEWAY_AUDIT_REPLAY_H

#include "gateway/audit_chain.h"
#include "gateway/policy.h"

enum { AUDIT_BYTES_MAX = 1 << 30 /* of a file that is read whole */ };

/* All zero before the first file. */
struct audit_replay {
    size_t files, lines;
    size_t allowed, denied; /* numbers of lines; other lines are unknown names, outcomes and rotations */
    size_t ended;           /* allowed lines with an outcome; the other calls are running, or were killed */
    size_t replayed;        /* decided by the policy's revision, and decided again */
    size_t other_revisions; /* decided by another revision */
    size_t differing;       /* decided otherwise now: this policy cannot have decided so */
    size_t first_differing; /* line, counted over all files */
    size_t keyed;           /* lines with an HMAC */
    bool is_continued;      /* the first line continues a file that was not given */
    struct audit_chain chain;
};

/* Checks the links of the lines of one file, and decides them again. Files of a rotated log are given one after the
 * other, the oldest first. key: NULL for none. policy: NULL for none, whose revision is "none". Errors, with the line:
 * those of wt__audit_follow, WT_EFORMAT, WT_ENOMEM. */
int wt__audit_replay(struct audit_replay *replay, struct str text, const struct audit_key *key,
                     const struct policy *policy, wt_error *err);

#endif
