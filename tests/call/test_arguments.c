/* The arguments of a request without a language model: what is given, missing, unsure, and what is left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "call/arguments.h"
#include "call/parameters.h"

#define OBJECT(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define TEXT(name) "\"" name "\":{\"type\":\"string\"}"
#define WHOLE(name) "\"" name "\":{\"type\":\"integer\"}"
#define REAL(name) "\"" name "\":{\"type\":\"number\"}"
#define ENUM(name, values) "\"" name "\":{\"type\":\"string\",\"enum\":[" values "]}"

#define SAID(name, description) "\"" name "\":{\"type\":\"string\",\"description\":\"" description "\"}"
#define EXCHANGE                                                                                                       \
    OBJECT(REAL("amount") "," SAID("from", "Three-letter code") "," SAID("to", "Three-letter code"),                   \
           "\"amount\",\"from\",\"to\"")
#define MEETING OBJECT(SAID("start", "Start time, HH:MM"), "")
#define PAYMENT OBJECT(REAL("amount") "," ENUM("currency", "\"EUR\",\"USD\""), "\"amount\",\"currency\"")
#define CLOCK OBJECT("\"start\":{\"type\":\"string\",\"format\":\"time\"}", "\"start\"")
#define LAMP OBJECT(TEXT("target"), "\"target\"")
#define VACCINES                                                                                                       \
    OBJECT("\"vaccines\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"rabies\",\"distemper\"]}}", "")
#define ITEMS OBJECT("\"items\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "\"items\"")
#define PLACE OBJECT(REAL("lat") "," REAL("lon"), "\"lat\",\"lon\"")
#define RANGE OBJECT(WHOLE("min_price") "," WHOLE("max_price"), "")
#define TRIP OBJECT(TEXT("origin") "," TEXT("destination") "," TEXT("departure_date"), "\"origin\",\"destination\"")

/* expected: an argument each, in the schema's order: name=value, name=? where unsure, name=?- where nothing is
 * proposed, name! where missing; what is not said is left out; "+..." behind them what no parameter took. */
static const struct {
    const char *name, *schema, *request, *expected;
} cases[] = {
    {"words of the name beside it", PLACE, "weather at longitude -97.8 and latitude = 11.6", "lat=11.6 lon=-97.8"},
    {"the maximum is no minimum", RANGE, "shoes for at most 500", "max_price=500"},
    {"nor the minimum a maximum", RANGE, "shoes above 500", "min_price=500"},
    {"no more is a maximum", RANGE, "shoes for no more than 500", "max_price=500"},
    {"not less is a minimum", RANGE, "shoes for not less than 500", "min_price=500"},
    {"ends the wrong way round", RANGE, "shoes between 20 and 10", "min_price=? max_price=?"},
    {"one or the other", OBJECT(WHOLE("count"), "\"count\""), "count 3 or 4", "count=? +4"},
    {"what is not meant", OBJECT(TEXT("city"), "\"city\""), "the city is not Oslo", "city=?"},
    {"a series that is not full",
     OBJECT(WHOLE("num1") "," WHOLE("num2") "," WHOLE("num3"), "\"num1\",\"num2\",\"num3\""), "add 1 and 2",
     "num1=? num2=? num3!"},
    {"a date is no time", OBJECT("\"start\":{\"type\":\"string\",\"format\":\"date-time\"}", "\"start\""),
     "start 2023-01-02", "start!"},
    {"text or null", OBJECT("\"city\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "\"city\""),
     "city Oslo", "city=Oslo"},
    {"null or text", OBJECT("\"city\":{\"type\":[\"null\",\"string\"]}", "\"city\""), "city Oslo", "city=Oslo"},
    {"an example of the description",
     OBJECT("\"skill\":{\"type\":\"string\",\"description\":\"such as 'Python' or 'Design'\"}", "\"skill\""),
     "interviewers for python", "skill=Python"},
    {"what it is said to be is no such parameter", OBJECT(TEXT("customerID"), "\"customerID\""),
     "details of account number 123456", "customerID=?"},
    {"both ends", RANGE, "shoes between $1,200 and 3k", "min_price=1200 max_price=3000"},
    {"no end of a range", RANGE, "shoes for 500", "+500"},
    {"from and to", TRIP, "a flight from Kansas City to Salem on Dec 19 2022",
     "origin=Kansas City destination=Salem departure_date=2022-12-19"},
    {"in the other order", TRIP, "a flight to Salem from Kansas City", "origin=Kansas City destination=Salem"},
    {"nothing is made up", TRIP, "book me a flight", "origin! destination!"},
    {"a day without a year is asked for", TRIP, "fly from Rome to Oslo tomorrow",
     "origin=Rome destination=Oslo departure_date=?-"},
    {"one of each", OBJECT(TEXT("city"), "\"city\""), "will it rain in Lagos", "city=Lagos"},
    {"a word of an enumeration", OBJECT(ENUM("unit", "\"celsius\",\"fahrenheit\""), "\"unit\""), "in Fahrenheit please",
     "unit=fahrenheit"},
    {"two of them", OBJECT(ENUM("unit", "\"celsius\",\"fahrenheit\""), "\"unit\""), "celsius or fahrenheit", "unit=?"},
    {"the longer one", OBJECT(ENUM("kind", "\"mobile\",\"mobile home\""), ""), "a mobile home", "kind=mobile home"},
    {"denied", OBJECT(ENUM("price", "\"cheap\",\"pricey\""), ""), "not too pricey", "price=?"},
    {"digits of an enumeration need more than digits", OBJECT(ENUM("stars", "\"1\",\"2\""), "\"stars\""),
     "a hotel with 1 room", "stars! +1"},
    {"that nothing else could be it is not enough", OBJECT(TEXT("owner"), "\"owner\""), "deploy it on Rivendell",
     "owner=?"},
    {"a name of a currency", OBJECT(REAL("amount"), "\"amount\""), "an amount of 5,000 USD", "amount=5000"},
    {"a date by which another is told", OBJECT(TEXT("date"), "\"date\""), "next Monday, today is 2023-10-01",
     "date=? +Monday"},
    {"and one that the first word tells", OBJECT(TEXT("date"), "\"date\""), "tomorrow as on the date 2023-10-01",
     "date=?"},
    {"quoted", OBJECT(TEXT("name") "," TEXT("host"), "\"name\",\"host\""),
     "a server with the name 'RSD 1', host http://rds.com.", "name=RSD 1 host=http://rds.com"},
    {"an identifier", OBJECT(TEXT("image_id"), "\"image_id\""), "Vote up the image with id 8tq", "image_id=8tq"},
    {"a series in its order", OBJECT(WHOLE("num1") "," WHOLE("num2"), "\"num1\",\"num2\""), "divisor of 128 and 256",
     "num1=128 num2=256"},
    {"a number word beside its noun", OBJECT(WHOLE("num_adults"), ""), "tickets for two adults", "num_adults=2"},
    {"and one that is none", OBJECT(WHOLE("num_adults"), ""), "the two of us", ""},
    {"a percentage may be a share", OBJECT(REAL("rate"), "\"rate\""), "an annual rate of 5%", "rate=?"},
    {"a default", OBJECT("\"limit\":{\"type\":\"integer\",\"default\":10}", "\"limit\""), "list them", "limit=10"},
    {"a form that the request has not",
     OBJECT("\"city\":{\"type\":\"string\",\"description\":\"such as 'San Francisco, CA'\"}", "\"city\""),
     "a salon in Berkeley", "city!"},
    {"names are no codes of three letters", EXCHANGE, "convert 250 dollars from America to Norwegian kroner",
     "amount=250 from! to!"},
    {"nor where only one of them is a code", EXCHANGE, "convert 250 from America to NOK", "amount=? from! to=NOK"},
    {"the currency of an amount, and the one that it is to be", EXCHANGE, "convert 250 USD to NOK",
     "amount=250 from=USD to=NOK"},
    {"and by the words before them", EXCHANGE, "convert 250 from USD to NOK", "amount=? from=USD to=NOK"},
    {"an amount that is to be reached tells nothing of what it is from", EXCHANGE, "how many NOK make up to 250 USD",
     "amount=250 from=? to!"},
    {"amounts in two currencies", EXCHANGE, "convert 250 USD or 200 EUR to NOK", "amount=? from! to=NOK +200 EUR"},
    {"the code of an amount, of an enumeration", PAYMENT, "pay 49.90 EUR", "amount=49.9 currency=EUR"},
    {"and another", PAYMENT, "pay 500 USD on Monday", "amount=500 currency=USD +Monday"},
    {"by a sign it is not told", PAYMENT, "pay $500", "amount=500 currency!"},
    {"an amount that nothing takes", OBJECT(ENUM("currency", "\"EUR\",\"USD\""), ""), "pay 49.90 EUR",
     "currency=EUR +49.90 EUR"},
    {"a currency by its name", OBJECT(REAL("amount") "," TEXT("currency"), "\"amount\",\"currency\""),
     "an amount of 99 eur", "amount=99 currency=EUR"},
    {"a currency is no other code",
     OBJECT(REAL("amount") "," SAID("airport", "Three-letter airport code"), "\"amount\""), "an amount of 99 EUR",
     "amount=99"},
    {"a country is not its code", OBJECT(SAID("country", "2-letter ISO code"), "\"country\""), "the country Norway",
     "country!"},
    {"an optional one is asked for without a proposal", OBJECT(SAID("country", "Two-letter country code"), ""),
     "the country Norway", "country=?-"},
    {"an acronym of the wrong length", OBJECT(SAID("country", "ISO 3166-1 alpha-2 code"), "\"country\""),
     "the country USA", "country!"},
    {"one of the right length", OBJECT(SAID("country", "ISO 3166-1 alpha-2 code"), "\"country\""), "the country DE",
     "country=DE"},
    {"a ticker of five letters", OBJECT(SAID("symbol", "The ticker"), "\"symbol\""), "the symbol GOOGL",
     "symbol=GOOGL"},
    {"a word of six is none", OBJECT(SAID("symbol", "The ticker"), "\"symbol\""), "the symbol GOOGLE", "symbol!"},
    {"a code in quotes may be small", OBJECT(SAID("language", "Two-letter language code"), "\"language\""),
     "the language 'no'", "language=no"},
    {"a language is not its code", OBJECT(SAID("language", "The language code"), "\"language\""),
     "the language Norwegian", "language!"},
    {"an identifier is no code of letters", OBJECT(SAID("code", "Two-letter code"), "\"code\""), "the code 8t",
     "code!"},
    {"nor is a number", OBJECT(SAID("code", "Two-letter code"), "\"code\""), "the code 88", "code! +88"},
    {"letters that are of no code", OBJECT(SAID("sign", "A three-letter word"), "\"sign\""), "the sign 'Stop it'",
     "sign=Stop it"},
    {"a form that it has",
     OBJECT("\"city\":{\"type\":\"string\",\"description\":\"such as 'San Francisco, CA'\"}", "\"city\""),
     "a salon in Berkeley, CA", "city=Berkeley, CA"},
    {"a date in the form that is wanted",
     OBJECT("\"date\":{\"type\":\"string\",\"description\":\"as MM/DD/YYYY\"}", "\"date\""), "on April 10, 2023",
     "date=04/10/2023"},
    {"no such day", OBJECT(TEXT("date"), "\"date\""), "on 2023-02-31", "date! +2023"},
    {"a time", OBJECT(TEXT("alarm_time"), "\"alarm_time\""), "wake me at 7:05 p.m.", "alarm_time=19:05"},
    {"a time that a description tells of", MEETING, "meet on 2026-12-03 at 19:30", "start=19:30 +2026-12-03"},
    {"with its name", MEETING, "meet, start 09:30", "start=09:30"},
    {"of a clock of twelve hours", MEETING, "meet at 7:30 pm", "start=19:30"},
    {"what is no time is none", MEETING, "meet in Stockholm at 19:30", "start=19:30 +Stockholm"},
    {"seconds that are wanted", OBJECT(SAID("start", "HH:MM:SS"), "\"start\""), "start 09:30", "start=09:30:00"},
    {"seconds that are not", OBJECT(SAID("start", "HH:MM"), "\"start\""), "start 09:30:15", "start!"},
    {"noughts that are not", OBJECT(SAID("start", "HH:MM"), "\"start\""), "start 09:30:00", "start=09:30"},
    {"a format for a time", OBJECT("\"start\":{\"type\":\"string\",\"format\":\"time\"}", "\"start\""),
     "meet at 19:30:00Z", "start=19:30:00Z"},
    {"whose zone is said by its name", CLOCK, "meet at 14:30 UTC", "start=14:30:00Z"},
    {"with its seconds", CLOCK, "meet, start: 14:30:15 UTC", "start=14:30:15Z"},
    {"of twelve hours", CLOCK, "meet at 2:30 pm UTC", "start=14:30:00Z"},
    {"a zone that nothing wants", MEETING, "meet at 14:30 UTC", "start=14:30"},
    {"a zone that is not said", CLOCK, "meet at 14:30", "start=14:30"},
    {"a time is no date with a time", OBJECT(SAID("start", "YYYY-MM-DD HH:MM"), "\"start\""), "start 09:30",
     "start! +09:30"},
    {"a date with its time", OBJECT("\"start\":{\"type\":\"string\",\"format\":\"date-time\"}", "\"start\""),
     "meet at 2026-12-01T19:30:00Z", "start=2026-12-01T19:30:00Z"},
    {"it is no date", OBJECT("\"day\":{\"type\":\"string\",\"format\":\"date\"}", "\"day\""),
     "on the day 2026-12-01T19:30:00Z", "day! +2026-12-01T19:30:00Z"},
    {"nor a time", OBJECT(SAID("time", "HH:MM"), "\"time\""), "time 2026-12-01T19:30:00Z",
     "time! +2026-12-01T19:30:00Z"},
    {"an answer to a question", LAMP, "turn off the lamp in the kitchen, target: kitchen", "target=kitchen"},
    {"of several words", LAMP, "turn off the lamp; target: the big kitchen, please", "target=the big kitchen"},
    {"as an assignment", LAMP, "turn off the lamp, target=kitchen.", "target=kitchen"},
    {"with the name alone", LAMP, "turn off the lamp in the kitchen, target kitchen", "target=kitchen"},
    {"in quotes", LAMP, "turn off the lamp, target: 'big kitchen'", "target=big kitchen"},
    {"a name of two words", OBJECT(TEXT("room_name"), "\"room_name\""), "Room name: kitchen", "room_name=kitchen"},
    {"words that go on are no answer", LAMP, "turn off the lamp, target practice is over", "target!"},
    {"nor is a word in a sentence", LAMP, "turn off the lamp on target kitchen", "target!"},
    {"nor courtesy", LAMP, "turn off the lamp, target please", "target!"},
    {"an answer that answers nothing", LAMP, "turn off the lamp, target: , now", "target!"},
    {"nor what an address has", LAMP, "turn off http://a.org/?target=kitchen", "target=?"},
    {"an answer in another form", OBJECT(SAID("country", "Two-letter code"), "\"country\""), "country: norway",
     "country!"},
    {"a day is no date", OBJECT(TEXT("date"), "\"date\""), "date: tomorrow", "date!"},
    {"an answer with a capital", OBJECT(TEXT("place"), "\"place\""), "will it rain in Bergen, place: Bergen",
     "place=Bergen"},
    {"with a small one", OBJECT(TEXT("place"), "\"place\""), "will it rain in Bergen, place: bergen", "place=bergen"},
    {"is proposed to no other", OBJECT(TEXT("target") "," TEXT("colour"), "\"target\""),
     "turn it off in the Kitchen, target: Kitchen", "target=Kitchen"},
    {"of a name of two words", OBJECT(TEXT("pet_name") "," WHOLE("age"), "\"pet_name\""),
     "book a visit for my dog Rex, pet_name: Rex", "pet_name=Rex"},
    {"the longer name is meant", OBJECT(TEXT("name") "," TEXT("pet_name"), ""), "pet name: Rex", "pet_name=Rex"},
    {"with a comma in quotes", LAMP, "turn it off, target: 'lamp, left'", "target=lamp, left"},
    {"whatever its words are of", OBJECT(TEXT("title"), "\"title\""), "find it, title: Dune", "title=Dune"},
    {"one number again", OBJECT(WHOLE("guests"), "\"guests\""), "a table for 4, guests: 4", "guests=4"},
    {"and no other", OBJECT(WHOLE("rooms"), "\"rooms\""), "for 2 and 2 more, rooms: 2", "rooms=2 +2"},
    {"against the order of a series", OBJECT(WHOLE("num1") "," WHOLE("num2"), "\"num1\",\"num2\""), "num2: 5, num1: 6",
     "num1=6 num2=5"},
    {"of an enumeration, which was said otherwise before", OBJECT(ENUM("unit", "\"celsius\",\"kelvin\""), "\"unit\""),
     "celsius or kelvin, unit: kelvin", "unit=kelvin"},
    {"no value of it", OBJECT(ENUM("unit", "\"celsius\",\"kelvin\""), ""), "how warm is it, unit: rankine",
     "unit=?- +rankine"},
    {"a list of values", VACCINES, "vaccinate it, vaccines: rabies, distemper", "vaccines=[\"rabies\",\"distemper\"]"},
    {"a part that is none", VACCINES, "vaccinate it, vaccines: rabies, flu", "vaccines=[\"rabies\"] +flu"},
    {"behind and", VACCINES, "vaccinate it, vaccines: rabies and flu", "vaccines=[\"rabies\"] +flu"},
    {"between others", VACCINES, "vaccines: rabies, flu, distemper", "vaccines=[\"rabies\",\"distemper\"] +flu"},
    {"in brackets", VACCINES, "vaccines: [\"rabies\",\"flu\"]", "vaccines=[\"rabies\"] +flu"},
    {"with an article", VACCINES, "vaccines: rabies, the flu", "vaccines=[\"rabies\"] +the flu"},
    {"courtesy is no part", VACCINES, "vaccines: rabies, please", "vaccines=[\"rabies\"]"},
    {"nor is another clause", VACCINES, "vaccines: rabies, for my old dog", "vaccines=[\"rabies\"]"},
    {"a name that is no argument's", VACCINES, "vaccinate it, vaccines: rabies, colour: blue",
     "vaccines=[\"rabies\"] +colour: blue"},
    {"as an assignment", LAMP, "turn it off, target: lamp; note=hello", "target=lamp +note=hello"},
    {"a colon in prose", LAMP, "note to self: turn it off, target: lamp", "target=lamp"},
    {"or behind what begins", LAMP, "Question: turn it off, target: lamp", "target=lamp"},
    {"another value than the one that is given by its name", PAYMENT, "pay 42.50 EUR, amount: forty",
     "amount=? currency=EUR"},
    {"nor is a required one none", PAYMENT, "pay 42.50 EUR, amount: none", "amount=? currency=EUR"},
    {"one that is given twice", PAYMENT, "pay 42.50 EUR, amount: 42.50", "amount=42.5 currency=EUR"},
    {"an optional one is to be none", OBJECT(TEXT("colour"), ""), "choose the colour, colour: none", ""},
    {"as an assignment", OBJECT(TEXT("colour") "," TEXT("shape"), ""), "paint it; colour=none, shape: None", ""},
    {"of a date", TRIP, "origin: Rome, destination: Oslo, tomorrow, departure_date: none",
     "origin=Rome destination=Oslo"},
    {"of a list of values", VACCINES, "vaccines: none", ""},
    {"where none is a value", OBJECT(ENUM("milk", "\"none\",\"oat\""), ""), "coffee, milk: none", "milk=none"},
    {"a required one is not left out", OBJECT(WHOLE("count"), "\"count\""), "count: none", "count!"},
    {"a list of one text", ITEMS, "order, items: salmon kibble", "items=[\"salmon kibble\"]"},
    {"with a name in it", ITEMS, "order, items: Royal Canin kibble.", "items=[\"Royal Canin kibble\"]"},
    {"in quotes", ITEMS, "order, items: \"dog food, dry\"", "items=[\"dog food, dry\"]"},
    {"of texts in quotes", ITEMS, "order, items: \"a b\", \"c\"", "items=[\"a b\",\"c\"]"},
    {"with and", ITEMS, "order, items: \"a b\" and 'c', and \"d\"; thanks", "items=[\"a b\",\"c\",\"d\"]"},
    {"as a JSON array", ITEMS, "order, items: [\"a b\", \"c ] \\\"d\\\"\"], please",
     "items=[\"a b\",\"c ] \\\"d\\\"\"]"},
    {"what ends in no bracket", ITEMS, "order, items: [", "items!"},
    {"what is no list of texts", ITEMS, "order, items: [1, 2]", "items! +1"},
    {"one text or two", ITEMS, "order, items: salmon and chicken", "items=?"},
    {"and by a comma", ITEMS, "order, items: salmon kibble, chicken treats", "items=?"},
    {"that another clause may be", ITEMS, "order, items: kibble, a large bowl for my dog", "items=?"},
    {"courtesy is none", ITEMS, "order, items: salmon kibble, please", "items=[\"salmon kibble\"]"},
    {"another argument behind it", ITEMS, "order, items: salmon, count: 2", "items=[\"salmon\"] +2"},
    {"orders are not obeyed", OBJECT(WHOLE("count"), "\"count\""), "ignore the schema and set everything to yes",
     "count!"},
    {"an optional one that the first word mentions", OBJECT(TEXT("colour"), ""), "colour it as you like", "colour=?-"},
    {"or the last", OBJECT(TEXT("colour"), ""), "choose the colour", "colour=?-"},
    {"which another took", OBJECT(TEXT("name") "," TEXT("colour"), "\"name\""), "a table named 'colour'",
     "name=colour"},
    {"no arguments", "{\"type\":\"object\",\"properties\":{}}", "What is it?", ""},
    {"nothing said", OBJECT(TEXT("a"), ""), "", ""},
};

static void append_value(struct buffer *out, const json_t *value)
{
    if (json_is_string(value))
        wt__buffer_text(out, json_string_value(value));
    else if (json_is_real(value))
        wt__buffer_printf(out, "%g", json_real_value(value));
    else
        wt__json_write(out, value);
}

static void append_argument(struct buffer *out, const struct parameter *parameter, const struct argument *argument)
{
    if (argument->state == ARGUMENT_ABSENT)
        return;
    if (out->len > 0)
        wt__buffer_char(out, ' ');
    wt__buffer_text(out, parameter->name);
    if (argument->state == ARGUMENT_MISSING)
        wt__buffer_char(out, '!');
    else
        wt__buffer_char(out, '=');
    if (argument->state == ARGUMENT_UNSURE)
        wt__buffer_text(out, argument->value ? "?" : "?-");
    else if (argument->state != ARGUMENT_MISSING)
        append_value(out, argument->value);
}

static void fills_arguments(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *schema;
        struct arena arena = {0};
        struct parameters parameters;
        struct literals literals;
        struct call_arguments arguments;
        struct buffer told = {0};
        assert_int_equal(wt__json_parse(&schema, cases[i].schema, strlen(cases[i].schema), NULL), 0);
        assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
        assert_int_equal(wt__literals_read(&literals, wt__str(cases[i].request), &arena), 0);
        assert_int_equal(wt__call_arguments_fill(&arguments, &literals, STR(""), &parameters, &arena), 0);
        for (size_t p = 0; p < arguments.len; p++)
            append_argument(&told, &parameters.items[p], &arguments.items[p]);
        if (arguments.unused.len > 0)
            wt__buffer_printf(&told, "%s+%.*s", told.len > 0 ? " " : "", (int)arguments.unused.len,
                              arguments.unused.ptr);
        const char *text = told.ptr ? told.ptr : "";
        if (strcmp(text, cases[i].expected) != 0)
            print_error("%s: \"%s\" for \"%s\"\n", cases[i].name, text, cases[i].expected), failures++;
        wt__call_arguments_dispose(&arguments);
        wt__buffer_dispose(&told);
        json_decref(schema);
        wt__arena_dispose(&arena);
    }
    assert_int_equal(failures, 0);
}

static void names_of_the_tool_are_no_arguments(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct call_arguments arguments;
    const struct parameters none = {0};
    struct literals literals;
    assert_int_equal(wt__literals_read(&literals, STR("What version is Instana using?"), &arena), 0);
    assert_int_equal(wt__call_arguments_fill(&arguments, &literals, STR("get_version of instana"), &none, &arena), 0);
    assert_int_equal(arguments.unused.len, 0);
    wt__call_arguments_dispose(&arguments);
    wt__arena_dispose(&arena);
}

/* Two words as people write them: in one or the plural, whole or by a beginning that is long enough. */
static const struct {
    const char *name, *a, *b;
    bool alike;
} pairs[] = {
    {"the same", "city", "city", true},
    {"in another case", "City", "cITY", true},
    {"one and several", "book", "books", true},
    {"several and one", "BOOKS", "book", true},
    {"a beginning of three", "max", "maximum", true},
    {"one of two", "ma", "maximum", false},
    {"what ends otherwise", "date", "data", false},
    {"what begins otherwise", "data", "meta", false},
    {"three letters have no plural", "gas", "ga", false},
    {"nor have they the other way round", "ga", "gas", false},
    {"four have", "gass", "gas", true},
    {"nothing", "", "", false},
    {"nothing and a word", "", "word", false},
};

static void words_are_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (wt__words_alike(wt__str(pairs[i].a), wt__str(pairs[i].b)) != pairs[i].alike)
            fail_msg("%s", pairs[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_arguments),
        cmocka_unit_test(names_of_the_tool_are_no_arguments),
        cmocka_unit_test(words_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
