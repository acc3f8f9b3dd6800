/* reader.h: what importers share: the place to put tools and issues, and the walk over lists of tools.
 *
 * An importer is one row: how to recognise a source by a first look, and how to read it. It hands drafts to
 * wt__reader_add, which checks, cleans, names and keeps them, and reports with wt__reader_issue. Both return 0 to go
 * on, or a negative code that ends the import. */
#ifndef WT_IMPORT_READER_H
#define WT_IMPORT_READER_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "import/formats.h"
#include "import/import.h"

struct place {
    size_t byte, line;
};

struct yaml;

struct reader {
    struct import *out;
    const struct import_options *options;
    struct import_limits limits;
    const char *format;      /* of the importer at work */
    struct str stem;         /* of the file's name, without folder and ending; "" for bytes */
    struct str provider;     /* of tools whose source names none, in this file */
    uint32_t file;           /* index of out->files */
    size_t offset;           /* of the text in the file: a byte order mark */
    const struct yaml *yaml; /* places are in JSON that was made of YAML; NULL: in the file itself */
    size_t reported;         /* bytes told to progress */
    bool broken;             /* this file was not read to its end, and that was reported */
    struct buffer pointer;   /* JSON pointer of the value being read */
    struct map names;        /* provider NUL name: tools taken, by index */
    struct map variants;     /* the same, NUL, SHA-256: definitions of names that came again */
    struct map counters;     /* provider NUL stem: the last number given to a repeated name */
};

/* A tool as an importer read it; views last until wt__reader_add returns. */
struct draft {
    struct str provider, name, title, description, category, source_id;
    json_t *schema;        /* of the arguments, in any dialect; changed by wt__reader_add; NULL: none */
    bool judged;           /* schema is without credentials: the importer knew where each argument is sent */
    struct str definition; /* lives as long as the source */
    struct place place;
};

int wt__reader_add(struct reader *reader, const struct draft *draft, wt_error *err);

/* A place in the file, for one in the text that an importer reads. */
struct place wt__reader_place(const struct reader *reader, struct place place);

/* below: what to put behind the pointer ("/name"), or "". */
int wt__reader_issue(struct reader *reader, struct place place, const char *below, wt_error *err, const char *format,
                     ...) WT_PRINTF(5, 6);

/* The same for what is wrong with a tool that is taken all the same: nothing was skipped. */
int wt__reader_remark(struct reader *reader, struct place place, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* The source has a tool of this id that was not taken. */
int wt__reader_leave(struct reader *reader, struct str source_id, wt_error *err);

/* A broken place: the rest of the source was not read. */
int wt__reader_broken(struct reader *reader, const struct json_scan *scan, wt_error *err);

/* Tells progress how far the file is read. WT_ECANCELLED when asked to stop. */
int wt__reader_at(struct reader *reader, size_t byte, wt_error *err);

/* The pointer grows by one step and shrinks back to what it was. key is as written between its quotes. */
size_t wt__pointer_key(struct reader *reader, struct str key);
size_t wt__pointer_index(struct reader *reader, size_t index);
void wt__pointer_back(struct reader *reader, size_t mark);

/* Parses one tool's bytes. 1: *out is an object, ended with json_decref; 0: an issue was reported. */
int wt__reader_parse(struct reader *reader, const struct json_item *item, json_t **out, wt_error *err);

/* The member as text: 1 when it is a string, absent or null (*out is then empty); 0: an issue was reported. */
int wt__reader_text(struct reader *reader, struct place place, const json_t *object, const char *key, struct str *out,
                    wt_error *err);

/* Calls visit for each tool below the one value of a document, or that of each line of text: elements of arrays, and
 * what stands under "result", "tools", "functions", "functionDeclarations" of an object that is no tool itself, or
 * under the names of servers. reader->provider is then the server that is named nearest. */
typedef int (*walk_visit)(struct reader *reader, const struct json_item *item, wt_error *err);
int wt__walk_document(struct reader *reader, struct str text, walk_visit visit, wt_error *err);
int wt__walk_lines(struct reader *reader, struct str text, walk_visit visit, wt_error *err);

/* Keys that tell formats apart. */
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

/* A first look at a source: keys of the root and of the first tools. */
struct peek {
    unsigned keys;
    bool lines; /* one JSON value a line */
    bool yaml;  /* an OpenAPI document in YAML */
};

struct importer {
    const char *name;
    bool (*detect)(const struct peek *peek);
    int (*read)(struct reader *reader, struct str bytes, wt_error *err);
};

void wt__peek(struct peek *peek, const char *file, struct str bytes);

#define DECLARE_IMPORTER(name) extern const struct importer wt__import_##name;
IMPORT_FORMATS(DECLARE_IMPORTER, )
#undef DECLARE_IMPORTER

#endif
