/* Tests the amount of available memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/file.h"
#include "learn/learn.h"

static void available_memory_is_plausible(void **state)
{
    (void)state;
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t available = wt__memory_available();
    if (!wt__is_file("/proc/meminfo"))
        skip();
    assert_in_range(available, 1 << 20, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(available_memory_is_plausible),
    };
    return cmocka_run_group_tests_name("learn/memory_budget", tests, NULL, NULL);
}
