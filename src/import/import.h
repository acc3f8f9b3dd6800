/* import.h: sources of any supported format become tools. docs/formats.md tells users the same.
 *
 * A source is read in one pass over its bytes: each tool's own bytes are found first (base/json_scan.h) and only then
 * parsed, so a bad tool costs itself and nothing else, and memory grows with the tools, not with a tree of the file.
 * What was not taken is an issue with its place and what to do about it. The result is deterministic: the same bytes
 * give the same tools with the same names, in the order of the source. */
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
    IMPORT_MAX_FILES = 100000, /* files of one folder */
};
#define IMPORT_MAX_FOLDER_BYTES ((uint64_t)4 << 30) /* of all files of one folder together: they are held in memory */

/* Ends a sentence on two tools of one name from two files. */
#define IMPORT_OTHER_PROVIDER ". Both files have one provider; `whichtool add -p NAME FILE` gives a file another one"

/* A zero stands for the limit of whichtool.h; tests lower them. */
struct import_limits {
    size_t file_bytes;
    size_t definition_bytes;
    size_t tools;
};

/* All zero is the default. Views are borrowed for the call. */
struct import_options {
    struct str format;      /* "" : detected */
    struct str provider;    /* "" : the source's own; else every tool's */
    struct str source_name; /* how messages name bytes; "" : "input" */
    bool strict;            /* the first issue fails the import with WT_EFORMAT */
    struct progress *progress;
    struct import_limits limits;
};

/* Where a tool came from. */
struct import_place {
    uint32_t file; /* index of import.files */
    size_t line, byte;
};

/* Everything in it lives until wt__import_dispose; definitions of wt__import_bytes are views of the caller's bytes. */
struct import {
    struct tool *tools; /* [tool_count], (provider, name) unique among them */
    struct import_place *places;
    size_t tool_count;
    wt_add_issue *issues;      /* the first WT_MAX_ISSUES */
    size_t issue_count;        /* how many of them are kept */
    size_t skipped;            /* what was not taken: the issues, but for those that are remarks on what was */
    struct skipped_tool *left; /* [left_count] where it is known which they were: what is stored of them stays */
    size_t left_count;
    size_t twins;       /* tools with the name of one before them, but another definition */
    uint32_t twin[2];   /* the first of those, and the one before it: indexes of tools */
    const char *format; /* of all files; "mixed" when they differ; static */
    bool whole;         /* every source was read to its end: what is not here is gone from the source */
    const char **files;
    size_t file_count;

    struct arena arena; /* private from here */
    char **contents;    /* [content_count] of files, freed with them */
    size_t content_count;
    size_t tool_capacity, place_capacity, issue_capacity, file_capacity, content_capacity, left_capacity;
};

/* Errors: WT_EFORMAT (the source as a whole cannot be read, or any issue when strict), WT_ETOOLONG (file or number of
 * tools over the limit), WT_EINVAL (no such format, or the provider is no name), WT_ECANCELLED, WT_ENOMEM; of a path
 * also WT_ENOTFOUND, WT_EIO. *out is empty and disposed on failure. */
int wt__import_bytes(struct import *out, struct str bytes, const struct import_options *options, wt_error *err);

/* A file, a BEIR folder, or a folder of files, each detected by itself. In a folder only files with an ending of
 * formats.h count, and one that cannot be read as a whole is an issue, not a failure. */
int wt__import_path(struct import *out, const char *path, const struct import_options *options, wt_error *err);

void wt__import_dispose(struct import *import);

#endif
