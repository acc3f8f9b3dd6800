/* test_views.c: the engines of tenants. A tenant's results must equal, to the bit, those of a store with the tenant's
 * tools alone. Changes of all other tools of the shared catalogue must not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/str.h"
#include "engine/support.h"
#include "tenants/tenants.h"

enum { TOOLS = 90, PROVIDERS = 9, TRIALS = 24, ID_BYTES = 64, LINE_BYTES = 1024, THREADS = 4, ROUNDS = 40 };

/* A tool of the shared catalogue, and if the tenant of the current trial sees it. */
struct shared_tool {
    char provider[ID_BYTES], name[ID_BYTES], id[2 * ID_BYTES], line[LINE_BYTES];
    bool visible;
};

struct shared_catalogue {
    struct test_place place;
    char tenants_path[128];
    struct shared_tool tools[TOOLS];
    wt_engine *engine;
    struct rng rng;
};

static const char *const requests[] = {"book a table",      "booked tables",     "find a hotell in the city",
                                       "p3 storm invoice",  "tool_aac",          "song and flight, then an invoice",
                                       "p1 tool_aad hotel", "unheardof gadgets", "cancel my booking"};
enum { REQUESTS = sizeof requests / sizeof *requests };

/* ---------------------------------------------------------------- catalogue */

static void read_shared_tools(struct shared_catalogue *shared, const char *jsonl)
{
    const char *at = jsonl;
    for (size_t i = 0; i < TOOLS; i++) {
        struct shared_tool *tool = &shared->tools[i];
        size_t len = (size_t)(strchr(at, '\n') - at) + 1;
        assert_true(len < LINE_BYTES);
        memcpy(tool->line, at, len);
        tool->line[len] = '\0';
        assert_int_equal(
            sscanf(tool->line, "{\"provider\": \"%63[^\"]\", \"name\": \"%63[^\"]\"", tool->provider, tool->name), 2);
        snprintf(tool->id, sizeof tool->id, "%s/%s", tool->provider, tool->name);
        at += len;
    }
}

static int open_shared(void **state)
{
    static struct shared_catalogue shared;
    WT_CLEANUP(wt__buffer_dispose) struct buffer jsonl = {0};
    shared = (struct shared_catalogue){.engine = NULL};
    make_test_place(&shared.place);
    snprintf(shared.tenants_path, sizeof shared.tenants_path, "%s/tenants.jsonl", shared.place.folder);
    wt__rng_seed(&shared.rng, 7);
    synthetic_tools(&jsonl, 3, TOOLS, PROVIDERS);
    read_shared_tools(&shared, jsonl.ptr);
    shared.engine = open_test_engine(&shared.place, NULL);
    add(&shared.place, shared.engine, jsonl.ptr);
    *state = &shared;
    return 0;
}

static int close_shared(void **state)
{
    struct shared_catalogue *shared = *state;
    wt_close(shared->engine);
    remove_test_place(&shared->place);
    return 0;
}

static void write_tenants(struct shared_catalogue *shared, const char *text)
{
    assert_call_ok(&shared->place, wt__file_replace(shared->tenants_path, text, strlen(text), &shared->place.err));
}

static wt_tenants *open_tenants(struct shared_catalogue *shared, const wt_tenants_options *options)
{
    wt_tenants *tenants = NULL;
    assert_call_ok(&shared->place,
                   wt_tenants_open(&tenants, shared->engine, shared->tenants_path, options, &shared->place.err));
    return tenants;
}

static wt_engine *take_tenant(struct shared_catalogue *shared, wt_tenants *tenants, const char *name)
{
    wt_engine *engine = NULL;
    assert_call_ok(&shared->place, wt_tenants_engine(tenants, name, &engine, &shared->place.err));
    return engine;
}

/* ---------------------------------------------------------------- random tenants */

static bool item_fits(const char *item, const struct shared_tool *tool)
{
    struct str text = wt__str(item);
    if (!strpbrk(item, "*?"))
        return strcmp(item, tool->id) == 0;
    return wt__glob_matches(text, wt__str(tool->name)) ||
           (strchr(item, '/') && wt__glob_matches(text, wt__str(tool->id)));
}

/* Writes a random item: an id, or a pattern. */
static void make_item(struct shared_catalogue *shared, char out[2 * ID_BYTES])
{
    const struct shared_tool *tool = &shared->tools[wt__rng_below(&shared->rng, TOOLS)];
    switch (wt__rng_below(&shared->rng, 5)) {
    case 0:
        snprintf(out, 2 * ID_BYTES, "%s/*", tool->provider);
        break;
    case 1:
        snprintf(out, 2 * ID_BYTES, "*%s", tool->name + 6);
        break;
    case 2:
        snprintf(out, 2 * ID_BYTES, "tool_a?%c", (int)('a' + wt__rng_below(&shared->rng, 26)));
        break;
    default:
        snprintf(out, 2 * ID_BYTES, "%s", tool->id);
    }
}

/* Appends the member with up to `most` random items, and sets or clears `visible` of the matching tools. */
static void put_random_items(struct shared_catalogue *shared, struct buffer *line, const char *member, size_t most,
                             bool visible)
{
    wt__buffer_printf(line, ", \"%s\": [", member);
    for (size_t i = 0, count = wt__rng_below(&shared->rng, most + 1); i < count; i++) {
        char item[2 * ID_BYTES];
        make_item(shared, item);
        wt__buffer_printf(line, "%s\"%s\"", i ? ", " : "", item);
        for (size_t t = 0; t < TOOLS; t++)
            if (item_fits(item, &shared->tools[t]))
                shared->tools[t].visible = visible;
    }
    wt__buffer_char(line, ']');
}

/* Writes the file with one random tenant "t". The tenant sees at least one tool. */
static void write_random_tenant(struct shared_catalogue *shared)
{
    size_t seen = 0;
    while (seen == 0) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        for (size_t i = 0; i < TOOLS; i++)
            shared->tools[i].visible = false;
        wt__buffer_text(&line, "{\"tenant\": \"t\", \"providers\": [");
        for (size_t i = 0, count = wt__rng_below(&shared->rng, 4); i < count; i++) {
            char provider[ID_BYTES];
            snprintf(provider, sizeof provider, "p%u", (unsigned)wt__rng_below(&shared->rng, PROVIDERS));
            wt__buffer_printf(&line, "%s\"%s\"", i ? ", " : "", provider);
            for (size_t t = 0; t < TOOLS; t++)
                shared->tools[t].visible |= strcmp(shared->tools[t].provider, provider) == 0;
        }
        wt__buffer_char(&line, ']');
        put_random_items(shared, &line, "tools", 6, true);
        put_random_items(shared, &line, "exclude", 3, false);
        wt__buffer_text(&line, "}\n");
        write_tenants(shared, line.ptr);
        for (size_t i = 0; i < TOOLS; i++)
            seen += shared->tools[i].visible;
    }
}

/* Opens a store with the visible tools alone. */
static wt_engine *open_alone(struct shared_catalogue *shared)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer jsonl = {0};
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = shared->place.model;
    options.threads = 1;
    for (size_t i = 0; i < TOOLS; i++)
        if (shared->tools[i].visible)
            wt__buffer_text(&jsonl, shared->tools[i].line);
    assert_call_ok(&shared->place, wt_open(&engine, ":memory:", &options, &shared->place.err));
    add(&shared->place, engine, jsonl.ptr);
    return engine;
}

/* Gives the hidden tools other texts, removes one of them, and adds tools. */
static void change_hidden_tools(struct shared_catalogue *shared)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer jsonl = {0};
    size_t at = 0;
    for (size_t i = 0; i < TOOLS; i++) {
        const struct shared_tool *tool = &shared->tools[i];
        if (tool->visible)
            wt__buffer_text(&jsonl, tool->line);
        else
            wt__buffer_printf(&jsonl,
                              "{\"provider\": \"%s\", \"name\": \"%s\", \"description\": \"hotell booked tables storm "
                              "invoice unheardof gadgets p3 p1 %u\"}\n",
                              tool->provider, tool->name, (unsigned)wt__rng_below(&shared->rng, 1000));
    }
    wt__buffer_printf(&jsonl, "{\"provider\": \"hidden\", \"name\": \"gadgets\", \"description\": \"unheardof %u\"}\n",
                      (unsigned)wt__rng_below(&shared->rng, 1000));
    add(&shared->place, shared->engine, jsonl.ptr);
    while (at < TOOLS && shared->tools[at].visible)
        at++;
    if (at < TOOLS)
        assert_call_ok(&shared->place, wt_remove(shared->engine, shared->tools[at].id, &shared->place.err));
}

/* Restores the catalogue of open_shared. */
static void restore_tools(struct shared_catalogue *shared)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer jsonl = {0};
    assert_call_ok(&shared->place, wt_remove_provider(shared->engine, "hidden", &shared->place.err));
    for (unsigned p = 0; p < PROVIDERS; p++) {
        char provider[ID_BYTES];
        snprintf(provider, sizeof provider, "p%u", p);
        assert_call_ok(&shared->place, wt_remove_provider(shared->engine, provider, &shared->place.err));
    }
    for (size_t i = 0; i < TOOLS; i++)
        wt__buffer_text(&jsonl, shared->tools[i].line);
    add(&shared->place, shared->engine, jsonl.ptr);
}

/* ---------------------------------------------------------------- comparison */

static bool texts_are_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_visible(const struct shared_catalogue *shared, const char *id)
{
    for (size_t i = 0; i < TOOLS; i++)
        if (strcmp(shared->tools[i].id, id) == 0)
            return shared->tools[i].visible;
    return false;
}

static bool bits_are_equal(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void assert_same_hits(const wt_hits *view, const wt_hits *alone, const char *request)
{
    if (view->len != alone->len)
        fail_msg("\"%s\": %zu hits of the tenant, %zu alone", request, view->len, alone->len);
    for (size_t i = 0; i < view->len; i++) {
        const wt_hit *a = view->items[i], *b = alone->items[i];
        if (strcmp(a->tool->id, b->tool->id) != 0 || !bits_are_equal(a->score, b->score) ||
            !bits_are_equal(a->probability, b->probability) || a->weak != b->weak || a->more_count != b->more_count)
            fail_msg("\"%s\", hit %zu: %s %.17g of the tenant, %s %.17g alone", request, i, a->tool->id, a->score,
                     b->tool->id, b->score);
    }
    if (!texts_are_equal(view->notice, alone->notice) || !texts_are_equal(view->read_as, alone->read_as) ||
        view->unknown_count != alone->unknown_count || view->copies != alone->copies)
        fail_msg("\"%s\": notices differ: %s, %s; %s, %s", request, view->notice ? view->notice : "-",
                 alone->notice ? alone->notice : "-", view->read_as ? view->read_as : "-",
                 alone->read_as ? alone->read_as : "-");
}

static void compare_finds(struct shared_catalogue *shared, wt_engine *view, wt_engine *alone)
{
    static const char *const recipes[] = {"bm25", "hybrid", "dense"};
    for (size_t r = 0; r < REQUESTS; r++)
        for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
            wt_find_options options;
            wt_find_options_init(&options);
            options.recipe = recipes[i];
            options.k = 12;
            options.max_per_provider = r % 3 == 2 ? 1 : 0;
            wt_hits *a = find_with(&shared->place, view, requests[r], &options);
            wt_hits *b = find_with(&shared->place, alone, requests[r], &options);
            assert_same_hits(a, b, requests[r]);
            for (size_t h = 0; h < a->len; h++)
                assert_true(is_visible(shared, a->items[h]->tool->id));
            wt_hits_free(a);
            wt_hits_free(b);
        }
}

/* A filter must give the same result or the same error, with the same suggestion. */
static void compare_filters(wt_engine *view, wt_engine *alone)
{
    static const char *const lists[] = {"p1", "p3", "p33", "hidden"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        wt_find_options options;
        wt_filter filter;
        wt_hits *a = NULL, *b = NULL;
        wt_error of_view, of_alone;
        wt_find_options_init(&options);
        wt_filter_init(&filter);
        options.recipe = "bm25";
        options.filter = &filter;
        filter.providers = &lists[i];
        filter.provider_count = 1;
        int rc = wt_find(view, requests[0], strlen(requests[0]), &options, &a, &of_view);
        assert_int_equal(wt_find(alone, requests[0], strlen(requests[0]), &options, &b, &of_alone), rc);
        if (rc < 0)
            assert_string_equal(of_view.message, of_alone.message);
        else
            assert_same_hits(a, b, lists[i]);
        wt_hits_free(a);
        wt_hits_free(b);
    }
}

static void compare_lists(struct shared_catalogue *shared, wt_engine *view, wt_engine *alone)
{
    static const char *const patterns[] = {NULL, "tool_a*", "P1/", "p?/*b"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        wt_list_options options;
        wt_tools *a = NULL, *b = NULL;
        wt_list_options_init(&options);
        options.pattern = patterns[i];
        options.offset = i;
        assert_call_ok(&shared->place, wt_list(view, &options, &a, &shared->place.err));
        assert_call_ok(&shared->place, wt_list(alone, &options, &b, &shared->place.err));
        assert_int_equal(a->len, b->len);
        for (size_t t = 0; t < a->len; t++) {
            assert_string_equal(a->items[t]->id, b->items[t]->id);
            assert_string_equal(a->items[t]->definition, b->items[t]->definition);
        }
        wt_tools_free(a);
        wt_tools_free(b);
    }
    wt_catalog_info of_view, of_alone;
    wt_catalog_info_init(&of_view);
    wt_catalog_info_init(&of_alone);
    assert_call_ok(&shared->place, wt_info(view, &of_view, &shared->place.err));
    assert_call_ok(&shared->place, wt_info(alone, &of_alone, &shared->place.err));
    assert_int_equal(of_view.tools, of_alone.tools);
    assert_int_equal(of_view.providers, of_alone.providers);
    assert_int_equal(of_view.embedded, of_alone.embedded);
}

/* Every way to name a hidden tool must fail like an unknown name, without naming hidden tools. */
static void check_hidden_names(struct shared_catalogue *shared, wt_engine *view)
{
    for (size_t i = 0; i < TOOLS; i++) {
        const struct shared_tool *tool = &shared->tools[i];
        char exported[2 * ID_BYTES];
        const char *const names[] = {tool->id, tool->name, exported};
        snprintf(exported, sizeof exported, "%s__%s", tool->provider, tool->name);
        for (size_t n = 0; n < 3; n++) {
            wt_tools *found = NULL;
            int rc = wt_get(view, names[n], &found, &shared->place.err);
            if (tool->visible != (rc == 0))
                fail_msg("wt_get \"%s\" of a %s tool: %s", names[n], tool->visible ? "visible" : "hidden",
                         wt_code_name(rc));
            for (size_t t = 0; rc < 0 && t < TOOLS; t++)
                if (!shared->tools[t].visible && t != i && strstr(shared->place.err.message, shared->tools[t].name))
                    fail_msg("a hidden tool in: %s", shared->place.err.message);
            wt_tools_free(found);
        }
    }
}

static void check_sets_and_calls(struct shared_catalogue *shared, wt_engine *view, wt_engine *alone)
{
    for (size_t r = 0; r < REQUESTS; r++) {
        wt_picked *a = NULL, *b = NULL;
        wt_called *call = NULL;
        assert_call_ok(&shared->place, wt_pick(view, requests[r], strlen(requests[r]), NULL, &a, &shared->place.err));
        assert_call_ok(&shared->place, wt_pick(alone, requests[r], strlen(requests[r]), NULL, &b, &shared->place.err));
        assert_int_equal(a->len, b->len);
        for (size_t i = 0; i < a->len; i++)
            assert_string_equal(a->items[i]->tool->id, b->items[i]->tool->id);
        assert_call_ok(&shared->place,
                       wt_call(view, requests[r], strlen(requests[r]), NULL, &call, &shared->place.err));
        assert_true(!call->tool || is_visible(shared, call->tool->id));
        wt_called_free(call);
        wt_picked_free(a);
        wt_picked_free(b);
    }
}

static void tenant_equals_a_store_of_its_tools(void **state)
{
    struct shared_catalogue *shared = *state;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        write_random_tenant(shared);
        wt_tenants *tenants = open_tenants(shared, NULL);
        wt_engine *view = take_tenant(shared, tenants, "t"), *alone = open_alone(shared);
        compare_finds(shared, view, alone);
        compare_filters(view, alone);
        compare_lists(shared, view, alone);
        check_hidden_names(shared, view);
        if (trial % 4 == 0)
            check_sets_and_calls(shared, view, alone);
        wt_close(alone);
        wt_tenants_release(tenants, view);
        wt_tenants_close(tenants);
    }
}

static void hidden_texts_change_no_bit(void **state)
{
    struct shared_catalogue *shared = *state;
    for (size_t trial = 0; trial < TRIALS / 3; trial++) {
        write_random_tenant(shared);
        wt_tenants *tenants = open_tenants(shared, NULL);
        wt_engine *view = take_tenant(shared, tenants, "t"), *alone = open_alone(shared);
        compare_finds(shared, view, alone);
        change_hidden_tools(shared);
        compare_finds(shared, view, alone);
        compare_filters(view, alone);
        compare_lists(shared, view, alone);
        wt_close(alone);
        wt_tenants_release(tenants, view);
        wt_tenants_close(tenants);
        restore_tools(shared);
    }
}

static void tenant_sees_changes_of_its_tools(void **state)
{
    struct shared_catalogue *shared = *state;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    write_tenants(shared, "{\"tenant\": \"t\", \"providers\": [\"p1\"]}");
    wt_tenants *tenants = open_tenants(shared, NULL);
    wt_engine *view = take_tenant(shared, tenants, "t");
    wt_hits_free(find_with(&shared->place, view, requests[0], &options));
    add(&shared->place, shared->engine,
        "{\"provider\": \"p1\", \"name\": \"fresh\", \"description\": \"zeppelin rides\"}\n");
    wt_hits *hits = find_with(&shared->place, view, "zeppelin", &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "p1/fresh");
    wt_hits_free(hits);
    wt_tenants_release(tenants, view);
    wt_tenants_close(tenants);
    assert_call_ok(&shared->place, wt_remove(shared->engine, "p1/fresh", &shared->place.err));
}

static void tenant_without_tools_finds_none(void **state)
{
    struct shared_catalogue *shared = *state;
    wt_hits *hits = NULL;
    wt_tools *tools = NULL;
    write_tenants(shared, "{\"tenant\": \"t\", \"providers\": [\"absent\"]}\n{\"tenant\": \"u\"}\n");
    wt_tenants *tenants = open_tenants(shared, NULL);
    wt_engine *view = take_tenant(shared, tenants, "u");
    assert_call_refused(&shared->place, wt_find(view, "book", 4, NULL, &hits, &shared->place.err), WT_EEMPTY,
                        "the tenant has no tools");
    assert_call_ok(&shared->place, wt_list(view, NULL, &tools, &shared->place.err));
    assert_int_equal(tools->len, 0);
    wt_tools_free(tools);
    wt_tenants_release(tenants, view);
    assert_call_refused(&shared->place, wt_tenants_engine(tenants, "nobody", &view, &shared->place.err), WT_ENOTFOUND,
                        "there is no tenant \"nobody\"");
    wt_tenants_close(tenants);
}

static void tenant_cannot_change_the_catalogue(void **state)
{
    struct shared_catalogue *shared = *state;
    wt_add_report *report = NULL;
    static const char tool[] = "{\"name\": \"intruder\", \"description\": \"book\"}";
    write_tenants(shared, "{\"tenant\": \"t\", \"tools\": [\"*\"]}");
    wt_tenants *tenants = open_tenants(shared, NULL);
    wt_engine *view = take_tenant(shared, tenants, "t");
    assert_int_equal(wt_add(view, tool, strlen(tool), NULL, &report, &shared->place.err), WT_EREADONLY);
    assert_true(wt_remove(view, shared->tools[0].id, &shared->place.err) < 0);
    assert_true(wt_remove_provider(view, "p1", &shared->place.err) < 0);
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_call_ok(&shared->place, wt_info(shared->engine, &info, &shared->place.err));
    assert_int_equal(info.tools, TOOLS);
    wt_tenants_release(tenants, view);
    wt_tenants_close(tenants);
}

static void reload_keeps_tenants_after_an_error(void **state)
{
    struct shared_catalogue *shared = *state;
    wt_tenants_info info;
    wt_tenants_info_init(&info);
    write_tenants(shared,
                  "{\"tenant\": \"t\", \"providers\": [\"p1\"]}\n{\"tenant\": \"same\", \"providers\": [\"p1\"]}\n");
    wt_tenants *tenants = open_tenants(shared, NULL);
    wt_engine *view = take_tenant(shared, tenants, "t"), *same = take_tenant(shared, tenants, "same");
    assert_ptr_equal(view, same);
    wt_tenants_release(tenants, same);
    write_tenants(shared, "{\"tenant\": \"t\", \"providers\": [1]}\n");
    assert_call_refused(&shared->place, wt_tenants_reload(tenants, &shared->place.err), WT_EFORMAT, ":1:");
    assert_true(wt__tenants_have(tenants, "same"));
    write_tenants(shared,
                  "{\"tenant\": \"x\", \"providers\": [\"p1\"]}\n{\"tenant\": \"t\", \"providers\": [\"p2\"]}\n");
    assert_call_ok(&shared->place, wt_tenants_reload(tenants, &shared->place.err));
    assert_false(wt__tenants_have(tenants, "same"));
    wt_engine *renamed = take_tenant(shared, tenants, "x"), *changed = take_tenant(shared, tenants, "t");
    assert_ptr_equal(renamed, view); /* the selection stayed, and so does its index */
    assert_ptr_not_equal(changed, view);
    assert_true(wt__tenants_allow(tenants, "t", STR("p2"), STR("anything")));
    assert_false(wt__tenants_allow(tenants, "t", STR("p1"), STR("anything")));
    wt_tenants_release(tenants, view);
    wt_tenants_release(tenants, renamed);
    wt_tenants_release(tenants, changed);
    assert_call_ok(&shared->place, wt_tenants_get_info(tenants, &info, &shared->place.err));
    assert_int_equal(info.open_views, 2);
    wt_tenants_close(tenants);
}

static void cache_closes_engines_over_its_limit(void **state)
{
    struct shared_catalogue *shared = *state;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_tenants_options options;
    wt_tenants_info info;
    wt_tenants_options_init(&options);
    wt_tenants_info_init(&info);
    options.cache_bytes = 300 << 10;
    for (size_t i = 0; i < 40; i++)
        wt__buffer_printf(&text, "{\"tenant\": \"t%zu\", \"tools\": [\"%s\"]}\n", i, shared->tools[i].id);
    write_tenants(shared, text.ptr);
    wt_tenants *tenants = open_tenants(shared, &options);
    for (size_t i = 0; i < 80; i++) {
        char name[16];
        wt_tools *tools = NULL;
        snprintf(name, sizeof name, "t%zu", i % 40);
        wt_engine *view = take_tenant(shared, tenants, name);
        assert_call_ok(&shared->place, wt_list(view, NULL, &tools, &shared->place.err));
        assert_int_equal(tools->len, 1);
        assert_string_equal(tools->items[0]->id, shared->tools[i % 40].id);
        wt_tools_free(tools);
        wt_tenants_release(tenants, view);
        assert_call_ok(&shared->place, wt_tenants_get_info(tenants, &info, &shared->place.err));
        assert_true(info.view_bytes <= options.cache_bytes && info.open_views >= 1);
    }
    wt_tenants_close(tenants);
}

/* ---------------------------------------------------------------- threads */

struct tenant_thread {
    struct shared_catalogue *shared;
    wt_tenants *tenants;
    size_t number;
    const char *wrong; /* message of a failure, or NULL */
    wt_error err;
    pthread_t thread;
};

static void *search_as_tenants(void *context)
{
    struct tenant_thread *t = context;
    for (size_t i = 0; i < ROUNDS && !t->wrong; i++) {
        char name[8], provider[8];
        wt_engine *view;
        wt_hits *hits = NULL;
        wt_find_options options;
        wt_find_options_init(&options);
        options.recipe = i % 2 ? "bm25" : "hybrid";
        snprintf(name, sizeof name, "t%zu", (i + t->number) % PROVIDERS);
        snprintf(provider, sizeof provider, "p%zu", (i + t->number) % PROVIDERS);
        if (wt_tenants_engine(t->tenants, name, &view, NULL) < 0) {
            t->wrong = "no engine";
            break;
        }
        if (wt_find(view, requests[0], strlen(requests[0]), &options, &hits, &t->err) < 0)
            t->wrong = t->err.message;
        for (size_t h = 0; hits && h < hits->len; h++)
            if (strcmp(hits->items[h]->tool->provider, provider) != 0)
                t->wrong = "a tool of another tenant";
        wt_hits_free(hits);
        wt_tenants_release(t->tenants, view);
    }
    return NULL;
}

static void threads_share_tenants(void **state)
{
    struct shared_catalogue *shared = *state;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct tenant_thread threads[THREADS];
    wt_tenants_options options;
    wt_tenants_options_init(&options);
    options.cache_bytes = 400 << 10; /* about four engines: threads close and open them */
    for (size_t i = 0; i < PROVIDERS; i++)
        wt__buffer_printf(&text, "{\"tenant\": \"t%zu\", \"providers\": [\"p%zu\"]}\n", i, i);
    write_tenants(shared, text.ptr);
    wt_tenants *tenants = open_tenants(shared, &options);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = (struct tenant_thread){.shared = shared, .tenants = tenants, .number = i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, search_as_tenants, &threads[i]), 0);
    }
    for (size_t i = 0; i < 6; i++) { /* meanwhile, the catalogue and the file change */
        char tool[128];
        snprintf(tool, sizeof tool, "{\"provider\": \"p1\", \"name\": \"new%zu\", \"description\": \"book\"}\n", i);
        add(&shared->place, shared->engine, tool);
        assert_call_ok(&shared->place, wt_tenants_reload(tenants, &shared->place.err));
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        if (threads[i].wrong)
            fail_msg("thread %zu: %s", i, threads[i].wrong);
    }
    wt_tenants_close(tenants);
}

struct reload_notice {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int count, last;
};

static void note_reload(void *context, int rc, const char *message)
{
    struct reload_notice *notice = context;
    (void)message;
    pthread_mutex_lock(&notice->lock);
    notice->count++;
    notice->last = rc;
    pthread_cond_signal(&notice->told);
    pthread_mutex_unlock(&notice->lock);
}

static void wait_for_reload(struct reload_notice *notice, int count)
{
    pthread_mutex_lock(&notice->lock);
    while (notice->count < count)
        pthread_cond_wait(&notice->told, &notice->lock);
    pthread_mutex_unlock(&notice->lock);
}

static void watched_file_is_reloaded(void **state)
{
    struct shared_catalogue *shared = *state;
    struct reload_notice notice = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    wt_tenants_options options;
    wt_tenants_options_init(&options);
    options.watch = 1;
    options.reloaded = note_reload;
    options.reloaded_context = &notice;
    write_tenants(shared, "{\"tenant\": \"t\", \"providers\": [\"p1\"]}\n");
    wt_tenants *tenants = open_tenants(shared, &options);
    write_tenants(shared, "{\"tenant\": \"u\", \"providers\": [\"p1\"]}\n");
    wait_for_reload(&notice, 1);
    assert_int_equal(notice.last, 0);
    assert_true(wt__tenants_have(tenants, "u") && !wt__tenants_have(tenants, "t"));
    write_tenants(shared, "{\"tenant\": \"u\", ");
    wait_for_reload(&notice, 2);
    assert_int_equal(notice.last, WT_EFORMAT);
    assert_true(wt__tenants_have(tenants, "u"));
    wt_tenants_close(tenants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tenant_equals_a_store_of_its_tools),
        cmocka_unit_test(hidden_texts_change_no_bit),
        cmocka_unit_test(tenant_sees_changes_of_its_tools),
        cmocka_unit_test(tenant_without_tools_finds_none),
        cmocka_unit_test(tenant_cannot_change_the_catalogue),
        cmocka_unit_test(reload_keeps_tenants_after_an_error),
        cmocka_unit_test(cache_closes_engines_over_its_limit),
        cmocka_unit_test(watched_file_is_reloaded),
        cmocka_unit_test(threads_share_tenants),
    };
    return cmocka_run_group_tests(tests, open_shared, close_shared);
}
