/* Fuzzes descriptions. Words are in text order and do not overlap. A match of a pattern ends within the words. The
 * sentence of a word lies within the text. The synthetic request and the opening respect their length limits. */
#include <stdint.h>
#include <stdlib.h>

#include "audit/internal.h"
#include "retrieve/document.h"
#include "retrieve/opening.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct wording *wording, struct str text)
{
    for (size_t i = 0; i < wording->count; i++) {
        const struct text_word *word = &wording->words[i];
        require(word->text.len > 0 && word->text.len <= WORDING_WORD_MAX);
        require(word->start < word->end && word->end <= text.len);
        require(i == 0 || wording->words[i - 1].end <= word->start);
        struct str sentence = wt__wording_sentence(text, word->start, word->end);
        require(sentence.ptr >= text.ptr && sentence.ptr + sentence.len <= text.ptr + text.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const patterns[] = {"a|the * first?", "* * tool|tools? * *", "always"};
    struct str text = {(const char *)data, size};
    struct wording wording = {0};
    struct buffer request = {0};
    require(wt__wording_read(&wording, text, NULL) == 0);
    check_words(&wording, text);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t end = 0, at = wt__wording_find(&wording, patterns[p], 0, &end);
        require(at >= wording.count || (end >= at && end <= wording.count));
    }
    wt__first_sentences(text, &request);
    require(!request.failed && request.len <= DOCUMENT_HEAD);
    size_t opening = wt__opening_length(text);
    require(opening <= OPENING_BYTES && (opening == 0 || opening < size));
    wt__buffer_dispose(&request);
    wt__wording_dispose(&wording);
    return 0;
}
