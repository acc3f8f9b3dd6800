/* curl_library.c: see curl_library.h. The library is never unloaded, which would be unsafe after it has started threads
 * or initialised TLS. */
#include "net/curl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static struct curl_library library;
static bool ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    size_t offset; /* offset in struct curl_library */
} symbols[] = {
    {"curl_global_init", offsetof(struct curl_library, global_init)},
    {"curl_url", offsetof(struct curl_library, url)},
    {"curl_url_set", offsetof(struct curl_library, url_set)},
    {"curl_url_get", offsetof(struct curl_library, url_get)},
    {"curl_url_cleanup", offsetof(struct curl_library, url_cleanup)},
    {"curl_free", offsetof(struct curl_library, free)},
    {"curl_easy_init", offsetof(struct curl_library, easy_init)},
    {"curl_easy_cleanup", offsetof(struct curl_library, easy_cleanup)},
    {"curl_easy_reset", offsetof(struct curl_library, easy_reset)},
    {"curl_easy_setopt", offsetof(struct curl_library, easy_setopt)},
    {"curl_easy_perform", offsetof(struct curl_library, easy_perform)},
    {"curl_easy_getinfo", offsetof(struct curl_library, easy_getinfo)},
    {"curl_easy_strerror", offsetof(struct curl_library, easy_strerror)},
    {"curl_multi_init", offsetof(struct curl_library, multi_init)},
    {"curl_multi_cleanup", offsetof(struct curl_library, multi_cleanup)},
    {"curl_multi_add_handle", offsetof(struct curl_library, multi_add_handle)},
    {"curl_multi_remove_handle", offsetof(struct curl_library, multi_remove_handle)},
    {"curl_multi_perform", offsetof(struct curl_library, multi_perform)},
    {"curl_multi_poll", offsetof(struct curl_library, multi_poll)},
    {"curl_multi_wakeup", offsetof(struct curl_library, multi_wakeup)},
    {"curl_multi_info_read", offsetof(struct curl_library, multi_info_read)},
    {"curl_slist_append", offsetof(struct curl_library, slist_append)},
    {"curl_slist_free_all", offsetof(struct curl_library, slist_free_all)},
};

static void load_libcurl(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return;
        memcpy((char *)&library + symbols[i].offset, &symbol, sizeof symbol); /* a POSIX-safe conversion */
    }
    ready = library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int wt__curl(const struct curl_library **out, wt_error *err)
{
    pthread_once(&once, load_libcurl);
    *out = ready ? &library : NULL;
    if (ready)
        return 0;
    return wt__fail(err, WT_ENETWORK,
                    "cannot load libcurl (libcurl.so.4), which is needed for network access; install it");
}

int wt__curl_options(const struct curl_library *lib, const CURLcode *results, size_t count, const char *verb,
                     const char *url, wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (results[i] != CURLE_OK)
            return wt__fail(err, results[i] == CURLE_OUT_OF_MEMORY ? WT_ENOMEM : WT_ENETWORK, "cannot %s %s: %s", verb,
                            url, lib->easy_strerror(results[i]));
    return 0;
}

bool wt__curl_is_temporary(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

/* True for 127.0.0.0/8 in digits, ::1, and names that RFC 6761 reserves for loopback. */
static bool is_loopback_host(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host), digits = strspn(host, "0123456789.");
    if (digits == len)
        return strncmp(host, "127.", 4) == 0;
    if (host[len - 1] == '.')
        len--;
    bool is_name = len >= sizeof name - 1 && strncasecmp(host + len - (sizeof name - 1), name, sizeof name - 1) == 0 &&
                   (len == sizeof name - 1 || host[len - sizeof name] == '.');
    return is_name || strcmp(host, "[::1]") == 0;
}

const char *wt__curl_proxy(const struct curl_library *lib, const char *url)
{
    CURLU *parts = lib->url();
    char *host = NULL;
    bool local = parts && lib->url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                 lib->url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK && host[0] && is_loopback_host(host);
    lib->free(host);
    lib->url_cleanup(parts);
    return local ? "" : NULL;
}
