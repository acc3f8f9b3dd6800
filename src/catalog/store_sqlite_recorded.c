/* store_sqlite_recorded.c: which tools past usages of a request used: one look by its hash, however many usages there
 * are, and where nobody asked that, one at the newest requests, whose words are read. */
#include "catalog/store_sqlite.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/request_words.h"

/* Bounds of a look: requests that are like this one, requests that are read for being nearly the same and the bytes of
 * them, and the usages that count: the newest, as many of each request. */
enum { SAME_MAX = 32, NEAR_READ = 1000, NEAR_BYTES = 512 << 10, USAGES_MAX = 200 };

struct like_request {
    int64_t id;
    float likeness;
};

struct look {
    struct store *store;
    const struct request_words *words;
    struct like_request like[SAME_MAX];
    size_t count;
    struct recorded_tool *tools; /* [RECORDED_TOOLS_MAX] */
    size_t tool_count;
    double usages; /* each by the likeness of its request */
    wt_error *err;
};

uint64_t wt__store_request_hash(struct str request)
{
    struct request_words words;
    wt__request_words(request, &words);
    return words.hash;
}

/* An earlier version knew a request by its bytes. */
static int64_t hash_of_bytes(struct str request)
{
    unsigned char digest[32];
    int64_t hash;
    wt__sha256(request.ptr, request.len, digest);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

int wt__store_request_row(struct store *store, struct str request, int64_t *id, wt_error *err)
{
    sqlite3_stmt *row;
    int rc = wt__sql_prepare(store, "SELECT id FROM request WHERE hash IN (?1, ?2) AND text = ?3", &row, err);
    if (rc < 0)
        return rc;
    if (sqlite3_bind_int64(row, 1, (int64_t)wt__store_request_hash(request)) |
        sqlite3_bind_int64(row, 2, hash_of_bytes(request)) | wt__sql_bind_text(row, 3, request))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *id = sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc;
}

/* Of rows of id and text those that are like the request, until `most` bytes of them were read. */
static int read_like(struct look *look, sqlite3_stmt *rows, size_t most)
{
    size_t read = 0;
    int rc = 0;
    while (look->count < SAME_MAX && read < most && (rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        struct request_words words;
        struct str text = wt__sql_column(rows, 1);
        read += text.len;
        wt__request_words(text, &words);
        float likeness = wt__request_likeness(look->words, &words);
        if (likeness > 0)
            look->like[look->count++] = (struct like_request){sqlite3_column_int64(rows, 0), likeness};
    }
    wt__sql_reset(rows);
    return rc < 0 ? rc : 0;
}

static int find_same(struct look *look, struct str request)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(look->store, "SELECT id, text FROM request WHERE hash IN (?1, ?2) ORDER BY id DESC", &rows,
                             look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, (int64_t)look->words->hash);
    sqlite3_bind_int64(rows, 2, hash_of_bytes(request));
    return read_like(look, rows, SIZE_MAX);
}

static int find_near(struct look *look)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(look->store, "SELECT id, text FROM request ORDER BY id DESC LIMIT ?1", &rows, look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, NEAR_READ);
    return read_like(look, rows, NEAR_BYTES);
}

static void add_tool(struct look *look, int64_t tool, double weight)
{
    size_t i = 0;
    while (i < look->tool_count && look->tools[i].tool != tool)
        i++;
    if (i == RECORDED_TOOLS_MAX)
        return;
    if (i == look->tool_count)
        look->tools[look->tool_count++] = (struct recorded_tool){.tool = tool};
    look->tools[i].share += weight;
}

static int read_usages(struct look *look, const struct like_request *request)
{
    sqlite3_stmt *rows;
    int64_t last = 0;
    int rc = wt__sql_prepare(look->store,
                             "SELECT u.id, l.tool FROM (SELECT id, request, client, outcome FROM usage"
                             " WHERE request = ?1 ORDER BY id DESC LIMIT ?2) u CROSS JOIN usage_tool x ON"
                             " x.usage = u.id CROSS JOIN label l ON l.id = x.label"
                             " WHERE u.outcome <> 2 AND l.tool IS NOT NULL AND" USAGE_COUNTS,
                             &rows, look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, request->id);
    sqlite3_bind_int64(rows, 2, (int64_t)((USAGES_MAX + look->count - 1) / look->count));
    while ((rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        int64_t usage = sqlite3_column_int64(rows, 0);
        look->usages += usage != last ? (double)request->likeness : 0;
        last = usage;
        add_tool(look, sqlite3_column_int64(rows, 1), (double)request->likeness);
    }
    wt__sql_reset(rows);
    return rc < 0 ? rc : 0;
}

int wt__store_recorded(struct store *store, struct str request, struct arena *arena, struct recorded_tool **out,
                       size_t *count, wt_error *err)
{
    struct request_words words;
    struct look look = {.store = store, .words = &words, .err = err};
    *count = 0;
    *out = look.tools = wt__arena_array(arena, struct recorded_tool, RECORDED_TOOLS_MAX);
    if (!look.tools)
        return wt__fail_nomem(err);
    wt__request_words(request, &words);
    int rc = find_same(&look, request);
    if (rc == 0 && look.count == 0)
        rc = find_near(&look);
    for (size_t i = 0; rc == 0 && i < look.count; i++)
        rc = read_usages(&look, &look.like[i]);
    for (size_t i = 0; rc == 0 && i < look.tool_count; i++)
        look.tools[i].share /= look.usages + 1;
    *count = rc == 0 ? look.tool_count : 0;
    return rc;
}
