/* golden.h: reads the files that the reference implementation produced. They are in golden/ of $WT_SHARED, or of
 * ../shared relative to the source if WT_SHARED is not set. */
#ifndef WT_TESTS_NN_GOLDEN_H
#define WT_TESTS_NN_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "nn/safetensors.h"

/* Sets path to the path of golden/NAME. If the file is missing, prints a message and returns false. */
static inline bool golden_path(char *path, size_t size, const char *name)
{
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");

    if (shared)
        snprintf(path, size, "%s/golden/%s", shared, name);
    else
        snprintf(path, size, "%s/../shared/golden/%s", source ? source : ".", name);
    if (wt__is_file(path))
        return true;
    print_message("skipped: golden/%s is missing\n", name);
    return false;
}

struct golden_file {
    struct mapping mapping;
    struct safetensors file;
};

static inline bool golden_open(struct golden_file *golden, const char *name)
{
    char path[4096];

    if (!golden_path(path, sizeof(path), name))
        return false;
    assert_int_equal(wt__file_map(&golden->mapping, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&golden->file, path, golden->mapping.ptr, golden->mapping.len, NULL), 0);
    return true;
}

static inline void golden_close(struct golden_file *golden)
{
    wt__safetensors_dispose(&golden->file);
    wt__file_unmap(&golden->mapping);
}

/* Returns the numbers of a tensor, followed by 16 readable floats. Free with free(). */
static inline float *golden_floats(const struct golden_file *golden, const char *name, size_t *count)
{
    const struct tensor *tensor = wt__safetensors_find(&golden->file, name);

    if (!tensor)
        fail_msg("no tensor %s", name);
    float *out = wt__alloc_aligned(tensor->count + 16, sizeof(float));
    assert_non_null(out);
    assert_int_equal(wt__tensor_floats(tensor, out, NULL), 0);
    if (count)
        *count = tensor->count;
    return out;
}

/* Returns a new reference to the content of a JSON file, or NULL if it is missing. */
static inline json_t *golden_json(const char *name)
{
    char path[4096], *text;
    size_t len;
    json_t *value = NULL;

    if (!golden_path(path, sizeof(path), name))
        return NULL;
    assert_int_equal(wt__file_read(&text, &len, path, (size_t)64 << 20, NULL), 0);
    assert_int_equal(wt__json_parse(&value, text, len, NULL), 0);
    free(text);
    return value;
}

#endif
