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

enum offered { OFFERED_RESOURCES, OFFERED_TEMPLATES, OFFERED_PROMPTS };

/* Snapshot of the offers of all servers. */
struct offers {
    struct upstream_offer **items; /* [count], one per server of the gateway; NULL until a server has listed */
    size_t count;
};

void wt__offers_open(const struct gateway *gateway, struct offers *out);
void wt__offers_close(struct offers *offers);
json_t *wt__offered_list(const struct upstream_offer *offer, enum offered kind);
/* Returns the member that names an item: "uri", "uriTemplate" or "name". */
const char *wt__offered_key(enum offered kind);

/* Appends the name shown to clients for a server's own name. server: index. */
void wt__offered_shown(const struct gateway *gateway, const struct offers *offers, size_t server, enum offered kind,
                       struct str name, struct buffer *out);
/* Appends the URI shown to clients for the URI of a server's resource. */
void wt__uri_shown(const struct gateway *gateway, const struct upstream *upstream, struct str uri, struct buffer *out);
/* Writes the hash of the definition with this name of the server's: of the item, or of the template that a resource
 * matches. False if it does not exist. */
bool wt__offered_hash(struct upstream *upstream, enum offered kind, struct str name,
                      char sha256[DEFINITION_DIGITS + 1]);
/* Returns the server that owns a name shown to clients, and sets *name to the server's own name. Returns NULL if it is
 * unknown. */
struct upstream *wt__offered_owner(const struct gateway *gateway, enum offered kind, struct str *name);

#endif
