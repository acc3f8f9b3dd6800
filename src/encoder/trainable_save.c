/* trainable_save.c: writes a trained model as a copy of the source's folder with other weights. Untrained and unknown
 * tensors are copied. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "encoder/model_files.h"
#include "encoder/pack.h"
#include "encoder/trainable_inside.h"
#include "nn/convolution.h"
#include "nn/safetensors.h"

static const char *const classes[ARCHITECTURES] = {
    [ARCHITECTURE_BERT] = "BertForSequenceClassification",
    [ARCHITECTURE_ROBERTA] = "RobertaForSequenceClassification",
    [ARCHITECTURE_XLM_ROBERTA] = "XLMRobertaForSequenceClassification",
    [ARCHITECTURE_DISTILBERT] = "DistilBertForSequenceClassification",
    [ARCHITECTURE_MPNET] = "MPNetForSequenceClassification",
    [ARCHITECTURE_DEBERTA] = "DebertaV2ForSequenceClassification",
};
/* Sets the class and the single label of a sequence classifier. */
static int set_classifier_head(const struct trainable *t, json_t *config, wt_error *err)
{
    json_t *head = json_pack("{s:[s], s:{s:s}, s:{s:i}, s:i}", "architectures", classes[t->model.config.architecture],
                             "id2label", "0", "LABEL_0", "label2id", "LABEL_0", 0, "num_labels", 1);
    int rc = head && json_object_update(config, head) == 0 ? 0 : wt__fail_nomem(err);

    json_decref(head);
    return rc;
}

static int save_trained_config(const struct trainable *t, const char *source, const char *out, const json_t *members,
                               wt_error *err)
{
    json_t *config = NULL, *kept = json_deep_copy(members); /* a copy, since the caller owns `members` */
    int rc = wt__model_config_open(&config, source, err);

    if (rc == 0 && t->scorer)
        rc = set_classifier_head(t, config, err);
    if (rc == 0 && members && !(kept && wt__model_copy_member(kept, config, "dense_weight")))
        rc = wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__model_config_save(config, out, "float32", kept, err);
    json_decref(kept);
    json_decref(config);
    return rc;
}

/* ---------------------------------------------------------------- weights */

struct saved_tensors {
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

/* Adds a parameter in the shape of its tensor. */
static int add_saved_parameter(struct saved_tensors *s, size_t i, wt_error *err)
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

/* Adds a tensor of the source that is not a parameter. Tensors without floating-point numbers are buffers and are
 * skipped. */
static int add_untrained_tensor(struct saved_tensors *s, const struct tensor *tensor, wt_error *err)
{
    struct tensor_source *out = &s->tensors[s->count];

    if (!wt__tensor_is_real(tensor))
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

static int save_trained_weights(const struct trainable *t, const char *source, const char *out, wt_error *err)
{
    struct saved_tensors s = {.t = t};
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
        rc = add_saved_parameter(&s, i, err);
    for (size_t i = 0; rc == 0 && !t->scorer && i < file.count; i++)
        rc = add_untrained_tensor(&s, &file.tensors[i], err);
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
        rc = wt__model_copy_modules(source, out, err);
    if (rc == 0)
        rc = save_trained_weights(t, source, out, err);
    if (rc == 0)
        rc = save_trained_config(t, source, out, members, err);
    return rc;
}
