/* Tests the checks of the headers Host and Origin, and of loopback addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/access.h"

static const char *const hosts[] = {"tools.example.com"};
static const char *const origins[] = {"https://app.example.com"};

static const struct {
    const char *listen, *host;
    bool allowed;
} host_rows[] = {
    {"127.0.0.1:8642", "127.0.0.1:8642", true},
    {"127.0.0.1:8642", "127.0.0.1", true},
    {"127.0.0.1:8642", "localhost:8642", true},
    {"127.0.0.1:8642", "LOCALHOST", true},
    {"127.0.0.1:8642", "[::1]:8642", true},
    {"127.0.0.1:8642", "127.1.2.3", true},
    {"127.0.0.1:8642", "tools.example.com", true},
    {"127.0.0.1:8642", "Tools.Example.Com:443", true},
    {"127.0.0.1:8642", "", false},
    {"127.0.0.1:8642", ":8642", false},
    {"127.0.0.1:8642", "evil.example.com", false},
    {"127.0.0.1:8642", "tools.example.com.evil.com", false},
    {"127.0.0.1:8642", "localhost.evil.com", false},
    {"127.0.0.1:8642", "127.0.0.1.evil.com", false},
    {"127.0.0.1:8642", "127.0.0", false},
    {"127.0.0.1:8642", "127.0.0.1.", false},
    {"127.0.0.1:8642", "127.0.0.1111", false},
    {"127.0.0.1:8642", "192.168.1.5:8642", false},
    {"192.168.1.5:8642", "192.168.1.5:8642", true},
    {"0.0.0.0:8642", "0.0.0.0:8642", false},
    {"0.0.0.0:8642", "192.168.1.5:8642", false},
    {"[::]:8642", "[::]:8642", false},
    {"unix:/run/x", "unix", false},
    {"unix:/run/x", "localhost", true},
};

static void hosts_must_name_this_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof host_rows / sizeof *host_rows; i++) {
        const struct guard guard = {host_rows[i].listen, hosts, 1, origins, 1};
        if (wt__guard_host(&guard, wt__str(host_rows[i].host)) != host_rows[i].allowed)
            fail_msg("%s at %s", host_rows[i].host, host_rows[i].listen);
    }
}

static const struct {
    const char *origin, *host;
    enum origin is;
} origin_rows[] = {
    {"", "localhost:8642", ORIGIN_NONE},
    {"http://localhost:8642", "localhost:8642", ORIGIN_OWN},
    {"https://tools.example.com", "tools.example.com", ORIGIN_OWN},
    {"https://app.example.com", "localhost:8642", ORIGIN_CONFIGURED},
    {"http://app.example.com", "localhost:8642", ORIGIN_FOREIGN},
    {"https://app.example.com:8443", "localhost:8642", ORIGIN_FOREIGN},
    {"http://localhost:3000", "localhost:8642", ORIGIN_FOREIGN}, /* another port is another origin */
    {"http://127.0.0.1:8642", "localhost:8642", ORIGIN_FOREIGN},
    {"null", "localhost:8642", ORIGIN_FOREIGN},
    {"file://", "localhost:8642", ORIGIN_FOREIGN},
    {"http://", "", ORIGIN_FOREIGN},
    {"http://localhost:8642.evil.com", "localhost:8642", ORIGIN_FOREIGN},
    {"https://app.example.com.evil.com", "localhost:8642", ORIGIN_FOREIGN},
};

static void origins_are_classified(void **state)
{
    (void)state;
    const struct guard guard = {"127.0.0.1:8642", hosts, 1, origins, 1};
    for (size_t i = 0; i < sizeof origin_rows / sizeof *origin_rows; i++)
        if (wt__guard_origin(&guard, wt__str(origin_rows[i].origin), wt__str(origin_rows[i].host)) != origin_rows[i].is)
            fail_msg("%s at %s", origin_rows[i].origin, origin_rows[i].host);
}

static void loopback_addresses_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        bool loopback;
    } rows[] = {{"127.0.0.1:1", true}, {"localhost:1", true},       {"[::1]:1", true},
                {"unix:/x", true},     {"0.0.0.0:1", false},        {"[::]:1", false},
                {"10.0.0.1:1", false}, {"127.0.0.1.evil:1", false}, {"", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__is_loopback_address(rows[i].listen) != rows[i].loopback)
            fail_msg("%s", rows[i].listen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_must_name_this_server),
                                       cmocka_unit_test(origins_are_classified),
                                       cmocka_unit_test(loopback_addresses_are_recognised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
