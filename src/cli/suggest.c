/* suggest.c: suggests the nearest known word for a typo, and our word for another program's word, by a table. A
 * suggestion is never executed. */
#include "cli/options.h"

#include <string.h>

#include "base/nearest.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *wt__closest_word(const char *word, const char *(*next)(const void *context, size_t index),
                             const void *context)
{
    const char *best = NULL, *candidate = NULL;
    char lower[NEAREST_WORD_MAX + 1];
    struct nearest nearest;
    size_t len = strlen(word);
    if (len > NEAREST_WORD_MAX)
        return NULL;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + ('a' - 'A') : word[i]);
    wt__nearest_begin(&nearest, (struct str){lower, len});
    for (size_t i = 0; (candidate = next(context, i)); i++) {
        size_t before = nearest.edits;
        wt__nearest_show(&nearest, wt__str(candidate));
        best = nearest.edits < before ? candidate : best;
    }
    return best;
}

/* Verbs of other programs, and our verbs and options for them. */
static const struct {
    const char *theirs, *ours;
} other_verbs[] = {
    {"ask", "find"},
    {"lookup", "find"},
    {"match", "find"},
    {"query", "find"},
    {"rank", "find"},
    {"retrieve", "find"},
    {"search", "find"},
    {"choose", "pick"},
    {"recommend", "pick"},
    {"select", "pick"},
    {"suggest", "pick"},
    {"import", "add"},
    {"index", "add"},
    {"ingest", "add"},
    {"load", "add"},
    {"register", "add"},
    {"refresh", "add --sync"},
    {"sync", "add --sync"},
    {"update", "add --sync"},
    {"ls", "list"},
    {"tools", "list"},
    {"providers", "list --providers"},
    {"servers", "list --providers"},
    {"cat", "show"},
    {"describe", "show"},
    {"get", "show"},
    {"inspect", "show"},
    {"view", "show"},
    {"clear", "remove"},
    {"del", "remove"},
    {"delete", "remove"},
    {"rm", "remove"},
    {"uninstall", "remove"},
    {"move", "rename"},
    {"mv", "rename"},
    {"count", "status"},
    {"info", "status"},
    {"stat", "status"},
    {"stats", "status"},
    {"doctor", "check"},
    {"fsck", "check"},
    {"verify", "check"},
    {"embed", "vectors"},
    {"embeddings", "vectors"},
    {"encode", "vectors"},
    {"vectorize", "vectors"},
    {"feedback", "usage add"},
    {"log", "usage add"},
    {"record", "usage add"},
    {"forget", "usage forget"},
    {"benchmark", "eval"},
    {"evaluate", "eval"},
    {"measure", "eval"},
    {"finetune", "train"},
    {"fit", "train"},
    {"learn", "train"},
    {"download", "model pull"},
    {"fetch", "model pull"},
    {"models", "model list"},
    {"pull", "model pull"},
    {"daemon", "serve"},
    {"http", "serve"},
    {"server", "serve"},
    {"start", "serve"},
    {"stdio", "mcp"},
    {"recipes", "help --recipes"},
    {"completion", "help --completions"},
    {"completions", "help --completions"},
    {"man", "help --man"},
};

/* Verbs of other programs that have no counterpart here. */
static const struct {
    const char *theirs, *says;
} others[] = {
    {"exec",
     "whichtool finds tools, but does not call them; `whichtool show NAME --schema` shows the arguments of one"},
    {"run", "whichtool finds tools, but does not call them; `whichtool show NAME --schema` shows the arguments of one"},
    {"chat", "whichtool finds tools; `whichtool find --format openai REQUEST` prints them for a model's chat"},
    {"export", "`whichtool find --format openai REQUEST` and `whichtool show --format openai NAME` print definitions; "
               "`whichtool usage export` prints recorded use"},
    {"config", "there is no configuration file; `whichtool help` lists options and environment variables"},
    {"create", "the first `whichtool add FILE` creates the store"},
    {"init", "the first `whichtool add FILE` creates the store"},
    {"new", "the first `whichtool add FILE` creates the store"},
    {"install", "`whichtool add FILE` imports tools, `whichtool model pull` downloads a model"},
    {"build", "the index is built automatically; `whichtool vectors` computes missing vectors"},
    {"rebuild", "the index is built automatically; `whichtool vectors` computes missing vectors"},
    {"reindex", "the index is built automatically; `whichtool vectors` computes missing vectors"},
};

static const char *verb_name_at(const void *context, size_t index)
{
    (void)context;
    return index < wt__verb_count ? wt__verbs[index]->name : NULL;
}

static const char *other_verb_name_at(const void *context, size_t index)
{
    (void)context;
    return index < COUNT(other_verbs) ? other_verbs[index].theirs : NULL;
}

static const char *our_word(const char *theirs)
{
    for (size_t i = 0; theirs && i < COUNT(other_verbs); i++)
        if (strcmp(other_verbs[i].theirs, theirs) == 0)
            return other_verbs[i].ours;
    return NULL;
}

void wt__suggest_verb(struct buffer *out, const char *word)
{
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i].theirs, word) == 0) {
            wt__buffer_printf(out, "; %s", others[i].says);
            return;
        }
    const char *near = our_word(word);
    if (!near)
        near = wt__closest_word(word, verb_name_at, NULL);
    if (!near)
        near = our_word(wt__closest_word(word, other_verb_name_at, NULL));
    if (near)
        wt__buffer_printf(out, "; did you mean `%s`?", near);
    else if (strchr(word, ' '))
        wt__buffer_text(out, "; write a request after a verb: `whichtool find REQUEST`");
    else if (strchr(word, '/') || strchr(word, '.'))
        wt__buffer_text(out, "; write a file after a verb: `whichtool add FILE`");
}

static const struct {
    const char *theirs, *ours;
} other_options[] = {
    {"count", "k"},
    {"max-results", "k"},
    {"n", "k"},
    {"num", "k"},
    {"number", "k"},
    {"top", "k"},
    {"top-k", "k"},
    {"limit", "k"},
    {"count", "limit"},
    {"max", "limit"},
    {"n", "limit"},
    {"skip", "offset"},
    {"start", "offset"},
    {"algorithm", "recipe"},
    {"method", "recipe"},
    {"mode", "recipe"},
    {"retriever", "recipe"},
    {"debug", "explain"},
    {"verbose", "explain"},
    {"why", "explain"},
    {"namespace", "provider"},
    {"server", "provider"},
    {"source", "provider"},
    {"output", "format"},
    {"type", "format"},
    {"encoder", "model"},
    {"model-dir", "models"},
    {"models-dir", "models"},
    {"force", "yes"},
    {"success", "outcome"},
    {"query", "request"},
    {"text", "request"},
    {"tools", "tool"},
    {"catalog", "store"},
    {"database", "store"},
    {"db", "store"},
    {"file", "store"},
    {"address", "listen"},
    {"bind", "listen"},
    {"port", "listen"},
    {"silent", "quiet"},
    {"color", "no-color"},
    {"colour", "no-color"},
    {"no-colour", "no-color"},
    {"plain", "no-color"},
};

static bool has_option(const struct cli_option *options, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

const char *wt__suggest_option(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; i < COUNT(other_options); i++)
        if (strcmp(other_options[i].theirs, name) == 0 &&
            ((verb && has_option(verb->options, verb->option_count, other_options[i].ours)) ||
             has_option(wt__global_options, wt__global_option_count, other_options[i].ours)))
            return other_options[i].ours;
    return NULL;
}
