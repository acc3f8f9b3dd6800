/* pack_scorer.c: SCORER.safetensors OUT: writes the networks of the learned scorer as the library reads them
 * (retrieve/scorer.h). It runs while the library is built, because the networks become a part of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "nn/safetensors.h"
#include "retrieve/scorer.h"

/* Parts of a network in the order of the file, with their ranks. */
static const struct {
    const char *name;
    size_t rank;
} parts[] = {{"mean", 1},    {"scale", 1}, {"weight1", 2}, {"bias1", 1},
             {"weight2", 2}, {"bias2", 1}, {"fits", 1},    {"percentiles", 1}};

static void exit_with(const char *message)
{
    fprintf(stderr, "pack_scorer: %s\n", message);
    exit(1);
}

static const struct tensor *find_part(const struct safetensors *file, const char *variant, size_t part)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", variant, parts[part].name);
    const struct tensor *tensor = wt__safetensors_find(file, name);
    if (!tensor || tensor->rank != parts[part].rank)
        exit_with("a tensor is missing or has the wrong rank");
    return tensor;
}

/* Sets the names of the networks: those of the tensors NAME.mean. */
static void list_variants(const struct safetensors *file, struct scorer_header *header)
{
    static const char ending[] = ".mean";
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->tensors[i].name;
        size_t len = strlen(name), stem = len - (sizeof ending - 1);
        if (len < sizeof ending || strcmp(name + stem, ending) != 0)
            continue;
        if (header->variants == SCORER_VARIANTS_MAX || stem >= SCORER_NAME_MAX)
            exit_with("too many networks, or a name is too long");
        memcpy(header->names[header->variants++], name, stem);
    }
}

int main(int argc, char **argv)
{
    struct scorer_header header = {.magic = SCORER_MAGIC, .version = SCORER_VERSION};
    struct safetensors file;
    struct buffer image = {0};
    char *bytes;
    size_t len;
    wt_error err;

    if (argc != 3)
        exit_with("usage: pack_scorer SCORER.safetensors OUT");
    if (wt__file_read(&bytes, &len, argv[1], SAFETENSORS_MAX_HEADER, &err) < 0 ||
        wt__safetensors_open(&file, argv[1], bytes, len, &err) < 0)
        exit_with(err.message);
    const char *key = json_string_value(json_object_get(file.metadata, "key"));
    header.key = key ? strtoull(key, NULL, 16) : 0;
    list_variants(&file, &header);
    if (header.variants == 0)
        exit_with("the file has no networks");
    header.inputs = (uint32_t)find_part(&file, header.names[0], 2)->shape[0];
    header.hidden = (uint32_t)find_part(&file, header.names[0], 2)->shape[1];
    wt__buffer_append(&image, &header, sizeof header);
    for (size_t v = 0; v < header.variants; v++)
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
            const struct tensor *tensor = find_part(&file, header.names[v], part);
            float *floats = calloc(tensor->count + 1, sizeof *floats);
            if (!floats || wt__tensor_floats(tensor, floats, &err) < 0)
                exit_with(floats ? err.message : "out of memory");
            wt__buffer_append(&image, floats, tensor->count * sizeof *floats);
            free(floats);
        }
    if (image.failed || wt__file_replace(argv[2], image.ptr, image.len, &err) < 0)
        exit_with(image.failed ? "out of memory" : err.message);
    wt__buffer_dispose(&image);
    wt__safetensors_dispose(&file);
    free(bytes);
    return 0;
}
