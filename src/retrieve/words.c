#include "retrieve/words.h"

#include <stdlib.h>
#include <string.h>

#include "text/analyser.h"

enum { WORD_MAX = 32 }; /* longer than any stop word */

struct str wt__next_word(struct str text, size_t *at)
{
    while (*at < text.len && !wt__is_word_byte(text.ptr[*at]))
        ++*at;
    size_t start = *at;
    while (*at < text.len && wt__is_word_byte(text.ptr[*at]))
        ++*at;
    return (struct str){text.ptr + start, *at - start};
}

bool wt__is_stopword_any_case(struct str word)
{
    char lower[WORD_MAX];
    if (word.len > sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)(word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? word.ptr[i] | 0x20 : word.ptr[i]);
    return wt__is_stopword((struct str){lower, word.len});
}

bool wt__is_question_word(struct str word)
{
    static const char *const words[] = {"are",  "did",  "do",    "does",  "has", "have",  "how", "is",
                                        "what", "when", "where", "which", "who", "whose", "why"};
    return wt__str_among(word, words, sizeof words / sizeof *words);
}

/* ---------------------------------------------------------------- verbs */

enum { VERB_MAX = 16 };

/* A handwritten list of verbs that people use in requests and that tool names begin or end with. Sorted for bsearch. */
static const struct verb_entry {
    const char *word;
    struct verb verb;
} entries[] = {
    {"abort", {ACTION_DELETE, false}},
    {"accept", {ACTION_UPDATE, false}},
    {"activate", {ACTION_UPDATE, false}},
    {"add", {ACTION_CREATE, false}},
    {"adjust", {ACTION_UPDATE, false}},
    {"append", {ACTION_CREATE, false}},
    {"apply", {ACTION_CREATE, false}},
    {"approve", {ACTION_UPDATE, false}},
    {"archive", {ACTION_UPDATE, false}},
    {"ask", {ACTION_READ, true}},
    {"assign", {ACTION_CREATE | ACTION_UPDATE, false}},
    {"attach", {ACTION_CREATE, false}},
    {"book", {ACTION_CREATE, true}},
    {"browse", {ACTION_READ, false}},
    {"build", {ACTION_CREATE, true}},
    {"buy", {ACTION_CREATE, true}},
    {"calculate", {ACTION_READ, false}},
    {"call", {ACTION_CREATE, true}},
    {"cancel", {ACTION_DELETE, false}},
    {"change", {ACTION_UPDATE, false}},
    {"charge", {ACTION_CREATE, true}},
    {"check", {ACTION_READ, true}},
    {"clear", {ACTION_DELETE, false}},
    {"click", {ACTION_CREATE, true}},
    {"clone", {ACTION_CREATE, false}},
    {"close", {ACTION_UPDATE | ACTION_DELETE, false}},
    {"comment", {ACTION_CREATE, true}},
    {"commit", {ACTION_CREATE, false}},
    {"compare", {ACTION_READ, false}},
    {"complete", {ACTION_UPDATE, false}},
    {"compose", {ACTION_CREATE, false}},
    {"compute", {ACTION_READ, false}},
    {"configure", {ACTION_UPDATE, false}},
    {"connect", {ACTION_UPDATE, false}},
    {"convert", {ACTION_READ | ACTION_CREATE, false}},
    {"copy", {ACTION_CREATE, true}},
    {"count", {ACTION_READ, true}},
    {"create", {ACTION_CREATE, false}},
    {"customize", {ACTION_UPDATE, false}},
    {"deactivate", {ACTION_UPDATE, false}},
    {"decline", {ACTION_DELETE, false}},
    {"decrease", {ACTION_UPDATE, true}},
    {"delete", {ACTION_DELETE, false}},
    {"describe", {ACTION_READ, false}},
    {"destroy", {ACTION_DELETE, false}},
    {"detach", {ACTION_DELETE, false}},
    {"detect", {ACTION_READ, false}},
    {"determine", {ACTION_READ, false}},
    {"dial", {ACTION_CREATE, true}},
    {"disable", {ACTION_UPDATE, false}},
    {"discard", {ACTION_DELETE, false}},
    {"disconnect", {ACTION_DELETE, false}},
    {"dismiss", {ACTION_DELETE, false}},
    {"display", {ACTION_READ, true}},
    {"download", {ACTION_READ, true}},
    {"draft", {ACTION_CREATE, true}},
    {"draw", {ACTION_CREATE, true}},
    {"drop", {ACTION_DELETE, true}},
    {"duplicate", {ACTION_CREATE, false}},
    {"edit", {ACTION_UPDATE, false}},
    {"email", {ACTION_CREATE, true}},
    {"enable", {ACTION_UPDATE, false}},
    {"end", {ACTION_DELETE, true}},
    {"erase", {ACTION_DELETE, false}},
    {"estimate", {ACTION_READ, true}},
    {"evaluate", {ACTION_READ, false}},
    {"examine", {ACTION_READ, false}},
    {"expire", {ACTION_DELETE, false}},
    {"explain", {ACTION_READ, false}},
    {"export", {ACTION_READ, true}},
    {"extend", {ACTION_UPDATE, false}},
    {"extract", {ACTION_READ, true}},
    {"fetch", {ACTION_READ, false}},
    {"fill", {ACTION_CREATE, false}},
    {"find", {ACTION_READ, true}},
    {"fix", {ACTION_UPDATE, true}},
    {"follow", {ACTION_CREATE, false}},
    {"forecast", {ACTION_READ, true}},
    {"forget", {ACTION_DELETE, false}},
    {"fork", {ACTION_CREATE, true}},
    {"format", {ACTION_UPDATE, true}},
    {"freeze", {ACTION_UPDATE, true}},
    {"generate", {ACTION_CREATE, false}},
    {"get", {ACTION_READ, false}},
    {"give", {ACTION_READ, false}},
    {"go", {ACTION_CREATE, false}},
    {"grant", {ACTION_UPDATE, false}},
    {"halt", {ACTION_DELETE, false}},
    {"hide", {ACTION_UPDATE, false}},
    {"identify", {ACTION_READ, false}},
    {"import", {ACTION_CREATE, true}},
    {"increase", {ACTION_UPDATE, true}},
    {"insert", {ACTION_CREATE, true}},
    {"inspect", {ACTION_READ, false}},
    {"install", {ACTION_CREATE, true}},
    {"invite", {ACTION_CREATE, true}},
    {"invoice", {ACTION_CREATE, true}},
    {"issue", {ACTION_CREATE, true}},
    {"kill", {ACTION_DELETE, false}},
    {"launch", {ACTION_CREATE, true}},
    {"leave", {ACTION_DELETE, true}},
    {"like", {ACTION_CREATE, true}},
    {"list", {ACTION_READ, true}},
    {"listen", {ACTION_READ, false}},
    {"lock", {ACTION_UPDATE, true}},
    {"look", {ACTION_READ, true}},
    {"lookup", {ACTION_READ, false}},
    {"mail", {ACTION_CREATE, true}},
    {"make", {ACTION_CREATE, false}},
    {"mark", {ACTION_UPDATE, true}},
    {"measure", {ACTION_READ, true}},
    {"merge", {ACTION_UPDATE, true}},
    {"message", {ACTION_CREATE, true}},
    {"modify", {ACTION_UPDATE, false}},
    {"monitor", {ACTION_READ, true}},
    {"move", {ACTION_UPDATE, false}},
    {"mute", {ACTION_UPDATE, false}},
    {"navigate", {ACTION_CREATE, false}},
    {"notify", {ACTION_CREATE, false}},
    {"open", {ACTION_READ | ACTION_UPDATE, false}},
    {"order", {ACTION_CREATE, true}},
    {"patch", {ACTION_UPDATE, true}},
    {"pause", {ACTION_UPDATE, true}},
    {"pay", {ACTION_CREATE, true}},
    {"pin", {ACTION_UPDATE, true}},
    {"plan", {ACTION_CREATE, true}},
    {"play", {ACTION_CREATE, true}},
    {"poll", {ACTION_READ, true}},
    {"post", {ACTION_CREATE, true}},
    {"predict", {ACTION_READ, false}},
    {"press", {ACTION_CREATE, true}},
    {"preview", {ACTION_READ, true}},
    {"print", {ACTION_READ, true}},
    {"publish", {ACTION_CREATE, false}},
    {"purge", {ACTION_DELETE, true}},
    {"put", {ACTION_CREATE, true}},
    {"query", {ACTION_READ, true}},
    {"queue", {ACTION_CREATE, true}},
    {"raise", {ACTION_UPDATE, true}},
    {"react", {ACTION_CREATE, false}},
    {"read", {ACTION_READ, true}},
    {"rearrange", {ACTION_UPDATE, false}},
    {"rebase", {ACTION_UPDATE, false}},
    {"recommend", {ACTION_READ, false}},
    {"record", {ACTION_CREATE, true}},
    {"reduce", {ACTION_UPDATE, false}},
    {"register", {ACTION_CREATE, false}},
    {"reject", {ACTION_DELETE, false}},
    {"remember", {ACTION_CREATE, false}},
    {"remind", {ACTION_CREATE, false}},
    {"remove", {ACTION_DELETE, false}},
    {"rename", {ACTION_UPDATE, false}},
    {"reopen", {ACTION_UPDATE, false}},
    {"reorder", {ACTION_UPDATE, false}},
    {"replace", {ACTION_UPDATE, false}},
    {"reply", {ACTION_CREATE, false}},
    {"report", {ACTION_READ, true}},
    {"reschedule", {ACTION_UPDATE, false}},
    {"reserve", {ACTION_CREATE, false}},
    {"reset", {ACTION_UPDATE | ACTION_DELETE, true}},
    {"resize", {ACTION_UPDATE, false}},
    {"restart", {ACTION_UPDATE, false}},
    {"restore", {ACTION_UPDATE, false}},
    {"resume", {ACTION_UPDATE, false}},
    {"retrieve", {ACTION_READ, false}},
    {"revert", {ACTION_DELETE, false}},
    {"review", {ACTION_READ, true}},
    {"revoke", {ACTION_DELETE, false}},
    {"rewind", {ACTION_UPDATE, false}},
    {"rotate", {ACTION_UPDATE, false}},
    {"run", {ACTION_CREATE, true}},
    {"save", {ACTION_CREATE, true}},
    {"scan", {ACTION_READ, true}},
    {"schedule", {ACTION_CREATE, true}},
    {"search", {ACTION_READ, true}},
    {"see", {ACTION_READ, true}},
    {"seek", {ACTION_UPDATE, false}},
    {"send", {ACTION_CREATE, false}},
    {"set", {ACTION_UPDATE, true}},
    {"share", {ACTION_CREATE, false}},
    {"shift", {ACTION_UPDATE, true}},
    {"show", {ACTION_READ, false}},
    {"shuffle", {ACTION_UPDATE, false}},
    {"sign", {ACTION_CREATE, true}},
    {"sing", {ACTION_CREATE, false}},
    {"skip", {ACTION_UPDATE, false}},
    {"snooze", {ACTION_UPDATE, false}},
    {"solve", {ACTION_READ, true}},
    {"sort", {ACTION_UPDATE, true}},
    {"stage", {ACTION_CREATE, true}},
    {"star", {ACTION_CREATE, true}},
    {"start", {ACTION_CREATE, true}},
    {"stop", {ACTION_DELETE, true}},
    {"store", {ACTION_CREATE, true}},
    {"submit", {ACTION_CREATE, false}},
    {"subscribe", {ACTION_CREATE, false}},
    {"suggest", {ACTION_READ, false}},
    {"summarize", {ACTION_READ, false}},
    {"switch", {ACTION_UPDATE, true}},
    {"sync", {ACTION_UPDATE, true}},
    {"tag", {ACTION_CREATE, true}},
    {"take", {ACTION_CREATE, false}},
    {"tell", {ACTION_READ, false}},
    {"terminate", {ACTION_DELETE, false}},
    {"text", {ACTION_CREATE, true}},
    {"throw", {ACTION_DELETE, false}},
    {"toggle", {ACTION_UPDATE, false}},
    {"track", {ACTION_READ, true}},
    {"transcribe", {ACTION_CREATE, false}},
    {"transfer", {ACTION_UPDATE, true}},
    {"transition", {ACTION_UPDATE, false}},
    {"translate", {ACTION_READ, false}},
    {"trigger", {ACTION_CREATE, true}},
    {"trim", {ACTION_UPDATE, true}},
    {"turn", {ACTION_UPDATE, true}},
    {"type", {ACTION_CREATE, true}},
    {"undo", {ACTION_DELETE, false}},
    {"uninstall", {ACTION_DELETE, false}},
    {"update", {ACTION_UPDATE, true}},
    {"upgrade", {ACTION_UPDATE, true}},
    {"upload", {ACTION_CREATE, true}},
    {"use", {ACTION_UPDATE, true}},
    {"validate", {ACTION_READ, false}},
    {"verify", {ACTION_READ, false}},
    {"view", {ACTION_READ, true}},
    {"vote", {ACTION_CREATE, true}},
    {"watch", {ACTION_READ, true}},
    {"wipe", {ACTION_DELETE, true}},
    {"withdraw", {ACTION_DELETE, false}},
    {"write", {ACTION_CREATE, false}},
};

static int compare_verbs(const void *word, const void *entry)
{
    return strcmp(word, ((const struct verb_entry *)entry)->word);
}

static struct verb find_verb(const char *word)
{
    const struct verb_entry *found =
        bsearch(word, entries, sizeof entries / sizeof *entries, sizeof *entries, compare_verbs);
    return found ? found->verb : (struct verb){0};
}

struct verb wt__verb(struct str word)
{
    char lower[VERB_MAX + 1];
    if (word.len > VERB_MAX)
        return (struct verb){0};
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)(word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? word.ptr[i] | 0x20 : word.ptr[i]);
    lower[word.len] = '\0';
    struct verb verb = find_verb(lower);
    if (verb.actions == 0 && strncmp(lower, "un", 2) == 0 && find_verb(lower + 2).actions)
        verb = (struct verb){ACTION_UPDATE | ACTION_DELETE, false};
    return verb;
}
