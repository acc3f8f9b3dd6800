/* x86_cpu.c: reads the features of an x86 processor. __builtin_cpu_supports does the same, but with zig, which compiles
 * the Python wheels, it is always false. */
#include "nn/kernels/kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <pthread.h>

static unsigned features;

/* State that the operating system saves: XMM and YMM, and for AVX-512 also the masks and the ZMM registers. */
enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6 };

static unsigned read_saved_state(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned read_avx512(unsigned ebx, unsigned ecx)
{
    unsigned out = 0;
    out |= ebx >> 16 & 1 && ebx >> 17 & 1 && ebx >> 30 & 1 && ebx >> 31 & 1 ? CPU_AVX512 : 0; /* F, DQ, BW, VL */
    out |= ecx >> 11 & 1 ? CPU_VNNI : 0;
    return out;
}

static void read_features(void)
{
    unsigned eax, ebx, ecx, edx, state;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1)) /* OSXSAVE */
        return;
    bool fma = ecx >> 12 & 1 && ecx >> 29 & 1; /* FMA, F16C */
    state = read_saved_state();
    if ((state & YMM_STATE) != YMM_STATE || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return;
    features |= fma && ebx >> 5 & 1 ? CPU_AVX2 : 0;
    if ((state & ZMM_STATE) == ZMM_STATE)
        features |= read_avx512(ebx, ecx);
    features |= edx >> 24 & 1 && edx >> 22 & 1 ? CPU_AMX : 0; /* AMX-TILE, AMX-BF16 */
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
        features |= (eax >> 5 & 1 ? CPU_AVX512_BF16 : 0) | (eax >> 4 & 1 ? CPU_AVX_VNNI : 0);
}

bool wt__cpu_has(unsigned wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_features);
    return (features & wanted) == wanted;
}
#endif
