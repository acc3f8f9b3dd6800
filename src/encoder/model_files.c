/* model_files.c: copies the files of a model folder, writes its config.json, and reads the files of its tokenizer. The
 * parser of tokenizer files is in text/. */
#include "encoder/model_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "text/tokenizer.h"

static const char *const copied[] = {"modules.json", "sentence_bert_config.json", MODEL_SENTENCE_CONFIG,
                                     "1_Pooling/config.json"};
enum { COPIED = sizeof(copied) / sizeof(copied[0]), MODULES_MOST = 16 };

/* Copies source/name to out/name, if it exists. */
static int copy_model_file(const char *source, const char *out, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *text = NULL;
    char *from = wt__path_join(&arena, source, name), *to = wt__path_join(&arena, out, name);
    char *folder = to ? wt__arena_copy(&arena, wt__str(to)) : NULL;
    size_t len;
    WT_CHECK_ALLOC(from && folder, err);
    if (!wt__is_file(from))
        return 0;
    *strrchr(folder, '/') = '\0';
    WT_TRY(wt__make_folders(folder, err));
    WT_TRY(wt__file_read(&text, &len, from, TOKENIZER_MAX_FILE, err));
    return wt__file_replace(to, text, len, err);
}

/* Parses folder/name; *out is NULL if the file does not exist. */
static int read_optional_json(json_t **out, const char *folder, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *text = NULL;
    char *path = wt__path_join(&arena, folder, name);
    size_t len;
    *out = NULL;
    WT_CHECK_ALLOC(path, err);
    if (!wt__is_file(path))
        return 0;
    WT_TRY(wt__file_read(&text, &len, path, MODEL_MAX_JSON, err));
    return wt__json_parse(out, text, len, err);
}

/* Copies the prompts of MODEL_RECORD, which stay valid when the weights change. The other members say where the source
 * files came from. */
static int copy_model_record(const char *source, const char *out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    char *path = wt__path_join(&arena, out, MODEL_RECORD);
    WT_CLEANUP(json_decrefp) json_t *record = NULL;
    WT_CHECK_ALLOC(path, err);
    WT_TRY(read_optional_json(&record, source, MODEL_RECORD, err));
    json_t *prompts = json_object_get(record, "prompts");
    if (!prompts)
        return 0;
    WT_CLEANUP(json_decrefp) json_t *members = json_pack("{s:O}", "prompts", prompts);
    WT_CHECK_ALLOC(members, err);
    bool failed = wt__json_write(&text, members) < 0;
    wt__buffer_char(&text, '\n');
    return failed || text.failed ? wt__fail_nomem(err) : wt__file_replace(path, text.ptr, text.len, err);
}

int wt__model_copy_tokenizer(const char *source, const char *out, wt_error *err)
{
    WT_TRY(copy_model_file(source, out, "added_tokens.json", err));
    for (size_t i = 0; wt__tokenizer_file_at(i); i++)
        WT_TRY(copy_model_file(source, out, wt__tokenizer_file_at(i), err));
    return 0;
}

int wt__model_copy_modules(const char *source, const char *out, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *modules = NULL;
    for (size_t i = 0; i < COPIED; i++)
        WT_TRY(copy_model_file(source, out, copied[i], err));
    WT_TRY(copy_model_record(source, out, err));
    WT_TRY(read_optional_json(&modules, source, "modules.json", err));
    for (size_t i = 0; i < json_array_size(modules) && i < MODULES_MOST; i++) {
        struct str path = wt__json_str(json_array_get(modules, i), "path");
        char name[256];
        if (path.len == 0 || path.len > 200 || memchr(path.ptr, '.', path.len))
            continue;
        snprintf(name, sizeof(name), "%.*s/config.json", (int)path.len, path.ptr);
        WT_TRY(copy_model_file(source, out, name, err));
    }
    return 0;
}

int wt__model_refuse_replacing(const char *out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *config = wt__path_join(&arena, out, "config.json"), *weights = wt__path_join(&arena, out, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(config && weights, err);
    if (wt__is_file(config) || wt__is_file(weights))
        return wt__fail(err, WT_EINVAL, "there is a model in %s already; name another folder, or remove it first", out);
    if (wt__is_file(out))
        return wt__fail(err, WT_EINVAL, "%s is a file; name a folder for the model", out);
    return 0;
}

int wt__model_config_open(json_t **out, const char *folder, wt_error *err)
{
    int rc = read_optional_json(out, folder, "config.json", err);
    if (rc < 0 || json_is_object(*out))
        return rc;
    json_decref(*out);
    *out = NULL;
    return wt__fail(err, WT_EMODEL, "%s: the model has no config.json", folder);
}

bool wt__model_copy_member(json_t *members, const json_t *config, const char *name)
{
    json_t *member = json_object_get(wt__json_object(config, "whichtool"), name);
    return !member || json_object_get(members, name) || json_object_set(members, name, member) == 0;
}

int wt__model_config_save(json_t *config, const char *out, const char *dtype, const json_t *members, wt_error *err)
{
    static const char *const types[] = {"dtype", "torch_dtype"};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    char *path = wt__path_join(&arena, out, "config.json");
    bool failed = !path;
    for (size_t i = 0; i < 2; i++)
        if (json_object_get(config, types[i]))
            failed |= json_object_set_new(config, types[i], json_string(dtype)) != 0;
    if (members)
        failed |= json_object_set_new(config, "whichtool", json_deep_copy(members)) != 0;
    failed = failed || wt__json_write(&text, config) < 0;
    wt__buffer_char(&text, '\n');
    return failed || text.failed ? wt__fail_nomem(err) : wt__file_replace(path, text.ptr, text.len, err);
}

static const struct {
    const char *name;
    size_t member; /* offset in struct tokenizer_files */
} tokenizer_members[] = {
    {"tokenizer.json", offsetof(struct tokenizer_files, tokenizer_json)},
    {"tokenizer_config.json", offsetof(struct tokenizer_files, tokenizer_config_json)},
    {"special_tokens_map.json", offsetof(struct tokenizer_files, special_tokens_map_json)},
    {"vocab.txt", offsetof(struct tokenizer_files, vocab_txt)},
    {"vocab.json", offsetof(struct tokenizer_files, vocab_json)},
    {"merges.txt", offsetof(struct tokenizer_files, merges_txt)},
    {"spm.model", offsetof(struct tokenizer_files, spm_model)},
};
enum { TOKENIZER_FILES = sizeof(tokenizer_members) / sizeof(tokenizer_members[0]) };

const char *wt__tokenizer_file_at(size_t i)
{
    return i < TOKENIZER_FILES ? tokenizer_members[i].name : NULL;
}

static int read_tokenizer_files(struct tokenizer_files *out, char *texts[TOKENIZER_FILES], struct arena *arena,
                                const char *folder, wt_error *err)
{
    for (size_t i = 0; i < TOKENIZER_FILES; i++) {
        struct str *member = (struct str *)(void *)((char *)out + tokenizer_members[i].member);
        char *path = wt__path_join(arena, folder, tokenizer_members[i].name);
        WT_CHECK_ALLOC(path, err);
        if (!wt__is_file(path))
            continue;
        WT_TRY(wt__file_read(&texts[i], &member->len, path, TOKENIZER_MAX_FILE, err));
        member->ptr = texts[i];
    }
    return 0;
}

int wt__tokenizer_read(struct buffer *blob, const char *folder, wt_error *err)
{
    struct tokenizer_files all = {.tokenizer_json = {0}};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *texts[TOKENIZER_FILES] = {0};
    int rc = read_tokenizer_files(&all, texts, &arena, folder, err);
    if (rc == 0) {
        rc = wt__tokenizer_build(blob, &all, err);
        if (rc < 0 && rc != WT_ENOMEM)
            wt__fail_context(err, rc, "%s", folder);
    }
    if (rc < 0 && rc != WT_ENOMEM) {
        rc = WT_EMODEL;
        if (err)
            err->code = rc;
    }
    for (size_t i = 0; i < TOKENIZER_FILES; i++)
        free(texts[i]);
    return rc;
}

int wt__tokenizer_check_frame(const struct tokenizer *tokenizer, const char *folder, wt_error *err)
{
    if (tokenizer->framed)
        return 0;
    return wt__fail(err, WT_EMODEL,
                    "%s: the tokenizer does not define the begin and end tokens of a text ([CLS] and [SEP])", folder);
}
