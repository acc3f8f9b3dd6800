/* tenants.h: many tenants over one shared catalogue, each of which sees only its own tools. docs/tenants.md explains
 * the file of tenants and what is promised.
 *
 *   wt_tenants_open(&tenants, engine, "tenants.jsonl", NULL, &err);
 *   wt_tenants_engine(tenants, "acme", &view, &err);
 *   wt_find(view, request, len, NULL, &hits, &err);          any function that reads a catalogue
 *   wt_tenants_release(tenants, view);
 *   wt_tenants_close(tenants);
 *
 * The engine of a tenant behaves like an engine of a store that has only the tenant's tools. Its results, scores,
 * suggestions, notices and errors do not depend on the other tools of the shared catalogue. Only vectors, definitions
 * and models are shared. Functions that change a catalogue or record usage fail with WT_EREADONLY, unless the file says
 * that the tenant has a store of its own. Such a store is in the folder PATH without ".jsonl", or a schema of the
 * shared store's database. It has copies of the shared tools, which follow the shared catalogue and cannot be removed.
 *
 * Any number of threads may use the functions at once. */
#ifndef WHICHTOOL_TENANTS_H
#define WHICHTOOL_TENANTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WT_MAX_TENANTS = 1000000,           /* tenants in a file */
    WT_MAX_TENANT_NAME_BYTES = 64,      /* length of a tenant's name: letters, digits, '.', '_', '-' and '@' */
    WT_MAX_TENANT_ITEMS = 100000,       /* items in all lists of a tenant */
    WT_MAX_TENANT_LINE_BYTES = 8 << 20, /* length of a line of the file */
    WT_TENANTS_CACHE_BYTES = 256 << 20  /* default memory for the indexes of tenants */
};

typedef struct wt_tenants wt_tenants;

typedef struct wt_tenants_options {
    size_t size;
    /* Memory for the indexes of recently used tenants; 0 for WT_TENANTS_CACHE_BYTES. Tenants with the same tools share
     * an index. Beyond the limit, the index of the tenant that was used least recently is freed, and built again at its
     * next search. */
    size_t cache_bytes;
    /* True: a thread reads the file again within a second after it has changed. A file with an error is reported, and
     * the tenants stay as they are. */
    int watch;
    /* Called by that thread after a reload; rc: 0 or a negative wt_code with the message. May be NULL. */
    void (*reloaded)(void *context, int rc, const char *message);
    void *reloaded_context;
} wt_tenants_options;

WT_INIT(wt_tenants_options_init, wt_tenants_options)

/* Opens a file of tenants. `shared` must outlive *out.
 * Errors: WT_ENOTFOUND (no file), WT_EFORMAT with the line, WT_ETOOLONG (a limit), WT_EIO, WT_ENOMEM. */
WT_API int wt_tenants_open(wt_tenants **out, wt_engine *shared, const char *path, const wt_tenants_options *options,
                           wt_error *err);
/* Closes the tenants. All their engines must have been released. NULL is a no-op. */
WT_API void wt_tenants_close(wt_tenants *tenants);

/* Returns the engine of a tenant, to be given back with wt_tenants_release. It shows the tenant's tools as of the last
 * reload, also if the tenant is changed or removed meanwhile.
 * Errors: WT_ENOTFOUND (no such tenant), WT_ENOMEM. For a tenant with a store of its own also those of wt_open,
 * WT_EBUSY (another process writes the store), WT_ETOOLONG (it sees more than 50,000 shared tools), and WT_EREADONLY
 * (the shared store is a replica). */
WT_API int wt_tenants_engine(wt_tenants *tenants, const char *name, wt_engine **out, wt_error *err);
WT_API void wt_tenants_release(wt_tenants *tenants, wt_engine *engine); /* NULL is a no-op */

/* Reads the file again. On an error, the tenants stay as they are. Errors: those of wt_tenants_open. */
WT_API int wt_tenants_reload(wt_tenants *tenants, wt_error *err);

typedef struct wt_tenants_info {
    size_t size;
    uint64_t tenants;     /* tenants in the file */
    uint64_t selections;  /* different selections of tools */
    uint64_t table_bytes; /* memory of the table of tenants */
    uint64_t open_views;  /* selections with an engine now */
    uint64_t view_bytes;  /* memory of these engines and their indexes */
} wt_tenants_info;

WT_INIT(wt_tenants_info_init, wt_tenants_info)

/* Fills *out, which the caller has initialised. Errors: WT_EINVAL (out lacks its _init). */
WT_API int wt_tenants_get_info(wt_tenants *tenants, wt_tenants_info *out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
