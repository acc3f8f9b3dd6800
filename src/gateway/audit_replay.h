/* audit_replay.h: an audit's decisions made again, by the policy that they were made by. */
#ifndef WT_GATEWAY_AUDIT_REPLAY_H
#define WT_GATEWAY_AUDIT_REPLAY_H

#include "gateway/audit_log.h"
#include "gateway/policy.h"

enum { AUDIT_BYTES_MAX = 1 << 30 /* of a file that is read whole */ };

struct audit_replay {
    size_t lines;
    size_t allowed, denied; /* of them; the others asked for what is not there, or say what came of one */
    size_t ended;           /* of the allowed: what came of them is there. Others go on, or were killed in the middle */
    size_t replayed;        /* decided by the policy's revision, and decided again */
    size_t other_revisions; /* decided by another one */
    size_t differing;       /* decided otherwise now: nothing of this policy can have decided so */
    size_t first_differing; /* line */
};

/* Checks the chain of all lines (wt__audit_check), and decides again; policy: NULL for none, whose revision is "none".
 * Errors: WT_EFORMAT with the line, WT_ENOMEM. */
int wt__audit_replay(struct str text, const struct policy *policy, struct audit_replay *out, wt_error *err);

#endif
