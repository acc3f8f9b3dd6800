/* tokenizer_json.c: reads tokenizer.json, in which the reference library describes a tokenizer as a chain of components
 * with settings. Unknown components, or components in another order, would silently change ids. They are rejected with
 * a message that names the component. */
#include "text/internal.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/memory.h"

static const char file[] = "tokenizer.json";

enum { SHOWN = 60 }; /* maximum bytes of a name in a message */

static int fail_unsupported(const char *what, struct str name, wt_error *err)
{
    return wt__fail(err, WT_EMODEL, "%s: %s \"%.*s\" is not supported", file, what,
                    (int)(name.len < SHOWN ? name.len : SHOWN), name.len > 0 ? name.ptr : "");
}

static bool component_has_type(const json_t *component, const char *type)
{
    return wt__str_equal(wt__json_str(component, "type"), wt__str(type));
}

/* A chain of components. */
struct chain {
    const json_t *only;    /* the component if it is not a Sequence, else NULL */
    const json_t *members; /* the members of a Sequence, else NULL */
    size_t len;            /* number of components */
};

static struct chain read_chain(const json_t *component, const char *key)
{
    const json_t *members = component_has_type(component, "Sequence") ? wt__json_array(component, key) : NULL;
    if (!json_is_object(component))
        return (struct chain){0};
    return members ? (struct chain){NULL, members, json_array_size(members)} : (struct chain){component, NULL, 1};
}

static const json_t *component_at(const struct chain *chain, size_t i)
{
    return chain->only ? chain->only : json_array_get(chain->members, i);
}

static int read_added(struct tokenizer_parts *parts, const json_t *root, wt_error *err)
{
    const json_t *list = wt__json_array(root, "added_tokens");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        struct added_token token = {.content = wt__json_str(row, "content")};
        token.flags = (wt__json_bool(row, "lstrip", false) ? ADDED_LSTRIP : 0U) |
                      (wt__json_bool(row, "rstrip", false) ? ADDED_RSTRIP : 0U) |
                      (wt__json_bool(row, "single_word", false) ? ADDED_SINGLE_WORD : 0U);
        token.normalized = wt__json_bool(row, "normalized", false);
        WT_TRY(wt__parts_add_token(parts, token, wt__json_int(row, "id", -1), err));
    }
    return 0;
}

/* ---------------------------------------------------------------- frame */

static int32_t read_template_id(const json_t *processor, const json_t *step)
{
    struct str name = wt__json_str(wt__json_object(step, "SpecialToken"), "id");
    const json_t *tokens = wt__json_object(processor, "special_tokens");
    const json_t *ids = name.len > 0 ? wt__json_array(wt__json_object(tokens, name.ptr), "ids") : NULL;
    const json_t *id = json_array_get(ids, 0);
    return json_array_size(ids) == 1 && json_integer_value(id) >= 0 && json_integer_value(id) < TOKENIZER_MAX_TOKENS
               ? (int32_t)json_integer_value(id)
               : -1;
}

static bool is_sequence(const json_t *step, const char *name)
{
    return wt__str_equal(wt__json_str(wt__json_object(step, "Sequence"), "id"), wt__str(name));
}

/* Reads a template for special tokens: CLS A SEP for a text, and CLS A SEP B SEP for a pair, with one or two SEP in the
 * middle. A template with A alone means a model without CLS and SEP. */
static int read_template(struct tokenizer_parts *parts, const json_t *processor, wt_error *err)
{
    const json_t *single = wt__json_array(processor, "single"), *pair = wt__json_array(processor, "pair");
    size_t len = json_array_size(pair), seps = len == 6 ? 2 : 1;
    int32_t cls = read_template_id(processor, json_array_get(single, 0));
    int32_t sep = read_template_id(processor, json_array_get(single, 2));
    bool holds = json_array_size(single) == 3 && is_sequence(json_array_get(single, 1), "A") && cls >= 0 && sep >= 0 &&
                 (len == 5 || len == 6) && read_template_id(processor, json_array_get(pair, 0)) == cls &&
                 is_sequence(json_array_get(pair, 1), "A") && is_sequence(json_array_get(pair, len - 2), "B") &&
                 read_template_id(processor, json_array_get(pair, len - 1)) == sep;
    if (json_array_size(single) == 1 && is_sequence(json_array_get(single, 0), "A")) {
        parts->frameless = true;
        return 0;
    }
    for (size_t i = 0; i < seps; i++)
        holds = holds && read_template_id(processor, json_array_get(pair, 2 + i)) == sep;
    if (!holds)
        return wt__fail(err, WT_EMODEL, "%s: a template other than CLS A SEP B SEP is not supported", file);
    parts->special[TOKENIZER_CLS] = cls;
    parts->special[TOKENIZER_SEP] = sep;
    if (wt__json_int(wt__json_object(json_array_get(pair, len - 2), "Sequence"), "type_id", 0) == 1)
        parts->flags |= TOKENIZER_PAIR_TYPES;
    if (seps == 2)
        parts->flags |= TOKENIZER_PAIR_TWO_SEPS;
    return 0;
}

static int32_t read_frame_id(const json_t *processor, const char *key)
{
    const json_t *id = json_array_get(wt__json_array(processor, key), 1);
    json_int_t value = json_is_integer(id) ? json_integer_value(id) : -1;
    return value >= 0 && value < TOKENIZER_MAX_TOKENS ? (int32_t)value : -1;
}

static int read_frame(struct tokenizer_parts *parts, const json_t *root, wt_error *err)
{
    struct chain chain = read_chain(json_object_get(root, "post_processor"), "processors");
    for (size_t i = 0; i < chain.len; i++) {
        const json_t *processor = component_at(&chain, i);
        bool roberta = component_has_type(processor, "RobertaProcessing");
        if (component_has_type(processor, "TemplateProcessing"))
            return read_template(parts, processor, err);
        if (roberta || component_has_type(processor, "BertProcessing")) {
            parts->special[TOKENIZER_CLS] = read_frame_id(processor, "cls");
            parts->special[TOKENIZER_SEP] = read_frame_id(processor, "sep");
            parts->flags |= roberta ? TOKENIZER_PAIR_TWO_SEPS : TOKENIZER_PAIR_TYPES;
            return 0;
        }
        if (!component_has_type(processor, "ByteLevel")) /* ByteLevel adjusts only offsets, which are not used. */
            return fail_unsupported("post-processor", wt__json_str(processor, "type"), err);
    }
    parts->frameless = true;
    return 0;
}

/* ---------------------------------------------------------------- WordPiece */

/* Reads {"token": id, ...}. */
static int read_vocabulary(struct tokenizer_parts *parts, const json_t *model, wt_error *err)
{
    json_t *vocabulary = wt__json_object(model, "vocab"), *id;
    const char *key;
    if (!vocabulary)
        return wt__fail(err, WT_EMODEL, "%s: the model has no vocab", file);
    json_object_foreach(vocabulary, key, id)
    {
        WT_TRY(wt__parts_add_piece(parts, wt__str(key), json_is_integer(id) ? json_integer_value(id) : -1, 0, err));
    }
    return 0;
}

static int read_wordpiece_json(struct tokenizer_parts *parts, const json_t *root, const json_t *model, wt_error *err)
{
    const json_t *normalizer = wt__json_object(root, "normalizer");
    const json_t *pre_tokenizer = wt__json_object(root, "pre_tokenizer");
    if (!component_has_type(normalizer, "BertNormalizer") || !wt__json_bool(normalizer, "clean_text", true))
        return fail_unsupported("with WordPiece, the normalizer", wt__json_str(normalizer, "type"), err);
    if (!component_has_type(pre_tokenizer, "BertPreTokenizer"))
        return fail_unsupported("with WordPiece, the pre-tokenizer", wt__json_str(pre_tokenizer, "type"), err);
    if (wt__json_int(model, "max_input_chars_per_word", WORDPIECE_MAX_WORD) != WORDPIECE_MAX_WORD)
        return wt__fail(err, WT_EMODEL, "%s: max_input_chars_per_word other than %d is not supported", file,
                        WORDPIECE_MAX_WORD);
    bool lower_case = wt__json_bool(normalizer, "lowercase", true);
    parts->flags |= lower_case ? TOKENIZER_LOWER_CASE : 0U;
    parts->flags |= wt__json_bool(normalizer, "strip_accents", lower_case) ? TOKENIZER_STRIP_ACCENTS : 0U;
    parts->flags |= wt__json_bool(normalizer, "handle_chinese_chars", true) ? TOKENIZER_SPLIT_CJK : 0U;
    parts->continuation = wt__json_str(model, "continuing_subword_prefix");
    WT_TRY(read_vocabulary(parts, model, err));
    parts->special[TOKENIZER_UNK] = wt__parts_find(parts, wt__json_str(model, "unk_token"));
    return 0;
}

/* ---------------------------------------------------------------- unigram */

static int read_map(struct tokenizer_parts *parts, struct str base64, wt_error *err)
{
    struct precompiled map;
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    if (!wt__base64_decode(&bytes, base64))
        return wt__fail(err, WT_EMODEL, "%s: precompiled_charsmap is not base64", file);
    parts->map = (struct str){bytes.failed ? NULL : wt__arena_copy(&parts->arena, wt__buffer_view(&bytes)), bytes.len};
    WT_CHECK_ALLOC(parts->map.ptr, err);
    if (bytes.len > 0 && !wt__precompiled_open(&map, parts->map))
        return wt__fail(err, WT_EMODEL, "%s: precompiled_charsmap is damaged", file);
    return 0;
}

enum { MAPPED = 1 << 30 }; /* flag of the character map in `steps`; not a TOKENIZER_ bit */

/* Supported normaliser steps. */
static const struct {
    const char *type, *pattern; /* pattern: NULL if the step has no pattern */
    uint32_t flag;              /* flag of the step */
    uint32_t not_behind;        /* flags of steps that must not come earlier, because the normaliser runs them later */
} steps[] = {
    {"Strip", NULL, 0, MAPPED | TOKENIZER_COLLAPSE_SPACES},
    {"Precompiled", NULL, MAPPED, MAPPED | TOKENIZER_SQUEEZE_BLANKS | TOKENIZER_COMPOSE | TOKENIZER_COLLAPSE_SPACES},
    {"Replace", " {2,}", TOKENIZER_COLLAPSE_SPACES, TOKENIZER_SQUEEZE_BLANKS | TOKENIZER_COMPOSE},
    {"Replace", "\\s{2,}|[\\n\\r\\t]", TOKENIZER_SQUEEZE_BLANKS,
     MAPPED | TOKENIZER_COMPOSE | TOKENIZER_COLLAPSE_SPACES},
    {"NFC", NULL, TOKENIZER_COMPOSE, MAPPED | TOKENIZER_COLLAPSE_SPACES},
};

static int read_step(struct tokenizer_parts *parts, uint32_t *seen, const json_t *step, wt_error *err)
{
    struct str pattern = wt__json_str(wt__json_object(step, "pattern"), "Regex");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!component_has_type(step, steps[i].type) ||
            (steps[i].pattern && !wt__str_equal(pattern, wt__str(steps[i].pattern))))
            continue;
        if (*seen & steps[i].not_behind ||
            (steps[i].pattern && !wt__str_equal(wt__json_str(step, "content"), STR(" "))))
            break;
        *seen |= steps[i].flag;
        parts->flags |= steps[i].flag & ~(uint32_t)MAPPED;
        if (component_has_type(step, "Strip")) {
            parts->flags |= wt__json_bool(step, "strip_left", true) ? TOKENIZER_STRIP_LEFT : 0U;
            parts->flags |= wt__json_bool(step, "strip_right", true) ? TOKENIZER_STRIP_RIGHT : 0U;
        }
        return steps[i].flag == MAPPED ? read_map(parts, wt__json_str(step, "precompiled_charsmap"), err) : 0;
    }
    return fail_unsupported("at this position, the normalizer", wt__json_str(step, "type"), err);
}

static int read_metaspace(struct tokenizer_parts *parts, const json_t *root, wt_error *err)
{
    struct chain chain = read_chain(json_object_get(root, "pre_tokenizer"), "pretokenizers");
    const json_t *last = chain.len > 0 ? component_at(&chain, chain.len - 1) : NULL;
    for (size_t i = 0; i + 1 < chain.len; i++) {
        if (!component_has_type(component_at(&chain, i), "WhitespaceSplit"))
            return fail_unsupported("with Unigram, the pre-tokenizer", wt__json_str(component_at(&chain, i), "type"),
                                    err);
        parts->flags |= TOKENIZER_SPLIT_BLANKS;
    }
    struct str scheme = wt__json_str(last, "prepend_scheme");
    bool always = scheme.len > 0 ? wt__str_equal(scheme, STR("always")) : wt__json_bool(last, "add_prefix_space", true);
    bool never = scheme.len > 0 ? wt__str_equal(scheme, STR("never")) : !always;
    if (!component_has_type(last, "Metaspace") ||
        !wt__str_equal(wt__json_str(last, "replacement"), STR("\xE2\x96\x81")) || !wt__json_bool(last, "split", true) ||
        (!always && !never))
        return fail_unsupported("with these settings, the pre-tokenizer", wt__json_str(last, "type"), err);
    parts->flags |= always ? TOKENIZER_PREFIX : 0U;
    return 0;
}

static int read_unigram_json(struct tokenizer_parts *parts, const json_t *root, const json_t *model, wt_error *err)
{
    struct chain chain = read_chain(json_object_get(root, "normalizer"), "normalizers");
    const json_t *pieces = wt__json_array(model, "vocab");
    int64_t unknown = wt__json_int(model, "unk_id", -1);
    uint32_t seen = 0;
    if (wt__json_bool(model, "byte_fallback", false))
        return wt__fail(err, WT_EMODEL, "%s: byte_fallback is not supported", file);
    for (size_t i = 0; i < chain.len; i++)
        WT_TRY(read_step(parts, &seen, component_at(&chain, i), err));
    WT_TRY(read_metaspace(parts, root, err));
    for (size_t i = 0; i < json_array_size(pieces); i++) {
        const json_t *row = json_array_get(pieces, i), *text = json_array_get(row, 0), *score = json_array_get(row, 1);
        if (!json_is_string(text) || !json_is_number(score))
            return wt__fail(err, WT_EMODEL, "%s: piece %zu is not a text and a score", file, i);
        WT_TRY(wt__parts_add_piece(parts, (struct str){json_string_value(text), json_string_length(text)}, (int64_t)i,
                                   json_number_value(score), err));
    }
    if (unknown < 0 || unknown >= (int64_t)parts->piece_count)
        return wt__fail(err, WT_EMODEL, "%s: unk_id is not the id of a piece", file);
    parts->special[TOKENIZER_UNK] = (int32_t)unknown;
    return 0;
}

/* ---------------------------------------------------------------- byte-level BPE */

/* Returns the two names of a merge, which is written as ["a", "b"] or, in older files, as "a b". */
static struct merge_names read_merge_names(const json_t *merge)
{
    const json_t *left = json_array_get(merge, 0), *right = json_array_get(merge, 1);
    struct str text = {json_string_value(merge), json_string_length(merge)};
    const char *blank = text.len > 0 ? memchr(text.ptr, ' ', text.len) : NULL;
    if (blank)
        return (struct merge_names){{text.ptr, (size_t)(blank - text.ptr)},
                                    {blank + 1, (size_t)(text.ptr + text.len - blank) - 1}};
    return (struct merge_names){{json_string_value(left), json_string_length(left)},
                                {json_string_value(right), json_string_length(right)}};
}

static int read_merges_json(struct tokenizer_parts *parts, const json_t *model, wt_error *err)
{
    const json_t *merges = wt__json_array(model, "merges");
    size_t count = json_array_size(merges);
    struct merge_names *names = wt__arena_array(&parts->arena, struct merge_names, count);
    WT_CHECK_ALLOC(names, err);
    for (size_t i = 0; i < count; i++)
        names[i] = read_merge_names(json_array_get(merges, i));
    return wt__parts_add_merges(parts, names, count, err);
}

static int read_bpe_json(struct tokenizer_parts *parts, const json_t *root, const json_t *model, wt_error *err)
{
    static const char *const switches[] = {"byte_fallback", "ignore_merges", "fuse_unk"};
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const json_t *normalizer = wt__json_object(root, "normalizer");
    const json_t *pre_tokenizer = wt__json_object(root, "pre_tokenizer");
    if (normalizer)
        return fail_unsupported("with BPE, the normalizer", wt__json_str(normalizer, "type"), err);
    if (!component_has_type(pre_tokenizer, "ByteLevel") || !wt__json_bool(pre_tokenizer, "use_regex", true))
        return fail_unsupported("with BPE, the pre-tokenizer", wt__json_str(pre_tokenizer, "type"), err);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (wt__json_bool(model, switches[i], false))
            return fail_unsupported("with BPE, the setting", wt__str(switches[i]), err);
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++)
        if (wt__json_str(model, affixes[i]).len > 0)
            return fail_unsupported("with BPE, the setting", wt__str(affixes[i]), err);
    parts->flags |= wt__json_bool(pre_tokenizer, "add_prefix_space", true) ? TOKENIZER_PREFIX : 0U;
    WT_TRY(read_vocabulary(parts, model, err));
    return read_merges_json(parts, model, err);
}

int wt__parts_read_json(struct tokenizer_parts *parts, struct str text, wt_error *err)
{
    static const struct {
        const char *type;
        enum tokenizer_kind kind;
        int (*read)(struct tokenizer_parts *, const json_t *, const json_t *, wt_error *);
    } kinds[] = {{"WordPiece", TOKENIZER_WORDPIECE, read_wordpiece_json},
                 {"Unigram", TOKENIZER_UNIGRAM, read_unigram_json},
                 {"BPE", TOKENIZER_BPE, read_bpe_json}};
    int rc = wt__json_parse(&parts->document, text.ptr, text.len, err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", file);
    const json_t *root = parts->document, *model = wt__json_object(root, "model");
    WT_TRY(read_added(parts, root, err));
    WT_TRY(read_frame(parts, root, err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (component_has_type(model, kinds[i].type)) {
            parts->kind = kinds[i].kind;
            return kinds[i].read(parts, root, model, err);
        }
    return fail_unsupported("the model", wt__json_str(model, "type"), err);
}
