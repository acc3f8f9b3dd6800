/* suggest.c: finds the nearest names by edit distance. */
#include "engine/suggest.h"

#include "base/nearest.h"
#include "catalog/names.h"

enum {
    CANDIDATES = 16, /* names whose providers are compared */
    AHEAD = 64,      /* names after the typed one in sort order, which may continue it */
    ANOTHER_LETTER = 1
};

/* Weights of the distance: one edit of the name costs more than a wrong provider. */
enum { OF_NAME = 3, NEAR_PROVIDER = 1, OTHER_PROVIDER = 2 };

struct suggestion {
    struct str typed, provider, name; /* input and its parts; provider may be empty */
    bool is_provider;                 /* the input is the name of a provider */
    bool letter;                      /* compare only names with the same first byte */
    int64_t ids[CANDIDATES];
    size_t edits[CANDIDATES];
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
    size_t edits = wt__edits(l->name, name, NEAREST_EDITS);
    if (edits > 0 && l->provider.len > 0) /* the separator may be part of the name */
        edits = wt__edits(l->typed, name, edits);
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
    return wt__edits(l->provider, provider, NEAREST_EDITS) < NEAREST_EDITS ? NEAR_PROVIDER : OTHER_PROVIDER;
}

void wt__suggest_tool(struct buffer *sentence, struct store *store, struct str name)
{
    struct suggestion l = {.count = 0};
    struct arena arena = {0};
    struct tool tools[CANDIDATES];
    size_t best = CANDIDATES, least = SIZE_MAX;
    split_typed_name(&l, name);
    if (l.name.len == 0 || l.name.len > NEAREST_WORD_MAX)
        return;
    int rc = wt__store_each_provider(store, match_typed_provider, &l, NULL);
    if (rc >= 0 && l.is_provider) {
        wt__buffer_text(sentence, "; it is the name of a provider");
        return;
    }
    if (rc >= 0)
        rc = wt__store_each_name(store, l.name, AHEAD, compare_tool_name, &l, NULL);
    l.letter = true;
    if (rc >= 0 && l.count == 0)
        rc = wt__store_each_name(store, (struct str){l.name.ptr, 1}, SUGGEST_NAMES, compare_tool_name, &l, NULL);
    l.letter = false;
    if (rc >= 0 && l.count == 0)
        rc = wt__store_each_name(store, STR(""), SUGGEST_NAMES, compare_tool_name, &l, NULL);
    if (rc >= 0)
        rc = wt__store_get(store, l.ids, l.count, &arena, tools, NULL);
    for (size_t i = 0; rc >= 0 && i < l.count; i++) {
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
    wt__arena_dispose(&arena);
}

static int compare_provider_name(void *context, int64_t provider, struct str name)
{
    (void)provider;
    wt__nearest_show(context, name);
    return 0;
}

void wt__suggest_provider(struct buffer *sentence, struct store *store, struct str name)
{
    struct nearest nearest;
    wt__nearest_begin(&nearest, name);
    if (wt__store_each_provider(store, compare_provider_name, &nearest, NULL) >= 0 && nearest.best[0])
        wt__buffer_printf(sentence, "; did you mean \"%s\"?", nearest.best);
}

typedef void (*suggester)(struct buffer *sentence, struct store *store, struct str name);

static int fail_unknown_name(const char *what, struct store *store, const char *name, suggester suggest, wt_error *err)
{
    struct buffer sentence = {0};
    suggest(&sentence, store, wt__str(name));
    int rc =
        wt__fail(err, WT_ENOTFOUND, "%s \"%s\"%s", what, name, sentence.ptr && !sentence.failed ? sentence.ptr : "");
    wt__buffer_dispose(&sentence);
    return rc;
}

int wt__fail_no_tool(struct store *store, const char *name, wt_error *err)
{
    return fail_unknown_name("no tool is named", store, name, wt__suggest_tool, err);
}

int wt__fail_no_provider(struct store *store, const char *provider, wt_error *err)
{
    return fail_unknown_name("no tool has the provider", store, provider, wt__suggest_provider, err);
}
