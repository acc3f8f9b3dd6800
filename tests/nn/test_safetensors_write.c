/* Tests that written files read back bit for bit. Tensors that a reader would reject are refused, and the existing file
 * stays unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "nn/safetensors.h"

static char folder[] = "/tmp/wt-safetensors-XXXXXX", path[64];

static const float matrix[6] = {1, -2, 3.5f, 1e-40f, INFINITY, -0.0f}, one[1] = {7};

static void reads_back_written_file(void **state)
{
    const struct tensor_source tensors[] = {
        {"b.weight", matrix, 2, {3, 2}}, {"a \"quoted\"", one, 0, {0}}, {"empty", NULL, 2, {0, 4}}};
    json_t *metadata = json_pack("{s:s,s:s}", "step", "12", "format", "ignored");
    struct mapping mapping;
    struct safetensors file;
    wt_error err = {0};

    (void)state;
    assert_int_equal(wt__safetensors_write(path, tensors, 3, metadata, &err), 0);
    json_decref(metadata);
    assert_int_equal(wt__file_map(&mapping, path, &err), 0);
    assert_int_equal(wt__safetensors_open(&file, path, mapping.ptr, mapping.len, &err), 0);
    assert_int_equal(file.count, 3);
    assert_string_equal(json_string_value(json_object_get(file.metadata, "format")), "pt");
    assert_string_equal(json_string_value(json_object_get(file.metadata, "step")), "12");
    const struct tensor *weight = wt__safetensors_find(&file, "b.weight");
    assert_non_null(weight);
    assert_int_equal((size_t)(weight->data - mapping.ptr) % 64, 0);
    assert_int_equal(weight->rank, 2);
    assert_true(weight->shape[0] == 3 && weight->shape[1] == 2 && weight->bytes == sizeof(matrix));
    assert_memory_equal(weight->data, matrix, sizeof(matrix));
    assert_non_null(wt__safetensors_find(&file, "a \"quoted\""));
    assert_int_equal(wt__safetensors_find(&file, "empty")->bytes, 0);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&mapping);
}

static void writes_byte_tensors(void **state)
{
    static const int8_t bytes[5] = {0, 1, -1, 127, -127};
    const struct tensor_source tensors[] = {{"odd", bytes, 2, {5, 1}}, {"odd.scale", matrix, 1, {5}}};
    static const enum dtype types[] = {DTYPE_I8, DTYPE_F32};
    struct mapping mapping;
    struct safetensors file;

    (void)state;
    assert_int_equal(wt__safetensors_write_as(path, tensors, types, 2, NULL, NULL), 0);
    assert_int_equal(wt__file_map(&mapping, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&file, path, mapping.ptr, mapping.len, NULL), 0);
    const struct tensor *odd = wt__safetensors_find(&file, "odd"), *scale = wt__safetensors_find(&file, "odd.scale");
    assert_true(odd && odd->dtype == DTYPE_I8 && odd->bytes == sizeof bytes && odd->shape[0] == 5);
    assert_memory_equal(odd->data, bytes, sizeof bytes);
    assert_true(scale && scale->dtype == DTYPE_F32);
    assert_memory_equal(scale->data, matrix, 5 * sizeof *matrix);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&mapping);
}

static void writes_file_without_tensors(void **state)
{
    struct safetensors file;
    char *bytes;
    size_t len;

    (void)state;
    assert_int_equal(wt__safetensors_write(path, NULL, 0, NULL, NULL), 0);
    assert_int_equal(wt__file_read(&bytes, &len, path, 1 << 20, NULL), 0);
    assert_int_equal(len, 64);
    assert_int_equal(wt__safetensors_open(&file, path, bytes, len, NULL), 0);
    assert_int_equal(file.count, 0);
    wt__safetensors_dispose(&file);
    free(bytes);
}

static void rejects_unreadable_tensors(void **state)
{
    static const struct {
        struct tensor_source tensors[2];
        size_t count;
        const char *message;
    } bad[] = {{{{"a", one, 1, {1}}, {"a", one, 1, {1}}}, 2, "duplicate tensor name \"a\""},
               {{{"__metadata__", one, 1, {1}}}, 1, "duplicate tensor name \"__metadata__\""},
               {{{"a", one, 2, {SIZE_MAX / 4, 2}}}, 1, "tensor \"a\" has an impossible shape"},
               {{{"a", one, TENSOR_MAX_RANK + 1, {1}}}, 1, "tensor \"a\" has an impossible shape"}};

    (void)state;
    assert_int_equal(wt__file_replace(path, "old", 3, NULL), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        wt_error err = {0};

        assert_int_equal(wt__safetensors_write(path, bad[i].tensors, bad[i].count, NULL, &err), WT_EMODEL);
        if (!strstr(err.message, bad[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err.message, bad[i].message);
        assert_int_equal(wt__file_size(path), 3);
    }
}

static void reports_missing_folder(void **state)
{
    wt_error err = {0};

    (void)state;
    assert_int_equal(wt__safetensors_write("/nowhere/at/all.safetensors", NULL, 0, NULL, &err), WT_ENOTFOUND);
    assert_non_null(strstr(err.message, "/nowhere/at/all.safetensors"));
}

static int make_safetensors_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && snprintf(path, sizeof(path), "%s/m.safetensors", folder) > 0 ? 0 : -1;
}

static int remove_safetensors_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if other files are left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_written_file),     cmocka_unit_test(writes_byte_tensors),
        cmocka_unit_test(writes_file_without_tensors), cmocka_unit_test(rejects_unreadable_tensors),
        cmocka_unit_test(reports_missing_folder),
    };

    return cmocka_run_group_tests(tests, make_safetensors_folder, remove_safetensors_folder);
}
