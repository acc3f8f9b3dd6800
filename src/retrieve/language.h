/* language.h: detects a request that is not in English. An English-only encoder reads such a request badly, and the
 * scorer cannot tell whether any tool fits it. The test is cheap enough for every request.
 *
 * Evidence is non-Latin letters and function words of German, French, Spanish, Italian, Portuguese and Dutch. Quoted
 * text is ignored, and words in capitals count as names. English function words outweigh foreign ones, so an English
 * request may contain foreign names or a sentence to translate. */
#ifndef WT_RETRIEVE_LANGUAGE_H
#define WT_RETRIEVE_LANGUAGE_H

#include "base/str.h"

enum { LANGUAGE_REQUEST_MAX = 4096 /* bytes; longer requests are not examined */ };

/* Returns the language ("German") or "in another script" as a static string. Returns NULL if the request is English,
 * unclear or too long. Accepts any bytes. */
const char *wt__foreign_language(struct str request);

#endif
