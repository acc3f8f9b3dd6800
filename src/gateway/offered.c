/* offered.c: see offered.h. */
#include "gateway/offered.h"

#include <stdlib.h>

static const struct {
    const char *key;       /* of an item, which names it */
    const char *separator; /* behind its server's name */
} kinds[] = {{"uri", "+"}, {"uriTemplate", "+"}, {"name", "."}};

const char *wt__offered_key(enum offered kind)
{
    return kinds[kind].key;
}

void wt__offers_open(const struct gateway *gateway, struct offers *out)
{
    out->items = calloc(gateway->count + 1, sizeof(struct upstream_offer *));
    out->count = out->items ? gateway->count : 0;
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = wt__upstream_offer(gateway->upstreams[i]);
}

void wt__offers_close(struct offers *offers)
{
    for (size_t i = 0; i < offers->count; i++)
        wt__upstream_offer_release(offers->items[i]);
    free(offers->items);
}

json_t *wt__offered_list(const struct upstream_offer *offer, enum offered kind)
{
    return !offer                      ? NULL
           : kind == OFFERED_RESOURCES ? offer->resources
           : kind == OFFERED_TEMPLATES ? offer->templates
                                       : offer->prompts;
}

static bool has(const struct upstream_offer *offer, enum offered kind, struct str name)
{
    const json_t *list = wt__offered_list(offer, kind);
    for (size_t i = 0; name.len > 0 && i < json_array_size(list); i++)
        if (wt__str_equal(wt__json_str(json_array_get(list, i), kinds[kind].key), name))
            return true;
    return false;
}

/* The name without its server's, where it begins with one's. */
static bool strip(const struct upstream *upstream, enum offered kind, struct str *name)
{
    struct str server = wt__str(wt__upstream_name(upstream)), mark = wt__str(kinds[kind].separator);
    if (!wt__str_starts(*name, server) || name->len <= server.len + mark.len ||
        memcmp(name->ptr + server.len, mark.ptr, mark.len) != 0)
        return false;
    size_t taken = server.len + mark.len;
    *name = (struct str){name->ptr + taken, name->len - taken};
    return true;
}

/* Whether the name alone would lead to another server. */
static bool is_ambiguous(const struct gateway *gateway, const struct offers *offers, size_t server, enum offered kind,
                         struct str name)
{
    bool ambiguous = false;
    for (size_t i = 0; !ambiguous && i < offers->count; i++) {
        struct str rest = name;
        ambiguous = (i < server && has(offers->items[i], kind, name)) || strip(gateway->upstreams[i], kind, &rest);
    }
    return ambiguous;
}

void wt__offered_shown(const struct gateway *gateway, const struct offers *offers, size_t server, enum offered kind,
                       struct str name, struct buffer *out)
{
    if (is_ambiguous(gateway, offers, server, kind, name)) {
        wt__buffer_text(out, wt__upstream_name(gateway->upstreams[server]));
        wt__buffer_text(out, kinds[kind].separator);
    }
    wt__buffer_str(out, name);
}

void wt__uri_shown(const struct gateway *gateway, const struct upstream *upstream, struct str uri, struct buffer *out)
{
    struct offers offers;
    wt__offers_open(gateway, &offers);
    for (size_t i = 0; i < offers.count; i++)
        if (gateway->upstreams[i] == upstream)
            wt__offered_shown(gateway, &offers, i, OFFERED_RESOURCES, uri, out);
    wt__offers_close(&offers);
}

/* ---------------------------------------------------------------- the way back */

/* Whether a URI may be one of a template's: it begins as that does. */
static bool fits_template(const struct upstream_offer *offer, struct str uri)
{
    const json_t *list = wt__offered_list(offer, OFFERED_TEMPLATES);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct str text = wt__json_str(json_array_get(list, i), "uriTemplate");
        const char *brace = text.len > 0 ? memchr(text.ptr, '{', text.len) : NULL;
        struct str begin = {text.ptr, brace ? (size_t)(brace - text.ptr) : text.len};
        if (begin.len > 0 && wt__str_starts(uri, begin))
            return true;
    }
    return false;
}

/* Of two servers that fit, as a and a+b do to a+b+c, it is the one that has what is named then. */
static struct upstream *owner_by_prefix(const struct gateway *gateway, const struct offers *offers, enum offered kind,
                                        struct str *name)
{
    struct upstream *owner = NULL;
    struct str own = *name;
    bool certain = false;
    for (size_t i = 0; !certain && i < offers->count; i++) {
        struct str rest = *name;
        if (!strip(gateway->upstreams[i], kind, &rest))
            continue;
        certain = has(offers->items[i], kind, rest);
        if (owner && !certain)
            continue;
        owner = gateway->upstreams[i];
        own = rest;
    }
    *name = own;
    return owner;
}

struct upstream *wt__offered_owner(const struct gateway *gateway, enum offered kind, struct str *name)
{
    struct offers offers;
    wt__offers_open(gateway, &offers);
    struct upstream *owner = owner_by_prefix(gateway, &offers, kind, name);
    for (size_t i = 0; !owner && i < offers.count; i++)
        if (has(offers.items[i], kind, *name) ||
            (kind == OFFERED_TEMPLATES && has(offers.items[i], OFFERED_RESOURCES, *name)))
            owner = gateway->upstreams[i];
    for (size_t i = 0; !owner && kind == OFFERED_RESOURCES && i < offers.count; i++)
        if (fits_template(offers.items[i], *name))
            owner = gateway->upstreams[i];
    wt__offers_close(&offers);
    return owner;
}
