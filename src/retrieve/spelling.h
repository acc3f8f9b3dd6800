/* spelling.h: misspelt words of a request, read as the words that were meant.
 *
 * A word is taken for misspelt when nothing knows it: no tool of the catalogue has it, and the vocabulary of the
 * built-in encoder, which holds the 23,000 commonest words of English, has neither it nor what it is an inflection of.
 * It is read as the word of the catalogue or of that vocabulary from which it differs by the likeliest slips
 * (slips.h), if by few enough. What may well be meant as it stands is left: what is quoted or has anything but letters
 * (paths, addresses, identifiers), names (a capital inside a sentence), and all words of a request of which nothing
 * knows as many as can be corrected, because it is in another language. docs/retrieval.md has what it is worth. */
#ifndef WT_RETRIEVE_SPELLING_H
#define WT_RETRIEVE_SPELLING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "index/lexical.h"
#include "retrieve/retrieve.h"

enum {
    SPELLING_REQUEST_MAX = 4096, /* bytes of a request that is corrected; a longer one is a document */
    SPELLING_WORDS_MAX = 32      /* words that nothing knows of a request that is corrected */
};

/* *out: the request as it is to be read, in the arena; the caller's own bytes where nothing is corrected. The workspace
 * is scratch, between two searches. Errors: WT_ENOMEM. */
int wt__spelling_read(struct str *out, struct str request, const struct lexical *index, struct workspace *workspace,
                      struct arena *arena, wt_error *err);

/* Which words of a text no tool has: what a request names and the catalogue does not. */
struct unknown_words {
    struct str *words; /* [len] as typed, each once, in the text's order; without numbers and stop words */
    size_t len;
    size_t read, strange; /* words and ideographs that are no stop words, and how many of them no tool has */
    bool keywords;        /* the text is nothing but a few words that all say something: "linear create issue" */
};
/* In the arena; words point into the text. Errors: WT_ENOMEM. */
int wt__unknown_words(struct unknown_words *out, struct str text, const struct lexical *index,
                      struct workspace *workspace, struct arena *arena, wt_error *err);

#endif
