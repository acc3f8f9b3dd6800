#include "serve/guard.h"

#include <strings.h>

static bool hosts_are_equal(struct str a, struct str b)
{
    return a.len == b.len && a.len > 0 && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

struct str wt__authority_host(struct str authority)
{
    if (authority.len > 0 && *authority.ptr == '[') {
        const char *end = memchr(authority.ptr, ']', authority.len);
        return end ? (struct str){authority.ptr + 1, (size_t)(end - authority.ptr - 1)} : (struct str){0};
    }
    const char *colon = authority.len > 0 ? memchr(authority.ptr, ':', authority.len) : NULL;
    return (struct str){authority.ptr, colon ? (size_t)(colon - authority.ptr) : authority.len};
}

/* True for 127.x.x.x. "127.0.0.1.example.com" is another machine's name. */
static bool is_loopback_ipv4(struct str host)
{
    size_t dots = 0, digits = 0;
    if (!wt__str_starts(host, STR("127.")))
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (host.ptr[i] == '.' && digits > 0) {
            dots++;
            digits = 0;
        } else if (host.ptr[i] >= '0' && host.ptr[i] <= '9' && digits < 3) {
            digits++;
        } else {
            return false;
        }
    }
    return dots == 3 && digits > 0;
}

bool wt__is_loopback(struct str host)
{
    return hosts_are_equal(host, STR("localhost")) || hosts_are_equal(host, STR("::1")) || is_loopback_ipv4(host);
}

bool wt__is_loopback_address(const char *listen)
{
    return wt__str_starts(wt__str(listen), STR("unix:")) || wt__is_loopback(wt__authority_host(wt__str(listen)));
}

/* Returns the host of the listen address, or an empty string for unix sockets and wildcard addresses. */
static struct str listen_host(const char *listen)
{
    struct str none = {0}, host = wt__authority_host(wt__str(listen));
    bool any = wt__str_equal(host, STR("0.0.0.0")) || wt__str_equal(host, STR("::"));
    return any || wt__str_starts(wt__str(listen), STR("unix:")) ? none : host;
}

bool wt__guard_host(const struct guard *guard, struct str host)
{
    struct str name = wt__authority_host(host), own = listen_host(guard->listen);
    if (wt__is_loopback(name) || hosts_are_equal(name, own))
        return true;
    for (size_t i = 0; i < guard->host_count; i++)
        if (hosts_are_equal(name, wt__str(guard->hosts[i])))
            return true;
    return false;
}

enum origin wt__guard_origin(const struct guard *guard, struct str origin, struct str host)
{
    static const struct str schemes[] = {{"http://", 7}, {"https://", 8}};
    if (origin.len == 0)
        return ORIGIN_NONE;
    for (size_t i = 0; i < guard->origin_count; i++)
        if (wt__str_equal(origin, wt__str(guard->origins[i])))
            return ORIGIN_CONFIGURED;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (wt__str_starts(origin, schemes[i]) &&
            hosts_are_equal((struct str){origin.ptr + schemes[i].len, origin.len - schemes[i].len}, host))
            return ORIGIN_OWN;
    return ORIGIN_FOREIGN;
}
