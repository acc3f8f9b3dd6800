#include "generate/samples.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "whichtool.h"

void wt__samples_dispose(struct choice_samples *samples)
{
    wt__arena_dispose(&samples->arena);
    free(samples->items);
    *samples = (struct choice_samples){0};
}

int wt__samples_add(struct choice_samples *samples, const struct choice_sample *sample, wt_error *err)
{
    if (wt__grow((void **)&samples->items, &samples->capacity, samples->count + 1, sizeof *samples->items) < 0)
        return wt__fail_nomem(err);
    samples->items[samples->count++] = *sample;
    return 0;
}

void wt__samples_write(const struct choice_samples *samples, struct buffer *out)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct choice_sample *sample = &samples->items[i];
        wt__buffer_text(out, "{\"query\": ");
        wt__buffer_json(out, sample->query);
        wt__buffer_text(out, ", \"choices\": [");
        for (size_t c = 0; c < sample->choice_count; c++) {
            wt__buffer_text(out, c ? ", {\"name\": " : "{\"name\": ");
            wt__buffer_json(out, sample->choices[c].name);
            wt__buffer_text(out, ", \"description\": ");
            wt__buffer_json(out, sample->choices[c].description);
            wt__buffer_char(out, '}');
        }
        wt__buffer_text(out, "], \"thought\": ");
        wt__buffer_json(out, sample->thought);
        wt__buffer_text(out, ", \"tool\": ");
        wt__buffer_json(out, sample->choices[sample->right].name);
        wt__buffer_text(out, "}\n");
    }
}

/* ---------------------------------------------------------------- reading */

/* Copies a string member into the arena; ptr is NULL if out of memory. */
static struct str copy_member(struct choice_samples *samples, const json_t *object, const char *member)
{
    struct str text = wt__json_str(object, member);
    return (struct str){wt__arena_copy(&samples->arena, text), text.len};
}

static bool is_length_between(struct str text, size_t least, size_t most)
{
    return text.len >= least && text.len <= most;
}

/* Reads the choices and finds the right one. *sound is false if they are malformed. */
static int read_sample_choices(struct choice_samples *samples, const json_t *object, struct choice_sample *sample,
                               bool *sound, wt_error *err)
{
    const json_t *list = wt__json_array(object, "choices");
    const struct str tool = wt__json_str(object, "tool");
    size_t rights = 0;
    sample->choice_count = json_array_size(list);
    *sound = is_length_between(tool, 1, WT_MAX_NAME_BYTES) && sample->choice_count >= 2 &&
             sample->choice_count <= SAMPLE_CHOICES_MAX;
    if (!*sound)
        return 0;
    sample->choices = wt__arena_array(&samples->arena, struct sample_choice, sample->choice_count);
    for (size_t i = 0; sample->choices && i < sample->choice_count; i++) {
        const json_t *choice = json_array_get(list, i);
        struct sample_choice *kept = &sample->choices[i];
        *kept =
            (struct sample_choice){copy_member(samples, choice, "name"), copy_member(samples, choice, "description")};
        if (!kept->name.ptr || !kept->description.ptr)
            return wt__fail_nomem(err);
        *sound &= is_length_between(kept->name, 1, WT_MAX_NAME_BYTES) &&
                  is_length_between(kept->description, 0, SAMPLE_DESCRIPTION_BYTES_MAX);
        if (wt__str_equal(kept->name, tool)) {
            sample->right = i;
            rights++;
        }
    }
    *sound &= rights == 1;
    return sample->choices ? 0 : wt__fail_nomem(err);
}

static int read_sample_row(struct choice_samples *samples, const json_t *object, wt_error *err)
{
    struct choice_sample sample = {.query = copy_member(samples, object, "query"),
                                   .thought = copy_member(samples, object, "thought")};
    bool sound;
    if (!sample.query.ptr || !sample.thought.ptr)
        return wt__fail_nomem(err);
    int rc = read_sample_choices(samples, object, &sample, &sound, err);
    sound &= is_length_between(wt__str_trim(sample.query), 1, WT_MAX_REQUEST_BYTES) &&
             is_length_between(sample.thought, 0, WT_MAX_NOTE_BYTES);
    if (rc == 0 && !sound)
        samples->left_out++;
    return rc < 0 || !sound ? rc : wt__samples_add(samples, &sample, err);
}

static int read_sample_line(struct choice_samples *samples, struct str text, const char *name, size_t line,
                            wt_error *err)
{
    json_t *object = NULL;
    if (text.len > SAMPLE_LINE_BYTES_MAX)
        return wt__fail_at(err, WT_ETOOLONG, line, 0, NULL, "%s:%zu: longer than %d bytes", name, line,
                           (int)SAMPLE_LINE_BYTES_MAX);
    int rc = wt__json_parse(&object, text.ptr, text.len, err);
    if (rc == 0 && !json_is_object(object))
        rc = wt__fail(err, WT_EFORMAT, "not a JSON object");
    if (rc < 0 && rc != WT_ENOMEM) {
        rc = wt__fail_context(err, rc, "%s:%zu", name, line);
        if (err)
            err->line = line;
    }
    if (rc == 0)
        rc = read_sample_row(samples, object, err);
    json_decref(object);
    return rc;
}

int wt__samples_parse(struct choice_samples *out, struct str file, const char *name, wt_error *err)
{
    int rc = 0;
    *out = (struct choice_samples){0};
    for (size_t at = 0, line = 1; rc == 0 && at < file.len; line++) {
        const char *end = memchr(file.ptr + at, '\n', file.len - at);
        size_t len = end ? (size_t)(end - file.ptr) - at : file.len - at;
        struct str text = wt__str_trim((struct str){file.ptr + at, len});
        if (out->count + out->left_out == WT_MAX_FINE_TUNING_ROWS)
            rc = wt__fail(err, WT_ETOOLONG, "%s has more than %d rows", name, (int)WT_MAX_FINE_TUNING_ROWS);
        else if (text.len > 0)
            rc = read_sample_line(out, text, name, line, err);
        at += len + 1;
    }
    if (rc < 0)
        wt__samples_dispose(out);
    return rc;
}
