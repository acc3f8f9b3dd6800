/* usage.h: one past request with the tools that it used, as the catalogue knows it.
 *
 * A usage names its tools by label, and a label outlives its tool: it is linked to the tool that it names, loses the
 * link when the tool is removed, and gets it back when a tool with that id is added again. A usage that failed is
 * kept and told, but teaches nothing: that something went wrong is no evidence of what was right. */
#ifndef WT_CATALOG_USAGE_H
#define WT_CATALOG_USAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* How a usage ended; the numbers are those on the disk. */
enum usage_outcome { USAGE_UNTOLD, USAGE_OK, USAGE_FAILED, USAGE_OUTCOMES };

struct usage_tool {
    int64_t tool;         /* the store's id; 0: none has this label now */
    struct str label;     /* the tool's id ("provider/name") when it has or had one, else what was recorded */
    struct str arguments; /* of its call: compact JSON of an object, at most WT_MAX_ARGUMENTS_BYTES; "": not told */
};

/* Views; whoever fills the struct says how long they live. */
struct usage {
    int64_t id;         /* grows with every usage, never given again */
    int64_t request_id; /* the same for equal requests */
    struct str request; /* valid UTF-8 without NUL, not blank, at most WT_MAX_REQUEST_BYTES */
    enum usage_outcome outcome;
    int64_t time; /* seconds since 1970, UTC */
    const struct usage_tool *tools;
    size_t tool_count; /* 1 to WT_MAX_USAGE_TOOLS, all different */
    struct str client; /* whose request it was, at most WT_MAX_CLIENT_BYTES; "": not told */
    struct str key;    /* what that client calls the usage, at most WT_MAX_USAGE_KEY_BYTES; "": nothing */
};

/* "", "ok", "failed". */
const char *wt__usage_outcome_name(enum usage_outcome outcome);
/* The words that are read beside "", as agents' logs have them, too: first the two that are written. */
#define USAGE_OUTCOME_WORDS "ok failed success succeeded true failure error false"
/* False for any other word. */
bool wt__usage_outcome_read(struct str word, enum usage_outcome *out);

/* 0, or WT_EFORMAT (blank, NUL, not UTF-8) or WT_ETOOLONG with a sentence that says what is wrong with the request. */
int wt__usage_check_request(struct str request, wt_error *err);

/* The same for a client and for a key; "" is one. */
int wt__usage_check_client(struct str client, wt_error *err);
int wt__usage_check_key(struct str key, wt_error *err);

/* Arguments may hold secrets: no sentence of these says anything of them but their length and place.
 *
 * From the text of a caller: *out is an object, ended with json_decref. WT_EFORMAT (no JSON, no object) or WT_ETOOLONG
 * with a sentence about "the arguments". */
int wt__usage_read_arguments(json_t **out, struct str text, wt_error *err);
/* Appends an object as the store keeps it: compact, numbers as somebody typed them. WT_ETOOLONG as above, WT_ENOMEM. */
int wt__usage_write_arguments(struct buffer *out, const json_t *arguments, wt_error *err);
/* Whether text is what wt__usage_write_arguments writes, for what a file of any origin holds: an object, on one line.
 * WT_EFORMAT, WT_ETOOLONG or WT_ENOMEM if not. */
int wt__usage_check_arguments(struct str text, wt_error *err);

/* RFC 3339 ("2026-11-22T08:30:00Z", with an offset or a fraction, which is dropped) or a date alone, which is its
 * midnight UTC; years 1970 to 9999. False for anything else. */
bool wt__usage_time_read(struct str text, int64_t *seconds);

#endif
