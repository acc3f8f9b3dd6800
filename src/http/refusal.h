/* refusal.h: the complete list of reasons for rejecting a request. */
#ifndef WT_HTTP_REFUSAL_H
#define WT_HTTP_REFUSAL_H

enum http_refusal {
    HTTP_FINE, /* no error */
    HTTP_LINE_FEED,
    HTTP_CARRIAGE_RETURN,
    HTTP_CONTROL,
    HTTP_EMPTY_LINE,
    HTTP_REQUEST_LINE,
    HTTP_METHOD,
    HTTP_TARGET_BYTE,
    HTTP_TARGET_PERCENT,
    HTTP_TARGET_FORM,
    HTTP_TARGET_HOST,
    HTTP_FOLDED,
    HTTP_FIELD_COLON,
    HTTP_FIELD_NAME,
    HTTP_FIELD_BLANK,
    HTTP_FIELD_TWICE,
    HTTP_HOST_MISSING,
    HTTP_HOST,
    HTTP_CONNECTION,
    HTTP_LENGTH,
    HTTP_LENGTH_AND_CODING,
    HTTP_CODING,
    HTTP_CODING_1_0,
    HTTP_CHUNK_SIZE,
    HTTP_CHUNK_EXTENSION,
    HTTP_CHUNK_END,
    HTTP_TRAILER,
    HTTP_BODY_TOO_LARGE,
    HTTP_TARGET_TOO_LONG,
    HTTP_EXPECTATION,
    HTTP_HEAD_TOO_LARGE,
    HTTP_TOO_MANY_FIELDS,
    HTTP_NO_MEMORY,
    HTTP_VERSION,
    HTTP_REFUSALS
};

/* Returns the status of the answer. */
int wt__http_refusal_status(enum http_refusal refusal);
/* Returns a sentence for the client about the error. */
const char *wt__http_refusal_message(enum http_refusal refusal);

#endif
