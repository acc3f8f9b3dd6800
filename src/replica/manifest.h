/* manifest.h: the manifest of a publication: the files that are one complete generation of a store.
 *
 *   DIR/manifest.json           replaced by rename, after all files of the manifest
 *   DIR/base-N-RANDOM.rows      all rows of the store when the changes up to file N were made; never changed
 *   DIR/changes-N-RANDOM.rows   changes, append-only. A newer manifest may list more bytes of the last file
 *   DIR/file-SHA256             a file of the trained models, or the policy
 *
 * A reader loads the base and all changes after it. If a reader has applied a part of a listed file of changes, it
 * reads only the bytes behind this part, and then the later files. A manifest is untrusted: names cannot leave the
 * folder, and sizes and counts have limits. */
#ifndef WT_REPLICA_MANIFEST_H
#define WT_REPLICA_MANIFEST_H

#include "base/arena.h"
#include "base/buffer.h"
#include "store/rows.h"

#define PUBLICATION_MANIFEST "manifest.json"

#define PUBLICATION_BYTES_MAX ((uint64_t)64 << 30) /* maximum bytes of one file of rows */

enum {
    PUBLICATION_FORMAT = 1,
    PUBLICATION_MANIFEST_BYTES_MAX = 1 << 20,
    PUBLICATION_CHANGES_MAX = 1000,         /* maximum files of changes */
    PUBLICATION_MODELS_MAX = 1000,          /* maximum files of trained models */
    PUBLICATION_MODEL_BYTES_MAX = 1 << 30,  /* maximum bytes of one of them; replicas hold it in memory */
    PUBLICATION_POLICY_BYTES_MAX = 1 << 20, /* the same of the policy */
    PUBLICATION_NAME_BYTES_MAX = 100,
    PUBLICATION_PATH_BYTES_MAX = 200, /* maximum path of a file in the folder of trained models */
    PUBLICATION_PATH_DEPTH_MAX = 4,
};

struct published_file {
    const char *name; /* in the folder of the publication */
    const char *path; /* path of a model in the folder of trained models; else NULL */
    uint64_t bytes;   /* bytes of this generation */
    char sha256[65];  /* digest of these bytes */
    uint64_t segment; /* base: number of the last changes in it; of changes: their number; else 0 */
};

/* All texts are in an arena. */
struct publication {
    const char *id;           /* REPLICA_ID_DIGITS digits; another publisher or store has another id */
    const char *whichtool;    /* version of the publisher */
    const char *writer;       /* address of the writer; "" if not given */
    uint64_t generation;      /* generation of the store */
    uint64_t tables;          /* version of the tables of the store */
    int64_t published;        /* time of the publication, in seconds since 1970 */
    const char *encoder;      /* hash of the encoder of the vectors; "" if the publisher has none */
    const char *encoder_name; /* its name, for messages */
    struct published_file base;
    uint64_t base_end;              /* bytes of the changes file base.segment included in the base */
    char base_end_sha256[65];       /* digest of these bytes */
    struct published_file *changes; /* [change_count] with consecutive numbers */
    size_t change_count;
    struct published_file *models; /* [model_count] */
    size_t model_count;
    struct published_file policy; /* policy of the gateway; name is NULL without one */
    const char *const *recipes;   /* [recipe_count] names of the trained parts, for people */
    size_t recipe_count;
};

/* Reads a manifest. Errors: WT_EFORMAT (malformed or over the limits), WT_ENEWER (another format), WT_ENOMEM. */
int wt__publication_read(struct publication *out, struct arena *arena, struct str text, wt_error *err);
/* Appends the manifest. */
void wt__publication_write(struct buffer *out, const struct publication *publication);

/* True if the name can be that of a published file: lower-case letters, digits, '-' and '.', not at the start. */
bool wt__published_name_fits(struct str name);
/* Writes a hash of the paths and contents of the models to out; "" without models. */
void wt__publication_models_hash(const struct publication *publication, char out[65]);

#endif
