/* tool.h: one callable tool in the catalogue, from any source.
 *
 * A tool is identified by (provider, name). definition keeps the source's own bytes, because all other fields are
 * derived and may be derived better later. For an operation of OpenAPI it also contains the inherited members
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
    struct str source;        /* file of the tool, its owner */
    struct str own_name;      /* name before the reader added a number; "" if it did not */
    struct str export_name;   /* name for model providers (names.h); unique in the store */
};

/* A tool of the source that was skipped. */
struct skipped_tool {
    struct str source_id;
    struct str source; /* see struct tool */
    uint32_t file;     /* index in the import's files */
};

#endif
