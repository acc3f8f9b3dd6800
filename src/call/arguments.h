/* arguments.h: reads the arguments and the intent of a request without a language model, and decides between tools by
 * them. */
#ifndef WT_CALL_ARGUMENTS_H
#define WT_CALL_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "catalog/tool.h"

/* A part of the request, in bytes. */
struct byte_span {
    size_t start, end;
};

/* ---------------------------------------------------------------- literals */

/* Finds the parts of a request usable as arguments: numbers, dates, times, addresses, quoted texts, identifiers and
 * names. It uses spelling alone and does not know the tool. (In ToolVerifier 2.3, Mekala et al. 2024, a language model
 * writes arguments; these are the candidates without a model.)
 *
 * Values are normalised:
 *   - Numbers: without thousands separators, currency and percent sign. "k", "million" and "billion" multiply. Number
 *     words from "two" to "twenty" and "dozen" are numbers.
 *   - Dates: YYYY-MM-DD, if the date has a year. The month comes first in "3/4/2023" unless it is above twelve.
 *   - Times: HH:MM, or HH:MM:SS with the zone if the request has seconds.
 *
 * Dates relative to the calendar or clock ("tomorrow", "next Friday") are not literals. */

enum { LITERALS_MOST = 64 }; /* maximum literals read of a request */

enum literal_kind {
    LITERAL_NUMBER,
    LITERAL_DATE,
    LITERAL_TIME,
    LITERAL_DATE_TIME, /* RFC 3339, unchanged */
    LITERAL_EMAIL,
    LITERAL_URL,
    LITERAL_QUOTED,
    LITERAL_CODE, /* identifier with letters and digits */
    LITERAL_NAME, /* words with capitals */
};

struct literal {
    enum literal_kind kind;
    size_t start, end; /* bytes of the request */
    struct str text;   /* normalised; lives as long as the arena or the request */
    double number;     /* value of a number */
    bool spelled;      /* a number word; may not be meant as a number: "two of them" */
    bool money, percent;
    bool utc;            /* "UTC" or "Z" follows the time, and is not in text */
    struct str currency; /* currency code of an amount ("USD"); empty if absent */
};

/* A request and its literals, in order and without overlaps. Read once for all tools. */
struct literals {
    struct str request;    /* borrowed */
    struct literal *items; /* [len] in the arena, at most LITERALS_MOST */
    size_t len;
};

/* True if the word is a known currency code, such as "USD". */
bool wt__is_currency(struct str word);

/* Finds the literals of the request. 0 or WT_ENOMEM. */
int wt__literals_read(struct literals *out, struct str request, struct arena *arena);

/* ---------------------------------------------------------------- parameters */

/* The parameters of a tool as stated in its schema. Only members of the schema's root are read; a nested object is one
 * parameter of kind PARAMETER_OTHER. */

enum {
    PARAMETERS_MOST = 128, /* maximum parameters of a tool; later ones are ignored */
    PARAMETER_WORDS = 12,  /* maximum words read of a name */
    PARAMETER_DESCRIPTION_WORDS = 40,
    PARAMETER_WORD_BYTES = 31, /* longest word read of a description */
    PARAMETER_EXAMPLES = 24,
    PARAMETER_EXAMPLE_BYTES = 40,
};

enum parameter_kind {
    PARAMETER_STRING,
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_BOOLEAN,
    PARAMETER_ANY,   /* the schema has no type */
    PARAMETER_OTHER, /* objects and lists of lists: no span of text can be a value */
};

/* End of a range, by the parameter's name: "min_price", "end_date", "origin". */
enum parameter_bound { BOUND_NONE, BOUND_LOWEST, BOUND_HIGHEST, BOUND_FROM, BOUND_TO };

struct parameter {
    const char *name;
    const json_t *schema;
    enum parameter_kind kind; /* of the items for a list */
    bool list, required;
    bool takes_date, takes_time; /* for a date, for a time, by name or format */
    bool takes_date_time;        /* for a date with a time */
    bool takes_free_text;        /* for words of any kind by its name: a query, a message */
    bool takes_place;            /* for a place */
    bool takes_code;             /* for an identifier, or digits that are not a number, as in a phone number */
    bool takes_money;            /* for an amount of money */
    bool takes_currency;         /* for a currency code */
    size_t letters;              /* exact letters of a code by the description ("three-letter code"); 0 if unknown */
    const json_t *values;        /* "enum", or NULL */
    struct str examples[PARAMETER_EXAMPLES]; /* [example_count] values quoted in the description */
    size_t example_count;
    const json_t *usual; /* value that most past calls use although their requests do not have it, or NULL */
    enum parameter_bound bound;
    struct str words[PARAMETER_WORDS]; /* words of the name */
    size_t word_count;
    struct str description_words[PARAMETER_DESCRIPTION_WORDS];
    size_t description_word_count;
};

/* True if the value is a text, or any value. */
static inline bool wt__takes_text(const struct parameter *parameter)
{
    return parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
}

struct parameters {
    struct parameter *items; /* [len], in the schema's order */
    size_t len;
    const struct demonstration *past; /* [past_count] calls used for learning */
    size_t past_count;
};

/* Reads the parameters of a schema, and borrows from it. 0 or WT_ENOMEM. */
int wt__parameters_read(struct parameters *out, const json_t *schema, struct arena *arena);

/* True if two words are variants of each other: equal without a final "s", or one is a prefix of the other with at
 * least three letters ("lat" and "latitude", "beds" and "bedroom"). Ignores case. */
bool wt__words_alike(struct str a, struct str b);

/* True if the text has these words, ignoring case. */
bool wt__text_has_words(struct str text, const char *words);

/* True for prepositions of place: "in", "near". */
bool wt__is_place_word(struct str word);

/* ---------------------------------------------------------------- past calls */

/* Learns about the parameters of a tool from past calls: example values, and the usual value absent from requests
 * ("units": "metric"). ToolVerifier (2.3) shows such calls to a language model; here they complement the schema. */

enum { DEMONSTRATIONS_MOST = 32 /* maximum past calls read of a tool, newest first */ };

struct demonstration {
    struct str request;      /* "" if unknown */
    const json_t *arguments; /* an object */
};

/* Extends the parameters, which borrow from the calls. A text found in its request, or of an unknown request, becomes
 * an example, like one quoted in the description. Of the values that are not in their requests, a value that makes up
 * at least half is the usual value; a required parameter falls back to it. A parameter without a type becomes a number
 * if its past values are numbers. 0 or WT_ENOMEM. */
int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena);

/* ---------------------------------------------------------------- arguments */

/* Reads the arguments of a tool from the words of a request, without a language model.
 *
 * Literals and values of enumerations are assigned to parameters by kind, by the words around them, and by their end of
 * a range. A required argument absent from the request is missing. An argument with several candidates is unsure. The
 * caller asks for both; values are never invented.
 *
 * The maximum of a range never fills the minimum: "at most 500" is not a min_price. Language models make this mistake
 * (ToolVerifier, section 4.3). */

enum argument_state {
    ARGUMENT_ABSENT,  /* optional, and not in the request */
    ARGUMENT_GIVEN,   /* in the request */
    ARGUMENT_DEFAULT, /* required; value is the schema's default, or the usual value of past calls */
    ARGUMENT_MISSING, /* required, and not in the request in the form of the schema */
    ARGUMENT_UNSURE,  /* something in the request may be the value */
};

struct call_argument {
    enum argument_state state;
    json_t *value;     /* value of GIVEN and DEFAULT, proposal of UNSURE or NULL; owned by the arguments */
    size_t start, end; /* source of the value in the request; both 0 if unknown */
    float score;       /* score of the pair of literal and parameter; 1 for other values, 0 if unknown */
    bool declined;     /* the request says "NAME: none" */
};

struct call_arguments {
    struct call_argument *items; /* [parameters->len] */
    size_t len;
    struct str unused; /* first literal left unused; "" if all are used */
};

/* Fills out from the request. about: name and description of the tool; names in them are not arguments ("What version
 * is Instana using?"). out->items live in the arena; free the values with wt__call_arguments_dispose. 0 or
 * WT_ENOMEM. */
int wt__call_arguments_fill(struct call_arguments *out, const struct literals *literals, struct str about,
                            const struct parameters *parameters, struct arena *arena);
/* Drops a value of the wrong form: the argument becomes missing, or unsure without a proposal. */
void wt__call_argument_reject(struct call_argument *argument, const struct parameter *parameter);
void wt__call_arguments_dispose(struct call_arguments *arguments);

/* ---------------------------------------------------------------- effect of a tool */

/* Decides if a tool has side effects or only reads, and collects its verbs. A tool with side effects must not be called
 * for a question. */

enum {
    EFFECT_VERBS = 4,       /* maximum verbs kept of a tool */
    EFFECT_VERB_BYTES = 24, /* longest verb */
};

struct tool_effect {
    bool acts;                                       /* changes something outside the call */
    char verbs[EFFECT_VERBS][EFFECT_VERB_BYTES + 1]; /* base forms in lower case, from the name and the description */
    size_t verb_count;
};

/* Reads the effect of a tool from its HTTP method, its MCP annotations, and the verbs of its name and description. Uses
 * name, description, source_id, format and definition. A tool with an unknown effect does not act. */
void wt__tool_effect_read(struct tool_effect *out, const struct tool *tool);

/* True if the word is a verb in its base form, ignoring case: one of wt__verb or one of acting_verbs. */
bool wt__is_base_verb(struct str word);

/* True if the word is a form of the verb: "locks", "locked" and "locking" of "lock". In any case. */
bool wt__is_form_of(struct str word, const char *verb);

/* Returns the verb of the tool if the word is a form of it, or a noun derived from it ("connection"); else NULL. */
const char *wt__effect_verb(const struct tool_effect *effect, struct str word);

/* ---------------------------------------------------------------- intent */

/* Decides if a request orders the call of a tool with side effects, or only asks or talks about it.
 *
 * A request is cut into clauses. Each clause is an order, a question, a prohibition or a statement by its first words,
 * after greetings and polite phrases: "could you please lock the vault" is the order "lock the vault", and "could you
 * tell me whether the vault is locked" is a question. Clauses with a verb of the tool decide; without such clauses, all
 * clauses do. English only: in other languages only the question mark counts. */

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
    DOUBT_COUNT,    /* number of doubts */
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

/* Reads the request's intent towards the tool. quoted: quoted texts of the request, which are values and not words.
 * Everything lives in the arena. 0 or WT_ENOMEM. */
int wt__intent_read(struct intent *out, struct str request, const struct byte_span *quoted, size_t quoted_count,
                    const struct tool_effect *effect, struct arena *arena);

/* Returns the name of the doubt: "question", "denied", "unasked" or "unread"; NULL for DOUBT_NONE. */
const char *wt__doubt_name(enum doubt doubt);

/* ---------------------------------------------------------------- unread words */

/* Finds words of a request that its call does not account for.
 *
 * Requests rarely name an optional argument: "suitable for children" means family_friendly. No rule finds the argument.
 * But unread words show that an open optional argument may be meant. Then the caller asks. */

enum {
    COVERAGE_OPEN = 1,          /* open arguments (wt__coverage_check) of a request that may have unread words */
    COVERAGE_UNREAD = 1,        /* unread words tolerated while that many arguments are open */
    COVERAGE_WORDS = 512,       /* maximum words read of a request; a longer request counts as unread */
    COVERAGE_BYTES = 2048,      /* bytes read of a description or a past request */
    COVERAGE_VALUE_BYTES = 200, /* longest value of a model to search for in the request */
    COVERAGE_PAST_ENOUGH = 3,   /* past calls without an argument needed to regard it as rare */
};

/* Makes every open argument unsure if the request may be about one. An optional argument is open if it takes text, is
 * absent, and is not rare. It is rare if COVERAGE_PAST_ENOUGH or more past calls are known, all without it. A word is
 * accounted for by the argument read from it, by the tool's name and description, by names and descriptions of other
 * arguments, and by past requests whose calls have none of the open arguments. */
void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters);

/* Returns the first ordered word unaccounted for by the call of a tool with side effects: "kitchen" of "cancel all
 * kitchen timers", whose call is {}. Empty if every word is accounted for. A word is accounted for as in
 * wt__coverage_check, by the verb of its clause, by a value, or because it never narrows an action ("now"). A declined
 * optional argument ("label: none") accounts for all words, and so does an identifier of the tool's object. tool: its
 * name, in words. */
struct str wt__coverage_unread(const struct call_arguments *arguments, const struct intent *intent, struct str request,
                               struct str tool, struct str description, const struct parameters *parameters);

/* ---------------------------------------------------------------- decision */

/* Chooses one of the first tools of the search, without a language model.
 *
 * ToolVerifier (2.2) lets a model choose between two close tools by a contrastive question. Such tools rarely differ in
 * their topic, as ranked by retrieval, but in one detail. Three details are read here:
 *
 *   time: the request and the tool are about the future, the present or the past ("forecast", "current")
 *   kind: the request has a ZIP code, an address or coordinates, and the tool mentions such values
 *   leftover: the request has a value unused by the tool's parameters
 *
 * Each detail changes the tool's share of the best score, except for tools far behind. The weights were chosen on dev,
 * the same for all catalogues (docs/verified-calls.md). */

enum detail { DETAIL_TIME = 1, DETAIL_KIND = 2, DETAIL_LEFTOVER = 4 };

/* A tool to choose from, in the order of the search. */
struct choice {
    struct str name, description;
    const struct parameters *parameters;
    double score;     /* score of the search; the first is the highest */
    double decided;   /* share of the best score, with the details; orders the choices */
    unsigned details; /* bits of enum detail: details used for the share */
    bool leftover;    /* arguments.unused is not empty */
};

/* Two tools are ambiguous if their shares differ by less than this. */
#define DECISION_CLOSE 0.03

/* Fills `decided` and `details` of the choices and returns the index of the best one, the first of equals. count is
 * above 0. */
size_t wt__decide_tool(const struct literals *literals, struct choice *choices, size_t count);

/* Returns the best choice except `first`; SIZE_MAX if first is the only one. */
size_t wt__decide_second(const struct choice *choices, size_t count, size_t first);

#endif
