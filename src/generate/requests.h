/* requests.h: data sets of requests for tools, used by wt_generate_toolbank, wt_generate_rectools and
 * wt_generate_verdicts; and the renaming of tools. */
#ifndef WT_GENERATE_REQUESTS_H
#define WT_GENERATE_REQUESTS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "generate/internal.h"
#include "llm/chat.h"
#include "whichtool.h"

/* Draws the tools of the catalogue for which a request is generated.
 *
 *   random   from all compatible tools
 *   near     a first tool, and others from the DRAW_NEAR tools most similar to it, so that they belong together
 *
 * Compatible tools: within "provider", tools of one provider; within "category", tools of one category and several
 * providers; within "any", all tools (ToolBench's I1, I2 and I3). Tools with too few usages are preferred: the first
 * tool and up to DRAW_STEERED more are drawn from them.
 *
 * Some tools may be taken out of the catalogue, for unanswerable requests. Their near-duplicates are taken out too,
 * since these would answer the requests. Within "provider" or "category", whole providers or categories are taken out,
 * unless a draw has a single tool. A tool taken out is drawn for unanswerable requests only.
 *
 * Similarity is the cosine of "name: description" by the built-in static encoder, whatever model the engine has. The
 * built-in encoder needs only microseconds for a text. */

enum {
    DRAW_TOOLS = 10,  /* T in the Tool2Vec paper */
    DRAW_NEAR = 40,   /* number of nearest tools that "near" draws from */
    DRAW_STEERED = 4, /* maximum tools of a draw, besides the first, that are drawn from those with too few usages */
};

enum draw_within { WITHIN_PROVIDER, WITHIN_CATEGORY, WITHIN_ANY, WITHINS };

struct draw_tool {
    const wt_tool *tool;
    struct str name, description; /* exported name; description as one line */
    uint32_t provider, category;  /* numbers from 1; 0 if missing */
    size_t used;                  /* usages so far */
    bool is_out;                  /* taken out of the catalogue */
    bool lacks_description;       /* has no description and is never drawn */
    bool is_able;                 /* can be the first tool of a draw */
};

struct draw_settings {
    enum draw_within within;
    bool near;
    bool single;     /* draw one tool only */
    size_t usages;   /* a tool with fewer usages has too few; 0 if any number suffices */
    double take_out; /* share of the tools to take out of the catalogue */
};

struct tool_draw {
    struct draw_settings settings;
    struct arena arena;
    wt_tools *all;
    struct draw_tool *tools; /* [count] */
    size_t count, left_out;  /* left_out: tools without a description, or with an id that does not fit a qrels file */
    size_t taken_out, able_count; /* able_count: able tools that are not taken out */
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

/* Draws tools. out: true to draw from the tools taken out of the catalogue. Safe on several threads at once while every
 * `used` stays constant. Errors: WT_ENOMEM. */
int wt__tool_draw_next(const struct tool_draw *draw, struct rng *rng, bool out, struct drawn_tools *drawn,
                       wt_error *err);

/* Returns the number of able tools with too few usages. */
size_t wt__tool_draw_count_short(const struct tool_draw *draw);

double wt__tool_draw_cosine(const struct tool_draw *draw, size_t a, size_t b);

/* True for near-duplicates: a cosine of at least 0.95, or the same description. */
bool wt__tool_draw_twins(const struct tool_draw *draw, size_t a, size_t b);

/* Returns the narrowest group with all of tools [count]: a provider, a category, or any tools. */
enum draw_within wt__tool_draw_within(const struct tool_draw *draw, const size_t *places, size_t count);

/* True if the text contains the name of one of tools [count] and the name looks like code: it has at
 * least four bytes, and a '_', '.', '/', digit or inner capital after its first byte. */
bool wt__tool_draw_has_name(const struct tool_draw *draw, const size_t *places, size_t count, struct str text);

/* Writes a digest of everything the prompts can show of the catalogue. */
void wt__tool_draw_digest(const struct tool_draw *draw, char hex[65]);

/* Returns "provider", "category" or "any". */
const char *wt__within_name(enum draw_within within);

/* The lines of a BEIR file, corpus.jsonl or queries.jsonl, as texts to show to a language model or a person: each
 * folded to one line of visible characters. */

enum {
    TEXT_LINES_MAX = 1000000,       /* maximum number of lines in a file */
    TEXT_LINES_BYTES_MAX = 1 << 30, /* maximum size of a file */
    TEXT_LINES_TEXT_MAX = 4000,     /* maximum bytes of a text; longer ones are truncated */
};

struct text_line {
    struct str id, title, text;
    struct str draft; /* a request's text before its polish; may be empty */
};

struct text_lines {
    struct arena arena;
    struct text_line *items;
    size_t count, capacity;
    struct map places; /* ids to places */
};

/* Reads dir/name. Errors: those of wt__file_read and wt__text_lines_parse. */
int wt__text_lines_read(struct text_lines *out, const char *dir, const char *name, wt_error *err);

/* Parses a file's contents. name: for messages. Errors: WT_EFORMAT (a line is not a JSON object, or its "_id"
 * is missing or repeated; the message has the line's number), WT_ETOOLONG, WT_ENOMEM. */
int wt__text_lines_parse(struct text_lines *out, struct str file, const char *name, wt_error *err);
void wt__text_lines_dispose(struct text_lines *lines);

/* A tool of the store as a line of corpus.jsonl, in BEIR's layout (read by import/data_sets.c). */

/* Appends the line. name: the title to write; if it is not the tool's own name, the own name goes into metadata as
 * "original". _id is always the tool's id in the store, so that judgements hold under both names. */
void wt__beir_write_tool(const wt_tool *tool, const char *name, struct buffer *out);

/* Requests with their tools and splits, written as a folder in BEIR's layout for `usage add`, `train --data` and
 * `eval`:
 *
 *   corpus.jsonl       the tools; _id is a tool's id in the store
 *   queries.jsonl      the requests, with their properties in `metadata`
 *   qrels/SPLIT.tsv    train, dev and test; a split without requests has no file
 *   none/              the same for the unanswerable requests, with the tools taken out of the corpus: the input of
 *                      `eval --out-of-domain`
 *
 * In the main folder an unanswerable request is judged with 0, for a tool missing from the corpus. Training and
 * evaluation leave it out and count it (catalog/dataset.h).
 *
 * The split of a request follows from a hash of the seed and its set of tools. So a set of tools never has requests in
 * two splits, and later requests do not change the split of earlier ones. A request for a single tool is an exception:
 * its split follows from a hash of its words, since each tool should be in train. */

enum {
    REQUEST_TOOLS_MIN = 2, /* minimum and maximum tools of a ToolBank request for several tools */
    REQUEST_TOOLS_MAX = 5,
    REQUEST_TOOLS_HELD = 10, /* maximum tools of a request in any data set */
};

enum request_split { SPLIT_TRAIN, SPLIT_DEV, SPLIT_TEST, REQUEST_SPLITS };

struct generated_request {
    struct str text, draft, explanation; /* draft: text before the polish; empty if it was not changed */
    struct str more;                     /* further metadata members in JSON, each after a comma; may be empty */
    size_t tools[REQUEST_TOOLS_HELD];    /* [tool_count] places in the draw, in order */
    size_t tool_count;
    enum request_split split;
    bool is_unanswerable; /* true if its tools are not in the corpus */
};

struct split_settings {
    uint64_t seed;
    double dev, test; /* shares */
};

struct request_set {
    struct arena arena;
    struct generated_request *requests;
    size_t count, capacity;
    struct split_settings split;
    struct map combinations;                     /* sets of tool ids to a bit mask of their splits */
    size_t splits[REQUEST_SPLITS], unanswerable; /* requests of each split, without the unanswerable ones */
    size_t in_two_splits;                        /* sets of tools with requests in two splits */
};

void wt__request_set_open(struct request_set *out, const struct split_settings *split);
void wt__request_set_dispose(struct request_set *set);

/* Adds a copy with its tools sorted and its split set. Errors: WT_ENOMEM. */
int wt__request_set_add(struct request_set *set, const struct tool_draw *draw, const struct generated_request *request,
                        struct generated_request **out, wt_error *err);

/* Writes the folder's files. If the set is empty, removes those of an earlier run, except the folder none/. Errors:
 * those of wt__folder_write. */
int wt__request_set_write(const struct request_set *set, const struct tool_draw *draw, struct generate_folder *folder,
                          wt_error *err);

/* Asks whether a set of tools solves a request exactly (PTR, appendix C.2).
 *
 *   exact     the tools fulfil the whole request, and each of them is needed
 *   over      they fulfil the whole request, and at least one is not needed
 *   partial   they do not fulfil the whole request
 *
 * The model is asked twice about each request: with all its tools, and with one of them, drawn by seed, removed. A
 * request qualifies if the first verdict is exact and the second partial. Both use temperature 0. */

enum {
    VERDICT_TOOLS_MAX = 32, /* maximum tools of a request, and of the prompt's slot */
};

enum verdict { VERDICT_NONE, VERDICT_EXACT, VERDICT_OVER, VERDICT_PARTIAL, VERDICTS };

struct verdict_case {
    struct str request;
    const struct str *tools; /* [tool_count] lines; at least one */
    size_t tool_count;
    size_t removed;             /* index of the tool removed for the second question */
    enum verdict first, second; /* VERDICT_NONE if there was no usable answer */
};

/* Sets removed, first and second of cases [count]. Errors: those of wt__stage_run. */
int wt__verdicts_ask(struct stage_runner *runner, struct verdict_case *cases, size_t count, wt_error *err);

static inline bool wt__verdict_qualifies(const struct verdict_case *verdict)
{
    return verdict->first == VERDICT_EXACT && verdict->second == VERDICT_PARTIAL;
}

/* Returns "none", "exact", "over" or "partial". */
const char *wt__verdict_name(enum verdict verdict);

/* Appends "verdicts":{...}: counts in total and by the number of tools, and the figures of PTR for comparison. */
void wt__verdicts_report(const struct verdict_case *cases, size_t count, struct buffer *out);

/* Appends the same counts as a table for people, with the model's name. */
void wt__verdicts_text(const struct verdict_case *cases, size_t count, const char *model, struct buffer *out);

/* Does the work of wt_generate_rectools. model: NULL for the engine's. */
int wt__generate_rectools(wt_engine *engine, struct chat_model *model, const wt_rectools_options *options,
                          wt_generated **out, wt_error *err);

/* Does the work of wt_generate_verdicts. model: NULL for the engine's. engine may be NULL if a model is given. */
int wt__generate_verdicts(wt_engine *engine, struct chat_model *model, const wt_verdicts_options *options,
                          wt_generated **out, wt_error *err);

/* Does the work of wt_generate_names. model: NULL for the engine's. */
int wt__generate_names(wt_engine *engine, struct chat_model *model, const wt_names_options *options, wt_generated **out,
                       wt_error *err);

#endif
