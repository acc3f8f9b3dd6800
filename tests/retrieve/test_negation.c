/* Tests the denied parts of requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "retrieve/negation.h"

/* kept: the rest of the request; NULL if nothing is denied. */
static const struct {
    const char *request, *kept, *denied;
} rows[] = {
    {"detach the volume, don't delete it", "detach the volume", "don't delete it"},
    {"detach the volume, dont delete it", "detach the volume", "dont delete it"},
    {"detach the volume, don\xE2\x80\x99t delete it", "detach the volume", "don\xE2\x80\x99t delete it"},
    {"Do not merge it, approve PR 5", "approve PR 5", "Do not merge it"},
    {"bin the mail, but never erase it", "bin the mail", "but never erase it"},
    {"export the list without emailing anyone", "export the list", "without emailing anyone"},
    {"cut a release without bumping the version", "cut a release", "without bumping the version"},
    {"archive the channel rather than deleting it", "archive the channel", "rather than deleting it"},
    {"take the staging database instead of prod", "take the staging database", "instead of prod"},
    {"take a snapshot of orders before wiping it", "take a snapshot of orders", "before wiping it"},
    {"before you overwrite it, read me the settings", "read me the settings", "before you overwrite it"},
    {"no need to invite him, just show the members", "just show the members", "no need to invite him"},
    {"I don't want the body, only the subject of message 17", "only the subject of message 17",
     "I don't want the body"},
    {"share the doc with Bob (not with the whole team)", "share the doc with Bob", "not with the whole team"},
    {"rename the page, leave its content as it is", "rename the page", "leave its content as it is"},
    {"close the ticket, the board stays where it is", "close the ticket", "the board stays where it is"},
    {"send it as a tarball, anything but a zip", "send it as a tarball", "anything but a zip"},
    {"close the issue; it must not be deleted \xE2\x80\x94 thanks", "close the issue, thanks",
     "it must not be deleted"},
    /* The object of a denied verb stays if a pronoun stands for it. */
    {"instead of deleting the branch, protect it", "the branch, protect it", "instead of deleting"},
    /* The mark of a question stays. */
    {"what will the next invoice be? do not create it", "what will the next invoice be?", "do not create it"},
    /* A denial at the beginning ends before a verb, if there is no comma. */
    {"instead of sharing the slides convert the deck to pdf", "convert the deck to pdf",
     "instead of sharing the slides"},
    /* These describe what is wanted. */
    {"list tasks that are not done", NULL, ""},
    {"items without a label in the repo", NULL, ""},
    {"is do not disturb on for kim?", NULL, ""},
    {"book a table before Friday", NULL, ""},
    {"pay the bill without meeting anyone from billing", NULL, ""},
    {"don't forget to post the minutes", NULL, ""},
    {"which orders haven't been shipped", NULL, ""},
    /* Nothing else would be left. */
    {"never send me any newsletter again", NULL, ""},
    {"", NULL, ""},
};

static void splits_off_denied_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct str kept, denied, request = wt__str(rows[i].request);
        assert_int_equal(wt__negation_split(&kept, &denied, request, &arena, NULL), 0);
        if (!wt__str_equal(kept, wt__str(rows[i].kept ? rows[i].kept : rows[i].request)) ||
            !wt__str_equal(denied, wt__str(rows[i].denied)))
            fail_msg("\"%s\": \"%.*s\" without \"%.*s\"", rows[i].request, (int)kept.len, kept.ptr, (int)denied.len,
                     denied.ptr);
        wt__arena_dispose(&arena);
    }
}

/* No byte of the request is read behind its end, and the parts are not longer than the request. */
static void reads_arbitrary_bytes(void **state)
{
    static const char *const pieces[] = {"don't ", "not ",     "before ", "without ", "deleting ",     "it",
                                         ", ",     "\xE2\x80", "\x94",    "'",        "anything but ", "leave as it is",
                                         "\n",     "x ",       "?"};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 5);
    for (size_t round = 0; round < 3000; round++) {
        char text[256];
        size_t len = 0;
        for (size_t n = wt__rng_below(&rng, 12); n > 0; n--) {
            const char *piece = pieces[wt__rng_below(&rng, sizeof pieces / sizeof *pieces)];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        char *exact = malloc(len + 1);
        memcpy(exact, text, len);
        struct arena arena = {0};
        struct str kept, denied;
        assert_int_equal(wt__negation_split(&kept, &denied, (struct str){exact, len}, &arena, NULL), 0);
        assert_true(kept.len <= 2 * len + 1 && denied.len <= len);
        wt__arena_dispose(&arena);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(splits_off_denied_parts),
                                       cmocka_unit_test(reads_arbitrary_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
