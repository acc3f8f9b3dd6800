/* validator.h: whether a JSON value fits a JSON Schema (2020-12 or draft-07), and why not, in sentences that a language
 * model can act on. Needs no store and no engine. The conventions of whichtool.h hold: `err` may be NULL and is written
 * only on failure, `out` is NULL then, options may be NULL or 0 for the defaults. docs/validator.md says more.
 *
 *   wt_validator_open(&validator, schema, schema_len, NULL, &err);                  once
 *   wt_validate(validator, arguments, arguments_len, NULL, &validation, &err);      often, from any thread
 *   for (i = 0; i < validation->violation_count; i++) puts(validation->violations[i]->message);
 *   wt_validation_free(validation);
 *   wt_validator_close(validator);
 *
 * Schemas and values may be hostile: nothing is fetched, and what one of them may cost is bounded. */
#ifndef WHICHTOOL_VALIDATOR_H
#define WHICHTOOL_VALIDATOR_H

#include <stddef.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, beside those of error.h. docs/validator.md has those of what a schema may ask for. */
enum {
    WT_MAX_INSTANCE_BYTES = 4 << 20, /* a value that is validated; a longer one is WT_ETOOLONG */
    WT_MAX_VIOLATIONS = 100,         /* that one validation reports; the others are counted */
    WT_MAX_REPAIRS = 64              /* of one value; what is wrong beyond them stays */
};

/* ---------------------------------------------------------------- schemas */

/* A schema, compiled. Immutable: any number of threads may validate with one at once. */
typedef struct wt_validator wt_validator;

typedef struct wt_validator_options {
    size_t size;
    const char *dialect; /* of schemas that name none by "$schema": "2020-12" or "draft-07"; NULL: "2020-12" */
    int assert_formats;  /* a "format" must hold; else it is a remark, as the standard has it */
    /* [document_count] documents that a "$ref" may name, and metaschemas that a "$schema" may name: their addresses
     * (absolute, without a fragment) and their JSON, both of which end in NUL. Borrowed for the call. What is wrong
     * with a document, but for its JSON, is an error only where something refers to it. */
    size_t document_count;
    const char *const *document_uris;
    const char *const *documents;
} wt_validator_options;

WT_INIT(wt_validator_options_init, wt_validator_options)

/* Compiles a schema of the dialect that its "$schema" names, else of the options': an object, true or false.
 *
 * schema   JSON, borrowed for the call, need not end in NUL; at most WT_MAX_DEFINITION_BYTES, nested at most
 *          WT_MAX_JSON_DEPTH deep, and so is each document of the options. "$ref" leads to the schema itself, to the
 *          metaschemas of both dialects, or to one of these documents.
 * out      the caller's; ends with wt_validator_close().
 *
 * Returns 0, or, saying where in the schema: WT_EFORMAT (no JSON, an unknown dialect, a keyword whose value makes no
 * sense), WT_ENOTFOUND (a reference leads nowhere), WT_ETOOLONG (a limit), WT_EINVAL (options), WT_ENOMEM. A schema
 * that refers to itself without end is no error here: it may never be asked to. From any thread. */
WT_API int wt_validator_open(wt_validator **out, const char *schema, size_t len, const wt_validator_options *options,
                             wt_error *err);

/* NULL is a no-op. No wt_validate with it may be running or follow; validations stay valid until they are freed. */
WT_API void wt_validator_close(wt_validator *validator);

/* ---------------------------------------------------------------- values */

typedef struct wt_validate_options {
    size_t size;
    int repair;            /* slips that have one way out are put right, and listed: see wt_repair */
    size_t max_violations; /* 0: WT_MAX_VIOLATIONS, which is also the most */
} wt_validate_options;

WT_INIT(wt_validate_options_init, wt_validate_options)

/* One thing that keeps a value from fitting. */
typedef struct wt_violation {
    const char *pointer;        /* JSON pointer of the value, or of the object that lacks a member; "" is the whole */
    const char *schema_pointer; /* of the keyword in the schema; in another document with its address and '#' before */
    const char *keyword;        /* "type", "required", ...; "" where it is none: a schema that is false, a limit */
    const char *message;        /* one sentence, which names the place: what is expected, and what was there. What it
                                   quotes is cut, and what nobody sees is escaped */
    int code;                   /* WT_EFORMAT: the value does not fit. WT_ETIMEOUT: that could not be found out within
                                   the limits, the same for the same schema and value on every machine */
} wt_violation;

/* One value that was put right: text that is a number, or true or false, where one is expected; a number where only
 * text is; a value where an array of such is; a value of an enumeration in other letters or blanks; a required property
 * that was missing and has a default. Each by itself takes violations away and brings none; nothing else is changed. */
typedef struct wt_repair {
    const char *pointer;
    const char *was; /* JSON; "" where nothing was */
    const char *now; /* JSON */
    const char *why; /* a phrase, as "a number, where text is expected" */
} wt_repair;

/* All of it is the result's, and lives as long as it does. */
typedef struct wt_validation {
    int valid; /* after the repairs */
    size_t violation_count;
    const wt_violation *const *violations; /* in the order of the document, what was not decided last; empty when valid.
                                              After repairs: what is left */
    size_t more;                           /* violations beyond these that were found */
    size_t repair_count;
    const wt_repair *const *repairs; /* in the order in which they were made */
    const char *repaired;            /* the value with its repairs, as JSON; NULL: nothing was repaired */
} wt_validation;

/* Whether a value fits, and why not. One that does not fit is no error: the result says so. What a hostile schema or
 * pattern makes of it is bounded: where that cannot be decided, the value does not count as valid, and the last
 * violation has the code WT_ETIMEOUT.
 *
 * instance   JSON, borrowed for the call, need not end in NUL; at most WT_MAX_INSTANCE_BYTES, nested at most
 *            WT_MAX_JSON_DEPTH deep.
 * out        the caller's; ends with wt_validation_free().
 *
 * Returns 0, or WT_EFORMAT (no JSON), WT_ETOOLONG (a limit), WT_EINVAL (options), WT_ENOMEM.
 * From any thread; takes up to 1 MB of its stack. */
WT_API int wt_validate(const wt_validator *validator, const char *instance, size_t len,
                       const wt_validate_options *options, wt_validation **out, wt_error *err);

/* NULL is a no-op. */
WT_API void wt_validation_free(wt_validation *validation);

#ifdef __cplusplus
}
#endif

#endif
