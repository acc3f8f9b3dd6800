/* Tests the environment, the shown URL, the hidden secrets and the short name of a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "mcp/server.h"

static const struct {
    const char *said, *words, *url, *name; /* words: the command, separated by spaces */
} names[] = {
    {"memory-server", "npx", NULL, "memory"},
    {"mcp-git", "uvx", NULL, "git"},
    {"mcp-server-time", "uvx", NULL, "time"},
    {"example-servers/everything", "npx", NULL, "everything"},
    {"secure-filesystem-server", "npx", NULL, "secure-filesystem"},
    {"GitHub MCP Server", "x", NULL, "github"},
    {"Böse & Söhne (EU)", "x", NULL, "böse-söhne-eu"},
    {"", "npx -y @modelcontextprotocol/server-memory", NULL, "memory"},
    {"", "npx -y mcp-server-x@1.2.3 --flag", NULL, "x"},
    {"", "uvx mcp-server-git --repository .", NULL, "git"},
    {"", "uv run weather.py", NULL, "weather"},
    {"", "node /opt/my-mcp/build/notes.mjs", NULL, "notes"},
    {"", "env KEY=v python3 -u notes.py", NULL, "notes"},
    {"", "/usr/local/bin/github-mcp-server stdio", NULL, "github"},
    {"server", "npx -y @scope/mcp", NULL, "mcp"},
    {"mcp", "npx -y tool-x", NULL, "tool-x"},
    {"", NULL, "https://mcp.example.com/mcp?key=x", "example"},
    {"", NULL, "https://api.mcp.deepwiki.com", "deepwiki"},
    {"", NULL, "http://user@localhost:3000/mcp", "localhost"},
    {"", NULL, "http://127.0.0.1:3000/mcp", "127.0.0.1"},
    {"///", "--", NULL, "mcp"},
};

static void short_names_leave_out_generic_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena arena = {0};
        const char *argv[8] = {NULL};
        char *words = names[i].words ? wt__arena_copy(&arena, wt__str(names[i].words)) : NULL;
        size_t count = 0;
        for (char *word = words; word && count < 7; count++) {
            argv[count] = word;
            word = strchr(word, ' ');
            if (word)
                *word++ = '\0';
        }
        struct mcp_server server = {.name = "", .argv = words ? argv : NULL, .url = names[i].url};
        const char *name = wt__mcp_short_name(&arena, &server, wt__str(names[i].said));
        if (strcmp(name, names[i].name) != 0)
            fail_msg("%s, %s: %s, not %s", names[i].said, names[i].words ? names[i].words : names[i].url, name,
                     names[i].name);
        wt__arena_dispose(&arena);
    }
}

static const struct {
    const char *url, *shown;
} urls[] = {
    {"https://h.example:8443/path/key?token=x#y", "https://h.example:8443"},
    {"https://user:word@h/x", "https://h"},
    {"https://a@b@h?x", "https://h"},
    {"http://h", "http://h"},
    {"http://h\\@evil/", "http://h"},
};

static void shown_urls_have_no_secrets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct arena arena = {0};
        assert_string_equal(wt__mcp_shown_url(&arena, urls[i].url), urls[i].shown);
        wt__arena_dispose(&arena);
    }
}

static const struct {
    const char *text, *hidden;
} secrets[] = {
    {"the key abcd-1234 is wrong; abcd-1234abcd-1234", "the key *** is wrong; ******"},
    {"Bearer tok-en, and tok-en", "***, and ***"},
    {"user:word, /mcp/p4th-key?q=q-value", "***, /mcp/***?q=***"},
    {"user and word, not word", "*** and ***, not ***"},
    {"x yes no \033[2J", "x yes no  [2J"},
};

static void secrets_are_hidden(void **state)
{
    (void)state;
    static const char *const environment[] = {"KEY=abcd-1234", "EMPTY=", "X=x", NULL};
    static const struct http_header headers[] = {{"Authorization", "Bearer tok-en"}, {"X", ""}};
    const struct mcp_server server = {.environment = environment,
                                      .headers = headers,
                                      .header_count = 2,
                                      .url = "https://user:word@h/mcp/p4th-key?q=q-value"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", secrets[i].text);
        wt__mcp_hide_secrets(text, sizeof text, &server);
        assert_string_equal(text, secrets[i].hidden);
    }
}

static void environment_has_only_selected_variables(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const char *const written[] = {"KEY=v", "TERM=mine", NULL};
    const struct mcp_server server = {.environment = written};
    setenv("OPENAI_API_KEY", "secret", 1);
    setenv("HOME", "/home/x", 1);
    setenv("TERM", "theirs", 1);
    unsetenv("LANG");
    const char *const *list = wt__mcp_environment(&arena, &server);
    bool home = false, key = false, mine = false;
    for (; *list; list++) {
        home |= strcmp(*list, "HOME=/home/x") == 0;
        key |= strcmp(*list, "KEY=v") == 0;
        mine |= strcmp(*list, "TERM=mine") == 0;
        assert_null(strstr(*list, "secret"));
        assert_string_not_equal(*list, "TERM=theirs");
        assert_int_not_equal(strncmp(*list, "LANG=", 5), 0);
    }
    assert_true(home && key && mine);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_leave_out_generic_words),
        cmocka_unit_test(shown_urls_have_no_secrets),
        cmocka_unit_test(secrets_are_hidden),
        cmocka_unit_test(environment_has_only_selected_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
