/* face.h: what a client sees of the gateway, as what a service serves (serve/mcp/service.h):
 *
 *   search   a tool that searches, one that tells definitions, three that call (one for each effect, so that what a
 *            client's user approves of stays true), and one that reads long results on
 *   direct   all tools, by their own definitions
 *   auto     direct while there are few tools, else search
 *
 * Behind each stand the resources and prompts of all servers. What the policy denies to who asks is not there: not
 * listed, not found, not told, not called. */
#ifndef WT_GATEWAY_FACE_H
#define WT_GATEWAY_FACE_H

#include "gateway/gateway.h"
#include "gateway/policy.h"
#include "serve/mcp/service.h"

struct face;

struct face_options {
    enum face_kind kind;
    const char *profile; /* of the policy; NULL: none */
    const char *summary; /* as in catalogue_options */
    size_t budget_bytes; /* likewise */
    size_t direct_most;  /* of FACE_AUTO; 0: GATEWAY_DIRECT_MOST */
};

/* Strings live longer, as does the gateway. */
int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err);
const struct mcp_features *wt__face_features(const struct face *face);
/* After its service. NULL is a no-op. */
void wt__face_close(struct face *face);

#endif
