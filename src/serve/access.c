#include "serve/access.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "tenants/tenants.h"

/* ---------------------------------------------------------------- Host and Origin */

static bool hosts_are_equal(struct str a, struct str b)
{
    return a.len == b.len && a.len > 0 && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* Returns HOST of "HOST:PORT" or "[HOST]:PORT". */
static struct str authority_host(struct str authority)
{
    if (authority.len > 0 && *authority.ptr == '[') {
        const char *end = memchr(authority.ptr, ']', authority.len);
        return end ? (struct str){authority.ptr + 1, (size_t)(end - authority.ptr - 1)} : (struct str){0};
    }
    const char *colon = authority.len > 0 ? memchr(authority.ptr, ':', authority.len) : NULL;
    return (struct str){authority.ptr, colon ? (size_t)(colon - authority.ptr) : authority.len};
}

/* True for 127.x.x.x. "127.0.0.1.example.com" is another machine's name. */
static bool is_loopback_ipv4(struct str host)
{
    size_t dots = 0, digits = 0;
    if (!wt__str_starts(host, STR("127.")))
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (host.ptr[i] == '.' && digits > 0) {
            dots++;
            digits = 0;
        } else if (wt__is_digit(host.ptr[i]) && digits < 3) {
            digits++;
        } else {
            return false;
        }
    }
    return dots == 3 && digits > 0;
}

/* True for localhost, 127.0.0.0/8 and ::1. */
static bool is_loopback_name(struct str host)
{
    return hosts_are_equal(host, STR("localhost")) || hosts_are_equal(host, STR("::1")) || is_loopback_ipv4(host);
}

bool wt__is_loopback_address(const char *listen)
{
    return wt__str_starts(wt__str(listen), STR("unix:")) || is_loopback_name(authority_host(wt__str(listen)));
}

/* Returns the host of the listen address, or an empty string for unix sockets and wildcard addresses. */
static struct str listen_host(const char *listen)
{
    struct str none = {0}, host = authority_host(wt__str(listen));
    bool any = wt__str_equal(host, STR("0.0.0.0")) || wt__str_equal(host, STR("::"));
    return any || wt__str_starts(wt__str(listen), STR("unix:")) ? none : host;
}

bool wt__guard_host(const struct guard *guard, struct str host)
{
    struct str name = authority_host(host), own = listen_host(guard->listen);
    if (is_loopback_name(name) || hosts_are_equal(name, own))
        return true;
    for (size_t i = 0; i < guard->host_count; i++)
        if (hosts_are_equal(name, wt__str(guard->hosts[i])))
            return true;
    return false;
}

enum origin wt__guard_origin(const struct guard *guard, struct str origin, struct str host)
{
    static const struct str schemes[] = {{"http://", 7}, {"https://", 8}};
    if (origin.len == 0)
        return ORIGIN_NONE;
    for (size_t i = 0; i < guard->origin_count; i++)
        if (wt__str_equal(origin, wt__str(guard->origins[i])))
            return ORIGIN_CONFIGURED;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (wt__str_starts(origin, schemes[i]) &&
            hosts_are_equal((struct str){origin.ptr + schemes[i].len, origin.len - schemes[i].len}, host))
            return ORIGIN_OWN;
    return ORIGIN_FOREIGN;
}

/* ---------------------------------------------------------------- keys and scopes */

enum { DIGEST = 32, SECRET = 32 };

static const struct {
    const char *word;
    enum scope scope;
} words[] = {{"find", SCOPE_FIND},   {"call", SCOPE_CALL},       {"write", SCOPE_WRITE},
             {"usage", SCOPE_USAGE}, {"metrics", SCOPE_METRICS}, {"admin", SCOPE_ADMIN}};

struct key {
    const char *name;
    const char *tenant; /* NULL without one */
    unsigned scopes;
    unsigned char digest[DIGEST];
};

struct keys {
    struct arena arena;
    struct map names;  /* name -> 0 */
    struct key *items; /* [len], by the first bytes of the digest once the file was read */
    size_t len, capacity;
};

const char *wt__scope_name(enum scope scope)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].scope == scope)
            return words[i].word;
    return "";
}

bool wt__scope_allows(unsigned scopes, enum scope needed)
{
    return needed == SCOPE_OPEN || (scopes & ((unsigned)needed | SCOPE_ADMIN)) != 0;
}

unsigned wt__scopes_parse(struct str text, wt_error *err)
{
    unsigned scopes = 0;
    for (size_t at = 0; at <= text.len;) {
        const char *comma = at < text.len ? memchr(text.ptr + at, ',', text.len - at) : NULL;
        size_t len = comma ? (size_t)(comma - text.ptr) - at : text.len - at;
        struct str word = {text.ptr + at, len};
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (wt__str_equal(word, wt__str(words[i].word)))
                bit = words[i].scope;
        if (bit == 0) {
            wt__fail(
                err, WT_EINVAL,
                "unknown scope \"%.*s\"; scopes are find, call, write, usage, metrics and admin, separated by commas",
                (int)(word.len < 40 ? word.len : 40), word.ptr);
            return 0;
        }
        scopes |= bit;
        at += len + 1;
    }
    return scopes;
}

/* ---------------------------------------------------------------- the file */

static bool is_key_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!wt__is_letter(name.ptr[i]) && !wt__is_digit(name.ptr[i]) && !memchr("._-@", name.ptr[i], 4))
            return false;
    return name.len > 0 && name.len <= KEY_NAME_BYTES_MAX;
}

/* Parses a hash in hexadecimal digits. Only lower-case digits are valid, so that each hash has one spelling. */
static bool read_digest(struct str hex, unsigned char out[DIGEST])
{
    if (hex.len != 2 * DIGEST)
        return false;
    for (size_t i = 0; i < hex.len; i++)
        if (wt__is_letter(hex.ptr[i]) && hex.ptr[i] < 'a')
            return false;
    for (size_t i = 0; i < DIGEST; i++) {
        int high = wt__hex_digit(hex.ptr[2 * i]), low = wt__hex_digit(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* Returns the next word and advances *line past it. */
static struct str take_next_word(struct str *line)
{
    *line = wt__str_trim(*line);
    size_t len = 0;
    while (len < line->len && !wt__is_blank(line->ptr[len]))
        len++;
    struct str word = {line->ptr, len};
    *line = (struct str){line->ptr + len, line->len - len};
    return word;
}

static bool has_key_name(const struct keys *keys, struct str name)
{
    return wt__map_get(&keys->names, name) != NULL;
}

/* Scopes that a key of a tenant can have. The others show or change what all tenants share. write and usage are for a
 * tenant with a store of its own. */
enum { TENANT_SCOPES = SCOPE_FIND | SCOPE_CALL | SCOPE_WRITE | SCOPE_USAGE };

/* Reads "tenant=NAME" into key->tenant. An empty word is valid. */
static bool read_key_tenant(struct keys *keys, struct str word, struct key *key)
{
    static const struct str lead = {"tenant=", 7};
    if (word.len == 0)
        return true;
    struct str name = {word.ptr + lead.len, word.len - lead.len};
    if (!wt__str_starts(word, lead) || !wt__is_tenant_name(name) || (key->scopes & ~(unsigned)TENANT_SCOPES))
        return false;
    key->tenant = wt__arena_copy(&keys->arena, name);
    return true;
}

static int read_key_line(struct keys *keys, struct str line, const char *path, size_t number, wt_error *err)
{
    struct str name = take_next_word(&line), scopes = take_next_word(&line), hex = take_next_word(&line);
    struct str tenant = take_next_word(&line);
    struct key key = {.scopes = scopes.len > 0 ? wt__scopes_parse(scopes, NULL) : 0};
    if (!is_key_name(name) || key.scopes == 0 || !read_digest(hex, key.digest) || wt__str_trim(line).len > 0)
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL,
                           "%s:%zu: expected NAME SCOPES SHA256, as written by `whichtool serve --new-key`", path,
                           number);
    if (!read_key_tenant(keys, tenant, &key))
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL,
                           "%s:%zu: expected tenant=NAME after the hash; a key of a tenant can only have the scopes "
                           "find, call, write and usage",
                           path, number);
    if (tenant.len > 0 && !key.tenant)
        return wt__fail_nomem(err);
    if (has_key_name(keys, name))
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: duplicate key name", path, number);
    if (keys->len == KEYS_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s has more than %d keys", path, KEYS_MAX);
    key.name = wt__arena_copy(&keys->arena, name);
    if (!key.name || wt__grow((void **)&keys->items, &keys->capacity, keys->len + 1, sizeof *keys->items) < 0 ||
        !wt__map_insert(&keys->names, (struct str){key.name, name.len}, 0, NULL))
        return wt__fail_nomem(err);
    keys->items[keys->len++] = key;
    return 0;
}

enum { HEAD = 8 /* bytes of a digest by which the keys are sorted */ };

static int compare_key_heads(const void *a, const void *b)
{
    return memcmp(((const struct key *)a)->digest, ((const struct key *)b)->digest, HEAD);
}

static int read_key_lines(struct keys *keys, struct str text, const char *path, wt_error *err)
{
    for (size_t number = 1; text.len > 0; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        struct str line = wt__str_trim((struct str){text.ptr, len});
        if (line.len > 0 && *line.ptr != '#')
            WT_TRY(read_key_line(keys, line, path, number, err));
        size_t taken = len + (end != NULL);
        text = (struct str){text.ptr + taken, text.len - taken};
    }
    if (keys->len > 0)
        qsort(keys->items, keys->len, sizeof *keys->items, compare_key_heads);
    return 0;
}

static void close_keys(struct keys **keys)
{
    wt__keys_close(*keys);
}

int wt__keys_open(struct keys **out, const char *path, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(close_keys) struct keys *keys = wt__alloc_zeros(1, sizeof *keys);
    WT_CHECK_ALLOC(keys, err);
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    WT_TRY(wt__file_read(&text, &len, path, KEYS_FILE_BYTES_MAX, err));
    WT_TRY(read_key_lines(keys, (struct str){text, len}, path, err));
    *out = WT_TAKE(keys);
    return 0;
}

void wt__keys_close(struct keys *keys)
{
    if (!keys)
        return;
    wt__map_dispose(&keys->names);
    wt__arena_dispose(&keys->arena);
    free(keys->items);
    free(keys);
}

size_t wt__keys_count(const struct keys *keys)
{
    return keys->len;
}

size_t wt__keys_count_find_only(const struct keys *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < keys->len; i++)
        count +=
            wt__scope_allows(keys->items[i].scopes, SCOPE_FIND) && !wt__scope_allows(keys->items[i].scopes, SCOPE_CALL);
    return count;
}

size_t wt__keys_count_of_tenants(const struct keys *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < keys->len; i++)
        count += keys->items[i].tenant != NULL;
    return count;
}

/* ---------------------------------------------------------------- lookup and creation */

/* Returns the first key whose digest does not begin with less than this one does. */
static size_t find_first_key(const struct keys *keys, const unsigned char digest[DIGEST])
{
    size_t low = 0, high = keys->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(keys->items[middle].digest, digest, HEAD) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct key_found wt__keys_find(const struct keys *keys, struct str key)
{
    struct key_found found = {0};
    unsigned char digest[DIGEST];
    if (key.len == 0 || key.len > KEY_BYTES_MAX)
        return found;
    wt__sha256(key.ptr, key.len, digest);
    for (size_t i = find_first_key(keys, digest); i < keys->len; i++) {
        const struct key *item = &keys->items[i];
        unsigned char differs = 0;
        if (memcmp(item->digest, digest, HEAD) != 0)
            break;
        for (size_t b = 0; b < DIGEST; b++)
            differs |= (unsigned char)(digest[b] ^ item->digest[b]);
        if (differs == 0)
            found = (struct key_found){item->name, item->scopes, item->tenant};
    }
    return found;
}

struct str wt__bearer_key(struct str authorization)
{
    static const char scheme[] = "bearer ";
    size_t len = sizeof scheme - 1;
    if (authorization.len <= len || strncasecmp(authorization.ptr, scheme, len) != 0)
        return (struct str){0};
    return wt__str_trim((struct str){authorization.ptr + len, authorization.len - len});
}

/* Creates a random key: "wt_" and 43 characters of base64url. */
static int generate_key(char key[64], wt_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char secret[SECRET + 1] = {0};
    if (!wt__random_bytes(secret, SECRET))
        return wt__fail(err, WT_EIO, "cannot get random numbers for a new key");
    memcpy(key, "wt_", 3);
    char *at = key + 3;
    for (size_t bit = 0; bit < 8 * SECRET; bit += 6) {
        unsigned pair = (unsigned)secret[bit / 8] << 8 | secret[bit / 8 + 1];
        *at++ = letters[pair >> (10 - bit % 8) & 63];
    }
    *at = '\0';
    return 0;
}

/* Writes the file atomically. A new file gets mode 0600; an existing file keeps its mode. */
static int replace_key_file(const char *path, struct str text, wt_error *err)
{
    struct stat old;
    mode_t mode = stat(path, &old) == 0 ? old.st_mode & 0777 : S_IRUSR | S_IWUSR;
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    WT_TRY(wt__replace_begin(&replace, path, err));
    if (fchmod(replace.fd, mode) != 0)
        return wt__fail_errno(err, "set the mode of", path);
    WT_TRY(wt__replace_write(&replace, text.ptr, text.len, err));
    return wt__replace_commit(&replace, err);
}

static int append_key_row(const char *path, struct str before, const char *name, unsigned scopes, const char *tenant,
                          const char *key, wt_error *err)
{
    unsigned char digest[DIGEST];
    char hex[2 * DIGEST + 1];
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__sha256(key, strlen(key), digest);
    wt__sha256_hex(digest, hex);
    wt__buffer_str(&text, before);
    if (before.len > 0 && before.ptr[before.len - 1] != '\n')
        wt__buffer_char(&text, '\n');
    wt__buffer_printf(&text, "%s ", name);
    for (size_t i = 0, seen = 0; i < sizeof words / sizeof *words; i++)
        if (scopes & words[i].scope)
            wt__buffer_printf(&text, "%s%s", seen++ ? "," : "", words[i].word);
    wt__buffer_printf(&text, " %s%s%s\n", hex, tenant ? " tenant=" : "", tenant ? tenant : "");
    return text.failed ? wt__fail_nomem(err) : replace_key_file(path, wt__buffer_view(&text), err);
}

int wt__keys_add(const char *path, const char *name, unsigned scopes, const char *tenant, char key[64], wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    WT_CLEANUP(close_keys) struct keys *keys = wt__alloc_zeros(1, sizeof *keys);
    WT_CHECK_ALLOC(keys, err);
    if (!is_key_name(wt__str(name)))
        return wt__fail(err, WT_EINVAL, "key name is invalid; use 1 to %d letters, digits, '.', '_', '-' and '@'",
                        KEY_NAME_BYTES_MAX);
    if (tenant && !wt__is_tenant_name(wt__str(tenant)))
        return wt__fail(err, WT_EINVAL,
                        "the name of the tenant is invalid; use 1 to %d letters, digits, '.', '_', '-' "
                        "and '@'",
                        WT_MAX_TENANT_NAME_BYTES);
    if (tenant && (scopes & ~(unsigned)TENANT_SCOPES))
        return wt__fail(err, WT_EINVAL, "a key of a tenant can only have the scopes find, call, write and usage");
    if (wt__is_file(path))
        WT_TRY(wt__file_read(&text, &len, path, KEYS_FILE_BYTES_MAX, err));
    const struct str before = {text, len};
    WT_TRY(read_key_lines(keys, before, path, err));
    if (has_key_name(keys, wt__str(name)))
        return wt__fail(err, WT_EINVAL, "%s already has a key named %s; remove its line, or choose another name", path,
                        name);
    WT_TRY(generate_key(key, err));
    return append_key_row(path, before, name, scopes, tenant, key, err);
}
