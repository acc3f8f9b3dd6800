/* formats.h: the import formats, and the file extensions of sources in folders.
 *
 * Each format has a row here and an importer wt__import_NAME (internal.h). Options, request bodies and messages list
 * the formats in the order of the rows. Detection tries the last row first, so a more specific format comes later. */
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

/* Extensions of the files that are read from a folder. */
#define IMPORT_ENDINGS ".json .jsonl .ndjson .yaml .yml"

#endif
