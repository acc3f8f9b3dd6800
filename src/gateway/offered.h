/* offered.h: names of the resources, templates and prompts of all servers, and the way back to their servers.
 *
 * A URI or a prompt's name is shown as its server has it. If an earlier server has the same name, or a template it
 * matches, the later server's name becomes a prefix: "SERVER+file:///x", "SERVER.review". So does a name that already
 * begins with the prefix of any server. The operator's order of servers decides, and a server's listed items come
 * before its templates; so a server cannot take over a name of another one. A name that is not listed and matches no
 * template has no owner. */
#ifndef WT_GATEWAY_OFFERED_H
#define WT_GATEWAY_OFFERED_H

#include "catalog/definition_hash.h"
#include "gateway/gateway_inside.h"

enum offer_kind { OFFER_RESOURCES, OFFER_TEMPLATES, OFFER_PROMPTS };

/* Snapshot of the offers of all servers. */
struct offer_snapshot {
    struct upstream_offer **items; /* [count], one per server of the gateway; NULL until a server has listed */
    size_t count;
};

void wt__offer_snapshot_open(const struct gateway *gateway, struct offer_snapshot *out);
void wt__offer_snapshot_close(struct offer_snapshot *offers);
json_t *wt__offer_list(const struct upstream_offer *offer, enum offer_kind kind);
/* Returns the member that names an item: "uri", "uriTemplate" or "name". */
const char *wt__offer_key(enum offer_kind kind);

/* Appends the name shown to clients for a server's own name. server: index. */
void wt__offer_put_shown_name(const struct gateway *gateway, const struct offer_snapshot *offers, size_t server,
                              enum offer_kind kind, struct str name, struct buffer *out);
/* Appends the URI shown to clients for the URI of a server's resource. */
void wt__offer_put_shown_uri(const struct gateway *gateway, const struct upstream *upstream, struct str uri,
                             struct buffer *out);
/* Writes the hash of the definition with this name of the server's: of the item, or of the template that a resource
 * matches. False if it does not exist. */
bool wt__offer_hash(struct upstream *upstream, enum offer_kind kind, struct str name,
                    char sha256[DEFINITION_DIGITS + 1]);
/* Returns the server that owns a name shown to clients, and sets *name to the server's own name. Returns NULL if it is
 * unknown. */
struct upstream *wt__offer_owner(const struct gateway *gateway, enum offer_kind kind, struct str *name);

#endif
