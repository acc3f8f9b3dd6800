/* names.h: a tool's id, and its exported name, which every model provider accepts and a language model can read.
 *
 * An id is "provider/name", or "name" without a provider. The exported name is PROVIDER__TOOL, or TOOL alone, of at
 * most EXPORT_NAME_MAX letters, digits, '_' and '-', and begins with a letter or '_':
 *   - in each part, what lies between letters and digits becomes one '_'; a single '-' stays. Letters with marks become
 *     their base letters. So no part has "__", and none begins or ends with '_' or '-';
 *   - what is too long loses words of the provider first, those that say least before others; the tool's part is kept
 *     whole as long as it fits by itself, and is cut at a word when it does not;
 *   - a part of which nothing can be read is a few hexadecimal digits of its SHA-256.
 * Two ids may come to the same name. Whoever keeps the names asks for another attempt then, which ends in '_' and a few
 * digits of the id's SHA-256. The name does not decode: the store knows whose it is. */
#ifndef WT_CATALOG_NAMES_H
#define WT_CATALOG_NAMES_H

#include "base/buffer.h"

enum {
    EXPORT_NAME_MAX = 64,  /* bytes: the least of what the APIs allow */
    READABLE_SOURCE = 256, /* bytes of a text that wt__readable looks at */
};

enum { NAME_NUMBER_MAX = 11 }; /* bytes of a number behind a name: '~' and ten digits */

/* The part of a name that a number can follow within WT_MAX_NAME_BYTES, cut between characters. */
struct str wt__name_stem(struct str name);
/* Without "~2", which tells a tool from another one of the same name. */
struct str wt__name_without_number(struct str name);

/* Appends the id. */
void wt__tool_id(struct buffer *out, struct str provider, struct str name);

/* Whether a pattern (base/str.h) looks at ids, too: one with a '/' does. */
bool wt__pattern_of_ids(struct str pattern);
/* Whether a tool fits: by its name ("issues/create" is one), or by its id where the pattern looks at that. */
bool wt__pattern_fits(struct str pattern, struct str id, struct str name);

/* text in letters, digits, '_' and '-', as above; at most READABLE_SOURCE bytes, no NUL behind them. Returns its
 * length, 0 when nothing of text can be read. Any bytes are accepted. */
size_t wt__readable(char out[READABLE_SOURCE], struct str text);

/* Cuts a readable text at a word, to at most max bytes. Returns the new length. */
size_t wt__readable_cut(const char *text, size_t len, size_t max);

/* The exported name; attempt 0 is the plain one, and each other ends in other digits. out ends in NUL. Returns its
 * length. name is not empty. */
size_t wt__export_name(struct str provider, struct str name, unsigned attempt, char out[EXPORT_NAME_MAX + 1]);

/* Whether a word, in any case, says what kind of thing a provider is ("API", "server") rather than which one. */
bool wt__is_form_word(struct str word);
/* Whether it only joins others ("of", "the"). */
bool wt__is_small_word(struct str word);

#endif
