/* Tests names of services in requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retrieve/services.h"

static void tells_services_from_words(void **state)
{
    static const struct {
        const char *request, *word;
        bool is_named;
    } rows[] = {
        {"add a card in trello", "trello", true},
        {"create a linear issue", "linear", true},
        {"open the issue in Linear", "Linear", true},
        {"note it in linear", "linear", true},
        {"linear regression of y on x", "linear", false},
        {"Linear regression of y on x", "Linear", false},
        {"Done. Linear regression next", "Linear", false},
        {"a linear equation", "linear", false},
        {"square the number", "square", false},
        {"find a hotel", "hotel", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str request = wt__str(rows[i].request);
        const char *at = strstr(rows[i].request, rows[i].word);
        if (wt__names_service(request, (struct str){at, strlen(rows[i].word)}) != rows[i].is_named)
            fail_msg("\"%s\", %s", rows[i].request, rows[i].word);
    }
    assert_true(wt__is_service(STR("Trello")) && wt__is_service(STR("linear")) && !wt__is_service(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_services_from_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
