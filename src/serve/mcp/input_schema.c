/* input_schema.c: compiles a tool's input schema, and as much of it as can be where it is malformed. Servers list schemas
 * that no validator takes, such as a "$ref" into nothing, a type "int" or a pattern of another language, and answer calls
 * all the same. Such a schema is brought into its normal form (catalog/schema.h); each keyword that still does not compile
 * is then removed, as validators ignore keywords that they do not know. */
#include "base/json.h"
#include "catalog/schema.h"
#include "schema/nullable.h"
#include "serve/mcp/inside.h"

#define NULLABLE "\"nullable\""

enum { LOOSENED_MAX = 64 /* keywords removed of one schema; with more it is not checked at all */ };

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
    bool is_written = wt__schema_take_nullable(tree) == 0 && wt__json_write(out, tree) == 0;
    json_decref(tree);
    return is_written ? 0 : wt__fail_nomem(err);
}

static int compile_input(wt_validator **out, struct buffer *text, struct str schema, wt_error *err)
{
    wt__buffer_clear(text);
    int rc = put_nullable_schema(text, schema, err);
    return rc < 0 ? rc : wt_validator_open(out, text->ptr ? text->ptr : "", text->len, NULL, err);
}

/* Brings the schema into its normal form. NULL if it is not an object, or out of memory. */
static json_t *normalise_input(struct str schema)
{
    struct buffer normal = {0};
    json_t *tree = NULL, *out = NULL;
    if (wt__json_parse(&tree, schema.ptr, schema.len, NULL) == 0 && json_is_object(tree) &&
        wt__schema_write(&normal, tree) == 0)
        wt__json_parse(&out, normal.ptr, normal.len, NULL);
    json_decref(tree);
    wt__buffer_dispose(&normal);
    return out;
}

/* Unescapes a step of a JSON pointer in place (RFC 6901, section 4). */
static void unescape_step(char *step)
{
    char *to = step;
    for (const char *from = step; *from; from++) {
        bool escaped = *from == '~' && (from[1] == '0' || from[1] == '1');
        *to++ = !escaped ? *from : from[1] == '0' ? '~' : '/';
        from += escaped;
    }
    *to = '\0';
}

/* The value that a JSON pointer leads to, or NULL. */
static json_t *follow_pointer(json_t *root, const char *pointer)
{
    char steps[sizeof(((wt_error *)0)->pointer)], *rest = NULL;
    snprintf(steps, sizeof steps, "%s", pointer);
    for (char *step = strtok_r(steps, "/", &rest); step && root; step = strtok_r(NULL, "/", &rest)) {
        unescape_step(step);
        root = json_is_array(root) ? json_array_get(root, strtoul(step, NULL, 10)) : json_object_get(root, step);
    }
    return root;
}

/* Removes the keyword that a failed compilation names first. False if it names none. */
static bool remove_keyword(json_t *root, const wt_error *why)
{
    char keyword[64];
    const char *begin = strstr(why->message, ": \""), *end = begin ? strchr(begin + 3, '"') : NULL;
    json_t *schema = follow_pointer(root, why->pointer);
    if (!end || (size_t)(end - begin - 3) >= sizeof keyword)
        return false;
    snprintf(keyword, sizeof keyword, "%.*s", (int)(end - begin - 3), begin + 3);
    return json_object_del(schema, keyword) == 0;
}

int wt__mcp_compile_input(wt_validator **out, struct buffer *text, struct str schema, wt_error *why, wt_error *err)
{
    wt_error next;
    *out = NULL;
    *why = (wt_error){0};
    int rc = compile_input(out, text, schema, why);
    if (rc == 0 || rc == WT_ENOMEM) {
        *why = rc == 0 ? (wt_error){0} : *why;
        return rc == 0 ? 0 : wt__fail_nomem(err);
    }
    json_t *tree = normalise_input(schema);
    if (!tree) {
        *err = *why; /* not a JSON object */
        return rc;
    }
    bool more = true;
    for (int i = 0; rc < 0 && rc != WT_ENOMEM && more && i <= LOOSENED_MAX; i++) {
        struct buffer loose = {0};
        rc = wt__json_write(&loose, tree) < 0 ? WT_ENOMEM : compile_input(out, text, wt__buffer_view(&loose), &next);
        more = rc < 0 && remove_keyword(tree, &next);
        wt__buffer_dispose(&loose);
    }
    json_decref(tree);
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}
