/* Tests that invalid safetensors files are rejected with a specific message, and that valid files are read in every
 * floating-point type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"

/* Makes a file in memory from the length of the header (8 bytes), the header, and `data` zero bytes. Opens the file.
 * length: the length to write; 0 to write the actual length. *bytes: the file, to be freed by the caller. */
static int open_safetensors(struct safetensors *out, const char *header, uint64_t length, size_t data,
                            unsigned char **bytes, wt_error *err)
{
    size_t len = 8 + strlen(header) + data;
    unsigned char *p = calloc(1, len);

    assert_non_null(p);
    if (length == 0)
        length = strlen(header);
    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(length >> 8 * i);
    memcpy(p + 8, header, strlen(header));
    *bytes = p;
    return wt__safetensors_open(out, "m", p, len, err);
}

#define T(name, dtype, shape, begin, end)                                                                              \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

static const struct {
    const char *name, *header;
    uint64_t length;
    size_t data;
    const char *message;
} bad[] = {
    {"header longer than the file", "{}", 3, 0, "truncated inside its header"},
    {"header longer than the limit", "{}", (uint64_t)1 << 40, 0, "over 100 MiB"},
    {"length with the top bit set", "{}", UINT64_MAX, 0, "over 100 MiB"},
    {"header is not an object", "[]", 0, 0, "does not begin with {"},
    {"space before the object", " {}", 0, 0, "does not begin with {"},
    {"unterminated object", "{\"a\":", 0, 0, "header"},
    {"text after the object", "{} {}", 0, 0, "header"},
    {"duplicate key", "{" T("a", "F32", "[1]", 0, 4) "," T("a", "F32", "[1]", 4, 8) "}", 0, 8, "header"},
    {"entry is not an object", "{\"a\":1}", 0, 0, "unknown type"},
    {"unknown type", "{" T("a", "F31", "[1]", 0, 4) "}", 0, 4, "unknown type \"F31\""},
    {"no shape", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 0, 4, "shape"},
    {"nine dimensions", "{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 0, 4, "at most 8 dimensions"},
    {"negative dimension", "{" T("a", "F32", "[-1]", 0, 4) "}", 0, 4, "impossible shape"},
    {"dimension with a fraction", "{" T("a", "F32", "[1.0]", 0, 4) "}", 0, 4, "impossible shape"},
    {"elements overflow", "{" T("a", "F32", "[4294967296,4294967296,2]", 0, 4) "}", 0, 4, "impossible shape"},
    {"bytes overflow", "{" T("a", "F64", "[4611686018427387904]", 0, 0) "}", 0, 0, "do not match"},
    {"one offset", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 0, 4, "data_offsets"},
    {"three offsets", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 0, 8, "data_offsets"},
    {"descending offsets", "{" T("a", "F32", "[1]", 4, 0) "}", 0, 4, "data_offsets"},
    {"negative offset", "{" T("a", "F32", "[1]", -4, 0) "}", 0, 4, "data_offsets"},
    {"offsets beyond the file", "{" T("a", "F32", "[2]", 0, 8) "}", 0, 4, "the file is truncated"},
    {"offsets near 2^63", "{" T("a", "F32", "[1]", 9223372036854775803, 9223372036854775807) "}", 0, 4, "truncated"},
    {"too few bytes for the shape", "{" T("a", "F32", "[2]", 0, 4) "}", 0, 4, "do not match"},
    {"too many bytes for the shape", "{" T("a", "F32", "[1]", 0, 8) "}", 0, 8, "do not match"},
    {"gap before the first tensor", "{" T("a", "F32", "[1]", 4, 8) "}", 0, 8, "a gap before tensor \"a\""},
    {"gap between tensors", "{" T("a", "F32", "[1]", 0, 4) "," T("b", "F32", "[1]", 8, 12) "}", 0, 12,
     "a gap before tensor \"b\""},
    {"overlapping tensors", "{" T("a", "F32", "[2]", 0, 8) "," T("b", "F32", "[1]", 4, 8) "}", 0, 8, "an overlap"},
    {"two tensors with the same bytes", "{" T("a", "F32", "[1]", 0, 4) "," T("b", "F32", "[1]", 0, 4) "}", 0, 4,
     "an overlap"},
    {"bytes after the last tensor", "{" T("a", "F32", "[1]", 0, 4) "}", 0, 6, "2 bytes follow"},
    {"metadata is not an object", "{\"__metadata__\":1}", 0, 0, "__metadata__"},
    {"metadata value is not a string", "{\"__metadata__\":{\"a\":1}}", 0, 0, "__metadata__"},
    {"NUL in a name", "{\"a\\u0000\":{}}", 0, 0, "header"},
};

static void rejects_malformed_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct safetensors file;
        unsigned char *bytes;
        wt_error err = {0};

        int rc = open_safetensors(&file, bad[i].header, bad[i].length, bad[i].data, &bytes, &err);
        if (rc != WT_EMODEL || err.code != WT_EMODEL || !strstr(err.message, bad[i].message) ||
            strncmp(err.message, "m: ", 3) != 0)
            fail_msg("%s: %d \"%s\"", bad[i].name, rc, err.message);
        assert_null(file.tensors);
        free(bytes);
    }
}

static void rejects_every_truncation(void **state)
{
    static const char header[] = "{" T("a", "F32", "[2]", 0, 8) "}";
    unsigned char bytes[8 + sizeof(header) - 1 + 8] = {sizeof(header) - 1};
    struct safetensors file;

    (void)state;
    memcpy(bytes + 8, header, sizeof(header) - 1);
    for (size_t len = 0; len < sizeof(bytes); len++) {
        unsigned char *exact = malloc(len + 1);

        memcpy(exact, bytes, len);
        assert_int_equal(wt__safetensors_open(&file, "m", exact, len, NULL), WT_EMODEL);
        free(exact);
    }
    assert_int_equal(wt__safetensors_open(&file, "m", bytes, sizeof(bytes), NULL), 0);
    wt__safetensors_dispose(&file);
}

static void reads_valid_files(void **state)
{
    struct safetensors file;
    unsigned char *bytes;

    (void)state;
    /* Tensors out of order, an empty tensor, a scalar, spaces after the object, metadata. */
    assert_int_equal(open_safetensors(&file,
                                      "{\"__metadata__\":{\"format\":\"pt\"}," T("b", "I64", "[1,2]", 4, 20) "," T(
                                          "a", "F32", "[]", 0, 4) "," T("none", "F32", "[0,7]", 4, 4) "}   ",
                                      0, 20, &bytes, NULL),
                     0);
    assert_int_equal(file.count, 3);
    const struct tensor *a = wt__safetensors_find(&file, "a"), *b = wt__safetensors_find(&file, "b");
    assert_true(a && b && a->count == 1 && a->rank == 0 && b->rank == 2 && b->shape[1] == 2);
    assert_ptr_equal(b->data, a->data + 4);
    assert_null(wt__safetensors_find(&file, "c"));

    float out[2];
    wt_error err = {0};
    assert_int_equal(wt__tensor_floats(a, out, &err), 0);
    assert_int_equal(wt__tensor_floats(b, out, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "\"b\" holds no floating-point numbers"));
    wt__safetensors_dispose(&file);
    free(bytes);

    assert_int_equal(open_safetensors(&file, "{}", 0, 0, &bytes, NULL), 0);
    assert_int_equal(file.count, 0);
    wt__safetensors_dispose(&file);
    wt__safetensors_dispose(NULL);
    free(bytes);
}

static void converts_every_float_type(void **state)
{
    static const struct {
        enum dtype dtype;
        unsigned char bytes[8];
        float value;
    } rows[] = {
        {DTYPE_F32, {0, 0, 0x80, 0x3f}, 1.0f},    {DTYPE_F64, {0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, -1.5f},
        {DTYPE_BF16, {0x49, 0x40}, 3.140625f},    {DTYPE_F16, {0x00, 0x3c}, 1.0f},
        {DTYPE_F16, {0x00, 0xc0}, -2.0f},         {DTYPE_F16, {0xff, 0x7b}, 65504.0f},
        {DTYPE_F16, {0x00, 0x04}, 0x1p-14f},      {DTYPE_F16, {0x01, 0x00}, 0x1p-24f},
        {DTYPE_F16, {0xff, 0x83}, -0x1.ff8p-15f}, {DTYPE_F16, {0x00, 0x80}, -0.0f},
        {DTYPE_F16, {0x00, 0x7c}, INFINITY},      {DTYPE_F16, {0x00, 0xfc}, -INFINITY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tensor t = {.name = "t", .dtype = rows[i].dtype, .count = 1, .data = rows[i].bytes};
        float out;

        assert_int_equal(wt__tensor_floats(&t, &out, NULL), 0);
        if (memcmp(&out, &rows[i].value, sizeof(out)) != 0)
            fail_msg("row %zu is %g", i, out);
    }
    struct tensor t = {.name = "t", .dtype = DTYPE_F16, .count = 1, .data = (const unsigned char *)"\x01\x7e"};
    float out;
    assert_int_equal(wt__tensor_floats(&t, &out, NULL), 0);
    assert_true(isnan(out));
}

/* An I8 tensor holds real numbers only if it has a valid scale tensor. */
static void scales_bytes_by_row(void **state)
{
    static const struct {
        const char *name, *header;
        size_t data;
        bool real;
    } cases[] = {
        {"one scale per row", "{" T("w", "I8", "[2,4]", 0, 8) "," T("w.scale", "F32", "[2]", 8, 16) "}", 16, true},
        {"scale first", "{" T("w.scale", "F32", "[2]", 0, 8) "," T("w", "I8", "[2,4]", 8, 16) "}", 16, true},
        {"no scale", "{" T("w", "I8", "[2,4]", 0, 8) "}", 8, false},
        {"one scale for all rows", "{" T("w", "I8", "[2,4]", 0, 8) "," T("w.scale", "F32", "[1]", 8, 12) "}", 12,
         false},
        {"too many scales", "{" T("w", "I8", "[2,4]", 0, 8) "," T("w.scale", "F32", "[3]", 8, 20) "}", 20, false},
        {"two-dimensional scale", "{" T("w", "I8", "[2,4]", 0, 8) "," T("w.scale", "F32", "[2,1]", 8, 16) "}", 16,
         false},
        {"F16 scale", "{" T("w", "I8", "[2,4]", 0, 8) "," T("w.scale", "F16", "[2]", 8, 12) "}", 12, false},
        {"scale of another tensor", "{" T("w", "I8", "[2,4]", 0, 8) "," T("v.scale", "F32", "[2]", 8, 16) "}", 16,
         false},
        {"scalar", "{" T("w", "I8", "[]", 0, 1) "," T("w.scale", "F32", "[1]", 1, 5) "}", 5, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct safetensors file;
        unsigned char *bytes;
        wt_error err = {0};
        float out[8];

        assert_int_equal(open_safetensors(&file, cases[i].header, 0, cases[i].data, &bytes, NULL), 0);
        const struct tensor *w = wt__safetensors_find(&file, "w"), *scale = wt__safetensors_find(&file, "w.scale");
        if (cases[i].real) {
            static const signed char numbers[8] = {-128, -127, -1, 0, 1, 2, 100, 127};
            const float scales[2] = {.5f, -2};
            memcpy((unsigned char *)w->data, numbers, 8);
            memcpy((unsigned char *)scale->data, scales, 8);
            assert_int_equal(wt__tensor_floats(w, out, NULL), 0);
            for (size_t n = 0; n < 8; n++)
                assert_true(out[n] == scales[n / 4] * numbers[n]);
        } else if (wt__tensor_floats(w, out, &err) != WT_EMODEL || !strstr(err.message, "\"w\" holds bytes"))
            fail_msg("%s: \"%s\"", cases[i].name, err.message);
        assert_true(wt__tensor_is_real(w) == cases[i].real);
        assert_true(!scale || wt__tensor_is_real(scale) != cases[i].real);
        wt__safetensors_dispose(&file);
        free(bytes);
    }
    struct safetensors file;
    unsigned char *bytes;
    assert_int_equal(open_safetensors(&file, "{" T("w", "I8", "[0,4]", 0, 0) "," T("w.scale", "F32", "[0]", 0, 0) "}",
                                      0, 0, &bytes, NULL),
                     0);
    float out;
    assert_int_equal(wt__tensor_floats(wt__safetensors_find(&file, "w"), &out, NULL), 0);
    wt__safetensors_dispose(&file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejects_malformed_files), cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(reads_valid_files),       cmocka_unit_test(converts_every_float_type),
        cmocka_unit_test(scales_bytes_by_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
