/* pull_inside.h: functions shared by pulls by manifest (pull.c) and by name on the hub (hub.c). */
#ifndef WT_ENCODER_PULL_INSIDE_H
#define WT_ENCODER_PULL_INSIDE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "encoder/manifest.h"

/* A pull in progress. err is not NULL. */
struct pull {
    struct arena arena;
    struct manifest manifest;
    const char *models;                   /* parent folder of the model */
    const char *target, *staging, *files; /* set by wt__pull_set_paths */
    const char *record;                   /* content of MODEL_RECORD for the model folder, NULL for none */
    struct progress *progress;
    wt_error *err;
};

/* Joins "a/b" in the arena. Returns NULL if a is NULL or out of memory. */
char *wt__pull_join(struct pull *pull, const char *a, const char *b);
int wt__pull_make_parent(struct pull *pull, const char *path);
int wt__pull_hash(struct pull *pull, const char *path, char hex[65]);
int wt__pull_sync(struct pull *pull, const char *path);
void wt__pull_remove_tree(const char *path);

/* Sets the folder of the model manifest.name and its staging folders. */
int wt__pull_set_paths(struct pull *pull);
int wt__pull_lock(struct pull *pull, int *lock);
/* Installs the collected files as the model. Returns 1. */
int wt__pull_install(struct pull *pull);
/* Returns 0 if all files are present and correct, or 1 after fetching the others. */
int wt__pull_by_manifest(struct pull *pull);

/* Return $HF_ENDPOINT or the hub's address, $HF_TOKEN or NULL, and $HF_HUB_OFFLINE. */
const char *wt__hub_endpoint(void);
const char *wt__hub_token(void);
bool wt__hub_is_offline(void);
/* Appends the URL of a file at a revision. */
void wt__hub_url(struct buffer *out, const char *repo, const char *revision, const char *file);

#endif
