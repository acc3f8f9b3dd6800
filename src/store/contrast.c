/* contrast.c: caches contrastive questions of a language model (ToolVerifier 2.2). They depend on two definitions
 * alone, so the next request that is between the two tools can reuse them. */
#include "store/sqlite.h"

static int bind_key(sqlite3_stmt *statement, const struct stored_contrast_key *key, wt_error *err)
{
    int failed = wt__sql_bind_text(statement, 1, key->definitions) | wt__sql_bind_text(statement, 2, key->model) |
                 wt__sql_bind_text(statement, 3, key->task);
    return failed ? wt__fail_nomem(err) : 0;
}

int wt__store_get_contrast(struct store *store, const struct stored_contrast_key *key, struct arena *arena,
                           struct str *question, wt_error *err)
{
    sqlite3_stmt *row;
    *question = (struct str){0};
    int rc = wt__sql_prepare(store, "SELECT question FROM contrast WHERE definitions = ?1 AND model = ?2 AND task = ?3",
                             &row, err);
    if (rc == 0)
        rc = bind_key(row, key, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        struct str text = wt__sql_column(row, 0);
        *question = (struct str){wt__arena_copy(arena, text), text.len};
        wt__sql_reset(row);
        return question->ptr ? 0 : wt__fail_nomem(err);
    }
    return rc;
}

int wt__store_put_contrast(struct store *store, const struct stored_contrast_key *key, struct str question,
                           wt_error *err)
{
    sqlite3_stmt *insert;
    int rc = wt__sql_prepare(store, "INSERT OR IGNORE INTO contrast VALUES (?1, ?2, ?3, ?4)", &insert, err);
    if (rc == 0)
        rc = bind_key(insert, key, err);
    if (rc == 0 && wt__sql_bind_text(insert, 4, question))
        rc = wt__fail_nomem(err);
    return rc == 0 ? wt__sql_step(store, insert, err) : rc;
}
