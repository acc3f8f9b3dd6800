/* list.c: lists tools and providers from indexes, reading only the names of tools. */
#include "store/sqlite.h"

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"

static char lower_ascii(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* True if text contains part, ignoring ASCII case. */
static bool contains_ignoring_case(struct str text, struct str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        size_t i = 0;
        while (i < part.len && lower_ascii(text.ptr[at + i]) == lower_ascii(part.ptr[i]))
            i++;
        if (i == part.len)
            return true;
    }
    return false;
}

static bool contains_char(struct str text, char c)
{
    return memchr(text.ptr, c, text.len) != NULL;
}

/* Collects the ids of the matching rows (id, provider name, tool name), unsorted. */
static int collect_matching(struct store *store, sqlite3_stmt *rows, struct str pattern, int64_t **ids, size_t *count,
                            wt_error *err)
{
    struct buffer id = {0};
    size_t capacity = 0;
    bool glob = contains_char(pattern, '*') || contains_char(pattern, '?');
    int rc = 0;
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        rc = 0;
        wt__buffer_clear(&id);
        wt__tool_id(&id, wt__sql_column(rows, 1), wt__sql_column(rows, 2));
        if (id.failed)
            rc = wt__fail_nomem(err);
        else if (!(glob ? wt__pattern_fits(pattern, wt__buffer_view(&id), wt__sql_column(rows, 2))
                        : contains_ignoring_case(wt__buffer_view(&id), pattern)))
            continue;
        else if (wt__grow((void **)ids, &capacity, *count + 1, sizeof **ids) < 0)
            rc = wt__fail_nomem(err);
        else
            (*ids)[(*count)++] = sqlite3_column_int64(rows, 0);
    }
    wt__sql_reset(rows);
    wt__buffer_dispose(&id);
    return rc;
}

int wt__store_list_matching(struct store *store, const struct str *provider, struct str pattern, size_t limit,
                            size_t offset, struct arena *arena, int64_t **ids, size_t *count, wt_error *err)
{
    sqlite3_stmt *rows;
    int64_t *found = NULL;
    size_t len = 0;
    *ids = NULL;
    *count = 0;
    int rc = provider ? wt__sql_prepare(store,
                                        "SELECT t.id, p.name, t.name FROM provider p CROSS JOIN tool t"
                                        " ON t.provider = p.id WHERE p.name = ?1",
                                        &rows, err)
                      : wt__sql_prepare(store,
                                        "SELECT t.id, p.name, t.name FROM tool t INDEXED BY tool_name"
                                        " CROSS JOIN provider p ON p.id = t.provider",
                                        &rows, err);
    if (rc < 0)
        return rc;
    if (provider && wt__sql_bind_text(rows, 1, *provider))
        return wt__fail_nomem(err);
    rc = collect_matching(store, rows, pattern, &found, &len, err);
    offset = offset < len ? offset : len;
    size_t wanted = limit && limit < len - offset ? limit : len - offset;
    if (rc == 0 && !(*ids = wt__arena_array(arena, int64_t, wanted)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && wanted) {
        wt__sort_i64(found, len);
        memcpy(*ids, found + offset, wanted * sizeof *found);
        *count = wanted;
    }
    free(found);
    return rc;
}

int wt__store_providers(struct store *store, struct arena *arena, struct provider_count **out, size_t *count,
                        wt_error *err)
{
    sqlite3_stmt *rows;
    struct provider_count *found = NULL;
    size_t len = 0, capacity = 0;
    *count = 0;
    int rc = wt__sql_prepare(store,
                             "SELECT p.name, n FROM (SELECT provider, count(*) AS n FROM tool INDEXED BY tool_provider"
                             " GROUP BY provider) CROSS JOIN provider p ON p.id = provider ORDER BY n DESC, p.name",
                             &rows, err);
    if (rc < 0)
        return rc;
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        char *name = wt__arena_copy(arena, wt__sql_column(rows, 0));
        if (!name || wt__grow((void **)&found, &capacity, len + 1, sizeof *found) < 0) {
            rc = wt__fail_nomem(err);
            break;
        }
        found[len++] = (struct provider_count){name, (uint64_t)sqlite3_column_int64(rows, 1)};
    }
    wt__sql_reset(rows);
    *out = rc == 0 ? wt__arena_array(arena, struct provider_count, len) : NULL;
    if (rc == 0 && !*out)
        rc = wt__fail_nomem(err);
    if (rc == 0 && len) {
        memcpy(*out, found, len * sizeof *found);
        *count = len;
    }
    free(found);
    return rc;
}

int wt__store_version(struct store *store, int *out, wt_error *err)
{
    int64_t version = 0;
    int rc = wt__sql_number(store, "PRAGMA user_version", &version, err);
    *out = (int)version;
    return rc;
}
