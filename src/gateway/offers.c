/* offers.c: names of resources, templates and prompts as clients see them, and the owner of each name. The rules are in
 * internal.h, above enum offer_kind. */
#include "gateway/internal.h"

#include <stdlib.h>

/* Indexed by enum offer_kind. */
static const struct {
    const char *key;       /* member that names an item */
    const char *separator; /* between the server's name and the item's name */
} kinds[] = {{"uri", "+"}, {"uriTemplate", "+"}, {"name", "."}};

const char *wt__offer_key(enum offer_kind kind)
{
    return kinds[kind].key;
}

void wt__offer_snapshot_open(const struct gateway *gateway, struct offer_snapshot *out)
{
    out->items = calloc(gateway->count + 1, sizeof(struct upstream_offer *));
    out->count = out->items ? gateway->count : 0;
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = wt__upstream_offer(gateway->upstreams[i]);
}

void wt__offer_snapshot_close(struct offer_snapshot *offers)
{
    for (size_t i = 0; i < offers->count; i++)
        wt__upstream_offer_release(offers->items[i]);
    free(offers->items);
}

json_t *wt__offer_list(const struct upstream_offer *offer, enum offer_kind kind)
{
    return !offer                    ? NULL
           : kind == OFFER_RESOURCES ? offer->resources
           : kind == OFFER_TEMPLATES ? offer->templates
                                     : offer->prompts;
}

/* Returns the first item for which matches(name of the item, name) is true, or NULL. */
static const json_t *find_offer(const struct upstream_offer *offer, enum offer_kind kind, struct str name,
                                bool (*matches)(struct str, struct str))
{
    const json_t *list = wt__offer_list(offer, kind);
    for (size_t i = 0; name.len > 0 && i < json_array_size(list); i++)
        if (matches(wt__json_str(json_array_get(list, i), kinds[kind].key), name))
            return json_array_get(list, i);
    return NULL;
}

/* Returns the character that stands in the prefix for a character of the server's name. In a URI the prefix becomes
 * part of the scheme, and strict clients check the scheme (RFC 3986, section 3.1). So '-' replaces each character that
 * is not allowed in a scheme. */
static char prefix_character(enum offer_kind kind, char c)
{
    return kind == OFFER_PROMPTS || wt__is_letter(c) || wt__is_digit(c) || c == '.' || c == '+' ? c : '-';
}

/* Returns the text before the server's name in the prefix. The text is "x-" for a URI if the server's name does not
 * begin with a letter, since a scheme must. Otherwise the text is "". */
static struct str prefix_begin(enum offer_kind kind, const char *server)
{
    return kind == OFFER_PROMPTS || wt__is_letter(*server) ? STR("") : STR("x-");
}

static void put_server_prefix(const struct upstream *upstream, enum offer_kind kind, struct buffer *out)
{
    const char *server = wt__upstream_name(upstream);
    wt__buffer_str(out, prefix_begin(kind, server));
    for (; *server; server++)
        wt__buffer_char(out, prefix_character(kind, *server));
    wt__buffer_text(out, kinds[kind].separator);
}

/* Removes the server's prefix from the name. Returns false and leaves the name unchanged if it has no such prefix, or
 * if nothing follows the prefix. */
static bool strip_prefix(const struct upstream *upstream, enum offer_kind kind, struct str *name)
{
    const char *server = wt__upstream_name(upstream);
    struct str begin = prefix_begin(kind, server), mark = wt__str(kinds[kind].separator);
    size_t at = begin.len;
    if (!wt__str_starts(*name, begin))
        return false;
    for (; *server; server++, at++)
        if (at >= name->len || name->ptr[at] != prefix_character(kind, *server))
            return false;
    struct str rest = {name->ptr + at, name->len - at};
    if (rest.len <= mark.len || !wt__str_starts(rest, mark))
        return false;
    *name = (struct str){rest.ptr + mark.len, rest.len - mark.len};
    return true;
}

/* Returns the part of a template before its first expression, such as "file:///" of "file:///{path}". */
static struct str template_head(struct str template)
{
    const char *brace = template.len > 0 ? memchr(template.ptr, '{', template.len) : NULL;
    return (struct str){template.ptr, brace ? (size_t)(brace - template.ptr) : template.len};
}

/* True if the URI matches the template: the URI consists of the template's literal parts, in order, with any text in
 * place of each expression. Any text is accepted, since servers encode different characters. A template that begins
 * with an expression matches no URI, since it could match the URIs of all servers. */
static bool fits_template(struct str template, struct str uri)
{
    struct str part = template_head(template);
    if (part.len == 0 || !wt__str_starts(uri, part))
        return false;
    while (part.len < template.len) {
        const char *end = memchr(template.ptr + part.len, '}', template.len - part.len);
        size_t taken = end ? (size_t)(end + 1 - template.ptr) : template.len;
        uri = (struct str){uri.ptr + part.len, uri.len - part.len};
        template = (struct str){template.ptr + taken, template.len - taken};
        part = template_head(template);
        if (part.len == template.len)
            return part.len <= uri.len && memcmp(uri.ptr + uri.len - part.len, part.ptr, part.len) == 0;
        const char *found = memmem(uri.ptr, uri.len, part.ptr, part.len);
        if (!found)
            return false;
        uri = (struct str){found, uri.len - (size_t)(found - uri.ptr)};
    }
    return uri.len == part.len;
}

/* True if some URI may match both templates: the text before the first expression of one template begins with that of
 * the other. */
static bool may_overlap(struct str template, struct str other)
{
    struct str one = template_head(template), two = template_head(other);
    return one.len > 0 && two.len > 0 && (wt__str_starts(one, two) || wt__str_starts(two, one));
}

/* True if the server of `offer` lists the name, or has a template for the URI of a resource. For OFFER_TEMPLATES, a
 * listed resource counts too, since a completion may name a resource instead of a template. */
static bool offers_name(const struct upstream_offer *offer, enum offer_kind kind, struct str name)
{
    return find_offer(offer, kind, name, wt__str_equal) ||
           (kind == OFFER_TEMPLATES && find_offer(offer, OFFER_RESOURCES, name, wt__str_equal)) ||
           (kind == OFFER_RESOURCES && find_offer(offer, OFFER_TEMPLATES, name, fits_template));
}

/* True if the name needs the prefix of its server: a server before it offers the same name or an overlapping template,
 * or the name begins with the prefix of any server. server: index of the name's server. */
static bool is_ambiguous(const struct gateway *gateway, const struct offer_snapshot *offers, size_t server,
                         enum offer_kind kind, struct str name)
{
    for (size_t i = 0; i < offers->count; i++) {
        struct str rest = name;
        if (strip_prefix(gateway->upstreams[i], kind, &rest))
            return true;
        if (i < server && (offers_name(offers->items[i], kind, name) ||
                           (kind == OFFER_TEMPLATES && find_offer(offers->items[i], kind, name, may_overlap))))
            return true;
    }
    return false;
}

void wt__offer_put_shown_name(const struct gateway *gateway, const struct offer_snapshot *offers, size_t server,
                              enum offer_kind kind, struct str name, struct buffer *out)
{
    if (is_ambiguous(gateway, offers, server, kind, name))
        put_server_prefix(gateway->upstreams[server], kind, out);
    wt__buffer_str(out, name);
}

void wt__offer_put_shown_uri(const struct gateway *gateway, const struct upstream *upstream, struct str uri,
                             struct buffer *out)
{
    struct offer_snapshot offers;
    wt__offer_snapshot_open(gateway, &offers);
    for (size_t i = 0; i < offers.count; i++)
        if (gateway->upstreams[i] == upstream)
            wt__offer_put_shown_name(gateway, &offers, i, OFFER_RESOURCES, uri, out);
    wt__offer_snapshot_close(&offers);
}

/* Returns the owner of a name, or NULL. A name with the prefix of a server belongs to the first server that has the
 * prefix and offers the rest of the name. Any other name belongs to the first server that offers the name. Removes the
 * prefix of the owner from *name. */
static struct upstream *find_owner(const struct gateway *gateway, const struct offer_snapshot *offers,
                                   enum offer_kind kind, struct str *name)
{
    bool has_prefix = false;
    for (size_t i = 0; i < offers->count; i++) {
        struct str rest = *name;
        if (!strip_prefix(gateway->upstreams[i], kind, &rest))
            continue;
        has_prefix = true;
        if (!offers_name(offers->items[i], kind, rest))
            continue;
        *name = rest;
        return gateway->upstreams[i];
    }
    for (size_t i = 0; !has_prefix && i < offers->count; i++)
        if (offers_name(offers->items[i], kind, *name))
            return gateway->upstreams[i];
    return NULL;
}

struct upstream *wt__offer_owner(const struct gateway *gateway, enum offer_kind kind, struct str *name)
{
    struct offer_snapshot offers;
    wt__offer_snapshot_open(gateway, &offers);
    struct upstream *owner = find_owner(gateway, &offers, kind, name);
    wt__offer_snapshot_close(&offers);
    return owner;
}

bool wt__offer_hash(struct upstream *upstream, enum offer_kind kind, struct str name,
                    char sha256[DEFINITION_DIGITS + 1])
{
    struct upstream_offer *offer = wt__upstream_offer(upstream);
    const json_t *found = find_offer(offer, kind, name, wt__str_equal);
    if (!found && kind == OFFER_RESOURCES)
        found = find_offer(offer, OFFER_TEMPLATES, name, fits_template);
    bool hashed = found && wt__json_hash(found, sha256) == 0;
    wt__upstream_offer_release(offer);
    return hashed;
}
