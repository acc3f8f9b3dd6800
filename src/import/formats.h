/* formats.h: the formats that tools are imported from, and how their files end.
 *
 * A format is a row here and a file of its name, which defines wt__import_NAME (reader.h). What is offered to users, in
 * options, bodies and messages, is made of the rows, in their order. Whether a source is of a format is asked from the
 * last row on: the more particular stand later. */
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

/* Files of a folder that end otherwise are none of its sources. */
#define IMPORT_ENDINGS ".json .jsonl .ndjson .yaml .yml"

#endif
