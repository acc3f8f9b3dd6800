/* openapi.h: an OpenAPI document as JSON text of which only what is needed is ever parsed. */
#ifndef WT_IMPORT_OPENAPI_H
#define WT_IMPORT_OPENAPI_H

#include "base/arena.h"
#include "base/map.h"
#include "import/reader.h"

enum {
    OPENAPI_MAX_NODES = 1024,       /* values of one tool's schema that are written out from references ... */
    OPENAPI_FEW_NODES = 64,         /* ... and so many once a document's tools have had OPENAPI_ALL_NODES */
    OPENAPI_ALL_NODES = 4 << 20,    /* of all tools of a document */
    OPENAPI_MAX_DEPTH = 40,         /* of a schema; leaves room below WT_MAX_JSON_DEPTH */
    OPENAPI_MAX_OPEN = 6,           /* references within references */
    OPENAPI_MAX_HOPS = 8,           /* references that lead straight to references */
    OPENAPI_CACHE_BYTES = 32 << 20, /* source text of parsed parts that are kept for the next tool */
    OPENAPI_INHERITED_BYTES = 512,  /* of one value that a definition has of its document */
};

/* A part of the document that a reference can name: "/components/schemas/Pet", "/paths/~1pets". */
struct openapi_part {
    struct json_item item;
    json_t *value; /* parsed on first use */
    bool bad;      /* it does not parse */
};

struct openapi {
    struct reader *reader;
    struct str text;
    struct map index; /* JSON pointer: part */
    struct openapi_part *parts;
    size_t part_count, part_capacity, cached;
    size_t all_nodes;                  /* of the tools before */
    json_t *schemes;                   /* security schemes by their names, or NULL */
    json_t *brief_schemes, *inherited; /* the same, and members of the root that operations inherit: briefly */
    struct arena arena;
    /* of the tool at work */
    struct str tool;                      /* its name */
    size_t nodes, most;                   /* written out, and how many may be */
    const json_t *open[OPENAPI_MAX_OPEN]; /* what is being written out: a reference to one of them is a cycle */
    size_t open_count;
    char dangling[128]; /* a reference that leads nowhere; "" */
    char wrong[192];    /* what is wrong with a parameter, or is not read; "" */
    /* of all tools */
    bool whole;     /* the document was read to its end: a reference to what is not here leads nowhere */
    size_t waiting; /* operations that refer to what may stand behind that end */
};

/* Finds the parts. Returns 0 or WT_ENOMEM. */
int wt__openapi_index(struct openapi *document);
void wt__openapi_dispose(struct openapi *document);

/* Forgets the last tool, and parsed parts when there are many. name: of the next one; borrowed. */
void wt__openapi_next_tool(struct openapi *document, struct str name);

/* The part that a local reference names as a whole, or NULL. */
struct openapi_part *wt__openapi_part(struct openapi *document, struct str reference);

/* What value stands for: itself, or what its "$ref" leads to; borrowed. NULL when it leads nowhere (dangling tells)
 * or out of the document (wrong tells). *rc is WT_ENOMEM when memory is out. */
const json_t *wt__openapi_resolve(struct openapi *document, const json_t *value, int *rc);

/* A copy of schema with its references written out, cycles and what is over the limits cut to an empty schema.
 * NULL when memory is out. */
json_t *wt__openapi_expand(struct openapi *document, const json_t *schema);

/* Reads the security schemes that container holds, so that their parameters are known. Returns 0 or WT_ENOMEM.
 * (openapi_security.c) */
int wt__openapi_schemes(struct openapi *document, const struct json_item *container);

/* Keeps what operations inherit of the document's root, whose schemes are read. Returns 0 or WT_ENOMEM.
 * (openapi_inherited.c) */
int wt__openapi_inherit(struct openapi *document, const json_t *root);

/* The value, or of a long one its hash: a new reference. NULL when memory is out. */
json_t *wt__openapi_brief(const json_t *value);

/* The operation's own bytes, an object, with what it inherits: of its path (servers, brief; or NULL) and of the root.
 * *out lives as long as the source. Returns 0 or WT_ENOMEM. */
int wt__openapi_definition(struct openapi *document, const json_t *servers, const json_t *operation, struct str own,
                           struct str *out);

/* Whether a parameter belongs to the request's own business: the protocol's, a security scheme, or what every operation
 * of the service shares for the program that calls. listed: as the operation lists it, maybe a reference. */
bool wt__openapi_is_plumbing(const struct openapi *document, const json_t *listed, const json_t *parameter);

/* One schema of all that an operation takes, without credentials: parameters of its path, its own, its body's
 * properties. shared: the path's parameters or NULL. Returns 0 or WT_ENOMEM. */
int wt__openapi_arguments(struct openapi *document, const json_t *shared, const json_t *operation, json_t **out);

#endif
