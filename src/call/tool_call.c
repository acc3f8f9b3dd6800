/* tool_call.c: see tool_call.h. One writer a form. */
#include "call/tool_call.h"

#include "base/json.h"
#include "base/sha256.h"
#include "text/shown.h"

enum {
    CALL_ID_DIGITS = 24,
    FORM_BYTES = 40, /* bytes shown of an unknown form */
};

struct written_call {
    struct str name, export_name;
    const json_t *schema, *arguments;
    struct buffer json; /* arguments as compact JSON */
    char id[CALL_ID_DIGITS + 1];
};

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

static void write_openai_call(struct buffer *out, const struct written_call *call)
{
    wt__buffer_printf(out, "{\"id\":\"call_%s\",\"type\":\"function\",\"function\":{\"name\":", call->id);
    wt__shown_string(out, call->export_name);
    wt__buffer_text(out, ",\"arguments\":");
    write_quoted_arguments(out, call);
    wt__buffer_text(out, "}}");
}

static void write_responses_call(struct buffer *out, const struct written_call *call)
{
    wt__buffer_printf(out, "{\"type\":\"function_call\",\"call_id\":\"call_%s\",\"name\":", call->id);
    wt__shown_string(out, call->export_name);
    wt__buffer_text(out, ",\"arguments\":");
    write_quoted_arguments(out, call);
    wt__buffer_char(out, '}');
}

static void write_anthropic_call(struct buffer *out, const struct written_call *call)
{
    wt__buffer_printf(out, "{\"type\":\"tool_use\",\"id\":\"toolu_%s\",\"name\":", call->id);
    wt__shown_string(out, call->export_name);
    wt__buffer_text(out, ",\"input\":");
    write_shown_arguments(out, call);
    wt__buffer_char(out, '}');
}

static void write_gemini_call(struct buffer *out, const struct written_call *call)
{
    wt__buffer_text(out, "{\"functionCall\":{\"name\":");
    wt__shown_string(out, call->export_name);
    wt__buffer_text(out, ",\"args\":");
    write_shown_arguments(out, call);
    wt__buffer_text(out, "}}");
}

static void write_mcp_call(struct buffer *out, const struct written_call *call)
{
    wt__buffer_text(out, "{\"method\":\"tools/call\",\"params\":{\"name\":");
    wt__shown_string(out, call->name);
    wt__buffer_text(out, ",\"arguments\":");
    write_shown_arguments(out, call);
    wt__buffer_text(out, "}}");
}

/* Writes CALLTOOL["name"] and a line for each parameter of the schema; "none" for absent values. Unlike in the paper,
 * texts are quoted. So the text "none" is distinct from an absent value, and a line break in hostile text cannot add a
 * parameter. */
static void write_call_lines(struct buffer *out, const struct written_call *call)
{
    wt__buffer_text(out, "CALLTOOL[");
    wt__shown_string(out, call->name);
    wt__buffer_char(out, ']');
    const char *name;
    json_t *property;
    json_object_foreach(wt__json_object(call->schema, "properties"), name, property)
    {
        const json_t *value = json_object_get(call->arguments, name);
        struct buffer key = {0};
        wt__shown_string(&key, wt__str(name));
        wt__buffer_char(out, '\n');
        if (key.len > 2)
            wt__buffer_append(out, key.ptr + 1, key.len - 2); /* without quotes */
        wt__buffer_text(out, ": ");
        struct buffer json = {0};
        if (value)
            wt__json_write_typed(&json, value);
        else
            wt__buffer_text(&json, "none");
        wt__shown_json(out, wt__buffer_view(&json));
        out->failed |= key.failed || json.failed;
        wt__buffer_dispose(&json);
        wt__buffer_dispose(&key);
    }
}

static const struct call_form {
    const char *name;
    void (*write)(struct buffer *out, const struct written_call *call);
} forms[] = {
    {"arguments", write_shown_arguments}, {"openai", write_openai_call}, {"openai-responses", write_responses_call},
    {"anthropic", write_anthropic_call},  {"gemini", write_gemini_call}, {"mcp", write_mcp_call},
    {"lines", write_call_lines},
};

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
    int rc = wt__tool_call_check(form, err);
    if (rc < 0)
        return rc;
    struct written_call call = {.name = name, .export_name = export_name, .schema = schema, .arguments = arguments};
    rc = wt__json_write_typed(&call.json, arguments);
    if (rc == 0) {
        make_call_id(&call);
        find_call_form(form)->write(out, &call);
    }
    rc = rc < 0 || out->failed ? wt__fail_nomem(err) : 0;
    wt__buffer_dispose(&call.json);
    return rc;
}
