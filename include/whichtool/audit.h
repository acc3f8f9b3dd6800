/* whichtool/audit.h: finds problems in a catalogue, and says what to write instead.
 *
 *   wt_audit(engine, NULL, &audit, &err);
 *   for (size_t i = 0; i < audit->finding_count; i++) puts(audit->findings[i]->message);
 *   wt_audit_free(audit);
 *
 * An audit changes nothing and sends no requests. docs/audit.md lists the rules. The conventions are those of
 * whichtool.h, which includes this header. */
#ifndef WHICHTOOL_AUDIT_H
#define WHICHTOOL_AUDIT_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits. */
enum {
    WT_MAX_AUDIT_SEARCHES = 1000000,  /* maximum of wt_audit_options.searches */
    WT_MAX_AUDIT_REQUESTS = 20000,    /* default of wt_audit_options.searches */
    WT_MAX_AUDIT_IGNORED = 1000,      /* ignored rules and exceptions */
    WT_MAX_PIN_FILE_BYTES = 256 << 20 /* size of a file of pins */
};

/* Severity of a finding. The numbers are stable. */
enum {
    WT_AUDIT_NOTE = 1,    /* could be better */
    WT_AUDIT_WARNING = 2, /* hides a tool from searches or users, or takes requests from other tools */
    WT_AUDIT_ERROR = 3    /* broken, deceptive, or different from its pin */
};

typedef struct wt_audit_options {
    size_t size;
    const char *provider;     /* only findings about tools of this provider; NULL: all */
    size_t rule_count;        /* 0: all rules */
    const char *const *rules; /* [rule_count] ids of the rules to check */
    size_t ignored_count;     /* at most WT_MAX_AUDIT_IGNORED */
    /* [ignored_count] ids of rules to skip, or "ID:PATTERN" to skip a rule for matching tools. Patterns are those of
     * wt_filter.only. A finding about several tools is matched by its first tool. A finding about a provider is
     * matched as "PROVIDER/". */
    const char *const *ignored;
    /* Maximum requests of each kind to search, at most WT_MAX_AUDIT_SEARCHES; 0: WT_MAX_AUDIT_REQUESTS. Descriptions
     * are drawn by seed. Of the recorded requests, the newest are searched. */
    size_t searches;
    uint64_t seed; /* 0: 1 */
    /* [pins_len] earlier output of wt_audit_pins to compare the definitions with; NULL: do not compare */
    const char *pins;
    size_t pins_len;
    wt_progress_fn progress;
    void *progress_context;
    const char *pins_file; /* path of the pins, used by wt_audit_render as the location of missing tools; NULL if
                              unknown */
} wt_audit_options;

WT_INIT(wt_audit_options_init, wt_audit_options)

typedef struct wt_finding {
    const char *rule; /* id of the rule */
    int level;        /* severity of the rule */
    size_t tool_count;
    const char *const *tools; /* [tool_count] ids of the tools, the subject first; empty if about a provider */
    size_t more_tools;        /* further tools that are not listed */
    const char *provider;     /* provider of the first tool, or the provider that the finding is about, or "" */
    const char *message;      /* one sentence: the problem */
    const char *advice;       /* one sentence: the solution */
    double figure;            /* measured value in the message; NaN without one */
} wt_finding;

/* Size of the whole catalogue in a prompt. */
typedef struct wt_audit_cost {
    const char *format; /* format of wt_export */
    uint64_t tokens;    /* estimated as in wt_hit.tokens */
    uint64_t bytes;
    const char *largest; /* id of the largest tool; "" without tools */
    uint64_t largest_tokens;
} wt_audit_cost;

/* All pointers are owned by the result and live as long as it does. */
typedef struct wt_audit_result {
    size_t finding_count;
    const wt_finding *const *findings; /* sorted by rule, then in the order in which they were found */
    size_t errors, warnings, notes;    /* findings of each severity */
    size_t tools, providers;           /* tools and providers examined */
    size_t made;                       /* requests made from descriptions and searched */
    size_t recorded;                   /* recorded requests searched */
    const char *recipe;                /* recipe of the searches; "" without searches */
    const char *encoder;               /* same as in wt_hits */
    size_t cost_count;
    const wt_audit_cost *const *costs; /* [cost_count] */
    const char *notice;                /* anything left out, in one line; NULL if complete */
    double seconds;
} wt_audit_result;

WT_API void wt_audit_free(wt_audit_result *audit);

/* Examines all tools of the catalogue and their overlap (docs/audit.md).
 *
 * Each tool is searched by the beginning of its own description, with "hybrid", or with "bm25" without an encoder.
 * Recorded requests are searched as well. In a large catalogue, the descriptions are sampled by seed, and only the
 * newest recorded requests are searched. The same catalogue, options and encoder give the same findings. Holds all
 * definitions in memory.
 *
 * Findings are not errors. Errors:
 * - WT_EINVAL: unknown rule, or a rule about pins without pins.
 * - WT_EEMPTY: the store has no tools.
 * - WT_ENOTFOUND: no tool has the provider.
 * - WT_EFORMAT: malformed pins, with the line.
 * - Those of wt_find, and WT_ECANCELLED. */
WT_API int wt_audit(wt_engine *engine, const wt_audit_options *options, wt_audit_result **out, wt_error *err);

/* Examines a server's tools and instructions for deception only, before they enter any catalogue. Does not search and
 * needs no engine. Any thread.
 *
 * Rules:
 * - orders to the model, of level WT_AUDIT_ERROR: overrides-instructions, hides-from-user, asks-for-secrets
 * - disguised text: hidden-characters, mixed-scripts
 *
 * listing: {"tools":[...]} or pages of it, as in wt_review; may be empty with len 0.
 * instructions: NULL if the server has none. A finding about them has the provider's name as the tool.
 *
 * Errors: WT_EINVAL (provider is empty), WT_EFORMAT (not a listing), WT_ENOMEM. */
WT_API int wt_audit_listing(const char *provider, const char *listing, size_t len, const char *instructions,
                            wt_audit_result **out, wt_error *err);

/* Examines prompts, resources or resource templates like wt_audit_listing. offers: JSON array of their definitions. A
 * finding names the definition as PROVIDER/NAME. Errors: as in wt_audit_listing. */
WT_API int wt_audit_offers(const char *provider, const char *offers, wt_audit_result **out, wt_error *err);

/* Writes pins of the current catalogue, for comparison with a later one (wt_audit_options.pins).
 *
 * Each tool is a line. The lines are sorted by id. A line has the SHA-256 of the definition and of each of its members.
 * JSON is hashed with sorted keys, so layout does not matter. For an OpenAPI operation, the line has two more hashes:
 * "arguments" of the arguments with everything they refer to, and "route" of the method and path.
 *
 * provider: only its tools; NULL: all. *out: freed with wt_string_free.
 * Errors: WT_EEMPTY, WT_ENOTFOUND (as in wt_audit), WT_ESTORE, ... */
WT_API int wt_audit_pins(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* Writes the result as a report. form: "sarif" (SARIF 2.1.0), or "html" (one self-contained page). *out: freed with
 * wt_string_free. Errors: WT_EINVAL (unknown form), WT_ENOMEM. */
WT_API int wt_audit_render(const wt_audit_result *audit, const char *form, char **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
