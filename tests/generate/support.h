/* support.h: generates data sets with a fake model (writer.h), reads their files, and checks the properties that every
 * data set must have, whatever the model answered. */
#ifndef WT_TESTS_GENERATE_SUPPORT_H
#define WT_TESTS_GENERATE_SUPPORT_H

#include "base/file.h"
#include "base/map.h"
#include "engine/set_up.h"
#include "generate/toolselect.h"
#include "generate/writer.h"

/* Reads a file of a folder inside the test's folder; free with free(). NULL if the file does not exist. */
static inline char *read_place_file(const char *folder, const char *name, size_t *len)
{
    char path[256], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s/%s", place.folder, folder, name);
    return wt__file_read(&bytes, len, path, 64 << 20, NULL) < 0 ? NULL : bytes;
}

static inline void assert_same_file(const char *a, const char *b, const char *name)
{
    size_t one, other;
    char *first = read_place_file(a, name, &one), *second = read_place_file(b, name, &other);
    assert_non_null(first);
    assert_non_null(second);
    if (one != other || memcmp(first, second, one) != 0)
        fail_msg("%s differs between %s and %s", name, a, b);
    free(first);
    free(second);
}

static inline json_t *read_json_file(const char *folder, const char *name)
{
    size_t len;
    json_t *value = NULL;
    char *bytes = read_place_file(folder, name, &len);
    assert_non_null(bytes);
    assert_call_ok(&place, wt__json_parse(&value, bytes, len, &place.err));
    free(bytes);
    return value;
}

static inline bool contains_part(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* Checks the length of a text, and that it has no control characters and no layout of training rows. */
static inline void assert_plain_text(struct str text, size_t least, size_t most)
{
    assert_in_range(text.len, least, most);
    for (size_t i = 0; i < text.len; i++)
        assert_true((unsigned char)text.ptr[i] >= ' ' && text.ptr[i] != 0x7f);
    assert_false(contains_part(text, "###") || contains_part(text, "CALLTOOL") || contains_part(text, "\u202e"));
}

/* Checks that every row of samples.jsonl is valid and that no instruction occurs twice. Returns the number of rows. */
static inline size_t assert_sound_samples(const char *folder)
{
    struct choice_samples samples;
    struct map queries = {0};
    size_t len;
    char *bytes = read_place_file(folder, "samples.jsonl", &len);
    assert_non_null(bytes);
    assert_call_ok(&place, wt__samples_parse(&samples, (struct str){bytes, len}, "samples.jsonl", &place.err));
    assert_int_equal(samples.left_out, 0);
    for (size_t i = 0; i < samples.count; i++) {
        const struct choice_sample *sample = &samples.items[i];
        bool added = false;
        assert_plain_text(sample->query, 8, 800);
        assert_plain_text(sample->thought, 40, 4096);
        assert_true(contains_part(sample->thought, sample->choices[sample->right].name.ptr));
        for (size_t c = 0; c < sample->choice_count; c++) {
            assert_plain_text(sample->choices[c].name, 2, 64);
            assert_plain_text(sample->choices[c].description, 12, 320);
            assert_null(strpbrk(sample->choices[c].name.ptr, "\"[]{}<>=\\"));
            for (size_t other = 0; other < c; other++)
                assert_false(wt__str_equal(sample->choices[c].name, sample->choices[other].name));
        }
        assert_non_null(wt__map_insert(&queries, sample->query, 0, &added));
        assert_true(added);
    }
    size_t count = samples.count;
    wt__map_dispose(&queries);
    wt__samples_dispose(&samples);
    free(bytes);
    return count;
}

static inline int64_t sum_json_members(const json_t *object)
{
    int64_t sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) sum += json_integer_value(value);
    return sum;
}

/* Checks the sums of the counts of all stages. */
static inline void assert_counts_add_up(const json_t *report)
{
    int64_t questions = 0;
    const json_t *stages = wt__json_array(report, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *stage = json_array_get(stages, i);
        assert_int_equal(wt__json_int(stage, "offered", -1),
                         wt__json_int(stage, "made", -1) + sum_json_members(wt__json_object(stage, "refused")));
        assert_int_equal(wt__json_int(stage, "missing", -1),
                         wt__json_int(stage, "wanted", -1) - wt__json_int(stage, "made", -1));
        assert_true(wt__json_int(stage, "unusable", -1) <= wt__json_int(stage, "questions", -1));
        questions += wt__json_int(stage, "questions", 0);
    }
    assert_int_equal(wt__json_int(wt__json_object(report, "cost"), "questions", -1), questions);
    assert_int_equal(sum_json_members(wt__json_object(report, "list_sizes")), wt__json_int(report, "rows", -1));
}

/* Generates a data set in a folder inside the test's folder. */
static inline int make_toolselect_set(wt_engine *engine, struct fake_writer *writer, wt_toolselect_options options,
                                      const char *folder, wt_generated **out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    options.out = path;
    return wt__generate_toolselect(engine, &writer->model, &options, out, &place.err);
}

static inline wt_toolselect_options small_toolselect_options(void)
{
    wt_toolselect_options options;
    wt_toolselect_options_init(&options);
    options.tools = 20;
    return options;
}

#endif
