/* target.c: an origin server needs two of the four forms of targets: a path, and http://HOST/PATH, which servers must
 * accept (RFC 9112, section 3.2.2). `*` is accepted for OPTIONS. CONNECT is only for proxies.
 *
 * Percent-encoding is checked but not decoded, so paths are compared as sent. Later decoding cannot produce a NUL. */
#include "http/target.h"

#include <strings.h>

#include "http/characters.h"

enum { PORT_MAX = 65535 };

static bool is_port(struct str port)
{
    unsigned value = 0;
    for (size_t i = 0; i < port.len; i++) {
        if (!wt__is_digit(port.ptr[i]))
            return false;
        value = value * 10 + (unsigned)(port.ptr[i] - '0');
        if (value > PORT_MAX)
            return false;
    }
    return port.len > 0;
}

/* True for the text in brackets of an IPv6 host. Checks only its characters, because the address is not used. */
static bool is_address(struct str address)
{
    for (size_t i = 0; i < address.len; i++)
        if (wt__hex_digit(address.ptr[i]) < 0 && address.ptr[i] != ':' && address.ptr[i] != '.')
            return false;
    return address.len > 0;
}

static bool is_host_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return name.len > 0;
}

bool wt__http_is_host(struct str host)
{
    struct str name = host;
    if (host.len > 0 && host.ptr[0] == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        if (!end || !is_address((struct str){host.ptr + 1, (size_t)(end - host.ptr) - 1}))
            return false;
        name.len = (size_t)(end - host.ptr) + 1;
    } else {
        const char *colon = memchr(host.ptr, ':', host.len);
        name.len = colon ? (size_t)(colon - host.ptr) : host.len;
        if (!is_host_name(name))
            return false;
    }
    if (name.len == host.len)
        return true;
    return host.ptr[name.len] == ':' && is_port((struct str){host.ptr + name.len + 1, host.len - name.len - 1});
}

static enum http_refusal check_target(struct str target)
{
    for (size_t i = 0; i < target.len; i++) {
        if (target.ptr[i] == '%') {
            int high = i + 1 < target.len ? wt__hex_digit(target.ptr[i + 1]) : -1;
            int low = i + 2 < target.len ? wt__hex_digit(target.ptr[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return HTTP_TARGET_PERCENT;
            i += 2;
        } else if (!wt__http_is_target_char(target.ptr[i])) {
            return HTTP_TARGET_BYTE;
        }
    }
    return HTTP_FINE;
}

/* Removes http://HOST from the target. */
static enum http_refusal take_authority(struct str *target, struct str *authority)
{
    static const struct str scheme = {"http://", 7};
    if (target->len < scheme.len || strncasecmp(target->ptr, scheme.ptr, scheme.len) != 0)
        return HTTP_TARGET_FORM;
    target->ptr += scheme.len;
    target->len -= scheme.len;
    size_t len = 0;
    while (len < target->len && target->ptr[len] != '/' && target->ptr[len] != '?')
        len++;
    *authority = (struct str){target->ptr, len};
    target->ptr += len;
    target->len -= len;
    return wt__http_is_host(*authority) ? HTTP_FINE : HTTP_TARGET_FORM;
}

enum http_refusal wt__http_read_target(struct http_request *request, struct str target, struct str *authority)
{
    *authority = STR("");
    request->query = STR("");
    if (wt__str_equal(request->method, STR("CONNECT")))
        return HTTP_METHOD;
    if (wt__str_equal(target, STR("*")) && wt__str_equal(request->method, STR("OPTIONS"))) {
        request->path = target;
        return HTTP_FINE;
    }
    if (target.len == 0 || target.ptr[0] != '/') {
        enum http_refusal refusal = take_authority(&target, authority);
        if (refusal)
            return refusal;
    }
    enum http_refusal refusal = check_target(target);
    if (refusal)
        return refusal;
    const char *mark = memchr(target.ptr, '?', target.len);
    request->path = (struct str){target.ptr, mark ? (size_t)(mark - target.ptr) : target.len};
    if (mark)
        request->query = (struct str){mark + 1, target.len - request->path.len - 1};
    if (request->path.len == 0)
        request->path = STR("/");
    return HTTP_FINE;
}
