/* head.h: the head of a request: its first line and its fields. */
#ifndef WT_HTTP_HEAD_H
#define WT_HTTP_HEAD_H

#include "http/framing.h"

/* Reads a whole head into *request, whose views are of it, and what it says of the body into *framing. head: lines that
 * end in CR LF, the last one not empty, without other control characters than tabs (reader.c sees to that). */
enum http_refusal wt__http_read_head(struct http_request *request, struct http_framing *framing, struct str head);

#endif
