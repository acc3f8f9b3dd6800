/* failure.h: how a failure is told over HTTP: one JSON form, and a status for each code of the library.
 *
 *   {"error":{"code":"not_found","message":"...","pointer":"/filter/only/1"}}
 *
 * code is one of a fixed list, for programs; message is one sentence for people; pointer is there where a value of the
 * body or the query is at fault. */
#ifndef WT_WIRE_FAILURE_H
#define WT_WIRE_FAILURE_H

#include "base/buffer.h"
#include "base/error.h"

struct failure {
    int code;         /* a wt_code */
    int status;       /* of HTTP */
    const char *word; /* the member code */
    const char *means;
    bool again;   /* the same request may do later */
    bool is_ours; /* it says nothing about the request: a client is told what it means, and no more */
};

/* The row of a code; that of an unknown one is WT_EIO's. */
const struct failure *wt__failure_of(int code);
/* By index from 0; NULL past the last. */
const struct failure *wt__failure_at(size_t index);

/* What a client is told of an error: nothing of this machine's files. An error that is the server's own becomes the
 * sentence of its row; of any other, the store's path (NULL: none is known) and absolute paths are taken out. Returns
 * true if the message was changed, so that a log should have *err. out may be err. */
bool wt__client_error(wt_error *out, const wt_error *err, const char *store_path);

void wt__json_failure(struct buffer *out, const char *word, const char *message, const char *pointer);

#endif
