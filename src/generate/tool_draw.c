/* tool_draw.c: draws the tools of a request from the catalogue (requests.h). */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/topk.h"
#include "generate/internal.h"
#include "generate/requests.h"
#include "llm/prompt.h"
#include "nn/kernels/kernels.h"

enum { DESCRIPTION_BYTES = PIECE_DESCRIPTION_BYTES_MAX };
static const double TWIN = 0.95; /* cosine from which two tools are near-duplicates */

const char *wt__within_name(enum draw_within within)
{
    static const char *const names[WITHINS] = {"provider", "category", "any"};
    return names[within];
}

/* Sets *out to the number of the name, from 1 in the order of first use; to 0 for "". */
static int assign_name_number(struct map *names, const char *name, uint32_t *out, wt_error *err)
{
    *out = 0;
    if (!name[0])
        return 0;
    const uint32_t *place = wt__map_insert(names, wt__str(name), (uint32_t)names->len + 1, NULL);
    WT_CHECK_ALLOC(place, err);
    *out = *place;
    return 0;
}

/* True if an id can be a field of qrels/SPLIT.tsv. */
static bool fits_qrels_file(const char *id)
{
    return !strpbrk(id, "\t\r\n");
}

static int read_draw_tools(struct tool_draw *draw, wt_error *err)
{
    WT_CLEANUP(wt__map_dispose) struct map providers = {0}, categories = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    draw->tools = wt__arena_array(&draw->arena, struct draw_tool, draw->all->len + 1);
    WT_CHECK_ALLOC(draw->tools, err);
    for (size_t i = 0; i < draw->all->len; i++) {
        const wt_tool *tool = draw->all->items[i];
        struct draw_tool *out = &draw->tools[draw->count];
        wt__buffer_clear(&line);
        wt__piece_line(&line, wt__str(tool->description), DESCRIPTION_BYTES);
        draw->left_out += line.len == 0 || !fits_qrels_file(tool->id);
        if (!fits_qrels_file(tool->id))
            continue;
        *out = (struct draw_tool){.tool = tool, .name = wt__str(tool->export_name), .lacks_description = line.len == 0};
        out->description = (struct str){wt__arena_copy(&draw->arena, wt__buffer_view(&line)), line.len};
        WT_CHECK_ALLOC(!line.failed && out->description.ptr, err);
        WT_TRY(assign_name_number(&providers, tool->provider, &out->provider, err));
        WT_TRY(assign_name_number(&categories, tool->category, &out->category, err));
        draw->count++;
    }
    return 0;
}

static int encode_draw_tools(struct tool_draw *draw, const struct encoder *encoder, struct progress *progress,
                             wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena texts = {0};
    draw->dim = wt__encoder_dim(encoder);
    draw->vectors = wt__alloc_aligned(draw->count * draw->dim + 1, sizeof *draw->vectors);
    struct str *lines = wt__arena_array(&texts, struct str, draw->count + 1);
    WT_CHECK_ALLOC(draw->vectors && lines, err);
    for (size_t i = 0; i < draw->count; i++) {
        const struct str name = wt__str(draw->tools[i].tool->name), said = draw->tools[i].description;
        lines[i] = wt__prompt_tool(name, said, name.len + said.len + 2, &texts);
        WT_CHECK_ALLOC(lines[i].ptr, err);
    }
    if (wt__progress_phase(progress, "reading", draw->count))
        return wt__fail_cancelled(err);
    return wt__encode_many(encoder, TEXT_TOOL, lines, draw->count, 0, draw->vectors, progress, err);
}

double wt__tool_draw_cosine(const struct tool_draw *draw, size_t a, size_t b)
{
    return wt__kernels()->dot_f32(draw->vectors + a * draw->dim, draw->vectors + b * draw->dim, draw->dim);
}

bool wt__tool_draw_twins(const struct tool_draw *draw, size_t a, size_t b)
{
    return (!draw->tools[a].lacks_description &&
            wt__str_equal(draw->tools[a].description, draw->tools[b].description)) ||
           wt__tool_draw_cosine(draw, a, b) >= TWIN;
}

static bool are_compatible(const struct tool_draw *draw, size_t first, size_t other)
{
    const struct draw_tool *a = &draw->tools[first], *b = &draw->tools[other];
    if (draw->settings.within == WITHIN_PROVIDER)
        return a->provider > 0 && a->provider == b->provider;
    return draw->settings.within == WITHIN_ANY ||
           (a->category > 0 && a->category == b->category && a->provider > 0 && b->provider > 0);
}

enum draw_within wt__tool_draw_within(const struct tool_draw *draw, const size_t *places, size_t count)
{
    const struct draw_tool *first = &draw->tools[places[0]];
    bool provider = first->provider > 0, category = first->category > 0;
    for (size_t i = 1; i < count; i++) {
        provider &= draw->tools[places[i]].provider == first->provider;
        category &= draw->tools[places[i]].category == first->category;
    }
    return provider ? WITHIN_PROVIDER : category ? WITHIN_CATEGORY : WITHIN_ANY;
}

/* True for a name that would not occur in a request by chance. */
static bool is_written_as_code(struct str name)
{
    bool code = false;
    for (size_t i = 1; i < name.len; i++) {
        const char c = name.ptr[i], before = name.ptr[i - 1];
        code |= c == '_' || c == '.' || c == '/' || (c >= '0' && c <= '9') ||
                (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z');
    }
    return code && name.len >= 4;
}

static bool contains_code_name(struct str text, struct str name)
{
    return is_written_as_code(name) && text.len > 0 && memmem(text.ptr, text.len, name.ptr, name.len);
}

bool wt__tool_draw_has_name(const struct tool_draw *draw, const size_t *places, size_t count, struct str text)
{
    bool says = false;
    for (size_t i = 0; i < count; i++) {
        const struct draw_tool *tool = &draw->tools[places[i]];
        says |= contains_code_name(text, tool->name) || contains_code_name(text, wt__str(tool->tool->name));
    }
    return says;
}

void wt__tool_draw_digest(const struct tool_draw *draw, char hex[65])
{
    struct sha256 sha;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < draw->count; i++) {
        const wt_tool *tool = draw->tools[i].tool;
        wt__sha256_update(&sha, tool->id, strlen(tool->id) + 1);
        wt__sha256_update(&sha, tool->sha256, strlen(tool->sha256));
    }
    wt__generate_end_digest(&sha, hex);
}

/* Sets is_able of each tool: true if its group (provider, category or all tools) has another tool to draw with it.
 * Within a category, the group must have tools of two providers. With settings.single, a second tool is not needed.
 * The first pass counts the tools and providers of each group. The second pass marks the tools. */
static int mark_able_tools(struct tool_draw *draw, wt_error *err)
{
    struct group {
        size_t tools;
        uint32_t provider;
        bool several;
    } *groups = calloc(2 * (draw->count + 2), sizeof *groups);
    WT_CHECK_ALLOC(groups, err);
    const enum draw_within within = draw->settings.within;
    draw->able_count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < draw->count; i++) {
            struct draw_tool *tool = &draw->tools[i];
            const uint32_t number = within == WITHIN_PROVIDER   ? tool->provider
                                    : within == WITHIN_CATEGORY ? tool->category
                                                                : 1;
            struct group *group = &groups[2 * number + tool->is_out];
            if (tool->lacks_description || number == 0 || (within == WITHIN_CATEGORY && tool->provider == 0))
                continue;
            if (pass == 0) {
                group->several |= group->tools > 0 && group->provider != tool->provider;
                group->provider = tool->provider;
                group->tools++;
                continue;
            }
            tool->is_able =
                draw->settings.single || (group->tools > 1 && (within != WITHIN_CATEGORY || group->several));
            draw->able_count += tool->is_able && !tool->is_out;
        }
    free(groups);
    return 0;
}

/* True if `other` is taken out together with `first`. Within "provider" or "category", the whole group is taken out,
 * unless draws have a single tool. */
static bool is_taken_along(const struct tool_draw *draw, size_t first, size_t other)
{
    const bool whole = draw->settings.within != WITHIN_ANY && !draw->settings.single;
    return other == first || (whole && are_compatible(draw, first, other));
}

static size_t count_taken_along(const struct tool_draw *draw, size_t place)
{
    size_t size = 0;
    for (size_t i = 0; i < draw->count; i++)
        size += !draw->tools[i].is_out && is_taken_along(draw, place, i);
    return size;
}

/* Takes out a tool, the tools taken along with it, and the near-duplicates of all these. */
static void take_tool_out(struct tool_draw *draw, size_t place)
{
    for (size_t i = 0; i < draw->count; i++)
        for (size_t twin = 0; is_taken_along(draw, place, i) && twin < draw->count; twin++)
            if (!draw->tools[twin].is_out && (twin == i || wt__tool_draw_twins(draw, i, twin))) {
                draw->tools[twin].is_out = true;
                draw->taken_out++;
            }
}

/* Takes out the configured share of tools. Skips a provider or category that would bring the total above 1.5 times the
 * share, or would leave no able tool. If all are skipped, takes out the smallest. */
static int take_out_share(struct tool_draw *draw, struct rng *rng, wt_error *err)
{
    const size_t least = draw->settings.single ? 1 : 2,
                 share = (size_t)(draw->settings.take_out * (double)draw->count + 0.5),
                 wanted = share > least ? share : least, most = wanted + wanted / 2;
    size_t smallest = draw->count, smallest_size = draw->able_count;
    WT_AUTO_FREE uint32_t *order = wt__alloc_array(draw->count, sizeof *order);
    WT_CHECK_ALLOC(order, err);
    wt__rng_draw(rng, order, draw->count, draw->count - 1);
    for (size_t i = 0; i < draw->count && draw->taken_out < wanted; i++) {
        if (!draw->tools[order[i]].is_able || draw->tools[order[i]].is_out)
            continue;
        const size_t size = count_taken_along(draw, order[i]);
        if (draw->taken_out + size <= most && draw->taken_out + size < draw->able_count)
            take_tool_out(draw, order[i]);
        else if (size < smallest_size) {
            smallest = order[i];
            smallest_size = size;
        }
    }
    if (draw->taken_out == 0 && smallest < draw->count)
        take_tool_out(draw, smallest);
    if (draw->taken_out == 0)
        return wt__fail(err, WT_EEMPTY, "no %s can be taken out for unanswerable requests: there is only one",
                        wt__within_name(draw->settings.within));
    return mark_able_tools(draw, err);
}

int wt__tool_draw_open(struct tool_draw *out, wt_engine *engine, const struct encoder *encoder,
                       const struct draw_settings *settings, struct rng *rng, struct progress *progress, wt_error *err)
{
    *out = (struct tool_draw){.settings = *settings};
    WT_TRY(wt_list(engine, NULL, &out->all, err));
    if (out->all->len == 0)
        return wt__fail(err, WT_EEMPTY, "the store has no tools; add some with `whichtool add`");
    WT_TRY(read_draw_tools(out, err));
    WT_TRY(encode_draw_tools(out, encoder, progress, err));
    WT_TRY(mark_able_tools(out, err));
    if (settings->take_out > 0 && out->able_count > 0)
        WT_TRY(take_out_share(out, rng, err));
    bool any = settings->within == WITHIN_ANY;
    if (out->able_count == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no request can be made: of %zu tools, %zu lack a description or a usable id, %zu are taken "
                        "out, and %s%s%s",
                        out->all->len, out->left_out, out->taken_out,
                        any ? "fewer than two are left" : "no two of the rest belong together within ",
                        any ? "" : wt__within_name(settings->within), any ? "" : "; --within any allows all");
    return 0;
}

void wt__tool_draw_dispose(struct tool_draw *draw)
{
    wt_tools_free(draw->all);
    free(draw->vectors);
    wt__arena_dispose(&draw->arena);
    *draw = (struct tool_draw){0};
}

static bool has_few_usages(const struct tool_draw *draw, size_t place)
{
    return draw->tools[place].used < draw->settings.usages;
}

size_t wt__tool_draw_count_short(const struct tool_draw *draw)
{
    size_t count = 0;
    for (size_t i = 0; i < draw->count; i++)
        count += draw->tools[i].is_able && !draw->tools[i].is_out && has_few_usages(draw, i);
    return count;
}

/* Draws one able tool with too few usages, or any able tool if all have enough. out: true to draw from the tools taken
 * out of the catalogue. */
static size_t draw_first_tool(const struct tool_draw *draw, struct rng *rng, bool out, uint32_t *list)
{
    size_t count = 0;
    for (int steered = 1; steered >= 0 && count == 0; steered--)
        for (size_t i = 0; i < draw->count; i++)
            if (draw->tools[i].is_able && draw->tools[i].is_out == out && (!steered || has_few_usages(draw, i)))
                list[count++] = (uint32_t)i;
    return list[wt__rng_below(rng, count)];
}

/* Keeps the DRAW_NEAR places of list [count] nearest to the tool `first`. Returns their number. */
static size_t keep_nearest_tools(const struct tool_draw *draw, size_t first, uint32_t *list, size_t count)
{
    struct scored items[DRAW_NEAR];
    struct topk top = {.items = items, .k = DRAW_NEAR};
    for (size_t i = 0; i < count; i++)
        wt__topk_push(&top, (struct scored){(float)wt__tool_draw_cosine(draw, first, list[i]), list[i]});
    wt__topk_sort(&top);
    for (size_t i = 0; i < top.len; i++)
        list[i] = items[i].row;
    return top.len;
}

/* If all drawn tools are of one provider, replaces the last by a tool of another provider: a draw within a category
 * needs at least two providers. list [count]: tools from which the replacement is taken. */
static void mix_providers(const struct tool_draw *draw, struct rng *rng, struct drawn_tools *drawn,
                          const uint32_t *list, size_t count)
{
    const uint32_t provider = draw->tools[drawn->places[0]].provider;
    for (size_t i = 1; i < drawn->count; i++)
        if (draw->tools[drawn->places[i]].provider != provider)
            return;
    const size_t start = count > 0 ? wt__rng_below(rng, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t place = list[(start + i) % count];
        if (draw->tools[place].provider != provider) {
            drawn->places[drawn->count - 1] = place;
            return;
        }
    }
}

/* Fills the draw from list [count] in random order: first up to DRAW_STEERED tools with too few usages, then any. */
static int fill_draw(const struct tool_draw *draw, struct rng *rng, const uint32_t *list, size_t count,
                     struct drawn_tools *drawn, wt_error *err)
{
    WT_AUTO_FREE uint32_t *order = wt__alloc_zeros(count + 1, sizeof *order);
    WT_CHECK_ALLOC(order, err);
    if (count > 1)
        wt__rng_draw(rng, order, count, count - 1);
    bool taken[DRAW_TOOLS + DRAW_NEAR] = {false}; /* for the first places of `order`, the range of the second loop */
    for (size_t i = 0; i < count && drawn->count < 1 + DRAW_STEERED; i++)
        if (has_few_usages(draw, list[order[i]])) {
            drawn->places[drawn->count++] = list[order[i]];
            if (i < sizeof taken / sizeof *taken)
                taken[i] = true;
        }
    for (size_t i = 0; i < count && i < sizeof taken / sizeof *taken && drawn->count < DRAW_TOOLS; i++)
        if (!taken[i])
            drawn->places[drawn->count++] = list[order[i]];
    return 0;
}

int wt__tool_draw_next(const struct tool_draw *draw, struct rng *rng, bool out, struct drawn_tools *drawn,
                       wt_error *err)
{
    WT_AUTO_FREE uint32_t *list = wt__alloc_array(draw->count + 1, sizeof *list);
    WT_CHECK_ALLOC(list, err);
    const size_t first = draw_first_tool(draw, rng, out, list);
    *drawn = (struct drawn_tools){{first}, 1};
    if (!draw->settings.single) {
        size_t all = 0, count;
        for (size_t i = 0; i < draw->count; i++)
            if (i != first && draw->tools[i].is_out == out && !draw->tools[i].lacks_description &&
                are_compatible(draw, first, i))
                list[all++] = (uint32_t)i;
        count = draw->settings.near ? keep_nearest_tools(draw, first, list, all) : all;
        WT_TRY(fill_draw(draw, rng, list, count, drawn, err));
        if (draw->settings.within == WITHIN_CATEGORY)
            mix_providers(draw, rng, drawn, list, all);
    }
    /* Shuffle, so that the first tool is not recognisable by its position. */
    wt__generate_shuffle(drawn->places, drawn->count, rng);
    return 0;
}
