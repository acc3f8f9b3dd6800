/* validator.h: validates JSON values against a JSON Schema (2020-12 or draft-07), and describes violations in sentences
 * that a language model can act on. Needs neither store nor engine. docs/validator.md lists what is supported.
 *
 *   wt_validator_open(&validator, schema, schema_len, NULL, &err);                  once
 *   wt_validate(validator, arguments, arguments_len, NULL, &validation, &err);      often, from any thread
 *   for (i = 0; i < validation->violation_count; i++) puts(validation->violations[i]->message);
 *   wt_validation_free(validation);
 *   wt_validator_close(validator);
 *
 * Schemas and values may be hostile: the validator fetches nothing, and bounds the work for each value.
 *
 * The conventions are those of whichtool.h: err may be NULL and is written only on failure, *out is then NULL, and NULL
 * options and zero fields mean defaults. */
#ifndef WHICHTOOL_VALIDATOR_H
#define WHICHTOOL_VALIDATOR_H

#include <stddef.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, in addition to those of error.h. docs/validator.md has the limits on the work for a schema. */
enum {
    WT_MAX_INSTANCE_BYTES = 4 << 20, /* size of a value; a longer one is WT_ETOOLONG */
    WT_MAX_VIOLATIONS = 100,         /* violations reported per value; further ones are only counted */
    WT_MAX_REPAIRS = 64              /* repairs per value; later mistakes remain violations */
};

/* ---------------------------------------------------------------- schemas */

/* A compiled schema. Immutable: any number of threads may validate with it at once. */
typedef struct wt_validator wt_validator;

typedef struct wt_validator_options {
    size_t size;
    const char *dialect; /* dialect of schemas without "$schema": "2020-12" or "draft-07"; NULL: "2020-12" */
    int assert_formats;  /* true: a "format" must hold. 0: it is an annotation, as in the standard */
    /* Documents for "$ref", and metaschemas for "$schema": [document_count] absolute URIs without a fragment, and their
     * JSON. Both end in NUL and are borrowed for the call. Invalid JSON is an error; any other mistake in a document is
     * an error only if the schema refers to it. */
    size_t document_count;
    const char *const *document_uris;
    const char *const *documents;
} wt_validator_options;

WT_INIT(wt_validator_options_init, wt_validator_options)

/* Compiles a schema: an object, true or false, in the dialect of its "$schema" or else of the options. Any thread.
 *
 * schema   JSON of at most WT_MAX_DEFINITION_BYTES, nested at most WT_MAX_JSON_DEPTH deep. These limits also apply to
 *          each document of the options. Borrowed for the call, need not end in NUL. "$ref" may refer to the schema
 *          itself, to the metaschemas of both dialects, and to the documents.
 * out      owned by the caller; freed with wt_validator_close().
 *
 * Errors, with the place in the schema:
 * - WT_EFORMAT: not JSON, an unknown dialect, or a keyword with an invalid value.
 * - WT_ENOTFOUND: unresolved reference.
 * - WT_ETOOLONG: beyond a limit.
 * - WT_EINVAL: invalid options.
 * - WT_ENOMEM.
 *
 * An endlessly recursive schema is not an error here, because validation may never follow the recursion. */
WT_API int wt_validator_open(wt_validator **out, const char *schema, size_t len, const wt_validator_options *options,
                             wt_error *err);

/* Frees the validator; NULL is a no-op. No wt_validate with it may be running or follow. Its validations stay valid
 * until they are freed. */
WT_API void wt_validator_close(wt_validator *validator);

/* ---------------------------------------------------------------- values */

typedef struct wt_validate_options {
    size_t size;
    int repair;            /* correct mistakes that have only one solution, and list the repairs (wt_repair) */
    size_t max_violations; /* maximum violations to report; 0 or above WT_MAX_VIOLATIONS: WT_MAX_VIOLATIONS */
} wt_validate_options;

WT_INIT(wt_validate_options_init, wt_validate_options)

/* A reason why a value does not fit. */
typedef struct wt_violation {
    const char *pointer; /* JSON pointer of the value, or of the object that lacks a member; "" for the whole value */
    const char *schema_pointer; /* JSON pointer of the keyword; in another document, after its URI and '#' */
    const char *keyword;        /* "type", "required", ...; "" for a schema that is false, and for a limit */
    const char *message;        /* one sentence with the place, the expectation, and the actual value. Quoted values are
                                   truncated, and invisible characters escaped */
    int code;                   /* WT_EFORMAT if the value does not fit. WT_ETIMEOUT if validation exceeded its work
                                   limit, which depends only on schema and value, and not on the machine */
} wt_violation;

/* A repaired value. A repair is kept if fewer violations remain, and none of them is in the repaired value. The repairs
 * are:
 * - text that contains a number or a Boolean, where one is expected
 * - a number, where only text is expected
 * - a single value, where an array of such values is expected
 * - an enumeration value in other letter case or white space
 * - a missing required property that has a default */
typedef struct wt_repair {
    const char *pointer; /* JSON pointer of the value */
    const char *was;     /* previous value, as JSON; "" if missing */
    const char *now;     /* new value, as JSON */
    const char *why;     /* reason, such as "a number, where text is expected" */
} wt_repair;

/* All pointers are owned by the result and live as long as it does. */
typedef struct wt_validation {
    int valid; /* true if the value fits, after the repairs */
    size_t violation_count;
    const wt_violation *const *violations; /* remaining violations in the order of the document; one with WT_ETIMEOUT
                                              comes last */
    size_t more;                           /* further violations that are not listed */
    size_t repair_count;
    const wt_repair *const *repairs; /* in the order in which they were made */
    const char *repaired;            /* repaired value as JSON; NULL without repairs */
} wt_validation;

/* Validates a value. A value that does not fit is not an error: see the result. If a hostile schema or pattern exceeds
 * the work limit, the value counts as invalid, and the last violation has the code WT_ETIMEOUT.
 *
 * instance   JSON of at most WT_MAX_INSTANCE_BYTES, nested at most WT_MAX_JSON_DEPTH deep. Borrowed for the call, need
 *            not end in NUL.
 * out        owned by the caller; freed with wt_validation_free().
 *
 * Any thread; uses up to 1 MB of its stack.
 * Errors: WT_EFORMAT (not JSON), WT_ETOOLONG (beyond a limit), WT_EINVAL (invalid options), WT_ENOMEM. */
WT_API int wt_validate(const wt_validator *validator, const char *instance, size_t len,
                       const wt_validate_options *options, wt_validation **out, wt_error *err);

/* Frees the result; NULL is a no-op. */
WT_API void wt_validation_free(wt_validation *validation);

#ifdef __cplusplus
}
#endif

#endif
