/* catalogue.h: a catalogue as an MCP server: three tools that search it, tell what it holds and write calls, and its
 * definitions as resources. This is what a client points at whose tools are too many for a prompt.
 *
 * Its list of tools is short and stays the same, for it stands before every request of every conversation; what was
 * found is in answers alone. Nothing that the catalogue's tools do is done from here. */
#ifndef WT_SERVE_CATALOGUE_H
#define WT_SERVE_CATALOGUE_H

#include "serve/mcp/service.h"
#include "whichtool.h"

enum {
    CATALOGUE_FOUND_MAX = 50,           /* tools of one search */
    CATALOGUE_DETAILS_MAX = 20,         /* tools that one question may name */
    CATALOGUE_BUDGET_BYTES = 24 << 10,  /* of definitions in an answer to a search, when none is said */
    CATALOGUE_DETAILS_BYTES = 96 << 10, /* the same of get_tool_details */
    CATALOGUE_BRIEF_BYTES = 200,        /* of a description where the definition is left out */
    CATALOGUE_TIME_LIMIT_MS = 30000,    /* of one search or call */
};

/* What who stands before a search adds to it. Functions may be NULL, and run on many threads. */
struct catalogue_rules {
    void *context;
    /* Which tools the caller may find: out is initialised, and given to `done` after the search. False: none at all,
     * and nothing is. */
    bool (*filter)(void *context, struct mcp_call *call, wt_filter *out);
    void (*done)(void *context, const wt_filter *filter);
    /* Appends the id (or any name by which the catalogue has one tool) of what a caller names. False: there is nothing
     * of that name that this caller may know of, and no more is told, not even what is called nearly so. */
    bool (*resolve)(void *context, struct mcp_call *call, struct str name, struct buffer *id);
    /* Members of a tool's definition besides its own, each with a comma behind it. */
    void (*describe)(void *context, const wt_tool *tool, struct buffer *out);
    /* Appends a sentence for a search that found nothing, if there is more to say than that. */
    void (*lacking)(void *context, struct mcp_call *call, struct str query, struct buffer *out);
    /* What was found, before it is told. */
    void (*found)(void *context, struct mcp_call *call, struct str query, const wt_hits *hits);
};

struct catalogue_options {
    struct catalogue_rules rules;
    const char *summary; /* what is behind it, in place of the sentence made of its providers (serve/summary.h) */
    size_t budget_bytes; /* 0: CATALOGUE_BUDGET_BYTES */
    unsigned time_ms;    /* 0: CATALOGUE_TIME_LIMIT_MS */
    /* As of mcp_features, with its own context. */
    void (*failed)(void *context, const wt_error *err);
    void *failed_context;
};

struct catalogue;

/* The engine and the summary live longer. Errors: WT_ENOMEM. */
int wt__catalogue_open(struct catalogue **out, wt_engine *engine, const struct catalogue_options *options,
                       wt_error *err);
/* What a service serves. Lives as long as the catalogue. */
const struct mcp_features *wt__catalogue_features(const struct catalogue *catalogue);
/* One of its tools as it is listed. False: it has none of that name. */
bool wt__catalogue_put_tool(struct catalogue *catalogue, const char *name, struct buffer *out);
/* After the service. NULL is a no-op. */
void wt__catalogue_close(struct catalogue *catalogue);

#endif
