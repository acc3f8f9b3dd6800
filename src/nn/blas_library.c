/* blas_library.c: loads libopenblas with dlopen. The library stays loaded, because its threads cannot be unloaded
 * safely. The interface is standard CBLAS with 32-bit lengths, declared here so that the build needs no BLAS. */
#include "nn/blas_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* values from cblas.h */

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);

static sgemm_function *sgemm;
static atomic_bool ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_openblas(void)
{
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *product = handle ? dlsym(handle, "cblas_sgemm") : NULL;
    void *threads = handle ? dlsym(handle, "openblas_set_num_threads") : NULL;
    void (*set_threads)(int);

    if (!product || !threads)
        return;
    memcpy(&sgemm, &product, sizeof(sgemm)); /* C has no cast from an object pointer to a function pointer. */
    memcpy(&set_threads, &threads, sizeof(set_threads));
    set_threads(1);
    atomic_store(&ready, true);
}

int wt__blas_load(wt_error *err)
{
    pthread_once(&once, load_openblas);
    if (atomic_load(&ready))
        return 0;
    return wt__fail(err, WT_EMODEL, "cannot load OpenBLAS (libopenblas.so.0); training continues without it");
}

bool wt__blas_takes(const struct matmul *p)
{
    return atomic_load_explicit(&ready, memory_order_acquire) && p->m <= INT_MAX && p->n <= INT_MAX &&
           p->k <= INT_MAX && p->a_stride <= INT_MAX && p->b_stride <= INT_MAX && p->c_stride <= INT_MAX;
}

void wt__blas_multiply(const struct matmul *p)
{
    sgemm(ROW_MAJOR, p->a_transposed ? TRANSPOSED : PLAIN, p->b_transposed ? TRANSPOSED : PLAIN, (int)p->m, (int)p->n,
          (int)p->k, 1, p->a, (int)p->a_stride, p->b, (int)p->b_stride, p->accumulate ? 1 : 0, p->c, (int)p->c_stride);
}
