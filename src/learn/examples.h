/* examples.h: the training data: requests with their tools. They come from recorded use or data sets, or are
 * synthetic. */
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

/* Tools have the row numbers 0 .. M-1, by ascending id in the store, as in a snapshot of the same store. Requests come
 * from the store's recorded use or from a data set in BEIR layout. A repeated request is one example with all tools
 * that were recorded with it. Labels of unknown tools, and requests without a known tool, are counted and dropped. A
 * data set judges a tool wrong by a score of 0 or less; such tools serve as hard negatives.
 *
 * Dev examples serve to measure and to choose models, not to train them. A data set may list them in qrels/dev.tsv.
 * Otherwise a seeded hash of the request's text selects about a tenth of the requests. So new usages rarely turn a
 * training request into a dev request or vice versa.
 *
 * Synthetic requests are made from the descriptions of tools. These descriptions are then removed from the texts of the
 * tools.
 *
 * Several data sets are read separately. Then their tools, training requests and dev requests are concatenated. Each
 * data set is a part with its own catalogue: only tools of the same part can answer a request. */

enum {
    EXAMPLES_MAX = 20000000, /* maximum pairs of a training request and a tool, and of a dev request and a tool */
    EXAMPLES_DEV_SHARE = 10, /* one in this many requests is dev, unless the data set lists its dev requests */
    EXAMPLES_DEV_LEAST = 5,  /* minimum number of dev requests, from 20 requests on */
    EXAMPLES_PARTS = 64      /* maximum number of data sets in a training */
};

struct example_set {
    size_t count;         /* B requests */
    struct str *texts;    /* [B] */
    size_t *starts;       /* [B + 1] start of each request's range in tools and times */
    uint32_t *tools;      /* [starts[B]] rows, ascending and distinct within each request */
    uint32_t *times;      /* [starts[B]] number of times that each tool was recorded with the request */
    size_t *wrong_starts; /* [B + 1] start of each request's range in wrong */
    uint32_t *wrong;      /* [wrong_starts[B]] rows of tools that a data set judges wrong, ascending and distinct */
};

/* The range of a data set in the examples. A part begins at the end of the previous part. */
struct example_part {
    /* ends of the part's tools, training requests and dev requests; hashed if there are several parts */
    size_t tools, train, dev;
    size_t joined;    /* number of joined requests (wt__examples_join_requests), at the end of its training requests */
    const char *name; /* last path component of its folder or store */
};

struct examples {
    struct arena arena;         /* owns every string */
    size_t part_count;          /* 1 for a single set */
    struct example_part *parts; /* [part_count] */
    size_t tools;               /* M */
    int64_t *ids;               /* [M] ids of the tools in the store of their part */
    int64_t *providers; /* [M] provider of each tool: its id in the store of the tool's part, or a negative number that
                           no other tool of the part has if the tool has no provider */
    struct str *names;  /* [M] name of each tool */
    struct str *texts[DOCUMENT_TEXTS]; /* arrays [M]: the texts of each tool for the encoder */
    struct str *pairs;                 /* [M] text of each tool for a cross-encoder; may be the array texts[0] */
    struct example_set train, dev;
    size_t unknown_labels; /* number of labels of unknown tools */
    size_t barren;         /* number of requests without a known tool */
    size_t withheld;       /* number of training requests dropped because they are dev in another data set */
    const char *source; /* folder of the data set or path of the store, for messages; preceded by "descriptions of " if
                              the requests are synthetic */
    char hash[65];      /* SHA-256 of all training data, hexadecimal */
};

struct examples_options {
    const char *data;         /* BEIR folder; NULL for the store's recorded use */
    uint64_t seed;            /* seed of the selection of dev requests, and of synthetic requests */
    unsigned fields;          /* fields of a tool that a cross-encoder reads (retrieve/document.h); 0 for the default */
    unsigned document_fields; /* fields that the encoder reads; 0 for the default */
    size_t synthetic;         /* number of synthetic requests to generate instead of reading requests; 0 to read */
    bool no_dev;              /* if true, no synthetic request is dev */
    bool requests_optional;   /* if true, accept a catalogue without requests (no qrels/train.tsv) */
};

/* Reads examples. Errors: WT_EEMPTY (no tool, or no request with a known tool), WT_ENOTFOUND, WT_EFORMAT, WT_ETOOLONG,
 * WT_ESTORE, WT_ECANCELLED, WT_ENOMEM. */
int wt__examples_read(struct examples *out, wt_engine *engine, const struct examples_options *options,
                      struct train_progress *progress, wt_error *err);
void wt__examples_dispose(struct examples *examples);

/* Concatenates data sets, [count], that were read separately. Does not modify them. Drops training requests that are
 * dev in any set. most: [count] maximum training requests of each set, or 0 for all; NULL for all of every set. Of
 * a larger set, a seeded sample is kept. Errors: WT_EEMPTY, WT_ETOOLONG (too many tools or pairs), WT_ENOMEM. */
int wt__examples_join(struct examples *out, const struct examples *sets, const size_t *most, size_t count,
                      uint64_t seed, wt_error *err);

/* Appends joined requests to the training requests of each part. A joined request consists of two or three requests of
 * the part and has the tools of all of them. share: share of joined requests among all training requests, 0 <= share <
 * 1. There are fewer joined requests if requests are too long to be joined. Errors: WT_ENOMEM. */
int wt__examples_join_requests(struct examples *examples, double share, uint64_t seed, wt_error *err);

void wt__example_set_dispose(struct example_set *set);

/* Computes examples->hash. */
void wt__examples_seal(struct examples *examples);

/* Describes the dropped labels and requests in one line, allocated in the arena. *out is NULL if all were kept. Returns
 * 0 or WT_ENOMEM. */
int wt__examples_notice(const struct examples *examples, struct arena *arena, const char **out, wt_error *err);

/* Synthetic requests follow the inverse cloze task of Lee et al. 2019, with tools instead of passages. They teach an
 * encoder the words of a catalogue without recorded use, or of unused tools. A request joins the descriptions of one to
 * three tools of one provider. The texts of the tools have no description, only name and provider:
 *
 *   "Returns the racecard of a meeting. Also, odds of a race."  ->  Horse Racing / racecards, Horse Racing / odds */

enum {
    SYNTHETIC_MAX = 1000000, /* maximum number of synthetic requests */
    SYNTHETIC_TOOLS = 3,     /* maximum tools of a request */
    SYNTHETIC_LEAST = 25     /* minimum bytes of a usable description */
};

/* Appends the beginning of a description as one line. Appends nothing if the description is too short. */
void wt__synthetic_part(struct str description, struct buffer *out);

struct synthetic {
    const struct str *parts;  /* [M] description of each tool from wt__synthetic_part; empty if too short */
    const int64_t *providers; /* [M] number of each tool's provider */
    size_t tools, wanted;     /* M; number of requests to generate */
    uint64_t seed;
};

/* Receives a request and its distinct tools, rows [count]. A non-zero result stops the generation. */
typedef int (*synthetic_visit)(void *context, struct str text, const uint32_t *rows, size_t count);

/* Generates requests for the providers in turn, in a seeded order. The same text may be generated several times.
 * Generates nothing if all parts are empty. Returns 0, the non-zero result of visit, or WT_ENOMEM. */
int wt__synthetic_each(const struct synthetic *synthetic, synthetic_visit visit, void *context, wt_error *err);

#endif
