/* Tests of src/base: lines, errors, memory, buffers, maps, hashes, random numbers, threads and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/checksum.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/topk.h"

static void returns_nonempty_lines(void **state)
{
    static const struct {
        const char *text, *lines; /* lines, each followed by a bar */
    } cases[] = {{"", ""}, {"\n\n", ""}, {"a", "a|"}, {"a\n", "a|"}, {"\na b\n\n\nc\r\n", "a b|c\r|"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].text;
        struct buffer lines = {0};
        struct str line;
        while (wt__str_line(&at, &line))
            wt__buffer_printf(&lines, "%.*s|", (int)line.len, line.ptr);
        assert_true(wt__str_equal(wt__buffer_view(&lines), wt__str(cases[i].lines)));
        assert_int_equal(*at, '\0');
        wt__buffer_dispose(&lines);
    }
}

static void errors_have_one_line_and_a_code(void **state)
{
    (void)state;
    wt_error err;
    assert_int_equal(wt__fail_at(&err, WT_EFORMAT, 3, 17, "/tools/2", "bad\nthing %d", 5), WT_EFORMAT);
    assert_string_equal(err.message, "bad thing 5");
    assert_string_equal(err.pointer, "/tools/2");
    assert_int_equal(err.line, 3);
    assert_int_equal(wt__fail_context(&err, WT_EFORMAT, "file.json"), WT_EFORMAT);
    assert_string_equal(err.message, "file.json: bad thing 5");
    assert_int_equal(err.byte, 17);
    assert_int_equal(wt__fail_context(&err, WT_EMODEL, "model"), WT_EMODEL); /* the new code replaces the old one */
    assert_int_equal(err.code, WT_EMODEL);
    assert_int_equal(wt__fail(NULL, WT_EIO, "no error struct"), WT_EIO);
    static const struct {
        int number, code;
    } rows[] = {{ENOSPC, WT_EFULL}, {ENOENT, WT_ENOTFOUND}, {EROFS, WT_EREADONLY}, {ENOMEM, WT_ENOMEM}, {EIO, WT_EIO}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        errno = rows[i].number;
        assert_int_equal(wt__fail_errno(&err, "open", "x"), rows[i].code);
    }
    assert_string_equal(wt_code_name(WT_ENETWORK), "WT_ENETWORK");
    assert_string_equal(wt_code_name(-99), "WT_E?");
    assert_string_equal(wt_code_name(1), "WT_E?");
}

static void rejects_overflowing_sizes(void **state)
{
    (void)state;
    struct arena arena = {0};
    void *items = NULL;
    size_t capacity = 0;
    assert_null(wt__alloc_array(SIZE_MAX / 2, 3));
    assert_null(wt__alloc_aligned(SIZE_MAX - 8, 1));
    assert_null(wt__arena_calloc(&arena, SIZE_MAX / 4, 8, 8));
    assert_int_equal(wt__grow(&items, &capacity, SIZE_MAX / 4, 8), -1);
    assert_null(items);
    wt__arena_dispose(&arena);
}

static int disposed_scopes;

static void count_scope(int *number)
{
    disposed_scopes += *number;
}

/* Fails at step 1 or 2 if fail_at is 1 or 2. Else transfers the block to *out. */
static int take_three_steps(int fail_at, char **out, wt_error *err)
{
    WT_CLEANUP(count_scope) int number = 1;
    WT_AUTO_FREE char *block = malloc(8);
    WT_CHECK_ALLOC(block, err);
    WT_CHECK_ALLOC(fail_at == 1 ? NULL : block, err);
    WT_TRY(fail_at == 2 ? wt__fail(err, WT_EIO, "second step") : 0);
    number = 10;
    *out = WT_TAKE(block);
    return block ? WT_EINVAL : 0;
}

static void early_returns_dispose_objects_of_the_scope(void **state)
{
    (void)state;
    wt_error err;
    char *out = NULL;
    disposed_scopes = 0;
    assert_int_equal(take_three_steps(1, &out, &err), WT_ENOMEM);
    assert_int_equal(err.code, WT_ENOMEM);
    assert_int_equal(take_three_steps(2, &out, &err), WT_EIO);
    assert_string_equal(err.message, "second step");
    assert_null(out);
    assert_int_equal(disposed_scopes, 2);
    assert_int_equal(take_three_steps(0, &out, &err), 0);
    assert_int_equal(disposed_scopes, 12);
    memset(out, 'x', 8); // ASan fails if the block was freed
    free(out);
}

static void arena_blocks_are_aligned_and_never_move(void **state)
{
    (void)state;
    struct arena arena = {0};
    char *first = wt__arena_copy(&arena, STR("first"));
    for (size_t i = 1; i < 3000; i++) {
        size_t align = (size_t)1 << (i % 7);
        unsigned char *piece = wt__arena_alloc(&arena, i, align);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % align, 0);
        memset(piece, 0xAB, i);
    }
    assert_string_equal(first, "first");
    wt__arena_reset(&arena);
    double *zeros = wt__arena_array(&arena, double, 100);
    for (size_t i = 0; i < 100; i++)
        assert_true(zeros[i] == 0);
    wt__arena_dispose(&arena);
}

static void buffers_stop_at_their_maximum(void **state)
{
    (void)state;
    struct buffer buffer = {.max = 5};
    wt__buffer_text(&buffer, "four");
    assert_false(buffer.failed);
    wt__buffer_printf(&buffer, "%s", "ty");
    assert_true(buffer.failed);
    assert_string_equal(buffer.ptr, "four");
    assert_int_equal(wt__buffer_view(&buffer).len, 0);
    assert_null(wt__buffer_take(&buffer));
    struct buffer empty = {0};
    char *text = wt__buffer_take(&empty);
    assert_string_equal(text, "");
    free(text);
}

static void quotes_any_bytes_as_json(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct str in;
        const char *out;
    } rows[] = {
        {"plain", STR("a b"), "\"a b\""},
        {"quotes and controls", STR("\"\\\n\t\x01\x7f"), "\"\\\"\\\\\\n\\t\\u0001\\u007f\""},
        {"NUL", STR("a\0b"), "\"a\\u0000b\""},
        {"letters beyond ASCII are not escaped", STR("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
         "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"overlong form", STR("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"surrogate", STR("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"truncated character", STR("x\xE2\x82"), "\"x\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer buffer = {0};
        wt__buffer_json(&buffer, rows[i].in);
        if (strcmp(buffer.ptr, rows[i].out) != 0)
            fail_msg("%s: got %s", rows[i].name, buffer.ptr);
        wt__buffer_dispose(&buffer);
    }
}

static void cuts_text_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most;
        const char *cut;
    } cases[] = {{"", 0, ""},    {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"aé", 3, "aé"},
                 {"aé", 2, "a"}, {"日本", 5, "日"}, {"日本", 2, ""},  {"😀", 3, ""},   {"\x80\x80", 1, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(wt__str_equal(wt__str_cut(wt__str(cases[i].text), cases[i].most), wt__str(cases[i].cut)));
}

static void finds_alternatives(void **state)
{
    (void)state;
    static const struct {
        const char *word, *alternatives;
        bool found;
    } cases[] = {{"an", "the|a|an", true}, {"the", "the|a|an", true}, {"a", "a", true},
                 {"th", "the|a", false},   {"thea", "the|a", false},  {"", "the|a", false},
                 {"", "the|", true},       {"The", "the|a", false},   {"a|an", "a|an", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(wt__str_is_one_of(wt__str(cases[i].word), wt__str(cases[i].alternatives)), cases[i].found);
}

/* Puts each byte at each position, because wt__str_plain checks eight bytes at a time, and the last ones singly. */
static void counts_bytes_that_need_no_escape(void **state)
{
    (void)state;
    char text[21], pattern[] = "~ !#AZaz[]^`0";
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < sizeof text; at++) {
            for (size_t i = 0; i < sizeof text; i++)
                text[i] = pattern[i % (sizeof pattern - 1)];
            text[at] = (char)byte;
            bool plain = byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
            assert_int_equal(wt__str_plain((struct str){text, sizeof text}), plain ? sizeof text : at);
            assert_int_equal(wt__str_plain((struct str){text, at}), at);
        }
    assert_int_equal(wt__str_plain((struct str){NULL, 0}), 0);
}

static void map_finds_inserted_keys(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static char keys[COUNT][8];
    struct map map = {0};
    bool added;
    assert_null(wt__map_get(&map, STR("x")));
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "k%u", i);
        assert_int_equal(*wt__map_insert(&map, wt__str(keys[i]), i, &added), i);
        assert_true(added);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(*wt__map_get(&map, wt__str(keys[i])), i);
    assert_int_equal(*wt__map_insert(&map, STR("k7"), 99, &added), 7);
    assert_false(added);
    assert_null(wt__map_get(&map, STR("")));
    assert_int_equal(map.len, COUNT);
    wt__map_dispose(&map);
}

static void sha256_matches_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *in, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    unsigned char digest[32], pieces[32];
    char hex[65];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt__sha256(rows[i].in, strlen(rows[i].in), digest);
        wt__sha256_hex(digest, hex);
        assert_string_equal(hex, rows[i].hex);
    }
    static unsigned char long_text[1000];
    for (size_t step = 1; step < 200; step += 13) {
        struct sha256 sha;
        wt__sha256_begin(&sha);
        for (size_t at = 0; at < sizeof long_text; at += step)
            wt__sha256_update(&sha, long_text + at, at + step > sizeof long_text ? sizeof long_text - at : step);
        wt__sha256_end(&sha, pieces);
        wt__sha256(long_text, sizeof long_text, digest);
        assert_memory_equal(pieces, digest, 32);
    }
}

static void checksum_detects_changed_bits_and_lengths(void **state)
{
    (void)state;
    unsigned char bytes[200] = {0};
    for (size_t len = 0; len <= sizeof bytes; len++) {
        uint64_t sum = wt__checksum(bytes, len, 1);
        if (len > 0)
            assert_int_not_equal(sum, wt__checksum(bytes, len - 1, 1));
        for (size_t bit = 0; bit < len * 8; bit += 5) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_int_not_equal(sum, wt__checksum(bytes, len, 1));
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    /* Files store checksums. If the function changed, every stored snapshot would become invalid. */
    for (size_t i = 0; i < 100; i++)
        bytes[i] = (unsigned char)i;
    assert_true(wt__checksum("whichtool", 9, 0) == 0x21bcdd1000dc9d0b);
    assert_true(wt__checksum(bytes, 100, 7) == 0xc3ba0057cd5cd504);
}

static void same_seed_repeats_random_numbers(void **state)
{
    (void)state;
    struct rng a, b;
    size_t counts[7] = {0};
    wt__rng_seed(&a, 42);
    wt__rng_seed(&b, 42);
    for (size_t i = 0; i < 70000; i++) {
        uint64_t drawn = wt__rng_below(&a, 7);
        assert_int_equal(drawn, wt__rng_below(&b, 7));
        counts[drawn]++;
    }
    for (size_t i = 0; i < 7; i++)
        assert_in_range(counts[i], 9500, 10500);
    for (size_t i = 0; i < 1000; i++) {
        double unit = wt__rng_unit(&a);
        assert_true(unit >= 0 && unit < 1);
    }
}

static void topk_equals_a_full_sort(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    struct rng rng;
    wt__rng_seed(&rng, 3);
    for (size_t k = 0; k < 40; k += 3) {
        struct scored all[COUNT], kept[40];
        struct topk top = {.items = kept, .k = k};
        for (uint32_t i = 0; i < COUNT; i++) {
            all[i] = (struct scored){(float)wt__rng_below(&rng, 50), i}; /* many ties */
            wt__topk_push(&top, all[i]);
        }
        wt__topk_sort(&top);
        wt__scored_sort(all, COUNT);
        assert_int_equal(top.len, k);
        for (size_t i = 0; i < k; i++) {
            assert_int_equal(kept[i].row, all[i].row);
            assert_true(kept[i].score == all[i].score);
        }
    }
}

struct pool_tally {
    atomic_size_t done[1000];
    size_t stop_at;
};

static int mark_done(void *context, size_t index, unsigned worker)
{
    struct pool_tally *tally = context;
    assert_true(worker < 4);
    atomic_fetch_add(&tally->done[index], 1);
    return index == tally->stop_at ? 5 : 0;
}

static void pool_runs_each_item_once_and_stops_on_request(void **state)
{
    (void)state;
    static struct pool_tally whole = {.stop_at = SIZE_MAX}, stopped = {.stop_at = 10};
    assert_int_equal(wt__pool_run(4, 1000, mark_done, &whole), 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(whole.done[i], 1);
    assert_int_equal(wt__pool_run(1, 1000, mark_done, &stopped), 5);
    assert_int_equal(stopped.done[11], 0);
    assert_int_equal(wt__pool_run(4, 0, mark_done, &whole), 0);
}

static int stop_after_three(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)total;
    (void)done;
    return ++*(int *)context == 3;
}

static void progress_reports_last_step_and_can_be_cancelled(void **state)
{
    (void)state;
    int calls = 0;
    struct progress progress;
    wt__progress_init(&progress, stop_after_three, &calls);
    assert_int_equal(wt__progress_phase(&progress, "first", 100), 0);
    assert_int_equal(wt__progress_step(&progress, 1), 0);  /* too soon to report */
    assert_int_equal(wt__progress_step(&progress, 99), 0); /* the last step is always reported */
    assert_int_equal(calls, 2);
    assert_true(wt__progress_phase(&progress, "second", 1) != 0);
    assert_true(wt__progress_step(&progress, 0) != 0);
    wt__progress_dispose(&progress);
    assert_int_equal(wt__progress_step(NULL, 1), 0);
}

static void creates_json_string_from_any_bytes(void **state)
{
    static const struct {
        struct str in;
        const char *out;
    } rows[] = {{{"", 0}, ""},
                {{NULL, 0}, ""},
                {{"\"a\"", 3}, "\"a\""},
                {{"a\0b\0", 4},
                 "a\xEF\xBF\xBD"
                 "b\xEF\xBF\xBD"},
                {{"\xFF", 1}, "\xEF\xBF\xBD"},
                {{"\\u0000", 6}, "\\u0000"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *value = wt__json_string(rows[i].in);
        assert_non_null(value);
        assert_string_equal(json_string_value(value), rows[i].out);
        json_decref(value);
    }
}

static void json_parser_enforces_limits_and_reports_positions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct str in;
        int code;
        const char *says;
        size_t line;
    } rows[] = {
        {"an object", STR("{\"a\": [1, 2.5, null]}"), 0, "", 0},
        {"number beyond 64 bits", STR("{\"maximum\": 18446744073709551616}"), 0, "", 0},
        {"duplicate keys", STR("{\"a\":1,\n\"a\":2}"), WT_EFORMAT, "duplicate", 2},
        {"escaped NUL in a string", STR("\"a\\u0000b\""), WT_EFORMAT, "not valid JSON", 1},
        {"truncated object", STR("{\"a\": [1,\n2"), WT_EFORMAT, "not valid JSON", 2},
        {"two values in a row", STR("{} {}"), WT_EFORMAT, "not valid JSON", 1},
        {"empty text", STR(""), WT_EFORMAT, "not valid JSON", 1},
        {"invalid UTF-8", STR("\"\xff\""), WT_EFORMAT, "not valid JSON", 1},
        {"brackets in a string do not count as nesting",
         STR("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""), 0, "", 0},
    };
    wt_error err;
    json_t *value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err = (wt_error){0};
        int rc = wt__json_parse(&value, rows[i].in.ptr, rows[i].in.len, &err);
        if (rc != rows[i].code || !strstr(err.message, rows[i].says) || err.line != rows[i].line)
            fail_msg("%s: %d line %zu: %s", rows[i].name, rc, err.line, err.message);
        json_decref(value);
    }
    char deep[2 * (WT_MAX_JSON_DEPTH + 1) + 1];
    for (int extra = 0; extra <= 1; extra++) {
        int depth = WT_MAX_JSON_DEPTH + extra;
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        int rc = wt__json_parse(&value, deep, 2 * (size_t)depth, &err);
        assert_int_equal(rc, extra ? WT_ETOOLONG : 0);
        json_decref(value);
    }
}

/* Relaxed JSON is the JSON of hand-written configuration files. want: the same value as strict JSON, or "" if the text
 * is invalid. */
static void parses_relaxed_json(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want;
        size_t line; /* line of the error */
    } rows[] = {
        {"strict JSON", "{\"a\":[1,2]}", "{\"a\":[1,2]}", 0},
        {"comments", "// x\n{\"a\"/* y\n */:1 // z\n}", "{\"a\":1}", 0},
        {"trailing commas", "{\"a\":[1,2,],}", "{\"a\":[1,2]}", 0},
        {"trailing comma before comments", "[1, // x\n/* y */ ]", "[1]", 0},
        {"byte order mark", "\xef\xbb\xbf{}", "{}", 0},
        {"comment marks and commas in strings", "[\"//x\",\"/*y*/\",\"a\\\"//\",\",]\"]",
         "[\"//x\",\"/*y*/\",\"a\\\"//\",\",]\"]", 0},
        {"two commas in a row", "[1,,]", "", 1},
        {"list of one comma", "[,]", "[]", 0},
        {"unterminated comment", "[1]\n/* x", "[1]", 0},
        {"lone slash", "[1]\n/", "", 2},
        {"line number after a comment", "/* x\n */\n{\"a\": x}", "", 3},
        {"unterminated string", "[\"a", "", 1},
        {"empty text", "", "", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *value;
        struct buffer text = {0};
        wt_error err = {0};
        int rc = wt__json_parse_relaxed(&value, wt__str(rows[i].text), &err);
        if (rc == 0)
            assert_int_equal(wt__json_write(&text, value), 0);
        if ((rc == 0) != (*rows[i].want != '\0') || strcmp(text.ptr ? text.ptr : "", rows[i].want) != 0 ||
            err.line != rows[i].line)
            fail_msg("%s: %d, %s, line %zu", rows[i].name, rc, rc ? err.message : text.ptr, err.line);
        wt__buffer_dispose(&text);
        json_decref(value);
    }
}

static size_t json_calls, fail_from, fail_upto;

/* Replaces jansson's allocator. Returns NULL from call number fail_from to call number fail_upto. */
static void *json_memory(size_t size)
{
    json_calls++;
    return json_calls >= fail_from && json_calls <= fail_upto ? NULL : malloc(size);
}

/* A single failed allocation does not change the result. If all later allocations fail too, the parser returns
 * WT_ENOMEM. jansson by itself may drop bytes of long words instead of failing. */
static void json_reports_failed_allocations(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a name of more than sixteen bytes\": [\"and a value that is longer than thirty-two\","
        " 0.60000002384185791, {\"true\": true}]}";
    json_t *whole, *value;
    json_calls = 0;
    assert_int_equal(wt__json_parse(&whole, text, sizeof text - 1, NULL), 0);
    size_t total = json_calls;
    assert_true(total > 10);
    for (fail_from = 1; fail_from <= total; fail_from++)
        for (int stays = 0; stays <= 1; stays++) {
            json_calls = 0;
            fail_upto = stays ? SIZE_MAX : fail_from;
            int rc = wt__json_parse(&value, text, sizeof text - 1, NULL);
            fail_upto = 0;
            if (rc != (stays ? WT_ENOMEM : 0) || (rc == 0 && !json_equal(whole, value)))
                fail_msg("allocation %zu of %zu%s: %d", fail_from, total, stays ? " and all after it" : "", rc);
            json_decref(value);
        }
    json_decref(whole);
}

static void json_getters_tolerate_wrong_types(void **state)
{
    (void)state;
    json_t *value;
    assert_int_equal(wt__json_parse(&value, "{\"s\":1,\"n\":\"x\",\"o\":[]}", 22, NULL), 0);
    assert_int_equal(wt__json_str(value, "s").len, 0);
    assert_int_equal(wt__json_int(value, "n", 7), 7);
    assert_null(wt__json_object(value, "o"));
    assert_non_null(wt__json_array(value, "o"));
    assert_int_equal(wt__json_str(NULL, "s").len, 0);
    assert_true(wt__json_bool(value, "absent", true));
    struct buffer buffer = {0};
    assert_int_equal(wt__json_write(&buffer, value), 0);
    assert_string_equal(buffer.ptr, "{\"s\":1,\"n\":\"x\",\"o\":[]}");
    wt__buffer_dispose(&buffer);
    json_decref(value);
}

static void draws_without_repetition(void **state)
{
    (void)state;
    static const struct {
        size_t count, most; /* parameters of wt__rng_draw */
    } cases[] = {{0, 0}, {1, 1}, {5, 9}, {100, 0}, {100, 1}, {100, 60}, {100, 99}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t numbers[100];
        uint8_t seen[100] = {0};
        struct rng rng;
        wt__rng_seed(&rng, 7);
        wt__rng_draw(&rng, numbers, cases[c].count, cases[c].most);
        for (size_t i = 0; i < cases[c].count; i++)
            seen[numbers[i]]++;
        for (size_t i = 0; i < cases[c].count; i++) {
            assert_int_equal(seen[i], 1);
            assert_true(cases[c].most < cases[c].count || numbers[i] == i);
        }
    }
}

int main(void)
{
    json_set_alloc_funcs(json_memory, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_nonempty_lines),
        cmocka_unit_test(draws_without_repetition),
        cmocka_unit_test(errors_have_one_line_and_a_code),
        cmocka_unit_test(rejects_overflowing_sizes),
        cmocka_unit_test(early_returns_dispose_objects_of_the_scope),
        cmocka_unit_test(arena_blocks_are_aligned_and_never_move),
        cmocka_unit_test(buffers_stop_at_their_maximum),
        cmocka_unit_test(quotes_any_bytes_as_json),
        cmocka_unit_test(cuts_text_between_characters),
        cmocka_unit_test(finds_alternatives),
        cmocka_unit_test(counts_bytes_that_need_no_escape),
        cmocka_unit_test(map_finds_inserted_keys),
        cmocka_unit_test(sha256_matches_the_standard),
        cmocka_unit_test(checksum_detects_changed_bits_and_lengths),
        cmocka_unit_test(same_seed_repeats_random_numbers),
        cmocka_unit_test(topk_equals_a_full_sort),
        cmocka_unit_test(pool_runs_each_item_once_and_stops_on_request),
        cmocka_unit_test(progress_reports_last_step_and_can_be_cancelled),
        cmocka_unit_test(creates_json_string_from_any_bytes),
        cmocka_unit_test(json_parser_enforces_limits_and_reports_positions),
        cmocka_unit_test(parses_relaxed_json),
        cmocka_unit_test(json_reports_failed_allocations),
        cmocka_unit_test(json_getters_tolerate_wrong_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
