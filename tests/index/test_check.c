/* Tests wt__snapshot_check: a written snapshot is valid, and each broken invariant is reported even if the checksums
 * are correct and opening succeeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"
#include "index/catalogue.h"
#include "index/seal.h"

enum { COUNT = 300, DIM = 8, LAST = COUNT - 1 };
static const char model[] = "0123456789abcdef";

static char folder[64];
static wt_error err;

static int fetch_sequence(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *why)
{
    (void)context, (void)why;
    for (size_t i = 0; i < count * DIM; i++)
        vectors[i] = (float)(rows[i / DIM] * DIM + i % DIM);
    return 0;
}

/* Writes a snapshot of COUNT tools. The last tool has no vector. */
static int write_test_snapshot(void **state)
{
    struct snapshot_key keys[COUNT];
    bool has[COUNT];
    struct snapshot *snapshot;
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/wt-check-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = (struct snapshot_key){.id = (int64_t)i + 1, .generation = 1};
        has[i] = i != LAST;
    }
    const struct vector_source source = {model, "text", DIM, has, fetch_sequence, NULL, 0};
    struct names_builder names = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(wt__names_builder_add(&names, i, NAME_OWN, i, 1), 0);
    struct snapshot_content content = {.generation = 1,
                                       .keys = keys,
                                       .rows = COUNT,
                                       .sources = &source,
                                       .source_count = 1,
                                       .names = wt__names_builder_finish(&names)};
    content.lexical = make_block(1, COUNT, &content.lexical_len);
    assert_int_equal(wt__snapshot_write(&snapshot, folder, &content, 1000, &err), 0);
    assert_int_equal(snapshot->names.count, COUNT);
    assert_int_equal(snapshot->names.words, 1);
    assert_true(wt__names_has(&snapshot->names, LAST, LAST));
    free((void *)content.lexical);
    wt__names_builder_dispose(&names);
    wt__snapshot_free(snapshot);
    return 0;
}

static int remove_test_snapshot(void **state)
{
    struct arena arena = {0};
    char **paths;
    size_t count;
    (void)state;
    assert_int_equal(wt__list_files(&arena, folder, 100, &paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        unlink(paths[i]);
    rmdir(folder);
    wt__arena_dispose(&arena);
    return 0;
}

/* The content of a file, aligned like a mapping. */
struct file {
    char *path;
    unsigned char *bytes;
    size_t len;
};

/* Reads the file whose name starts with `name`. */
static struct file read_index_file(struct arena *arena, const char *name)
{
    struct file file = {0};
    char **paths, *bytes;
    size_t count;
    assert_int_equal(wt__list_files(arena, folder, 100, &paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        if (strncmp(paths[i] + strlen(folder) + 1, name, strlen(name)) == 0)
            file.path = paths[i];
    assert_non_null(file.path);
    assert_int_equal(wt__file_read(&bytes, &file.len, file.path, 64 << 20, NULL), 0);
    file.bytes = wt__alloc_aligned(file.len, 1);
    memcpy(file.bytes, bytes, file.len);
    free(bytes);
    return file;
}

/* Parts of the snapshot file that tests can damage. */
struct parts {
    struct snapshot_key *keys;
    struct lexical_entry *common, *last; /* common: term with the most postings; last: entry after the last term */
    uint32_t *row, *block_last;          /* rows and block ends of the common term */
    uint16_t *block_max;                 /* block maxima of the common term */
    char *text;                          /* text of all terms */
    float *damping;
    uint32_t *row_of_slot, *slot_of_row;
    uint64_t *names;
};

static struct parts parts_of(unsigned char *bytes)
{
    struct snapshot_header *header = (void *)bytes;
    struct lexical l;
    assert_int_equal(wt__lexical_view(&l, bytes + header->lexical.offset, header->lexical.len, NULL), 0);
    uint32_t common = 0;
    for (uint32_t t = 1; t < l.terms; t++)
        if (l.entries[t + 1].posting - l.entries[t].posting > l.entries[common + 1].posting - l.entries[common].posting)
            common = t;
    struct lexical_entry *entries = (struct lexical_entry *)l.entries;
    assert_true(entries[common + 1].block - entries[common].block > 1);
    return (struct parts){
        .keys = (struct snapshot_key *)(bytes + header->keys.offset),
        .common = &entries[common],
        .last = &entries[l.terms],
        .row = (uint32_t *)l.row + entries[common].posting,
        .block_last = (uint32_t *)l.block_last + entries[common].block,
        .block_max = (uint16_t *)l.block_max + entries[common].block,
        .text = (char *)l.text,
        .damping = (float *)l.damping,
        .row_of_slot = (uint32_t *)(bytes + header->sets[0].row_of_slot.offset),
        .slot_of_row = (uint32_t *)(bytes + header->sets[0].slot_of_row.offset),
        .names = (uint64_t *)(bytes + header->names.offset),
    };
}

static void keys_swapped(struct parts *p)
{
    p->keys[7].id = 9;
    p->keys[8].id = 8;
}
static void rows_swapped(struct parts *p)
{
    uint32_t first = p->row[0];
    p->row[0] = p->row[1];
    p->row[1] = first;
}
static void row_twice(struct parts *p)
{
    p->row[1] = p->row[0];
}
static void row_beyond(struct parts *p)
{
    p->row[p->common[1].posting - p->common->posting - 1] = COUNT;
}
static void block_low(struct parts *p)
{
    p->block_max[1] = 0;
}
static void block_short(struct parts *p)
{
    p->block_last[0]--;
}
static void text_beyond(struct parts *p)
{
    p->common[1].text = UINT32_MAX;
}
static void blocks_moved(struct parts *p)
{
    p->common[1].block--;
}
static void order_lost(struct parts *p)
{
    p->text[p->common->text] = '\x7f';
}
static void peak_unknown(struct parts *p)
{
    p->common->max = NAN;
}
static void end_short(struct parts *p)
{
    p->last->posting--;
}
static void damping_off(struct parts *p)
{
    p->damping[3] = 1.5F;
}
static void slot_of_another(struct parts *p)
{
    p->row_of_slot[2] = 3;
}
static void slot_beyond(struct parts *p)
{
    p->slot_of_row[LAST] = COUNT;
}
static void slot_shared(struct parts *p)
{
    p->slot_of_row[LAST] = 0;
}
static void name_twice(struct parts *p)
{
    p->names[4] = p->names[5];
}
static void name_of_missing_row(struct parts *p)
{
    p->names[LAST] = wt__name_entry(LAST, NAME_OWN, COUNT);
}

static void accepts_a_written_snapshot(void **state)
{
    (void)state;
    assert_int_equal(wt__snapshot_check(folder, &err), 0);
    assert_int_equal(wt__snapshot_check("/nowhere", &err), WT_ENOTFOUND);
}

static void reports_every_broken_invariant(void **state)
{
    (void)state;
    static const struct {
        void (*damage)(struct parts *parts);
        const char *told;
    } rows[] = {
        {keys_swapped, "rows 7 and 8 are not in order"},
        {rows_swapped, "its rows are out of order"},
        {row_twice, "its rows are out of order"},
        {row_beyond, "or do not exist"},
        {block_low, "the bound of a block is wrong"},
        {block_short, "the bound of a block is wrong"},
        {text_beyond, "its offset is outside"},
        {blocks_moved, "its blocks do not match"},
        {order_lost, "it is not in order"},
        {peak_unknown, "its maximum impact is invalid"},
        {end_short, "the terms do not cover the index"},
        {damping_off, "the damping of row 3 is not in (0, 1]"},
        {slot_of_another, "vector 2 does not belong to its row"},
        {slot_beyond, "row 299 does not belong to its vector"},
        {slot_shared, "row 299 does not belong to its vector"},
        {name_twice, "names are out of order or refer to missing rows"},
        {name_of_missing_row, "names are out of order or refer to missing rows"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct snapshot *snapshot;
        struct file file = read_index_file(&arena, SNAPSHOT_FILE);
        unsigned char *bytes = wt__alloc_aligned(file.len, 1);
        memcpy(bytes, file.bytes, file.len);
        struct parts parts = parts_of(bytes);
        rows[i].damage(&parts);
        seal_snapshot(bytes, file.len);
        assert_int_equal(wt__file_replace(file.path, bytes, file.len, &err), 0);
        assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, 0, &err), 0); /* the checksums are correct */
        wt__snapshot_free(snapshot);
        if (wt__snapshot_check(folder, &err) != WT_ESTORE || !strstr(err.message, rows[i].told))
            fail_msg("wanted \"%s\", got %s", rows[i].told, err.message);
        assert_int_equal(wt__file_replace(file.path, file.bytes, file.len, &err), 0);
        free(bytes);
        free(file.bytes);
    }
    assert_int_equal(wt__snapshot_check(folder, &err), 0);
    wt__arena_dispose(&arena);
}

/* Opening a snapshot does not read fp32 vectors, so only wt__snapshot_check finds their damage. */
static void reports_any_damaged_vector(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct vector_part parts[VECTOR_PARTS];
    struct snapshot *snapshot;
    struct file file = read_index_file(&arena, "vectors-");
    wt__vectors_layout(DIM, parts);
    for (size_t slot = 0; slot < COUNT; slot += 51) {
        unsigned char *byte = file.bytes + VECTORS_HEADER_BYTES + parts[ROWS].offset + slot * parts[ROWS].size;
        char told[40];
        snprintf(told, sizeof told, "vector %zu is damaged", slot);
        *byte ^= 1;
        assert_int_equal(wt__file_replace(file.path, file.bytes, file.len, &err), 0);
        assert_int_equal(wt__snapshot_open(&snapshot, folder, 1, 0, &err), 0);
        wt__snapshot_free(snapshot);
        assert_int_equal(wt__snapshot_check(folder, &err), WT_ESTORE);
        assert_non_null(strstr(err.message, told));
        *byte ^= 1;
    }
    free(file.bytes);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accepts_a_written_snapshot, write_test_snapshot, remove_test_snapshot),
        cmocka_unit_test_setup_teardown(reports_every_broken_invariant, write_test_snapshot, remove_test_snapshot),
        cmocka_unit_test_setup_teardown(reports_any_damaged_vector, write_test_snapshot, remove_test_snapshot),
    };
    make_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
