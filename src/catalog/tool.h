/* tool.h: one callable unit as the catalogue knows it, however its source spelled it.
 *
 * A tool is identified by (provider, name). definition keeps the source's own bytes, because every other field is
 * our reading of it, and a later reading may be better. An operation of OpenAPI is no whole without its document:
 * behind its bytes stands what it inherits (import/openapi_inherited.c). */
#ifndef WT_CATALOG_TOOL_H
#define WT_CATALOG_TOOL_H

#include <stdint.h>

#include "base/str.h"

/* What the store adds to a tool that it has is "" in one that was just read: export_name. What only an import needs is
 * "" in one that the store gave: source, own_name.
 *
 * Views; whoever fills the struct says how long they live. Text fields are valid UTF-8 without NUL. */
struct tool {
    struct str provider;    /* "" when there is none; at most WT_MAX_NAME_BYTES */
    struct str name;        /* unique within its provider; 1 to WT_MAX_NAME_BYTES bytes */
    struct str title;       /* for people, when the source gives one beside the name */
    struct str description; /* "" when there is none */
    struct str category;    /* a RapidAPI category, OpenAPI tags, ...; "" when there is none */
    struct str source_id; /* the source's own identifier (BEIR _id, "METHOD /path" of OpenAPI); "" when there is none */
    struct str format;    /* name of the importer: "mcp", "openai", ... */
    struct str definition;    /* at most WT_MAX_DEFINITION_BYTES */
    struct str schema;        /* JSON Schema of the arguments, compact JSON text of an object */
    unsigned char sha256[32]; /* of definition */
    struct str source;        /* the file that it comes from: whose tool it is */
    struct str own_name;      /* name before the reader put a number behind it; "": it put none */
    struct str export_name;   /* what a model provider calls it (names.h); unique in the store */
};

/* A tool that is there in its source and could not be taken. */
struct skipped_tool {
    struct str source_id;
    struct str source; /* as a tool has it */
    uint32_t file;     /* an index of the import's files */
};

#endif
