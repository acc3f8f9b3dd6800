/* summary.h: describes a catalogue in one sentence. A model that sees only "search tools" does not search, because it
 * does not know the catalogue's contents; so the sentence names the providers.
 *
 * The sentence is part of every prompt, so it is short, contains no counts, and changes only with the list of the
 * largest providers. Provider names are untrusted input to a prompt: only short names of plain characters are shown. */
#ifndef WT_SERVE_SUMMARY_H
#define WT_SERVE_SUMMARY_H

#include "base/buffer.h"

enum {
    SUMMARY_BYTES_MAX = 400,
    SUMMARY_NAME_BYTES_MAX = 32, /* maximum length of a shown provider name */
    SUMMARY_NAME_WORDS_MAX = 4,  /* words are separated by blanks or punctuation */
};

/* Appends "Tools of github, slack, ... and others." with the first of the names that fit into `bytes`, sorted
 * alphabetically. Unsuitable names are skipped; without a suitable name the text is empty. */
void wt__catalogue_summary(struct buffer *out, const char *const *names, size_t count, size_t bytes);

#endif
