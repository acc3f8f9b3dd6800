/* Tests the detection of requests in languages other than English. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "retrieve/language.h"

#define SCRIPT "in another script"

static const struct {
    const char *request, *language; /* language is NULL for English and undecided requests */
} rows[] = {
    {"", NULL},
    {"book a table for two", NULL},
    {"Schicke meiner Chefin eine Nachricht", "German"},
    {"Welche Termine habe ich morgen?", "German"},
    {"Über welche Kanäle", "German"},
    {"Envía un correo al equipo", "Spanish"},
    {"¿Qué hora es en Madrid?", "Spanish"},
    {"Mets la musique en pause", "French"},
    {"Télécharge l'article 7", "French"},
    {"Crea una nuova pagina nel mio blog", "Italian"},
    {"Quais são os meus pedidos?", "Portuguese"},
    {"Stuur een bericht naar het team", "Dutch"},
    {"列出当前文件夹里的所有文件", SCRIPT},
    {"在 GitHub 上给 octo/widgets 仓库发布一个新版本 v2.0", SCRIPT},
    {"Покажи мои встречи на завтра", SCRIPT},
    {"明日の会議を教えて", SCRIPT},
    {"أرسل رسالة إلى الفريق", SCRIPT},
    /* English with foreign names, commands, quotations and symbols. */
    {"play La Bamba by Los Lobos", NULL},
    {"find flights from Rio de Janeiro to São Paulo", NULL},
    {"weather in Los Angeles", NULL},
    {"Señorita", NULL},
    {"run du on the disk, then su", NULL},
    {"convert EN DE FR IT files", NULL},
    {"translate \"der die das und ist nicht\" to English", NULL},
    {"send 'el perro y la casa' to my teacher", NULL},
    {"what does “je ne sais pas où vous êtes” mean", NULL},
    {"translate 你好世界 into German", NULL},
    {"say `这是一个测试` for me", NULL},
    {"book the Café de la Paix for me and my wife", NULL},
    {"I'd like what's in d'Artagnan's house", NULL},
    {"price of μTorrent Ω", NULL},
    {"send 🎉🎉🎉🎉", NULL},
    {"‘’ “” — … •", NULL},
    /* Unterminated quotations, invalid UTF-8, and single letters. */
    {"a quotation without an \"end und das ist nicht so", "German"},
    {"\xff\xfe\x80", NULL},
    {"und das \xc3", "German"},
    {"\xc3", NULL},
    {"l d l", NULL},
};

static void detects_languages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = wt__foreign_language(wt__str(rows[i].request)), *want = rows[i].language;
        if (!got != !want || (got && strcmp(got, want) != 0))
            fail_msg("%s: %s, not %s", rows[i].request, got ? got : "English", want ? want : "English");
    }
}

/* Reads every prefix of each request, in a block of exactly its length, so that ASan detects a read past the end.
 * Then checks that a request longer than LANGUAGE_REQUEST_MAX gets NULL, whatever its language. */
static void accepts_every_prefix(void **state)
{
    char *text = malloc(LANGUAGE_REQUEST_MAX + 1);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t len = 0; len <= strlen(rows[i].request); len++) {
            char *exact = malloc(len ? len : 1);
            assert_non_null(exact);
            memcpy(exact, rows[i].request, len);
            (void)wt__foreign_language((struct str){exact, len});
            free(exact);
        }
    for (size_t i = 0; i <= LANGUAGE_REQUEST_MAX; i++)
        text[i] = "und das "[i % 8];
    assert_non_null(wt__foreign_language((struct str){text, LANGUAGE_REQUEST_MAX}));
    assert_null(wt__foreign_language((struct str){text, LANGUAGE_REQUEST_MAX + 1}));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detects_languages),
        cmocka_unit_test(accepts_every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
