/* examples.h: the training data: requests with their tools, recorded, of data sets, or synthetic. */
#ifndef WT_LEARN_EXAMPLES_H
#define WT_LEARN_EXAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "learn/loop.h"
#include "retrieve/document.h"

/* ---------------------------------------------------------------- examples */

/* The training data: requests with the tools that they used, and the tools' texts.
 *
 * A tool is a row, 0 .. M-1, in order of its id in the store, as in a snapshot of the same store. Requests come from
 * the store's recorded use or from a data set in BEIR layout. A repeated request is one example with all tools that it
 * ever used. Labels of unknown tools, and requests without a known tool, are counted and dropped.
 *
 * Dev examples are never used for training. A data set lists them in qrels/dev.tsv. Without that file, and for recorded
 * use, a tenth is selected by a seeded hash of the request's text, so that new usages never move a request to the other
 * side.
 *
 * Examples may also be synthetic: made of the tools' descriptions, which the tools then lack.
 *
 * Several data sets are read separately and concatenated: their tools, training requests and dev requests. Each keeps
 * its own catalogue: labels refer to tools of their own set, and a request is answered from that set. */

enum {
    EXAMPLES_MAX = 20000000, /* pairs of a request and a tool */
    EXAMPLES_DEV_SHARE = 10, /* one request in so many is dev, unless the data says otherwise */
    EXAMPLES_DEV_LEAST = 5,  /* minimum number of dev requests, for a few dozen requests or more */
    EXAMPLES_PARTS = 64      /* maximum number of data sets of a training */
};

struct example_set {
    size_t count;      /* B requests */
    struct str *texts; /* [B] */
    size_t *starts;    /* [B + 1] start of each request's tools */
    uint32_t *tools;   /* [starts[B]] rows, ascending and distinct within each request */
    uint32_t *times;   /* [starts[B]] how often each was recorded with the request */
};

/* A data set's share of joined examples: the ends of its tools, training requests and dev requests. It begins at the
 * end of the previous part. */
struct example_part {
    size_t tools, train, dev; /* also the input of the hash */
    size_t joined;            /* number of its last training requests that were joined from others */
    const char *name;         /* last path component of its folder */
};

struct examples {
    struct arena arena;                /* owns every string */
    size_t part_count;                 /* 1 for a single set */
    struct example_part *parts;        /* [part_count] */
    size_t tools;                      /* M */
    int64_t *ids;                      /* [M] in the store of their own part */
    struct str *texts[DOCUMENT_TEXTS]; /* [M] each: the encoder's texts of a tool */
    struct str *pairs;                 /* [M] a cross-encoder's text of a tool; may be texts[0] */
    struct example_set train, dev;
    size_t unknown_labels; /* number of labels of unknown tools */
    size_t barren;         /* number of requests without a known tool */
    size_t withheld;       /* number of training requests that are dev in another data set */
    const char *source;    /* for users: the data set's folder or the store's path, or "descriptions of" it */
    char hash[65];         /* SHA-256 of all training data, hexadecimal */
};

struct examples_options {
    const char *data;         /* BEIR folder; NULL for the store's recorded use */
    uint64_t seed;            /* seed of the dev side */
    unsigned fields;          /* fields of a tool that a cross-encoder reads (retrieve/document.h); 0 for the default */
    unsigned document_fields; /* fields that the encoder reads; 0 for the default */
    size_t synthetic;         /* number of synthetic requests to create instead of reading others; 0 to read them */
    bool no_dev;              /* use no synthetic request as dev */
    bool requests_optional;   /* accept a catalogue without requests, such as a data set without qrels/train.tsv */
};

/* Reads examples. Errors: WT_EEMPTY (no tool, or no request with a known tool), WT_ENOTFOUND, WT_EFORMAT, WT_ETOOLONG,
 * WT_ESTORE, WT_ECANCELLED, WT_ENOMEM. */
int wt__examples_read(struct examples *out, wt_engine *engine, const struct examples_options *options,
                      struct train_progress *progress, wt_error *err);
void wt__examples_dispose(struct examples *examples);

/* Joins data sets [count] that were read separately; does not modify them. Drops training requests that are dev in any
 * set. most: [count] maximum training requests of each, of which a seeded sample is taken; 0 or a NULL array for all.
 * Errors: WT_EEMPTY, WT_ETOOLONG (too many tools for a row, or too many pairs), WT_ENOMEM. */
int wt__examples_join(struct examples *out, const struct examples *sets, const size_t *most, size_t count,
                      uint64_t seed, wt_error *err);

/* Appends training requests to each part that join two or three of its requests and have the tools of all. They make up
 * `share` of all training requests, 0 <= share < 1, or less if joined requests would be too long or add no tool.
 * Errors: WT_ENOMEM. */
int wt__examples_join_requests(struct examples *examples, double share, uint64_t seed, wt_error *err);

void wt__example_set_dispose(struct example_set *set);

/* Computes the hash. */
void wt__examples_seal(struct examples *examples);

/* Describes the dropped data in one line in the arena; *out is NULL if nothing was dropped. WT_ENOMEM. */
int wt__examples_notice(const struct examples *examples, struct arena *arena, const char **out, wt_error *err);

/* ---------------------------------------------------------------- synthetic requests */

/* Synthetic requests by the inverse cloze task of Lee et al. 2019, with tools instead of passages. They are made of
 * tool descriptions, to learn a catalogue's words before it has usage, or for unused tools. A request joins the
 * descriptions of one to three tools of one provider. The tools to find have only name and provider, without their
 * descriptions:
 *
 *   "Returns the racecard of a meeting. Also, odds of a race."  ->  Horse Racing / racecards, Horse Racing / odds
 *
 * Users do not ask like this, so such requests complement recorded ones or replace missing ones. */

enum {
    SYNTHETIC_MAX = 1000000, /* requests */
    SYNTHETIC_TOOLS = 3,     /* maximum per request */
    SYNTHETIC_LEAST = 25     /* minimum bytes of a usable description */
};

/* Appends the head of a description as one line, or nothing if it is too short. */
void wt__synthetic_part(struct str description, struct buffer *out);

struct synthetic {
    const struct str *parts;  /* [M] part of each tool; may be empty */
    const int64_t *providers; /* [M] equal numbers for tools of one provider */
    size_t tools, wanted;     /* M; number of requests */
    uint64_t seed;
};

/* rows [count]: the tools, distinct. A non-zero result stops the enumeration. */
typedef int (*synthetic_visit)(void *context, struct str text, const uint32_t *rows, size_t count);

/* Generates requests. Every provider has its turn, in a seeded order, before one has its second turn; a text may
 * repeat. Generates no request without a usable description. Errors: the visitor's, WT_ENOMEM. */
int wt__synthetic_each(const struct synthetic *synthetic, synthetic_visit visit, void *context, wt_error *err);

#endif
