/* Tests the shown names of resources, templates and prompts if servers offer the same or similar names, and the owners
 * of these names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gateway/internal.h"
#include "gateway/engine_with_servers.h"
#include "gateway/upstream.h"

enum { SERVERS = 5 };
static const struct mcp_server servers[SERVERS] = {{.name = "a", .disabled = true},
                                                   {.name = "b", .disabled = true},
                                                   {.name = "a+b", .disabled = true},
                                                   {.name = "evil", .disabled = true},
                                                   {.name = "7_up", .disabled = true}};

static wt_engine *engine;
static struct gateway *gateway;

static void put_server_offer(size_t server, const char *resources, const char *templates, const char *prompts)
{
    struct upstream_offer *own = calloc(1, sizeof *own);
    atomic_init(&own->refs, 1);
    SOUND(wt__json_parse(&own->resources, resources, strlen(resources), &err));
    SOUND(wt__json_parse(&own->templates, templates, strlen(templates), &err));
    SOUND(wt__json_parse(&own->prompts, prompts, strlen(prompts), &err));
    gateway->upstreams[server]->offer = own;
}

#define URI(uri) "{\"uri\":\"" uri "\",\"name\":\"n\"}"
#define TEMPLATE(uri) "{\"uriTemplate\":\"" uri "\",\"name\":\"n\"}"
#define PROMPT(name) "{\"name\":\"" name "\"}"

static int start_offers_gateway(void **state)
{
    (void)state;
    engine = open_engine();
    SOUND(wt__gateway_open(&gateway, engine, servers, SERVERS, &(struct gateway_options){.bare_names = false}, &err));
    put_server_offer(0, "[" URI("file:///x") "," URI("b+c") "]", "[" TEMPLATE("file:///{path}") "]",
                     "[" PROMPT("review") "]");
    put_server_offer(1, "[" URI("file:///x") "," URI("file:///y") "," URI("git+ssh://h") "]",
                     "[" TEMPLATE("file:///{path}") "]", "[" PROMPT("review") "," PROMPT("b.review") "]");
    put_server_offer(2, "[" URI("c") "]", "[]", "[]");
    /* "evil" imitates every name of b; 7 is not an item. */
    put_server_offer(3, "[7," URI("b+file:///x") "," URI("file:///x") "," URI("evil+b+file:///x") "]",
                     "[" TEMPLATE("b+file:///{path}") "]", "[{}," PROMPT("b.review") "]");
    put_server_offer(4, "[" URI("file:///x") "]", "[" TEMPLATE("file:///{path}") "]", "[" PROMPT("review") "]");
    return 0;
}

static int stop_offers_gateway(void **state)
{
    (void)state;
    wt__gateway_close(gateway);
    wt_close(engine);
    return 0;
}

static const struct {
    size_t server;
    enum offer_kind kind;
    const char *own, *shown;
} names[] = {
    {0, OFFER_RESOURCES, "file:///x", "file:///x"},
    {0, OFFER_RESOURCES, "b+c", "a+b+c"},
    {1, OFFER_RESOURCES, "file:///x", "b+file:///x"},
    {1, OFFER_RESOURCES, "file:///y", "b+file:///y"}, /* matches a template of a */
    {1, OFFER_RESOURCES, "git+ssh://h", "git+ssh://h"},
    {2, OFFER_RESOURCES, "c", "c"},
    {4, OFFER_RESOURCES, "file:///x", "x-7-up+file:///x"}, /* a scheme consists of letters, digits, '+', '-' and '.' */
    {4, OFFER_TEMPLATES, "file:///{path}", "x-7-up+file:///{path}"},
    {4, OFFER_PROMPTS, "review", "7_up.review"},
    {3, OFFER_RESOURCES, "file:///x", "evil+file:///x"},
    {3, OFFER_RESOURCES, "b+file:///x", "evil+b+file:///x"},
    {3, OFFER_RESOURCES, "evil+b+file:///x", "evil+evil+b+file:///x"},
    {0, OFFER_TEMPLATES, "file:///{path}", "file:///{path}"},
    {1, OFFER_TEMPLATES, "file:///{path}", "b+file:///{path}"},
    {3, OFFER_TEMPLATES, "b+file:///{path}", "evil+b+file:///{path}"},
    {0, OFFER_PROMPTS, "review", "review"},
    {1, OFFER_PROMPTS, "review", "b.review"},
    {1, OFFER_PROMPTS, "b.review", "b.b.review"},
    {3, OFFER_PROMPTS, "b.review", "evil.b.review"},
};

static void each_shown_name_leads_to_its_server(void **state)
{
    struct offer_snapshot offers;
    (void)state;
    wt__offer_snapshot_open(gateway, &offers);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buffer shown = {0};
        wt__offer_put_shown_name(gateway, &offers, names[i].server, names[i].kind, wt__str(names[i].own), &shown);
        struct str back = wt__buffer_view(&shown);
        const struct upstream *owner = wt__offer_owner(gateway, names[i].kind, &back);
        if (strcmp(shown.ptr, names[i].shown) != 0 || !wt__str_equal(back, wt__str(names[i].own)) ||
            owner != gateway->upstreams[names[i].server])
            fail_msg("%s of %s: %s, back to %.*s of %s", names[i].own, servers[names[i].server].name, shown.ptr,
                     (int)back.len, back.ptr, owner ? wt__upstream_name(owner) : "no server");
        for (size_t n = 0; n < i; n++)
            assert_true(names[n].kind != names[i].kind || strcmp(names[n].shown, names[i].shown) != 0);
        wt__buffer_dispose(&shown);
    }
    wt__offer_snapshot_close(&offers);
}

/* Names that the lists for clients do not have. A template may match the name, with or without the prefix of a
 * server. */
static const struct {
    enum offer_kind kind;
    const char *name;
    int server; /* -1 if unknown */
    const char *own;
} unlisted[] = {
    {OFFER_RESOURCES, "file:///z", 0, "file:///z"},
    {OFFER_RESOURCES, "b+file:///z", 1, "file:///z"},
    {OFFER_RESOURCES, "evil+b+file:///z", 3, "b+file:///z"},
    {OFFER_RESOURCES, "evil+", -1, "evil+"},
    {OFFER_RESOURCES, "other://", -1, "other://"},
    {OFFER_RESOURCES, "", -1, ""},
    {OFFER_RESOURCES, "file:///y", 0, "file:///y"},
    {OFFER_PROMPTS, "evil.x", -1, "evil.x"},
    {OFFER_PROMPTS, "x", -1, "x"},
    {OFFER_PROMPTS, "evil+x", -1, "evil+x"},
};

static void finds_owners_of_unlisted_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unlisted / sizeof *unlisted; i++) {
        struct str name = wt__str(unlisted[i].name);
        const struct upstream *owner = wt__offer_owner(gateway, unlisted[i].kind, &name);
        const struct upstream *wanted = unlisted[i].server < 0 ? NULL : gateway->upstreams[unlisted[i].server];
        if (owner != wanted || !wt__str_equal(name, wt__str(unlisted[i].own)))
            fail_msg("%s: %.*s of %s", unlisted[i].name, (int)name.len, name.ptr,
                     owner ? wt__upstream_name(owner) : "no server");
    }
}

static const struct {
    const char *template, *uri;
    bool fits;
} template_rows[] = {
    {"notes://{id}", "notes://secret", true},           {"notes://{id}", "notes://", true},
    {"notes://{id}", "note://secret", false},           {"notes://all", "notes://all", true},
    {"notes://all", "notes://all/of/them", false},      {"db://{table}/schema", "db://users/schema", true},
    {"db://{table}/schema", "db://users/rows", false},  {"db://{table}/schema", "db://schema", false},
    {"db://{table}/of/{row}", "db://users/of/7", true}, {"db://{table}/of/{row}", "db://users/7", false},
    {"db://x{?page,size}", "db://x?page=2", true},      {"db://{broken", "db://anything", true},
    {"{everything}", "notes://secret", false},
};

/* If a later server lists a URI that matches a template of an earlier server, the URI leads to the earlier server.
 * Clients see the resource of the later server with the prefix of that server. */
static void a_template_precedes_later_servers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof template_rows / sizeof *template_rows; i++) {
        struct buffer templates = {0}, resources = {0}, shown = {0};
        struct offer_snapshot offers;
        wt__buffer_printf(&templates, "[" TEMPLATE("%s") "]", template_rows[i].template);
        wt__buffer_printf(&resources, "[" URI("%s") "]", template_rows[i].uri);
        for (size_t s = 0; s < SERVERS; s++)
            wt__upstream_offer_release(gateway->upstreams[s]->offer);
        put_server_offer(0, "[]", templates.ptr, "[]");
        put_server_offer(1, resources.ptr, "[]", "[]");
        for (size_t s = 2; s < SERVERS; s++)
            put_server_offer(s, "[]", "[]", "[]");
        struct str name = wt__str(template_rows[i].uri);
        if (wt__offer_owner(gateway, OFFER_RESOURCES, &name) != gateway->upstreams[template_rows[i].fits ? 0 : 1])
            fail_msg("%s of %s", template_rows[i].uri, template_rows[i].template);
        wt__offer_snapshot_open(gateway, &offers);
        wt__offer_put_shown_name(gateway, &offers, 1, OFFER_RESOURCES, name, &shown);
        struct str back = wt__buffer_view(&shown);
        assert_int_equal(wt__str_starts(back, STR("b+")), template_rows[i].fits);
        assert_ptr_equal(wt__offer_owner(gateway, OFFER_RESOURCES, &back), gateway->upstreams[1]);
        assert_true(wt__str_equal(back, name));
        wt__offer_snapshot_close(&offers);
        wt__buffer_dispose(&templates);
        wt__buffer_dispose(&resources);
        wt__buffer_dispose(&shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shown_name_leads_to_its_server),
        cmocka_unit_test(finds_owners_of_unlisted_names),
        cmocka_unit_test(a_template_precedes_later_servers),
    };
    return cmocka_run_group_tests(tests, start_offers_gateway, stop_offers_gateway);
}
