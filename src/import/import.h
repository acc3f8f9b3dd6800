/* import.h: reads tools from sources of all supported formats. docs/formats.md is the user's description.
 *
 * A source is read in one pass over its bytes. The bytes of each tool are located first (base/json_scan.h) and then
 * parsed alone. So an invalid tool does not affect the others, and memory grows with the tools, not with the file.
 * Everything skipped is an issue with its place and a remedy. The result is deterministic: the same bytes give the same
 * tools and names, in the order of the source. */
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
#define IMPORT_MAX_FOLDER_BYTES                                                                                        \
    ((uint64_t)4 << 30) /* maximum bytes of all files of a folder, which are held in
                                                     * memory */

/* End of a message about two tools with the same name from two files. */
#define IMPORT_OTHER_PROVIDER ". Both files have the same provider; set another one with `whichtool add -p NAME FILE`"

/* Limits of an import. 0 stands for the limit of whichtool.h; tests set lower limits. */
struct import_limits {
    size_t file_bytes;       /* maximum bytes of a file */
    size_t definition_bytes; /* maximum bytes of a tool's definition */
    size_t tools;            /* maximum tools of an import */
};

/* All zero is the default. Views are borrowed for the call. */
struct import_options {
    struct str format;      /* "" to detect the format */
    struct str provider;    /* provider for all tools; "" for the providers of the source */
    struct str source_name; /* name of the bytes in messages; "" for "input" */
    bool strict;            /* the first issue fails the import with WT_EFORMAT */
    struct progress *progress;
    struct import_limits limits;
};

/* The origin of a tool. */
struct import_place {
    uint32_t file; /* index in import.files */
    size_t line, byte;
};

/* The result of an import. Valid until wt__import_dispose; definitions of wt__import_bytes are views of the caller's
 * bytes. */
struct import {
    struct tool *tools; /* [tool_count], with unique (provider, name) */
    struct import_place *places;
    size_t tool_count;
    wt_add_issue *issues;      /* the first WT_MAX_ISSUES */
    size_t issue_count;        /* number of issues kept */
    size_t skipped;            /* number of issues, without remarks on imported tools */
    struct skipped_tool *left; /* [left_count] skipped tools with a known id, whose stored rows a sync keeps */
    size_t left_count;
    size_t twins;       /* tools with the name of an earlier tool, but another definition */
    uint32_t twin[2];   /* indexes of the first such tool, and of the earlier tool with its name */
    const char *format; /* format of all files; "mixed" if they differ; static */
    bool whole;         /* every source was read to its end, so tools missing here were removed from the source */
    const char **files; /* [file_count] names of the files */
    size_t file_count;

    struct arena arena; /* private from here on */
    char **contents;    /* [content_count] file contents, freed on dispose */
    size_t content_count;
    size_t tool_capacity, place_capacity, issue_capacity, file_capacity, content_capacity, left_capacity;
};

/* Imports tools from bytes. *out is empty and disposed on failure. Errors: WT_EFORMAT (the source cannot be read at
 * all, or any issue if strict), WT_ETOOLONG (the file or the number of tools is over the limit), WT_EINVAL (unknown
 * format, or invalid provider), WT_ECANCELLED, WT_ENOMEM; for a path also WT_ENOTFOUND and WT_EIO. */
int wt__import_bytes(struct import *out, struct str bytes, const struct import_options *options, wt_error *err);

/* Imports a file, a BEIR folder, or a folder of files, each with its own format. In a folder only files with an
 * extension of formats.h are read. A file there that cannot be read is an issue, not a failure. */
int wt__import_path(struct import *out, const char *path, const struct import_options *options, wt_error *err);

void wt__import_dispose(struct import *import);

#endif
