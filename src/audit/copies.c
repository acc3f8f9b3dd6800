/* copies.c: finds tools offered by several providers: word for word (index/snapshot.h) or nearly (retrieve/copies.h).
 * A search uses the same groups to let copies share a place. */
#include "audit/families.h"

#include <math.h>

#include "index/snapshot.h"

static int tell_group(struct auditing *a, const struct snapshot *snapshot, uint32_t row, uint32_t *group, wt_error *err)
{
    size_t count, known = 0, providers = 0;
    const uint32_t *rows = wt__copy_group(snapshot, row, &count);
    if (count == 0 || rows[0] != row) /* the group is reported once, with its first tool */
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = wt__audit_place(a, snapshot->keys[rows[i]].id);
        bool seen = place == a->count;
        for (size_t j = 0; j < known && !seen; j++)
            seen = a->tools[group[j]].provider == a->tools[place].provider;
        providers += !seen;
        if (place < a->count)
            group[known++] = (uint32_t)place;
    }
    const struct found found = {.rule = RULE_COPIED_TOOL, .tools = group, .count = known, .figure = (double)known};
    return known < 2 || providers < 2
               ? 0
               : wt__audit_find(a, &found, err, "%zu providers have the tool \"%s\" in the same words.", providers,
                                wt__audit_quoted(a, a->tools[group[0]].tool.name));
}

static int tell_words(struct auditing *a, wt_error *err)
{
    struct index_handle *index;
    uint32_t group[COPY_GROUP_READ];
    int rc = wt__engine_newest_index(a->engine, &index, err);
    if (rc < 0)
        return rc;
    for (uint32_t row = 0; rc == 0 && row < index->snapshot->rows; row++)
        rc = tell_group(a, index->snapshot, row, group, err);
    wt__index_release(index);
    return rc;
}

int wt__audit_copies(struct auditing *a, const struct searches *searches, wt_error *err)
{
    int rc = a->count > 0 ? tell_words(a, err) : 0;
    for (size_t i = 0; rc == 0 && i < searches->plain_count; i++) {
        const struct searched *of = &searches->plain[i];
        if (of->copy_of == UINT32_MAX || of->word_for_word ||
            a->tools[of->tool].provider == a->tools[of->copy_of].provider)
            continue;
        const uint32_t pair[] = {of->tool, of->copy_of};
        const struct found found = {.rule = RULE_NEAR_COPY, .tools = pair, .count = 2, .figure = NAN};
        rc = wt__audit_find(a, &found, err,
                            "%s is named and described much like %s, which was here before and takes its place.",
                            a->tools[of->tool].id, a->tools[of->copy_of].id);
    }
    return rc;
}
