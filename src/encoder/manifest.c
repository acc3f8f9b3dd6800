/* manifest.c: reads manifests and records (manifest.h). Strings that become part of a path, a URL or a command argument
 * are rejected if they contain unexpected characters.
 *
 * A record is a manifest whose first source is the hub. A MODEL_RECORD file with only prompts is valid but is not a
 * record; config.c reads the prompts. */
#include "encoder/manifest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "encoder/config.h"

/* Returns the path of `below` in the folder of the running program, or NULL if the folder is unknown. */
static char *find_beside_program(struct arena *arena, const char *below)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0 || (size_t)len >= sizeof program - 1)
        return NULL;
    program[len] = '\0';
    *strrchr(program, '/') = '\0';
    return wt__path_join(arena, program, below);
}

static const char models_place[] = WT_DATADIR "/models";

/* Returns the path of `below` in the folder of the library that has this code, or NULL if the folder is unknown. Python
 * loads the library, and then the running program is Python. */
static char *find_beside_library(struct arena *arena, const char *below)
{
    Dl_info found;
    const char *end;
    if (!dladdr(models_place, &found) || !(end = strrchr(found.dli_fname, '/')))
        return NULL;
    return wt__path_join(arena, wt__arena_copy(arena, (struct str){found.dli_fname, (size_t)(end - found.dli_fname)}),
                         below);
}

const char *wt__program_models(struct arena *arena)
{
    const char *named = getenv("WHICHTOOL_MANIFESTS");
    if (named && named[0])
        return named;
    const char *places[] = {find_beside_program(arena, "../share/whichtool/models"),
                            find_beside_program(arena, "../models"), find_beside_library(arena, "../models"),
                            models_place};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && wt__is_folder(places[i]))
            return places[i];
    return NULL;
}

bool wt__program_has(const char *folder)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const char *models = wt__program_models(&arena);
    size_t len = models ? strlen(models) : 0;
    while (len > 1 && models[len - 1] == '/')
        len--;
    return len > 0 && strncmp(folder, models, len) == 0 && folder[len] == '/';
}

struct parser {
    struct arena *arena;
    const char *path;
    wt_error *err;
};

static int fail_manifest(const struct parser *parser, const char *what)
{
    return wt__fail(parser->err, WT_EFORMAT, "%s: %s", parser->path, what);
}

bool wt__is_plain(struct str s, const char *extra)
{
    if (s.len == 0 || s.len > WT_MAX_NAME_BYTES || s.ptr[0] == '-' || s.ptr[0] == '.' || s.ptr[0] == '/')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && !strchr("._-", c) && !strchr(extra, c))
            return false;
        if (c == '.' && i + 1 < s.len && s.ptr[i + 1] == '.')
            return false;
    }
    return true;
}

static bool is_sha256(struct str s)
{
    size_t digits = 0;
    while (digits < s.len && strchr("0123456789abcdef", s.ptr[digits]))
        digits++;
    return s.len == 64 && digits == 64;
}

static int parse_file(const struct parser *parser, const json_t *item, struct manifest_file *out)
{
    struct str path = wt__json_str(item, "path"), sha256 = wt__json_str(item, "sha256");
    int64_t bytes = wt__json_int(item, "bytes", 0);
    if (!wt__is_plain(path, "/"))
        return fail_manifest(parser, "a file's path is missing or not plain");
    if (!is_sha256(sha256))
        return fail_manifest(parser, "a file's sha256 is not 64 hexadecimal digits");
    if (bytes <= 0 || (uint64_t)bytes > MANIFEST_MAX_FILE_BYTES)
        return fail_manifest(parser, "a file's number of bytes is missing or over the limit");
    *out = (struct manifest_file){wt__arena_copy(parser->arena, path), wt__arena_copy(parser->arena, sha256),
                                  (uint64_t)bytes};
    return out->path && out->sha256 ? 0 : wt__fail_nomem(parser->err);
}

static int parse_source(const struct parser *parser, const json_t *item, struct manifest_source *out)
{
    struct str type = wt__json_str(item, "type");
    *out = (struct manifest_source){0};
    if (wt__str_equal(type, STR("pypi"))) {
        struct str package = wt__json_str(item, "package"), version = wt__json_str(item, "version");
        struct str prefix = wt__json_str(item, "prefix"), sha256 = wt__json_str(item, "wheel_sha256");
        if (!wt__is_plain(package, "") || !wt__is_plain(version, "+!"))
            return fail_manifest(parser, "a source's package or version is missing or not plain");
        if (prefix.len && (!wt__is_plain(prefix, "/") || prefix.ptr[prefix.len - 1] != '/'))
            return fail_manifest(parser, "a source's prefix is not a plain folder with a '/' at its end");
        if (sha256.len && !is_sha256(sha256))
            return fail_manifest(parser, "a source's wheel_sha256 is not 64 hexadecimal digits");
        out->type = SOURCE_PYPI;
        out->package = wt__arena_copy(parser->arena, package);
        out->version = wt__arena_copy(parser->arena, version);
        out->prefix = wt__arena_copy(parser->arena, prefix);
        out->wheel_sha256 = wt__arena_copy(parser->arena, sha256);
        return out->package && out->version && out->prefix && out->wheel_sha256 ? 0 : wt__fail_nomem(parser->err);
    }
    if (wt__str_equal(type, STR("hub"))) {
        struct str repo = wt__json_str(item, "repo"), revision = wt__json_str(item, "revision");
        if (!wt__is_plain(repo, "/") || !wt__is_plain(revision, "/"))
            return fail_manifest(parser, "a source's repo or revision is missing or not plain");
        out->type = SOURCE_HUB;
        out->repo = wt__arena_copy(parser->arena, repo);
        out->revision = wt__arena_copy(parser->arena, revision);
        return out->repo && out->revision ? 0 : wt__fail_nomem(parser->err);
    }
    return fail_manifest(parser, "a source's type is neither \"pypi\" nor \"hub\"");
}

static int parse_root(const struct parser *parser, const json_t *root, struct manifest *out)
{
    const json_t *files = wt__json_array(root, "files"), *sources = wt__json_array(root, "sources");
    size_t file_count = json_array_size(files), source_count = json_array_size(sources);
    int64_t dimension = wt__json_int(root, "dimension", 0);
    if (!wt__is_plain(wt__json_str(root, "name"), ""))
        return fail_manifest(parser, "name is missing or not plain");
    if (file_count == 0 || file_count > MANIFEST_MAX_FILES || source_count > MANIFEST_MAX_SOURCES)
        return fail_manifest(parser, "there are no files, or too many files or sources");
    struct manifest_file *file_items = wt__arena_array(parser->arena, struct manifest_file, file_count);
    struct manifest_source *source_items = wt__arena_array(parser->arena, struct manifest_source, source_count);
    *out = (struct manifest){wt__arena_copy(parser->arena, wt__json_str(root, "name")),
                             wt__arena_copy(parser->arena, wt__json_str(root, "license")),
                             wt__arena_copy(parser->arena, wt__json_str(root, "architecture")),
                             dimension > 0 ? (size_t)dimension : 0,
                             0,
                             file_items,
                             file_count,
                             source_items,
                             source_count};
    WT_CHECK_ALLOC(out->name && out->license && out->architecture && file_items && source_items, parser->err);
    for (size_t i = 0; i < file_count; i++) {
        WT_TRY(parse_file(parser, json_array_get(files, i), &file_items[i]));
        out->bytes += file_items[i].bytes;
    }
    for (size_t i = 0; i < source_count; i++)
        WT_TRY(parse_source(parser, json_array_get(sources, i), &source_items[i]));
    return 0;
}

int wt__manifest_parse(struct arena *arena, const char *text, size_t len, const char *path, struct manifest *out,
                       wt_error *err)
{
    struct parser parser = {arena, path, err};
    WT_CLEANUP(json_decrefp) json_t *root = NULL;
    *out = (struct manifest){0};
    int rc = wt__json_parse(&root, text, len, err);
    return rc < 0 ? wt__fail_context(err, rc, "%s", path) : parse_root(&parser, root, out);
}

static int read_manifest(struct arena *arena, const char *path, struct manifest *out, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    WT_TRY(wt__file_read(&text, &len, path, MANIFEST_MAX_BYTES, err));
    WT_TRY(wt__manifest_parse(arena, text, len, path, out, err));
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t stem = strlen(out->name);
    if (strncmp(file, out->name, stem) != 0 || strcmp(file + stem, ".json") != 0)
        return wt__fail(err, WT_EFORMAT, "%s: its name is \"%s\", not that of its file", path, out->name);
    return 0;
}

int wt__manifest_list(struct arena *arena, struct manifest **out, size_t *count, wt_error *err)
{
    const char *folder = wt__program_models(arena);
    char **paths = NULL;
    size_t path_count = 0;
    *out = NULL;
    *count = 0;
    if (folder)
        WT_TRY(wt__list_own_files(arena, folder, MANIFEST_MAX_COUNT, &paths, &path_count, err));
    *out = wt__arena_array(arena, struct manifest, path_count);
    WT_CHECK_ALLOC(*out, err);
    for (size_t i = 0; i < path_count; i++) {
        size_t len = strlen(paths[i]);
        if (len > 5 && strcmp(paths[i] + len - 5, ".json") == 0)
            WT_TRY(read_manifest(arena, paths[i], &(*out)[(*count)++], err));
    }
    return 0;
}

static int fail_unknown_manifest(const char *name, const struct manifest *known, size_t count, wt_error *err)
{
    char names[512] = "none";
    size_t len = 0;
    for (size_t i = 0; i < count && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", known[i].name);
    return wt__fail(err, WT_ENOTFOUND, "unknown model \"%s\"; known models: %s", name, names);
}

int wt__manifest_load(struct arena *arena, const char *name, struct manifest *out, wt_error *err)
{
    struct manifest *all;
    size_t count;
    WT_TRY(wt__manifest_list(arena, &all, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].name, name) != 0)
            continue;
        *out = all[i];
        return 0;
    }
    return fail_unknown_manifest(name, all, count, err);
}

bool wt__manifest_has_files(const struct manifest *manifest, const char *folder)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    for (size_t i = 0; i < manifest->file_count; i++) {
        const char *path = wt__path_join(&arena, folder, manifest->files[i].path);
        if (!path || !wt__is_file(path) || wt__file_size(path) != manifest->files[i].bytes)
            return false;
    }
    return true;
}

bool wt__hub_is_name(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash && wt__is_plain((struct str){text, (size_t)(slash - text)}, "") &&
           wt__is_plain(wt__str(slash + 1), "");
}

static int read_hub_members(struct arena *arena, const char *path, struct hub_record *out, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *root = NULL;
    int rc = wt__json_parse(&root, out->text, strlen(out->text), err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    if (!wt__json_array(root, "files"))
        return 0;
    struct str revision = wt__json_str(root, "revision");
    WT_TRY(wt__manifest_parse(arena, out->text, strlen(out->text), path, &out->manifest, err));
    if (out->manifest.source_count == 0 || out->manifest.sources[0].type != SOURCE_HUB ||
        !wt__hub_is_name(out->manifest.sources[0].repo) || !wt__is_plain(revision, "/"))
        return wt__fail(err, WT_EFORMAT, "%s: has no valid name and commit of the model on the hub", path);
    out->repo = out->manifest.sources[0].repo;
    out->commit = out->manifest.sources[0].revision;
    out->revision = wt__arena_copy(arena, revision);
    WT_CHECK_ALLOC(out->revision, err);
    return 1;
}

int wt__hub_record_read(struct arena *arena, const char *folder, struct hub_record *out, wt_error *err)
{
    char *path = wt__path_join(arena, folder, MODEL_RECORD);
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    *out = (struct hub_record){0};
    WT_CHECK_ALLOC(path, err);
    if (!wt__is_file(path))
        return 0;
    WT_TRY(wt__file_read(&text, &len, path, MANIFEST_MAX_BYTES, err));
    out->text = wt__arena_copy(arena, (struct str){text, len});
    WT_CHECK_ALLOC(out->text, err);
    return read_hub_members(arena, path, out, err);
}
