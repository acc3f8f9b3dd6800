#include "generate/repetition.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/memory.h"
#include "generate/piece.h"

/* A text's words with a blank between, and where each begins. */
struct words {
    struct buffer text;
    size_t *begins; /* [count + 1]; the last one is a blank beyond the end */
    size_t count;
};

static void words_dispose(struct words *words)
{
    wt__buffer_dispose(&words->text);
    free(words->begins);
}

static int words_of(struct words *out, struct str text, wt_error *err)
{
    *out = (struct words){0};
    wt__piece_words(&out->text, text);
    if (out->text.failed)
        return wt__fail_nomem(err);
    const struct str view = wt__buffer_view(&out->text);
    size_t blanks = 0;
    for (size_t i = 0; i < view.len; i++)
        blanks += view.ptr[i] == ' ';
    out->begins = wt__alloc_array(blanks + 2, sizeof *out->begins);
    if (!out->begins)
        return wt__fail_nomem(err);
    out->begins[0] = 0;
    for (size_t i = 0; i < view.len; i++)
        if (view.ptr[i] == ' ')
            out->begins[++out->count] = i + 1;
    if (view.len > 0)
        out->begins[++out->count] = view.len + 1;
    return 0;
}

/* Words first .. first + length - 1. */
static struct str run_at(const struct words *words, size_t first, size_t length)
{
    size_t begin = words->begins[first];
    return (struct str){words->text.ptr + begin, words->begins[first + length] - 1 - begin};
}

/* The runs of that length that the prompt has. */
static int runs_of(struct map *out, const struct words *words, size_t length, wt_error *err)
{
    for (size_t i = 0; i + length <= words->count; i++)
        if (!wt__map_insert(out, run_at(words, i, length), 0, NULL))
            return wt__fail_nomem(err);
    return 0;
}

static bool is_copied(const struct map *runs, const struct words *said, size_t length)
{
    size_t copied = 0, end = 0, begin = 0, longest = 0; /* end: of the copied run that began at begin */
    for (size_t i = 0; i + length <= said->count; i++) {
        if (!wt__map_get(runs, run_at(said, i, length)))
            continue;
        begin = i < end ? begin : i;
        copied += i + length - (i < end ? end : i);
        end = i + length;
        longest = end - begin > longest ? end - begin : longest;
    }
    return 2 * copied >= said->count || longest >= REPETITION_RUN_LONG;
}

int wt__repeats(struct str said, struct str prompt, bool *out, wt_error *err)
{
    struct words answer = {0}, asked = {0};
    struct map runs = {0};
    *out = false;
    int rc = words_of(&answer, said, err);
    if (rc == 0 && answer.count == 0) {
        const struct str trimmed = wt__str_trim(said);
        *out = trimmed.len > 0 && prompt.len > 0 && memmem(prompt.ptr, prompt.len, trimmed.ptr, trimmed.len);
    } else if (rc == 0) {
        const size_t length = answer.count < REPETITION_RUN ? answer.count : REPETITION_RUN;
        rc = words_of(&asked, prompt, err);
        if (rc == 0)
            rc = runs_of(&runs, &asked, length, err);
        *out = rc == 0 && is_copied(&runs, &answer, length);
    }
    wt__map_dispose(&runs);
    words_dispose(&asked);
    words_dispose(&answer);
    return rc;
}
