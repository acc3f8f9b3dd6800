/* large_results.c: a result that is longer than an answer may be. Its first pieces of content are told, a text cut at a
 * line where it must be, and what is left is kept under a handle, for the one that called, for a while. Structured
 * content is whole or not there: without texts beside it, it becomes one.
 *
 * A piece is as long as it is written as JSON, where a character may take six bytes. Only what cannot be cut, an image
 * or the rest of an item that is not its text, makes one longer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random_digits.h"
#include "gateway/gateway_inside.h"

enum {
    HANDLE_BYTES = 25,
    REMAINDERS_MAX = 256,
    REMAINDER_BYTES_MAX = 64 << 20, /* of all of them; the oldest go first */
    REMAINDER_MS = 10 * 60000,
};

struct remainder {
    struct remainder *next; /* older */
    char handle[HANDLE_BYTES];
    char *principal;
    json_t *content; /* what is left; one thread at a time has it */
    size_t bytes;
    double until_ms;
};

static void let_go(struct remainder *remainder)
{
    if (!remainder)
        return;
    json_decref(remainder->content);
    free(remainder->principal);
    free(remainder);
}

/* Takes those out whose time is over, all of them, or the oldest beyond the bounds. Under the lock; to be freed after.
 */
static struct remainder *take_old(struct gateway *gateway, bool all)
{
    struct remainder *old = NULL;
    size_t count = 0, bytes = 0;
    double now = wt__gateway_now(gateway);
    for (struct remainder **at = &gateway->remainders; *at;) {
        struct remainder *remainder = *at;
        bool fits = count < REMAINDERS_MAX && bytes + remainder->bytes <= REMAINDER_BYTES_MAX;
        if (!all && fits && now < remainder->until_ms) {
            count++;
            bytes += remainder->bytes;
            at = &remainder->next;
            continue;
        }
        *at = remainder->next;
        remainder->next = old;
        old = remainder;
    }
    return old;
}

void wt__result_sweep(struct gateway *gateway, bool all)
{
    pthread_mutex_lock(&gateway->lock);
    struct remainder *old = take_old(gateway, all);
    pthread_mutex_unlock(&gateway->lock);
    for (struct remainder *next; old; old = next) {
        next = old->next;
        let_go(old);
    }
}

/* Takes content, and writes its handle. False: memory is out. */
static bool keep(struct gateway *gateway, const char *principal, json_t *content, size_t bytes,
                 char handle[HANDLE_BYTES])
{
    struct remainder *kept = calloc(1, sizeof *kept);
    char *copy = wt__copy_string(principal, strlen(principal));
    if (!kept || !copy || !wt__random_digits(kept->handle, HANDLE_BYTES - 1)) {
        free(kept);
        free(copy);
        json_decref(content);
        return false;
    }
    kept->principal = copy;
    kept->content = content;
    kept->bytes = bytes;
    kept->until_ms = wt__gateway_now(gateway) + REMAINDER_MS;
    memcpy(handle, kept->handle, HANDLE_BYTES); /* once it is in the list, another thread may let go of it */
    pthread_mutex_lock(&gateway->lock);
    kept->next = gateway->remainders;
    gateway->remainders = kept;
    pthread_mutex_unlock(&gateway->lock);
    wt__result_sweep(gateway, false);
    return true;
}

/* ---------------------------------------------------------------- cutting */

static size_t length_of(const json_t *value)
{
    return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* Bytes of one byte of a text in JSON. */
static size_t written(unsigned char c)
{
    bool is_short = c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f';
    return is_short ? 2 : c < 0x20 ? 6 : 1;
}

/* Where a text is cut so that at most so many bytes of JSON come before: behind a line, else within one. */
static size_t cut_at(const char *text, size_t len, size_t most)
{
    size_t at = 0;
    for (size_t used = 0; at < len && (used += written((unsigned char)text[at])) <= most;)
        at++;
    for (size_t i = at; i > at / 2; i--)
        if (text[i - 1] == '\n')
            return i;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Moves what fits from the front of content to head; returns the bytes of what is left. */
static size_t move_some(json_t *content, json_t *head, size_t most)
{
    size_t used = 0, left = 0;
    while (json_array_size(content) > 0) {
        json_t *item = json_array_get(content, 0);
        const json_t *text = json_object_get(item, "text");
        size_t bytes = length_of(item);
        size_t around = json_is_string(text) ? bytes - length_of(text) + 2 : bytes;
        size_t room = most > used + around ? most - used - around : 0;
        size_t at = json_is_string(text) ? cut_at(json_string_value(text), json_string_length(text), room) : 0;
        bool is_first = json_array_size(head) == 0;
        if (used + bytes <= most || (is_first && at == 0)) { /* each piece takes something, so there is an end */
            json_array_append(head, item);
            json_array_remove(content, 0);
            used += bytes + 1;
            continue;
        }
        if (at > 0) {
            json_t *first = json_deep_copy(item);
            json_object_set_new(first, "text", json_stringn(json_string_value(text), at));
            json_array_append_new(head, first);
            json_object_set_new(item, "text",
                                json_stringn(json_string_value(text) + at, json_string_length(text) - at));
        }
        break;
    }
    for (size_t i = 0; i < json_array_size(content); i++)
        left += length_of(json_array_get(content, i));
    return left;
}

/* Head becomes a result's content, with the handle of what is left. Takes content. */
static int put_piece(struct gateway *gateway, const char *principal, json_t *result, json_t *content, size_t most,
                     struct buffer *out, wt_error *err)
{
    json_t *head = json_array();
    char words[200], handle[HANDLE_BYTES];
    int rc = head ? 0 : wt__fail_nomem(err);
    size_t left = rc == 0 ? move_some(content, head, most) : 0;
    if (rc == 0 && left > 0) {
        bool kept = keep(gateway, principal, json_incref(content), left, handle);
        snprintf(words, sizeof words, "[%zu more bytes of this result: read_more with the handle %s]", left,
                 kept ? handle : "");
        json_t *note = json_pack("{s:s,s:s}", "type", "text", "text", words);
        if (json_array_append_new(head, note) < 0 || !kept)
            rc = wt__fail_nomem(err);
    }
    if (rc == 0 && (json_object_set(result, "content", head) < 0 || wt__json_write(out, result) < 0))
        rc = wt__fail_nomem(err);
    json_decref(head);
    json_decref(content);
    return rc;
}

static bool has_text(const json_t *content)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(content); i++)
        found |= json_is_string(json_object_get(json_array_get(content, i), "text"));
    return found;
}

/* A copy of its content; what it has as a structure alone is a text there, as it is written. NULL when memory is out.
 */
static json_t *copy_content(const json_t *result, struct str written)
{
    const json_t *given = wt__json_array(result, "content");
    struct str structured;
    json_t *content = given ? json_deep_copy(given) : json_array();
    if (!content || !wt__mcp_member(written, "structuredContent", &structured) || structured.len == 0 ||
        has_text(content))
        return content;
    json_t *item = json_pack("{s:s,s:o}", "type", "text", "text", wt__json_string(structured));
    if (json_array_append_new(content, item) == 0)
        return content;
    json_decref(content);
    return NULL;
}

int wt__result_cut(struct gateway *gateway, const char *principal, struct str result, size_t most, struct buffer *out,
                   wt_error *err)
{
    json_t *read = NULL;
    if (result.len <= most || wt__json_parse(&read, result.ptr, result.len, NULL) < 0) {
        wt__buffer_str(out, result);
        return out->failed ? wt__fail_nomem(err) : 0;
    }
    json_t *content = copy_content(read, result);
    json_object_del(read, "structuredContent");
    int rc = content ? put_piece(gateway, principal, read, content, most, out, err) : wt__fail_nomem(err);
    json_decref(read);
    return rc;
}

int wt__result_more(struct gateway *gateway, const char *principal, struct str handle, size_t most, struct buffer *out,
                    wt_error *err)
{
    wt__result_sweep(gateway, false); /* what is late is not there any more */
    pthread_mutex_lock(&gateway->lock);
    struct remainder **at = &gateway->remainders;
    while (*at && !(wt__str_equal(handle, wt__str((*at)->handle)) && strcmp((*at)->principal, principal) == 0))
        at = &(*at)->next;
    struct remainder *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&gateway->lock);
    if (!found)
        return wt__fail(err, WT_ENOTFOUND,
                        "there is no more by this handle: it was read, or %d minutes are over; call the tool anew",
                        REMAINDER_MS / 60000);
    json_t *result = json_object();
    int rc = put_piece(gateway, principal, result, json_incref(found->content), most, out, err);
    json_decref(result);
    let_go(found);
    return rc;
}
