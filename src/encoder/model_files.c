#include "encoder/model_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "encoder/model_tokenizer.h"
#include "text/tokenizer.h"

int wt__model_copy_file(const char *source, const char *out, const char *name, wt_error *err)
{
    struct arena arena = {0};
    char *from = wt__path_join(&arena, source, name), *to = wt__path_join(&arena, out, name), *text = NULL;
    char *folder = to ? wt__arena_copy(&arena, wt__str(to)) : NULL;
    size_t len;
    int rc = from && folder ? 0 : wt__fail_nomem(err);

    if (rc == 0 && wt__is_file(from)) {
        *strrchr(folder, '/') = '\0';
        rc = wt__make_folders(folder, err);
        if (rc == 0)
            rc = wt__file_read(&text, &len, from, TOKENIZER_MAX_FILE, err);
        if (rc == 0)
            rc = wt__file_replace(to, text, len, err);
    }
    free(text);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__model_copy_tokenizer(const char *source, const char *out, wt_error *err)
{
    int rc = wt__model_copy_file(source, out, "added_tokens.json", err);

    for (size_t i = 0; rc == 0 && wt__tokenizer_file_at(i); i++)
        rc = wt__model_copy_file(source, out, wt__tokenizer_file_at(i), err);
    return rc;
}
