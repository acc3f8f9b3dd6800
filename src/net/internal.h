/* internal.h: libcurl for the files of src/net.
 *
 * libcurl is loaded on the first transfer. Linking it would load thirty libraries into every process, which took longer
 * than a search (docs/decisions/0004-libcurl-when-needed.md). */
#ifndef WT_NET_INTERNAL_H
#define WT_NET_INTERNAL_H

/* Disable argument checks, which only work with the original function names. Disable warnings about deprecated options,
 * because old versions of libcurl lack the new options. */
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include <stdbool.h>

#include "base/error.h"
#include "net/http_client.h"

/* The functions in use, named without "curl_". */
struct curl_library {
    CURLcode (*global_init)(long flags);
    CURLU *(*url)(void);
    CURLUcode (*url_set)(CURLU *parts, CURLUPart what, const char *part, unsigned int flags);
    CURLUcode (*url_get)(const CURLU *parts, CURLUPart what, char **part, unsigned int flags);
    void (*url_cleanup)(CURLU *parts);
    void (*free)(void *text);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *transfer);
    void (*easy_reset)(CURL *transfer);
    CURLcode (*easy_setopt)(CURL *transfer, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *transfer);
    CURLcode (*easy_getinfo)(CURL *transfer, CURLINFO info, ...);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *transfer);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *transfer);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout_ms, int *ready);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
};

/* Loads and initialises libcurl once; thread-safe. Fails with WT_ENETWORK if it is not installed. */
int wt__curl(const struct curl_library **out, wt_error *err);

/* Checks the `count` results of easy_setopt. Returns 0 or fails with "cannot VERB URL: reason". Errors: WT_ENOMEM,
 * WT_ENETWORK. */
int wt__curl_options(const struct curl_library *lib, const CURLcode *results, size_t count, const char *verb,
                     const char *url, wt_error *err);

/* Names the file of trusted certificates to a transfer, if libcurl is linked: $SSL_CERT_FILE, or the file of the
 * system. The libcurl of a system knows its file. */
CURLcode wt__curl_trust(const struct curl_library *lib, CURL *transfer);

/* Returns the value of CURLOPT_PROXY for an address. For loopback it is "" (no proxy), because a proxy from the
 * environment would send requests and their keys to another machine. Otherwise it is NULL (use the environment). */
const char *wt__curl_proxy(const struct curl_library *lib, const char *url);

/* True if a retry may succeed after this error. */
bool wt__curl_is_temporary(CURLcode code);

/* Builds all header lines of a request. Free them with slist_free_all, even after a failure. accept: NULL for
 * application/json. Errors: WT_EINVAL (invalid header), WT_ENOMEM. */
int wt__http_fields(struct curl_slist **out, const struct curl_library *lib, const char *accept,
                    const struct http_header *headers, size_t count, wt_error *err);

/* Sets *value if the line is a header with this name. Returns false otherwise. */
bool wt__http_field_value(struct str line, const char *name, struct str *value);
/* Copies a value with a NUL, truncated to room. */
void wt__http_copy_field(char *out, size_t room, struct str value);

#endif
