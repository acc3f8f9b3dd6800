/* dispatch.c: chooses the set of kernels for this processor. */
#include "nn/kernels/kernels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool runs_anywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool runs_avx2(void)
{
    return wt__cpu_has(CPU_AVX2);
}

static bool runs_avxvnni(void)
{
    return wt__cpu_has(CPU_AVX2 | CPU_AVX_VNNI);
}

static bool runs_avx512(void)
{
    return wt__cpu_has(CPU_AVX2 | CPU_AVX512);
}

static bool runs_vnni(void)
{
    return wt__cpu_has(CPU_AVX2 | CPU_AVX512 | CPU_VNNI);
}
#endif

/* The sets of kernels, the fastest first. */
static const struct {
    const struct kernels *kernels;
    bool (*runs)(void);
} sets[] = {
#if defined(__x86_64__)
    {&wt__kernels_vnni, runs_vnni},       {&wt__kernels_avx512, runs_avx512},
    {&wt__kernels_avxvnni, runs_avxvnni}, {&wt__kernels_avx2, runs_avx2},
#elif defined(__aarch64__)
    {&wt__kernels_neon_dot, wt__cpu_has_dot},
    {&wt__kernels_neon, runs_anywhere},
#endif
    {&wt__kernels_plain, runs_anywhere},
};

const struct kernels *wt__kernels_named(const char *name)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (strcmp(sets[i].kernels->name, name) == 0)
            return sets[i].runs() ? sets[i].kernels : NULL;
    return NULL;
}

static const struct kernels *chosen;

static void choose_kernels(void)
{
    const char *name = getenv("WT_KERNELS");
    size_t i = 0;
    chosen = name ? wt__kernels_named(name) : NULL;
    while (!chosen) {
        chosen = sets[i].runs() ? sets[i].kernels : NULL;
        i++;
    }
}

const struct kernels *wt__kernels(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_kernels);
    return chosen;
}
