/* snapshot_check.c: checks a complete snapshot. Opening and searching check only the parts they use. */
#include "index/snapshot_format.h"

static int check_keys(const struct snapshot *snapshot, wt_error *err)
{
    for (uint32_t row = 1; row < snapshot->rows; row++)
        if (snapshot->keys[row - 1].id >= snapshot->keys[row].id)
            return wt__fail(err, WT_ESTORE, "damaged: the tools of rows %u and %u are not in order", row - 1, row);
    return 0;
}

int wt__snapshot_validate(const struct snapshot *snapshot, wt_error *err)
{
    int rc = check_keys(snapshot, err);
    if (rc == 0)
        rc = wt__lexical_check(&snapshot->lexical, err);
    if (rc == 0)
        rc = wt__names_check(&snapshot->names, snapshot->rows, err);
    if (rc == 0)
        rc = wt__copy_groups_check(snapshot, err);
    for (size_t i = 0; rc == 0 && i < snapshot->set_count; i++) {
        const struct snapshot_set *set = &snapshot->sets[i];
        rc = wt__vectors_check(&set->vectors, err);
        if (rc < 0)
            wt__fail_context(err, rc, "vectors of kind %s, model %.12s", set->kind, set->model);
    }
    return rc;
}

int wt__snapshot_check(const char *folder, wt_error *err)
{
    struct snapshot *snapshot = NULL;
    int rc = wt__snapshot_load(&snapshot, folder, err);
    if (rc < 0)
        return rc;
    rc = wt__snapshot_validate(snapshot, err);
    wt__snapshot_free(snapshot);
    return rc < 0 ? wt__fail_context(err, rc, "%s", folder) : 0;
}
