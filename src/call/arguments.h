/* arguments.h: reads the literals, arguments and intent of a request without a language model. Also reads the
 * parameters and the effect of a tool, and chooses between tools. */
#ifndef WT_CALL_ARGUMENTS_H
#define WT_CALL_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "catalog/tool.h"

/* A part of the request: bytes start .. end - 1. */
struct byte_span {
    size_t start, end;
};

/* ---------------------------------------------------------------- literals */

/* Literals are the parts of a request that can be arguments: numbers, dates, times, addresses, quoted texts,
 * identifiers and names. They are found by spelling alone, without knowledge of the tool. ToolVerifier (Mekala et al.
 * 2024, section 2.3) lets a language model write the arguments. Without a model, arguments are taken from the literals.
 *
 * Values are normalised:
 *   - Numbers: without thousands separators, currency and percent sign. "20k" is 20000, "3 million" 3000000. Number
 *     words from "two" to "twenty" and "dozen" are numbers.
 *   - Dates: YYYY-MM-DD. A date without a year is not a literal. The month comes first in "3/4/2023" unless it is above
 *     twelve.
 *   - Times: HH:MM, or HH:MM:SS with the zone if the request has seconds.
 *
 * Dates relative to the calendar or clock ("tomorrow", "next Friday") are not literals. */

enum { LITERALS_MOST = 64 }; /* maximum literals read of a request */

enum literal_kind {
    LITERAL_NUMBER,
    LITERAL_DATE,
    LITERAL_TIME,
    LITERAL_DATE_TIME, /* as written, such as "2026-12-01T19:30:00Z" */
    LITERAL_EMAIL,
    LITERAL_URL,
    LITERAL_QUOTED,
    LITERAL_CODE, /* identifier such as "AB-12" or "userId", or digits that are not a number, such as "192.168.0.1" */
    LITERAL_NAME, /* words with capitals */
};

struct literal {
    enum literal_kind kind;
    size_t start, end;   /* bytes of the request */
    struct str text;     /* normalised; lives as long as the arena or the request */
    double number;       /* value of a LITERAL_NUMBER; 0 for other kinds */
    bool spelled;        /* a number word such as "two", which may not be meant as a number: "two of them" */
    bool money, percent; /* an amount with a currency sign or name; a number with "%" */
    bool utc;            /* true if "UTC" or "Z" follows a LITERAL_TIME; `text` does not contain it */
    struct str currency; /* code of an amount such as "USD"; empty without a code */
};

/* A request and its literals, in the order of the request and without overlaps. Read once for all tools. */
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

/* The parameters of a tool, as stated in its schema. Only members of the schema's root are parameters. A nested object
 * is one parameter of kind PARAMETER_OTHER. */

enum {
    PARAMETERS_MOST = 128,            /* maximum parameters of a tool; later ones are ignored */
    PARAMETER_WORDS = 12,             /* maximum words read of a name */
    PARAMETER_DESCRIPTION_WORDS = 40, /* maximum words read of a description */
    PARAMETER_WORD_BYTES = 31,        /* longest word read of a description */
    PARAMETER_EXAMPLES = 24,          /* maximum example values of a parameter */
    PARAMETER_EXAMPLE_BYTES = 40,     /* longest example value */
};

enum parameter_kind {
    PARAMETER_STRING,
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_BOOLEAN,
    PARAMETER_ANY,   /* the schema has no type */
    PARAMETER_OTHER, /* objects, lists of lists, and "$ref" or "anyOf" without a type; never filled from a request */
};

/* End of a range, from the parameter's name: "min_price" is BOUND_LOWEST, "end_date" BOUND_TO, "origin" BOUND_FROM. */
enum parameter_bound { BOUND_NONE, BOUND_LOWEST, BOUND_HIGHEST, BOUND_FROM, BOUND_TO };

struct parameter {
    const char *name;
    const json_t *schema;
    enum parameter_kind kind; /* kind of the value; for a list, kind of its items */
    bool list, required;
    bool takes_date, takes_time; /* a date, a time, according to name, format or description */
    bool takes_date_time;        /* a date with a time */
    bool takes_free_text;        /* any words, according to the name: a query, a message */
    bool takes_place;            /* a place */
    bool takes_code;             /* an identifier, or digits that are not a number, such as a phone number */
    bool takes_money;            /* an amount of money */
    bool takes_currency;         /* a currency code */
    bool names_number;           /* the name says that the value is a number, such as "num_beds" or "max_price" */
    bool names_words;            /* the name says that the value is no number, such as "room_type" */
    size_t letters;              /* length of a code, from the description ("three-letter code"); 0 if unknown */
    const json_t *values;        /* "enum", or NULL */
    struct str examples[PARAMETER_EXAMPLES]; /* [example_count] values from the description and from past calls */
    size_t example_count;
    const json_t *usual; /* usual value from past calls (wt__parameters_learn), or NULL */
    enum parameter_bound bound;
    struct str words[PARAMETER_WORDS]; /* words of the name */
    size_t word_count;
    struct str description_words[PARAMETER_DESCRIPTION_WORDS];
    size_t description_word_count;
};

/* True if the value of the parameter may be a text. */
static inline bool wt__takes_text(const struct parameter *parameter)
{
    return parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
}

struct parameters {
    struct parameter *items; /* [len], in the schema's order */
    size_t len;
    const struct demonstration *past; /* [past_count] calls read by wt__parameters_learn; NULL before */
    size_t past_count;
};

/* Reads the parameters of a schema, which must outlive `out`. 0 or WT_ENOMEM. */
int wt__parameters_read(struct parameters *out, const json_t *schema, struct arena *arena);

/* True if two words are variants of each other: equal without a final "s", or one is a prefix of the other with at
 * least three letters ("lat" and "latitude", "beds" and "bedroom"). Ignores case. */
bool wt__words_alike(struct str a, struct str b);

/* True if the text contains the string `words`, ignoring case, even inside a longer word. */
bool wt__text_has_words(struct str text, const char *words);

/* True for prepositions of place: "in", "near". */
bool wt__is_place_word(struct str word);

/* ---------------------------------------------------------------- past calls */

/* Past calls of a tool complement its schema. They give example values, and usual values that requests do not state
 * ("units": "metric"). ToolVerifier (section 2.3) shows such calls to a language model instead. */

enum { DEMONSTRATIONS_MOST = 32 /* maximum past calls read of a tool, newest first */ };

struct demonstration {
    struct str request;      /* "" if unknown */
    const json_t *arguments; /* JSON object of the arguments by name */
};

/* Adds examples and usual values from past calls to the parameters. The calls must outlive the parameters. 0 or
 * WT_ENOMEM.
 *   - A text value becomes an example if the request of the call contains the text or is unknown.
 *   - The usual value is the most frequent one of the values that are absent from their requests. It must make up at
 *     least half of these values. A required parameter without a value in the request and without a default gets the
 *     usual value.
 *   - A parameter without a type becomes a number if all values that requests state are numbers, and a list if a past
 *     value is a list.
 *   - The words before and after a value in its request become description words of the parameter. */
int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena);

/* ---------------------------------------------------------------- arguments */

/* Reads the arguments of a tool from the words of a request, without a language model.
 *
 * Literals and enumeration values are assigned to parameters by their kind, by the words around them, and by the end of
 * a range that they state. A required argument absent from the request is missing. An argument is unsure if several
 * values are likely. The caller asks the user about missing and unsure arguments. Values are never invented.
 *
 * The maximum of a range never becomes the value of a minimum: "at most 500" is not a min_price. Language models make
 * this mistake (ToolVerifier, section 4.3). */

enum argument_state {
    ARGUMENT_ABSENT,  /* optional, and not in the request */
    ARGUMENT_GIVEN,   /* in the request */
    ARGUMENT_DEFAULT, /* required; value is the schema's default, or the usual value of past calls */
    ARGUMENT_MISSING, /* required, and not in the request in the form of the schema */
    ARGUMENT_UNSURE,  /* the value is a proposal, or only the name is mentioned; the user has to decide */
};

struct call_argument {
    enum argument_state state;
    json_t *value;     /* value if GIVEN or DEFAULT; proposal or NULL if UNSURE; else NULL. Owned */
    size_t start, end; /* bytes of the request that state the value; both 0 if unknown */
    float score;       /* score of the assignment (argument_reader.h); 1 if named by the request, 0 without a value */
    bool declined;     /* true if the request leaves the parameter empty, as in "label: none" */
};

struct call_arguments {
    struct call_argument *items; /* [parameters->len] */
    size_t len;
    struct str unused; /* first literal, answer part or "name: value" clause without an argument; "" if absent */
};

/* Fills `out` from the literals and words of the request. about: name and description of the tool. A proper name in
 * `about` is not an argument: "Instana" in "What version is Instana using?". out->items live in the arena; free the
 * values with wt__call_arguments_dispose. 0 or WT_ENOMEM. */
int wt__call_arguments_fill(struct call_arguments *out, const struct literals *literals, struct str about,
                            const struct parameters *parameters, struct arena *arena);
/* Drops a value of the wrong form. A required argument becomes missing. An optional argument becomes unsure, without a
 * proposal. */
void wt__call_argument_reject(struct call_argument *argument, const struct parameter *parameter);
void wt__call_arguments_dispose(struct call_arguments *arguments);

/* ---------------------------------------------------------------- effect of a tool */

/* A tool acts if it has side effects; other tools only read. A tool that acts must not be called for a request that
 * only asks a question. */

enum {
    EFFECT_VERBS = 4,       /* maximum verbs kept of a tool */
    EFFECT_VERB_BYTES = 24, /* length of the longest verb kept */
};

struct tool_effect {
    bool acts;                                       /* true if the tool has side effects */
    char verbs[EFFECT_VERBS][EFFECT_VERB_BYTES + 1]; /* base forms in lower case, from the name and the description */
    size_t verb_count;
};

/* Reads the effect of a tool from its HTTP method, its MCP annotations, and the verbs of its name and description. Only
 * name, description, source_id, format and definition of the tool must be set. A tool with an unknown effect counts as
 * a tool that only reads. */
void wt__tool_effect_read(struct tool_effect *out, const struct tool *tool);

/* True if the word is a known verb in its base form, ignoring case. Known verbs are those of wt__verb and of the table
 * acting_verbs in tool_effect.c. */
bool wt__is_base_verb(struct str word);

/* True if the word is a form of the verb: "locks", "locked" and "locking" of "lock". Ignores case. */
bool wt__is_form_of(struct str word, const char *verb);

/* Returns the tool's verb if the word is a form of this verb, a form of its first half ("logged" of "logout"), or a
 * noun derived from it ("connection" of "connect"). NULL if no verb of the tool matches. */
const char *wt__effect_verb(const struct tool_effect *effect, struct str word);

/* ---------------------------------------------------------------- intent */

/* The intent of a request is to order the action of a tool with side effects, or only to ask or talk about the action.
 *
 * A request is split into clauses. The first words of a clause, after greetings and polite phrases, decide whether the
 * clause is an order, a question, a prohibition or a statement. "Could you please lock the vault" is the order "lock
 * the vault". "Could you tell me whether the vault is locked" is a question. If clauses contain a verb of the tool,
 * only these clauses count. Only English is understood. In other languages, only the question mark counts. */

enum {
    INTENT_WORDS = 1024,  /* maximum words read of a request */
    INTENT_CLAUSES = 256, /* maximum clauses read of a request */
};

/* Reason to ask before calling a tool with side effects. */
enum doubt {
    DOUBT_NONE,
    DOUBT_QUESTION, /* the request asks something */
    DOUBT_DENIED,   /* the request forbids the action */
    DOUBT_UNASKED,  /* the request only mentions the action: "the vault was locked", "remind me to lock the vault" */
    DOUBT_UNREAD,   /* a word of the request is not in the call: "kitchen" of "cancel all kitchen timers" */
    DOUBT_COUNT,    /* number of doubts */
};

/* A word of the request. A quoted text counts as one word. */
struct intent_word {
    struct str text;   /* in lower case, with ' for every apostrophe; "\"" for a quoted text */
    size_t start, end; /* bytes of the request */
    char before;       /* sign before the word: one of , ; : . ? ! and newline; 0 if absent */
    bool quoted;       /* true for a quoted text */
};

struct intent {
    const struct intent_word *words; /* [word_count] */
    size_t word_count;
    bool *ordered; /* [word_count] true for words of clauses that order the call, except their verbs */
    bool cut;      /* true if the request exceeds INTENT_WORDS or INTENT_CLAUSES, and the rest was not read */
    enum doubt doubt;
};

/* Reads the request's intent towards the tool. quoted: byte ranges of quoted texts and long values, whose words are not
 * part of the order. The result lives in the arena. 0 or WT_ENOMEM. */
int wt__intent_read(struct intent *out, struct str request, const struct byte_span *quoted, size_t quoted_count,
                    const struct tool_effect *effect, struct arena *arena);

/* Returns the name of the doubt: "question", "denied", "unasked" or "unread"; NULL for DOUBT_NONE. */
const char *wt__doubt_name(enum doubt doubt);

/* ---------------------------------------------------------------- unread words */

/* An unread word is a word of a request that the call does not account for.
 *
 * Requests rarely name an optional argument: "suitable for children" means family_friendly. The rules here do not find
 * such an argument. Unread words show that the request may mean an optional argument without a value, so the caller
 * asks the user. */

enum {
    COVERAGE_OPEN = 1,          /* maximum open arguments for which unread words are counted */
    COVERAGE_UNREAD = 1,        /* maximum unread words that are tolerated */
    COVERAGE_WORDS = 512,       /* maximum words read of a request; a longer request counts as unread */
    COVERAGE_BYTES = 2048,      /* bytes read of a description or a past request */
    COVERAGE_VALUE_BYTES = 200, /* longest value from a language model that is searched for in the request */
    COVERAGE_PAST_ENOUGH = 3,   /* minimum number of past calls to regard an argument as rare */
};

/* Makes every open argument unsure if the request may mean one of the open arguments. This is so if there are more than
 * COVERAGE_OPEN open arguments, or if more than COVERAGE_UNREAD words are unread.
 *
 * An argument is open if it takes text, is absent but not declined, and is not rare. An argument is rare if at least
 * COVERAGE_PAST_ENOUGH past calls are known and none of them has the argument. A word is accounted for if it is a stop
 * word or a known verb, or if it is in one of:
 *   - the part of the request from which an argument was read
 *   - the tool's name or description
 *   - the name or description of a parameter that is not open
 *   - a past request whose call has none of the open arguments */
void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters);

/* Returns the first unread word of the clauses that order the call of a tool with side effects; empty if every word is
 * accounted for. Example: "kitchen" of "cancel all kitchen timers" if the call has no arguments.
 *
 * Words are accounted for as in wt__coverage_check, except that every absent argument counts as open, and that known
 * verbs are not accounted for. Words of values and unspecific words such as "now" are also accounted for. All words of
 * the request are accounted for if the request
 *   - leaves a parameter empty ("label: none"),
 *   - identifies the tool's object ("order 4711"), or
 *   - does not contain a value that a language model wrote: the words that state the value are then unknown.
 *
 * tool: name of the tool, split into words */
struct str wt__coverage_unread(const struct call_arguments *arguments, const struct intent *intent, struct str request,
                               struct str tool, struct str description, const struct parameters *parameters);

/* ---------------------------------------------------------------- decision */

/* Chooses one of the first tools of the search, without a language model.
 *
 * ToolVerifier (section 2.2) lets a language model choose between two tools with a contrastive question. Tools ranked
 * close together by retrieval often have the same topic and differ in one detail. Three details are checked here:
 *
 *   time: the request and the tool both mention the future, the present or the past ("forecast", "current"). Raises
 *     the share if both mention the same, else lowers the share
 *   kind: the request has a ZIP code, an email address, a URL, coordinates or a date. Raises the share
 *     if the tool mentions such values, else lowers the share
 *   leftover: the request has a value unused by the tool's parameters. Lowers the share
 *
 * A tool's share is its score divided by the best score. The shares of tools far behind the best stay the same. The
 * weights were chosen on the dev sets and are the same for all catalogues (docs/verified-calls.md). */

enum detail { DETAIL_TIME = 1, DETAIL_KIND = 2, DETAIL_LEFTOVER = 4 };

/* A tool to choose from, in the order of the search. */
struct choice {
    struct str name, description;
    const struct parameters *parameters;
    double score;         /* score of the search; highest for the first choice */
    double decided;       /* output: share of the best score, changed by the details; the greatest wins */
    unsigned details;     /* output: bits of enum detail that changed the share */
    unsigned kinds_taken; /* output: kinds of values in the request that the tool takes */
    bool leftover;        /* true if call_arguments.unused of the tool is not empty */
};

/* Two tools are ambiguous if their `decided` values differ by less than this. */
#define DECISION_CLOSE 0.03

/* True if the request has a value of a kind that a tool may mention. */
bool wt__has_value_kind(const struct literals *literals);

/* Fills the outputs of the choices and returns the index of the best one, the first of equals. count is
 * above 0. */
size_t wt__decide_tool(const struct literals *literals, struct choice *choices, size_t count);

/* Returns the index of the best choice except `first`; SIZE_MAX if `first` is the only choice. */
size_t wt__decide_second(const struct choice *choices, size_t count, size_t first);

#endif
