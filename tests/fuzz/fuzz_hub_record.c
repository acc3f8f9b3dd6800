/* Fuzzes the files beside a model: the record of a pull, and the settings of sentence-transformers. The first byte
 * selects the file, the rest is its content. An accepted record has a valid repository name, and its files are inside
 * the folder. Prompts end in NUL. An error has a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/config.h"
#include "encoder/manifest.h"

static const char *const files[] = {MODEL_RECORD, MODEL_SENTENCE_CONFIG};

static char folder[64];

static void remove_record_folder(void)
{
    remove(folder);
}

static void check_record(void)
{
    struct arena arena = {0};
    struct hub_record record;
    wt_error err = {0};
    int rc = wt__hub_record_read(&arena, folder, &record, &err);

    if (rc < 0 && (err.code != rc || !err.message[0]))
        abort();
    if (rc > 0 && (!wt__hub_is_name(record.repo) || strstr(record.revision, "..") || strstr(record.commit, "..")))
        abort();
    for (size_t i = 0; rc > 0 && i < record.manifest.file_count; i++)
        if (record.manifest.files[i].path[0] == '/' || strstr(record.manifest.files[i].path, ".."))
            abort();
    wt__arena_dispose(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_prompts prompts;
    wt_error err = {0};
    char path[128];

    if (size == 0)
        return 0;
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/whichtool-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(remove_record_folder);
    }
    snprintf(path, sizeof(path), "%s/%s", folder, files[data[0] % 2]);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data + 1, 1, size - 1, file) != size - 1 || fclose(file) != 0)
        abort();
    int rc = wt__model_prompts(&prompts, folder, &err);
    if (rc < 0 && (rc != WT_EMODEL || err.code != rc || !err.message[0]))
        abort();
    for (int role = 0; role < TEXT_ROLES; role++)
        if (!memchr(prompts.of[role], '\0', MODEL_PROMPT))
            abort();
    check_record();
    remove(path);
    return 0;
}
