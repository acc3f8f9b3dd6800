/* curl_library.h: libcurl, loaded when the first transfer begins. Linked in the usual way it would bring thirty
 * libraries into every process, which took longer than a whole search (docs/decisions/0004-libcurl-when-needed.md). */
#ifndef WT_NET_CURL_LIBRARY_H
#define WT_NET_CURL_LIBRARY_H

/* Checks of arguments that only work on the functions' own names; and options that old and new versions share. */
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include <stdbool.h>

#include "base/error.h"

/* The functions that are used, by their names without "curl_". */
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

/* Loaded and initialised once; safe from any thread. WT_ENETWORK when it is not installed. */
int wt__curl(const struct curl_library **out, wt_error *err);

/* What setting options [count] came to: 0, or "cannot VERB URL: why". WT_ENOMEM, WT_ENETWORK. */
int wt__curl_options(const struct curl_library *lib, const CURLcode *results, size_t count, const char *verb,
                     const char *url, wt_error *err);

/* The value of CURLOPT_PROXY for an address: "" (no proxy) if it is on this machine's loopback, where a proxy of the
 * environment would send requests, and the keys in them, to another machine; else NULL (as the environment says). */
const char *wt__curl_proxy(const struct curl_library *lib, const char *url);

/* Whether the failure may be gone at another attempt. */
bool wt__curl_may_pass(CURLcode code);

#endif
