/* suggest.c: suggests a known verb or option for an unknown one. A typo gets the nearest known word. The tables below
 * list verbs and options of other programs with our words for them. A suggestion is never executed. */
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

/* One of our words, and the words for it in other programs. */
struct synonyms {
    const char *ours;      /* our word, or a hint if we have no such word */
    const char *theirs[9]; /* ends with NULL */
};

/* Verbs of other programs, and our verbs and options for them. */
static const struct synonyms other_verbs[] = {
    {"find", {"ask", "lookup", "match", "query", "rank", "retrieve", "search"}},
    {"pick", {"choose", "recommend", "select", "suggest"}},
    {"add", {"import", "index", "ingest", "load", "register"}},
    {"add --sync", {"refresh", "sync", "update"}},
    {"list", {"ls", "tools"}},
    {"list --providers", {"providers", "servers"}},
    {"show", {"cat", "describe", "get", "inspect", "view"}},
    {"remove", {"clear", "del", "delete", "rm", "uninstall"}},
    {"rename", {"move", "mv"}},
    {"status", {"count", "info", "stat", "stats"}},
    {"check", {"doctor", "fsck", "verify"}},
    {"vectors", {"embed", "embeddings", "encode", "vectorize"}},
    {"usage add", {"feedback", "log", "record"}},
    {"usage forget", {"forget"}},
    {"eval", {"benchmark", "evaluate", "measure"}},
    {"train", {"finetune", "fit", "learn"}},
    {"model pull", {"download", "fetch"}},
    {"model list", {"models"}},
    {"model pull", {"pull"}},
    {"serve", {"daemon", "http", "server", "start"}},
    {"mcp", {"stdio"}},
    {"help --recipes", {"recipes"}},
    {"help --completions", {"completion", "completions"}},
    {"help --man", {"man"}},
};

/* Verbs of other programs that we do not have, and a hint for each. */
static const struct synonyms missing_verbs[] = {
    {"whichtool finds tools, but does not call them; `whichtool show NAME --schema` shows the arguments of a tool",
     {"exec", "run"}},
    {"whichtool finds tools; `whichtool find --format openai REQUEST` prints them for a model's chat", {"chat"}},
    {"`whichtool find --format openai REQUEST` and `whichtool show --format openai NAME` print definitions; `whichtool "
     "usage export` prints recorded use",
     {"export"}},
    {"there is no configuration file; `whichtool help` lists options and environment variables", {"config"}},
    {"the first `whichtool add FILE` creates the store", {"create", "init", "new"}},
    {"`whichtool add FILE` imports tools, `whichtool model pull` downloads a model", {"install"}},
    {"the index is built automatically; `whichtool vectors` computes missing vectors", {"build", "rebuild", "reindex"}},
};

static const char *verb_name_at(const void *context, size_t index)
{
    (void)context;
    return index < wt__verb_count ? wt__verbs[index]->name : NULL;
}

/* Returns another program's verb, by its index over all rows of other_verbs; NULL after the last verb. */
static const char *other_verb_name_at(const void *context, size_t index)
{
    (void)context;
    for (size_t i = 0; i < COUNT(other_verbs); i++)
        for (const char *const *theirs = other_verbs[i].theirs; *theirs; theirs++)
            if (index-- == 0)
                return *theirs;
    return NULL;
}

static bool has_synonym(const struct synonyms *row, const char *word)
{
    for (const char *const *theirs = row->theirs; *theirs; theirs++)
        if (strcmp(*theirs, word) == 0)
            return true;
    return false;
}

/* Returns our word for another program's verb. NULL if theirs is NULL or not in the table. */
static const char *our_word(const char *theirs)
{
    for (size_t i = 0; theirs && i < COUNT(other_verbs); i++)
        if (has_synonym(&other_verbs[i], theirs))
            return other_verbs[i].ours;
    return NULL;
}

void wt__suggest_verb(struct buffer *out, const char *word)
{
    for (size_t i = 0; i < COUNT(missing_verbs); i++)
        if (has_synonym(&missing_verbs[i], word)) {
            wt__buffer_printf(out, "; %s", missing_verbs[i].ours);
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

static const struct synonyms other_options[] = {
    {"k", {"count", "max-results", "n", "num", "number", "top", "top-k", "limit"}},
    {"limit", {"count", "max", "n"}},
    {"offset", {"skip", "start"}},
    {"recipe", {"algorithm", "method", "mode", "retriever"}},
    {"explain", {"debug", "verbose", "why"}},
    {"provider", {"namespace", "server", "source"}},
    {"format", {"output", "type"}},
    {"model", {"encoder"}},
    {"models", {"model-dir", "models-dir"}},
    {"yes", {"force"}},
    {"outcome", {"success"}},
    {"request", {"query", "text"}},
    {"tool", {"tools"}},
    {"store", {"catalog", "database", "db", "file"}},
    {"listen", {"address", "bind", "port"}},
    {"quiet", {"silent"}},
    {"no-color", {"color", "colour", "no-colour", "plain"}},
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
        if (has_synonym(&other_options[i], name) &&
            ((verb && has_option(verb->options, verb->option_count, other_options[i].ours)) ||
             has_option(wt__global_options, wt__global_option_count, other_options[i].ours)))
            return other_options[i].ours;
    return NULL;
}
