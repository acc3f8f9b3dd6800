/* openapi.h: an OpenAPI document as JSON text. Only the parts needed are parsed. */
#ifndef WT_IMPORT_OPENAPI_H
#define WT_IMPORT_OPENAPI_H

#include "base/arena.h"
#include "base/map.h"
#include "import/reader.h"

enum {
    OPENAPI_MAX_NODES = 1024,       /* maximum values expanded from references in one tool's schema */
    OPENAPI_FEW_NODES = 64,         /* the same after a document's tools have used OPENAPI_ALL_NODES */
    OPENAPI_ALL_NODES = 4 << 20,    /* maximum values of all tools of a document at the full limit */
    OPENAPI_MAX_DEPTH = 40,         /* maximum depth of a schema, below WT_MAX_JSON_DEPTH */
    OPENAPI_MAX_OPEN = 6,           /* maximum references within references */
    OPENAPI_MAX_HOPS = 8,           /* maximum references that point to references */
    OPENAPI_CACHE_BYTES = 32 << 20, /* maximum source bytes of parsed parts cached for the next tool */
    OPENAPI_INHERITED_BYTES = 512,  /* maximum bytes of one value inherited from the document */
};

/* A part of the document that a reference can name: "/components/schemas/Pet", "/paths/~1pets". */
struct openapi_part {
    struct json_item item;
    json_t *value; /* parsed on first use */
    bool bad;      /* not valid JSON */
};

struct openapi {
    struct import_reader *reader;
    struct str text;
    struct map index; /* JSON pointer to part */
    struct openapi_part *parts;
    size_t part_count, part_capacity, cached;
    size_t all_nodes;                  /* values expanded for earlier tools */
    json_t *schemes;                   /* security schemes by name, or NULL */
    json_t *brief_schemes, *inherited; /* the same shortened, and members of the root that operations inherit,
                                        * shortened */
    struct arena arena;
    /* state of the current tool */
    struct str tool;                      /* its name */
    size_t nodes, most;                   /* values expanded so far, and the maximum */
    const json_t *open[OPENAPI_MAX_OPEN]; /* targets being expanded; a reference to one of them is a cycle */
    size_t open_count;
    char dangling[128]; /* first reference to a missing target; "" if none */
    char wrong[192];    /* first problem with a parameter or reference; "" if none */
    /* state of the document */
    bool whole;     /* read to its end, so that a missing target does not exist */
    size_t waiting; /* operations with references that may point after the end */
};

/* Indexes the parts. Returns 0 or WT_ENOMEM. */
int wt__openapi_index(struct openapi *document);
void wt__openapi_dispose(struct openapi *document);

/* Resets the state of the last tool, and drops cached parts if there are many. name is that of the next tool;
 * borrowed. */
void wt__openapi_next_tool(struct openapi *document, struct str name);

/* Returns the part named by a local reference, or NULL. */
struct openapi_part *wt__openapi_part(struct openapi *document, struct str reference);

/* Follows the "$ref" of value, if any; the result is borrowed. Returns NULL if the target is missing (sets `dangling`)
 * or outside the document (sets `wrong`). Sets *rc to WT_ENOMEM if out of memory. */
const json_t *wt__openapi_resolve(struct openapi *document, const json_t *value, int *rc);

/* Returns a copy of schema with expanded references. Cycles and values over the limits become empty schemas. Returns
 * NULL if out of memory. */
json_t *wt__openapi_expand(struct openapi *document, const json_t *schema);

/* Reads the security schemes in container, which identify parameters for credentials. Returns 0 or WT_ENOMEM.
 * (openapi_security.c) */
int wt__openapi_schemes(struct openapi *document, const struct json_item *container);

/* Stores the members of the root that operations inherit. Call it after wt__openapi_schemes. Returns 0 or WT_ENOMEM.
 * (openapi_inherited.c) */
int wt__openapi_inherit(struct openapi *document, const json_t *root);

/* Returns a new reference to the value, or to its hash if it is long. Returns NULL if out of memory. */
json_t *wt__openapi_brief(const json_t *value);

/* Returns the bytes of an operation with its inherited members, from its path (servers, shortened, or NULL) and the
 * root. *out lives as long as the source. Returns 0 or WT_ENOMEM. */
int wt__openapi_definition(struct openapi *document, const json_t *servers, const json_t *operation, struct str own,
                           struct str *out);

/* True if the calling program sets the parameter, not the user: headers of the protocol, security schemes, or
 * parameters shared by all operations of a service. listed is the parameter in the operation, possibly a reference. */
bool wt__openapi_is_plumbing(const struct openapi *document, const json_t *listed, const json_t *parameter);

/* Builds one schema of all arguments of an operation, without credentials: parameters of its path and its own, and
 * properties of its body. shared is the path's parameters or NULL. Returns 0 or WT_ENOMEM. */
int wt__openapi_arguments(struct openapi *document, const json_t *shared, const json_t *operation, json_t **out);

#endif
