/* test_dialogue.c: tests conversations through the public API: the turn used as request, kept tools, invalid input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/set_up.h"

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define AGENT(text, tool)                                                                                              \
    "{\"role\":\"assistant\",\"content\":\"" text "\",\"tool_calls\":[{\"function\":{\"name\":\"" tool "\"}}]}"

static const char journey[] = "[" USER("Find flights between two airports") "," AGENT(
    "There are three flights", "travel__search_flights") "," USER("and a room there") "]";

static wt_find_options options_of(const char *messages)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.messages = messages;
    options.messages_len = messages ? strlen(messages) : 0;
    return options;
}

static wt_hits *find_conversation(wt_engine *engine, const wt_find_options *options)
{
    return find_with(&place, engine, "", options);
}

/* Returns the rank of the tool from 1, or 0 if it is not a hit. */
static size_t rank_of_hit(const wt_hits *hits, const char *id)
{
    for (size_t i = 0; i < hits->len; i++)
        if (strcmp(hits->items[i]->tool->id, id) == 0)
            return i + 1;
    return 0;
}

static void last_turn_of_the_user_is_the_request(void **state)
{
    (void)state;
    wt_find_options options = options_of(journey);
    wt_hits *hits = find_conversation(lexical, &options);
    assert_string_equal(hits->last_turn, "and a room there");
    assert_string_equal(hits->items[0]->tool->id, "travel/bookHotel");
    wt_hits_free(hits);
    hits = find_with(&place, lexical, "warnings of storms and floods",
                     &options); /* a given request replaces the last turn */
    assert_string_equal(hits->last_turn, "warnings of storms and floods");
    assert_string_equal(hits->items[0]->tool->id, "weather/storm_alerts");
    wt_hits_free(hits);
    wt_find_options none = options_of(NULL);
    hits = find_with(&place, lexical, "warnings of storms", &none);
    assert_null(hits->last_turn);
    assert_int_equal(hits->kept, 0);
    wt_hits_free(hits);
}

/* Two providers have a tool "search". The tool of the provider that was called or mentioned before must come first. */
static void earlier_turns_disambiguate(void **state)
{
    static const struct {
        const char *name, *messages, *first;
    } rows[] = {
        {"earlier turns about documents", "[\"Find a document by its words\",\"I cannot do that\",\"find it\"]",
         "files/search"},
        {"earlier turns about songs", "[\"Find a song by its title\",\"I cannot do that\",\"find it\"]",
         "music/search"},
        {"earlier turn of the agent about songs", "[\"Shall I find a song by its title?\",\"yes\"]", "music/search"},
        {"called tool of files", "[" AGENT("", "files__search") "," USER("find") "]", "files/search"},
        {"called tool of music", "[" AGENT("", "music__search") "," USER("find") "]", "music/search"},
        {"called tool of music with the prefix mcp__", "[" AGENT("", "mcp__music__search") "," USER("find") "]",
         "music/search"},
    };
    wt_engine *engines[] = {lexical, semantic};
    (void)state;
    for (size_t e = 0; e < 2; e++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            wt_find_options options = options_of(rows[i].messages);
            options.recipe = "bm25"; /* the small model has random weights */
            wt_hits *hits = find_conversation(engines[e], &options);
            if (hits->len == 0 || strcmp(hits->items[0]->tool->id, rows[i].first) != 0)
                fail_msg("%s: %s", rows[i].name, hits->len ? hits->items[0]->tool->id : "nothing");
            wt_hits_free(hits);
        }
}

/* Called tools stay for any request and do not use up places. */
static void called_tools_are_kept(void **state)
{
    static const char *const have[] = {"calculator", "music/search", "calculator", "travel/search_flights"};
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    wt_find_options options = options_of(journey);
    (void)state;
    options.have = have;
    options.have_count = 4;
    for (size_t r = 0; r < 3; r++)
        for (size_t k = 1; k <= HANDMADE; k++) {
            size_t kept = 0, fresh = 0, found = 0;
            options.recipe = recipes[r];
            options.k = k;
            wt_hits *hits = find_conversation(semantic, &options);
            for (size_t i = 0; i < hits->len; i++) {
                const wt_hit *hit = hits->items[i];
                kept += hit->kept != 0;
                fresh += !hit->kept;
                found += hit->score > 0;
                assert_true(i == 0 || hits->items[i - 1]->score >= hit->score);
                assert_true(hit->score > 0 || (hit->kept && isnan(hit->probability)));
            }
            assert_int_equal(kept, 3);
            assert_int_equal(hits->kept, 3);
            assert_true(fresh <= k && found > 0);
            assert_true(rank_of_hit(hits, "calculator") && rank_of_hit(hits, "music/search") &&
                        rank_of_hit(hits, "travel/search_flights"));
            wt_hits_free(hits);
        }
}

static void request_without_messages_keeps_tools(void **state)
{
    static const char *const have[] = {"weather__storm_alerts"};
    wt_find_options options = options_of(NULL);
    (void)state;
    options.k = 1;
    options.have = have;
    options.have_count = 1;
    wt_hits *hits = find_with(&place, lexical, "reserve a hotel room", &options);
    assert_int_equal(hits->len, 2);
    assert_string_equal(hits->items[0]->tool->id, "travel/bookHotel");
    assert_string_equal(hits->items[1]->tool->id, "weather/storm_alerts");
    assert_true(!hits->items[0]->kept && hits->items[1]->kept);
    wt_hits_free(hits);
    options.none_if_unsure = 1;
    hits = find_with(&place, lexical, "qwertz", &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "weather/storm_alerts");
    wt_hits_free(hits);
}

/* A conversation cannot bypass a filter. */
static void excluded_tools_are_not_kept(void **state)
{
    static const char *const excluded[] = {"search*"}, *const have[] = {"music/search"};
    wt_filter filter;
    wt_find_options options = options_of(journey);
    (void)state;
    wt_filter_init(&filter);
    filter.excluded = excluded;
    filter.excluded_count = 1;
    options.filter = &filter;
    options.have = have;
    options.have_count = 1;
    wt_hits *hits = find_conversation(lexical, &options);
    assert_int_equal(hits->kept, 0);
    assert_int_equal(rank_of_hit(hits, "travel/search_flights") + rank_of_hit(hits, "music/search"), 0);
    wt_hits_free(hits);
}

static void kept_tools_use_budget_first(void **state)
{
    wt_find_options options = options_of(journey);
    size_t all = 0;
    (void)state;
    options.max_tokens = 1;
    wt_hits *hits = find_conversation(lexical, &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "travel/search_flights");
    assert_true(hits->items[0]->kept && hits->items[0]->tokens > 1);
    assert_int_equal(hits->tokens, hits->items[0]->tokens);
    assert_true(hits->over_budget > 0);
    all = hits->tokens;
    wt_hits_free(hits);
    options.max_tokens = all;
    hits = find_conversation(lexical, &options);
    assert_int_equal(hits->len, 1);
    wt_hits_free(hits);
    options.max_tokens = 10 * all;
    hits = find_conversation(lexical, &options);
    assert_true(hits->len > 1 && hits->tokens <= 10 * all);
    wt_hits_free(hits);
}

static void skipped_messages_and_names_are_reported(void **state)
{
    static const char *const have[] = {"no_such_tool", "search"};
    wt_find_options options =
        options_of("[{\"content\":\"x\"}," AGENT("", "bash") "," USER("Reserve a hotel room") "]");
    (void)state;
    options.have = have;
    options.have_count = 2;
    wt_hits *hits = find_conversation(lexical, &options);
    assert_string_equal(hits->items[0]->tool->id, "travel/bookHotel");
    assert_int_equal(hits->kept, 0);
    assert_non_null(strstr(hits->notice, "1 message is left out of the conversation: /0: it has no \"role\""));
    assert_non_null(strstr(hits->notice, "cannot keep \"bash\", \"no_such_tool\", \"search\": no tool or several "
                                         "tools have that name"));
    wt_hits_free(hits);
}

static void invalid_conversation_is_rejected(void **state)
{
    static const struct {
        const char *messages;
        int code;
        const char *says;
    } rows[] = {
        {"", WT_EFORMAT, "the conversation is empty"},
        {"[]", WT_EFORMAT, "the conversation has no text of the user; give a message with the role \"user\""},
        {"[" AGENT("hello", "search") "]", WT_EFORMAT, "the conversation has no text of the user"},
        {"[{\"role\":\"USR\",\"content\":\"hi\"}]", WT_EFORMAT, "the conversation has no text of the user: /0: its"},
        {"{\"text\":\"hi\"}", WT_EFORMAT, "has no \"messages\""},
        {"[\"a\"", WT_EFORMAT, "send the whole conversation"},
    };
    const char *names[WT_MAX_KEPT + 1] = {NULL};
    wt_hits *hits;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_find_options options = options_of(rows[i].messages);
        assert_call_refused(&place, wt_find(lexical, NULL, 0, &options, &hits, &place.err), rows[i].code, rows[i].says);
        assert_null(hits);
    }
    wt_find_options options = options_of("[\"hi\"]");
    options.have = names;
    options.have_count = 1;
    assert_call_refused(&place, wt_find(lexical, NULL, 0, &options, &hits, &place.err), WT_EINVAL, "is NULL");
    options.have_count = WT_MAX_KEPT + 1;
    assert_call_refused(&place, wt_find(lexical, NULL, 0, &options, &hits, &place.err), WT_EINVAL, "at most 256 are");
}

static void picked_set_keeps_called_tools(void **state)
{
    wt_pick_options options;
    wt_picked *picked = NULL;
    (void)state;
    wt_pick_options_init(&options);
    options.messages = journey;
    options.messages_len = strlen(journey);
    for (int abstain = -1; abstain <= 0; abstain++) {
        size_t kept = 0;
        options.abstain = abstain;
        assert_call_ok(&place, wt_pick(semantic, NULL, 0, &options, &picked, &place.err));
        assert_string_equal(picked->last_turn, "and a room there");
        for (size_t i = 0; i < picked->len; i++)
            kept += picked->items[i]->kept && strcmp(picked->items[i]->tool->id, "travel/search_flights") == 0;
        assert_int_equal(kept, 1);
        assert_int_equal(picked->kept, 1);
        wt_picked_free(picked);
    }
    static const char *const others[] = {"ptr", "bundle"};
    for (size_t i = 0; i < 2; i++) {
        options.recipe = others[i];
        assert_call_refused(&place, wt_pick(semantic, NULL, 0, &options, &picked, &place.err), WT_EINVAL,
                            "does not support conversations or tools to keep; use the recipe set");
    }
}

/* The words of a self-contained request count more than the conversation. */
static void change_of_subject_ignores_context(void **state)
{
    wt_find_options options = options_of("[" USER("Find flights between two airports") "," AGENT(
        "There are three", "travel__search_flights") "," USER("Warnings of storms and floods") "]");
    (void)state;
    wt_hits *hits = find_conversation(lexical, &options);
    assert_string_equal(hits->items[0]->tool->id, "weather/storm_alerts");
    wt_hits_free(hits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_turn_of_the_user_is_the_request),
        cmocka_unit_test(earlier_turns_disambiguate),
        cmocka_unit_test(called_tools_are_kept),
        cmocka_unit_test(request_without_messages_keeps_tools),
        cmocka_unit_test(excluded_tools_are_not_kept),
        cmocka_unit_test(kept_tools_use_budget_first),
        cmocka_unit_test(skipped_messages_and_names_are_reported),
        cmocka_unit_test(invalid_conversation_is_rejected),
        cmocka_unit_test(picked_set_keeps_called_tools),
        cmocka_unit_test(change_of_subject_ignores_context),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
