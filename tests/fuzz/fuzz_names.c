/* Fuzzes exported names and shortened providers. The input is a provider and a name, separated by NUL, or a name alone.
 * The exported names of attempts 0 to 5 must be valid. wt__short_provider must not crash. */
#include <stdint.h>
#include <stdlib.h>

#include "import/internal.h"
#include "catalog/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool allowed(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && ((c >= '0' && c <= '9') || c == '-'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = {(const char *)data, size};
    const char *nul = size > 0 ? memchr(all.ptr, '\0', size) : NULL;
    struct str provider = {"", 0}, name = all;
    if (nul) {
        provider = (struct str){all.ptr, (size_t)(nul - all.ptr)};
        name = (struct str){nul + 1, size - provider.len - 1};
    }
    for (unsigned attempt = 0; name.len > 0 && attempt < 6; attempt++) {
        char out[EXPORT_NAME_MAX + 1];
        size_t len = wt__export_name(provider, name, attempt, out);
        if (len == 0 || len > EXPORT_NAME_MAX || out[len] != '\0')
            abort();
        for (size_t i = 0; i < len; i++)
            if (!allowed(out[i], i == 0))
                abort();
    }
    struct buffer shorter = {0};
    wt__short_provider(&shorter, provider, name, provider);
    wt__short_provider(&shorter, name, provider, name);
    wt__buffer_dispose(&shorter);
    return 0;
}
