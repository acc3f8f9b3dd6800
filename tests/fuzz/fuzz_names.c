/* Any bytes as provider NUL name, and as a name of the wire: what is written decodes to what it was made of. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct wire_rule *rule, struct str provider, struct str name)
{
    char wire[WIRE_MAX + 1];
    struct buffer got_provider = {0}, got_name = {0};
    uint64_t hash;
    size_t len = wt__wire_name(rule, provider, name, wire);
    if (len > rule->max)
        abort();
    if (wt__wire_decode((struct str){wire, len}, &got_provider, &got_name, &hash) == WIRE_HASHED) {
        if (hash != wt__id_hash(provider, name))
            abort();
    } else if (!wt__str_equal(wt__buffer_view(&got_provider), provider) ||
               !wt__str_equal(wt__buffer_view(&got_name), name)) {
        abort();
    }
    wt__buffer_dispose(&got_provider);
    wt__buffer_dispose(&got_name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const forms[] = {"openai", "anthropic", "gemini", "mcp"};
    struct str all = {(const char *)data, size};
    const char *nul = size > 0 ? memchr(all.ptr, '\0', size) : NULL;
    struct str provider = {"", 0}, name = all;
    struct buffer decoded_provider = {0}, decoded_name = {0};
    uint64_t hash;
    if (nul) {
        provider = (struct str){all.ptr, (size_t)(nul - all.ptr)};
        name = (struct str){nul + 1, size - provider.len - 1};
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        check(wt__wire_rule(wt__str(forms[i])), provider, name);
    wt__wire_decode(all, &decoded_provider, &decoded_name, &hash);
    wt__buffer_dispose(&decoded_provider);
    wt__buffer_dispose(&decoded_name);
    return 0;
}
