/* require.h: the assertion of fuzz targets, which also works in release builds. */
#ifndef WT_FUZZ_REQUIRE_H
#define WT_FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdlib.h>

/* Aborts if the property does not hold, so that the fuzzer reports the input. */
static inline void require(bool holds)
{
    if (!holds)
        abort();
}

#endif
