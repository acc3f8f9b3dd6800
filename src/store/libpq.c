/* libpq.c: loads libpq; see libpq.h. The library is never unloaded, because unloading is unsafe after it has
 * initialised TLS. */
#include "store/libpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct libpq library;
static bool ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(name)                                                                                                   \
    {                                                                                                                  \
        "PQ" #name, offsetof(struct libpq, name)                                                                       \
    }

static const struct {
    const char *name;
    size_t offset; /* offset in struct libpq */
} symbols[] = {SYMBOL(connectdbParams),
               SYMBOL(finish),
               SYMBOL(status),
               SYMBOL(transactionStatus),
               SYMBOL(errorMessage),
               SYMBOL(backendPID),
               SYMBOL(consumeInput),
               SYMBOL(notifies),
               SYMBOL(freemem),
               SYMBOL(setNoticeProcessor),
               SYMBOL(conninfoParse),
               SYMBOL(conninfoFree),
               SYMBOL(exec),
               SYMBOL(prepare),
               SYMBOL(execParams),
               SYMBOL(execPrepared),
               SYMBOL(resultStatus),
               SYMBOL(resultErrorField),
               SYMBOL(cmdTuples),
               SYMBOL(ntuples),
               SYMBOL(ftype),
               SYMBOL(getvalue),
               SYMBOL(getlength),
               SYMBOL(getisnull),
               SYMBOL(nfields),
               SYMBOL(clear)};

static void load_libpq(void)
{
    static const char *const names[] = {"libpq.so.5", "libpq.5.dylib"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return;
        memcpy((char *)&library + symbols[i].offset, &symbol,
               sizeof symbol); /* ISO C has no cast from void * to a function */
    }
    ready = true;
}

#ifdef WT_STATIC_PROGRAM /* a static program, which cannot load libraries */
static const char unavailable[] = "a static whichtool cannot load libpq, which is needed for stores in PostgreSQL; "
                                  "install whichtool with pip, or from its sources";
#else
static const char unavailable[] =
    "cannot load libpq (libpq.so.5), which is needed for stores in PostgreSQL; install it: the "
    "package is libpq5 on Debian and Ubuntu, and libpq on others";
#endif

int wt__libpq(const struct libpq **out, wt_error *err)
{
    pthread_once(&once, load_libpq);
    *out = ready ? &library : NULL;
    return ready ? 0 : wt__fail(err, WT_ENETWORK, "%s", unavailable);
}
