/* chunks.h: a body in chunks (RFC 9112, section 7.1), taken apart as it comes. */
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

/* All zero is the beginning of a body. */
struct http_chunks {
    enum http_chunk_part part; /* that comes next */
    unsigned digits;
    uint32_t left; /* bytes of this chunk */
};

/* Takes from *input what belongs to the body, whose bytes go to `body`, at most body_max in all. The body is whole when
 * part is HTTP_CHUNK_DONE. */
enum http_refusal wt__http_read_chunks(struct http_chunks *chunks, struct str *input, struct buffer *body,
                                       size_t body_max);

#endif
