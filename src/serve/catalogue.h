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

struct catalogue_options {
    const char *summary; /* what is behind it, in place of the sentence made of its providers (serve/summary.h) */
    size_t budget_bytes; /* 0: CATALOGUE_BUDGET_BYTES */
    unsigned time_ms;    /* 0: CATALOGUE_TIME_LIMIT_MS */
};

struct catalogue;

/* The engine and the summary live longer. Errors: WT_ENOMEM. */
int wt__catalogue_open(struct catalogue **out, wt_engine *engine, const struct catalogue_options *options,
                       wt_error *err);
/* What a service serves. Lives as long as the catalogue. */
const struct mcp_features *wt__catalogue_features(const struct catalogue *catalogue);
/* After the service. NULL is a no-op. */
void wt__catalogue_close(struct catalogue *catalogue);

#endif
