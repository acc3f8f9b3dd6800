/* input_schema.c: compiles a tool's input schema, and as much of it as can be where it is malformed. Servers list schemas
 * that no validator takes, such as a "$ref" into nothing, a type "int" or a pattern of another language, and answer calls
 * all the same. Such a schema is brought into its normal form (catalog/schema.h), and the keywords that still do not
 * compile are dropped (schema/lenient.h). */
#include "base/json.h"
#include "catalog/schema.h"
#include "engine/validator.h"
#include "schema/lenient.h"
#include "serve/mcp/internal.h"

#define NULLABLE "\"nullable\""

/* Appends the schema with what "nullable" means. It is appended as it is if it has none, or is not JSON, which the
 * validator says in its words. 0 or WT_ENOMEM. */
static int put_nullable_schema(struct buffer *out, struct str schema, wt_error *err)
{
    json_t *tree = NULL;
    if (!memmem(schema.ptr, schema.len, NULLABLE, sizeof NULLABLE - 1) ||
        wt__json_parse(&tree, schema.ptr, schema.len, NULL) < 0) {
        wt__buffer_str(out, schema);
        return out->failed ? wt__fail_nomem(err) : 0;
    }
    bool is_written = wt__schema_convert_nullable(tree) == 0 && wt__json_write(out, tree) == 0;
    json_decref(tree);
    return is_written ? 0 : wt__fail_nomem(err);
}

/* Compiles the normal form of a schema. The form drops types that are unknown, so that a schema that may refuse more
 * without them has none: *out is then NULL. 0 or WT_ENOMEM. */
static int open_normal_form(wt_validator **out, json_t *schema)
{
    struct buffer normal = {0};
    struct schema_drops drops;
    int rc = 0;
    *out = NULL;
    if (wt__schema_may_refuse_more(schema))
        return 0;
    rc = wt__schema_write(&normal, schema);
    if (rc == 0)
        rc = wt__validator_open_lenient(out, wt__buffer_view(&normal), &drops, NULL);
    wt__buffer_dispose(&normal);
    return rc == WT_ENOMEM ? rc : 0;
}

/* Compiles a schema that does not compile as it is. *is_whole: older forms were all that kept it from compiling. *out is
 * NULL if nothing compiles. 0, WT_EFORMAT (not a JSON object), WT_ENOMEM. */
static int open_rest(wt_validator **out, struct str schema, bool *is_whole)
{
    wt_validator *normal = NULL;
    struct schema_drops drops;
    json_t *tree = NULL;
    int rc = wt__json_parse(&tree, schema.ptr, schema.len, NULL);
    *is_whole = false;
    if (rc == 0 && !json_is_object(tree))
        rc = WT_EFORMAT;
    if (rc == 0) {
        int opened = wt__validator_open_lenient(out, schema, &drops, NULL);
        *is_whole = opened == 0 && drops.count == 0;
        rc = opened == WT_ENOMEM ? opened : 0;
    }
    if (rc == 0 && !*is_whole)
        rc = open_normal_form(&normal, tree);
    if (normal) {
        wt_validator_close(*out);
        *out = normal;
    }
    json_decref(tree);
    return rc;
}

int wt__mcp_compile_input(wt_validator **out, struct buffer *text, struct str schema, wt_error *why, wt_error *err)
{
    bool is_whole = false;
    *out = NULL;
    *why = (wt_error){0};
    int rc = put_nullable_schema(text, schema, err);
    if (rc < 0 || wt_validator_open(out, text->ptr ? text->ptr : "", text->len, NULL, why) == 0)
        return rc;
    rc = why->code == WT_ENOMEM ? WT_ENOMEM : open_rest(out, wt__buffer_view(text), &is_whole);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0 && err)
        *err = *why;
    if (is_whole)
        *why = (wt_error){0};
    return rc;
}
