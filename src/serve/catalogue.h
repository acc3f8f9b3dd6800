/* catalogue.h: an MCP server over a catalogue of tools. It has three tools (search, definitions, writing a call) and
 * serves tool definitions as resources. It is for clients with more tools than fit in a prompt.
 *
 * The tool list is short and stable because it is part of every prompt; search results appear only in answers. This
 * server never calls a tool of the catalogue. */
#ifndef WT_SERVE_CATALOGUE_H
#define WT_SERVE_CATALOGUE_H

#include "serve/mcp/service.h"
#include "tenants/tenants.h"
#include "whichtool.h"

enum {
    CATALOGUE_FOUND_MAX = 50,           /* maximum results of one search */
    CATALOGUE_DETAILS_MAX = 20,         /* maximum tools named in one get_tool_details */
    CATALOGUE_BUDGET_BYTES = 24 << 10,  /* default size limit for the definitions in search results */
    CATALOGUE_DETAILS_BYTES = 96 << 10, /* size limit for the definitions in get_tool_details */
    CATALOGUE_BRIEF_BYTES = 200,        /* maximum description length in a shortened definition */
    CATALOGUE_TIME_LIMIT_MS = 30000,    /* time limit for one search or for writing one call */
};

/* Hooks for a caller, such as the gateway, that restricts or observes searches. Any of them may be NULL. They run on
 * many threads. */
struct catalogue_rules {
    void *context;
    /* Restricts the tools that the caller can find. out is initialised and passed to `done` after the search. Returns
     * false if the caller may use no tool; the search is then skipped. */
    bool (*filter)(void *context, struct mcp_call *call, wt_filter *out);
    void (*done)(void *context, const wt_filter *filter);
    /* Appends the id, or any other unambiguous name, of the tool that the caller named. Returns false if the caller
     * must not learn that the tool exists; the error then suggests no similar names. */
    bool (*resolve)(void *context, struct mcp_call *call, struct str name, struct buffer *id);
    /* Appends extra members to a tool's definition, each followed by a comma. */
    void (*describe)(void *context, const wt_tool *tool, struct buffer *out);
    /* Appends an explanation for a search without results, or of a caller who may use no tool. */
    void (*lacking)(void *context, struct mcp_call *call, struct str query, struct buffer *out);
    /* Observes the results before they are sent. */
    void (*found)(void *context, struct mcp_call *call, struct str query, const wt_hits *hits);
};

struct catalogue_options {
    struct catalogue_rules rules;
    const char *summary; /* sentence about the catalogue, NULL to list its providers */
    size_t budget_bytes; /* 0 for CATALOGUE_BUDGET_BYTES */
    unsigned time_ms;    /* 0 for CATALOGUE_TIME_LIMIT_MS */
    /* Tenants of the callers; NULL for none. A caller of a tenant sees the tenant's tools. There is then no summary of
     * the providers, because tools and instructions are the same for all callers. */
    wt_tenants *tenants;
    /* Same as in mcp_features, with its own context. */
    void (*failed)(void *context, const wt_error *err);
    void *failed_context;
};

struct mcp_catalogue;

/* Opens a catalogue. The engine and options->summary must outlive the catalogue. Errors: WT_ENOMEM. */
int wt__catalogue_open(struct mcp_catalogue **out, wt_engine *engine, const struct catalogue_options *options,
                       wt_error *err);
/* Returns the features for an MCP service, valid as long as the catalogue. */
const struct mcp_features *wt__catalogue_features(const struct mcp_catalogue *catalogue);
/* Appends the definition of one of the three tools. Returns false if the name is unknown. */
bool wt__catalogue_put_tool(struct mcp_catalogue *catalogue, const char *name, struct buffer *out);
/* Call it after closing the service. NULL is a no-op. */
void wt__catalogue_close(struct mcp_catalogue *catalogue);

/* The summary describes a catalogue in one sentence. The sentence names the providers, because a model that sees only
 * "search tools" does not know the contents of the catalogue and does not search.
 *
 * The sentence is part of every prompt, so it is short, contains no counts, and changes only with the list of the
 * largest providers. Provider names are untrusted input to a prompt: only short names of plain characters are shown. */
enum {
    SUMMARY_BYTES_MAX = 400,
    SUMMARY_NAME_BYTES_MAX = 32, /* maximum length of a shown provider name */
    SUMMARY_NAME_WORDS_MAX = 4,  /* words are separated by blanks or punctuation */
};

/* Appends "Tools of github, slack, ... and others." with the first of the names that fit into `bytes`, sorted
 * alphabetically. Unsuitable names are skipped; without a suitable name the text is empty. */
void wt__catalogue_summary(struct buffer *out, const char *const *names, size_t count, size_t bytes);

#endif
