/* bench_machine.c: limits of this machine, on one thread, for comparison with the other figures.
 *
 *   bench_machine
 *
 * Prints the rate of reading memory, the rate of multiplying and adding bytes in registers (one product after the
 * other, with AVX2 or VNNI), and the rate that the byte kernel reaches with the largest matrix of the default encoder
 * (1536 x 384) and a request of 20 tokens. Times are processor times, since machines are shared. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/memory.h"
#include "nn/kernels/kernels.h"
#include "support.h"

enum {
    ROUNDS = 15,
    READ_BYTES = 256 << 20,
    LOOPS = 2000000,
    SUMS = 10,
    TOKENS = 20,
    INNER = 384,
    OUTPUTS = 1536,
    PRODUCTS = 50
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void measure_reading(void)
{
    double rates[ROUNDS];
    size_t count = READ_BYTES / sizeof(uint64_t);
    uint64_t *words = wt__alloc_aligned(count, sizeof *words);
    volatile uint64_t result;
    if (!words)
        exit_with_message("out of memory");
    memset(words, 1, READ_BYTES);
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t sum = 0;
        double begun = now_s();
        for (size_t i = 0; i < count; i++)
            sum += words[i];
        result = sum;
        rates[round] = READ_BYTES / (now_s() - begun) / 1e9;
    }
    (void)result;
    free(words);
    print_result(rates, ROUNDS, "GB/s", "machine", "read memory");
}

/* The functions below multiply and add LOOPS times in SUMS independent sums, and return the number of products. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static double multiply_avx2(void)
{
    __m256i sums[SUMS], codes = _mm256_set1_epi8(3), weights = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    for (size_t s = 0; s < SUMS; s++)
        sums[s] = _mm256_set1_epi32((int)s);
    for (size_t i = 0; i < LOOPS; i++)
        for (size_t s = 0; s < SUMS; s++) {
            __asm__ volatile("" : "+x"(codes));
            sums[s] = _mm256_add_epi32(sums[s], _mm256_madd_epi16(_mm256_maddubs_epi16(codes, weights), ones));
        }
    volatile int result = 0;
    for (size_t s = 0; s < SUMS; s++)
        result += _mm256_extract_epi32(sums[s], 0);
    return (double)sizeof(__m256i) * SUMS * LOOPS;
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static double multiply_vnni(void)
{
    __m512i sums[SUMS], codes = _mm512_set1_epi8(3), weights = _mm512_set1_epi8(1);
    for (size_t s = 0; s < SUMS; s++)
        sums[s] = _mm512_set1_epi32((int)s);
    for (size_t i = 0; i < LOOPS; i++)
        for (size_t s = 0; s < SUMS; s++) {
            __asm__ volatile("" : "+v"(codes));
            sums[s] = _mm512_dpbusd_epi32(sums[s], codes, weights);
        }
    volatile int result = 0;
    for (size_t s = 0; s < SUMS; s++)
        result += _mm512_reduce_add_epi32(sums[s]);
    return (double)sizeof(__m512i) * SUMS * LOOPS;
}

static void measure_multiplying(void)
{
    double rates[ROUNDS];
    bool vnni = wt__cpu_has(CPU_VNNI);
    if (!vnni && !wt__cpu_has(CPU_AVX2))
        return;
    for (size_t round = 0; round < ROUNDS; round++) {
        double begun = now_s(), products = vnni ? multiply_vnni() : multiply_avx2();
        rates[round] = products / (now_s() - begun) / 1e9;
    }
    print_result(rates, ROUNDS, "G/s", "machine", "multiply bytes");
}
#else
static void measure_multiplying(void)
{
}
#endif

static void measure_kernel(void)
{
    const struct kernels *kernels = wt__kernels();
    if (!kernels->gemm_bytes)
        return;
    size_t groups = INNER / WT_GROUP, row = groups * (WT_GROUP + sizeof(struct byte_range));
    size_t panel = wt__byte_panel_size(groups);
    row = (row + 63) / 64 * 64;
    unsigned char *a = wt__alloc_aligned(TOKENS, row), *w = wt__alloc_aligned(OUTPUTS / WT_PANEL, panel);
    float *c = wt__alloc_aligned((size_t)TOKENS * OUTPUTS, sizeof *c);
    double rates[ROUNDS];
    if (!a || !w || !c)
        exit_with_message("out of memory");
    memset(a, 1, TOKENS * row);
    memset(w, 1, OUTPUTS / WT_PANEL * panel);
    struct gemm_bytes product = {
        .t = TOKENS, .groups = groups, .o = OUTPUTS, .a = a, .a_stride = row, .w = w, .c = c, .c_stride = OUTPUTS};
    for (size_t round = 0; round < ROUNDS; round++) {
        double begun = now_s();
        for (size_t i = 0; i < PRODUCTS; i++)
            kernels->gemm_bytes(&product);
        rates[round] = (double)PRODUCTS * TOKENS * INNER * OUTPUTS / (now_s() - begun) / 1e9;
    }
    print_result(rates, ROUNDS, "G/s", "whichtool", "multiply bytes");
    free(a);
    free(w);
    free(c);
}

int main(void)
{
    fprintf(stderr, "bench_machine: kernels %s\n", wt__kernels()->name);
    measure_reading();
    measure_multiplying();
    measure_kernel();
    return 0;
}
