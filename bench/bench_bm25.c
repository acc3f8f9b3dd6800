/* bench_bm25.c: top 10 by BM25 of 1,000 to 2,000,000 tools: whichtool, and SQLite FTS5 with the same terms.
 *
 *   bench_bm25 [WORK_FOLDER]      default build-bench/work
 *
 * Each tool is composed of parts of real tools: a name, a provider, a description and half of another description. The
 * real tools are read from $WT_SHARED/data, or else from ../shared/data. If there are fewer than a thousand, the tools
 * consist of words drawn by Zipf's law. Standard error says which tools were used. Short requests have ten terms of
 * descriptions, and long requests have sixty. Times are processor times, since machines are shared.
 *
 * The analyser tokenises all texts once, so that every peer indexes the same terms. For bm25_bm25s.py, the terms are
 * written to WORK_FOLDER/bm25-{1k,16k,100k,1M}.txt, one tool a line, and to WORK_FOLDER/bm25-queries.txt.
 *
 * BENCH_FTS_TOOLS: FTS5 skips catalogues with more tools than this; default 1,000,000. FTS5 takes minutes to index a
 * million tools. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "index/lexical.h"
#include "text/analyser.h"
#include "support.h"

enum {
    SOURCES_MAX = 40000,
    ZIPF_WORDS = 60000,
    ZIPF_SOURCES = 10000,
    QUERIES = 40, /* requests of each length */
    SHORT = 10,   /* terms of a short request */
    LONG = 60,    /* terms of a long request */
    K = 10,
    FIELDS = 3,
    ROUNDS_MAX = 32,
    PEER_TOOLS = 1000000, /* peers index no more tools than this */
    BATCH = 200000        /* number of FTS5 inserts in a transaction */
};

struct tool_source {
    struct str *terms[FIELDS]; /* name, provider, description */
    size_t counts[FIELDS];
};

struct bm25_bench {
    struct arena arena;
    struct tool_source sources[SOURCES_MAX];
    size_t source_count;
    struct str queries[2 * QUERIES][LONG];
    size_t query_len[2 * QUERIES];
    const char *folder;
};

static const struct {
    const char *name;
    uint32_t tools;
    int rounds;
} sizes[] = {{"1k", 1000, 31}, {"16k", 16000, 21}, {"100k", 100000, 11}, {"1M", 1000000, 5}, {"2M", 2000000, 5}};

/* --- Real or synthetic tools --- */

static void add_field(struct bm25_bench *b, struct tool_source *source, size_t field, struct analyser *analyser,
                      struct str text)
{
    struct token_list tokens = {0};
    if (wt__analyser_run(analyser, text, &tokens) < 0)
        exit_with_message("out of memory");
    source->terms[field] = wt__arena_array(&b->arena, struct str, tokens.len);
    source->counts[field] = tokens.len;
    for (size_t i = 0; i < tokens.len; i++)
        source->terms[field][i] = wt__str(wt__arena_copy(&b->arena, tokens.terms[i]));
    wt__token_list_dispose(&tokens);
}

static void read_corpus(struct bm25_bench *b, struct analyser *analyser, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    while (file && (len = getline(&line, &capacity, file)) > 0 && b->source_count < SOURCES_MAX) {
        json_t *tool = NULL;
        if (wt__json_parse(&tool, line, (size_t)len, NULL) < 0)
            continue;
        struct str text = wt__json_str(tool, "text");
        if (text.len > 40) {
            struct tool_source *source = &b->sources[b->source_count++];
            add_field(b, source, 0, analyser, wt__json_str(tool, "title"));
            add_field(b, source, 1, analyser, wt__json_str(wt__json_object(tool, "metadata"), "provider"));
            add_field(b, source, 2, analyser, text);
        }
        json_decref(tool);
    }
    free(line);
    if (file)
        fclose(file);
}

static void make_zipf(struct bm25_bench *b)
{
    static const size_t counts[FIELDS] = {3, 2, 40};
    struct rng rng;
    char text[32];
    struct str *words = wt__arena_array(&b->arena, struct str, ZIPF_WORDS);
    for (unsigned i = 0; i < ZIPF_WORDS; i++) {
        snprintf(text, sizeof text, "w%u", i);
        words[i] = wt__str(wt__arena_copy(&b->arena, wt__str(text)));
    }
    wt__rng_seed(&rng, 1);
    for (b->source_count = 0; b->source_count < ZIPF_SOURCES; b->source_count++) {
        struct tool_source *source = &b->sources[b->source_count];
        for (size_t f = 0; f < FIELDS; f++) {
            source->counts[f] = counts[f];
            source->terms[f] = wt__arena_array(&b->arena, struct str, counts[f]);
            for (size_t i = 0; i < counts[f]; i++)
                source->terms[f][i] = words[(size_t)exp(wt__rng_unit(&rng) * log(ZIPF_WORDS)) % ZIPF_WORDS];
        }
    }
}

static void read_sources(struct bm25_bench *b)
{
    static const char *const sets[] = {"mcp-smithery", "toolbench-open", "apigen", "bfcl-multiple", "callnavi"};
    const char *shared = getenv("WT_SHARED");
    struct analyser *analyser;
    char path[1024];
    if (wt__analyser_open(&analyser, NULL) < 0)
        exit_with_message("out of memory");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        snprintf(path, sizeof path, "%s/data/%s/corpus.jsonl", shared ? shared : "../shared", sets[i]);
        read_corpus(b, analyser, path);
    }
    wt__analyser_close(analyser);
    if (b->source_count < 1000)
        make_zipf(b);
    fprintf(stderr, "bm25: tools recombined from %zu %s\n", b->source_count,
            b->source_count == ZIPF_SOURCES ? "lists of words drawn by Zipf's law" : "real ones");
}

/* Composes tool `number` from a name, a provider, a whole description and half of another one, each drawn
 * separately. */
static void make_tool(const struct bm25_bench *b, uint32_t number, struct lexical_text fields[FIELDS], struct str *room)
{
    struct rng rng;
    wt__rng_seed(&rng, number);
    const struct tool_source *name = &b->sources[wt__rng_below(&rng, b->source_count)];
    const struct tool_source *provider = &b->sources[wt__rng_below(&rng, b->source_count)];
    const struct tool_source *first = &b->sources[wt__rng_below(&rng, b->source_count)];
    const struct tool_source *second = &b->sources[wt__rng_below(&rng, b->source_count)];
    size_t whole = first->counts[2], rest = second->counts[2] - second->counts[2] / 2;
    fields[0] = (struct lexical_text){name->terms[0], name->counts[0]};
    fields[1] = (struct lexical_text){provider->terms[1], provider->counts[1]};
    for (size_t i = 0; i < whole; i++)
        room[i] = first->terms[2][i];
    for (size_t i = 0; i < rest; i++)
        room[whole + i] = second->terms[2][second->counts[2] - rest + i];
    fields[2] = (struct lexical_text){room, whole + rest};
}

/* Fills each query with the distinct terms of random descriptions, in their order. Common and rare terms are mixed, as
 * in human requests. */
static void make_queries(struct bm25_bench *b)
{
    struct rng rng;
    wt__rng_seed(&rng, 99);
    for (size_t q = 0; q < 2 * QUERIES; q++) {
        size_t wanted = q < QUERIES ? SHORT : LONG, len = 0;
        while (len < wanted) {
            const struct tool_source *source = &b->sources[wt__rng_below(&rng, b->source_count)];
            for (size_t i = 0; i < source->counts[2] && len < wanted; i++) {
                bool known = false;
                for (size_t j = 0; j < len; j++)
                    known |= wt__str_equal(b->queries[q][j], source->terms[2][i]);
                if (!known)
                    b->queries[q][len++] = source->terms[2][i];
            }
        }
        b->query_len[q] = len;
    }
}

/* --- whichtool --- */

/* Prints milliseconds per request: the mean over QUERIES requests, starting with number `first`. plain: true to add up
 * every posting, without skipping any. */
static void measure_bm25(struct bm25_bench *b, const struct lexical *index, const char *tools, size_t first, int rounds,
                         bool plain)
{
    double times[ROUNDS_MAX];
    struct lexical_query query = {0};
    struct scored hits[K];
    uint32_t *sums = plain ? wt__alloc_array(index->rows, sizeof *sums) : NULL;
    for (int round = 0; round < rounds; round++) {
        double start = processor_ms();
        for (size_t q = first; q < first + QUERIES; q++) {
            struct lexical_term terms[LONG];
            for (size_t i = 0; i < b->query_len[q]; i++)
                terms[i] = (struct lexical_term){b->queries[q][i], 1};
            if (wt__lexical_prepare(&query, index, terms, b->query_len[q], NULL) < 0)
                exit_with_message("out of memory");
            if (plain)
                wt__lexical_search_plain(index, &query, K, NULL, sums, hits);
            else
                wt__lexical_search(index, &query, K, NULL, hits);
        }
        times[round] = (processor_ms() - start) / QUERIES;
    }
    free(sums);
    wt__lexical_query_dispose(&query);
    print_result(times, (size_t)rounds, "ms", plain ? "every posting" : "whichtool",
                 "bm25 top 10 of %s tools, %d words", tools, first ? LONG : SHORT);
}

static void bench_ours(struct bm25_bench *b, const char *name, uint32_t tools, int rounds)
{
    static const struct lexical_settings settings = {
        .k1 = 1.5F, .field_count = FIELDS, .fields = {{2, 0.75F, true}, {2, 0.75F, true}, {1, 0.75F, false}}};
    struct lexical_builder *builder;
    struct lexical_text fields[FIELDS];
    static struct str room[1 << 16];
    struct lexical index;
    void *block;
    size_t len;
    double start = processor_ms();
    if (wt__lexical_builder_new(&builder, &settings, NULL) < 0)
        exit_with_message("out of memory");
    for (uint32_t i = 0; i < tools; i++) {
        make_tool(b, i, fields, room);
        if (wt__lexical_builder_add(builder, fields, NULL) < 0)
            exit_with_message("out of memory");
    }
    if (wt__lexical_builder_finish(builder, &block, &len, NULL) < 0)
        exit_with_message("out of memory");
    wt__lexical_builder_free(builder);
    double built = processor_ms() - start;
    if (wt__lexical_view(&index, block, len, NULL) < 0)
        exit_with_message("not an index");
    fprintf(stderr, "bm25: %s tools: %.1f terms a tool, %u different; index %.1f MB\n", name,
            (double)index.postings / tools, index.terms, (double)len / 1e6);
    printf("bm25 index of %s tools\twhichtool\t%.2f\ts\n", name, built / 1e3);
    measure_bm25(b, &index, name, 0, rounds, false);
    measure_bm25(b, &index, name, QUERIES, rounds, false);
    measure_bm25(b, &index, name, 0, 3, true);
    free(block);
}

/* --- Input files of peers --- */

static void write_terms(FILE *file, const struct str *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%.*s ", (int)terms[i].len, terms[i].ptr);
}

static FILE *create(const struct bm25_bench *b, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/bm25-%s.txt", b->folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        exit_with_message("cannot write to the work folder");
    return file;
}

static void write_peers_input(struct bm25_bench *b)
{
    static struct str room[1 << 16];
    struct lexical_text fields[FIELDS];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if (sizes[s].tools > PEER_TOOLS)
            break;
        FILE *file = create(b, sizes[s].name);
        for (uint32_t i = 0; i < sizes[s].tools; i++) {
            make_tool(b, i, fields, room);
            for (size_t f = 0; f < FIELDS; f++)
                write_terms(file, fields[f].terms, fields[f].count);
            fputc('\n', file);
        }
        fclose(file);
    }
    FILE *file = create(b, "queries");
    for (size_t q = 0; q < 2 * QUERIES; q++) {
        write_terms(file, b->queries[q], b->query_len[q]);
        fputc('\n', file);
    }
    fclose(file);
}

/* --- SQLite FTS5 --- */

static void run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        exit_with_message(sqlite3_errmsg(db));
}

static void fill_fts(struct bm25_bench *b, sqlite3 *db, uint32_t tools)
{
    static struct str room[1 << 16];
    struct lexical_text fields[FIELDS];
    sqlite3_stmt *insert;
    run_sql(db, "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -1000000;"
                "CREATE VIRTUAL TABLE tool USING fts5(text, content = '', detail = full); BEGIN");
    if (sqlite3_prepare_v2(db, "INSERT INTO tool(rowid, text) VALUES (?, ?)", -1, &insert, NULL) != SQLITE_OK)
        exit_with_message(sqlite3_errmsg(db));
    for (uint32_t i = 0; i < tools; i++) {
        struct buffer text = {0};
        make_tool(b, i, fields, room);
        for (size_t f = 0; f < FIELDS; f++)
            for (size_t t = 0; t < fields[f].count; t++) {
                wt__buffer_str(&text, fields[f].terms[t]);
                wt__buffer_char(&text, ' ');
            }
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_text(insert, 2, text.ptr, (int)text.len, SQLITE_TRANSIENT);
        if (sqlite3_step(insert) != SQLITE_DONE)
            exit_with_message(sqlite3_errmsg(db));
        sqlite3_reset(insert);
        wt__buffer_dispose(&text);
        if (i % BATCH == BATCH - 1)
            run_sql(db, "COMMIT; BEGIN");
    }
    sqlite3_finalize(insert);
    run_sql(db, "COMMIT; INSERT INTO tool(tool) VALUES ('optimize')");
}

static void bench_fts(struct bm25_bench *b, const char *name, uint32_t tools)
{
    enum { FTS_QUERIES = 9 };
    double times[FTS_QUERIES];
    char path[1024];
    sqlite3 *db;
    sqlite3_stmt *select;
    snprintf(path, sizeof path, "%s/bm25-fts.db", b->folder);
    remove(path);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit_with_message(sqlite3_errmsg(db));
    fill_fts(b, db, tools);
    if (sqlite3_prepare_v2(db, "SELECT rowid FROM tool WHERE tool MATCH ? ORDER BY rank LIMIT 10", -1, &select, NULL) !=
        SQLITE_OK)
        exit_with_message(sqlite3_errmsg(db));
    for (size_t q = 0; q < FTS_QUERIES; q++) {
        struct buffer match = {0};
        for (size_t i = 0; i < b->query_len[q]; i++)
            wt__buffer_printf(&match, "%s\"%.*s\"", i ? " OR " : "", (int)b->queries[q][i].len, b->queries[q][i].ptr);
        sqlite3_bind_text(select, 1, match.ptr, (int)match.len, SQLITE_TRANSIENT);
        double start = processor_ms();
        while (sqlite3_step(select) == SQLITE_ROW)
            ;
        times[q] = processor_ms() - start;
        sqlite3_reset(select);
        wt__buffer_dispose(&match);
    }
    print_result(times, FTS_QUERIES, "ms", "SQLite FTS5", "bm25 top 10 of %s tools, %d words", name, SHORT);
    sqlite3_finalize(select);
    sqlite3_close(db);
    remove(path);
}

int main(int argc, char **argv)
{
    static struct bm25_bench bench;
    const char *limit = getenv("BENCH_FTS_TOOLS");
    uint32_t fts_tools = limit ? (uint32_t)strtoul(limit, NULL, 10) : 1000000;
    bench.folder = argc > 1 ? argv[1] : "build-bench/work";
    if (wt__make_folders(bench.folder, NULL) < 0)
        exit_with_message("cannot create the work folder");
    read_sources(&bench);
    make_queries(&bench);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        bench_ours(&bench, sizes[s].name, sizes[s].tools, sizes[s].rounds);
    write_peers_input(&bench);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        if (sizes[s].tools <= fts_tools)
            bench_fts(&bench, sizes[s].name, sizes[s].tools);
    wt__arena_dispose(&bench.arena);
    return 0;
}
