/* vocabulary.c: the tokens as a trie over bytes in level order.
 *
 *   header | labels [N] u8 | nodes [N + 1] { first_child u32, token i32 }
 *
 * Nodes are numbered level by level and, within one parent, by label; so a node's children are
 * first_child(n) .. first_child(n + 1) - 1, sorted, and no child count is stored. Node 0 is the root, the last node a
 * sentinel. Nine bytes a node: the 30,522 tokens of uncased BERT make about 0.7 MB, of which a request touches a few
 * pages.
 *
 * Longest match walks down once per piece and remembers the last token passed. Both searches use one trie: a later
 * piece starts at the node of "##" instead of the root.
 *
 * Safety: numbers from the blob are checked where they are used, because checking 80,000 nodes at open would cost more
 * than the request. A walk takes one byte of the word a step, so that cycles cannot hold it. */
#include "text/vocabulary.h"

#include <stdlib.h>

#include "base/memory.h"

static const char magic[8] = "WTVOCAB1";

enum {
    BYTE_ORDER_MARK = 0x01020304,
    NODE_BYTES = 8,
    LOWER_CASE = 1, /* bits of header.flags */
    STRIP_ACCENTS = 2,
    SPLIT_CJK = 4
};

struct header {
    char magic[8];
    uint32_t byte_order;
    uint32_t flags;
    uint32_t node_count;
    uint32_t token_count;
};

struct node {
    uint32_t first_child;
    int32_t token; /* -1: only a prefix */
};

static const struct str special_names[VOCABULARY_SPECIALS] = {
    {"[PAD]", 5}, {"[UNK]", 5}, {"[CLS]", 5}, {"[SEP]", 5}, {"[MASK]", 6},
};

static struct node node_at(const struct vocabulary *v, uint32_t index)
{
    struct node node;
    memcpy(&node, v->nodes + (size_t)index * NODE_BYTES, sizeof node);
    return node;
}

/* The child of `parent` under label, or 0. */
static uint32_t child(const struct vocabulary *v, uint32_t parent, unsigned char label)
{
    uint32_t low = node_at(v, parent).first_child, end = node_at(v, parent + 1).first_child;

    if (end > v->node_count)
        return 0;
    for (uint32_t high = end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (v->labels[middle] == label)
            return middle;
        if (v->labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static size_t longest_from(const struct vocabulary *v, uint32_t node, struct str word, int32_t *id)
{
    size_t best = 0;

    for (size_t i = 0; i < word.len; i++) {
        node = child(v, node, (unsigned char)word.ptr[i]);
        if (node == 0)
            break;
        int32_t token = node_at(v, node).token;
        if (token >= 0 && (uint32_t)token < v->token_count) {
            best = i + 1;
            *id = token;
        }
    }
    return best;
}

size_t wt__vocabulary_longest(const struct vocabulary *v, bool continues, struct str word, int32_t *id)
{
    if (continues && v->continuation == 0)
        return 0;
    return longest_from(v, continues ? v->continuation : 0, word, id);
}

int32_t wt__vocabulary_find(const struct vocabulary *v, struct str token)
{
    int32_t id = -1;
    return token.len > 0 && longest_from(v, 0, token, &id) == token.len ? id : -1;
}

int32_t wt__vocabulary_special_at(const struct vocabulary *v, struct str text, size_t *len)
{
    for (size_t i = 0; i < VOCABULARY_SPECIALS; i++)
        if (v->special[i] >= 0 && wt__str_starts(text, special_names[i])) {
            *len = special_names[i].len;
            return v->special[i];
        }
    return -1;
}

int wt__vocabulary_open(struct vocabulary *out, const void *blob, size_t len, wt_error *err)
{
    struct header header;

    if (len < sizeof header)
        return wt__fail(err, WT_EMODEL, "vocabulary: %zu bytes are too few", len);
    memcpy(&header, blob, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0)
        return wt__fail(err, WT_EMODEL, "vocabulary: not a packed vocabulary of this version");
    if (header.byte_order != BYTE_ORDER_MARK)
        return wt__fail(err, WT_EMODEL, "vocabulary: packed on a machine of another byte order");
    uint64_t need = sizeof header + (uint64_t)header.node_count + ((uint64_t)header.node_count + 1) * NODE_BYTES;
    if (header.node_count == 0 || need != len)
        return wt__fail(err, WT_EMODEL, "vocabulary: %zu bytes, %llu expected", len, (unsigned long long)need);
    if (header.token_count > VOCABULARY_MAX_TOKENS)
        return wt__fail(err, WT_EMODEL, "vocabulary: %u tokens, at most %zu", (unsigned)header.token_count,
                        VOCABULARY_MAX_TOKENS);

    *out = (struct vocabulary){.node_count = header.node_count, .token_count = header.token_count};
    out->labels = (const unsigned char *)blob + sizeof header;
    out->nodes = out->labels + header.node_count;
    out->options.lower_case = (header.flags & LOWER_CASE) != 0;
    out->options.strip_accents = (header.flags & STRIP_ACCENTS) != 0;
    out->options.split_cjk = (header.flags & SPLIT_CJK) != 0;
    for (size_t i = 0; i < VOCABULARY_SPECIALS; i++) {
        out->special[i] = wt__vocabulary_find(out, special_names[i]);
        if (out->special[i] < 0 && (i == VOCABULARY_UNK || i == VOCABULARY_CLS || i == VOCABULARY_SEP))
            return wt__fail(err, WT_EMODEL, "vocabulary: %s is missing", special_names[i].ptr);
    }
    uint32_t hash = child(out, 0, '#');
    out->continuation = hash == 0 ? 0 : child(out, hash, '#');
    return 0;
}

/* Building. */

struct token {
    struct str text;
    int32_t id;
};

struct tokens {
    struct token *items;
    size_t len, capacity;
};

static int by_text(const void *left, const void *right)
{
    const struct token *a = left, *b = right;
    size_t shorter = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = memcmp(a->text.ptr, b->text.ptr, shorter);

    if (order == 0)
        order = (a->text.len > b->text.len) - (a->text.len < b->text.len);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* One token a line. Empty lines keep their number but name nothing. */
static int read_tokens(struct tokens *out, uint32_t *lines, struct str text, wt_error *err)
{
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : text.ptr;

    for (*lines = 0; at < end; (*lines)++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str line = {at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end;
        if (*lines == VOCABULARY_MAX_TOKENS)
            return wt__fail_at(err, WT_ETOOLONG, (size_t)*lines + 1, 0, NULL, "vocabulary: over %zu tokens",
                               VOCABULARY_MAX_TOKENS);
        while (line.len > 0 && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
            line.len--;
        if (line.len == 0)
            continue;
        if (wt__grow((void **)&out->items, &out->capacity, out->len + 1, sizeof *out->items) != 0)
            return wt__fail_nomem(err);
        out->items[out->len++] = (struct token){line, (int32_t)*lines};
    }
    return 0;
}

/* The trie while it is made, level by level: range i is the sorted tokens below node i, all of `depth` bytes or
 * more, and alike in the first `depth`. */
struct range {
    uint32_t first, last;
};

struct trie {
    struct range *ranges;
    struct node *nodes;
    unsigned char *labels;
    size_t len, range_capacity, node_capacity, label_capacity;
};

static int add_node(struct trie *trie, unsigned char label, struct range range)
{
    size_t need = trie->len + 1;

    if (wt__grow((void **)&trie->ranges, &trie->range_capacity, need, sizeof *trie->ranges) != 0 ||
        wt__grow((void **)&trie->nodes, &trie->node_capacity, need, sizeof *trie->nodes) != 0 ||
        wt__grow((void **)&trie->labels, &trie->label_capacity, need, 1) != 0)
        return -1;
    trie->ranges[trie->len] = range;
    trie->nodes[trie->len] = (struct node){0, -1};
    trie->labels[trie->len++] = label;
    return 0;
}

/* Makes the children of node n, whose tokens agree in their first depth bytes. */
static int add_children(struct trie *trie, const struct tokens *tokens, size_t n, size_t depth)
{
    struct range range = trie->ranges[n];

    trie->nodes[n].first_child = (uint32_t)trie->len;
    /* Tokens that end here come first, the one with the highest id last among them. */
    for (; range.first < range.last && tokens->items[range.first].text.len == depth; range.first++)
        trie->nodes[n].token = tokens->items[range.first].id;
    while (range.first < range.last) {
        unsigned char label = (unsigned char)tokens->items[range.first].text.ptr[depth];
        uint32_t stop = range.first + 1;
        while (stop < range.last && (unsigned char)tokens->items[stop].text.ptr[depth] == label)
            stop++;
        if (add_node(trie, label, (struct range){range.first, stop}) != 0)
            return -1;
        range.first = stop;
    }
    return 0;
}

static int build_trie(struct trie *trie, const struct tokens *tokens)
{
    if (add_node(trie, 0, (struct range){0, (uint32_t)tokens->len}) != 0)
        return -1;
    size_t depth = 0, level_end = 1;
    for (size_t n = 0; n < trie->len; n++) {
        if (n == level_end) {
            depth++;
            level_end = trie->len;
        }
        if (add_children(trie, tokens, n, depth) != 0)
            return -1;
    }
    return 0;
}

static void write_blob(struct buffer *blob, const struct trie *trie, struct header header)
{
    struct node sentinel = {(uint32_t)trie->len, -1};

    header.node_count = (uint32_t)trie->len;
    wt__buffer_append(blob, &header, sizeof header);
    wt__buffer_append(blob, trie->labels, trie->len);
    wt__buffer_append(blob, trie->nodes, trie->len * sizeof *trie->nodes);
    wt__buffer_append(blob, &sentinel, sizeof sentinel);
}

int wt__vocabulary_build(struct buffer *blob, struct str text, const struct vocabulary_options *options, wt_error *err)
{
    struct tokens tokens = {0};
    struct trie trie = {0};
    struct header header = {.byte_order = BYTE_ORDER_MARK};
    struct vocabulary built;
    size_t start = blob->len;
    int rc = 0;

    if (text.len > VOCABULARY_MAX_BYTES)
        return wt__fail(err, WT_ETOOLONG, "vocabulary: %zu bytes, at most %zu", text.len, VOCABULARY_MAX_BYTES);
    rc = read_tokens(&tokens, &header.token_count, text, err);
    if (rc < 0)
        goto done;
    if (tokens.len > 0)
        qsort(tokens.items, tokens.len, sizeof *tokens.items, by_text);

    memcpy(header.magic, magic, sizeof magic);
    header.flags = (options->lower_case ? LOWER_CASE : 0U) | (options->strip_accents ? STRIP_ACCENTS : 0U) |
                   (options->split_cjk ? SPLIT_CJK : 0U);
    if (build_trie(&trie, &tokens) != 0) {
        rc = wt__fail_nomem(err);
        goto done;
    }
    write_blob(blob, &trie, header);
    rc = blob->failed ? wt__fail_nomem(err) : wt__vocabulary_open(&built, blob->ptr + start, blob->len - start, err);
done:
    free(trie.ranges);
    free(trie.nodes);
    free(trie.labels);
    free(tokens.items);
    return rc;
}
