/* Tests long results: the joined pieces equal the result, each piece is within the budget, and a handle works once, for
 * one principal, until it expires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gateway/engine_with_servers.h"

enum {
    RESULTS = 3000,
    AROUND = 300, /* bytes that a piece may have above the budget, for the note about the handle and the members */
};

static wt_engine *engine;
static struct gateway *gateway;
static double clock_ms;
static const struct result_reader alice = {"alice", "alice"};

static double fixed_clock(void)
{
    return clock_ms;
}

static int start_results_gateway(void **state)
{
    static const struct gateway_options options = {.now_ms = fixed_clock};
    (void)state;
    engine = open_engine();
    SOUND(wt__gateway_open(&gateway, engine, NULL, 0, &options, &err));
    return 0;
}

static int stop_results_gateway(void **state)
{
    (void)state;
    wt__gateway_close(gateway);
    wt_close(engine);
    return 0;
}

/* ---------------------------------------------------------------- pieces */

/* Appends the content of a piece, without the note about the handle. handle: receives the handle of the note, or "". */
static void take_piece(struct str piece, json_t *content, char handle[64])
{
    json_t *read = NULL;
    SOUND(wt__json_parse(&read, piece.ptr, piece.len, &err));
    const json_t *list = json_object_get(read, "content");
    size_t count = json_array_size(list);
    handle[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        const char *text = json_string_value(json_object_get(item, "text"));
        const char *mark = text && text[0] == '[' ? strstr(text, "call read_more with the handle ") : NULL;
        if (i + 1 == count && mark)
            snprintf(handle, 64, "%.*s", (int)strcspn(mark + 31, "]"), mark + 31);
        else
            json_array_append(content, item);
    }
    json_decref(read);
}

/* Joins consecutive texts, so that results compare equal wherever they were cut. */
static char *flatten_texts(const json_t *content)
{
    struct buffer out = {0};
    for (size_t i = 0; i < json_array_size(content); i++) {
        json_t *item = json_array_get(content, i);
        const char *text = json_string_value(json_object_get(item, "text"));
        if (text)
            wt__buffer_text(&out, text);
        else
            wt__json_write(&out, item);
    }
    return wt__buffer_take(&out);
}

static bool has_image(const json_t *content)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(content); i++)
        found |= !json_object_get(json_array_get(content, i), "text");
    return found;
}

/* Returns the content of all pieces of a result, freed by the caller. *pieces: number of pieces. */
static json_t *read_all(struct str result, size_t most, size_t *pieces)
{
    json_t *content = json_array();
    struct buffer piece = {0};
    char handle[64];
    SOUND(wt__result_cut(gateway, &alice, result, most, &piece, &err));
    for (*pieces = 1;; ++*pieces) {
        json_t *own = json_array();
        take_piece(wt__buffer_view(&piece), own, handle);
        if (piece.len > most + AROUND && !(json_array_size(own) == 1 && has_image(own)))
            fail_msg("a piece has %zu bytes, but the budget is %zu: %.300s", piece.len, most, piece.ptr);
        json_array_extend(content, own);
        json_decref(own);
        if (!handle[0])
            break;
        wt__buffer_clear(&piece);
        SOUND(wt__result_more(gateway, &alice, wt__str(handle), most, &piece, &err));
        assert_true(*pieces < 100000);
    }
    wt__buffer_dispose(&piece);
    return content;
}

static json_t *draw_text(struct rng *rng)
{
    static const char *const parts[] = {
        "a", "word ", "\n",   "\xc3\xa9",  "\xe2\x82\xac", "\xf0\x9f\x98\x80",       "\"", "\\",
        "/", "\x01",  "\x7f", "e\xcc\x81", "\t",           "a longer line of text\n"};
    struct buffer text = {0};
    size_t only = wt__rng_below(rng, 3) ? 0 : 1 + wt__rng_below(rng, sizeof parts / sizeof *parts);
    wt__buffer_char(&text, 'x');
    for (size_t left = wt__rng_below(rng, 800); left > 0; left--)
        wt__buffer_text(&text, parts[only ? only - 1 : wt__rng_below(rng, sizeof parts / sizeof *parts)]);
    json_t *out = wt__json_string(wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return out;
}

static json_t *draw_item(struct rng *rng)
{
    if (wt__rng_below(rng, 4) == 0) {
        char data[200];
        size_t len = 4 * wt__rng_below(rng, 49);
        memset(data, 'A', len);
        return json_pack("{s:s,s:s%,s:s}", "type", "image", "data", data, len, "mimeType", "image/png");
    }
    json_t *item = json_pack("{s:s,s:o}", "type", "text", "text", draw_text(rng));
    if (wt__rng_below(rng, 5) == 0)
        json_object_set_new(item, "annotations", json_pack("{s:[s]}", "audience", "user"));
    return item;
}

static void joined_pieces_equal_the_result(void **state)
{
    struct rng rng;
    size_t most_pieces = 0;
    (void)state;
    wt__rng_seed(&rng, 1);
    for (int i = 0; i < RESULTS; i++) {
        json_t *content = json_array(), *result = json_object();
        for (size_t items = wt__rng_below(&rng, 6); items > 0; items--)
            json_array_append_new(content, draw_item(&rng));
        size_t most = 200 + wt__rng_below(&rng, 2000), pieces;
        struct buffer text = {0};
        json_object_set(result, "content", content);
        wt__json_write(&text, result);
        json_t *joined = read_all(wt__buffer_view(&text), most, &pieces);
        char *before = flatten_texts(content), *after = flatten_texts(joined);
        if (strcmp(before, after) != 0)
            fail_msg("result %d in pieces of %zu: %s\nis not %s", i, most, after, before);
        if (pieces > most_pieces)
            most_pieces = pieces;
        free(before);
        free(after);
        json_decref(joined);
        json_decref(content);
        json_decref(result);
        wt__buffer_dispose(&text);
    }
    assert_true(most_pieces > 10);
}

/* ---------------------------------------------------------------- other content */

static const struct {
    const char *name, *result, *joined; /* joined: content of all pieces; NULL if the result is unchanged */
} others[] = {
    {"a short result is unchanged", "{\"content\" : [],\"x\":1.50}", NULL},
    {"structured content alone becomes a text",
     "{\"content\":[],\"structuredContent\":{\"a\":[1,\""
     "0123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789"
     "\"]}}",
     "{\"a\":[1,\""
     "0123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789"
     "\"]}"},
    {"structured content without a member content becomes a text",
     "{\"structuredContent\":[\"0123456789012345678901234567890123456789\","
     "\"0123456789012345678901234567890123456789\"]}",
     "[\"0123456789012345678901234567890123456789\",\"0123456789012345678901234567890123456789\"]"},
    {"structured content next to an image becomes a text",
     "{\"content\":[{\"type\":\"image\",\"data\":\"AAAA\"}],\"structuredContent\":{\"a\":"
     "\"0123456789012345678901234567890123456789\"}}",
     "{\"type\":\"image\",\"data\":\"AAAA\"}{\"a\":\"0123456789012345678901234567890123456789\"}"},
    {"structured content next to a text is dropped",
     "{\"content\":[{\"type\":\"text\",\"text\":\"0123456789012345678901234567890123456789\"}],\"structuredContent\":{"
     "\"a\":1}}",
     "0123456789012345678901234567890123456789"},
    {"an image is not cut",
     "{\"content\":[{\"type\":\"image\",\"data\":"
     "\"0123456789012345678901234567890123456789012345678901234567890123456789\"}]}",
     "{\"type\":\"image\",\"data\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}"},
};

static void cuts_results_with_other_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct buffer out = {0};
        char handle[64];
        json_t *content = json_array();
        SOUND(wt__result_cut(gateway, &alice, wt__str(others[i].result), 90, &out, &err));
        if (!others[i].joined)
            assert_string_equal(out.ptr, others[i].result);
        assert_true(!others[i].joined || !strstr(out.ptr, "structuredContent"));
        take_piece(wt__buffer_view(&out), content, handle);
        while (handle[0]) {
            wt__buffer_clear(&out);
            SOUND(wt__result_more(gateway, &alice, wt__str(handle), 90, &out, &err));
            take_piece(wt__buffer_view(&out), content, handle);
        }
        char *joined = flatten_texts(content);
        if (others[i].joined && strcmp(joined, others[i].joined) != 0)
            fail_msg("%s: %s", others[i].name, joined);
        free(joined);
        json_decref(content);
        wt__buffer_dispose(&out);
    }
}

/* Reading ends even with a budget too small for one character. */
static void ends_with_the_smallest_budget(void **state)
{
    size_t pieces;
    (void)state;
    json_t *content = read_all(STR("{\"content\":[{\"type\":\"text\",\"text\":\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"},{"
                                   "\"type\":\"text\",\"text\":\"\"}]}"),
                               1, &pieces);
    char *joined = flatten_texts(content);
    assert_string_equal(joined, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
    assert_int_equal(pieces, 2);
    free(joined);
    json_decref(content);
}

/* ---------------------------------------------------------------- handles */

#define LONG                                                                                                           \
    "{\"isError\":true,\"_meta\":{\"k\":1},\"content\":[{\"type\":\"text\",\"text\":"                                  \
    "\"one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n\"}]}"

static void cut_for(const char *principal, char handle[64])
{
    struct buffer out = {0};
    json_t *content = json_array();
    SOUND(wt__result_cut(gateway, &(struct result_reader){principal, principal}, STR(LONG), 50, &out, &err));
    assert_non_null(strstr(out.ptr, "\"isError\":true,\"_meta\":{\"k\":1}"));
    take_piece(wt__buffer_view(&out), content, handle);
    assert_true(handle[0]);
    json_decref(content);
    wt__buffer_dispose(&out);
}

static void is_handle_refused(const char *principal, const char *handle)
{
    struct buffer out = {0};
    assert_int_equal(
        wt__result_more(gateway, &(struct result_reader){principal, principal}, wt__str(handle), 50, &out, &err),
        WT_ENOTFOUND);
    assert_string_equal(err.message,
                        "unknown handle: it was read already or expired after 10 minutes; call the tool again");
    assert_int_equal(out.len, 0);
}

static void a_handle_works_once_for_its_principal(void **state)
{
    char handle[64], other[64];
    struct buffer out = {0};
    (void)state;
    cut_for("alice", handle);
    cut_for("bob", other);
    assert_string_not_equal(handle, other);
    is_handle_refused("bob", handle);
    is_handle_refused("", handle);
    is_handle_refused("alice", "");
    is_handle_refused("alice", "000000000000000000000000");
    clock_ms += 10 * 60000 - 1;
    wt__result_sweep(gateway, false);
    SOUND(wt__result_more(gateway, &alice, wt__str(handle), 50, &out,
                          &err)); /* failed attempts by others do not use up the handle */
    is_handle_refused("alice", handle);
    clock_ms += 1;
    is_handle_refused("bob", other);
    wt__buffer_dispose(&out);
}

/* A client with too many results loses its own oldest results. */
static void limits_stored_results(void **state)
{
    char first[64], second[64], last[64], of_bob[64];
    const struct result_reader bob = {"bob", "bob"};
    struct buffer out = {0};
    (void)state;
    wt__result_sweep(gateway, true);
    cut_for("bob", of_bob);
    cut_for("alice", first);
    cut_for("alice", second);
    for (int i = 0; i < 255; i++)
        cut_for("alice", last);
    is_handle_refused("alice", first);
    SOUND(wt__result_more(gateway, &alice, wt__str(second), 1000, &out, &err));
    SOUND(wt__result_more(gateway, &alice, wt__str(last), 1000, &out, &err));
    SOUND(wt__result_more(gateway, &bob, wt__str(of_bob), 1000, &out, &err));
    wt__buffer_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_pieces_equal_the_result), cmocka_unit_test(cuts_results_with_other_content),
        cmocka_unit_test(ends_with_the_smallest_budget),  cmocka_unit_test(a_handle_works_once_for_its_principal),
        cmocka_unit_test(limits_stored_results),
    };
    return cmocka_run_group_tests(tests, start_results_gateway, stop_results_gateway);
}
