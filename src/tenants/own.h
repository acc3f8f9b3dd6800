/* own.h: the stores of tenants that have tools, recorded use and trained models of their own.
 *
 * Such a store is like any other: every function of the library works on it. In addition to the tenant's tools, it has
 * copies of the shared tools that the tenant sees, with their vectors. The copies are the tools of STORE_COPIED_SOURCE.
 * They are renewed when the shared catalogue has changed. */
#ifndef WT_TENANTS_OWN_H
#define WT_TENANTS_OWN_H

#include "engine/row_pool.h"

enum { OWN_COPIES_MAX = 50000 /* shared tools that a tenant with a store of its own can see */ };
#define OWN_BYTES_MAX (UINT64_C(2) << 30) /* size to which a tenant can enlarge the file of its store */

/* Opens the store of a tenant, created if needed. It uses the models of the shared engine. folder: where the stores of
 * tenants are. If the shared store is in a PostgreSQL database, the store is a schema of the same database. Errors:
 * those of wt_open; WT_EREADONLY if the shared store is a replica. */
int wt__own_store_open(wt_engine **out, wt_engine *shared, const char *folder, struct str tenant, wt_error *err);

/* Replaces the copies by those of these rows of a pool, [count]. pool: NULL without rows. Errors: WT_ETOOLONG (over
 * OWN_COPIES_MAX), those of reading and writing a store. */
int wt__own_store_copy(wt_engine *own, wt_engine *shared, const struct row_pool *pool, const uint32_t *rows,
                       size_t count, struct progress *progress, wt_error *err);

#endif
