/* import.c: detects the format of each source and runs its importer. */
#include "import/import.h"

#include <stdlib.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "import/formats.h"
#include "import/internal.h"
#include "text/unicode.h"

#define IMPORTER(name) &wt__import_##name,
static const struct importer *const importers[] = {IMPORT_FORMATS(IMPORTER, )};
enum { IMPORTERS = sizeof importers / sizeof importers[0] };

static const char FORMATS[] = IMPORT_FORMATS(IMPORT_FORMAT_NAME, ", ");

static const struct importer *named_importer(struct str format)
{
    for (size_t i = 0; i < IMPORTERS; i++)
        if (wt__str_equal(format, wt__str(importers[i]->name)))
            return importers[i];
    return NULL;
}

/* ---------------------------------------------------------------- one source */

static struct str without_mark(struct str bytes)
{
    struct str mark = STR("\xef\xbb\xbf");
    return wt__str_starts(bytes, mark) ? (struct str){bytes.ptr + mark.len, bytes.len - mark.len} : bytes;
}

/* Rejects sources that are invalid in every format. */
static int check_source(const char *file, struct str bytes, wt_error *err)
{
    if (wt__str_trim(bytes).len == 0)
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL, "%s is empty: it should contain tool definitions", file);
    if (wt__str_starts(bytes, STR("\xff\xfe")) || wt__str_starts(bytes, STR("\xfe\xff")))
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL, "%s is UTF-16: save it as UTF-8", file);
    return 0;
}

static bool contains_words(struct str text, const char *words)
{
    return memmem(text.ptr, text.len, words, strlen(words)) != NULL;
}

/* Common kinds of files without tools, which get a message of their own. They are recognised by words that tools rarely
 * contain. The table is used only if no key of the file identifies a format. */
static const struct {
    const char *start;    /* first characters of the file; NULL for any */
    const char *marks[2]; /* words that the file contains */
    const char *sentence; /* message, without the name of the file */
} foreign_formats[] = {
    {"%PDF", {0}, "is a PDF: look for the API's OpenAPI document, and add that"},
    {"<", {0}, "is HTML or XML: look for the API's OpenAPI document, and add that"},
    {NULL,
     {"schema.getpostman.com"},
     "is a Postman collection, which is not supported: export it as OpenAPI, and add that"},
    {NULL, {"\"__schema\""}, "is a GraphQL schema, which is not supported"},
    {NULL, {"type Query"}, "is a GraphQL schema, which is not supported"},
    {NULL, {"asyncapi"}, "is an AsyncAPI document, which is not supported"},
    {NULL, {"\"version\"", "\"dependencies\""}, "describes a package and has no tools"},
    {NULL, {"\"version\"", "\"devDependencies\""}, "describes a package and has no tools"},
    {NULL, {"\"version\"", "\"scripts\""}, "describes a package and has no tools"},
};

static const char *find_foreign_format(struct str bytes)
{
    struct str text = wt__str_trim(bytes);
    for (size_t i = 0; i < sizeof foreign_formats / sizeof foreign_formats[0]; i++) {
        bool same = !foreign_formats[i].start || wt__str_starts(text, wt__str(foreign_formats[i].start));
        for (size_t m = 0; same && m < 2 && foreign_formats[i].marks[m]; m++)
            same = contains_words(text, foreign_formats[i].marks[m]);
        if (same)
            return foreign_formats[i].sentence;
    }
    return NULL;
}

/* True for the configuration of an MCP client, which names servers and has no tools. The file may contain comments and
 * is therefore not parsed, but recognised by words. */
static bool is_client_config(struct str bytes)
{
    return contains_words(bytes, "\"mcpServers\"") ||
           (contains_words(bytes, "\"servers\"") &&
            (contains_words(bytes, "\"command\"") || contains_words(bytes, "\"url\"")));
}

/* True if the first line is a recorded usage (catalog/usage.h). A tool would have a name. */
static bool is_recorded_use(struct str bytes)
{
    const char *end = memchr(bytes.ptr, '\n', bytes.len);
    struct str line = {bytes.ptr, end ? (size_t)(end - bytes.ptr) : bytes.len};
    return contains_words(line, "\"request\"") && contains_words(line, "\"tools\"") &&
           !contains_words(line, "\"name\"");
}

static int choose_importer(const struct importer **out, const struct import_options *options, const char *file,
                           struct str bytes, wt_error *err)
{
    struct peek peek;
    *out = options->format.len > 0 ? named_importer(options->format) : NULL;
    if (*out)
        return 0;
    wt__peek(&peek, file, bytes);
    const char *sentence = peek.lines || peek.keys & ~(unsigned)PEEK_UNSURE ? NULL : find_foreign_format(bytes);
    if (sentence)
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL, "%s %s", file, sentence);
    if (peek.lines && is_recorded_use(bytes))
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL,
                           "%s contains recorded usages, not tools: import it with `whichtool usage add`", file);
    for (size_t i = IMPORTERS; i-- > 0 && !*out;)
        if (importers[i]->detect(&peek))
            *out = importers[i];
    if (*out)
        return 0;
    if (is_client_config(bytes))
        return wt__fail_at(err, WT_EFORMAT, 1, 0, NULL,
                           "%s is a client's configuration; it has servers but no tools: import the tools of its "
                           "servers with `whichtool add --mcp %s`",
                           file, file);
    return wt__fail_at(
        err, WT_EFORMAT, 1, 0, NULL,
        "%s: found no tools in a known format; if it has tools, name the format (%s), else leave the file out", file,
        FORMATS);
}

/* Reads the last added file from bytes that outlive the import. */
static int read_import_source(struct import_reader *reader, struct str bytes, wt_error *err)
{
    struct import *out = reader->out;
    const char *file = out->files[reader->file];
    const struct importer *importer;
    struct str text = without_mark(bytes);
    reader->offset = bytes.len - text.len;
    reader->yaml = NULL;
    bytes = text;
    WT_TRY(check_source(file, bytes, err));
    WT_TRY(choose_importer(&importer, reader->options, file, bytes, err));
    reader->format = importer->name;
    reader->shape = importer->shape;
    reader->reported = 0;
    reader->broken = false;
    wt__buffer_clear(&reader->pointer);
    WT_TRY(importer->read(reader, bytes, err));
    if (reader->pointer.failed)
        return wt__fail_nomem(err);
    if (wt__progress_step(reader->options->progress, bytes.len - reader->reported))
        return wt__fail_cancelled(err);
    out->format = !out->format || strcmp(out->format, importer->name) == 0 ? importer->name : "mixed";
    return 0;
}

static int add_import_file(struct import_reader *reader, struct str name, wt_error *err)
{
    struct import *out = reader->out;
    char *copy = wt__arena_copy(&out->arena, name);
    if (!copy || wt__grow((void **)&out->files, &out->file_capacity, out->file_count + 1, sizeof *out->files) < 0)
        return wt__fail_nomem(err);
    reader->file = (uint32_t)out->file_count;
    out->files[out->file_count++] = copy;
    return 0;
}

static int fail_too_large(const char *file, size_t limit, wt_error *err)
{
    return wt__fail(err, WT_ETOOLONG, "%s is larger than %zu bytes, the maximum for one source: split it", file, limit);
}

static bool has_ending(const char *path, struct str ending)
{
    size_t len = strlen(path);
    return len > ending.len && strncasecmp(path + len - ending.len, ending.ptr, ending.len) == 0;
}

/* Returns the file's name without folder and extension. */
static struct str file_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return (struct str){name, dot ? (size_t)(dot - name) : strlen(name)};
}

/* Reads the last added file from path. Borrows path. In .json files, the stem is the default provider. Other files have
 * no default, because lines of JSON may come from many providers. */
static int read_import_file(struct import_reader *reader, const char *path, wt_error *err)
{
    struct import *out = reader->out;
    size_t len = 0;
    char *content = NULL;
    reader->stem = wt__utf8_valid(file_stem(path)) ? file_stem(path) : (struct str){"", 0};
    reader->provider = has_ending(path, STR(".json")) ? reader->stem : (struct str){"", 0};
    if (wt__file_size(path) > reader->limits.file_bytes)
        return fail_too_large(path, reader->limits.file_bytes, err);
    if (wt__grow((void **)&out->contents, &out->content_capacity, out->content_count + 1, sizeof *out->contents) < 0)
        return wt__fail_nomem(err);
    WT_TRY(wt__file_read(&content, &len, path, reader->limits.file_bytes, err));
    out->contents[out->content_count++] = content;
    return read_import_source(reader, (struct str){content, len}, err);
}

/* ---------------------------------------------------------------- folders */

static bool is_source(const char *path)
{
    struct str ending = {IMPORT_ENDINGS, 0};
    for (; *ending.ptr; ending.ptr += ending.len + (ending.ptr[ending.len] == ' ')) {
        ending.len = strcspn(ending.ptr, " ");
        if (has_ending(path, ending))
            return true;
    }
    return false;
}

/* Reads one file of a folder. A failure of the whole file becomes an issue. */
static int read_import_member(struct import_reader *reader, const char *path, wt_error *err)
{
    wt_error why = {0};
    WT_TRY(add_import_file(reader, wt__str(path), err));
    int rc = read_import_file(reader, path, &why);
    bool spoilt = (rc == WT_EFORMAT && !reader->options->strict) || rc == WT_ENOTFOUND || rc == WT_EREADONLY ||
                  rc == WT_EIO || (rc == WT_ETOOLONG && why.line == 0);
    if (rc == 0)
        return 0;
    if (!spoilt)
        return wt__fail_same(err, &why);
    reader->out->whole = false;
    wt__buffer_clear(&reader->pointer);
    const char *sentence = why.message; /* an issue already names its file */
    if (strncmp(sentence, path, strlen(path)) == 0)
        sentence += strlen(path) + strspn(sentence + strlen(path), ": ");
    return wt__reader_issue(reader, (struct source_place){why.byte, why.line}, "", err, "%s", sentence);
}

static int read_import_folder(struct import_reader *reader, const char *folder, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count = 0, sources = 0;
    uint64_t bytes = 0;
    WT_TRY(wt__list_files(&arena, folder, IMPORT_MAX_FILES, &paths, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (!is_source(paths[i]))
            continue;
        bytes += wt__file_size(paths[i]);
        paths[sources++] = paths[i];
    }
    if (sources == 0)
        return wt__fail(err, WT_EFORMAT, "%s contains no file with one of the extensions " IMPORT_ENDINGS, folder);
    if (bytes > IMPORT_MAX_FOLDER_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the files of %s have more than %llu bytes together: import them in parts",
                        folder, (unsigned long long)IMPORT_MAX_FOLDER_BYTES);
    if (wt__progress_phase(reader->options->progress, "reading", bytes))
        return wt__fail_cancelled(err);
    for (size_t i = 0; i < sources; i++)
        WT_TRY(read_import_member(reader, paths[i], err));
    return 0;
}

/* ---------------------------------------------------------------- the whole import */

static int begin_import(struct import_reader *reader, struct import *out, const struct import_options *options,
                        wt_error *err)
{
    *out = (struct import){.whole = true};
    *reader = (struct import_reader){.out = out, .options = options, .limits = options->limits};
    if (reader->limits.file_bytes == 0)
        reader->limits.file_bytes = WT_MAX_FILE_BYTES;
    if (reader->limits.definition_bytes == 0)
        reader->limits.definition_bytes = WT_MAX_DEFINITION_BYTES;
    if (reader->limits.tools == 0)
        reader->limits.tools = WT_MAX_TOOLS;
    if (options->format.len > 0 && !named_importer(options->format))
        return wt__fail(err, WT_EINVAL, "unknown format \"%.*s\"; choose one of %s",
                        (int)(options->format.len < 64 ? options->format.len : 64), options->format.ptr, FORMATS);
    if (!wt__utf8_valid(options->provider) || options->provider.len > WT_MAX_NAME_BYTES)
        return wt__fail(err, WT_EINVAL, "the provider's name is not valid UTF-8 or has more than %d bytes",
                        WT_MAX_NAME_BYTES);
    return 0;
}

static int end_import(struct import_reader *reader, int rc)
{
    struct import *out = reader->out;
    wt__map_dispose(&reader->names);
    wt__map_dispose(&reader->variants);
    wt__map_dispose(&reader->counters);
    wt__buffer_dispose(&reader->pointer);
    if (rc < 0)
        wt__import_dispose(out);
    else if (!out->format)
        out->format = "mixed";
    return rc;
}

static const struct import_options defaults;

static int read_import_bytes(struct import_reader *reader, struct str bytes, wt_error *err)
{
    const struct import_options *options = reader->options;
    WT_TRY(add_import_file(reader, options->source_name.len > 0 ? options->source_name : STR("input"), err));
    if (bytes.len > reader->limits.file_bytes)
        return fail_too_large(reader->out->files[0], reader->limits.file_bytes, err);
    if (wt__progress_phase(options->progress, "reading", bytes.len))
        return wt__fail_cancelled(err);
    return read_import_source(reader, bytes, err);
}

int wt__import_bytes(struct import *out, struct str bytes, const struct import_options *options, wt_error *err)
{
    struct import_reader reader;
    int rc = begin_import(&reader, out, options ? options : &defaults, err);
    return end_import(&reader, rc < 0 ? rc : read_import_bytes(&reader, bytes, err));
}

static int read_import_path(struct import_reader *reader, const char *path, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const struct import_options *given = reader->options;
    struct import_options beir = *given;
    if (wt__is_folder(path)) {
        char *corpus = wt__path_join(&arena, path, "corpus.jsonl");
        WT_CHECK_ALLOC(corpus, err);
        if (!wt__is_file(corpus))
            return read_import_folder(reader, path, err);
        path = corpus;
        beir.format = beir.format.len > 0 ? beir.format : STR("beir");
    }
    if (wt__progress_phase(given->progress, "reading", wt__file_size(path)))
        return wt__fail_cancelled(err);
    reader->options = &beir;
    int rc = add_import_file(reader, wt__str(path), err);
    if (rc == 0)
        rc = read_import_file(reader, path, err);
    reader->options = given;
    return rc;
}

int wt__import_path(struct import *out, const char *path, const struct import_options *options, wt_error *err)
{
    struct import_reader reader;
    int rc = begin_import(&reader, out, options ? options : &defaults, err);
    return end_import(&reader, rc < 0 ? rc : read_import_path(&reader, path, err));
}

void wt__import_dispose(struct import *import)
{
    if (!import)
        return;
    for (size_t i = 0; i < import->content_count; i++)
        free(import->contents[i]);
    free(import->contents);
    free(import->tools);
    free(import->places);
    free(import->issues);
    free(import->left);
    free((void *)import->files);
    wt__arena_dispose(&import->arena);
    *import = (struct import){0};
}
