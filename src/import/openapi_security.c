/* openapi_security.c: detects parameters set by the calling program: those of the document's security schemes, and
 * those that some services declare once and repeat in every operation. Detection by name is in credentials.c. */
#include <stdio.h>
#include <strings.h>

#include "base/json.h"
#include "import/openapi.h"

/* A service's shared parameters for signing, quotas, callbacks and formatting. They apply to documents with `mark`
 * among the shared parameters, and only where an operation refers to a shared parameter. Google's "fields" is kept:
 * some of its operations require it, and it selects the result. */
static const struct {
    const char *mark, *names[16];
} services[] = {
    {"quotaUser", /* Google */
     {"$.xgafv", "access_token", "alt", "bearer_token", "callback", "key", "oauth_token", "pp", "prettyPrint",
      "quotaUser", "uploadType", "upload_protocol", "userIp"}},
    {"X-Amz-Signature", /* Amazon */
     {"X-Amz-Content-Sha256", "X-Amz-Date", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Security-Token",
      "X-Amz-Signature", "X-Amz-SignedHeaders"}},
};
/* Headers of the protocol. OpenAPI says to ignore the first three among parameters. */
static const char *const protocol[] = {"Accept", "Content-Type", "Authorization", "Proxy-Authorization", "Cookie"};
/* Locations of shared parameters in OpenAPI 3 and in Swagger 2.0. */
static const char *const shared[] = {"#/components/parameters/", "#/parameters/"};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

int wt__openapi_schemes(struct openapi *document, const struct json_item *container)
{
    json_decref(document->schemes);
    int rc = wt__json_parse(&document->schemes, container->value.ptr, container->value.len, NULL);
    return rc == WT_ENOMEM ? rc : 0;
}

static bool is_scheme(const struct openapi *document, struct str place, struct str name)
{
    bool header = wt__str_equal(place, STR("header"));
    const char *id;
    json_t *scheme;
    json_object_foreach(document->schemes, id, scheme)
    {
        struct str given = wt__json_str(scheme, "name");
        if (wt__str_equal(wt__json_str(scheme, "in"), place) &&
            (header ? strcasecmp(given.ptr, name.ptr) == 0 : wt__str_equal(given, name)))
            return true;
    }
    return false;
}

/* True if the document declares a shared parameter with that name. */
static bool declares_shared(const struct openapi *document, const char *name)
{
    char pointer[64];
    for (size_t i = 0; i < COUNT(shared); i++) {
        snprintf(pointer, sizeof pointer, "%s%s", shared[i] + 1, name);
        if (wt__map_get(&document->index, wt__str(pointer)))
            return true;
    }
    return false;
}

static bool is_of_service(const struct openapi *document, const char *name)
{
    for (size_t s = 0; s < COUNT(services); s++)
        for (size_t i = 0; i < COUNT(services[s].names) && services[s].names[i]; i++)
            if (strcmp(name, services[s].names[i]) == 0)
                return declares_shared(document, services[s].mark);
    return false;
}

bool wt__openapi_is_plumbing(const struct openapi *document, const json_t *listed, const json_t *parameter)
{
    struct str place = wt__json_str(parameter, "in"), name = wt__json_str(parameter, "name");
    for (size_t i = 0; i < COUNT(protocol); i++)
        if (wt__str_equal(place, STR("header")) && strcasecmp(name.ptr, protocol[i]) == 0)
            return true;
    struct str reference = wt__json_str(listed, "$ref");
    bool common = wt__str_starts(reference, wt__str(shared[0])) || wt__str_starts(reference, wt__str(shared[1]));
    return is_scheme(document, place, name) || (common && is_of_service(document, name.ptr));
}
