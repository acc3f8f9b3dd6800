/* internal.h: shared declarations of the audit. An audit reads the catalogue, checks the texts and schemas of each
 * tool, searches for the tools, and collects findings. */
#ifndef WT_AUDIT_INTERNAL_H
#define WT_AUDIT_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/str.h"
#include "catalog/tool.h"
#include "encoder/encoder.h"
#include "engine/engine.h"
#include "whichtool/audit.h"

/* ---------------------------------------------------------------- rules */

/* The rules, in the order of findings and of wt__audit_rules. */
enum audit_rule {
    RULE_EMPTY_DESCRIPTION,
    RULE_DUPLICATE_DESCRIPTION,
    RULE_BARE_DESCRIPTION,
    RULE_LONG_DESCRIPTION,
    RULE_LATE_DESCRIPTION,
    RULE_STUFFED_WORDS,
    RULE_WORDED_AS_REQUEST,
    RULE_OVERRIDES_INSTRUCTIONS,
    RULE_HIDES_FROM_USER,
    RULE_ASKS_FOR_SECRETS,
    RULE_CLAIMS_PRIORITY,
    RULE_ADDRESSES_MODEL,
    RULE_HIDDEN_CHARACTERS,
    RULE_MIXED_SCRIPTS,
    RULE_BROKEN_SCHEMA,
    RULE_LARGE_SCHEMA,
    RULE_UNKNOWN_REQUIRED,
    RULE_UNDESCRIBED_PARAMETERS,
    RULE_UNTYPED_PARAMETERS,
    RULE_REFUSED_NAME,
    RULE_UNREACHABLE,
    RULE_UNREACHED_BY_USE,
    RULE_SHADOWED_PAIR,
    RULE_COPIED_TOOL,
    RULE_NEAR_COPY,
    RULE_CAPTURE,
    RULE_PIN_CHANGED,
    RULE_PIN_GONE,
    RULE_PIN_NEW,
    AUDIT_RULES
};

struct audit_rule_text {
    const char *id;      /* "empty-description" */
    int level;           /* WT_AUDIT_... */
    const char *summary; /* the defect, in one sentence */
    const char *advice;  /* remedy, unless a finding has its own */
};

extern const struct audit_rule_text wt__audit_rules[AUDIT_RULES];

/* Sets *out to the rule with that id. False if unknown. */
bool wt__find_audit_rule(struct str id, enum audit_rule *out);

/* ---------------------------------------------------------------- lines of definitions */

/* Finds the line at which a tool is defined in its source file.
 *
 * The store has no line numbers. The first lookup for a file parses the whole file again. Tools of the file and of the
 * store match if their definitions are equal, byte for byte. Lines therefore refer to the current file. A tool has no
 * line if its definition was changed or removed after the import, or occurs twice in the file. */

/* Source of a tool. All zero if unknown. */
struct tool_origin {
    const char *source;         /* absolute path or name; "" or NULL if unknown */
    const char *format;         /* format of the file */
    unsigned char exact[32];    /* hash of definition, source id and provider */
    unsigned char wherever[32]; /* hash of definition and source id only, because `add` may have set the provider */
};

/* Lines of the files read so far. Initialise with zeros. */
struct source_lines {
    struct map lines; /* (source, NUL, hash) -> line, or 0 if several tools match; also a key for each source read */
    struct arena arena;
};

/* Sets *out to the line, from 1; 0 if unknown. Errors: WT_ENOMEM. */
int wt__find_source_line(struct source_lines *lines, const struct tool_origin *origin, size_t *out);
void wt__lines_dispose(struct source_lines *lines);

/* ---------------------------------------------------------------- output */

/* A finding with the private data for its location. */
struct placed_finding {
    wt_finding public;                 /* first member, so that a public pointer can be cast */
    const struct tool_origin *origins; /* [public.tool_count]; without tools, the origin of the provider's first tool */
    const char *store;                 /* file name of the store, the location of findings without a source file */
    size_t line;                       /* line in the first origin's file; 0 to look it up with wt__find_source_line */
};

/* ---------------------------------------------------------------- audit run */

/* State of a running audit: the catalogue, the findings so far, and helpers for the families of rules.
 *
 * Findings are added by one thread in any order, and sorted by rule at the end. Texts of findings live in the result's
 * arena, temporary data in `scratch`. */

enum {
    AUDIT_LISTED = 10,      /* maximum tools that a finding lists */
    AUDIT_QUOTED = 120,     /* maximum bytes of a text that a message quotes */
    AUDIT_FIRST_PLACES = 5, /* hits shown to a user or model: the default k of wt_find */
};

struct audited_tool {
    struct tool tool;   /* texts in the run's scratch */
    int64_t key;        /* id in the store */
    uint32_t provider;  /* index into the run's providers */
    const char *id;     /* same as in wt_tool */
    const char *source; /* file or name of the source, in the result's arena; "" if unknown */
    uint64_t text_hash; /* hash of the description, ignoring case, blanks and punctuation; 0 if empty */
};

struct audited_provider {
    struct str name;
    size_t tools; /* number of its tools */
};

/* Suppresses the findings of one rule for tools that match the pattern (catalog/names.h). */
struct rule_exception {
    enum audit_rule rule;
    struct str pattern;
};

struct audit_run {
    wt_engine *engine;
    wt_audit_options options;
    bool wanted[AUDIT_RULES];          /* enabled rules */
    struct rule_exception *exceptions; /* [exception_count] */
    size_t exception_count;
    struct progress progress;
    struct arena *arena;        /* the result's */
    struct arena scratch;       /* freed when the audit ends */
    struct audited_tool *tools; /* [count] by key */
    size_t count, capacity;
    struct audited_provider *providers; /* [provider_count] in the order of their first tools */
    size_t provider_count, provider_capacity;
    bool scoped;    /* true if findings are reported for one provider only */
    uint32_t scope; /* index of this provider; unused if `scoped` is false */
    struct kept_finding {
        struct placed_finding finding;
        enum audit_rule rule;
        size_t order; /* order of discovery */
    } * findings;     /* [finding_count] */
    size_t finding_count, finding_capacity;
    const char *notice; /* NULL if absent */
    const char *store;  /* file name of the store */
    const char *pins;   /* absolute path of the pins file; NULL if unknown */
};

/* Finding to report: about tools, about a tool that was removed from the catalogue, or about a provider. */
struct new_finding {
    enum audit_rule rule;
    const uint32_t *tools; /* [count] the first is the subject */
    size_t count;
    uint32_t provider;                    /* used if count is 0 and `removed` is empty */
    struct str removed, removed_provider; /* id and provider of a removed tool, which is not in `tools`; "" if unused */
    size_t line;                          /* line in the pins file, for a removed tool */
    double figure;                        /* main number of the finding, such as a count or share; NaN if none */
    const char *advice;                   /* NULL for the rule's own advice */
};

/* Formats the message and keeps the finding, if the rule is enabled, no exception matches, and the finding is in scope.
 * Errors: WT_ENOMEM. */
int wt__audit_add_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* Same as wt__audit_add_finding, for one tool and without a figure. */
int wt__audit_add_tool_finding(struct audit_run *a, enum audit_rule rule, size_t tool, wt_error *err,
                               const char *format, ...) WT_PRINTF(5, 6);

/* Returns the beginning of a text on one line, for use in a message. Invisible characters become [U+XXXX]. The result
 * is in scratch; "" if out of memory. */
const char *wt__audit_quote(struct audit_run *a, struct str text);

/* Returns the index of the tool with that store id; `count` if not found. */
size_t wt__audit_tool_index(const struct audit_run *a, int64_t key);

/* ---------------------------------------------------------------- texts of a tool */

/* Visits every text of a tool that a language model reads.
 *
 * Models get definitions as JSON, so any string of a definition may influence a model: titles and descriptions, but
 * also enumerations, defaults, examples and property names. Each text has a kind, so that rules can treat prose and
 * data differently. */

enum text_kind {
    TEXT_NAME,   /* name of the tool, of a property, or of any other member of a schema */
    TEXT_PROSE,  /* titles and descriptions */
    TEXT_VALUE,  /* any other string */
    TEXT_PATTERN /* a regular expression */
};

struct tool_text {
    enum text_kind kind;
    struct str text;
    struct str member;     /* path of the text, such as "annotations.title"; in a schema, the path from `parameter`, or
                          from the root if `parameter` is NULL; "name" for the name of a property */
    const char *parameter; /* property that contains the text; NULL if none */
    const char *schema;    /* "input schema", "output schema", or NULL */
};

/* Called for each text. A non-zero return value ends the visit; wt__visit_tool_texts returns this value. */
typedef int (*text_visit)(void *context, const struct tool_text *text);

/* Visits name, titles and description, then the strings in the schemas of arguments and results. A tool without a name
 * is a server's instructions. schema: schema of the arguments. definition: the source's definition. Either may be NULL.
 * Errors: WT_ENOMEM. */
int wt__visit_tool_texts(const struct tool *tool, const json_t *schema, const json_t *definition, text_visit visit,
                         void *context, wt_error *err);

/* Returns the definition's output schema, of any JSON type; NULL if missing or null. */
const json_t *wt__output_schema(const json_t *definition);

/* Returns the location of a text for a message: `items.description of the parameter "n"`. In scratch; "" if out of
 * memory. */
const char *wt__describe_text_place(struct audit_run *a, const struct tool_text *text);

/* ---------------------------------------------------------------- words of a text */

/* Splits a text into lower-case words, and matches patterns of words.
 *
 * A pattern is a list of words separated by blanks:
 *   a|b   a or b
 *   a|b?  a or b, optional
 *   *     0 to PATTERN_GAP words
 *   .     end of a sentence
 * Without ".", a match lies within one sentence. The characters . ! ? ; : brackets and line ends become the word ".",
 * except a full stop inside a word. Apostrophes of any form are part of a word. */

enum {
    PATTERN_GAP = 3,      /* maximum words matched by "*" */
    WORDING_MAX = 4000,   /* maximum words of a text; the rest is ignored */
    WORDING_WORD_MAX = 64 /* maximum bytes of a word; the rest is cut off */
};

struct text_word {
    struct str text;   /* lower case, in the wording's arena; "." at the end of a sentence */
    size_t start, end; /* byte offsets in the text: start .. end - 1 */
};

/* Initialise with zeros. */
struct wording {
    struct text_word *words; /* [count] */
    size_t count, capacity;
    size_t marks; /* number of punctuation characters and symbols outside words, except '_' */
    struct arena arena;
};

/* Splits a text, replacing the previous one. Accepts any bytes. Errors: WT_ENOMEM. */
int wt__wording_read(struct wording *wording, struct str text, wt_error *err);
void wt__wording_dispose(struct wording *wording);

/* Returns the index of the first match at or after `at`, and the index after its last word in *end; count if none. */
size_t wt__wording_find(const struct wording *wording, const char *pattern, size_t at, size_t *end);

/* Returns the sentence that contains the bytes start .. end - 1 of the text. */
struct str wt__wording_sentence(struct str text, size_t start, size_t end);

/* ---------------------------------------------------------------- vectors of requests */

/* Computes the vectors of an audit's requests before they are searched.
 *
 * Encoding the request and its sub-queries dominates the cost of a search with a transformer. Searches of an audit
 * share many of these texts: each description is searched both alone and inside a phrase, the same phrase surrounds
 * many descriptions, and copies have the same description. Each distinct text is therefore encoded once. Texts are
 * encoded in batches, because this is faster. The batch does not change a vector, so results stay the same. */

enum { REQUEST_VECTORS_MAX = 65536 /* maximum cached vectors, 96 MiB at dimension 384; a full cache is emptied */ };

struct request_vectors {
    const struct encoder *encoder; /* borrowed; NULL to encode nothing */
    struct map places;             /* text -> place */
    struct arena texts;            /* texts that are no views of the requests */
    float *vectors;                /* [capacity, D] */
    size_t count, capacity;
};

void wt__request_vectors_dispose(struct request_vectors *vectors);

/* Computes the missing vectors of these requests. The requests must outlive `vectors`. Errors: WT_ENOMEM. */
int wt__request_vectors_make(struct request_vectors *vectors, const struct str *requests, size_t count,
                             unsigned threads, wt_error *err);

/* Returns the vectors of a request that was passed to the last wt__request_vectors_make. The result is in the arena,
 * and is used as retrieve_request.encoded. Returns NULL if out of memory or without an encoder. Thread-safe. */
const float *wt__request_vectors_of(const struct request_vectors *vectors, struct str request, struct arena *arena);

/* ---------------------------------------------------------------- searches */

/* An audit uses these requests: each tool's own description, alone (plain) and phrased as people ask (voiced), and
 * recorded requests. */

enum {
    SEARCH_DEPTH = 10,          /* hits of each search */
    SEARCH_WORDS = 4,           /* minimum words of a request from the first sentences of a description */
    SEARCH_VOICED_LEAST = 2000, /* minimum requests phrased as people ask; fewer if the options limit the searches */
    SEARCH_VOICED_MOST = 5000,  /* maximum requests phrased as people ask */
    SEARCH_USED = 32            /* maximum tools used by one recorded request */
};

struct audit_search {
    struct str request;
    uint32_t tool;        /* tool that the description is from; UINT32_MAX for a recorded request */
    const uint32_t *used; /* [used_count] tools that a recorded request used; empty for others */
    size_t used_count;
    uint32_t hits[SEARCH_DEPTH]; /* [count] tools, best first */
    float scores[SEARCH_DEPTH];
    uint8_t count;
    uint8_t rank;       /* rank of `tool` or of copy_of, from 1; 0 if the search found neither */
    uint32_t copy_of;   /* copy returned instead of `tool`; UINT32_MAX if no copy was returned */
    bool word_for_word; /* true if `tool` and `copy_of` are word-for-word copies */
};

struct audit_searches {
    struct audit_search *plain; /* [plain_count] by tool */
    size_t plain_count;
    struct audit_search *voiced; /* [voiced_count] */
    size_t voiced_count;
    struct audit_search *recorded; /* [recorded_count] different requests */
    size_t recorded_count;
    const char *recipe;  /* "" if nothing was searched */
    const char *encoder; /* name of the encoder; "" if nothing was searched */
};

/* Makes the requests and runs their searches, with all threads. *out lives in the audit's scratch. Errors: same as
 * wt_find. */
int wt__audit_search(struct audit_run *a, struct audit_searches *out, wt_error *err);

/* Appends the beginning of a description, without markup, for use as a request. Stops after the first sentence that
 * brings the total to SEARCH_WORDS words. */
void wt__first_sentences(struct str description, struct buffer *out);

/* Returns the search for the tool's own description; NULL if it was not searched. */
const struct audit_search *wt__find_own_search(const struct audit_searches *searches, uint32_t tool);

/* ---------------------------------------------------------------- checks */

/* The families of rules. Each checks one tool or the whole catalogue, and reports findings. All return 0 or an error
 * code. A defect of a tool is a finding, never an error. */

/* Limits above which a schema or name is reported as too large. */
enum {
    AUDIT_SCHEMA_BYTES = 16 << 10,
    AUDIT_SCHEMA_DEPTH = 12, /* levels of nesting */
    AUDIT_SCHEMA_PARAMETERS = 50,
    AUDIT_NAME_WORDS = 12, /* maximum words of a name */
};

/* The tool under examination. */
struct checked_tool {
    size_t tool;              /* index into the run's tools */
    const json_t *schema;     /* stored schema of the arguments; NULL if not valid JSON */
    const json_t *definition; /* definition from the source; NULL if not valid JSON */
    struct wording wording;   /* scratch */
};

int wt__audit_description(struct audit_run *a, struct checked_tool *at, wt_error *err);
int wt__audit_instructions(struct audit_run *a, struct checked_tool *at, wt_error *err);
int wt__audit_characters(struct audit_run *a, struct checked_tool *at, wt_error *err);
int wt__audit_schema(struct audit_run *a, struct checked_tool *at, wt_error *err);
int wt__audit_name(struct audit_run *a, struct checked_tool *at, wt_error *err);

/* Check all tools. */
int wt__audit_duplicates(struct audit_run *a, wt_error *err);
int wt__audit_pinned(struct audit_run *a, wt_error *err); /* needs options->pins */

/* Evaluate the searches. */
int wt__audit_reach(struct audit_run *a, const struct audit_searches *searches, wt_error *err);
int wt__audit_copies(struct audit_run *a, const struct audit_searches *searches, wt_error *err);
int wt__audit_capture(struct audit_run *a, const struct audit_searches *searches, wt_error *err);

/* True if a provider's share of the first places counts as a capture: it is large, and far above its share of the
 * tools. */
bool wt__is_capture(double of_places, double of_tools);

#endif
