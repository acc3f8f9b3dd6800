/* refusal.c: see refusal.h. Statuses follow RFC 9110, section 15; 400 if no specific status exists. */
#include "http/refusal.h"

#include <stddef.h>

static const struct {
    int status;
    const char *message;
} refusals[HTTP_REFUSALS] = {
    [HTTP_FINE] = {0, ""},
    [HTTP_LINE_FEED] = {400, "A line ends in a line feed without a carriage return."},
    [HTTP_CARRIAGE_RETURN] = {400, "A carriage return is not followed by a line feed."},
    [HTTP_CONTROL] = {400, "The head contains a control character."},
    [HTTP_EMPTY_LINE] = {400, "The request begins with an empty line."},
    [HTTP_REQUEST_LINE] = {400, "The first line must be a method, a target and HTTP/1.1, separated by single spaces."},
    [HTTP_METHOD] = {400, "The method is not supported."},
    [HTTP_TARGET_BYTE] = {400, "The target contains a character that must be percent-encoded."},
    [HTTP_TARGET_PERCENT] = {400, "A % in the target is not followed by two hexadecimal digits, or encodes a NUL."},
    [HTTP_TARGET_FORM] = {400, "The target is neither a path nor http://HOST/PATH."},
    [HTTP_TARGET_HOST] = {400, "The target and the Host field name different hosts."},
    [HTTP_FOLDED] = {400, "A field continues on the next line."},
    [HTTP_FIELD_COLON] = {400, "A line of the head has no colon."},
    [HTTP_FIELD_NAME] = {400, "The name of a field is empty or contains an invalid character."},
    [HTTP_FIELD_BLANK] = {400, "There is a blank before the colon of a field."},
    [HTTP_FIELD_TWICE] = {400, "A field that must be unique occurs twice."},
    [HTTP_HOST_MISSING] = {400, "The Host field is missing."},
    [HTTP_HOST] = {400, "The Host field is not a host with an optional port."},
    [HTTP_CONNECTION] = {400, "The Connection field is not a list of words."},
    [HTTP_LENGTH] = {400, "The Content-Length field is not a plain number."},
    [HTTP_LENGTH_AND_CODING] = {400, "Content-Length and Transfer-Encoding exclude each other."},
    [HTTP_CODING] = {400, "The Transfer-Encoding field is not `chunked`."},
    [HTTP_CODING_1_0] = {400, "HTTP/1.0 has no Transfer-Encoding."},
    [HTTP_CHUNK_SIZE] = {400, "The size of a chunk is not a plain hexadecimal number of at most 8 digits."},
    [HTTP_CHUNK_EXTENSION] = {400, "Chunk extensions are not supported."},
    [HTTP_CHUNK_END] = {400, "A chunk is longer than its size says."},
    [HTTP_TRAILER] = {400, "Trailer fields are not supported."},
    [HTTP_BODY_TOO_LARGE] = {413, "The body is too large."},
    [HTTP_TARGET_TOO_LONG] = {414, "The first line is too long."},
    [HTTP_EXPECTATION] = {417, "Only the expectation 100-continue is supported."},
    [HTTP_HEAD_TOO_LARGE] = {431, "The head is too large."},
    [HTTP_TOO_MANY_FIELDS] = {431, "The head has too many fields."},
    [HTTP_NO_MEMORY] = {503, "Out of memory; try again later."},
    [HTTP_VERSION] = {505, "Only HTTP/1.1 and HTTP/1.0 are supported."},
};

int wt__http_refusal_status(enum http_refusal refusal)
{
    return refusals[refusal].status;
}

const char *wt__http_refusal_message(enum http_refusal refusal)
{
    return refusals[refusal].message;
}
