/* fuzz_snapshot.c: fuzzes the index. The first byte selects the format of the rest:
 *
 *   'L'   a lexical block
 *   'S'   u32 length, a snapshot file of that length, then bytes for the chunks of its sets
 *
 * Checksums are corrected first: they detect damage, but an attacker can compute them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/seal.h"
#include "retrieve/spelling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { K = 4, CHUNK_BYTES_MAX = 1 << 20 };

static void search_lexical(const struct lexical *index)
{
    static const struct lexical_term terms[] = {{{"a", 1}, 1},       {{"b", 1}, 2}, {{"mail", 4}, 1},
                                                {{"send", 4}, 0.5F}, {{"a", 1}, 1}, {{"", 0}, 1}};
    enum { TERMS = sizeof terms / sizeof *terms };
    struct lexical_query query = {0};
    struct scored hits[K];
    uint32_t rows[] = {0, 1, 7, UINT32_MAX};
    float scores[K], shares[TERMS];
    uint8_t masks[K];
    uint64_t *allowed = calloc((size_t)index->rows / 64 + 1, sizeof *allowed);
    if (allowed && wt__lexical_prepare(&query, index, terms, TERMS, NULL) == 0) {
        wt__lexical_search(index, &query, K, NULL, hits);
        memset(allowed, 0x55, (size_t)index->rows / 64 * sizeof *allowed);
        wt__lexical_search(index, &query, K, allowed, hits);
        wt__lexical_score_rows(index, &query, rows, K, scores);
        wt__lexical_explain(&query, 0, TERMS, 1, shares);
        for (size_t term = 0; term < TERMS; term++)
            wt__lexical_match_fields(&query, term, rows, K, masks);
        for (size_t row = 0; row < K; row++)
            wt__lexical_field_terms(index, rows[row], 0);
    }
    wt__lexical_query_dispose(&query);
    free(allowed);
}

/* Corrects the spelling of unknown words, which are looked up among all terms with the same prefix. */
static void spell_by(const struct lexical *index)
{
    struct workspace *workspace;
    struct arena arena = {0};
    struct str read;
    if (wt__workspace_open(&workspace, NULL) < 0)
        return;
    wt__spelling_read(&read, STR("aaab mial sned bxzx miled senddings tihs"), index, workspace, &arena, NULL);
    wt__workspace_close(workspace);
    wt__arena_dispose(&arena);
}

/* Reads the groups of copies. Their keys are arbitrary, but their rows must exist. */
static void read_copies(const struct snapshot *snapshot)
{
    size_t count;
    wt__copy_groups_check(snapshot, NULL);
    for (uint32_t row = 0; row <= snapshot->rows && row < 100; row++) {
        const uint32_t *rows = wt__copy_group(snapshot, row, &count);
        for (size_t i = 0; i < count; i++)
            if (rows[i] >= snapshot->rows)
                __builtin_trap();
    }
}

/* Reads the words of rows. Damaged rows are empty. */
static void read_words(const struct snapshot *snapshot)
{
    wt__row_words_check(&snapshot->words, NULL);
    for (uint32_t row = 0; row <= snapshot->rows && row < 100; row++) {
        struct row_tokens tokens = wt__row_words(&snapshot->words, row);
        unsigned sum = 0;
        for (size_t i = 0; i < tokens.len; i++)
            sum += tokens.items[i];
        if (sum > tokens.len * UINT16_MAX)
            __builtin_trap();
    }
}

static void search_vectors(const struct vectors *vectors)
{
    struct vectors_scratch scratch = {0};
    struct scored hits[K];
    uint32_t rows[] = {0, 1, 7, UINT32_MAX};
    float scores[K], *query = calloc(vectors->dim, sizeof *query);
    size_t count;
    if (query) {
        query[0] = 1;
        wt__vectors_search(vectors, &scratch, query, 1, K, NULL, hits, &count, NULL);
        wt__vectors_score_rows(vectors, &scratch, query, 1, rows, K, &(float *){scores}, NULL);
    }
    wt__vectors_scratch_dispose(&scratch);
    free(query);
}

/* Creates chunks of a set that begin with the bytes, and corrects the checksums. */
static void fill_set(struct vectors *vectors, const uint8_t *bytes, size_t len)
{
    size_t need = wt__vectors_bytes(vectors->dim, vectors->slots);
    unsigned char *chunks = need > 0 && need <= CHUNK_BYTES_MAX ? wt__alloc_aligned(need, 1) : NULL;
    if (!chunks)
        return;
    memset(chunks, 0, need);
    memcpy(chunks, bytes, len < need ? len : need);
    seal_slots(chunks, need, vectors->dim, vectors->slots, vectors->seed);
    vectors->chunks = chunks;
    wt__vectors_check(vectors, NULL);
    search_vectors(vectors);
    vectors->reads_signs = !vectors->reads_signs;
    search_vectors(vectors);
    free(chunks);
}

static void open_snapshot(const uint8_t *data, size_t size)
{
    struct snapshot *snapshot = NULL;
    uint32_t len;
    if (size < sizeof len)
        return;
    memcpy(&len, data, sizeof len);
    size -= sizeof len;
    data += sizeof len;
    len = len < size ? len : (uint32_t)size;
    unsigned char *image = wt__alloc_aligned(len, 1);
    if (!image)
        return;
    memcpy(image, data, len);
    seal_snapshot(image, len);
    if (wt__snapshot_parse(&snapshot, (struct mapping){image, len}, NULL) == 0) {
        wt__lexical_check(&snapshot->lexical, NULL);
        search_lexical(&snapshot->lexical);
        spell_by(&snapshot->lexical);
        read_copies(snapshot);
        read_words(snapshot);
        for (size_t i = 0; i < snapshot->set_count; i++)
            fill_set(&snapshot->sets[i].vectors, data + len, size - len);
        wt__snapshot_free(snapshot);
    }
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'S')
        open_snapshot(data + 1, size - 1);
    if (size > 0 && data[0] == 'L') {
        struct lexical index;
        unsigned char *block = malloc(size);
        if (block && size > 1)
            memcpy(block, data + 1, size - 1);
        if (block && wt__lexical_view(&index, block, size - 1, NULL) == 0) {
            wt__lexical_check(&index, NULL);
            search_lexical(&index);
            spell_by(&index);
        }
        free(block);
    }
    return 0;
}
