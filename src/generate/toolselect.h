/* toolselect.h: data sets for choosing a tool from a list (ToolVerifier), used by wt_generate_toolselect and
 * wt_generate_fine_tuning. */
#ifndef WT_GENERATE_TOOLSELECT_H
#define WT_GENERATE_TOOLSELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/str.h"
#include "generate/internal.h"
#include "llm/chat.h"
#include "llm/prompt.h"
#include "whichtool.h"

/* The tools of a generated data set, and the three stages that make them (ToolVerifier, 2.1.1).
 *
 *   base tools     few-shot prompting: the prompt shows LIBRARY_SHOWN tools and asks for a new tool. The new tool then
 *                  replaces the most similar tool shown, so that the examples stay diverse.
 *   related tools  for each base tool, one after another, names only
 *   descriptions   of the related tools
 *
 * A tool is identified by its place, its index in `tools`. All names differ in their words. No two base tools
 * that are seeds or generated mean the same (struct distinct). A related tool may be close in meaning to its base
 * tool. */

enum {
    LIBRARY_SHOWN = 8,
};

enum tool_origin { ORIGIN_SEED, ORIGIN_GENERATED, ORIGIN_RELATED, ORIGIN_CATALOGUE };

struct library_tool {
    struct str name, description; /* description is empty until it is generated */
    enum tool_origin origin;
    size_t base; /* place of the tool this one is related to; the tool's own place for a base tool */
};

struct library {
    struct arena arena;
    struct library_tool *tools;
    size_t count, capacity;
    struct map names;             /* words of a name to its place */
    struct distinct base_tools;   /* "name: description" of the base tools, in their order */
    struct distinct descriptions; /* words of all descriptions */
    size_t shown[LIBRARY_SHOWN];  /* places of base tools */
    size_t shown_count;
    size_t turn; /* number of replacements in `shown` without an encoder */
};

/* encoder: NULL to compare words only. Errors: WT_ENOMEM. */
int wt__library_open(struct library *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__library_dispose(struct library *library);

/* Adds the seed tools. Their related tools are added by wt__library_generate. */
int wt__library_add_seeds(struct library *library, wt_error *err);

/* Generates base tools until there are `tools`, seeds included. Then generates `related` tools for each base tool, and
 * their descriptions. Tools that got no description are removed. */
int wt__library_generate(struct library *library, struct stage_runner *runner, size_t tools, size_t related,
                         wt_error *err);

/* Returns "name: description" in the arena, or ptr NULL if out of memory. */
struct str wt__library_line(const struct library *library, size_t place, struct arena *arena);

/* Works like wt__library_line for places [count]; NULL if out of memory. */
struct str *wt__library_lines(const struct library *library, const size_t *places, size_t count, struct arena *arena);

/* Lists the base tool and the related tools of a tool's family, without the tool itself; at most `most` places, in
 * order. Returns their number. */
size_t wt__library_siblings(const struct library *library, size_t place, size_t *places, size_t most);

/* The handwritten tools that start a generated library and appear in its first prompts. */

enum { SEED_TOOLS = 8, SEED_RELATED = 2, SEED_INSTRUCTIONS = 3 };

struct seed_tool {
    const char *name, *description;
    const char *related[SEED_RELATED];
    const char *related_descriptions[SEED_RELATED];
    const char *instructions[SEED_INSTRUCTIONS];
};

extern const struct seed_tool wt__seed_tools[SEED_TOOLS];

/* samples.jsonl, in the layout of ToolVerifier's data:
 *
 *   {"query": "...", "choices": [{"name": "...", "description": "..."}, ...], "thought": "...", "tool": "..."} */

enum {
    SAMPLE_LINE_BYTES_MAX = 1 << 20,
    SAMPLE_CHOICES_MAX = 256,
    SAMPLE_DESCRIPTION_BYTES_MAX = 4096,
};

struct sample_choice {
    struct str name, description;
};

struct choice_sample {
    struct str query, thought; /* thought may be empty */
    struct sample_choice *choices;
    size_t choice_count; /* at least 2 */
    size_t right;        /* position of the right tool in choices */
    bool is_hard;        /* true if the choices are a hard list; not stored in the file */
};

struct choice_samples {
    struct arena arena;
    struct choice_sample *items;
    size_t count, capacity;
    size_t left_out; /* malformed rows of the file, not in items */
};

void wt__samples_dispose(struct choice_samples *samples);

/* Appends the contents of the file. */
void wt__samples_write(const struct choice_samples *samples, struct buffer *out);

/* Parses a file. name: for messages. Leaves out a row if the right tool is missing from its choices or repeated, if it
 * has fewer than 2 or more than SAMPLE_CHOICES_MAX choices, or if a text is missing or too long. Errors: WT_EFORMAT (a
 * line is not a JSON object; the message has its number), WT_ETOOLONG (too many rows, or a line is too long),
 * WT_ENOMEM. */
int wt__samples_parse(struct choice_samples *out, struct str file, const char *name, wt_error *err);

/* Rows of a data set for choosing tools: an instruction, a list of tools, the right tool of the list, and a note with
 * the reason (ToolVerifier, 2.1.2).
 *
 *   easy list   the right tool and tools drawn from the library, shuffled
 *   hard list   the right tool and similar tools only, shuffled. The similar tools are its family or, in a catalogue,
 *               the other hits of a search for the instruction */

struct choice_row {
    struct str query;
    size_t tool;              /* place in the library */
    const size_t *also_right; /* [also_right_count] other right tools, kept out of the row's list */
    size_t also_right_count;
    size_t *choices; /* [choice_count] places, including the right tool */
    size_t choice_count;
    struct str note; /* empty before wt__rows_write_notes */
    bool is_hard;
};

struct choice_rows {
    struct arena arena;
    struct choice_row *rows;
    size_t count, capacity, hard_count;
    size_t without_similar; /* rows drawn as hard but without a similar tool: they got easy lists */
    size_t without_note;    /* rows dropped because they got no note */
};

static inline bool wt__row_is_right(const struct choice_row *row, size_t tool)
{
    bool right = tool == row->tool;
    for (size_t i = 0; i < row->also_right_count; i++)
        right |= row->also_right[i] == tool;
    return right;
}

void wt__rows_dispose(struct choice_rows *rows);

/* Adds a row without a list. The query is copied. Errors: WT_ENOMEM. */
int wt__rows_add(struct choice_rows *rows, struct str query, size_t tool, wt_error *err);

/* Asks the model for `each` rows for each of the library's first `tools` tools. distinct: empty set for the queries. */
int wt__rows_write_instructions(struct choice_rows *rows, const struct library *library, size_t tools, size_t each,
                                struct stage_runner *runner, struct distinct *distinct, wt_error *err);

/* Finds tools that are easily mistaken for a row's right tool: at most `most` places, without the right tools of the
 * row. May add tools to the library. */
struct similarity_source {
    void *self;
    int (*find)(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count, wt_error *err);
};

/* Settings of the lists. pool: lists are drawn from the library's first `pool` tools. */
struct list_settings {
    size_t choices, related, pool;
    double hard; /* share of hard lists */
};

int wt__rows_build_lists(struct choice_rows *rows, const struct list_settings *settings,
                         const struct similarity_source *source, struct rng *rng, struct progress *progress,
                         wt_error *err);

/* Asks for the note of each row; drops rows without one. */
int wt__rows_write_notes(struct choice_rows *rows, const struct library *library, struct stage_runner *runner,
                         wt_error *err);

/* Converts the rows to samples, which borrow their texts. Errors: WT_ENOMEM. */
int wt__rows_to_samples(const struct choice_rows *rows, const struct library *library, struct choice_samples *out,
                        wt_error *err);

/* A tool library built from the store instead of written by the model: draws tools by seed and searches for similar
 * ones. */

struct store_library {
    wt_engine *engine;
    struct library *library; /* a tool of the store is added when it is first drawn or found */
    const char *recipe;      /* "hybrid", or "bm25" if there is no encoder */
};

/* Adds up to `tools` tools with a description, drawn by rng. *left_out counts drawn tools without a description or
 * with a name whose words another tool has. Errors: WT_EEMPTY (the store has no tools), WT_ESTORE, WT_ECANCELLED,
 * WT_ENOMEM. */
int wt__store_library_draw(struct store_library *catalogue, size_t tools, struct rng *rng, struct progress *progress,
                           size_t *left_out, wt_error *err);

/* Adds one tool, or finds it if it is already there, and sets *place. *taken is false if the tool has no description
 * or if another tool has its name. */
int wt__store_library_add(struct store_library *catalogue, const wt_tool *tool, size_t *place, bool *taken,
                          wt_error *err);

/* Searches for the row's query. Returns the places of the hits, except for the row's right tools and tools with the
 * same description as row->tool. Implements similarity_source.find; self is a struct store_library. */
int wt__store_library_find_similar(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count,
                                   wt_error *err);

/* Samples as conversations for fine-tuning a language model (ToolVerifier, figure 2 and A.5). The model learns the
 * assistant's message. The others are masked, that is, excluded from the loss. wt_call reads answers of both layouts.
 *
 * LAYOUT_CALL, the questions of wt_call:
 *
 *   user        the prompt call-pick with INSTRUCTION and tools
 *   assistant   {"thought": NOTE, "tool": N}
 *
 * LAYOUT_TOOLVERIFIER:
 *
 *   system      the task
 *   user        User: INSTRUCTION
 *               ###
 *               Tool Choices:
 *               NAME = DESCRIPTION
 *               ...
 *               ###
 *   assistant   Thought: NOTE
 *               Act: CALLTOOL["NAME"] */
enum row_layout { LAYOUT_CALL, LAYOUT_TOOLVERIFIER };

struct row_writer {
    enum row_layout layout;
    struct prompt prompt; /* call-pick; only for LAYOUT_CALL */
    size_t note_words;    /* notes are shortened to their first sentences, of at most so many words; 0 for all */
};

/* Opens a writer; free it with wt__prompt_dispose(&writer.prompt). Errors: WT_ENOMEM. */
int wt__row_writer_open(struct row_writer *out, enum row_layout layout, wt_error *err);

/* Appends one row as a line, and sets *characters to the number of characters in its messages. Texts cannot be mistaken
 * for the layout: LAYOUT_TOOLVERIFIER folds each to one line. Errors: WT_ENOMEM. */
int wt__fine_tuning_row(const struct row_writer *writer, const struct choice_sample *sample, struct buffer *out,
                        size_t *characters, wt_error *err);

/* Does the work of wt_generate_fine_tuning. model: NULL for the engine's. */
int wt__generate_fine_tuning(wt_engine *engine, struct chat_model *model, const wt_fine_tuning_options *options,
                             wt_generated **out, wt_error *err);

/* Does the work of wt_generate_toolselect. model: NULL for the engine's. */
int wt__generate_toolselect(wt_engine *engine, struct chat_model *model, const wt_toolselect_options *options,
                            wt_generated **out, wt_error *err);

#endif
