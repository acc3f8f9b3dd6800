/* openapi_arguments.c: builds one flat object of arguments for an operation. The arguments are all parameters, and the
 * properties of the body. If a name is taken, the later argument gets its place as a prefix: "query_id", "body_id". A
 * body that is not a plain object becomes the argument "body".
 *
 * In Swagger 2.0, a parameter is its own schema ("type" next to "name"). A parameter with "in": "body" is the body, and
 * parameters with "in": "formData" are form fields. Valid documents of OpenAPI 3 have no such parameters, so the
 * version is not checked. */
#include "import/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "base/json.h"
#include "base/nearest.h"
#include "catalog/credentials.h"
#include "catalog/schema.h"
#include "text/markup.h"

/* ---------------------------------------------------------------- parameters set by the calling program */

/* Some parameters are set by the program that calls the tool, not by the model. They are not arguments. These are the
 * parameters of the document's security schemes, headers of the protocol, and the parameters below.
 * catalog/credentials.c recognises other credentials by their names. */

/* Parameters that a service declares once and repeats in every operation, for signing, quotas, callbacks and
 * formatting. A document belongs to the service if it declares a shared parameter `mark`. A name counts only where an
 * operation refers to a shared parameter. Google's parameter "fields" is kept, because it selects the result, and some
 * operations require it. */
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
/* Headers of the protocol. OpenAPI requires that parameters with the first three names are ignored. */
static const char *const protocol[] = {"Accept", "Content-Type", "Authorization", "Proxy-Authorization", "Cookie"};
/* Locations of shared parameters in OpenAPI 3 and in Swagger 2.0. */
static const char *const shared_paths[] = {"#/components/parameters/", "#/parameters/"};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

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
    for (size_t i = 0; i < COUNT(shared_paths); i++) {
        snprintf(pointer, sizeof pointer, "%s%s", shared_paths[i] + 1, name);
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

/* True if the calling program sets the parameter. listed: the parameter in the operation, possibly a reference.
 * parameter: the same parameter, with the reference resolved. */
static bool is_set_by_program(const struct openapi *document, const json_t *listed, const json_t *parameter)
{
    struct str place = wt__json_str(parameter, "in"), name = wt__json_str(parameter, "name");
    for (size_t i = 0; i < COUNT(protocol); i++)
        if (wt__str_equal(place, STR("header")) && strcasecmp(name.ptr, protocol[i]) == 0)
            return true;
    struct str reference = wt__json_str(listed, "$ref");
    bool common =
        wt__str_starts(reference, wt__str(shared_paths[0])) || wt__str_starts(reference, wt__str(shared_paths[1]));
    return is_scheme(document, place, name) || (common && is_of_service(document, name.ptr));
}

/* Sets "description" unless text is empty. */
static int describe_property(json_t *property, struct str text)
{
    if (text.len == 0 || !json_is_object(property))
        return 0;
    return json_object_set_new(property, "description", json_stringn(text.ptr, text.len));
}

/* Adds a property under its name, or under PLACE_NAME if that is taken. Skips credentials. Steals property. */
static int add_argument(const struct openapi *document, json_t *arguments, struct str place, const char *name,
                        json_t *property, bool required)
{
    struct credential_argument argument = {document->tool, place, wt__str(name), property,
                                           .data = wt__str_equal(place, STR("body")) &&
                                                   json_object_size(document->schemes) > 0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    if (wt__is_credential(&argument)) {
        json_decref(property);
        return 0;
    }
    wt__buffer_text(&key, name);
    while (!key.failed && json_object_get(json_object_get(arguments, "properties"), key.ptr)) {
        char *taken = wt__buffer_take(&key);
        wt__buffer_printf(&key, "%.*s_%s", (int)place.len, place.ptr, taken ? taken : "");
        free(taken);
    }
    int rc = WT_ENOMEM;
    if (key.failed)
        json_decref(property);
    else
        rc = wt__schema_add(arguments, key.ptr, property, required);
    return rc;
}

enum { PLACE_SHOWN = 32 }; /* maximum bytes of an unknown place in a message */

/* Records the tool's first bad parameter in document->wrong: its name is missing, or its place is missing or
 * unknown. */
static void note_bad_parameter(struct openapi *document, const json_t *parameter, size_t index)
{
    static const char *const places[] = {"query", "header", "path", "cookie", "querystring", "body", "formData"};
    struct str name = wt__json_str(parameter, "name"), place = wt__json_str(parameter, "in");
    struct nearest nearest;
    wt__nearest_begin(&nearest, place);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (name.len > 0 && wt__str_equal(place, wt__str(places[i])))
            return;
        wt__nearest_show(&nearest, wt__str(places[i]));
    }
    if (document->wrong[0])
        return;
    if (name.len == 0 || place.len == 0)
        snprintf(document->wrong, sizeof document->wrong, "parameter %zu has no \"%s\": it was skipped", index + 1,
                 name.len == 0 ? "name" : "in");
    else
        snprintf(document->wrong, sizeof document->wrong, "parameter %zu has an unknown \"in\": \"%.*s\"%s%.*s%s",
                 index + 1, (int)(place.len < PLACE_SHOWN ? place.len : PLACE_SHOWN), place.ptr,
                 nearest.best[0] ? "; did you mean \"" : "", PLACE_SHOWN, nearest.best, nearest.best[0] ? "\"?" : "");
}

/* Collects parameters in `all`, under the key "PLACE NAME". A later parameter replaces an earlier one with the same
 * key. */
static int collect_parameters(struct openapi *document, json_t *all, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        int rc = 0;
        const json_t *listed = json_array_get(list, i);
        const json_t *parameter = wt__openapi_resolve(document, listed, &rc);
        struct str name = wt__json_str(parameter, "name"), place = wt__json_str(parameter, "in");
        WT_TRY(rc);
        if (json_is_object(parameter))
            note_bad_parameter(document, parameter, i);
        if (name.len == 0 || place.len == 0 || is_set_by_program(document, listed, parameter))
            continue;
        WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
        wt__buffer_printf(&key, "%s %s", place.ptr, name.ptr);
        if (key.failed || json_object_set(all, key.ptr, (json_t *)parameter) < 0)
            return WT_ENOMEM;
    }
    return 0;
}

/* Returns the schema of a Swagger 2.0 parameter: all its members that do not describe the parameter itself. */
static json_t *own_schema(struct openapi *document, const json_t *parameter)
{
    static const char *const of_the_parameter[] = {"name", "in", "required", "schema", "content"};
    json_auto_t *keywords = json_copy((json_t *)parameter);
    for (size_t i = 0; i < sizeof of_the_parameter / sizeof of_the_parameter[0]; i++)
        json_object_del(keywords, of_the_parameter[i]);
    return keywords ? wt__openapi_expand(document, keywords) : NULL;
}

/* Returns the schema of holder, a media type or a parameter, or NULL if out of memory. The schema is the first of these
 * that exists:
 *
 *   1. the member "schema"
 *   2. the schema of the first media type in "content"
 *   3. the members of holder itself, if it has a "type"
 *   4. an empty object */
static json_t *schema_of(struct openapi *document, const json_t *holder)
{
    const json_t *schema = json_object_get(holder, "schema");
    void *first = schema ? NULL : json_object_iter(wt__json_object(holder, "content"));
    if (first)
        schema = json_object_get(json_object_iter_value(first), "schema");
    if (json_is_object(schema))
        return wt__openapi_expand(document, schema);
    return json_object_get(holder, "type") ? own_schema(document, holder) : json_object();
}

static bool sent_in(const json_t *parameter, const char *place)
{
    return wt__str_equal(wt__json_str(parameter, "in"), wt__str(place));
}

/* Adds one parameter as an argument. */
static int add_parameter(struct openapi *document, json_t *arguments, struct str place, const json_t *parameter)
{
    bool required = json_is_true(json_object_get(parameter, "required")) || sent_in(parameter, "path");
    json_t *property = schema_of(document, parameter);
    if (!property || describe_property(property, wt__json_str(parameter, "description")) < 0) {
        json_decref(property);
        return WT_ENOMEM;
    }
    return add_argument(document, arguments, place, wt__json_str(parameter, "name").ptr, property, required);
}

/* Adds the parameters outside the body. */
static int add_parameters(struct openapi *document, json_t *arguments, json_t *all)
{
    const char *key;
    json_t *parameter;
    json_object_foreach(all, key, parameter)
    {
        if (!sent_in(parameter, "body") && !sent_in(parameter, "formData"))
            WT_TRY(add_parameter(document, arguments, wt__json_str(parameter, "in"), parameter));
    }
    return 0;
}

/* ---------------------------------------------------------------- body */

static bool is_json_media(const char *type)
{
    size_t len = strcspn(type, "; ");
    return (len == 16 && strncasecmp(type, "application/json", 16) == 0) ||
           (len > 5 && strncasecmp(type + len - 5, "+json", 5) == 0);
}

/* Returns the preferred media type: JSON, then a form, then the first one. */
static const json_t *choose_media(const json_t *content)
{
    const char *type;
    json_t *media, *form = NULL, *first = NULL;
    json_object_foreach((json_t *)content, type, media)
    {
        if (is_json_media(type))
            return media;
        if (!form && (strstr(type, "form-data") || strstr(type, "form-urlencoded")))
            form = media;
        first = first ? first : media;
    }
    return form ? form : first;
}

static bool lists_name(const json_t *required, const char *name)
{
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *text = json_string_value(json_array_get(required, i));
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

/* True if properties, also those in allOf, describe the body completely. */
static bool is_plain_object(const json_t *body)
{
    if (json_object_get(body, "oneOf") || json_object_get(body, "anyOf"))
        return false;
    const json_t *parts = json_object_get(body, "allOf");
    bool some = json_object_size(json_object_get(body, "properties")) > 0;
    for (size_t i = 0; i < json_array_size(parts); i++) {
        if (!is_plain_object(json_array_get(parts, i)))
            return false;
        some = true;
    }
    return some;
}

/* Adds the properties of the body. Skips readOnly properties, which appear only in responses. */
static int add_properties(struct openapi *document, json_t *arguments, const json_t *body, bool required)
{
    const char *name;
    json_t *property;
    const json_t *names = json_object_get(body, "required");
    json_object_foreach(json_object_get(body, "properties"), name, property)
    {
        if (json_is_true(json_object_get(property, "readOnly")))
            continue;
        WT_TRY(add_argument(document, arguments, STR("body"), name, json_incref(property),
                            required && lists_name(names, name)));
    }
    const json_t *parts = json_object_get(body, "allOf");
    for (size_t i = 0; i < json_array_size(parts); i++)
        WT_TRY(add_properties(document, arguments, json_array_get(parts, i), required));
    return 0;
}

/* Adds the body. holder: media type or parameter with the body's schema. about: description of the body, used if the
 * schema has none. */
static int add_body_schema(struct openapi *document, json_t *arguments, const json_t *holder, struct str about,
                           bool required)
{
    json_auto_t *body = schema_of(document, holder);
    if (!body)
        return WT_ENOMEM;
    if (is_plain_object(body))
        return add_properties(document, arguments, body, required);
    if (!json_object_get(body, "description") && describe_property(body, about) < 0)
        return WT_ENOMEM;
    return add_argument(document, arguments, STR("body"), "body", json_incref(body), required);
}

static int add_body(struct openapi *document, json_t *arguments, const json_t *operation)
{
    int rc = 0;
    const json_t *request = wt__openapi_resolve(document, wt__json_object(operation, "requestBody"), &rc);
    const json_t *media = choose_media(wt__json_object(request, "content"));
    if (rc < 0 || !json_is_object(media))
        return rc;
    return add_body_schema(document, arguments, media, wt__json_str(request, "description"),
                           json_is_true(json_object_get(request, "required")));
}

/* Adds the body and the form fields of Swagger 2.0, which are among the parameters. */
static int add_body_parameters(struct openapi *document, json_t *arguments, json_t *all)
{
    const char *key;
    json_t *parameter;
    json_object_foreach(all, key, parameter)
    {
        if (sent_in(parameter, "body"))
            WT_TRY(add_body_schema(document, arguments, parameter, wt__json_str(parameter, "description"),
                                   json_is_true(json_object_get(parameter, "required"))));
        else if (sent_in(parameter, "formData"))
            WT_TRY(add_parameter(document, arguments, STR("body"), parameter));
    }
    return 0;
}

/* True if the member's value is data of the API, not a schema. */
static bool holds_data(const char *key)
{
    static const char *const keys[] = {"default", "enum", "const", "example", "examples"};
    return KEY_AMONG(keys, wt__str(key));
}

static int strip_description(json_t *schema, json_t *description)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer plain = {0};
    struct str text = {json_string_value(description), json_string_length(description)};
    bool changed = wt__markup_strip_html(text, &plain);
    if (plain.failed)
        return WT_ENOMEM;
    json_t *plain_text = changed ? json_stringn(plain.ptr, plain.len) : NULL;
    return changed && json_object_set_new(schema, "description", plain_text) < 0 ? WT_ENOMEM : 0;
}

/* Removes HTML tags from every description of a schema, down to `levels`. */
static int strip_descriptions(json_t *schema, int levels)
{
    const char *key;
    json_t *value;
    size_t i;
    if (levels == 0)
        return 0;
    json_array_foreach(schema, i, value)
    {
        WT_TRY(strip_descriptions(value, levels - 1));
    }
    json_object_foreach(schema, key, value)
    {
        if (json_is_string(value) && strcmp(key, "description") == 0)
            WT_TRY(strip_description(schema, value));
        else if (!holds_data(key))
            WT_TRY(strip_descriptions(value, levels - 1));
    }
    return 0;
}

static int fill_arguments(struct openapi *document, json_t *arguments, json_t *all, const json_t *shared,
                          const json_t *operation)
{
    WT_TRY(collect_parameters(document, all, shared));
    WT_TRY(collect_parameters(document, all, json_object_get(operation, "parameters")));
    WT_TRY(add_parameters(document, arguments, all));
    WT_TRY(add_body(document, arguments, operation));
    WT_TRY(add_body_parameters(document, arguments, all));
    return strip_descriptions(arguments, WT_MAX_JSON_DEPTH);
}

int wt__openapi_arguments(struct openapi *document, const json_t *shared, const json_t *operation, json_t **out)
{
    json_auto_t *arguments = wt__schema_new(), *all = json_object();
    *out = NULL;
    if (!arguments || !all)
        return WT_ENOMEM;
    WT_TRY(fill_arguments(document, arguments, all, shared, operation));
    *out = json_incref(arguments);
    return 0;
}
