/* reader.h: shared by the importers: adding tools and issues, and finding tools in JSON.
 *
 * An importer recognises a source from a peek, and reads it. It passes drafts to wt__reader_add, which checks, cleans,
 * names and stores them, and reports problems with wt__reader_issue. Both return 0 to continue, or a negative code that
 * ends the import. */
#ifndef WT_IMPORT_READER_H
#define WT_IMPORT_READER_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "import/formats.h"
#include "import/import.h"

struct source_place {
    size_t byte, line;
};

struct yaml;

struct import_reader {
    struct import *out;
    const struct import_options *options;
    struct import_limits limits;
    const char *format;      /* name of the current importer */
    struct str stem;         /* file name without folder and extension; "" for bytes */
    struct str provider;     /* provider of tools without one, in this file */
    uint32_t file;           /* index in out->files */
    size_t offset;           /* offset of the text in the file, after a byte order mark */
    const struct yaml *yaml; /* the source of a document converted from YAML, to convert places; NULL for others */
    size_t reported;         /* bytes reported to progress */
    bool broken;             /* the file was not read to its end, and the issue was reported */
    struct buffer pointer;   /* JSON pointer of the current value */
    struct map names;        /* provider NUL name: index of the tool */
    struct map variants;     /* the same, NUL, SHA-256: definitions of repeated names */
    struct map counters;     /* provider NUL stem: last number given to a repeated name */
};

/* A tool read by an importer. Views last until wt__reader_add returns. */
struct draft {
    struct str provider, name, title, description, category, source_id;
    json_t *schema;        /* schema of the arguments, in any dialect; changed by wt__reader_add; NULL if absent */
    bool judged;           /* the schema has no credentials left, because the importer knew where each argument is
                            * sent */
    struct str definition; /* lives as long as the source */
    struct source_place place;
};

int wt__reader_add(struct import_reader *reader, const struct draft *draft, wt_error *err);

/* Converts a place in the importer's text to a place in the file. */
struct source_place wt__reader_place(const struct import_reader *reader, struct source_place place);

/* Reports an issue. below is appended to the pointer ("/name"), or "". */
int wt__reader_issue(struct import_reader *reader, struct source_place place, const char *below, wt_error *err,
                     const char *format, ...) WT_PRINTF(5, 6);

/* Reports a problem with an imported tool, which does not count as skipped. */
int wt__reader_remark(struct import_reader *reader, struct source_place place, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* Notes the id of a tool in the source that was skipped. */
int wt__reader_leave(struct import_reader *reader, struct str source_id, wt_error *err);

/* Reports that the rest of the source was not read. */
int wt__reader_broken(struct import_reader *reader, const struct json_scan *scan, wt_error *err);

/* Reports progress up to this byte. Returns WT_ECANCELLED on a stop request. */
int wt__reader_at(struct import_reader *reader, size_t byte, wt_error *err);

/* Append a step to the pointer and return its previous length, to restore it with wt__pointer_back. key is raw text
 * between JSON quotes. */
size_t wt__pointer_key(struct import_reader *reader, struct str key);
size_t wt__pointer_index(struct import_reader *reader, size_t index);
void wt__pointer_back(struct import_reader *reader, size_t mark);

/* Parses the bytes of one tool. Returns 1 with an object in *out, to be released with json_decref, or 0 if an issue was
 * reported. */
int wt__reader_parse(struct import_reader *reader, const struct json_item *item, json_t **out, wt_error *err);

/* Reads a member as text. Returns 1 if it is a string, or absent or null (*out is then empty); 0 if an issue was
 * reported. */
int wt__reader_text(struct import_reader *reader, struct source_place place, const json_t *object, const char *key,
                    struct str *out, wt_error *err);

/* Calls visit for each tool in a document, or in the document of each line. Tools are elements of arrays, and values
 * under "result", "tools", "functions", "functionDeclarations" of an object that is not a tool itself, or under the
 * names of servers. reader->provider is set to the closest server name. */
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

/* Keys of the root and of the first tools, to detect the format. */
struct peek {
    unsigned keys;
    bool lines; /* one JSON value per line */
    bool yaml;  /* an OpenAPI document in YAML */
};

struct importer {
    const char *name;
    bool (*detect)(const struct peek *peek);
    int (*read)(struct import_reader *reader, struct str bytes, wt_error *err);
};

void wt__peek(struct peek *peek, const char *file, struct str bytes);

#define DECLARE_IMPORTER(name) extern const struct importer wt__import_##name;
IMPORT_FORMATS(DECLARE_IMPORTER, )
#undef DECLARE_IMPORTER

#endif
