/* test_snapshot.c: what was written is what is opened, whatever happened before; damage is told; readers never see a
 * mixture. A tool's text and vector follow from its id and generation, so any snapshot can be compared with one that
 * was made from nothing. */
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
#include "index/snapshot_format.h"

enum { DIM = 48, MOST_ROWS = 9000, K = 10, SETTINGS = 9 };
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

/* The file of the only set of vectors. */
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

static void remove_folder(void)
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

/* --- A catalogue and the content made of it --- */

struct catalogue {
    uint64_t generation;
    struct snapshot_key keys[MOST_ROWS];
    size_t rows;
    size_t fetched;    /* vectors asked for since it was set to 0 */
    size_t fail_after; /* 0: never */
    const bool *has;   /* as in struct vector_source */
};

static void vector_of(const struct snapshot_key *key, float *vector)
{
    struct rng rng;
    wt__rng_seed(&rng, (uint64_t)key->id * 1000 + key->generation);
    for (size_t i = 0; i < DIM; i++)
        vector[i] = (float)(wt__rng_unit(&rng) - 0.5);
}

static int fetch(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err)
{
    struct catalogue *c = context;
    if (c->fail_after && c->fetched + count > c->fail_after)
        return wt__fail(err, WT_ECANCELLED, "stopped");
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i] < c->rows && (i == 0 || rows[i - 1] < rows[i]));
        vector_of(&c->keys[rows[i]], vectors + i * DIM);
    }
    c->fetched += count;
    return 0;
}

static void *lexical_of(const struct catalogue *c, size_t *len)
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

static int make(make_snapshot how, struct catalogue *c, bool with_vectors, struct snapshot **out, wt_error *err)
{
    struct snapshot_content content = {
        .generation = c->generation, .settings = SETTINGS, .keys = c->keys, .rows = c->rows};
    const struct vector_source source = {model, "text", DIM, c->has, fetch, c, 0};
    content.sources = &source;
    content.source_count = with_vectors;
    content.lexical = lexical_of(c, &content.lexical_len);
    int rc = how(out, &content, err);
    free((void *)content.lexical);
    return rc;
}

static struct snapshot *written(struct catalogue *c)
{
    struct snapshot *snapshot = NULL;
    wt_error err = {0};
    int rc = make(make_in_folder, c, true, &snapshot, &err);
    if (rc < 0)
        fail_msg("cannot write: %s", err.message);
    return snapshot;
}

static void fill(struct catalogue *c, size_t rows)
{
    *c = (struct catalogue){.generation = 1, .rows = rows};
    for (size_t i = 0; i < rows; i++)
        c->keys[i] = (struct snapshot_key){.id = (int64_t)(i * 3 + 1), .generation = 1, .provider = (uint32_t)(i % 7)};
}

/* --- Comparing --- */

static void same_answers(const struct snapshot *a, const struct snapshot *b)
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
        vector_of(&key, query);
        assert_int_equal(wt__vectors_search(&a->sets[0].vectors, &scratch, query, 1, K, NULL, from_a, &len_a, NULL), 0);
        assert_int_equal(wt__vectors_search(&b->sets[0].vectors, &scratch, query, 1, K, NULL, from_b, &len_b, NULL), 0);
        assert_int_equal(len_a, len_b);
        assert_memory_equal(from_a, from_b, len_a * sizeof *from_a);
    }
    wt__lexical_query_dispose(&first);
    wt__lexical_query_dispose(&second);
    wt__vectors_scratch_dispose(&scratch);
}

static void same_as_from_nothing(struct catalogue *c, const struct snapshot *snapshot)
{
    struct snapshot *reference = NULL;
    assert_int_equal(make(make_in_memory, c, snapshot->set_count > 0, &reference, NULL), 0);
    same_answers(snapshot, reference);
    wt__snapshot_free(reference);
}

static void test_what_was_written_is_opened(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 255, 256, 257, 1000};
    static struct catalogue c;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int with_vectors = 0; with_vectors < 2; with_vectors++) {
            struct snapshot *snapshot = NULL, *opened = NULL;
            fresh_folder();
            fill(&c, sizes[i]);
            assert_int_equal(make(make_in_folder, &c, with_vectors, &snapshot, NULL), 0);
            assert_int_equal(wt__snapshot_open(&opened, folder, 1, SETTINGS, NULL), 0);
            same_as_from_nothing(&c, snapshot);
            same_answers(snapshot, opened);
            assert_int_equal(wt__snapshot_vectors(opened, model, "text") != NULL, with_vectors);
            assert_null(wt__snapshot_vectors(opened, model, "name"));
            wt__snapshot_free(snapshot);
            wt__snapshot_free(opened);
            remove_folder();
        }
    }
}

static void test_ten_more_tools_fetch_ten_vectors_and_rewrite_none(void **state)
{
    (void)state;
    static struct catalogue c;
    char before[256];
    struct stat old, new;
    fresh_folder();
    fill(&c, 1000);
    struct snapshot *first = written(&c), *second;
    strcpy(before, vectors_file(first));
    assert_int_equal(stat(before, &old), 0);
    fill(&c, 1010);
    c.generation = 2;
    second = written(&c);
    assert_int_equal(c.fetched, 10);
    assert_int_equal(stat(before, &new), 0);
    assert_int_equal(old.st_ino, new.st_ino);
    assert_string_equal(before, vectors_file(second));
    same_as_from_nothing(&c, second);
    c.rows = 1000;
    same_as_from_nothing(&c, first); /* an older reader's view stays as it was */
    wt__snapshot_free(first);
    wt__snapshot_free(second);
    remove_folder();
}

/* Tools come, go and change at random; each time the snapshot answers like one made from nothing, and dead slots stay
 * at a quarter or below. */
static void test_any_history_gives_the_same_answers(void **state)
{
    (void)state;
    static struct catalogue c;
    struct rng rng;
    int64_t next_id = 100000;
    size_t compactions = 0;
    uint64_t number = 0;
    wt__rng_seed(&rng, 3);
    fresh_folder();
    fill(&c, 600);
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
        struct snapshot *snapshot = written(&c);
        const struct vectors *vectors = &snapshot->sets[0].vectors;
        if (step > 0) {
            assert_int_equal(c.fetched, changed);
            compactions += vectors->seed != number;
        }
        number = vectors->seed;
        assert_true(vectors->slots - c.rows <= vectors->slots / 4);
        assert_int_equal(count_files(), 3);
        same_as_from_nothing(&c, snapshot);
        wt__snapshot_free(snapshot);
    }
    assert_true(compactions > 1 && compactions < 15);
    remove_folder();
}

static void test_memory_keeps_vectors_of_the_one_before(void **state)
{
    (void)state;
    static struct catalogue c;
    size_t len;
    struct snapshot *first = NULL, *second = NULL;
    fill(&c, 500);
    assert_int_equal(make(make_in_memory, &c, true, &first, NULL), 0);
    fill(&c, 520);
    c.keys[7].generation = 5;
    void *lexical = lexical_of(&c, &len);
    const struct vector_source source = {model, "text", DIM, NULL, fetch, &c, 0};
    const struct snapshot_content content = {2,   SETTINGS, c.keys, c.rows,       lexical,
                                             len, &source,  1,      {.count = 0}, {.count = 0}};
    assert_int_equal(wt__snapshot_build(&second, first, &content, NULL), 0);
    assert_int_equal(c.fetched, 21);
    wt__snapshot_free(first);
    same_as_from_nothing(&c, second);
    wt__snapshot_free(second);
    free(lexical);
}

static void test_rows_may_be_without_a_vector_and_get_it_later(void **state)
{
    (void)state;
    static struct catalogue c;
    bool has[300];
    fresh_folder();
    fill(&c, 300);
    for (size_t row = 0; row < 300; row++)
        has[row] = row % 3 != 0;
    c.has = has;
    for (int round = 0; round < 2; round++) { /* the second finds the work done */
        struct snapshot *snapshot = written(&c);
        const struct vectors *vectors = &snapshot->sets[0].vectors;
        assert_int_equal(c.fetched, 200);
        assert_int_equal(vectors->slots, 200);
        for (uint32_t row = 0; row < 300; row++)
            assert_int_equal(wt__vectors_of_row(vectors, row) != NULL, has[row]);
        same_as_from_nothing(&c, snapshot);
        c.fetched = 200;
        wt__snapshot_free(snapshot);
    }
    c.has = NULL; /* same generation, but more vectors are there */
    struct snapshot *snapshot = written(&c);
    assert_int_equal(c.fetched, 300);
    same_as_from_nothing(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_folder();
}

static void test_what_was_fetched_before_a_stop_is_kept(void **state)
{
    (void)state;
    static struct catalogue c;
    struct snapshot *snapshot = NULL;
    wt_error err;
    fresh_folder();
    fill(&c, 100);
    wt__snapshot_free(written(&c));
    fill(&c, MOST_ROWS);
    c.generation = 2;
    c.fail_after = SNAPSHOT_BATCH + 1; /* one batch succeeds */
    assert_int_equal(make(make_in_folder, &c, true, &snapshot, &err), WT_ECANCELLED);
    assert_string_equal(err.message, "stopped");
    assert_null(snapshot);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 2, SETTINGS, &err), WT_ESTORE);
    c.fail_after = 0;
    c.fetched = 0;
    snapshot = written(&c);
    assert_int_equal(c.fetched, MOST_ROWS - 100 - SNAPSHOT_BATCH);
    same_as_from_nothing(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_folder();
}

static void test_stale_and_absent_are_told_apart(void **state)
{
    (void)state;
    static struct catalogue c;
    struct snapshot *snapshot = NULL;
    wt_error err;
    char expected[200];
    fresh_folder();
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), WT_ENOTFOUND);
    fill(&c, 20);
    wt__snapshot_free(written(&c));
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 3, SETTINGS, &err), WT_ESTORE);
    snprintf(expected, sizeof expected, "%s: stale: made at change 1 of the store, which is at 3", folder);
    assert_string_equal(err.message, expected);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS + 1, &err), WT_ESTORE);
    snprintf(expected, sizeof expected, "%s: stale: made with other settings", folder);
    assert_string_equal(err.message, expected);
    assert_null(snapshot);
    assert_int_equal(wt__snapshot_discard(folder, 100, &err), 0);
    assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), WT_ENOTFOUND);
    assert_int_equal(wt__snapshot_discard(folder, 100, &err), 0);
    remove_folder();
}

static void test_wrong_use_is_refused(void **state)
{
    (void)state;
    static struct catalogue c;
    size_t len;
    wt_error err;
    struct snapshot *snapshot = NULL;
    fill(&c, 30);
    void *lexical = lexical_of(&c, &len);
    const struct vector_source source = {model, "text", DIM, NULL, fetch, &c, 0},
                               wide = {model, "text", 1 << 20, NULL, fetch, &c, 0};
    const struct {
        const char *says;
        struct snapshot_content content;
        int code;
    } cases[] = {
        {"30 rows of terms for 29 tools",
         {1, 1, c.keys, 29, lexical, len, &source, 1, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"more than 2000000 tools",
         {1, 1, c.keys, 2000001, lexical, len, &source, 1, {.count = 0}, {.count = 0}},
         WT_ETOOLONG},
        {"more than 6 kinds of vectors",
         {1, 1, c.keys, 30, lexical, len, &source, 7, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"vectors \"text\" of dimension 1048576 cannot be kept",
         {1, 1, c.keys, 30, lexical, len, &wide, 1, {.count = 0}, {.count = 0}},
         WT_EINVAL},
        {"lexical index: too short", {1, 1, c.keys, 30, lexical, 8, &source, 1, {.count = 0}, {.count = 0}}, WT_ESTORE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(wt__snapshot_build(&snapshot, NULL, &cases[i].content, &err), cases[i].code);
        assert_string_equal(err.message, cases[i].says);
        assert_null(snapshot);
    }
    free(lexical);
}

/* --- Damage --- */

static unsigned char *read_all(const char *from, size_t *len)
{
    char *bytes = NULL;
    assert_int_equal(wt__file_read(&bytes, len, from, 64 << 20, NULL), 0);
    return (unsigned char *)bytes;
}

static void write_all(const char *to, const void *bytes, size_t len)
{
    int fd = open(to, O_WRONLY | O_TRUNC | O_CREAT, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

/* Opening fails with WT_ESTORE, or what is opened answers as before; writing then repairs. */
static void expect_told(int expected)
{
    struct snapshot *snapshot = NULL;
    wt_error err;
    int rc = wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err);
    assert_int_equal(rc, expected);
    assert_null(snapshot);
    assert_true(strncmp(err.message, folder, strlen(folder)) == 0 || strncmp(err.message, "damaged: ", 9) == 0);
}

static void test_every_cut_is_told(void **state)
{
    (void)state;
    static struct catalogue c;
    char file[2][256];
    fresh_folder();
    fill(&c, 60);
    struct snapshot *snapshot = written(&c);
    strcpy(file[0], vectors_file(snapshot));
    strcpy(file[1], in_folder(SNAPSHOT_FILE));
    wt__snapshot_free(snapshot);
    for (size_t f = 0; f < 2; f++) {
        size_t len, step;
        unsigned char *bytes = read_all(file[f], &len);
        step = len / 400 + 1;
        for (size_t cut = 0; cut < len; cut += cut < 256 ? 1 : step) {
            write_all(file[f], bytes, cut);
            expect_told(WT_ESTORE);
        }
        write_all(file[f], bytes, len);
        free(bytes);
    }
    snapshot = written(&c); /* all is well again, nothing to do */
    assert_int_equal(c.fetched, 60);
    unlink(file[0]);
    expect_told(WT_ESTORE);
    wt__snapshot_free(snapshot);
    snapshot = written(&c); /* fetches everything again */
    assert_int_equal(c.fetched, 120);
    same_as_from_nothing(&c, snapshot);
    wt__snapshot_free(snapshot);
    remove_folder();
}

static void test_every_flipped_byte_is_told_or_meets_nobody(void **state)
{
    (void)state;
    static struct catalogue c;
    char file[2][256];
    struct snapshot *reference = NULL;
    fresh_folder();
    fill(&c, 60);
    struct snapshot *snapshot = written(&c);
    assert_int_equal(make(make_in_memory, &c, true, &reference, NULL), 0);
    strcpy(file[0], vectors_file(snapshot));
    strcpy(file[1], in_folder(SNAPSHOT_FILE));
    wt__snapshot_free(snapshot);
    for (size_t f = 0; f < 2; f++) {
        size_t len, told = 0, tried = 0;
        unsigned char *bytes = read_all(file[f], &len);
        for (size_t at = 0; at < len; at += at < 1024 ? 1 : 101, tried++) {
            bytes[at] ^= 0x41;
            write_all(file[f], bytes, len);
            bytes[at] ^= 0x41;
            wt_error err;
            int rc = wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err);
            if (rc == 0) { /* a byte of padding, or of fp32 that is verified when it is read */
                const struct vectors *vectors = &snapshot->sets[0].vectors;
                struct vectors_scratch scratch = {0};
                struct scored hits[60];
                float query[DIM];
                size_t count;
                vector_of(&c.keys[5], query);
                rc = wt__vectors_search(vectors, &scratch, query, 1, 60, NULL, hits, &count, &err);
                if (rc == 0)
                    same_answers(snapshot, reference);
                wt__vectors_scratch_dispose(&scratch);
                wt__snapshot_free(snapshot);
            }
            assert_true(rc == 0 || rc == WT_ESTORE || rc == WT_ENEWER);
            told += rc < 0;
        }
        assert_true(f == 0 ? told * 10 > tried : told * 10 > tried * 9);
        write_all(file[f], bytes, len);
        free(bytes);
    }
    wt__snapshot_free(reference);
    remove_folder();
}

/* Changes the mark of a file and makes its checksum right again. */
static void remark(const char *file, size_t header_len, size_t offset, uint32_t value)
{
    size_t len;
    unsigned char *bytes = read_all(file, &len);
    memcpy(bytes + offset, &value, sizeof value);
    uint64_t sum = wt__header_sum(bytes, header_len);
    memcpy(bytes + offsetof(struct file_mark, sum), &sum, sizeof sum);
    write_all(file, bytes, len);
    free(bytes);
}

static void test_other_machines_and_versions_are_told(void **state)
{
    (void)state;
    static struct catalogue c;
    static const struct {
        const char *says;
        size_t offset;
        uint32_t value;
        int code;
    } cases[] = {
        {"written on a machine of the other byte order", offsetof(struct file_mark, byte_order), 0x0D0C0B0A, WT_ESTORE},
        {"version 8, written by a newer whichtool (this one reads 7)", offsetof(struct file_mark, version), 8,
         WT_ENEWER},
        {"version 6 is no longer read", offsetof(struct file_mark, version), 6, WT_ESTORE},
        {"not an index file", 0, 0x20202020, WT_ESTORE},
    };
    fill(&c, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int f = 0; f < 2; f++) {
            char file[256], expected[512];
            wt_error err;
            fresh_folder();
            struct snapshot *snapshot = written(&c);
            strcpy(file, f ? in_folder(SNAPSHOT_FILE) : vectors_file(snapshot));
            wt__snapshot_free(snapshot);
            remark(file, f ? sizeof(struct snapshot_header) : sizeof(struct vectors_header), cases[i].offset,
                   cases[i].value);
            assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), cases[i].code);
            snprintf(expected, sizeof expected, "%s: %s", file, cases[i].says);
            assert_string_equal(err.message, expected);
            wt__snapshot_free(written(&c)); /* made again */
            assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, SETTINGS, &err), 0);
            wt__snapshot_free(snapshot);
            remove_folder();
        }
    }
}

static void test_files_of_another_snapshot_are_told(void **state)
{
    (void)state;
    static struct catalogue c;
    char first[256], second[256];
    size_t len;
    fresh_folder();
    fill(&c, 50);
    struct snapshot *snapshot = written(&c);
    strcpy(first, vectors_file(snapshot));
    wt__snapshot_free(snapshot);
    unsigned char *bytes = read_all(first, &len);
    assert_int_equal(wt__snapshot_discard(folder, 100, NULL), 0);
    snapshot = written(&c);
    strcpy(second, vectors_file(snapshot));
    wt__snapshot_free(snapshot);
    assert_string_not_equal(first, second);
    write_all(second, bytes, len);
    expect_told(WT_ESTORE);
    free(bytes);
    remove_folder();
}

/* --- Several at once --- */

struct reading {
    atomic_int stop;
    atomic_int opened;
};

/* Opens as fast as it can; whatever it gets must be whole. */
static void *read_all_the_time(void *context)
{
    struct reading *reading = context;
    while (!atomic_load(&reading->stop)) {
        struct snapshot *snapshot = NULL;
        wt_error err;
        int rc = wt__snapshot_load(&snapshot, folder, &err);
        if (rc < 0)
            return strdup(err.message);
        for (uint32_t row = 0; row < snapshot->rows; row += 37) {
            float expected[DIM];
            const float *vector = wt__vectors_of_row(&snapshot->sets[0].vectors, row);
            vector_of(&snapshot->keys[row], expected);
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

static void test_readers_see_all_old_or_all_new(void **state)
{
    (void)state;
    static struct catalogue c;
    struct reading reading = {0};
    pthread_t thread;
    void *complaint = NULL;
    fresh_folder();
    fill(&c, 500);
    wt__snapshot_free(written(&c));
    assert_int_equal(pthread_create(&thread, NULL, read_all_the_time, &reading), 0);
    for (unsigned step = 0; step < 40 || (atomic_load(&reading.opened) < 20 && step < 1000); step++) {
        c.generation++;
        c.keys[0].generation = c.generation;
        for (size_t row = 1 + step % 3; row < c.rows; row += 9) /* so many change that files are given up, too */
            c.keys[row].generation = c.generation;
        wt__snapshot_free(written(&c));
    }
    atomic_store(&reading.stop, 1);
    pthread_join(thread, &complaint);
    if (complaint)
        fail_msg("reader: %s", (char *)complaint);
    remove_folder();
}

static void test_two_writers_take_turns(void **state)
{
    (void)state;
    static struct catalogue c;
    fresh_folder();
    fill(&c, 300);
    pid_t child = fork();
    assert_true(child >= 0);
    for (unsigned step = 0; step < 10; step++) {
        struct snapshot *snapshot = NULL;
        c.generation = step + 1;
        c.keys[step].generation = step + 2;
        int rc = make(make_in_folder, &c, true, &snapshot, NULL);
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
    remove_folder();
}

static void test_a_writer_that_waits_too_long_says_so(void **state)
{
    (void)state;
    static struct catalogue c;
    struct snapshot *snapshot = NULL;
    int lock = -1;
    size_t len;
    fresh_folder();
    fill(&c, 3);
    assert_int_equal(wt__lock_file(&lock, in_folder(SNAPSHOT_LOCK), 0, NULL), 0);
    void *lexical = lexical_of(&c, &len);
    const struct snapshot_content content = {1,   SETTINGS, c.keys, c.rows,       lexical,
                                             len, NULL,     0,      {.count = 0}, {.count = 0}};
    assert_int_equal(wt__snapshot_write(&snapshot, folder, &content, 30, NULL), WT_EBUSY);
    wt__unlock_file(lock);
    assert_int_equal(wt__snapshot_write(&snapshot, folder, &content, 30, NULL), 0);
    wt__snapshot_free(snapshot);
    free(lexical);
    remove_folder();
}

/* Whoever changes the layout makes the fuzz corpus anew, or it would be refused at its first line. */
static void the_fuzz_corpus_is_of_this_version(void **state)
{
    static const char *const names[] = {"with-vectors", "without-vectors"};
    const char *source = getenv("WT_TEST_SOURCE");
    (void)state;
    if (!source) {
        print_message("skipped: WT_TEST_SOURCE does not say where the corpus is\n");
        skip();
    }
    for (size_t i = 0; i < 2; i++) {
        struct snapshot_header header;
        char file[512], *bytes;
        size_t len;
        snprintf(file, sizeof file, "%s/tests/fuzz/corpus/snapshot/%s", source, names[i]);
        assert_int_equal(wt__file_read(&bytes, &len, file, 1 << 20, NULL), 0);
        assert_true(len > 5 + sizeof header);
        memcpy(&header, bytes + 5, sizeof header); /* behind 'S' and the length */
        assert_int_equal(header.mark.version, SNAPSHOT_VERSION);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fuzz_corpus_is_of_this_version),
        cmocka_unit_test(test_what_was_written_is_opened),
        cmocka_unit_test(test_ten_more_tools_fetch_ten_vectors_and_rewrite_none),
        cmocka_unit_test(test_any_history_gives_the_same_answers),
        cmocka_unit_test(test_memory_keeps_vectors_of_the_one_before),
        cmocka_unit_test(test_rows_may_be_without_a_vector_and_get_it_later),
        cmocka_unit_test(test_what_was_fetched_before_a_stop_is_kept),
        cmocka_unit_test(test_stale_and_absent_are_told_apart),
        cmocka_unit_test(test_wrong_use_is_refused),
        cmocka_unit_test(test_every_cut_is_told),
        cmocka_unit_test(test_every_flipped_byte_is_told_or_meets_nobody),
        cmocka_unit_test(test_other_machines_and_versions_are_told),
        cmocka_unit_test(test_files_of_another_snapshot_are_told),
        cmocka_unit_test(test_readers_see_all_old_or_all_new),
        cmocka_unit_test(test_two_writers_take_turns),
        cmocka_unit_test(test_a_writer_that_waits_too_long_says_so),
    };
    make_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
