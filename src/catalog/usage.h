/* usage.h: one past request with the tools that it used.
 *
 * A usage names its tools by label, and a label outlives its tool. A label is linked to the tool whose id equals the
 * label. The label loses the link when the tool is removed, and gets a new link when a tool with this id is added
 * again. A failed usage is stored and listed, but nothing is learned from it, because a failure does not show the right
 * tool. */
#ifndef WT_CATALOG_USAGE_H
#define WT_CATALOG_USAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"

/* Outcome of a usage; the numbers are stored. */
enum usage_outcome { USAGE_UNKNOWN, USAGE_OK, USAGE_FAILED, USAGE_OUTCOMES };

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
/* Words that wt__usage_outcome_read accepts in addition to "", including words of agents' logs. Of these words,
 * wt__usage_outcome_name returns only the first two. */
#define USAGE_OUTCOME_WORDS "ok failed success succeeded true failure error false"
/* Parses a word. Returns false if the word is not "" or one of USAGE_OUTCOME_WORDS. */
bool wt__usage_outcome_read(struct str word, enum usage_outcome *out);

/* Returns 0, or WT_EFORMAT (blank, NUL, not UTF-8) or WT_ETOOLONG. */
int wt__usage_check_request(struct str request, wt_error *err);

/* Check a client and a key, which may be "", in the same way. */
int wt__usage_check_client(struct str client, wt_error *err);
int wt__usage_check_key(struct str key, wt_error *err);

/* Arguments may contain secrets, so error messages about them give only their length and place.
 *
 * Parses the arguments that a caller passed. *out is an object; release it with json_decref. Errors: WT_EFORMAT (not
 * JSON, not an object), WT_ETOOLONG. */
int wt__usage_read_arguments(json_t **out, struct str text, wt_error *err);
/* Appends an object in its stored form: compact, with numbers as typed. Errors: WT_ETOOLONG, WT_ENOMEM. */
int wt__usage_write_arguments(struct buffer *out, const json_t *arguments, wt_error *err);
/* Checks that text, from a store of any origin, has the form that wt__usage_write_arguments writes: an object, on one
 * line. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__usage_check_arguments(struct str text, wt_error *err);

/* Parses a time of RFC 3339 ("2026-11-22T08:30:00Z"). The time may have an offset, and a fraction, which is dropped. A
 * date alone means its midnight UTC. Returns false for other texts, and for years outside 1970 to 9999. */
bool wt__usage_time_read(struct str text, int64_t *seconds);

/* Reads recorded use from JSON Lines or a BEIR folder. docs/store.md describes both formats.
 *
 * The reader passes one draft after the other to `take`, in the order of the source. It does not know the catalogue;
 * the callback looks up the tools. Invalid input is reported as an issue with its place, and the usage is skipped. If
 * only the arguments of a call are not an object, the usage is kept without them. Each line of JSON Lines is parsed
 * alone. A BEIR folder is read as a data set (catalog/dataset.h), in which every line must be valid. */

struct usage_draft_tool {
    struct str name;   /* 1 to WT_MAX_USAGE_LABEL_BYTES */
    json_t *arguments; /* an object that `take` may change; NULL if not reported */
};

/* A usage in its source. Views last until take() returns. */
struct usage_draft {
    struct str request; /* checked with wt__usage_check_request */
    enum usage_outcome outcome;
    int64_t time;                         /* -1 if the source has no time */
    const struct usage_draft_tool *tools; /* [tool_count] 1 to WT_MAX_USAGE_TOOLS; 0 for the outcome of another usage */
    size_t tool_count;
    struct str client; /* checked with wt__usage_check_client; "" if absent */
    struct str key;    /* checked with wt__usage_check_key; "" if absent */
    struct str query;  /* _id in a BEIR folder, where names of tools are source ids; "" for JSON Lines */
    const char *file;
    size_t line, byte; /* line is 0 if unknown */
};

/* A negative result ends the import with that code. */
typedef int (*usage_take)(void *context, const struct usage_draft *draft, wt_error *err);

struct usage_import {
    usage_take take;
    void *context;
    struct progress *progress;
    bool strict;          /* the first issue fails the import with WT_EFORMAT */
    wt_add_issue *issues; /* the first WT_MAX_ISSUES */
    size_t issue_count;   /* number of issues kept */
    size_t skipped;       /* number of usages skipped */
    struct arena arena;   /* for the issues */
    size_t issue_capacity;
};

/* Reads usages. Errors: WT_EFORMAT (empty, a malformed data set, or an issue if strict), WT_ETOOLONG, WT_ECANCELLED,
 * WT_ENOMEM, those of take; for a path also WT_ENOTFOUND, WT_EIO, WT_EINVAL (the split is not a plain name). */
int wt__usage_import_bytes(struct usage_import *import, struct str bytes, const char *name, wt_error *err);
int wt__usage_import_path(struct usage_import *import, const char *path, const char *split, wt_error *err);
void wt__usage_import_dispose(struct usage_import *import);

/* Place of an issue. */
struct usage_place {
    const char *file;
    size_t line, byte;
    const char *pointer; /* JSON pointer, or "" */
};

int wt__usage_issue(struct usage_import *import, const struct usage_place *place, wt_error *err, const char *format,
                    ...) WT_PRINTF(4, 5);

#endif
