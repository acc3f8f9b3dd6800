/* audit_head.c: see audit_head.h. */
#include "gateway/audit_head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

#define SEAL ",\"hmac\":\""
enum { HEAD_BYTES_MAX = 4096 };

static int name_head_file(struct buffer *out, const char *path, wt_error *err)
{
    wt__buffer_printf(out, "%s" AUDIT_HEAD_SUFFIX, path);
    return out->failed ? wt__fail_nomem(err) : 0;
}

/* Checks the HMAC of a head against the text before it. The head of a log with a key has one. */
static int check_seal(struct str text, const struct audit_key *key, wt_error *err)
{
    struct buffer mac = {0};
    const char *seal = memmem(text.ptr, text.len, SEAL, sizeof SEAL - 1);
    size_t len = seal ? (size_t)(seal - text.ptr) : 0;
    const size_t end = len + sizeof SEAL - 1 + AUDIT_LINK_DIGITS;
    if (!key)
        return wt__fail(err, WT_EINVAL, "the log has an HMAC; give its key with --audit-key FILE");
    wt__audit_put_hmac(&mac, key, (struct str){text.ptr, len});
    bool fits = seal && !mac.failed && text.len >= end &&
                wt__same_secret(text.ptr + end - AUDIT_LINK_DIGITS, mac.ptr, AUDIT_LINK_DIGITS);
    int rc = fits         ? 0
             : mac.failed ? wt__fail_nomem(err)
                          : wt__fail(err, WT_EFORMAT, "written with another key, or changed");
    wt__buffer_dispose(&mac);
    return rc;
}

static int parse_head_text(struct audit_head *out, struct str text, const struct audit_key *key, wt_error *err)
{
    json_t *root = NULL;
    int rc = wt__json_parse(&root, text.ptr, text.len, err);
    const json_t *bytes = json_object_get(root, "bytes"), *number = json_object_get(root, "seq");
    struct str link = wt__json_str(root, "chain");
    const json_t *keyed = json_object_get(root, "keyed");
    *out = (struct audit_head){0};
    if (rc == 0 &&
        (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || !json_is_integer(number) ||
         json_integer_value(number) < 0 || !json_is_boolean(keyed) || (link.len != 0 && link.len != AUDIT_LINK_DIGITS)))
        rc = wt__fail(err, WT_EFORMAT, "not the head of an audit log");
    if (rc == 0) {
        out->bytes = (uint64_t)json_integer_value(bytes);
        out->chain.number = (uint64_t)json_integer_value(number);
        out->chain.is_keyed = json_is_true(keyed);
        out->chain.has_number = out->chain.number > 0;
        memcpy(out->chain.link, link.ptr, link.len);
        rc = out->chain.is_keyed ? check_seal(text, key, err) : 0;
    }
    json_decref(root);
    return rc;
}

int wt__audit_head_read(struct audit_head *out, const char *path, const struct audit_key *key, wt_error *err)
{
    struct buffer name = {0};
    char *text = NULL;
    size_t len = 0;
    wt_error why;
    struct stat info;
    int rc = name_head_file(&name, path, err);
    if (rc == 0 && lstat(name.ptr, &info) != 0 && errno == ENOENT) {
        wt__buffer_dispose(&name);
        return 0;
    }
    if (rc == 0)
        rc = wt__file_read(&text, &len, name.ptr, HEAD_BYTES_MAX, err);
    if (rc == 0 && (rc = parse_head_text(out, (struct str){text, len}, key, &why)) < 0)
        wt__fail(err, rc, "%s: %s", name.ptr, why.message);
    free(text);
    wt__buffer_dispose(&name);
    return rc < 0 ? rc : 1;
}

static void put_head(struct buffer *out, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key)
{
    wt__buffer_printf(out, "{\"bytes\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"chain\":\"%s\",\"keyed\":%s", bytes,
                      chain->number, chain->link, chain->is_keyed ? "true" : "false");
    if (chain->is_keyed && key) {
        struct buffer mac = {0};
        wt__audit_put_hmac(&mac, key, wt__buffer_view(out));
        wt__buffer_text(out, SEAL);
        wt__buffer_str(out, wt__buffer_view(&mac));
        wt__buffer_char(out, '"');
        out->failed |= mac.failed;
        wt__buffer_dispose(&mac);
    }
    wt__buffer_text(out, "}\n");
}

/* Sets mode 0600, as the log has, since replaced files get 0644. */
static int replace_head(const char *name, struct str text, wt_error *err)
{
    struct replace replace;
    int rc = wt__replace_begin(&replace, name, err);
    if (rc == 0 && fchmod(replace.fd, 0600) != 0)
        rc = wt__fail_errno(err, "write", name);
    if (rc == 0)
        rc = wt__replace_write(&replace, text.ptr, text.len, err);
    if (rc == 0)
        rc = wt__replace_commit(&replace, err);
    wt__replace_abort(&replace);
    return rc;
}

int wt__audit_head_write(const char *path, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key,
                         wt_error *err)
{
    struct buffer name = {0}, text = {0};
    struct audit_head old;
    int rc = wt__audit_head_read(&old, path, key, err);
    if (rc < 0 || (rc > 0 && old.chain.number >= chain->number))
        return rc < 0 ? rc : 0;
    rc = name_head_file(&name, path, err);
    put_head(&text, bytes, chain, key);
    if (rc == 0)
        rc = text.failed ? wt__fail_nomem(err) : replace_head(name.ptr, wt__buffer_view(&text), err);
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&name);
    return rc;
}
