/* document.c: reads the searchable parts of a tool (document.h). All catalogues have the same weights of fields and
 * texts. The weights were tuned on the train and dev splits of data sets (docs/retrieval.md). */
#include "retrieve/document.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "catalog/schema.h"
#include "retrieve/opening.h"
#include "retrieve/tool_names.h"
#include "retrieve/words.h"
#include "text/markup.h"
#include "text/unicode.h"

const char *const wt__field_names[FIELD_COUNT] = {"name",        "provider",   "category",
                                                  "description", "parameters", "parameter-texts"};

const struct lexical_settings wt__lexical_settings = {
    .k1 = 1.5f,
    .most_sum = 2.5f,
    .most_length = 1.5f,
    .most_named = 3.5f,
    .most_thrice = 6,
    .repeated_least = 8,
    .damping_power = 6,
    .schema_share = 0.3f,
    .field_count = FIELD_COUNT,
    .fields =
        {
            [FIELD_NAME] = {2.0f, 0.75f, .names = true},
            [FIELD_PROVIDER] = {2.0f, 0.75f, .names = true},
            [FIELD_CATEGORY] = {0.5f, 0.75f, .names = true},
            [FIELD_DESCRIPTION] = {1.0f, 0.75f},
            [FIELD_PARAMETERS] = {1.0f, 0.75f, .schema = true},
            [FIELD_PARAMETER_TEXTS] = {0.5f, 0.75f, .schema = true},
        },
};

/* Increment when the analyser, the reading of fields, openings or verbs, or the copy hash changes, so that indexes are
 * rebuilt. */
enum { ANALYSIS_VERSION = 6 };

uint64_t wt__document_settings_key(void)
{
    const struct lexical_settings *settings = &wt__lexical_settings;
    enum { PLAIN = 10, OF_FIELD = 4 };
    float values[PLAIN + OF_FIELD * FIELD_COUNT] = {
        (float)ANALYSIS_VERSION,   settings->k1,          settings->most_sum,       settings->most_length,
        settings->most_named,      settings->most_thrice, settings->repeated_least, settings->damping_power,
        (float)TOOL_NAMES_VERSION, settings->schema_share};
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        values[PLAIN + OF_FIELD * f] = settings->fields[f].weight;
        values[PLAIN + OF_FIELD * f + 1] = settings->fields[f].b;
        values[PLAIN + OF_FIELD * f + 2] = settings->fields[f].names;
        values[PLAIN + OF_FIELD * f + 3] = settings->fields[f].schema;
    }
    return wt__checksum(values, sizeof values, FIELD_COUNT);
}

/* True if the title is empty, or if the name begins with it, as "Forecast~2" does with "Forecast". False for the
 * name "get_forecast" with the title "Weather forecast", because each of them has a word that the other lacks. */
static bool name_repeats_title(const struct tool *tool)
{
    return wt__str_starts(tool->name, tool->title);
}

int wt__document_read(struct document *document, struct analyser *analyser, const struct tool *tool, wt_error *err)
{
    wt__token_list_reset(&document->tokens);
    wt__buffer_clear(&document->names);
    wt__buffer_clear(&document->descriptions);
    wt__buffer_clear(&document->clean);
    if (wt__schema_text(tool->schema, &document->names, &document->descriptions) < 0)
        return wt__fail_nomem(err);
    wt__markup_clean(tool->description, &document->clean);
    size_t described = document->described = document->clean.len;
    wt__markup_clean(wt__buffer_view(&document->descriptions), &document->clean);
    WT_CHECK_ALLOC(!document->clean.failed, err);
    static const struct str none = {"", 0};
    bool repeats = name_repeats_title(tool);
    const struct {
        enum field field;
        struct str text;
    } parts[] = {
        {FIELD_NAME, repeats && tool->title.len > 0 ? none : tool->name},
        {FIELD_NAME, tool->title},
        {FIELD_PROVIDER, tool->provider},
        {FIELD_CATEGORY, tool->category},
        {FIELD_DESCRIPTION, {document->clean.ptr, described}},
        {FIELD_PARAMETERS, wt__buffer_view(&document->names)},
        {FIELD_PARAMETER_TEXTS, {document->clean.ptr + described, document->clean.len - described}},
    };
    size_t ends[FIELD_COUNT];
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        if (wt__analyser_run(analyser, parts[p].text, &document->tokens) < 0)
            return wt__fail_nomem(err);
        ends[parts[p].field] = document->tokens.len;
    }
    for (size_t f = 0, begin = 0; f < FIELD_COUNT; begin = ends[f++])
        document->fields[f] = (struct lexical_text){document->tokens.terms + begin, ends[f] - begin};
    return 0;
}

void wt__document_dispose(struct document *document)
{
    wt__token_list_dispose(&document->tokens);
    wt__buffer_dispose(&document->names);
    wt__buffer_dispose(&document->descriptions);
    wt__buffer_dispose(&document->clean);
}

uint64_t wt__document_name_hash(struct str name)
{
    char letters[WT_MAX_NAME_BYTES];
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < sizeof letters; i++) {
        unsigned char c = (unsigned char)name.ptr[i], lower = c | 0x20;
        if (c >= 0x80 || (lower >= 'a' && lower <= 'z'))
            letters[len++] = (char)(c >= 0x80 ? c : lower);
    }
    return len > 0 ? wt__checksum(letters, len, 0) : wt__checksum(name.ptr, name.len, 0);
}

/* Returns a 64-bit FNV-1a hash of a text's letters and digits in lower case. joined: ignore separators; otherwise a run
 * of separators hashes as one. */
static uint64_t hash_folded_text(struct str text, bool joined)
{
    const uint64_t prime = 0x100000001B3u;
    uint64_t hash = 0xCBF29CE484222325u;
    bool begun = false, gap = false;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : at;
    while (at < end) {
        uint32_t lower[UNICODE_MAX_LOWER], c = wt__utf8_next(&at, end);
        if (wt__unicode_kind(c) == UNICODE_OTHER) {
            gap = true;
            continue;
        }
        if (gap && begun && !joined)
            hash = (hash ^ ' ') * prime;
        begun = true;
        gap = false;
        for (unsigned i = 0, count = wt__unicode_lower(c, lower); i < count; i++)
            hash = (hash ^ lower[i]) * prime;
    }
    return hash;
}

/* Returns the length of the prefix "GET_" or "POST_" in the name of a query API action, else 0. The path of such an
 * action ends in "Action=" and the action. */
static size_t measure_method_prefix(const struct tool *tool)
{
    static const char *const prefixes[] = {"GET_", "POST_"};
    static const struct str marker = {"Action=", 7};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]), action = tool->name.len - len, whole = action + marker.len;
        if (!wt__str_starts(tool->name, wt__str(prefixes[i])) || action == 0 || tool->source_id.len < whole)
            continue;
        const char *end = tool->source_id.ptr + tool->source_id.len;
        if (memcmp(end - whole, marker.ptr, marker.len) == 0 && memcmp(end - action, tool->name.ptr + len, action) == 0)
            return len;
    }
    return 0;
}

bool wt__document_method_twin(const struct tool *tool)
{
    return tool->description.len > 0 && measure_method_prefix(tool) > 0;
}

uint64_t wt__document_copy_hash(const struct document *document, const struct tool *tool)
{
    struct str description = wt__str_trim((struct str){document->clean.ptr, document->described});
    struct str names = wt__buffer_view(&document->names);
    bool twin = wt__document_method_twin(tool);
    size_t prefix = twin ? measure_method_prefix(tool) : 0;
    struct str name = {tool->name.ptr + prefix, tool->name.len - prefix};
    uint64_t parts[3] = {hash_folded_text(name, true), hash_folded_text(description, false), twin};
    if (description.len == 0 && names.len == 0)
        return 0;
    if (twin) /* one method has its parameters in the query, the other in the body */
        names.len = 0;
    for (size_t at = 0, end; at < names.len; at = end + 1) {
        for (end = at; end < names.len && names.ptr[end] != '\n';)
            end++;
        uint64_t parameter = hash_folded_text((struct str){names.ptr + at, end - at}, false);
        parts[2] += wt__checksum(&parameter, sizeof parameter, 1); /* a sum is independent of order */
    }
    uint64_t hash = wt__checksum(parts, sizeof parts, 0);
    return hash ? hash : 1;
}

const char wt__document_kind[] = "document_4";
const char wt__document_former_kind[] = "document_3";

bool wt__document_has_former_texts(const struct tool *tool)
{
    return wt__opening_length(tool->description) == 0;
}

/* Weights of a tool's two texts. Text 1 has only provider and name, so that a long description does not dominate the
 * vector. */
const float wt__document_text_weights[DOCUMENT_TEXTS] = {1.0f, 0.5f};

/* Returns a description without its opening. */
static struct str skip_opening(struct str description)
{
    size_t len = wt__opening_length(description);
    return (struct str){description.ptr + len, description.len - len};
}

/* The first sentence after the opening says what the tool does. Encoding more of the description takes time and did
 * not improve results. */
void wt__document_head(struct str description, struct buffer *out)
{
    size_t begin = out->len;
    wt__markup_clean(wt__str_head(skip_opening(description), DOCUMENT_HEAD_READ), out);
    if (!out->failed)
        wt__buffer_cut(out, begin + wt__str_head((struct str){out->ptr + begin, out->len - begin}, DOCUMENT_HEAD).len);
}

/* Appends a field and a blank, unless the field is empty. */
static void append_field(struct str text, struct buffer *out)
{
    text = wt__str_trim(text);
    if (text.len == 0)
        return;
    wt__buffer_str(out, text);
    wt__buffer_char(out, ' ');
}

static void append_name(const struct tool *tool, struct buffer *out)
{
    if (tool->title.len > 0)
        wt__analyser_spell_out(tool->title, out);
    if (tool->title.len == 0 || !name_repeats_title(tool)) {
        wt__buffer_text(out, tool->title.len > 0 ? " " : "");
        wt__analyser_spell_out(tool->name, out);
    }
}

/* Appends " (a, b)", unless the tool has no parameters. */
static void append_parameters(const struct tool *tool, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    out->failed |= wt__schema_text(tool->schema, &names, NULL) < 0;
    for (size_t i = 0, begin = 0; i < names.len; i++) {
        if (names.ptr[i] != '\n')
            continue;
        wt__buffer_text(out, begin == 0 ? " (" : ", ");
        wt__buffer_append(out, names.ptr + begin, i - begin);
        begin = i + 1;
    }
    wt__buffer_text(out, names.len > 0 ? ")" : "");
}

unsigned wt__document_fields(const char *names, struct str *unknown)
{
    unsigned fields = 0;
    struct str none = {0};
    for (const char *at = names; *at;) {
        struct str name = {at, strcspn(at, ",")};
        size_t f = 0;
        while (f < FIELD_COUNT && !(DOCUMENT_READABLE & 1u << f && wt__str_equal(name, wt__str(wt__field_names[f]))))
            f++;
        if (f < FIELD_COUNT)
            fields |= 1u << f;
        else if (!none.ptr)
            none = name;
        at += name.len + (at[name.len] == ',');
    }
    if (unknown)
        *unknown = none;
    return fields ? fields : DOCUMENT_USUAL;
}

json_t *wt__document_name_fields(unsigned fields)
{
    json_auto_t *names = json_array();
    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (fields & 1u << f && json_array_append_new(names, json_string(wt__field_names[f])) != 0)
            return NULL;
    return WT_TAKE(names);
}

void wt__document_fields_text(const struct tool *tool, unsigned fields, struct buffer *out)
{
    if (fields & 1u << FIELD_CATEGORY)
        append_field(tool->category, out);
    if (fields & 1u << FIELD_PROVIDER)
        append_field(tool->provider, out);
    if (fields & 1u << FIELD_NAME)
        append_name(tool, out);
    if (fields & 1u << FIELD_DESCRIPTION) {
        wt__buffer_text(out, ": ");
        wt__document_head(tool->description, out);
    }
    if (fields & 1u << FIELD_PARAMETERS)
        append_parameters(tool, out);
}

void wt__document_text(const struct tool *tool, unsigned fields, unsigned which, struct buffer *out)
{
    unsigned names = fields & (1u << FIELD_PROVIDER | 1u << FIELD_NAME);
    wt__document_fields_text(tool, which == 0 || !names ? fields : names, out);
}

/* Appends the tokens of each word of a text that is not a stop word, as long as they fit. */
static size_t append_words(struct str text, const struct tokenizer *tokenizer, size_t most, uint16_t *out, size_t len)
{
    enum { WORD_TOKENS = 8, WORD_BYTES = 64 };
    size_t at = 0;
    for (struct str word; (word = wt__next_word(text, &at)).len > 0;) {
        char lower[WORD_BYTES];
        int32_t ids[WORD_TOKENS];
        if (word.len > sizeof lower || wt__is_stopword_any_case(word))
            continue;
        for (size_t i = 0; i < word.len; i++)
            lower[i] = wt__lower_ascii(word.ptr[i]);
        size_t count = wt__tokenizer_pieces(tokenizer, (struct str){lower, word.len}, WORD_TOKENS, ids);
        if (len + count > most)
            break;
        for (size_t i = 0; i < count; i++)
            if (ids[i] >= 0 && ids[i] < ROW_WORDS_BREAK)
                out[len++] = (uint16_t)(ids[i] | (i > 0 ? ROW_WORDS_CONTINUE : 0));
    }
    return len;
}

/* Returns the first sentence of a description. A very short one, such as "Deprecated.", has the text that follows. */
static struct str first_sentence(struct str text)
{
    enum { SHORT_BYTES = 12, SENTENCE_MAX = 300 };
    text = wt__str_head(text, SENTENCE_MAX);
    for (size_t i = 0; i < text.len; i++)
        if (i >= SHORT_BYTES && memchr(".!?\n", text.ptr[i], 4))
            return wt__str_head(text, i);
    return text;
}

size_t wt__document_words(const struct document *document, const struct tool *tool, const struct tokenizer *tokenizer,
                          uint16_t out[ROW_WORDS_MAX])
{
    enum { NAME_TOKENS = 20 };
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__analyser_spell_out(tool->name, &text);
    size_t len = append_words(wt__buffer_view(&text), tokenizer, NAME_TOKENS, out, 0);
    out[len++] = ROW_WORDS_BREAK;
    struct str described = {document->clean.ptr, document->described};
    if (wt__opening_length(tool->description) > 0) {
        wt__buffer_clear(&text);
        wt__document_head(tool->description, &text);
        described = wt__buffer_view(&text);
    }
    return append_words(first_sentence(described), tokenizer, ROW_WORDS_MAX, out, len);
}

void wt__document_sum_vectors(float *vectors, size_t count, size_t dim)
{
    for (size_t i = 0; i < count; i++) {
        const float *in = vectors + i * DOCUMENT_TEXTS * dim;
        float *out = vectors + i * dim;
        double square = 0;
        for (size_t d = 0; d < dim; d++) {
            float sum = 0;
            for (size_t t = 0; t < DOCUMENT_TEXTS; t++)
                sum += wt__document_text_weights[t] * in[t * dim + d];
            out[d] = sum;
            square += (double)sum * sum;
        }
        float scale = square > 0 ? (float)(1 / sqrt(square)) : 0;
        for (size_t d = 0; d < dim; d++)
            out[d] *= scale;
    }
}
