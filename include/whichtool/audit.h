/* whichtool/audit.h: what is wrong with a catalogue, and what to write instead.
 *
 *   wt_audit(engine, NULL, &audit, &err);
 *   for (size_t i = 0; i < audit->finding_count; i++) puts(audit->findings[i]->message);
 *   wt_audit_free(audit);
 *
 * The conventions are those of whichtool.h, which includes this header. Nothing is changed, and nothing is asked of any
 * server. */
#ifndef WHICHTOOL_AUDIT_H
#define WHICHTOOL_AUDIT_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits. */
enum {
    WT_MAX_AUDIT_SEARCHES = 1000000,  /* requests that are searched of one kind: made, recorded */
    WT_MAX_AUDIT_REQUESTS = 20000,    /* the same, where options->searches is 0 */
    WT_MAX_AUDIT_IGNORED = 1000,      /* rules and exceptions that are ignored */
    WT_MAX_PIN_FILE_BYTES = 256 << 20 /* a file of pins */
};

/* How bad a finding is. The numbers stay. */
enum {
    WT_AUDIT_NOTE = 1,    /* could be better */
    WT_AUDIT_WARNING = 2, /* keeps a tool from being found or used, or takes from others */
    WT_AUDIT_ERROR = 3    /* broken, deceptive, or not what was pinned */
};

typedef struct wt_audit_options {
    size_t size;
    const char *provider;     /* only findings that concern its tools; NULL: all */
    size_t rule_count;        /* 0: every rule */
    const char *const *rules; /* [rule_count] ids: only these */
    size_t ignored_count;
    const char *const *ignored; /* [ignored_count] ids: not these; or "ID:PATTERN": not this one of tools that match, as
                                   wt_filter.only has patterns. Of a finding about several tools the first counts, and
                                   a provider as a whole as "PROVIDER/" */
    size_t searches;            /* requests of one kind that are searched at most, drawn by seed, up to
                                   WT_MAX_AUDIT_SEARCHES; 0: WT_MAX_AUDIT_REQUESTS */
    uint64_t seed;              /* 0: 1 */
    const char *pins;           /* [pins_len] what wt_audit_pins gave once: definitions are compared; NULL: not */
    size_t pins_len;
    wt_progress_fn progress;
    void *progress_context;
    const char *pins_file; /* that the pins were read from: where wt_audit_render places what is gone; NULL: it is not
                              known */
} wt_audit_options;

WT_INIT(wt_audit_options_init, wt_audit_options)

typedef struct wt_finding {
    const char *rule; /* id */
    int level;        /* of the rule */
    size_t tool_count;
    const char *const *tools; /* [tool_count] ids of the tools that are concerned, the first of which it is about; none
                                 where it is about a provider */
    size_t more_tools;        /* that are concerned, too, and are not listed */
    const char *provider;     /* of the first tool, or that it is about; "" when that has none */
    const char *message;      /* one sentence: what is wrong */
    const char *advice;       /* one sentence: what to write instead */
    double figure;            /* what was measured, as the message says it; NaN: nothing was */
} wt_finding;

/* What the whole catalogue would take in a prompt. */
typedef struct wt_audit_cost {
    const char *format; /* of wt_export */
    uint64_t tokens;    /* estimated, as in wt_hit.tokens */
    uint64_t bytes;
    const char *largest; /* id of the tool that takes most; "" without tools */
    uint64_t largest_tokens;
} wt_audit_cost;

/* All of it is the result's, and lives as long as it does. */
typedef struct wt_audit_result {
    size_t finding_count;
    const wt_finding *const *findings; /* by rule, then in the order of the catalogue */
    size_t errors, warnings, notes;    /* of findings */
    size_t tools, providers;           /* that were looked at */
    size_t made;                       /* requests that were made of descriptions, and searched */
    size_t recorded;                   /* recorded requests that were searched */
    const char *recipe;                /* that searched; "" where nothing was searched */
    const char *encoder;               /* as in wt_hits; "" for none */
    size_t cost_count;
    const wt_audit_cost *const *costs; /* [cost_count] */
    const char *notice;                /* one line on what was left out, or NULL */
    double seconds;
} wt_audit_result;

WT_API void wt_audit_free(wt_audit_result *audit);

/* Looks at every tool of the catalogue, and at how they stand to each other (docs/audit.md): each is searched by the
 * beginning of its own description, by "hybrid", or by "bm25" where there is no encoder; recorded requests are searched
 * as well. Of a larger catalogue so many are drawn by seed. The same catalogue, options and encoder give the same
 * findings. Definitions are held in memory meanwhile.
 *
 * Finding something is no error: 0. Errors: WT_EINVAL (no such rule, or one of pins by name without pins), WT_EEMPTY
 * (no tools in the store), WT_ENOTFOUND (none of that provider), WT_EFORMAT (with the line: the pins), those of
 * wt_find, WT_ECANCELLED. */
WT_API int wt_audit(wt_engine *engine, const wt_audit_options *options, wt_audit_result **out, wt_error *err);

/* The same of what a server lists, before it is in any catalogue, for what deceives alone: texts of its tools, and what
 * it says of itself, that give the model orders of the level WT_AUDIT_ERROR (overrides-instructions, hides-from-user,
 * asks-for-secrets), or that hide what they say (hidden-characters, mixed-scripts). listing: {"tools":[...]}, or pages
 * of such, as of wt_review; len 0: none. instructions: NULL: none; a finding of theirs is of the tool called as the
 * provider. Nothing is searched. Errors: WT_EINVAL (provider is empty), WT_EFORMAT (the listing is none), WT_ENOMEM. */
WT_API int wt_audit_listing(const char *provider, const char *listing, size_t len, const char *instructions,
                            wt_audit_result **out, wt_error *err);

/* The same of prompts, resources or resource templates, as a JSON array of their definitions. A finding is of the tool
 * called by the definition's name. */
WT_API int wt_audit_offers(const char *provider, const char *offers, wt_audit_result **out, wt_error *err);

/* Pins of the catalogue as it is now, to be kept and compared with a later one (options->pins): a line for each tool,
 * sorted by id, that has the SHA-256 of its whole definition, as JSON with sorted keys, so that its layout does not
 * count, and those of each member; of an operation of OpenAPI also of its arguments with all that they refer to
 * ("arguments"), and of its method and path ("route"). provider: only its tools; NULL: all. *out ends with
 * wt_string_free. Errors: WT_EEMPTY and WT_ENOTFOUND as above, WT_ESTORE, ... */
WT_API int wt_audit_pins(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* The result as a file for other programs, or for people: "sarif" (SARIF 2.1.0), "html" (one page that fetches
 * nothing). *out ends with wt_string_free. Errors: WT_EINVAL (no such form), WT_ENOMEM. */
WT_API int wt_audit_render(const wt_audit_result *audit, const char *form, char **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
