/* error.h: fills wt_error. A function that can fail returns 0 or a negative WT_E... code and fills the caller's
 * wt_error. */
#ifndef WT_BASE_ERROR_H
#define WT_BASE_ERROR_H

#include "whichtool.h"

#define WT_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Fills *err if err is not NULL, clears its position, and returns code. */
int wt__fail(wt_error *err, int code, const char *format, ...) WT_PRINTF(3, 4);

/* Works like wt__fail and sets a position. line is 1-based, byte 0-based, pointer a JSON pointer or NULL. */
int wt__fail_at(wt_error *err, int code, size_t line, size_t byte, const char *pointer, const char *format, ...)
    WT_PRINTF(6, 7);

/* Reports a failed system call as "cannot VERB PATH: reason", with a code derived from errno:
 *
 *   ENOSPC, EDQUOT, EFBIG   WT_EFULL
 *   ENOMEM                  WT_ENOMEM
 *   ENOENT, ENOTDIR         WT_ENOTFOUND
 *   EROFS, EACCES, EPERM    WT_EREADONLY
 *   others                  WT_EIO */
int wt__fail_errno(wt_error *err, const char *verb, const char *path);

int wt__fail_nomem(wt_error *err);
/* Reports that the caller cancelled the operation. */
int wt__fail_cancelled(wt_error *err);

/* Prefixes the message in *err with "format...: " and replaces its code; keeps the position. Returns code. */
int wt__fail_context(wt_error *err, int code, const char *format, ...) WT_PRINTF(3, 4);

/* Copies an error into *err if err is not NULL. Returns its code. */
int wt__fail_same(wt_error *err, const wt_error *why);

/* Returns the result of `call` from the enclosing function if it is not 0. */
#define WT_TRY(call)                                                                                                   \
    do {                                                                                                               \
        int wt_try_rc = (call);                                                                                        \
        if (wt_try_rc != 0)                                                                                            \
            return wt_try_rc;                                                                                          \
    } while (0)

/* Reports out of memory and returns WT_ENOMEM from the enclosing function if `pointer`, a pointer or a condition, is
 * NULL or false. */
#define WT_CHECK_ALLOC(pointer, err)                                                                                   \
    do {                                                                                                               \
        if (!(pointer))                                                                                                \
            return wt__fail_nomem(err);                                                                                \
    } while (0)

#endif
