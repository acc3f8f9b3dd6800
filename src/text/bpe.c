/* bpe.c: splits text into words, and merges the tokens of each word.
 *
 *   merge table: slots { left u32, right u32, rank u32, result u32 }, open addressing, at most half full
 *
 * A word is a linked list of symbols in an array. A merge replaces the left symbol by the merged token and unlinks the
 * right symbol. Each symbol stores the rank of its pair with the next symbol. `least` stores the lowest rank of each
 * block of symbols. So a merge reads the lowest rank of every block, but the symbols of only a few blocks. The number
 * of steps per byte is bounded even for long words. */
#include "text/bpe.h"

#include <stdlib.h>

#include "base/memory.h"
#include "text/unicode.h"

#define NO_RANK UINT32_MAX
#define FREE UINT32_MAX /* value of merge_slot.left in an empty slot */

enum { BLOCK = 64, BLOCKS = BPE_MAX_WORD / BLOCK };

/* ---------------------------------------------------------------- merge table */

struct merge_slot {
    uint32_t left, right, rank, result;
};

static size_t merge_slot_of(uint32_t left, uint32_t right, size_t slot_count)
{
    uint64_t hash = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15U;
    return (size_t)((hash ^ hash >> 32) & (slot_count - 1));
}

/* Returns the slot of a pair, or a slot with rank NO_RANK if the pair is not in the table. */
static struct merge_slot find_merge(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    size_t at = merge_slot_of(left, right, bpe->slot_count);
    for (size_t probes = 0; probes < BPE_MAX_PROBES; probes++) {
        struct merge_slot slot;
        memcpy(&slot, bpe->slots + at * sizeof slot, sizeof slot);
        if (slot.left == left && slot.right == right && slot.result < bpe->token_count)
            return slot;
        if (slot.left == FREE)
            break;
        at = (at + 1) & (bpe->slot_count - 1);
    }
    return (struct merge_slot){left, right, NO_RANK, 0};
}

/* Fills the table. Returns false if a pair needs too many probes. */
static bool fill_merge_slots(struct merge_slot *slots, size_t slot_count, const struct bpe_merge *merges, size_t count)
{
    for (size_t i = 0; i < slot_count; i++)
        slots[i].left = FREE;
    for (size_t i = 0; i < count; i++) {
        size_t at = merge_slot_of(merges[i].left, merges[i].right, slot_count), probes = 1;
        while (slots[at].left != FREE && (slots[at].left != merges[i].left || slots[at].right != merges[i].right)) {
            if (++probes > BPE_MAX_PROBES)
                return false;
            at = (at + 1) & (slot_count - 1);
        }
        slots[at] = (struct merge_slot){merges[i].left, merges[i].right, (uint32_t)i, merges[i].result};
    }
    return true;
}

int wt__bpe_build_merges(struct buffer *out, const struct bpe_merge *merges, size_t count)
{
    size_t slot_count = 2, most = 64 * (count + 2);
    while (slot_count < 2 * count)
        slot_count *= 2;
    for (; slot_count <= most; slot_count *= 2) {
        struct merge_slot *slots = calloc(slot_count, sizeof *slots);
        bool filled = slots && fill_merge_slots(slots, slot_count, merges, count);
        if (filled)
            wt__buffer_append(out, slots, slot_count * sizeof *slots);
        free(slots);
        if (!slots || out->failed)
            return -1;
        if (filled)
            return 0;
    }
    return -1;
}

bool wt__bpe_open_merges(struct bpe *out, const void *section, size_t len)
{
    size_t count = len / sizeof(struct merge_slot);
    out->slots = section;
    out->slot_count = count;
    return count > 0 && len % sizeof(struct merge_slot) == 0 && (count & (count - 1)) == 0;
}

/* ---------------------------------------------------------------- merging */

struct symbol {
    uint32_t id;   /* token */
    uint32_t rank; /* rank of the pair with the next symbol; NO_RANK if there is no merge, or this symbol is unlinked */
    uint32_t result;         /* id of the token that the pair merges to */
    uint16_t next, previous; /* END if there is no such symbol */
};

enum { END = UINT16_MAX };

struct merge_word_state {
    const struct bpe *bpe;
    struct pieces *out;
    size_t len;             /* symbols of the word before merging */
    uint32_t least[BLOCKS]; /* lowest rank of each block */
    struct symbol symbols[BPE_MAX_WORD];
};

static void look_up_pair(struct merge_word_state *w, size_t at)
{
    struct symbol *s = &w->symbols[at];
    s->rank = NO_RANK;
    if (s->next == END)
        return;
    struct merge_slot slot = find_merge(w->bpe, s->id, w->symbols[s->next].id);
    s->rank = slot.rank;
    s->result = slot.result;
}

static void rescan_block(struct merge_word_state *w, size_t block)
{
    size_t at = block * BLOCK, stop = at + BLOCK < w->len ? at + BLOCK : w->len;
    w->least[block] = NO_RANK;
    for (; at < stop; at++)
        if (w->symbols[at].rank < w->least[block])
            w->least[block] = w->symbols[at].rank;
}

/* Returns the index of the leftmost symbol with the lowest rank, or END if no pair can be merged. */
static size_t find_least_pair(const struct merge_word_state *w)
{
    size_t best = 0, blocks = (w->len + BLOCK - 1) / BLOCK;
    for (size_t block = 1; block < blocks; block++)
        if (w->least[block] < w->least[best])
            best = block;
    if (w->least[best] == NO_RANK)
        return END;
    for (size_t at = best * BLOCK;; at++)
        if (w->symbols[at].rank == w->least[best])
            return at;
}

static void merge_pair(struct merge_word_state *w, size_t at)
{
    struct symbol *s = &w->symbols[at], *gone = &w->symbols[s->next];
    size_t touched[3] = {at / BLOCK, s->next / BLOCK, at / BLOCK};
    s->id = s->result;
    s->next = gone->next;
    gone->rank = NO_RANK;
    if (s->next != END)
        w->symbols[s->next].previous = (uint16_t)at;
    look_up_pair(w, at);
    if (s->previous != END) {
        look_up_pair(w, s->previous);
        touched[2] = s->previous / BLOCK;
    }
    for (size_t i = 0; i < 3; i++)
        if (i == 0 || touched[i] != touched[0])
            rescan_block(w, touched[i]);
}

static void merge_word(struct merge_word_state *w)
{
    if (w->len == 0)
        return;
    for (size_t i = 0; i < w->len; i++) {
        w->symbols[i].next = i + 1 < w->len ? (uint16_t)(i + 1) : END;
        w->symbols[i].previous = i > 0 ? (uint16_t)(i - 1) : END;
    }
    for (size_t i = 0; i < w->len; i++)
        look_up_pair(w, i);
    for (size_t block = 0; block * BLOCK < w->len; block++)
        rescan_block(w, block);
    for (size_t at; (at = find_least_pair(w)) != END;)
        merge_pair(w, at);
    for (size_t at = 0; at != END; at = w->symbols[at].next)
        wt__pieces_put(w->out, (int32_t)w->symbols[at].id);
    w->len = 0;
}

static void add_byte(struct merge_word_state *w, unsigned char byte)
{
    int32_t id;
    memcpy(&id, w->bpe->bytes + byte * sizeof id, sizeof id);
    if (id >= 0 && (uint32_t)id < w->bpe->token_count)
        w->symbols[w->len++].id = (uint32_t)id;
}

static void add_characters(struct merge_word_state *w, const char *at, const char *end)
{
    while (at < end) {
        char bytes[4];
        size_t len = wt__utf8_put(wt__utf8_next(&at, end), bytes);
        if (w->len + len > BPE_MAX_WORD)
            merge_word(w);
        for (size_t i = 0; i < len; i++)
            add_byte(w, (unsigned char)bytes[i]);
    }
}

/* ---------------------------------------------------------------- splitting */

/* Letters and numbers of Unicode 16, which the reference tokenizer uses, that are missing in utf8proc 2.8 (Unicode
 * 15). */
static const struct later_class {
    uint32_t first, last;
    enum bpe_class class;
} later[] = {
    {0x1C89, 0x1C8A, BPE_LETTER},   {0xA7CB, 0xA7CD, BPE_LETTER},   {0xA7DA, 0xA7DC, BPE_LETTER},
    {0x105C0, 0x105F3, BPE_LETTER}, {0x10D40, 0x10D49, BPE_NUMBER}, {0x10D4A, 0x10D65, BPE_LETTER},
    {0x10D6F, 0x10D85, BPE_LETTER}, {0x10EC2, 0x10EC4, BPE_LETTER}, {0x11380, 0x11389, BPE_LETTER},
    {0x1138B, 0x1138B, BPE_LETTER}, {0x1138E, 0x1138E, BPE_LETTER}, {0x11390, 0x113B5, BPE_LETTER},
    {0x113B7, 0x113B7, BPE_LETTER}, {0x113D1, 0x113D1, BPE_LETTER}, {0x113D3, 0x113D3, BPE_LETTER},
    {0x116D0, 0x116E3, BPE_NUMBER}, {0x11BC0, 0x11BE0, BPE_LETTER}, {0x11BF0, 0x11BF9, BPE_NUMBER},
    {0x13460, 0x143FA, BPE_LETTER}, {0x16100, 0x1611D, BPE_LETTER}, {0x16130, 0x16139, BPE_NUMBER},
    {0x16D40, 0x16D6C, BPE_LETTER}, {0x16D70, 0x16D79, BPE_NUMBER}, {0x18CFF, 0x18CFF, BPE_LETTER},
    {0x1CCF0, 0x1CCF9, BPE_NUMBER}, {0x1E5D0, 0x1E5ED, BPE_LETTER}, {0x1E5F0, 0x1E5F0, BPE_LETTER},
    {0x1E5F1, 0x1E5FA, BPE_NUMBER}, {0x2EBF0, 0x2EE5D, BPE_LETTER},
};

enum bpe_class wt__bpe_class(uint32_t c)
{
    if (c < 0x80) {
        if ((c | 0x20) - 'a' < 26)
            return BPE_LETTER;
        if (c - '0' < 10)
            return BPE_NUMBER;
        return c == ' ' || (c >= 9 && c <= 13) ? BPE_BLANK : BPE_OTHER;
    }
    if (wt__unicode_blank(c))
        return BPE_BLANK;
    enum unicode_kind kind = wt__unicode_kind(c);
    if (kind == UNICODE_LETTER || kind == UNICODE_UPPER)
        return BPE_LETTER;
    if (kind == UNICODE_DIGIT)
        return BPE_NUMBER;
    for (size_t i = 0; i < sizeof later / sizeof *later && c >= later[i].first; i++)
        if (c <= later[i].last)
            return later[i].class;
    return BPE_OTHER;
}

int wt__bpe_byte_of(uint32_t c)
{
    if (c > 0x20 && c < 0x100 && !(c >= 0x7F && c <= 0xA0) && c != 0xAD)
        return (int)c; /* printable bytes represent themselves */
    /* All other bytes follow Latin-1 in order: 00..20, 7F..A0, AD. */
    if (c >= 0x100 && c <= 0x120)
        return (int)c - 0x100;
    if (c >= 0x121 && c <= 0x142)
        return (int)c - 0x121 + 0x7F;
    return c == 0x143 ? 0xAD : -1;
}

/* Returns the length of the English contraction ('s, 'll, ...) at `at`, or 0 if there is no contraction. */
static size_t measure_contraction(const char *at, const char *end)
{
    static const char *const tails[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    struct str rest = {at + 1, (size_t)(end - at) - 1};
    for (size_t i = 0; *at == '\'' && i < sizeof tails / sizeof *tails; i++)
        if (wt__str_starts(rest, wt__str(tails[i])))
            return 1 + strlen(tails[i]);
    return 0;
}

static enum bpe_class read_bpe_class(const char **at, const char *end)
{
    return wt__bpe_class(wt__utf8_next(at, end));
}

/* Returns the end of the word at `at`. prefixed: true if a space is added before the word (bpe.prefix_space). */
static const char *find_bpe_word_end(const char *at, const char *end, bool prefixed)
{
    size_t short_form = prefixed ? 0 : measure_contraction(at, end);
    const char *stop = at, *last = at;
    enum bpe_class class;
    if (short_form > 0)
        return at + short_form;
    class = read_bpe_class(&stop, end);
    if (*at == ' ' && stop < end) { /* A single space belongs to the word after it. */
        const char *behind = stop;
        enum bpe_class next = read_bpe_class(&behind, end);
        if (next != BPE_BLANK) {
            class = next;
            stop = behind;
        }
    }
    for (const char *behind = stop; behind < end && read_bpe_class(&behind, end) == class; stop = behind)
        last = stop;
    /* The last of several blanks belongs to the word after them. */
    return class == BPE_BLANK && stop < end && (last > at || prefixed) ? last : stop;
}

void wt__bpe_add(const struct bpe *bpe, struct str text, struct pieces *out)
{
    struct merge_word_state w;
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    w.bpe = bpe;
    w.out = out;
    w.len = 0;
    for (bool prefixed = bpe->prefix_space && at < end && *at != ' '; at < end && !wt__pieces_full(out);) {
        const char *stop = find_bpe_word_end(at, end, prefixed);
        if (prefixed)
            add_byte(&w, ' ');
        add_characters(&w, at, stop);
        merge_word(&w);
        at = stop;
        prefixed = false;
    }
}
