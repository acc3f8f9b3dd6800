/* tool_draw.h: which tools a request is to be made for: some of the catalogue's, drawn by seed.
 *
 *   random   of all that may stand together
 *   near     one, and others of the DRAW_NEAR that are most like it, so that they belong together
 *
 * May stand together: within "provider" tools of one provider, within "category" those of several providers of one
 * category, within "any" all (ToolBench's I1, I2 and I3). Tools that have been used too little come first: one is drawn
 * among them, and up to DRAW_STEERED more.
 *
 * Some tools may be taken out of the catalogue for requests that none of it fits: with everything that is nearly the
 * same, since that would fit; within "provider" or "category" whole ones. They are drawn by themselves, for such
 * requests alone.
 *
 * Likeness is the cosine of "name: description" by the built-in static encoder, whatever model the engine has: it
 * reads a text in microseconds. */
#ifndef WT_GENERATE_TOOL_DRAW_H
#define WT_GENERATE_TOOL_DRAW_H

#include "base/arena.h"
#include "base/progress.h"
#include "base/rng.h"
#include "encoder/encoder.h"
#include "whichtool.h"

enum {
    DRAW_TOOLS = 10,  /* the paper's T */
    DRAW_NEAR = 40,   /* how many of the nearest "near" draws from */
    DRAW_STEERED = 4, /* of a draw, beside the first, that are taken from those that were used too little */
};

enum draw_within { WITHIN_PROVIDER, WITHIN_CATEGORY, WITHIN_ANY, WITHINS };

struct draw_tool {
    const wt_tool *tool;
    struct str name, description; /* the exported name; one line */
    uint32_t provider, category;  /* numbers; 0: it has none */
    size_t used;                  /* usages so far */
    bool out;                     /* taken out */
    bool mute;                    /* it has no description: it is in no draw */
    bool able;                    /* a draw can begin with it */
};

struct draw_settings {
    enum draw_within within;
    bool near;
    bool single;     /* one tool a draw */
    size_t usages;   /* a tool with fewer is used too little; 0: none is */
    double take_out; /* share of the tools */
};

struct tool_draw {
    struct draw_settings settings;
    struct arena arena;
    wt_tools *all;
    struct draw_tool *tools; /* [count] */
    size_t count, left_out; /* left_out: tools without a description, or with an id that no table of judgements takes */
    size_t taken_out, able; /* able: of those that stay */
    float *vectors;         /* [count, dim] */
    size_t dim;
};

/* What was drawn: places in tools, in the order in which they are shown. */
struct drawn {
    size_t places[DRAW_TOOLS];
    size_t count;
};

/* Reads the store's catalogue. encoder: the static one; it may be closed afterwards. Errors: WT_EEMPTY (no tools, or
 * none of which a request can be made), those of wt_list, WT_ECANCELLED, WT_ENOMEM. */
int wt__tool_draw_open(struct tool_draw *out, wt_engine *engine, const struct encoder *encoder,
                       const struct draw_settings *settings, struct rng *rng, struct progress *progress, wt_error *err);
void wt__tool_draw_dispose(struct tool_draw *draw);

/* Draws. out: of those that were taken out. Any number of threads at once, as long as no `used` changes. WT_ENOMEM. */
int wt__tool_draw(const struct tool_draw *draw, struct rng *rng, bool out, struct drawn *drawn, wt_error *err);

/* Tools that a draw can begin with and that have been used too little. */
size_t wt__tool_draw_short(const struct tool_draw *draw);

double wt__tool_draw_cosine(const struct tool_draw *draw, size_t a, size_t b);

/* Whether they are nearly the same: a cosine of at least 0.95, or the same description. */
bool wt__tool_draw_twins(const struct tool_draw *draw, size_t a, size_t b);

/* What tools [count] have in common. */
enum draw_within wt__tool_draw_within(const struct tool_draw *draw, const size_t *places, size_t count);

/* Whether the text says the name of one of the tools [count], where that is written as code: with a mark, a digit or a
 * capital within. */
bool wt__tool_draw_says_name(const struct tool_draw *draw, const size_t *places, size_t count, struct str text);

/* Digest of what the prompts can show of the catalogue. */
void wt__tool_draw_digest(const struct tool_draw *draw, char hex[65]);

/* "provider", "category", "any". */
const char *wt__within_name(enum draw_within within);

#endif
