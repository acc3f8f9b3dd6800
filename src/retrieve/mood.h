/* mood.h: what a request is: an order, a question, or a bare noun phrase ("dns records"). Questions and noun phrases
 * need tools that read. */
#ifndef WT_RETRIEVE_MOOD_H
#define WT_RETRIEVE_MOOD_H

#include <stdbool.h>

#include "base/str.h"

/* In a text of several sentences, the greatest mood counts. */
enum mood {
    MOOD_OTHER, /* a statement, or a longer text without a known verb */
    MOOD_NOUN,  /* no verb: "unpaid invoices of acme" */
    MOOD_QUESTION,
    MOOD_ORDER /* also polite: "could you close it?" */
};

struct request_mood {
    enum mood mood;
    unsigned actions; /* bits of enum action (words.h) that the request asks for, or 0 */
    bool many;        /* may ask for several things: a plural, "any", "how many" */
    bool identified;  /* has an id or a number */
};

/* True for a word that begins questions, in any case: "what", "is", "isn't" or "isnt". False for "when", because it
 * also begins conditions. modal: also true for modal verbs. They may begin a statement, too: "will decide later". */
bool wt__is_question_word(struct str word, bool modal);

/* Reads the mood of a text. */
struct request_mood wt__mood(struct str text);

#endif
