/* Fuzzes the configuration files of a model folder. The first byte selects the file, the rest is its content. Accepted
 * content respects the limits; an error has a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "encoder/config.h"
#include "encoder/internal.h"

static const char *const files[] = {"config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json",
                                    "tokenizer_config.json"};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static const char sound[] =
    "{\"model_type\": \"bert\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"intermediate_size\": 8,"
    " \"num_hidden_layers\": 1, \"max_position_embeddings\": 8, \"vocab_size\": 8}";

static char folder[64];

static void remove_config_folder(void)
{
    char path[128];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        remove(path);
    }
    snprintf(path, sizeof(path), "%s/1_Pooling", folder);
    remove(path);
    remove(folder);
}

static void write_config_file(const char *name, const void *bytes, size_t len)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
        abort();
}

static void check_config_limits(const struct model_config *c)
{
    struct weight_walk walk = {.config = c};
    struct weight_plan files_plan, packed_plan;

    if (wt__model_config_check(c, "fuzz", NULL) < 0)
        abort();
    if (wt__model_is_static(c)) /* a static encoder has no layers to plan */
        return;
    wt__weight_plan(&files_plan, c, LAYOUT_FILES);
    wt__weight_plan(&packed_plan, c, LAYOUT_PACKED);
    for (size_t i = 0; i < 64 && wt__weight_next(&walk); i++) {
        const struct weight_tensor *t = &walk.tensor;
        size_t run = t->part == WEIGHT_WORDS       ? files_plan.words
                     : t->layer == WEIGHT_NO_LAYER ? files_plan.model
                                                   : files_plan.layer;
        size_t at = t->part == WEIGHT_WORDS ? 0 : files_plan.at[t->part] + t->offset;

        if (t->count == 0 || at > run || t->count > run - at)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_config config;
    wt_error err = {0};
    char path[128];

    if (size == 0)
        return 0;
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/whichtool-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof(path), "%s/1_Pooling", folder);
        mkdir(path, 0700);
        atexit(remove_config_folder);
    }
    const char *name = files[data[0] % FILES];
    write_config_file("config.json", sound, sizeof(sound) - 1);
    write_config_file(name, data + 1, size - 1);
    int rc = wt__model_config_read(&config, folder, &err);
    if (rc < 0 && (rc != WT_EMODEL || err.code != rc || !err.message[0]))
        abort();
    if (rc == 0)
        check_config_limits(&config);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    remove(path);
    return 0;
}
