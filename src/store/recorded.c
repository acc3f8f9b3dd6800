/* recorded.c: finds the tools that past usages of a request used. A lookup costs a bounded number of index seeks,
 * however many usages the store holds.
 *
 * One client must not fill a limit: by reporting the same thing a thousand times it would push the reports of others
 * out of the window. So every limit below applies to distinct clients, and one client has a fixed share of it. The
 * index usage_hash (hash, client) lists the clients of a request; one seek skips the repeats of a client. */
#include "store/internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/map.h"
#include "base/memory.h"
#include "text/analyser.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- words of requests */

/* Chosen on dev (docs/learning.md): of metatool's requests with such a past request, 9 of 10 need its tools. */
static const float NEARLY = 0.8f;
enum { WORD_BYTES = 64 }; /* maximum bytes of a word; longer ones are split */

static const char turning[][8] = {"no",    "not",  "never", "without", "except", "on",   "off",    "up",
                                  "down",  "in",   "out",   "from",    "to",     "into", "before", "after",
                                  "under", "over", "more",  "less",    "don",    "t"};

static bool is_request_character(uint32_t c)
{
    enum unicode_kind kind = c < 0x80 ? UNICODE_OTHER : wt__unicode_kind(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || kind != UNICODE_OTHER;
}

/* Writes the next word in lower case and returns its length; 0 at the end. */
static size_t next_request_word(const char **at, const char *end, char out[WORD_BYTES])
{
    size_t len = 0;
    while (*at < end && len + 4 * UNICODE_MAX_LOWER <= WORD_BYTES) {
        uint32_t c = wt__utf8_next(at, end), lower[UNICODE_MAX_LOWER];
        if (is_request_character(c))
            for (unsigned i = 0, n = wt__unicode_lower(c, lower); i < n; i++)
                len += wt__utf8_put(lower[i], out + len);
        else if (len > 0)
            break;
    }
    return len;
}

static unsigned turning_bit(struct str word)
{
    for (size_t i = 0; word.len < sizeof turning[0] && i < sizeof turning / sizeof *turning; i++)
        if (memcmp(word.ptr, turning[i], word.len) == 0 && turning[i][word.len] == '\0')
            return 1u << i;
    return 0;
}

static int compare_word_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and removes duplicates. Returns the number left. */
static size_t sort_unique(uint64_t *words, size_t count)
{
    size_t kept = 0;
    qsort(words, count, sizeof *words, compare_word_hashes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || words[i] != words[kept - 1])
            words[kept++] = words[i];
    return kept;
}

static void add_request_word(struct request_words *out, struct str word)
{
    unsigned bit = turning_bit(word);
    out->turning |= bit;
    if (bit || wt__is_stopword(word) || out->count > REQUEST_WORDS_MAX)
        return;
    out->words[out->count++] = wt__checksum(word.ptr, word.len, 0);
    if (out->count > REQUEST_WORDS_MAX)
        out->count = sort_unique(out->words, out->count);
}

void wt__request_words(struct str request, struct request_words *out)
{
    const char *at = request.ptr, *end = request.ptr + request.len;
    char word[WORD_BYTES];
    bool any = false;
    out->hash = 0;
    out->turning = 0;
    out->count = 0;
    for (size_t len; (len = next_request_word(&at, end, word)) > 0; any = true) {
        out->hash = wt__checksum(word, len, out->hash);
        add_request_word(out, (struct str){word, len});
    }
    if (!any)
        out->hash = wt__checksum(request.ptr, request.len, 0);
    out->count = sort_unique(out->words, out->count);
}

float wt__request_likeness(const struct request_words *a, const struct request_words *b)
{
    size_t common = 0;
    if (a->hash == b->hash)
        return 1;
    if (a->turning != b->turning || a->count > REQUEST_WORDS_MAX || b->count > REQUEST_WORDS_MAX)
        return 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        common += a->words[i] == b->words[j];
        if (a->words[i] == b->words[j])
            i++, j++;
        else if (a->words[i] < b->words[j])
            i++;
        else
            j++;
    }
    size_t least = a->count < b->count ? a->count : b->count, all = a->count + b->count - common;
    bool near = common == least && least > 1 && (float)common >= NEARLY * (float)all;
    return near ? (float)common / (float)all : 0;
}

/* ---------------------------------------------------------------- lookup */

enum {
    LIKE_MAX = 32,           /* nearly equal requests of usages without a client, and as many of all clients */
    NEAR_READ = 200,         /* newest requests without a client that are compared, and as many of all clients */
    NEAR_BYTES = 256 << 10,  /* bytes of those requests */
    NEAR_STEPS = 1000,       /* requests of all clients that are looked up, including duplicates of other clients */
    NEAR_CLIENTS = 50,       /* most recently active clients that share the limits above */
    USAGES_READ = 1000,      /* newest usages without a client that are read */
    USAGES_MAX = 200,        /* usages that count: without a client, and as many of all clients */
    CLIENTS_READ = 100,      /* clients whose usages are read */
    CLIENT_READ = 5,         /* newest usages of one client that are read for one request */
    CLIENT_USAGES = 4,       /* usages of one client that count, over all requests */
    CLIENT_USAGE_TOOLS = 16, /* tools of one usage of a client that count: RECORDED_TOOLS_MAX is shared by all */
    TRUST_READ = 2000        /* clients that are looked up for their trust, over all tools */
};

struct like_request {
    int64_t hash;
    float likeness;
};

struct recorded_lookup {
    struct store *store;
    struct arena *arena;
    const struct request_words *words;
    struct like_request like[2 * LIKE_MAX];
    size_t like_count;
    struct recorded_tool *tools;      /* [RECORDED_TOOLS_MAX] */
    double trust[RECORDED_TOOLS_MAX]; /* trust in clients for each tool; 0 if not looked up yet */
    size_t tool_count, trust_budget;
    size_t read, counted;               /* usages without a client */
    size_t clients_read, client_usages; /* clients read, and their usages that counted */
    double usages;                      /* usages that counted, each weighted by the likeness of its request */
    struct map named;                   /* (client, tool): a client counts once per tool */
    struct map counted_of;              /* client -> its usages that counted */
    struct map compared;                /* requests compared */
    wt_error *err;
};

uint64_t wt__store_request_hash(struct str request)
{
    struct request_words words;
    wt__request_words(request, &words);
    return words.hash;
}

int wt__store_request_row(struct store *store, struct str request, int64_t *id, wt_error *err)
{
    sqlite3_stmt *row;
    WT_TRY(wt__sql_prepare(store, "SELECT id FROM request WHERE hash = ?1 AND text = ?2", &row, err));
    if (sqlite3_bind_int64(row, 1, (int64_t)wt__store_request_hash(request)) | wt__sql_bind_text(row, 2, request))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *id = sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc;
}

/* ---------------------------------------------------------------- nearly equal requests */

static int read_recent_clients(struct recorded_lookup *look, int64_t clients[NEAR_CLIENTS], size_t *count)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(look->store, "SELECT id FROM client ORDER BY last DESC LIMIT ?1", &rows, look->err);
    *count = 0;
    if (rc < 0)
        return rc;
    sqlite3_bind_int(rows, 1, NEAR_CLIENTS);
    while (*count < NEAR_CLIENTS && (rc = wt__sql_step(look->store, rows, look->err)) == 1)
        clients[(*count)++] = sqlite3_column_int64(rows, 0);
    wt__sql_reset(rows);
    return rc < 0 ? rc : 0;
}

static void add_like_request(struct recorded_lookup *look, int64_t hash, float likeness)
{
    size_t i = 0;
    while (i < look->like_count && look->like[i].hash != hash)
        i++;
    if (i == look->like_count)
        look->like[look->like_count++] = (struct like_request){hash, likeness};
}

/* Moves *request to the newest request of the client below it. client 0: usages without a client. Returns 1, or 0 after
 * the last. */
static int next_request(struct recorded_lookup *look, int64_t client, int64_t *request)
{
    sqlite3_stmt *row;
    WT_TRY(wt__sql_prepare(look->store,
                           "SELECT request FROM usage WHERE client IS nullif(?1, 0) AND request < ?2"
                           " ORDER BY request DESC LIMIT 1",
                           &row, look->err));
    sqlite3_bind_int64(row, 1, client);
    sqlite3_bind_int64(row, 2, *request);
    int rc = wt__sql_step(look->store, row, look->err);
    if (rc == 1)
        *request = sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc;
}

/* Compares one request. *bytes grows by its length. */
static int compare_request(struct recorded_lookup *look, int64_t request, size_t *bytes)
{
    sqlite3_stmt *row;
    struct request_words words;
    WT_TRY(wt__sql_prepare(look->store, "SELECT hash, text FROM request WHERE id = ?1", &row, look->err));
    sqlite3_bind_int64(row, 1, request);
    int rc = wt__sql_step(look->store, row, look->err);
    if (rc == 1) {
        struct str text = wt__sql_column(row, 1);
        wt__request_words(text, &words);
        float likeness = wt__request_likeness(look->words, &words);
        if (likeness > 0)
            add_like_request(look, sqlite3_column_int64(row, 0), likeness);
        *bytes += text.len;
    }
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

/* Reading limits for one client. */
struct near_limits {
    size_t steps, requests, bytes, like;
};

/* Adds the client's newest requests that are nearly equal. client is 0 for usages without a client. The share of a
 * client does not depend on the others. */
static int read_near_requests(struct recorded_lookup *look, int64_t client, struct near_limits most)
{
    int64_t request = INT64_MAX;
    size_t steps = 0, read = 0, bytes = 0, first = look->like_count;
    int rc = 0;
    while (rc == 0 && steps++ < most.steps && read < most.requests && bytes < most.bytes &&
           look->like_count - first < most.like && look->like_count < 2 * LIKE_MAX) {
        bool added = false;
        int found = next_request(look, client, &request);
        if (found <= 0)
            return found;
        int64_t *key = wt__arena_array(look->arena, int64_t, 1);
        WT_CHECK_ALLOC(key, look->err);
        *key = request;
        if (!wt__map_insert(&look->compared, (struct str){(const char *)key, sizeof *key}, 0, &added))
            return wt__fail_nomem(look->err);
        read += added;
        rc = added ? compare_request(look, request, &bytes) : 0;
    }
    return rc;
}

static size_t limit_per_client(size_t all, size_t clients)
{
    return clients > 0 && all > clients ? all / clients : 1;
}

static int find_near_requests(struct recorded_lookup *look)
{
    int64_t clients[NEAR_CLIENTS];
    size_t count;
    int rc = read_recent_clients(look, clients, &count);
    if (rc == 0)
        rc = read_near_requests(look, 0, (struct near_limits){NEAR_READ, NEAR_READ, NEAR_BYTES, LIKE_MAX});
    const struct near_limits most = {limit_per_client(NEAR_STEPS, count), limit_per_client(NEAR_READ, count),
                                     limit_per_client(NEAR_BYTES, count), limit_per_client(LIKE_MAX, count)};
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = read_near_requests(look, clients[i], most);
    return rc;
}

/* ---------------------------------------------------------------- usages */

/* Adds a usage of the tool. A client's report is weighted by the trust in clients for that tool. */
static int add_recorded_tool(struct recorded_lookup *look, int64_t tool, bool by_client, double weight)
{
    size_t i = 0;
    int rc = 0;
    while (i < look->tool_count && look->tools[i].tool != tool)
        i++;
    if (i == RECORDED_TOOLS_MAX)
        return 0;
    if (i == look->tool_count)
        look->tools[look->tool_count++] = (struct recorded_tool){.tool = tool};
    if (by_client && look->trust[i] == 0)
        rc = wt__store_trust(look->store, tool, &look->trust_budget, &look->trust[i], look->err);
    look->tools[i].share += by_client ? weight * look->trust[i] : weight;
    return rc;
}

/* Returns 1 if the client has not named the tool in this lookup yet, else 0; or -1 if out of memory. */
static int is_first_report(struct recorded_lookup *look, int64_t client, int64_t tool)
{
    bool added;
    int64_t *key = wt__arena_array(look->arena, int64_t, 2);
    if (!key)
        return -1;
    key[0] = client;
    key[1] = tool;
    return wt__map_insert(&look->named, (struct str){(const char *)key, 2 * sizeof *key}, 0, &added) ? added : -1;
}

/* Returns 1 if the usage counts, or 0 if newer usages of its client named all its tools or its tools are gone. */
static int count_usage_tools(struct recorded_lookup *look, int64_t usage, int64_t client, double likeness)
{
    sqlite3_stmt *rows;
    int counts = 0;
    int rc = wt__sql_prepare(look->store,
                             "SELECT l.tool FROM usage_tool x CROSS JOIN label l ON l.id = x.label"
                             " WHERE x.usage = ?1 AND l.tool IS NOT NULL ORDER BY x.position LIMIT ?2",
                             &rows, look->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, usage);
    sqlite3_bind_int(rows, 2, client ? CLIENT_USAGE_TOOLS : -1);
    while ((rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        int64_t tool = sqlite3_column_int64(rows, 0);
        int first = client ? is_first_report(look, client, tool) : 1;
        rc = first < 0 ? wt__fail_nomem(look->err) : first ? add_recorded_tool(look, tool, client != 0, likeness) : 0;
        if (rc < 0)
            break;
        counts |= first;
    }
    wt__sql_reset(rows);
    look->usages += counts ? likeness : 0;
    return rc < 0 ? rc : counts;
}

/* Reads the newest usages of one client until `most` of them counted. client is 0 for usages without a client. */
static int read_client_usages(struct recorded_lookup *look, const struct like_request *request, int64_t client,
                              size_t most_read, size_t most, size_t *counted)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(look->store,
                             "SELECT id, outcome FROM usage WHERE hash = ?1 AND client IS nullif(?2, 0)"
                             " ORDER BY id DESC LIMIT ?3",
                             &rows, look->err);
    *counted = 0;
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, request->hash);
    sqlite3_bind_int64(rows, 2, client);
    sqlite3_bind_int64(rows, 3, (int64_t)most_read);
    while (*counted < most && (rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        look->read += client == 0;
        if (sqlite3_column_int(rows, 1) == USAGE_FAILED)
            continue;
        rc = count_usage_tools(look, sqlite3_column_int64(rows, 0), client, (double)request->likeness);
        if (rc < 0)
            break;
        *counted += (size_t)rc;
    }
    wt__sql_reset(rows);
    return rc < 0 ? rc : 0;
}

/* Reads the reports of one client about the request, up to the client's share of the whole lookup. */
static int read_client_reports(struct recorded_lookup *look, const struct like_request *request, int64_t client)
{
    size_t counted;
    int64_t *key = wt__arena_array(look->arena, int64_t, 1);
    WT_CHECK_ALLOC(key, look->err);
    *key = client;
    uint32_t *counted_of = wt__map_insert(&look->counted_of, (struct str){(const char *)key, sizeof *key}, 0, NULL);
    WT_CHECK_ALLOC(counted_of, look->err);
    int rc = read_client_usages(look, request, client, CLIENT_READ, CLIENT_USAGES - *counted_of, &counted);
    *counted_of += (uint32_t)counted;
    look->clients_read++;
    look->client_usages += counted;
    return rc;
}

static int read_clients_reports(struct recorded_lookup *look, const struct like_request *request, size_t requests)
{
    static const char next[] = "SELECT client FROM usage WHERE hash = ?1 AND client < ?2 ORDER BY client DESC LIMIT 1";
    size_t most_read = look->clients_read + (CLIENTS_READ - look->clients_read + requests - 1) / requests;
    size_t most = look->client_usages + (USAGES_MAX - look->client_usages + requests - 1) / requests;
    int64_t client = INT64_MAX;
    int rc = 1;
    while (rc == 1 && look->clients_read < most_read && look->client_usages < most) {
        rc = wt__sql_next_client(look->store, next, request->hash, &client, look->err);
        int counted_of = rc == 1 ? read_client_reports(look, request, client) : 0;
        rc = counted_of < 0 ? counted_of : rc;
    }
    return rc < 0 ? rc : 0;
}

/* Reads the usages of the requests from like[from] on. Each has an equal part of the remaining limits. */
static int read_requests_usages(struct recorded_lookup *look, size_t from)
{
    int rc = 0;
    for (size_t i = from; rc == 0 && i < look->like_count; i++) {
        size_t requests = look->like_count - i, counted;
        rc = read_client_usages(look, &look->like[i], 0, (USAGES_READ - look->read + requests - 1) / requests,
                                (USAGES_MAX - look->counted + requests - 1) / requests, &counted);
        look->counted += counted;
        if (rc == 0)
            rc = read_clients_reports(look, &look->like[i], requests);
    }
    return rc;
}

/* True if the usages read so far suffice. A few clients do not: a single report of a request would otherwise hide all
 * reports of nearly equal requests. */
static int is_decided(struct recorded_lookup *look, bool *out)
{
    size_t wanted;
    int rc = wt__store_clients_wanted(look->store, &wanted, look->err);
    *out = look->counted > 0 || (look->client_usages > 0 && look->counted_of.len >= wanted);
    return rc;
}

static int run_lookup(struct recorded_lookup *look)
{
    bool decided = false;
    add_like_request(look, (int64_t)look->words->hash, 1);
    int rc = read_requests_usages(look, 0);
    if (rc == 0)
        rc = is_decided(look, &decided);
    if (rc < 0 || decided)
        return rc;
    rc = find_near_requests(look);
    return rc < 0 ? rc : read_requests_usages(look, 1);
}

int wt__store_recorded(struct store *store, struct str request, struct arena *arena, struct recorded_tool **out,
                       size_t *count, wt_error *err)
{
    struct request_words words;
    struct recorded_lookup look = {
        .store = store, .arena = arena, .words = &words, .trust_budget = TRUST_READ, .err = err};
    *count = 0;
    *out = look.tools = wt__arena_array(arena, struct recorded_tool, RECORDED_TOOLS_MAX);
    WT_CHECK_ALLOC(look.tools, err);
    wt__request_words(request, &words);
    int rc = run_lookup(&look);
    for (size_t i = 0; rc == 0 && i < look.tool_count; i++)
        look.tools[i].share /= look.usages + 1;
    wt__map_dispose(&look.named);
    wt__map_dispose(&look.counted_of);
    wt__map_dispose(&look.compared);
    *count = rc == 0 ? look.tool_count : 0;
    return rc;
}
