/* internal.h: functions that the importers share. They find tools in JSON, and add tools and issues to the import.
 *
 * An importer recognises a source by its struct peek, and reads the source. It passes a draft of each tool to
 * wt__reader_add, and reports problems with wt__reader_issue. Both functions return 0 to continue, or a negative code
 * that ends the import. */
#ifndef WT_IMPORT_INTERNAL_H
#define WT_IMPORT_INTERNAL_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "import/formats.h"
#include "import/import.h"

/* A byte offset and a 1-based line in the importer's text. */
struct source_place {
    size_t byte, line;
};

struct yaml;
struct function_shape;

/* State of an import. */
struct import_reader {
    struct import *out;
    const struct import_options *options;
    struct import_limits limits;
    const char *format;                 /* name of the current importer */
    const struct function_shape *shape; /* members of a tool in this format; NULL for importers outside function.c */
    struct str stem;                    /* file name without folder and extension; "" for bytes */
    struct str provider;                /* default provider of the current tools */
    uint32_t file;                      /* index of the current file in out->files */
    size_t offset;                      /* bytes of a byte order mark before the text */
    const struct yaml *yaml;            /* document from which the text was converted; NULL if it is not YAML */
    size_t reported;                    /* bytes reported to progress */
    bool broken;                        /* the file could not be read to its end, and an issue was reported */
    struct buffer pointer;              /* JSON pointer of the current value */
    struct map names;                   /* provider NUL name -> index of the tool */
    struct map variants;                /* set of provider NUL name NUL SHA-256: the definitions of repeated names */
    struct map counters;                /* provider NUL stem -> last number given to a repeated name */
};

/* A tool read by an importer. Views last until wt__reader_add returns. */
struct draft {
    struct str provider, name, title, description, category, source_id;
    json_t *schema;        /* schema of the arguments, in any dialect; changed by wt__reader_add; NULL if absent */
    bool judged;           /* the importer has removed the credentials from the schema */
    struct str definition; /* a view of the source, or text in the import's arena */
    struct source_place place;
};

/* Checks a draft, cleans its texts, makes its name unique and stores the tool. Reports an issue if the tool is
 * skipped. */
int wt__reader_add(struct import_reader *reader, const struct draft *draft, wt_error *err);

/* Converts a place in the importer's text to a place in the file. */
struct source_place wt__reader_place(const struct import_reader *reader, struct source_place place);

/* Reports an issue at reader->pointer. below: rest of the JSON pointer ("/name"), or "". */
int wt__reader_issue(struct import_reader *reader, struct source_place place, const char *below, wt_error *err,
                     const char *format, ...) WT_PRINTF(5, 6);

/* Reports a problem with an imported tool. The tool does not count as skipped. */
int wt__reader_remark(struct import_reader *reader, struct source_place place, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* Records the id of a tool that was skipped. */
int wt__reader_leave(struct import_reader *reader, struct str source_id, wt_error *err);

/* Reports that the rest of the source was not read. Does nothing if this was already reported for the file. */
int wt__reader_broken(struct import_reader *reader, const struct json_scan *scan, wt_error *err);

/* Reports progress up to this byte. Returns WT_ECANCELLED on a stop request. */
int wt__reader_at(struct import_reader *reader, size_t byte, wt_error *err);

/* Append a step to the pointer and return its previous length, to restore it with wt__pointer_back. key is raw text
 * between JSON quotes. */
size_t wt__pointer_key(struct import_reader *reader, struct str key);
size_t wt__pointer_index(struct import_reader *reader, size_t index);
void wt__pointer_back(struct import_reader *reader, size_t mark);

/* Parses the bytes of one tool. Returns 1 and sets *out to an object, which the caller releases with json_decref.
 * Returns 0 if an issue was reported. */
int wt__reader_parse(struct import_reader *reader, const struct json_item *item, json_t **out, wt_error *err);

/* Reads a member as text. *out is empty if the member is absent or null. Returns 1, or 0 if an issue was reported
 * because the member is not a string. */
int wt__reader_text(struct import_reader *reader, struct source_place place, const json_t *object, const char *key,
                    struct str *out, wt_error *err);

/* Calls visit for each tool in a document, or in the document of each line. walk.c describes where tools are found. If
 * the source names the server of a tool, reader->provider is this name during the call. */
typedef int (*walk_visit)(struct import_reader *reader, const struct json_item *item, wt_error *err);
int wt__walk_document(struct import_reader *reader, struct str text, walk_visit visit, wt_error *err);
int wt__walk_lines(struct import_reader *reader, struct str text, walk_visit visit, wt_error *err);

/* True if the key is one of the words. KEY_AMONG takes an array. */
bool wt__key_among(const char *const *words, size_t count, struct str key);
#define KEY_AMONG(words, key) wt__key_among(words, sizeof(words) / sizeof(words)[0], key)

/* Keys that identify formats. */
enum peek_key {
    PEEK_OPENAPI = 1 << 0,
    PEEK_SWAGGER = 1 << 1,
    PEEK_RESULT = 1 << 2,
    PEEK_TOOLS = 1 << 3,
    PEEK_DECLARATIONS = 1 << 4,
    PEEK_NAME = 1 << 5,
    PEEK_TYPE = 1 << 6,
    PEEK_FUNCTION = 1 << 7,
    PEEK_PARAMETERS = 1 << 8,
    PEEK_JSON_PARAMETERS = 1 << 9, /* Gemini's parametersJsonSchema */
    PEEK_INPUT_SCHEMA = 1 << 10,   /* Anthropic's input_schema */
    PEEK_INPUT_SCHEMA_MCP = 1 << 11,
    PEEK_API_LIST = 1 << 12,
    PEEK_ID = 1 << 13, /* BEIR's _id */
    PEEK_TEXT = 1 << 14,
    PEEK_PROVIDER = 1 << 15,
    PEEK_UNSURE = PEEK_NAME | PEEK_TYPE | PEEK_ID | PEEK_TEXT, /* any JSON may have these */
};

/* Properties of a source that identify its format. */
struct peek {
    unsigned keys; /* PEEK_... keys of the root and of the first tools */
    bool lines;    /* one JSON value per line */
    bool yaml;     /* an OpenAPI document in YAML */
};

/* An importer of one format. */
struct importer {
    const char *name;
    bool (*detect)(const struct peek *peek); /* true if the source may have this format */
    int (*read)(struct import_reader *reader, struct str bytes, wt_error *err);
    const struct function_shape *shape; /* for the formats of function.c; NULL for others */
};

/* Fills *peek from the beginning of a source. file: name of the source. */
void wt__peek(struct peek *peek, const char *file, struct str bytes);

#define DECLARE_IMPORTER(name) extern const struct importer wt__import_##name;
IMPORT_FORMATS(DECLARE_IMPORTER, )
#undef DECLARE_IMPORTER

/* ---------------------------------------------------------------- YAML (yaml.c) */

enum {
    YAML_MARK_DEPTH = 8,       /* maximum depth of nodes whose places are stored */
    YAML_ALIAS_FREE = 1 << 20, /* bytes of JSON to which the aliases of any document may expand */
    YAML_ALIAS_TIMES = 16,     /* further bytes for each byte of the source */
};

/* The place of a node. */
struct yaml_mark {
    size_t json;       /* offset of the node in the JSON */
    size_t byte, line; /* offset and line of the node in the YAML */
};

struct yaml {
    struct buffer json;
    struct yaml_mark *marks; /* [mark_count], by ascending json */
    size_t mark_count, mark_capacity;
    size_t line, byte;  /* place where reading stopped early */
    const char *reason; /* reason for stopping early; NULL if the document is complete. Static */
};

/* Converts the first document of source to at most max bytes of JSON. Aliases are expanded within limits, because a few
 * lines of aliases can expand to billions of bytes. At invalid YAML or a limit, the JSON is cut off, and out->reason is
 * set. Scalars follow the JSON schema of YAML 1.2. null, true, false and numbers keep their types. All other scalars
 * are strings. Returns 0 or WT_ENOMEM. Call wt__yaml_dispose in any case. */
int wt__yaml_to_json(struct yaml *out, struct str source, size_t max);
void wt__yaml_dispose(struct yaml *yaml);

/* Returns the last mark at or before offset json, or NULL. */
const struct yaml_mark *wt__yaml_near(const struct yaml *yaml, size_t json);

/* ---------------------------------------------------------------- OpenAPI */

enum {
    OPENAPI_MAX_NODES = 1024,    /* maximum values copied for one tool's schema; beyond it, schemas are outlined */
    OPENAPI_FEW_NODES = 64,      /* that maximum, after OPENAPI_ALL_NODES values were copied for a document's tools */
    OPENAPI_ALL_NODES = 4 << 20, /* values copied for a document's tools before the maximum is lowered */
    OPENAPI_MAX_DEPTH = 40,      /* maximum depth of a schema, below WT_MAX_JSON_DEPTH */
    OPENAPI_MAX_OPEN = 6,        /* maximum references within references */
    OPENAPI_MAX_HOPS = 8,        /* maximum references that point to references */
    OPENAPI_CACHE_BYTES = 32 << 20, /* maximum source bytes of parsed parts cached for the next tool */
    OPENAPI_INHERITED_BYTES = 512,  /* maximum bytes of one value inherited from the document */
};

/* A part of the document that a reference can name: "/components/schemas/Pet", "/paths/~1pets". */
struct openapi_part {
    struct json_item item;
    json_t *value; /* parsed on first use */
    bool bad;      /* true if the part is not valid JSON */
};

/* An OpenAPI document while its tools are read. */
struct openapi {
    struct import_reader *reader;
    struct str text;
    struct map index; /* JSON pointer -> index of parts */
    struct openapi_part *parts;
    size_t part_count, part_capacity;
    size_t cached;         /* source bytes of the parsed parts */
    size_t all_nodes;      /* values copied for earlier tools */
    json_t *schemes;       /* security schemes by name, or NULL */
    json_t *brief_schemes; /* security schemes by name; a long scheme is replaced by its hash */
    json_t *inherited;     /* members of the root that operations inherit; a long member is replaced by its hash */
    struct arena arena;
    /* state of the current tool */
    struct str tool;                      /* name of the tool */
    size_t nodes, most;                   /* values copied so far, and the maximum */
    const json_t *open[OPENAPI_MAX_OPEN]; /* targets being expanded; a reference to one of them is a cycle */
    size_t open_count;
    char dangling[128]; /* first reference to a missing target; "" if none */
    char wrong[192];    /* first problem with a parameter or reference; "" if none */
    /* state of the document */
    bool whole;     /* true if the document was read to its end */
    size_t waiting; /* operations with references to targets that may be in the unread part */
};

/* Indexes the parts. Returns 0 or WT_ENOMEM. */
int wt__openapi_index(struct openapi *document);
void wt__openapi_dispose(struct openapi *document);

/* Resets the state of the last tool, and drops the parsed parts if they exceed OPENAPI_CACHE_BYTES. name: name of the
 * next tool; borrowed. */
void wt__openapi_next_tool(struct openapi *document, struct str name);

/* Returns the part named by a local reference, or NULL. */
struct openapi_part *wt__openapi_part(struct openapi *document, struct str reference);

/* Returns the target of the "$ref" in value, or value itself if it has none. The result is borrowed. Returns NULL if
 * the target is missing (sets document->dangling) or outside the document (sets document->wrong), or after
 * OPENAPI_MAX_HOPS references. Sets *rc to WT_ENOMEM if out of memory. */
const json_t *wt__openapi_resolve(struct openapi *document, const json_t *value, int *rc);

/* Returns a copy of schema with expanded references. At a cycle or a limit, a schema keeps only its type, title and
 * description. Returns NULL if out of memory. */
json_t *wt__openapi_expand(struct openapi *document, const json_t *schema);

/* Builds one schema of all arguments of an operation, without credentials. The arguments are the parameters of the path
 * and of the operation, and the properties of the body. shared: parameters of the path, or NULL. Returns 0 or
 * WT_ENOMEM. */
int wt__openapi_arguments(struct openapi *document, const json_t *shared, const json_t *operation, json_t **out);

/* ---------------------------------------------------------------- short names of providers (provider.c) */

enum {
    PROVIDER_MAX_WORDS = 4,
    PROVIDER_MAX_BYTES = 40,
};

/* Appends a provider name, the first of these that exists:
 *
 *   1. the title in lower case, with '-' between words, if it has at most PROVIDER_MAX_WORDS and PROVIDER_MAX_BYTES
 *   2. the registered label of the host: "github" for api.github.com
 *   3. the first words of the file's stem
 *   4. the first words of the title
 *   5. the stem, or the title if the stem is ""
 *
 * From titles and stems, generic words ("API", "spec", versions) are removed, except in case 5. A title ends before its
 * first " + " or " (", unless only generic words come before that. url: the URL of a server, or its host. title, url
 * and stem may each be "". */
void wt__short_provider(struct buffer *out, struct str title, struct str url, struct str stem);

#endif
