/* findings.c: the table of rules, the findings of an audit, and the lines of definitions in their source files. */
#include "audit/internal.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "import/import.h"
#include "catalog/names.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- rules */

const struct audit_rule_text wt__audit_rules[AUDIT_RULES] = {
    [RULE_EMPTY_DESCRIPTION] = {"empty-description", WT_AUDIT_WARNING, "A tool has no description.",
                                "Say in one sentence what the tool does, on what, and what it returns."},
    [RULE_DUPLICATE_DESCRIPTION] = {"duplicate-description", WT_AUDIT_WARNING,
                                    "Tools of one provider have the same description.",
                                    "Say in each description how the tool differs from the others."},
    [RULE_BARE_DESCRIPTION] = {"bare-description", WT_AUDIT_NOTE, "A description only repeats the tool's name.",
                               "Add what the tool acts on, what it returns, and when to use it."},
    [RULE_LONG_DESCRIPTION] =
        {"long-description", WT_AUDIT_NOTE, "A description is longer than an API accepts.",
         "Say what the tool does in the first sentence; move details of parameters to the schema, "
         "and examples to the documentation."},
    [RULE_LATE_DESCRIPTION] = {"late-description", WT_AUDIT_NOTE,
                               "A description does not begin with what the tool does.",
                               "Say first what the tool does; put rules of use, requirements and notices after it."},
    [RULE_STUFFED_WORDS] = {"stuffed-words", WT_AUDIT_WARNING,
                            "A name or description is a list of words instead of a sentence.",
                            "Name the tool in a few words, and describe it in a sentence."},
    [RULE_WORDED_AS_REQUEST] = {"worded-as-request", WT_AUDIT_WARNING,
                                "A name or description is phrased like a user's request.",
                                "Say what the tool does, not what a user might ask."},
    [RULE_OVERRIDES_INSTRUCTIONS] = {"overrides-instructions", WT_AUDIT_ERROR,
                                     "A text tells the model to ignore its instructions.",
                                     "Remove the sentence. Do not use the tool until you know who wrote it."},
    [RULE_HIDES_FROM_USER] = {"hides-from-user", WT_AUDIT_ERROR,
                              "A text tells the model to hide something from the user.",
                              "Remove the sentence. Do not use the tool until you know who wrote it."},
    [RULE_ASKS_FOR_SECRETS] = {"asks-for-secrets", WT_AUDIT_ERROR,
                               "A text asks the model for private files, credentials or the conversation.",
                               "Remove the sentence; let the program that calls the tool keep its credentials."},
    [RULE_CLAIMS_PRIORITY] = {"claims-priority", WT_AUDIT_WARNING,
                              "A text tells the model to call the tool first, always, or instead of others.",
                              "Say what the tool is for, and leave the choice to the model. If a parameter takes the "
                              "output of another tool, say so at the parameter."},
    [RULE_ADDRESSES_MODEL] = {"addresses-model", WT_AUDIT_NOTE,
                              "A text gives the model a role or a duty instead of describing the tool.",
                              "Describe the tool; put advice for the model into its system prompt."},
    [RULE_HIDDEN_CHARACTERS] = {"hidden-characters", WT_AUDIT_ERROR,
                                "A text has characters that are invisible, or that reverse the direction of text.",
                                "Remove the characters, and read the remaining text."},
    [RULE_MIXED_SCRIPTS] = {"mixed-scripts", WT_AUDIT_ERROR, "A word mixes look-alike letters of several alphabets.",
                            "Write the word in one alphabet."},
    [RULE_BROKEN_SCHEMA] = {"broken-schema", WT_AUDIT_ERROR, "A schema is not valid JSON Schema.",
                            "Fix the schema; `whichtool show --json` prints it."},
    [RULE_LARGE_SCHEMA] = {"large-schema", WT_AUDIT_WARNING, "A schema is very large.",
                           "Split the tool, or remove parameters that few calls need."},
    [RULE_UNKNOWN_REQUIRED] = {"unknown-required", WT_AUDIT_WARNING,
                               "A required parameter is not among the properties.",
                               "Declare the property, or remove its name from `required`."},
    [RULE_UNDESCRIBED_PARAMETERS] =
        {"undescribed-parameters", WT_AUDIT_NOTE, "Parameters have no description, or neither description nor type.",
         "Describe the meaning of each parameter, its type, its unit or format, and give an example."},
    [RULE_UNTYPED_PARAMETERS] = {"untyped-parameters", WT_AUDIT_NOTE, "Parameters with a description have no type.",
                                 "Give each parameter a type, or list the allowed values."},
    [RULE_REFUSED_NAME] = {"refused-name", WT_AUDIT_WARNING, "An API rejects the tool's name.",
                           "Name the tool in at most 64 letters, digits and '_', starting with a letter."},
    [RULE_UNREACHABLE] = {"unreachable", WT_AUDIT_WARNING, "A tool is not found by its own description.",
                          "Start with what only this tool does, in words that users use."},
    [RULE_UNREACHED_BY_USE] = {"unreached-by-use", WT_AUDIT_WARNING,
                               "A tool is not found by most of the recorded requests that used it.",
                               "Use the words of these requests in its description, or train: `whichtool train`."},
    [RULE_SHADOWED_PAIR] = {"shadowed-pair", WT_AUDIT_NOTE, "Two tools are found for each other's description.",
                            "State the difference in both descriptions, or merge the tools."},
    [RULE_COPIED_TOOL] = {"copied-tool", WT_AUDIT_NOTE, "Several providers have the same tool, word for word.",
                          "Keep one provider, or say in each description whose data the tool reads."},
    [RULE_NEAR_COPY] = {"near-copy", WT_AUDIT_NOTE, "A tool is nearly the same as an older tool.",
                        "Keep one of the two, or say in the description how this tool differs."},
    [RULE_CAPTURE] = {"capture", WT_AUDIT_WARNING,
                      "A provider's share of the first places is far above its share of the tools.",
                      "Describe each tool in words of its own subject; remove words that fit any request."},
    [RULE_PIN_CHANGED] =
        {"pin-changed", WT_AUDIT_ERROR, "A definition differs from its pin.",
         "Review the change before you use the tool again; then pin it again: `whichtool check --pin FILE`."},
    [RULE_PIN_GONE] =
        {"pin-gone", WT_AUDIT_WARNING, "A pinned tool is missing in the catalogue.",
         "If the removal is intended, pin again (`whichtool check --pin FILE`); otherwise add the tool again."},
    [RULE_PIN_NEW] = {"pin-new", WT_AUDIT_WARNING, "A tool is not pinned.",
                      "Review its definition; then pin it: `whichtool check --pin FILE`."},
};

bool wt__find_audit_rule(struct str id, enum audit_rule *out)
{
    for (unsigned r = 0; r < AUDIT_RULES; r++) {
        if (!wt__str_equal(id, wt__str(wt__audit_rules[r].id)))
            continue;
        *out = (enum audit_rule)r;
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- lines of definitions */

enum { KEY = 32 }; /* bytes of a hash */

static void hash_tool(struct tool_origin *out, const struct tool *tool)
{
    struct sha256 sha, with_provider;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, tool->sha256, sizeof tool->sha256);
    wt__sha256_update(&sha, tool->source_id.ptr, tool->source_id.len);
    with_provider = sha;
    wt__sha256_update(&with_provider, "", 1); /* separator; texts contain no NUL, so keys are unambiguous */
    wt__sha256_update(&with_provider, tool->provider.ptr, tool->provider.len);
    wt__sha256_end(&sha, out->wherever);
    wt__sha256_end(&with_provider, out->exact);
}

/* Fills *out. False if out of memory. source: borrowed; other texts are copied to the arena. */
static bool make_origin(struct tool_origin *out, const struct tool *tool, const char *source, struct arena *arena)
{
    *out = (struct tool_origin){.source = source, .format = wt__arena_copy(arena, tool->format)};
    hash_tool(out, tool);
    return out->format != NULL;
}

/* Returns the concatenation of source, NUL and key, in the arena; NULL if out of memory. */
static char *make_line_key(struct source_lines *lines, const char *source, const unsigned char *key)
{
    size_t len = strlen(source) + 1;
    char *copy = wt__arena_alloc(&lines->arena, len + KEY, 1);
    if (copy) {
        memcpy(copy, source, len);
        memcpy(copy + len, key, KEY);
    }
    return copy;
}

static int record_line(struct source_lines *lines, const char *source, const unsigned char *key, size_t line)
{
    char *copy = make_line_key(lines, source, key);
    bool added = false;
    uint32_t *place =
        copy ? wt__map_insert(&lines->lines, (struct str){copy, strlen(source) + 1 + KEY}, (uint32_t)line, &added)
             : NULL;
    if (place && !added && *place != line)
        *place = 0;
    return place ? 0 : WT_ENOMEM;
}

/* Reads the lines of all tools of a file. Ignores files that were removed or are no longer valid sources. */
static int read_source_lines(struct source_lines *lines, const char *source, const char *format)
{
    const struct import_options options = {.format = wt__str(format)};
    struct import import;
    int rc = wt__import_path(&import, source, &options, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : 0;
    for (size_t i = 0; rc == 0 && i < import.tool_count; i++) {
        struct tool_origin origin;
        size_t line = import.places[i].line;
        hash_tool(&origin, &import.tools[i]);
        rc = record_line(lines, source, origin.wherever, line);
        if (rc == 0)
            rc = record_line(lines, source, origin.exact, line);
    }
    wt__import_dispose(&import);
    return rc;
}

static size_t find_recorded_line(struct source_lines *lines, const char *source, const unsigned char *key)
{
    const char *copy = make_line_key(lines, source, key);
    const uint32_t *line = copy ? wt__map_get(&lines->lines, (struct str){copy, strlen(source) + 1 + KEY}) : NULL;
    return line ? *line : 0;
}

int wt__find_source_line(struct source_lines *lines, const struct tool_origin *origin, size_t *out)
{
    bool added = false;
    *out = 0;
    if (!origin->source || origin->source[0] != '/')
        return 0;
    if (!wt__map_insert(&lines->lines, wt__str(origin->source), 0, &added))
        return WT_ENOMEM;
    int rc = added && wt__is_file(origin->source) ? read_source_lines(lines, origin->source, origin->format) : 0;
    if (rc < 0)
        return rc;
    *out = find_recorded_line(lines, origin->source, origin->exact);
    if (*out == 0)
        *out = find_recorded_line(lines, origin->source, origin->wherever);
    return 0;
}

void wt__lines_dispose(struct source_lines *lines)
{
    wt__map_dispose(&lines->lines);
    wt__arena_dispose(&lines->arena);
}

/* ---------------------------------------------------------------- findings */

enum { EMOJI_SELECTOR = 0xFE0F /* follows a symbol; selects its coloured glyph */ };

/* True if an exception matches the finding's first tool. A finding about a provider matches by the id "PROVIDER/",
 * without a tool name. */
static bool matches_exception(const struct audit_run *a, const struct new_finding *found)
{
    struct buffer whole = {0};
    struct str id = found->removed, name = STR("");
    bool excepted = false;
    if (id.len > 0) {
        size_t skip = wt__str_starts(id, found->removed_provider) ? found->removed_provider.len : 0;
        skip += skip > 0 && skip < id.len; /* skip the slash, too */
        name = (struct str){id.ptr + skip, id.len - skip};
    } else if (found->count > 0) {
        id = wt__str(a->tools[found->tools[0]].id);
        name = a->tools[found->tools[0]].tool.name;
    } else {
        wt__tool_id(&whole, a->providers[found->provider].name, name);
        id = wt__buffer_view(&whole);
    }
    for (size_t e = 0; e < a->exception_count && !excepted; e++)
        excepted = a->exceptions[e].rule == found->rule && wt__pattern_fits(a->exceptions[e].pattern, id, name);
    wt__buffer_dispose(&whole);
    return excepted;
}

/* True if the rule is enabled, no exception matches, and the finding is in scope. */
static bool is_finding_wanted(const struct audit_run *a, const struct new_finding *found)
{
    if (!a->wanted[found->rule] || matches_exception(a, found))
        return false;
    if (!a->scoped)
        return true;
    for (size_t i = 0; i < found->count; i++)
        if (a->tools[found->tools[i]].provider == a->scope)
            return true;
    if (found->removed.len > 0)
        return wt__str_equal(found->removed_provider, a->providers[a->scope].name);
    return found->count == 0 && found->provider == a->scope;
}

static struct str finding_provider(const struct audit_run *a, const struct new_finding *found)
{
    if (found->removed.len > 0)
        return found->removed_provider;
    return a->providers[found->count > 0 ? a->tools[found->tools[0]].provider : found->provider].name;
}

static const char **list_finding_tools(struct audit_run *a, const struct new_finding *found, size_t *count)
{
    bool removed = found->removed.len > 0;
    *count = removed ? 1 : found->count < AUDIT_LISTED ? found->count : AUDIT_LISTED;
    const char **tools = wt__arena_array(a->arena, const char *, *count);
    for (size_t i = 0; tools && i < *count; i++)
        if (!(tools[i] = wt__arena_copy(a->arena, removed ? found->removed : wt__str(a->tools[found->tools[i]].id))))
            return NULL;
    return tools;
}

/* Returns one origin per listed tool. A provider has the origin of its first tool. The origin of a removed tool is the
 * pins file. NULL if out of memory. */
static struct tool_origin *list_finding_origins(struct audit_run *a, const struct new_finding *found, size_t listed)
{
    struct tool_origin *origins = wt__arena_array(a->arena, struct tool_origin, listed > 0 ? listed : 1);
    size_t first = 0, count = listed < found->count ? listed : found->count;
    while (listed == 0 && first < a->count && a->tools[first].provider != found->provider)
        first++;
    if (listed == 0)
        count = first < a->count;
    if (origins && found->removed.len > 0)
        origins[0].source = a->pins;
    for (size_t i = 0; origins && i < count; i++) {
        size_t tool = listed > 0 ? found->tools[i] : first;
        if (!make_origin(&origins[i], &a->tools[tool].tool, a->tools[tool].source, a->arena))
            return NULL;
    }
    return origins;
}

static int keep_finding(struct audit_run *a, const struct new_finding *found, struct str message, wt_error *err)
{
    const struct audit_rule_text *rule = &wt__audit_rules[found->rule];
    size_t listed;
    const char **tools = list_finding_tools(a, found, &listed);
    const struct tool_origin *origins = list_finding_origins(a, found, listed);
    const char *text = wt__arena_copy(a->arena, message),
               *provider = wt__arena_copy(a->arena, finding_provider(a, found));
    const char *advice = found->advice ? wt__arena_copy(a->arena, wt__str(found->advice)) : rule->advice;
    if (!tools || !origins || !text || !provider || !advice ||
        wt__grow((void **)&a->findings, &a->finding_capacity, a->finding_count + 1, sizeof *a->findings) < 0)
        return wt__fail_nomem(err);
    a->findings[a->finding_count] =
        (struct kept_finding){.rule = found->rule,
                              .order = a->finding_count,
                              .finding = {.origins = origins,
                                          .store = a->store,
                                          .line = a->pins ? found->line : 0,
                                          .public = {.rule = rule->id,
                                                     .level = rule->level,
                                                     .tool_count = listed,
                                                     .tools = tools,
                                                     .more_tools = found->count > listed ? found->count - listed : 0,
                                                     .provider = provider,
                                                     .message = text,
                                                     .advice = advice,
                                                     .figure = found->figure}}};
    a->finding_count++;
    return 0;
}

static int format_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format,
                          va_list values)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    va_list again;
    va_copy(again, values);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    WT_AUTO_FREE char *text = len < 0 ? NULL : malloc((size_t)len + 1);
    WT_CHECK_ALLOC(text, err);
    vsnprintf(text, (size_t)len + 1, format, values);
    wt__utf8_append(&message, (struct str){text, (size_t)len});
    WT_CHECK_ALLOC(!message.failed, err);
    return keep_finding(a, found, wt__buffer_view(&message), err);
}

int wt__audit_add_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format, ...)
{
    va_list values;
    if (!is_finding_wanted(a, found))
        return 0;
    va_start(values, format);
    int rc = format_finding(a, found, err, format, values);
    va_end(values);
    return rc;
}

int wt__audit_add_tool_finding(struct audit_run *a, enum audit_rule rule, size_t tool, wt_error *err,
                               const char *format, ...)
{
    uint32_t place = (uint32_t)tool;
    struct new_finding found = {.rule = rule, .tools = &place, .count = 1, .figure = NAN};
    va_list values;
    if (!is_finding_wanted(a, &found))
        return 0;
    va_start(values, format);
    int rc = format_finding(a, &found, err, format, values);
    va_end(values);
    return rc;
}

const char *wt__audit_quote(struct audit_run *a, struct str text)
{
    struct buffer out = {0};
    bool blank = false;
    text = wt__str_trim(text);
    struct str head = wt__str_head(text, AUDIT_QUOTED);
    for (const char *at = head.ptr, *end = head.len > 0 ? head.ptr + head.len : at; at < end;) {
        const char *from = at;
        uint32_t c = wt__utf8_next(&at, end);
        bool is_blank = wt__unicode_blank(c) || c < ' ';
        if (is_blank && !blank)
            wt__buffer_char(&out, ' ');
        else if (!is_blank && c != EMOJI_SELECTOR && wt__unicode_unseen(c))
            wt__buffer_printf(&out, "[U+%04X]", (unsigned)c);
        else if (!is_blank)
            wt__buffer_append(&out, from, (size_t)(at - from));
        blank = is_blank;
    }
    if (head.len < text.len)
        wt__buffer_text(&out, "...");
    const char *copy = out.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&out));
    wt__buffer_dispose(&out);
    return copy ? copy : "";
}

size_t wt__audit_tool_index(const struct audit_run *a, int64_t key)
{
    size_t low = 0, high = a->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->tools[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->count && a->tools[low].key == key ? low : a->count;
}
