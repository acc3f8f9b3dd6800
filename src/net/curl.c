/* curl.c: loads libcurl, and builds addresses and header lines with it; see internal.h. The library is never unloaded,
 * because unloading is unsafe after it has started threads or initialised TLS. A static program cannot load a library,
 * so WT_STATIC_PROGRAM takes the functions of the linked one. */
#include "net/internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/memory.h"

static struct curl_library library;
static bool ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define CURL_FUNCTIONS(DO)                                                                                             \
    DO(global_init)                                                                                                    \
    DO(url)                                                                                                            \
    DO(url_set)                                                                                                        \
    DO(url_get)                                                                                                        \
    DO(url_cleanup)                                                                                                    \
    DO(free)                                                                                                           \
    DO(easy_init)                                                                                                      \
    DO(easy_cleanup)                                                                                                   \
    DO(easy_reset)                                                                                                     \
    DO(easy_setopt)                                                                                                    \
    DO(easy_perform)                                                                                                   \
    DO(easy_getinfo)                                                                                                   \
    DO(easy_strerror)                                                                                                  \
    DO(multi_init)                                                                                                     \
    DO(multi_cleanup)                                                                                                  \
    DO(multi_add_handle)                                                                                               \
    DO(multi_remove_handle)                                                                                            \
    DO(multi_perform)                                                                                                  \
    DO(multi_poll)                                                                                                     \
    DO(multi_wakeup)                                                                                                   \
    DO(multi_info_read)                                                                                                \
    DO(slist_append)                                                                                                   \
    DO(slist_free_all)

#ifdef WT_STATIC_PROGRAM

#define MEMBER(name) .name = curl_##name,

static bool find_functions(void)
{
    library = (struct curl_library){CURL_FUNCTIONS(MEMBER)};
    return true;
}

CURLcode wt__curl_trust(const struct curl_library *lib, CURL *transfer)
{
    static const char *const files[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",                  /* BSD */
    };
    const char *path = getenv("SSL_CERT_FILE");
    for (size_t i = 0; (!path || !path[0]) && i < sizeof files / sizeof *files; i++)
        path = access(files[i], R_OK) == 0 ? files[i] : NULL;
    return lib->easy_setopt(transfer, CURLOPT_CAINFO, path ? path : files[0]);
}

#else

#define SYMBOL(name) {"curl_" #name, offsetof(struct curl_library, name)},

static const struct {
    const char *name;
    size_t offset; /* offset in struct curl_library */
} symbols[] = {CURL_FUNCTIONS(SYMBOL)};

static bool find_functions(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return false;
        memcpy((char *)&library + symbols[i].offset, &symbol,
               sizeof symbol); /* ISO C has no cast from void * to a function */
    }
    return true;
}

CURLcode wt__curl_trust(const struct curl_library *lib, CURL *transfer)
{
    (void)lib, (void)transfer;
    return CURLE_OK;
}

#endif

static void load_libcurl(void)
{
    ready = find_functions() && library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int wt__curl(const struct curl_library **out, wt_error *err)
{
    pthread_once(&once, load_libcurl);
    *out = ready ? &library : NULL;
    return ready ? 0
                 : wt__fail(err, WT_ENETWORK,
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

static bool have_same_part(const struct curl_library *lib, const CURLU *a, const CURLU *b, CURLUPart what)
{
    char *one = NULL, *two = NULL;
    bool equal = lib->url_get(a, what, &one, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                 lib->url_get(b, what, &two, CURLU_DEFAULT_PORT) == CURLUE_OK && strcasecmp(one, two) == 0;
    lib->free(one);
    lib->free(two);
    return equal;
}

/* Copies user and password of `from` to `to`, unless `to` has a user. */
static void keep_user(const struct curl_library *lib, const CURLU *from, CURLU *to)
{
    static const CURLUPart parts[] = {CURLUPART_USER, CURLUPART_PASSWORD};
    char *user = NULL;
    bool has_user = lib->url_get(to, CURLUPART_USER, &user, 0) == CURLUE_OK;
    lib->free(user);
    for (size_t i = 0; !has_user && i < sizeof parts / sizeof *parts; i++) {
        char *text = NULL;
        if (lib->url_get(from, parts[i], &text, 0) == CURLUE_OK)
            lib->url_set(to, parts[i], text, 0);
        lib->free(text);
    }
}

int wt__http_resolve(char **out, const char *base, struct str reference, wt_error *err)
{
    static const CURLUPart origin[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
    const struct curl_library *lib;
    int rc = 0;
    *out = NULL;
    WT_TRY(wt__curl(&lib, err));
    CURLU *from = lib->url(), *to = lib->url();
    char *text = wt__copy_string(reference.ptr, reference.len), *whole = NULL;
    bool sound = text && from && memchr(reference.ptr, '\0', reference.len) == NULL &&
                 lib->url_set(from, CURLUPART_URL, base, 0) == CURLUE_OK;
    sound = sound && to && lib->url_set(to, CURLUPART_URL, base, 0) == CURLUE_OK &&
            lib->url_set(to, CURLUPART_URL, text, 0) == CURLUE_OK;
    for (size_t i = 0; sound && i < sizeof origin / sizeof *origin; i++)
        sound = have_same_part(lib, from, to, origin[i]);
    if (sound)
        keep_user(lib, from, to);
    if (sound && lib->url_get(to, CURLUPART_URL, &whole, 0) == CURLUE_OK)
        *out = wt__copy_string(whole, strlen(whole));
    if (!text || !from || !to || (whole && !*out))
        rc = wt__fail_nomem(err);
    else if (!*out)
        rc = wt__fail(err, WT_EINVAL, "the address is not on the server that named it");
    lib->free(whole);
    lib->url_cleanup(from);
    lib->url_cleanup(to);
    free(text);
    return rc;
}

static int add_header_line(struct curl_slist **lines, const struct curl_library *lib, const char *line, wt_error *err)
{
    struct curl_slist *longer = lib->slist_append(*lines, line);
    WT_CHECK_ALLOC(longer, err);
    *lines = longer;
    return 0;
}

static int add_header(struct curl_slist **lines, const struct curl_library *lib, const struct http_header *header,
                      wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (!header->value || !header->value[0])
        return 0;
    WT_TRY(wt__http_check_header(header, err));
    wt__buffer_printf(&line, "%s: %s", header->name, header->value);
    return line.failed ? wt__fail_nomem(err) : add_header_line(lines, lib, line.ptr, err);
}

int wt__http_fields(struct curl_slist **out, const struct curl_library *lib, const char *accept,
                    const struct http_header *headers, size_t count, wt_error *err)
{
    /* Disable Expect: libcurl would wait for 100 Continue before a large body, and many servers do not send it. */
    static const char *const always[] = {"Content-Type: application/json", "Expect:"};
    const struct http_header types = {"Accept", accept ? accept : "application/json"};
    *out = NULL;
    WT_TRY(add_header(out, lib, &types, err));
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        WT_TRY(add_header_line(out, lib, always[i], err));
    for (size_t i = 0; i < count; i++)
        WT_TRY(add_header(out, lib, &headers[i], err));
    return 0;
}

bool wt__http_field_value(struct str line, const char *name, struct str *value)
{
    size_t len = strlen(name);
    if (line.len <= len || line.ptr[len] != ':' || strncasecmp(line.ptr, name, len) != 0)
        return false;
    *value = wt__str_trim((struct str){line.ptr + len + 1, line.len - len - 1});
    return true;
}

void wt__http_copy_field(char *out, size_t room, struct str value)
{
    size_t len = value.len < room ? value.len : room - 1;
    memcpy(out, value.ptr, len);
    out[len] = '\0';
}

int wt__http_check_header(const struct http_header *header, wt_error *err)
{
    const char *value = header->value ? header->value : "";
    bool is_valid = strlen(value) <= HTTP_HEADER_BYTES_MAX;
    for (const char *c = value; *c; c++)
        is_valid &= (unsigned char)*c >= ' ' && *c != 0x7f;
    return is_valid
               ? 0
               : wt__fail(err, WT_EINVAL, "the value of %s is too long or contains a control character", header->name);
}
