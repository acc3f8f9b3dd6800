/* Fuzzes the analyser: terms are short, valid UTF-8 and in order, and a second analysis gives the same terms. */
#include <stdlib.h>

#include "text/analyser.h"
#include "text/unicode.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct analyser *analyser; /* reused, so that inputs meet a filled cache */
    struct token_list list = {0};
    struct str text = {(const char *)data, size};

    if (!analyser && wt__analyser_open(&analyser, NULL) != 0)
        return 0;
    if (wt__analyser_run(analyser, text, &list) == 0) {
        size_t first = list.len, from = 0;
        for (size_t i = 0; i < first; i++) {
            require(list.terms[i].len >= 1 && list.terms[i].len <= ANALYSER_MAX_TERM);
            require(wt__utf8_valid(list.terms[i]));
            require(list.sources[i].start < list.sources[i].end && from <= list.sources[i].end);
            from = list.sources[i].end;
        }
        require(from <= size);
        if (wt__analyser_run(analyser, text, &list) == 0) {
            require(list.len == 2 * first);
            for (size_t i = 0; i < first; i++)
                require(wt__str_equal(list.terms[i], list.terms[first + i]));
        }
    }
    wt__token_list_dispose(&list);

    struct buffer spelled = {0};
    wt__analyser_spell_out(text, &spelled);
    require(spelled.len <= 2 * size);
    wt__buffer_dispose(&spelled);
    return 0;
}
