/* cli.c: messages, output, options, the store and recipes, for all verbs. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "serve/log.h"
#include "store/location.h"
#include "text/shown.h"

/* ---------------------------------------------------------------- messages */

/* Returns the exit code for a WT_E... code. */
static int exit_code_of(int code)
{
    switch (code) {
    case WT_EINVAL:
        return END_USAGE;
    case WT_EFORMAT:
    case WT_ETOOLONG:
        return END_INPUT;
    case WT_ENOTFOUND:
        return END_NOTHING;
    case WT_EEMPTY:
    case WT_ESTORE:
    case WT_ENEWER:
    case WT_EREADONLY:
    case WT_EBUSY:
        return END_STORE;
    case WT_EMODEL:
    case WT_ERECIPE:
        return END_MODEL;
    case WT_ENETWORK:
        return END_NETWORK;
    case WT_ETIMEOUT:
        return END_TIMEOUT;
    case WT_ECANCELLED:
        return END_INTERRUPTED;
    default:
        return code < 0 ? END_SYSTEM : END_DONE;
    }
}

/* Prints one line on stderr: `lead`, then the escaped message. */
static void print_message(const struct cli *cli, const char *lead, const char *format, va_list arguments)
{
    char message[2048];
    vsnprintf(message, sizeof message, format, arguments);
    if (cli->log) {
        wt__log_message(cli->log, *lead ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "%s", message);
        return;
    }
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__style_begin(&line, cli->color_err && *lead, STYLE_BOLD);
    wt__buffer_text(&line, lead);
    wt__style_end(&line, cli->color_err && *lead);
    wt__text_escape(&line, wt__str(message), TEXT_LINE);
    wt__buffer_char(&line, '\n');
    wt__cli_finish(); /* results come before the message */
    wt__progress_clear();
    if (line.failed)
        fputs("whichtool: out of memory\n", stderr);
    else
        fwrite(line.ptr, 1, line.len, stderr);
}

int wt__cli_report(const struct cli *cli, int exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(cli, "whichtool: ", format, arguments);
    va_end(arguments);
    return exit_code;
}

int wt__cli_usage(const struct cli *cli, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(cli, "whichtool: ", format, arguments);
    va_end(arguments);
    const struct cli_verb *verb = cli->arguments.verb;
    if (!cli->quiet)
        fprintf(stderr, "See `whichtool help%s%s`.\n", verb ? " " : "", verb ? verb->name : "");
    return END_USAGE;
}

int wt__cli_fail(const struct cli *cli, const wt_error *err)
{
    int code = exit_code_of(err->code);
    if (*err->pointer && !strstr(err->message, err->pointer))
        return wt__cli_report(cli, code, "%s (at %s)", err->message, err->pointer);
    return wt__cli_report(cli, code, "%s", err->message);
}

int wt__cli_fail_input(const struct cli *cli, const wt_error *err)
{
    int code = wt__cli_fail(cli, err);
    return code == END_NOTHING ? END_INPUT : code;
}

bool wt__option_lines(struct cli *cli, enum option_id id, const char *const **items, size_t *count)
{
    const char *text = wt__option_text(cli, id);
    size_t lines = text ? 1 : 0, at = 0;
    for (const char *c = text; c && *c; c++)
        lines += *c == '\n';
    const char **list = wt__arena_array(&cli->arena, const char *, lines);
    for (const char *line = text; list && at < lines; at++) {
        size_t len = strcspn(line, "\n");
        list[at] = wt__arena_copy(&cli->arena, (struct str){line, len});
        if (!list[at])
            return false;
        line += len + 1;
    }
    *items = list;
    *count = lines;
    return list != NULL;
}

int wt__read_experiment(struct cli *cli, const char **out)
{
    static const struct {
        enum option_id option;
        const char *setting;
    } settings[] = {{OPT_ABLATE, "without"},
                    {OPT_VARIANT, "variant"},
                    {OPT_ORACLE, "oracle"},
                    {OPT_SELECTION, "selection"},
                    {OPT_GENERATION, "generation"},
                    {OPT_CONSTRUCTION, "construction"},
                    {OPT_SECOND_CHAT_MODEL, "second-model"},
                    {OPT_SAMPLES, "samples"},
                    {OPT_TEMPERATURE, "temperature"},
                    {OPT_TOP_P, "top-p"}};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (wt__has_option(cli, settings[i].option))
            wt__buffer_printf(&text, "%s%s=%s", text.len > 0 ? "; " : "", settings[i].setting,
                              wt__option_text(cli, settings[i].option));
    if (text.len == 0)
        return 0;
    *out = text.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&text));
    return *out ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

int wt__cli_positive_number(const struct cli *cli, enum option_id id, const char *name, double *out)
{
    const char *text = wt__option_text(cli, id);
    char *end = NULL;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end != text && !*end && isfinite(*out) && *out > 0)
        return 0;
    return wt__cli_usage(cli, "--%s takes a number above 0, not \"%s\"", name, text);
}

void wt__cli_note(const struct cli *cli, const char *format, ...)
{
    if (cli->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    print_message(cli, "", format, arguments);
    va_end(arguments);
}

/* errno of the first failed write to stdout; 0 before it. */
static int output_errno;

static void write_stdout(const char *bytes, size_t len)
{
    errno = 0;
    bool whole = fwrite(bytes, 1, len, stdout) == len;
    if (whole && len == 0)
        whole = fflush(stdout) == 0;
    if (!whole && !output_errno)
        output_errno = errno ? errno : EIO;
}

bool wt__cli_print(struct buffer *buffer)
{
    bool failed = buffer->failed;
    if (failed)
        fputs("whichtool: out of memory\n", stderr);
    else if (buffer->len > 0)
        write_stdout(buffer->ptr, buffer->len);
    wt__buffer_dispose(buffer);
    return !failed && !output_errno;
}

int wt__cli_finish(void)
{
    write_stdout("", 0);
    return output_errno;
}

/* Sets the name of the store for messages, which has no password. */
static int name_store(struct cli *cli)
{
    WT_AUTO_FREE char *shown = NULL;
    wt_error err;
    if (wt__store_shown(&shown, cli->store, &err) < 0)
        return wt__cli_report(cli, END_USAGE, "%s", err.message);
    cli->store_shown = wt__arena_copy(&cli->arena, wt__str(shown));
    return cli->store_shown ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

/* The store is named by -s or by $WHICHTOOL_STORE; otherwise it is in the data folder. */
int wt__cli_find_store(struct cli *cli)
{
    const char *named = wt__option_text(cli, OPT_STORE), *environment = getenv("WHICHTOOL_STORE");
    char *folder;
    wt_error err;
    if (cli->store) /* already found, or a private store */
        return cli->store_shown ? 0 : name_store(cli);
    if (named && *named)
        cli->store = named;
    else if (environment && *environment)
        cli->store = environment;
    if (cli->store)
        return name_store(cli);
    int rc = wt__data_folder(&folder, &cli->arena, &err);
    if (rc == WT_ENOTFOUND)
        return wt__cli_report(cli, END_STORE, "cannot find the data folder: %s, or name the store with -s FILE",
                              err.message);
    cli->store = rc == 0 ? wt__path_join(&cli->arena, folder, "tools.wt") : NULL;
    return cli->store ? name_store(cli) : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

bool wt__cli_has_store(const struct cli *cli)
{
    return wt__is_store_url(cli->store) || wt__is_file(cli->store);
}

int wt__cli_fail_empty(struct cli *cli)
{
    if (wt__has_option(cli, OPT_TENANT))
        return wt__cli_report(cli, END_STORE, "the tenant %s has no tools; see `whichtool tenants show %s`",
                              wt__option_text(cli, OPT_TENANT), wt__option_text(cli, OPT_TENANT));
    return wt__cli_report(cli, END_STORE, "the store %s is empty: add tools with `whichtool add FILE`",
                          cli->store_shown);
}

/* True if -s names the store; its path may be mistyped. */
static bool is_store_typed(const struct cli *cli)
{
    const char *named = wt__option_text(cli, OPT_STORE);
    return named && *named;
}

int wt__cli_tenants_path(struct cli *cli, const char **path)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *path = wt__option_text(cli, OPT_TENANTS);
    if (*path)
        return 0;
    char *base;
    wt_error err;
    WT_TRY(wt__cli_find_store(cli));
    if (wt__store_base(&base, &cli->arena, cli->store, false, &err) < 0)
        return wt__cli_fail(cli, &err);
    wt__buffer_printf(&text, "%s-tenants.jsonl", base);
    *path = text.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&text));
    return *path ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

int wt__cli_tenants_in_use(struct cli *cli, const char **path)
{
    WT_TRY(wt__cli_tenants_path(cli, path));
    if (!wt__has_option(cli, OPT_TENANTS) && access(*path, F_OK) != 0)
        *path = NULL;
    return 0;
}

/* Replaces the engine by that of the tenant of --tenant. Returns 0, or an exit code after reporting the error. */
static int open_tenant(struct cli *cli, wt_engine **engine)
{
    const char *path;
    wt_error err;
    WT_TRY(wt__cli_tenants_path(cli, &path));
    return wt__tenant_engine_open(engine, path, wt__option_text(cli, OPT_TENANT), &err) < 0
               ? wt__cli_fail_input(cli, &err)
               : 0;
}

int wt__cli_open(struct cli *cli, enum open_mode mode, const char *model, wt_engine **engine)
{
    *engine = NULL;
    int code = wt__cli_find_store(cli);
    if (code != 0)
        return code;
    bool is_path = strcmp(cli->store, ":memory:") != 0 && !wt__is_store_url(cli->store);
    if (mode == OPEN_EXISTING && is_path && access(cli->store, F_OK) != 0 && errno == ENOENT)
        return is_store_typed(cli)
                   ? wt__cli_report(cli, END_STORE,
                                    "the store %s does not exist; create it with `whichtool -s %s add FILE`",
                                    cli->store, cli->store)
                   : wt__cli_fail_empty(cli);
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = model ? model : wt__option_text(cli, OPT_MODEL);
    options.models_dir = wt__option_text(cli, OPT_MODELS);
    options.chat_url = wt__option_text(cli, OPT_CHAT_URL);
    options.chat_model = wt__option_text(cli, OPT_CHAT_MODEL);
    options.chat_at_once = (unsigned)cli->arguments.number[OPT_CHAT_AT_ONCE];
    options.record_path = wt__option_text(cli, OPT_RECORD);
    options.replay_path = wt__option_text(cli, OPT_REPLAY);
    wt_error err;
    if (wt_open(engine, cli->store, &options, &err) == 0)
        return wt__has_option(cli, OPT_TENANT) ? open_tenant(cli, engine) : 0;
    code = wt__cli_fail(cli, &err);
    return code == END_NOTHING ? END_STORE : code;
}

bool wt__can_ask(const struct cli *cli)
{
    return isatty(STDIN_FILENO) == 1 && cli->tty_err;
}

bool wt__answer_is_yes(void)
{
    char answer[16];
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int wt__cli_read_stdin(struct cli *cli, size_t max, struct buffer *out)
{
    char block[1 << 16];
    for (;;) {
        ssize_t got = read(STDIN_FILENO, block, sizeof block);
        if (got < 0 && errno == EINTR && !wt__interrupted())
            continue;
        if (got < 0 && wt__interrupted())
            return wt__cli_report(cli, END_INTERRUPTED, "interrupted while reading standard input");
        if (got < 0)
            return wt__cli_report(cli, END_INPUT, "cannot read standard input");
        if (got == 0)
            break;
        wt__buffer_append(out, block, (size_t)got);
        if (out->len > max)
            return wt__cli_report(cli, END_INPUT, "standard input is too long: the limit is %zu bytes", max);
    }
    return out->failed ? wt__cli_report(cli, END_SYSTEM, "out of memory") : 0;
}

const wt_recipe *wt__recipe_listed(size_t index)
{
    static const wt_recipe automatic = {
        .name = "auto",
        .summary = "the default: the best recipe that the store, the model and `train all` allow",
        .needs_model = 1};
    const wt_recipe *recipe = wt_recipe_at(index);
    return recipe || index == 0 || !wt_recipe_at(index - 1) ? recipe : &automatic;
}

bool wt__recipe_known(const char *name, size_t len, bool *needs_model)
{
    const wt_recipe *recipe = NULL;
    for (size_t i = 0; (recipe = wt__recipe_listed(i)); i++) {
        if (strlen(recipe->name) != len || memcmp(recipe->name, name, len) != 0)
            continue;
        if (needs_model)
            *needs_model = recipe->needs_model;
        return true;
    }
    return false;
}

static const char *recipe_name_at(const void *context, size_t index)
{
    (void)context;
    const wt_recipe *recipe = wt__recipe_listed(index);
    return recipe ? recipe->name : NULL;
}

int wt__recipe_unknown(const struct cli *cli, const char *name, size_t len)
{
    char word[64] = "";
    memcpy(word, name, len < sizeof word ? len : sizeof word - 1);
    const char *near = wt__closest_word(word, recipe_name_at, NULL);
    return wt__cli_report(cli, END_USAGE, "unknown recipe \"%s\"; %s%s%s`whichtool help --recipes` lists the recipes",
                          word, near ? "did you mean " : "", near ? near : "", near ? "? " : "");
}

/* ---------------------------------------------------------------- tools and fields */

enum {
    WIDEST_ID = 44, /* maximum columns of the id column, unless a name is longer */
    GAP = 2,
    LEAST_DESCRIPTION = 24, /* minimum columns of a description beside the id */
    MARKED = 2              /* columns of the ellipsis in place of a provider, and of the slash */
};

/* Returns the columns of the escaped text on one line. */
static size_t shown_width(const char *text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__str(text), TEXT_LINE);
    return wt__text_width(wt__buffer_view(&escaped));
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far)
{
    size_t width = shown_width(tool->id);
    if (width > WIDEST_ID)
        width =
            cli->width == 0 ? WIDEST_ID : max_size(WIDEST_ID, shown_width(tool->name) + (*tool->provider ? MARKED : 0));
    return max_size(width, so_far);
}

bool wt__is_narrow(const struct cli *cli)
{
    enum { NARROW = 60 };
    return cli->width && cli->width < NARROW;
}

/* Prints the id in `width` columns (0 for no limit). If the id is too long, the provider is cut or left out. A name
 * that is too long by itself is wrapped; indent: indent of its further lines. Returns the number of columns printed, or
 * `width` if the name was wrapped. */
static size_t put_tool_id(struct buffer *out, const wt_tool *tool, size_t width, size_t indent)
{
    size_t name = shown_width(tool->name), whole = shown_width(tool->id);
    if (width == 0 || whole <= width)
        return wt__text_cut(out, wt__str(tool->id), 0);
    if (name > width) {
        wt__text_wrap(out, wt__str(tool->name), indent, indent + width);
        return width;
    }
    if (!*tool->provider || name + MARKED > width)
        return wt__text_cut(out, wt__str(tool->name), 0);
    size_t provider = wt__text_cut(out, wt__str(tool->provider), width - name - 1);
    wt__buffer_char(out, '/');
    return provider + 1 + wt__text_cut(out, wt__str(tool->name), 0);
}

void wt__put_tool_row(const struct cli *cli, struct buffer *out, const struct list_row *row, size_t id_width)
{
    size_t room = cli->width > row->lead_width + 8 ? cli->width - row->lead_width : 8;
    bool two_lines = cli->width && (wt__is_narrow(cli) || room < id_width + GAP + LEAST_DESCRIPTION);
    struct str description = wt__str(*row->tool->description ? row->tool->description : row->tool->title);

    wt__style_begin(out, cli->color_out, STYLE_DIM);
    wt__buffer_text(out, row->lead);
    wt__style_end(out, cli->color_out);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    size_t taken = put_tool_id(out, row->tool, cli->width == 0 ? 0 : two_lines ? room : id_width, row->lead_width);
    wt__style_end(out, cli->color_out);
    if (description.len > 0 && two_lines) {
        wt__buffer_char(out, '\n');
        wt__text_pad(out, row->lead_width);
        wt__text_cut(out, description, room);
    } else if (description.len > 0) {
        wt__text_pad(out, (taken < id_width ? id_width - taken : 0) + GAP);
        wt__text_cut(out, description, cli->width ? room - id_width - GAP : 0);
    }
    wt__buffer_char(out, '\n');
}

int wt__print_export(struct cli *cli, const wt_tool *const *tools, size_t count, const char *format)
{
    char *text = NULL;
    wt_error err;
    if (wt_export(tools, count, format, &text, &err) < 0)
        return wt__cli_fail(cli, &err);
    struct buffer out = {0};
    json_t *array = NULL, *item;
    size_t index;
    if (cli->json && wt__json_parse(&array, text, strlen(text), NULL) == 0 && json_is_array(array)) {
        json_array_foreach(array, index, item)
        {
            wt__shown_value(&out, item);
            wt__buffer_char(&out, '\n');
        }
    } else {
        wt__buffer_text(&out, text);
        wt__buffer_char(&out, '\n');
    }
    json_decref(array);
    wt_string_free(text);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__write_pins(const struct cli *cli, const char *path, char *pins, const char *member, const char *noun)
{
    struct buffer out = {0};
    size_t lines = 0;
    wt_error err;
    int rc = wt__file_replace(path, pins, strlen(pins), &err);
    for (const char *at = pins; (at = strchr(at, '\n')); at++)
        lines++;
    wt_string_free(pins);
    if (rc < 0)
        return wt__cli_fail_input(cli, &err);
    lines -= lines > 0; /* the first line is a header */
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "path", path);
        wt__json_count(&out, member, lines);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%zu %s%s pinned in %s.\n", lines, noun, lines == 1 ? "" : "s", path);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

void wt__print_line(const struct cli *cli, struct buffer *out, size_t indent, const char *text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__str(text), TEXT_LINE);
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(&escaped), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= escaped.failed;
}

void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value)
{
    enum { LABEL = 12 };
    if (!*value)
        return;
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    wt__buffer_text(out, label);
    wt__style_end(out, cli->color_out);
    wt__text_pad(out, LABEL - strlen(label));
    wt__text_wrap(out, wt__str(value), LABEL, cli->width);
    wt__buffer_char(out, '\n');
}
