#include "retrieve/slips.h"

#include <stdbool.h>

/* For each letter those that lie beside it on the keyboards of English, or sound like it. */
static const char *const alike[26] = {
    ['a' - 'a'] = "qwsz",  ['b' - 'a'] = "vghnp",  ['c' - 'a'] = "xdfvks",  ['d' - 'a'] = "serfcxt",
    ['e' - 'a'] = "wsdr",  ['f' - 'a'] = "drtgcv", ['g' - 'a'] = "ftyhbv",  ['h' - 'a'] = "gyujnb",
    ['i' - 'a'] = "ujkoy", ['j' - 'a'] = "huikmn", ['k' - 'a'] = "jiolmc",  ['l' - 'a'] = "kop",
    ['m' - 'a'] = "njk",   ['n' - 'a'] = "bhjm",   ['o' - 'a'] = "iklp",    ['p' - 'a'] = "olb",
    ['q' - 'a'] = "wa",    ['r' - 'a'] = "edft",   ['s' - 'a'] = "awedxzc", ['t' - 'a'] = "rfgyd",
    ['u' - 'a'] = "yhji",  ['v' - 'a'] = "cfgb",   ['w' - 'a'] = "qase",    ['x' - 'a'] = "zsdc",
    ['y' - 'a'] = "tghui", ['z' - 'a'] = "asx"};

static bool is_vowel(char letter)
{
    return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o' || letter == 'u' || letter == 'y';
}

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The typed letter number j, from 0, in place of the meant one. */
static unsigned exchanged(const struct slips *slips, size_t i, size_t j)
{
    char meant = slips->meant[i], typed = slips->typed.ptr[j];
    unsigned front = i == 0 || j == 0 ? SLIP_AT_FRONT : 0;
    if (meant == typed)
        return 0;
    if (is_vowel(meant) && is_vowel(typed))
        return SLIP_VOWEL + front;
    unsigned near_end = j + 2 >= slips->typed.len ? SLIP_NEAR_END : 0;
    return (strchr(alike[meant - 'a'], typed) ? SLIP_ALIKE : SLIP_UNLIKE) + front + near_end;
}

static unsigned lost(const struct slips *slips, size_t i)
{
    if (i == 0)
        return SLIP_LOST + SLIP_AT_FRONT;
    if (slips->meant[i] == slips->meant[i - 1])
        return SLIP_DOUBLED;
    return is_vowel(slips->meant[i]) ? SLIP_LOST_VOWEL : SLIP_LOST;
}

static unsigned added(const struct slips *slips, size_t j)
{
    if (j == 0)
        return SLIP_ADDED + SLIP_AT_FRONT;
    return slips->typed.ptr[j] == slips->typed.ptr[j - 1] ? SLIP_DOUBLED : SLIP_ADDED;
}

void wt__slips_begin(struct slips *slips, struct str typed)
{
    slips->typed = typed;
    slips->costs[0][0] = 0;
    for (size_t j = 0; j < typed.len; j++)
        slips->costs[0][j + 1] = (uint16_t)(slips->costs[0][j] + added(slips, j));
}

unsigned wt__slips_add(struct slips *slips, size_t at, char letter)
{
    const char *typed = slips->typed.ptr, *meant = slips->meant;
    const uint16_t *before = slips->costs[at];
    uint16_t *costs = slips->costs[at + 1];
    slips->meant[at] = letter;
    costs[0] = (uint16_t)(before[0] + lost(slips, at));
    unsigned least = costs[0];
    for (size_t j = 0; j < slips->typed.len; j++) {
        unsigned cost = least_of(before[j] + exchanged(slips, at, j), before[j + 1] + lost(slips, at));
        cost = least_of(cost, costs[j] + added(slips, j));
        if (at > 0 && j > 0 && typed[j] == meant[at - 1] && typed[j - 1] == letter && letter != meant[at - 1])
            cost = least_of(cost, slips->costs[at - 1][j - 1] + (unsigned)SLIP_SWAPPED);
        costs[j + 1] = (uint16_t)cost;
        least = least_of(least, cost);
    }
    for (size_t j = 0; j < slips->typed.len; j++) /* the letter may be the first of two that were swapped */
        least = least_of(least, before[j] + (unsigned)SLIP_SWAPPED);
    return least;
}
