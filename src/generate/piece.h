/* piece.h: one piece of a language model's answer, cleaned and validated for the data set.
 *
 * A model's output is hostile text. It is folded to one line; control characters and invisible characters are
 * dropped (llm/plain_text.h); and text that could pass for the layout of a training row, such as "### Thought: ...
 * Act: CALLTOOL[...]", is refused. A name may have only letters, digits, blanks and a few marks, so that it needs no
 * quoting. */
#ifndef WT_GENERATE_PIECE_H
#define WT_GENERATE_PIECE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum {
    PIECE_NAME_BYTES_LEAST = 2,
    PIECE_NAME_BYTES_MAX = 64,
    PIECE_DESCRIPTION_BYTES_LEAST = 12,
    PIECE_DESCRIPTION_BYTES_MAX = 320,
    PIECE_INSTRUCTION_BYTES_LEAST = 8,
    PIECE_INSTRUCTION_BYTES_MAX = 800, /* the paper's longest has 634 characters */
    PIECE_NOTE_BYTES_LEAST = 40,
    PIECE_EXPLANATION_BYTES_LEAST = 1,
    PIECE_EXPLANATION_BYTES_MAX = 1200,
    PIECE_NOTE_BYTES_MAX = 4096, /* WT_MAX_NOTE_BYTES; the paper's longest has 1,940 characters */
};

/* Reason why a piece was refused, or PIECE_TAKEN. */
enum piece_fate {
    PIECE_TAKEN,
    PIECE_NO_WORD,    /* empty, or only punctuation */
    PIECE_LENGTH,     /* too short or too long */
    PIECE_MARKS,      /* characters not allowed in a name, or the layout of a training row */
    PIECE_NAME_TAKEN, /* another tool has this name */
    PIECE_SAME_WORDS, /* another piece has the same words */
    PIECE_ALIKE,      /* another piece means nearly the same */
    PIECE_UNNAMED,    /* a note that does not name the chosen tool */
    PIECE_SURPLUS,    /* more pieces than requested */
    PIECE_REPEATS,    /* repeats its prompt (repetition.h) */
    PIECE_UNKNOWN,    /* names a tool that was not offered */
    PIECE_COUNT,      /* too few or too many tools */
    PIECE_NAMES_TOOL, /* a request that contains the name of its tool */
    PIECE_NOT_FOUND,  /* a request whose search does not find its tools */
    PIECE_TWIN,       /* a search ranks a near-duplicate of a tool above it */
    PIECE_FATES
};

/* Returns the name used in report.json, such as "no_word". */
const char *wt__piece_fate_name(enum piece_fate fate);

enum piece_kind { PIECE_NAME, PIECE_DESCRIPTION, PIECE_INSTRUCTION, PIECE_NOTE, PIECE_EXPLANATION };

/* Cleans and validates a piece. *out is in the arena; *fate is PIECE_TAKEN, PIECE_NO_WORD, PIECE_LENGTH or
 * PIECE_MARKS. Errors: WT_ENOMEM. */
int wt__piece_read(struct arena *arena, enum piece_kind kind, struct str text, struct str *out, enum piece_fate *fate,
                   wt_error *err);

/* Appends the words of text in lower case, separated by blanks. Texts with the same words count as the same text. */
void wt__piece_words(struct buffer *out, struct str text);

/* Sets *out to true if text contains the words of name in sequence. *out is false on error, too. Errors: WT_ENOMEM. */
int wt__piece_mentions_name(struct str text, struct str name, bool *out, wt_error *err);

/* Appends text as one line of at most max bytes: runs of blanks become one blank, invisible characters are dropped.
 * For people's text, which is otherwise kept as it is. */
void wt__piece_line(struct buffer *out, struct str text, size_t max);

/* Returns the number of code points. */
size_t wt__piece_characters(struct str text);

#endif
