/* location.c: see location.h. */
#include "store/location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"

#define DEFAULT_SCHEMA "whichtool"
#define DEFAULT_PORT "5432"

static const char *const schemes[] = {"postgres://", "postgresql://"};

enum {
    BASE_DIGITS = 16,  /* digits of the hash in the names of derived files */
    TENANT_DIGITS = 16 /* digits of the hash in the name of a tenant's schema */
};

#define TENANT_SCHEMA "_tenant_"

struct store_url {
    struct str user, password, hosts, database, query; /* percent-encoded views; empty if absent */
};

static size_t scheme_length(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(name, schemes[i], strlen(schemes[i])) == 0)
            return strlen(schemes[i]);
    return 0;
}

bool wt__is_store_url(const char *name)
{
    return scheme_length(name) > 0;
}

/* Returns the part of *text before the first `separator`, and moves *text behind the separator. */
static struct str cut_before(struct str *text, char separator)
{
    const char *at = text->len > 0 ? memchr(text->ptr, separator, text->len) : NULL;
    struct str part = {text->ptr, at ? (size_t)(at - text->ptr) : text->len};
    size_t used = part.len + (at != NULL);
    *text = (struct str){text->ptr + used, text->len - used};
    return part;
}

static bool has_character(struct str text, char c)
{
    return text.len > 0 && memchr(text.ptr, c, text.len);
}

/* An '@' after the authority means a password with '/' or '?'. Refuse it, because messages would show a part of it. */
static int parse_store_url(struct store_url *out, const char *name, wt_error *err)
{
    struct str rest = wt__str(name + scheme_length(name));
    size_t plain = 0;
    while (plain < rest.len && rest.ptr[plain] > ' ' && rest.ptr[plain] < 0x7f)
        plain++;
    struct str authority = {rest.ptr, strcspn(rest.ptr, "/?")};
    struct str path = {rest.ptr + authority.len, rest.len - authority.len};
    if (plain < rest.len || has_character(path, '@'))
        return wt__fail(err, WT_EINVAL,
                        "the URL of the store is not valid: write postgres://USER@HOST:PORT/DATABASE, with %%40, %%2F "
                        "and %%3F for @, / and ? in names and passwords");
    *out = (struct store_url){0};
    if (has_character(authority, '@')) {
        size_t end = authority.len;
        while (authority.ptr[end - 1] != '@')
            end--;
        out->password = (struct str){authority.ptr, end - 1};
        out->user = cut_before(&out->password, ':');
        authority = (struct str){authority.ptr + end, authority.len - end};
    }
    out->hosts = authority;
    out->database = cut_before(&path, '?');
    if (out->database.len > 0)
        out->database = (struct str){out->database.ptr + 1, out->database.len - 1};
    out->query = path;
    return 0;
}

/* Returns the value of a parameter of the URL; empty if absent. */
static struct str find_parameter(const struct store_url *url, const char *name)
{
    for (struct str rest = url->query; rest.len > 0;) {
        struct str value = cut_before(&rest, '&'), key = cut_before(&value, '=');
        if (wt__str_equal(key, wt__str(name)))
            return value;
    }
    return STR("");
}

static int read_schema(const struct store_url *url, char schema[STORE_SCHEMA_MAX + 1], wt_error *err)
{
    struct str value = find_parameter(url, "schema");
    bool valid = value.len <= STORE_SCHEMA_MAX;
    if (value.len == 0)
        value = STR(DEFAULT_SCHEMA);
    for (size_t i = 0; valid && i < value.len; i++)
        valid = wt__is_letter(value.ptr[i]) || wt__is_digit(value.ptr[i]) || value.ptr[i] == '_';
    if (!valid)
        return wt__fail(err, WT_EINVAL,
                        "the parameter schema in the URL of the store is not valid: use at most %d letters, digits and "
                        "underscores",
                        STORE_SCHEMA_MAX);
    memcpy(schema, value.ptr, value.len);
    schema[value.len] = '\0';
    return 0;
}

int wt__store_shown(char **out, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    struct store_url url;
    *out = NULL;
    if (!wt__is_store_url(name)) {
        *out = wt__copy_string(name, strlen(name));
        return *out ? 0 : wt__fail_nomem(err);
    }
    WT_TRY(parse_store_url(&url, name, err));
    wt__buffer_text(&shown, schemes[0]);
    wt__buffer_str(&shown, url.user);
    wt__buffer_text(&shown, url.user.len > 0 ? "@" : "");
    wt__buffer_str(&shown, url.hosts);
    wt__buffer_char(&shown, '/');
    wt__buffer_str(&shown, url.database);
    struct str schema = find_parameter(&url, "schema");
    if (schema.len > 0) {
        wt__buffer_text(&shown, "?schema=");
        wt__buffer_str(&shown, schema);
    }
    *out = wt__buffer_take(&shown);
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__store_split_url(char **out, char schema[STORE_SCHEMA_MAX + 1], const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer rest = {0};
    struct store_url url;
    *out = NULL;
    WT_TRY(parse_store_url(&url, name, err));
    WT_TRY(read_schema(&url, schema, err));
    wt__buffer_str(&rest, (struct str){name, (size_t)(url.query.ptr - name)});
    if (rest.len > 0 && rest.ptr[rest.len - 1] == '?')
        wt__buffer_cut(&rest, rest.len - 1);
    char separator = '?';
    for (struct str left = url.query; left.len > 0;) {
        struct str parameter = cut_before(&left, '&');
        if (parameter.len == 0 || wt__str_starts(parameter, STR("schema=")))
            continue;
        wt__buffer_char(&rest, separator);
        wt__buffer_str(&rest, parameter);
        separator = '&';
    }
    *out = wt__buffer_take(&rest);
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__store_of_tenant(char **out, struct arena *arena, const char *name, const char *folder, struct str tenant,
                        wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_AUTO_FREE char *url = NULL;
    char schema[STORE_SCHEMA_MAX + 1], hex[65];
    unsigned char digest[32];
    *out = NULL;
    if (!wt__is_store_url(name)) {
        wt__buffer_printf(&text, "%s/%.*s.wt", folder, (int)tenant.len, tenant.ptr);
    } else {
        WT_TRY(wt__store_split_url(&url, schema, name, err));
        wt__sha256(tenant.ptr, tenant.len, digest);
        wt__sha256_hex(digest, hex);
        if (strlen(schema) + strlen(TENANT_SCHEMA) + TENANT_DIGITS > STORE_SCHEMA_MAX)
            return wt__fail(err, WT_EINVAL,
                            "the name of the schema %s is too long for stores of tenants: use at most %d bytes", schema,
                            STORE_SCHEMA_MAX - TENANT_DIGITS - (int)strlen(TENANT_SCHEMA));
        wt__buffer_printf(&text, "%s%cschema=%s" TENANT_SCHEMA "%.*s", url, strchr(url, '?') ? '&' : '?', schema,
                          TENANT_DIGITS, hex);
    }
    *out = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    return *out ? 0 : wt__fail_nomem(err);
}

bool wt__has_store_password(const char *name)
{
    struct store_url url;
    return wt__is_store_url(name) && parse_store_url(&url, name, NULL) == 0 &&
           (url.password.len > 0 || find_parameter(&url, "password").len > 0);
}

/* Returns the first non-empty of a part of the URL, a variable of the environment, and a default. */
static struct str choose_part(struct str part, const char *variable, struct str otherwise)
{
    const char *set = getenv(variable);
    return part.len > 0 ? part : set && *set ? wt__str(set) : otherwise;
}

/* Appends a part of the name, which a NUL ends. */
static void put_part(struct buffer *out, struct str part)
{
    wt__buffer_str(out, part);
    wt__buffer_char(out, '\0');
}

/* The defaults are those of libpq. */
int wt__store_base(char **out, struct arena *arena, const char *name, bool cache, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer place = {0};
    struct store_url url;
    char schema[STORE_SCHEMA_MAX + 1], hex[65], file[BASE_DIGITS + 16], *folder;
    unsigned char digest[32];
    *out = NULL;
    if (!wt__is_store_url(name)) {
        *out = wt__arena_copy(arena, wt__str(name));
        return *out ? 0 : wt__fail_nomem(err);
    }
    WT_TRY(parse_store_url(&url, name, err));
    WT_TRY(read_schema(&url, schema, err));
    struct str port = url.hosts, host = cut_before(&port, ':');
    if (has_character(url.hosts, ',') || has_character(url.hosts, '['))
        host = url.hosts, port = STR("");
    struct str user = choose_part(url.user.len > 0 ? url.user : find_parameter(&url, "user"), "PGUSER", STR(""));
    put_part(&place, choose_part(host.len > 0 ? host : find_parameter(&url, "host"), "PGHOST", STR("")));
    put_part(&place, choose_part(port.len > 0 ? port : find_parameter(&url, "port"), "PGPORT", STR(DEFAULT_PORT)));
    put_part(&place,
             choose_part(url.database.len > 0 ? url.database : find_parameter(&url, "dbname"), "PGDATABASE", user));
    put_part(&place, wt__str(schema));
    WT_CHECK_ALLOC(!place.failed, err);
    wt__sha256(place.ptr, place.len, digest);
    wt__sha256_hex(digest, hex);
    snprintf(file, sizeof file, "postgres-%.*s", BASE_DIGITS, hex);
    WT_TRY(cache ? wt__cache_folder(&folder, arena, err) : wt__data_folder(&folder, arena, err));
    *out = wt__path_join(arena, folder, file);
    return *out ? 0 : wt__fail_nomem(err);
}
