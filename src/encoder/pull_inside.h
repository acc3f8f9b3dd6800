/* pull_inside.h: what fetching by a manifest (pull.c) and by a name of the hub (hub.c) share. */
#ifndef WT_ENCODER_PULL_INSIDE_H
#define WT_ENCODER_PULL_INSIDE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "encoder/manifest.h"

/* One pull. err is not NULL. */
struct pull {
    struct arena arena;
    struct manifest manifest;
    const char *models;                   /* the folder that the model's lies in */
    const char *target, *staging, *files; /* wt__pull_places */
    const char
        *record; /* written as MODEL_RECORD beside the files: hashes of an earlier pull, or of this; NULL: none */
    struct progress *progress;
    wt_error *err;
};

/* "a/b" in the arena; with a NULL a, or no memory, NULL. */
char *wt__pull_join(struct pull *pull, const char *a, const char *b);
int wt__pull_make_parent(struct pull *pull, const char *path);
int wt__pull_hash(struct pull *pull, const char *path, char hex[65]);
int wt__pull_sync(struct pull *pull, const char *path);
void wt__pull_remove_tree(const char *path);

/* Where the model of manifest.name is, and is gathered. */
int wt__pull_places(struct pull *pull);
int wt__pull_lock(struct pull *pull, int *lock);
/* What is gathered becomes the model. Returns 1. */
int wt__pull_put_in_place(struct pull *pull);
/* 0: all files are there and right; 1: those that were not are. */
int wt__pull_by_manifest(struct pull *pull);

/* $HF_ENDPOINT or the hub itself; $HF_TOKEN or NULL; $HF_HUB_OFFLINE. */
const char *wt__hub_endpoint(void);
const char *wt__hub_token(void);
bool wt__hub_is_offline(void);
/* Of a file of a revision. */
void wt__hub_url(struct buffer *out, const char *repo, const char *revision, const char *file);

#endif
