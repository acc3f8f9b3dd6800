/* examples.h: what is learned from: requests with the tools that they used, and the tools' texts.
 *
 * A tool is a row, 0 .. M-1, in order of its id in the store: the rows of a snapshot of the same store. The requests
 * come from the store's recorded use or from a data set in BEIR layout. A request that is there several times is one
 * example with all the tools that it ever used. Labels that name no tool are counted and left out, and so are requests
 * that are left without a tool.
 *
 * Dev examples are never learned from. A data set has them in qrels/dev.tsv; without that file, and for recorded use,
 * a tenth is taken by a seeded hash of the request's text, so that adding usages moves no request to the other side.
 *
 * Or they are synthetic, made of the tools' descriptions (learn/synthetic.h), which the tools then lack.
 *
 * Several data sets are read one by one and joined: their tools, training and dev requests lie behind each other. Each
 * keeps its own catalogue: labels name tools of their own set, and a request is answered from those. */
#ifndef WT_LEARN_EXAMPLES_H
#define WT_LEARN_EXAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "learn/train_progress.h"
#include "retrieve/document.h"

enum {
    EXAMPLES_MAX = 20000000, /* pairs of a request and a tool */
    EXAMPLES_DEV_SHARE = 10, /* one request in so many is dev, where nothing else says which */
    EXAMPLES_DEV_LEAST = 5,  /* dev requests that are wanted at least, of a few dozen requests or more */
    EXAMPLES_PARTS = 64      /* data sets that are learned from at once */
};

struct example_set {
    size_t count;      /* B requests */
    struct str *texts; /* [B] */
    size_t *starts;    /* [B + 1] where the tools of each begin */
    uint32_t *tools;   /* [starts[B]] rows, ascending and all different in each */
    uint32_t *times;   /* [starts[B]] how often each was recorded with the request */
};

/* A data set's share of joined ones: where its tools, training and dev requests end. It begins where the one before
 * ends. */
struct example_part {
    size_t tools, train, dev; /* what the hash is of, and no more */
    size_t joined;            /* of its training requests the last so many were made of the others */
    const char *name;         /* the last part of the folder that it is from */
};

struct examples {
    struct arena arena;                /* every string lives in it */
    size_t part_count;                 /* 1 where nothing was joined */
    struct example_part *parts;        /* [part_count] */
    size_t tools;                      /* M */
    int64_t *ids;                      /* [M] in the store, each in that of its own part */
    struct str *texts[DOCUMENT_TEXTS]; /* [M] each: what the encoder reads of a tool */
    struct str *pairs;                 /* [M] what a cross-encoder reads of a tool; may be texts[0] */
    struct example_set train, dev;
    size_t unknown_labels; /* that name no tool */
    size_t barren;         /* requests of which no tool is known */
    size_t withheld;       /* training requests that are another data set's dev */
    const char *source;    /* for people: the data set's folder, or the store's path; "descriptions of" one of those */
    char hash[65];         /* SHA-256 of all that, hexadecimal: what a model was trained on */
};

struct examples_options {
    const char *data;         /* BEIR folder; NULL: the store's recorded use */
    uint64_t seed;            /* of the dev side */
    unsigned fields;          /* of a tool, that a cross-encoder reads (retrieve/document.h); 0: the usual ones */
    unsigned document_fields; /* that the encoder reads; 0: the usual ones */
    size_t synthetic;         /* so many synthetic requests are made, and no others are read; 0: none */
    bool no_dev;              /* of synthetic ones none is dev */
    bool requests_optional;   /* a catalogue is enough, also a data set without qrels/train.tsv */
};

/* Errors: WT_EEMPTY (no tool, or no request with a known tool), WT_ENOTFOUND, WT_EFORMAT, WT_ETOOLONG, WT_ESTORE,
 * WT_ECANCELLED, WT_ENOMEM. */
int wt__examples_read(struct examples *out, wt_engine *engine, const struct examples_options *options,
                      struct train_progress *progress, wt_error *err);
void wt__examples_dispose(struct examples *examples);

/* What several data sets [count], each read by itself, have to teach. A training request that any of them has for dev
 * is left out. most: [count] training requests of each, beyond which a seeded part is taken; 0, or NULL: all. The sets
 * themselves are not touched. Errors: WT_EEMPTY, WT_ETOOLONG (more tools than a row can count, or too many pairs),
 * WT_ENOMEM. */
int wt__examples_join(struct examples *out, const struct examples *sets, const size_t *most, size_t count,
                      uint64_t seed, wt_error *err);

/* Makes training requests of two or three of one part, with the tools of all, behind the part's own: this share of all
 * training requests then, 0 <= share < 1, or fewer where they would be too long or need nothing else. Errors:
 * WT_ENOMEM. */
int wt__examples_join_requests(struct examples *examples, double share, uint64_t seed, wt_error *err);

void wt__example_set_dispose(struct example_set *set);

/* Fills the hash. */
void wt__examples_seal(struct examples *examples);

/* One line on what was left out, in arena; *out is NULL when nothing was. WT_ENOMEM. */
int wt__examples_notice(const struct examples *examples, struct arena *arena, const char **out, wt_error *err);

#endif
