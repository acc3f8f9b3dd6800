/* joined_requests.c: makes requests for several tools from requests for few: joins two or three of one data set, with
 * natural words between them, and gives them the tools of all. If most recorded requests need one tool, an encoder
 * learns that every text is near to a single tool. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "learn/examples.h"

enum {
    JOINED_MOST = 3,    /* maximum requests joined */
    JOINED_BYTES = 400, /* about the limit of an encoder in training, so that it reads the last request's words */
    JOINED_TOOLS = 8,   /* maximum in total */
    TRIES = 8           /* attempts to find a suitable request */
};
static const char *const joints[] = {". ", " and ", ", then ", "; also ", ", and "};

struct request_joiner {
    const struct example_set *from;
    size_t first, count; /* requests of the part */
    struct rng rng;
    struct buffer text;
    uint32_t tools[JOINED_TOOLS];
    size_t tool_count;
};

/* Removes the mark at the end of a sentence. */
static struct str strip_sentence_end(struct str text)
{
    text = wt__str_trim(text);
    while (text.len > 0 && strchr(".!?,;:", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Adds a request. False if the result would be too long, would need too many tools, or gains no tool. */
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

/* Joins two or three requests. False if no suitable ones were found. */
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

static bool open_union_set(struct example_set *set, size_t requests, size_t pairs)
{
    set->texts = wt__alloc_array(requests, sizeof *set->texts);
    set->starts = wt__alloc_array(requests + 1, sizeof *set->starts);
    set->tools = wt__alloc_array(pairs, sizeof *set->tools);
    set->times = wt__alloc_array(pairs, sizeof *set->times);
    if (set->starts)
        set->starts[0] = 0;
    return set->texts && set->starts && set->tools && set->times;
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
}

/* Appends the part's requests and up to `wanted` joined ones. Returns the number of joined ones, or SIZE_MAX if out of
 * memory. */
static size_t add_joined_part(struct request_joiner *j, size_t wanted, struct arena *arena, struct example_set *out)
{
    const struct example_set *from = j->from;
    size_t made = 0;
    for (size_t i = j->first; i < j->first + j->count; i++)
        append_request(out, from->texts[i], from->tools + from->starts[i], from->times + from->starts[i],
                       from->starts[i + 1] - from->starts[i]);
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
    bool whole = open_union_set(&out, train->count + all, train->starts[train->count] + all * JOINED_TOOLS);
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
    if (!whole)
        return wt__fail_nomem(err);
    examples->train = out;
    wt__examples_seal(examples);
    return 0;
}
