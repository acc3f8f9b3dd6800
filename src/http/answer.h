/* answer.h: the bytes of an answer but for its body. */
#ifndef WT_HTTP_ANSWER_H
#define WT_HTTP_ANSWER_H

#include <stdint.h>

#include "base/buffer.h"
#include "http/request.h"

enum { HTTP_COMMON_FIELDS_MAX = 4 };

/* Fields that each answer to a request has, whoever gives it; what they view outlives the answer. */
struct http_fields {
    struct http_field items[HTTP_COMMON_FIELDS_MAX];
    size_t count;
};

enum http_answer_body {
    HTTP_BODY_NONE,    /* this status has none, nor a length */
    HTTP_BODY_LENGTH,  /* its length is known */
    HTTP_BODY_CHUNKED, /* it comes in chunks */
    HTTP_BODY_CLOSE,   /* the connection's end is its end */
};

struct http_answer_head {
    int status;
    const char *type;                 /* Content-Type, or NULL */
    const struct http_fields *common; /* or NULL */
    const struct http_field *fields;
    size_t field_count;
    enum http_answer_body body;
    size_t length; /* of HTTP_BODY_LENGTH */
    bool close;    /* the connection ends with it */
};

/* 1xx, 204 and 304 have no body (RFC 9112, section 6.3). */
bool wt__http_status_has_body(int status);
/* Fields that no answer may have in it, and those of framing, which are written here, are left out. */
void wt__http_write_head(struct buffer *out, const struct http_answer_head *head);
/* {"error":{"code":...,"message":...}}: the body of the server's own answers. message NULL: that of the status. */
void wt__http_write_error(struct buffer *out, int status, const char *message);

#endif
