/* document.h: what of a tool is searched: its fields as words for BM25, and its texts for the encoder. */
#ifndef WT_RETRIEVE_DOCUMENT_H
#define WT_RETRIEVE_DOCUMENT_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "catalog/tool.h"
#include "index/lexical.h"
#include "text/analyser.h"

/* Fields of BM25, in the order of wt__lexical_settings. */
enum field {
    FIELD_NAME,
    FIELD_PROVIDER,
    FIELD_CATEGORY,
    FIELD_DESCRIPTION,
    FIELD_PARAMETERS,      /* names of the parameters */
    FIELD_PARAMETER_TEXTS, /* their descriptions */
    FIELD_COUNT
};
extern const char *const wt__field_names[FIELD_COUNT];

/* Weights and constants of BM25: one setting for all catalogues. */
extern const struct lexical_settings wt__lexical_settings;

/* Changes whenever the analyser, the fields or their weights, or the names of tools do: a snapshot made with another
 * key is stale. */
uint64_t wt__document_settings_key(void);

/* The terms of every field of one tool. All zero at first; reused from tool to tool. */
struct document {
    struct token_list tokens;
    struct lexical_text fields[FIELD_COUNT]; /* views of tokens */
    struct buffer names, descriptions;       /* of the parameters, as they are written */
    struct buffer clean;                     /* descriptions without markup: the tool's, then its parameters' */
    size_t described;                        /* bytes of the tool's */
};
int wt__document_read(struct document *document, struct analyser *analyser, const struct tool *tool, wt_error *err);
void wt__document_dispose(struct document *document);

/* The same for names that differ in nothing but case, digits and punctuation: "getForecast" and "Get Forecast 2". */
uint64_t wt__document_name_hash(struct str name);

/* The same for tools that are word for word the same: names by their letters and digits, descriptions without markup,
 * and the names of the parameters, whatever order these are in; in all three case and punctuation make no difference.
 * Read from a document that was just read of the tool. 0 is no copy of anything: a tool that has neither description
 * nor parameters says too little. */
uint64_t wt__document_copy_hash(const struct document *document, const struct tool *tool);

/* True if the tool is described and is an action of a query API by one method, as GET_StopInstances at
 * "GET /#Action=StopInstances": tools of one provider with equal copy hashes are then one operation. The copy hash
 * leaves out the method and the parameters. */
bool wt__document_method_twin(const struct tool *tool);

/* A tool's vector is the unit vector of a weighted sum over the vectors of its texts. The kind names texts and weights
 * together: vectors of another kind are stale. */
enum { DOCUMENT_TEXTS = 2 };
extern const char wt__document_kind[];
extern const char wt__document_former_kind[]; /* of the version before: markup was read as text */
extern const float wt__document_text_weights[DOCUMENT_TEXTS];

/* What an encoder or a cross-encoder may read of a tool, and what it usually does: bits 1u << FIELD_... */
enum {
    DOCUMENT_USUAL = 1u << FIELD_NAME | 1u << FIELD_PROVIDER | 1u << FIELD_DESCRIPTION,
    DOCUMENT_READABLE = DOCUMENT_USUAL | 1u << FIELD_CATEGORY | 1u << FIELD_PARAMETERS
};

/* The readable fields of a list of names with commas between, the usual ones where it has none. unknown: the first name
 * that is none of theirs, or an empty view; may be NULL. */
unsigned wt__document_fields(const char *names, struct str *unknown);
/* Their names, as config.json has them; NULL when memory is out. */
json_t *wt__document_name_fields(unsigned fields);

/* Appends the beginning of a description without its markup (text/markup.h), DOCUMENT_HEAD bytes at most: cut between
 * two words, or between two characters of a very long one. What comes of the first DOCUMENT_HEAD_READ bytes is all
 * there is. */
enum { DOCUMENT_HEAD = 300, DOCUMENT_HEAD_READ = 4096 };
void wt__document_head(struct str description, struct buffer *out);

/* Appends those fields, always in one order:
 *
 *   category provider name in words: description (parameter, parameter)
 */
void wt__document_fields_text(const struct tool *tool, unsigned fields, struct buffer *out);

/* Appends text number `which` of the tool, for an encoder that reads these fields: all of them, or provider and name
 * alone. */
void wt__document_text(const struct tool *tool, unsigned fields, unsigned which, struct buffer *out);

#endif
