/* recorded.c: finds the tools that past usages of a request used. A lookup costs a bounded number of index seeks,
 * however many usages the store holds.
 *
 * A client that reports the same request a thousand times must not push the reports of other clients out of a limit.
 * The limits below therefore count distinct clients, and each client has a share of a limit. The index usage_hash
 * (hash, client) lists the clients of a request. One seek skips the repeated reports of a client. */
#include "store/internal.h"

#include <stdbool.h>
#include <string.h>

#include "base/checksum.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "text/analyser.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- words of requests */

/* Minimum share of common content words in nearly equal requests. It was chosen on the dev split (docs/learning.md).
 * There, 9 of 10 MetaTool requests with such a similar past request need the tools of the past request. */
static const float NEARLY = 0.8f;
enum { WORD_BYTES = 64 }; /* maximum bytes of a word; longer ones are split */

/* Words that reverse a request. */
static const char turning[][8] = {"no",    "not",  "never", "without", "except", "on",   "off",    "up",
                                  "down",  "in",   "out",   "from",    "to",     "into", "before", "after",
                                  "under", "over", "more",  "less",    "don",    "t"};

static bool is_request_character(uint32_t c)
{
    return c < 0x80 ? wt__is_letter((char)c) || wt__is_digit((char)c) : wt__unicode_kind(c) != UNICODE_OTHER;
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
    for (size_t i = 0; i < sizeof turning / sizeof *turning; i++)
        if (wt__str_equal(word, wt__str(turning[i])))
            return 1u << i;
    return 0;
}

static void add_request_word(struct request_words *out, struct str word)
{
    unsigned bit = turning_bit(word);
    out->turning |= bit;
    if (bit || wt__is_stopword(word) || out->count > REQUEST_WORDS_MAX)
        return;
    out->words[out->count++] = wt__checksum(word.ptr, word.len, 0);
    if (out->count > REQUEST_WORDS_MAX)
        out->count = wt__sort_unique_u64(out->words, out->count);
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
    out->count = wt__sort_unique_u64(out->words, out->count);
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

/* Limits of a lookup. A limit "per group" applies twice: to the usages without a client, and to the usages of all
 * clients together. */
enum {
    LIKE_MAX = 32,           /* nearly equal requests that are used, per group */
    NEAR_READ = 200,         /* newest requests that are compared, per group */
    NEAR_BYTES = 256 << 10,  /* bytes of the compared requests, per group */
    NEAR_STEPS = 1000,       /* requests of all clients that are looked up; one of several clients counts for each */
    NEAR_CLIENTS = 50,       /* most recently active clients that share the limits above */
    USAGES_READ = 1000,      /* newest usages without a client that are read */
    USAGES_MAX = 200,        /* usages that count, per group */
    CLIENTS_READ = 100,      /* clients whose usages are read */
    CLIENT_READ = 5,         /* newest usages of one client that are read for one request */
    CLIENT_USAGES = 4,       /* usages of one client that count, over all requests */
    CLIENT_USAGE_TOOLS = 16, /* tools that count in one usage of a client; all usages share RECORDED_TOOLS_MAX */
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
    size_t read, counted;               /* usages without a client that were read, and that counted */
    size_t clients_read, client_usages; /* clients that were read, and their usages that counted */
    double usages;                      /* usages that counted, each weighted by the likeness of its request */
    struct map named;                   /* set of (client, tool): a client counts once per tool */
    struct map counted_of;              /* client -> number of its usages that counted */
    struct map compared;                /* set of the compared requests */
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
    return wt__sql_find(store, "SELECT id FROM request WHERE hash = ?1 AND text = ?2",
                        SQL_VALUES(sql_integer((int64_t)wt__store_request_hash(request)), sql_text(request)), id, err);
}

/* ---------------------------------------------------------------- nearly equal requests */

static void add_like_request(struct recorded_lookup *look, int64_t hash, float likeness)
{
    size_t i = 0;
    while (i < look->like_count && look->like[i].hash != hash)
        i++;
    if (i == look->like_count)
        look->like[look->like_count++] = (struct like_request){hash, likeness};
}

/* Sets *request to the client's newest request with an id below *request. client is 0 for usages without a client.
 * Returns 1, or 0 after the last request. */
static int next_request(struct recorded_lookup *look, int64_t client, int64_t *request)
{
    static const char *const selects[] = {
        "SELECT request FROM usage WHERE client IS NULL AND request < ?1 ORDER BY request DESC LIMIT 1",
        "SELECT request FROM usage WHERE client = ?2 AND request < ?1 ORDER BY request DESC LIMIT 1"};
    return wt__sql_find(look->store, selects[client != 0], SQL_VALUES(sql_integer(*request), sql_client(client)),
                        request, look->err);
}

/* Compares a stored request with the request of the lookup. Adds the length of the stored request to *bytes. */
static int compare_request(struct recorded_lookup *look, int64_t request, size_t *bytes)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    struct request_words words;
    WT_TRY(wt__sql_open(look->store, "SELECT hash, text FROM request WHERE id = ?1", SQL_VALUES(sql_integer(request)),
                        &row, look->err));
    int rc = wt__sql_step(look->store, row, look->err);
    if (rc <= 0)
        return rc;
    struct str text = wt__sql_column(row, 1);
    wt__request_words(text, &words);
    float likeness = wt__request_likeness(look->words, &words);
    if (likeness > 0)
        add_like_request(look, wt__sql_integer(row, 0), likeness);
    *bytes += text.len;
    return 0;
}

/* Reading limits for one client. They do not depend on the requests of other clients. */
struct near_limits {
    size_t steps, requests, bytes, like;
};

/* Copies a number into the arena as the key of a map; ptr is NULL if out of memory. */
static struct str copy_number_key(struct recorded_lookup *look, int64_t number)
{
    return (struct str){wt__arena_copy(look->arena, (struct str){(const char *)&number, sizeof number}), sizeof number};
}

/* Adds the client's newest requests that are nearly equal. client is 0 for usages without a client. */
static int read_near_requests(struct recorded_lookup *look, int64_t client, struct near_limits most)
{
    int64_t request = INT64_MAX;
    size_t steps = 0, read = 0, bytes = 0, first = look->like_count;
    while (steps++ < most.steps && read < most.requests && bytes < most.bytes && look->like_count - first < most.like &&
           look->like_count < 2 * LIKE_MAX) {
        bool added = false;
        int found = next_request(look, client, &request);
        if (found <= 0)
            return found;
        struct str key = copy_number_key(look, request);
        if (!key.ptr || !wt__map_insert(&look->compared, key, 0, &added))
            return wt__fail_nomem(look->err);
        read += added;
        if (added)
            WT_TRY(compare_request(look, request, &bytes));
    }
    return 0;
}

static size_t limit_per_client(size_t all, size_t clients)
{
    return clients > 0 && all > clients ? all / clients : 1;
}

static int find_near_requests(struct recorded_lookup *look)
{
    int64_t clients[NEAR_CLIENTS];
    int found = wt__sql_integers(look->store, "SELECT id FROM client ORDER BY last DESC LIMIT ?1",
                                 SQL_VALUES(sql_integer(NEAR_CLIENTS)), clients, NEAR_CLIENTS, look->err);
    if (found < 0)
        return found;
    size_t count = (size_t)found;
    WT_TRY(read_near_requests(look, 0, (struct near_limits){NEAR_READ, NEAR_READ, NEAR_BYTES, LIKE_MAX}));
    const struct near_limits most = {limit_per_client(NEAR_STEPS, count), limit_per_client(NEAR_READ, count),
                                     limit_per_client(NEAR_BYTES, count), limit_per_client(LIKE_MAX, count)};
    for (size_t i = 0; i < count; i++)
        WT_TRY(read_near_requests(look, clients[i], most));
    return 0;
}

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
    const int64_t pair[2] = {client, tool};
    struct str key = {wt__arena_copy(look->arena, (struct str){(const char *)pair, sizeof pair}), sizeof pair};
    bool added;
    return key.ptr && wt__map_insert(&look->named, key, 0, &added) ? added : -1;
}

/* Adds the tools of a usage. Returns 1 if the usage counts. Returns 0 if its tools do not exist any more, or if newer
 * usages of the client named all of them. */
static int count_usage_tools(struct recorded_lookup *look, int64_t usage, int64_t client, double likeness)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int counts = 0, rc;
    WT_TRY(wt__sql_open(look->store,
                        "SELECT l.tool FROM usage_tool x CROSS JOIN label l ON l.id = x.label"
                        " WHERE x.usage = ?1 AND l.tool IS NOT NULL ORDER BY x.position LIMIT ?2",
                        SQL_VALUES(sql_integer(usage), sql_integer(client ? CLIENT_USAGE_TOOLS : SQL_NO_LIMIT)), &rows,
                        look->err));
    while ((rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        int64_t tool = wt__sql_integer(rows, 0);
        int first = client ? is_first_report(look, client, tool) : 1;
        if (first < 0)
            return wt__fail_nomem(look->err);
        if (first)
            WT_TRY(add_recorded_tool(look, tool, client != 0, likeness));
        counts |= first;
    }
    look->usages += counts ? likeness : 0;
    return rc < 0 ? rc : counts;
}

/* Reads up to most_read of a client's newest usages of the request, until `most` of them counted. *counted receives the
 * number that counted. client is 0 for usages without a client. */
static int read_client_usages(struct recorded_lookup *look, const struct like_request *request, int64_t client,
                              size_t most_read, size_t most, size_t *counted)
{
    static const char *const selects[] = {
        "SELECT id, outcome FROM usage WHERE hash = ?1 AND client IS NULL ORDER BY id DESC LIMIT ?2",
        "SELECT id, outcome FROM usage WHERE hash = ?1 AND client = ?3 ORDER BY id DESC LIMIT ?2"};
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    *counted = 0;
    int rc = wt__sql_open(look->store, selects[client != 0],
                          SQL_VALUES(sql_integer(request->hash), sql_integer((int64_t)most_read), sql_client(client)),
                          &rows, look->err);
    while (rc >= 0 && *counted < most && (rc = wt__sql_step(look->store, rows, look->err)) == 1) {
        look->read += client == 0;
        if (wt__sql_integer(rows, 1) == USAGE_FAILED)
            continue;
        rc = count_usage_tools(look, wt__sql_integer(rows, 0), client, (double)request->likeness);
        *counted += rc > 0;
    }
    return rc < 0 ? rc : 0;
}

/* Reads the reports of one client about the request, up to the client's share of the whole lookup. */
static int read_client_reports(struct recorded_lookup *look, const struct like_request *request, int64_t client)
{
    size_t counted;
    struct str key = copy_number_key(look, client);
    uint32_t *counted_of = key.ptr ? wt__map_insert(&look->counted_of, key, 0, NULL) : NULL;
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
    while (look->clients_read < most_read && look->client_usages < most) {
        int rc = wt__sql_find(look->store, next, SQL_VALUES(sql_integer(request->hash), sql_integer(client)), &client,
                              look->err);
        if (rc <= 0)
            return rc;
        WT_TRY(read_client_reports(look, request, client));
    }
    return 0;
}

/* Reads the usages of the requests from like[from] on. Each request has an equal part of the remaining limits. */
static int read_requests_usages(struct recorded_lookup *look, size_t from)
{
    for (size_t i = from; i < look->like_count; i++) {
        size_t requests = look->like_count - i, counted;
        WT_TRY(read_client_usages(look, &look->like[i], 0, (USAGES_READ - look->read + requests - 1) / requests,
                                  (USAGES_MAX - look->counted + requests - 1) / requests, &counted));
        look->counted += counted;
        WT_TRY(read_clients_reports(look, &look->like[i], requests));
    }
    return 0;
}

static int run_lookup(struct recorded_lookup *look)
{
    size_t wanted;
    add_like_request(look, (int64_t)look->words->hash, 1);
    WT_TRY(read_requests_usages(look, 0));
    WT_TRY(wt__store_clients_wanted(look->store, &wanted, look->err));
    /* Ignore nearly equal requests only if a usage without a client, or enough clients, reported this request.
     * Otherwise one client's report would hide all reports of nearly equal requests. */
    if (look->counted > 0 || (look->client_usages > 0 && look->counted_of.len >= wanted))
        return 0;
    WT_TRY(find_near_requests(look));
    return read_requests_usages(look, 1);
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
