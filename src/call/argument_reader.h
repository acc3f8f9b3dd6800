/* argument_reader.h: private parts of reading arguments (arguments.h): answers by name, the fit of a literal and a
 * parameter, and the state shared by the readers. */
#ifndef WT_CALL_ARGUMENT_READER_H
#define WT_CALL_ARGUMENT_READER_H

#include "call/arguments.h"

/* ---------------------------------------------------------------- answers by name */

/* Values that a request gives by the name of an argument: "target: kitchen", "target=kitchen", and, for one word, ",
 * target kitchen". Users answer questions this way, so an answer outweighs all other evidence.
 *
 * A value ends with its clause, or with its literal, which may contain commas. Values of a list continue after commas.
 * A "name: value" clause whose name matches no argument is reported, not dropped. */

enum {
    ANSWER_BYTES = 200,   /* longest value that is read */
    ANSWER_PART_WORDS = 3 /* most words of a list item after a comma; a longer one is another clause */
};

/* Answer for a parameter, in bytes of the request; end is 0 if the request has no answer. */
struct argument_answer {
    size_t name, start, end; /* name: start of the name; start, end: the value */
    bool assigned;           /* the name is followed by a colon or "=" */
};

/* Returns the end of value if the request has it at start, else 0. Ignores case and a plural "s" after the value, and
 * takes blanks, "_" and "-" as equal. */
size_t wt__match_value(struct str request, size_t start, struct str value);

/* Fills out, which has one entry per parameter. The longer name wins where names overlap ("name", "pet name"). */
void wt__answers_read(struct argument_answer *out, const struct literals *literals,
                      const struct parameters *parameters);

/* True if the answer is "none", so that the argument is left out, unless "none" is a value of the parameter. */
bool wt__answer_declines(struct str text, const struct parameter *parameter);

/* Returns the next item of a list ("rabies, flu and distemper") without blanks, brackets and quotes; empty at the
 * end. */
struct str wt__next_answer_part(struct str text, size_t *at);

/* Appends to list the texts after the name of an array of texts: a JSON array, quoted texts joined by "," or "and", or
 * one text to the end of its clause. *end: end of the texts. *sure: false for "a and b" or "a, b" without quotes, which
 * may be two texts or one. 0, WT_EFORMAT if there is no text, or WT_ENOMEM. */
int wt__answer_read_texts(json_t *list, size_t *end, bool *sure, const struct literals *literals,
                          const struct argument_answer *answer);

/* Returns the next "WORD: VALUE" from *at on whose word names no parameter. The clause follows a comma or semicolon, or
 * begins a line. Sets *value to its value. Empty at the end. */
struct str wt__next_unknown_answer(struct str request, size_t *at, const struct parameters *parameters,
                                   struct str *value);

/* ---------------------------------------------------------------- form of a literal */

/* Converts literals to the form described by a parameter: "in the format 'YYYY-MM-DD'", "such as 'San Francisco, CA'",
 * "the IATA code". */

/* Sets *out to the literal's text in the parameter's form; it lives as long as the arena or the literal. Returns 1, 0
 * if the literal cannot be converted, or WT_ENOMEM. */
int wt__convert_literal(struct str *out, const struct parameter *parameter, const struct literal *literal,
                        struct arena *arena);

/* True if the literal is a code with the parameter's number of letters, which must be above 0. */
bool wt__has_letters(const struct parameter *parameter, const struct literal *literal);

/* ---------------------------------------------------------------- fit of a literal */

/* Scores a parameter and a literal by kind, name and end of a range, independent of the literal's place in the request.
 * arguments.c adds the place. */

static const float PAIR_NEVER = -1.F;
static const float PAIR_LITTLE = .1F; /* breaks ties between pairs of fitting kinds */
static const float PAIR_NAMED = 1.F;  /* the literal is next to a word of the parameter's name */

/* Returns the base score of the two kinds, or PAIR_NEVER if they do not fit. */
float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal);

/* True if the literal can be the answer after the parameter's name; texts always can. */
bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal);

/* Returns the score of a word next to the literal, if it is in the parameter's name or description. */
float wt__word_evidence(const struct parameter *parameter, struct str word);

/* True if the text only repeats the parameter's name ("project ID") and so is not a value. */
bool wt__repeats_name(const struct parameter *parameter, struct str text);

/* Returns the end of a range stated by the two words before a literal: "at least", "more than". before: the first of
 * them; word: the second. */
enum parameter_bound wt__bound_cue(struct str word, struct str before);
enum parameter_bound wt__bound_opposite(enum parameter_bound bound);

/* Returns the score for the end of a range. said: the end that the request states. Returns PAIR_NEVER if the request
 * states the other end than the parameter, or states none where the parameter needs one. */
float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said);

/* ---------------------------------------------------------------- state */

enum { WORDS_MOST = 512 /* maximum words read of a request */ };

struct argument_reader {
    struct str request, about;
    struct byte_span words[WORDS_MOST];
    size_t word_count;
    const struct literal *literals; /* [literal_count] */
    size_t literal_count;
    bool used[LITERALS_MOST];
    bool repeated[LITERALS_MOST]; /* repeats the value of an answer */
    const struct literals *all;   /* the literals with their request */

    const struct argument_answer *answers; /* [parameters->len] */
    struct str nouns[LITERALS_MOST];       /* noun right before each literal; empty if absent */
    const struct parameters *parameters;
    float (*scores)[LITERALS_MOST]; /* [parameters->len] */
    struct call_arguments *out;
    struct arena *arena;
    size_t taken;         /* number of text literals assigned to parameters */
    struct str left_over; /* part of an answer missing from its enumeration */
};

void wt__reader_read_words(struct argument_reader *r);

/* Returns word number w of the request. */
struct str wt__reader_word(const struct argument_reader *r, size_t w);

/* Number of words ending at or before a byte of the request. */
size_t wt__reader_words_before(const struct argument_reader *r, size_t start);

/* Returns the word right before a byte; empty at the start. */
struct str wt__reader_word_before(const struct argument_reader *r, size_t start);

/* True if a word of the text is a variant of the word (wt__words_alike). */
bool wt__text_has_alike(struct str text, struct str word);

/* True if the value of an argument was read from these bytes of the request, or overlaps them. */
bool wt__overlaps_argument(const struct call_arguments *arguments, size_t start, size_t end);

/* True if the parameter takes a date, a time, or both. */
static inline bool wt__takes_moment(const struct parameter *parameter)
{
    return parameter->takes_date || parameter->takes_time || parameter->takes_date_time;
}

/* True for "not", "no" and similar words. */
bool wt__is_denial_word(struct str word);

/* Number of parameters with the word in their names. */
size_t wt__count_name_sharers(const struct parameters *parameters, struct str word);

/* Returns a list with the value, and takes ownership of it; NULL if out of memory. */
json_t *wt__json_list_of(json_t *value);

/* Returns a given argument with a value, which it owns, and its source in the request. */
struct call_argument wt__given_argument(json_t *value, size_t start, size_t end);

/* Marks literals that overlap the span as used. */
void wt__reader_mark_used(struct argument_reader *r, struct byte_span span);

/* Marks literals equal to the text of an answer: the request often has the value already, before the user answers a
 * question. Marks only one number, date or time: two equal ones often mean two things. */
void wt__reader_mark_repeated(struct argument_reader *r, struct str text, struct byte_span given);

/* True if the parameter has no value yet and is not declined by the request. */
bool wt__reader_is_vacant(const struct argument_reader *r, size_t p);

/* True if a literal overlaps these bytes. Literals are converted elsewhere. */
bool wt__reader_has_literal(const struct argument_reader *r, size_t start, size_t end);

/* Returns the literal equal to the whole answer; SIZE_MAX if there is no such literal. */
size_t wt__reader_answering_literal(const struct argument_reader *r, size_t p);

/* True for a word used for dates or times: "tomorrow", "March". "may" is left out: it is usually a verb. */
bool wt__is_calendar_word(struct str word);

/* Fills parameters by enumerations, answers and examples. 0 or WT_ENOMEM. */
int wt__fill_named_values(struct argument_reader *r);

/* Pairs the other literals with parameters. 0 or WT_ENOMEM. */
int wt__fill_pairs(struct argument_reader *r);

#endif
