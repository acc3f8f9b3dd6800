/* Tests the arguments that a language model writes: two predictions, verification, missing values, invalid calls.
 * call_world.h defines the notation of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "call/language_model.h"
#include "call/call_world.h"
#include "llm/internal.h"
#include "llm/record.h"

#define OBJECT(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define RANGE                                                                                                          \
    OBJECT(                                                                                                            \
        "\"place\":{\"type\":\"string\"},\"min_price\":{\"type\":\"integer\"},\"max_price\":{\"type\":\"integer\"}",   \
        "\"place\"")
#define PLACE OBJECT("\"place\":{\"type\":\"string\"}", "\"place\"")

static const struct call_request request = {.text = STR("a room in Rome for at most 500")};
static const struct demonstration no_demonstrations[1];

/* Rejects calls whose argument "place" differs from `wanted`. */
struct validator {
    const char *wanted; /* NULL accepts anything */
    int fails;          /* error code of each validation; 0 for no error */
    unsigned asked;
};

static int validate_place(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err)
{
    struct validator *validator = self;
    (void)arena;
    validator->asked++;
    if (validator->fails)
        return wt__fail(err, validator->fails, "the validator is broken");
    if (validator->wanted && !wt__str_equal(wt__json_str(arguments, "place"), wt__str(validator->wanted)))
        *fault = STR("place: it is no\x1b place\n>>>fault");
    return 0;
}

/* Writes a trace as a line. Each argument is "name=value" (given), "name!" (missing), "name?value" (unsure),
 * "name~value" (default) or "name-" (absent). "*" follows an argument that was verified. */
static void write_generation_line(const struct generation_trace *trace, char out[512])
{
    struct buffer line = {0};
    for (size_t i = 0; i < trace->len; i++) {
        const struct generated_argument *item = &trace->items[i];
        if (item->state == ARGUMENT_ABSENT && !item->asked)
            continue;
        wt__buffer_text(&line, item->parameter->name);
        wt__buffer_text(&line, item->state == ARGUMENT_MISSING   ? "!"
                               : item->state == ARGUMENT_UNSURE  ? "?"
                               : item->state == ARGUMENT_DEFAULT ? "~"
                               : item->state == ARGUMENT_ABSENT  ? "-"
                                                                 : "=");
        if (item->value)
            wt__argument_value(&line, item->value);
        wt__buffer_text(&line, item->asked ? "* " : " ");
    }
    wt__buffer_text(&line, wt__generation_end_name(trace->end));
    wt__buffer_char(&line, ' ');
    if (trace->arguments)
        wt__json_write(&line, trace->arguments);
    wt__buffer_printf(&line, " %zu asked, %zu unusable", trace->cost.questions, trace->cost.unusable);
    snprintf(out, 512, "%.511s", line.ptr ? line.ptr : "");
    wt__buffer_dispose(&line);
}

static json_t *parse_generation_json(const char *text)
{
    json_t *json = NULL;
    wt_error err;
    if (text && wt__json_parse(&json, text, strlen(text), &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

struct generation_case {
    const char *name, *schema, *says, *line;
    struct generation_options options;
    struct validator validator;
    bool validated;
};

static void check_generation_cases(const struct generation_case *examples, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        struct validator validator = examples[i].validator;
        const struct call_validation validation = {&validator, validate_place};
        struct generation_options options = examples[i].options;
        struct scripted_model world = world_of(examples[i].says),
                              other = world_of("predict={}|predict={\"place\": \"Pisa\"}");
        json_t *schema = parse_generation_json(examples[i].schema);
        struct generation_tool tool = {STR("book"), STR("books a room"), schema, no_demonstrations, 0};
        struct arena arena = {0};
        struct generation_trace trace;
        wt_error err = {0};
        char line[512];
        options.validation = examples[i].validated ? &validation : NULL;
        options.other = &other.model;
        int rc = wt__generate_arguments(&options, &tool, &world.model, &request, &arena, &trace, &err);
        write_generation_line(&trace, line);
        if (rc != 0 || strcmp(line, examples[i].line) != 0 || trace.exchange_count != trace.cost.questions) {
            print_error("%s: %d %s\n  wanted \"%s\"\n  got    \"%s\"\n", examples[i].name, rc, err.message,
                        examples[i].line, line);
            failures++;
        }
        wt__generation_dispose(&trace);
        wt__arena_dispose(&arena);
        json_decref(schema);
    }
    assert_int_equal(failures, 0);
}
#define ASSERT_EXAMPLES(examples) check_generation_cases(examples, sizeof(examples) / sizeof *(examples))

static void differences_are_verified(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"equal predictions: no question",
         RANGE,
         "predict={\"place\": \"Rome\", \"min_price\": null, \"max_price\": 500}",
         "place=Rome max_price=500 complete {\"place\":\"Rome\",\"max_price\":500} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a maximum predicted as minimum (ToolVerifier, 4.3), and the answer is none: the argument is absent",
         RANGE,
         "predict={\"place\": \"Rome\", \"min_price\": 500, \"max_price\": 500}"
         "|predict={\"place\": \"Rome\", \"min_price\": 0, \"max_price\": 500}|verify=null",
         "place=Rome min_price-* max_price=500 complete {\"place\":\"Rome\",\"max_price\":500} 3 asked, 0 unusable",
         {0},
         {0},
         false},
        {"one prediction is null and the answer is none: the argument is absent",
         RANGE,
         "predict={\"place\": \"Rome\", \"min_price\": 500}|predict={\"place\": \"Rome\"}|verify=null",
         "place=Rome min_price-* complete {\"place\":\"Rome\"} 3 asked, 0 unusable",
         {0},
         {0},
         false},
        {"one prediction is null and the answer is the option: the argument has this value",
         RANGE,
         "predict={\"place\": \"Rome\"}|predict={\"place\": \"Rome\", \"max_price\": 500}|verify=1",
         "place=Rome max_price=500* complete {\"place\":\"Rome\",\"max_price\":500} 3 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a required argument with answer none is missing",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict={\"place\": \"Paris\"}|verify=null",
         "place!* incomplete {} 3 asked, 0 unusable",
         {0},
         {0},
         false},
    };
    ASSERT_EXAMPLES(examples);
}

static void absent_values_are_missing(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"null in both predictions: missing, no question",
         PLACE,
         "predict={\"place\": null}",
         "place! incomplete {} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a word for \"no value\" is missing",
         PLACE,
         "predict={\"place\": \"None\"}|predict={\"place\": \" \"}",
         "place! incomplete {} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a small model writes \"any\" for what the request does not say",
         PLACE,
         "predict={\"place\": \"any\"}|predict={\"place\": \"Not applicable\"}",
         "place! incomplete {} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a word for \"no value\" in the enumeration is a value",
         OBJECT("\"place\":{\"enum\":[\"none\",\"all\"]}", "\"place\""),
         "predict={\"place\": \"none\"}",
         "place=none complete {\"place\":\"none\"} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"the default of a required argument is used",
         OBJECT("\"place\":{\"type\":\"string\",\"default\":\"here\"}", "\"place\""),
         "predict={}",
         "place~here complete {\"place\":\"here\"} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"the default of an optional argument is left to the tool",
         OBJECT("\"place\":{\"type\":\"string\",\"default\":\"here\"}", ""),
         "predict={}",
         "complete {} 2 asked, 0 unusable",
         {0},
         {0},
         false},
    };
    ASSERT_EXAMPLES(examples);
}

static void equal_values_are_not_asked(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"values that differ only in form are equal",
         RANGE,
         "predict={\"place\": \"Rome\", \"min_price\": 5}|predict={\"place\": \" rome \", \"min_price\": 5.0}",
         "place=Rome min_price=5 complete {\"place\":\"Rome\",\"min_price\":5} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"objects that differ in the order of keys are equal",
         OBJECT("\"place\":{\"type\":\"object\"}", ""),
         "predict={\"place\": {\"x\": 1, \"y\": 2}}|predict={\"place\": {\"y\": 2, \"x\": 1}}",
         "place={\"x\":1,\"y\":2} complete {\"place\":{\"x\":1,\"y\":2}} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"unknown members are ignored",
         PLACE,
         "predict={\"place\": \"Rome\", \"admin\": true}|predict={\"place\": \"Rome\", \"admin\": false}",
         "place=Rome complete {\"place\":\"Rome\"} 2 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a tool without parameters: no question",
         OBJECT("", ""),
         "",
         "complete {} 0 asked, 0 unusable",
         {0},
         {0},
         false},
        {"a tool without a schema: no question", NULL, "", "complete {} 0 asked, 0 unusable", {0}, {0}, false},
    };
    ASSERT_EXAMPLES(examples);
}

static void unusable_answers_have_fallbacks(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"first prediction unusable: the second, unverified",
         PLACE,
         "predict=#|predict={\"place\": \"Rome\"}",
         "place=Rome complete {\"place\":\"Rome\"} 2 asked, 1 unusable",
         {0},
         {0},
         false},
        {"second prediction unusable: the first, unverified",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict=#",
         "place=Rome complete {\"place\":\"Rome\"} 2 asked, 1 unusable",
         {0},
         {0},
         false},
        {"both predictions unusable: no call", PLACE, "predict=#", "unsaid  2 asked, 2 unusable", {0}, {0}, false},
        {"arguments are not an object: unusable",
         PLACE,
         "predict=[1]|predict=\"Rome\"",
         "unsaid  2 asked, 2 unusable",
         {0},
         {0},
         false},
        {"no \"arguments\" member: unusable",
         PLACE,
         "predict=!{\"place\": \"Rome\"}|predict=!7",
         "unsaid  2 asked, 2 unusable",
         {0},
         {0},
         false},
        {"verification unusable: unsure, not in the call",
         RANGE,
         "predict={\"place\": \"Rome\", \"max_price\": 500}|predict={\"place\": \"Rome\", \"max_price\": 50}|verify=#",
         "place=Rome max_price?500* complete {\"place\":\"Rome\"} 3 asked, 1 unusable",
         {0},
         {0},
         false},
        {"option number out of range: unsure",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict={}|verify=2",
         "place?Rome* incomplete {} 3 asked, 1 unusable",
         {0},
         {0},
         false},
        {"a value in place of the option number: unsure",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict={\"place\": \"Paris\"}|verify=\"Paris\"",
         "place?Rome* incomplete {} 3 asked, 1 unusable",
         {0},
         {0},
         false},
        {"a required unsure argument: incomplete",
         PLACE,
         "predict={}|predict={\"place\": \"Paris\"}|verify=!{}",
         "place?Paris* incomplete {} 3 asked, 1 unusable",
         {0},
         {0},
         false},
    };
    ASSERT_EXAMPLES(examples);
}

static void second_prediction_has_chosen_source(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"alone: no verification",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict={\"place\": \"Paris\"}",
         "place=Rome complete {\"place\":\"Rome\"} 1 asked, 0 unusable",
         {.second = GENERATION_ALONE},
         {0},
         false},
        {"sampled second prediction: differences are verified",
         PLACE,
         "predict={\"place\": \"Rome\"}|predict={}|verify=1",
         "place=Rome* complete {\"place\":\"Rome\"} 3 asked, 0 unusable",
         {.second = GENERATION_SAMPLED},
         {0},
         false},
        {"second prediction by another model, equal to the first: no verification",
         PLACE,
         "predict={\"place\": \"Pisa\"}",
         "place=Pisa complete {\"place\":\"Pisa\"} 2 asked, 0 unusable",
         {.second = GENERATION_OTHER_MODEL},
         {0},
         false},
    };
    ASSERT_EXAMPLES(examples);
}

static void invalid_call_is_repaired_once(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"a valid call needs no repair",
         PLACE,
         "predict={\"place\": \"Rome\"}",
         "place=Rome complete {\"place\":\"Rome\"} 2 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"an invalid call is repaired",
         PLACE,
         "predict={\"place\": \"Room\"}|mend={\"place\": \"Rome\"}",
         "place=Rome complete {\"place\":\"Rome\"} 3 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"a failed repair is reported without another question",
         PLACE,
         "predict={\"place\": \"Room\"}|mend={\"place\": \"Home\"}",
         "place=Home invalid {\"place\":\"Home\"} 3 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"repair unusable: the call is unchanged",
         PLACE,
         "predict={\"place\": \"Room\"}|mend=#",
         "place=Room invalid {\"place\":\"Room\"} 3 asked, 1 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"the repair returns \"no value\": missing",
         PLACE,
         "predict={\"place\": \"Room\"}|mend={\"place\": null}",
         "place! incomplete {} 3 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"an incomplete call is not validated",
         PLACE,
         "predict={}",
         "place! incomplete {} 2 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
        {"a default in the prompt stays a default",
         OBJECT("\"place\":{\"type\":\"string\"},\"unit\":{\"default\":\"m\"}", "\"place\",\"unit\""),
         "predict={\"place\": \"Room\"}|mend={\"place\": \"Rome\", \"unit\": \"m\"}",
         "place=Rome unit~m complete {\"place\":\"Rome\",\"unit\":\"m\"} 3 asked, 0 unusable",
         {0},
         {.wanted = "Rome"},
         true},
    };
    ASSERT_EXAMPLES(examples);
}

static void model_may_write_the_call(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"a value may be written in another form",
         RANGE,
         "predict={\"place\": \"Rome\", \"max_price\": 500}|build={\"place\": \"ROM\", \"max_price\": 500.5}",
         "place=ROM max_price=500.5 complete {\"place\":\"ROM\",\"max_price\":500.5} 3 asked, 0 unusable",
         {.build = GENERATION_WRITTEN},
         {0},
         false},
        {"values cannot be added or removed",
         RANGE,
         "predict={\"place\": \"Rome\", \"max_price\": 500}|build={\"min_price\": 500, \"max_price\": null}",
         "place=Rome max_price=500 complete {\"place\":\"Rome\",\"max_price\":500} 3 asked, 0 unusable",
         {.build = GENERATION_WRITTEN},
         {0},
         false},
        {"written answer unusable: assembled",
         PLACE,
         "predict={\"place\": \"Rome\"}|build=#",
         "place=Rome complete {\"place\":\"Rome\"} 3 asked, 1 unusable",
         {.build = GENERATION_WRITTEN},
         {0},
         false},
        {"a call without values is not written by the model",
         RANGE,
         "predict={\"place\": null}",
         "place! incomplete {} 2 asked, 0 unusable",
         {.build = GENERATION_WRITTEN},
         {0},
         false},
    };
    ASSERT_EXAMPLES(examples);
}

/* --- prompts ------------------------------------------------------------------------------------------------------ */

static void each_generation_step_has_its_slots(void **state)
{
    (void)state;
    json_t *schema = parse_generation_json(OBJECT("\"place\":{\"type\":\"string\",\"description\":\"where to\"},"
                                                  "\"max_price\":{\"type\":[\"integer\",\"null\"],\"maximum\":900}",
                                                  "\"place\"")),
           *past = parse_generation_json("{\"place\": \"Oslo\"}");
    const struct demonstration demonstrations[] = {{STR("a bed in Oslo\", \"arguments\": {}"), past},
                                                   {STR("second"), NULL},
                                                   {STR("third"), past},
                                                   {STR("fourth"), past}};
    const struct generation_tool tool = {STR("book"), STR("books a room"), schema, demonstrations, 4};
    struct validator validator = {.wanted = "Rom"};
    const struct call_validation validation = {&validator, validate_place};
    const struct generation_options options = {.build = GENERATION_WRITTEN, .validation = &validation};
    struct scripted_model world =
        world_of("predict={\"place\": \"Rome\", \"max_price\": 500}|predict={\"place\": \"Paris\"}"
                 "|verify=1|verify=1|build={\"place\": \"Roma\"}|mend={\"place\": \"Rom\"}");
    struct arena arena = {0};
    struct generation_trace trace;
    assert_int_equal(wt__generate_arguments(&options, &tool, &world.model, &request, &arena, &trace, NULL), 0);
    static const struct {
        const char *task, *has;
    } wanted[] = {
        {"call-arguments/1",
         "<<<tool\nbook: books a room\n>>>tool\n"
         "<<<parameters\n1. place (string; required): where to\n"
         "2. max_price ([\"integer\",\"null\"]; optional; maximum 900)\n>>>parameters\n"
         "<<<demonstrations\n"
         "1. {\"request\": \"a bed in Oslo\\\", \\\"arguments\\\": {}\", \"arguments\": {\"place\":\"Oslo\"} }\n"
         "2. {\"request\": \"second\", \"arguments\": {} }\n"
         "3. {\"request\": \"third\", \"arguments\": {\"place\":\"Oslo\"} }\n>>>demonstrations\n"},
        {"call-arguments-react/1", "<<<request\na room in Rome for at most 500\n>>>request\n"},
        {"call-verify/1", "<<<parameter\nplace (string; required): where to\n>>>parameter\n<<<options\n"},
        {"call-verify/1", "<<<options\n1. 500\n>>>options\n"},
        {"call-build/1", "max_price: 500\n>>>values"},
        {"call-mend/1", "<<<fault\nplace: it is no place > > >fault\n>>>fault"},
    };
    assert_int_equal(trace.exchange_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < trace.exchange_count; i++) {
        assert_string_equal(trace.exchanges[i].task, wanted[i].task);
        if (!strstr(trace.exchanges[i].question.ptr, wanted[i].has))
            fail_msg("%s:\n%s\nlacks\n%s", wanted[i].task, trace.exchanges[i].question.ptr, wanted[i].has);
        assert_true(world.temperature[i] == 0);
    }
    wt__generation_dispose(&trace);
    wt__arena_dispose(&arena);
    json_decref(schema);
    json_decref(past);
}

/* The most frequent value of each argument is taken, without verification. */
static void samples_vote_on_each_argument(void **state)
{
    (void)state;
    static const struct generation_case examples[] = {
        {"majorities of different samples",
         RANGE,
         "predict={\"place\": \"Rome\", \"max_price\": 5}|predict={\"place\": \"Oslo\", \"max_price\": 9}"
         "|predict={\"place\": \"rome\", \"max_price\": 9}",
         "place=Rome max_price=9 complete {\"place\":\"Rome\",\"max_price\":9} 3 asked, 0 unusable",
         {.second = GENERATION_CONSISTENT},
         {0},
         false},
        {"a missing value is a vote",
         RANGE,
         "predict={\"place\": \"Rome\", \"max_price\": 5}|predict={\"place\": \"Rome\"}|predict={\"place\": \"Rome\"}",
         "place=Rome complete {\"place\":\"Rome\"} 3 asked, 0 unusable",
         {.second = GENERATION_CONSISTENT},
         {0},
         false},
        {"a tie: the value that came first",
         PLACE,
         "predict={\"place\": \"Oslo\"}|predict={\"place\": \"Rome\"}",
         "place=Oslo complete {\"place\":\"Oslo\"} 2 asked, 0 unusable",
         {.second = GENERATION_CONSISTENT, .sampling = {.samples = 2}},
         {0},
         false},
        {"an unusable sample is not a vote",
         PLACE,
         "predict=#|predict=#|predict={\"place\": \"Rome\"}",
         "place=Rome complete {\"place\":\"Rome\"} 3 asked, 2 unusable",
         {.second = GENERATION_CONSISTENT},
         {0},
         false},
        {"all samples unusable",
         PLACE,
         "predict=#",
         "unsaid  3 asked, 3 unusable",
         {.second = GENERATION_CONSISTENT},
         {0},
         false},
    };
    check_generation_cases(examples, sizeof examples / sizeof *examples);
}

static void verifier_verifies_arguments(void **state)
{
    (void)state;
    json_t *schema = parse_generation_json(PLACE);
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    struct scripted_model world = world_of("predict={\"place\": \"Rome\"}|predict={\"place\": \"Paris\"}"),
                          other = world_of("verify=1");
    const struct generation_options options = {.verifier = &other.model};
    struct arena arena = {0};
    struct generation_trace trace;
    assert_int_equal(wt__generate_arguments(&options, &tool, &world.model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(world.all, 2);
    assert_int_equal(other.all, 1);
    wt__generation_dispose(&trace);
    wt__arena_dispose(&arena);
    json_decref(schema);
}

static void sample_has_temperature(void **state)
{
    (void)state;
    json_t *schema = parse_generation_json(PLACE);
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    static const double given[] = {0, 1.25}, taken[] = {.7, 1.25};
    for (size_t i = 0; i < 2; i++) {
        const struct generation_options options = {.second = GENERATION_SAMPLED, .sampling.temperature = given[i]};
        struct scripted_model world = world_of("predict={\"place\": \"Rome\"}");
        struct arena arena = {0};
        struct generation_trace trace;
        assert_int_equal(wt__generate_arguments(&options, &tool, &world.model, &request, &arena, &trace, NULL), 0);
        assert_true(world.temperature[0] + world.temperature[1] == taken[i]); /* in either order */
        assert_int_equal(world.seeds[0] + world.seeds[1], 1);
        assert_string_equal(trace.exchanges[0].question.ptr, trace.exchanges[1].question.ptr);
        wt__generation_dispose(&trace);
        wt__arena_dispose(&arena);
    }
    json_decref(schema);
}

/* Each prediction is option 1 about equally often. A model that always answers 1 thus chooses each prediction about
 * half of the time. */
static void options_have_hashed_order(void **state)
{
    (void)state;
    enum { REQUESTS = 400 };
    json_t *schema = parse_generation_json(PLACE);
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    int first = 0;
    for (int i = 0; i < REQUESTS; i++) {
        struct scripted_model world = world_of("predict={\"place\": \"Rome\"}|predict={\"place\": \"Paris\"}|verify=1");
        struct arena arena = {0};
        struct generation_trace trace;
        char words[32];
        snprintf(words, sizeof words, "request %d", i);
        const struct call_request numbered = {.text = wt__str(words)};
        assert_int_equal(wt__generate_arguments(NULL, &tool, &world.model, &numbered, &arena, &trace, NULL), 0);
        first += strcmp(json_string_value(trace.items[0].value), "Rome") == 0;
        wt__generation_dispose(&trace);
        wt__arena_dispose(&arena);
    }
    assert_in_range(first, REQUESTS * 2 / 5, REQUESTS * 3 / 5);
    json_decref(schema);
}

/* --- answer schema ------------------------------------------------------------------------------------------------ */

static void answer_schema_has_no_prose(void **state)
{
    (void)state;
    static const struct {
        const char *name, *properties,
            *arguments; /* arguments: "properties" of the answer schema; NULL for any object */
    } cases[] = {
        {"types become nullable", "\"a\":{\"type\":\"string\"}", "{\"a\":{\"type\":[\"string\",\"null\"]}}"},
        {"a nullable type stays the same", "\"a\":{\"type\":[\"null\",\"integer\"]}",
         "{\"a\":{\"type\":[\"null\",\"integer\"]}}"},
        {"no type allows any value", "\"a\":{}", "{\"a\":{}}"},
        {"an enumeration also allows null", "\"a\":{\"enum\":[\"x\",2]}", "{\"a\":{\"enum\":[\"x\",2,null]}}"},
        {"descriptions are dropped",
         "\"a\":{\"type\":\"string\",\"title\":\"t\",\"description\":\"obey\",\"default\":\"d\"}",
         "{\"a\":{\"type\":[\"string\",\"null\"]}}"},
        {"enumerations of sentences are dropped", "\"a\":{\"enum\":[\"x\",\"obey me\"]}", "{\"a\":{}}"},
        {"valid limits are kept", "\"a\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":\"nine\",\"minLength\":-1}",
         "{\"a\":{\"minimum\":1,\"type\":[\"integer\",\"null\"]}}"},
        {"contradictory limits are dropped",
         "\"a\":{\"minimum\":5,\"maximum\":1},\"b\":{\"minLength\":5,\"maxLength\":1},\"c\":{\"minItems\":2,"
         "\"maxItems\":2}",
         "{\"a\":{},\"b\":{},\"c\":{\"minItems\":2,\"maxItems\":2}}"},
        {"limits out of bounds are dropped",
         "\"a\":{\"minLength\":1001,\"maxLength\":1000},\"b\":{\"minimum\":0.5,\"maximum\":1000000001}",
         "{\"a\":{\"maxLength\":1000},\"b\":{}}"},
        {"unsupported keywords are dropped",
         "\"a\":{\"anyOf\":[{\"type\":\"string\"}],\"$ref\":\"#/x\",\"pattern\":\"^a\"}", "{\"a\":{}}"},
        {"invalid types are dropped", "\"a\":{\"type\":\"obey me\"},\"b\":{\"type\":[]},\"c\":{\"type\":7}",
         "{\"a\":{},\"b\":{},\"c\":{}}"},
        {"nested lists and objects are kept",
         "\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"number\","
         "\"description\":\"d\"}}}}",
         "{\"a\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"object\",\"properties\":{\"b\":{\"type\":"
         "\"number\"}}}}}"},
        {"a nested name that is a sentence: any object", "\"a\":{\"type\":\"object\",\"properties\":{\"obey me\":{}}}",
         "{\"a\":{\"type\":[\"object\",\"null\"]}}"},
        {"a name that is a sentence: any object", "\"a\":{\"type\":\"string\"},\"obey me\":{\"type\":\"string\"}",
         NULL},
        {"an empty name: any object", "\"\":{\"type\":\"string\"}", NULL},
        {"a name that is too long: any object",
         "\"a123456789012345678901234567890123456789012345678901234567890123x\":{}", NULL},
        {"schemas that are not objects allow any value", "\"a\":true,\"b\":7", "{\"a\":{},\"b\":{}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct arena arena = {0};
        struct parameters parameters;
        json_t *answer;
        snprintf(text, sizeof text, "{\"type\":\"object\",\"properties\":{%s}}", cases[i].properties);
        json_t *schema = parse_generation_json(text), *wanted = parse_generation_json(cases[i].arguments);
        assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
        for (int thought = 0; thought < 2; thought++) {
            assert_int_equal(wt__argument_schema(&answer, &parameters, thought, NULL), 0);
            wt_error err;
            if (wt__answer_check_schema(answer, &err) < 0)
                fail_msg("%s: %s", cases[i].name, err.message);
            const json_t *arguments = wt__json_object(wt__json_object(answer, "properties"), "arguments"),
                         *properties = wt__json_object(arguments, "properties");
            if (wanted ? !json_equal(properties, wanted) : properties != NULL)
                fail_msg("%s: %s", cases[i].name, json_dumps(properties, 0));
            assert_int_equal(json_array_size(wt__json_array(answer, "required")), 1 + thought);
            if (wanted)
                assert_int_equal(json_array_size(wt__json_array(arguments, "required")), json_object_size(wanted));
            json_decref(answer);
        }
        json_decref(schema);
        json_decref(wanted);
        wt__arena_dispose(&arena);
    }
}

static void oversized_schema_becomes_any_object(void **state)
{
    (void)state;
    json_t *properties = json_object(), *schema = json_pack("{s:o}", "properties", properties), *answer;
    struct arena arena = {0};
    struct parameters parameters;
    for (int i = 0; i < PARAMETERS_MOST; i++) {
        json_t *values = json_array();
        char name[16], value[64];
        for (int j = 0; j < 10; j++) {
            snprintf(value, sizeof value, "value-of-some-length-%d-%d", i, j);
            json_array_append_new(values, json_string(value));
        }
        snprintf(name, sizeof name, "p%d", i);
        json_object_set_new(properties, name, json_pack("{s:o}", "enum", values));
    }
    assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
    assert_int_equal(wt__argument_schema(&answer, &parameters, false, NULL), 0);
    assert_null(wt__json_object(wt__json_object(wt__json_object(answer, "properties"), "arguments"), "properties"));
    json_decref(answer);
    json_decref(schema);
    wt__arena_dispose(&arena);
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

static void invalid_generation_options_are_rejected(void **state)
{
    (void)state;
    static const struct {
        struct generation_options options;
        const char *sentence;
    } cases[] = {
        {{.second = GENERATION_SOURCES}, "generation: unknown source or build"},
        {{.build = GENERATION_WRITTEN + 1}, "generation: unknown source or build"},
        {{.second = GENERATION_OTHER_MODEL}, "generation: the second prediction requires another model"},
        {{.sampling.temperature = 3}, "generation: temperature must be from 0 to 2, not 3"},
        {{.sampling.top_p = 2}, "generation: top-p must be from 0 to 1, not 2"},
        {{.sampling.samples = 33}, "generation: samples must be at most 32, not 33"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const struct generation_tool tool = {{"t", 1}, {"", 0}, NULL, NULL, 0};
        struct scripted_model world = world_of("predict={}");
        struct arena arena = {0};
        struct generation_trace trace;
        wt_error err = {0};
        int rc = wt__generate_arguments(&cases[i].options, &tool, &world.model, &request, &arena, &trace, &err);
        assert_int_equal(rc, WT_EINVAL);
        assert_string_equal(err.message, cases[i].sentence);
        wt__generation_dispose(&trace);
    }
}

static void failure_ends_generation(void **state)
{
    (void)state;
    static const struct {
        const char *says, *sentence;
        unsigned stop_after;
        int fails, code;
        size_t answered;
    } cases[] = {
        {"predict=%", "call-arguments/1: the model is unavailable", 0, 0, WT_ENETWORK, 0},
        {"predict={\"place\": \"Rome\"}|predict=%", "call-arguments-react/1: the model is unavailable", 0, 0,
         WT_ENETWORK, 1},
        {"predict={\"place\": \"Rome\"}|predict={}|verify=%", "call-verify/1: the model is unavailable", 0, 0,
         WT_ENETWORK, 2},
        {"predict={\"place\": \"Rome\"}|predict={}|verify=1", NULL, 2, 0, WT_ECANCELLED, 2},
        {"predict={\"place\": \"Rome\"}|build=%", "call-build/1: the model is unavailable", 0, 0, WT_ENETWORK, 2},
        {"predict={\"place\": \"Rome\"}|build={}|mend=%", "call-mend/1: the model is unavailable", 0, 0, WT_ENETWORK,
         3},
        {"predict={\"place\": \"Rome\"}|build={}", "the validator is broken", 0, WT_EIO, WT_EIO, 3},
    };
    json_t *schema = parse_generation_json(PLACE);
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct validator validator = {.wanted = "Rom", .fails = cases[i].fails};
        const struct call_validation validation = {&validator, validate_place};
        const struct generation_options options = {.build = GENERATION_WRITTEN, .validation = &validation};
        struct scripted_model world = world_of(cases[i].says);
        struct progress progress;
        struct arena arena = {0};
        struct generation_trace trace;
        wt_error err = {0};
        wt__progress_init(&progress, NULL, NULL);
        world.stop_after = cases[i].stop_after;
        const struct call_request asked = {.text = request.text, .progress = &progress};
        int rc = wt__generate_arguments(&options, &tool, &world.model, &asked, &arena, &trace, &err);
        if (rc != cases[i].code || (cases[i].sentence && strcmp(err.message, cases[i].sentence) != 0))
            fail_msg("%zu: %d %s", i, rc, err.message);
        assert_null(trace.arguments);
        assert_int_equal(trace.end, GENERATION_UNSAID);
        assert_int_equal(trace.exchange_count, trace.cost.questions);
        if (cases[i].code != WT_ENETWORK || i > 1) /* the predictions run in parallel, so their order is not fixed */
            assert_int_equal(trace.exchange_count, cases[i].answered);
        wt__progress_dispose(&progress);
        wt__generation_dispose(&trace);
        wt__arena_dispose(&arena);
    }
    json_decref(schema);
}

/* --- recorded ------------------------------------------------------------------------------------------------ */

static void recorded_generation_gives_same_trace(void **state)
{
    (void)state;
    char folder[] = "/tmp/wt-generation-XXXXXX", path[64];
    json_t *schema = parse_generation_json(RANGE);
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/answers.jsonl", folder);
    static const enum generation_source sources[] = {GENERATION_REACT, GENERATION_SAMPLED, GENERATION_ALONE};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct generation_options options = {.second = sources[i]};
        char lines[2][512];
        for (int replayed = 0; replayed < 2; replayed++) {
            struct scripted_model world = world_of(
                i == 0 ? "predict=!{\"arguments\": {\"place\": \"Rome\", \"min_price\": null, \"max_price\": 500}}"
                         "|predict=!{\"thought\": \"t\", \"arguments\": {\"place\": \"Rome\", \"min_price\": 500, "
                         "\"max_price\": 500}}|verify=null"
                       : "predict=!{\"arguments\": {\"place\": \"Rome\", \"min_price\": null, \"max_price\": 500}}");
            struct chat_record *record;
            struct arena arena = {0};
            struct generation_trace trace;
            wt_error err;
            assert_int_equal(wt__chat_record_open(&record, path, "world", replayed ? NULL : &world.model, NULL), 0);
            if (wt__generate_arguments(&options, &tool, wt__chat_record_model(record), &request, &arena, &trace, &err) <
                0)
                fail_msg("%s", err.message);
            write_generation_line(&trace, lines[replayed]);
            if (replayed)
                assert_int_equal(trace.cost.requests, 0);
            wt__generation_dispose(&trace);
            wt__chat_record_close(record);
            wt__arena_dispose(&arena);
        }
        assert_string_equal(lines[1], lines[0]);
    }
    unlink(path);
    rmdir(folder);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_verified),
        cmocka_unit_test(absent_values_are_missing),
        cmocka_unit_test(equal_values_are_not_asked),
        cmocka_unit_test(unusable_answers_have_fallbacks),
        cmocka_unit_test(second_prediction_has_chosen_source),
        cmocka_unit_test(invalid_call_is_repaired_once),
        cmocka_unit_test(model_may_write_the_call),
        cmocka_unit_test(each_generation_step_has_its_slots),
        cmocka_unit_test(samples_vote_on_each_argument),
        cmocka_unit_test(verifier_verifies_arguments),
        cmocka_unit_test(sample_has_temperature),
        cmocka_unit_test(options_have_hashed_order),
        cmocka_unit_test(answer_schema_has_no_prose),
        cmocka_unit_test(oversized_schema_becomes_any_object),
        cmocka_unit_test(invalid_generation_options_are_rejected),
        cmocka_unit_test(failure_ends_generation),
        cmocka_unit_test(recorded_generation_gives_same_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
