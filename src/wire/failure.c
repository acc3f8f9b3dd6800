#include "wire/failure.h"

#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "wire/members.h"

static const struct failure failures[] = {
    {WT_EINVAL, 400, "invalid", "a value is invalid, or a member is unknown", false, false},
    {WT_EFORMAT, 400, "malformed", "the request is not valid JSON, or not in the expected format", false, false},
    {WT_ETOOLONG, 413, "too_long", "the request exceeds a limit", false, false},
    {WT_ENOTFOUND, 404, "not_found", "no tool, provider or model has that name", false, false},
    {WT_EEMPTY, 409, "empty", "the catalogue holds no tools", false, true},
    {WT_ERECIPE, 422, "recipe", "the recipe is unknown, or something it requires is missing", false, false},
    {WT_EMODEL, 422, "model", "a required model is missing or damaged", false, false},
    {WT_EREADONLY, 409, "read_only", "the server's store cannot be written", false, true},
    {WT_EBUSY, 503, "busy", "another process kept the store locked too long", true, false},
    {WT_ENETWORK, 502, "network", "the language model did not answer", true, false},
    {WT_ETIMEOUT, 504, "timeout", "the time limit ran out", true, false},
    {WT_ECANCELLED, 503, "cancelled", "the server is shutting down, or the client disconnected", true, false},
    {WT_ENOMEM, 503, "memory", "out of memory", true, true},
    {WT_EFULL, 507, "disk_full", "the server's disk is full", false, true},
    {WT_ESTORE, 500, "store", "the server's store is damaged", false, true},
    {WT_ENEWER, 500, "store_newer",
     "a newer whichtool has updated the server's store; restart the server with that version", false, true},
    {WT_EIO, 500, "internal", "reading or writing failed", false, true},
};

const struct failure *wt__failure_at(size_t index)
{
    return index < sizeof failures / sizeof *failures ? &failures[index] : NULL;
}

const struct failure *wt__failure_of(int code)
{
    size_t last = sizeof failures / sizeof *failures - 1;
    for (size_t i = 0; i < last; i++)
        if (failures[i].code == code)
            return &failures[i];
    return &failures[last];
}

/* True for our own routes, which are not paths of files. */
static bool is_route(struct str path)
{
    return wt__str_starts(path, STR("/v1/")) || wt__str_starts(path, STR("/v2/")) || wt__str_starts(path, STR("/mcp/"));
}

/* Returns the length of the word at `at`, without trailing ':' and '.'; 0 if no word begins there. */
static size_t measure_shown_word(const char *text, const char *at)
{
    bool begins = at == text || strchr(" \"'`(=,[", at[-1]);
    size_t len = begins ? strcspn(at, " \"'`),;]") : 0;
    while (len > 0 && (at[len - 1] == ':' || at[len - 1] == '.'))
        len--;
    return len;
}

/* True for an absolute path of at least two parts. pointer: JSON pointer of the error, which is not a path. */
static bool is_absolute_path(struct str word, const char *pointer)
{
    const char *second =
        word.len > 2 && word.ptr[0] == '/' && word.ptr[1] != '/' ? memchr(word.ptr + 2, '/', word.len - 2) : NULL;
    return second && second + 1 < word.ptr + word.len && !wt__str_equal(word, wt__str(pointer)) && !is_route(word);
}

/* Returns the length of the store's path, or of a path derived from it (STORE-index/...), at the start of the word; 0
 * if absent. The path may contain blanks, so it may be longer than the word. */
static size_t store_length(struct str word, const char *store_path)
{
    size_t len = store_path && *store_path != ':' ? strlen(store_path) : 0;
    if (len == 0 || word.len == 0 || strncmp(word.ptr, store_path, len) != 0)
        return 0;
    bool is_whole = word.len <= len || word.ptr[len] == '-' || word.ptr[len] == ':';
    return !is_whole ? 0 : word.len > len ? word.len : len;
}

/* Replaces `len` bytes at `at` with the word, truncated to the room. Returns the position after the word. */
static char *replace_bytes(char *text, size_t room, char *at, size_t len, const char *word)
{
    size_t word_len = strlen(word), rest = strlen(at + len), before = (size_t)(at - text);
    if (before + word_len >= room)
        word_len = room - before - 1;
    if (before + word_len + rest >= room)
        rest = room - before - word_len - 1;
    memmove(at + word_len, at + len, rest);
    memcpy(at, word, word_len);
    at[word_len + rest] = '\0';
    return at + word_len;
}

static bool hide_paths(wt_error *err, const char *store_path)
{
    char *text = err->message;
    bool changed = false;
    for (char *at = text; *at;) {
        struct str word = {at, measure_shown_word(text, at)};
        size_t of_store = store_length(word, store_path);
        bool hides = of_store > 0 || is_absolute_path(word, err->pointer);
        if (of_store > 0)
            word.len = of_store;
        at = hides ? replace_bytes(text, sizeof err->message, at, word.len, of_store > 0 ? "the store" : "a file")
                   : at + 1;
        changed |= hides;
    }
    return changed;
}

bool wt__client_error(wt_error *out, const wt_error *err, const char *store_path)
{
    const struct failure *failure = wt__failure_of(err->code);
    if (out != err)
        *out = *err;
    bool of_replica = err->code == WT_EREADONLY && wt__str_starts(wt__str(err->message), STR(REPLICA_REFUSAL));
    if (!failure->is_ours || of_replica)
        return hide_paths(out, store_path);
    snprintf(out->message, sizeof out->message, "%s", failure->means);
    return true;
}

void wt__json_failure(struct buffer *out, const char *word, const char *message, const char *pointer)
{
    wt__buffer_text(out, "{\"error\":{");
    wt__json_text(out, "code", word);
    wt__json_text(out, "message", message);
    if (*pointer)
        wt__json_text(out, "pointer", pointer);
    wt__buffer_text(out, "}}");
}
