/* store_sqlite_recorded.c: which tools past usages of a request used: one look by its hash, however many usages there
 * are, and where nobody asked that, one at the newest requests, whose words are read. */
#include "catalog/store_sqlite.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/request_words.h"

/* Bounds of a look: requests that are like this one, requests that are read for being nearly the same and the bytes of
 * them, and the usages that are read and that count: the newest; and those that say how far clients are believed. */
enum {
    SAME_MAX = 32,
    NEAR_READ = 200,
    NEAR_BYTES = 256 << 10,
    USAGES_READ = 1000,
    USAGES_MAX = 200,
    TRUST_READ = 2000
};

struct like_request {
    int64_t id;
    float likeness;
};

struct look {
    struct store *store;
    struct arena *arena;
    const struct request_words *words;
    struct like_request like[SAME_MAX];
    size_t count;
    struct recorded_tool *tools;      /* [RECORDED_TOOLS_MAX] */
    double trust[RECORDED_TOOLS_MAX]; /* of each, in what a client says of it; 0: not looked up yet */
    size_t tool_count, trust_budget;
    size_t read, counted; /* usages */
    double usages;        /* each by the likeness of its request */
    struct map said; /* client and tool: a client is heard once, however often and in whatever writing it says it */
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

/* A usage of the tool: told by a client it counts as much as clients in general may be believed of that tool. */
static int add_tool(struct look *look, int64_t tool, bool told, double weight)
{
    size_t i = 0;
    int rc = 0;
    while (i < look->tool_count && look->tools[i].tool != tool)
        i++;
    if (i == RECORDED_TOOLS_MAX)
        return 0;
    if (i == look->tool_count)
        look->tools[look->tool_count++] = (struct recorded_tool){.tool = tool};
    if (told && look->trust[i] == 0)
        rc = wt__store_trust(look->store, tool, &look->trust_budget, &look->trust[i], look->err);
    look->tools[i].share += told ? weight * look->trust[i] : weight;
    return rc;
}

/* Whether the client has not said that of this request yet. -1: memory is out. */
static int is_first(struct look *look, int64_t client, int64_t tool)
{
    bool added;
    int64_t *key = wt__arena_array(look->arena, int64_t, 2);
    if (!key)
        return -1;
    key[0] = client;
    key[1] = tool;
    return wt__map_insert(&look->said, (struct str){(const char *)key, 2 * sizeof *key}, 0, &added) ? added : -1;
}

/* 1 when the usage counts: 0 when its client (0: nobody) said all of it later on, or its tools are gone. */
static int read_usage(struct look *look, int64_t usage, int64_t client, double likeness)
{
    sqlite3_stmt *rows;
    int counts = 0;
    int rc = wt__sql_prepare(look->store,
                             "SELECT l.tool FROM usage_tool x CROSS JOIN label l ON l.id = x.label"
                             " WHERE x.usage = ?1 AND l.tool IS NOT NULL",
                             &rows, look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, usage);
    while ((rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        int64_t tool = sqlite3_column_int64(rows, 0);
        int first = client ? is_first(look, client, tool) : 1;
        rc = first < 0 ? wt__fail_nomem(look->err) : first ? add_tool(look, tool, client != 0, likeness) : 0;
        if (rc < 0)
            break;
        counts |= first;
    }
    wt__sql_reset(rows);
    look->usages += counts ? likeness : 0;
    return rc < 0 ? rc : counts;
}

/* Its part of what may be read, and may count, for the requests from this one on: what one leaves is the next one's. */
static int read_usages(struct look *look, const struct like_request *request)
{
    sqlite3_stmt *rows;
    size_t requests = look->count - (size_t)(request - look->like);
    size_t most = (USAGES_MAX - look->counted + requests - 1) / requests, counted = 0;
    int rc = wt__sql_prepare(look->store,
                             "SELECT id, client, outcome FROM usage WHERE request = ?1 ORDER BY id DESC LIMIT ?2",
                             &rows, look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, request->id);
    sqlite3_bind_int64(rows, 2, (int64_t)((USAGES_READ - look->read + requests - 1) / requests));
    while (counted < most && (rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        look->read++;
        if (sqlite3_column_int(rows, 2) == USAGE_FAILED)
            continue;
        rc = read_usage(look, sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 1), (double)request->likeness);
        if (rc < 0)
            break;
        counted += (size_t)rc;
    }
    wt__sql_reset(rows);
    look->counted += counted;
    return rc < 0 ? rc : 0;
}

int wt__store_recorded(struct store *store, struct str request, struct arena *arena, struct recorded_tool **out,
                       size_t *count, wt_error *err)
{
    struct request_words words;
    struct look look = {.store = store, .arena = arena, .words = &words, .trust_budget = TRUST_READ, .err = err};
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
    wt__map_dispose(&look.said);
    *count = rc == 0 ? look.tool_count : 0;
    return rc;
}
