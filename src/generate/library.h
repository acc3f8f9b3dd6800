/* library.h: the tools of a generated data set, and the three stages that make them (ToolVerifier, 2.1.1).
 *
 *   base tools   few-shot prompting: LIBRARY_SHOWN tools are shown, a new one is asked for, and takes the place of the
 *                one shown that is most like it, so that what is shown stays diverse
 *   related      for each base tool, one after another, from names alone
 *   descriptions of the related ones
 *
 * A tool is known by its place. No two have a name of the same words, and no two base tools mean the same
 * (generate/distinct.h); a related tool is meant to be close to its base, and is only kept from saying the same words.
 */
#ifndef WT_GENERATE_LIBRARY_H
#define WT_GENERATE_LIBRARY_H

#include "base/arena.h"
#include "base/map.h"
#include "generate/distinct.h"
#include "generate/stage.h"
#include "whichtool.h"

enum {
    LIBRARY_SHOWN = 8,
    LIBRARY_LINE_BYTES = 420, /* "name: description", as prompts/generate-*.txt take it */
};

enum tool_origin { ORIGIN_SEED, ORIGIN_GENERATED, ORIGIN_RELATED, ORIGIN_CATALOGUE };

struct library_tool {
    struct str name, description; /* the description is empty until it is made */
    enum tool_origin origin;
    size_t base; /* the place of the tool that it is related to; its own for a base tool */
};

struct library {
    struct arena arena;
    struct library_tool *tools;
    size_t count, capacity;
    struct map names;             /* words of a name to its place */
    struct distinct base_tools;   /* "name: description" of base tools, in their order */
    struct distinct descriptions; /* words of all */
    size_t shown[LIBRARY_SHOWN];  /* places of base tools */
    size_t shown_count, turn;
};

/* encoder: NULL: none. Errors: WT_ENOMEM. */
int wt__library_open(struct library *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__library_dispose(struct library *library);

/* Adds a tool with a description, unless its name is taken; *place of the one with that name in any case. */
int wt__library_add(struct library *library, const struct library_tool *tool, size_t *place, enum piece_fate *fate,
                    wt_error *err);

/* The seeds; what is related to them comes with the related tools of all. */
int wt__library_add_seeds(struct library *library, wt_error *err);

/* Base tools up to `tools` in all, seeds included; then `related` tools of each; then their descriptions. Those that
 * got none are taken away. */
int wt__library_generate(struct library *library, struct asker *asker, size_t tools, size_t related, wt_error *err);

/* "name: description" in the arena; ptr NULL when memory is out. */
struct str wt__library_line(const struct library *library, size_t place, struct arena *arena);

/* Places of the tools of the same family, in order: a base tool and those related to it; at most most. */
size_t wt__library_family(const struct library *library, size_t place, size_t *places, size_t most);

#endif
