/* Fuzzes the manifest parser: no path of an accepted manifest is absolute or contains "..". */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct manifest manifest;
    wt_error err;
    if (wt__manifest_parse(&arena, (const char *)data, size, "manifest.json", &manifest, &err) == 0)
        for (size_t i = 0; i < manifest.file_count; i++)
            if (manifest.files[i].path[0] == '/' || strstr(manifest.files[i].path, ".."))
                abort();
    wt__arena_dispose(&arena);
    return 0;
}
