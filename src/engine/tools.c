/* tools.c: lists, shows, removes and exports tools, renames providers, and resolves names of tools.
 *
 * Users name tools in four ways, tried in this order: the exported name that a model was given, the id
 * ("provider/name"), the bare name, and the identifier of the tool in its source (BEIR's _id). An exported name thus
 * stays valid even if a tool with that id is added. A slash may be part of a provider ("@org/server") or of a name
 * ("GET /pets"), so every slash of an id is tried as the separator. For an unknown name, the error suggests the name
 * with the smallest edit distance. */
#include "engine/tools.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "catalog/export.h"
#include "catalog/names.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "text/unicode.h"

enum { AMBIGUOUS_SHOWN = 5 };

struct tool_list {
    wt_tools tools; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
};

int wt__tool_materialise(struct arena *arena, const struct tool *tool, wt_tool *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    char hex[65];
    wt__tool_id(&id, tool->provider, tool->name);
    wt__sha256_hex(tool->sha256, hex);
    *out = (wt_tool){
        .id = wt__arena_copy(arena, wt__buffer_view(&id)),
        .provider = wt__arena_copy(arena, tool->provider),
        .name = wt__arena_copy(arena, tool->name),
        .title = wt__arena_copy(arena, tool->title),
        .description = wt__arena_copy(arena, tool->description),
        .category = wt__arena_copy(arena, tool->category),
        .source_id = wt__arena_copy(arena, tool->source_id),
        .format = wt__arena_copy(arena, tool->format),
        .definition = wt__arena_copy(arena, tool->definition),
        .definition_len = tool->definition.len,
        .schema = wt__arena_copy(arena, tool->schema),
        .sha256 = wt__arena_copy(arena, wt__str(hex)),
        .export_name = wt__arena_copy(arena, tool->export_name),
    };
    bool whole = !id.failed && out->id && out->provider && out->name && out->title && out->description &&
                 out->category && out->source_id && out->format && out->definition && out->schema && out->sha256 &&
                 out->export_name;
    return whole ? 0 : wt__fail_nomem(err);
}

static void free_tool_list(struct tool_list **list)
{
    if (*list)
        wt_tools_free(&(*list)->tools);
}

int wt__tool_list_of(const struct tool *tools, size_t count, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(free_tool_list) struct tool_list *list = wt__alloc_zeros(1, sizeof *list);
    WT_CHECK_ALLOC(list, err);
    wt_tool *items = wt__arena_array(&list->arena, wt_tool, count);
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < count; i++)
        if (tools[i].name.len > 0)
            WT_TRY(wt__tool_materialise(&list->arena, &tools[i], &items[list->tools.len++], err));
    list->tools.items = wt__arena_pointers(&list->arena, items, list->tools.len, sizeof *items);
    WT_CHECK_ALLOC(list->tools.items, err);
    *out = &WT_TAKE(list)->tools;
    return 0;
}

int wt__tool_list(struct store *store, const int64_t *ids, size_t count, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct tool *tools = wt__arena_array(&arena, struct tool, count);
    WT_CHECK_ALLOC(tools, err);
    int rc = wt__store_get(store, ids, count, &arena, tools, err);
    return rc < 0 ? rc : wt__tool_list_of(tools, count, out, err);
}

void wt_tools_free(wt_tools *tools)
{
    wt__arena_free_owner(tools, offsetof(struct tool_list, arena));
}

static int fail_no_tool(struct store *store, const char *name, wt_error *err);

static int is_named_provider(void *context, int64_t provider, struct str name)
{
    (void)provider;
    return wt__str_equal(name, *(const struct str *)context);
}

/* Accepts an empty list if the provider exists or the store is empty. Otherwise fails because the provider is
 * unknown. */
static int check_empty_list(struct store *reader, const char *provider, wt_error *err)
{
    struct str name = wt__str(provider);
    uint64_t tools, providers;
    int rc = wt__store_each_provider(reader, is_named_provider, &name, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    WT_TRY(wt__store_count(reader, &tools, &providers, err));
    return tools > 0 ? wt__fail_no_provider(reader, provider, err) : 0;
}

int wt_list(wt_engine *engine, const wt_list_options *given, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    wt_list_options options;
    int64_t *ids;
    size_t count;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    if (engine->view)
        return engine->view->list(engine, &options, out, err);
    struct str provider = wt__str(options.provider), pattern = wt__str(options.pattern);
    const struct str *of = options.provider ? &provider : NULL;
    WT_TRY(wt__open_reader(&reader, engine, err));
    WT_TRY(wt__store_read_begin(reader.store, err));
    WT_TRY(pattern.len > 0
               ? wt__store_list_matching(reader.store, of, pattern, options.limit, options.offset, &arena, &ids, &count,
                                         err)
               : wt__store_list(reader.store, of, options.limit, options.offset, &arena, &ids, &count, err));
    if (count == 0 && options.provider)
        WT_TRY(check_empty_list(reader.store, options.provider, err));
    return wt__tool_list(reader.store, ids, count, out, err);
}

/* Fails with a list of the tools that the name could mean. */
static int fail_ambiguous_name(struct store *store, const char *name, const int64_t *ids, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    struct tool tools[AMBIGUOUS_SHOWN];
    size_t shown = count < AMBIGUOUS_SHOWN ? count : AMBIGUOUS_SHOWN;
    int rc = wt__store_get(store, ids, shown, &arena, tools, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < shown; i++) {
        wt__buffer_text(&message, i ? ", " : "");
        wt__tool_id(&message, tools[i].provider, tools[i].name);
    }
    return wt__fail(err, WT_EINVAL, "several tools are named \"%s\" (%s%s); use provider/name", name,
                    message.ptr ? message.ptr : "", count > shown ? ", ..." : "");
}

/* Returns 1 and *id if the name is the id of a tool: a bare name without a provider, or PROVIDER/NAME split at any
 * slash. Returns 0 if not. */
static int resolve_tool_id(struct store *store, struct str name, int64_t *id, wt_error *err)
{
    static const struct str none = {"", 0};
    int rc = wt__store_find_name(store, &none, name, id, 1, err);
    for (size_t slash = 0; rc == 0 && slash < name.len; slash++) {
        if (name.ptr[slash] != '/')
            continue;
        struct str provider = {name.ptr, slash};
        struct str rest = {name.ptr + slash + 1, name.len - slash - 1};
        if (rest.len > 0)
            rc = wt__store_find_name(store, &provider, rest, id, 1, err);
    }
    return rc;
}

int wt__tool_resolve(struct store *store, const char *name, int64_t *id, wt_error *err)
{
    if (!name)
        return wt__fail(err, WT_EINVAL, "no tool given; give a name or an id");
    struct str text = wt__str(name);
    int64_t ids[AMBIGUOUS_SHOWN + 1];
    int rc = wt__store_find_export_name(store, text, id, err);
    if (rc == 0)
        rc = resolve_tool_id(store, text, id, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = wt__store_find_name(store, NULL, text, ids, AMBIGUOUS_SHOWN + 1, err);
    if (rc == 0)
        rc = wt__store_find_source_id(store, text, ids, AMBIGUOUS_SHOWN + 1, err);
    if (rc > 1)
        return fail_ambiguous_name(store, name, ids, (size_t)rc, err);
    if (rc <= 0)
        return rc < 0 ? rc : wt__fail(err, WT_ENOTFOUND, "no tool is named \"%s\"", name);
    *id = ids[0];
    return 0;
}

int wt_get(wt_engine *engine, const char *name, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    int64_t id;
    *out = NULL;
    if (engine->view)
        return engine->view->get(engine, name, out, err);
    WT_TRY(wt__open_reader(&reader, engine, err));
    WT_TRY(wt__store_read_begin(reader.store, err));
    int rc = wt__tool_resolve(reader.store, name, &id, err);
    if (rc == WT_ENOTFOUND)
        return fail_no_tool(reader.store, name, err);
    return rc < 0 ? rc : wt__tool_list(reader.store, &id, 1, out, err);
}

int wt_remove(wt_engine *engine, const char *name, wt_error *err)
{
    int64_t id, removed = 0;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__tool_resolve(engine->store, name, &id, err);
    if (rc == 0)
        removed = wt__store_remove(engine->store, &id, 1, err);
    else if (rc == WT_ENOTFOUND)
        rc = fail_no_tool(engine->store, name, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return rc < 0 ? rc : (int)removed;
}

int64_t wt_remove_provider(wt_engine *engine, const char *provider, wt_error *err)
{
    pthread_mutex_lock(&engine->store_lock);
    int64_t removed = wt__store_remove_provider(engine->store, wt__str(provider), err);
    if (removed == 0)
        removed = wt__fail_no_provider(engine->store, provider, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return removed;
}

bool wt__is_provider_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f)
            return false;
    return name.len > 0 && name.len <= WT_MAX_NAME_BYTES && wt__utf8_valid(name) && wt__str_trim(name).len == name.len;
}

int64_t wt_rename_provider(wt_engine *engine, const char *provider, const char *name, wt_error *err)
{
    struct str from = wt__str(provider), to = wt__str(name);
    if (from.len == 0)
        return wt__fail(err, WT_EINVAL,
                        "cannot rename the provider of tools without a provider; import them with a provider");
    if (!wt__is_provider_name(to))
        return wt__fail(
            err, WT_EINVAL,
            "a provider name must be 1 to %d bytes of UTF-8 without control characters or surrounding blanks",
            WT_MAX_NAME_BYTES);
    pthread_mutex_lock(&engine->store_lock);
    int64_t renamed = wt__store_rename_provider(engine->store, from, to, err);
    if (renamed == WT_ENOTFOUND)
        renamed = wt__fail_no_provider(engine->store, provider, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return renamed;
}

int wt_export(const wt_tool *const *tools, size_t count, const char *format, char **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = NULL;
    struct tool *list = wt__arena_array(&arena, struct tool, count);
    WT_CHECK_ALLOC(list, err);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct tool){
            .provider = wt__str(tools[i]->provider),
            .name = wt__str(tools[i]->name),
            .title = wt__str(tools[i]->title),
            .description = wt__str(tools[i]->description),
            .category = wt__str(tools[i]->category),
            .schema = wt__str(tools[i]->schema),
            .export_name = wt__str(tools[i]->export_name),
        };
    WT_TRY(wt__export(list, count, wt__str(format), &text, err));
    *out = wt__buffer_take(&text);
    WT_CHECK_ALLOC(*out, err);
    return 0;
}

void wt_string_free(char *string)
{
    free(string);
}

/* ---------------------------------------------------------------- suggestions */

enum {
    CANDIDATES = 16,   /* names whose providers are compared */
    AHEAD = 64,        /* names after the typed name in sort order; they may begin with the typed name */
    ANOTHER_LETTER = 1 /* result of compare_tool_name that ends the visit */
};

/* Weights of the distance: one edit of the name costs more than a wrong provider. */
enum { OF_NAME = 3, NEAR_PROVIDER = 1, OTHER_PROVIDER = 2 };

struct suggestion {
    struct str typed, provider, name; /* input and its parts; provider may be empty */
    bool is_provider;                 /* the input is the name of a provider */
    bool letter;                      /* compare only names with the same first byte */
    int64_t ids[CANDIDATES];          /* [count] tools of the candidates */
    size_t edits[CANDIDATES];         /* edit distance of each candidate */
    size_t count;
};

/* Splits "github/create_isue" or "github__create_isue" at the last separator. */
static void split_typed_name(struct suggestion *l, struct str typed)
{
    l->typed = l->name = typed;
    for (size_t i = typed.len; i-- > 0;) {
        bool slash = typed.ptr[i] == '/';
        if (!slash && !(i > 0 && typed.ptr[i] == '_' && typed.ptr[i - 1] == '_'))
            continue;
        l->provider = (struct str){typed.ptr, slash ? i : i - 1};
        l->name = (struct str){typed.ptr + i + 1, typed.len - i - 1};
        return;
    }
}

/* Splits the input after the name of an existing provider, because the tool's name may contain a separator:
 * "github/issues/craete". */
static int match_typed_provider(void *context, int64_t id, struct str provider)
{
    struct suggestion *l = context;
    (void)id;
    if (provider.len == 0 || !wt__str_starts(l->typed, provider))
        return 0;
    struct str rest = {l->typed.ptr + provider.len, l->typed.len - provider.len};
    size_t border = wt__str_starts(rest, STR("/")) ? 1 : wt__str_starts(rest, STR("__")) ? 2 : 0;
    l->is_provider = l->is_provider || rest.len == 0;
    if (border == 0 || rest.len == border || rest.len - border < l->name.len)
        return 0;
    l->provider = (struct str){l->typed.ptr, provider.len};
    l->name = (struct str){rest.ptr + border, rest.len - border};
    return 0;
}

static int compare_tool_name(void *context, int64_t id, int64_t provider, struct str name)
{
    struct suggestion *l = context;
    size_t worst = 0;
    (void)provider;
    if (l->letter && (name.len == 0 || name.ptr[0] != l->name.ptr[0]))
        return ANOTHER_LETTER;
    size_t edits = wt__edit_distance(l->name, name, NEAREST_EDITS);
    if (edits > 0 && l->provider.len > 0) /* the separator may be part of the name */
        edits = wt__edit_distance(l->typed, name, edits);
    if (edits == NEAREST_EDITS && l->name.len > NEAREST_EDITS && wt__str_starts(name, l->name))
        edits = NEAREST_EDITS - 1;
    if (edits == NEAREST_EDITS)
        return 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->ids[i] == id)
            return 0;
        worst = l->edits[i] > l->edits[worst] ? i : worst;
    }
    if (l->count == CANDIDATES && l->edits[worst] <= edits)
        return 0;
    size_t at = l->count < CANDIDATES ? l->count++ : worst;
    l->ids[at] = id;
    l->edits[at] = edits;
    return 0;
}

static size_t provider_distance(const struct suggestion *l, struct str provider)
{
    if (l->provider.len == 0 || wt__str_equal(l->provider, provider))
        return 0;
    return wt__edit_distance(l->provider, provider, NEAREST_EDITS) < NEAREST_EDITS ? NEAR_PROVIDER : OTHER_PROVIDER;
}

/* Finds the candidates for a suggestion. Returns 1 if the input is the name of a provider instead. */
static int find_suggestions(struct suggestion *l, struct store *store)
{
    WT_TRY(wt__store_each_provider(store, match_typed_provider, l, NULL));
    if (l->is_provider)
        return 1;
    int rc = wt__store_each_name(store, l->name, AHEAD, compare_tool_name, l, NULL);
    l->letter = true;
    if (rc >= 0 && l->count == 0)
        rc = wt__store_each_name(store, (struct str){l->name.ptr, 1}, SUGGEST_NAMES, compare_tool_name, l, NULL);
    l->letter = false;
    if (rc >= 0 && l->count == 0)
        rc = wt__store_each_name(store, STR(""), SUGGEST_NAMES, compare_tool_name, l, NULL);
    return rc < 0 ? rc : 0;
}

void wt__suggest_tool(struct buffer *sentence, struct store *store, struct str name)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct suggestion l = {.count = 0};
    struct tool tools[CANDIDATES];
    size_t best = CANDIDATES, least = SIZE_MAX;
    split_typed_name(&l, name);
    if (l.name.len == 0 || l.name.len > NEAREST_WORD_MAX)
        return;
    int rc = find_suggestions(&l, store);
    if (rc > 0)
        wt__buffer_text(sentence, "; it is the name of a provider");
    if (rc != 0 || wt__store_get(store, l.ids, l.count, &arena, tools, NULL) < 0)
        return;
    for (size_t i = 0; i < l.count; i++) {
        size_t far = OF_NAME * l.edits[i] + provider_distance(&l, tools[i].provider);
        if (far < least && tools[i].name.len > 0) {
            least = far;
            best = i;
        }
    }
    if (best < CANDIDATES) {
        wt__buffer_text(sentence, "; did you mean \"");
        wt__tool_id(sentence, tools[best].provider, tools[best].name);
        wt__buffer_text(sentence, "\"?");
    }
}

static int compare_provider_name(void *context, int64_t provider, struct str name)
{
    (void)provider;
    wt__nearest_show(context, name);
    return 0;
}

static void suggest_provider(struct buffer *sentence, struct store *store, struct str name)
{
    struct nearest nearest;
    wt__nearest_begin(&nearest, name);
    if (wt__store_each_provider(store, compare_provider_name, &nearest, NULL) >= 0 && nearest.best[0])
        wt__buffer_printf(sentence, "; did you mean \"%s\"?", nearest.best);
}

typedef void (*suggester)(struct buffer *sentence, struct store *store, struct str name);

static int fail_unknown_name(const char *what, struct store *store, const char *name, suggester suggest, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sentence = {0};
    suggest(&sentence, store, wt__str(name));
    return wt__fail(err, WT_ENOTFOUND, "%s \"%s\"%s", what, name, sentence.ptr && !sentence.failed ? sentence.ptr : "");
}

static int fail_no_tool(struct store *store, const char *name, wt_error *err)
{
    return fail_unknown_name("no tool is named", store, name, wt__suggest_tool, err);
}

int wt__fail_no_provider(struct store *store, const char *provider, wt_error *err)
{
    return fail_unknown_name("no tool has the provider", store, provider, suggest_provider, err);
}
