/* intent.h: decides if a request orders the call of a tool with side effects, or only asks or talks about it.
 *
 * A request is cut into clauses. Each clause is an order, a question, a prohibition or a statement by its first words,
 * after greetings and polite phrases: "could you please lock the vault" is the order "lock the vault", and "could you
 * tell me whether the vault is locked" is a question. Clauses with a verb of the tool decide; without such clauses, all
 * clauses do. English only: in other languages only the question mark counts. */
#ifndef WT_CALL_INTENT_H
#define WT_CALL_INTENT_H

#include "base/arena.h"
#include "call/tool_effect.h"

enum {
    INTENT_WORDS = 1024,  /* maximum words read of a request */
    INTENT_CLAUSES = 256, /* maximum clauses read of a request */
};

/* Reason to ask before calling a tool with side effects. */
enum doubt {
    DOUBT_NONE,
    DOUBT_QUESTION, /* the request asks something */
    DOUBT_DENIED,   /* the request says not to do it */
    DOUBT_UNASKED,  /* the request only mentions it: "the vault was locked", "remind me to lock the vault" */
    DOUBT_UNREAD,   /* a word of the request is not in the call: "kitchen" of "cancel all kitchen timers" */
    DOUBT_COUNT,
};

/* A word of the request, without its quoted texts. */
struct intent_word {
    struct str text;   /* in lower case, with ' for every apostrophe */
    size_t start, end; /* bytes of the request */
    char before;       /* sign before the word: one of , ; : . ? ! and newline; 0 if absent */
    bool quoted;       /* stands for a quoted text */
};

struct intent {
    const struct intent_word *words; /* [word_count] */
    size_t word_count;
    bool *ordered; /* [word_count] true for words of clauses ordering the call, without their verbs */
    bool cut;      /* the request exceeds INTENT_WORDS or INTENT_CLAUSES */
    enum doubt doubt;
};

/* Quoted text in the request, in bytes: a value, not words. */
struct intent_span {
    size_t start, end;
};

/* Reads the request's intent towards the tool. Everything lives in the arena. 0 or WT_ENOMEM. */
int wt__intent_read(struct intent *out, struct str request, const struct intent_span *quoted, size_t quoted_count,
                    const struct tool_effect *effect, struct arena *arena);

/* Name of the doubt: "question", "denied", "unasked", "unread"; NULL for DOUBT_NONE. */
const char *wt__doubt_name(enum doubt doubt);

#endif
