/* error.c: formats error messages. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fill_error(wt_error *err, int code, const char *format, va_list arguments)
{
    if (err) {
        err->code = code;
        err->line = 0;
        err->byte = 0;
        err->pointer[0] = '\0';
        vsnprintf(err->message, sizeof err->message, format, arguments);
        for (char *c = err->message; *c; c++)
            if (*c == '\n' || *c == '\r')
                *c = ' ';
    }
    return code;
}

int wt__fail(wt_error *err, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(err, code, format, arguments);
    va_end(arguments);
    return code;
}

int wt__fail_at(wt_error *err, int code, size_t line, size_t byte, const char *pointer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(err, code, format, arguments);
    va_end(arguments);
    if (err) {
        err->line = line;
        err->byte = byte;
        snprintf(err->pointer, sizeof err->pointer, "%s", pointer ? pointer : "");
    }
    return code;
}

static int code_of_errno(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return WT_EFULL;
    case ENOMEM:
        return WT_ENOMEM;
    case ENOENT:
    case ENOTDIR:
        return WT_ENOTFOUND;
    case EROFS:
    case EACCES:
    case EPERM:
        return WT_EREADONLY;
    default:
        return WT_EIO;
    }
}

/* Returns the text of an errno value. With _GNU_SOURCE, glibc's strerror_r returns the text. Other C libraries write
 * it to `reason`, and return an error code. */
static const char *describe_errno(int number, char *reason, size_t room)
{
#ifdef __GLIBC__
    return strerror_r(number, reason, room);
#else
    return strerror_r(number, reason, room) == 0 ? reason : "unknown error";
#endif
}

int wt__fail_errno(wt_error *err, const char *verb, const char *path)
{
    int number = errno;
    char reason[128];
    return wt__fail(err, code_of_errno(number), "cannot %s %s: %s%s", verb, path,
                    describe_errno(number, reason, sizeof reason),
                    number == EFBIG ? "; raise the limit of a file's size (ulimit -f)" : "");
}

int wt__fail_nomem(wt_error *err)
{
    return wt__fail(err, WT_ENOMEM, "out of memory");
}

int wt__fail_cancelled(wt_error *err)
{
    return wt__fail(err, WT_ECANCELLED, "stopped on request");
}

int wt__fail_same(wt_error *err, const wt_error *why)
{
    if (err)
        *err = *why;
    return why->code;
}

int wt__fail_context(wt_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    char context[512], message[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    err->code = code;
    memcpy(message, err->message, sizeof message);
    snprintf(err->message, sizeof err->message, "%s: %.*s", context, (int)(sizeof message - sizeof context - 3),
             message);
    return code;
}

const char *wt_code_name(int code)
{
    static const char *const names[] = {
        "WT_OK",     "WT_EINVAL", "WT_EFORMAT",   "WT_ETOOLONG",   "WT_ENOTFOUND", "WT_EEMPTY",
        "WT_ESTORE", "WT_ENEWER", "WT_EREADONLY", "WT_EBUSY",      "WT_EMODEL",    "WT_ERECIPE",
        "WT_EIO",    "WT_EFULL",  "WT_ENOMEM",    "WT_ECANCELLED", "WT_ENETWORK",  "WT_ETIMEOUT",
    };
    size_t index = (size_t) - (long)code;
    return code <= 0 && index < sizeof names / sizeof *names ? names[index] : "WT_E?";
}

const char *wt_version(void)
{
    return WT_VERSION;
}
