/* request_set.c: collects generated requests, assigns each to a split, and writes them as a BEIR data set. Also parses
 * the JSON lines of BEIR files (requests.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/sort.h"
#include "generate/internal.h"
#include "generate/requests.h"

static int copy_folded_text(struct text_lines *lines, struct str text, struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__piece_line(&line, text, TEXT_LINES_TEXT_MAX);
    *out = (struct str){line.failed ? NULL : wt__arena_copy(&lines->arena, wt__buffer_view(&line)), line.len};
    return out->ptr ? 0 : wt__fail_nomem(err);
}

static int add_text_line(struct text_lines *lines, const json_t *object, const char *name, size_t number, wt_error *err)
{
    struct text_line *line;
    const struct str id = wt__json_str(object, "_id");
    bool added = false;
    if (id.len == 0)
        return wt__fail_at(err, WT_EFORMAT, number, 0, "/_id", "%s:%zu: the line has no \"_id\"", name, number);
    if (lines->count == TEXT_LINES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s has more than %d lines", name, TEXT_LINES_MAX);
    if (wt__grow((void **)&lines->items, &lines->capacity, lines->count + 1, sizeof *lines->items) < 0)
        return wt__fail_nomem(err);
    line = &lines->items[lines->count];
    line->id = (struct str){wt__arena_copy(&lines->arena, id), id.len};
    if (!line->id.ptr || !wt__map_insert(&lines->places, line->id, (uint32_t)lines->count, &added))
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, number, 0, "/_id", "%s:%zu: the _id \"%.*s\" appears twice", name, number,
                           (int)(id.len < 80 ? id.len : 80), id.ptr);
    WT_TRY(copy_folded_text(lines, wt__json_str(object, "title"), &line->title, err));
    WT_TRY(copy_folded_text(lines, wt__json_str(object, "text"), &line->text, err));
    const struct str draft = wt__json_str(wt__json_object(object, "metadata"), "draft");
    WT_TRY(copy_folded_text(lines, draft, &line->draft, err));
    lines->count++;
    return 0;
}

int wt__text_lines_parse(struct text_lines *out, struct str file, const char *name, wt_error *err)
{
    int rc = 0;
    struct str line;
    *out = (struct text_lines){0};
    if (wt__str_starts(file, STR("\xef\xbb\xbf")))
        file = (struct str){file.ptr + 3, file.len - 3};
    for (size_t number = 1; rc == 0 && wt__piece_next_line(&file, &line); number++) {
        json_auto_t *object = NULL;
        wt_error why;
        if (wt__str_trim(line).len == 0)
            continue;
        rc = wt__json_parse(&object, line.ptr, line.len, &why);
        rc = rc < 0 ? wt__fail_at(err, rc, number, 0, NULL, "%s:%zu: %s", name, number, why.message)
                    : add_text_line(out, object, name, number, err);
    }
    if (rc < 0)
        wt__text_lines_dispose(out);
    return rc;
}

int wt__text_lines_read(struct text_lines *out, const char *dir, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *bytes = NULL;
    size_t len = 0;
    *out = (struct text_lines){0};
    const char *path = wt__path_join(&arena, dir, name);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_read(&bytes, &len, path, TEXT_LINES_BYTES_MAX, err));
    return wt__text_lines_parse(out, (struct str){bytes, len}, path, err);
}

void wt__text_lines_dispose(struct text_lines *lines)
{
    wt__map_dispose(&lines->places);
    wt__arena_dispose(&lines->arena);
    free(lines->items);
    *lines = (struct text_lines){0};
}

static void write_json_member(const char *name, const char *text, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\": ", name);
    wt__buffer_json(out, wt__str(text));
    wt__buffer_text(out, ", ");
}

void wt__beir_write_tool(const wt_tool *tool, const char *name, struct buffer *out)
{
    wt__buffer_char(out, '{');
    write_json_member("_id", tool->id, out);
    write_json_member("title", name, out);
    write_json_member("text", tool->description, out);
    wt__buffer_text(out, "\"metadata\": {");
    if (strcmp(name, tool->name) != 0)
        write_json_member("original", tool->name, out);
    if (tool->provider[0])
        write_json_member("provider", tool->provider, out);
    if (tool->category[0])
        write_json_member("category", tool->category, out);
    wt__buffer_printf(out, "\"parameters\": %s}}\n", tool->schema);
}

static const char *const split_names[REQUEST_SPLITS] = {"train", "dev", "test"};

void wt__request_set_open(struct request_set *out, const struct split_settings *split)
{
    *out = (struct request_set){.split = *split};
}

void wt__request_set_dispose(struct request_set *set)
{
    wt__map_dispose(&set->combinations);
    wt__arena_dispose(&set->arena);
    free(set->requests);
    *set = (struct request_set){0};
}

/* Chooses the split by a hash of the seed and the key. */
static enum request_split choose_split(const struct split_settings *split, struct str key)
{
    struct sha256 sha;
    unsigned char digest[32];
    uint64_t number = 0;
    char seed[32];
    int len = snprintf(seed, sizeof seed, "%" PRIu64 "\n", split->seed);
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, seed, (size_t)len);
    wt__sha256_update(&sha, key.ptr, key.len);
    wt__sha256_end(&sha, digest);
    for (int i = 0; i < 8; i++) /* big-endian, the same on every machine */
        number = number << 8 | digest[i];
    const double unit = (double)(number >> 11) / 9007199254740992.0;
    return unit < split->test ? SPLIT_TEST : unit < split->test + split->dev ? SPLIT_DEV : SPLIT_TRAIN;
}

int wt__request_set_add(struct request_set *set, const struct tool_draw *draw, const struct generated_request *request,
                        struct generated_request **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0}, words = {0};
    struct generated_request added = *request;
    wt__sort_sizes(added.tools, added.tool_count);
    for (size_t i = 0; i < added.tool_count; i++)
        wt__buffer_printf(&key, "%s\n", draw->tools[added.tools[i]].tool->id);
    wt__piece_words(&words, added.text);
    added.text.ptr = wt__arena_copy(&set->arena, added.text);
    added.draft.ptr = wt__arena_copy(&set->arena, added.draft);
    added.explanation.ptr = wt__arena_copy(&set->arena, added.explanation);
    added.more.ptr = wt__arena_copy(&set->arena, added.more);
    const char *name = key.failed ? NULL : wt__arena_copy(&set->arena, wt__buffer_view(&key));
    WT_CHECK_ALLOC(name && !words.failed && added.text.ptr && added.draft.ptr && added.explanation.ptr, err);
    WT_CHECK_ALLOC(added.more.ptr, err);
    if (wt__grow((void **)&set->requests, &set->capacity, set->count + 1, sizeof *set->requests) < 0)
        return wt__fail_nomem(err);
    uint32_t *splits = wt__map_insert(&set->combinations, (struct str){name, key.len}, 0, NULL);
    WT_CHECK_ALLOC(splits, err);
    added.split = choose_split(&set->split, wt__buffer_view(added.tool_count > 1 ? &key : &words));
    const uint32_t before = *splits;
    *splits |= 1u << added.split;
    set->in_two_splits += before && !(before & (before - 1)) && *splits != before;
    set->requests[set->count] = added;
    *out = &set->requests[set->count++];
    set->unanswerable += added.is_unanswerable;
    set->splits[added.split] += !added.is_unanswerable;
    return 0;
}

static void write_request_line(const struct request_set *set, const struct tool_draw *draw, size_t place,
                               struct buffer *out)
{
    const struct generated_request *request = &set->requests[place];
    wt__buffer_printf(out, "{\"_id\": \"g%zu\", \"text\": ", place + 1);
    wt__buffer_json(out, request->text);
    wt__buffer_printf(out, ", \"metadata\": {\"split\": \"%s\", \"within\": \"%s\", \"tools\": %zu, \"answerable\": %s",
                      split_names[request->split],
                      wt__within_name(wt__tool_draw_within(draw, request->tools, request->tool_count)),
                      request->tool_count, request->is_unanswerable ? "false" : "true");
    if (request->draft.len > 0)
        wt__generate_write_json(out, ", \"draft\": ", request->draft);
    if (request->explanation.len > 0)
        wt__generate_write_json(out, ", \"explanation\": ", request->explanation);
    wt__buffer_str(out, request->more);
    wt__buffer_text(out, "}}\n");
}

/* prefix: "" for the folder itself, or "none/". */
static int write_prefixed_file(struct generate_folder *folder, const char *prefix, const char *name,
                               const struct buffer *bytes, wt_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s%s", prefix, name);
    return wt__folder_write(folder, path, bytes, err);
}

/* Writes qrels/SPLIT.tsv for each split with answerable requests. Tools of unanswerable requests have score 0 there. If
 * `unanswerable`, writes only the unanswerable requests, with score 1. */
static int write_split_judgements(const struct request_set *set, const struct tool_draw *draw,
                                  struct generate_folder *folder, bool unanswerable, const char *prefix, wt_error *err)
{
    for (enum request_split split = 0; split < REQUEST_SPLITS; split++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer rows = {0};
        char name[32];
        size_t count = 0;
        wt__buffer_text(&rows, "query-id\tcorpus-id\tscore\n");
        for (size_t i = 0; i < set->count; i++) {
            const struct generated_request *request = &set->requests[i];
            if (request->split != split || (unanswerable && !request->is_unanswerable))
                continue;
            count += unanswerable || !request->is_unanswerable;
            for (size_t t = 0; t < request->tool_count; t++)
                wt__buffer_printf(&rows, "g%zu\t%s\t%d\n", i + 1, draw->tools[request->tools[t]].tool->id,
                                  unanswerable || !request->is_unanswerable);
        }
        snprintf(name, sizeof name, "qrels/%s.tsv", split_names[split]);
        if (count > 0)
            WT_TRY(write_prefixed_file(folder, prefix, name, &rows, err));
        else if (!unanswerable) /* remove the file of an earlier run that kept more requests */
            WT_TRY(wt__folder_remove(folder, name, err));
    }
    return 0;
}

/* Writes the folder itself or, if `unanswerable`, the folder of the unanswerable requests. */
static int write_request_folder(const struct request_set *set, const struct tool_draw *draw,
                                struct generate_folder *folder, bool unanswerable, wt_error *err)
{
    const char *prefix = unanswerable ? "none/" : "";
    WT_CLEANUP(wt__buffer_dispose) struct buffer corpus = {0}, queries = {0};
    WT_TRY(wt__folder_make_subfolder(folder, unanswerable ? "none/qrels" : "qrels", err));
    for (size_t i = 0; i < draw->count; i++)
        if (draw->tools[i].is_out == unanswerable)
            wt__beir_write_tool(draw->tools[i].tool, draw->tools[i].tool->name, &corpus);
    for (size_t i = 0; i < set->count; i++)
        if (!unanswerable || set->requests[i].is_unanswerable)
            write_request_line(set, draw, i, &queries);
    WT_TRY(write_prefixed_file(folder, prefix, "corpus.jsonl", &corpus, err));
    WT_TRY(write_prefixed_file(folder, prefix, "queries.jsonl", &queries, err));
    return write_split_judgements(set, draw, folder, unanswerable, prefix, err);
}

int wt__request_set_write(const struct request_set *set, const struct tool_draw *draw, struct generate_folder *folder,
                          wt_error *err)
{
    if (set->count == 0) {
        WT_TRY(wt__folder_remove(folder, "queries.jsonl", err));
        WT_TRY(wt__folder_remove(folder, "corpus.jsonl", err));
        return write_split_judgements(set, draw, folder, false, "", err);
    }
    WT_TRY(write_request_folder(set, draw, folder, false, err));
    return set->unanswerable == 0 ? 0 : write_request_folder(set, draw, folder, true, err);
}
