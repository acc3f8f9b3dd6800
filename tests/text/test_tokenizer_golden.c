/* Ids equal those of the reference library on its own files; skipped, by name, where the reference data is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/support.h"
#include "text/tokenizer.h"

enum { MAX_IDS = 4096 };

/* A tokenizer with what it points into. */
struct opened {
    struct tokenizer tokenizer;
    struct buffer blob;
};

/* Where a tokenizer is built from: a folder of the reference data, and which of its files are taken. */
static struct str optional_file(const char *folder, const char *name)
{
    char relative[256], path[PATH_BYTES];
    if (!name)
        return (struct str){NULL, 0};
    snprintf(relative, sizeof relative, "golden/%s/%s", folder, name);
    return shared_path(path, relative) ? read_whole(path) : (struct str){NULL, 0};
}

enum source { FROM_JSON, FROM_JSON_5, FROM_FILES };

static bool open_folder(struct opened *out, const char *folder, const char *json, const char *vocabulary,
                        const char *merges)
{
    struct tokenizer_files files = {0};
    struct str *target = !vocabulary                            ? &files.vocab_txt
                         : strcmp(vocabulary, "spm.model") == 0 ? &files.spm_model
                         : merges                               ? &files.vocab_json
                                                                : &files.vocab_txt;
    wt_error err = {0};

    memset(out, 0, sizeof *out);
    files.tokenizer_json = optional_file(folder, json);
    *target = optional_file(folder, vocabulary);
    files.merges_txt = optional_file(folder, merges);
    files.tokenizer_config_json = optional_file(folder, "tokenizer_config.json");
    bool there = files.tokenizer_json.len > 0 || target->len > 0;
    int rc = there ? wt__tokenizer_build(&out->blob, &files, &err) : 0;
    if (rc != 0)
        fail_msg("%s: %s", folder, err.message);
    free((void *)files.tokenizer_json.ptr);
    free((void *)target->ptr);
    free((void *)files.merges_txt.ptr);
    free((void *)files.tokenizer_config_json.ptr);
    if (!there)
        return false;
    assert_int_equal(wt__tokenizer_open(&out->tokenizer, out->blob.ptr, out->blob.len, &err), 0);
    return true;
}

static bool ids_equal(const json_t *expected, const int32_t *ids, size_t count)
{
    if (json_array_size(expected) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(expected, i)) != ids[i])
            return false;
    return true;
}

static void show(const char *what, const json_t *expected, const int32_t *ids, size_t count)
{
    char *text = json_dumps(expected, JSON_COMPACT);
    print_error("%s\n  expected %s\n  but      [", what, text);
    for (size_t i = 0; i < count; i++)
        print_error("%s%d", i ? "," : "", (int)ids[i]);
    print_error("]\n");
    free(text);
}

/* Every way to build each tokenizer, and the column of golden.jsonl that it must equal. */
static const struct {
    const char *folder, *json, *vocabulary, *merges, *column;
    size_t rows;
} sources[] = {
    {"tokenizers/wordpiece", "tokenizer.json", NULL, NULL, "ids", 2000},
    {"tokenizers/wordpiece", NULL, "vocab.txt", NULL, "ids", 2000},
    {"tokenizers/unigram", "tokenizer.json", NULL, NULL, "ids", 1500},
    {"tokenizers/unigram", NULL, "spm.model", NULL, "ids", 1500},
    {"tokenizers/unigram", "tokenizer_transformers5.json", NULL, NULL, "ids_transformers5", 1500},
    {"tokenizers/bpe", "tokenizer.json", NULL, NULL, "ids", 500},
    {"tokenizers/bpe", NULL, "vocab.json", "merges.txt", "ids", 500},
};

static void texts_equal_the_reference(void **state)
{
    static int32_t ids[MAX_IDS];
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char relative[256], path[PATH_BYTES];
        struct opened opened;
        size_t rows = 0, equal = 0;

        snprintf(relative, sizeof relative, "golden/%s/golden.jsonl", sources[i].folder);
        if (!shared_path(path, relative) ||
            !open_folder(&opened, sources[i].folder, sources[i].json, sources[i].vocabulary, sources[i].merges))
            skip();
        struct str text = read_whole(path), rest = text, line;
        for (; next_line(&rest, &line); rows++) {
            json_t *row = parse(line);
            size_t count = wt__tokenizer_encode(&opened.tokenizer, text_of(row, "text"), MAX_IDS, ids);
            const json_t *expected = json_object_get(row, sources[i].column);
            if (ids_equal(expected, ids, count))
                equal++;
            else if (rows - equal < 10)
                show(text_of(row, "text").ptr, expected, ids, count);
            json_decref(row);
        }
        print_message("%s, %s: %zu of %zu\n", sources[i].folder,
                      sources[i].json ? sources[i].json : sources[i].vocabulary, equal, rows);
        assert_int_equal(rows, sources[i].rows);
        assert_int_equal(equal, rows);
        free((void *)text.ptr);
        wt__buffer_dispose(&opened.blob);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_equal_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
