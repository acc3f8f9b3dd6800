/* large_results.c: cuts results of call tools that are too long for one answer. The client gets the first items of the
 * content and a handle for the rest. The rest is kept until it is read, expires, or makes room for a newer rest of the
 * same client. A text is cut at the end of a line if possible. Structured content is left out. In a result without
 * text, the structured content becomes the text.
 *
 * All lengths are lengths of JSON, where a character may take six bytes. The limit is for the items of a piece, without
 * the note that gives the handle. They exceed it only if the first item cannot be cut, such as an image. */
#include "gateway/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"

enum {
    HANDLE_BYTES = 25,
    REMAINDERS_MAX = 512,            /* maximum number of remainders, shared by clients (base/shares.h) */
    REMAINDER_BYTES_MAX = 128 << 20, /* maximum total length of all remainders, shared by clients */
    REMAINDER_MS = 10 * 60000,       /* time until a remainder expires */
};

/* The rest of a result. */
struct remainder {
    struct remainder *next; /* next older remainder */
    char handle[HANDLE_BYTES];
    char *principal, *holder; /* see result_reader */
    json_t *content;          /* array of items; a thread that reads it has taken the remainder from the list */
    size_t bytes;             /* length of content as JSON; counted against the holder's share */
    double until_ms;          /* time of expiry, by wt__gateway_now */
};

static void free_remainder(struct remainder *remainder)
{
    if (!remainder)
        return;
    json_decref(remainder->content);
    free(remainder->principal);
    free(remainder->holder);
    free(remainder);
}

static void free_remainders(struct remainder *chain)
{
    for (struct remainder *next; chain; chain = next) {
        next = chain->next;
        free_remainder(chain);
    }
}

/* Removes a remainder from the list; the caller owns it. Call with the lock held. */
static struct remainder *take_remainder(struct gateway *gateway, struct remainder **at)
{
    struct remainder *remainder = *at;
    *at = remainder->next;
    remainder->next = NULL;
    wt__shares_give(&gateway->results, remainder->holder, 1);
    wt__shares_give(&gateway->result_bytes, remainder->holder, remainder->bytes);
    return remainder;
}

/* Removes and returns the holder's oldest remainder, or NULL. Call with the lock held. */
static struct remainder *take_oldest_remainder(struct gateway *gateway, const char *holder)
{
    struct remainder **oldest = NULL;
    for (struct remainder **at = &gateway->remainders; *at; at = &(*at)->next)
        if (strcmp((*at)->holder, holder) == 0)
            oldest = at;
    return oldest ? take_remainder(gateway, oldest) : NULL;
}

/* Takes the shares for a new remainder. Moves the oldest remainders of its holder to *gone until the shares
 * suffice. Returns false if they do not suffice even then. Call with the lock held. */
static bool make_room_for(struct gateway *gateway, const struct remainder *fresh, struct remainder **gone)
{
    for (;;) {
        bool placed = wt__shares_take(&gateway->results, fresh->holder, 1);
        if (placed && wt__shares_take(&gateway->result_bytes, fresh->holder, fresh->bytes))
            return true;
        if (placed)
            wt__shares_give(&gateway->results, fresh->holder, 1);
        struct remainder *oldest = take_oldest_remainder(gateway, fresh->holder);
        if (!oldest)
            return false;
        oldest->next = *gone;
        *gone = oldest;
    }
}

void wt__result_sweep(struct gateway *gateway, bool all)
{
    struct remainder *old = NULL;
    double now = wt__gateway_now(gateway);
    pthread_mutex_lock(&gateway->lock);
    for (struct remainder **at = &gateway->remainders; *at;) {
        if (!all && now < (*at)->until_ms) {
            at = &(*at)->next;
            continue;
        }
        struct remainder *remainder = take_remainder(gateway, at);
        remainder->next = old;
        old = remainder;
    }
    pthread_mutex_unlock(&gateway->lock);
    free_remainders(old);
}

void wt__results_open(struct gateway *gateway)
{
    wt__shares_open(&gateway->results, REMAINDERS_MAX);
    wt__shares_open(&gateway->result_bytes, REMAINDER_BYTES_MAX);
}

void wt__results_close(struct gateway *gateway)
{
    wt__shares_close(&gateway->results);
    wt__shares_close(&gateway->result_bytes);
}

/* Returns a remainder with a new handle, or NULL if out of memory. Takes ownership of content. */
static struct remainder *make_remainder(const struct result_reader *reader, json_t *content, size_t bytes)
{
    struct remainder *made = calloc(1, sizeof *made);
    if (!made) {
        json_decref(content);
        return NULL;
    }
    *made = (struct remainder){.principal = wt__copy_string(reader->principal, strlen(reader->principal)),
                               .holder = wt__copy_string(reader->holder, strlen(reader->holder)),
                               .content = content,
                               .bytes = bytes};
    if (made->principal && made->holder && wt__random_digits(made->handle, HANDLE_BYTES - 1))
        return made;
    free_remainder(made);
    return NULL;
}

/* Takes ownership of content, stores it and writes its handle. Returns false if out of memory or if content does not
 * fit into the holder's share. */
static bool store_remainder(struct gateway *gateway, const struct result_reader *reader, json_t *content, size_t bytes,
                            char handle[HANDLE_BYTES])
{
    struct remainder *kept = make_remainder(reader, content, bytes), *gone = NULL;
    if (!kept)
        return false;
    wt__result_sweep(gateway, false);
    kept->until_ms = wt__gateway_now(gateway) + REMAINDER_MS;
    memcpy(handle, kept->handle, HANDLE_BYTES); /* another thread may free `kept` once it is in the list */
    pthread_mutex_lock(&gateway->lock);
    bool room = make_room_for(gateway, kept, &gone);
    if (room) {
        kept->next = gateway->remainders;
        gateway->remainders = kept;
    }
    pthread_mutex_unlock(&gateway->lock);
    if (!room)
        free_remainder(kept);
    free_remainders(gone);
    return room;
}

static size_t json_text_length(const json_t *value)
{
    return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* Returns the number of bytes that JSON needs for a byte of text. */
static size_t escaped_length(unsigned char c)
{
    bool is_short = c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f';
    return is_short ? 2 : c < 0x20 ? 6 : 1;
}

/* Returns the offset at which to cut a text. The JSON of the part before the offset has at most `most` bytes. Cuts
 * after the last newline in the second half of that part, or else between characters. */
static size_t find_cut(const char *text, size_t len, size_t most)
{
    size_t at = 0;
    for (size_t used = 0; at < len && (used += escaped_length((unsigned char)text[at])) <= most;)
        at++;
    for (size_t i = at; i > at / 2; i--)
        if (text[i - 1] == '\n')
            return i;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Moves the first items of content, up to about `most` bytes, to head, and cuts a text that does not fit. Returns the
 * length of the rest, 0 if nothing is left. */
static size_t move_content(json_t *content, json_t *head, size_t most)
{
    size_t used = 0, left = 0;
    while (json_array_size(content) > 0) {
        json_t *item = json_array_get(content, 0);
        const json_t *text = json_object_get(item, "text");
        size_t bytes = json_text_length(item);
        size_t around = json_is_string(text) ? bytes - json_text_length(text) + 2 : bytes;
        size_t room = most > used + around ? most - used - around : 0;
        size_t at = json_is_string(text) ? find_cut(json_string_value(text), json_string_length(text), room) : 0;
        bool is_first = json_array_size(head) == 0;
        if (used + bytes <= most || (is_first && at == 0)) { /* every piece takes at least one item, so reading ends */
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
        left += json_text_length(json_array_get(content, i));
    return left;
}

/* Stores the rest of a result. Returns a text item that tells the model the handle, or that the rest is lost. Returns
 * NULL if out of memory. */
static json_t *store_rest(struct gateway *gateway, const struct result_reader *reader, json_t *content, size_t left)
{
    char words[200], handle[HANDLE_BYTES];
    if (store_remainder(gateway, reader, json_incref(content), left, handle))
        snprintf(words, sizeof words, "[%zu more bytes: call read_more with the handle %s]", left, handle);
    else
        snprintf(words, sizeof words, "[%zu more bytes are lost: too many long results are stored]", left);
    return json_pack("{s:s,s:s}", "type", "text", "text", words);
}

/* Writes a result with the first part of content and a handle for the rest. */
static int put_piece(struct gateway *gateway, const struct result_reader *reader, json_t *result, json_t *content,
                     size_t most, struct buffer *out, wt_error *err)
{
    json_auto_t *head = json_array();
    WT_CHECK_ALLOC(head, err);
    size_t left = move_content(content, head, most);
    if (left > 0 && json_array_append_new(head, store_rest(gateway, reader, content, left)) < 0)
        return wt__fail_nomem(err);
    if (json_object_set(result, "content", head) < 0 || wt__json_write(out, result) < 0)
        return wt__fail_nomem(err);
    return 0;
}

static bool content_has_text(const json_t *content)
{
    for (size_t i = 0; i < json_array_size(content); i++)
        if (json_is_string(json_object_get(json_array_get(content, i), "text")))
            return true;
    return false;
}

/* Returns a copy of the result's content, or NULL if out of memory. If the content has no text, adds the structured
 * content as a text. written: the result as JSON text, from which the structured content is copied unchanged. */
static json_t *copy_content(const json_t *result, struct str written)
{
    const json_t *given = wt__json_array(result, "content");
    struct str structured;
    json_auto_t *content = given ? json_deep_copy(given) : json_array();
    if (!content || !wt__mcp_member(written, "structuredContent", &structured) || structured.len == 0 ||
        content_has_text(content))
        return WT_TAKE(content);
    json_t *item = json_pack("{s:s,s:o}", "type", "text", "text", wt__json_string(structured));
    return json_array_append_new(content, item) == 0 ? WT_TAKE(content) : NULL;
}

int wt__result_cut(struct gateway *gateway, const struct result_reader *reader, struct str result, size_t most,
                   struct buffer *out, wt_error *err)
{
    json_auto_t *read = NULL;
    if (result.len <= most || wt__json_parse(&read, result.ptr, result.len, NULL) < 0) {
        wt__buffer_str(out, result);
        return out->failed ? wt__fail_nomem(err) : 0;
    }
    json_auto_t *content = copy_content(read, result);
    WT_CHECK_ALLOC(content, err);
    json_object_del(read, "structuredContent");
    return put_piece(gateway, reader, read, content, most, out, err);
}

int wt__result_more(struct gateway *gateway, const struct result_reader *reader, struct str handle, size_t most,
                    struct buffer *out, wt_error *err)
{
    wt__result_sweep(gateway, false); /* drop expired remainders first */
    pthread_mutex_lock(&gateway->lock);
    struct remainder **at = &gateway->remainders;
    while (*at && !(wt__str_equal(handle, wt__str((*at)->handle)) && strcmp((*at)->principal, reader->principal) == 0))
        at = &(*at)->next;
    struct remainder *found = *at ? take_remainder(gateway, at) : NULL;
    pthread_mutex_unlock(&gateway->lock);
    if (!found)
        return wt__fail(err, WT_ENOTFOUND,
                        "unknown handle: it was read already or expired after %d minutes; call the tool again",
                        REMAINDER_MS / 60000);
    json_auto_t *result = json_object();
    int rc = put_piece(gateway, reader, result, found->content, most, out, err);
    free_remainder(found);
    return rc;
}
