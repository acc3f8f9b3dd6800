/* Tests the wishes of mails, tickets and chats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "retrieve/wish.h"

#define STORY                                                                                                          \
    "It was a long week. The trucks came late and the yard was full of boxes. Nobody had told the drivers about the "  \
    "gate. In the end we got everything inside, with the help of two neighbours. The lamps are still missing, "        \
    "though.\n"

/* read: the wish; NULL if the whole request is read. */
static const struct {
    const char *name, *request, *read;
} rows[] = {
    {"plea at the end", STORY "Please put a meeting into my calendar.", "Please put a meeting into my calendar."},
    {"plea in the middle", "Hello all,\n" STORY "Could you book a table for six?\n" STORY,
     "Could you book a table for six?"},
    {"order at the beginning", "Render the pages as images.\n" STORY, "Render the pages as images."},
    {"plea before order", "Check the weather.\n" STORY "Please play a song.", "Please play a song."},
    {"words to the assistant before other pleas",
     STORY "Please be on time tomorrow. Dear assistant, add Ruth to the list.",
     "Dear assistant, add Ruth to the list."},
    {"question if there is no order", STORY "Is the invoice paid?", "Is the invoice paid?"},
    {"an order after a plea belongs to it", STORY "Please fork the repository. Then star it.",
     "Please fork the repository.\nThen star it."},
    {"the sentence before a wish with a pronoun", STORY "The ticket is OPS-7. Please close it.",
     "The ticket is OPS-7.\nPlease close it."},
    {"signature", "Please rotate the image.\n" STORY "Kind regards,\nAnna Moss\nSend parcels to the back door",
     "Please rotate the image."},
    {"disclaimer",
     "Please rotate the image.\n" STORY
     "This message is confidential. Please delete it if it was not intended for you.",
     "Please rotate the image."},
    {"quoted message", "Please rotate the image.\n" STORY "> Please send me the bill.\n> Anna\n",
     "Please rotate the image."},
    {"quoted message if there is no other wish", STORY "> Please send me the bill.\n> Anna\n",
     "Please send me the bill."},
    {"header of a quoted message", "Please rotate the image.\n" STORY "From: Anna\nPlease send me the bill.",
     "Please rotate the image."},
    {"formulas are no wishes", STORY "Please find attached the list. Let me know. Post it in #ops, please.",
     "Post it in #ops, please."},
    {"speaker of a chat", STORY "Priya: please pin the message", "please pin the message"},
    {"statements about oneself are no wishes", STORY "I can send the mail myself. Rename the page.",
     "Rename the page."},
    {"a prohibition is no wish", STORY "Don't delete anything. Rename the page.", "Rename the page."},
    {"several needs and little else stay whole",
     "I am planning a trip with my family to the north of the country. Can you find a hotel near the lake for us all? "
     "Additionally, provide the weather for the next week, and show me which museums are open on Sunday afternoon.",
     NULL},
    {"without a wish the whole request is read", STORY "The end.", NULL},
    {"a short request is read whole", "It rained. Nobody came. Play a song.", NULL},
};

static void finds_wishes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct str read, request = wt__str(rows[i].request);
        assert_int_equal(wt__wish_read(&read, request, &arena, NULL), 0);
        if (!wt__str_equal(read, rows[i].read ? wt__str(rows[i].read) : request))
            fail_msg("%s: \"%.*s\"", rows[i].name, (int)read.len, read.ptr);
        wt__arena_dispose(&arena);
    }
}

static void reads_arbitrary_bytes(void **state)
{
    static const char *const pieces[] = {
        "\n", "> ", "--\n", "please ", "post it. ", "From: ", "wrote:", "Best,\n",    "@",
        "?",  ": ", "A: b", "\xFF",    "the list ", "ps ",    ".",      "it rained. "};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 6);
    for (size_t round = 0; round < 2000; round++) {
        char text[1200];
        size_t len = 0;
        while (len < WISH_FROM + wt__rng_below(&rng, 600)) {
            const char *piece = pieces[wt__rng_below(&rng, sizeof pieces / sizeof *pieces)];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        char *exact = malloc(len);
        memcpy(exact, text, len);
        struct arena arena = {0};
        struct str read;
        assert_int_equal(wt__wish_read(&read, (struct str){exact, len}, &arena, NULL), 0);
        assert_true(read.len <= 2 * len);
        wt__arena_dispose(&arena);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_wishes), cmocka_unit_test(reads_arbitrary_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
