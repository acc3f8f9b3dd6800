/* Tests a provider that floods the catalogue with near-copies of popular tools. Measures the share of the first five
 * places that the flooder gets, with and without a cap per provider.
 *
 * The catalogue is synthetic: the tools of a provider share a word, and each tool has four words of its own. Requests
 * follow a popularity law: the tool of rank r is wanted with weight 1 / (r + 3), so that one request in seven wants
 * one of the four most popular tools. The flooder adds one tool for every hundred existing ones.
 *
 * A cap of 1 leaves the flooder at most one place per request. This helps if the flooder takes many places of a few
 * requests. A flooder that copies each of many tools once has one place per request even without a cap. The cap then
 * gives the flooder a few more requests, since tools of other providers are capped too. For such a flood the test only
 * checks the limit of one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/support.h"

enum {
    PROVIDERS = 400,
    TOOLS_EACH = 5,
    TOOLS = PROVIDERS * TOOLS_EACH,
    COPIES = TOOLS / 100,
    OWN_WORDS = 4,
    VOCABULARY = 900, /* words of all tools; each provider has its own word in addition */
    REQUESTS = 500,
    PLACES = 5,
    RANK_STEP = 769, /* coprime with TOOLS: popular tools have different providers */
    SEED = 11
};

static const double MOST_WITH_CAP = 0.05;

static size_t words[TOOLS][OWN_WORDS]; /* words of each tool */
static size_t wanted[REQUESTS];        /* tool of each request */

/* Writes a synthetic word, distinct for each number even after stemming. */
static void write_synthetic_word(struct buffer *text, size_t number)
{
    static const char first[] = "bdfgklmnprtvz", second[] = "aiou";
    for (size_t s = 0; s < 3; s++) {
        wt__buffer_char(text, first[number % (sizeof first - 1)]);
        number /= sizeof first - 1;
        wt__buffer_char(text, second[number % (sizeof second - 1)]);
        number /= sizeof second - 1;
    }
    wt__buffer_char(text, 'k');
}

static size_t find_tool_of_rank(size_t rank)
{
    return rank * RANK_STEP % TOOLS;
}

static void draw_catalogue_and_requests(struct rng *rng)
{
    double weight[TOOLS], total = 0;
    for (size_t t = 0; t < TOOLS; t++)
        for (size_t w = 0; w < OWN_WORDS; w++)
            words[t][w] = PROVIDERS + wt__rng_below(rng, VOCABULARY);
    for (size_t r = 0; r < TOOLS; r++)
        total += weight[r] = 1.0 / ((double)r + 3);
    for (size_t q = 0; q < REQUESTS; q++) {
        double left = wt__rng_unit(rng) * total;
        size_t rank = 0;
        while (rank + 1 < TOOLS && left >= weight[rank])
            left -= weight[rank++];
        wanted[q] = find_tool_of_rank(rank);
    }
}

/* Writes a request: the provider's word, and all but the first word of the tool. */
static void write_synthetic_request(struct buffer *text, size_t tool)
{
    write_synthetic_word(text, tool / TOOLS_EACH);
    for (size_t w = 1; w < OWN_WORDS; w++) {
        wt__buffer_char(text, ' ');
        write_synthetic_word(text, words[tool][w]);
    }
}

/* Writes a tool if `copy` is 0, else a copy by the flooder. as_request: true for the words of the tool's requests,
 * false for all words of the tool. A copy also has the word "premium". */
static void write_flood_tool(struct buffer *jsonl, size_t tool, size_t copy, bool as_request)
{
    if (copy)
        wt__buffer_printf(jsonl, "{\"provider\": \"flooder\", \"name\": \"best%zu", copy);
    else
        wt__buffer_printf(jsonl, "{\"provider\": \"p%zu\", \"name\": \"n", tool / TOOLS_EACH);
    wt__buffer_printf(jsonl, "_%zu\", \"description\": \"", tool);
    if (as_request)
        write_synthetic_request(jsonl, tool);
    else {
        write_synthetic_word(jsonl, tool / TOOLS_EACH);
        for (size_t w = 0; w < OWN_WORDS; w++) {
            wt__buffer_char(jsonl, ' ');
            write_synthetic_word(jsonl, words[tool][w]);
        }
    }
    wt__buffer_text(jsonl, copy ? " premium\"}\n" : "\"}\n");
}

struct share {
    size_t places;  /* number of hits of all requests */
    size_t flooder; /* number of hits of the flooder */
    size_t flooded; /* number of requests with a hit of the flooder */
    size_t right;   /* number of requests whose tool is among the hits */
    size_t most;    /* maximum number of places of the flooder in one request */
};

static struct share measure_flood(struct test_place *place, wt_engine *engine, size_t cap)
{
    struct share share = {0};
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    options.k = PLACES;
    options.max_per_provider = cap;
    for (size_t q = 0; q < REQUESTS; q++) {
        struct buffer request = {0};
        char right[32];
        size_t taken = 0;
        write_synthetic_request(&request, wanted[q]);
        wt__buffer_char(&request, '\0');
        snprintf(right, sizeof right, "n_%zu", wanted[q]);
        wt_hits *hits = find_with(place, engine, request.ptr, &options);
        for (size_t h = 0; h < hits->len; h++) {
            taken += strcmp(hits->items[h]->tool->provider, "flooder") == 0;
            share.right += strcmp(hits->items[h]->tool->name, right) == 0;
        }
        share.places += hits->len;
        share.flooder += taken;
        share.flooded += taken > 0;
        share.most = taken > share.most ? taken : share.most;
        wt_hits_free(hits);
        wt__buffer_dispose(&request);
    }
    return share;
}

static double compute_flood_share(const struct share *share)
{
    return (double)share->flooder / (double)share->places;
}

static void provider_cap_blunts_flood(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t tools; /* popular tools to copy, COPIES / tools times each */
        bool as_request;
        bool blunted; /* the cap helps, because the flooder takes many places of a request */
    } floods[] = {
        {"no flood", 0, false, false},
        {"4 tools, 5 copies each", 4, false, true},
        {"4 tools, 5 copies of their requests each", 4, true, true},
        {"20 tools, 1 copy each", 20, false, false},
    };
    for (size_t f = 0; f < sizeof floods / sizeof *floods; f++) {
        struct test_place place;
        struct buffer jsonl = {0};
        struct rng rng;
        make_test_place(&place);
        wt__rng_seed(&rng, SEED);
        draw_catalogue_and_requests(&rng);
        for (size_t t = 0; t < TOOLS; t++)
            write_flood_tool(&jsonl, t, 0, false);
        for (size_t c = 0; floods[f].tools && c < COPIES; c++)
            write_flood_tool(&jsonl, find_tool_of_rank(c % floods[f].tools), c + 1, floods[f].as_request);
        wt__buffer_char(&jsonl, '\0');
        assert_false(jsonl.failed);
        wt_engine *engine = open_test_engine(&place, "");
        add(&place, engine, jsonl.ptr);
        struct share open = measure_flood(&place, engine, 0), capped = measure_flood(&place, engine, 1);
        print_message("%s: %.1f %% of the first five places, %.1f %% with a cap of 1 (%.1f %% and %.1f %% of requests "
                      "have any; the right tool is among the five for %.1f %% and %.1f %%)\n",
                      floods[f].name, 100 * compute_flood_share(&open), 100 * compute_flood_share(&capped),
                      100.0 * (double)open.flooded / REQUESTS, 100.0 * (double)capped.flooded / REQUESTS,
                      100.0 * (double)open.right / REQUESTS, 100.0 * (double)capped.right / REQUESTS);
        assert_true(capped.most <= 1);
        if (floods[f].tools == 0)
            assert_int_equal(open.flooder, 0);
        if (floods[f].blunted) {
            assert_true(compute_flood_share(&open) > MOST_WITH_CAP);
            assert_true(compute_flood_share(&capped) <= MOST_WITH_CAP);
        }
        assert_true(capped.right * 100 >= REQUESTS * 95);
        wt_close(engine);
        wt__buffer_dispose(&jsonl);
        remove_test_place(&place);
    }
}

/* The newer of two similar tools is left out if it is a copy. The small model hardly separates these texts, so names,
 * providers and the request decide. */
static void copies_yield_to_older_tool(void **state)
{
    (void)state;
    static const char older[] =
        "{\"provider\": \"diner\", \"name\": \"find_table\", \"description\": \"find a table\"}\n";
    static const struct {
        const char *says, *provider, *name, *request;
        size_t left_out;
    } cases[] = {
        {"the same tool of another provider is left out", "cafe", "find_table", "find a table", 1},
        {"the same name in another spelling is left out", "cafe", "FindTable2", "find a table in the diner", 1},
        {"a tool with a different name stays", "cafe", "find_seat", "find a table", 0},
        {"a tool of the same provider stays", "diner", "find_table_2", "find a table", 0},
        {"a tool whose provider the request names stays", "cafe", "find_seat", "find a table in the cafe", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct test_place place;
        struct buffer jsonl = {0};
        wt_find_options options;
        make_test_place(&place);
        wt__buffer_text(&jsonl, older);
        wt__buffer_printf(&jsonl, "{\"provider\": \"%s\", \"name\": \"%s\", \"description\": \"find a table\"}\n",
                          cases[c].provider, cases[c].name);
        wt__buffer_char(&jsonl, '\0');
        wt_engine *engine = open_test_engine(&place, NULL);
        add(&place, engine, jsonl.ptr);
        wt_find_options_init(&options);
        options.recipe = "hybrid";
        wt_hits *hits = find_with(&place, engine, cases[c].request, &options);
        if (hits->copies != cases[c].left_out || hits->len != 2 - cases[c].left_out)
            fail_msg("%s: %zu hits, %zu copies left out", cases[c].says, hits->len, hits->copies);
        if (cases[c].left_out > 0)
            assert_string_equal(hits->items[0]->tool->id, "diner/find_table");
        wt_hits_free(hits);
        options.copies = 1;
        hits = find_with(&place, engine, cases[c].request, &options);
        assert_int_equal(hits->len, 2);
        assert_int_equal(hits->copies, 0);
        wt_hits_free(hits);
        options.copies = 0;
        options.provider = cases[c].provider;
        hits = find_with(&place, engine, cases[c].request, &options);
        assert_int_equal(hits->copies, 0); /* with a provider filter, tools are not copies */
        assert_true(hits->len >= 1);
        wt_hits_free(hits);
        wt_close(engine);
        wt__buffer_dispose(&jsonl);
        remove_test_place(&place);
    }
}

static const char forks[] =
    "{\"provider\": \"origin\", \"name\": \"find_table\", \"description\": \"find a table\", "
    "\"parameters\": {\"seats\": {\"type\": \"integer\"}}}\n"
    "{\"provider\": \"fork one\", \"name\": \"findTable\", \"description\": \"<p>Find a  table</p>\", "
    "\"parameters\": {\"seats\": {\"type\": \"string\"}}}\n"
    "{\"provider\": \"bistro\", \"name\": \"find_table\", \"description\": \"find a table\", "
    "\"parameters\": {\"seats\": {\"type\": \"integer\"}}}\n"
    "{\"provider\": \"other\", \"name\": \"find_table_too\", \"description\": \"find a table\"}\n"
    "{\"provider\": \"names\", \"name\": \"table\"}\n"
    "{\"provider\": \"names too\", \"name\": \"table\"}\n";

/* Writes "shown + copy + copy, shown", in order. */
static void write_hits_line(const wt_hits *hits, char *out, size_t size)
{
    struct buffer text = {0};
    for (size_t i = 0; i < hits->len; i++) {
        wt__buffer_printf(&text, "%s%s", i ? ", " : "", hits->items[i]->tool->id);
        for (size_t m = 0; m < hits->items[i]->more_listed; m++)
            wt__buffer_printf(&text, " + %s", hits->items[i]->more_like_it[m]);
        assert_int_equal(hits->items[i]->more_count, hits->items[i]->more_listed);
    }
    wt__buffer_char(&text, '\0');
    snprintf(out, size, "%s", text.ptr);
    wt__buffer_dispose(&text);
}

/* Searches by words only, so that the encoder does not matter. */
static void identical_copies_share_a_place(void **state)
{
    static const struct {
        const char *request, *provider, *excluded, *hits;
        size_t k, copies;
        int all;
    } cases[] = {
        {"find seats", NULL, NULL, "origin/find_table + fork one/findTable + bistro/find_table, other/find_table_too",
         5, 2, 0},
        {"find seats", NULL, NULL, "origin/find_table + fork one/findTable + bistro/find_table", 1, 2, 0},
        {"find seats in the bistro", NULL, NULL,
         "bistro/find_table + origin/find_table + fork one/findTable, other/find_table_too", 5, 2, 0},
        {"bistro/find_table", NULL, NULL, "bistro/find_table + origin/find_table + fork one/findTable", 1, 2, 0},
        {"find seats", "bistro", NULL, "bistro/find_table", 5, 0, 0}, /* copies outside the filter are ignored */
        {"find seats", "fork one", NULL, "fork one/findTable", 5, 0, 0},
        {"find seats", NULL, "origin", "bistro/find_table + fork one/findTable, other/find_table_too", 5, 1, 0},
        {"find seats", NULL, NULL, "origin/find_table, bistro/find_table, fork one/findTable, other/find_table_too", 5,
         0, 1},
        {"table", "names", "", "names/table", 1, 0, 0}, /* too little text to be a copy */
    };
    struct test_place place;
    (void)state;
    make_test_place(&place);
    wt_engine *engine = open_test_engine(&place, NULL);
    add(&place, engine, forks);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char said[512];
        wt_find_options options;
        wt_filter filter;
        wt_find_options_init(&options);
        wt_filter_init(&filter);
        filter.excluded_providers = &cases[c].excluded;
        filter.excluded_provider_count = cases[c].excluded && *cases[c].excluded;
        options.recipe = "bm25";
        options.provider = cases[c].provider;
        options.filter = &filter;
        options.k = cases[c].k;
        options.copies = cases[c].all;
        wt_hits *hits = find_with(&place, engine, cases[c].request, &options);
        write_hits_line(hits, said, sizeof said);
        if (strcmp(said, cases[c].hits) != 0 || hits->copies != cases[c].copies)
            fail_msg("%s: %s, %zu copies", cases[c].request, said, hits->copies);
        wt_hits_free(hits);
    }
    wt_close(engine);
    remove_test_place(&place);
}

/* The forks share one place. The hit at this place counts all other forks, and names some. */
static void many_forks_take_one_place(void **state)
{
    enum { FORKS = 400, OTHERS = 20 };
    struct buffer jsonl = {0};
    struct test_place place;
    wt_find_options options;
    wt_pick_options picking;
    wt_picked *picked;
    (void)state;
    make_test_place(&place);
    for (size_t t = 0; t < FORKS; t++)
        wt__buffer_printf(&jsonl, "{\"provider\": \"p%zu\", \"name\": \"book_table\", \"description\": \"table\"}\n",
                          t);
    for (size_t t = 0; t < OTHERS; t++)
        wt__buffer_printf(&jsonl,
                          "{\"provider\": \"own\", \"name\": \"other%zu\", \"description\": \"a table, and other "
                          "things that are said of it at length\"}\n",
                          t);
    wt__buffer_char(&jsonl, '\0');
    wt_engine *engine = open_test_engine(&place, NULL);
    add(&place, engine, jsonl.ptr);
    wt_find_options_init(&options);
    options.recipe = "bm25";
    wt_hits *hits = find_with(&place, engine, "table", &options);
    assert_int_equal(hits->len, PLACES);
    assert_string_equal(hits->items[0]->tool->name, "book_table");
    assert_int_equal(hits->items[0]->more_count, FORKS - 1);
    assert_int_equal(hits->items[0]->more_listed, WT_MAX_MORE_LIKE_IT);
    assert_string_equal(hits->items[1]->tool->provider, "own");
    assert_int_equal(hits->items[1]->more_count, 0);
    wt_hits_free(hits);
    wt_pick_options_init(&picking);
    picking.abstain = -1;
    assert_call_ok(&place, wt_pick(engine, "book a table", 12, &picking, &picked, &place.err));
    size_t booked = 0;
    for (size_t i = 0; i < picked->len; i++)
        booked += strcmp(picked->items[i]->tool->name, "book_table") == 0;
    assert_int_equal(booked, 1);
    assert_int_equal(picked->items[0]->more_count, FORKS - 1);
    wt_picked_free(picked);
    wt_close(engine);
    wt__buffer_dispose(&jsonl);
    remove_test_place(&place);
}

enum { OWNERS = 60, STUFFED = 20 };

/* Opens a store of OWNERS tools, each with a word of its own, and a stuffed tool. The stuffed tool has the words of the
 * first STUFFED tools in its name and description. all: words of the stuffed tool. */
static wt_engine *open_stuffed(struct test_place *place, struct buffer *all)
{
    struct buffer jsonl = {0};
    for (size_t t = 0; t < OWNERS; t++) {
        struct buffer word = {0};
        write_synthetic_word(&word, t);
        wt__buffer_char(&word, '\0');
        wt__buffer_printf(&jsonl, "{\"provider\": \"owner\", \"name\": \"%s\", \"description\": \"%s\"}\n", word.ptr,
                          word.ptr);
        if (t < STUFFED)
            wt__buffer_printf(all, "%s%s", t ? " " : "", word.ptr);
        wt__buffer_dispose(&word);
    }
    wt__buffer_char(all, '\0');
    wt__buffer_printf(&jsonl, "{\"provider\": \"stuffed\", \"name\": \"%s\", \"description\": \"%s\"}\n", all->ptr,
                      all->ptr);
    wt__buffer_char(&jsonl, '\0');
    assert_false(jsonl.failed || all->failed);
    wt_engine *engine = open_test_engine(place, NULL);
    add(place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
    return engine;
}

/* Each request has six of the stuffed tool's words. With BM25 alone, the tool is among the first five for every
 * request; with an encoder, for no request. */
static void stuffed_tool_is_not_found(void **state)
{
    (void)state;
    enum { SAID = 6, ASKED = STUFFED };
    static const struct {
        const char *recipe;
        size_t found;
    } cases[] = {{"bm25", ASKED}, {"hybrid", 0}};
    struct test_place place;
    struct buffer all = {0};
    make_test_place(&place);
    wt_engine *engine = open_stuffed(&place, &all);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t found = 0;
        wt_find_options options;
        wt_find_options_init(&options);
        options.recipe = cases[c].recipe;
        options.k = PLACES;
        for (size_t q = 0; q < ASKED; q++) {
            struct buffer request = {0};
            for (size_t w = 0; w < SAID; w++) {
                write_synthetic_word(&request, (q + 3 * w) % STUFFED);
                wt__buffer_char(&request, w + 1 < SAID ? ' ' : '\0');
            }
            wt_hits *hits = find_with(&place, engine, request.ptr, &options);
            for (size_t h = 0; h < hits->len; h++)
                found += strcmp(hits->items[h]->tool->provider, "stuffed") == 0;
            wt_hits_free(hits);
            wt__buffer_dispose(&request);
        }
        if (found != cases[c].found)
            fail_msg("%s: the stuffed tool is found for %zu of %d requests", cases[c].recipe, found, (int)ASKED);
    }
    wt_close(engine);
    wt__buffer_dispose(&all);
    remove_test_place(&place);
}

static double get_word_score(const wt_hit *hit)
{
    for (size_t i = 0; i < hit->stage_count; i++)
        if (strcmp(hit->stages[i]->stage, "bm25") == 0)
            return hit->stages[i]->score;
    fail_msg("%s has no score by words", hit->tool->name);
    return 0;
}

/* Returns the word score of the stuffed tool with a recipe. */
static double score_stuffed_tool(struct test_place *place, wt_engine *engine, const char *request, const char *recipe,
                                 size_t k)
{
    double worth = 0;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    options.k = k;
    wt_hits *hits = find_with(place, engine, request, &options);
    for (size_t h = 0; h < hits->len; h++)
        if (strcmp(hits->items[h]->tool->provider, "stuffed") == 0)
            worth = get_word_score(hits->items[h]);
    wt_hits_free(hits);
    assert_true(worth > 0);
    return worth;
}

/* The words of a tool with very many words count in full if the tool is nearest in meaning, as for a request with the
 * text of the tool. Otherwise its words hardly count. */
static void long_tool_near_in_meaning_keeps_words(void **state)
{
    (void)state;
    struct test_place place;
    struct buffer all = {0};
    double most = 0;
    make_test_place(&place);
    wt_engine *engine = open_stuffed(&place, &all);
    double whole = score_stuffed_tool(&place, engine, all.ptr, "bm25", OWNERS + 1);
    assert_float_equal(score_stuffed_tool(&place, engine, all.ptr, "hybrid", OWNERS + 1), whole, 1e-5 * whole);
    for (size_t q = 0; q < STUFFED; q++) {
        struct buffer request = {0};
        write_synthetic_word(&request, q);
        wt__buffer_char(&request, ' ');
        write_synthetic_word(&request, STUFFED + q);
        wt__buffer_char(&request, '\0');
        double part = score_stuffed_tool(&place, engine, request.ptr, "hybrid", OWNERS + 1);
        most = fmax(most, part / score_stuffed_tool(&place, engine, request.ptr, "bm25", OWNERS + 1));
        wt__buffer_dispose(&request);
    }
    if (most > .1)
        fail_msg("a long tool keeps %.2f of its word score for a request that means another tool", most);
    wt_close(engine);
    wt__buffer_dispose(&all);
    remove_test_place(&place);
}

/* Opens a store of tools with many words each, and two more tools of about this length. The first of the two repeats 20
 * words of other tools in its name, provider and description. The second has a schema of 20 parameters. Each
 * description of a parameter repeats the name of the parameter. */
static wt_engine *open_repeating(struct test_place *place)
{
    enum { WORDS_EACH = 24, LARGE_WORDS = 1000 };
    struct buffer jsonl = {0}, all = {0};
    for (size_t t = 0; t < OWNERS; t++) {
        wt__buffer_printf(&jsonl, "{\"provider\": \"owner%zu\", \"name\": \"", t);
        write_synthetic_word(&jsonl, t);
        wt__buffer_text(&jsonl, "\", \"description\": \"");
        for (size_t w = 0; w < WORDS_EACH; w++) {
            write_synthetic_word(&jsonl, w ? OWNERS + t * WORDS_EACH + w : t);
            wt__buffer_char(&jsonl, ' ');
        }
        wt__buffer_text(&jsonl, "\"}\n");
    }
    for (size_t w = 0; w < STUFFED; w++) {
        write_synthetic_word(&all, w);
        wt__buffer_char(&all, w + 1 < STUFFED ? ' ' : '\0');
    }
    wt__buffer_printf(&jsonl, "{\"provider\": \"stuffed %s\", \"name\": \"%s\", \"description\": \"%s\"}\n", all.ptr,
                      all.ptr, all.ptr);
    wt__buffer_text(&jsonl, "{\"provider\": \"large\", \"name\": \"");
    write_synthetic_word(&jsonl, STUFFED);
    wt__buffer_text(&jsonl, "\", \"description\": \"large\", \"parameters\": {");
    for (size_t w = 0; w < STUFFED; w++) {
        wt__buffer_text(&jsonl, w ? ", \"" : "\"");
        write_synthetic_word(&jsonl, w ? LARGE_WORDS * OWNERS + w : STUFFED + 1);
        wt__buffer_text(&jsonl, "\": {\"type\": \"string\", \"description\": \"");
        write_synthetic_word(&jsonl, w ? LARGE_WORDS * OWNERS + w : STUFFED + 1);
        wt__buffer_text(&jsonl, "\"}");
    }
    wt__buffer_text(&jsonl, "}}\n");
    wt__buffer_char(&jsonl, '\0');
    assert_false(jsonl.failed || all.failed);
    wt_engine *engine = open_test_engine(place, NULL);
    add(place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
    wt__buffer_dispose(&all);
    return engine;
}

/* Returns the word score of the provider's tool with a recipe. provider: beginning of the provider's name. */
static double score_provider_tool(struct test_place *place, wt_engine *engine, const char *request,
                                  const char *provider, const char *recipe)
{
    double worth = 0;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    options.k = OWNERS + 2;
    options.copies = 1; /* the large tool has the name of an owner */
    wt_hits *hits = find_with(place, engine, request, &options);
    for (size_t h = 0; h < hits->len; h++)
        if (strncmp(hits->items[h]->tool->provider, provider, strlen(provider)) == 0)
            worth = get_word_score(hits->items[h]);
    wt_hits_free(hits);
    assert_true(worth > 0);
    return worth;
}

/* Words repeated in every field are damped, even if the tool has no more words than others. A tool with a large schema
 * keeps its words. */
static void repeated_words_are_damped(void **state)
{
    (void)state;
    struct test_place place;
    double most = 0;
    make_test_place(&place);
    wt_engine *engine = open_repeating(&place);
    for (size_t q = 0; q < STUFFED; q++) {
        struct buffer request = {0};
        write_synthetic_word(&request, q);
        wt__buffer_char(&request, ' ');
        write_synthetic_word(&request, STUFFED + 1);
        wt__buffer_char(&request, '\0');
        double stuffed = score_provider_tool(&place, engine, request.ptr, "stuffed", "hybrid") /
                         score_provider_tool(&place, engine, request.ptr, "stuffed", "bm25");
        double large = score_provider_tool(&place, engine, request.ptr, "large", "hybrid") /
                       score_provider_tool(&place, engine, request.ptr, "large", "bm25");
        most = fmax(most, stuffed);
        assert_float_equal(large, 1, 1e-5);
        wt__buffer_dispose(&request);
    }
    if (most > .1)
        fail_msg("the stuffed tool keeps %.3f of its word score", most);
    wt_close(engine);
    remove_test_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_cap_blunts_flood),      cmocka_unit_test(copies_yield_to_older_tool),
        cmocka_unit_test(identical_copies_share_a_place), cmocka_unit_test(many_forks_take_one_place),
        cmocka_unit_test(stuffed_tool_is_not_found),      cmocka_unit_test(long_tool_near_in_meaning_keeps_words),
        cmocka_unit_test(repeated_words_are_damped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
