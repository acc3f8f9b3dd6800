/* model_tokenizer.c: reads the files and leaves parsing to text/. */
#include "encoder/model_tokenizer.h"

#include <stdlib.h>

#include "base/file.h"

static const struct {
    const char *name;
    size_t member; /* offset in struct tokenizer_files */
} files[] = {
    {"tokenizer.json", offsetof(struct tokenizer_files, tokenizer_json)},
    {"tokenizer_config.json", offsetof(struct tokenizer_files, tokenizer_config_json)},
    {"special_tokens_map.json", offsetof(struct tokenizer_files, special_tokens_map_json)},
    {"vocab.txt", offsetof(struct tokenizer_files, vocab_txt)},
    {"vocab.json", offsetof(struct tokenizer_files, vocab_json)},
    {"merges.txt", offsetof(struct tokenizer_files, merges_txt)},
    {"spm.model", offsetof(struct tokenizer_files, spm_model)},
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

const char *wt__tokenizer_file_at(size_t i)
{
    return i < FILES ? files[i].name : NULL;
}

static int read_tokenizer_files(struct tokenizer_files *out, char *texts[FILES], struct arena *arena,
                                const char *folder, wt_error *err)
{
    for (size_t i = 0; i < FILES; i++) {
        struct str *member = (struct str *)(void *)((char *)out + files[i].member);
        char *path = wt__path_join(arena, folder, files[i].name);

        if (!path)
            return wt__fail_nomem(err);
        if (!wt__is_file(path))
            continue;
        int rc = wt__file_read(&texts[i], &member->len, path, TOKENIZER_MAX_FILE, err);
        if (rc < 0)
            return rc;
        member->ptr = texts[i];
    }
    return 0;
}

int wt__tokenizer_read(struct buffer *blob, const char *folder, wt_error *err)
{
    struct tokenizer_files all = {.tokenizer_json = {0}};
    struct arena arena = {0};
    char *texts[FILES] = {0};
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
    for (size_t i = 0; i < FILES; i++)
        free(texts[i]);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__tokenizer_check_frame(const struct tokenizer *tokenizer, const char *folder, wt_error *err)
{
    if (tokenizer->framed)
        return 0;
    return wt__fail(err, WT_EMODEL,
                    "%s: the tokenizer does not define the begin and end tokens of a text ([CLS] and [SEP])", folder);
}
