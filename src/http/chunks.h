/* chunks.h: incremental decoder of chunked bodies (RFC 9112, section 7.1). */
#ifndef WT_HTTP_CHUNKS_H
#define WT_HTTP_CHUNKS_H

#include <stdint.h>

#include "base/buffer.h"
#include "http/refusal.h"

enum http_chunk_part {
    HTTP_CHUNK_DIGITS,
    HTTP_CHUNK_DIGITS_END,
    HTTP_CHUNK_BYTES,
    HTTP_CHUNK_RETURN,
    HTTP_CHUNK_LINE_FEED,
    HTTP_CHUNK_LAST_RETURN,
    HTTP_CHUNK_LAST_LINE_FEED,
    HTTP_CHUNK_DONE
};

/* A zeroed struct is the start of a body. */
struct http_chunks {
    enum http_chunk_part part; /* next part */
    unsigned digits;
    uint32_t left; /* remaining bytes of this chunk */
};

/* Consumes the body's part of *input and appends its bytes to `body`, at most body_max in total. The body is complete
 * when part is HTTP_CHUNK_DONE. */
enum http_refusal wt__http_read_chunks(struct http_chunks *chunks, struct str *input, struct buffer *body,
                                       size_t body_max);

#endif
