/* reserved_names.c: providers that belong to MCP servers (store/review.h). A provider is reserved as long as
 * review_server has its name. Each change of tools checks the reservation within its own transaction, so that no other
 * thread or process can reserve the provider between the check and the change. */
#include "store/review.h"
#include "store/sqlite.h"

enum { SHOWN_BYTES = 200 /* maximum bytes of a provider's name in a message */ };

int wt__reserved_find(struct store *store, struct str name, int64_t *id, wt_error *err)
{
    sqlite3_stmt *row;
    *id = 0;
    int rc = wt__sql_prepare(store, "SELECT id FROM review_server WHERE name = ?1", &row, err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(row, 1, name))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *id = sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

/* Runs a statement with a name as ?1. */
static int run_named(struct store *store, const char *sql, struct str name, wt_error *err)
{
    sqlite3_stmt *statement;
    int rc = wt__sql_prepare(store, sql, &statement, err);
    if (rc < 0)
        return rc;
    return wt__sql_bind_text(statement, 1, name) ? wt__fail_nomem(err) : wt__sql_step(store, statement, err);
}

int wt__reserved_drop_aliases(struct store *store, struct str provider, wt_error *err)
{
    return run_named(store,
                     "DELETE FROM provider_alias WHERE name = ?1"
                     " OR provider = (SELECT id FROM provider WHERE name = ?1)",
                     provider, err);
}

static int fail_reserved(struct str provider, const char *what, wt_error *err)
{
    int len = (int)wt__str_head(provider, SHOWN_BYTES).len;
    return wt__fail(
        err, WT_EINVAL,
        "the provider %.*s %s: it is reserved for the approved tools of the MCP server with that name; choose "
        "another name, or release it with `whichtool mcp forget %.*s`",
        len, provider.ptr, what, len, provider.ptr);
}

int wt__reserved_refuse(struct store *store, struct str provider, const char *what, wt_error *err)
{
    int64_t server = 0;
    int rc = wt__reserved_find(store, provider, &server, err);
    return rc < 0 || server == 0 ? rc : fail_reserved(provider, what, err);
}

int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err)
{
    sqlite3_stmt *row;
    int rc = wt__sql_prepare(store,
                             "SELECT p.name FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                             " CROSS JOIN review_server v ON v.name = p.name WHERE t.id = ?1",
                             &row, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(row, 1, tool);
    rc = wt__sql_step(store, row, err);
    if (rc == 1)
        rc = fail_reserved(wt__sql_column(row, 0), "does not allow the removal of single tools", err);
    wt__sql_reset(row);
    return rc;
}

int wt__reserved_release(struct store *store, struct str provider, wt_error *err)
{
    return run_named(store, "DELETE FROM review_server WHERE name = ?1", provider, err);
}

int wt__store_reserve_provider(struct store *store, struct str provider, wt_error *err)
{
    int64_t server = 0;
    int rc = wt__reserved_find(store, provider, &server, err);
    if (rc < 0 || server != 0)
        return rc;
    rc = wt__sql_begin(store, err);
    if (rc < 0)
        return rc;
    rc = wt__reserved_drop_aliases(store, provider, err);
    if (rc == 0)
        rc = run_named(store, "INSERT INTO review_server (name, source) VALUES (?1, '') ON CONFLICT DO NOTHING",
                       provider, err);
    return wt__sql_end(store, rc, err);
}
