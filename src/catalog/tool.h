/* tool.h: one callable tool in the catalogue, from any source.
 *
 * A tool is identified by (provider, name). `definition` keeps the source's own bytes, so that a later version can
 * derive the other fields from it again. For an operation of OpenAPI, `definition` also contains the inherited members
 * (import/openapi.c). */
#ifndef WT_CATALOG_TOOL_H
#define WT_CATALOG_TOOL_H

#include <stdint.h>

#include "base/str.h"

/* Views; whoever fills the struct documents their lifetime. Text fields are valid UTF-8 without NUL. export_name is ""
 * until the tool is stored. source and own_name are only for imports, and "" in tools from the store. */
struct tool {
    struct str provider;      /* "" if absent; at most WT_MAX_NAME_BYTES */
    struct str name;          /* unique within its provider; 1 to WT_MAX_NAME_BYTES bytes */
    struct str title;         /* name for people, if the source has one */
    struct str description;   /* "" if absent */
    struct str category;      /* a RapidAPI category, OpenAPI tags, ...; "" if absent */
    struct str source_id;     /* the source's own identifier (BEIR _id, "METHOD /path" of OpenAPI); "" if absent */
    struct str format;        /* name of the importer: "mcp", "openai", ... */
    struct str definition;    /* at most WT_MAX_DEFINITION_BYTES */
    struct str schema;        /* JSON Schema of the arguments, compact JSON text of an object */
    unsigned char sha256[32]; /* hash of definition */
    struct str source;        /* file that the tool was read from; "" for the source of the whole import */
    struct str own_name;      /* name before the importer added a number; "" if it added no number */
    struct str export_name;   /* name for model providers (names.h); unique in the store */
};

/* A tool of the source that was skipped. */
struct skipped_tool {
    struct str source_id;
    struct str source; /* see struct tool */
    uint32_t file;     /* index in the import's files */
};

#endif
