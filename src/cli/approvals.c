/* approvals.c: `whichtool mcp approve`, `mcp lock` and `mcp forget`.
 *
 * approve prints the definitions that wait for approval, and approves the definitions that the user selects. It passes
 * the hashes of the printed definitions to the library, which refuses a definition that has changed since. Before
 * approving or forgetting, the command asks on a terminal. Without a terminal, it requires --yes. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "catalog/pins.h"
#include "store/review.h"
#include "cli/servers.h"
#include "whichtool/audit.h"
#include "whichtool/review.h"

enum { DEEPER = 4 /* indent of an item's findings and changes */ };

/* The definitions that wait for approval, and the part of the command line that selects among them. */
struct approval_selection {
    wt_waiting_list *list;
    const char *provider; /* NULL for all providers */
    size_t names;         /* index of the first word that names a definition to approve */
    struct pins lock;     /* pins of --lock */
};

static const char *waiting_kind(const wt_waiting *item)
{
    return item->kind == WT_WAITING_NEW ? "new" : "changed";
}

static bool is_instructions_item(const wt_waiting *item)
{
    return item->what == WT_REVIEW_TOOL && !*item->name;
}

static bool is_waiting_tool(const wt_waiting *item)
{
    return item->what == WT_REVIEW_TOOL && *item->name;
}

/* Returns the name within the provider, such as "create_issue" or "prompt:review"; "" for instructions. */
static const char *name_in_provider(const wt_waiting *item)
{
    return is_instructions_item(item) ? "" : item->id + strlen(item->provider) + 1;
}

/* Compares the item with its pin in the --lock file. Returns "same", "differs" or "absent"; NULL without --lock. */
static const char *compare_with_lock(const struct cli *cli, const struct approval_selection *selection,
                                     const wt_waiting *item)
{
    if (!wt__has_option(cli, OPT_LOCK))
        return NULL;
    const struct pin *pin =
        item->what != WT_REVIEW_TOOL ? wt__pins_offer(&selection->lock, wt__review_words[item->what],
                                                      wt__str(item->provider), wt__str(item->name))
        : is_instructions_item(item) ? wt__pins_instructions(&selection->lock, wt__str(item->provider))
                                     : wt__pins_find(&selection->lock, wt__str(item->id));
    return !pin ? "absent" : strcmp(pin->sha256, item->sha256) == 0 ? "same" : "differs";
}

/* Audits the item's texts with the rules of `check` that are errors. */
static int audit_item(const wt_waiting *item, wt_audit_result **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer listing = {0};
    if (is_instructions_item(item))
        return wt_audit_listing(item->provider, NULL, 0, item->offered, out, err);
    bool tool = is_waiting_tool(item);
    wt__buffer_text(&listing, tool ? "{\"tools\":[" : "[");
    wt__buffer_append(&listing, item->offered, item->offered_len);
    wt__buffer_text(&listing, tool ? "]}" : "]");
    return listing.failed ? wt__fail_nomem(err)
           : !tool        ? wt_audit_offers(item->provider, listing.ptr, out, err)
                          : wt_audit_listing(item->provider, listing.ptr, listing.len, NULL, out, err);
}

/* ---------------------------------------------------------------- JSON */

static void json_item_findings(struct buffer *out, const wt_audit_result *audit)
{
    wt__json_key(out, "findings");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < audit->finding_count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "rule", audit->findings[i]->rule);
        wt__json_text(out, "message", audit->findings[i]->message);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void json_waiting_item(struct buffer *out, const wt_waiting *item, const char *lock,
                              const wt_audit_result *audit)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "id", item->id);
    wt__json_text(out, "provider", item->provider);
    wt__json_text(out, "name", item->name);
    wt__json_text(out, "what", wt__review_words[item->what]);
    wt__json_flag(out, "instructions", is_instructions_item(item));
    wt__json_text(out, "kind", waiting_kind(item));
    if (lock)
        wt__json_text(out, "lock", lock);
    json_item_findings(out, audit);
    wt__json_time(out, "since", item->since);
    wt__json_text(out, "sha256", item->sha256);
    wt__json_text_or_null(out, "approved_sha256", item->approved_sha256);
    wt__json_texts(out, "changes", item->changes, item->change_count);
    wt__json_count(out, "more_changes", item->more_changes);
    wt__json_raw(out, "offered", item->offered);
    wt__json_raw(out, "approved", item->approved ? item->approved : "null");
    wt__buffer_text(out, "}\n");
}

static void json_preview(struct buffer *out, const char *provider, const wt_preview *preview)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "provider", provider);
    wt__json_count(out, "waiting", preview->waiting);
    wt__json_count(out, "requests", preview->requests);
    wt__json_flag(out, "recorded", preview->recorded != 0);
    wt__json_number(out, "places_now", preview->places_now);
    wt__json_number(out, "places_then", preview->places_then);
    wt__json_number(out, "tools_now", preview->tools_now);
    wt__json_number(out, "tools_then", preview->tools_then);
    wt__json_flag(out, "far", preview->far != 0);
    wt__json_text(out, "sentence", preview->sentence);
    wt__buffer_text(out, "}\n");
}

/* ---------------------------------------------------------------- text */

static void put_item_findings(const struct cli *cli, struct buffer *out, const wt_audit_result *audit)
{
    for (size_t i = 0; i < audit->finding_count; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        wt__buffer_printf(&line, "error: %s: %s", audit->findings[i]->rule, audit->findings[i]->message);
        wt__print_line(cli, out, DEEPER, line.ptr ? line.ptr : "");
        out->failed |= line.failed;
    }
}

/* Prints audit findings before the changed texts, so that the reader is warned first. */
static void put_waiting_item(const struct cli *cli, struct buffer *out, const wt_waiting *item, const char *lock,
                             const wt_audit_result *audit)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    const char *file = wt__option_text(cli, OPT_LOCK);
    wt__buffer_printf(&line, "%s%s: %s", item->id, is_instructions_item(item) ? " (instructions)" : "",
                      waiting_kind(item));
    if (lock)
        wt__buffer_printf(&line,
                          strcmp(lock, "differs") == 0  ? ", differs from %s"
                          : strcmp(lock, "absent") == 0 ? ", not in %s"
                                                        : ", same as in %s",
                          file);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__print_line(cli, out, 0, line.ptr ? line.ptr : "");
    wt__style_end(out, cli->color_out);
    put_item_findings(cli, out, audit);
    for (size_t i = 0; i < item->change_count; i++)
        wt__print_line(cli, out, DEEPER, item->changes[i]);
    if (item->more_changes > 0) {
        wt__text_pad(out, DEEPER);
        wt__buffer_printf(out, "and %zu more; --json shows both definitions\n", item->more_changes);
    }
    out->failed |= line.failed;
}

static int print_waiting_item(struct cli *cli, const struct approval_selection *selection, const wt_waiting *item)
{
    struct buffer out = {0};
    wt_audit_result *audit = NULL;
    wt_error err;
    const char *lock = compare_with_lock(cli, selection, item);
    if (audit_item(item, &audit, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (cli->json)
        json_waiting_item(&out, item, lock, audit);
    else
        put_waiting_item(cli, &out, item, lock, audit);
    wt_audit_free(audit);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* ---------------------------------------------------------------- showing */

/* Shows how many search results the waiting tools would take. A failure of the preview is not fatal. */
static int show_preview(struct cli *cli, wt_engine *engine, const char *provider)
{
    wt_preview_options options;
    wt_preview *preview = NULL;
    struct progress_line line;
    struct buffer out = {0};
    wt_error err;
    wt_preview_options_init(&options);
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_preview_waiting(engine, provider, &options, &preview, &err);
    wt__progress_clear();
    if (rc == WT_ECANCELLED)
        return wt__cli_fail(cli, &err);
    if (rc < 0) {
        wt__cli_note(cli, "Cannot preview the effect on search results: %s", err.message);
        return 0;
    }
    if (cli->json)
        json_preview(&out, provider, preview);
    else
        wt__print_line(cli, &out, 0, preview->sentence);
    wt_preview_free(preview);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static bool has_waiting_tool(const wt_waiting_list *list, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (is_waiting_tool(list->items[i]))
            return true;
    return false;
}

/* Prints the command that approves. The command names the provider if all items belong to one provider. */
static void note_approve_command(const struct cli *cli, const wt_waiting_list *list)
{
    const char *provider = list->items[0]->provider;
    for (size_t i = 1; i < list->len; i++)
        if (strcmp(list->items[i]->provider, provider) != 0)
            provider = "PROVIDER";
    wt__cli_note(cli, "Approve with `whichtool mcp approve %s NAME...`, or all with `whichtool mcp approve %s --all`.",
                 provider, provider);
}

/* Prints all waiting definitions. Returns END_NOTHING if there are any, as `check` does for findings, else END_DONE. */
static int show_waiting(struct cli *cli, wt_engine *engine, const struct approval_selection *selection)
{
    const wt_waiting_list *list = selection->list;
    for (size_t i = 0, end; i < list->len; i = end) {
        const char *provider = list->items[i]->provider;
        for (end = i; end < list->len && strcmp(list->items[end]->provider, provider) == 0; end++)
            WT_TRY(print_waiting_item(cli, selection, list->items[end]));
        if (has_waiting_tool(list, i, end))
            WT_TRY(show_preview(cli, engine, provider));
    }
    if (list->len == 0) {
        wt__cli_note(cli, "Nothing waits for approval.");
        return END_DONE;
    }
    note_approve_command(cli, list);
    return END_NOTHING;
}

/* ---------------------------------------------------------------- approving */

static const wt_waiting *find_waiting_item(const wt_waiting_list *list, const char *name)
{
    for (size_t i = 0; i < list->len; i++) /* tools come first, so that a prompt cannot hide a tool */
        if (strcmp(name_in_provider(list->items[i]), name) == 0 || (*name && strcmp(list->items[i]->id, name) == 0))
            return list->items[i];
    return NULL;
}

static int refuse_item_name(const struct cli *cli, const struct approval_selection *selection, const char *name)
{
    struct nearest nearest;
    wt__nearest_begin(&nearest, wt__str(name));
    for (size_t i = 0; i < selection->list->len; i++)
        wt__nearest_show(&nearest, wt__str(name_in_provider(selection->list->items[i])));
    if (!*name)
        return wt__cli_report(cli, END_NOTHING, "%s has no instructions waiting for approval; nothing was approved",
                              selection->provider);
    return *nearest.best ? wt__cli_report(cli, END_NOTHING,
                                          "no \"%s\" of %s waits for approval; did you mean %s? Nothing was approved",
                                          name, selection->provider, nearest.best)
                         : wt__cli_report(cli, END_NOTHING, "no \"%s\" of %s waits for approval; nothing was approved",
                                          name, selection->provider);
}

/* Adds an item, unless it was added before under its name or its id. */
static void add_once(const wt_waiting **chosen, size_t *count, const wt_waiting *item)
{
    for (size_t i = 0; i < *count; i++)
        if (chosen[i] == item)
            return;
    chosen[(*count)++] = item;
}

/* Lists the selected items, in the cli's arena: all items, or the items with the given names or ids. */
static int select_items(struct cli *cli, const struct approval_selection *selection, const wt_waiting ***out,
                        size_t *count)
{
    const struct arguments *a = &cli->arguments;
    const wt_waiting_list *list = selection->list;
    bool instructions = wt__has_option(cli, OPT_INSTRUCTIONS);
    size_t most = list->len + a->word_count + 1;
    const wt_waiting **chosen = wt__arena_array(&cli->arena, const wt_waiting *, most);
    *out = chosen;
    *count = 0;
    if (!chosen)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; wt__has_option(cli, OPT_ALL) && i < list->len; i++)
        chosen[(*count)++] = list->items[i];
    for (size_t i = selection->names; i < a->word_count + (instructions ? 1 : 0); i++) {
        const char *name = i < a->word_count ? a->words[i] : "";
        const wt_waiting *item = find_waiting_item(list, name);
        if (!item)
            return refuse_item_name(cli, selection, name);
        add_once(chosen, count, item);
    }
    return 0;
}

static bool confirm_approval(size_t count)
{
    fprintf(stderr, "Approve %s? [y/N] ", count == 1 ? "it" : "them");
    return wt__answer_is_yes();
}

static int print_approved(struct cli *cli, const wt_waiting *const *chosen, size_t count, size_t left)
{
    struct buffer out = {0};
    const char **ids = wt__arena_array(&cli->arena, const char *, count);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = chosen[i]->id;
    if (!ids)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_texts(&out, "approved", ids, count);
        wt__json_count(&out, "waiting", left);
        wt__buffer_text(&out, "}\n");
    } else
        wt__buffer_printf(&out, "%zu approved, %zu still %s.\n", count, left, left == 1 ? "waits" : "wait");
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* Approves the chosen items, all of one provider, by their hashes. left: number of items that will still wait. */
static int approve_chosen(struct cli *cli, wt_engine *engine, const wt_waiting *const *chosen, size_t count,
                          size_t left)
{
    wt_approve_options options;
    wt_review_report *report = NULL;
    struct progress_line line;
    wt_error err;
    const char **names = wt__arena_array(&cli->arena, const char *, count);
    const char **hashes = wt__arena_array(&cli->arena, const char *, count);
    int *whats = wt__arena_array(&cli->arena, int, count);
    if (!names || !hashes || !whats)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        names[i] = chosen[i]->name;
        hashes[i] = chosen[i]->sha256;
        whats[i] = chosen[i]->what;
    }
    wt_approve_options_init(&options);
    options.names = names;
    options.sha256s = hashes;
    options.whats = whats;
    options.name_count = count;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_approve(engine, chosen[0]->provider, &options, &report, &err);
    wt__progress_clear();
    if (report && report->notice)
        wt__cli_note(cli, "%s", report->notice);
    wt_review_report_free(report);
    return rc < 0 ? wt__cli_fail(cli, &err) : print_approved(cli, chosen, count, left);
}

static int approve_selected(struct cli *cli, wt_engine *engine, const struct approval_selection *selection)
{
    const wt_waiting **chosen = NULL;
    size_t count = 0;
    wt_error err;
    if (wt__engine_refuse_read_only(engine, "nothing can be approved", &err) < 0)
        return wt__cli_fail(cli, &err);
    WT_TRY(select_items(cli, selection, &chosen, &count));
    if (count == 0)
        return wt__cli_report(cli, END_NOTHING, "nothing of %s waits for approval", selection->provider);
    for (size_t i = 0; i < count && !cli->json; i++)
        WT_TRY(print_waiting_item(cli, selection, chosen[i]));
    if (!wt__has_option(cli, OPT_YES) && !wt__can_ask(cli))
        return wt__cli_usage(cli, "cannot ask without a terminal; approve with --yes");
    wt__cli_finish(); /* show the items before the question */
    if (!wt__has_option(cli, OPT_YES) && !confirm_approval(count))
        return wt__cli_report(cli, END_NOTHING, "nothing was approved");
    return approve_chosen(cli, engine, chosen, count, selection->list->len - count);
}

/* ---------------------------------------------------------------- selection */

/* Handles a first word that is not a known provider. Selects the waiting item that has this word as its id. If there is
 * no such item, reports `err`, the error of the lookup, and suggests the nearest provider. */
static int select_waiting_tool(struct cli *cli, wt_engine *engine, struct approval_selection *selection, wt_error *err)
{
    const char *word = selection->provider;
    wt_waiting_list *all = NULL;
    struct nearest nearest;
    int code = -1;
    wt__nearest_begin(&nearest, wt__str(word));
    if (wt_list_waiting(engine, NULL, &all, NULL) < 0)
        return wt__cli_fail_input(cli, err);
    for (size_t i = 0; code < 0 && i < all->len; i++) {
        const wt_waiting *item = all->items[i];
        wt__nearest_show(&nearest, wt__str(item->provider));
        if (is_instructions_item(item) || strcmp(item->id, word) != 0)
            continue;
        selection->provider = wt__arena_copy(&cli->arena, wt__str(item->provider));
        selection->names = 1;
        code = !selection->provider ? wt__cli_report(cli, END_SYSTEM, "out of memory")
               : wt_list_waiting(engine, selection->provider, &selection->list, err) < 0 ? wt__cli_fail_input(cli, err)
                                                                                         : 0;
    }
    wt_waiting_list_free(all);
    if (code < 0 && *nearest.best)
        return wt__cli_report(cli, END_INPUT, "%s; did you mean %s?", err->message, nearest.best);
    return code < 0 ? wt__cli_fail_input(cli, err) : code;
}

static int read_selection(struct cli *cli, wt_engine *engine, struct approval_selection *selection)
{
    const struct arguments *a = &cli->arguments;
    WT_AUTO_FREE char *lock = NULL;
    size_t len = 0;
    wt_error err;
    if (wt__has_option(cli, OPT_LOCK) &&
        (wt__file_read(&lock, &len, wt__option_text(cli, OPT_LOCK), WT_MAX_PIN_FILE_BYTES, &err) < 0 ||
         (lock && wt__pins_read(&selection->lock, lock, len, &err) < 0)))
        return wt__cli_fail_input(cli, &err);
    selection->provider = a->word_count > 1 ? a->words[1] : NULL;
    selection->names = 2;
    int rc = wt_list_waiting(engine, selection->provider, &selection->list, &err);
    return rc == WT_ENOTFOUND ? select_waiting_tool(cli, engine, selection, &err)
           : rc < 0           ? wt__cli_fail_input(cli, &err)
                              : 0;
}

static int show_or_approve(struct cli *cli, wt_engine *engine, const struct approval_selection *selection)
{
    bool named = cli->arguments.word_count > selection->names || wt__has_option(cli, OPT_INSTRUCTIONS);
    if (named && wt__has_option(cli, OPT_ALL))
        return wt__cli_usage(cli, "give either --all or names");
    return named || wt__has_option(cli, OPT_ALL) ? approve_selected(cli, engine, selection)
                                                 : show_waiting(cli, engine, selection);
}

/* Opens the store. The first gateway creates the default store, so a missing default store means that no server ran
 * yet. */
static int open_review_store(struct cli *cli, wt_engine **engine)
{
    const char *named = wt__option_text(cli, OPT_STORE);
    WT_TRY(wt__cli_find_store(cli));
    if (!(named && *named) && !wt__cli_has_store(cli))
        return wt__cli_report(
            cli, END_STORE,
            "no server was started yet: start a client after `whichtool mcp init`, or run `whichtool mcp "
            "--servers FILE`");
    return wt__cli_open(cli, OPEN_EXISTING, NULL, engine);
}

static void dispose_selection(struct approval_selection *selection)
{
    wt__pins_dispose(&selection->lock);
    wt_waiting_list_free(selection->list);
}

int wt__mcp_approve(struct cli *cli)
{
    WT_CLEANUP(dispose_selection) struct approval_selection selection = {0};
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    if ((wt__has_option(cli, OPT_ALL) || wt__has_option(cli, OPT_INSTRUCTIONS)) && cli->arguments.word_count < 2)
        return wt__cli_usage(cli,
                             "`mcp approve` needs the name of a provider, as in `whichtool mcp approve github --all`");
    WT_TRY(open_review_store(cli, &engine));
    WT_TRY(read_selection(cli, engine, &selection));
    return show_or_approve(cli, engine, &selection);
}

static int write_lock_file(struct cli *cli, wt_engine *engine)
{
    const struct arguments *a = &cli->arguments;
    char *pins;
    wt_error err;
    if (wt_lock(engine, a->word_count > 2 ? a->words[2] : NULL, &pins, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    return wt__write_pins(cli, a->words[1], pins, "approved", "approved definition");
}

int wt__mcp_lock(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    if (cli->arguments.word_count < 2 || cli->arguments.word_count > 3)
        return wt__cli_usage(cli, "`mcp lock` takes the file to write, and at most one provider");
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    return write_lock_file(cli, engine);
}

/* ---------------------------------------------------------------- forgetting */

static int count_provider_tools(struct cli *cli, wt_engine *engine, const char *provider, size_t *tools)
{
    wt_tools *list = NULL;
    wt_error err;
    wt_list_options options;
    wt_list_options_init(&options);
    options.provider = provider;
    int rc = wt_list(engine, &options, &list, &err);
    *tools = list ? list->len : 0;
    wt_tools_free(list);
    return rc < 0 && rc != WT_ENOTFOUND ? wt__cli_fail(cli, &err) : 0;
}

static bool confirm_forget_server(const struct cli *cli, const char *provider, size_t tools)
{
    if (wt__has_option(cli, OPT_YES))
        return true;
    fprintf(stderr, "Forget %s, its %zu tool%s and its approvals? [y/N] ", provider, tools, tools == 1 ? "" : "s");
    return wt__answer_is_yes();
}

static int forget_server(struct cli *cli, wt_engine *engine, const char *provider)
{
    const char *lock = wt__servers_lock_path(cli);
    wt_waiting_list *waiting = NULL;
    struct buffer out = {0};
    wt_error err;
    size_t tools = 0;
    if (wt_list_waiting(engine, provider, &waiting, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    wt_waiting_list_free(waiting);
    if (lock && wt__is_shared(lock))
        return wt__cli_report(cli, END_INPUT,
                              "a gateway is running on the store %s; remove %s from the file of --servers, stop the "
                              "gateway, and try again",
                              cli->store_shown, provider);
    WT_TRY(count_provider_tools(cli, engine, provider, &tools));
    if (!wt__has_option(cli, OPT_YES) && !wt__can_ask(cli))
        return wt__cli_usage(cli, "cannot ask without a terminal; forget with --yes");
    if (!confirm_forget_server(cli, provider, tools))
        return wt__cli_report(cli, END_NOTHING, "nothing was forgotten");
    int64_t removed = wt_release_provider(engine, provider, &err);
    if (removed < 0)
        return wt__cli_fail(cli, &err);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "forgotten", provider);
        wt__json_count(&out, "removed", (uint64_t)removed);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s forgotten; %lld tool%s removed\n", provider, (long long)removed,
                          removed == 1 ? "" : "s");
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__mcp_forget(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    if (cli->arguments.word_count != 2)
        return wt__cli_usage(cli, "`mcp forget` takes the name of one server");
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    return forget_server(cli, engine, cli->arguments.words[1]);
}
