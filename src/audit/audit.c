/* audit.c: wt_audit reads the whole catalogue, runs the checks on it, and sorts the findings. wt_audit_listing runs the
 * text checks on definitions that are not in a catalogue yet. */
#include "audit/internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/pool.h"
#include "catalog/export.h"
#include "import/import.h"
#include "catalog/names.h"
#include "catalog/pins.h"
#include "query/budget.h"
#include "engine/sized_options.h"
#include "engine/tools.h"

/* ---------------------------------------------------------------- costs */

static const char *const formats[] = {"openai", "openai-responses", "anthropic", "gemini", "mcp"};
enum { FORMATS = sizeof formats / sizeof *formats, BLOCK = 256 /* tools per work item */ };

/* Totals of one block in one format. */
struct cost_part {
    uint64_t bytes, tokens, largest_tokens;
    size_t largest; /* index of the tool with the most tokens */
    wt_error err;
};

struct cost_job {
    struct audit_run *a;
    struct cost_part *parts; /* [FORMATS, blocks] */
    size_t blocks;
};

static int count_block(void *context, size_t index, unsigned worker)
{
    struct cost_job *c = context;
    struct cost_part *part = &c->parts[index];
    const struct audit_run *a = c->a;
    size_t begin = index % c->blocks * BLOCK;
    struct buffer definition = {0};
    int rc = 0;
    (void)worker;
    for (size_t i = begin; rc == 0 && i < begin + BLOCK && i < a->count; i++) {
        if (a->scoped && a->tools[i].provider != a->scope)
            continue;
        wt__buffer_clear(&definition);
        rc = wt__export(&a->tools[i].tool, 1, wt__str(formats[index / c->blocks]), &definition, &part->err);
        uint64_t tokens = (definition.len + BUDGET_BYTES_PER_TOKEN - 1) / BUDGET_BYTES_PER_TOKEN;
        part->bytes += definition.len;
        part->tokens += tokens;
        if (tokens > part->largest_tokens) {
            part->largest_tokens = tokens;
            part->largest = i;
        }
    }
    wt__buffer_dispose(&definition);
    return rc == 0 && wt__progress_step(&c->a->progress, 1) ? wt__fail_cancelled(&part->err) : rc;
}

static int sum_blocks(const struct cost_job *c, size_t format, wt_audit_cost *out, wt_error *err)
{
    *out = (wt_audit_cost){.format = formats[format], .largest = ""};
    for (size_t b = 0; b < c->blocks; b++) {
        const struct cost_part *part = &c->parts[format * c->blocks + b];
        out->bytes += part->bytes;
        out->tokens += part->tokens;
        if (part->largest_tokens <= out->largest_tokens)
            continue;
        out->largest_tokens = part->largest_tokens;
        out->largest = wt__arena_copy(c->a->arena, wt__str(c->a->tools[part->largest].id));
        WT_CHECK_ALLOC(out->largest, err);
    }
    return 0;
}

/* Fills out->costs, the size of the catalogue in a prompt for each API. Errors: WT_ENOMEM, WT_ECANCELLED. */
static int count_costs(struct audit_run *a, wt_audit_result *out, wt_error *err)
{
    struct cost_job c = {.a = a, .blocks = (a->count + BLOCK - 1) / BLOCK};
    wt_audit_cost *costs = wt__arena_array(a->arena, wt_audit_cost, FORMATS);
    c.parts = wt__arena_array(&a->scratch, struct cost_part, FORMATS * c.blocks);
    WT_CHECK_ALLOC(costs && c.parts, err);
    if (wt__progress_phase(&a->progress, "counting tokens", FORMATS * c.blocks))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(a->engine->threads, FORMATS * c.blocks, count_block, &c);
    for (size_t i = 0; rc < 0 && err && i < FORMATS * c.blocks; i++)
        if (c.parts[i].err.code == rc)
            *err = c.parts[i].err;
    for (size_t f = 0; rc == 0 && f < FORMATS; f++)
        rc = sum_blocks(&c, f, &costs[f], err);
    out->costs = wt__arena_pointers(a->arena, costs, FORMATS, sizeof *costs);
    out->cost_count = FORMATS;
    return rc == 0 && !out->costs ? wt__fail_nomem(err) : rc;
}

struct owned_audit {
    wt_audit_result public; /* first member, so that wt_audit_free can cast */
    struct arena arena;
};

void wt_audit_free(wt_audit_result *audit)
{
    if (!audit)
        return;
    struct owned_audit *result = (struct owned_audit *)audit;
    wt__arena_dispose(&result->arena);
    free(result);
}

/* ---------------------------------------------------------------- options */

static int find_rule(struct str id, enum audit_rule *out, wt_error *err)
{
    if (wt__find_audit_rule(id, out))
        return 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer ids = {0};
    for (size_t r = 0; r < AUDIT_RULES; r++)
        wt__buffer_printf(&ids, "%s%s", r > 0 ? ", " : "", wt__audit_rules[r].id);
    WT_CHECK_ALLOC(!ids.failed, err);
    return wt__fail(err, WT_EINVAL, "unknown rule \"%.*s\"; the rules are %s", id.len < 64 ? (int)id.len : 64,
                    id.len > 0 ? id.ptr : "", ids.ptr);
}

/* Parses "RULE", which turns the rule off, or "RULE:PATTERN", which adds an exception for the matching tools. */
static int read_ignored(struct audit_run *a, const char *ignored, wt_error *err)
{
    const char *colon = ignored ? strchr(ignored, ':') : NULL;
    struct str id = colon ? (struct str){ignored, (size_t)(colon - ignored)} : wt__str(ignored);
    struct rule_exception *exception = &a->exceptions[a->exception_count];
    int rc = find_rule(id, &exception->rule, err);
    if (rc < 0)
        return rc;
    if (!colon) {
        a->wanted[exception->rule] = false;
        return 0;
    }
    exception->pattern = wt__str(colon + 1);
    a->exception_count++;
    if (exception->pattern.len > 0 && exception->pattern.len <= WT_MAX_PATTERN_BYTES)
        return 0;
    return wt__fail(err, WT_EINVAL, "\"%.64s\" needs a tool pattern of 1 to %d bytes after the colon", ignored,
                    WT_MAX_PATTERN_BYTES);
}

/* Enables the rule with that id. A pin rule without pins is an error, because the rule could never find anything. */
static int enable_rule(struct audit_run *a, const char *id, wt_error *err)
{
    enum audit_rule rule;
    int rc = find_rule(wt__str(id), &rule, err);
    if (rc < 0)
        return rc;
    a->wanted[rule] = true;
    if (a->options.pins || (rule != RULE_PIN_CHANGED && rule != RULE_PIN_GONE && rule != RULE_PIN_NEW))
        return 0;
    return wt__fail(err, WT_EINVAL,
                    "rule %s needs pins; use --against FILE with a file written by `whichtool check --pin FILE`", id);
}

static int read_rule_options(struct audit_run *a, wt_error *err)
{
    const wt_audit_options *options = &a->options;
    if (options->ignored_count > WT_MAX_AUDIT_IGNORED)
        return wt__fail(err, WT_EINVAL, "%zu ignored rules and exceptions are over the limit of %d",
                        options->ignored_count, WT_MAX_AUDIT_IGNORED);
    a->exceptions = wt__arena_array(&a->scratch, struct rule_exception, options->ignored_count);
    WT_CHECK_ALLOC(a->exceptions, err);
    for (size_t r = 0; r < AUDIT_RULES; r++)
        a->wanted[r] = options->rule_count == 0;
    for (size_t i = 0; i < options->rule_count; i++)
        WT_TRY(enable_rule(a, options->rules ? options->rules[i] : NULL, err));
    for (size_t i = 0; i < options->ignored_count; i++)
        WT_TRY(read_ignored(a, options->ignored ? options->ignored[i] : NULL, err));
    return 0;
}

static int read_audit_options(struct audit_run *a, const wt_audit_options *given, wt_error *err)
{
    int rc = wt__options_read(&a->options, sizeof a->options, given, err);
    if (rc < 0)
        return rc;
    if (a->options.searches > WT_MAX_AUDIT_SEARCHES)
        return wt__fail(err, WT_EINVAL, "%zu searches of a kind are over the limit of %d", a->options.searches,
                        WT_MAX_AUDIT_SEARCHES);
    if (a->options.searches == 0)
        a->options.searches = WT_MAX_AUDIT_REQUESTS;
    if (a->options.seed == 0)
        a->options.seed = 1;
    return read_rule_options(a, err);
}

/* ---------------------------------------------------------------- reading */

struct catalogue_reader {
    struct audit_run *a;
    struct map providers;
    struct buffer id;
    const char *source; /* source of the previous tool */
    wt_error *err;
};

static int intern_provider(struct catalogue_reader *r, struct str name, uint32_t *out)
{
    struct audit_run *a = r->a;
    bool added;
    const uint32_t *place = wt__map_get(&r->providers, name);
    if (!place) {
        if (wt__grow((void **)&a->providers, &a->provider_capacity, a->provider_count + 1, sizeof *a->providers) < 0)
            return wt__fail_nomem(r->err);
        struct str copy = {wt__arena_copy(&a->scratch, name), name.len};
        place = copy.ptr ? wt__map_insert(&r->providers, copy, (uint32_t)a->provider_count, &added) : NULL;
        WT_CHECK_ALLOC(place, r->err);
        a->providers[a->provider_count++] = (struct audited_provider){.name = copy};
    }
    *out = *place;
    a->providers[*out].tools++;
    return 0;
}

static int read_audited_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct catalogue_reader *r = context;
    struct audit_run *a = r->a;
    uint32_t provider = 0;
    if (wt__grow((void **)&a->tools, &a->capacity, a->count + 1, sizeof *a->tools) < 0)
        return wt__fail_nomem(r->err);
    struct audited_tool *out = &a->tools[a->count];
    wt__buffer_clear(&r->id);
    wt__tool_id(&r->id, tool->provider, tool->name);
    int rc = intern_provider(r, tool->provider, &provider);
    if (rc < 0)
        return rc;
    *out = (struct audited_tool){.tool = *tool,
                                 .key = key->id,
                                 .provider = provider,
                                 .source = "",
                                 .id = r->id.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&r->id))};
    rc = out->id ? wt__store_copy_tool(&out->tool, &a->scratch, r->err) : wt__fail_nomem(r->err);
    a->count += rc == 0;
    return rc == 0 && wt__progress_step(&a->progress, 1) ? wt__fail_cancelled(r->err) : rc;
}

/* Stores a tool's source. Adjacent tools of one source share a copy of its name. */
static int read_tool_source(void *context, int64_t id, struct str source)
{
    struct catalogue_reader *r = context;
    struct audit_run *a = r->a;
    size_t place = wt__audit_tool_index(a, id);
    if (place == a->count) /* added after the tools were read */
        return 0;
    if (!r->source || !wt__str_equal(wt__str(r->source), source))
        r->source = wt__arena_copy(a->arena, source);
    a->tools[place].source = r->source;
    WT_CHECK_ALLOC(r->source, r->err);
    return 0;
}

static int read_tool_sources(struct catalogue_reader *r, struct store *reader)
{
    struct audit_run *a = r->a;
    const char *slash = strrchr(a->engine->path, '/');
    a->store = wt__arena_copy(a->arena, wt__str(slash ? slash + 1 : a->engine->path));
    WT_CHECK_ALLOC(a->store, r->err);
    return wt__store_each_source(reader, read_tool_source, r, r->err);
}

static int find_scope(struct audit_run *a, const struct map *providers, struct store *reader, wt_error *err)
{
    if (!a->options.provider)
        return 0;
    const uint32_t *place = wt__map_get(providers, wt__str(a->options.provider));
    if (!place)
        return wt__fail_no_provider(reader, a->options.provider, err);
    a->scoped = true;
    a->scope = *place;
    return 0;
}

static int read_audited_catalogue(struct audit_run *a, wt_error *err)
{
    struct catalogue_reader reading = {.a = a, .err = err};
    struct store *reader;
    if (wt__progress_phase(&a->progress, "reading", 0))
        return wt__fail_cancelled(err);
    int rc = wt__engine_reader(a->engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_each(reader, 0, read_audited_tool, &reading, err);
    if (rc == 0 && a->count == 0)
        rc = wt__fail(err, WT_EEMPTY, "the store %s holds no tools; add some with `whichtool add FILE`",
                      a->engine->path);
    if (rc == 0 && a->arena)
        rc = read_tool_sources(&reading, reader);
    if (rc == 0)
        rc = find_scope(a, &reading.providers, reader, err);
    wt__engine_return_reader(a->engine, reader);
    wt__map_dispose(&reading.providers);
    wt__buffer_dispose(&reading.id);
    return rc;
}

/* ---------------------------------------------------------------- running the rules */

typedef int (*family)(struct audit_run *a, struct checked_tool *at, wt_error *err);

static int audit_tool(struct audit_run *a, struct checked_tool *at, const family *families, size_t count, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    json_t *schema = NULL, *definition = NULL;
    int rc = 0;
    if (wt__json_parse(&schema, tool->schema.ptr, tool->schema.len, NULL) == WT_ENOMEM ||
        wt__json_parse(&definition, tool->definition.ptr, tool->definition.len, NULL) == WT_ENOMEM)
        rc = wt__fail_nomem(err);
    at->schema = schema;
    at->definition = definition;
    for (size_t f = 0; rc == 0 && f < count; f++)
        rc = families[f](a, at, err);
    json_decref(schema);
    json_decref(definition);
    return rc;
}

static int audit_tools(struct audit_run *a, const family *families, size_t count, wt_error *err)
{
    struct checked_tool at = {0};
    int rc = wt__progress_phase(&a->progress, "reading definitions", a->count) ? wt__fail_cancelled(err) : 0;
    for (; rc == 0 && at.tool < a->count; at.tool++) {
        if (!a->scoped || a->tools[at.tool].provider == a->scope)
            rc = audit_tool(a, &at, families, count, err);
        if (rc == 0 && wt__progress_step(&a->progress, 1))
            rc = wt__fail_cancelled(err);
    }
    wt__wording_dispose(&at.wording);
    return rc;
}

static bool wants_searches(const struct audit_run *a)
{
    return a->wanted[RULE_UNREACHABLE] || a->wanted[RULE_UNREACHED_BY_USE] || a->wanted[RULE_SHADOWED_PAIR] ||
           a->wanted[RULE_NEAR_COPY] || a->wanted[RULE_CAPTURE];
}

/* True if the exception matches a tool or a provider. The tools of pin-gone are not in the catalogue, so exceptions
 * from this rule always count as matching. */
static bool exception_matches_any_tool(const struct audit_run *a, const struct rule_exception *exception)
{
    struct buffer id = {0};
    bool fits = exception->rule == RULE_PIN_GONE;
    for (size_t i = 0; i < a->count && !fits; i++)
        fits = wt__pattern_fits(exception->pattern, wt__str(a->tools[i].id), a->tools[i].tool.name);
    for (size_t p = 0; p < a->provider_count && !fits; p++) {
        wt__buffer_clear(&id);
        wt__tool_id(&id, a->providers[p].name, STR(""));
        fits = wt__pattern_fits(exception->pattern, wt__buffer_view(&id), STR(""));
    }
    wt__buffer_dispose(&id);
    return fits;
}

/* Appends `said` to the notice, separated by a semicolon. */
static int append_audit_notice(struct audit_run *a, const struct buffer *said, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (a->notice)
        wt__buffer_printf(&text, "%s; ", a->notice);
    wt__buffer_str(&text, wt__buffer_view(said));
    a->notice = text.failed || said->failed ? NULL : wt__arena_copy(a->arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(a->notice, err);
    return 0;
}

/* Adds a notice about exceptions that match no tool or provider, so that stale exceptions do not accumulate. */
static int report_stale_exceptions(struct audit_run *a, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    size_t count = 0;
    for (size_t e = 0; e < a->exception_count; e++) {
        const struct rule_exception *exception = &a->exceptions[e];
        if (exception_matches_any_tool(a, exception) || count++ > 0)
            continue;
        wt__buffer_printf(&text, "no tool matches the exception %s:", wt__audit_rules[exception->rule].id);
        wt__buffer_str(&text, exception->pattern);
    }
    if (count > 1)
        wt__buffer_printf(&text, ", nor %zu other exceptions", count - 1);
    return count > 0 ? append_audit_notice(a, &text, err) : 0;
}

static int report_sample(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (a->count <= a->options.searches || searches->plain_count == 0)
        return 0;
    wt__buffer_printf(&text, "searched for a sample of %zu of %zu tools; --searches sets the size of the sample",
                      searches->plain_count, a->count);
    return append_audit_notice(a, &text, err);
}

static int find_pins_file(struct audit_run *a, wt_error *err)
{
    char path[PATH_MAX];
    if (!a->options.pins_file || !realpath(a->options.pins_file, path))
        return 0;
    a->pins = wt__arena_copy(a->arena, wt__str(path));
    WT_CHECK_ALLOC(a->pins, err);
    return 0;
}

static int run_all_rules(struct audit_run *a, wt_audit_result *out, wt_error *err)
{
    static const family families[] = {wt__audit_description, wt__audit_instructions, wt__audit_characters,
                                      wt__audit_schema, wt__audit_name};
    struct audit_searches searches = {.recipe = "", .encoder = ""};
    WT_TRY(audit_tools(a, families, sizeof families / sizeof *families, err));
    WT_TRY(wt__audit_duplicates(a, err));
    if (a->options.pins)
        WT_TRY(find_pins_file(a, err));
    if (a->options.pins)
        WT_TRY(wt__audit_pinned(a, err));
    if (wants_searches(a))
        WT_TRY(wt__audit_search(a, &searches, err));
    WT_TRY(wt__audit_reach(a, &searches, err));
    WT_TRY(wt__audit_copies(a, &searches, err));
    WT_TRY(wt__audit_capture(a, &searches, err));
    WT_TRY(report_sample(a, &searches, err));
    WT_TRY(report_stale_exceptions(a, err));
    out->made = searches.plain_count + searches.voiced_count;
    out->recorded = searches.recorded_count;
    out->recipe = searches.recipe;
    out->encoder = searches.encoder;
    return 0;
}

/* ---------------------------------------------------------------- the result */

static int compare_by_rule(const void *one, const void *other)
{
    const struct kept_finding *a = one, *b = other;
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int fill_result(struct audit_run *a, wt_audit_result *out, wt_error *err)
{
    if (a->finding_count > 0)
        qsort(a->findings, a->finding_count, sizeof *a->findings, compare_by_rule);
    struct placed_finding *findings = wt__arena_array(a->arena, struct placed_finding, a->finding_count);
    for (size_t i = 0; findings && i < a->finding_count; i++) {
        findings[i] = a->findings[i].finding;
        out->errors += findings[i].public.level == WT_AUDIT_ERROR;
        out->warnings += findings[i].public.level == WT_AUDIT_WARNING;
        out->notes += findings[i].public.level == WT_AUDIT_NOTE;
    }
    out->findings = wt__arena_pointers(a->arena, findings, a->finding_count, sizeof *findings);
    out->finding_count = a->finding_count;
    out->tools = a->scoped ? a->providers[a->scope].tools : a->count;
    out->providers = a->scoped ? 1 : a->provider_count;
    out->notice = a->notice;
    WT_CHECK_ALLOC(findings && out->findings, err);
    return 0;
}

static void free_auditing(struct audit_run *a)
{
    free(a->tools);
    free(a->providers);
    free(a->findings);
    wt__arena_dispose(&a->scratch);
}

/* Frees the state of the audit. If rc is an error, frees the result and returns rc. Otherwise sets *out to the result.
 * begun: start time in milliseconds. */
static int finish_audit(struct audit_run *a, int rc, struct owned_audit *result, double begun, wt_audit_result **out,
                        wt_error *err)
{
    rc = wt__progress_end(&a->progress, rc, err);
    free_auditing(a);
    if (rc < 0) {
        wt_audit_free(&result->public);
        return rc;
    }
    result->public.seconds = (wt__now_ms() - begun) / 1000;
    *out = &result->public;
    return 0;
}

int wt_audit(wt_engine *engine, const wt_audit_options *options, wt_audit_result **out, wt_error *err)
{
    double begun = wt__now_ms();
    struct audit_run a = {.engine = engine};
    struct owned_audit *result = calloc(1, sizeof *result);
    *out = NULL;
    WT_CHECK_ALLOC(result, err);
    a.arena = &result->arena;
    int rc = read_audit_options(&a, options, err);
    wt__progress_init(&a.progress, a.options.progress, a.options.progress_context);
    if (rc == 0)
        rc = read_audited_catalogue(&a, err);
    if (rc == 0)
        rc = run_all_rules(&a, &result->public, err);
    if (rc == 0)
        rc = count_costs(&a, &result->public, err);
    if (rc == 0)
        rc = fill_result(&a, &result->public, err);
    return finish_audit(&a, rc, result, begun, out, err);
}

/* ---------------------------------------------------------------- listings of servers */

/* Enables the text rules whose findings suggest deception. */
static void enable_deception_rules(struct audit_run *a)
{
    static const enum audit_rule deceptions[] = {RULE_OVERRIDES_INSTRUCTIONS, RULE_HIDES_FROM_USER,
                                                 RULE_ASKS_FOR_SECRETS, RULE_HIDDEN_CHARACTERS, RULE_MIXED_SCRIPTS};
    for (size_t i = 0; i < sizeof deceptions / sizeof *deceptions; i++)
        a->wanted[deceptions[i]] = true;
}

/* Reads a server's listing. The server's instructions become the description of a tool without a name. */
static int read_server_listing(struct audit_run *a, const char *provider, struct str listing, const char *instructions,
                               wt_error *err)
{
    struct catalogue_reader reading = {.a = a, .err = err};
    struct import import = {0};
    struct store_key key = {0};
    const struct import_options options = {
        .format = STR("mcp"), .provider = wt__str(provider), .source_name = wt__str(provider)};
    const struct tool self = {.provider = wt__str(provider), .description = wt__str(instructions)};
    int rc = listing.len > 0 ? wt__import_bytes(&import, listing, &options, err) : 0;
    for (; rc == 0 && (size_t)key.id < import.tool_count; key.id++)
        rc = read_audited_tool(&reading, &key, &import.tools[key.id]);
    if (rc == 0 && self.description.len > 0 && (rc = read_audited_tool(&reading, &key, &self)) == 0)
        a->tools[a->count - 1].id = a->providers[0].name.ptr;
    wt__import_dispose(&import);
    wt__map_dispose(&reading.providers);
    wt__buffer_dispose(&reading.id);
    return rc;
}

int wt_audit_listing(const char *provider, const char *listing, size_t len, const char *instructions,
                     wt_audit_result **out, wt_error *err)
{
    static const family families[] = {wt__audit_instructions, wt__audit_characters};
    double begun = wt__now_ms();
    struct audit_run a = {0};
    struct owned_audit *result = calloc(1, sizeof *result);
    *out = NULL;
    WT_CHECK_ALLOC(result, err);
    a.arena = &result->arena;
    result->public.recipe = result->public.encoder = "";
    enable_deception_rules(&a);
    wt__progress_init(&a.progress, NULL, NULL);
    int rc = provider && *provider
                 ? read_server_listing(&a, provider, (struct str){listing, len}, instructions, err)
                 : wt__fail(err, WT_EINVAL, "the provider is missing; name the provider of the definitions");
    if (rc == 0)
        rc = audit_tools(&a, families, sizeof families / sizeof *families, err);
    if (rc == 0)
        rc = fill_result(&a, &result->public, err);
    return finish_audit(&a, rc, result, begun, out, err);
}

/* Returns a tool with the texts of a prompt, resource or template: arguments become properties of its schema. NULL if
 * out of memory. */
static json_t *offer_as_tool(const json_t *offer)
{
    json_t *tool = json_copy((json_t *)offer), *properties = json_object();
    const json_t *arguments = wt__json_array(offer, "arguments");
    struct str name = wt__str_head(wt__json_str(offer, "name"), WT_MAX_NAME_BYTES);
    bool whole = tool && properties;
    for (size_t i = 0; whole && i < json_array_size(arguments); i++) {
        json_t *argument = json_array_get(arguments, i);
        const char *key = json_string_value(json_object_get(argument, "name"));
        whole = json_object_set(properties, key ? key : "", argument) == 0;
    }
    whole = whole && json_object_set_new(tool, "name", wt__json_string(name.len > 0 ? name : STR("unnamed"))) == 0 &&
            json_object_set_new(tool, "inputSchema",
                                json_pack("{s:s,s:O}", "type", "object", "properties", properties)) == 0;
    json_decref(properties);
    if (whole)
        return tool;
    json_decref(tool);
    return NULL;
}

int wt_audit_offers(const char *provider, const char *offers, wt_audit_result **out, wt_error *err)
{
    json_t *list = NULL, *tools = json_array();
    struct buffer text = {0};
    *out = NULL;
    int rc = wt__json_parse(&list, offers, strlen(offers), err);
    if (rc == 0 && !json_is_array(list))
        rc = wt__fail(err, WT_EFORMAT, "the definitions are not a JSON array");
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        if (json_is_object(json_array_get(list, i)) &&
            json_array_append_new(tools, offer_as_tool(json_array_get(list, i))) < 0)
            rc = wt__fail_nomem(err);
    size_t count = json_array_size(tools);
    wt__buffer_text(&text, "{\"tools\":");
    if (rc == 0 && (!tools || wt__json_write(&text, tools) < 0))
        rc = wt__fail_nomem(err);
    wt__buffer_char(&text, '}');
    if (rc == 0)
        rc = text.failed
                 ? wt__fail_nomem(err)
                 : wt_audit_listing(provider, count > 0 ? text.ptr : NULL, count > 0 ? text.len : 0, NULL, out, err);
    wt__buffer_dispose(&text);
    json_decref(tools);
    json_decref(list);
    return rc;
}

/* ---------------------------------------------------------------- pins */

static int compare_audited_ids(const void *one, const void *other)
{
    return strcmp(((const struct audited_tool *)one)->id, ((const struct audited_tool *)other)->id);
}

int wt_audit_pins(wt_engine *engine, const char *provider, char **out, wt_error *err)
{
    struct audit_run a = {.engine = engine, .options.provider = provider};
    struct buffer text = {0};
    *out = NULL;
    wt__progress_init(&a.progress, NULL, NULL);
    int rc = read_audited_catalogue(&a, err);
    if (rc == 0)
        qsort(a.tools, a.count, sizeof *a.tools, compare_audited_ids);
    wt__pins_begin(&text);
    for (size_t i = 0; rc == 0 && i < a.count; i++)
        if (!a.scoped || a.tools[i].provider == a.scope)
            rc = wt__pins_add(&text, wt__str(a.tools[i].id), &a.tools[i].tool, err);
    if (rc == 0 && !(*out = wt__buffer_take(&text)))
        rc = wt__fail_nomem(err);
    rc = wt__progress_end(&a.progress, rc, err);
    wt__buffer_dispose(&text);
    free_auditing(&a);
    return rc;
}
