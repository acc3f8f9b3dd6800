/* internal.h: declarations shared by the generators of data sets.
 *
 *   pieces      validates the model's answers, finds duplicates and answers that repeat their prompt (piece.c)
 *   stages      asks many questions of one kind (stage.c)
 *   session     folder, options and result of a run (session.c) */
#ifndef WT_GENERATE_INTERNAL_H
#define WT_GENERATE_INTERNAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "llm/chat.h"
#include "llm/prompt.h"
#include "llm/record.h"
#include "whichtool.h"

/* One piece of a language model's answer, cleaned and validated for the data set.
 *
 * A model's output is hostile text. It is folded to one line. Control characters and invisible characters are dropped
 * (llm/plain_text.h). Text that could pass for the layout of a training row, such as "### Thought: ... Act:
 * CALLTOOL[...]", is refused. A name may have only letters, digits, blanks and a few marks, so that it needs no
 * quoting. */

enum {
    PIECE_NAME_BYTES_LEAST = 2,
    PIECE_NAME_BYTES_MAX = 64,
    PIECE_DESCRIPTION_BYTES_LEAST = 12,
    PIECE_DESCRIPTION_BYTES_MAX = 320,
    PIECE_INSTRUCTION_BYTES_LEAST = 8,
    PIECE_INSTRUCTION_BYTES_MAX = 800, /* the longest of ToolVerifier's data has 634 characters */
    PIECE_NOTE_BYTES_LEAST = 40,
    PIECE_EXPLANATION_BYTES_LEAST = 1,
    PIECE_EXPLANATION_BYTES_MAX = 1200,
    PIECE_NOTE_BYTES_MAX = 4096, /* WT_MAX_NOTE_BYTES; the longest of ToolVerifier's data has 1,940 characters */
};

/* Result of the checks of a piece: PIECE_TAKEN if it is accepted, else the reason for the refusal. */
enum piece_fate {
    PIECE_TAKEN,
    PIECE_NO_WORD,    /* has no letter (an instruction: no letter or digit), or is not one of the allowed verdicts */
    PIECE_LENGTH,     /* too short or too long */
    PIECE_MARKS,      /* characters not allowed in a name, or the layout of a training row */
    PIECE_NAME_TAKEN, /* another tool has this name */
    PIECE_SAME_WORDS, /* another piece has the same words */
    PIECE_ALIKE,      /* another piece means nearly the same */
    PIECE_UNNAMED,    /* a note that does not name the chosen tool */
    PIECE_SURPLUS,    /* more pieces than requested */
    PIECE_REPEATS,    /* repeats its prompt */
    PIECE_UNKNOWN,    /* names a tool that was not offered */
    PIECE_COUNT,      /* too few or too many tools */
    PIECE_NAMES_TOOL, /* a request that contains the name of its tool */
    PIECE_NOT_FOUND,  /* a request whose search does not find its tools */
    PIECE_TWIN,       /* a request whose search ranks a near-duplicate of its tool above the tool */
    PIECE_FATES
};

/* Returns the name used in report.json, such as "no_word". */
const char *wt__piece_fate_name(enum piece_fate fate);

enum piece_kind { PIECE_NAME, PIECE_DESCRIPTION, PIECE_INSTRUCTION, PIECE_NOTE, PIECE_EXPLANATION };

/* Cleans and validates a piece. *out is in the arena, or "" if the piece is refused. *fate is PIECE_TAKEN,
 * PIECE_NO_WORD, PIECE_LENGTH or PIECE_MARKS. Errors: WT_ENOMEM. */
int wt__piece_read(struct arena *arena, enum piece_kind kind, struct str text, struct str *out, enum piece_fate *fate,
                   wt_error *err);

/* Appends the words of text in lower case, separated by blanks. Texts with the same words count as the same text. */
void wt__piece_words(struct buffer *out, struct str text);

/* Sets *out to true if text contains the words of name in sequence. *out is false on error, too. Errors: WT_ENOMEM. */
int wt__piece_mentions_name(struct str text, struct str name, bool *out, wt_error *err);

/* Appends text as one line of at most max bytes: runs of blanks become one blank, invisible characters are dropped.
 * Meant for text written by people, which is not validated. */
void wt__piece_line(struct buffer *out, struct str text, size_t max);

/* Returns the number of code points. */
size_t wt__piece_characters(struct str text);

/* Moves the first line of *rest, without its line feed, to *line. Returns false if *rest is empty. */
bool wt__piece_next_line(struct str *rest, struct str *line);

/* A set of texts without duplicates. Texts are duplicates if they have the same words or, with an encoder, if the
 * cosine of their vectors reaches a threshold. Each text is encoded once and compared with all texts before it. */

struct distinct {
    const struct encoder *encoder; /* NULL to compare words only */
    struct encoder_scratch *scratch;
    struct arena arena; /* memory of the words */
    struct map words;
    double threshold; /* minimum cosine of two duplicates */
    float *vectors;   /* [count, D] */
    float *likeness;  /* similarity of the current text to each earlier text */
    size_t count, capacity, likeness_capacity, dim;
};

/* encoder may be NULL, and must outlive the set. Errors: WT_ENOMEM. */
int wt__distinct_open(struct distinct *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__distinct_dispose(struct distinct *distinct);

/* Adds the text unless it is a duplicate. *fate: PIECE_TAKEN, PIECE_SAME_WORDS or PIECE_ALIKE. Errors: WT_ENOMEM. */
int wt__distinct_add(struct distinct *distinct, struct str text, enum piece_fate *fate, wt_error *err);

/* Sets *has to true if a text with the same words was added. Errors: WT_ENOMEM. */
int wt__distinct_has_words(const struct distinct *distinct, struct str text, bool *has, wt_error *err);

/* Returns the position in texts [count] of the text nearest to the last added one, or count without an encoder.
 * texts: numbers of texts in the order of adding, from 0. count > 0. */
size_t wt__distinct_nearest(const struct distinct *distinct, const size_t *texts, size_t count);

/* Detects answers that only repeat their prompt.
 *
 * A small model asked for something new may copy the prompt's form, its rules or one of its examples. Such an answer
 * matches the schema and is useless. The rule, over lower-case words:
 *
 *   - a word of the answer is copied if it belongs to a run of at least REPETITION_RUN words found verbatim in the
 *     prompt; a shorter answer is copied if the whole of it is found verbatim there
 *   - an answer repeats the prompt if at least half of its words are copied, or a run of REPETITION_RUN_LONG words
 *   - an answer without words ("...") repeats the prompt if it occurs there verbatim
 *
 * Only the prompt's own text and its examples count. The tools and the request that the prompt asks about do not count,
 * since an answer must share words with them. */

enum { REPETITION_RUN = 5, REPETITION_RUN_LONG = 12 };

struct repetition {
    struct buffer words; /* words of a text, separated by blanks, with a blank at both ends */
    size_t *begins;      /* [count + 1] offset of each word; the last is past the end */
    size_t count;
    struct map runs; /* all runs of REPETITION_RUN words */
};

/* Indexes the prompt's own text, which is the same for all answers. Errors: WT_ENOMEM. */
int wt__repetition_open(struct repetition *out, struct str prompt, wt_error *err);
void wt__repetition_dispose(struct repetition *repetition);

/* Sets *out to true if `said` repeats the prompt's own text or its examples. own: index of `prompt`. examples: all
 * examples, joined into one text. Errors: WT_ENOMEM. */
int wt__repetition_check(const struct repetition *own, struct str prompt, struct str examples, struct str said,
                         bool *out, wt_error *err);

/* Asks a language model many questions of one kind. Asks about an item again, a limited number of times, until the item
 * is complete.
 *
 * Items are asked in rounds, concurrently as far as the model allows, and the answers are read in the order of the
 * items. The result therefore depends only on the answers, not on their timing. Answers are recorded in the data
 * set's folder, so that a continued run finds them and writes the same bytes. Each question has its own seed,
 * derived from the run's seed, the stage, the item and the attempt.
 *
 * Invariants of a stage's counts: questions = unusable + parsed answers; offered = made + sum of refused. */

enum {
    STAGE_ATTEMPTS = 4,       /* maximum number of questions for an item */
    STAGE_FRUITLESS_MAX = 40, /* consecutive useless answers that end the stage */
    STAGE_ROUND = 64,         /* items asked together if they do not depend on each other */
    STAGE_VALUES = 4,         /* maximum number of slots in a prompt */
    STAGE_LINE_BYTES = 420,   /* maximum bytes of a tool's "name: description", as in prompts/generate-*.txt */
};

enum stage_id {
    STAGE_TOOLS,
    STAGE_RELATED,
    STAGE_DESCRIPTIONS,
    STAGE_INSTRUCTIONS,
    STAGE_NOTES,
    STAGE_REQUESTS,    /* requests of ToolBank and RecTools */
    STAGE_POLISH,      /* polish of ToolBank's requests */
    STAGE_VERDICTS,    /* verdicts on requests with all their tools */
    STAGE_ONE_REMOVED, /* verdicts on requests with one tool removed */
    STAGE_COMPARISONS, /* comparisons of two requests */
    STAGE_NAMES,       /* new names of tools */
    STAGES
};

struct stage_count {
    size_t wanted, made; /* pieces; made: accepted so far */
    uint64_t questions, unusable, offered;
    uint64_t refused[PIECE_FATES]; /* refused[PIECE_TAKEN] is always 0 */
    size_t fruitless;              /* consecutive answers that gave nothing usable */
    bool gave_up;                  /* ended by STAGE_FRUITLESS_MAX */
};

struct stage_cost {
    uint64_t questions, requests, repaired, prompt_tokens, completion_tokens;
    double ms;
};

/* The model, and the totals of all questions to it. */
struct stage_runner {
    struct chat_model *model;
    double temperature;
    uint64_t seed;
    struct progress *progress;
    struct stage_count counts[STAGES];
    struct stage_cost cost;
};

/* Identifies a question for a test double (chat_question.subject). */
struct stage_subject {
    enum stage_id stage;
    size_t item;
    unsigned attempt; /* from 0 */
};

struct question_stage {
    struct { /* without a name, so that an initialiser can list these members in braces */
        enum stage_id id;
        const char *phase;  /* name for progress; NULL to continue the current phase */
        const char *prompt; /* name of the prompt */
        void *context;      /* first argument of the functions below */

        /* Fills the values of the prompt's slots for an item, in the arena: values [STAGE_VALUES] and *count. */
        int (*fill)(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                    wt_error *err);
        /* Takes the usable pieces of an answer and counts them. *done: true if the item is complete. */
        int (*accept)(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                      wt_error *err);
        /* True if an item needs no question. NULL if every item needs one. */
        bool (*skip)(void *context, size_t item);
    };
    size_t count;              /* number of items */
    size_t round;              /* items asked together; 1 if each item depends on earlier items */
    size_t begin;              /* number of the first item */
    unsigned attempts;         /* maximum number of questions for an item; 0 for STAGE_ATTEMPTS */
    uint64_t salt;             /* mixed into the seeds of a stage that runs more than once */
    bool tolerates_duplicates; /* near-duplicates of earlier pieces do not count towards STAGE_FRUITLESS_MAX */
};

/* Runs the stage. Errors: those of wt__chat_ask except WT_EFORMAT, which counts as an unusable answer; those of fill
 * and accept; WT_ECANCELLED. */
int wt__stage_run(struct stage_runner *runner, const struct question_stage *stage, wt_error *err);

/* Counts a piece of an answer by its fate. */
static inline void wt__stage_note(struct stage_count *count, enum piece_fate fate)
{
    count->offered++;
    if (fate == PIECE_TAKEN)
        count->made++;
    else
        count->refused[fate]++;
}

/* Returns the stage's name in report.json: "tools", "related", ... */
const char *wt__stage_name(enum stage_id id);

/* Appends the members "stages" and "cost" of report.json. Two runs with the same answers write the same report. */
void wt__stages_report(const struct stage_runner *runner, struct buffer *out);

/* The folder of a data set, and the state from which a stopped run continues.
 *
 *   .lock           held while a run works in the folder
 *   settings.json   the options of the data set; a run with other options is refused
 *   answers.jsonl   the language model's answers so far (llm/record.h), append-only; each is written before it is used
 *
 * A run always starts from the beginning and finds its earlier questions answered. The same answers lead to the same
 * questions, so a continued run writes the same bytes as an uninterrupted one, without any other saved state. */

#define FOLDER_SETTINGS "settings.json"
#define FOLDER_ANSWERS "answers.jsonl"

struct generate_folder {
    struct arena arena;
    const char *path;
    struct chat_record *answers;
    int lock; /* -1 if not held */
};

/* Opens the folder and creates it if needed. settings: one line of JSON; NULL to save neither settings nor answers.
 * inner: answers the questions without a recorded answer; borrowed. Errors: WT_EINVAL (the folder has other
 * settings, or a data set but no settings), WT_EBUSY, WT_EREADONLY, WT_EIO, ... */
int wt__folder_open(struct generate_folder *out, const char *path, const char *settings, struct chat_model *inner,
                    wt_error *err);
void wt__folder_close(struct generate_folder *folder);

/* Returns the model that answers from the folder first, or NULL if answers are not saved. Borrowed. */
struct chat_model *wt__folder_model(const struct generate_folder *folder);

/* Creates a subfolder and its parents. */
int wt__folder_make_subfolder(struct generate_folder *folder, const char *name, wt_error *err);

/* Replaces a file atomically. Returns WT_ENOMEM if the buffer has failed. */
int wt__folder_write(struct generate_folder *folder, const char *name, const struct buffer *bytes, wt_error *err);

/* Removes a file if it exists. */
int wt__folder_remove(struct generate_folder *folder, const char *name, wt_error *err);

bool wt__folder_has(struct generate_folder *folder, const char *name);

/* A wt_generated with the memory of its strings. */

struct generated {
    wt_generated visible; /* first, so that the public pointer can be cast back */
    struct arena arena;
};

/* Copies the runner's costs. */
void wt__generated_set_cost(struct generated *result, const struct stage_runner *runner);

/* Reads an option that is a share: 0 for the default, negative for 0. Errors: WT_EINVAL if given is NaN or exceeds
 * most. */
int wt__generate_read_share(double given, double usual, double most, const char *name, double *out, wt_error *err);
/* Reads an option that is a count: 0 for the default. Errors: WT_EINVAL if it is below least or above most. */
int wt__generate_read_count(size_t given, size_t usual, size_t least, size_t most, const char *name, size_t *out,
                            wt_error *err);

/* Loads the engine's encoder. *out is NULL if the engine has no usable one (WT_EMODEL). Errors: all others of
 * wt__engine_load_encoder. */
int wt__generate_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);

/* Default minimum cosine of two duplicates, by the built-in encoder. On the ToolSelect data of the ToolVerifier paper
 * it finds all pairs that the tuned encoder finds at 0.95, and some more (docs/generate.md). */
#define GENERATE_DUPLICATE 0.93

/* Default share of hard lists: 75 of the 555 rows of ToolVerifier. */
#define GENERATE_HARD_SHARE (75.0 / 555.0)

/* State shared by all generators from options to result: the model, the folder with its answers, and the result
 * handed to the caller. */

struct generate_session {
    wt_engine *engine;        /* may be NULL if a model is given */
    struct chat_model *model; /* the engine's, or the caller's own */
    struct progress progress;
    struct generate_folder folder;
    struct stage_runner runner;
    struct generated *result;
    struct buffer settings; /* one line of JSON */
    double began;           /* time of wt__session_begin, by wt__now_ms */
};

/* model: NULL for the engine's. Call wt__session_end even after a failure. */
int wt__session_begin(struct generate_session *out, wt_engine *engine, struct chat_model *model,
                      wt_progress_fn progress, void *context, wt_error *err);

/* Opens the folder with the settings, and sets up the runner. Errors: those of wt__folder_open. */
int wt__session_open(struct generate_session *session, const char *path, double temperature, uint64_t seed,
                     wt_error *err);

/* Appends `before` and text as a JSON string. */
static inline void wt__generate_write_json(struct buffer *out, const char *before, struct str text)
{
    wt__buffer_text(out, before);
    wt__buffer_json(out, text);
}

/* Puts places [count] in random order. Defined in rows.c. */
void wt__generate_shuffle(size_t *places, size_t count, struct rng *rng);

/* Finishes the digest and writes it in hexadecimal. */
static inline void wt__generate_end_digest(struct sha256 *sha, char hex[65])
{
    unsigned char digest[32];
    wt__sha256_end(sha, digest);
    wt__sha256_hex(digest, hex);
}

/* Copies a line into the result; sets *out to NULL if the line is empty. */
int wt__session_set_text(struct generate_session *session, const struct buffer *line, const char **out, wt_error *err);

/* Appends the first members of report.json: "settings", "complete" and "model". */
void wt__session_begin_report(const struct generate_session *session, bool complete, struct buffer *out);

/* Copies the report into the result and writes it to report.json. Disposes the buffer. */
int wt__session_report(struct generate_session *session, struct buffer *line, wt_error *err);

/* Ends the session; sets *out if rc is 0. Returns rc. */
int wt__session_end(struct generate_session *session, int rc, wt_generated **out);

#endif
