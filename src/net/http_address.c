/* http_address.c: see http_address.h. libcurl parses the addresses, as it does when it connects. */
#include "net/http_address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "net/curl_library.h"

static bool have_same_part(const struct curl_library *lib, const CURLU *a, const CURLU *b, CURLUPart what)
{
    char *one = NULL, *two = NULL;
    bool equal = lib->url_get(a, what, &one, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                 lib->url_get(b, what, &two, CURLU_DEFAULT_PORT) == CURLUE_OK && strcasecmp(one, two) == 0;
    lib->free(one);
    lib->free(two);
    return equal;
}

/* Copies the user of `from` to an absolute address without one. */
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
    int rc = wt__curl(&lib, err);
    *out = NULL;
    if (rc < 0)
        return rc;
    CURLU *urls[2]; /* from, to */
    for (size_t i = 0; i < 2; i++)
        urls[i] = lib->url();
    CURLU *from = urls[0], *to = urls[1];
    char *text = wt__copy_string(reference.ptr, reference.len), *whole = NULL;
    bool sound = text && from && to && memchr(reference.ptr, '\0', reference.len) == NULL &&
                 lib->url_set(from, CURLUPART_URL, base, 0) == CURLUE_OK &&
                 lib->url_set(to, CURLUPART_URL, base, 0) == CURLUE_OK &&
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
