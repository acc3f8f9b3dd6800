/* Tests that a snapshot has the written content after any history of changes, that damage is reported, and that a
 * reader never sees a mixture of two snapshots. The text and the vector of a tool are derived from its id and
 * generation. So each snapshot can be compared with a snapshot built from scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "index/catalogue.h"
#include "index/internal.h"

enum { DIM = 48, PADDED = 64, MOST_ROWS = SIGNS_LEAST, K = 10, SETTINGS = 9 };
static const char model[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static char folder[64], path[256];

static void fresh_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/wt-snapshot-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Returns the path of the vector file of the first set. */
static const char *vectors_file(const struct snapshot *snapshot)
{
    char name[VECTORS_NAME_BYTES];
    wt__vectors_file_name(name, snapshot->sets[0].model, snapshot->sets[0].kind, snapshot->sets[0].vectors.seed);
    return in_folder(name);
}

static size_t count_files(void)
{
    struct arena arena = {0};
    char **paths;
    size_t count;
    assert_int_equal(wt__list_files(&arena, folder, 100, &paths, &count, NULL), 0);
    wt__arena_dispose(&arena);
    return count;
}

static void remove_index_folder(void)
{
    struct arena arena = {0};
    char **paths;
    size_t count;
    assert_int_equal(wt__list_files(&arena, folder, 100, &paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        unlink(paths[i]);
    rmdir(folder);
    wt__arena_dispose(&arena);
}

struct test_catalogue {
    uint64_t generation;
    struct snapshot_key keys[MOST_ROWS];
    size_t rows;
    size_t fetched;    /* vectors fetched since the last reset */
    size_t fail_after; /* maximum of `fetched`, or 0 for no maximum; a fetch beyond the maximum fails */
    const bool *has;   /* see struct vector_source */
};

static void derive_vector(const struct snapshot_key *key, float *vector)
{
    struct rng rng;
    wt__rng_seed(&rng, (uint64_t)key->id * 1000 + key->generation);
    for (size_t i = 0; i < DIM; i++)
        vector[i] = (float)(wt__rng_unit(&rng) - 0.5);
}

static int fetch_derived_vectors(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err)
{
    struct test_catalogue *c = context;
    if (c->fail_after && c->fetched + count > c->fail_after)
        return wt__fail(err, WT_ECANCELLED, "stopped");
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i] < c->rows && (i == 0 || rows[i - 1] < rows[i]));
        derive_vector(&c->keys[rows[i]], vectors + i * DIM);
    }
    c->fetched += count;
    return 0;
}

static void *lexical_of(const struct test_catalogue *c, size_t *len)
{
    struct lexical_builder *builder = NULL;
    struct row_text text;
    void *block = NULL;
    assert_int_equal(wt__lexical_builder_new(&builder, &test_settings, NULL), 0);
    for (size_t row = 0; row < c->rows; row++) {
        make_row(&text, c->keys[row].generation, (uint32_t)c->keys[row].id);
        assert_int_equal(wt__lexical_builder_add(builder, text.fields, NULL), 0);
    }
    assert_int_equal(wt__lexical_builder_finish(builder, &block, len, NULL), 0);
    wt__lexical_builder_free(builder);
    return block;
}

typedef int (*make_snapshot)(struct snapshot **out, const struct snapshot_content *content, wt_error *err);

static int make_in_folder(struct snapshot **out, const struct snapshot_content *content, wt_error *err)
{
    return wt__snapshot_write(out, folder, content, 5000, err);
}

static int make_in_memory(struct snapshot **out, const struct snapshot_content *content, wt_error *err)
{
    return wt__snapshot_build(out, NULL, content, err);
}

static int make_from_catalogue(make_snapshot how, struct test_catalogue *c, bool with_vectors, struct snapshot **out,
                               wt_error *err)
{
    struct snapshot_content content = {
        .generation = c->generation, .settings = SETTINGS, .keys = c->keys, .rows = c->rows};
    const struct vector_source source = {model, "text", DIM, c->has, fetch_derived_vectors, c, 0};
    content.sources = &source;
    content.source_count = with_vectors;
    content.lexical = lexical_of(c, &content.lexical_len);
    int rc = how(out, &content, err);
    free((void *)content.lexical);
    return rc;
}

static struct snapshot *write_snapshot(struct test_catalogue *c)
{
    struct snapshot *snapshot = NULL;
    wt_error err = {0};
    int rc = make_from_catalogue(make_in_folder, c, true, &snapshot, &err);
    if (rc < 0)
        fail_msg("cannot write: %s", err.message);
    return snapshot;
}

static void fill_catalogue(struct test_catalogue *c, size_t rows)
{
    *c = (struct test_catalogue){.generation = 1, .rows = rows};
    for (size_t i = 0; i < rows; i++)
        c->keys[i] = (struct snapshot_key){.id = (int64_t)(i * 3 + 1), .generation = 1, .provider = (uint32_t)(i % 7)};
}

static void assert_same_answers(const struct snapshot *a, const struct snapshot *b)
{
    struct lexical_query first = {0}, second = {0};
    struct vectors_scratch scratch = {0};
    struct scored from_a[K], from_b[K];
    size_t len_a, len_b;
    const struct lexical_term terms[] = {{wt__str(words[2]), 1}, {wt__str(words[30]), 1}, {wt__str(words[300]), 1}};
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->set_count, b->set_count);
    assert_memory_equal(a->keys, b->keys, a->rows * sizeof *a->keys);
    assert_int_equal(wt__lexical_prepare(&first, &a->lexical, terms, 3, NULL), 0);
    assert_int_equal(wt__lexical_prepare(&second, &b->lexical, terms, 3, NULL), 0);
    len_a = wt__lexical_search(&a->lexical, &first, K, NULL, from_a);
    len_b = wt__lexical_search(&b->lexical, &second, K, NULL, from_b);
    assert_int_equal(len_a, len_b);
    assert_memory_equal(from_a, from_b, len_a * sizeof *from_a);
    for (int64_t probe = 0; a->set_count && probe < 8; probe++) {
        const struct snapshot_key key = {.id = probe, .generation = 99};
        float query[DIM];
        derive_vector(&key, query);
        assert_int_equal(wt__vectors_search(&a->sets[0].vectors, &scratch, query, 1, K, NULL, from_a, &len_a, NULL), 0);
        assert_int_equal(wt__vectors_search(&b->sets[0].vectors, &scratch, query, 1, K, NULL, from_b, &len_b, NULL), 0);
        assert_int_equal(len_a, len_b);
        assert_memory_equal(from_a, from_b, len_a * sizeof *from_a);
    }
    wt__lexical_query_dispose(&first);
    wt__lexical_query_dispose(&second);
    wt__vectors_scratch_dispose(&scratch);
}

static void assert_same_as_from_scratch(struct test_catalogue *c, const struct snapshot *snapshot)
{
    struct snapshot *reference = NULL;
    assert_int_equal(make_from_catalogue(make_in_memory, c, snapshot->set_count > 0, &reference, NULL), 0);
    assert_same_answers(snapshot, reference);
    wt__snapshot_free(reference);
}

static void opens_a_written_snapshot(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 257, VECTOR_CHUNK - 1, VECTOR_CHUNK, VECTOR_CHUNK + 1};
    static struct test_catalogue c;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int with_vectors = 0; with_vectors < 2; with_vectors++) {
            struct snapshot *snapshot = NULL, *opened = NULL;
            fresh_folder();
            fill_catalogue(&c, sizes[i]);
            assert_int_equal(make_from_catalogue(make_in_folder, &c, with_vectors, &snapshot, NULL), 0);
            assert_int_equal(wt__snapshot_open(&opened, folder, 1, SETTINGS, NULL), 0);
            assert_same_as_from_scratch(&c, snapshot);
            assert_same_answers(snapshot, opened);
            assert_int_equal(wt__snapshot_vectors(opened, model, "text") != NULL, with_vectors);
            assert_null(wt__snapshot_vectors(opened, model, "name"));
            wt__snapshot_free(snapshot);
            wt__snapshot_free(opened);
            remove_index_folder();
        }
    }
}

static void ten_new_tools_append_ten_vectors(void **state)
{
    (void)state;
    static struct test_catalogue c;
    char before[256];
    struct stat old, new;
    enum { TOOLS = VECTOR_CHUNK - 4 }; /* some of the ten new tools are in the next chunk */
    fresh_folder();
    fill_catalogue(&c, TOOLS);
    struct snapshot *first = write_snapshot(&c), *second;
    strcpy(before, vectors_file(first));
    assert_int_equal(stat(before, &old), 0);
    fill_catalogue(&c, TOOLS + 10);
    c.generation = 2;
    second = write_snapshot(&c);
    assert_int_equal(c.fetched, 10);
    assert_int_equal(stat(before, &new), 0);
    assert_int_equal(old.st_ino, new.st_ino);
    assert_string_equal(before, vectors_file(second));
    assert_same_as_from_scratch(&c, second);
    c.rows = TOOLS;
    assert_same_as_from_scratch(&c, first); /* the view of an older reader does not change */
    wt__snapshot_free(first);
    wt__snapshot_free(second);
    remove_index_folder();
}

static void only_large_sets_read_signs(void **state)
{
    (void)state;
    static struct test_catalogue c;
    fresh_folder();
    fill_catalogue(&c, SIGNS_LEAST - 1);
    struct snapshot *first = write_snapshot(&c), *second;
    assert_false(first->sets[0].vectors.reads_signs);
    assert_null(first->sets[0].vectors.file);
    assert_same_as_from_scratch(&c, first);
    fill_catalogue(&c, SIGNS_LEAST);
    c.generation = 2;
    second = write_snapshot(&c);
    assert_true(second->sets[0].vectors.reads_signs);
    assert_false(second->sets[0].vectors.file->heads_only);
    assert_int_equal(wt__snapshot_validate(second, NULL), 0);
    assert_same_as_from_scratch(&c, second);
    wt__snapshot_free(first);
    wt__snapshot_free(second);
    remove_index_folder();
}

/* Searches a vector of the set's own, which must be found. */
static int search_own_vector(const struct snapshot *snapshot)
{
    const struct snapshot_key *key = &snapshot->keys[0];
    struct vectors_scratch scratch = {0};
    struct scored found[K];
    float query[DIM];
    size_t len;
    derive_vector(key, query);
    int rc = wt__vectors_search(&snapshot->sets[0].vectors, &scratch, query, 1, K, NULL, found, &len, NULL);
    wt__vectors_scratch_dispose(&scratch);
    return rc < 0 ? rc : len == K && found[0].row == 0 ? 0 : 1;
}

/* Opens the snapshot as a server does, and truncates the file of vectors. Returns 0 if all is as it should be. */
static int use_as_server(const struct snapshot *reference)
{
    struct snapshot *snapshot = NULL;
    float storage[PADDED];
    wt__file_map_copies();
    if (wt__snapshot_open(&snapshot, folder, 1, SETTINGS, NULL) < 0)
        return 1;
    const struct vectors *vectors = &snapshot->sets[0].vectors;
    if (!vectors->file->heads_only || snapshot->memory->sets[0].len >= reference->memory->sets[0].len / 2)
        return 2;
    if (search_own_vector(snapshot) != 0 || wt__snapshot_validate(snapshot, NULL) != 0)
        return 3;
    if (truncate(vectors_file(snapshot), VECTORS_HEADER_BYTES) < 0)
        return 4;
    if (search_own_vector(snapshot) != WT_ESTORE || wt__vectors_of_row(vectors, 0, storage))
        return 5;
    wt__snapshot_free(snapshot);
    return 0;
}

/* A child is the server, because wt__file_map_copies is for the rest of a process. */
static void server_leaves_fp32_vectors_of_a_large_set_in_the_file(void **state)
{
    (void)state;
    static struct test_catalogue c;
    fresh_folder();
    fill_catalogue(&c, SIGNS_LEAST);
    struct snapshot *snapshot = write_snapshot(&c);
    assert_int_equal(wt__vectors_padded(DIM), PADDED);
    assert_int_equal(search_own_vector(snapshot), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(use_as_server(snapshot));
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    wt__snapshot_free(snapshot);
    remove_index_folder();
}

static void short_file_of_a_large_set_is_refused(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct snapshot *opened = NULL;
    struct stat info;
    wt_error err = {0};
    fresh_folder();
    fill_catalogue(&c, SIGNS_LEAST);
    struct snapshot *snapshot = write_snapshot(&c);
    assert_int_equal(stat(vectors_file(snapshot), &info), 0);
    assert_int_equal(truncate(path, info.st_size - 1), 0);
    wt__snapshot_free(snapshot);
    assert_int_equal(wt__snapshot_open(&opened, folder, 1, SETTINGS, &err), WT_ESTORE);
    assert_null(opened);
    assert_non_null(strstr(err.message, "damaged: truncated to"));
    assert_non_null(strstr(err.message, path));
    remove_index_folder();
}

/* Adds, removes and changes random tools. Each snapshot must give the same answers as a snapshot built from scratch. At
 * most a quarter of its slots may be dead. */
static void any_history_gives_the_same_answers(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct rng rng;
    int64_t next_id = 100000;
    size_t compactions = 0;
    uint64_t number = 0;
    wt__rng_seed(&rng, 3);
    fresh_folder();
    fill_catalogue(&c, VECTOR_CHUNK + 100);
    for (unsigned step = 0; step < 30; step++) {
        size_t kept = 0, changed = 0;
        for (size_t row = 0; row < c.rows; row++) {
            uint64_t luck = wt__rng_below(&rng, 100);
            if (luck < 4)
                continue;
            c.keys[kept] = c.keys[row];
            if (luck < 8) {
                c.keys[kept].generation++;
                changed++;
            }
            kept++;
        }
        c.rows = kept;
        for (uint64_t more = wt__rng_below(&rng, 40); more > 0; more--, changed++)
            c.keys[c.rows++] = (struct snapshot_key){.id = next_id++, .generation = 1};
        c.generation++;
        c.fetched = 0;
        struct snapshot *snapshot = write_snapshot(&c);
        const struct vectors *vectors = &snapshot->sets[0].vectors;
        if (step > 0) {
            assert_int_equal(c.fetched, changed);
            compactions += vectors->seed != number;
        }
        number = vectors->seed;
        assert_true(vectors->slots - c.rows <= vectors->slots / 4);
        assert_int_equal(count_files(), 3);
        assert_same_as_from_scratch(&c, snapshot);
        assert_int_equal(wt__snapshot_validate(snapshot, NULL), 0); /* appended signs leave their neighbours intact */
        wt__snapshot_free(snapshot);
    }
    assert_true(compactions > 1 && compactions < 15);
    remove_index_folder();
}

static void keeps_vectors_of_the_previous_snapshot_in_memory(void **state)
{
    (void)state;
    static struct test_catalogue c;
    size_t len;
    struct snapshot *first = NULL, *second = NULL;
    fill_catalogue(&c, 500);
    assert_int_equal(make_from_catalogue(make_in_memory, &c, true, &first, NULL), 0);
    fill_catalogue(&c, 520);
    c.keys[7].generation = 5;
    void *lexical = lexical_of(&c, &len);
    const struct vector_source source = {model, "text", DIM, NULL, fetch_derived_vectors, &c, 0};
    const struct snapshot_content content = {2,       SETTINGS, c.keys,       c.rows,       lexical,     len,
                                             &source, 1,        {.count = 0}, {.count = 0}, {.count = 0}};
    assert_int_equal(wt__snapshot_build(&second, first, &content, NULL), 0);
    assert_int_equal(c.fetched, 21);
    wt__snapshot_free(first);
    assert_same_as_from_scratch(&c, second);
    wt__snapshot_free(second);
    free(lexical);
}

static void rows_can_get_their_vector_later(void **state)
{
    (void)state;
    static struct test_catalogue c;
    bool has[300];
    fresh_folder();
    fill_catalogue(&c, 300);
    for (size_t row = 0; row < 300; row++)
        has[row] = row % 3 != 0;
    c.has = has;
    for (int round = 0; round < 2; round++) { /* the second round fetches no vectors */
        struct snapshot *snapshot = write_snapshot(&c);
        const struct vectors *vectors = &snapshot->sets[0].vectors;
        assert_int_equal(c.fetched, 200);
        assert_int_equal(vectors->slots, 200);
        for (uint32_t row = 0; row < 300; row++)
            assert_int_equal(wt__vectors_of_row(vectors, row, NULL) != NULL, has[row]);
        assert_same_as_from_scratch(&c, snapshot);
        c.fetched = 200;
        wt__snapshot_free(snapshot);
    }
    c.has = NULL; /* all rows have vectors now; the generation is the same */
    struct snapshot *snapshot = write_snapshot(&c);
    assert_int_equal(c.fetched, 300);
    assert_same_as_from_scratch(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_index_folder();
}

static void keeps_vectors_fetched_before_a_failure(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct snapshot *snapshot = NULL;
    wt_error err;
    fresh_folder();
    fill_catalogue(&c, 100);
    wt__snapshot_free(write_snapshot(&c));
    fill_catalogue(&c, MOST_ROWS);
    c.generation = 2;
    c.fail_after = SNAPSHOT_BATCH + 1; /* one batch succeeds */
    assert_int_equal(make_from_catalogue(make_in_folder, &c, true, &snapshot, &err), WT_ECANCELLED);
    assert_string_equal(err.message, "stopped");
    assert_null(snapshot);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 2, SETTINGS, &err), WT_ESTORE);
    c.fail_after = 0;
    c.fetched = 0;
    snapshot = write_snapshot(&c);
    assert_int_equal(c.fetched, MOST_ROWS - 100 - SNAPSHOT_BATCH);
    assert_same_as_from_scratch(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_index_folder();
}

static void distinguishes_stale_and_missing_snapshots(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct snapshot *snapshot = NULL;
    wt_error err;
    char expected[200];
    fresh_folder();
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), WT_ENOTFOUND);
    fill_catalogue(&c, 20);
    wt__snapshot_free(write_snapshot(&c));
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 3, SETTINGS, &err), WT_ESTORE);
    snprintf(expected, sizeof expected, "%s: stale: created at change 1 of the store, which is at 3", folder);
    assert_string_equal(err.message, expected);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS + 1, &err), WT_ESTORE);
    snprintf(expected, sizeof expected, "%s: stale: created with other settings", folder);
    assert_string_equal(err.message, expected);
    assert_null(snapshot);
    assert_int_equal(wt__snapshot_discard(folder, 100, &err), 0);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), WT_ENOTFOUND);
    assert_int_equal(wt__snapshot_discard(folder, 100, &err), 0);
    remove_index_folder();
}

static void rejects_invalid_content(void **state)
{
    (void)state;
    static struct test_catalogue c;
    size_t len;
    wt_error err;
    struct snapshot *snapshot = NULL;
    fill_catalogue(&c, 30);
    void *lexical = lexical_of(&c, &len);
    const struct vector_source source = {model, "text", DIM, NULL, fetch_derived_vectors, &c, 0},
                               wide = {model, "text", 1 << 20, NULL, fetch_derived_vectors, &c, 0};
    const struct {
        const char *says;
        struct snapshot_content content;
        int code;
    } cases[] = {
        {"30 rows of terms for 29 tools",
         {1, 1, c.keys, 29, lexical, len, &source, 1, {.count = 0}, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"more than 2000000 tools",
         {1, 1, c.keys, 2000001, lexical, len, &source, 1, {.count = 0}, {.count = 0}, {.count = 0}},
         WT_ETOOLONG},
        {"more than 6 kinds of vectors",
         {1, 1, c.keys, 30, lexical, len, &source, 7, {.count = 0}, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"vectors \"text\" of dimension 1048576 are not supported",
         {1, 1, c.keys, 30, lexical, len, &wide, 1, {.count = 0}, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"lexical index: too short",
         {1, 1, c.keys, 30, lexical, 8, &source, 1, {.count = 0}, {.count = 0}, {.count = 0}},
         WT_ESTORE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(wt__snapshot_build(&snapshot, NULL, &cases[i].content, &err), cases[i].code);
        assert_string_equal(err.message, cases[i].says);
        assert_null(snapshot);
    }
    free(lexical);
}

static unsigned char *read_test_file(const char *from, size_t *len)
{
    char *bytes = NULL;
    assert_int_equal(wt__file_read(&bytes, len, from, 64 << 20, NULL), 0);
    return (unsigned char *)bytes;
}

static void write_test_file(const char *to, const void *bytes, size_t len)
{
    int fd = open(to, O_WRONLY | O_TRUNC | O_CREAT, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

/* Expects opening to fail with this code. The message must begin with the folder or with "damaged: ". */
static void expect_open_error(int expected)
{
    struct snapshot *snapshot = NULL;
    wt_error err;
    int rc = wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err);
    assert_int_equal(rc, expected);
    assert_null(snapshot);
    assert_true(strncmp(err.message, folder, strlen(folder)) == 0 || strncmp(err.message, "damaged: ", 9) == 0);
}

static void reports_every_truncation(void **state)
{
    (void)state;
    static struct test_catalogue c;
    char file[2][256];
    fresh_folder();
    fill_catalogue(&c, 60);
    struct snapshot *snapshot = write_snapshot(&c);
    strcpy(file[0], vectors_file(snapshot));
    strcpy(file[1], in_folder(SNAPSHOT_FILE));
    wt__snapshot_free(snapshot);
    for (size_t f = 0; f < 2; f++) {
        size_t len, step;
        unsigned char *bytes = read_test_file(file[f], &len);
        step = len / 400 + 1;
        for (size_t cut = 0; cut < len; cut += cut < 256 ? 1 : step) {
            write_test_file(file[f], bytes, cut);
            expect_open_error(WT_ESTORE);
        }
        write_test_file(file[f], bytes, len);
        free(bytes);
    }
    snapshot = write_snapshot(&c); /* both files are complete again, so no vector is fetched */
    assert_int_equal(c.fetched, 60);
    unlink(file[0]);
    expect_open_error(WT_ESTORE);
    wt__snapshot_free(snapshot);
    snapshot = write_snapshot(&c); /* fetches everything again */
    assert_int_equal(c.fetched, 120);
    assert_same_as_from_scratch(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_index_folder();
}

static void flipped_bytes_are_reported_or_harmless(void **state)
{
    (void)state;
    static struct test_catalogue c;
    char file[2][256];
    struct snapshot *reference = NULL;
    fresh_folder();
    fill_catalogue(&c, 60);
    struct snapshot *snapshot = write_snapshot(&c);
    assert_int_equal(make_from_catalogue(make_in_memory, &c, true, &reference, NULL), 0);
    strcpy(file[0], vectors_file(snapshot));
    strcpy(file[1], in_folder(SNAPSHOT_FILE));
    wt__snapshot_free(snapshot);
    for (size_t f = 0; f < 2; f++) {
        size_t len, told = 0, tried = 0;
        unsigned char *bytes = read_test_file(file[f], &len);
        for (size_t at = 0; at < len; at += at < 1024 ? 1 : f == 0 ? 1009 : 101, tried++) {
            bytes[at] ^= 0x41;
            write_test_file(file[f], bytes, len);
            bytes[at] ^= 0x41;
            wt_error err;
            int rc = wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err);
            if (rc == 0) { /* padding, or an fp32 vector: vectors are verified on reading */
                const struct vectors *vectors = &snapshot->sets[0].vectors;
                struct vectors_scratch scratch = {0};
                struct scored hits[60];
                float query[DIM];
                size_t count;
                derive_vector(&c.keys[5], query);
                rc = wt__vectors_search(vectors, &scratch, query, 1, 60, NULL, hits, &count, &err);
                if (rc == 0)
                    assert_same_answers(snapshot, reference);
                wt__vectors_scratch_dispose(&scratch);
                wt__snapshot_free(snapshot);
            }
            assert_true(rc == 0 || rc == WT_ESTORE || rc == WT_ENEWER);
            told += rc < 0;
        }
        /* Most of the only chunk of vectors is padding. */
        assert_true(f == 0 ? told * 100 > tried : told * 10 > tried * 9);
        write_test_file(file[f], bytes, len);
        free(bytes);
    }
    wt__snapshot_free(reference);
    remove_index_folder();
}

/* Changes 4 bytes of a file's header at `offset` and corrects the checksum of the header. */
static void change_file_mark(const char *file, size_t header_len, size_t offset, uint32_t value)
{
    size_t len;
    unsigned char *bytes = read_test_file(file, &len);
    memcpy(bytes + offset, &value, sizeof value);
    uint64_t sum = wt__header_sum(bytes, header_len);
    memcpy(bytes + offsetof(struct file_mark, sum), &sum, sizeof sum);
    write_test_file(file, bytes, len);
    free(bytes);
}

static void reports_other_byte_orders_and_versions(void **state)
{
    (void)state;
    static struct test_catalogue c;
    static const struct {
        const char *says;
        size_t offset;
        uint32_t value;
        int code;
    } cases[] = {
        {"written on a machine with another byte order", offsetof(struct file_mark, byte_order), 0x0D0C0B0A, WT_ESTORE},
        {"version 12, written by a newer whichtool (this one reads 11)", offsetof(struct file_mark, version), 12,
         WT_ENEWER},
        {"version 7 is no longer supported", offsetof(struct file_mark, version), 7, WT_ESTORE},
        {"not an index file", 0, 0x20202020, WT_ESTORE},
    };
    fill_catalogue(&c, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int f = 0; f < 2; f++) {
            char file[256], expected[512];
            wt_error err;
            fresh_folder();
            struct snapshot *snapshot = write_snapshot(&c);
            strcpy(file, f ? in_folder(SNAPSHOT_FILE) : vectors_file(snapshot));
            wt__snapshot_free(snapshot);
            change_file_mark(file, f ? sizeof(struct snapshot_header) : sizeof(struct vectors_header), cases[i].offset,
                             cases[i].value);
            assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), cases[i].code);
            snprintf(expected, sizeof expected, "%s: %s", file, cases[i].says);
            assert_string_equal(err.message, expected);
            wt__snapshot_free(write_snapshot(&c)); /* rebuilt */
            assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), 0);
            wt__snapshot_free(snapshot);
            remove_index_folder();
        }
    }
}

static void reports_files_of_another_snapshot(void **state)
{
    (void)state;
    static struct test_catalogue c;
    char first[256], second[256];
    size_t len;
    fresh_folder();
    fill_catalogue(&c, 50);
    struct snapshot *snapshot = write_snapshot(&c);
    strcpy(first, vectors_file(snapshot));
    wt__snapshot_free(snapshot);
    unsigned char *bytes = read_test_file(first, &len);
    assert_int_equal(wt__snapshot_discard(folder, 100, NULL), 0);
    snapshot = write_snapshot(&c);
    strcpy(second, vectors_file(snapshot));
    wt__snapshot_free(snapshot);
    assert_string_not_equal(first, second);
    write_test_file(second, bytes, len);
    expect_open_error(WT_ESTORE);
    free(bytes);
    remove_index_folder();
}

struct snapshot_reader {
    atomic_int stop;
    atomic_int opened;
};

/* Opens snapshots in a loop. Returns NULL if each snapshot was consistent, or a message. */
static void *read_all_the_time(void *context)
{
    struct snapshot_reader *reading = context;
    while (!atomic_load(&reading->stop)) {
        struct snapshot *snapshot = NULL;
        wt_error err;
        int rc = wt__snapshot_load(&snapshot, folder, &err);
        if (rc < 0)
            return strdup(err.message);
        for (uint32_t row = 0; row < snapshot->rows; row += 37) {
            float expected[DIM];
            const float *vector = wt__vectors_of_row(&snapshot->sets[0].vectors, row, NULL);
            derive_vector(&snapshot->keys[row], expected);
            if (!vector || memcmp(vector, expected, sizeof expected) != 0)
                return strdup("a vector of another tool");
        }
        bool whole = snapshot->keys[0].generation == snapshot->generation;
        wt__snapshot_free(snapshot);
        if (!whole)
            return strdup("keys of another snapshot");
        atomic_fetch_add(&reading->opened, 1);
    }
    return NULL;
}

static void readers_see_complete_snapshots(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct snapshot_reader reading = {0};
    pthread_t thread;
    void *complaint = NULL;
    fresh_folder();
    fill_catalogue(&c, 500);
    wt__snapshot_free(write_snapshot(&c));
    assert_int_equal(pthread_create(&thread, NULL, read_all_the_time, &reading), 0);
    for (unsigned step = 0; step < 40 || (atomic_load(&reading.opened) < 20 && step < 1000); step++) {
        c.generation++;
        c.keys[0].generation = c.generation;
        for (size_t row = 1 + step % 3; row < c.rows; row += 9) /* so that some steps write a new vector file */
            c.keys[row].generation = c.generation;
        wt__snapshot_free(write_snapshot(&c));
    }
    atomic_store(&reading.stop, 1);
    pthread_join(thread, &complaint);
    if (complaint)
        fail_msg("reader: %s", (char *)complaint);
    remove_index_folder();
}

static void two_writers_take_turns(void **state)
{
    (void)state;
    static struct test_catalogue c;
    fresh_folder();
    fill_catalogue(&c, 300);
    pid_t child = fork();
    assert_true(child >= 0);
    for (unsigned step = 0; step < 10; step++) {
        struct snapshot *snapshot = NULL;
        c.generation = step + 1;
        c.keys[step].generation = step + 2;
        int rc = make_from_catalogue(make_in_folder, &c, true, &snapshot, NULL);
        bool sound = rc == 0 && snapshot->generation == c.generation;
        wt__snapshot_free(snapshot);
        if (child == 0 && !sound)
            _exit(1);
        assert_true(sound);
    }
    if (child == 0)
        _exit(0);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    remove_index_folder();
}

static void waiting_writer_times_out(void **state)
{
    (void)state;
    static struct test_catalogue c;
    struct snapshot *snapshot = NULL;
    int lock = -1;
    size_t len;
    fresh_folder();
    fill_catalogue(&c, 3);
    assert_int_equal(wt__lock_file(&lock, in_folder(SNAPSHOT_LOCK), 0, NULL), 0);
    void *lexical = lexical_of(&c, &len);
    const struct snapshot_content content = {1,    SETTINGS, c.keys,       c.rows,       lexical,     len,
                                             NULL, 0,        {.count = 0}, {.count = 0}, {.count = 0}};
    assert_int_equal(wt__snapshot_write(&snapshot, folder, &content, 30, NULL), WT_EBUSY);
    wt__unlock_file(lock);
    assert_int_equal(wt__snapshot_write(&snapshot, folder, &content, 30, NULL), 0);
    wt__snapshot_free(snapshot);
    free(lexical);
    remove_index_folder();
}

/* After a change of LEXICAL_VERSION, the lexical blocks of the fuzz corpus must be regenerated, too. */
static void fuzz_corpus_has_blocks_of_this_version(void **state)
{
    static const char *const names[] = {"terms", "terms-of-several-blocks"};
    const char *source = getenv("WT_TEST_SOURCE");
    (void)state;
    if (!source) {
        print_message("skipped: WT_TEST_SOURCE does not say where the corpus is\n");
        skip();
    }
    for (size_t i = 0; i < 2; i++) {
        struct lexical index;
        char file[512], *bytes;
        size_t len;
        snprintf(file, sizeof file, "%s/tests/fuzz/corpus/snapshot/%s", source, names[i]);
        assert_int_equal(wt__file_read(&bytes, &len, file, 1 << 20, NULL), 0);
        void *block = wt__alloc_aligned(len, 1);
        assert_non_null(block);
        memcpy(block, bytes + 1, len - 1); /* after 'L' */
        assert_int_equal(wt__lexical_view(&index, block, len - 1, NULL), 0);
        free(block);
        free(bytes);
    }
}

/* After a change of SNAPSHOT_VERSION, the fuzz corpus must be regenerated. Otherwise every file of the corpus is
 * rejected at once. */
static void fuzz_corpus_has_this_version(void **state)
{
    static const char *const names[] = {"with-vectors", "without-vectors"};
    const char *source = getenv("WT_TEST_SOURCE");
    (void)state;
    if (!source) {
        print_message("skipped: WT_TEST_SOURCE is not set\n");
        skip();
    }
    for (size_t i = 0; i < 2; i++) {
        struct snapshot_header header;
        char file[512], *bytes;
        size_t len;
        snprintf(file, sizeof file, "%s/tests/fuzz/corpus/snapshot/%s", source, names[i]);
        assert_int_equal(wt__file_read(&bytes, &len, file, 1 << 20, NULL), 0);
        assert_true(len > 5 + sizeof header);
        memcpy(&header, bytes + 5, sizeof header); /* after 'S' and the length */
        assert_int_equal(header.mark.version, SNAPSHOT_VERSION);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuzz_corpus_has_blocks_of_this_version),
        cmocka_unit_test(fuzz_corpus_has_this_version),
        cmocka_unit_test(opens_a_written_snapshot),
        cmocka_unit_test(ten_new_tools_append_ten_vectors),
        cmocka_unit_test(only_large_sets_read_signs),
        cmocka_unit_test(server_leaves_fp32_vectors_of_a_large_set_in_the_file),
        cmocka_unit_test(short_file_of_a_large_set_is_refused),
        cmocka_unit_test(any_history_gives_the_same_answers),
        cmocka_unit_test(keeps_vectors_of_the_previous_snapshot_in_memory),
        cmocka_unit_test(rows_can_get_their_vector_later),
        cmocka_unit_test(keeps_vectors_fetched_before_a_failure),
        cmocka_unit_test(distinguishes_stale_and_missing_snapshots),
        cmocka_unit_test(rejects_invalid_content),
        cmocka_unit_test(reports_every_truncation),
        cmocka_unit_test(flipped_bytes_are_reported_or_harmless),
        cmocka_unit_test(reports_other_byte_orders_and_versions),
        cmocka_unit_test(reports_files_of_another_snapshot),
        cmocka_unit_test(readers_see_complete_snapshots),
        cmocka_unit_test(two_writers_take_turns),
        cmocka_unit_test(waiting_writer_times_out),
    };
    make_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
