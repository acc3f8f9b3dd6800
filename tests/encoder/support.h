/* support.h: a small model folder with random numbers, so that the tests of encoder/ need no other files. */
#ifndef WT_TESTS_ENCODER_SUPPORT_H
#define WT_TESTS_ENCODER_SUPPORT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/rng.h"

enum { SMALL_HIDDEN = 24, SMALL_HEADS = 2, SMALL_INTERMEDIATE = 40, SMALL_LAYERS = 2, SMALL_POSITIONS = 32 };

static const char small_config[] =
    "{\"model_type\": \"bert\", \"hidden_act\": \"gelu\", \"hidden_size\": 24, \"num_attention_heads\": 2,"
    " \"intermediate_size\": 40, \"num_hidden_layers\": 2, \"max_position_embeddings\": 32, \"vocab_size\": 20,"
    " \"type_vocab_size\": 2, \"layer_norm_eps\": 1e-12}";
static const char small_vocabulary[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\nthe\nbook\ntable\nfor\ntwo\n##s\n"
    "##d\nfind\n.\n,\n?\n";
enum { SMALL_VOCABULARY = 20 };

/* Writes folder/name, creating folders as needed. */
static inline void put_file(const char *folder, const char *name, const void *bytes, size_t len)
{
    struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, name), *parent = wt__arena_copy(&arena, wt__str(path));
    wt_error err = {0};

    *strrchr(parent, '/') = '\0';
    if (wt__make_folders(parent, &err) < 0 || wt__file_replace(path, bytes, len, &err) < 0) {
        printf("%s\n", err.message);
        abort();
    }
    wt__arena_dispose(&arena);
}

static inline void put_text(const char *folder, const char *name, const char *text)
{
    put_file(folder, name, text, strlen(text));
}

/* A weights file under construction. */
struct weights_file {
    struct buffer header, data;
    struct rng rng;
};

/* Adds a tensor of random numbers. columns is 0 for a vector. */
static inline void add_tensor(struct weights_file *w, const char *name, size_t rows, size_t columns)
{
    size_t begin = w->data.len;

    for (size_t i = 0; i < rows * (columns ? columns : 1); i++) {
        float x = (float)(wt__rng_unit(&w->rng) - 0.5) * 1.5f + (strstr(name, "LayerNorm.weight") ? 1.0f : 0.0f);
        wt__buffer_append(&w->data, &x, sizeof(x));
    }
    wt__buffer_printf(&w->header, "%s\"%s\": {\"dtype\": \"F32\", \"shape\": [%zu", w->header.len ? ", " : "{", name,
                      rows);
    if (columns)
        wt__buffer_printf(&w->header, ", %zu", columns);
    wt__buffer_printf(&w->header, "], \"data_offsets\": [%zu, %zu]}", begin, w->data.len);
}

/* Writes model.safetensors with random numbers of the seed. prefix: "" or "bert.", before the name of each tensor. */
static inline void put_weights(const char *folder, const char *prefix, uint64_t seed)
{
    static const struct {
        const char *name;
        size_t rows, columns;
    } outer[] = {{"embeddings.word_embeddings.weight", SMALL_VOCABULARY, SMALL_HIDDEN},
                 {"embeddings.position_embeddings.weight", SMALL_POSITIONS, SMALL_HIDDEN},
                 {"embeddings.token_type_embeddings.weight", 2, SMALL_HIDDEN},
                 {"embeddings.LayerNorm.weight", SMALL_HIDDEN, 0},
                 {"embeddings.LayerNorm.bias", SMALL_HIDDEN, 0}},
      inner[] = {{"attention.self.query.weight", SMALL_HIDDEN, SMALL_HIDDEN},
                 {"attention.self.query.bias", SMALL_HIDDEN, 0},
                 {"attention.self.key.weight", SMALL_HIDDEN, SMALL_HIDDEN},
                 {"attention.self.key.bias", SMALL_HIDDEN, 0},
                 {"attention.self.value.weight", SMALL_HIDDEN, SMALL_HIDDEN},
                 {"attention.self.value.bias", SMALL_HIDDEN, 0},
                 {"attention.output.dense.weight", SMALL_HIDDEN, SMALL_HIDDEN},
                 {"attention.output.dense.bias", SMALL_HIDDEN, 0},
                 {"attention.output.LayerNorm.weight", SMALL_HIDDEN, 0},
                 {"attention.output.LayerNorm.bias", SMALL_HIDDEN, 0},
                 {"intermediate.dense.weight", SMALL_INTERMEDIATE, SMALL_HIDDEN},
                 {"intermediate.dense.bias", SMALL_INTERMEDIATE, 0},
                 {"output.dense.weight", SMALL_HIDDEN, SMALL_INTERMEDIATE},
                 {"output.dense.bias", SMALL_HIDDEN, 0},
                 {"output.LayerNorm.weight", SMALL_HIDDEN, 0},
                 {"output.LayerNorm.bias", SMALL_HIDDEN, 0}};
    struct weights_file w = {0};
    unsigned char length[8];
    char name[128];

    wt__rng_seed(&w.rng, seed);
    for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", prefix, outer[i].name);
        add_tensor(&w, name, outer[i].rows, outer[i].columns);
    }
    for (int layer = 0; layer < SMALL_LAYERS; layer++)
        for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
            snprintf(name, sizeof(name), "%sencoder.layer.%d.%s", prefix, layer, inner[i].name);
            add_tensor(&w, name, inner[i].rows, inner[i].columns);
        }
    wt__buffer_text(&w.header, "}");
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(w.header.len >> 8 * i);

    struct buffer file = {0};
    wt__buffer_append(&file, length, 8);
    wt__buffer_append(&file, w.header.ptr, w.header.len);
    wt__buffer_append(&file, w.data.ptr, w.data.len);
    put_file(folder, "model.safetensors", file.ptr, file.len);
    wt__buffer_dispose(&file);
    wt__buffer_dispose(&w.header);
    wt__buffer_dispose(&w.data);
}

/* Creates a temporary folder with a model at folder/small, and uses it as the cache folder. */
static inline void make_model(char folder[64], char model[80])
{
    snprintf(folder, 64, "/tmp/whichtool-encoder-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(model, 80, "%s/small", folder);
    put_text(model, "config.json", small_config);
    put_text(model, "vocab.txt", small_vocabulary);
    put_weights(model, "", 1);
}

static inline void remove_model_folder(const char *folder)
{
    char command[512];

    snprintf(command, sizeof(command), "chmod -R u+w '%s' && rm -rf '%s'", folder, folder);
    if (system(command) != 0)
        abort();
}

#endif
