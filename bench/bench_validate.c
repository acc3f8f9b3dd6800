/* bench_validate.c: speed of validating arguments, and of compiling the schemas of real catalogues.
 *
 *   bench_validate BFCL_FOLDER [WORK_FOLDER]     arguments of bfcl-multiple; WORK_FOLDER: default build-bench/work
 *   bench_validate compile CORPUS.jsonl...       number of schemas that compile, and errors of the others
 *
 * The first figure is the time to compile the parameters of all tools, in the normal form of an import. The second is
 * the number of validations a second: the accepted arguments of every call in queries.jsonl, against the tool's
 * compiled schema. Parsing is not measured. Times are processor times.
 *
 * The schemas and arguments are also written to WORK_FOLDER/validate.jsonl, for validate_jsonschema_rs.py. Each line is
 * a tool: {"schema": ..., "instances": [...]}. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "catalog/schema.h"
#include "schema/support.h"
#include "support.h"

enum { ROUNDS = 31, PASSES = 50, TOOLS_MAX = 20000, LINE_BYTES = 4 << 20 };

struct bench_tool {
    json_t *row;    /* row of corpus.jsonl */
    json_t *schema; /* in normal form */
    json_t *instances;
    struct compiled *compiled;
};

static struct bench_tool tools[TOOLS_MAX];
static size_t tool_count;

/* Returns the processor time of this thread in microseconds. */
static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Returns the parameters in the normal form of an import; NULL if absent, not a schema, or out of memory. */
static json_t *normal_form(const json_t *parameters)
{
    json_t *schema = NULL, *value = NULL;
    struct buffer text = {0};
    if (wt__schema_from_parameters(&schema, parameters) < 0 || !schema)
        return NULL;
    if (wt__schema_write(&text, schema) == 0)
        wt__json_parse(&value, text.ptr, text.len, NULL);
    json_decref(schema);
    wt__buffer_dispose(&text);
    return value;
}

static void each_line(const char *path, void (*visit)(json_t *row, void *context), void *context)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    if (!file)
        exit_with_message(path);
    while ((len = getline(&line, &capacity, file)) > 0) {
        json_t *row = NULL;
        if (len < LINE_BYTES && wt__json_parse(&row, line, (size_t)len, NULL) == 0)
            visit(row, context);
        json_decref(row);
    }
    free(line);
    fclose(file);
}

/* ---------------------------------------------------------------- arguments */

static void add_tool(json_t *row, void *context)
{
    (void)context;
    if (tool_count == TOOLS_MAX)
        return;
    struct bench_tool *tool = &tools[tool_count];
    tool->schema = normal_form(json_object_get(json_object_get(row, "metadata"), "parameters"));
    if (!tool->schema)
        return;
    tool->row = json_incref(row);
    tool->instances = json_array();
    tool_count++;
}

/* Returns the first of the accepted values; within an object, the first value of each member. NULL if the argument may
 * be omitted. */
static json_t *accepted(const json_t *values)
{
    const char *key;
    json_t *value, *first = json_array_get(values, 0);
    if (!first || (json_is_string(first) && json_string_length(first) == 0))
        return NULL;
    if (!json_is_object(first))
        return json_incref(first);
    json_t *object = json_object();
    json_object_foreach(first, key, value)
    {
        json_t *inner = json_is_array(value) ? accepted(value) : json_incref(value);
        if (inner)
            json_object_set_new(object, key, inner);
    }
    return object;
}

static struct bench_tool *find_bench_tool(const char *id, const char *name)
{
    for (size_t i = 0; i < tool_count; i++)
        if (wt__str_equal(wt__json_str(tools[i].row, "_id"), wt__str(id)) &&
            wt__str_equal(wt__json_str(tools[i].row, "title"), wt__str(name)))
            return &tools[i];
    return NULL;
}

static struct bench_tool *candidate(const json_t *metadata, const char *name)
{
    struct bench_tool *tool = NULL;
    size_t i;
    json_t *id;
    json_array_foreach(json_object_get(metadata, "candidates"), i, id)
    {
        if (!tool)
            tool = find_bench_tool(json_string_value(id), name);
    }
    return tool;
}

static void add_calls(json_t *row, void *context)
{
    const json_t *metadata = json_object_get(row, "metadata");
    size_t i;
    json_t *call, *arguments, *values;
    const char *name, *argument;
    (void)context;
    json_array_foreach(json_object_get(metadata, "calls"), i, call) json_object_foreach(call, name, arguments)
    {
        struct bench_tool *tool = candidate(metadata, name);
        json_t *instance = json_object();
        json_object_foreach(arguments, argument, values)
        {
            json_t *value = accepted(values);
            if (value)
                json_object_set_new(instance, argument, value);
        }
        if (tool)
            json_array_append(tool->instances, instance);
        json_decref(instance);
    }
}

static void leave_pairs(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/validate.jsonl", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        exit_with_message(path);
    for (size_t i = 0; i < tool_count; i++) {
        json_t *pair = json_pack("{s:O,s:O}", "schema", tools[i].schema, "instances", tools[i].instances);
        json_dumpf(pair, file, JSON_COMPACT);
        fputc('\n', file);
        json_decref(pair);
    }
    fclose(file);
}

struct validation_pair {
    const struct compiled *compiled;
    const json_t *instance;
};

static struct validation_pair *list_pairs(size_t *count)
{
    struct validation_pair *pairs = NULL;
    void *items = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < tool_count; i++)
        for (size_t j = 0; j < json_array_size(tools[i].instances); j++) {
            if (wt__grow(&items, &capacity, *count + 1, sizeof *pairs) < 0)
                exit_with_message("out of memory");
            pairs = items;
            pairs[(*count)++] = (struct validation_pair){tools[i].compiled, json_array_get(tools[i].instances, j)};
        }
    return pairs;
}

static void measure_validation(const char *folder, const char *work)
{
    char path[4096];
    double times[ROUNDS];
    size_t fit = 0, count = 0;
    wt_error err;
    snprintf(path, sizeof path, "%s/corpus.jsonl", folder);
    each_line(path, add_tool, NULL);
    snprintf(path, sizeof path, "%s/queries.jsonl", folder);
    each_line(path, add_calls, NULL);
    leave_pairs(work);
    for (size_t r = 0; r < ROUNDS; r++) {
        double start = now_us();
        for (size_t i = 0; i < tool_count; i++) {
            wt__compiled_free(tools[i].compiled);
            if (wt__compile_schema(&tools[i].compiled, tools[i].schema, SCHEMA_2020_12, NULL, false, NULL, &err) < 0)
                exit_with_message(err.message);
        }
        times[r] = (now_us() - start) / 1e3;
    }
    struct validation_pair *pairs = list_pairs(&count);
    print_result(times, ROUNDS, "ms", "whichtool", "compile %zu schemas", tool_count);
    for (size_t r = 0; r < ROUNDS; r++) {
        double start = now_us();
        for (size_t p = 0; p < PASSES; p++)
            for (size_t i = fit = 0; i < count; i++)
                fit += check_instance(pairs[i].compiled, pairs[i].instance) == FITS;
        times[r] = (double)count * PASSES / (now_us() - start) * 1e6;
    }
    print_result(times, ROUNDS, "/s", "whichtool", "validate arguments of %zu calls", count);
    fprintf(stderr, "bench_validate: %zu of %zu fit\n", fit, count);
    free(pairs);
}

/* ---------------------------------------------------------------- catalogues */

struct compile_tally {
    size_t schemas, as_written, imported;
};

static bool compiles(json_t *schema, wt_error *err)
{
    struct compiled *compiled;
    bool good = wt__compile_schema(&compiled, schema, SCHEMA_2020_12, NULL, true, NULL, err) == 0;
    wt__compiled_free(compiled);
    return good;
}

static void count_schema(json_t *row, void *context)
{
    struct compile_tally *tally = context;
    json_t *parameters = json_object_get(json_object_get(row, "metadata"), "parameters");
    wt_error err = {0};
    json_t *schema = normal_form(parameters);
    if (!schema)
        return;
    tally->schemas++;
    tally->as_written += compiles(parameters, &err);
    if (compiles(schema, &err))
        tally->imported++;
    else
        printf("    %s: %.300s\n", wt__json_str(row, "title").ptr, err.message);
    json_decref(schema);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        exit_with_message("usage: bench_validate BFCL_FOLDER [WORK_FOLDER] | compile CORPUS.jsonl...");
    if (strcmp(argv[1], "compile") != 0) {
        measure_validation(argv[1], argc > 2 ? argv[2] : "build-bench/work");
        return 0;
    }
    for (int i = 2; i < argc; i++) {
        struct compile_tally tally = {0};
        each_line(argv[i], count_schema, &tally);
        printf("%s: %zu schemas, %zu compile as they are written, %zu as they are imported\n", argv[i], tally.schemas,
               tally.as_written, tally.imported);
    }
    return 0;
}
