/* Tests the searchable parts of a tool: the terms of each field, and the texts for the encoder (docs/retrieval.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "retrieve/document.h"

#define TOOL_STR(text)                                                                                                 \
    {                                                                                                                  \
        (text), sizeof(text) - 1                                                                                       \
    }

/* words: terms of the fields in the order of enum field; fields are separated by '|', terms by blanks. whole, name:
 * texts 0 and 1 for the encoder. */
static const struct {
    const char *what;
    struct tool tool;
    const char *words, *whole, *name;
} cases[] = {
    {"every field",
     {.provider = TOOL_STR("weather"),
      .name = TOOL_STR("get_forecast"),
      .title = TOOL_STR("Daily outlook"),
      .category = TOOL_STR("Nature"),
      .description = TOOL_STR("Rain and storms"),
      .schema = TOOL_STR("{\"properties\": {\"town\": {\"description\": \"somewhere nice\"}}}")},
     "forecast daili outlook|weather|natur|rain storm|town|nice",
     "weather Daily outlook get forecast: Rain and storms",
     "weather Daily outlook get forecast"},
    {"only a name", {.name = TOOL_STR("bookHotel")}, "book hotel bookhotel|||||", "book Hotel: ", "book Hotel"},
    {"a name that repeats the title counts once",
     {.name = TOOL_STR("Forecast~2"), .title = TOOL_STR("Forecast")},
     "forecast|||||",
     "Forecast: ",
     "Forecast"},
    {"the provider's spelling is kept",
     {.provider = TOOL_STR(" my-Server "), .name = TOOL_STR("run"), .description = TOOL_STR("Runs.")},
     "run|server||run||",
     "my-Server run: Runs.",
     "my-Server run"},
    {"malformed schema", {.name = TOOL_STR("run"), .schema = TOOL_STR("[1, 2")}, "run|||||", "run: ", "run"},
};

static struct buffer field_words(const struct document *document)
{
    struct buffer words = {0};
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        wt__buffer_text(&words, f ? "|" : "");
        for (size_t i = 0; i < document->fields[f].count; i++) {
            wt__buffer_text(&words, i ? " " : "");
            wt__buffer_str(&words, document->fields[f].terms[i]);
        }
    }
    return words;
}

static void reads_tool_fields(void **state)
{
    (void)state;
    struct analyser *analyser;
    struct document document = {0}; /* reused for all cases */
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(wt__document_read(&document, analyser, &cases[c].tool, NULL), 0);
        struct buffer words = field_words(&document);
        if (strcmp(words.ptr, cases[c].words) != 0)
            fail_msg("%s: \"%s\"", cases[c].what, words.ptr);
        wt__buffer_dispose(&words);
    }
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
}

static void encoder_texts_are_all_fields_and_name(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *const wanted[DOCUMENT_TEXTS] = {cases[c].whole, cases[c].name};
        for (unsigned which = 0; which < DOCUMENT_TEXTS; which++) {
            struct buffer text = {0};
            wt__document_text(&cases[c].tool, DOCUMENT_USUAL, which, &text);
            if (strcmp(text.ptr, wanted[which]) != 0)
                fail_msg("%s, text %u: \"%s\"", cases[c].what, which, text.ptr);
            wt__buffer_dispose(&text);
        }
    }
}

static void cuts_long_descriptions_between_words(void **state)
{
    (void)state;
    static const struct {
        const char *piece;
        size_t kept;
    } long_ones[] = {{"word ", 299}, {"x", 300}, {"\xC3\xA9", 300}, {"\xE4\xBD\xA0", 300}, {"\xF0\x9F\x98\x80", 300}};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        struct buffer description = {0}, text = {0};
        while (description.len < 2000)
            wt__buffer_text(&description, long_ones[i].piece);
        struct tool tool = {.name = TOOL_STR("run"), .description = wt__buffer_view(&description)};
        wt__document_text(&tool, DOCUMENT_USUAL, 0, &text);
        assert_int_equal(text.len, strlen("run: ") + long_ones[i].kept);
        assert_memory_equal(text.ptr + strlen("run: "), description.ptr, long_ones[i].kept);
        wt__buffer_dispose(&description);
        wt__buffer_dispose(&text);
    }
}

static void parses_field_lists(void **state)
{
    enum { P = 1u << FIELD_PROVIDER, N = 1u << FIELD_NAME, C = 1u << FIELD_CATEGORY, A = 1u << FIELD_PARAMETERS };
    static const struct {
        const char *names, *unknown; /* unknown: first invalid name; NULL if all are valid */
        unsigned fields;
        const char *texts[DOCUMENT_TEXTS];
    } rows[] = {
        {"", NULL, DOCUMENT_USUAL, {"maps find place: it finds", "maps find place"}},
        {"provider,name,description", NULL, DOCUMENT_USUAL, {"maps find place: it finds", "maps find place"}},
        {"name,provider,", NULL, P | N, {"maps find place", "maps find place"}},
        {"parameters,category,name", NULL, C | N | A, {"travel find place (city, day)", "find place"}},
        {"category", NULL, C, {"travel ", "travel "}},
        {"nonsense,name,parameter-texts", "nonsense", N, {"find place", "find place"}},
        {",name", "", N, {"find place", "find place"}},
        {"nonsense", "nonsense", DOCUMENT_USUAL, {"maps find place: it finds", "maps find place"}},
    };
    const struct tool tool = {.name = TOOL_STR("find_place"),
                              .provider = TOOL_STR("maps"),
                              .category = TOOL_STR("travel"),
                              .description = TOOL_STR("it finds"),
                              .schema = TOOL_STR("{\"properties\": {\"city\": {}, \"day\": {}}}")};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct str unknown;
        unsigned fields = wt__document_fields(rows[r].names, &unknown);
        assert_int_equal(fields, rows[r].fields);
        assert_int_equal(unknown.ptr != NULL, rows[r].unknown != NULL);
        if (rows[r].unknown)
            assert_true(wt__str_equal(unknown, wt__str(rows[r].unknown)));
        for (unsigned which = 0; which < DOCUMENT_TEXTS; which++) {
            struct buffer text = {0};
            wt__document_text(&tool, fields, which, &text);
            assert_string_equal(text.ptr, rows[r].texts[which]);
            wt__buffer_dispose(&text);
        }
    }
}

/* The weights must match the table in docs/retrieval.md. */
static void weights_match_documentation(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float weight;
    } table[FIELD_COUNT] = {{"name", 2},        {"provider", 2},   {"category", .5f},
                            {"description", 1}, {"parameters", 1}, {"parameter-texts", .5f}};
    assert_int_equal(wt__lexical_settings.field_count, FIELD_COUNT);
    assert_true(wt__lexical_settings.k1 == 1.5f);
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        assert_string_equal(wt__field_names[f], table[f].name);
        assert_true(wt__lexical_settings.fields[f].weight == table[f].weight);
        assert_true(wt__lexical_settings.fields[f].b == .75f);
    }
    assert_true(wt__document_text_weights[0] == 1 && wt__document_text_weights[1] == .5f);
    assert_true(wt__document_settings_key() == wt__document_settings_key());
}

static void name_hash_ignores_case_digits_and_punctuation(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool alike;
    } names[] = {
        {"getForecast", "Get Forecast 2", true},
        {"find_table~2", "find-table", true},
        {"find_table", "find_tables", false},
        {"v1/search", "v2/search", true},
        {"42", "43", false},
        {"\xe5\xa4\xa9\xe6\xb0\x94", "\xe5\xa4\xa9", false},
        {"", "", true},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(wt__document_name_hash(wt__str(names[i].a)) == wt__document_name_hash(wt__str(names[i].b)),
                         names[i].alike);
}

#define PARAMETERS(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define A "\"a\":{\"type\":\"string\",\"description\":\"first\"}"
#define B "\"b\":{\"type\":\"number\"}"

/* Each row is compared with a tool named send_mail with the description "Sends a mail." and the parameters a and b. */
static void copy_hash_requires_equal_texts(void **state)
{
    static const struct {
        const char *what, *name, *description, *schema;
        bool copy;
    } others[] = {
        {"same texts", "send_mail", "Sends a mail.", PARAMETERS(A "," B), true},
        {"other case, blanks and joining of the name", "SendMail", " sends  a\nMAIL. ", PARAMETERS(A "," B), true},
        {"other punctuation", "send_mail", "Sends: a mail", PARAMETERS(A "," B), true},
        {"description with markup", "send_mail", "<p>Sends a <b>mail</b>.</p>", PARAMETERS(A "," B), true},
        {"another order of parameters", "send_mail", "Sends a mail.", PARAMETERS(B "," A), true},
        {"other types of parameters", "send_mail", "Sends a mail.", PARAMETERS("\"a\":{},\"b\":{}"), true},
        {"another name", "send_mails", "Sends a mail.", PARAMETERS(A "," B), false},
        {"a number in the name", "send_mail_2", "Sends a mail.", PARAMETERS(A "," B), false},
        {"another word in the description", "send_mail", "Sends one mail.", PARAMETERS(A "," B), false},
        {"two words are joined", "send_mail", "Sends amail.", PARAMETERS(A "," B), false},
        {"no description", "send_mail", "", PARAMETERS(A "," B), false},
        {"one parameter is missing", "send_mail", "Sends a mail.", PARAMETERS(A), false},
        {"one parameter with both names joined", "send_mail", "Sends a mail.", PARAMETERS("\"ab\":{}"), false},
        {"no parameters", "send_mail", "Sends a mail.", PARAMETERS(""), false},
    };
    static const struct tool first = {.provider = TOOL_STR("post"),
                                      .name = TOOL_STR("send_mail"),
                                      .description = TOOL_STR("Sends a mail."),
                                      .schema = TOOL_STR(PARAMETERS(A "," B))};
    struct analyser *analyser;
    struct document document = {0};
    (void)state;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__document_read(&document, analyser, &first, NULL), 0);
    uint64_t hash = wt__document_copy_hash(&document, &first);
    assert_true(hash != 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct tool tool = {.provider = TOOL_STR("fork"),
                                  .name = wt__str(others[i].name),
                                  .description = wt__str(others[i].description),
                                  .schema = wt__str(others[i].schema)};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        if ((wt__document_copy_hash(&document, &tool) == hash) != others[i].copy)
            fail_msg("%s", others[i].what);
    }
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
}

static void detects_one_operation_under_two_methods(void **state)
{
    static const struct {
        const char *name, *source, *description, *schema;
        bool twin, same; /* same: same copy hash as GET_StopInstances without parameters */
    } rows[] = {
        {"POST_StopInstances", "POST /#Action=StopInstances", "Stops an instance.", PARAMETERS(A), true, true},
        {"GET_StopInstance", "GET /#Action=StopInstance", "Stops an instance.", PARAMETERS(""), true, false},
        {"POST_StopInstances", "POST /#Action=StopInstances", "Stops all instances.", PARAMETERS(""), true, false},
        {"POST_StopInstances", "POST /#Action=StopInstances", "", PARAMETERS(""), false, false},
        {"POST_StopInstances", "POST /StopInstances", "Stops an instance.", PARAMETERS(""), false, false},
        {"POST_StopInstances", "", "Stops an instance.", PARAMETERS(""), false, false},
        {"StopInstances", "GET /#Action=StopInstances", "Stops an instance.", PARAMETERS(""), false, false},
        {"DELETE_StopInstances", "DELETE /#Action=StopInstances", "Stops an instance.", PARAMETERS(""), false, false},
        {"GET_", "GET /#Action=", "Stops an instance.", PARAMETERS(""), false, false},
    };
    struct tool tool = {.provider = TOOL_STR("ec2"),
                        .name = TOOL_STR("GET_StopInstances"),
                        .source_id = TOOL_STR("GET /#Action=StopInstances"),
                        .description = TOOL_STR("<p>Stops an instance.</p>"),
                        .schema = TOOL_STR(PARAMETERS(""))};
    struct analyser *analyser;
    struct document document = {0};
    (void)state;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
    uint64_t hash = wt__document_copy_hash(&document, &tool);
    assert_true(wt__document_method_twin(&tool));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tool.name = wt__str(rows[i].name);
        tool.source_id = wt__str(rows[i].source);
        tool.description = wt__str(rows[i].description);
        tool.schema = wt__str(rows[i].schema);
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__document_method_twin(&tool), rows[i].twin);
        if ((wt__document_copy_hash(&document, &tool) == hash) != rows[i].same)
            fail_msg("%s: %s", rows[i].name, rows[i].description);
    }
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
}

/* A tool with only a name has no copy hash. With parameters it has one. */
static void copy_hash_uses_parameters_without_description(void **state)
{
    static const struct {
        const char *schema;
        bool has_hash;
    } rows[] = {{"", false}, {PARAMETERS(""), false}, {PARAMETERS(A), true}};
    struct analyser *analyser;
    struct document document = {0};
    (void)state;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tool tool = {.name = TOOL_STR("search"), .schema = wt__str(rows[i].schema)};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__document_copy_hash(&document, &tool) != 0, rows[i].has_hash);
    }
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tool_fields),
        cmocka_unit_test(encoder_texts_are_all_fields_and_name),
        cmocka_unit_test(cuts_long_descriptions_between_words),
        cmocka_unit_test(parses_field_lists),
        cmocka_unit_test(weights_match_documentation),
        cmocka_unit_test(name_hash_ignores_case_digits_and_punctuation),
        cmocka_unit_test(copy_hash_requires_equal_texts),
        cmocka_unit_test(detects_one_operation_under_two_methods),
        cmocka_unit_test(copy_hash_uses_parameters_without_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
