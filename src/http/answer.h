/* answer.h: serialises the head of an answer. */
#ifndef WT_HTTP_ANSWER_H
#define WT_HTTP_ANSWER_H

#include <stdint.h>

#include "base/buffer.h"
#include "http/request.h"

enum { HTTP_COMMON_FIELDS_MAX = 4 };

/* Fields of every answer to a request, whichever part of the server answers. Their views must outlive the answer. */
struct http_fields {
    struct http_field items[HTTP_COMMON_FIELDS_MAX];
    size_t count;
};

enum http_answer_body {
    HTTP_BODY_NONE,    /* the status allows neither body nor length */
    HTTP_BODY_LENGTH,  /* body with Content-Length */
    HTTP_BODY_CHUNKED, /* chunked body */
    HTTP_BODY_CLOSE,   /* body ends with the connection */
};

struct http_answer_head {
    int status;
    const char *type;                 /* Content-Type, or NULL */
    const struct http_fields *common; /* may be NULL */
    const struct http_field *fields;
    size_t field_count;
    enum http_answer_body body;
    size_t length; /* for HTTP_BODY_LENGTH */
    bool close;    /* close the connection after this answer */
};

/* True if the status may have a body; 1xx, 204 and 304 may not (RFC 9112, section 6.3). */
bool wt__http_status_has_body(int status);
/* Appends the head, including the framing fields. Omits invalid fields and framing fields in head->fields. */
void wt__http_write_head(struct buffer *out, const struct http_answer_head *head);
/* Appends {"error":{"code":...,"message":...}}, the body of the server's own answers. If message is NULL, uses the
 * message of the status. */
void wt__http_write_error(struct buffer *out, int status, const char *message);

#endif
