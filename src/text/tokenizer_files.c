/* tokenizer_files.c: reads directories without tokenizer.json: a vocabulary in the format of its algorithm, and
 * settings in tokenizer_config.json. Missing settings have the reference library's defaults. */
#include "text/tokenizer_parts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "text/sentencepiece.h"

/* Names of special tokens in the two families, in the order of enum tokenizer_special. */
static const char *const bert_names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
static const char *const roberta_names[] = {"<pad>", "<unk>", "<s>", "</s>", "<mask>"};

static bool is_class(const struct tokenizer_parts *parts, const char *name)
{
    struct str class = wt__json_str(parts->config, "tokenizer_class");
    return wt__str_starts(class, wt__str(name));
}

/* Adds the special tokens of the vocabulary as added tokens. Tokens without a configured name have the family's
 * name. */
static int add_specials(struct tokenizer_parts *parts, const char *const *family, wt_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < TOKENIZER_SPECIALS; i++) {
        struct added_token token = {.content = parts->names[i].len > 0 ? parts->names[i] : wt__str(family[i])};
        int32_t id = wt__parts_find(parts, token.content);
        if (i == TOKENIZER_MASK && family == roberta_names)
            token.flags = ADDED_LSTRIP;
        if (i == TOKENIZER_UNK && parts->kind == TOKENIZER_UNIGRAM)
            token.normalized = true;
        if (i == TOKENIZER_MASK && parts->kind == TOKENIZER_UNIGRAM && id < 0)
            id = (int32_t)parts->piece_count; /* not a piece: DeBERTa's mask follows the pieces */
        parts->names[i] = token.content;
        parts->special[i] = id;
        if (id >= 0)
            rc = wt__parts_add_token(parts, token, id, err);
    }
    return rc;
}

/* Reads vocab.txt: one token per line, with the 0-based line number as id. Empty lines count but define no token. */
static int read_vocab_txt(struct tokenizer_parts *parts, struct str text, wt_error *err)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    int rc = 0;

    for (int64_t line = 0; rc == 0 && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str token = {at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end;
        while (token.len > 0 && (token.ptr[token.len - 1] == '\r' || token.ptr[token.len - 1] == ' '))
            token.len--;
        if (token.len > 0)
            rc = wt__parts_add_piece(parts, token, line, 0, err);
    }
    return rc < 0 ? wt__fail_context(err, rc, "vocab.txt") : 0;
}

static int read_wordpiece_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    bool lower_case = wt__json_bool(parts->config, "do_lower_case", true);
    int rc = read_vocab_txt(parts, files->vocab_txt, err);
    bool mpnet = is_class(parts, "MPNet");

    if (rc < 0)
        return rc;
    parts->kind = TOKENIZER_WORDPIECE;
    parts->continuation = STR("##");
    parts->flags |= lower_case ? TOKENIZER_LOWER_CASE : 0U;
    parts->flags |= wt__json_bool(parts->config, "strip_accents", lower_case) ? TOKENIZER_STRIP_ACCENTS : 0U;
    parts->flags |= wt__json_bool(parts->config, "tokenize_chinese_chars", true) ? TOKENIZER_SPLIT_CJK : 0U;
    /* MPNet uses RoBERTa's frame with BERT's vocabulary. */
    parts->flags |= mpnet ? TOKENIZER_PAIR_TWO_SEPS : TOKENIZER_PAIR_TYPES;
    if (mpnet && parts->names[TOKENIZER_UNK].len == 0)
        parts->names[TOKENIZER_UNK] = wt__str(bert_names[TOKENIZER_UNK]);
    return add_specials(parts, mpnet ? roberta_names : bert_names, err);
}

/* Reads merges.txt: a version line, then two names per line. */
static int read_merges_txt(struct tokenizer_parts *parts, struct str text, wt_error *err)
{
    struct merge_names *names = NULL;
    size_t count = 0, capacity = 0;
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    int rc = 0;

    while (rc == 0 && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str line = wt__str_trim((struct str){at, (size_t)((stop ? stop : end) - at)});
        const char *blank = line.len > 0 ? memchr(line.ptr, ' ', line.len) : NULL;
        at = stop ? stop + 1 : end;
        if (line.len == 0 || (count == 0 && wt__str_starts(line, STR("#version"))))
            continue;
        if (!blank)
            rc = wt__fail(err, WT_EMODEL, "merges.txt: a line does not hold two tokens");
        else if (wt__grow((void **)&names, &capacity, count + 1, sizeof *names) != 0)
            rc = wt__fail_nomem(err);
        else
            names[count++] = (struct merge_names){{line.ptr, (size_t)(blank - line.ptr)},
                                                  {blank + 1, (size_t)(line.ptr + line.len - blank) - 1}};
    }
    if (rc == 0)
        rc = wt__parts_add_merges(parts, names, count, err);
    free(names);
    return rc;
}

static int read_bpe_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    int rc = wt__json_parse(&parts->document, files->vocab_json.ptr, files->vocab_json.len, err);
    const char *key;
    json_t *id;

    if (rc == 0 && !json_is_object(parts->document))
        rc = wt__fail(err, WT_EMODEL, "not a JSON object");
    json_object_foreach(parts->document, key, id)
    {
        if (rc == 0)
            rc = wt__parts_add_piece(parts, wt__str(key), json_is_integer(id) ? json_integer_value(id) : -1, 0, err);
    }
    if (rc < 0)
        return wt__fail_context(err, rc, "vocab.json");
    parts->kind = TOKENIZER_BPE;
    parts->flags |= TOKENIZER_PAIR_TWO_SEPS;
    parts->flags |= wt__json_bool(parts->config, "add_prefix_space", false) ? TOKENIZER_PREFIX : 0U;
    rc = read_merges_txt(parts, files->merges_txt, err);
    return rc < 0 ? rc : add_specials(parts, roberta_names, err);
}

static int read_spm_model(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    struct sentencepiece model;
    int rc;

    if (wt__json_bool(parts->config, "do_lower_case", false) || wt__json_bool(parts->config, "split_by_punct", false))
        return wt__fail(err, WT_EMODEL, "tokenizer_config.json: do_lower_case and split_by_punct are not supported");
    wt__sentencepiece_open(&model, files->spm_model);
    for (int64_t id = 0; (rc = wt__sentencepiece_next(&model, err)) > 0; id++) {
        rc = wt__parts_add_piece(parts, model.piece, id, (double)model.score, err);
        if (rc < 0)
            break;
    }
    if (rc == 0 && model.model_type != 1)
        rc = wt__fail(err, WT_EMODEL, "only unigram models are supported");
    if (rc == 0 && (model.unknown < 0 || model.unknown >= (int64_t)parts->piece_count))
        rc = wt__fail(err, WT_EMODEL, "no piece for unknown text");
    if (rc < 0)
        return wt__fail_context(err, rc, "spm.model");
    parts->kind = TOKENIZER_UNIGRAM;
    parts->map = model.map;
    parts->flags |= TOKENIZER_PAIR_TYPES | TOKENIZER_STRIP_LEFT | TOKENIZER_STRIP_RIGHT | TOKENIZER_COLLAPSE_SPACES |
                    TOKENIZER_PREFIX;
    rc = add_specials(parts, bert_names, err);
    parts->special[TOKENIZER_UNK] = (int32_t)model.unknown;
    return rc;
}

int wt__parts_read_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    if (files->spm_model.len > 0)
        return read_spm_model(parts, files, err);
    if (files->vocab_json.len > 0 && files->merges_txt.len > 0)
        return read_bpe_files(parts, files, err);
    if (files->vocab_txt.len > 0)
        return read_wordpiece_files(parts, files, err);
    return wt__fail(err, WT_EMODEL,
                    "the model has no tokenizer: tokenizer.json, vocab.txt, vocab.json with merges.txt, or spm.model");
}
