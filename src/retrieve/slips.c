/* slips.c: computes the cost of mistyping one word as another (slips.h). */
#include "retrieve/slips.h"

#include <stdbool.h>

enum { NEAR = SLIPS_BAND + 1 }; /* number of letters on either side that may match, including a swap with a neighbour */

#define L(letter) (UINT32_C(1) << ((letter) - 'a'))
#define ALL_LETTERS (L('z') * 2 - 1)

/* For each letter, its neighbours on English keyboards and letters with a similar sound. */
static const uint32_t alike[SLIPS_ALPHABET] = {
    ['a' - 'a'] = L('q') | L('w') | L('s') | L('z'),
    ['b' - 'a'] = L('v') | L('g') | L('h') | L('n') | L('p'),
    ['c' - 'a'] = L('x') | L('d') | L('f') | L('v') | L('k') | L('s'),
    ['d' - 'a'] = L('s') | L('e') | L('r') | L('f') | L('c') | L('x') | L('t'),
    ['e' - 'a'] = L('w') | L('s') | L('d') | L('r'),
    ['f' - 'a'] = L('d') | L('r') | L('t') | L('g') | L('c') | L('v'),
    ['g' - 'a'] = L('f') | L('t') | L('y') | L('h') | L('b') | L('v'),
    ['h' - 'a'] = L('g') | L('y') | L('u') | L('j') | L('n') | L('b'),
    ['i' - 'a'] = L('u') | L('j') | L('k') | L('o') | L('y'),
    ['j' - 'a'] = L('h') | L('u') | L('i') | L('k') | L('m') | L('n'),
    ['k' - 'a'] = L('j') | L('i') | L('o') | L('l') | L('m') | L('c'),
    ['l' - 'a'] = L('k') | L('o') | L('p'),
    ['m' - 'a'] = L('n') | L('j') | L('k'),
    ['n' - 'a'] = L('b') | L('h') | L('j') | L('m'),
    ['o' - 'a'] = L('i') | L('k') | L('l') | L('p'),
    ['p' - 'a'] = L('o') | L('l') | L('b'),
    ['q' - 'a'] = L('w') | L('a'),
    ['r' - 'a'] = L('e') | L('d') | L('f') | L('t'),
    ['s' - 'a'] = L('a') | L('w') | L('e') | L('d') | L('x') | L('z') | L('c'),
    ['t' - 'a'] = L('r') | L('f') | L('g') | L('y') | L('d'),
    ['u' - 'a'] = L('y') | L('h') | L('j') | L('i'),
    ['v' - 'a'] = L('c') | L('f') | L('g') | L('b'),
    ['w' - 'a'] = L('q') | L('a') | L('s') | L('e'),
    ['x' - 'a'] = L('z') | L('s') | L('d') | L('c'),
    ['y' - 'a'] = L('t') | L('g') | L('h') | L('u') | L('i'),
    ['z' - 'a'] = L('a') | L('s') | L('x'),
};

static bool has_letter(uint32_t letters, char letter)
{
    return letters >> (letter - 'a') & 1;
}

static bool is_vowel(char letter)
{
    return has_letter(L('a') | L('e') | L('i') | L('o') | L('u') | L('y'), letter);
}

static unsigned smaller_cost(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the cost of typed letter j in place of intended letter i (both 0-based). */
static unsigned cost_of_exchange(const struct slips *slips, char meant, size_t i, size_t j)
{
    char typed = slips->typed.ptr[j];
    unsigned front = i == 0 || j == 0 ? SLIP_AT_FRONT : 0;
    if (meant == typed)
        return 0;
    if (is_vowel(meant) && is_vowel(typed))
        return SLIP_VOWEL + front;
    unsigned near_end = j + 2 >= slips->typed.len ? SLIP_NEAR_END : 0;
    return (has_letter(alike[meant - 'a'], typed) ? SLIP_ALIKE : SLIP_UNLIKE) + front + near_end;
}

static unsigned cost_of_loss(const struct slips *slips, size_t i, char letter)
{
    if (i == 0)
        return SLIP_LOST + SLIP_AT_FRONT;
    if (letter == slips->meant[i - 1])
        return SLIP_DOUBLED;
    return is_vowel(letter) ? SLIP_LOST_VOWEL : SLIP_LOST;
}

static unsigned cost_of_addition(const struct slips *slips, size_t j)
{
    if (j == 0)
        return SLIP_ADDED + SLIP_AT_FRONT;
    return slips->typed.ptr[j] == slips->typed.ptr[j - 1] ? SLIP_DOUBLED : SLIP_ADDED;
}

void wt__slips_begin(struct slips *slips, struct str typed, unsigned most)
{
    slips->typed = typed;
    slips->most = most;
    slips->costs[0][0] = slips->least[0] = 0;
    for (size_t j = 0; j < typed.len; j++) {
        slips->added[j] = (uint16_t)cost_of_addition(slips, j);
        slips->costs[0][j + 1] = (uint16_t)(slips->costs[0][j] + slips->added[j]);
        for (int letter = 0; letter < SLIPS_ALPHABET; letter++)
            slips->exchanged[letter][j] = (uint16_t)cost_of_exchange(slips, (char)('a' + letter), 1, j);
    }
    for (size_t at = 0; at < typed.len + SLIPS_BAND; at++) {
        slips->near[at] = 0;
        for (size_t j = at > NEAR ? at - NEAR : 0; j <= at + NEAR && j < typed.len; j++)
            slips->near[at] |= L(typed.ptr[j]);
    }
}

/* If the minimum cost so far leaves no room for an exchange, only letters typed nearby and a doubled letter are
 * affordable. */
uint32_t wt__slips_letters(const struct slips *slips, size_t at)
{
    uint32_t met = slips->near[at] | (at > 0 ? L(slips->meant[at - 1]) : 0);
    return slips->least[at] + (unsigned)SLIP_VOWEL > slips->most ? met : ALL_LETTERS;
}

unsigned wt__slips_add(struct slips *slips, size_t at, char letter)
{
    const char *typed = slips->typed.ptr, *meant = slips->meant;
    const uint16_t *before = slips->costs[at], *others = slips->exchanged[letter - 'a'];
    uint16_t *costs = slips->costs[at + 1];
    size_t first = at + 1 > SLIPS_BAND ? at + 1 - SLIPS_BAND : 0, end = at + 1 + SLIPS_BAND;
    unsigned least = SLIPS_FAR, front = cost_of_loss(slips, at, letter);
    if (!has_letter(wt__slips_letters(slips, at), letter))
        return SLIPS_FAR;
    slips->meant[at] = letter;
    end = end < slips->typed.len ? end : slips->typed.len;
    if (first == 0)
        costs[0] = (uint16_t)(least = before[0] + front);
    else
        costs[first - 1] = SLIPS_FAR;
    for (size_t j = first > 0 ? first - 1 : 0; j < end; j++) {
        unsigned other = at > 0 ? others[j] : cost_of_exchange(slips, letter, at, j);
        unsigned cost = smaller_cost(before[j] + other, before[j + 1] + front);
        cost = smaller_cost(cost, costs[j] + slips->added[j]);
        if (at > 0 && j > 0 && typed[j] == meant[at - 1] && typed[j - 1] == letter && letter != meant[at - 1])
            cost = smaller_cost(cost, slips->costs[at - 1][j - 1] + (unsigned)SLIP_SWAPPED);
        costs[j + 1] = (uint16_t)cost;
        least = smaller_cost(least, cost);
    }
    if (end < slips->typed.len)
        costs[end + 1] = SLIPS_FAR;
    slips->least[at + 1] = (uint16_t)least;
    /* The letter may be the first of a swapped pair. */
    for (size_t j = at > SLIPS_BAND ? at - SLIPS_BAND : 0; j + 1 < slips->typed.len && j < end; j++)
        if (typed[j + 1] == letter)
            least = smaller_cost(least, before[j] + (unsigned)SLIP_SWAPPED);
    return least;
}
