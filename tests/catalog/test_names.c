/* Names on the wire: within each API's rule, exact ones decode to what they were made of, and two tools never share
 * one. Held over random bytes that favour what the escapes are made of, and over every name of real data sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "catalog/names.h"

static const char *const apis[] = {"openai", "openai-responses", "anthropic", "gemini", "mcp"};
enum { APIS = sizeof apis / sizeof apis[0] };

static const struct {
    const char *what, *api, *provider, *name, *wire;
} cases[] = {
    {"a plain name stays", "openai", "", "get_weather", "get_weather"},
    {"provider and name", "openai", "github", "create_issue", "github__create_issue"},
    {"a name may have the separator", "openai", "a", "b__c", "a__b__c"},
    {"a provider may not", "openai", "a__b", "c", "a_x5f_b__c"},
    {"nor end in half of it", "openai", "a_", "b", "a_x5f__b"},
    {"a name may begin with half of it", "openai", "a", "_b", "a___b"},
    {"alone a name may not have it", "openai", "", "a__b", "a_x5f_b"},
    {"blanks and slashes", "openai", "The Shop", "GET /x", "The_x20Shop__GET_x20_x2fx"},
    {"a dot for those that know it", "mcp", "", "a.b", "a.b"},
    {"and for those that do not", "anthropic", "", "a.b", "a_x2eb"},
    {"an escape that is meant literally", "openai", "", "a_x20b", "a_x5fx20b"},
    {"what only looks like one", "openai", "", "a_x2Gb", "a_x2Gb"},
    {"capitals are no escape", "openai", "", "a_x2Fb", "a_x2Fb"},
    {"gemini begins with a letter", "gemini", "", "1st", "_x31st"},
    {"of the provider when there is one", "gemini", "1", "2", "_x31__2"},
    {"the end of a hashed name", "openai", "", "a_h0123456789abcdef", "a_h0123456789abcde_x66"},
    {"the same across the separator", "openai", "p", "h0123456789abcdef", "p__h0123456789abcde_x66"},
    {"bytes that are no ASCII", "openai", "", "\xc3\xa9", "_xc3_xa9"},
};

static void each_case_is_written_and_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char wire[WIRE_MAX + 1];
        struct buffer provider = {0}, name = {0};
        uint64_t hash;
        size_t len = wt__wire_name(wt__wire_rule(wt__str(cases[i].api)), wt__str(cases[i].provider),
                                   wt__str(cases[i].name), wire);
        assert_int_equal(len, strlen(wire));
        assert_string_equal(wire, cases[i].wire);
        assert_int_equal(wt__wire_decode(wt__str(wire), &provider, &name, &hash), WIRE_EXACT);
        assert_true(wt__str_equal(wt__buffer_view(&provider), wt__str(cases[i].provider)));
        assert_true(wt__str_equal(wt__buffer_view(&name), wt__str(cases[i].name)));
        wt__buffer_dispose(&provider);
        wt__buffer_dispose(&name);
    }
}

static bool obeys(const struct wire_rule *rule, const char *wire, size_t len)
{
    if (len == 0 || len > rule->max || (rule->letter_first && strchr("0123456789-.:", wire[0])))
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = wire[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!letter && !strchr(rule->extra, c))
            return false;
    }
    return true;
}

/* Writes, checks and reads back one tool's name under one rule. */
static void check_tool(const struct wire_rule *rule, struct str provider, struct str name)
{
    char wire[WIRE_MAX + 1];
    struct buffer got_provider = {0}, got_name = {0};
    uint64_t hash;
    size_t len = wt__wire_name(rule, provider, name, wire);
    if (name.len > 0)
        assert_true(obeys(rule, wire, len));
    if (wt__wire_decode((struct str){wire, len}, &got_provider, &got_name, &hash) == WIRE_EXACT) {
        assert_true(wt__str_equal(wt__buffer_view(&got_provider), provider));
        assert_true(wt__str_equal(wt__buffer_view(&got_name), name));
    } else {
        assert_int_equal(len, rule->max);
        assert_true(hash == wt__id_hash(provider, name));
    }
    wt__buffer_dispose(&got_provider);
    wt__buffer_dispose(&got_name);
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char pieces[] = "___xxh0123456789abcdef.-:/ AZaz\xc3\xa9\x01";
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (int i = 0; i < 60000; i++) {
        char bytes[2][80];
        struct str part[2];
        for (int p = 0; p < 2; p++) {
            size_t most = wt__rng_below(&rng, 10) == 0 ? 80 : 14;
            size_t len = wt__rng_below(&rng, most);
            for (size_t b = 0; b < len; b++)
                bytes[p][b] = wt__rng_below(&rng, 20) == 0 ? (char)wt__rng_below(&rng, 256)
                                                           : pieces[wt__rng_below(&rng, sizeof pieces - 1)];
            part[p] = (struct str){bytes[p], len};
        }
        check_tool(wt__wire_rule(wt__str(apis[i % APIS])), part[0], part[1]);
    }
}

static void a_long_name_ends_in_its_hash(void **state)
{
    (void)state;
    char name[200], wire[WIRE_MAX + 1];
    memset(name, 'n', sizeof name);
    struct str text = {name, sizeof name};
    wt__wire_name(wt__wire_rule(STR("openai")), STR("provider"), text, wire);
    char tail[19];
    snprintf(tail, sizeof tail, "_h%016llx", (unsigned long long)wt__id_hash(STR("provider"), text));
    assert_int_equal(strlen(wire), 64);
    assert_string_equal(wire + 64 - 18, tail);
    assert_memory_equal(wire, "provider__nnn", 13);
}

static void ids_are_provider_slash_name(void **state)
{
    (void)state;
    struct buffer id = {0};
    wt__tool_id(&id, STR("p"), STR("n"));
    assert_string_equal(id.ptr, "p/n");
    wt__buffer_clear(&id);
    wt__tool_id(&id, STR(""), STR("n"));
    assert_string_equal(id.ptr, "n");
    wt__buffer_dispose(&id);
    assert_true(wt__id_hash(STR("p"), STR("n")) == wt__id_hash(STR(""), STR("p/n")));
    assert_null(wt__wire_rule(STR("soap")));
}

static void property_names_fit_and_come_back(void **state)
{
    (void)state;
    struct buffer out = {0};
    wt__wire_escape(&out, STR("filter[id]"), "-.", 64);
    assert_string_equal(out.ptr, "filter_x5bid_x5d");
    wt__buffer_dispose(&out);
}

/* ---------------------------------------------------------------- real names */

/* All names of one corpus under one rule: distinct tools have distinct names. */
static void check_corpus(const char *path, const struct wire_rule *rule)
{
    char *bytes;
    size_t len;
    struct arena arena = {0};
    struct map wires = {0};
    assert_int_equal(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, NULL), 0);
    for (char *line = bytes, *end; (end = memchr(line, '\n', (size_t)(bytes + len - line))); line = end + 1) {
        json_t *row;
        assert_int_equal(wt__json_parse(&row, line, (size_t)(end - line), NULL), 0);
        struct str provider = wt__json_str(wt__json_object(row, "metadata"), "provider");
        struct str name = wt__json_str(row, "title");
        struct buffer id = {0};
        char wire[WIRE_MAX + 1];
        check_tool(rule, provider, name);
        size_t wire_len = wt__wire_name(rule, provider, name, wire);
        wt__tool_id(&id, provider, name);
        char *kept = wt__arena_copy(&arena, (struct str){wire, wire_len});
        bool added;
        uint32_t *slot = wt__map_insert(&wires, wt__str(kept), (uint32_t)wt__id_hash(provider, name), &added);
        assert_true(added || *slot == (uint32_t)wt__id_hash(provider, name));
        wt__buffer_dispose(&id);
        json_decref(row);
    }
    wt__map_dispose(&wires);
    wt__arena_dispose(&arena);
    free(bytes);
}

static void real_names_come_back_and_stay_apart(void **state)
{
    (void)state;
    static const char *const sets[] = {"mcp-smithery", "mcp-docker", "mcp-github", "toolbench-i3", "toolbench-open",
                                       "restgpt",      "callnavi",   "gorilla-hf", "bfcl-multiple"};
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");
    char folder[600];
    size_t here = 0;
    snprintf(folder, sizeof folder, "%s%s", shared ? shared : source ? source : ".", shared ? "" : "/../shared");
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        char path[700];
        snprintf(path, sizeof path, "%s/data/%s/corpus.jsonl", folder, sets[s]);
        if (!wt__is_file(path)) {
            print_message("skipped: names of data set %s (not here)\n", sets[s]);
            continue;
        }
        here++;
        for (size_t a = 0; a < APIS; a++)
            check_corpus(path, wt__wire_rule(wt__str(apis[a])));
    }
    if (here == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_is_written_and_read_back), cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(a_long_name_ends_in_its_hash),       cmocka_unit_test(ids_are_provider_slash_name),
        cmocka_unit_test(property_names_fit_and_come_back),   cmocka_unit_test(real_names_come_back_and_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
