/* trainable_save.c: a trained model as the source's directory with other numbers in it. What we do not train, or do
 * not know, is copied, so that the reference libraries find what they found in the source. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "encoder/model_files.h"
#include "encoder/pack.h"
#include "encoder/trainable_inside.h"
#include "nn/convolution.h"
#include "nn/safetensors.h"

static const char *const copied[] = {"modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
                                     "1_Pooling/config.json"};
static const char *const classes[ARCHITECTURES] = {
    [ARCHITECTURE_BERT] = "BertForSequenceClassification",
    [ARCHITECTURE_ROBERTA] = "RobertaForSequenceClassification",
    [ARCHITECTURE_DISTILBERT] = "DistilBertForSequenceClassification",
    [ARCHITECTURE_MPNET] = "MPNetForSequenceClassification",
    [ARCHITECTURE_DEBERTA] = "DebertaV2ForSequenceClassification",
};
enum { COPIED = sizeof(copied) / sizeof(copied[0]), MODULES_MOST = 16 };

/* The JSON object of folder/name; NULL where there is no such file. */
static int read_json(json_t **out, const char *folder, const char *name, wt_error *err)
{
    struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, name), *text = NULL;
    size_t len;
    int rc = path ? 0 : wt__fail_nomem(err);

    *out = NULL;
    if (rc == 0 && wt__is_file(path)) {
        rc = wt__file_read(&text, &len, path, MODEL_MAX_JSON, err);
        if (rc == 0)
            rc = wt__json_parse(out, text, len, err);
    }
    free(text);
    wt__arena_dispose(&arena);
    return rc;
}

/* sentence-transformers' files, and the configuration of each module that modules.json names. */
static int copy_modules(const char *source, const char *out, wt_error *err)
{
    json_t *modules = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COPIED; i++)
        rc = wt__model_copy_file(source, out, copied[i], err);
    if (rc == 0)
        rc = read_json(&modules, source, "modules.json", err);
    for (size_t i = 0; rc == 0 && i < json_array_size(modules) && i < MODULES_MOST; i++) {
        struct str path = wt__json_str(json_array_get(modules, i), "path");
        char name[256];

        if (path.len == 0 || path.len > 200 || memchr(path.ptr, '.', path.len))
            continue;
        snprintf(name, sizeof(name), "%.*s/config.json", (int)path.len, path.ptr);
        rc = wt__model_copy_file(source, out, name, err);
    }
    json_decref(modules);
    return rc;
}

/* What makes the model one of sequences: the class that reads it, and its one label. */
static int name_head(const struct trainable *t, json_t *config, wt_error *err)
{
    json_t *head = json_pack("{s:[s], s:{s:s}, s:{s:i}, s:i}", "architectures", classes[t->model.config.architecture],
                             "id2label", "0", "LABEL_0", "label2id", "LABEL_0", 0, "num_labels", 1);
    int rc = head && json_object_update(config, head) == 0 ? 0 : wt__fail_nomem(err);

    json_decref(head);
    return rc;
}

static int save_config(const struct trainable *t, const char *source, const char *out, const json_t *members,
                       wt_error *err)
{
    static const char *const types[] = {"dtype", "torch_dtype"};
    struct arena arena = {0};
    struct buffer text = {0};
    json_t *config = NULL;
    char *path = wt__path_join(&arena, out, "config.json");
    int rc = path ? read_json(&config, source, "config.json", err) : wt__fail_nomem(err);

    if (rc == 0 && !json_is_object(config))
        rc = wt__fail(err, WT_EMODEL, "%s: the model has no config.json", source);
    for (size_t i = 0; rc == 0 && i < 2; i++)
        if (json_object_get(config, types[i]) && json_object_set_new(config, types[i], json_string("float32")) != 0)
            rc = wt__fail_nomem(err);
    if (rc == 0 && t->scorer)
        rc = name_head(t, config, err);
    /* A copy: the members stay the caller's, and const. */
    if (rc == 0 && members && json_object_set_new(config, "whichtool", json_deep_copy(members)) != 0)
        rc = wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__json_write(&text, config);
    if (rc == 0)
        wt__buffer_char(&text, '\n');
    if (rc < 0 || text.failed)
        rc = rc < 0 && rc != WT_ENOMEM ? rc : wt__fail_nomem(err);
    else
        rc = wt__file_replace(path, text.ptr, text.len, err);
    wt__buffer_dispose(&text);
    json_decref(config);
    wt__arena_dispose(&arena);
    return rc;
}

/* ---------------------------------------------------------------- weights */

struct saving {
    const struct trainable *t;
    struct tensor_source *tensors;
    size_t count;
    struct arena arena;
};

struct tensor_source wt__trainable_tensor(const struct trainable *t, size_t i)
{
    const struct weight_tensor *w = &t->tensors[i];

    return (struct tensor_source){
        t->parameters[i].name, t->parameters[i].value, w->columns ? 2 : 1, {w->rows, w->columns}};
}

/* A parameter in the shape of its file. */
static int add_parameter(struct saving *s, size_t i, wt_error *err)
{
    const struct weight_tensor *t = &s->t->tensors[i];
    const struct parameter *p = &s->t->parameters[i];
    struct tensor_source *out = &s->tensors[s->count++];

    *out = wt__trainable_tensor(s->t, i);
    if (t->part != WEIGHT_CONVOLUTION)
        return 0;
    float *file = wt__arena_array(&s->arena, float, t->count);
    if (!file)
        return wt__fail_nomem(err);
    wt__convolution_add_back(file, p->value, t->taps, t->rows, t->columns);
    out->data = file;
    out->rank = 3;
    out->shape[2] = t->taps;
    return 0;
}

/* A tensor of the source that is none of the parameters. Those that hold no real numbers are buffers, not weights. */
static int add_other(struct saving *s, const struct tensor *tensor, wt_error *err)
{
    struct tensor_source *out = &s->tensors[s->count];

    if (tensor->dtype >= DTYPE_I64)
        return 0;
    for (size_t i = 0; i < s->t->count; i++)
        if (strcmp(s->t->parameters[i].name, tensor->name) == 0)
            return 0;
    float *copy = wt__arena_array(&s->arena, float, tensor->count);
    if (!copy)
        return wt__fail_nomem(err);
    *out = (struct tensor_source){.name = tensor->name, .data = copy, .rank = tensor->rank};
    memcpy(out->shape, tensor->shape, sizeof(out->shape));
    s->count++;
    return wt__tensor_floats(tensor, copy, err);
}

static int save_weights(const struct trainable *t, const char *source, const char *out, wt_error *err)
{
    struct saving s = {.t = t};
    struct safetensors file = {0};
    struct mapping map = {0};
    char *from = wt__path_join(&s.arena, source, MODEL_WEIGHTS), *to = wt__path_join(&s.arena, out, MODEL_WEIGHTS);
    int rc = from && to ? wt__file_map(&map, from, err) : wt__fail_nomem(err);

    if (rc == 0)
        rc = wt__safetensors_open(&file, from, map.ptr, map.len, err);
    s.tensors = wt__arena_array(&s.arena, struct tensor_source, t->count + file.count);
    if (rc == 0 && !s.tensors)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < t->count; i++)
        rc = add_parameter(&s, i, err);
    for (size_t i = 0; rc == 0 && !t->scorer && i < file.count; i++)
        rc = add_other(&s, &file.tensors[i], err);
    if (rc == 0)
        rc = wt__safetensors_write(to, s.tensors, s.count, NULL, err);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    wt__arena_dispose(&s.arena);
    return rc;
}

int wt__trainable_save(const struct trainable *t, const char *source, const char *out, const json_t *members,
                       wt_error *err)
{
    int rc = wt__make_folders(out, err);

    if (rc == 0)
        rc = wt__model_copy_tokenizer(source, out, err);
    if (rc == 0 && !t->scorer)
        rc = copy_modules(source, out, err);
    if (rc == 0)
        rc = save_weights(t, source, out, err);
    if (rc == 0)
        rc = save_config(t, source, out, members, err);
    return rc;
}
