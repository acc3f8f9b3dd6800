#include "retrieve/words.h"

#include "text/analyser.h"

enum { WORD_MAX = 32 }; /* longer than any stop word */

struct str wt__next_word(struct str text, size_t *at)
{
    while (*at < text.len && !wt__is_word_byte(text.ptr[*at]))
        ++*at;
    size_t start = *at;
    while (*at < text.len && wt__is_word_byte(text.ptr[*at]))
        ++*at;
    return (struct str){text.ptr + start, *at - start};
}

bool wt__says_nothing(struct str word)
{
    char lower[WORD_MAX];
    if (word.len > sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)(word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? word.ptr[i] | 0x20 : word.ptr[i]);
    return wt__is_stopword((struct str){lower, word.len});
}

bool wt__asks(struct str word)
{
    static const char *const words[] = {"are",  "did",  "do",    "does",  "has", "have",  "how", "is",
                                        "what", "when", "where", "which", "who", "whose", "why"};
    return wt__str_among(word, words, sizeof words / sizeof *words);
}
