/* import.h: reads tools from sources of all supported formats. docs/formats.md describes the formats for users.
 *
 * The bytes of each tool are located first (base/json_scan.h), and then parsed alone. An invalid tool therefore does
 * not affect the others, and memory grows with the tools, not with the file. An issue is reported for everything that
 * is skipped, with its place and a remedy. The same bytes give the same tools and names, in the order of the source. */
#ifndef WT_IMPORT_IMPORT_H
#define WT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/tool.h"

enum {
    IMPORT_MAX_FILES = 100000, /* maximum files in a folder */
};
/* Maximum bytes of all files of a folder. All of them are held in memory. */
#define IMPORT_MAX_FOLDER_BYTES ((uint64_t)4 << 30)

/* End of a message about a tool that duplicates a tool of another file. */
#define IMPORT_OTHER_PROVIDER ". Both files have the same provider; set another one with `whichtool add -p NAME FILE`"

/* Limits of an import; 0 for the limit in whichtool.h. Tests set lower limits. */
struct import_limits {
    size_t file_bytes;       /* maximum bytes of a file */
    size_t definition_bytes; /* maximum bytes of a tool's definition */
    size_t tools;            /* maximum tools of an import */
};

/* Options of an import. All zero is the default. Views are borrowed for the call. */
struct import_options {
    struct str format;      /* "" to detect the format */
    struct str provider;    /* provider for all tools; "" for the providers of the source */
    struct str source_name; /* for wt__import_bytes: name of the source in messages; "" for "input" */
    bool strict;            /* fail with WT_EFORMAT at the first issue */
    struct progress *progress;
    struct import_limits limits;
};

/* The origin of a tool. */
struct import_place {
    uint32_t file;     /* index in import.files */
    size_t line, byte; /* 1-based line and byte offset in the file */
};

/* The result of an import, valid until wt__import_dispose. After wt__import_bytes, the tools' definitions may be views
 * of the caller's bytes. */
struct import {
    struct tool *tools;          /* [tool_count], with unique (provider, name) */
    struct import_place *places; /* [tool_count] */
    size_t tool_count;
    wt_add_issue *issues;      /* the first WT_MAX_ISSUES */
    size_t issue_count;        /* number of issues kept */
    size_t skipped;            /* number of issues, without remarks on imported tools */
    struct skipped_tool *left; /* [left_count] skipped tools with a known id; a sync keeps their stored rows */
    size_t left_count;
    size_t twins;       /* tools with the name of an earlier tool and another definition */
    uint32_t twin[2];   /* index of the first of these tools; index of the earlier tool with its name */
    const char *format; /* format of all files; "mixed" if they differ or no file could be read; static */
    bool whole;         /* true if every source was read to its end; missing tools then do not exist in the source */
    const char **files; /* [file_count] names of the files */
    size_t file_count;

    struct arena arena; /* private from here on */
    char **contents;    /* [content_count] file contents, freed on dispose */
    size_t content_count;
    size_t tool_capacity, place_capacity, issue_capacity, file_capacity, content_capacity, left_capacity;
};

/* Imports tools from bytes. *out is empty and disposed on failure. Errors: WT_EFORMAT (the source cannot be read at
 * all, or any issue if strict), WT_ETOOLONG (the file or the number of tools is over the limit), WT_EINVAL (unknown
 * format, or invalid provider), WT_ECANCELLED, WT_ENOMEM. wt__import_path can also fail with WT_ENOTFOUND,
 * WT_EREADONLY (permission denied) and WT_EIO. */
int wt__import_bytes(struct import *out, struct str bytes, const struct import_options *options, wt_error *err);

/* Imports a file, a BEIR folder (one with a corpus.jsonl), or a folder of files. Each file of a folder has its own
 * format. Only the files with an extension of formats.h are read. If such a file cannot be read, an issue is reported,
 * and the import continues. */
int wt__import_path(struct import *out, const char *path, const struct import_options *options, wt_error *err);

void wt__import_dispose(struct import *import);

#endif
