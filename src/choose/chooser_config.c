/* chooser_config.c: reads and writes a chooser as JSON. A list is valid only as a whole, because a missing weight would
 * give wrong results silently. */
#include <math.h>

#include "choose/chooser.h"

enum { CALIBRATION_MOST = 100000 };
static const double LARGEST = CHOOSE_NEVER; /* keeps products of two numbers finite */

static bool is_sane(double value)
{
    return fabs(value) <= LARGEST; /* false for NaN */
}

static int read_number_list(float *out, size_t count, const json_t *object, const char *name, wt_error *err)
{
    json_t *list = wt__json_array(object, name), *item;
    size_t i;
    if (json_array_size(list) != count)
        return wt__fail(err, WT_EMODEL, "\"%s\" has %zu numbers instead of %zu", name, json_array_size(list), count);
    json_array_foreach(list, i, item)
    {
        if (!json_is_number(item) || !is_sane(json_number_value(item)))
            return wt__fail(err, WT_EMODEL, "\"%s\" must only have numbers of at most %g", name, LARGEST);
        out[i] = (float)json_number_value(item);
    }
    return 0;
}

static int read_chooser_number(float *out, const json_t *object, const char *name, wt_error *err)
{
    double value = wt__json_real(object, name, NAN);
    *out = is_sane(value) ? (float)value : 0;
    return is_sane(value) ? 0 : wt__fail(err, WT_EMODEL, "\"%s\" is not a number of at most %g", name, LARGEST);
}

/* Reads a calibration. Leaves it empty if the member is missing, as in choosers of older versions. */
static int read_calibration(struct calibration *out, const json_t *object, const char *name, struct arena *arena,
                            wt_error *err)
{
    const json_t *list = json_object_get(object, name);
    size_t count = json_array_size(list);
    if (list && !json_is_array(list))
        return wt__fail(err, WT_EMODEL, "\"%s\" is not a list of numbers", name);
    if (count > CALIBRATION_MOST)
        return wt__fail(err, WT_EMODEL, "\"%s\" has more than %d numbers", name, CALIBRATION_MOST);
    float *values = wt__arena_array(arena, float, count);
    *out = (struct calibration){values, count};
    if (!values)
        return wt__fail_nomem(err);
    int rc = read_number_list(values, count, object, name, err);
    for (size_t i = 1; rc == 0 && i < count; i++)
        if (values[i] < values[i - 1])
            rc = wt__fail(err, WT_EMODEL, "\"%s\" is not in order", name);
    return rc;
}

/* Reads the relevance weights, if the chooser has fitted ones. */
static int read_relevance(struct chooser *out, const json_t *config, wt_error *err)
{
    out->has_relevance = json_object_get(config, "relevance") != NULL;
    if (!out->has_relevance)
        return 0;
    int rc = read_number_list(out->relevance.weights, RELEVANCE_FEATURES, config, "relevance", err);
    return rc < 0 ? rc : read_chooser_number(&out->relevance.constant, config, "relevance_constant", err);
}

int wt__chooser_read(struct chooser *out, const json_t *config, struct arena *arena, wt_error *err)
{
    const struct {
        float *into;
        size_t count;
        const char *name;
    } lists[] = {{out->tool_weights, TOOL_FEATURES, "tool"},
                 {out->sizes, CHOOSE_SIZES, "sizes"},
                 {out->answerability_weights, ANSWERABLE_FEATURES, "answerability"}};
    const struct {
        float *into;
        const char *name;
    } numbers[] = {{&out->tool_constant, "tool_constant"},
                   {&out->likelihood, "likelihood"},
                   {&out->past, "past"},
                   {&out->size, "size"},
                   {&out->answerability_constant, "answerability_constant"}};
    int rc = 0;
    *out = (struct chooser){.likelihood = 0};
    for (size_t i = 0; rc == 0 && i < sizeof lists / sizeof *lists; i++)
        rc = read_number_list(lists[i].into, lists[i].count, config, lists[i].name, err);
    for (size_t i = 0; rc == 0 && i < sizeof numbers / sizeof *numbers; i++)
        rc = read_chooser_number(numbers[i].into, config, numbers[i].name, err);
    if (rc == 0)
        rc = read_calibration(&out->nonconformity, config, "nonconformity", arena, err);
    if (rc == 0)
        rc = read_calibration(&out->unused, config, "unused", arena, err);
    if (rc == 0)
        rc = read_calibration(&out->no_answer, config, "no_answer", arena, err);
    if (rc == 0)
        rc = read_calibration(&out->nearest, config, "nearest", arena, err);
    if (rc == 0)
        rc = read_calibration(&out->lengths, config, "lengths", arena, err);
    return rc < 0 ? rc : read_relevance(out, config, err);
}

static json_t *write_number_list(const float *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++)
        if (json_array_append_new(list, json_real((double)values[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *wt__chooser_write(const struct chooser *c)
{
    json_t *config = json_pack("{s:o, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "tool",
                               write_number_list(c->tool_weights, TOOL_FEATURES), "tool_constant",
                               (double)c->tool_constant, "likelihood", (double)c->likelihood, "past", (double)c->past,
                               "size", (double)c->size, "sizes", write_number_list(c->sizes, CHOOSE_SIZES),
                               "answerability", write_number_list(c->answerability_weights, ANSWERABLE_FEATURES),
                               "answerability_constant", (double)c->answerability_constant, "nonconformity",
                               write_number_list(c->nonconformity.values, c->nonconformity.count), "unused",
                               write_number_list(c->unused.values, c->unused.count), "no_answer",
                               write_number_list(c->no_answer.values, c->no_answer.count), "nearest",
                               write_number_list(c->nearest.values, c->nearest.count), "lengths",
                               write_number_list(c->lengths.values, c->lengths.count));
    if (!config || !c->has_relevance)
        return config;
    if (json_object_set_new(config, "relevance", write_number_list(c->relevance.weights, RELEVANCE_FEATURES)) == 0 &&
        json_object_set_new(config, "relevance_constant", json_real((double)c->relevance.constant)) == 0)
        return config;
    json_decref(config);
    return NULL;
}
