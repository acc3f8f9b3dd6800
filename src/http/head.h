/* head.h: parses the head of a request: request line and fields. */
#ifndef WT_HTTP_HEAD_H
#define WT_HTTP_HEAD_H

#include "http/framing.h"

/* Parses a complete head into *request, with views of head, and its framing into *framing. head: lines ending in CR LF,
 * without an empty last line and without control characters except tabs (checked by reader.c). */
enum http_refusal wt__http_read_head(struct http_request *request, struct http_framing *framing, struct str head);

#endif
