/* protocol_schema.h: JSON Schemas of MCP list results, written with ' for ". Clients with strict SDKs reject a whole
 * list if one item does not match. */
#ifndef WT_TESTS_GATEWAY_PROTOCOL_SCHEMA_H
#define WT_TESTS_GATEWAY_PROTOCOL_SCHEMA_H

#define PROTOCOL_COMMON                                                                                                \
    "'title': {'type': 'string'}, 'description': {'type': 'string'}, '_meta': {'type': 'object'}, "                    \
    "'icons': {'type': 'array', 'items': {'type': 'object', 'required': ['src'], 'properties': {"                      \
    "'src': {'type': 'string'}, 'mimeType': {'type': 'string'}, 'theme': {'enum': ['light', 'dark']}, "                \
    "'sizes': {'type': 'array', 'items': {'type': 'string'}}}}}"

#define PROTOCOL_NOTES                                                                                                 \
    "'annotations': {'type': 'object', 'properties': {'audience': {'type': 'array', 'items': "                         \
    "{'enum': ['user', 'assistant']}}, 'priority': {'type': 'number', 'minimum': 0, 'maximum': 1}, "                   \
    "'lastModified': {'type': 'string'}}}"

#define PROTOCOL_SCHEMA_OF_OBJECT                                                                                      \
    "{'type': 'object', 'required': ['type'], 'properties': {'type': {'const': 'object'}, "                            \
    "'properties': {'type': 'object', 'additionalProperties': {'type': 'object'}}, "                                   \
    "'required': {'type': 'array', 'items': {'type': 'string'}}}}"

#define PROTOCOL_LIST(member, required, properties)                                                                    \
    "{'type': 'object', 'required': ['" member "'], 'properties': {'nextCursor': {'type': 'string'}, '" member         \
    "': {'type': 'array', 'items': {'type': 'object', 'required': [" required "], 'properties': {" properties "}}}}}"

/* output: schema of outputSchema; revisions before 2026 require type object. */
#define PROTOCOL_TOOLS(output)                                                                                         \
    PROTOCOL_LIST("tools", "'name', 'inputSchema'",                                                                    \
                  PROTOCOL_COMMON                                                                                      \
                  ", 'name': {'type': 'string', 'minLength': 1}, 'inputSchema': " PROTOCOL_SCHEMA_OF_OBJECT            \
                  ", 'outputSchema': " output                                                                          \
                  ", 'annotations': {'type': 'object', 'properties': {'title': {'type': 'string'}, "                   \
                  "'readOnlyHint': {'type': 'boolean'}, 'destructiveHint': {'type': 'boolean'}, "                      \
                  "'idempotentHint': {'type': 'boolean'}, 'openWorldHint': {'type': 'boolean'}}}")

#define PROTOCOL_RESOURCES                                                                                             \
    PROTOCOL_LIST("resources", "'uri', 'name'",                                                                        \
                  PROTOCOL_COMMON                                                                                      \
                  ", " PROTOCOL_NOTES                                                                                  \
                  ", 'uri': {'type': 'string'}, 'name': {'type': 'string'}, 'mimeType': {'type': 'string'}, "          \
                  "'size': {'type': 'number'}")

#define PROTOCOL_TEMPLATES                                                                                             \
    PROTOCOL_LIST("resourceTemplates", "'uriTemplate', 'name'",                                                        \
                  PROTOCOL_COMMON                                                                                      \
                  ", " PROTOCOL_NOTES                                                                                  \
                  ", 'uriTemplate': {'type': 'string'}, 'name': {'type': 'string'}, 'mimeType': {'type': 'string'}")

#define PROTOCOL_PROMPTS                                                                                               \
    PROTOCOL_LIST("prompts", "'name'",                                                                                 \
                  PROTOCOL_COMMON                                                                                      \
                  ", 'name': {'type': 'string'}, 'arguments': {'type': 'array', 'items': "                             \
                  "{'type': 'object', 'required': ['name'], 'properties': {'name': {'type': 'string'}, "               \
                  "'title': {'type': 'string'}, 'description': {'type': 'string'}, 'required': "                       \
                  "{'type': 'boolean'}}}}")

static const struct {
    const char *method, *modern, *legacy;
} protocol_lists[] = {
    {"tools/list", PROTOCOL_TOOLS("{'type': 'object'}"), PROTOCOL_TOOLS(PROTOCOL_SCHEMA_OF_OBJECT)},
    {"resources/list", PROTOCOL_RESOURCES, PROTOCOL_RESOURCES},
    {"resources/templates/list", PROTOCOL_TEMPLATES, PROTOCOL_TEMPLATES},
    {"prompts/list", PROTOCOL_PROMPTS, PROTOCOL_PROMPTS},
};

#endif
