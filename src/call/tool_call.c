/* tool_call.c: validates the arguments of a call and writes the call in the form of an API. See call.h. */
#include "call/call.h"

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "text/shown.h"

enum { FAULTS = 4 /* maximum violations in one description of a fault */ };

int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err)
{
    wt_validator_options options;
    wt_validator_options_init(&options);
    options.assert_formats = 1;
    *out = (struct call_checker){0};
    int rc = wt_validator_open(&out->validator, schema, strlen(schema), &options, &out->why);
    if (rc < 0)
        wt__fail_context(&out->why, rc, "the tool's schema");
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}

void wt__call_checker_close(struct call_checker *checker)
{
    wt_validator_close(checker->validator);
    checker->validator = NULL;
}

/* True if a violation with the code WT_EFORMAT is at this JSON pointer or below. */
static bool has_wrong_form(const wt_validation *validation, struct str pointer)
{
    for (size_t i = 0; i < validation->violation_count; i++) {
        struct str at = wt__str(validation->violations[i]->pointer);
        bool within = wt__str_starts(at, pointer) && (at.len == pointer.len || at.ptr[pointer.len] == '/');
        if (within && validation->violations[i]->code == WT_EFORMAT)
            return true;
    }
    return false;
}

static int reject_unfit_arguments(const wt_validation *validation, const struct parameters *parameters,
                                  struct call_arguments *arguments)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    for (size_t p = 0; p < arguments->len && !pointer.failed; p++) {
        wt__buffer_clear(&pointer);
        wt__json_pointer_step(&pointer, wt__str(parameters->items[p].name));
        if (arguments->items[p].state == ARGUMENT_UNSURE && has_wrong_form(validation, wt__buffer_view(&pointer)))
            wt__call_argument_reject(&arguments->items[p], &parameters->items[p]);
    }
    return pointer.failed ? WT_ENOMEM : 0;
}

int wt__call_reject_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt_validation *validation = NULL;
    json_auto_t *unsure = json_object();
    WT_CHECK_ALLOC(unsure, err);
    for (size_t p = 0; p < arguments->len; p++)
        if (arguments->items[p].state == ARGUMENT_UNSURE && arguments->items[p].value &&
            json_object_set(unsure, parameters->items[p].name, arguments->items[p].value) < 0)
            return wt__fail_nomem(err);
    if (!checker->validator || json_object_size(unsure) == 0)
        return 0;
    int rc = wt__json_write_typed(&json, unsure);
    if (rc == 0)
        rc = wt_validate(checker->validator, json.ptr, json.len, NULL, &validation, NULL);
    if (rc == 0)
        rc = reject_unfit_arguments(validation, parameters, arguments);
    wt_validation_free(validation);
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}

/* A value that is too long or too deep is reported as a fault, like a violation. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err)
{
    const struct call_checker *checker = self;
    struct buffer json = {0}, text = {0};
    wt_validation *validation = NULL;
    wt_error why;
    *fault = (struct str){0};
    int rc = wt__json_write_typed(&json, arguments);
    if (rc == 0)
        rc = wt_validate(checker->validator, json.ptr, json.len, NULL, &validation, &why);
    wt__buffer_dispose(&json);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        wt__buffer_text(&text, why.message);
    for (size_t i = 0; rc == 0 && i < validation->violation_count && i < FAULTS; i++)
        wt__buffer_printf(&text, "%s%s", i > 0 ? "; " : "", validation->violations[i]->message);
    wt_validation_free(validation);
    *fault = (struct str){text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    wt__buffer_dispose(&text);
    return fault->ptr ? 0 : wt__fail_nomem(err);
}

enum {
    CALL_ID_DIGITS = 24,
    FORM_BYTES = 40, /* bytes shown of an unknown form */
};

struct written_call {
    struct str name, export_name;
    const json_t *schema, *arguments;
    struct buffer json;          /* arguments as compact JSON */
    char id[CALL_ID_DIGITS + 1]; /* start of a hash of export_name and arguments */
};

void wt__write_shown_value(struct buffer *out, const json_t *value, const char *absent)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    if (value)
        wt__json_write_typed(&json, value);
    else
        wt__buffer_text(&json, absent);
    wt__shown_json(out, wt__buffer_view(&json));
    out->failed |= json.failed;
}

static void write_shown_arguments(struct buffer *out, const struct written_call *call)
{
    wt__shown_json(out, wt__buffer_view(&call->json));
}

/* Writes the arguments as a JSON string. */
static void write_quoted_arguments(struct buffer *out, const struct written_call *call)
{
    struct buffer shown = {0};
    write_shown_arguments(&shown, call);
    out->failed |= shown.failed;
    wt__buffer_json(out, wt__buffer_view(&shown));
    wt__buffer_dispose(&shown);
}

/* Writes CALLTOOL["name"] and a line for each parameter of the schema, with "none" for absent values. Unlike in
 * the format of ToolVerifier (call.h), texts are quoted. The text "none" is thus distinct from an absent value, and a
 * line break in a text cannot add a parameter. */
static void write_call_lines(struct buffer *out, const struct written_call *call)
{
    wt__buffer_text(out, "CALLTOOL[");
    wt__shown_string(out, call->name);
    wt__buffer_char(out, ']');
    const char *name;
    json_t *property;
    json_object_foreach(wt__json_object(call->schema, "properties"), name, property)
    {
        WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
        wt__shown_string(&key, wt__str(name));
        wt__buffer_char(out, '\n');
        if (key.len > 2)
            wt__buffer_append(out, key.ptr + 1, key.len - 2); /* without quotes */
        wt__buffer_text(out, ": ");
        wt__write_shown_value(out, json_object_get(call->arguments, name), "none");
        out->failed |= key.failed;
    }
}

/* Forms of calls. A JSON form has four fixed texts: before the id, before the name, before the arguments, and at the
 * end. */
static const struct call_form {
    const char *name;
    void (*write)(struct buffer *out, const struct written_call *call); /* NULL for a JSON form */
    const char *before_id, *before_name, *before_arguments, *end;       /* before_id: NULL for a form without an id */
    bool own_name; /* true for the tool's own name, false for the exported name */
    bool quoted;   /* true if the arguments are a JSON text within a string */
} forms[] = {
    {"arguments", .write = write_shown_arguments},
    {"openai", NULL, "{\"id\":\"call_", "\",\"type\":\"function\",\"function\":{\"name\":", ",\"arguments\":", "}}",
     .quoted = true},
    {"openai-responses", NULL, "{\"type\":\"function_call\",\"call_id\":\"call_",
     "\",\"name\":", ",\"arguments\":", "}", .quoted = true},
    {"anthropic", NULL, "{\"type\":\"tool_use\",\"id\":\"toolu_", "\",\"name\":", ",\"input\":", "}", .quoted = false},
    {"gemini", NULL, NULL, "{\"functionCall\":{\"name\":", ",\"args\":", "}}", .quoted = false},
    {"mcp", NULL, NULL, "{\"method\":\"tools/call\",\"params\":{\"name\":", ",\"arguments\":", "}}", .own_name = true},
    {"lines", .write = write_call_lines},
};

static void write_call_form(struct buffer *out, const struct call_form *form, const struct written_call *call)
{
    if (form->write) {
        form->write(out, call);
        return;
    }
    if (form->before_id) {
        wt__buffer_text(out, form->before_id);
        wt__buffer_text(out, call->id);
    }
    wt__buffer_text(out, form->before_name);
    wt__shown_string(out, form->own_name ? call->name : call->export_name);
    wt__buffer_text(out, form->before_arguments);
    if (form->quoted)
        write_quoted_arguments(out, call);
    else
        write_shown_arguments(out, call);
    wt__buffer_text(out, form->end);
}

static const struct call_form *find_call_form(struct str name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (wt__str_equal(wt__str(forms[i].name), name))
            return &forms[i];
    return NULL;
}

int wt__tool_call_check(struct str form, wt_error *err)
{
    return find_call_form(form) ? 0
                                : wt__fail(err, WT_EINVAL,
                                           "unknown form \"%.*s\"; use arguments, openai, openai-responses, "
                                           "anthropic, gemini, mcp or lines",
                                           (int)(form.len < FORM_BYTES ? form.len : FORM_BYTES), form.ptr);
}

static void make_call_id(struct written_call *call)
{
    struct sha256 hash;
    unsigned char digest[32];
    char hex[65];
    wt__sha256_begin(&hash);
    wt__sha256_update(&hash, call->export_name.ptr, call->export_name.len);
    wt__sha256_update(&hash, "", 1); /* separator */
    wt__sha256_update(&hash, call->json.ptr, call->json.len);
    wt__sha256_end(&hash, digest);
    wt__sha256_hex(digest, hex);
    memcpy(call->id, hex, CALL_ID_DIGITS);
}

int wt__tool_call_write(struct buffer *out, struct str form, struct str name, struct str export_name,
                        const json_t *schema, const json_t *arguments, wt_error *err)
{
    WT_TRY(wt__tool_call_check(form, err));
    struct written_call call = {.name = name, .export_name = export_name, .schema = schema, .arguments = arguments};
    int rc = wt__json_write_typed(&call.json, arguments);
    if (rc == 0) {
        make_call_id(&call);
        write_call_form(out, find_call_form(form), &call);
    }
    wt__buffer_dispose(&call.json);
    return rc < 0 || out->failed ? wt__fail_nomem(err) : 0;
}
