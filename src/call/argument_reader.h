/* argument_reader.h: functions and state shared by the files that read arguments (arguments.h). */
#ifndef WT_CALL_ARGUMENT_READER_H
#define WT_CALL_ARGUMENT_READER_H

#include "call/arguments.h"

/* ---------------------------------------------------------------- answers by name */

/* An answer is a value that a request gives by the name of a parameter: "target: kitchen" or "target=kitchen". If the
 * value is a single word, the clause "target kitchen" is also an answer. Users answer questions this way, so an answer
 * outweighs all other evidence.
 *
 * An answer ends with its clause. A literal at the start of the answer may contain commas. For a list, the answer
 * continues after commas. A "name: value" clause whose name matches no parameter is reported to the user. */

enum {
    ANSWER_BYTES = 200,   /* length of the longest value that is read */
    ANSWER_PART_WORDS = 3 /* maximum words of a list item after a comma; more words are a new clause */
};

/* Place of an answer in the request, in bytes; `end` is 0 if the request has no answer for the parameter. */
struct argument_answer {
    size_t name, start, end; /* name: first byte of the name; start .. end - 1: the value */
    bool assigned;           /* true if a colon or "=" follows the name */
};

/* Returns the end of `value` in the request if `value` begins at `start` and ends at the end of a word; else 0. Ignores
 * case and a plural "s" after the value. Treats blanks, "_" and "-" as equal. */
size_t wt__match_value(struct str request, size_t start, struct str value);

/* Finds the answers for all parameters. out: [parameters->len]. If the request has "pet name: Rex" and the parameters
 * are "name" and "pet name", only the longer name gets the answer. */
void wt__answers_read(struct argument_answer *out, const struct literals *literals,
                      const struct parameters *parameters);

/* True if the answer is "none" and the parameter's enumeration does not have this value. The argument is then left
 * out. */
bool wt__answer_declines(struct str text, const struct parameter *parameter);

/* Returns the next item of a list ("rabies, flu and distemper") from *at on, and moves *at behind the item. Removes
 * surrounding blanks, brackets and quotes. Returns an empty text at the end. */
struct str wt__next_answer_part(struct str text, size_t *at);

/* Reads the answer for a list of texts and appends its items to `list`. The answer is a JSON array, quoted texts joined
 * by "," or "and", or one text up to the end of the clause. *end: end of the items in the request. *sure: false for "a
 * and b" or "a, b" without quotes, which may be one text or two. Returns 0, WT_EFORMAT if the answer has no item, or
 * WT_ENOMEM. */
int wt__answer_read_texts(json_t *list, size_t *end, bool *sure, const struct literals *literals,
                          const struct argument_answer *answer);

/* Returns the next clause "WORD: VALUE" from *at on whose WORD matches no parameter; empty at the end. The clause must
 * follow a line break, comma or semicolon. A clause at the start of the request is skipped. Sets *value to VALUE, and
 * moves *at behind the clause. */
struct str wt__next_unknown_answer(struct str request, size_t *at, const struct parameters *parameters,
                                   struct str *value);

/* ---------------------------------------------------------------- form of a literal */

/* Converts literals to the form described by a parameter: "in the format 'YYYY-MM-DD'", "such as 'San Francisco, CA'",
 * "the IATA code". */

/* Sets *out to the literal's text in the parameter's form. The text lives as long as the arena or the literal. Returns
 * 1, 0 if the literal cannot be converted, or WT_ENOMEM. */
int wt__convert_literal(struct str *out, const struct parameter *parameter, const struct literal *literal,
                        struct arena *arena);

/* True if the literal is a code with the parameter's number of letters, which must be above 0. */
bool wt__has_letters(const struct parameter *parameter, const struct literal *literal);

/* ---------------------------------------------------------------- fit of a literal */

/* Scores for a parameter and a literal, from kind, name and end of a range. argument_pairs.c adds the evidence of the
 * words around the literal. */

static const float PAIR_NEVER = -1.F; /* score of an impossible pair */
static const float PAIR_LITTLE = .1F; /* small base score of some fitting kinds, to break ties */
static const float PAIR_NAMED = 1.F;  /* score if the literal is next to a word of the parameter's name */

/* Returns the base score for the kinds of parameter and literal; PAIR_NEVER if the kinds do not fit. */
float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal);

/* True if the literal can be the answer for the parameter. Any text literal can be the answer for a parameter that
 * takes text, except dates and times. */
bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal);

/* Returns the score for a word next to a literal; 0 if the parameter's name and description do not have the word. */
float wt__word_evidence(const struct parameter *parameter, struct str word);

/* True if the text only repeats the parameter's name ("project ID") and so is not a value. */
bool wt__repeats_name(const struct parameter *parameter, struct str text);

/* Returns the end of a range that the two words before a literal state: "at least", "more than". word: the second word,
 * such as "least". before: the first word, such as "at". */
enum parameter_bound wt__bound_cue(struct str word, struct str before);
enum parameter_bound wt__bound_opposite(enum parameter_bound bound);

/* Returns the score for the end of a range. said: end that the request states for the literal; BOUND_NONE if none is
 * stated. Returns PAIR_NEVER if the parameter is the other end, or if the parameter needs a stated end and `said` is
 * BOUND_NONE. */
float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said);

/* ---------------------------------------------------------------- state */

enum { WORDS_MOST = 512 /* maximum words read of a request */ };

struct argument_reader {
    struct str request, about; /* about: name and description of the tool */
    struct byte_span words[WORDS_MOST];
    size_t word_count;
    const struct literal *literals; /* [literal_count] */
    size_t literal_count;
    bool used[LITERALS_MOST];     /* true once the literal is assigned, or overlaps an assigned value */
    bool repeated[LITERALS_MOST]; /* true if the literal repeats the value of an answer */
    const struct literals *all;   /* the literals with their request */

    const struct argument_answer *answers; /* [parameters->len] */
    struct str nouns[LITERALS_MOST];       /* noun right before each literal; empty if absent */
    const struct parameters *parameters;
    float (*scores)[LITERALS_MOST]; /* [parameters->len] score of each pair */
    struct call_arguments *out;
    struct arena *arena;
    size_t taken;         /* number of text literals assigned to parameters */
    struct str left_over; /* part of an answer that is not a value of the enumeration; empty if none */
};

/* Fills `words` with the words of the request. */
void wt__reader_read_words(struct argument_reader *r);

/* Returns word number w of the request. */
struct str wt__reader_word(const struct argument_reader *r, size_t w);

/* Returns the number of words that end at or before a byte of the request. */
size_t wt__reader_words_before(const struct argument_reader *r, size_t start);

/* Returns the word right before a byte; empty at the start. */
struct str wt__reader_word_before(const struct argument_reader *r, size_t start);

/* True if a word of the text is a variant of the word (wt__words_alike). */
bool wt__text_has_alike(struct str text, struct str word);

/* True if these bytes of the request overlap the bytes that state an argument. */
bool wt__overlaps_argument(const struct call_arguments *arguments, size_t start, size_t end);

/* True if the parameter takes a date, a time, or both. */
static inline bool wt__takes_moment(const struct parameter *parameter)
{
    return parameter->takes_date || parameter->takes_time || parameter->takes_date_time;
}

/* True for "not", "no" and similar words. */
bool wt__is_denial_word(struct str word);

/* Returns the number of parameters with the word in their names. */
size_t wt__count_name_sharers(const struct parameters *parameters, struct str word);

/* Returns a list with the value, and takes ownership of it; NULL if out of memory. */
json_t *wt__json_list_of(json_t *value);

/* Returns an argument with state ARGUMENT_GIVEN. The argument takes ownership of `value`. start, end: bytes of the
 * request that state the value. */
struct call_argument wt__given_argument(json_t *value, size_t start, size_t end);

/* Marks literals that overlap the span as used. */
void wt__reader_mark_used(struct argument_reader *r, struct byte_span span);

/* Marks literals equal to the text of an answer as repeated. Users often repeat a value of the request in an answer. Of
 * equal numbers, dates or times, marks only the first: the others often mean something else. given: place of the
 * answer. Literals in this place are not marked. */
void wt__reader_mark_repeated(struct argument_reader *r, struct str text, struct byte_span given);

/* True if the parameter has no value yet and is not declined by the request. */
bool wt__reader_is_vacant(const struct argument_reader *r, size_t p);

/* True if a literal overlaps these bytes of the request. */
bool wt__reader_has_literal(const struct argument_reader *r, size_t start, size_t end);

/* Returns the index of the literal that is the whole answer for parameter p; SIZE_MAX if there is no such literal. */
size_t wt__reader_answering_literal(const struct argument_reader *r, size_t p);

/* True for a word used for dates or times: "tomorrow", "March". "may" is left out: it is usually a verb. */
bool wt__is_calendar_word(struct str word);

/* Fills parameters with values of enumerations, answers and examples. 0 or WT_ENOMEM. */
int wt__fill_named_values(struct argument_reader *r);

/* Assigns the unused literals to parameters without a value. 0 or WT_ENOMEM. */
int wt__fill_pairs(struct argument_reader *r);

#endif
