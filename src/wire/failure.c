#include "wire/failure.h"

#include "wire/members.h"

static const struct failure failures[] = {
    {WT_EINVAL, 400, "invalid", "a value makes no sense, or a member is not known", false},
    {WT_EFORMAT, 400, "malformed", "what was sent is no JSON, or not of the format that it should have", false},
    {WT_ETOOLONG, 413, "too_long", "what was sent is over a limit", false},
    {WT_ENOTFOUND, 404, "not_found", "no tool, provider or model has that name", false},
    {WT_EEMPTY, 409, "empty", "the catalogue holds no tools", false},
    {WT_ERECIPE, 422, "recipe", "there is no such recipe, or what it needs is missing", false},
    {WT_EMODEL, 422, "model", "the model that it takes is missing or damaged", false},
    {WT_EREADONLY, 409, "read_only", "the server's store cannot be written", false},
    {WT_EBUSY, 503, "busy", "another process kept the store locked too long", true},
    {WT_ENETWORK, 502, "network", "the language model did not answer", true},
    {WT_ETIMEOUT, 504, "timeout", "the time limit ran out", true},
    {WT_ECANCELLED, 503, "cancelled", "the server is ending, or the client went away", true},
    {WT_ENOMEM, 503, "memory", "there is no memory for the request now", true},
    {WT_EFULL, 507, "disk_full", "the server's disk is full", false},
    {WT_ESTORE, 500, "store", "the server's store is damaged", false},
    {WT_ENEWER, 500, "store_newer", "the server's store was written by a newer whichtool", false},
    {WT_EIO, 500, "internal", "reading or writing failed", false},
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

void wt__json_failure(struct buffer *out, const char *word, const char *message, const char *pointer)
{
    wt__buffer_text(out, "{\"error\":{");
    wt__json_text(out, "code", word);
    wt__json_text(out, "message", message);
    if (*pointer)
        wt__json_text(out, "pointer", pointer);
    wt__buffer_text(out, "}}");
}
