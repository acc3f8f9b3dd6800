/* support.h: helpers for tests of schemas. JSON in tests is written with ' instead of ". */
#ifndef WT_TESTS_SCHEMA_SUPPORT_H
#define WT_TESTS_SCHEMA_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "schema/evaluation.h"

static inline json_t *json_of(const char *text)
{
    json_t *value = NULL;
    wt_error err = {0};
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    if (!copy)
        abort();
    for (size_t i = 0; i <= len; i++)
        copy[i] = text[i];
    for (size_t i = 0; i < len; i++)
        if (copy[i] == '\'')
            copy[i] = '"';
    if (wt__json_parse(&value, copy, len, &err) < 0) {
        printf("%s: %s\n", text, err.message);
        abort();
    }
    free(copy);
    return value;
}

/* Compiles a schema with asserted formats. Returns NULL and fills err on an error. */
static inline struct compiled *compile_text(const char *schema, const char *dialect, json_t *table, wt_error *err)
{
    struct compiled *compiled;
    json_t *json = json_of(schema);
    wt__compile_schema(&compiled, json, dialect, table, true, NULL, err);
    json_decref(json);
    return compiled;
}

/* Evaluates an instance without collecting violations. */
static inline enum verdict check_instance(const struct compiled *compiled, const json_t *instance)
{
    struct arena arena = {0}; /* for the reason, if undecided */
    struct schema_evaluation e = {.most_steps = VALIDATION_STEPS, .arena = &arena};
    enum verdict verdict = wt__evaluate_subschema(&e, compiled->root, instance);
    wt__evaluation_dispose(&e);
    wt__arena_dispose(&arena);
    return verdict;
}

/* Returns the messages of the violations, one per line. Free with free(). */
static inline char *list_messages(const struct validation *validation)
{
    struct buffer text = {0};
    for (size_t i = 0; i < validation->violations.len; i++) {
        if (i > 0)
            wt__buffer_char(&text, '\n');
        wt__violation_message(&text, &validation->violations.items[i]);
    }
    return wt__buffer_take(&text);
}

#endif
