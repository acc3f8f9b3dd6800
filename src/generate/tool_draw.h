/* tool_draw.h: draws the tools of the catalogue for which a request is generated.
 *
 *   random   from all compatible tools
 *   near     one, and others of the DRAW_NEAR most similar to it, so that they belong together
 *
 * Compatible tools: within "provider", tools of one provider; within "category", tools of one category and several
 * providers; within "any", all tools (ToolBench's I1, I2 and I3). Tools with too few usages are preferred: the first
 * tool and up to DRAW_STEERED more are drawn from them.
 *
 * Some tools may be taken out of the catalogue, for unanswerable requests. Near-duplicates go with them, since they
 * would answer the request; within "provider" or "category", whole providers or categories go. They are drawn
 * separately, for these requests only.
 *
 * Similarity is the cosine of "name: description" by the built-in static encoder, whatever model the engine has: it
 * encodes a text in microseconds. */
#ifndef WT_GENERATE_TOOL_DRAW_H
#define WT_GENERATE_TOOL_DRAW_H

#include "base/arena.h"
#include "base/progress.h"
#include "base/rng.h"
#include "encoder/encoder.h"
#include "whichtool.h"

enum {
    DRAW_TOOLS = 10,  /* the paper's T */
    DRAW_NEAR = 40,   /* number of nearest tools that "near" draws from */
    DRAW_STEERED = 4, /* tools of a draw, besides the first, reserved for those with too few usages */
};

enum draw_within { WITHIN_PROVIDER, WITHIN_CATEGORY, WITHIN_ANY, WITHINS };

struct draw_tool {
    const wt_tool *tool;
    struct str name, description; /* exported name; description as one line */
    uint32_t provider, category;  /* numbers from 1; 0 if missing */
    size_t used;                  /* usages so far */
    bool is_out;                  /* taken out */
    bool lacks_description;       /* has no description and is never drawn */
    bool is_able;                 /* can be the first tool of a draw */
};

struct draw_settings {
    enum draw_within within;
    bool near;
    bool single;     /* draw one tool only */
    size_t usages;   /* a tool with fewer usages has too few; 0 if any number suffices */
    double take_out; /* share of the tools */
};

struct tool_draw {
    struct draw_settings settings;
    struct arena arena;
    wt_tools *all;
    struct draw_tool *tools; /* [count] */
    size_t count, left_out;  /* left_out: tools without a description, or with an id that does not fit a qrels file */
    size_t taken_out, able_count; /* able_count: able tools that stay */
    float *vectors;               /* [count, dim] */
    size_t dim;
};

/* Places of the drawn tools, in the order shown. */
struct drawn_tools {
    size_t places[DRAW_TOOLS];
    size_t count;
};

/* Reads the store's catalogue. encoder: the static one; it may be closed afterwards. Errors: WT_EEMPTY (no usable
 * tools), those of wt_list, WT_ECANCELLED, WT_ENOMEM. */
int wt__tool_draw_open(struct tool_draw *out, wt_engine *engine, const struct encoder *encoder,
                       const struct draw_settings *settings, struct rng *rng, struct progress *progress, wt_error *err);
void wt__tool_draw_dispose(struct tool_draw *draw);

/* Draws tools. out: from the tools taken out. Safe on several threads at once while every `used` stays constant.
 * Errors: WT_ENOMEM. */
int wt__tool_draw_next(const struct tool_draw *draw, struct rng *rng, bool out, struct drawn_tools *drawn,
                       wt_error *err);

/* Returns the number of able tools with too few usages. */
size_t wt__tool_draw_count_short(const struct tool_draw *draw);

double wt__tool_draw_cosine(const struct tool_draw *draw, size_t a, size_t b);

/* True for near-duplicates: a cosine of at least 0.95, or the same description. */
bool wt__tool_draw_twins(const struct tool_draw *draw, size_t a, size_t b);

/* Returns what tools [count] have in common. */
enum draw_within wt__tool_draw_within(const struct tool_draw *draw, const size_t *places, size_t count);

/* True if the text contains the name of one of tools [count] and the name looks like code: it has a mark, a digit or
 * an inner capital. */
bool wt__tool_draw_has_name(const struct tool_draw *draw, const size_t *places, size_t count, struct str text);

/* Writes a digest of everything the prompts can show of the catalogue. */
void wt__tool_draw_digest(const struct tool_draw *draw, char hex[65]);

/* Returns "provider", "category" or "any". */
const char *wt__within_name(enum draw_within within);

#endif
