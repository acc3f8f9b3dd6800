/* offered.h: what all servers offer beside tools, under names that lead back. A URI, or a prompt's name, is its
 * server's own. Where an earlier server has the same, or a template that it fits, the later one's stands with its
 * server's name before it: "SERVER+file:///x", "SERVER.review"; and so does whatever begins like that by itself, with
 * any server's name. The operator's order of servers decides, and within a server what it lists comes before its
 * templates; so a server cannot take another one's place by listing what that has or serves, or what it is shown by.
 * What no server lists, and no template fits, is nobody's. */
#ifndef WT_GATEWAY_OFFERED_H
#define WT_GATEWAY_OFFERED_H

#include "catalog/pins.h"
#include "gateway/gateway_inside.h"

enum offered { OFFERED_RESOURCES, OFFERED_TEMPLATES, OFFERED_PROMPTS };

/* What each server offered at one moment. */
struct offers {
    struct upstream_offer **items; /* [count] of the gateway's servers; NULL: nothing yet */
    size_t count;
};

void wt__offers_open(const struct gateway *gateway, struct offers *out);
void wt__offers_close(struct offers *offers);
json_t *wt__offered_list(const struct upstream_offer *offer, enum offered kind);
/* The member of an item that names it: "uri", "uriTemplate", "name". */
const char *wt__offered_key(enum offered kind);

/* Appends the name by which clients know what the server of that number has by its own. */
void wt__offered_shown(const struct gateway *gateway, const struct offers *offers, size_t server, enum offered kind,
                       struct str name, struct buffer *out);
/* The same of a URI of a server's resource. */
void wt__uri_shown(const struct gateway *gateway, const struct upstream *upstream, struct str uri, struct buffer *out);
/* Hash of the definition by which the server has that name of its own: of the item, or of the template that a resource
 * fits. False if there is none. */
bool wt__offered_hash(struct upstream *upstream, enum offered kind, struct str name,
                      char sha256[DEFINITION_DIGITS + 1]);
/* The server whose it is by the name that clients know; *name becomes the server's own. NULL: nobody's. */
struct upstream *wt__offered_owner(const struct gateway *gateway, enum offered kind, struct str *name);

#endif
