/* error.h: what every header of whichtool stands on: what is exported, the version, how a struct is begun, and how a
 * failure is told. Programs include whichtool.h, whose conventions hold here. */
#ifndef WHICHTOOL_ERROR_H
#define WHICHTOOL_ERROR_H

#include <stddef.h>
#include <string.h>

#if defined(_WIN32)
#error "whichtool needs a POSIX system"
#elif defined(__GNUC__)
#define WT_API __attribute__((visibility("default")))
#else
#define WT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Defines an _init function. memset, so that padding, which a later field may take, is 0 too. */
#define WT_INIT(name, type)                                                                                            \
    static inline void name(type *out)                                                                                 \
    {                                                                                                                  \
        memset(out, 0, sizeof *out);                                                                                   \
        out->size = sizeof *out;                                                                                       \
    }

#define WT_VERSION_MAJOR 0
#define WT_VERSION_MINOR 1
#define WT_VERSION_PATCH 0
#define WT_VERSION "0.1.0"

/* Limits of what more than one header takes. Input beyond one is WT_ETOOLONG. Constants that a binding can read. */
enum {
    WT_MAX_DEFINITION_BYTES = 1 << 20, /* one tool's definition, one schema */
    WT_MAX_JSON_DEPTH = 64             /* nesting of objects and arrays */
};

typedef enum wt_code {
    WT_OK = 0,
    WT_EINVAL = -1,      /* an argument makes no sense; unrelated to errno's EINVAL */
    WT_EFORMAT = -2,     /* input is malformed */
    WT_ETOOLONG = -3,    /* input is over a limit: WT_MAX_... */
    WT_ENOTFOUND = -4,   /* no such file, tool, provider or model */
    WT_EEMPTY = -5,      /* the store holds no tools */
    WT_ESTORE = -6,      /* not a store, damaged, or the database failed */
    WT_ENEWER = -7,      /* the store was written by a newer whichtool */
    WT_EREADONLY = -8,   /* the store or its folder cannot be written */
    WT_EBUSY = -9,       /* another process kept the store locked too long */
    WT_EMODEL = -10,     /* the model is missing, damaged or of an unsupported kind; or a language model of no use */
    WT_ERECIPE = -11,    /* unknown recipe, or what it needs is missing */
    WT_EIO = -12,        /* reading or writing failed */
    WT_EFULL = -13,      /* the disk is full */
    WT_ENOMEM = -14,     /* out of memory */
    WT_ECANCELLED = -15, /* a progress callback asked to stop */
    WT_ENETWORK = -16,   /* a download failed, or a server or a language model did not answer */
    WT_ETIMEOUT = -17    /* the time limit that was given, or the work that is allowed, ran out */
} wt_code;

/* What went wrong. message is one sentence without a newline that names the file and, where known, the place. */
typedef struct wt_error {
    int code;          /* a wt_code */
    size_t line;       /* 1-based line in the source; 0 when unknown */
    size_t byte;       /* 0-based byte offset in the source; meaningful when line > 0 */
    char pointer[256]; /* JSON pointer (RFC 6901) of the value at fault; "" when none */
    char message[1024];
} wt_error;

/* The name of a code, as "WT_EFORMAT"; "WT_E?" for an unknown one. Static, never NULL. */
WT_API const char *wt_code_name(int code);

/* The library's version, equal to WT_VERSION of the header it was built with. Static. */
WT_API const char *wt_version(void);

#ifdef __cplusplus
}
#endif

#endif
