/* document.h: the searchable parts of a tool: its fields as terms for BM25, and its texts for the encoder. */
#ifndef WT_RETRIEVE_DOCUMENT_H
#define WT_RETRIEVE_DOCUMENT_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "catalog/tool.h"
#include "index/lexical.h"
#include "index/row_words.h"
#include "text/tokenizer.h"
#include "text/analyser.h"

/* Fields of BM25, in the order of wt__lexical_settings. */
enum field {
    FIELD_NAME,
    FIELD_PROVIDER,
    FIELD_CATEGORY,
    FIELD_DESCRIPTION,
    FIELD_PARAMETERS,      /* parameter names */
    FIELD_PARAMETER_TEXTS, /* parameter descriptions */
    FIELD_COUNT
};
extern const char *const wt__field_names[FIELD_COUNT];

/* Weights and constants of BM25, the same for all catalogues. */
extern const struct lexical_settings wt__lexical_settings;

/* Returns a key that changes with the analyser, the fields, their weights and the names of tools. A snapshot with
 * another key is stale. */
uint64_t wt__document_settings_key(void);

/* Terms of every field of one tool. Zero-initialise before the first use; reusable for the next tool. */
struct document {
    struct token_list tokens;
    struct lexical_text fields[FIELD_COUNT]; /* views of tokens */
    struct buffer names, descriptions;       /* parameter names and descriptions, unprocessed */
    struct buffer clean;                     /* descriptions without markup: first the tool's, then its parameters' */
    size_t described;                        /* bytes of the tool's description in clean */
};
int wt__document_read(struct document *document, struct analyser *analyser, const struct tool *tool, wt_error *err);
void wt__document_dispose(struct document *document);

/* Writes the words of a tool's name and of the first sentence of its description after the opening to out, in the form
 * of index/row_words.h. Skips stop words. Returns the number of tokens. The document must be that of the tool. */
size_t wt__document_words(const struct document *document, const struct tool *tool, const struct tokenizer *tokenizer,
                          uint16_t out[ROW_WORDS_MAX]);

/* Returns a hash that ignores case, digits and punctuation: equal for "getForecast" and "Get Forecast 2". */
uint64_t wt__document_name_hash(struct str name);

/* Returns a hash that is equal for exact copies, or 0 if the tool has no description and no parameters. It covers
 * the letters and digits of the name, the description without markup, and the parameter names in any order. Case and
 * punctuation are ignored. The document must have been read from the same tool. */
uint64_t wt__document_copy_hash(const struct document *document, const struct tool *tool);

/* True if the tool has a description and is an action of a query API for one HTTP method, such as GET_StopInstances
 * at "GET /#Action=StopInstances". The copy hash of such a tool omits the method and the parameters. Two such tools
 * of one provider with equal copy hashes are one operation. */
bool wt__document_method_twin(const struct tool *tool);

/* Returns the kinds of action of a tool, according to its HTTP method or its MCP annotations (action.c): bits of enum
 * action (words.h), or 0 if the catalogue declares no action. The tool's name alone is not enough. */
unsigned wt__tool_actions(const struct tool *tool);

/* Bits of wt__tool_verbs: whether a reading tool returns a list or a single thing, and whether the verb is that of the
 * description. Such a verb may praise the tool instead of naming its action ("unlock a world of ..."). */
enum { RETURNS_MANY = 16, RETURNS_ONE = 32, ACTIONS_GUESSED = 64 };

/* Returns the kinds of action of the verb in a tool's name or, without one, of the first words of its description after
 * the opening; 0 if neither is a known verb. For a tool that reads, also RETURNS_MANY or RETURNS_ONE. */
unsigned wt__tool_verbs(const struct tool *tool);

/* The vector of a tool is the normalised weighted sum of the vectors of its texts. The kind identifies the texts and
 * their weights. Vectors of another kind are stale. */
enum { DOCUMENT_TEXTS = 2 };
extern const char wt__document_kind[];
extern const char wt__document_former_kind[]; /* kind of the previous version, which kept openings */
extern const float wt__document_text_weights[DOCUMENT_TEXTS];

/* True if the texts of the tool are the same in the former kind, so that its vector can be kept. */
bool wt__document_has_former_texts(const struct tool *tool);

/* Fields that an encoder or cross-encoder may read, and the default: bits 1u << FIELD_... */
enum {
    DOCUMENT_USUAL = 1u << FIELD_NAME | 1u << FIELD_PROVIDER | 1u << FIELD_DESCRIPTION,
    DOCUMENT_READABLE = DOCUMENT_USUAL | 1u << FIELD_CATEGORY | 1u << FIELD_PARAMETERS
};

/* Parses a comma-separated list of readable field names. Returns DOCUMENT_USUAL if the list names no field. Sets
 * *unknown to the first invalid name, or to an empty view. unknown may be NULL. */
unsigned wt__document_fields(const char *names, struct str *unknown);
/* Returns the field names as in config.json, or NULL if out of memory. */
json_t *wt__document_name_fields(unsigned fields);

/* Appends at most DOCUMENT_HEAD bytes of a description, without its opening (opening.h) and markup (text/markup.h).
 * Reads only DOCUMENT_HEAD_READ bytes after the opening. Cuts between words, or between characters of a very long
 * word. */
enum { DOCUMENT_HEAD = 300, DOCUMENT_HEAD_READ = 4096 };
void wt__document_head(struct str description, struct buffer *out);

/* Appends the given fields, always in this order:
 *
 *   category provider name in words: description (parameter, parameter) */
void wt__document_fields_text(const struct tool *tool, unsigned fields, struct buffer *out);

/* Appends text number `which` of the tool for an encoder that reads `fields`. Text 0 has all of `fields`. Text 1 has
 * only provider and name, or all of `fields` if these include neither. */
void wt__document_text(const struct tool *tool, unsigned fields, unsigned which, struct buffer *out);

/* Computes the vectors of tools from those of their texts, in place: [count, DOCUMENT_TEXTS, dim] becomes
 * [count, dim]. */
void wt__document_sum_vectors(float *vectors, size_t count, size_t dim);

#endif
