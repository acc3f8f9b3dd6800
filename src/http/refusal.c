/* refusal.c: see refusal.h. Statuses are those of RFC 9110, section 15; what has none of its own is 400. */
#include "http/refusal.h"

#include <stddef.h>

static const struct {
    int status;
    const char *message;
} refusals[HTTP_REFUSALS] = {
    [HTTP_FINE] = {0, ""},
    [HTTP_LINE_FEED] = {400, "A line ends in a line feed without a carriage return."},
    [HTTP_CARRIAGE_RETURN] = {400, "A carriage return has no line feed behind it."},
    [HTTP_CONTROL] = {400, "The head has a control character in it."},
    [HTTP_EMPTY_LINE] = {400, "The request begins with an empty line."},
    [HTTP_REQUEST_LINE] = {400, "The first line is not a method, a target and HTTP/1.1 with one space between them."},
    [HTTP_METHOD] = {400, "The method is not one that a server answers."},
    [HTTP_TARGET_BYTE] = {400, "The target has a character in it that must be percent-encoded."},
    [HTTP_TARGET_PERCENT] = {400, "A % in the target is not followed by two hexadecimal digits, or means a NUL."},
    [HTTP_TARGET_FORM] = {400, "The target is neither a path nor http://HOST/PATH."},
    [HTTP_TARGET_HOST] = {400, "The target and the field Host name two hosts."},
    [HTTP_FOLDED] = {400, "A field goes on in the next line."},
    [HTTP_FIELD_COLON] = {400, "A line of the head has no colon in it."},
    [HTTP_FIELD_NAME] = {400, "The name of a field is empty, or has a character in it that names cannot have."},
    [HTTP_FIELD_BLANK] = {400, "There is a blank before the colon of a field."},
    [HTTP_FIELD_TWICE] = {400, "A field that may come only once comes twice."},
    [HTTP_HOST_MISSING] = {400, "There is no field Host."},
    [HTTP_HOST] = {400, "The field Host is not a host with or without a port."},
    [HTTP_CONNECTION] = {400, "The field Connection is not a list of words."},
    [HTTP_LENGTH] = {400, "The field Content-Length is not a plain number."},
    [HTTP_LENGTH_AND_CODING] = {400, "There are both Content-Length and Transfer-Encoding."},
    [HTTP_CODING] = {400, "The field Transfer-Encoding is not `chunked`."},
    [HTTP_CODING_1_0] = {400, "HTTP/1.0 has no Transfer-Encoding."},
    [HTTP_CHUNK_SIZE] = {400, "The size of a chunk is not a plain hexadecimal number of at most 8 digits."},
    [HTTP_CHUNK_EXTENSION] = {400, "Extensions of chunks are not taken."},
    [HTTP_CHUNK_END] = {400, "A chunk is longer than its size says."},
    [HTTP_TRAILER] = {400, "Fields behind the last chunk are not taken."},
    [HTTP_BODY_TOO_LARGE] = {413, "The body is too large."},
    [HTTP_TARGET_TOO_LONG] = {414, "The first line is too long."},
    [HTTP_EXPECTATION] = {417, "Only 100-continue may be expected."},
    [HTTP_HEAD_TOO_LARGE] = {431, "The head is too large."},
    [HTTP_TOO_MANY_FIELDS] = {431, "The head has too many fields."},
    [HTTP_NO_MEMORY] = {503, "There is no memory for the request now."},
    [HTTP_VERSION] = {505, "Only HTTP/1.1 and HTTP/1.0 are spoken here."},
};

int wt__http_refusal_status(enum http_refusal refusal)
{
    return refusals[refusal].status;
}

const char *wt__http_refusal_message(enum http_refusal refusal)
{
    return refusals[refusal].message;
}
