/* formats.h: the import formats, and the file extensions of sources in folders.
 *
 * A format is a row here and an importer wt__import_NAME (internal.h). Options, request bodies and
 * messages list the rows in this order. Detection tries the last row first: more specific formats come later. */
#ifndef WT_IMPORT_FORMATS_H
#define WT_IMPORT_FORMATS_H

#define IMPORT_FORMATS(ROW, BETWEEN)                                                                                   \
    ROW(mcp)                                                                                                           \
    BETWEEN ROW(openai)                                                                                                \
    BETWEEN ROW(anthropic)                                                                                             \
    BETWEEN ROW(gemini)                                                                                                \
    BETWEEN ROW(openapi)                                                                                               \
    BETWEEN ROW(rapidapi)                                                                                              \
    BETWEEN ROW(jsonl)                                                                                                 \
    BETWEEN ROW(beir)

#define IMPORT_FORMAT_NAME(name) #name
#define IMPORT_FORMAT_NAMES IMPORT_FORMATS(IMPORT_FORMAT_NAME, " ") /* "mcp openai ..." */

/* Files of a folder with other extensions are ignored. */
#define IMPORT_ENDINGS ".json .jsonl .ndjson .yaml .yml"

#endif
