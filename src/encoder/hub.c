/* hub.c: see hub.h. The first pull works in the folders of pull.c:
 *
 *   MODELS/ORG/.NAME.partial/files/   what is whole       hub/   what has come so far       commit   of which commit
 *
 * config.json comes first, and with it the commit that all else is then asked of; what of the model does not run is
 * told before the weights are fetched. */
#include "encoder/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "encoder/config.h"
#include "encoder/hub_record.h"
#include "encoder/model_dir.h"
#include "encoder/model_tokenizer.h"
#include "encoder/pack.h"
#include "encoder/prompts.h"
#include "encoder/pull_inside.h"
#include "net/http_client.h"
#include "text/tokenizer.h"

enum { COMMIT_DIGITS = 40, SHA256_DIGITS = 64 };

/* Beside config.json, the tokenizer's, the pooling's and the weights; a model may lack each. */
static const char *const settings[] = {"modules.json", "sentence_bert_config.json", MODEL_SENTENCE_CONFIG};

/* What models' files do not say, of all that are that owner's with that in the name and without the other: prompts that
 * their authors give in words, and what meaning by them weighs in hybrid (docs/encoders.md, "Other languages"). E5's
 * cosines lie within two tenths of each other, so that words would drown meaning at the usual weight. */
static const struct {
    const char *owner, *with, *without, *request, *tool;
    double dense_weight;
} families[] = {{"intfloat/", "e5-", "instruct", "query: ", "passage: ", 10}};

/* A header of an answer, in the order of struct http_response_info. */
enum { TOLD_COMMIT, TOLD_HASH, TOLD_WHY };

struct first_pull {
    struct pull pull;
    char repo[2 * WT_MAX_NAME_BYTES + 2]; /* ORG/NAME */
    char revision[HUB_REVISION_BYTES];    /* as it was asked for */
    char at[HUB_REVISION_BYTES];          /* of which files are asked: the commit, where the server told it */
    bool commit_known;
    bool asked_for_revision;
    struct http_response_info told; /* of the last file */
};

/* ---------------------------------------------------------------- names */

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
        return wt__fail(err, WT_EINVAL,
                        "\"%.100s\" is no name of a model on the hub: that is ORG/NAME or ORG/NAME@REVISION", name);
    if (revision.len >= sizeof first->revision || !wt__is_plain(revision, "/"))
        return wt__fail(err, WT_EINVAL, "\"%.100s\" is no revision: that is a branch, a tag or a commit of the model",
                        revision.ptr);
    memcpy(first->revision, revision.ptr, revision.len + 1);
    memcpy(first->at, revision.ptr, revision.len + 1);
    first->asked_for_revision = at != NULL;
    return 0;
}

static bool is_hexadecimal(const char *text, size_t digits)
{
    return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

/* ---------------------------------------------------------------- one file */

/* Why the hub does not give the model, in words that say what to do. rc is of the download, whose sentence stands where
 * there is nothing to add. */
static int explain(struct first_pull *first, int rc)
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
                            "the hub does not give %s to the holder of HF_TOKEN (%d): is the name right, "
                            "and the token valid? If the model is gated, accept its terms at %s/%s",
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
        return wt__fail(err, WT_EMODEL, "%s has no config.json at the revision %s: it is no model of transformers",
                        repo, first->revision);
    return wt__fail(err, rc, "%s has no model %s, or that no revision \"%s\" with a config.json", hub, repo,
                    first->revision);
}

/* Whether what came is what the server said it sends: it tells the SHA-256 of large files, as an ETag. */
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

static int download(struct first_pull *first, const char *file, const char *part, uint64_t most)
{
    struct buffer url = {0};
    bool weights = strcmp(file, MODEL_WEIGHTS) == 0;
    first->told = (struct http_response_info){.names = {"x-repo-commit", "x-linked-etag", "x-error-code"}};
    wt__hub_url(&url, first->repo, first->at, file);
    struct http_download download = {.url = url.ptr,
                                     .path = part,
                                     .max_bytes = most,
                                     .progress = first->pull.progress,
                                     .token = wt__hub_token(),
                                     .phase = weights ? "fetching the weights" : NULL,
                                     .info = &first->told};
    int rc = url.failed ? wt__fail_nomem(first->pull.err) : wt__http_download(&download, first->pull.err);
    wt__buffer_dispose(&url);
    return rc;
}

/* Fetches a file into files/, unless it is there from a pull that was stopped. */
static int fetch(struct first_pull *first, const char *file, uint64_t most)
{
    struct pull *pull = &first->pull;
    const char *part = wt__pull_join(pull, wt__pull_join(pull, pull->staging, "hub"), file);
    const char *whole = wt__pull_join(pull, pull->files, file);
    bool right = false;
    if (!part || !whole)
        return wt__fail_nomem(pull->err);
    if (wt__is_file(whole))
        return 0;
    int rc = wt__pull_make_parent(pull, part);
    if (rc == 0)
        rc = wt__pull_make_parent(pull, whole);
    if (rc == 0 && !first->commit_known)
        unlink(part);                                  /* it may be the beginning of another commit's */
    for (int i = 0; rc == 0 && !right && i < 2; i++) { /* once more from the start, if it went on and came out wrong */
        bool continued = wt__file_size(part) > 0;
        rc = download(first, file, part, most);
        if (rc == 0)
            rc = check_hash(first, part, &right);
        if (rc == 0 && !right)
            unlink(part);
        if (rc == 0 && !right && !continued)
            break;
    }
    if (rc == 0 && !right)
        return wt__fail(pull->err, WT_EMODEL, "%s of %s did not come as the hub says that it is (SHA-256)", file,
                        first->repo);
    if (rc == WT_ENOTFOUND)
        unlink(part);
    if (rc == 0)
        rc = wt__pull_sync(pull, part);
    if (rc == 0 && rename(part, whole) < 0)
        rc = wt__fail_errno(pull->err, "write", whole);
    return rc;
}

/* The same of a file that the model may lack: *there tells. */
static int fetch_if_there(struct first_pull *first, const char *file, bool *there)
{
    int rc = fetch(first, file, HUB_MAX_TEXT_BYTES);
    if (there)
        *there = rc == 0;
    return rc == WT_ENOTFOUND ? 0 : rc;
}

/* ---------------------------------------------------------------- all files */

/* What is left of a stopped pull belongs to a commit; of another one, or of none that is known, it is of no use. */
static int keep_to_commit(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    const char *note = wt__pull_join(pull, pull->staging, "commit");
    char *text = NULL;
    size_t len;
    if (!note)
        return wt__fail_nomem(pull->err);
    bool same = wt__file_read(&text, &len, note, HUB_REVISION_BYTES, NULL) == 0 && first->commit_known &&
                strcmp(text, first->at) == 0;
    free(text);
    if (same)
        return 0;
    const char *kept = wt__pull_join(pull, pull->staging, "config.json"), *files = pull->files;
    const char *config = wt__pull_join(pull, files, "config.json"), *hub = wt__pull_join(pull, pull->staging, "hub");
    if (!kept || !config || !hub)
        return wt__fail_nomem(pull->err);
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
    if (!config)
        return wt__fail_nomem(pull->err);
    unlink(config); /* of a stopped pull: which commit is it of now? */
    int rc = fetch(first, "config.json", HUB_MAX_TEXT_BYTES);
    if (rc < 0)
        return explain(first, rc);
    first->commit_known = is_hexadecimal(first->told.values[TOLD_COMMIT], COMMIT_DIGITS);
    if (first->commit_known)
        memcpy(first->at, first->told.values[TOLD_COMMIT], COMMIT_DIGITS + 1);
    return keep_to_commit(first);
}

/* Of each module that modules.json names by a plain path, as the pooling's; others are refused when it is read. */
static int fetch_modules(struct first_pull *first)
{
    enum { MODULES_MOST = 16 };
    json_t *modules = NULL;
    int rc = wt__model_json(&modules, first->pull.files, "modules.json", false, first->pull.err);
    bool named = false;
    for (size_t i = 0; rc == 0 && i < json_array_size(modules) && i < MODULES_MOST; i++) {
        struct str path = wt__json_str(json_array_get(modules, i), "path");
        char file[WT_MAX_NAME_BYTES + 16];
        if (!wt__is_plain(path, "") || memchr(path.ptr, '.', path.len))
            continue;
        snprintf(file, sizeof file, "%.*s/config.json", (int)path.len, path.ptr);
        rc = fetch_if_there(first, file, NULL);
        named = true;
    }
    json_decref(modules);
    return rc == 0 && !named ? fetch_if_there(first, "1_Pooling/config.json", NULL) : rc;
}

/* tokenizer.json is enough for any kind; where there is none, what older models have in its place. */
static int fetch_tokenizer(struct first_pull *first)
{
    bool whole = false;
    int rc = 0;
    for (size_t i = 0; rc == 0 && wt__tokenizer_file_at(i); i++) {
        const char *file = wt__tokenizer_file_at(i);
        bool json = strcmp(file + strlen(file) - strlen(".json"), ".json") == 0;
        if (whole && (!json || strcmp(file, "vocab.json") == 0))
            continue;
        rc = fetch_if_there(first, file, strcmp(file, "tokenizer.json") == 0 ? &whole : NULL);
    }
    return rc;
}

/* The sentence of who read files/, with the model's name in place of the folder's. */
static int fail_unusable(struct first_pull *first, int rc)
{
    wt_error *err = first->pull.err;
    char reason[sizeof err->message];
    size_t len = strlen(first->pull.files);
    if (rc != WT_EMODEL && rc != WT_EFORMAT)
        return rc;
    const char *text = strncmp(err->message, first->pull.files, len) == 0 ? err->message + len : err->message;
    snprintf(reason, sizeof reason, "%s", text + strspn(text, "/: "));
    return wt__fail(err, WT_EMODEL, "%s does not run here: %.900s", first->repo, reason);
}

/* Whether it runs, as far as everything but the weights tells. */
static int check_settings(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct model_config config;
    struct model_prompts prompts;
    struct buffer blob = {0};
    struct tokenizer tokenizer;
    int rc = wt__model_config_read(&config, pull->files, pull->err);
    if (rc == 0)
        rc = wt__model_prompts(&prompts, pull->files, pull->err);
    if (rc == 0)
        rc = wt__tokenizer_read(&blob, pull->files, pull->err);
    if (rc == 0)
        rc = wt__tokenizer_open(&tokenizer, blob.ptr, blob.len, pull->err);
    if (rc == 0 && !wt__model_is_static(&config))
        rc = wt__tokenizer_check_frame(&tokenizer, pull->files, pull->err);
    wt__buffer_dispose(&blob);
    return rc < 0 ? fail_unusable(first, rc) : 0;
}

static int fetch_weights(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct model_info info;
    int rc = fetch(first, MODEL_WEIGHTS, HUB_MAX_WEIGHTS_BYTES);
    if (rc == WT_ENOTFOUND)
        return wt__fail(pull->err, WT_EMODEL,
                        "%s has no " MODEL_WEIGHTS
                        " at the revision %s: weights run from one file in that format alone; "
                        "look on its page for a revision with one (ORG/NAME@REVISION), or convert it",
                        first->repo, first->revision);
    if (rc == 0)
        rc = wt__model_info_read(&info, pull->files, pull->err);
    return rc < 0 ? fail_unusable(first, rc) : 0;
}

/* ---------------------------------------------------------------- the record */

static json_t *describe_file(struct pull *pull, const char *path)
{
    const char *file = path + strlen(pull->files) + 1;
    char hex[SHA256_DIGITS + 1];
    if (wt__pull_hash(pull, path, hex) < 0)
        return NULL;
    return json_pack("{s:s, s:s, s:I}", "path", file, "sha256", hex, "bytes", (json_int_t)wt__file_size(path));
}

static bool add_family(const struct first_pull *first, json_t *record)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strncmp(first->repo, families[i].owner, strlen(families[i].owner)) != 0 ||
            !strstr(first->repo, families[i].with) || strstr(first->repo, families[i].without))
            continue;
        json_t *prompts = json_pack("{s:s, s:s}", "query", families[i].request, "document", families[i].tool);
        return prompts && json_object_set_new(record, "prompts", prompts) == 0 &&
               json_object_set_new(record, "dense_weight", json_real(families[i].dense_weight)) == 0;
    }
    return true;
}

/* What a pull that was killed had begun to write down. */
static bool is_old_record(const struct pull *pull, const char *path)
{
    return strncmp(path + strlen(pull->files) + 1, MODEL_RECORD, strlen(MODEL_RECORD)) == 0;
}

static json_t *describe_files(struct pull *pull)
{
    char **paths;
    size_t count;
    json_t *files = json_array();
    uint64_t bytes = 0;
    if (!files || wt__list_files(&pull->arena, pull->files, MANIFEST_MAX_FILES, &paths, &count, pull->err) < 0) {
        json_decref(files);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        bytes += wt__file_size(paths[i]);
    (void)wt__progress_phase(pull->progress, "hashing", bytes); /* a stop is heard by the hashing */
    for (size_t i = 0; i < count; i++) {
        if (is_old_record(pull, paths[i])) {
            unlink(paths[i]);
        } else if (json_array_append_new(files, describe_file(pull, paths[i])) < 0) {
            json_decref(files);
            return NULL;
        }
    }
    return files;
}

/* Writes down what has come. pull->record in the arena. */
static int record_files(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    struct model_config config;
    struct buffer text = {0};
    wt_error *err = pull->err;
    int rc = wt__model_config_read(&config, pull->files, err);
    if (rc < 0)
        return rc;
    *err = (wt_error){0};
    json_t *files = describe_files(pull);
    json_t *record =
        files ? json_pack("{s:s, s:s, s:s, s:I, s:o, s:[{s:s, s:s, s:s}], s:s}", "name", pull->manifest.name, "license",
                          "", "architecture", wt__architecture_at(config.architecture)->model_type, "dimension",
                          (json_int_t)config.hidden, "files", files, "sources", "type", "hub", "repo", first->repo,
                          "revision", first->at, "revision", first->revision)
              : NULL;
    bool failed = !record || !add_family(first, record) || wt__json_write(&text, record) < 0;
    wt__buffer_char(&text, '\n');
    failed = failed || text.failed || !(pull->record = wt__arena_copy(&pull->arena, wt__buffer_view(&text)));
    json_decref(record);
    wt__buffer_dispose(&text);
    return !failed ? 0 : err->code < 0 ? err->code : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- a model */

static int gather(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    if (wt__hub_is_offline())
        return wt__fail(pull->err, WT_ENETWORK, "HF_HUB_OFFLINE is set");
    if (wt__progress_phase(pull->progress, "fetching from the hub", 0))
        return wt__fail_cancelled(pull->err);
    int rc = wt__make_folders(pull->files, pull->err);
    if (rc == 0)
        rc = fetch_config(first);
    for (size_t i = 0; rc == 0 && i < sizeof settings / sizeof *settings; i++)
        rc = fetch_if_there(first, settings[i], NULL);
    if (rc == 0)
        rc = fetch_modules(first);
    if (rc == 0)
        rc = fetch_tokenizer(first);
    if (rc == 0)
        rc = check_settings(first);
    if (rc == 0)
        rc = fetch_weights(first);
    if (rc == 0)
        rc = record_files(first);
    return rc;
}

static int pull_first(struct first_pull *first)
{
    struct pull *pull = &first->pull;
    int lock = -1, rc = wt__pull_lock(pull, &lock);
    if (rc < 0)
        return rc;
    struct hub_record record;
    rc = wt__hub_record_read(&pull->arena, pull->target, &record, pull->err); /* of another process, meanwhile */
    if (rc == 0 && (wt__is_folder(pull->target) || wt__is_file(pull->target)))
        rc = wt__fail(pull->err, WT_EINVAL, "%s is there and was not pulled: move it away, or use it by its path",
                      pull->target);
    if (rc == 0) {
        rc = gather(first);
        if (rc == 0)
            rc = wt__pull_put_in_place(pull);
    } else if (rc == 1) {
        rc = 0;
    }
    wt__unlock_file(lock);
    return rc;
}

/* A model that was pulled is held to what was recorded then. */
static int pull_again(struct first_pull *first, const struct hub_record *record)
{
    struct pull *pull = &first->pull;
    bool same = strcmp(record->repo, first->repo) == 0 &&
                (!first->asked_for_revision || strcmp(first->revision, record->revision) == 0 ||
                 strcmp(first->revision, record->commit) == 0);
    if (!same)
        return wt__fail(pull->err, WT_EINVAL, "%s is here at the revision %s (%.12s); to have another, remove %s first",
                        record->repo, record->revision, record->commit, pull->target);
    const char *name = pull->manifest.name;
    pull->manifest = record->manifest;
    pull->manifest.name = name;
    pull->record = record->text;
    return wt__pull_by_manifest(pull);
}

int wt__hub_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err)
{
    wt_error scratch;
    struct hub_record record;
    struct first_pull *first = calloc(1, sizeof *first);
    if (!first)
        return wt__fail_nomem(err);
    struct pull *pull = &first->pull;
    pull->progress = progress;
    pull->err = err ? err : &scratch;
    int rc = parse_name(first, name, pull->err);
    if (rc == 0) {
        const char *slash = strchr(first->repo, '/');
        const char *owner = wt__arena_copy(&pull->arena, (struct str){first->repo, (size_t)(slash - first->repo)});
        pull->manifest.name = slash + 1;
        pull->models = wt__pull_join(pull, owner ? models_dir : NULL, owner);
        rc = pull->models ? wt__pull_places(pull) : wt__fail_nomem(pull->err);
    }
    if (rc == 0)
        rc = wt__hub_record_read(&pull->arena, pull->target, &record, pull->err);
    if (rc >= 0)
        rc = rc > 0 ? pull_again(first, &record) : pull_first(first);
    wt__arena_dispose(&pull->arena);
    free(first);
    return rc;
}
