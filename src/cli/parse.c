/* parse.c: parses the command line: long options (--k=5 or --k 5), clusters of letters (-qk5) and words, in any order.
 * A verb's own options must come after the verb. Error messages about unknown verbs and options include a suggestion
 * (suggest.c). */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"

enum { OPTION_SHOWN = 80 /* maximum bytes of an unknown option in a message */ };

struct argument_parser {
    struct arguments *out;
    int argc, at;
    char **argv;
    struct buffer *why;
};

const struct cli_verb *wt__verb_find(const char *name)
{
    for (size_t i = 0; i < wt__verb_count; i++)
        if (strcmp(wt__verbs[i]->name, name) == 0)
            return wt__verbs[i];
    return NULL;
}

bool wt__is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = choices; len > 0 && *at;) {
        size_t step = strcspn(at, " ");
        if (step == len && memcmp(at, word, len) == 0)
            return true;
        at += step + (at[step] == ' ');
    }
    return false;
}

void wt__put_lesson_names(struct buffer *out)
{
    const wt_lesson *lesson;
    for (size_t i = 0; (lesson = wt_lesson_at(i)); i++)
        wt__buffer_printf(out, "%s ", lesson->name);
    wt__buffer_text(out, "all");
}

const struct cli_option *wt__option_at(const struct cli_verb *verb, size_t index)
{
    size_t own = verb ? verb->option_count : 0;
    if (index < own)
        return &verb->options[index];
    return index - own < wt__global_option_count ? &wt__global_options[index - own] : NULL;
}

static const char *option_name_at(const void *context, size_t index)
{
    const struct cli_option *option = wt__option_at(context, index);
    return option ? option->name : NULL;
}

const struct cli_option *wt__option_named(const struct cli_verb *verb, const char *name, size_t len)
{
    const struct cli_option *option = NULL;
    for (size_t i = 0; (option = wt__option_at(verb, i)); i++)
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    return NULL;
}

const struct cli_option *wt__option_lettered(const struct cli_verb *verb, char letter)
{
    const struct cli_option *option = NULL;
    for (size_t i = 0; (option = wt__option_at(verb, i)); i++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static int refuse_option_number(struct argument_parser *p, const struct cli_option *option, const char *value)
{
    wt__buffer_printf(p->why, "--%s takes a number from %d to %llu, not \"%s\"", option->name, option->or_zero ? 0 : 1,
                      (unsigned long long)option->max, value);
    return -1;
}

static int read_option_number(struct argument_parser *p, const struct cli_option *option, const char *value)
{
    uint64_t number = 0;
    for (const char *c = value; *c; c++) {
        if (*c < '0' || *c > '9' || number > option->max)
            return refuse_option_number(p, option, value);
        number = number * 10 + (uint64_t)(*c - '0');
    }
    if (!*value || number < (option->or_zero ? 0u : 1u) || number > option->max)
        return refuse_option_number(p, option, value);
    p->out->number[option->id] = number;
    return 0;
}

/* Appends a line to the text of a repeatable option. */
static int add_option_line(struct argument_parser *p, const struct cli_option *option, const char *value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0};
    wt__buffer_printf(&lines, "%s\n%s", p->out->text[option->id], value);
    const char *text = lines.failed ? NULL : wt__arena_copy(&p->out->arena, wt__buffer_view(&lines));
    if (!text)
        wt__buffer_text(p->why, "out of memory");
    p->out->text[option->id] = text;
    return text ? 0 : -1;
}

/* Returns a copy with line ends replaced by blanks; NULL if out of memory. */
static const char *join_lines(struct argument_parser *p, const char *value)
{
    char *copy = wt__arena_copy(&p->out->arena, wt__str(value));
    for (char *at = copy; at && *at; at++)
        if (*at == '\n')
            *at = ' ';
    return copy;
}

static int set_option_value(struct argument_parser *p, const struct cli_option *option, const char *value)
{
    if (option->one_line && !(value = join_lines(p, value))) {
        wt__buffer_text(p->why, "out of memory");
        return -1;
    }
    bool again = p->out->given[option->id];
    p->out->given[option->id] = true;
    if (option->repeats && again)
        return add_option_line(p, option, value);
    p->out->text[option->id] = value;
    if (option->kind == VALUE_NUMBER)
        return read_option_number(p, option, value);
    if (option->kind == VALUE_CHOICE && !wt__is_choice(option->choices, value)) {
        wt__buffer_printf(p->why, "--%s is one of: %s; not \"%s\"", option->name, option->choices, value);
        return -1;
    }
    return 0;
}

/* Takes the next word of argv as the value. */
static int read_next_value(struct argument_parser *p, const struct cli_option *option)
{
    if (p->at + 1 >= p->argc) {
        wt__buffer_printf(p->why, "--%s needs a value: --%s %s", option->name, option->name, option->value);
        return -1;
    }
    return set_option_value(p, option, p->argv[++p->at]);
}

/* Returns the first verb with the option, or NULL. */
static const struct cli_verb *find_option_owner(const char *name, size_t len)
{
    for (size_t v = 0; v < wt__verb_count; v++)
        for (size_t i = 0; i < wt__verbs[v]->option_count; i++)
            if (strlen(wt__verbs[v]->options[i].name) == len && memcmp(wt__verbs[v]->options[i].name, name, len) == 0)
                return wt__verbs[v];
    return NULL;
}

static int refuse_unknown_option(struct argument_parser *p, const char *name, size_t len)
{
    const struct cli_verb *verb = p->out->verb, *owner = find_option_owner(name, len);
    char word[OPTION_SHOWN + 1] = "";
    memcpy(word, name, len < OPTION_SHOWN ? len : OPTION_SHOWN);
    const char *near = wt__suggest_option(verb, word);
    if (!near)
        near = wt__closest_word(word, option_name_at, verb);
    wt__buffer_printf(p->why, "unknown option --%s", word);
    if (near)
        wt__buffer_printf(p->why, "; did you mean --%s?", near);
    else if (owner && !verb)
        wt__buffer_text(p->why, "; options of a verb come after the verb");
    else if (owner)
        wt__buffer_printf(p->why, "; it belongs to `%s`", owner->name);
    else if (!verb && wt__verb_find(word))
        wt__buffer_printf(p->why, "; write verbs without dashes: `whichtool %s`", word);
    return -1;
}

static int parse_long_option(struct argument_parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct cli_option *option = wt__option_named(p->out->verb, word, len);
    if (!option)
        return refuse_unknown_option(p, word, len);
    if (option->kind != VALUE_NONE)
        return equals ? set_option_value(p, option, equals + 1) : read_next_value(p, option);
    if (equals) {
        wt__buffer_printf(p->why, "--%s takes no value", option->name);
        return -1;
    }
    p->out->given[option->id] = true;
    return 0;
}

/* Reads a cluster of letters such as "qk5", or "k" with the value in the next word. Only the last letter may take a
 * value. */
static int parse_letters(struct argument_parser *p, const char *letters)
{
    for (const char *c = letters; *c; c++) {
        const struct cli_option *option = wt__option_lettered(p->out->verb, *c);
        if (!option) {
            wt__buffer_printf(p->why, "unknown option -%c; write -- before words that begin with a dash", *c);
            return -1;
        }
        if (option->kind != VALUE_NONE)
            return c[1] ? set_option_value(p, option, c + 1 + (c[1] == '=')) : read_next_value(p, option);
        p->out->given[option->id] = true;
    }
    return 0;
}

static int parse_word(struct argument_parser *p, const char *word)
{
    if (p->out->verb) {
        p->out->words[p->out->word_count++] = word;
        return 0;
    }
    p->out->verb = wt__verb_find(word);
    if (p->out->verb)
        return 0;
    wt__buffer_printf(p->why, "unknown verb \"%s\"", word);
    wt__suggest_verb(p->why, word);
    return -1;
}

static int check_first_word(struct argument_parser *p, const char *word)
{
    const struct cli_verb *verb = p->out->verb;
    WT_CLEANUP(wt__buffer_dispose) struct buffer lessons = {0};
    if (verb->kind == VALUE_LESSON)
        wt__put_lesson_names(&lessons);
    const char *choices = lessons.ptr ? lessons.ptr : verb->choices;
    bool wrong = choices && !wt__is_choice(choices, word);
    if (wrong)
        wt__buffer_printf(p->why, "`%s` is followed by one of: %s; not \"%s\"", verb->name, choices, word);
    return wrong ? -1 : 0;
}

static int check_verb_words(struct argument_parser *p)
{
    static const char *const messages = "messages"; /* this option replaces the words */
    const struct cli_verb *verb = p->out->verb;
    size_t count = p->out->word_count;
    if (!verb || p->out->given[OPT_HELP] || p->out->given[OPT_VERSION])
        return 0;
    bool talks = wt__option_named(verb, messages, strlen(messages)) != NULL;
    if (count < verb->min_words && !(talks && p->out->given[OPT_MESSAGES]) && !p->out->given[OPT_PREPARE])
        wt__buffer_printf(p->why, "`%s` needs %s%s", verb->name, verb->arguments,
                          talks ? ", or a conversation: --messages FILE" : "");
    else if (count > verb->max_words && verb->max_words == 0)
        wt__buffer_printf(p->why, "`%s` takes no arguments, but \"%s\" was given", verb->name, p->out->words[0]);
    else if (count > verb->max_words)
        wt__buffer_printf(p->why, "`%s` takes %s, but \"%s\" follows", verb->name, verb->arguments,
                          p->out->words[verb->max_words]);
    else
        return count > 0 ? check_first_word(p, p->out->words[0]) : 0;
    return -1;
}

int wt__arguments_parse(struct arguments *out, int argc, char **argv, struct buffer *why)
{
    *out = (struct arguments){.words = wt__alloc_array((size_t)argc + 1, sizeof *out->words)};
    struct argument_parser p = {.out = out, .argc = argc, .at = 1, .argv = argv, .why = why};
    if (!out->words) {
        wt__buffer_text(why, "out of memory");
        return -1;
    }
    bool words_only = false;
    int rc = 0;
    for (; rc == 0 && p.at < argc; p.at++) {
        const char *word = argv[p.at];
        if (words_only || word[0] != '-' || word[1] == '\0')
            rc = parse_word(&p, word);
        else if (strcmp(word, "--") == 0)
            words_only = true;
        else if (word[1] == '-')
            rc = parse_long_option(&p, word + 2);
        else
            rc = parse_letters(&p, word + 1);
    }
    return rc < 0 ? rc : check_verb_words(&p);
}

void wt__arguments_dispose(struct arguments *arguments)
{
    free(arguments->words);
    wt__arena_dispose(&arguments->arena);
    *arguments = (struct arguments){0};
}
