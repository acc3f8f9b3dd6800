/* stopwords.h: words that say nothing about which tool is meant. */
#ifndef WT_TEXT_STOPWORDS_H
#define WT_TEXT_STOPWORDS_H

#include <stdbool.h>

#include "base/str.h"

/* word: in lower case, not stemmed. */
bool wt__is_stopword(struct str word);

#endif
