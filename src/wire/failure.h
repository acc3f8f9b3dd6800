/* failure.h: errors over HTTP: one JSON form, and a status for each code of the library.
 *
 *   {"error":{"code":"not_found","message":"...","pointer":"/filter/only/1"}}
 *
 * code: one of a fixed list, for programs
 * message: one sentence, for people
 * pointer: present if a value of the body or query is invalid */
#ifndef WT_WIRE_FAILURE_H
#define WT_WIRE_FAILURE_H

#include "base/buffer.h"
#include "base/error.h"

struct failure {
    int code;          /* wt_code */
    int status;        /* HTTP status */
    const char *word;  /* value of the member `code` */
    const char *means; /* description of the code, for the API description */
    bool again;        /* true if the same request may succeed later */
    bool is_ours;      /* true for errors of the server; clients then get `means` as the message */
};

/* Returns the row of a code. Returns the row of WT_EIO for an unknown code. */
const struct failure *wt__failure_of(int code);
/* Returns a row by index; NULL after the last. */
const struct failure *wt__failure_at(size_t index);

/* Copies an error without paths of the server, for clients. If `is_ours`, the message becomes `means`, unless a replica
 * refuses a change and names its writer. In other messages, store_path (NULL if unknown) becomes "the store", and
 * absolute paths become "a file". Returns true if the message changed; the caller should then log *err. out may be
 * err. */
bool wt__client_error(wt_error *out, const wt_error *err, const char *store_path);

/* Appends the JSON form of an error. */
void wt__json_failure(struct buffer *out, const char *word, const char *message, const char *pointer);

#endif
