/* sentencepiece.c: the needed parts of the protocol buffer wire format.
 *
 * A field is a varint with its number and type, followed by a varint, 8 bytes, 4 bytes, or a length and as many bytes.
 * Nested messages have the last type. */
#include "text/sentencepiece.h"

enum wire { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

/* Field numbers of the model, a piece, the trainer's settings, and the normaliser's. */
enum {
    MODEL_PIECE = 1,
    MODEL_TRAINER = 2,
    MODEL_NORMALIZER = 3,
    PIECE_TEXT = 1,
    PIECE_SCORE = 2,
    TRAINER_MODEL_TYPE = 3,
    TRAINER_UNKNOWN = 40,
    NORMALIZER_MAP = 2
};

struct spm_field {
    uint64_t number;
    enum wire wire;
    uint64_t value;   /* the varint, or the four bytes */
    struct str bytes; /* content of WIRE_BYTES */
};

static bool next_varint(struct str *rest, uint64_t *out)
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

static bool next_bytes(struct str *rest, uint64_t len, struct str *out)
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

    if (!next_varint(rest, &key))
        return false;
    *out = (struct spm_field){.number = key >> 3, .wire = (enum wire)(key & 7)};
    switch (out->wire) {
    case WIRE_VARINT:
        return next_varint(rest, &out->value);
    case WIRE_BYTES:
        return next_varint(rest, &out->value) && next_bytes(rest, out->value, &out->bytes);
    case WIRE_EIGHT:
        return next_bytes(rest, 8, &out->bytes);
    case WIRE_FOUR:
        if (!next_bytes(rest, 4, &out->bytes))
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

void wt__sentencepiece_open(struct sentencepiece *out, struct str model)
{
    *out = (struct sentencepiece){.rest = model, .len = model.len, .model_type = 1};
}

int wt__sentencepiece_next(struct sentencepiece *model, wt_error *err)
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
