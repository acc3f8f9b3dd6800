#include "cli/help.h"

#include "cli/text.h"

enum { READABLE = 80, GAP = 2, DEEPEST_LABEL = 24 };

/* Returns the line width of help: that of the terminal, but at most READABLE. */
static size_t help_width(const struct cli *cli)
{
    return cli->width && cli->width < READABLE ? cli->width : READABLE;
}

static void print_heading(const struct cli *cli, struct buffer *out, const char *text)
{
    wt__buffer_char(out, '\n');
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_text(out, text);
    wt__style_end(out, cli->color_out);
    wt__buffer_char(out, '\n');
}

/* Prints a label and its meaning in two columns, or on two lines if the terminal is narrow or the label long. */
static void print_entry(const struct cli *cli, struct buffer *out, const char *label, const char *means, size_t column)
{
    size_t taken = GAP + strlen(label), width = help_width(cli);
    if (column > width / 2)
        column = 2 * GAP;
    wt__text_pad(out, GAP);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_text(out, label);
    wt__style_end(out, cli->color_out);
    if (taken + GAP > column) {
        wt__buffer_char(out, '\n');
        taken = 0;
    }
    wt__text_pad(out, column - taken);
    wt__text_wrap(out, wt__str(means), column, width);
    wt__buffer_char(out, '\n');
}

/* Appends "-k, --k N". */
static void put_option_label(struct buffer *label, const struct cli_option *option)
{
    if (option->letter)
        wt__buffer_printf(label, "-%c, ", option->letter);
    wt__buffer_printf(label, "--%s", option->name);
    if (option->kind != VALUE_NONE)
        wt__buffer_printf(label, " %s", option->value);
}

static void print_option_list(const struct cli *cli, struct buffer *out, const struct cli_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buffer label = {0}, means = {0};
        put_option_label(&label, &options[i]);
        wt__buffer_text(&means, options[i].help);
        if (options[i].kind == VALUE_CHOICE)
            wt__buffer_printf(&means, " One of: %s.", options[i].choices);
        print_entry(cli, out, label.ptr ? label.ptr : "", means.ptr ? means.ptr : "", DEEPEST_LABEL + 2 * GAP);
        out->failed |= label.failed | means.failed;
        wt__buffer_dispose(&label);
        wt__buffer_dispose(&means);
    }
}

static void print_meanings(const struct cli *cli, struct buffer *out, const char *title, const struct cli_meaning *list,
                           size_t count, size_t column)
{
    print_heading(cli, out, title);
    for (size_t i = 0; i < count; i++)
        print_entry(cli, out, list[i].word, list[i].means, column);
}

void wt__help_command(const struct cli *cli, struct buffer *out)
{
    struct buffer purpose = {0};
    wt__buffer_printf(&purpose, "whichtool: %s.\n\nUsage: whichtool [OPTION...] VERB [ARGUMENT...]", wt__purpose);
    wt__text_wrap(out, wt__buffer_view(&purpose), 0, help_width(cli));
    wt__buffer_char(out, '\n');
    wt__buffer_dispose(&purpose);
    print_heading(cli, out, "Verbs");
    for (size_t i = 0; i < wt__verb_count; i++)
        print_entry(cli, out, wt__verbs[i].name, wt__verbs[i].summary, 12);
    print_heading(cli, out, "Options of every verb");
    print_option_list(cli, out, wt__global_options, wt__global_option_count);
    print_meanings(cli, out, "Exit status", wt__exit_codes, wt__exit_code_count, 8);
    print_meanings(cli, out, "Environment", wt__environment, wt__environment_count, DEEPEST_LABEL);
    wt__buffer_text(out, "\nSee `whichtool help VERB` for details.\n");
}

void wt__help_verb(const struct cli *cli, struct buffer *out, const struct cli_verb *verb)
{
    size_t width = help_width(cli);
    struct buffer usage = {0};
    wt__buffer_printf(&usage, "whichtool %s: %s.\n\nUsage: whichtool %s%s%s [OPTION...]", verb->name, verb->summary,
                      verb->name, *verb->arguments ? " " : "", verb->arguments);
    wt__text_wrap(out, wt__buffer_view(&usage), 0, width);
    wt__buffer_text(out, "\n\n");
    wt__text_wrap(out, wt__str(verb->text), 0, width);
    wt__buffer_char(out, '\n');
    wt__buffer_dispose(&usage);
    if (verb->option_count) {
        print_heading(cli, out, "Options");
        print_option_list(cli, out, verb->options, verb->option_count);
    }
    print_heading(cli, out, "Options of every verb");
    print_option_list(cli, out, wt__global_options, wt__global_option_count);
    if (verb->example_count)
        print_heading(cli, out, "Examples");
    for (size_t i = 0; i < verb->example_count; i++) {
        wt__text_pad(out, GAP);
        wt__buffer_text(out, verb->examples[i].command);
        wt__buffer_char(out, '\n');
        wt__text_pad(out, 3 * GAP);
        wt__text_wrap(out, wt__str(verb->examples[i].says), 3 * GAP, width);
        wt__buffer_char(out, '\n');
    }
}

void wt__help_recipes(const struct cli *cli, struct buffer *out)
{
    const wt_recipe *recipe = NULL;
    int column = 0; /* begin of the summaries */
    for (size_t i = 0; (recipe = wt__recipe_listed(i)); i++)
        column = (int)strlen(recipe->name) + 1 > column ? (int)strlen(recipe->name) + 1 : column;
    for (size_t i = 0; (recipe = wt__recipe_listed(i)); i++) {
        size_t width = cli->width ? help_width(cli) : 0;
        wt__buffer_printf(out, "%-*s", column, recipe->name);
        struct buffer text = {0};
        wt__buffer_printf(&text, "%s%s", recipe->summary,
                          recipe->needs_training ? " (needs training)"
                          : recipe->needs_model  ? " (needs a model)"
                                                 : "");
        wt__text_wrap(out, wt__buffer_view(&text), (size_t)column, width);
        wt__buffer_char(out, '\n');
        wt__buffer_dispose(&text);
    }
}
