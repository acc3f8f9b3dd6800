/* Tests suggestions for unknown words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

static const char *const names[] = {"find", "list", "usage", "a",
                                    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"};

static const char *name_at(const void *context, size_t index)
{
    (void)context;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static const struct {
    const char *name, *word, *near; /* near: expected name; NULL if no name is close enough */
} nearest[] = {
    {"the word itself", "find", "find"},
    {"a letter too many", "finnd", "find"},
    {"a letter too few", "fnd", "find"},
    {"another letter", "fint", "find"},
    {"neighbours swapped", "fidn", "find"},
    {"two edits", "usgae", "usage"},
    {"too far", "finish", NULL},
    {"half of the letters changed", "li", "list"},
    {"an empty word", "", NULL},
    {"longer than any word", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
};

static void closest_name_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nearest / sizeof *nearest; i++) {
        const char *near = wt__closest_word(nearest[i].word, name_at, NULL);
        if (!near != !nearest[i].near || (near && strcmp(near, nearest[i].near) != 0))
            fail_msg("%s: %s", nearest[i].name, near ? near : "none");
    }
}

static void hint_for_verb(const char *word, char out[256])
{
    struct buffer hint = {0};
    wt__suggest_verb(&hint, word);
    snprintf(out, 256, "%s", hint.ptr ? hint.ptr : "");
    wt__buffer_dispose(&hint);
}

static const struct {
    const char *word, *hint; /* hint: "" if no hint is expected */
} hints[] = {
    {"search", "; did you mean `find`?"},
    {"FIND", "; did you mean `find`?"},
    {"serach", "; did you mean `find`?"},
    {"query", "; did you mean `find`?"},
    {"import", "; did you mean `add`?"},
    {"update", "; did you mean `add --sync`?"},
    {"delete", "; did you mean `remove`?"},
    {"delte", "; did you mean `remove`?"},
    {"info", "; did you mean `status`?"},
    {"stats", "; did you mean `status`?"},
    {"embed", "; did you mean `vectors`?"},
    {"pull", "; did you mean `model pull`?"},
    {"recipes", "; did you mean `help --recipes`?"},
    {"server", "; did you mean `serve`?"},
    {"run", "; whichtool finds tools, but does not call them; "},
    {"init", "; the first `whichtool add FILE` creates the store"},
    {"reindex", "; the index is built automatically; `whichtool vectors` computes missing vectors"},
    {"install", "; `whichtool add FILE` imports tools, "},
    {"export", "; `whichtool find --format openai REQUEST` and "},
    {"book a table for two", "; write a request after a verb: `whichtool find REQUEST`"},
    {"tools.json", "; write a file after a verb: `whichtool add FILE`"},
    {"../mcp/github", "; write a file after a verb: `whichtool add FILE`"},
    {"zzzzzzzz", ""},
    {"", ""},
};

static void unknown_verb_gets_a_hint(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        char hint[256];
        hint_for_verb(hints[i].word, hint);
        if (strncmp(hint, hints[i].hint, strlen(hints[i].hint)) != 0 || (!*hints[i].hint && *hint))
            fail_msg("%s: \"%s\"", hints[i].word, hint);
    }
}

/* Tries each verb with one letter omitted, doubled, or swapped with the next. */
static void every_typo_of_a_verb_is_corrected(void **state)
{
    (void)state;
    for (size_t v = 0; v < wt__verb_count; v++) {
        const char *verb = wt__verbs[v]->name;
        for (size_t at = 0; at < 3 * strlen(verb); at++) {
            char typo[64] = "", hint[256], want[256];
            size_t i = at / 3, len = strlen(verb);
            snprintf(typo, sizeof typo, "%s", verb);
            if (at % 3 == 0)
                memmove(typo + i, typo + i + 1, len - i);
            else if (at % 3 == 1)
                memmove(typo + i + 1, typo + i, len - i + 1);
            else if (i + 1 < len)
                typo[i] = verb[i + 1], typo[i + 1] = verb[i];
            hint_for_verb(typo, hint);
            snprintf(want, sizeof want, "; did you mean `%s`?", verb);
            if (!wt__verb_find(typo) && strcmp(hint, want) != 0)
                fail_msg("%s for %s: \"%s\"", typo, verb, hint);
        }
    }
}

/* verb: verb before the option, or NULL. theirs: name of the option in other programs. ours: expected suggestion, or
 * NULL. */
static const struct {
    const char *verb, *theirs, *ours;
} options[] = {
    {"find", "top-k", "k"},         {"find", "limit", "k"},       {"list", "count", "limit"},
    {"find", "verbose", "explain"}, {"find", "method", "recipe"}, {"add", "server", "provider"},
    {"remove", "force", "yes"},     {"list", "db", "store"},      {NULL, "database", "store"},
    {NULL, "top-k", NULL},          {"list", "force", NULL},      {"find", "zzz", NULL},
};

static void foreign_option_is_translated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *ours =
            wt__suggest_option(options[i].verb ? wt__verb_find(options[i].verb) : NULL, options[i].theirs);
        if (!ours != !options[i].ours || (ours && strcmp(ours, options[i].ours) != 0))
            fail_msg("%s --%s: %s", options[i].verb, options[i].theirs, ours ? ours : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_name_is_found),
        cmocka_unit_test(unknown_verb_gets_a_hint),
        cmocka_unit_test(every_typo_of_a_verb_is_corrected),
        cmocka_unit_test(foreign_option_is_translated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
