/* x86_amx.c: matrix products with Intel AMX. Each block of op(b) is converted to bfloat16 once, in tile order. Then one
 * strip of rows of op(a) after the other is converted and multiplied with the block. The result is computed in squares
 * of 2 x 2 tiles. The sums of a square stay in registers for the depth of the block.
 *
 *   tile of a   16 rows of 32 values of k
 *   tile of b   16 pairs of values of k, each pair for 16 adjacent columns
 *   tile of c   16 x 16 sums
 *
 * The copies are padded with zeros. Squares that extend beyond c are computed in a small buffer. */
#include "nn/kernels/kernels.h"
#include "nn/matrix.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TILE = 16, DEPTH = 32 };          /* rows and values of k in a tile of a */
enum { SQUARE = 2 * TILE };              /* rows and columns of a square */
enum { BLOCK_K = 512, BLOCK_N = 1024 };  /* rows and columns in a block of op(b): one megabyte */
enum { PERMISSION = 0x1023, DATA = 18 }; /* ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of Linux */

#define AMX __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))

_Static_assert((int)AMX_SCRATCH >= (BLOCK_K * BLOCK_N + SQUARE * BLOCK_K) * 2 + SQUARE * SQUARE * 4, "scratch");

static bool ready;

static void request_amx(void)
{
    ready = wt__cpu_has(CPU_AMX | CPU_AVX512 | CPU_AVX512_BF16) && syscall(SYS_arch_prctl, PERMISSION, DATA) == 0;
}

bool wt__amx_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, request_amx);
    return ready;
}

/* Converts `count` floats, at most 32, to bfloat16. The other lanes are 0. */
AMX static __m512i round_to_bfloat16(const float *x, size_t count)
{
    __mmask16 low = count >= 16 ? 0xffff : (__mmask16)((1u << count) - 1);
    __mmask16 high = count >= 32 ? 0xffff : count > 16 ? (__mmask16)((1u << (count - 16)) - 1) : 0;
    __m512 first = _mm512_maskz_loadu_ps(low, x), second = _mm512_maskz_loadu_ps(high, x + 16);
    return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}

/* Converts `count` floats of each row, at most 16, to bfloat16 and interleaves them: x[0] y[0] x[1] y[1] ... The other
 * lanes are 0. One of the rows may be NULL, which counts as zeros. */
AMX static __m512i interleave_rows(const float *x, const float *y, size_t count)
{
    static const uint16_t order[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                       8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __mmask16 mask = count >= 16 ? 0xffff : (__mmask16)((1u << count) - 1);
    __m512 first = _mm512_maskz_loadu_ps(x ? mask : 0, x ? x : y),
           second = _mm512_maskz_loadu_ps(y ? mask : 0, y ? y : x);
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(order), (__m512i)_mm512_cvtne2ps_pbh(second, first));
}

static size_t smaller_size(size_t value, size_t most)
{
    return value < most ? value : most;
}

/* Packs a part of op(a) into [2 tiles][depth / DEPTH][TILE][DEPTH]: SQUARE rows, starting at `row`, and `depth` values
 * of k, starting at `from`. */
AMX static void pack_left_tiles(const struct matmul *p, size_t row, size_t from, size_t depth, uint16_t *out)
{
    size_t steps = (depth + DEPTH - 1) / DEPTH;
    for (size_t r = 0; r < SQUARE; r++) {
        uint16_t *to = out + (r / TILE) * steps * TILE * DEPTH + (r % TILE) * DEPTH;
        for (size_t s = 0; s < steps; s++, to += TILE * DEPTH) {
            size_t k = s * DEPTH, count = row + r < p->m ? smaller_size(depth - k, DEPTH) : 0;
            const float *x = count ? p->a + (row + r) * p->a_stride + from + k : p->a;
            _mm512_storeu_si512(to, round_to_bfloat16(x, count));
        }
    }
}

/* Works like pack_left_tiles for a transposed a, one tile at a time. */
AMX static void pack_left_transposed(const struct matmul *p, size_t row, size_t from, size_t depth, uint16_t *out)
{
    size_t steps = (depth + DEPTH - 1) / DEPTH;
    for (size_t t = 0; t < 2; t++) {
        size_t first = row + t * TILE, count = first < p->m ? smaller_size(p->m - first, TILE) : 0;
        for (size_t s = 0; s < steps; s++) {
            uint16_t *to = out + (t * steps + s) * TILE * DEPTH;
            float turned[TILE][DEPTH] = {{0}};
            for (size_t k = s * DEPTH; k < smaller_size(depth, (s + 1) * DEPTH) && count; k += WT_PANEL)
                wt__kernels()->transpose(&turned[0][k % DEPTH], DEPTH, p->a + (from + k) * p->a_stride + first,
                                         p->a_stride, smaller_size(depth - k, WT_PANEL), count);
            for (size_t r = 0; r < TILE; r++)
                _mm512_storeu_si512(to + r * DEPTH, round_to_bfloat16(turned[r], DEPTH));
        }
    }
}

/* Packs TILE columns of op(b), starting at `column`, into [depth / DEPTH][DEPTH / 2][TILE] pairs. */
AMX static void pack_right_tiles(const struct matmul *p, size_t column, size_t from, size_t depth, uint16_t *out)
{
    size_t count = column < p->n ? smaller_size(p->n - column, TILE) : 0;
    for (size_t k = 0; k < (depth + DEPTH - 1) / DEPTH * DEPTH; k += 2, out += 2 * TILE) {
        const float *x = k < depth && count ? p->b + (from + k) * p->b_stride + column : NULL;
        const float *y = k + 1 < depth && count ? p->b + (from + k + 1) * p->b_stride + column : NULL;
        _mm512_storeu_si512(out, x ? interleave_rows(x, y, count) : _mm512_setzero_si512());
    }
}

/* Works like pack_right_tiles for a transposed b. */
AMX static void pack_right_transposed(const struct matmul *p, size_t column, size_t from, size_t depth, uint16_t *out)
{
    size_t steps = (depth + DEPTH - 1) / DEPTH;
    for (size_t s = 0; s < steps; s++) {
        uint32_t rows[TILE][DEPTH / 2]; /* [column][pair of k] */
        uint32_t *to = (uint32_t *)(void *)(out + s * TILE * DEPTH);
        for (size_t j = 0; j < TILE; j++) {
            size_t k = s * DEPTH, count = column + j < p->n ? smaller_size(depth - k, DEPTH) : 0;
            const float *x = count ? p->b + (column + j) * p->b_stride + from + k : p->b;
            _mm512_storeu_si512(rows[j], round_to_bfloat16(x, count));
        }
        for (size_t i = 0; i < DEPTH / 2; i++)
            for (size_t j = 0; j < TILE; j++)
                to[i * TILE + j] = rows[j][i];
    }
}

/* Adds to c [SQUARE, SQUARE] the product of 2 x `steps` tiles of a and `steps` x 2 tiles of b. stride is the bytes
 * between rows of c. */
AMX static void multiply_square(const uint16_t *a, const uint16_t *b, size_t steps, float *c, size_t stride)
{
    const uint16_t *a1 = a + steps * TILE * DEPTH, *b1 = b + steps * TILE * DEPTH;
    float *below = (float *)(void *)((char *)c + TILE * stride);
    _tile_loadd(0, c, stride);
    _tile_loadd(1, c + TILE, stride);
    _tile_loadd(2, below, stride);
    _tile_loadd(3, below + TILE, stride);
    for (size_t s = 0; s < steps; s++) {
        size_t at = s * TILE * DEPTH;
        _tile_loadd(4, a + at, 64);
        _tile_loadd(6, b + at, 64);
        _tile_loadd(5, a1 + at, 64);
        _tile_loadd(7, b1 + at, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, stride);
    _tile_stored(1, c + TILE, stride);
    _tile_stored(2, below, stride);
    _tile_stored(3, below + TILE, stride);
}

/* Computes a square that extends beyond c, in the buffer `whole`. */
AMX static void multiply_edge(const struct matmul *p, const uint16_t *a, const uint16_t *b, size_t steps, size_t row,
                              size_t column, float *whole)
{
    size_t rows = smaller_size(p->m - row, SQUARE), columns = smaller_size(p->n - column, SQUARE);
    memset(whole, 0, SQUARE * SQUARE * sizeof *whole);
    for (size_t r = 0; r < rows; r++)
        memcpy(whole + r * SQUARE, p->c + (row + r) * p->c_stride + column, columns * sizeof *whole);
    multiply_square(a, b, steps, whole, SQUARE * sizeof *whole);
    for (size_t r = 0; r < rows; r++)
        memcpy(p->c + (row + r) * p->c_stride + column, whole + r * SQUARE, columns * sizeof *whole);
}

/* Multiplies all rows of op(a) with one block of op(b). */
AMX static void multiply_block(const struct matmul *p, size_t from, size_t depth, size_t first, size_t width,
                               uint16_t *right, uint16_t *left, float *whole)
{
    size_t steps = (depth + DEPTH - 1) / DEPTH, panel = steps * TILE * DEPTH;
    for (size_t column = 0; column < width; column += TILE)
        (p->b_transposed ? pack_right_transposed : pack_right_tiles)(p, first + column, from, depth,
                                                                     right + column / TILE * panel);
    if (width % SQUARE <= TILE && width % SQUARE > 0)
        memset(right + (width / TILE + (width % TILE > 0)) * panel, 0, panel * sizeof *right);
    for (size_t row = 0; row < p->m; row += SQUARE) {
        (p->a_transposed ? pack_left_transposed : pack_left_tiles)(p, row, from, depth, left);
        for (size_t column = 0; column < width; column += SQUARE) {
            const uint16_t *b = right + column / TILE * panel;
            if (p->m - row >= SQUARE && width - column >= SQUARE)
                multiply_square(left, b, steps, p->c + row * p->c_stride + first + column, p->c_stride * sizeof(float));
            else
                multiply_edge(p, left, b, steps, row, first + column, whole);
        }
    }
}

AMX void wt__amx_multiply(const struct matmul *p, void *scratch)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    uint16_t *right = scratch, *left = right + BLOCK_K * BLOCK_N;
    float *whole = (float *)(void *)(left + SQUARE * BLOCK_K);
    for (size_t t = 0; t < 8; t++) {
        shape.bytes[t] = 64;
        shape.rows[t] = TILE;
    }
    for (size_t r = 0; r < p->m && !p->accumulate; r++)
        memset(p->c + r * p->c_stride, 0, p->n * sizeof *p->c);
    __asm__ volatile("" : : "r"(&shape) : "memory"); /* Without this, gcc 12 removes the stores to `shape`. */
    _tile_loadconfig(&shape);
    for (size_t from = 0; from < p->k; from += BLOCK_K)
        for (size_t first = 0; first < p->n; first += BLOCK_N)
            multiply_block(p, from, smaller_size(p->k - from, BLOCK_K), first, smaller_size(p->n - first, BLOCK_N),
                           right, left, whole);
    _tile_release();
}
#else
bool wt__amx_ready(void)
{
    return false;
}

void wt__amx_multiply(const struct matmul *product, void *scratch)
{
    (void)product;
    (void)scratch;
}
#endif
