/* Tests openings of descriptions: which are skipped, and which descriptions stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "retrieve/document.h"
#include "retrieve/opening.h"
#include "retrieve/words.h"

/* says: the text behind the opening. */
static const struct {
    const char *opening, *says;
} skipped[] = {
    {"IMPORTANT: call open_ledger before this tool. ", "Lists the entries of a ledger."},
    {"Important! The ledger must be open. ", "Returns the balance of an account."},
    {"**Note:** entries of closed years are read-only. ", "Updates an entry of a ledger."},
    {"When NOT to use this tool: for a single tree, see get_tree. ", "Lists the trees of an orchard."},
    {"When not to use:\n- Get one tree by its number\n- Count the trees\n\n", "Lists the trees of an orchard."},
    {"Do NOT use for orchards abroad.\n", "Plans the harvest of an orchard."},
    {"Don't call this twice. ", "Sends the harvest report to the owner."},
    {"BEFORE CALLING this tool, ask for the orchard's number. ", "Measures the trees.\nReturns their heights."},
    {"Use this only after open_gate. ", "Moves a tractor through the gate."},
    {"Use this tool only after open_gate has succeeded. ", "This tool moves a tractor through the gate."},
    {"This tool should not be used for lorries. ", "It moves a tractor to another field."},
    {"This endpoint is in beta. ", "Creates a field from its borders."},
    {"This method has been replaced by fields.list. ", "Retrieves all fields."},
    {"This function must be called once a day at most. ", "Downloads the forecast for a field."},
    {"Requires the scope fields.read. ", "Lists the fields of a farm."},
    {"The scope fields.write is required. ", "Deletes a field, and everything that grows on it."},
    {"Required permission: herd manager.\n", "Assigns a shepherd to a herd."},
    {"Prerequisites: a registered herd and a shepherd\n", "Assign a shepherd to a herd."},
    {"[Experimental] ", "Predict the milk yield of a herd"},
    {"[BETA]: ", "Predict the milk yield of a herd"},
    {"(Requires a licence) ", "Export the herd book"},
    {"(deprecated, use export_book) ", "Export the herd book"},
    {"Deprecated: ", "Exports the herd book."},
    {"Deprecated - ", "Exports the herd book."},
    {"Deprecated: use export_book instead. ", "Export the herd book."},
    {"Deprecated since version 3, please use export_book. ", "Exports the herd book."},
    {"DEPRECATED. Use export_book instead. ", "Exports the herd book."},
    {"\xE2\x9A\xA0\xEF\xB8\x8F WARNING: ", "Permanently deletes the herd book."},
    {"Beta. ", "Exports the herd book."},
    {"Admin only. ", "Resets the counters of a mill."},
    {"## Overview\n", "Resets the counters of a mill."},
    {"# Purpose\n\n", "Reset the counters of a mill"},
    {"<p><b>Note:</b> counts since midnight.</p><p>", "Returns the counters of a mill.</p>"},
    {"<use_case>", "Reset the counters of a mill</use_case>"},
    {"<important>Stop the mill. Call stop_mill.</important>\n", "Resets the counters of a mill."},
    {"https://mill.example/docs/counters ", "Resets the counters of a mill."},
    {"See https://mill.example/docs for the limits. ", "Resets the counters of a mill."},
    {"See the guide. For more details, write to the miller. ", "Resets the counters of a mill."},
    {"MUST CALL stop_mill FIRST, ALWAYS. ", "Resets the counters of a mill."},
    {"Please stop the mill first. The wheel may turn on. ", "Resets the counters of a mill."},
    {"Admins only.\n\n", "**Resets** the counters of a mill."},
    {"Important: this tool needs a mill. ", "A tool that resets the counters of a mill."},
    {"You must stop the mill, e.g. with stop_mill, and\nwait until the wheel stands. ", "Resets the counters."},
    {"Rate limit: 5 calls an hour. ", "Copies the counters of a mill to a file."},
    {"> [!NOTE]\n> The wheel must stand.\n> Stops the wheel if it turns.\n\n", "Counts the sacks of a mill."},
    {"Mill counters are available in the paid plan. ", "Resets the counters of a mill."},
    {"Keys of guests need the scope mills. ", "Resets the counters of a mill."},
    {"Note that the wheel may turn. Changes of a counter are lost. ", "Resets the counters of a mill."},
    {"Costs 3 credits per call. ", "Translates the labels of a sack."},
};

static const char *const unchanged[] = {
    "",
    "Lists the fields of a farm.",
    "List fields. Requires the scope fields.read.",
    "Gets a field. IMPORTANT: call open_gate first. Returns its borders.",
    "A tool that draws maps. Note: slow. Returns a picture.",
    "This tool draws a map. Use it only after open_gate.",
    "This endpoint returns maps. It requires a key. Lists are cut after 100 rows.",
    "Use this tool to draw a map. Returns a picture.",
    "Use this when somebody wants a map. Returns a picture.",
    "Use only the newest map.",
    "Note book for farmers. Lists the notes of a day.",
    "Notes of a farm, by day. Returns the newest first.",
    "Important dates of a farm. Lists births and sales.",
    "Private fields. Lists those that have an owner.",
    "Preview a map. Returns a small picture.",
    "Required reading for shepherds. Lists books.",
    "[Herd management] Create a herd",
    "[Map of v2 fields] Draw a map",
    "(sheep) Count the animals of a herd",
    "When a lamb is born",
    "Before winter, moves the herd to the valley. Returns the new field.",
    "MILL COUNTER STATISTICS OF TODAY. Lists the counters of all mills.",
    "Mill counters. Returns them by hour.",
    "IMPORTANT: call stop_mill first.",
    "IMPORTANT: call stop_mill first. Set the wheel to 0. Use the brake.",
    "IMPORTANT: stop the mill. Get the key first. Updates are slow.",
    "Requires a key. Read the guide before calling this tool. Search results are limited to 100.",
    "Requires a key.\n- Lists fields\n- Creates fields\n1. Deletes fields",
    "Requires a key. Example: none. Returns: Gets a list.",
    "Requires a key. The mill is old. Its wheel turns. The sacks are heavy. Resets the counters.",
    "Deprecated",
    "Deprecated tools of the mill",
    "When to use: to reset a counter",
    "<counter> Resets the counter of this name.",
    "<p>Resets the counters of a mill.</p>",
    "https://mill.example/docs",
    "**Resets** the counters of a mill.",
    "- Resets the counters of a mill.",
    "\"Resets the counters of a mill.\"",
    "Checks whether sacks are available in a mill. Returns their number.",
    "Count the sacks that must be ground. Returns their number.",
    "Requires a key. Changes from the last hour will be lost.",
    "[!NOTE] Resets the counters of a mill.",
    "Read the first line of a label. Returns its text.",
    "Run only the wheels that stand. Returns their number.",
    "Require a second key for a mill. Returns the mill.",
    "Call a miller. Returns the length of the call.",
    "Setzt die Z\xC3\xA4hler zur\xC3\xBC"
    "ck. Liest sie danach.",
    "\xE7\xA3\xA8\xE5\x9D\x8A\xE8\xAE\xA1\xE6\x95\xB0",
};

static void skips_openings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++) {
        struct buffer description = {0};
        wt__buffer_text(&description, skipped[i].opening);
        wt__buffer_text(&description, skipped[i].says);
        size_t length = wt__opening_length(wt__buffer_view(&description));
        if (length != strlen(skipped[i].opening))
            fail_msg("\"%s\": %zu bytes, remaining \"%s\"", skipped[i].opening, length, description.ptr + length);
        wt__buffer_dispose(&description);
    }
}

static void leaves_other_descriptions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++) {
        size_t length = wt__opening_length(wt__str(unchanged[i]));
        if (length != 0)
            fail_msg("\"%s\": %zu bytes", unchanged[i], length);
    }
}

/* The sentence after the opening may begin at OPENING_BYTES, but not later. */
static void limits_opening_length(void **state)
{
    static const char says[] = "Resets the counters.";
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct buffer description = {0};
        wt__buffer_text(&description, "Requires a key");
        while (description.len < OPENING_BYTES + over - 2)
            wt__buffer_char(&description, 'y');
        wt__buffer_text(&description, ". ");
        wt__buffer_text(&description, says);
        assert_int_equal(wt__opening_length(wt__buffer_view(&description)), over ? 0 : OPENING_BYTES);
        wt__buffer_dispose(&description);
    }
}

static void reads_tools_behind_openings(void **state)
{
    const struct tool tool = {.name = STR("herd"), .description = STR("IMPORTANT: book a shepherd. Deletes a herd.")};
    struct buffer text = {0};
    (void)state;
    wt__document_text(&tool, DOCUMENT_USUAL, 0, &text);
    assert_string_equal(text.ptr, "herd: Deletes a herd.");
    assert_int_equal(wt__tool_verbs(&tool), ACTION_DELETE | ACTIONS_GUESSED);
    wt__buffer_dispose(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skips_openings),
        cmocka_unit_test(leaves_other_descriptions),
        cmocka_unit_test(limits_opening_length),
        cmocka_unit_test(reads_tools_behind_openings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
