/* spelling.h: corrects misspelt English words of a request.
 *
 * A word is unknown if no tool of the catalogue has it, and the built-in encoder's vocabulary (the 23,000 most common
 * words of English) has neither it nor its base form. An unknown word is replaced by the word of the catalogue or the
 * vocabulary with the lowest cost (slips.h), if this cost is low enough. Left unchanged are:
 *
 *   quoted text
 *   words with anything but letters (paths, addresses, identifiers)
 *   names (a capital inside a sentence)
 *   all words, if at most half of the unknown words have a correction
 *
 * In the last case the request is probably in another language. docs/find.md measures the effect. */
#ifndef WT_RETRIEVE_SPELLING_H
#define WT_RETRIEVE_SPELLING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "index/lexical.h"
#include "retrieve/retrieve.h"

enum {
    SPELLING_REQUEST_MAX = 4096, /* bytes; a longer request is a document and is not corrected */
    SPELLING_WORDS_MAX = 32      /* maximum number of unknown words in a corrected request */
};

/* Sets *out to the corrected request in the arena, or to the caller's bytes if there is no correction. Uses the
 * workspace as scratch, so it must run between searches. Errors: WT_ENOMEM. */
int wt__spelling_read(struct str *out, struct str request, const struct lexical *index, struct workspace *workspace,
                      struct arena *arena, wt_error *err);

/* Words of a text that no tool of the catalogue has. */
struct unknown_words {
    struct str *words; /* [len] as typed, each once, in the text's order; without numbers and stop words */
    size_t len;
    size_t read;    /* number of words and ideographs other than stop words */
    size_t strange; /* number of these that no tool has */
    bool keywords;  /* the text consists of a few content words: "linear create issue" */
};
/* Collects the unknown words of a text in the arena. The words are views of the text. Errors: WT_ENOMEM. */
int wt__unknown_words(struct unknown_words *out, struct str text, const struct lexical *index,
                      struct workspace *workspace, struct arena *arena, wt_error *err);

#endif
