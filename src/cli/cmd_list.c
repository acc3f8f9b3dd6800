#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"

/* Tools of a page, so that a list of any length needs little memory. Pages grow if there is a pattern, because the
 * pattern is matched against all names for each page. */
enum { PAGE = 1000, PAGE_GROWS = 4, PAGE_MOST = 16000 };

typedef bool (*page_fn)(void *context, const wt_tools *page); /* returns false to stop with END_SYSTEM */

static const char *list_pattern(const struct cli *cli)
{
    return cli->arguments.word_count ? cli->arguments.words[0] : NULL;
}

/* Calls take for each page of the tools that match provider and pattern, from offset on, up to limit tools (0 for all).
 * *seen: their number. Returns 0 or an exit code. */
static int list_pages(struct cli *cli, wt_engine *engine, size_t offset, size_t limit, page_fn take, void *context,
                      size_t *seen)
{
    wt_list_options options;
    wt_list_options_init(&options);
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.pattern = list_pattern(cli);
    options.offset = offset;
    *seen = 0;
    size_t size = PAGE;
    for (bool more = true; more;) {
        wt_tools *page = NULL;
        wt_error err;
        options.limit = limit && limit - *seen < size ? limit - *seen : size;
        if (wt_list(engine, &options, &page, &err) < 0)
            return wt__cli_fail(cli, &err);
        *seen += page->len;
        options.offset += page->len;
        bool taken = take(context, page);
        more = page->len == size && *seen != limit;
        size = options.pattern && size < PAGE_MOST ? size * PAGE_GROWS : size;
        wt_tools_free(page);
        if (!taken)
            return END_SYSTEM;
    }
    return 0;
}

static bool print_tool_page(void *context, const wt_tools *page)
{
    struct cli *cli = context;
    struct buffer out = {0};
    size_t id_width = 0;
    for (size_t i = 0; i < page->len && !cli->json; i++)
        id_width = wt__id_width(cli, page->items[i], id_width);
    for (size_t i = 0; i < page->len; i++) {
        if (cli->json) {
            wt__buffer_char(&out, '{');
            wt__json_tool(&out, page->items[i]);
            wt__buffer_text(&out, "}\n");
        } else {
            struct list_row row = {"", 0, page->items[i]};
            wt__put_tool_row(cli, &out, &row, id_width);
        }
    }
    return wt__cli_print(&out);
}

struct provider_tools {
    char *name;
    size_t tools;
};

/* Providers in the order of their first tool. */
struct provider_counts {
    struct arena arena;
    struct map by_name;
    struct provider_tools *items;
    size_t len, capacity;
    bool failed;
};

static bool count_page_providers(void *context, const wt_tools *page)
{
    struct provider_counts *p = context;
    for (size_t i = 0; i < page->len; i++) {
        uint32_t *at = wt__map_get(&p->by_name, wt__str(page->items[i]->provider));
        if (!at) {
            char *name = wt__arena_copy(&p->arena, wt__str(page->items[i]->provider));
            p->failed = !name || wt__grow((void **)&p->items, &p->capacity, p->len + 1, sizeof *p->items) < 0 ||
                        !(at = wt__map_insert(&p->by_name, wt__str(name), (uint32_t)p->len, NULL));
            if (p->failed)
                return false;
            p->items[p->len++] = (struct provider_tools){name, 0};
        }
        p->items[*at].tools++;
    }
    return true;
}

static int print_provider_counts(struct cli *cli, const struct provider_counts *p)
{
    struct buffer out = {0};
    for (size_t i = 0; i < p->len; i++) {
        if (cli->json) {
            wt__buffer_char(&out, '{');
            wt__json_text(&out, "provider", p->items[i].name);
            wt__json_count(&out, "tools", p->items[i].tools);
            wt__buffer_text(&out, "}\n");
            continue;
        }
        struct buffer count = {0};
        wt__put_grouped(&count, p->items[i].tools);
        wt__text_pad(&out, count.len < 9 ? 9 - count.len : 0);
        wt__buffer_str(&out, wt__buffer_view(&count));
        wt__buffer_text(&out, "  ");
        wt__text_cut(&out, wt__str(*p->items[i].name ? p->items[i].name : "(none)"),
                     cli->width > 20 ? cli->width - 11 : 0);
        wt__buffer_char(&out, '\n');
        wt__buffer_dispose(&count);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int print_provider_list(struct cli *cli, wt_engine *engine, size_t *seen)
{
    struct provider_counts p = {0};
    int code = list_pages(cli, engine, 0, 0, count_page_providers, &p, seen);
    if (p.failed)
        code = wt__cli_report(cli, END_SYSTEM, "out of memory");
    else if (code == 0)
        code = print_provider_counts(cli, &p);
    wt__map_dispose(&p.by_name);
    wt__arena_dispose(&p.arena);
    free(p.items);
    return code;
}

static int report_empty_list(struct cli *cli, wt_engine *engine)
{
    wt_catalog_info info;
    wt_error err;
    const char *provider = wt__option_text(cli, OPT_PROVIDER);
    wt_catalog_info_init(&info);
    if (wt_info(engine, &info, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (info.tools == 0)
        return wt__cli_fail_empty(cli);
    if (list_pattern(cli))
        wt__cli_note(cli, "No tools match \"%s\"%s%s; the catalogue has %llu tools.", list_pattern(cli),
                     provider ? " of provider " : "", provider ? provider : "", (unsigned long long)info.tools);
    else if (provider)
        wt__cli_note(cli, "No tools of provider %s.", provider);
    else
        wt__cli_note(cli, "No tools in this range; the catalogue has %llu tools.", (unsigned long long)info.tools);
    return END_NOTHING;
}

int wt__cmd_list(struct cli *cli)
{
    wt_engine *engine = NULL;
    size_t seen = 0;
    int code = wt__cli_open(cli, OPEN_EXISTING, "", &engine);
    if (code == 0 && wt__has_option(cli, OPT_PROVIDERS))
        code = print_provider_list(cli, engine, &seen);
    else if (code == 0)
        code = list_pages(cli, engine, (size_t)cli->arguments.number[OPT_OFFSET],
                          (size_t)cli->arguments.number[OPT_LIMIT], print_tool_page, cli, &seen);
    if (code == 0 && seen == 0)
        code = report_empty_list(cli, engine);
    wt_close(engine);
    return code;
}
