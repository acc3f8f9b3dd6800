/* hub_record.c: a record is a manifest whose first source is the hub. A file with only prompts is valid but is not a
 * record; prompts.h reads the prompts. */
#include "encoder/hub_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "encoder/prompts.h"

bool wt__hub_is_name(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash && wt__is_plain((struct str){text, (size_t)(slash - text)}, "") &&
           wt__is_plain(wt__str(slash + 1), "");
}

static int read_members(struct arena *arena, const char *path, struct hub_record *out, wt_error *err)
{
    json_t *root;
    int rc = wt__json_parse(&root, out->text, strlen(out->text), err);

    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    bool recorded = wt__json_array(root, "files");
    struct str revision = wt__json_str(root, "revision");
    if (recorded) {
        rc = wt__manifest_parse(arena, out->text, strlen(out->text), path, &out->manifest, err);
        bool sound = rc == 0 && out->manifest.source_count > 0 && out->manifest.sources[0].type == SOURCE_HUB &&
                     wt__hub_is_name(out->manifest.sources[0].repo) && wt__is_plain(revision, "/");
        if (rc == 0 && !sound)
            rc = wt__fail(err, WT_EFORMAT, "%s: has no valid name and commit of the model on the hub", path);
    }
    if (rc == 0 && recorded) {
        out->repo = out->manifest.sources[0].repo;
        out->commit = out->manifest.sources[0].revision;
        out->revision = wt__arena_copy(arena, revision);
        rc = out->revision ? 1 : wt__fail_nomem(err);
    }
    json_decref(root);
    return rc;
}

int wt__hub_record_read(struct arena *arena, const char *folder, struct hub_record *out, wt_error *err)
{
    char *path = wt__path_join(arena, folder, MODEL_RECORD), *text = NULL;
    size_t len;

    *out = (struct hub_record){0};
    if (!path)
        return wt__fail_nomem(err);
    if (!wt__is_file(path))
        return 0;
    int rc = wt__file_read(&text, &len, path, MANIFEST_MAX_BYTES, err);
    if (rc == 0 && !(out->text = wt__arena_copy(arena, (struct str){text, len})))
        rc = wt__fail_nomem(err);
    free(text);
    return rc < 0 ? rc : read_members(arena, path, out, err);
}
