/* named_provider.c: the source "provider": tools of providers named in the request ("on GitHub", "in my Google
 * calendar"). A sub-query that names no provider inherits the scores of the last sub-query before it that names one:
 * "on Spotify follow the artist, then save her newest album".
 *
 * A request names a provider by the words of the provider's name in sequence, with any separators and in any case.
 * Words consist of ASCII letters, digits and all bytes beyond ASCII. Both names are reduced to these bytes, with ASCII
 * letters in lower case, and compared by hash. */
#include "retrieve/named_provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"
#include "retrieve/source.h"
#include "retrieve/words.h"

enum {
    PROVIDER_WORDS = 4,    /* maximum words of a name */
    PROVIDER_BYTES = 64,   /* maximum bytes of these words */
    PROVIDER_LEAST = 3,    /* minimum bytes; shorter names are usually ordinary words */
    PROVIDER_READ = 16384, /* bytes read from the end of a request */
};

/* Words without separators, with ASCII letters in lower case. */
struct spelling {
    char bytes[PROVIDER_BYTES];
    size_t len;
};

/* Appends a word; returns false if it does not fit. */
static bool append_spelling(struct spelling *spelling, struct str word)
{
    if (word.len > sizeof spelling->bytes - spelling->len)
        return false;
    for (size_t i = 0; i < word.len; i++)
        spelling->bytes[spelling->len++] = wt__lower_ascii(word.ptr[i]);
    return true;
}

static uint64_t hash_spelling(const struct spelling *spelling)
{
    return wt__checksum(spelling->bytes, spelling->len, 0);
}

uint64_t wt__provider_hash(struct str name)
{
    struct spelling spelling = {.len = 0};
    for (size_t at = 0, words = 0; at < name.len;) {
        struct str word = wt__next_word(name, &at);
        if (word.len == 0 || wt__is_form_word(word))
            continue;
        if (++words > PROVIDER_WORDS || !append_spelling(&spelling, word))
            return 0;
    }
    return spelling.len >= PROVIDER_LEAST ? hash_spelling(&spelling) : 0;
}

/* Number of tools and index terms of one provider's name. */
struct name_count {
    uint32_t tools;    /* number of tools of this provider */
    struct str *terms; /* [term_count] terms of the name's words in the index */
    size_t term_count;
};

/* Sets the terms of a provider's name. */
static int add_terms(struct name_count *count, struct str provider, struct arena *arena, struct analyser *analyser,
                     struct token_list *scratch, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose)
    struct buffer words = {0}; /* separate words, so that no two are joined into one term */
    wt__token_list_reset(scratch);
    for (size_t at = 0; at < provider.len;) {
        struct str word = wt__next_word(provider, &at);
        wt__buffer_str(&words, wt__is_form_word(word) ? STR("") : word);
        wt__buffer_char(&words, ' ');
    }
    if (words.failed || wt__analyser_run(analyser, wt__buffer_view(&words), scratch) < 0)
        return wt__fail_nomem(err);
    count->terms = wt__arena_array(arena, struct str, scratch->len);
    WT_CHECK_ALLOC(count->terms, err);
    for (; count->term_count < scratch->len; count->term_count++) {
        const struct str from = scratch->terms[count->term_count];
        count->terms[count->term_count] = (struct str){wt__arena_copy(arena, from), from.len};
        WT_CHECK_ALLOC(count->terms[count->term_count].ptr, err);
    }
    return 0;
}

/* Counts a tool of a provider. *out: its count; *added: true if it is new and has no terms yet. */
static int count_tool(struct name_counts *counts, uint64_t hash, struct name_count **out, bool *added, wt_error *err)
{
    uint64_t *key = wt__arena_array(&counts->arena, uint64_t, 1);
    if (!key || wt__grow((void **)&counts->items, &counts->capacity, counts->len + 1, sizeof *counts->items) < 0)
        return wt__fail_nomem(err);
    *key = hash;
    uint32_t *at =
        wt__map_insert(&counts->by_hash, (struct str){(const char *)key, sizeof *key}, (uint32_t)counts->len, added);
    WT_CHECK_ALLOC(at, err);
    *out = &counts->items[*at];
    if (*added) {
        **out = (struct name_count){.tools = 0};
        counts->len++;
    }
    (*out)->tools++;
    return 0;
}

int wt__name_counts_add(struct name_counts *counts, struct str provider, uint64_t *hash, struct analyser *analyser,
                        struct token_list *scratch, wt_error *err)
{
    struct name_count *count = NULL;
    bool added;
    *hash = wt__provider_hash(provider);
    if (*hash == 0)
        return 0;
    WT_TRY(count_tool(counts, *hash, &count, &added, err));
    return added ? add_terms(count, provider, &counts->arena, analyser, scratch, err) : 0;
}

int wt__name_counts_add_known(struct name_counts *counts, const struct name_counts *known, uint64_t hash, wt_error *err)
{
    const uint32_t *at = wt__map_get(&known->by_hash, (struct str){(const char *)&hash, sizeof hash});
    struct name_count *count = NULL;
    bool added;
    if (hash == 0 || !at)
        return 0;
    WT_TRY(count_tool(counts, hash, &count, &added, err));
    if (added) {
        count->terms = known->items[*at].terms;
        count->term_count = known->items[*at].term_count;
    }
    return 0;
}

void wt__name_counts_again(struct name_counts *counts, uint64_t hash)
{
    const uint32_t *at = wt__map_get(&counts->by_hash, (struct str){(const char *)&hash, sizeof hash});
    if (at)
        counts->items[*at].tools++;
}

float wt__name_precision(const struct name_counts *counts, uint64_t hash, const struct lexical *index)
{
    const uint32_t *at = wt__map_get(&counts->by_hash, (struct str){(const char *)&hash, sizeof hash});
    if (!at || index->rows == 0)
        return 0;
    const struct name_count *count = &counts->items[*at];
    /* others: expected number of other providers' tools with all words of the name, if words were independent. */
    double others = index->rows, own = count->tools;
    for (size_t i = 0; i < count->term_count; i++) {
        double all = wt__lexical_df(index, count->terms[i]);
        others *= (all > own ? all - own : 0) / index->rows;
    }
    return (float)(own / (own + others));
}

void wt__name_counts_dispose(struct name_counts *counts)
{
    wt__map_dispose(&counts->by_hash);
    free(counts->items);
    wt__arena_dispose(&counts->arena);
}

/* Hashes all runs of up to PROVIDER_WORDS words. */
int wt__provider_names_read(struct provider_names *out, struct str text, struct arena *arena, wt_error *err)
{
    text = text.len > PROVIDER_READ ? (struct str){text.ptr + text.len - PROVIDER_READ, PROVIDER_READ} : text;
    size_t words = 0;
    for (size_t at = 0; wt__next_word(text, &at).len > 0;)
        words++;
    uint64_t *hashes = wt__arena_array(arena, uint64_t, words * PROVIDER_WORDS);
    WT_CHECK_ALLOC(hashes, err);
    *out = (struct provider_names){hashes, 0};
    for (size_t at = 0; wt__next_word(text, &at).len > 0;) {
        struct spelling spelling = {.len = 0};
        size_t from = at;
        while (from > 0 && wt__is_word_byte(text.ptr[from - 1]))
            from--;
        for (size_t w = 0; w < PROVIDER_WORDS; w++) {
            struct str word = wt__next_word(text, &from);
            if (word.len == 0 || !append_spelling(&spelling, word))
                break;
            hashes[out->count++] = hash_spelling(&spelling);
        }
    }
    wt__sort_u64(hashes, out->count);
    return 0;
}

bool wt__provider_named(const struct provider_names *names, uint64_t provider_hash)
{
    const size_t at = wt__lower_bound_u64(names->hashes, names->count, provider_hash);
    return provider_hash && at < names->count && names->hashes[at] == provider_hash;
}

/* Reads the provider names in each text. Adds no candidates, because a named provider does not make all its tools
 * candidates. */
static int read_query_providers(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    for (size_t t = 0; t < workspace->text_count; t++)
        WT_TRY(wt__provider_names_read(&workspace->texts[t].providers, workspace->texts[t].written, &workspace->arena,
                                       err));
    return 0;
}

/* Scores a candidate with the precision of its provider's name if the text names the provider, else with 0. True if the
 * text names the provider of any candidate. */
static bool score_provider_text(struct source_query *query, size_t t)
{
    const struct snapshot_key *keys = query->view->snapshot->keys;
    float *scores = wt__ranking(query, t, SOURCE_PROVIDER)->scores;
    bool any = false;
    for (size_t c = 0; c < query->count; c++) {
        const struct snapshot_key *key = &keys[query->rows[c]];
        bool named = wt__provider_named(&query->workspace->texts[t].providers, key->provider_hash);
        scores[c] = named ? key->provider_precision : 0;
        any |= named;
    }
    return any;
}

static int score_provider_rows(struct source_query *query, wt_error *err)
{
    size_t texts = query->workspace->text_count, last = 0; /* last sub-query with a provider, or 0 */
    (void)err;
    for (size_t t = 0; t < texts; t++) {
        float *scores = wt__ranking(query, t, SOURCE_PROVIDER)->scores;
        if (score_provider_text(query, t))
            last = t;
        else if (last > 0)
            memcpy(scores, wt__ranking(query, last, SOURCE_PROVIDER)->scores, query->count * sizeof *scores);
    }
    return 0;
}

const struct source wt__source_provider = {
    {"provider", "provider", NULL, read_query_providers, score_provider_rows, NULL, NULL}, .is_sparse = true};
