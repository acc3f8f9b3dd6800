/* tokenizer_files.c: reads model directories without tokenizer.json. Such a directory has a vocabulary in the format
 * of its algorithm, and may have settings in tokenizer_config.json. Missing settings have the defaults of the
 * reference library. */
#include "text/internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---------------------------------------------------------------- spm.model
 *
 * A SentencePiece model is a protocol buffer. Only the needed fields are read. A field starts with a varint that holds
 * the field's number and type. The value follows: a varint, 8 bytes, 4 bytes, or a length and that many bytes. A nested
 * message is a length and its bytes. */

/* Reader of a SentencePiece model. */
struct sentencepiece {
    struct str rest;  /* unread part of the file */
    size_t len;       /* length of the file in bytes */
    struct str piece; /* last piece read */
    float score;      /* score of this piece */
    /* The other fields are final after the whole file has been read. */
    int64_t model_type; /* 1 for unigram */
    int64_t unknown;    /* id of the piece for unknown text */
    struct str map;     /* character map; may be empty */
};

enum wire { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

/* Field numbers of the model, of a piece, of the trainer's settings and of the normaliser's settings. */
enum { MODEL_PIECE = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, TRAINER_MODEL_TYPE = 3, TRAINER_UNKNOWN = 40, NORMALIZER_MAP = 2 };

struct spm_field {
    uint64_t number;
    enum wire wire;
    uint64_t value;   /* the varint, the four bytes, or the length of `bytes` */
    struct str bytes; /* content of a field of type WIRE_BYTES */
};

static bool read_varint(struct str *rest, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && rest->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)*rest->ptr++;
        rest->len--;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_wire_bytes(struct str *rest, uint64_t len, struct str *out)
{
    if (len > rest->len)
        return false;
    *out = (struct str){rest->ptr, (size_t)len};
    rest->ptr += len;
    rest->len -= (size_t)len;
    return true;
}

static bool read_next_field(struct str *rest, struct spm_field *out)
{
    uint64_t key = 0;
    if (!read_varint(rest, &key))
        return false;
    *out = (struct spm_field){.number = key >> 3, .wire = (enum wire)(key & 7)};
    switch (out->wire) {
    case WIRE_VARINT:
        return read_varint(rest, &out->value);
    case WIRE_BYTES:
        return read_varint(rest, &out->value) && read_wire_bytes(rest, out->value, &out->bytes);
    case WIRE_EIGHT:
        return read_wire_bytes(rest, 8, &out->bytes);
    case WIRE_FOUR:
        if (!read_wire_bytes(rest, 4, &out->bytes))
            return false;
        for (unsigned i = 4; i-- > 0;)
            out->value = out->value << 8 | (unsigned char)out->bytes.ptr[i];
        return true;
    default: /* groups are obsolete */
        return false;
    }
}

static bool read_spm_piece(struct sentencepiece *model, struct str message)
{
    struct spm_field field;
    model->piece = (struct str){0};
    model->score = 0;
    while (message.len > 0) {
        if (!read_next_field(&message, &field))
            return false;
        if (field.number == PIECE_TEXT && field.wire == WIRE_BYTES)
            model->piece = field.bytes;
        if (field.number == PIECE_SCORE && field.wire == WIRE_FOUR) {
            uint32_t bits = (uint32_t)field.value;
            memcpy(&model->score, &bits, sizeof bits);
        }
    }
    return true;
}

static bool read_spm_settings(struct sentencepiece *model, uint64_t which, struct str message)
{
    struct spm_field field;
    while (message.len > 0) {
        if (!read_next_field(&message, &field))
            return false;
        if (which == MODEL_TRAINER && field.wire == WIRE_VARINT && field.number == TRAINER_MODEL_TYPE)
            model->model_type = (int64_t)field.value;
        if (which == MODEL_TRAINER && field.wire == WIRE_VARINT && field.number == TRAINER_UNKNOWN)
            model->unknown = (int64_t)field.value;
        if (which == MODEL_NORMALIZER && field.wire == WIRE_BYTES && field.number == NORMALIZER_MAP)
            model->map = field.bytes;
    }
    return true;
}

/* Reads fields up to the next piece. Returns 1 if a piece was read, 0 at the end. Errors: WT_EFORMAT with the byte
 * offset. */
static int read_next_spm_piece(struct sentencepiece *model, wt_error *err)
{
    while (model->rest.len > 0) {
        struct spm_field field;
        bool sound = read_next_field(&model->rest, &field);
        bool piece = sound && field.wire == WIRE_BYTES && field.number == MODEL_PIECE;
        if (piece)
            sound = read_spm_piece(model, field.bytes);
        else if (sound && field.wire == WIRE_BYTES)
            sound = read_spm_settings(model, field.number, field.bytes);
        if (!sound)
            return wt__fail_at(err, WT_EFORMAT, 0, model->len - model->rest.len, NULL,
                               "malformed before byte %zu; not a SentencePiece model", model->len - model->rest.len);
        if (piece)
            return 1;
    }
    return 0;
}

/* Usual names of special tokens in the families of BERT and RoBERTa, in the order of enum tokenizer_special. */
static const char *const bert_names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
static const char *const roberta_names[] = {"<pad>", "<unk>", "<s>", "</s>", "<mask>"};

/* Adds the special tokens of the vocabulary as added tokens. family: names used for tokens without a configured
 * name. */
static int add_specials(struct tokenizer_parts *parts, const char *const *family, wt_error *err)
{
    for (size_t i = 0; i < TOKENIZER_SPECIALS; i++) {
        struct added_token token = {.content = parts->names[i].len > 0 ? parts->names[i] : wt__str(family[i])};
        int32_t id = wt__parts_find(parts, token.content);
        if (i == TOKENIZER_MASK && family == roberta_names)
            token.flags = ADDED_LSTRIP;
        if (i == TOKENIZER_UNK && parts->kind == TOKENIZER_UNIGRAM)
            token.normalized = true;
        if (i == TOKENIZER_MASK && parts->kind == TOKENIZER_UNIGRAM && id < 0)
            id = (int32_t)parts->piece_count; /* DeBERTa's mask is not a piece; its id follows the ids of the pieces */
        parts->names[i] = token.content;
        parts->special[i] = id;
        if (id >= 0)
            WT_TRY(wt__parts_add_token(parts, token, id, err));
    }
    return 0;
}

/* Reads vocab.txt: one token per line, with the 0-based line number as id. Empty lines count but define no token. */
static int read_vocab_txt(struct tokenizer_parts *parts, struct str text, wt_error *err)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    for (int64_t line = 0; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str token = {at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end;
        while (token.len > 0 && (token.ptr[token.len - 1] == '\r' || token.ptr[token.len - 1] == ' '))
            token.len--;
        int rc = token.len > 0 ? wt__parts_add_piece(parts, token, line, 0, err) : 0;
        if (rc < 0)
            return wt__fail_context(err, rc, "vocab.txt");
    }
    return 0;
}

static int read_wordpiece_files(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    bool lower_case = wt__json_bool(parts->config, "do_lower_case", true);
    bool mpnet = wt__str_starts(wt__json_str(parts->config, "tokenizer_class"), STR("MPNet"));
    WT_TRY(read_vocab_txt(parts, files->vocab_txt, err));
    parts->kind = TOKENIZER_WORDPIECE;
    parts->continuation = STR("##");
    parts->flags |= lower_case ? TOKENIZER_LOWER_CASE : 0U;
    parts->flags |= wt__json_bool(parts->config, "strip_accents", lower_case) ? TOKENIZER_STRIP_ACCENTS : 0U;
    parts->flags |= wt__json_bool(parts->config, "tokenize_chinese_chars", true) ? TOKENIZER_SPLIT_CJK : 0U;
    /* MPNet has the vocabulary of BERT, but places special tokens as RoBERTa does. */
    parts->flags |= mpnet ? TOKENIZER_PAIR_TWO_SEPS : TOKENIZER_PAIR_TYPES;
    if (mpnet && parts->names[TOKENIZER_UNK].len == 0)
        parts->names[TOKENIZER_UNK] = wt__str(bert_names[TOKENIZER_UNK]);
    return add_specials(parts, mpnet ? roberta_names : bert_names, err);
}

/* Reads merges.txt: an optional version line, then two names per line. */
static int read_merges_txt(struct tokenizer_parts *parts, struct str text, wt_error *err)
{
    WT_AUTO_FREE struct merge_names *names = NULL;
    size_t count = 0, capacity = 0;
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct str line = wt__str_trim((struct str){at, (size_t)((stop ? stop : end) - at)});
        const char *blank = line.len > 0 ? memchr(line.ptr, ' ', line.len) : NULL;
        at = stop ? stop + 1 : end;
        if (line.len == 0 || (count == 0 && wt__str_starts(line, STR("#version"))))
            continue;
        if (!blank)
            return wt__fail(err, WT_EMODEL, "merges.txt: a line does not have two tokens");
        if (wt__grow((void **)&names, &capacity, count + 1, sizeof *names) != 0)
            return wt__fail_nomem(err);
        names[count++] = (struct merge_names){{line.ptr, (size_t)(blank - line.ptr)},
                                              {blank + 1, (size_t)(line.ptr + line.len - blank) - 1}};
    }
    return wt__parts_add_merges(parts, names, count, err);
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
    WT_TRY(read_merges_txt(parts, files->merges_txt, err));
    return add_specials(parts, roberta_names, err);
}

static int read_spm_model(struct tokenizer_parts *parts, const struct tokenizer_files *files, wt_error *err)
{
    struct sentencepiece model = {.rest = files->spm_model, .len = files->spm_model.len, .model_type = 1};
    int rc;
    if (wt__json_bool(parts->config, "do_lower_case", false) || wt__json_bool(parts->config, "split_by_punct", false))
        return wt__fail(err, WT_EMODEL, "tokenizer_config.json: do_lower_case and split_by_punct are not supported");
    for (int64_t id = 0; (rc = read_next_spm_piece(&model, err)) > 0; id++) {
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
