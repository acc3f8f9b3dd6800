/* Fuzzes safetensors headers: tensors of an accepted file lie inside it, do not overlap, and can be read. */
#include <stdlib.h>

#include "nn/safetensors.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors file;
    wt_error err = {0};
    const unsigned char *at = NULL;

    int rc = wt__safetensors_open(&file, "fuzz", data, size, &err);
    if (rc < 0) {
        require(rc == WT_EMODEL && err.code == rc && err.message[0] && !file.tensors);
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        const struct tensor *t = &file.tensors[i];
        float *out = malloc(t->count * sizeof(float) + 1);

        require(t->data >= data && t->bytes <= size && t->data + t->bytes <= data + size);
        require(!at || t->data == at);
        at = t->data + t->bytes;
        require(wt__safetensors_find(&file, t->name) != NULL);
        if (out)
            wt__tensor_floats(t, out, NULL);
        free(out);
    }
    require(!file.metadata || json_is_object(file.metadata));
    wt__safetensors_dispose(&file);
    return 0;
}
