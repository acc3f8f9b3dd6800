/* piece.h: one piece of a language model's answer, made plain and held to what a data set can take.
 *
 * What a model says is hostile text: it is folded to one line, control characters and such as nobody sees are dropped
 * (llm/plain_text.h), and whatever could be read as the layout of a training row, as "### Thought: ... Act:
 * CALLTOOL[...]", is refused. A name is held to letters, digits, blanks and a few marks, so that it needs no quoting.
 */
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

/* Why a piece is not taken; PIECE_TAKEN where it is. */
enum piece_fate {
    PIECE_TAKEN,
    PIECE_NO_WORD,    /* no text, or nothing but marks */
    PIECE_LENGTH,     /* too short or too long */
    PIECE_MARKS,      /* marks that a name cannot have, or the layout of a training row */
    PIECE_NAME_TAKEN, /* another tool has that name */
    PIECE_SAME_WORDS, /* another piece has the same words */
    PIECE_ALIKE,      /* another piece means nearly the same */
    PIECE_UNNAMED,    /* a note that does not name the tool that was chosen */
    PIECE_SURPLUS,    /* more than were wanted */
    PIECE_REPEATS,    /* it repeats what it was asked with (repetition.h) */
    PIECE_UNKNOWN,    /* it names a tool that was not offered */
    PIECE_COUNT,      /* too few or too many tools */
    PIECE_NAMES_TOOL, /* a request that says the name of its tool */
    PIECE_NOT_FOUND,  /* a request by which its tools are not found again */
    PIECE_TWIN,       /* the same, since one that is nearly the same stands above one of them */
    PIECE_FATES
};

/* As report.json calls it: "no_word". */
const char *wt__piece_fate_name(enum piece_fate fate);

enum piece_kind { PIECE_NAME, PIECE_DESCRIPTION, PIECE_INSTRUCTION, PIECE_NOTE, PIECE_EXPLANATION };

/* The piece as it goes into the data, in the arena. *fate: PIECE_TAKEN, or one of the first three reasons. WT_ENOMEM.
 */
int wt__piece_read(struct arena *arena, enum piece_kind kind, struct str text, struct str *out, enum piece_fate *fate,
                   wt_error *err);

/* Appends the words of text in lower case with a blank between, and nothing else of it: texts with the same words are
 * the same text. */
void wt__piece_words(struct buffer *out, struct str text);

/* Whether the words of text hold those of name, one behind the other. *out is false when memory is out, too. */
int wt__piece_names(struct str text, struct str name, bool *out, wt_error *err);

/* Appends text as one line: each run of blanks is one blank, what nobody sees is left out. For text that people wrote,
 * and that is otherwise to stay as it is. */
void wt__piece_line(struct buffer *out, struct str text, size_t max);

/* Code points of text. */
size_t wt__piece_characters(struct str text);

#endif
