/* clauses.h: splits a request into clauses, and classifies each as an order, a question, a prohibition or a statement,
 * for the intent of the request (intent.c). */
#ifndef WT_CALL_CLAUSES_H
#define WT_CALL_CLAUSES_H

#include "call/arguments.h"

#define ARTICLE_WORDS "the|a|an|my|our|your|his|her|their|this|that|these|those|some|all|every|another|it|them|him"

enum clause_kind {
    CLAUSE_OTHER,     /* no known verb: "lights off" */
    CLAUSE_ORDER,     /* "lock the vault"; a question mark makes it a question */
    CLAUSE_WISH,      /* a polite order, even with a question mark: "can you lock the vault?" */
    CLAUSE_INFORM,    /* an order to tell something: "show me the vault" */
    CLAUSE_QUESTION,  /* "is the vault locked", "check whether the vault is locked" */
    CLAUSE_DENIAL,    /* "don't lock the vault" */
    CLAUSE_STATEMENT, /* "the vault is locked" */
    CLAUSE_CONDITION, /* "if it rains" */
    CLAUSE_ASIDE,     /* irrelevant: "if you don't mind" */
    CLAUSE_PLEASE,    /* makes the order before it polite: "will you", "ok" */
    CLAUSE_TAG,       /* turns the clause before into a question: "isn't it", "right" */
};

struct clause {
    size_t start, end; /* words */
    size_t verb;       /* verb of an order; end if the clause has no verb */
    size_t rest;       /* first word after the verb, or after the phrase of an order */
    enum clause_kind kind;
    bool first;           /* first clause of its sentence */
    bool joined;          /* follows the clause before it by "and" or "or", without a sign */
    bool revokes;         /* revokes the orders before it */
    bool is_continuation; /* continues the order before it: "and the rice timers" */
};

struct intent_reader {
    struct str request;
    const struct byte_span *quoted; /* [quoted_count] */
    size_t quoted_count;
    const struct tool_effect *effect;
    struct intent_word *words; /* [word_count] */
    size_t word_count, words_most;
    struct clause *clauses; /* [clause_count] */
    size_t clause_count;
    char last_sign; /* after the last word */
    bool cut;
};

/* Reads words and clauses; request, quoted and effect must be set. The rest lives in the arena. 0 or WT_ENOMEM. */
int wt__clauses_read(struct intent_reader *r, struct arena *arena);

/* True if the word is one of the alternatives of a phrase's word: "the|a|an", or "+ing" for any verb so ending. */
bool wt__word_fits(struct str word, struct str alternatives);

/* True if a word from `from` to before `to` is one of the alternatives. */
bool wt__any_word_fits(const struct intent_reader *r, size_t from, size_t to, struct str alternatives);

/* True if the word is a form of one of the verbs. */
bool wt__is_form_among(struct str word, const char *const *words, size_t count);

#endif
