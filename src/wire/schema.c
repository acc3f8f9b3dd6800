/* schema.c: generates the JSON Schema of a field table (version 2020-12, as used by OpenAPI 3.1). */
#include "wire/body.h"

static void put_schema_text(struct buffer *out, const char *key, const char *text)
{
    wt__buffer_printf(out, ",\"%s\":", key);
    wt__buffer_json(out, wt__str(text));
}

static void put_choices(struct buffer *out, const char *choices)
{
    wt__buffer_text(out, "\"type\":\"string\",\"enum\":[");
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, " ");
        wt__buffer_text(out, at == choices ? "" : ",");
        wt__buffer_json(out, (struct str){at, len});
        at += len + (at[len] == ' ');
    }
    wt__buffer_char(out, ']');
}

/* Appends the members of the schema, without braces and "description". */
static void put_kind(struct buffer *out, const struct field *field)
{
    switch (field->kind) {
    case FIELD_TEXT: /* JSON Schema counts characters, which are never more than bytes */
        wt__buffer_printf(out, "\"type\":\"string\",\"maxLength\":%llu", (unsigned long long)field->max);
        break;
    case FIELD_CHOICE:
        put_choices(out, field->choices);
        break;
    case FIELD_COUNT:
    case FIELD_MS:
        wt__buffer_printf(out, "\"type\":\"integer\",\"minimum\":%llu,\"maximum\":%llu", (unsigned long long)field->min,
                          (unsigned long long)field->max);
        break;
    case FIELD_SHARE:
    case FIELD_RATE:
        wt__buffer_text(out, "\"type\":\"number\",\"minimum\":0,\"exclusiveMaximum\":1");
        break;
    case FIELD_FLAG:
        wt__buffer_text(out, "\"type\":\"boolean\"");
        break;
    case FIELD_TEXTS:
        wt__buffer_printf(out, "\"type\":\"array\",\"maxItems\":%llu,\"items\":{\"type\":\"string\",\"maxLength\":%zu}",
                          (unsigned long long)field->max, field->bytes);
        break;
    case FIELD_JSON:
        wt__buffer_text(out, "\"type\":[\"array\",\"object\"]");
        break;
    case FIELD_ANY:
        wt__buffer_text(out, field->schema);
        break;
    case FIELD_OBJECT:
        break;
    }
}

static void put_object_schema(struct buffer *out, struct fields fields)
{
    size_t required = 0;
    wt__buffer_text(out, "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < fields.count; i++) {
        wt__buffer_text(out, i ? "," : "");
        wt__buffer_json(out, wt__str(fields.items[i].name));
        wt__buffer_char(out, ':');
        wt__field_schema(out, &fields.items[i]);
        required += fields.items[i].required;
    }
    wt__buffer_char(out, '}');
    if (required > 0)
        wt__buffer_text(out, ",\"required\":[");
    for (size_t i = 0, seen = 0; i < fields.count; i++) {
        if (!fields.items[i].required)
            continue;
        wt__buffer_text(out, seen++ ? "," : "");
        wt__buffer_json(out, wt__str(fields.items[i].name));
    }
    if (required > 0)
        wt__buffer_char(out, ']');
}

void wt__field_schema(struct buffer *out, const struct field *field)
{
    wt__buffer_char(out, '{');
    if (field->kind == FIELD_OBJECT)
        put_object_schema(out, (struct fields){field->members, field->member_count});
    else
        put_kind(out, field);
    put_schema_text(out, "description", field->says);
    wt__buffer_char(out, '}');
}

void wt__body_schema(struct buffer *out, struct fields fields)
{
    wt__buffer_char(out, '{');
    put_object_schema(out, fields);
    wt__buffer_char(out, '}');
}
