/* offers.c: names of resources, templates and prompts; see internal.h. */
#include "gateway/internal.h"

#include <stdlib.h>

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

/* Returns the first item whose name fits, or NULL. */
static const json_t *find_item(const json_t *list, const char *key, struct str name,
                               bool (*fits)(struct str, struct str))
{
    for (size_t i = 0; name.len > 0 && i < json_array_size(list); i++)
        if (fits(wt__json_str(json_array_get(list, i), key), name))
            return json_array_get(list, i);
    return NULL;
}

static bool lists_offer(const struct upstream_offer *offer, enum offer_kind kind, struct str name)
{
    return find_item(wt__offer_list(offer, kind), kinds[kind].key, name, wt__str_equal) != NULL;
}

/* Returns a byte of a server's name as it appears in the prefix. The prefix of a URI is part of the scheme, and strict
 * clients check its characters (RFC 3986, section 3.1). */
static char prefix_byte(enum offer_kind kind, char byte)
{
    bool scheme = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || wt__is_digit(byte) || byte == '.' ||
                  byte == '+';
    return kind == OFFER_PROMPTS || scheme ? byte : '-';
}

/* Returns the beginning of a prefix: a scheme must start with a letter. */
static struct str prefix_begin(enum offer_kind kind, const char *server)
{
    bool letter = (*server >= 'a' && *server <= 'z') || (*server >= 'A' && *server <= 'Z');
    return kind == OFFER_PROMPTS || letter ? STR("") : STR("x-");
}

static void put_server_prefix(const struct upstream *upstream, enum offer_kind kind, struct buffer *out)
{
    const char *server = wt__upstream_name(upstream);
    wt__buffer_str(out, prefix_begin(kind, server));
    for (; *server; server++)
        wt__buffer_char(out, prefix_byte(kind, *server));
    wt__buffer_text(out, kinds[kind].separator);
}

/* Removes the server's prefix from the name. False if the name lacks it or is nothing else. */
static bool strip_prefix(const struct upstream *upstream, enum offer_kind kind, struct str *name)
{
    const char *server = wt__upstream_name(upstream);
    struct str begin = prefix_begin(kind, server), mark = wt__str(kinds[kind].separator);
    size_t at = begin.len;
    if (!wt__str_starts(*name, begin))
        return false;
    for (; *server; server++, at++)
        if (at >= name->len || name->ptr[at] != prefix_byte(kind, *server))
            return false;
    struct str rest = {name->ptr + at, name->len - at};
    if (rest.len <= mark.len || !wt__str_starts(rest, mark))
        return false;
    *name = (struct str){rest.ptr + mark.len, rest.len - mark.len};
    return true;
}

/* ---------------------------------------------------------------- templates */

/* Returns the part of a template before its first expression. */
static struct str template_head(struct str template)
{
    const char *brace = template.len > 0 ? memchr(template.ptr, '{', template.len) : NULL;
    return (struct str){template.ptr, brace ? (size_t)(brace - template.ptr) : template.len};
}

/* True if the URI matches the template: its literal parts occur in order, from the beginning to the end. An expression
 * matches any text, since servers differ in what they encode. A template without a head matches no URI, since it would
 * match all of them. */
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

/* True if a URI may match both templates: the head of one begins with the head of the other. */
static bool may_overlap(struct str template, struct str other)
{
    struct str one = template_head(template), two = template_head(other);
    return one.len > 0 && two.len > 0 && (wt__str_starts(one, two) || wt__str_starts(two, one));
}

static bool has_template_for(const struct upstream_offer *offer, struct str name, bool (*fits)(struct str, struct str))
{
    return find_item(wt__offer_list(offer, OFFER_TEMPLATES), kinds[OFFER_TEMPLATES].key, name, fits) != NULL;
}

/* ---------------------------------------------------------------- names */

/* True if the name would lead to this server if it were the only one: the name is listed or matches a template. A
 * completion of a template may also refer to a resource. */
static bool offers_name(const struct upstream_offer *offer, enum offer_kind kind, struct str name)
{
    return lists_offer(offer, kind, name) || (kind == OFFER_TEMPLATES && lists_offer(offer, OFFER_RESOURCES, name)) ||
           (kind == OFFER_RESOURCES && has_template_for(offer, name, fits_template));
}

/* True if the name or template leads, or may lead, to the earlier server of that offer. */
static bool is_taken_by(const struct upstream_offer *offer, enum offer_kind kind, struct str name)
{
    return offers_name(offer, kind, name) || (kind == OFFER_TEMPLATES && has_template_for(offer, name, may_overlap));
}

/* True if the name needs a prefix: an earlier server may offer it, or it begins with the prefix of any server. */
static bool is_ambiguous(const struct gateway *gateway, const struct offer_snapshot *offers, size_t server,
                         enum offer_kind kind, struct str name)
{
    bool ambiguous = false;
    for (size_t i = 0; !ambiguous && i < offers->count; i++) {
        struct str rest = name;
        ambiguous = (i < server && is_taken_by(offers->items[i], kind, name)) ||
                    strip_prefix(gateway->upstreams[i], kind, &rest);
    }
    return ambiguous;
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

/* ---------------------------------------------------------------- owners */

/* Returns the first server whose prefix the name has and that offers the rest, or NULL. *begins: true if the name has
 * the prefix of any server; then only servers whose prefix matches can own it. */
static struct upstream *owner_by_prefix(const struct gateway *gateway, const struct offer_snapshot *offers,
                                        enum offer_kind kind, struct str *name, bool *begins)
{
    *begins = false;
    for (size_t i = 0; i < offers->count; i++) {
        struct str rest = *name;
        if (!strip_prefix(gateway->upstreams[i], kind, &rest))
            continue;
        *begins = true;
        if (!offers_name(offers->items[i], kind, rest))
            continue;
        *name = rest;
        return gateway->upstreams[i];
    }
    return NULL;
}

struct upstream *wt__offer_owner(const struct gateway *gateway, enum offer_kind kind, struct str *name)
{
    struct offer_snapshot offers;
    bool begins;
    wt__offer_snapshot_open(gateway, &offers);
    struct upstream *owner = owner_by_prefix(gateway, &offers, kind, name, &begins);
    for (size_t i = 0; !owner && !begins && i < offers.count; i++)
        if (offers_name(offers.items[i], kind, *name))
            owner = gateway->upstreams[i];
    wt__offer_snapshot_close(&offers);
    return owner;
}

bool wt__offer_hash(struct upstream *upstream, enum offer_kind kind, struct str name,
                    char sha256[DEFINITION_DIGITS + 1])
{
    struct upstream_offer *offer = wt__upstream_offer(upstream);
    const json_t *found = find_item(wt__offer_list(offer, kind), kinds[kind].key, name, wt__str_equal);
    if (!found && kind == OFFER_RESOURCES)
        found = find_item(wt__offer_list(offer, OFFER_TEMPLATES), kinds[OFFER_TEMPLATES].key, name, fits_template);
    bool hashed = found && wt__json_hash(found, sha256) == 0;
    wt__upstream_offer_release(offer);
    return hashed;
}
