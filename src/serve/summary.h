/* summary.h: what is behind a catalogue, in a sentence for whoever decides whether to search it. A model that is
 * offered "search tools" and nothing else does not search, for it cannot know what for; so the sentence names
 * providers.
 *
 * It stands in a client's prompt before every request, so it is short, and the same until other providers are among the
 * largest: no counts are in it. Names come from outside, and a prompt is where hostile text would like to be: only
 * short ones of plain characters are shown. */
#ifndef WT_SERVE_SUMMARY_H
#define WT_SERVE_SUMMARY_H

#include "base/buffer.h"

enum {
    SUMMARY_BYTES_MAX = 400,
    SUMMARY_NAME_BYTES_MAX = 32, /* of a provider's name that is shown */
    SUMMARY_NAME_WORDS_MAX = 4,  /* parted by blanks or punctuation */
};

/* "Tools of github, slack, ... and others." of the first of count names that fit into bytes, in alphabetical order;
 * less where fewer names can be shown, "" where none can. */
void wt__catalogue_summary(struct buffer *out, const char *const *names, size_t count, size_t bytes);

#endif
