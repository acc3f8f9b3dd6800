#include "generate/repetition.h"

#include <stdlib.h>

#include "base/memory.h"
#include "generate/piece.h"

void wt__repetition_dispose(struct repetition *repetition)
{
    wt__buffer_dispose(&repetition->words);
    wt__map_dispose(&repetition->runs);
    free(repetition->begins);
    *repetition = (struct repetition){0};
}

static int index_words(struct repetition *out, struct str text, wt_error *err)
{
    *out = (struct repetition){0};
    wt__buffer_char(&out->words, ' ');
    wt__piece_words(&out->words, text);
    wt__buffer_char(&out->words, ' ');
    const struct str view = wt__buffer_view(&out->words);
    size_t blanks = 0;
    for (size_t i = 0; i < view.len; i++)
        blanks += view.ptr[i] == ' ';
    out->begins = wt__alloc_array(blanks + 1, sizeof *out->begins);
    if (out->words.failed || !out->begins)
        return wt__fail_nomem(err);
    if (view.len == 2) /* no words */
        return 0;
    for (size_t i = 0; i < view.len; i++)
        if (view.ptr[i] == ' ')
            out->begins[out->count++] = i + 1;
    out->count--;
    return 0;
}

/* Returns words first .. first + length - 1. */
static struct str get_word_run(const struct repetition *words, size_t first, size_t length)
{
    const size_t begin = words->begins[first];
    return (struct str){words->words.ptr + begin, words->begins[first + length] - 1 - begin};
}

int wt__repetition_open(struct repetition *out, struct str prompt, wt_error *err)
{
    int rc = index_words(out, prompt, err);
    for (size_t i = 0; rc == 0 && i + REPETITION_RUN <= out->count; i++)
        if (!wt__map_insert(&out->runs, get_word_run(out, i, REPETITION_RUN), 0, NULL))
            rc = wt__fail_nomem(err);
    return rc;
}

static bool has_word_run(const struct repetition *own, const struct repetition *shown, struct str run)
{
    return wt__map_get(&own->runs, run) || wt__map_get(&shown->runs, run);
}

static bool is_mostly_copied(const struct repetition *own, const struct repetition *shown,
                             const struct repetition *said)
{
    size_t copied = 0, begin = 0, end = 0, longest = 0; /* bounds of the current copied run */
    for (size_t i = 0; i + REPETITION_RUN <= said->count; i++) {
        if (!has_word_run(own, shown, get_word_run(said, i, REPETITION_RUN)))
            continue;
        begin = i < end ? begin : i;
        copied += i + REPETITION_RUN - (i < end ? end : i);
        end = i + REPETITION_RUN;
        longest = end - begin > longest ? end - begin : longest;
    }
    return 2 * copied >= said->count || longest >= REPETITION_RUN_LONG;
}

static bool contains_text(struct str text, struct str part)
{
    return part.len > 0 && text.len > 0 && memmem(text.ptr, text.len, part.ptr, part.len);
}

int wt__repetition_check(const struct repetition *own, struct str prompt, struct str examples, struct str said,
                         bool *out, wt_error *err)
{
    struct repetition answer = {0}, shown = {0};
    *out = false;
    int rc = index_words(&answer, said, err);
    if (rc == 0)
        rc = wt__repetition_open(&shown, examples, err);
    const struct str words = wt__buffer_view(&answer.words);
    if (rc == 0 && answer.count == 0)
        *out = contains_text(prompt, wt__str_trim(said)) || contains_text(examples, wt__str_trim(said));
    else if (rc == 0 && answer.count < REPETITION_RUN)
        *out =
            contains_text(wt__buffer_view(&own->words), words) || contains_text(wt__buffer_view(&shown.words), words);
    else if (rc == 0)
        *out = is_mostly_copied(own, &shown, &answer);
    wt__repetition_dispose(&shown);
    wt__repetition_dispose(&answer);
    return rc;
}
