/* credentials.c: finds arguments that are credentials (credentials.h), by their names and descriptions.
 *
 * An argument that is wrongly kept costs a few words of the prompt. A tool that wrongly loses an argument is useless.
 * So a name alone decides only if it has hardly any other meaning ("api_key"). "token", "key" or "signature" count only
 * in a header or a cookie, or with a description about authentication. Elsewhere, a longer name ("slack_api_key") is
 * mostly the credential of another service. The tool stores that credential, so the argument is kept. Passwords outside
 * headers and cookies are kept: a name does not reveal whether the password authenticates the call or is the value to
 * set. A credential is a text, so flags, lists and objects are kept too.
 *
 * In recorded calls, an argument that the schema does not have counts as a credential by its name alone: a missing
 * argument in an example costs little, and a kept argument may be a secret.
 *
 * Names are compared by letters and digits alone, so that apiKey, api_key and X-API-Key are equal. */
#include "catalog/credentials.h"

#include <ctype.h>

#include "base/json.h"

enum {
    NAME_MAX_LETTERS = 63,    /* longer names are not credentials */
    DESCRIPTION_LOOKED = 400, /* bytes read of a description, because the meaning comes first */
    WORD_MAX = 31,
};

/* Names that are credentials anywhere. A name with the prefix "X-" only has to end with one of them. */
static const char *const sure[] = {
    "apikey",       "apitoken",       "apisecret",           "accesstoken",        "authtoken",
    "oauthtoken",   "bearertoken",    "authenticationtoken", "authorizationtoken", "refreshtoken",
    "clientsecret", "consumersecret", "appsecret",           "apptoken",           "subscriptionkey",
    "rapidapikey",  "proxysecret"};
/* Names that are credentials if the description contains a phrase of `meaning`. */
static const char *const likely[] = {"token",     "key",       "secret",    "auth",          "authid", "authkey",
                                     "jwt",       "session",   "signature", "authorization", "cookie", "secretkey",
                                     "accesskey", "usertoken", "userkey",   "appkey",        "apisig", "sessiontoken"};
static const char *const meaning[] = {"api key",    "apikey",       "api-key",    "api_key",     "api token",
                                      "api secret", "access token", "auth token", "authenticat", "authoriz",
                                      "bearer",     "oauth",        "api access"};
/* Suffixes of credentials in a header or a cookie. */
static const char *const header[] = {"token",         "key",    "secret",   "auth",
                                     "authorization", "jwt",    "password", "authentication",
                                     "signature",     "cookie", "session",  "sid"};
/* Suffixes with other meanings in a header or a cookie: idempotency tokens, page tokens, locks, and keys that encrypt
 * stored data. */
static const char *const no_header[] = {
    "idempotencykey", "clienttoken", "nexttoken",     "pagetoken",  "continuationtoken", "locktoken", "requesttoken",
    "partitionkey",   "customerkey", "encryptionkey", "routingkey", "cachekey",          "pushtoken", "surrogatekey"};
/* Prefixes of types, in any dialect, that are not text. */
static const char *const no_text[] = {"bool", "int", "num", "float", "arr", "list", "obj", "dict"};
/* Phrases used only for the credential of the call itself. */
static const char *const scope[] = {"requires scope"};
/* Words in the name of a tool about credentials, in addition to the noun at the end of the argument's name (`nouns`).
 * Such a tool checks credentials or configures their owner. */
static const char *const about[] = {
    "credential",   "auth",      "oauth",          "oauth2",        "oidc",     "sso",         "login",  "signin",
    "authenticate", "authorize", "authentication", "authorization", "identity", "integration", "server", "client"};
static const char *const nouns[] = {"token", "secret", "key", "session", "signature"};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), tail = strlen(ending);
    return len >= tail && strcmp(text + len - tail, ending) == 0;
}

static bool any_ends(const char *text, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_with(text, endings[i]))
            return true;
    return false;
}

/* True if text equals one of the words. */
static bool equals_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Writes letters and digits of name in lower case; "" if there are more than NAME_MAX_LETTERS. */
static void squeeze_name(char out[NAME_MAX_LETTERS + 1], struct str name)
{
    size_t len = 0;
    for (size_t i = 0; i < name.len && len <= NAME_MAX_LETTERS; i++)
        if (isalnum((unsigned char)name.ptr[i]))
            out[len++] = (char)tolower((unsigned char)name.ptr[i]);
    out[len <= NAME_MAX_LETTERS ? len : 0] = '\0';
}

static bool description_contains(const json_t *schema, const char *const *phrases, size_t count)
{
    char text[DESCRIPTION_LOOKED + 1];
    struct str description = wt__json_str(schema, "description");
    size_t len = description.len < DESCRIPTION_LOOKED ? description.len : DESCRIPTION_LOOKED;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)tolower((unsigned char)description.ptr[i]);
    text[len] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strstr(text, phrases[i]))
            return true;
    return false;
}

/* Writes the next word of a name in lower case; revokeToken, revoke_token and revoke-token have two. Returns false at
 * the end. */
static bool next_name_word(struct str *rest, char word[WORD_MAX + 1])
{
    size_t at = 0, len = 0;
    while (at < rest->len && !isalnum((unsigned char)rest->ptr[at]))
        at++;
    for (size_t start = at; at < rest->len && isalnum((unsigned char)rest->ptr[at]); at++) {
        if (at > start && isupper((unsigned char)rest->ptr[at]) && !isupper((unsigned char)rest->ptr[at - 1]))
            break;
        if (len < WORD_MAX)
            word[len++] = (char)tolower((unsigned char)rest->ptr[at]);
    }
    word[len] = '\0';
    *rest = (struct str){rest->ptr + at, rest->len - at};
    return len > 0;
}

/* Returns the noun that ends the argument's name, or the name itself. */
static const char *noun_of(const char *argument)
{
    for (size_t i = 0; i < COUNT(nouns); i++)
        if (ends_with(argument, nouns[i]))
            return nouns[i];
    return argument;
}

/* True if the name of the tool says that the tool is about credentials such as this argument. */
static bool is_about_credentials(struct str tool, const char *argument)
{
    const char *noun = noun_of(argument);
    char word[WORD_MAX + 1];
    while (next_name_word(&tool, word)) {
        size_t len = strlen(word);
        if (len > 1 && word[len - 1] == 's') /* plural */
            word[len - 1] = '\0';
        if (strcmp(word, noun) == 0 || equals_any(word, about, COUNT(about)))
            return true;
    }
    return false;
}

static bool is_text(const json_t *schema)
{
    char type[NAME_MAX_LETTERS + 1];
    squeeze_name(type, wt__json_str(schema, "type"));
    for (size_t i = 0; i < COUNT(no_text); i++)
        if (strncmp(type, no_text[i], strlen(no_text[i])) == 0)
            return false;
    return !json_object_get(schema, "properties") && !json_object_get(schema, "items");
}

static bool is_sure(struct str written, const char *name)
{
    bool extended = written.len > 1 && (written.ptr[0] | 32) == 'x' && !isalnum((unsigned char)written.ptr[1]);
    for (size_t i = 0; i < COUNT(sure); i++)
        if (strcmp(name, sure[i]) == 0 || (extended && ends_with(name, sure[i])))
            return true;
    return false;
}

static bool is_header_credential(const char *name)
{
    return any_ends(name, header, COUNT(header)) && !any_ends(name, no_header, COUNT(no_header));
}

bool wt__is_credential(const struct credential_argument *argument)
{
    char name[NAME_MAX_LETTERS + 1];
    const json_t *schema = argument->schema;
    squeeze_name(name, argument->name);
    if (!*name || wt__str_equal(argument->place, STR("path")) || !is_text(schema))
        return false;
    bool head = wt__str_equal(argument->place, STR("header")) || wt__str_equal(argument->place, STR("cookie"));
    if (head && any_ends(name, header, COUNT(header)))
        return !any_ends(name, no_header, COUNT(no_header));
    if (argument->data && !description_contains(schema, scope, COUNT(scope)))
        return false;
    return (is_sure(argument->name, name) ||
            (equals_any(name, likely, COUNT(likely)) && description_contains(schema, meaning, COUNT(meaning)))) &&
           !is_about_credentials(argument->tool, name);
}

static bool may_be_credential(struct str written)
{
    char name[NAME_MAX_LETTERS + 1];
    squeeze_name(name, written);
    return *name && (is_sure(written, name) || equals_any(name, likely, COUNT(likely)) || is_header_credential(name));
}

bool wt__may_have_credentials(json_t *arguments)
{
    const char *name;
    json_t *value;
    json_object_foreach(arguments, name, value)
    {
        if (may_be_credential(wt__str(name)))
            return true;
    }
    return false;
}

void wt__drop_credentials(json_t *arguments, struct str tool, const json_t *schema)
{
    const json_t *properties = wt__json_object(schema, "properties");
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(arguments, next, name, value)
    {
        struct credential_argument argument = {
            .tool = tool, .name = wt__str(name), .schema = json_object_get(properties, name)};
        if (argument.schema ? wt__is_credential(&argument) : may_be_credential(argument.name))
            json_object_del(arguments, name);
    }
}

/* Removes the name from "required". */
static void no_longer_required(json_t *schema, const char *name)
{
    json_t *required = json_object_get(schema, "required");
    for (size_t i = json_array_size(required); i-- > 0;) {
        const char *text = json_string_value(json_array_get(required, i));
        if (text && strcmp(text, name) == 0)
            json_array_remove(required, i);
    }
    if (json_is_array(required) && json_array_size(required) == 0)
        json_object_del(schema, "required");
}

void wt__leave_out_credentials(json_t *schema, struct str tool)
{
    json_t *properties = json_object_get(schema, "properties");
    const char *name;
    json_t *property;
    void *next;
    json_object_foreach_safe(properties, next, name, property)
    {
        struct credential_argument argument = {.tool = tool, .name = wt__str(name), .schema = property};
        if (!wt__is_credential(&argument))
            continue;
        no_longer_required(schema, name);
        json_object_del(properties, name);
    }
}
