/* bodies.h: parses bodies and queries of our HTTP API into options of the library.
 *
 * Options point into the struct that they were parsed into. This struct must not be copied or moved. Release it with
 * wt__body_dispose, also after an error. Lengths are limited as in the library. Servers may add stricter limits. */
#ifndef WT_WIRE_BODIES_H
#define WT_WIRE_BODIES_H

#include "wire/body.h"

#include "whichtool.h"

/* Format names of wt_export. */
#define WIRE_EXPORT_FORMATS "openai openai-responses anthropic gemini mcp"
#define WIRE_LOADING_FORMATS "anthropic-reference anthropic-inline openai-search"

enum {
    WIRE_TIME_LIMIT_MS_MAX = 3600000, /* longest time limit in a request; servers may allow less */
    WIRE_LIST_MAX = 1000,             /* maximum tools on a page */
    WIRE_LIST_USUAL = 100,            /* default tools on a page */
    WIRE_TEXTS_MAX = 1000,            /* maximum inputs of embeddings, documents to rerank, or usages of a body */
    WIRE_TEXT_BYTES_MAX = 64 << 10,   /* maximum bytes of an input or document */
    WIRE_QUESTIONS_MAX = 400,         /* maximum questions of a request for decisions */
    WIRE_OPTIONS_MAX = 255,           /* maximum options of a question; WIRE_TEXTS_MAX for all questions together */
    WIRE_BATCH_ID_BYTES_MAX = 100,    /* maximum bytes of a usage batch id */
};

/* Common part of find, pick and call. */
struct asked_body {
    struct body body;
    const char *query;      /* NULL if absent */
    const json_t *messages; /* NULL if absent */
    struct texts have, providers, excluded_providers, only, excluded;
    wt_filter filter;
};

struct find_body {
    struct asked_body asked;
    wt_find_options options;
    const char *definitions; /* export format of the definitions, or NULL */
};
int wt__find_body_read(struct find_body *out, struct str json, wt_error *err);

struct pick_body {
    struct asked_body asked;
    wt_pick_options options;
    const char *definitions; /* export format of the definitions, or NULL */
};
int wt__pick_body_read(struct pick_body *out, struct str json, wt_error *err);

struct call_body {
    struct asked_body asked;
    wt_call_options options;
};
int wt__call_body_read(struct call_body *out, struct str json, wt_error *err);

/* Query of GET /v1/tools. */
struct list_query {
    struct body body;
    wt_list_options options;
};
int wt__list_query_read(struct list_query *out, struct str query, wt_error *err);
/* Parses the same options from a JSON object. */
int wt__list_body_read(struct list_query *out, struct str json, wt_error *err);

/* Query of GET /v1/tools/ID. */
struct show_query {
    struct body body;
    const char *name;       /* only in a JSON object; NULL for a query */
    const char *definition; /* export format, or NULL */
};
int wt__show_query_read(struct show_query *out, struct str query, wt_error *err);
int wt__show_body_read(struct show_query *out, struct str json, wt_error *err);

/* Query of POST /v1/tools. The body is the source itself. */
struct add_query {
    struct body body;
    const json_t *tools; /* only in a JSON object; NULL for a query */
    wt_add_options options;
};
int wt__add_query_read(struct add_query *out, struct str query, wt_error *err);
/* Parses the same options from a JSON object with the source as the member `tools`. */
int wt__add_body_read(struct add_query *out, struct str json, wt_error *err);

/* Query of DELETE /v1/tools. */
struct remove_query {
    struct body body;
    const char *name;     /* only in a JSON object; NULL if absent */
    const char *provider; /* NULL if the JSON object has a name instead */
};
int wt__remove_query_read(struct remove_query *out, struct str query, wt_error *err);
/* Parses a JSON object with either a name or a provider. */
int wt__remove_body_read(struct remove_query *out, struct str json, wt_error *err);

/* Query of POST /v1/usage. */
struct batch_query {
    struct body body;
    const char *id; /* "" if absent */
};
int wt__batch_query_read(struct batch_query *out, struct str query, wt_error *err);

/* Recorded usages, as JSON. */
struct usages_body {
    struct body body;
    const json_t *usages;
};
int wt__usages_body_read(struct usages_body *out, struct str json, wt_error *err);

/* Embeddings request in OpenAI's format. */
struct embeddings_body {
    struct body body;
    const json_t *input;
    struct texts texts; /* texts of `input` */
    const char *model, *encoding, *user;
    size_t dimensions; /* number of dimensions to keep; 0 for all */
};
int wt__embeddings_body_read(struct embeddings_body *out, struct str json, wt_error *err);

/* Reranking request in Cohere's and Jina's format. */
struct rerank_body {
    struct body body;
    const char *model, *query;
    const json_t *documents_json;
    struct texts documents;
    size_t top_n, max_tokens_per_document, priority; /* 0 if absent */
    int return_documents;
};
int wt__rerank_body_read(struct rerank_body *out, struct str json, wt_error *err);

/* Request for decisions in OpenAI's format. */
struct decisions_body {
    struct body body;
    const char *model, *cache_key, *safety_identifier;
    const json_t *input, *questions, *cache_options;
};
int wt__decisions_body_read(struct decisions_body *out, struct str json, wt_error *err);

/* Request for decisions in the format of System One. */
struct system_one_body {
    struct body body;
    const char *model;
    const json_t *state, *questions;
};
int wt__system_one_body_read(struct system_one_body *out, struct str json, wt_error *err);

/* Field tables, for generating the schemas. */
extern const struct fields wt__find_fields, wt__pick_fields, wt__call_fields, wt__list_fields, wt__show_fields,
    wt__add_fields, wt__remove_fields, wt__usage_fields, wt__embeddings_fields, wt__rerank_fields, wt__decisions_fields,
    wt__system_one_fields;

#endif
