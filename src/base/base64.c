#include "base/base64.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode_alphabet(struct buffer *out, struct str bytes, const char *alphabet, bool padded)
{
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t here = bytes.len - at < 3 ? bytes.len - at : 3;
        uint32_t bits = 0;
        for (size_t i = 0; i < 3; i++)
            bits = bits << 8 | (i < here ? (unsigned char)bytes.ptr[at + i] : 0);
        for (size_t i = 0; i <= here; i++)
            wt__buffer_char(out, alphabet[bits >> (18 - 6 * i) & 63]);
        for (size_t i = here; padded && i < 3; i++)
            wt__buffer_char(out, '=');
    }
}

void wt__base64(struct buffer *out, struct str bytes)
{
    encode_alphabet(out, bytes, standard, true);
}

void wt__base64_url(struct buffer *out, struct str bytes)
{
    encode_alphabet(out, bytes, url_safe, false);
}

/* Returns the index of c in the alphabet, or -1. */
static int digit_value(char c, const char *alphabet)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == alphabet[62] ? 62 : c == alphabet[63] ? 63 : -1;
}

/* Decodes text without padding. Rejects unused bits that are not 0, so that every value has only one encoding. */
static bool decode_alphabet(struct buffer *out, struct str text, const char *alphabet)
{
    if (text.len % 4 == 1)
        return false;
    for (size_t at = 0; at < text.len; at += 4) {
        size_t here = text.len - at < 4 ? text.len - at : 4;
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++) {
            int value = i < here ? digit_value(text.ptr[at + i], alphabet) : 0;
            if (value < 0)
                return false;
            bits = bits << 6 | (uint32_t)value;
        }
        for (size_t i = 0; i + 1 < here; i++)
            wt__buffer_char(out, (char)(bits >> (16 - 8 * i) & 255));
        if (here < 4 && bits << (8 + 8 * (here - 1)) != 0)
            return false;
    }
    return true;
}

bool wt__base64_decode(struct buffer *out, struct str text)
{
    if (text.len % 4 != 0)
        return false;
    for (unsigned i = 0; i < 2 && text.len > 0 && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    return decode_alphabet(out, text, standard);
}

bool wt__base64_url_decode(struct buffer *out, struct str text)
{
    return decode_alphabet(out, text, url_safe);
}
