/* Tests packed models. A file that is stale, damaged, truncated or not a packed model is replaced. If no folder is
 * writable, the packed model stays in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "encoder/encoder.h"
#include "encoder/internal.h"
#include "encoder/support.h"

static char folder[64], model[80], packed_path[128];

static int set_up_packed(void **state)
{
    (void)state;
    make_model(folder, model);
    snprintf(packed_path, sizeof(packed_path), "%s/%s", model, MODEL_CACHE_NAME);
    return 0;
}

static int tear_down_packed(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

/* Packs the model. Returns false if the packed model was current, so that packing was not needed. */
static bool packs_again(void)
{
    wt_error err = {0};
    bool now;

    if (wt__encoder_pack(model, &now, &err) != 0)
        fail_msg("%s", err.message);
    return now;
}

static void encode_packed_text(float out[SMALL_HIDDEN])
{
    struct encoder_scratch *scratch;
    struct encoder *encoder;
    struct str text = STR("find the table");
    wt_error err = {0};

    if (wt__encoder_open(&encoder, model, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &text, 1, out, NULL), 0);
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
}

static char *packed_bytes(size_t *len)
{
    char *bytes;

    assert_int_equal(wt__file_read(&bytes, len, packed_path, 1 << 24, NULL), 0);
    return bytes;
}

static void current_packed_model_is_reused(void **state)
{
    (void)state;
    assert_false(wt__model_cache_current(model, NULL));
    assert_true(packs_again());
    assert_false(packs_again());
    assert_true(wt__model_cache_current(model, NULL));
}

static void stale_packed_model_is_replaced(void **state)
{
    static const char *const files[] = {"config.json", "vocab.txt", "model.safetensors", "tokenizer_config.json",
                                        "1_Pooling/config.json"};
    float first[SMALL_HIDDEN], second[SMALL_HIDDEN];

    (void)state;
    encode_packed_text(first);
    put_weights(model, "", 2);
    encode_packed_text(second);
    assert_memory_not_equal(first, second, sizeof(first));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (i == 2)
            put_weights(model, "", 3);
        else
            put_text(model, files[i],
                     i == 0   ? small_config
                     : i == 1 ? small_vocabulary
                     : i == 3 ? "{\"do_lower_case\": false}"
                              : "{\"pooling_mode\": \"mean\"}");
        assert_false(wt__model_cache_current(model, NULL));
        assert_true(packs_again());
        assert_false(packs_again());
    }
}

static void damaged_packed_model_is_replaced(void **state)
{
    float sound[SMALL_HIDDEN], after[SMALL_HIDDEN];
    size_t len;

    (void)state;
    encode_packed_text(sound);
    char *bytes = packed_bytes(&len);
    const struct packed_header *header = (const void *)bytes;
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (int round = 0; round < 60; round++) {
        const struct packed_section *section =
            &header->sections[round % PACKED_BYTES]; /* PACKED_BYTES is empty in this model */
        size_t at =
            round < 12 ? wt__rng_below(&rng, sizeof(*header)) : section->offset + wt__rng_below(&rng, section->size);

        bytes[at] ^= (char)(1 << wt__rng_below(&rng, 8));
        put_file(model, MODEL_CACHE_NAME, bytes, len);
        bytes[at] = 0;
        free(bytes);
        assert_true(packs_again());
        encode_packed_text(after);
        assert_memory_equal(sound, after, sizeof(sound));
        bytes = packed_bytes(&len);
        header = (const void *)bytes;
    }
    free(bytes);
}

static void truncated_and_foreign_files_are_replaced(void **state)
{
    float sound[SMALL_HIDDEN], after[SMALL_HIDDEN];
    size_t len;

    (void)state;
    encode_packed_text(sound);
    char *bytes = packed_bytes(&len);
    for (size_t cut = 0; cut < len; cut = cut < 400 ? cut + 37 : cut + 3001) {
        put_file(model, MODEL_CACHE_NAME, bytes, cut);
        assert_false(wt__model_cache_current(model, NULL));
        encode_packed_text(after);
        assert_memory_equal(sound, after, sizeof(sound));
        assert_true(wt__model_cache_current(model, NULL));
    }
    put_text(model, MODEL_CACHE_NAME, "this is something else");
    encode_packed_text(after);
    assert_true(wt__model_cache_current(model, NULL));
    free(bytes);
}

/* Opens a copy of the packed model with `value` at byte `at` of the header. The checksum of the header is computed
 * again, since an attacker can do so too. */
static int open_changed_header(const char *sound, size_t len, size_t at, uint32_t value, wt_error *err)
{
    static struct packed packed;
    char *bytes = aligned_alloc(64, (len + 63) / 64 * 64);
    struct packed_header *header = (void *)bytes;

    memcpy(bytes, sound, len);
    memcpy(bytes + at, &value, sizeof(value));
    header->checksum = wt__checksum(header, offsetof(struct packed_header, checksum), PACKED_VERSION);
    int rc = wt__packed_open(&packed, bytes, len, "p", err);
    free(bytes);
    return rc;
}

static void hostile_header_is_rejected(void **state)
{
    static const struct {
        const char *name, *message;
        size_t at;
        uint32_t value;
    } rows[] = {
        {"magic", "not a packed model", offsetof(struct packed_header, magic), 0},
        {"version", "another version", offsetof(struct packed_header, version), PACKED_VERSION + 1},
        {"byte order", "not a packed model of this machine", offsetof(struct packed_header, endian), 0x04030201},
        {"file size", "table of sections", offsetof(struct packed_header, file_size), 1 << 30},
        {"layers", "must be between", offsetof(struct packed_header, config.layers), 0xffffffff},
        {"more layers", "table of sections", offsetof(struct packed_header, config.layers), SMALL_LAYERS + 1},
        {"larger hidden size", "only DeBERTa", offsetof(struct packed_header, config.hidden), SMALL_HIDDEN * 2},
        {"number of heads", "does not divide", offsetof(struct packed_header, config.heads), 7},
        {"more words", "table of sections", offsetof(struct packed_header, config.vocabulary), 1 << 20},
        {"more positions", "table of sections", offsetof(struct packed_header, config.positions), 8192},
        {"architecture", "unknown architecture", offsetof(struct packed_header, config.architecture), 99},
        {"kind of relative attention", "unknown architecture", offsetof(struct packed_header, config.relative), 2},
        {"span of distances", "only DeBERTa", offsetof(struct packed_header, config.span), 8},
        {"narrow embeddings", "only DeBERTa", offsetof(struct packed_header, config.embedding), 8},
        {"a head", "table of sections", offsetof(struct packed_header, config.labels), 1},
        {"activation", "unknown activation", offsetof(struct packed_header, config.activation), 77},
        {"position of the first token", "leaves no position", offsetof(struct packed_header, config.first_position),
         9000},
        {"more tokens", "must be between", offsetof(struct packed_header, config.max_tokens), SMALL_POSITIONS + 1},
        {"pooling", "unknown pooling", offsetof(struct packed_header, config.pooling), 2},
        {"epsilon", "layer_norm_eps", offsetof(struct packed_header, config.epsilon), 0x7fc00000},
        {"tokenizer's size", "table of sections", offsetof(struct packed_header, sections[0].size), 0x7fffffff},
        {"offset of a section", "table of sections", offsetof(struct packed_header, sections[2].offset), 64},
        {"size of a section", "table of sections", offsetof(struct packed_header, sections[3].size), 64},
        {"int8 layers in a model without them", "table of sections", offsetof(struct packed_header, bytes), 1},
        {"flag of int8 layers that is not 0 or 1", "settings of the model are damaged",
         offsetof(struct packed_header, bytes), 2},
        {"checksum of a section", "section 2 is damaged", offsetof(struct packed_header, sections[2].checksum), 64},
    };
    size_t len;

    (void)state;
    assert_true(packs_again());
    char *bytes = packed_bytes(&len);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        wt_error err = {0};
        int rc = open_changed_header(bytes, len, rows[i].at, rows[i].value, &err);

        if (rc != WT_EMODEL || !strstr(err.message, rows[i].message))
            fail_msg("%s: %d \"%s\"", rows[i].name, rc, err.message);
    }
    free(bytes);
}

/* Tests may run as root, which can write to every folder. Therefore a folder at the path of the file prevents
 * writing. */
static void read_only_model_uses_cache_folder_or_memory(void **state)
{
    float first[SMALL_HIDDEN], second[SMALL_HIDDEN];
    char cache[128];
    wt_error err;
    bool now;

    (void)state;
    encode_packed_text(first);
    assert_int_equal(unlink(packed_path), 0);
    put_text(packed_path, "in-the-way", "");
    assert_true(packs_again());
    assert_false(packs_again());
    snprintf(cache, sizeof(cache), "%s/whichtool/models", folder);
    assert_true(wt__is_folder(cache));
    encode_packed_text(second);
    assert_memory_equal(first, second, sizeof(first));

    remove_model_folder(cache);
    put_text(folder, "whichtool/models", "a file where a folder should be");
    assert_int_equal(wt__encoder_pack(model, &now, &err), WT_EIO);
    assert_non_null(strstr(err.message, "cannot be written: cannot create folder"));
    encode_packed_text(second);
    assert_memory_equal(first, second, sizeof(first));
    assert_false(wt__model_cache_current(model, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(current_packed_model_is_reused, set_up_packed, tear_down_packed),
        cmocka_unit_test_setup_teardown(stale_packed_model_is_replaced, set_up_packed, tear_down_packed),
        cmocka_unit_test_setup_teardown(damaged_packed_model_is_replaced, set_up_packed, tear_down_packed),
        cmocka_unit_test_setup_teardown(truncated_and_foreign_files_are_replaced, set_up_packed, tear_down_packed),
        cmocka_unit_test_setup_teardown(hostile_header_is_rejected, set_up_packed, tear_down_packed),
        cmocka_unit_test_setup_teardown(read_only_model_uses_cache_folder_or_memory, set_up_packed, tear_down_packed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
