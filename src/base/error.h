/* error.h: how a failure is told, once, where it is understood.
 * A function that can fail returns 0 or a negative WT_E... code and fills the caller's wt_error. */
#ifndef WT_BASE_ERROR_H
#define WT_BASE_ERROR_H

#include "whichtool.h"

#define WT_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Fills *err (when not NULL; position cleared) and returns code. */
int wt__fail(wt_error *err, int code, const char *format, ...) WT_PRINTF(3, 4);

/* The same with a position: line is 1-based, byte 0-based, pointer a JSON pointer or NULL. */
int wt__fail_at(wt_error *err, int code, size_t line, size_t byte, const char *pointer, const char *format, ...)
    WT_PRINTF(6, 7);

/* For a failed system call: "cannot VERB PATH: reason", with the code that errno stands for
 * (ENOSPC, EDQUOT: WT_EFULL; ENOMEM: WT_ENOMEM; ENOENT: WT_ENOTFOUND; EROFS, EACCES, EPERM: WT_EREADONLY). */
int wt__fail_errno(wt_error *err, const char *verb, const char *path);

int wt__fail_nomem(wt_error *err);
/* The caller asked to stop. */
int wt__fail_cancelled(wt_error *err);

/* Puts "format...: " before the message that *err already holds, whose code becomes code; keeps the position. Returns
 * code. */
int wt__fail_context(wt_error *err, int code, const char *format, ...) WT_PRINTF(3, 4);

#endif
