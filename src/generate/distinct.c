#include "generate/distinct.h"

#include <stdlib.h>

#include "base/memory.h"
#include "nn/kernels/kernels.h"

int wt__distinct_open(struct distinct *out, const struct encoder *encoder, double threshold, wt_error *err)
{
    *out = (struct distinct){.encoder = encoder, .threshold = threshold};
    if (!encoder)
        return 0;
    out->dim = wt__encoder_dim(encoder);
    return wt__encoder_scratch_new(&out->scratch, encoder, err);
}

void wt__distinct_dispose(struct distinct *distinct)
{
    if (distinct->scratch)
        wt__encoder_scratch_free(distinct->scratch);
    wt__map_dispose(&distinct->words);
    wt__arena_dispose(&distinct->arena);
    free(distinct->vectors);
    free(distinct->likeness);
    *distinct = (struct distinct){0};
}

/* Sets *alike to true if an earlier text means the same. Leaves the text's vector after theirs, not yet counted. */
static int find_similar_text(struct distinct *d, struct str text, bool *alike, wt_error *err)
{
    *alike = false;
    if (!d->encoder)
        return 0;
    if (wt__grow((void **)&d->vectors, &d->capacity, d->count + 1, d->dim * sizeof *d->vectors) < 0 ||
        wt__grow((void **)&d->likeness, &d->likeness_capacity, d->count + 1, sizeof *d->likeness) < 0)
        return wt__fail_nomem(err);
    float *vector = d->vectors + d->count * d->dim;
    int rc = wt__encode(d->encoder, d->scratch, TEXT_REQUEST, &text, 1, vector, err);
    if (rc < 0)
        return rc;
    wt__kernels()->dots_f32(vector, d->vectors, d->count, d->dim, d->likeness);
    for (size_t i = 0; i < d->count; i++)
        *alike |= d->likeness[i] >= d->threshold;
    return 0;
}

int wt__distinct_add(struct distinct *distinct, struct str text, enum piece_fate *fate, wt_error *err)
{
    struct buffer words = {0};
    bool alike = false;
    *fate = PIECE_SAME_WORDS;
    wt__piece_words(&words, text);
    int rc = words.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && !wt__map_get(&distinct->words, wt__buffer_view(&words))) {
        rc = find_similar_text(distinct, text, &alike, err);
        *fate = alike ? PIECE_ALIKE : PIECE_TAKEN;
    }
    if (rc == 0 && *fate == PIECE_TAKEN) {
        const char *key = wt__arena_copy(&distinct->arena, wt__buffer_view(&words));
        if (!key || !wt__map_insert(&distinct->words, (struct str){key, words.len}, 0, NULL))
            rc = wt__fail_nomem(err);
        else
            distinct->count++;
    }
    wt__buffer_dispose(&words);
    return rc;
}

int wt__distinct_has_words(const struct distinct *distinct, struct str text, bool *has, wt_error *err)
{
    struct buffer words = {0};
    wt__piece_words(&words, text);
    bool failed = words.failed;
    *has = !failed && wt__map_get(&distinct->words, wt__buffer_view(&words));
    wt__buffer_dispose(&words);
    return failed ? wt__fail_nomem(err) : 0;
}

size_t wt__distinct_nearest(const struct distinct *distinct, const size_t *texts, size_t count)
{
    size_t best = 0;
    if (!distinct->encoder)
        return count;
    for (size_t i = 1; i < count; i++)
        if (distinct->likeness[texts[i]] > distinct->likeness[texts[best]])
            best = i;
    return best;
}
