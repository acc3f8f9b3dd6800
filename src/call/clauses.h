/* clauses.h: splits a request into clauses, and gives each clause a kind, such as an order, a question or a
 * prohibition. intent.c derives the intent of the request from the clauses. */
#ifndef WT_CALL_CLAUSES_H
#define WT_CALL_CLAUSES_H

#include "call/arguments.h"

#define ARTICLE_WORDS "the|a|an|my|our|your|his|her|their|this|that|these|those|some|all|every|another|it|them|him"

enum clause_kind {
    CLAUSE_OTHER,     /* a clause without a known verb: "lights off" */
    CLAUSE_ORDER,     /* "lock the vault"; a question mark makes it a question */
    CLAUSE_WISH,      /* a polite order, even with a question mark: "can you lock the vault?" */
    CLAUSE_INFORM,    /* an order to tell something: "show me the vault" */
    CLAUSE_QUESTION,  /* "is the vault locked", "check whether the vault is locked" */
    CLAUSE_DENIAL,    /* "don't lock the vault" */
    CLAUSE_STATEMENT, /* "the vault is locked" */
    CLAUSE_CONDITION, /* "if it rains" */
    CLAUSE_ASIDE,     /* irrelevant: "if you don't mind" */
    CLAUSE_PLEASE,    /* makes the order of the previous clause polite: "will you", "ok" */
    CLAUSE_TAG,       /* turns the previous clause into a question: "isn't it", "right" */
};

struct clause {
    size_t start, end; /* words start .. end - 1 of intent_reader.words */
    size_t verb;       /* index of the verb of an order; `end` if the clause has no verb */
    size_t rest;       /* index of the first word after the verb, or after the phrase of an order */
    enum clause_kind kind;
    bool first;           /* first clause of its sentence */
    bool joined;          /* begins with "and" or "or", without a sign before */
    bool revokes;         /* revokes the orders of previous clauses */
    bool is_continuation; /* continues the order of the previous clause: "and the rice timers" */
};

struct intent_reader {
    struct str request;
    const struct byte_span *quoted; /* [quoted_count] */
    size_t quoted_count;
    const struct tool_effect *effect;
    struct intent_word *words;     /* [word_count] */
    size_t word_count, words_most; /* words_most: room of `words` */
    struct clause *clauses;        /* [clause_count] */
    size_t clause_count;
    char last_sign; /* sign after the last word, as in intent_word.before; 0 if absent */
    bool cut;       /* true if the request exceeds INTENT_WORDS or INTENT_CLAUSES */
};

/* Fills words and clauses of `r`, whose request, quoted, quoted_count and effect must be set. They live in the arena. 0
 * or WT_ENOMEM. */
int wt__clauses_read(struct intent_reader *r, struct arena *arena);

/* True if the word is one of the alternatives, which are separated by "|": "the|a|an". "+ing" matches every word with
 * this ending except "thing". */
bool wt__word_fits(struct str word, struct str alternatives);

/* True if a word from `from` to before `to` is one of the alternatives. */
bool wt__any_word_fits(const struct intent_reader *r, size_t from, size_t to, struct str alternatives);

/* True if the word is a form of one of the verbs. */
bool wt__is_form_among(struct str word, const char *const *words, size_t count);

#endif
