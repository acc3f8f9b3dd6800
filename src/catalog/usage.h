/* usage.h: one past request with the tools that it used.
 *
 * A usage names its tools by label, and a label outlives its tool. The label is linked to the tool of that id, loses
 * the link when the tool is removed, and gets it back when a tool with that id is added again. A failed usage is stored
 * and listed but not learned from: a failure is no evidence of the right tool. */
#ifndef WT_CATALOG_USAGE_H
#define WT_CATALOG_USAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* Outcome of a usage; the numbers are stored. */
enum usage_outcome { USAGE_UNTOLD, USAGE_OK, USAGE_FAILED, USAGE_OUTCOMES };

struct usage_tool {
    int64_t tool;         /* id in the store; 0 if there is no tool with this label */
    struct str label;     /* id of the tool ("provider/name") if it exists or existed, else the recorded text */
    struct str arguments; /* arguments of the call: compact JSON of an object, at most WT_MAX_ARGUMENTS_BYTES; "" if not
                           * reported */
};

/* Views; whoever fills the struct documents their lifetime. */
struct usage {
    int64_t id;         /* ascending, never reused */
    int64_t request_id; /* the same for equal requests */
    struct str request; /* valid UTF-8 without NUL, not blank, at most WT_MAX_REQUEST_BYTES */
    enum usage_outcome outcome;
    int64_t time; /* seconds since 1970, UTC */
    const struct usage_tool *tools;
    size_t tool_count; /* 1 to WT_MAX_USAGE_TOOLS, all different */
    struct str client; /* reporter of the request, at most WT_MAX_CLIENT_BYTES; "" if not reported */
    struct str key;    /* key given by that client, at most WT_MAX_USAGE_KEY_BYTES; "" for no key */
};

/* Returns "", "ok" or "failed". */
const char *wt__usage_outcome_name(enum usage_outcome outcome);
/* Words accepted in addition to "", including those of agents' logs. The first two are the ones written. */
#define USAGE_OUTCOME_WORDS "ok failed success succeeded true failure error false"
/* Returns false for any other word. */
bool wt__usage_outcome_read(struct str word, enum usage_outcome *out);

/* Returns 0, or WT_EFORMAT (blank, NUL, not UTF-8) or WT_ETOOLONG. */
int wt__usage_check_request(struct str request, wt_error *err);

/* Check a client and a key, which may be "", in the same way. */
int wt__usage_check_client(struct str client, wt_error *err);
int wt__usage_check_key(struct str key, wt_error *err);

/* Messages about arguments give only their length and place, because they may hold secrets.
 *
 * Parses the arguments of a caller to an object in *out, to be released with json_decref. Fails with WT_EFORMAT (not
 * JSON, not an object) or WT_ETOOLONG. */
int wt__usage_read_arguments(json_t **out, struct str text, wt_error *err);
/* Appends an object in its stored form: compact, with numbers as typed. Errors: WT_ETOOLONG, WT_ENOMEM. */
int wt__usage_write_arguments(struct buffer *out, const json_t *arguments, wt_error *err);
/* Checks that text, from a store of any origin, has the form that wt__usage_write_arguments writes: an object, on one
 * line. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__usage_check_arguments(struct str text, wt_error *err);

/* Parses RFC 3339 ("2026-11-22T08:30:00Z", with an offset, or a fraction, which is dropped) or a date, which is its
 * midnight UTC; years 1970 to 9999. Returns false for other texts. */
bool wt__usage_time_read(struct str text, int64_t *seconds);

#endif
