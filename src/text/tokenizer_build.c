/* tokenizer_build.c: builds a tokenizer. Reads the parts from the model's files, finds missing special tokens, and
 * writes the blob. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "text/internal.h"
#include "text/unicode.h"

static const char *const special_keys[TOKENIZER_SPECIALS] = {"pad_token", "unk_token", "cls_token", "sep_token",
                                                             "mask_token"};

/* Returns the name of a special token, which is written as "[CLS]" or as {"content": "[CLS]", ...}; empty if absent. */
static struct str read_special_name(const json_t *object, const char *key)
{
    struct str name = wt__json_str(object, key);
    return name.len > 0 ? name : wt__json_str(wt__json_object(object, key), "content");
}

static int read_tokenizer_settings(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    const struct {
        const char *name;
        struct str text;
        json_t **out;
    } rows[] = {{"tokenizer_config.json", files->tokenizer_config_json, &parts->config},
                {"special_tokens_map.json", files->special_tokens_map_json, &parts->specials}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text.len == 0)
            continue;
        int rc = wt__json_parse(rows[i].out, rows[i].text.ptr, rows[i].text.len, err);
        if (rc < 0)
            return wt__fail_context(err, rc, "%s", rows[i].name);
    }
    for (size_t i = 0; i < TOKENIZER_SPECIALS; i++) {
        struct str name = read_special_name(parts->config, special_keys[i]);
        parts->names[i] = name.len > 0 ? name : read_special_name(parts->specials, special_keys[i]);
    }
    return 0;
}

/* Finds the ids that special[] lacks, by the configured names of the tokens, or by the usual names if no name is
 * configured. Fails if the model has no unknown token; a BPE model needs none. */
static int complete_specials(struct tokenizer_parts *parts, wt_error *err)
{
    static const char *const usual[TOKENIZER_SPECIALS][2] = {
        {"[PAD]", "<pad>"}, {"[UNK]", "<unk>"}, {"[CLS]", "<s>"}, {"[SEP]", "</s>"}, {"[MASK]", "<mask>"}};
    for (size_t i = 0; i < TOKENIZER_SPECIALS; i++) {
        if (parts->frameless && (i == TOKENIZER_CLS || i == TOKENIZER_SEP))
            continue;
        if (parts->special[i] < 0)
            parts->special[i] = wt__parts_find(parts, parts->names[i]);
        for (size_t j = 0; parts->special[i] < 0 && parts->names[i].len == 0 && j < 2; j++)
            parts->special[i] = wt__parts_find(parts, wt__str(usual[i][j]));
    }
    const enum tokenizer_special unk = TOKENIZER_UNK;
    if (parts->special[unk] < 0 && parts->kind != TOKENIZER_BPE)
        return wt__fail(err, WT_EMODEL, "the vocabulary has no %.*s",
                        parts->names[unk].len > 0 ? (int)parts->names[unk].len : (int)strlen(usual[unk][0]),
                        parts->names[unk].len > 0 ? parts->names[unk].ptr : usual[unk][0]);
    return 0;
}

struct blob_writer {
    struct buffer *blob;
    size_t start;
    struct tokenizer_header header;
};

static void begin_section(struct blob_writer *w, enum tokenizer_section which)
{
    w->header.sections[which].offset = w->blob->len - w->start;
}

static void end_section(struct blob_writer *w, enum tokenizer_section which)
{
    w->header.sections[which].size = w->blob->len - w->start - w->header.sections[which].offset;
}

static void append_section(struct blob_writer *w, enum tokenizer_section which, const void *bytes, size_t len)
{
    begin_section(w, which);
    wt__buffer_append(w->blob, bytes, len);
    end_section(w, which);
}

/* Writes the added tokens that are matched in normalised text if `normalized`, else the added tokens that are matched
 * in the original text. Only unigram models match tokens in normalised text. */
static int write_added(struct blob_writer *w, struct tokenizer_parts *parts, bool normalized, wt_error *err)
{
    enum tokenizer_section which = normalized ? SECTION_NORMALIZED_ADDED : SECTION_ADDED;
    struct trie_key *keys = wt__arena_array(&parts->arena, struct trie_key, parts->added_count);
    size_t count = 0;
    WT_CHECK_ALLOC(keys, err);
    for (size_t i = 0; i < parts->added_count; i++) {
        const struct added_token *token = &parts->added[i];
        if (normalized == (token->normalized && parts->kind == TOKENIZER_UNIGRAM))
            keys[count++] = (struct trie_key){token->content, wt__added_value(token->id, token->flags)};
    }
    begin_section(w, which);
    if (wt__trie_build(w->blob, keys, count) != 0)
        return wt__fail_nomem(err);
    end_section(w, which);
    return 0;
}

static int write_piece_trie(struct blob_writer *w, struct tokenizer_parts *parts, wt_error *err)
{
    struct trie trie;
    begin_section(w, SECTION_PIECES);
    size_t start = w->blob->len;
    if (wt__trie_build(w->blob, parts->pieces, parts->piece_count) != 0)
        return wt__fail_nomem(err);
    end_section(w, SECTION_PIECES);
    if (parts->continuation.len > 0 && wt__trie_open(&trie, w->blob->ptr + start, w->blob->len - start))
        w->header.continuation = wt__trie_walk(&trie, parts->continuation);
    return 0;
}

/* Writes the scores of the pieces and the character map. The ids of the pieces are 0, 1, ... in order. */
static int write_scores(struct blob_writer *w, const struct tokenizer_parts *parts, wt_error *err)
{
    /* The unknown score is this much below the lowest score, as in the reference library. */
    const double beyond_least = 10;
    double least = 0;
    for (size_t i = 0; i < parts->piece_count; i++) {
        if (!isfinite(parts->scores[i]))
            return wt__fail(err, WT_EMODEL, "the score of piece %zu is not a number", i);
        if (parts->pieces[i].text.len > UNIGRAM_MAX_PIECE)
            return wt__fail(err, WT_ETOOLONG, "piece %zu has %zu bytes; at most %d are allowed", i,
                            parts->pieces[i].text.len, UNIGRAM_MAX_PIECE);
        if (i == 0 || parts->scores[i] < least)
            least = parts->scores[i];
        if (parts->pieces[i].text.len > w->header.longest)
            w->header.longest = (uint32_t)parts->pieces[i].text.len;
    }
    w->header.unknown_score = least - beyond_least;
    append_section(w, SECTION_SCORES, parts->scores, parts->piece_count * sizeof *parts->scores);
    append_section(w, SECTION_CHARACTER_MAP, parts->map.ptr, parts->map.len);
    return 0;
}

/* Writes the ids of single bytes, and the merges. A byte without a token gets the id of the unknown token, or -1 if the
 * model has no unknown token. */
static int write_bpe(struct blob_writer *w, const struct tokenizer_parts *parts, wt_error *err)
{
    int32_t bytes[256];
    int32_t unknown = wt__parts_find(parts, wt__json_str(wt__json_object(parts->document, "model"), "unk_token"));
    for (size_t i = 0; i < 256; i++)
        bytes[i] = unknown;
    for (size_t i = 0; i < parts->piece_count; i++) {
        struct str text = parts->pieces[i].text;
        const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
        int byte = at < end ? wt__bpe_byte_of(wt__utf8_next(&at, end)) : -1;
        if (byte >= 0 && at == end)
            bytes[byte] = parts->pieces[i].value;
    }
    append_section(w, SECTION_BYTES, bytes, sizeof bytes);
    begin_section(w, SECTION_MERGES);
    if (wt__bpe_build_merges(w->blob, parts->merges, parts->merge_count) != 0)
        return wt__fail_nomem(err);
    end_section(w, SECTION_MERGES);
    return 0;
}

static uint32_t count_tokens(const struct tokenizer_parts *parts)
{
    int32_t last = -1;
    for (size_t i = 0; i < parts->piece_count; i++)
        last = parts->pieces[i].value > last ? parts->pieces[i].value : last;
    for (size_t i = 0; i < parts->added_count; i++)
        last = parts->added[i].id > last ? parts->added[i].id : last;
    return (uint32_t)(last + 1);
}

static int write_blob(struct buffer *blob, struct tokenizer_parts *parts, wt_error *err)
{
    struct blob_writer w = {.blob = blob, .start = blob->len};
    struct tokenizer built;
    memcpy(w.header.magic, TOKENIZER_MAGIC, sizeof w.header.magic);
    w.header.byte_order = TOKENIZER_BYTE_ORDER;
    w.header.kind = parts->kind;
    w.header.flags = parts->flags;
    w.header.token_count = count_tokens(parts);
    memcpy(w.header.special, parts->special, sizeof parts->special);
    wt__buffer_append(blob, &w.header, sizeof w.header);
    WT_TRY(write_added(&w, parts, false, err));
    WT_TRY(write_added(&w, parts, true, err));
    if (parts->kind == TOKENIZER_UNIGRAM)
        WT_TRY(write_scores(&w, parts, err));
    WT_TRY(parts->kind == TOKENIZER_BPE ? write_bpe(&w, parts, err) : write_piece_trie(&w, parts, err));
    if (blob->failed)
        return wt__fail_nomem(err);
    memcpy(blob->ptr + w.start, &w.header, sizeof w.header);
    return wt__tokenizer_open(&built, blob->ptr + w.start, blob->len - w.start, err);
}

static int check_sizes(const struct tokenizer_files *files, wt_error *err)
{
    const struct {
        const char *name;
        size_t len;
    } rows[] = {{"tokenizer.json", files->tokenizer_json.len},
                {"tokenizer_config.json", files->tokenizer_config_json.len},
                {"special_tokens_map.json", files->special_tokens_map_json.len},
                {"vocab.txt", files->vocab_txt.len},
                {"vocab.json", files->vocab_json.len},
                {"merges.txt", files->merges_txt.len},
                {"spm.model", files->spm_model.len}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].len > TOKENIZER_MAX_FILE)
            return wt__fail(err, WT_ETOOLONG, "%s has %zu bytes; at most %zu are allowed", rows[i].name, rows[i].len,
                            TOKENIZER_MAX_FILE);
    return 0;
}

static void dispose_parts(struct tokenizer_parts *parts)
{
    json_decref(parts->config);
    json_decref(parts->specials);
    json_decref(parts->document);
    free(parts->pieces);
    free(parts->scores);
    free(parts->merges);
    free(parts->added);
    wt__arena_dispose(&parts->arena);
}

int wt__tokenizer_build(struct buffer *blob, const struct tokenizer_files *files, wt_error *err)
{
    WT_CLEANUP(dispose_parts) struct tokenizer_parts parts = {.special = {-1, -1, -1, -1, -1}};
    WT_TRY(check_sizes(files, err));
    WT_TRY(read_tokenizer_settings(&parts, files, err));
    if (files->tokenizer_json.len > 0)
        WT_TRY(wt__parts_read_json(&parts, files->tokenizer_json, err));
    else
        WT_TRY(wt__parts_read_files(&parts, files, err));
    WT_TRY(complete_specials(&parts, err));
    return write_blob(blob, &parts, err);
}
