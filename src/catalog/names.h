/* names.h: ids of tools, and exported names, which are readable and valid for every model provider.
 *
 * An id is "provider/name", or "name" without a provider. The exported name is PROVIDER__TOOL, or TOOL without a
 * provider. It has at most EXPORT_NAME_MAX letters, digits, '_' and '-', and begins with a letter or '_':
 * - In each part, other characters between letters and digits become one '_'. A single '-' stays. Letters with marks
 * become their base letters. So a part never contains "__", and never begins or ends with '_' or '-'.
 * - A name that is too long loses words of the provider, generic words first. The tool's part stays whole if it fits by
 * itself, and is cut at a word otherwise.
 * - A part without readable characters becomes a few hexadecimal digits of its SHA-256.
 * - If the first part begins with a digit, a '_' precedes it.
 * Two ids may have the same exported name. The store then asks for another attempt, which ends in '_' and a few digits
 * of the id's SHA-256. An exported name cannot be decoded to an id. The store maps exported names to tools. */
#ifndef WT_CATALOG_NAMES_H
#define WT_CATALOG_NAMES_H

#include "base/buffer.h"

enum {
    EXPORT_NAME_MAX = 64,  /* maximum bytes, the smallest limit of the APIs */
    READABLE_SOURCE = 256, /* maximum bytes of a text read by wt__readable */
};

enum { NAME_NUMBER_MAX = 11 }; /* maximum bytes of a number after a name: '~' and ten digits */

/* Returns the part of a name that leaves room for a number within WT_MAX_NAME_BYTES, cut between characters. */
struct str wt__name_stem(struct str name);
/* Returns the name without a number such as "~2", which separates tools of the same name. */
struct str wt__name_without_number(struct str name);

/* Appends the id. */
void wt__tool_id(struct buffer *out, struct str provider, struct str name);

/* True if a pattern (base/str.h) contains a '/' and therefore also matches ids. */
bool wt__pattern_of_ids(struct str pattern);
/* True if the pattern matches the tool's name (which may contain a '/'), or its id if the pattern contains a '/'. */
bool wt__pattern_fits(struct str pattern, struct str id, struct str name);

/* True if the pattern of wt_list fits the tool. A pattern with '*' or '?' is matched by wt__pattern_fits, any other as
 * a substring of the id, ignoring ASCII case. */
bool wt__list_pattern_fits(struct str pattern, struct str id, struct str name);

/* Writes text as letters, digits, '_' and '-', as above; at most READABLE_SOURCE bytes without a NUL. Returns the
 * length, 0 if there are no readable characters. Accepts any bytes. */
size_t wt__readable(char out[READABLE_SOURCE], struct str text);

/* Cuts a readable text at a word, to at most max bytes. Returns the new length. */
size_t wt__readable_cut(const char *text, size_t len, size_t max);

/* Writes the exported name with a NUL and returns its length. With attempt 0 the name is plain; with later attempts it
 * ends in digits. name is not empty. */
size_t wt__export_name(struct str provider, struct str name, unsigned attempt, char out[EXPORT_NAME_MAX + 1]);

/* True for a generic word ("API", "server"), in any case, that does not identify a provider. */
bool wt__is_form_word(struct str word);
/* True for a word that only joins others ("of", "the"). */
bool wt__is_small_word(struct str word);

#endif
