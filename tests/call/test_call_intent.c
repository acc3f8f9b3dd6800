/* Tests how wt_call treats the intent of a request for a tool with side effects. wt_call asks the user about questions,
 * prohibitions and requests with an unread word. For an order, polite or not, wt_call makes the call at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "call/arguments.h"
#include "call/call_intents.h"
#include "engine/set_up.h"

#define TOOL(name, description, properties, required)                                                                  \
    "{\"provider\": \"house\", \"name\": \"" name "\", \"description\": \"" description                                \
    "\", \"parameters\": {\"type\": \"object\", \"properties\": {" properties "}, \"required\": [" required "]}}\n"
#define TEXT "{\"type\": \"string\"}"

static const char catalogue[] = TOOL("lock", "Locks the vault", "", "")
    TOOL("logout", "Ends the session of the user", "", "") TOOL("restart_server", "Restarts the server", "", "")
        TOOL("cancel_timers", "Cancels timers", "\"label\": " TEXT, "") TOOL("run_backup",
                                                                             "Starts a backup of all files", "", "")
            TOOL("lights_off", "Turns off the lights", "", "") TOOL("deploy", "Deploys the website", "", "")
                TOOL("feed_cat", "Feeds the cat", "", "") TOOL("delete_files", "Deletes temporary files", "", "")
                    TOOL("get_weather", "The current weather in a city", "\"city\": " TEXT, "\"city\"")
                        TOOL("vault_status", "Tells whether the vault is locked", "", "")
                            TOOL("list_timers", "Lists the timers that are running", "", "")
                                TOOL("send_note", "Sends a note to a person", "\"note\": " TEXT ", \"person\": " TEXT,
                                     "\"note\", \"person\"") TOOL("look_up", "Searches the manual", "", "")
                                    TOOL("cancel_orders", "Cancels all orders", "", "")
                                        TOOL("arm_alarm", "Arms the alarm", "", "") TOOL("lamp_off", "Lamp off", "", "")
                                            TOOL("stop_all", "Halts all machines", "", "");

/* Tools with an effect stated by a method or annotations, not by a verb of the name. */
static const char by_method[] = "{\"openapi\": \"3.0.0\", \"info\": {\"title\": \"Alarms\", \"version\": \"1\"}, "
                                "\"servers\": [{\"url\": \"http://127.0.0.1\"}], \"paths\": {\"/alarm\": {\"post\": "
                                "{\"operationId\": \"alarm\", \"summary\": \"The alarm, armed\", \"responses\": "
                                "{\"200\": {\"description\": \"ok\"}}}}}}";
static const char by_hints[] =
    "{\"tools\": [{\"name\": \"siren\", \"description\": \"The siren, sounding\", \"inputSchema\": {\"type\": "
    "\"object\"}, \"annotations\": {\"readOnlyHint\": false}}, {\"name\": \"sprinkler\", \"description\": \"The "
    "sprinkler, running\", \"inputSchema\": {\"type\": \"object\"}, \"annotations\": {\"destructiveHint\": true}}]}";

static void add_in_format(const char *text, const char *format)
{
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = format;
    options.provider = "house";
    wt_add_report_free(add_with(&place, lexical, text, &options));
}

static int open_house(void **state)
{
    set_up_place(state);
    lexical = open_test_engine(&place, "");
    add(&place, lexical, catalogue);
    add_in_format(by_method, "openapi");
    add_in_format(by_hints, "mcp");
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    wt_close(lexical);
    remove_test_place(&place);
    return 0;
}

/* True if the call asks as expected; prints the row otherwise. */
static bool check_intent_row(const struct intent_row *row, bool asks)
{
    wt_called *called = NULL;
    wt_call_options options;
    wt_call_options_init(&options);
    options.tool = row->tool;
    assert_call_ok(&place, wt_call(lexical, row->request, strlen(row->request), &options, &called, &place.err));
    bool at_once = called->valid && !called->question;
    if (at_once == asks)
        print_error("%s: %s %s %s\n", row->request, row->tool, called->arguments,
                    called->question ? called->question : "");
    wt_called_free(called);
    return at_once != asks;
}

static void check_intent_rows(const struct intent_row *rows, size_t count, bool asks)
{
    size_t failures = 0;
    for (size_t i = 0; i < count; i++)
        failures += !check_intent_row(&rows[i], asks);
    if (failures > 0)
        fail_msg("%zu of %zu requests failed", failures, count);
}

/* ---------------------------------------------------------------- frames */

/* A frame is a request with placeholders: %b verb, %p past participle, %i -ing form, %n noun. Every frame is tried with
 * the words of every tool. */
static const struct {
    const char *tool, *base, *past, *ing, *noun;
} verbs[] = {
    {"lock", "lock", "locked", "locking", "vault"},
    {"restart_server", "restart", "restarted", "restarting", "server"},
    {"feed_cat", "feed", "fed", "feeding", "cat"},
    {"deploy", "deploy", "deployed", "deploying", "website"},
    {"delete_files", "delete", "deleted", "deleting", "temporary files"},
    {"run_backup", "run", "run", "running", "backup"},
    {"cancel_orders", "cancel", "cancelled", "canceling", "orders"},
    {"arm_alarm", "arm", "armed", "arming", "alarm"},
};

static const char *const question_frames[] = {
    "is the %n %p",
    "Are the %n %p yet?",
    "The %n: %p or not?",
    "was the %n %p by anyone",
    "who %p the %n last",
    "has anybody %p the %n today?",
    "have you %p the %n",
    "did I %b the %n",
    "do we %b the %n every day",
    "does someone %b the %n on weekends",
    "can I %b the %n from here?",
    "could the %n be %p remotely",
    "should we be %i the %n",
    "shall I %b the %n?",
    "may guests %b the %n",
    "what does it mean to %b the %n?",
    "what's the best way to %b the %n",
    "Why would anyone %b the %n?",
    "where do I %b the %n",
    "how long does %i the %n take",
    "how do you %b the %n",
    "when did you last %b the %n?",
    "which user %p the %n",
    "Hi! Just checking: is the %n %p?",
    "tell me how to %b the %n",
    "tell us when the %n was %p",
    "please explain why the %n was %p",
    "I want to know who %p the %n",
    "I would like to find out whether the %n has been %p",
    "I'm not sure the %n is %p",
    "I am wondering when the %n will be %p",
    "I don't know if the %n was %p",
    "do you happen to know whether the %n was %p",
    "could you check that the %n has been %p?",
    "can someone confirm the %n is %p",
    "would you tell me if the %n needs to be %p",
    "Check whether anyone %p the %n.",
    "see if the %n is %p",
    "find out who %p the %n",
    "let us know when the %n was %p",
    "the %n was %p, wasn't it",
    "you have %p the %n, right?",
    "they %p the %n, didn't they?",
    "%i the %n?",
    "is it necessary to %b the %n",
    "are you able to %b the %n",
    "is there a log of who %p the %n",
    "any idea why the %n was %p",
    "whether the %n is %p",
    "show me how to %b the %n",
    "remember when we %p the %n?",
    "what if I %b the %n",
    "am I allowed to %b the %n",
    "will the %n get %p tonight",
    "hey\nis the %n %p",
    "Wurde the %n %p?",
};

static const char *const denial_frames[] = {
    "don\xe2\x80\x99t %b the %n",
    "do not ever %b the %n",
    "Please do not %b the %n today.",
    "never %b the %n again",
    "I do not want you to %b the %n",
    "we don't need to %b the %n",
    "you should not %b the %n",
    "the %n should not be %p",
    "the %n mustn't be %p",
    "make sure the %n is not %p",
    "make sure you don't %b the %n",
    "avoid %i the %n",
    "stop %i the %n",
    "let's not %b the %n",
    "could you not %b the %n?",
    "would you please not %b the %n",
    "wait without %i the %n",
    "I never asked you to %b the %n",
    "there's no reason to %b the %n",
    "refrain from %i the %n",
    "ask Bob to %b the %n",
    "send Bob a message to %b the %n",
    "remind us to %b the %n",
    "the %n was %p",
    "I %p the %n",
    "if it rains, %b the %n",
    "when I am away, %b the %n",
};

static const char *const order_frames[] = {
    "%b the %n",
    "%b the %n!",
    "Please %b the %n.",
    "%b the %n please",
    "can you %b the %n",
    "Can you %b the %n?",
    "could you %b the %n, please?",
    "would you kindly %b the %n",
    "will you %b the %n?",
    "would you mind %i the %n?",
    "do you mind %i the %n",
    "I want you to %b the %n",
    "I'd like you to %b the %n",
    "I would like the %n %p",
    "I need the %n %p now",
    "we want the %n %p",
    "please get the %n %p",
    "have the %n %p",
    "make sure the %n is %p",
    "make sure to %b the %n",
    "don't forget to %b the %n",
    "the %n needs to be %p",
    "the %n should be %p immediately",
    "you may %b the %n now",
    "go ahead and %b the %n",
    "let's %b the %n",
    "it's time to %b the %n",
    "be so kind as to %b the %n",
    "I was hoping you could %b the %n",
    "I'd be grateful if you could %b the %n",
    "it would be great if you would %b the %n",
    "any chance you could %b the %n?",
    "is there any way you could %b the %n?",
    "why don't you %b the %n?",
    "how about %i the %n?",
    "when you have a minute, %b the %n",
    "if possible, %b the %n",
    "ok, %b the %n",
    "Good morning! Could you %b the %n?",
    "Thanks for your help. Now %b the %n.",
    "%b the %n because I have to leave",
    "I am in a hurry, so %b the %n",
    "just %b the %n right now",
    "%b the %n, would you?",
    "%b the %n, ok?",
    "I can't do it myself, please %b the %n",
};

/* Writes the frame with the words of a tool. */
static void fill_frame(struct buffer *out, const char *frame, size_t v)
{
    wt__buffer_clear(out);
    for (const char *at = frame; *at; at++) {
        char c = *at == '%' ? *++at : 0;
        if (c == 0)
            wt__buffer_char(out, *at);
        else
            wt__buffer_text(out, c == 'b'   ? verbs[v].base
                                 : c == 'p' ? verbs[v].past
                                 : c == 'i' ? verbs[v].ing
                                            : verbs[v].noun);
    }
    assert_false(out->failed);
}

static void check_frames(const char *const *frames, size_t count, bool asks)
{
    size_t failures = 0;
    struct buffer request = {0};
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
        for (size_t i = 0; i < count; i++) {
            fill_frame(&request, frames[i], v);
            const struct intent_row row = {verbs[v].tool, request.ptr};
            failures += !check_intent_row(&row, asks);
        }
    wt__buffer_dispose(&request);
    if (failures > 0)
        fail_msg("%zu of %zu requests failed", failures, count * sizeof verbs / sizeof *verbs);
}

static void question_frames_are_asked_about(void **state)
{
    (void)state;
    check_frames(question_frames, sizeof question_frames / sizeof *question_frames, true);
}

static void denial_frames_are_asked_about(void **state)
{
    (void)state;
    check_frames(denial_frames, sizeof denial_frames / sizeof *denial_frames, true);
}

static void order_frames_are_called(void **state)
{
    (void)state;
    check_frames(order_frames, sizeof order_frames / sizeof *order_frames, false);
}

/* ---------------------------------------------------------------- rows */

#define ROWS(name, rows, asks)                                                                                         \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_intent_rows(rows, sizeof rows / sizeof *rows, asks);                                                     \
    }

ROWS(questions_are_asked_about, questions_dev, true)
ROWS(held_out_questions_are_asked_about, questions_held, true)
ROWS(prohibitions_are_asked_about, denials_dev, true)
ROWS(held_out_prohibitions_are_asked_about, denials_held, true)
ROWS(unread_words_are_asked_about, unread_dev, true)
ROWS(held_out_unread_words_are_asked_about, unread_held, true)
ROWS(orders_are_called, calls_dev, false)
ROWS(held_out_orders_are_called, calls_held, false)

/* ---------------------------------------------------------------- bounds */

static void check_doubt(const struct buffer *request, const char *doubt)
{
    wt_called *called = NULL;
    wt_call_options options;
    wt_call_options_init(&options);
    options.tool = "lock";
    assert_false(request->failed);
    assert_call_ok(&place, wt_call(lexical, request->ptr, request->len, &options, &called, &place.err));
    if (strcmp(called->doubt ? called->doubt : "", doubt) != 0 || (called->question != NULL) != (*doubt != 0))
        fail_msg("%.40s: %s", request->ptr, called->doubt ? called->doubt : "no doubt");
    wt_called_free(called);
}

/* The part beyond the limit is not read, and may restrict or revoke the order. */
static void truncated_request_is_asked_about(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct buffer request = {0};
        wt__buffer_text(&request, "lock the vault");
        for (size_t i = 3; i < INTENT_WORDS + extra; i++)
            wt__buffer_text(&request, " now");
        check_doubt(&request, extra ? "unread" : "");
        wt__buffer_clear(&request);
        for (size_t i = 0; i < INTENT_CLAUSES + extra; i++)
            wt__buffer_text(&request, "lock it.\n");
        check_doubt(&request, extra ? "unread" : "");
        wt__buffer_dispose(&request);
    }
}

/* Each request repeats one part of a word or one sign. Reading it must not exceed the bounds of the parser's arrays. */
static void intent_of_arbitrary_bytes_is_read_within_bounds(void **state)
{
    enum { BYTES = 60000 };
    static const char *const parts[] = {"'d", "?",    "\xff",    "\xe2\x80", "\"\"", "a'", "\xc2\xa0x",
                                        "-",  "and ", "do you ", "'",        ":.",   "@"};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buffer request = {0};
        wt_called *called = NULL;
        wt_call_options options;
        wt_call_options_init(&options);
        options.tool = "lock";
        while (request.len < BYTES)
            wt__buffer_text(&request, parts[i]);
        assert_false(request.failed);
        assert_call_ok(&place, wt_call(lexical, request.ptr, request.len, &options, &called, &place.err));
        wt_called_free(called);
        wt__buffer_dispose(&request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_asked_about),
        cmocka_unit_test(held_out_questions_are_asked_about),
        cmocka_unit_test(prohibitions_are_asked_about),
        cmocka_unit_test(held_out_prohibitions_are_asked_about),
        cmocka_unit_test(unread_words_are_asked_about),
        cmocka_unit_test(held_out_unread_words_are_asked_about),
        cmocka_unit_test(orders_are_called),
        cmocka_unit_test(held_out_orders_are_called),
        cmocka_unit_test(question_frames_are_asked_about),
        cmocka_unit_test(denial_frames_are_asked_about),
        cmocka_unit_test(order_frames_are_called),
        cmocka_unit_test(truncated_request_is_asked_about),
        cmocka_unit_test(intent_of_arbitrary_bytes_is_read_within_bounds),
    };
    return cmocka_run_group_tests(tests, open_house, close_house);
}
