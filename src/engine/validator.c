/* validator.c: the public functions of schema/, which take JSON text and return messages. A result owns an arena with
 * all its strings. */
#include "engine/validator.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "engine/sized_options.h"
#include "schema/coerce.h"
#include "schema/validator.h"
#include "text/unicode.h"

_Static_assert((int)WT_MAX_REPAIRS == (int)REPAIRS_MAX, "the public limit of repairs must equal that of repair.h");
_Static_assert((int)WT_MAX_VIOLATIONS <= (int)VIOLATIONS_KEPT, "more violations would be reported than are kept");

struct wt_validator {
    struct compiled *compiled;
};

struct validation_result {
    wt_validation public; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
};

/* ---------------------------------------------------------------- schemas */

static int parse_document(json_t **out, const char *text, size_t len, size_t most, const char *what, wt_error *err)
{
    *out = NULL;
    if (len > most)
        return wt__fail(err, WT_ETOOLONG, "%s: longer than %zu bytes", what, most);
    int rc = wt__json_parse(out, text, len, err);
    return rc < 0 && rc != WT_ENOMEM ? wt__fail_context(err, rc, "%s", what) : rc;
}

static int parse_documents(json_t **out, const wt_validator_options *options, wt_error *err)
{
    *out = json_object();
    WT_CHECK_ALLOC(*out, err);
    for (size_t i = 0; i < options->document_count; i++) {
        json_t *document;
        if (!options->document_uris || !options->documents || !options->document_uris[i] || !options->documents[i])
            return wt__fail(err, WT_EINVAL, "document %zu of the options has no URI or no JSON", i);
        if (!wt__utf8_valid(wt__str(options->document_uris[i])))
            return wt__fail(err, WT_EINVAL, "the URI of document %zu of the options is not valid UTF-8", i);
        WT_TRY(parse_document(&document, options->documents[i], strlen(options->documents[i]), WT_MAX_DEFINITION_BYTES,
                              options->document_uris[i], err));
        if (json_object_set_new(*out, options->document_uris[i], document) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}

static const char *find_dialect(const char *name)
{
    if (!name || strcmp(name, "2020-12") == 0)
        return SCHEMA_2020_12;
    return strcmp(name, "draft-07") == 0 ? SCHEMA_DRAFT_07 : NULL;
}

/* Takes ownership of the compiled schema, also on failure. */
static int make_validator(wt_validator **out, struct compiled *compiled, wt_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) {
        wt__compiled_free(compiled);
        return wt__fail_nomem(err);
    }
    (*out)->compiled = compiled;
    return 0;
}

int wt_validator_open(wt_validator **out, const char *schema, size_t len, const wt_validator_options *given,
                      wt_error *err)
{
    wt_validator_options options;
    json_auto_t *documents = NULL, *json = NULL;
    struct compiled *compiled = NULL;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    const char *dialect = find_dialect(options.dialect);
    if (!dialect)
        return wt__fail(err, WT_EINVAL, "unknown dialect \"%.100s\"; use 2020-12 or draft-07", options.dialect);
    WT_TRY(parse_documents(&documents, &options, err));
    WT_TRY(parse_document(&json, schema, len, WT_MAX_DEFINITION_BYTES, "schema", err));
    WT_TRY(wt__compile_schema(&compiled, json, dialect, documents, options.assert_formats != 0, NULL, err));
    return make_validator(out, compiled, err);
}

int wt__validator_open_lenient(wt_validator **out, struct str schema, struct schema_drops *drops, wt_error *err)
{
    struct compiled *compiled = NULL;
    json_auto_t *json = NULL;
    *out = NULL;
    *drops = (struct schema_drops){0};
    WT_TRY(parse_document(&json, schema.ptr, schema.len, WT_MAX_DEFINITION_BYTES, "schema", err));
    WT_TRY(wt__compile_lenient(&compiled, json, SCHEMA_2020_12, drops, err));
    return make_validator(out, compiled, err);
}

void wt_validator_close(wt_validator *validator)
{
    if (!validator)
        return;
    wt__compiled_free(validator->compiled);
    free(validator);
}

/* ---------------------------------------------------------------- results */

/* Moves the content of the buffer into the arena and empties the buffer. Returns NULL if out of memory. */
static const char *move_to_arena(struct arena *arena, struct buffer *text)
{
    const char *copy = text->failed ? NULL : wt__arena_copy(arena, wt__buffer_view(text));
    wt__buffer_dispose(text);
    return copy;
}

static bool copy_violation(struct arena *arena, wt_violation *out, const struct violation *v)
{
    struct buffer text = {0};
    wt__violation_pointer(&text, v);
    out->pointer = move_to_arena(arena, &text);
    wt__violation_keyword(&text, v);
    out->schema_pointer = move_to_arena(arena, &text);
    wt__violation_message(&text, v);
    out->message = move_to_arena(arena, &text);
    out->keyword = v->keyword;
    out->code = v->kind >= VIOLATION_STEPS ? WT_ETIMEOUT : WT_EFORMAT;
    return out->pointer && out->schema_pointer && out->message;
}

/* Copies the first `most` violations. If validation was given up, the last violation says so and is always copied. */
static bool copy_violations(struct validation_result *result, const struct validation *v, size_t most)
{
    size_t found = v->violations.len, len = found < most ? found : most;
    bool decided = found == 0 || v->violations.items[found - 1].kind < VIOLATION_STEPS;
    wt_violation *items = wt__arena_array(&result->arena, wt_violation, len);
    result->public.violations = wt__arena_pointers(&result->arena, items, len, sizeof *items);
    if (len > 0 && !result->public.violations)
        return false;
    for (size_t i = 0; i < len; i++) {
        size_t row = i + 1 < len || decided ? i : found - 1;
        if (!copy_violation(&result->arena, &items[i], &v->violations.items[row]))
            return false;
    }
    result->public.violation_count = len;
    result->public.more = found - len;
    return true;
}

static bool copy_repairs(struct validation_result *result, const struct validation *v)
{
    size_t len = v->repairs.len;
    struct buffer json = {0};
    if (len == 0)
        return true;
    wt_repair *items = wt__arena_array(&result->arena, wt_repair, len);
    result->public.repairs = wt__arena_pointers(&result->arena, items, len, sizeof *items);
    if (!result->public.repairs)
        return false;
    for (size_t i = 0; i < len; i++) {
        const struct repair *repair = &v->repairs.items[i];
        items[i].pointer = wt__arena_copy(&result->arena, wt__str(repair->pointer));
        items[i].was = wt__arena_copy(&result->arena, wt__str(repair->was ? repair->was : ""));
        items[i].now = wt__arena_copy(&result->arena, wt__str(repair->now));
        items[i].why = repair->why;
        if (!items[i].pointer || !items[i].was || !items[i].now)
            return false;
    }
    result->public.repair_count = len;
    wt__json_write(&json, v->repairs.instance);
    result->public.repaired = move_to_arena(&result->arena, &json);
    return result->public.repaired != NULL;
}

static int make_validation(wt_validation **out, const struct validation *v, size_t most, wt_error *err)
{
    struct validation_result *result = calloc(1, sizeof *result);
    WT_CHECK_ALLOC(result, err);
    if (!copy_violations(result, v, most > 0 && most < WT_MAX_VIOLATIONS ? most : WT_MAX_VIOLATIONS) ||
        !copy_repairs(result, v)) {
        wt_validation_free(&result->public);
        return wt__fail_nomem(err);
    }
    result->public.valid = v->fits;
    *out = &result->public;
    return 0;
}

int wt__validate_value(const wt_validator *validator, const json_t *instance, const wt_validate_options *given,
                       wt_validation **out, wt_error *err)
{
    wt_validate_options options;
    WT_CLEANUP(wt__validation_dispose) struct validation validation = {0};
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    WT_TRY(wt__validator_run(&validation, validator->compiled, instance, options.repair != 0, err));
    return make_validation(out, &validation, options.max_violations, err);
}

int wt_validate(const wt_validator *validator, const char *instance, size_t len, const wt_validate_options *given,
                wt_validation **out, wt_error *err)
{
    json_auto_t *json = NULL;
    *out = NULL;
    WT_TRY(parse_document(&json, instance, len, WT_MAX_INSTANCE_BYTES, "instance", err));
    return wt__validate_value(validator, json, given, out, err);
}

void wt_validation_free(wt_validation *validation)
{
    wt__arena_free_owner(validation, offsetof(struct validation_result, arena));
}

int wt__validator_coerce(const wt_validator *validator, json_t **value, struct str instance, bool wraps,
                         struct buffer *out)
{
    return wt__coerce(out, value, validator->compiled, instance, wraps);
}
