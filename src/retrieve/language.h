/* language.h: which language a request is in, where it is not English: enough to tell somebody that an encoder of
 * English alone reads it badly, and cheap enough to ask of every request.
 *
 * Two things tell: letters that are not Latin, and little words of German, French, Spanish, Italian, Portuguese and
 * Dutch that English has not. What is quoted is somebody else's words, and words in capitals are names. A request with
 * names, or with a sentence of another language to translate, has little words of English, too, and stays English. */
#ifndef WT_RETRIEVE_LANGUAGE_H
#define WT_RETRIEVE_LANGUAGE_H

#include "base/str.h"

enum { LANGUAGE_REQUEST_MAX = 4096 /* bytes that are looked at; what is longer is a document: no answer */ };

/* Its name ("German"; "another script"), or NULL: it is English, or nothing tells. Static. Any bytes are text. */
const char *wt__foreign_language(struct str request);

#endif
