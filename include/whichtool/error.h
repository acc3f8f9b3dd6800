/* error.h: the basis of all headers of whichtool: exported symbols, the version, the _init functions and errors.
 * Programs include whichtool.h, and its conventions apply. */
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

/* Defines the _init function of a struct. Uses memset so that padding, which a future field may use, is also 0. */
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

/* Value that turns an option off, where 0 means the default. Any negative value has the same effect. */
#define WT_OFF (-1.0)

/* Limits shared by several headers. Input beyond a limit is WT_ETOOLONG, except that an import of many tools skips the
 * tool. The limits are enumerators instead of macros, so that a binding generator finds them in the header. */
enum {
    WT_MAX_DEFINITION_BYTES = 1 << 20, /* definition of one tool, or one schema */
    WT_MAX_JSON_DEPTH = 64             /* nesting of objects and arrays */
};

/* Error codes, unrelated to the constants of errno.h. */
typedef enum wt_code {
    WT_OK = 0,
    WT_EINVAL = -1,      /* invalid argument */
    WT_EFORMAT = -2,     /* malformed input */
    WT_ETOOLONG = -3,    /* input beyond a limit (WT_MAX_...) */
    WT_ENOTFOUND = -4,   /* no such file, tool, provider or model */
    WT_EEMPTY = -5,      /* no tools in the store, or no data to work on */
    WT_ESTORE = -6,      /* not a store, a damaged store, or a database error */
    WT_ENEWER = -7,      /* store written by a newer whichtool */
    WT_EREADONLY = -8,   /* store or folder not writable */
    WT_EBUSY = -9,       /* locked by another process for too long */
    WT_EMODEL = -10,     /* model missing, damaged or unsupported; or a language model with unusable answers */
    WT_ERECIPE = -11,    /* unknown recipe, or one whose requirements are missing */
    WT_EIO = -12,        /* read or write error */
    WT_EFULL = -13,      /* disk full */
    WT_ENOMEM = -14,     /* out of memory */
    WT_ECANCELLED = -15, /* cancelled by a progress callback */
    WT_ENETWORK = -16,   /* failed download, or a server or language model that does not answer */
    WT_ETIMEOUT = -17    /* time limit or work limit exceeded */
} wt_code;

/* Details of a failure. Owned by the caller, and written only on failure. */
typedef struct wt_error {
    int code;           /* a wt_code */
    size_t line;        /* 1-based line in the source; 0 if unknown */
    size_t byte;        /* 0-based byte offset in the source; valid if line > 0 */
    char pointer[256];  /* JSON pointer (RFC 6901) of the invalid value, or "" */
    char message[1024]; /* one line; names the file, if any, and the place, if known */
} wt_error;

/* Returns the name of a code, such as "WT_EFORMAT"; "WT_E?" if unknown. Static, never NULL. */
WT_API const char *wt_code_name(int code);

/* Returns the version of the library, which is WT_VERSION of the header it was built with. Static. */
WT_API const char *wt_version(void);

#ifdef __cplusplus
}
#endif

#endif
