/* hub.c: pulls a model from the hub (pull.h). The first pull uses the staging folder of pull.c:
 *
 *   MODELS/ORG/.NAME.partial/files/   complete files
 *   MODELS/ORG/.NAME.partial/hub/     partial downloads
 *   MODELS/ORG/.NAME.partial/commit   commit of these files
 *
 * config.json is fetched first. Its response names the commit, and all other files are fetched at this commit. An
 * unsupported model is rejected before its weights are fetched. */
#include "encoder/pull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/manifest.h"
#include "encoder/model_dir.h"
#include "net/http_client.h"
#include "text/tokenizer.h"

enum { COMMIT_DIGITS = 40, SHA256_DIGITS = 64 };

/* Optional files of a model, in addition to config.json and the files of its tokenizer, modules and weights. */
static const char *const settings[] = {"modules.json", "sentence_bert_config.json", MODEL_SENTENCE_CONFIG};

/* Documented prompts for requests and tools of model families whose files do not have them (docs/encoders.md, "Other
 * models"). A model belongs to a family if its name starts with `owner`, contains `with`, and does not contain
 * `without`. */
static const struct {
    const char *owner, *with, *without, *request, *tool;
} families[] = {{"intfloat/", "e5-", "instruct", "query: ", "passage: "}};

/* Indices of the response headers that download_file asks for. */
enum { TOLD_COMMIT, TOLD_HASH, TOLD_WHY };

struct first_pull {
    struct pull pull;
    char repo[2 * WT_MAX_NAME_BYTES + 2]; /* ORG/NAME */
    char revision[HUB_REVISION_BYTES];    /* requested revision */
    char at[HUB_REVISION_BYTES];          /* revision to fetch: the commit, if the server named it */
    bool commit_known;
    bool has_revision;
    struct http_response_info told; /* headers of the last response */
};

static int parse_name(struct first_pull *first, const char *name, wt_error *err)
{
    const char *at = strchr(name, '@');
    size_t len = at ? (size_t)(at - name) : strlen(name);
    struct str revision = wt__str(at ? at + 1 : HUB_REVISION);
    if (len < sizeof first->repo) {
        memcpy(first->repo, name, len);
        first->repo[len] = '\0';
    }
    if (len >= sizeof first->repo || !wt__hub_is_name(first->repo))
        return wt__fail(err, WT_EINVAL, "\"%.100s\" is not a model name on the hub; use ORG/NAME or ORG/NAME@REVISION",
                        name);
    if (revision.len >= sizeof first->revision || !wt__is_plain(revision, "/"))
        return wt__fail(err, WT_EINVAL, "\"%.100s\" is not a revision; use a branch, a tag or a commit of the model",
                        revision.ptr);
    memcpy(first->revision, revision.ptr, revision.len + 1);
    memcpy(first->at, revision.ptr, revision.len + 1);
    first->has_revision = at != NULL;
    return 0;
}

static bool is_hexadecimal(const char *text, size_t digits)
{
    return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

/* ---------------------------------------------------------------- one file */

/* Explains why config.json could not be fetched, and what the user can do. rc: error code of the download. Keeps the
 * error message of the download if there is nothing to add. Returns an error code. */
static int explain_refusal(struct first_pull *first, int rc)
{
    const char *repo = first->repo, *why = first->told.values[TOLD_WHY], *hub = wt__hub_endpoint();
    int status = first->told.status;
    wt_error *err = first->pull.err;
    if (status == 401 || status == 403) {
        if (strcmp(why, "GatedRepo") == 0)
            return wt__fail(err, WT_EMODEL,
                            "%s is gated: accept its terms at %s/%s, and set HF_TOKEN to a token of that account", repo,
                            hub, repo);
        if (wt__hub_token())
            return wt__fail(err, WT_EMODEL,
                            "the hub denies %s to the holder of HF_TOKEN (%d): check the name and the token; "
                            "if the model is gated, accept its terms at %s/%s",
                            repo, status, hub, repo);
        return wt__fail(err, WT_ENOTFOUND,
                        "there is no public model %s at %s (%d): check the name; if it is gated or "
                        "private, accept its terms there and set HF_TOKEN",
                        repo, hub, status);
    }
    if (rc != WT_ENOTFOUND)
        return rc;
    if (strcmp(why, "RevisionNotFound") == 0)
        return wt__fail(err, rc, "%s has no revision \"%s\"", repo, first->revision);
    if (strcmp(why, "EntryNotFound") == 0)
        return wt__fail(err, WT_EMODEL, "%s has no config.json at the revision %s: it is not a transformers model",
                        repo, first->revision);
    return wt__fail(err, rc, "%s has no model %s, or the model has no revision \"%s\" with a config.json", hub, repo,
                    first->revision);
}

/* Compares a file with the SHA-256 in the response headers, which the hub sends for large files. Sets *right to true if
 * they match, or if the response had no SHA-256. */
static int check_hash(struct first_pull *first, const char *path, bool *right)
{
    char *told = first->told.values[TOLD_HASH], hex[SHA256_DIGITS + 1];
    size_t len = strlen(told);
    *right = true;
    if (len >= 2 && told[0] == '"' && told[len - 1] == '"') {
        told[len - 1] = '\0';
        told++;
    }
    if (!is_hexadecimal(told, SHA256_DIGITS))
        return 0;
    int rc = wt__pull_hash(&first->pull, path, hex);
    *right = rc == 0 && strcmp(told, hex) == 0;
    return rc;
}

static int download_file(struct first_pull *first, const char *file, const char *part, uint64_t most)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer url = {0};
    bool weights = strcmp(file, MODEL_WEIGHTS_FILE) == 0;
    first->told = (struct http_response_info){.names = {"x-repo-commit", "x-linked-etag", "x-error-code"}};
    wt__hub_url(&url, first->repo, first->at, file);
    struct http_download download = {.url = url.ptr,
                                     .path = part,
                                     .max_bytes = most,
                                     .progress = first->pull.progress,
                                     .token = wt__hub_token(),
                                     .phase = weights ? "fetching the weights" : NULL,
                                     .info = &first->told};
    return url.failed ? wt__fail_nomem(first->pull.err) : wt__http_download(&download, first->pull.err);
}

/* Downloads a file to `part`. Retries once from the start if a continued download has a wrong hash. */
static int download_correct_file(struct first_pull *first, const char *file, const char *part, uint64_t most)
{
    for (int i = 0; i < 2; i++) {
        bool continued = wt__file_size(part) > 0, right = false;
        WT_TRY(download_file(first, file, part, most));
        WT_TRY(check_hash(first, part, &right));
        if (right)
            return 0;
        unlink(part);
        if (!continued)
            break;
    }
    return wt__fail(first->pull.err, WT_EMODEL, "%s of %s does not have the SHA-256 that the hub announces", file,
                    first->repo);
}

/* Fetches a file into files/, unless an interrupted pull left it there. */
static int fetch_file(struct first_pull *first, const char *file, uint64_t most)
{
    struct pull *pull = &first->pull;
    const char *part = wt__pull_join(pull, wt__pull_join(pull, pull->staging, "hub"), file);
    const char *whole = wt__pull_join(pull, pull->files, file);
    WT_CHECK_ALLOC(part && whole, pull->err);
    if (wt__is_file(whole))
        return 0;
    WT_TRY(wt__pull_make_parent(pull, part));
    WT_TRY(wt__pull_make_parent(pull, whole));
    if (!first->commit_known)
        unlink(part); /* the partial download may belong to another commit */
    int rc = download_correct_file(first, file, part, most);
    if (rc == WT_ENOTFOUND)
        unlink(part);
    WT_TRY(rc);
    WT_TRY(wt__pull_sync(pull, part));
    return rename(part, whole) < 0 ? wt__fail_errno(pull->err, "write", whole) : 0;
}

/* Fetches an optional file. *there is true if the model has it. */
static int fetch_optional_file(struct first_pull *first, const char *file, bool *there)
{
    int rc = fetch_file(first, file, HUB_MAX_TEXT_BYTES);
    if (there)
        *there = rc == 0;
    return rc == WT_ENOTFOUND ? 0 : rc;
}

/* ---------------------------------------------------------------- all files */

/* Keeps the files of an interrupted pull if they belong to the commit of this pull. Otherwise deletes all except
 * config.json, which is new, and writes the file `commit`. */
static int keep_files_of_commit(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    const char *note = wt__pull_join(pull, pull->staging, "commit");
    char *text = NULL;
    size_t len;
    WT_CHECK_ALLOC(note, pull->err);
    bool same = wt__file_read(&text, &len, note, HUB_REVISION_BYTES, NULL) == 0 && first->commit_known &&
                strcmp(text, first->at) == 0;
    free(text);
    if (same)
        return 0;
    const char *kept = wt__pull_join(pull, pull->staging, "config.json"), *files = pull->files;
    const char *config = wt__pull_join(pull, files, "config.json"), *hub = wt__pull_join(pull, pull->staging, "hub");
    WT_CHECK_ALLOC(kept && config && hub, pull->err);
    if (rename(config, kept) < 0)
        return wt__fail_errno(pull->err, "write", kept);
    wt__pull_remove_tree(files);
    wt__pull_remove_tree(hub);
    int rc = wt__make_folders(files, pull->err);
    if (rc == 0 && rename(kept, config) < 0)
        rc = wt__fail_errno(pull->err, "write", config);
    return rc < 0 ? rc : wt__file_replace(note, first->at, strlen(first->at), pull->err);
}

static int fetch_config(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    const char *config = wt__pull_join(pull, pull->files, "config.json");
    WT_CHECK_ALLOC(config, pull->err);
    unlink(config); /* an interrupted pull left it; its commit may have changed */
    int rc = fetch_file(first, "config.json", HUB_MAX_TEXT_BYTES);
    if (rc < 0)
        return explain_refusal(first, rc);
    first->commit_known = is_hexadecimal(first->told.values[TOLD_COMMIT], COMMIT_DIGITS);
    if (first->commit_known)
        memcpy(first->at, first->told.values[TOLD_COMMIT], COMMIT_DIGITS + 1);
    return keep_files_of_commit(first);
}

/* Fetches the configuration of each module that modules.json names by a plain path, such as the pooling. Other paths
 * are rejected when the configuration is read. */
static int fetch_modules(struct first_pull *first)
{
    enum { MODULES_MOST = 16 };
    WT_CLEANUP(json_decrefp) json_t *modules = NULL;
    bool named = false;
    WT_TRY(wt__model_json(&modules, first->pull.files, "modules.json", false, first->pull.err));
    for (size_t i = 0; i < json_array_size(modules) && i < MODULES_MOST; i++) {
        struct str path = wt__json_str(json_array_get(modules, i), "path");
        char file[WT_MAX_NAME_BYTES + 16];
        if (!wt__is_plain(path, "") || memchr(path.ptr, '.', path.len))
            continue;
        snprintf(file, sizeof file, "%.*s/config.json", (int)path.len, path.ptr);
        WT_TRY(fetch_optional_file(first, file, NULL));
        named = true;
    }
    return named ? 0 : fetch_optional_file(first, "1_Pooling/config.json", NULL);
}

/* Fetches tokenizer.json and the settings of the tokenizer. Fetches vocabularies in the formats of older models only if
 * tokenizer.json is missing. */
static int fetch_tokenizer(struct first_pull *first)
{
    bool whole = false;
    for (size_t i = 0; wt__tokenizer_file_at(i); i++) {
        const char *file = wt__tokenizer_file_at(i);
        bool json = strcmp(file + strlen(file) - strlen(".json"), ".json") == 0;
        if (whole && (!json || strcmp(file, "vocab.json") == 0))
            continue;
        WT_TRY(fetch_optional_file(first, file, strcmp(file, "tokenizer.json") == 0 ? &whole : NULL));
    }
    return 0;
}

/* Reports an unusable model, with the model's name instead of the folder in the message. Leaves errors other than
 * WT_EMODEL and WT_EFORMAT unchanged. */
static int fail_unusable_model(struct first_pull *first, int rc)
{
    wt_error *err = first->pull.err;
    char reason[sizeof err->message];
    size_t len = strlen(first->pull.files);
    if (rc != WT_EMODEL && rc != WT_EFORMAT)
        return rc;
    const char *text = strncmp(err->message, first->pull.files, len) == 0 ? err->message + len : err->message;
    snprintf(reason, sizeof reason, "%s", text + strspn(text, "/: "));
    return wt__fail(err, WT_EMODEL, "cannot run %s: %.900s", first->repo, reason);
}

/* Reads the settings and the tokenizer, to check that the model is supported. */
static int read_model_settings(struct pull *pull)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer blob = {0};
    struct model_config config;
    struct model_prompts prompts;
    struct tokenizer tokenizer;
    WT_TRY(wt__model_config_read(&config, pull->files, pull->err));
    WT_TRY(wt__model_prompts(&prompts, pull->files, pull->err));
    WT_TRY(wt__tokenizer_read(&blob, pull->files, pull->err));
    WT_TRY(wt__tokenizer_open(&tokenizer, blob.ptr, blob.len, pull->err));
    return wt__model_is_static(&config) ? 0 : wt__tokenizer_check_frame(&tokenizer, pull->files, pull->err);
}

static int fetch_weights(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct model_info info;
    int rc = fetch_file(first, MODEL_WEIGHTS_FILE, HUB_MAX_WEIGHTS_BYTES);
    if (rc == WT_ENOTFOUND)
        return wt__fail(pull->err, WT_EMODEL,
                        "%s has no " MODEL_WEIGHTS_FILE
                        " at the revision %s: only weights in one file of that format are supported; "
                        "look on its page for a revision with one (ORG/NAME@REVISION), or convert it",
                        first->repo, first->revision);
    if (rc == 0)
        rc = wt__model_info_read(&info, pull->files, pull->err);
    return rc < 0 ? fail_unusable_model(first, rc) : 0;
}

/* ---------------------------------------------------------------- the record */

/* Returns {"path", "sha256", "bytes"}, or NULL after an error. */
static json_t *describe_file(struct pull *pull, const char *path)
{
    const char *file = path + strlen(pull->files) + 1;
    char hex[SHA256_DIGITS + 1];
    if (wt__pull_hash(pull, path, hex) < 0)
        return NULL;
    return json_pack("{s:s, s:s, s:I}", "path", file, "sha256", hex, "bytes", (json_int_t)wt__file_size(path));
}

/* Adds the prompts of the model's family, if it belongs to one. Returns false if out of memory. */
static bool add_family_prompts(const struct first_pull *first, json_t *record)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strncmp(first->repo, families[i].owner, strlen(families[i].owner)) != 0 ||
            !strstr(first->repo, families[i].with) || strstr(first->repo, families[i].without))
            continue;
        json_t *prompts = json_pack("{s:s, s:s}", "query", families[i].request, "document", families[i].tool);
        return prompts && json_object_set_new(record, "prompts", prompts) == 0;
    }
    return true;
}

/* Returns the list of all fetched files, or NULL after an error. */
static json_t *describe_files(struct pull *pull)
{
    char **paths;
    size_t count;
    json_auto_t *files = json_array();
    uint64_t bytes = 0;
    if (!files || wt__list_files(&pull->arena, pull->files, MANIFEST_MAX_FILES, &paths, &count, pull->err) < 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        bytes += wt__file_size(paths[i]);
    (void)wt__progress_phase(pull->progress, "hashing", bytes); /* wt__pull_hash checks for cancellation */
    for (size_t i = 0; i < count; i++) {
        const char *name = paths[i] + strlen(pull->files) + 1;
        if (strncmp(name, MODEL_RECORD, strlen(MODEL_RECORD)) == 0) /* left by an interrupted pull */
            unlink(paths[i]);
        else if (json_array_append_new(files, describe_file(pull, paths[i])) < 0)
            return NULL;
    }
    return WT_TAKE(files);
}

/* Describes the fetched files in pull->record, allocated in the arena. */
static int record_files(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct model_config config;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_error *err = pull->err;
    WT_TRY(wt__model_config_read(&config, pull->files, err));
    *err = (wt_error){0};
    json_t *files = describe_files(pull);
    WT_CLEANUP(json_decrefp)
    json_t *record =
        files ? json_pack("{s:s, s:s, s:s, s:I, s:o, s:[{s:s, s:s, s:s}], s:s}", "name", pull->manifest.name, "license",
                          "", "architecture", wt__architecture_at(config.architecture)->model_type, "dimension",
                          (json_int_t)config.hidden, "files", files, "sources", "type", "hub", "repo", first->repo,
                          "revision", first->at, "revision", first->revision)
              : NULL;
    bool failed = !record || !add_family_prompts(first, record) || wt__json_write(&text, record) < 0;
    wt__buffer_char(&text, '\n');
    failed = failed || text.failed || !(pull->record = wt__arena_copy(&pull->arena, wt__buffer_view(&text)));
    return !failed ? 0 : err->code < 0 ? err->code : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- a model */

static int fetch_all_files(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    if (wt__hub_is_offline())
        return wt__fail(pull->err, WT_ENETWORK, "HF_HUB_OFFLINE is set");
    if (wt__progress_phase(pull->progress, "fetching from the hub", 0))
        return wt__fail_cancelled(pull->err);
    WT_TRY(wt__make_folders(pull->files, pull->err));
    WT_TRY(fetch_config(first));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        WT_TRY(fetch_optional_file(first, settings[i], NULL));
    WT_TRY(fetch_modules(first));
    WT_TRY(fetch_tokenizer(first));
    int rc = read_model_settings(pull);
    if (rc < 0)
        return fail_unusable_model(first, rc);
    WT_TRY(fetch_weights(first));
    return record_files(first);
}

/* Returns 1 after a first pull, or 0 if another process pulled the model meanwhile. The caller holds the lock. */
static int pull_under_lock(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct hub_record record;
    int rc = wt__hub_record_read(&pull->arena, pull->target, &record, pull->err);
    if (rc != 0)
        return rc == 1 ? 0 : rc;
    if (wt__is_folder(pull->target) || wt__is_file(pull->target))
        return wt__fail(pull->err, WT_EINVAL,
                        "%s exists and was not pulled: move it away, or use the model by its path", pull->target);
    WT_TRY(fetch_all_files(first));
    return wt__pull_install(pull);
}

static int pull_first(struct first_pull *first)
{
    int lock = -1;
    WT_TRY(wt__pull_lock(&first->pull, &lock));
    int rc = pull_under_lock(first);
    wt__unlock_file(lock);
    return rc;
}

/* Checks an installed model against the hashes of its first pull, and fetches incorrect files again. */
static int check_pulled_model(struct first_pull *first, const struct hub_record *record)
{
    struct pull *pull = &first->pull;
    bool same = strcmp(record->repo, first->repo) == 0 &&
                (!first->has_revision || strcmp(first->revision, record->revision) == 0 ||
                 strcmp(first->revision, record->commit) == 0);
    if (!same)
        return wt__fail(pull->err, WT_EINVAL,
                        "%s is installed at the revision %s (%.12s); to pull another revision, remove %s first",
                        record->repo, record->revision, record->commit, pull->target);
    const char *name = pull->manifest.name;
    pull->manifest = record->manifest;
    pull->manifest.name = name;
    pull->record = record->text;
    return wt__pull_by_manifest(pull);
}

static void free_first_pull(struct first_pull **first)
{
    if (*first)
        wt__arena_dispose(&(*first)->pull.arena);
    free(*first);
}

int wt__hub_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err)
{
    wt_error scratch;
    struct hub_record record;
    WT_CLEANUP(free_first_pull) struct first_pull *first = wt__alloc_zeros(1, sizeof *first);
    WT_CHECK_ALLOC(first, err);
    struct pull *pull = &first->pull;
    pull->progress = progress;
    pull->err = err ? err : &scratch;
    WT_TRY(parse_name(first, name, pull->err));
    const char *slash = strchr(first->repo, '/');
    const char *owner = wt__arena_copy(&pull->arena, (struct str){first->repo, (size_t)(slash - first->repo)});
    pull->manifest.name = slash + 1;
    pull->models = wt__pull_join(pull, owner ? models_dir : NULL, owner);
    WT_CHECK_ALLOC(pull->models, pull->err);
    WT_TRY(wt__pull_set_paths(pull));
    int rc = wt__hub_record_read(&pull->arena, pull->target, &record, pull->err);
    if (rc < 0)
        return rc;
    return rc > 0 ? check_pulled_model(first, &record) : pull_first(first);
}
