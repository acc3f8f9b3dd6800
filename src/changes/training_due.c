/* training_due.c: decides if the user should be told to train on newly recorded use.
 *
 * STORE-index/training-due holds two numbers: usages at the last training, and usages at the last reminder. If the file
 * is lost, a reminder is repeated. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "changes/recorded_use.h"

#define DUE_FILE "training-due"
enum { DUE_BYTES = 64, WORTH_TRAINING = 10, GROWTH = 2 /* docs/learning.md: train again when use has doubled */ };

struct training_mark {
    uint64_t trained, told; /* numbers of usages */
};

/* Reads the file. Returns false if it is missing or invalid. */
static bool read_training_mark(const char *path, struct training_mark *out)
{
    char *text = NULL;
    size_t len;
    *out = (struct training_mark){0};
    if (wt__file_read(&text, &len, path, DUE_BYTES, NULL) < 0)
        return false;
    bool read = sscanf(text, "%" SCNu64 " %" SCNu64, &out->trained, &out->told) == 2;
    free(text);
    return read;
}

static int write_training_mark(const char *path, const struct training_mark *due, wt_error *err)
{
    char text[DUE_BYTES];
    int len = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 "\n", due->trained, due->told);
    return wt__file_replace(path, text, (size_t)len, err);
}

static int count_recorded_usages(wt_engine *engine, uint64_t *out, wt_error *err)
{
    struct usage_info info = {0};
    struct store *reader;
    int rc = wt__engine_reader(engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_usage_info(reader, &info, err);
    wt__engine_return_reader(engine, reader);
    *out = info.usages;
    return rc;
}

int wt__usage_mark_trained(wt_engine *engine, wt_error *err)
{
    struct arena arena = {0};
    struct training_mark due = {0};
    if (!engine->index_folder[0] || engine->read_only)
        return 0;
    const char *path = wt__path_join(&arena, engine->index_folder, DUE_FILE);
    int rc = path ? count_recorded_usages(engine, &due.trained, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__make_folders(engine->index_folder, err);
    if (rc == 0)
        rc = write_training_mark(path, &due, err);
    wt__arena_dispose(&arena);
    return rc;
}

static int64_t check_training_due(wt_engine *engine, const char *path, wt_error *err)
{
    struct training_mark due;
    uint64_t usages = 0;
    int rc = count_recorded_usages(engine, &usages, err);
    if (rc < 0 || usages < WORTH_TRAINING)
        return rc;
    bool remembered = read_training_mark(path, &due);
    if (!remembered &&
        wt__is_folder(engine->trained_folder)) { /* trained by an earlier version: assume on all usages */
        due.trained = usages;
        write_training_mark(path, &due, NULL);
    }
    uint64_t known = due.trained > due.told ? due.trained : due.told;
    if (usages < GROWTH * known || usages <= due.trained)
        return 0;
    due.told = usages;
    return write_training_mark(path, &due, NULL) < 0 ? 0 : (int64_t)(usages - due.trained);
}

int64_t wt_training_due(wt_engine *engine, wt_error *err)
{
    struct arena arena = {0};
    if (!engine->index_folder[0] || engine->read_only)
        return 0;
    const char *path = wt__path_join(&arena, engine->index_folder, DUE_FILE);
    int64_t due = path ? check_training_due(engine, path, err) : wt__fail_nomem(err);
    wt__arena_dispose(&arena);
    return due;
}
