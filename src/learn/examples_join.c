/* examples_join.c: concatenates data sets, and generates joined requests (examples.h). Equal texts of different sets
 * stay separate requests, because each set has its own labels. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "learn/examples.h"

struct set_joining {
    struct examples *out;
    const struct examples *sets;
    const size_t *most; /* [count], or NULL */
    size_t count;
    struct rng rng;
    struct map dev; /* texts of the dev requests of all sets */
};

static bool copy_joined_request(struct set_joining *j, struct str text, struct str *copy)
{
    copy->ptr = wt__arena_copy(&j->out->arena, text);
    copy->len = text.len;
    return copy->ptr != NULL;
}

/* Allocates an empty set with room for requests, pairs, and wrong tools. Returns false if out of memory. */
static bool open_joined_set(struct example_set *set, size_t requests, size_t pairs, size_t wrong)
{
    set->texts = wt__alloc_array(requests, sizeof *set->texts);
    set->times = wt__alloc_array(pairs, sizeof *set->times);
    set->starts = wt__alloc_array(requests + 1, sizeof *set->starts);
    set->tools = wt__alloc_array(pairs, sizeof *set->tools);
    set->wrong_starts = wt__alloc_array(requests + 1, sizeof *set->wrong_starts);
    set->wrong = wt__alloc_array(wrong, sizeof *set->wrong);
    if (!set->texts || !set->times || !set->starts || !set->tools || !set->wrong_starts || !set->wrong)
        return false;
    set->starts[0] = set->wrong_starts[0] = 0;
    return true;
}

static int open_joined_examples(struct set_joining *j, wt_error *err)
{
    struct examples *out = j->out;
    size_t tools = 0, train = 0, dev = 0, train_pairs = 0, dev_pairs = 0, train_wrong = 0, dev_wrong = 0;
    for (size_t s = 0; s < j->count; s++) {
        tools += j->sets[s].tools;
        train += j->sets[s].train.count;
        dev += j->sets[s].dev.count;
        train_pairs += j->sets[s].train.starts[j->sets[s].train.count];
        dev_pairs += j->sets[s].dev.starts[j->sets[s].dev.count];
        train_wrong += j->sets[s].train.wrong_starts[j->sets[s].train.count];
        dev_wrong += j->sets[s].dev.wrong_starts[j->sets[s].dev.count];
    }
    if (tools >= UINT32_MAX || train_pairs > EXAMPLES_MAX || dev_pairs > EXAMPLES_MAX)
        return wt__fail(
            err, WT_ETOOLONG,
            "the data sets have %zu tools and %zu pairs of a request and a tool; at most %d pairs are allowed for "
            "training, and as many for dev",
            tools, train_pairs + dev_pairs, EXAMPLES_MAX);
    out->parts = wt__arena_array(&out->arena, struct example_part, j->count);
    out->ids = wt__alloc_array(tools, sizeof *out->ids);
    out->providers = wt__alloc_array(tools, sizeof *out->providers);
    out->names = wt__alloc_array(tools, sizeof *out->names);
    bool whole = out->parts && out->ids && out->providers && out->names &&
                 open_joined_set(&out->train, train, train_pairs, train_wrong) &&
                 open_joined_set(&out->dev, dev, dev_pairs, dev_wrong);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++) {
        out->texts[t] = wt__alloc_array(tools, sizeof *out->texts[t]);
        whole &= out->texts[t] != NULL;
    }
    out->pairs = wt__alloc_array(tools, sizeof *out->pairs);
    whole &= out->pairs != NULL;
    return whole ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- copying */

static bool add_set_tools(struct set_joining *j, const struct examples *set)
{
    struct examples *out = j->out;
    bool whole = true;
    for (size_t row = 0; row < set->tools; row++) {
        for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
            whole &= copy_joined_request(j, set->texts[t][row], &out->texts[t][out->tools]);
        bool apart = set->pairs != set->texts[0];
        if (apart)
            whole &= copy_joined_request(j, set->pairs[row], &out->pairs[out->tools]);
        else
            out->pairs[out->tools] = out->texts[0][out->tools];
        whole &= copy_joined_request(j, set->names[row], &out->names[out->tools]);
        out->providers[out->tools] = set->providers[row];
        out->ids[out->tools++] = set->ids[row];
    }
    return whole;
}

/* Appends the wrong tools of request i of a set to the last request, and adds `base` to their rows. */
static void copy_wrong_tools(struct example_set *out, const struct example_set *from, size_t i, size_t base)
{
    size_t at = out->wrong_starts[out->count - 1];
    for (size_t l = from->wrong_starts[i]; l < from->wrong_starts[i + 1]; l++)
        out->wrong[at++] = (uint32_t)base + from->wrong[l];
    out->wrong_starts[out->count] = at;
}

/* Appends request i of a set, and adds `base` to its labels. */
static bool copy_request(struct set_joining *j, struct example_set *out, const struct example_set *from, size_t i,
                         size_t base)
{
    size_t at = out->starts[out->count];
    bool whole = copy_joined_request(j, from->texts[i], &out->texts[out->count]);
    for (size_t l = from->starts[i]; l < from->starts[i + 1]; l++) {
        out->times[at] = from->times[l];
        out->tools[at++] = (uint32_t)base + from->tools[l];
    }
    out->starts[++out->count] = at;
    copy_wrong_tools(out, from, i, base);
    return whole;
}

/* Appends the training requests of a set, except those that are dev in any set. If more than `most` remain, appends a
 * seeded sample of `most` requests in their order. most: 0 for no maximum. Returns false if out of memory. */
static bool add_training_requests(struct set_joining *j, const struct example_set *train, size_t most, size_t base)
{
    WT_AUTO_FREE uint32_t *left = wt__alloc_array(train->count, sizeof *left), *drawn = NULL;
    size_t count = 0;
    if (!left)
        return false;
    for (size_t i = 0; i < train->count; i++) {
        if (wt__map_get(&j->dev, train->texts[i]))
            j->out->withheld++;
        else
            left[count++] = (uint32_t)i;
    }
    if (most > 0 && count > most) {
        drawn = wt__alloc_array(count, sizeof *drawn);
        if (!drawn)
            return false;
        wt__rng_draw(&j->rng, drawn, count, most);
        wt__sort_u32(drawn, most);
        for (size_t i = 0; i < most; i++)
            left[i] = left[drawn[i]]; /* drawn[i] >= i */
        count = most;
    }
    for (size_t i = 0; i < count; i++)
        if (!copy_request(j, &j->out->train, train, left[i], base))
            return false;
    return true;
}

static bool add_set_part(struct set_joining *j, size_t s)
{
    const struct examples *set = &j->sets[s];
    struct examples *out = j->out;
    size_t base = out->tools;
    bool whole = add_set_tools(j, set) && add_training_requests(j, &set->train, j->most ? j->most[s] : 0, base);
    for (size_t i = 0; whole && i < set->dev.count; i++)
        whole = copy_request(j, &out->dev, &set->dev, i, base);
    out->unknown_labels += set->unknown_labels;
    out->barren += set->barren;
    const char *name = wt__arena_copy(&out->arena, wt__str(set->parts[0].name));
    out->parts[out->part_count++] =
        (struct example_part){.tools = out->tools, .train = out->train.count, .dev = out->dev.count, .name = name};
    return whole && name;
}

/* Sets j->out->source to the sources of all sets, separated by ", ". Collects the texts of all dev requests in j->dev.
 */
static bool add_names(struct set_joining *j)
{
    struct buffer names = {0};
    bool whole = true;
    for (size_t s = 0; s < j->count; s++) {
        wt__buffer_printf(&names, "%s%s", s ? ", " : "", j->sets[s].source);
        for (size_t i = 0; whole && i < j->sets[s].dev.count; i++)
            whole = wt__map_insert(&j->dev, j->sets[s].dev.texts[i], 0, NULL);
    }
    j->out->source = names.failed ? NULL : wt__arena_copy(&j->out->arena, wt__buffer_view(&names));
    wt__buffer_dispose(&names);
    return whole && j->out->source;
}

int wt__examples_join(struct examples *out, const struct examples *sets, const size_t *most, size_t count,
                      uint64_t seed, wt_error *err)
{
    struct set_joining j = {.out = out, .sets = sets, .count = count, .most = most};
    *out = (struct examples){0};
    wt__rng_seed(&j.rng, seed);
    int rc = open_joined_examples(&j, err);
    if (rc == 0 && !add_names(&j))
        rc = wt__fail_nomem(err);
    for (size_t s = 0; rc == 0 && s < count; s++)
        if (!add_set_part(&j, s))
            rc = wt__fail_nomem(err);
    if (rc == 0 && out->train.count == 0 && out->withheld > 0)
        rc = wt__fail(err, WT_EEMPTY, "all training requests of %s are dev requests as well", out->source);
    if (rc == 0)
        wt__examples_seal(out);
    wt__map_dispose(&j.dev);
    if (rc < 0)
        wt__examples_dispose(out);
    return rc;
}

/* ---------------------------------------------------------------- joined requests */

/* Joined requests need several tools. They are useful if most recorded requests need one tool. An encoder that is
 * trained only on requests for one tool learns that every text is near to a single tool. */

enum {
    JOINED_MOST = 3,    /* maximum number of requests in a joined request */
    JOINED_BYTES = 400, /* maximum length, so that an encoder in training reads a joined request to its end */
    JOINED_TOOLS = 8,   /* maximum number of tools of a joined request */
    TRIES = 8           /* requests that are tried for one joined request */
};
static const char *const joints[] = {". ", " and ", ", then ", "; also ", ", and "};

struct request_joiner {
    const struct example_set *from;
    size_t first, count; /* requests of the part */
    struct rng rng;
    struct buffer text;           /* the joined request */
    uint32_t tools[JOINED_TOOLS]; /* [tool_count] its tools, ascending */
    size_t tool_count;
};

/* Removes blanks around the text, and punctuation at its end. */
static struct str strip_sentence_end(struct str text)
{
    text = wt__str_trim(text);
    while (text.len > 0 && strchr(".!?,;:", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Appends a request to the joined request. Returns false and changes nothing if the request is empty or adds no tool,
 * or if the result would be too long or have too many tools. */
static bool add_to_joined_request(struct request_joiner *j, size_t request, const char *joint)
{
    uint32_t tools[JOINED_TOOLS];
    size_t first = j->from->starts[request], count = j->from->starts[request + 1] - first;
    struct str text = strip_sentence_end(j->from->texts[request]);
    if (text.len == 0 || j->text.len + strlen(joint) + text.len > JOINED_BYTES || j->tool_count + count > JOINED_TOOLS)
        return false;
    memcpy(tools, j->tools, j->tool_count * sizeof *tools);
    memcpy(tools + j->tool_count, j->from->tools + first, count * sizeof *tools);
    count = wt__sort_unique_u32(tools, j->tool_count + count);
    if (count == j->tool_count)
        return false;
    memcpy(j->tools, tools, count * sizeof *tools);
    j->tool_count = count;
    wt__buffer_text(&j->text, joint);
    wt__buffer_str(&j->text, text);
    return true;
}

/* Joins two or three random requests of the part. Returns false if fewer than two fit together. */
static bool join_some_requests(struct request_joiner *j)
{
    size_t wanted = 2 + (size_t)wt__rng_below(&j->rng, JOINED_MOST - 1), taken = 0;
    wt__buffer_clear(&j->text);
    j->tool_count = 0;
    for (unsigned tries = 0; tries < TRIES && taken < wanted; tries++) {
        size_t request = j->first + (size_t)wt__rng_below(&j->rng, j->count);
        const char *joint = joints[wt__rng_below(&j->rng, sizeof joints / sizeof *joints)];
        taken += add_to_joined_request(j, request, taken ? joint : "");
    }
    return taken > 1;
}

static void append_request(struct example_set *out, struct str text, const uint32_t *tools, const uint32_t *times,
                           size_t count)
{
    size_t at = out->starts[out->count];
    for (size_t i = 0; i < count; i++) {
        out->tools[at + i] = tools[i];
        out->times[at + i] = times ? times[i] : 1;
    }
    out->texts[out->count++] = text;
    out->starts[out->count] = at + count;
    out->wrong_starts[out->count] = out->wrong_starts[out->count - 1];
}

/* Appends the part's requests and up to `wanted` joined requests. Returns the number of joined requests, or SIZE_MAX if
 * out of memory. */
static size_t add_joined_part(struct request_joiner *j, size_t wanted, struct arena *arena, struct example_set *out)
{
    const struct example_set *from = j->from;
    size_t made = 0;
    for (size_t i = j->first; i < j->first + j->count; i++) {
        append_request(out, from->texts[i], from->tools + from->starts[i], from->times + from->starts[i],
                       from->starts[i + 1] - from->starts[i]);
        copy_wrong_tools(out, from, i, 0);
    }
    for (size_t i = 0; i < wanted; i++) {
        if (!join_some_requests(j))
            continue;
        char *copy = j->text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&j->text));
        if (!copy)
            return SIZE_MAX;
        append_request(out, (struct str){copy, j->text.len}, j->tools, NULL, j->tool_count);
        made++;
    }
    return made;
}

int wt__examples_join_requests(struct examples *examples, double share, uint64_t seed, wt_error *err)
{
    const struct example_set *train = &examples->train;
    struct example_set out = {0};
    struct request_joiner j = {.from = train};
    double each = share / (1 - share); /* joined requests per request */
    size_t all = (size_t)((double)train->count * each);
    bool whole = open_joined_set(&out, train->count + all, train->starts[train->count] + all * JOINED_TOOLS,
                                 train->wrong_starts[train->count]);
    wt__rng_seed(&j.rng, seed);
    for (size_t p = 0; whole && p < examples->part_count; p++) {
        struct example_part *part = &examples->parts[p];
        j.count = part->train - j.first;
        part->joined = add_joined_part(&j, (size_t)((double)j.count * each), &examples->arena, &out);
        whole = part->joined != SIZE_MAX;
        j.first = part->train;
        part->train = out.count;
    }
    wt__buffer_dispose(&j.text);
    wt__example_set_dispose(whole ? &examples->train : &out);
    WT_CHECK_ALLOC(whole, err);
    examples->train = out;
    wt__examples_seal(examples);
    return 0;
}
