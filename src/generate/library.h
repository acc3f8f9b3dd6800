/* library.h: the tools of a generated data set, and the three stages that make them (ToolVerifier, 2.1.1).
 *
 *   base tools     few-shot prompting: the prompt shows LIBRARY_SHOWN tools and asks for a new one, which then replaces
 *                  the most similar tool shown, so that the examples stay diverse
 *   related tools  for each base tool, one after another, names only
 *   descriptions   of the related tools
 *
 * A tool is identified by its place. All names differ in their words. No two base tools mean the same
 * (generate/distinct.h). A related tool should be close to its base; only its words must differ. */
#ifndef WT_GENERATE_LIBRARY_H
#define WT_GENERATE_LIBRARY_H

#include "base/arena.h"
#include "base/map.h"
#include "generate/distinct.h"
#include "generate/stage.h"
#include "whichtool.h"

enum {
    LIBRARY_SHOWN = 8,
    LIBRARY_LINE_BYTES = 420, /* "name: description", the limit in prompts/generate-*.txt */
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
    size_t shown_count, turn;
};

/* encoder: NULL to compare words only. Errors: WT_ENOMEM. */
int wt__library_open(struct library *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__library_dispose(struct library *library);

/* Adds a tool unless its name is taken. *place: the tool with this name, whatever the case. */
int wt__library_add(struct library *library, const struct library_tool *tool, size_t *place, enum piece_fate *fate,
                    wt_error *err);

/* Adds the seed tools. Their related tools are added by wt__library_generate. */
int wt__library_add_seeds(struct library *library, wt_error *err);

/* Generates base tools up to `tools`, seeds included; then `related` tools for each; then their descriptions. Tools
 * that got no description are removed. */
int wt__library_generate(struct library *library, struct stage_runner *asker, size_t tools, size_t related,
                         wt_error *err);

/* Returns "name: description" in the arena, or ptr NULL if out of memory. */
struct str wt__library_line(const struct library *library, size_t place, struct arena *arena);

/* Returns the places of a base tool and its related tools, in order; at most `most`. */
size_t wt__library_family(const struct library *library, size_t place, size_t *places, size_t most);

#endif
