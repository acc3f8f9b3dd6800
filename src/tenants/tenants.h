/* tenants.h: questions of servers about tenants, in addition to whichtool/tenants.h. */
#ifndef WT_TENANTS_TENANTS_H
#define WT_TENANTS_TENANTS_H

#include <stdbool.h>

#include "base/str.h"
#include "whichtool/tenants.h"

/* True for a valid name of a tenant. */
bool wt__is_tenant_name(struct str name);

/* Reads the shared catalogue, so that the first search of a tenant need not. Errors: those of a search. */
int wt__tenants_prepare(wt_tenants *tenants, wt_error *err);

/* True if the file has the tenant. */
bool wt__tenants_have(wt_tenants *tenants, const char *name);
/* True if the tenant has a store of its own, which its tools, recorded use and trained models are in. False for an
 * unknown tenant. */
bool wt__tenants_own(wt_tenants *tenants, const char *name);
/* True if the tenant sees a tool, whether or not the tool exists. False for an unknown tenant. */
bool wt__tenants_allow(wt_tenants *tenants, const char *name, struct str provider, struct str tool);
/* True if the tenant sees all tools of a provider, also those that it adds later: the tenant lists the provider and
 * has no exclusions. False for an unknown tenant. */
bool wt__tenants_allow_provider(wt_tenants *tenants, const char *name, struct str provider);

/* An engine that is released at the end of a scope:
 * `WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};` */
struct tenant_hold {
    wt_tenants *tenants;
    wt_engine *engine;
};
/* Takes the engine of a tenant. Without a name (NULL or ""), the engine is `shared`. */
int wt__tenant_hold_begin(struct tenant_hold *hold, wt_tenants *tenants, const char *name, wt_engine *shared,
                          wt_error *err);
void wt__tenant_hold_end(struct tenant_hold *hold);

/* Opens the engine of a tenant for a command that serves only this tenant. *engine: the shared engine before, which the
 * new engine then owns; unchanged on an error. Errors: those of wt_tenants_open and wt_tenants_engine. */
int wt__tenant_engine_open(wt_engine **engine, const char *path, const char *name, wt_error *err);
/* Closes an engine, and the tenants and the shared engine of one from wt__tenant_engine_open. NULL is a no-op. */
void wt__tenant_engine_close(wt_engine *engine);

#endif
