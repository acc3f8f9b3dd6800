/* copies.c: finds tools offered by several providers: word for word (index/copy_groups.h) or nearly
 * (retrieve/copies.h). A search uses the same groups to let copies share a place. */
#include "audit/families.h"

#include <math.h>

#include "index/copy_groups.h"

static int report_copy_group(struct audit_run *a, const struct snapshot *snapshot, uint32_t row, uint32_t *group,
                             wt_error *err)
{
    size_t count, known = 0, providers = 0;
    const uint32_t *rows = wt__copy_group(snapshot, row, &count);
    if (count == 0 || rows[0] != row) /* the group is reported once, with its first tool */
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = wt__audit_tool_index(a, snapshot->keys[rows[i]].id);
        bool seen = place == a->count;
        for (size_t j = 0; j < known && !seen; j++)
            seen = a->tools[group[j]].provider == a->tools[place].provider;
        providers += !seen;
        if (place < a->count)
            group[known++] = (uint32_t)place;
    }
    const struct new_finding found = {
        .rule = RULE_COPIED_TOOL, .tools = group, .count = known, .figure = (double)known};
    return known < 2 || providers < 2
               ? 0
               : wt__audit_add_finding(a, &found, err, "%zu providers have the tool \"%s\", word for word.", providers,
                                       wt__audit_quote(a, a->tools[group[0]].tool.name));
}

static int report_exact_copies(struct audit_run *a, wt_error *err)
{
    struct index_handle *index;
    uint32_t group[COPY_GROUP_READ];
    int rc = wt__engine_newest_index(a->engine, &index, err);
    if (rc < 0)
        return rc;
    for (uint32_t row = 0; rc == 0 && row < index->snapshot->rows; row++)
        rc = report_copy_group(a, index->snapshot, row, group, err);
    wt__index_release(index);
    return rc;
}

int wt__audit_copies(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    int rc = a->count > 0 ? report_exact_copies(a, err) : 0;
    for (size_t i = 0; rc == 0 && i < searches->plain_count; i++) {
        const struct audit_search *of = &searches->plain[i];
        if (of->copy_of == UINT32_MAX || of->word_for_word ||
            a->tools[of->tool].provider == a->tools[of->copy_of].provider)
            continue;
        const uint32_t pair[] = {of->tool, of->copy_of};
        const struct new_finding found = {.rule = RULE_NEAR_COPY, .tools = pair, .count = 2, .figure = NAN};
        rc = wt__audit_add_finding(a, &found, err,
                                   "%s is nearly the same as the older tool %s, which takes its place in searches.",
                                   a->tools[of->tool].id, a->tools[of->copy_of].id);
    }
    return rc;
}
