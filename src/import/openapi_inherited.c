/* openapi_inherited.c: makes the definition of an operation self-contained. A document or path states once where its
 * operations are sent and how they are authorised, and an operation overrides it. An approval of a tool covers these
 * members too, so they are part of the definition (docs/audit.md, "Pins"), after the operation's own members:
 *
 * own bytes, without the last brace  ,"servers":[...],"security":[...],"x-securitySchemes":{...}}
 *
 * A million operations may inherit from a document of megabytes. So an inherited value longer than
 * OPENAPI_INHERITED_BYTES is replaced by its hash, which still reveals a change. */
#include "base/json.h"
#include "catalog/definition_hash.h"
#include "import/openapi.h"

#define SCHEMES_KEY "x-securitySchemes"
/* The last three are of Swagger 2.0. */
static const char *const inherited[] = {"servers", "security", "host", "basePath", "schemes", SCHEMES_KEY};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

json_t *wt__openapi_brief(const json_t *value)
{
    char text[sizeof "sha256:" + DEFINITION_DIGITS] = "sha256:";
    if (json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) <= OPENAPI_INHERITED_BYTES)
        return json_incref((json_t *)value);
    return wt__json_hash(value, text + strlen(text)) < 0 ? NULL : json_string(text);
}

static int set_brief(json_t *out, const char *key, const json_t *value)
{
    json_t *brief = value ? wt__openapi_brief(value) : NULL;
    return value && (!brief || json_object_set_new(out, key, brief) < 0) ? WT_ENOMEM : 0;
}

/* Sets the schemes named by the requirements, if any. */
static int set_schemes(const struct openapi *document, json_t *out, const json_t *security)
{
    json_t *used = json_object(), *requirement, *scopes;
    const char *name;
    size_t i;
    bool failed = !used;
    json_array_foreach((json_t *)security, i, requirement)
    {
        json_object_foreach(requirement, name, scopes)
        {
            json_t *scheme = json_object_get(document->brief_schemes, name);
            failed |= scheme && json_object_set(used, name, scheme) < 0;
        }
    }
    int rc = failed ? WT_ENOMEM : 0;
    if (rc == 0 && json_object_size(used) > 0)
        rc = set_brief(out, SCHEMES_KEY, used);
    json_decref(used);
    return rc;
}

int wt__openapi_inherit(struct openapi *document, const json_t *root)
{
    const char *name;
    json_t *scheme;
    document->inherited = json_object();
    document->brief_schemes = json_object();
    int rc = document->inherited && document->brief_schemes ? 0 : WT_ENOMEM;
    json_object_foreach(document->schemes, name, scheme)
    {
        if (rc == 0)
            rc = set_brief(document->brief_schemes, name, scheme);
    }
    for (size_t i = 0; rc == 0 && i < COUNT(inherited); i++)
        rc = set_brief(document->inherited, inherited[i], json_object_get(root, inherited[i]));
    return rc == 0 ? set_schemes(document, document->inherited, json_object_get(root, "security")) : rc;
}

static const json_t *find_inherited(const json_t *first, const json_t *second, const char *key)
{
    const json_t *value = json_object_get(first, key);
    return value ? value : json_object_get(second, key);
}

int wt__openapi_definition(struct openapi *document, const json_t *servers, const json_t *operation, struct str own,
                           struct str *out)
{
    json_t *near = json_object(); /* from the path and the operation */
    const json_t *security = json_object_get(operation, "security");
    struct buffer text = {0};
    bool first = json_object_size(operation) == 0, same = !document->reader->yaml;
    int rc = near && (!servers || json_object_set(near, "servers", (json_t *)servers) == 0) ? 0 : WT_ENOMEM;
    if (rc == 0 && security)
        rc = set_schemes(document, near, security);
    wt__buffer_str(&text, wt__str_trim((struct str){own.ptr, own.len - 1}));
    for (size_t i = 0; rc == 0 && i < COUNT(inherited); i++) {
        bool decided = security && strcmp(inherited[i], SCHEMES_KEY) == 0;
        const json_t *value = find_inherited(near, decided ? NULL : document->inherited, inherited[i]);
        if (!value || json_object_get(operation, inherited[i]))
            continue;
        wt__buffer_printf(&text, "%s\"%s\":", first ? "" : ",", inherited[i]);
        rc = wt__json_write(&text, value);
        first = same = false;
    }
    wt__buffer_char(&text, '}');
    *out = own;
    if (text.failed)
        rc = WT_ENOMEM;
    else if (rc == 0 && !same)
        *out = (struct str){wt__arena_copy(&document->reader->out->arena, wt__buffer_view(&text)), text.len};
    json_decref(near);
    wt__buffer_dispose(&text);
    return rc == 0 && out->ptr ? 0 : WT_ENOMEM;
}
