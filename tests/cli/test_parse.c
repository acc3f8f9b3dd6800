/* Tests the parser with a table of accepted command lines, and one of errors with their messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <stdio.h>

#include "cli/options.h"

enum { ARGUMENTS_MAX = 12, TEXT_MAX = 512 };

/* Parses a line of arguments separated by "|". An empty line has no arguments. "a||b" has an empty argument in the
 * middle. The arguments point into `storage`. `why` receives the error message, "" on success. */
static int parse_command_line(struct arguments *out, const char *line, char storage[TEXT_MAX], char *why,
                              size_t why_size)
{
    char *argv[ARGUMENTS_MAX] = {(char *)"whichtool"};
    int argc = 1;
    struct buffer reason = {0};
    assert_true(strlen(line) < TEXT_MAX);
    strncpy(storage, line, TEXT_MAX);
    for (char *at = storage; *line && at; argc++) {
        argv[argc] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = '\0';
    }
    int rc = wt__arguments_parse(out, argc, argv, &reason);
    snprintf(why, why_size, "%s", reason.ptr ? reason.ptr : "");
    wt__buffer_dispose(&reason);
    return rc;
}

#define NO_OPTION OPT_COUNT

static const struct {
    const char *name, *line;
    const char *verb;      /* NULL if absent */
    const char *words;     /* separated by "|" */
    enum option_id option; /* the only option of the line; NO_OPTION if it has no option */
    const char *text;      /* value of the option; NULL if absent */
    uint64_t number;
} accepted[] = {
    {"no arguments", "", NULL, "", NO_OPTION, NULL, 0},
    {"a verb", "list", "list", "", NO_OPTION, NULL, 0},
    {"words", "find|book|a table", "find", "book|a table", NO_OPTION, NULL, 0},
    {"an empty word", "find||x", "find", "|x", NO_OPTION, NULL, 0},
    {"a verb's name as a word", "find|find", "find", "find", NO_OPTION, NULL, 0},
    {"a dash alone is a word", "add|-", "add", "-", NO_OPTION, NULL, 0},
    {"a value in the next argument", "find|x|--recipe|bm25", "find", "x", OPT_RECIPE, "bm25", 0},
    {"a value after =", "find|x|--recipe=bm25", "find", "x", OPT_RECIPE, "bm25", 0},
    {"an option before the words", "find|--recipe|bm25|x", "find", "x", OPT_RECIPE, "bm25", 0},
    {"an empty value", "find|x|--recipe=", "find", "x", OPT_RECIPE, "", 0},
    {"an empty value in the next argument", "find|x|--recipe|", "find", "x", OPT_RECIPE, "", 0},
    {"a value with =", "find|x|--recipe=a=b", "find", "x", OPT_RECIPE, "a=b", 0},
    {"a value that looks like an option", "find|x|--recipe|--json", "find", "x", OPT_RECIPE, "--json", 0},
    {"-- as a value", "find|x|--recipe|--", "find", "x", OPT_RECIPE, "--", 0},
    {"the last value counts", "find|x|--recipe|a|--recipe|b", "find", "x", OPT_RECIPE, "b", 0},
    {"a global option before the verb", "--json|list", "list", "", OPT_JSON, NULL, 0},
    {"a global option after the verb", "list|--json", "list", "", OPT_JSON, NULL, 0},
    {"an option without a value, given twice", "list|--json|--json", "list", "", OPT_JSON, NULL, 0},
    {"a number", "find|x|-k|7", "find", "x", OPT_K, "7", 7},
    {"a number after its letter", "find|x|-k7", "find", "x", OPT_K, "7", 7},
    {"a number after letter and =", "find|x|-k=7", "find", "x", OPT_K, "7", 7},
    {"leading zeros", "find|x|-k|007", "find", "x", OPT_K, "007", 7},
    {"a letter", "list|-q", "list", "", OPT_QUIET, NULL, 0},
    {"a letter with its value", "-sfile|list", "list", "", OPT_STORE, "file", 0},
    {"words after --", "find|--|--json|-k", "find", "--json|-k", NO_OPTION, NULL, 0},
    {"-- after --", "find|--|--", "find", "--", NO_OPTION, NULL, 0},
    {"a verb after --", "--|find|x", "find", "x", NO_OPTION, NULL, 0},
    {"help needs no words", "find|--help", "find", "", OPT_HELP, NULL, 0},
    {"a choice", "find|x|--format|openai", "find", "x", OPT_FORMAT, "openai", 0},
    {"a conversation needs no words", "find|--messages|chat.json", "find", "", OPT_MESSAGES, "chat.json", 0},
    {"a conversation from standard input", "pick|--messages|-", "pick", "", OPT_MESSAGES, "-", 0},
    {"a conversation and words", "find|--messages|-|close it", "find", "close it", OPT_MESSAGES, "-", 0},
    {"line ends in JSON become blanks", "usage|add|--arguments|{\n\"a\": 1\n}|--arguments|", "usage", "add",
     OPT_ARGUMENTS, "{ \"a\": 1 }\n", 0},
    {"repeated tools", "find|x|--have|a|--have|b", "find", "x", OPT_HAVE, "a\nb", 0},
    {"a list of values", "pick|x|--ablate|dsa,hqc", "pick", "x", OPT_ABLATE, "dsa,hqc", 0},
};

static void accepted_lines_are_parsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct arguments arguments;
        struct buffer words = {0};
        char storage[TEXT_MAX], why[TEXT_MAX];
        if (parse_command_line(&arguments, accepted[i].line, storage, why, sizeof why) < 0)
            fail_msg("%s: %s", accepted[i].name, why);
        for (size_t w = 0; w < arguments.word_count; w++)
            wt__buffer_printf(&words, "%s%s", w ? "|" : "", arguments.words[w]);
        const char *verb = arguments.verb ? arguments.verb->name : "", *wanted = accepted[i].verb;
        if (strcmp(verb, wanted ? wanted : "") != 0 || strcmp(words.ptr ? words.ptr : "", accepted[i].words) != 0)
            fail_msg("%s: verb \"%s\", words \"%s\"", accepted[i].name, verb, words.ptr);
        for (int id = 0; id < OPT_COUNT; id++)
            if (arguments.given[id] != (id == (int)accepted[i].option))
                fail_msg("%s: option %d is %s", accepted[i].name, id, arguments.given[id] ? "given" : "missing");
        if (accepted[i].option != NO_OPTION) {
            const char *text = arguments.text[accepted[i].option], *value = accepted[i].text;
            if (!text != !value || (text && strcmp(text, value) != 0) ||
                arguments.number[accepted[i].option] != accepted[i].number)
                fail_msg("%s: the value is \"%s\"", accepted[i].name, text ? text : "(none)");
        }
        wt__buffer_dispose(&words);
        wt__arguments_dispose(&arguments);
    }
}

static const struct {
    const char *name, *line, *says;
} refused[] = {
    {"an unknown verb", "frobnicate", "unknown verb \"frobnicate\""},
    {"a misspelled verb", "fnid|x", "unknown verb \"fnid\"; did you mean `find`?"},
    {"a verb with a letter too many", "lisst", "did you mean `list`?"},
    {"another program's word for find", "search|x", "unknown verb \"search\"; did you mean `find`?"},
    {"another program's word for add", "import|x", "unknown verb \"import\"; did you mean `add`?"},
    {"another program's word for remove", "delete|x", "unknown verb \"delete\"; did you mean `remove`?"},
    {"an empty verb", "|x", "unknown verb \"\""},
    {"a missing word", "find", "`find` needs REQUEST..., or a conversation: --messages FILE"},
    {"--messages without a file", "find|--messages", "--messages needs a value: --messages FILE"},
    {"--messages for a verb without it", "list|--messages|x", "unknown option --messages; it belongs to `find`"},
    {"a word for a verb without words", "check|x", "`check` takes no arguments, but \"x\" was given"},
    {"a word too many", "show|a|b", "`show` takes NAME, but \"b\" follows"},
    {"an unknown first word", "usage|eat",
     "`usage` is followed by one of: add list export forget import-segments; not \"eat\""},
    {"an unknown option", "find|x|--frobnicate", "unknown option --frobnicate"},
    {"a misspelled option", "find|x|--recpie|bm25", "unknown option --recpie; did you mean --recipe?"},
    {"a misspelled option with a value", "find|x|--recpie=bm25", "unknown option --recpie; did you mean --recipe?"},
    {"another verb's option", "list|--explain", "unknown option --explain; it belongs to `find`"},
    {"an option before its verb", "--explain|find|x",
     "unknown option --explain; options of a verb come after the verb"},
    {"an option without a name", "find|x|--=1", "unknown option --"},
    {"an option of 200 letters",
     "find|x|--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "unknown option --aaaa"},
    {"an unknown letter", "find|x|-Z", "unknown option -Z; write -- before words that begin with a dash"},
    {"an unknown letter after others", "list|-qZ", "unknown option -Z"},
    {"a missing value", "find|x|--recipe", "--recipe needs a value: --recipe NAME"},
    {"a missing value of a letter", "find|x|-k", "--k needs a value: --k N"},
    {"a value for an option without one", "list|--json=1", "--json takes no value"},
    {"not a number", "find|x|-k|many", "takes a number from 1 to "},
    {"an empty number", "find|x|-k|", "takes a number from 1 to "},
    {"zero", "find|x|-k|0", ", not \"0\""},
    {"a negative number", "find|x|-k|-1", ", not \"-1\""},
    {"a number with trailing text", "find|x|-k|5x", ", not \"5x\""},
    {"a fraction", "find|x|-k|5.0", ", not \"5.0\""},
    {"a number with a blank", "find|x|-k| 5", ", not \" 5\""},
    {"a number beyond 64 bits", "find|x|-k|99999999999999999999999999", "takes a number from 1 to "},
    {"an unknown choice", "find|x|--format|xml", "--format is one of: "},
    {"part of a choice", "find|x|--format|open", "not \"open\""},
    {"two choices in one", "find|x|--format|openai mcp", "not \"openai mcp\""},
    {"an empty choice", "find|x|--format=", "not \"\""},
};

static void errors_name_the_problem(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct arguments arguments;
        char storage[TEXT_MAX], why[TEXT_MAX];
        int rc = parse_command_line(&arguments, refused[i].line, storage, why, sizeof why);
        if (rc != -1 || !strstr(why, refused[i].says))
            fail_msg("%s: %d, \"%s\"", refused[i].name, rc, why);
        wt__arguments_dispose(&arguments);
    }
}

/* A repeatable option keeps each value as a line. */
static void repeatable_option_keeps_all_values(void **state)
{
    (void)state;
    struct arguments arguments;
    char storage[TEXT_MAX], why[TEXT_MAX];
    assert_int_equal(
        parse_command_line(&arguments, "train|encoder|--data|a|--data=b|--data|", storage, why, sizeof why), 0);
    assert_string_equal(arguments.text[OPT_DATA], "a\nb\n");
    wt__arguments_dispose(&arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_lines_are_parsed),
        cmocka_unit_test(errors_name_the_problem),
        cmocka_unit_test(repeatable_option_keeps_all_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
